//! Deadlines at which a test gives up, and how much it does if nobody says otherwise.

use std::time::Duration;

/// For one command, or one answer of a server, while nothing disturbs it any more. A first sync in
/// a debug build takes some 10 s on a small machine; more than this is a process that hangs.
pub(crate) const ANSWER_DEADLINE: Duration = Duration::from_mins(2);

/// How long the nemesis looks for somebody who leads before it takes anybody.
pub(crate) const LEADER_DEADLINE: Duration = Duration::from_secs(1);

/// How long the watch over the leader's lock lets pass between two looks. A term of a process that
/// found nothing to do is shorter, and not counted.
pub(crate) const LEADER_PAUSE: Duration = Duration::from_millis(1);

/// How many processes the storm kills. The long form has 1,000.
pub(crate) const KILLS: usize = 60;

/// How many processes work on one store in the short form of the crowd, and for how long. The long
/// form has 50.
pub(crate) const CROWD: usize = 16;
/// See [`CROWD`].
pub(crate) const CROWD_TIME: Duration = Duration::from_secs(5);

/// How many transcripts are asked about because something happened there: as many as a busy person
/// has agents at work.
pub(crate) const HOT_TRANSCRIPTS: usize = 8;
