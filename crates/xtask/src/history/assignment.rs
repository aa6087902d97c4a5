//! What session is to be written.

use super::{
    boilerplate::Boilerplate, clock::Time, project::Project, random::Random, vocabulary::Vocabulary,
};

/// A session to be written. Its seed decides everything in it.
pub(crate) struct Assignment<'a> {
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) boilerplate: &'a Boilerplate,
    pub(crate) project: &'a Project,
    pub(crate) seed: u64,
    /// About how many bytes it is to have; a fork, beside what it copies.
    pub(crate) n_bytes: u64,
    pub(crate) begins: Time,
    /// What it is forked from.
    pub(crate) origin: Option<Origin>,
    pub(crate) delegates: Delegates,
}

/// Whether a session may have sub-agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delegates {
    Sometimes,
    /// All of it is in one file.
    Never,
}

/// The session that another is forked from: enough to write its beginning again.
#[derive(Clone)]
pub(crate) struct Origin {
    pub(crate) project: usize,
    pub(crate) seed: u64,
    pub(crate) n_bytes: u64,
    pub(crate) begins: Time,
    /// How many bytes of it are copied.
    pub(crate) n_copied: u64,
}

impl Assignment<'_> {
    /// What share of a long text fits a session of this size, in percent.
    pub(crate) fn share(n_bytes: u64) -> u64 {
        (n_bytes / 4_000).clamp(3, 100)
    }

    /// The id of the Codex thread with `seed` that begins at `begins`.
    pub(crate) fn thread_id(seed: u64, begins: Time) -> String {
        Random::of_part(seed, 1).uuid_of_time(begins.0)
    }
}

impl Origin {
    /// How many records of a Codex thread were kept: about one in a kilobyte.
    pub(crate) fn n_ordinals(&self) -> u64 {
        self.n_copied / 1_000
    }
}
