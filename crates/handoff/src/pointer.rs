//! What a handoff carries.

use ai_hist_model::SessionKey;
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::{HandoffError, limits::MAX_INTENT_CHARS};

/// What a handoff carries instead of a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Pointer {
    /// The agent that held the session.
    pub source: String,
    /// The session, in that agent's words.
    pub session_id: String,
    /// A complete prompt for the receiver.
    pub intent: String,
    /// Who hands over.
    pub origin_agent: String,
    /// For whom.
    pub origin_user: String,
}

/// A complete prompt for the receiver: how to resume `session`, then the caller's `words`.
///
/// At most [`MAX_INTENT_CHARS`] characters. The instruction is always whole; the words are cut, at
/// the border of a grapheme, if both together are too long.
///
/// # Errors
///
/// If the words, trimmed, have no character or more than [`MAX_INTENT_CHARS`].
pub fn intent(session: &SessionKey, words: &str) -> Result<String, HandoffError> {
    let words = words.trim();
    let n_chars = words.chars().count();
    if n_chars == 0 || MAX_INTENT_CHARS < n_chars {
        return Err(HandoffError::InvalidArgument {
            argument: "intent",
            problem: format!(
                "has {n_chars} characters, and must have 1 to {MAX_INTENT_CHARS} after trimming"
            ),
        });
    }
    let mut intent = format!(
        "Resume this handoff: call resume_handoff(source={}, session_id={}) via the ai-hist MCP, \
         then continue: ",
        session.agent, session.native
    );
    let room = MAX_INTENT_CHARS - intent.chars().count();
    if n_chars <= room {
        intent.push_str(words);
        return Ok(intent);
    }
    let mut left = room - 1;
    for grapheme in words.graphemes(true) {
        let n = grapheme.chars().count();
        if left < n {
            break;
        }
        intent.push_str(grapheme);
        left -= n;
    }
    intent.push('…');
    Ok(intent)
}

#[cfg(test)]
mod tests {
    use ai_hist_model::{AgentId, Coded as _, ErrorCode, NativeSessionId};

    use super::*;

    fn session() -> SessionKey {
        SessionKey {
            agent: AgentId::from_static("codex"),
            native: NativeSessionId::parse("abc").expect("is harmless"),
        }
    }

    const INSTRUCTION: &str = "Resume this handoff: call resume_handoff(source=codex, \
        session_id=abc) via the ai-hist MCP, then continue: ";

    #[test]
    fn short_words_stand_whole_after_the_instruction() {
        let made = intent(&session(), "  continue the fix\n").expect("fits");
        assert_eq!(made, format!("{INSTRUCTION}continue the fix"));
        assert_eq!(intent(&session(), "x").expect("fits"), format!("{INSTRUCTION}x"));
    }

    #[test]
    fn the_bounds_are_on_the_trimmed_words() {
        for (n, is_fine) in [(0, false), (1, true), (3_999, true), (4_000, true), (4_001, false)] {
            let words = format!(" {} ", "x".repeat(n));
            match intent(&session(), &words) {
                Ok(made) => {
                    assert!(is_fine, "{n}");
                    assert!(made.chars().count() <= 4_000, "{n}");
                    assert!(made.starts_with(INSTRUCTION), "{n}");
                }
                Err(error) => {
                    assert!(!is_fine, "{n}");
                    assert_eq!(error.code(), ErrorCode::InvalidArgument);
                    assert!(error.to_string().contains(&format!("has {n} characters")), "{error}");
                }
            }
        }
    }

    #[test]
    fn words_that_are_too_long_are_cut_to_exactly_the_bound() {
        let made = intent(&session(), &"x".repeat(4_000)).expect("fits");
        assert_eq!(made.chars().count(), 4_000);
        assert!(made.ends_with("xx…"));
    }

    #[test]
    fn the_cut_splits_no_grapheme() {
        let room = 4_000 - INSTRUCTION.chars().count();
        // A family of four is one grapheme of seven characters; e with an accent, one of two.
        for (grapheme, n) in [("👨‍👩‍👧‍👦", 7), ("e\u{301}", 2), ("🇩🇪", 2), ("😀", 1)]
        {
            let made = intent(&session(), &grapheme.repeat(4_000 / n)).expect("fits");
            let words = made.strip_prefix(INSTRUCTION).expect("is whole");
            let words = words.strip_suffix('…').expect("is cut");
            assert_eq!(words, grapheme.repeat((room - 1) / n), "`{grapheme}`");
        }
    }

    #[test]
    fn a_single_endless_grapheme_is_left_out() {
        let made = intent(&session(), &format!("e{}", "\u{301}".repeat(3_999))).expect("fits");
        assert_eq!(made, format!("{INSTRUCTION}…"));
    }
}
