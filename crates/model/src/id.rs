//! Names of things, as distinct types: an agent is not a connector is not a session.

use std::{borrow::Cow, fmt};

use uuid::Uuid;

/// Root of every identifier derived below. Changing it orphans every stored row.
const NAMESPACE: Uuid = Uuid::from_u128(0x6f1d_9b1e_5c0a_4b7e_9a51_2f0c_7d31_a4e2);

macro_rules! slug {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Cow<'static, str>);

        impl $name {
            /// Makes the name from a literal; a malformed literal does not compile in a const.
            #[must_use]
            pub const fn from_static(name: &'static str) -> Self {
                assert!(is_slug(name), "a slug is 1-32 of [a-z0-9-]");
                Self(Cow::Borrowed(name))
            }

            /// Parses a name that came from outside.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                is_slug(name).then(|| Self(Cow::Owned(name.to_owned())))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

slug! {
    /// The program that held the conversation: `claude`, `codex`.
    AgentId
}
slug! {
    /// The route a transcript reached us by: `claude`, `codex`, `cloud`.
    ///
    /// Not the same thing as the agent: `cloud` carries sessions of many agents.
    ConnectorId
}

const fn is_slug(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || 32 < bytes.len() {
        return false;
    }
    let mut i = 0;
    while i < bytes.len() {
        if !matches!(bytes[i], b'a'..=b'z' | b'0'..=b'9' | b'-') {
            return false;
        }
        i += 1;
    }
    true
}

/// A session's name in its own agent's words: 1 to 200 of `[A-Za-z0-9_.:-]`.
///
/// Session ids travel in file names, in commands and in prompts for other agents, so a name that
/// could break out of any of them is refused where it is read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NativeSessionId(String);

impl NativeSessionId {
    /// Takes `name` if it is harmless.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let harmless = |byte: u8| byte.is_ascii_alphanumeric() || b"_.:-".contains(&byte);
        let fits = (1..=crate::limits::MAX_SESSION_ID_BYTES).contains(&name.len());
        (fits && name.bytes().all(harmless) && !name.contains("..")).then(|| Self(name.to_owned()))
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NativeSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event's name in its own agent's words, or its ordinal where the agent gives none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NativeEventKey(pub String);

/// Our name for a session: a function of agent and native id, and of nothing else.
///
/// So the local file and the cloud copy of one session are one session, without a merge step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Uuid);

impl SessionId {
    /// The sixteen bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// The id whose bytes were stored.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    pub(crate) fn derive(agent: &AgentId, native: &NativeSessionId) -> Self {
        let name = format!("{agent}\0{native}");
        Self(Uuid::new_v5(&NAMESPACE, name.as_bytes()))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Our name for an event: a function of its session and its native key.
///
/// It is the key's own hash, turned by the session's id. So the id that the same event has in
/// another session, of which this one is a copy, follows from the id alone: [`EventId::within`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId(Uuid);

impl EventId {
    /// The sixteen bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// The id whose bytes were stored.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    /// Parses the text form.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Uuid::try_parse(text).ok().map(Self)
    }

    /// Derives the id, so that reading the same transcript again changes nothing.
    #[must_use]
    pub fn derive(session: SessionId, key: &NativeEventKey) -> Self {
        let key = Uuid::new_v5(&NAMESPACE, key.0.as_bytes());
        Self(Uuid::from_u128(key.as_u128() ^ session.0.as_u128()))
    }

    /// The id that this event of `from` has in `to`, where that holds a copy of it.
    #[must_use]
    pub fn within(self, from: SessionId, to: SessionId) -> Self {
        Self(Uuid::from_u128(self.0.as_u128() ^ from.0.as_u128() ^ to.0.as_u128()))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_an_event_is_known_by_its_id() {
        let session = |name: &str| {
            let native = NativeSessionId::parse(name).expect("is harmless");
            SessionId::derive(&AgentId::from_static("claude"), &native)
        };
        let key = NativeEventKey("b3".to_owned());
        let (one, other) = (session("one"), session("other"));
        let id = EventId::derive(one, &key);
        assert_ne!(id, EventId::derive(other, &key));
        assert_eq!(id.within(one, other), EventId::derive(other, &key));
        assert_eq!(id.within(one, one), id);
    }

    #[test]
    fn hostile_session_ids_are_refused() {
        for bad in ["", "a b", "a\nb", "a\"b", "a'b", "a/b", "../x", "a..b", "é", "a(b)", "a,b"] {
            assert_eq!(NativeSessionId::parse(bad), None, "`{bad}`");
        }
        assert_eq!(NativeSessionId::parse(&"x".repeat(201)), None);
        for good in ["019f26d2-378f-7123-aaab-925df3e2bf7b", "abc", "a.agent-b", "ses_1:2"] {
            assert!(NativeSessionId::parse(good).is_some(), "`{good}`");
        }
    }
}
