//! SHA-256, and the chain that ties the pages of a session together.

use std::fmt;

use ai_hist_connector::model::SessionKey;
use sha2::{Digest as _, Sha256};

/// A SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hash(pub(crate) [u8; 32]);

impl Hash {
    /// The hash of `parts`, one after the other.
    pub(crate) fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// What the chain of a session begins with. A page of another session, or of another
    /// workspace, does not fit into it.
    pub(crate) fn seed(workspace: &str, session: &SessionKey) -> Self {
        Self::of(&[format!("ai-hist pages\0{workspace}\0{session}").as_bytes()])
    }

    /// The chain, one page further.
    pub(crate) fn then(&self, page: &Self) -> Self {
        Self::of(&[&self.0, &page.0])
    }
}

/// The first twelve digits: enough to tell two contents of one session apart.
impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..6].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_sha_256_and_shows_its_beginning() {
        let hash = Hash::of(&[b"a", b"bc"]);
        assert_eq!(hash, Hash::of(&[b"abc"]));
        assert_eq!(hash.to_string(), "ba7816bf8f01");
    }
}
