//! What the person, or whoever acts in the person's name, says.

use std::borrow::Cow;

use ai_hist_connector::model::{Author, EventBody};

use super::{
    scribe::{Scribe, Verdict},
    state::{Form, Mark, Repeatable},
    voice::{self, Voice, split_request},
    words::{Piece, push_line},
};

/// The words of one message that has the role `user`.
#[derive(Debug, Default)]
pub(super) struct Prompt {
    /// The person's words as they are in both forms of the message, without notes.
    words: String,
    /// What is shown: words and notes.
    shown: String,
    /// What Codex itself put beside them.
    context: Vec<(Voice, String)>,
}

impl Prompt {
    /// Adds a piece. `kind` is what Codex calls it.
    pub(super) fn add(&mut self, piece: Piece<'_>, kind: Option<&str>) {
        match piece {
            Piece::Words(words) => match voice::voice(&words, kind) {
                Voice::Person => {
                    self.words.push_str(&words);
                    push_line(&mut self.shown, &words);
                }
                other @ (Voice::Harness | Voice::Shell) => {
                    self.context.push((other, words.into_owned()));
                }
            },
            Piece::Note(note) => push_line(&mut self.shown, &note),
            Piece::Wrapper => {}
        }
    }

    /// Whether none of it is the person's.
    pub(super) fn is_injected(&self) -> bool {
        self.shown.is_empty() && !self.context.is_empty()
    }

    /// Says all of it that has not been said in the other form.
    pub(super) fn say(self, form: Form, kind: &'static str, to: &mut Scribe<'_>) -> Verdict {
        let has_context = !self.context.is_empty();
        for (voice, text) in self.context {
            let (author, body) = match voice {
                Voice::Shell => {
                    (Author::Person, EventBody::Marker { name: "shell".to_owned(), text })
                }
                Voice::Harness | Voice::Person => (Author::Harness, EventBody::Message { text }),
            };
            to.say(author, body);
        }
        let is_empty = self.shown.trim().is_empty();
        let is_repeat = !is_empty && to.state.is_repeat(Repeatable::Prompt, form, &self.words);
        if !is_empty && !is_repeat {
            say_request(&self.shown, to);
        }
        match (is_empty, is_repeat) {
            (false, false) => Verdict::understood(kind),
            _ if has_context => Verdict::understood(kind),
            (true, _) => Verdict::ignored(format!("{kind} (empty)")),
            (false, true) => Verdict::ignored(repeated(kind)),
        }
    }
}

/// The name of a record that says again what was said.
pub(super) fn repeated(kind: &str) -> Cow<'static, str> {
    Cow::Owned(format!("{kind} (repeated)"))
}

fn say_request(text: &str, to: &mut Scribe<'_>) {
    // What is copied from the parent was the person's; what a sub-agent is told itself is not.
    let state = &to.state;
    let is_task = state.is(Mark::IsSubAgent) && !state.is(Mark::IsPersonsTurn) && !to.is_inherited;
    let author = if is_task { Author::Agent } else { Author::Person };
    let request = match split_request(text) {
        Some((context, request)) => {
            to.say(Author::Harness, EventBody::Message { text: context.to_owned() });
            request
        }
        None => text,
    };
    to.say(author, EventBody::Message { text: request.to_owned() });
}
