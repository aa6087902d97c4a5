//! The world, as far as a connector may see it.

use std::{collections::BTreeMap, path::PathBuf};

/// The machine a connector runs on. Built once in `main`, or from a folder in a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// The home directory.
    pub home: PathBuf,
    /// The environment.
    pub vars: BTreeMap<String, String>,
}

impl Host {
    /// The variable `name`, unless it is empty.
    #[must_use]
    pub fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str).filter(|it| !it.is_empty())
    }

    /// `path` with a leading `~` replaced by the home directory.
    #[must_use]
    pub fn expand(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~').map(|it| it.trim_start_matches(['/', '\\'])) {
            Some("") => self.home.clone(),
            Some(rest) if path[1..].starts_with(['/', '\\']) => self.home.join(rest),
            Some(_) | None => PathBuf::from(path),
        }
    }
}
