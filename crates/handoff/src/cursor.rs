//! The token that goes on with a walk: opaque to its bearer, and useless for anything else.

use ai_hist_model::SessionKey;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::{HandoffError, page::Order};

const VERSION: &str = "1";
const SEAL_BYTES: usize = 16;

/// Where a walk over a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// In which direction it goes.
    pub(crate) order: Order,
    /// The revision that the first page pinned.
    pub(crate) revision: String,
    /// How many events belong to that revision.
    pub(crate) head: u64,
    /// The last of them, which tells whether the revision is still held.
    pub(crate) last: String,
    /// How many rows these are.
    pub(crate) n_rows: u64,
    /// The next event to look at: going down, those before it.
    pub(crate) at: u64,
}

/// Seals `place` in `session` as seen from `scope`.
pub(crate) fn seal(secret: &[u8], scope: &str, session: &SessionKey, place: &Place) -> String {
    let words = format!(
        "{VERSION}\n{}\n{}\n{}\n{}\n{}\n{}",
        place.order.as_str(),
        place.revision,
        place.head,
        place.last,
        place.n_rows,
        place.at
    );
    let mut token = mac(secret, scope, session, &words);
    token.extend_from_slice(words.as_bytes());
    URL_SAFE_NO_PAD.encode(token)
}

/// Opens a token that [`seal`] made for the same `scope` and `session`.
pub(crate) fn open(
    secret: &[u8],
    scope: &str,
    session: &SessionKey,
    token: &str,
) -> Result<Place, HandoffError> {
    let refuse = |problem| HandoffError::InvalidCursor { problem };
    let bytes =
        URL_SAFE_NO_PAD.decode(token).map_err(|_| refuse("was not made by resume_handoff"))?;
    let (seal, words) = bytes
        .split_at_checked(SEAL_BYTES)
        .ok_or_else(|| refuse("was not made by resume_handoff"))?;
    let words = std::str::from_utf8(words).map_err(|_| refuse("was not made by resume_handoff"))?;
    // Compared without a hint at how far the two agree.
    let made = mac(secret, scope, session, words);
    let difference = made.iter().zip(seal).fold(0, |sum, (a, b)| sum | (a ^ b));
    if difference != 0 {
        return Err(refuse("was altered, or belongs to another session or workspace"));
    }
    parse(words).ok_or_else(|| refuse("is of another version"))
}

fn parse(words: &str) -> Option<Place> {
    let mut words = words.split('\n');
    if words.next()? != VERSION {
        return None;
    }
    Some(Place {
        order: Order::parse(words.next()?)?,
        revision: words.next()?.to_owned(),
        head: words.next()?.parse().ok()?,
        last: words.next()?.to_owned(),
        n_rows: words.next()?.parse().ok()?,
        at: words.next()?.parse().ok()?,
    })
}

fn mac(secret: &[u8], scope: &str, session: &SessionKey, words: &str) -> Vec<u8> {
    let mut mac =
        Hmac::<Sha256>::new_from_slice(secret).expect("a key of any length is a key for HMAC");
    for part in [scope, &session.to_string(), words] {
        mac.update(&(part.len() as u64).to_le_bytes());
        mac.update(part.as_bytes());
    }
    let mut made = mac.finalize().into_bytes().to_vec();
    made.truncate(SEAL_BYTES);
    made
}

#[cfg(test)]
mod tests {
    use ai_hist_model::{AgentId, NativeSessionId};

    use super::*;

    fn session(native: &str) -> SessionKey {
        SessionKey {
            agent: AgentId::from_static("codex"),
            native: NativeSessionId::parse(native).expect("is harmless"),
        }
    }

    fn place() -> Place {
        Place {
            order: Order::Newest,
            revision: "g1-9-abc".to_owned(),
            head: 9,
            last: "x".to_owned(),
            n_rows: 7,
            at: 3,
        }
    }

    #[test]
    fn what_was_sealed_opens_for_the_same_session_only() {
        let token = seal(b"key", "cloud:demo", &session("a"), &place());
        assert_eq!(open(b"key", "cloud:demo", &session("a"), &token).expect("opens"), place());
        for (key, scope, native) in [
            (&b"other"[..], "cloud:demo", "a"),
            (b"key", "cloud:x", "a"),
            (b"key", "cloud:demo", "b"),
        ] {
            open(key, scope, &session(native), &token).expect_err("is refused");
        }
    }

    #[test]
    fn every_altered_byte_is_noticed() {
        let token = seal(b"key", "s", &session("a"), &place());
        for i in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[i] = if bytes[i] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(bytes).expect("is ASCII");
            if URL_SAFE_NO_PAD.decode(&altered) != URL_SAFE_NO_PAD.decode(&token) {
                open(b"key", "s", &session("a"), &altered).expect_err("is refused");
            }
        }
        for junk in ["", "x", "%%%", &token[..token.len() / 2]] {
            open(b"key", "s", &session("a"), junk).expect_err("is refused");
        }
    }
}
