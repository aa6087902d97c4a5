//! The deadlines at which a program is killed. The test then fails with all that the program said.

use std::time::Duration;

/// For one run of an agent. It takes some 2 s on a small machine and 10 s on one that is
/// overloaded.
pub(crate) const RUN_DEADLINE: Duration = Duration::from_secs(30);

/// For the installation of an agent. Each is a program of some 400 MB, so a slow line is given its
/// time.
pub(crate) const INSTALL_DEADLINE: Duration = Duration::from_mins(10);
