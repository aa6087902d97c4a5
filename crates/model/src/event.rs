//! One thing that happened in a session.

use crate::{EventId, NativeEventKey, SessionId, Span, Timestamp};

/// One thing that happened in a session, in the agent's own order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Our id, derived from the session and the agent's own name for the event.
    pub id: EventId,
    /// The session it belongs to.
    pub session: SessionId,
    /// When it happened, if the transcript says so. Never guessed.
    pub at: Option<Timestamp>,
    /// Who did it.
    pub author: Author,
    /// What was done.
    pub body: EventBody,
    /// The record it was read from.
    pub span: Span,
    /// Whether the transcript says that it was copied from the session that this one comes from.
    pub inherited: bool,
}

impl Event {
    /// An event named `key` in `session`, its own.
    #[must_use]
    pub fn new(
        session: SessionId,
        key: &NativeEventKey,
        at: Option<Timestamp>,
        author: Author,
        body: EventBody,
        span: Span,
    ) -> Self {
        let id = EventId::derive(session, key);
        Self { id, session, at, author, body, span, inherited: false }
    }

    /// The kind that people and programs filter by.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        match (&self.body, &self.author) {
            (EventBody::Message { .. }, Author::Person) => EventKind::Prompt,
            (EventBody::Message { .. }, Author::Agent) => EventKind::Task,
            (EventBody::Message { .. }, Author::Harness | Author::Tool) => EventKind::Context,
            (EventBody::Message { .. }, Author::Model { .. }) => EventKind::Message,
            (EventBody::Reasoning { .. }, _) => EventKind::Reasoning,
            (EventBody::ToolCall { .. }, _) => EventKind::ToolCall,
            (EventBody::ToolResult { .. }, _) => EventKind::ToolResult,
            (EventBody::FileEdit { .. }, _) => EventKind::FileEdit,
            (EventBody::Plan { .. }, _) => EventKind::Plan,
            (EventBody::Compaction { .. }, _) => EventKind::Compaction,
            (EventBody::Marker { .. }, _) => EventKind::Marker,
            (EventBody::Unknown { .. }, _) => EventKind::Unknown,
        }
    }
}

/// Who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Author {
    /// The human.
    Person,
    /// The model.
    Model {
        /// Which, if recorded.
        name: Option<String>,
    },
    /// A tool that the model called.
    Tool,
    /// Another agent: the parent that gave a sub-agent its task, a teammate.
    Agent,
    /// The agent program itself: injected context, reminders, notices.
    Harness,
}

/// What was done.
///
/// Deliberately not `#[non_exhaustive]`: a new kind must be a compile error in every crate that
/// stores, indexes or shows events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventBody {
    /// Words addressed to the other side. By [`Author::Person`] it is a prompt.
    Message {
        /// The words.
        text: String,
    },
    /// The model thinking, where the agent records it readably.
    Reasoning {
        /// The thought.
        text: String,
    },
    /// A tool was called.
    ToolCall {
        /// Joins the call to its result and to the file edits it made.
        call: String,
        /// The tool.
        tool: String,
        /// Its input: JSON as recorded, or the raw text where the tool takes text.
        input: String,
    },
    /// A tool answered.
    ToolResult {
        /// Joins the result to its call.
        call: String,
        /// How it went.
        outcome: ToolOutcome,
        /// What it said, as text; images and other binary content as a bracketed note.
        output: String,
    },
    /// A file was changed. Only changes that took effect.
    FileEdit {
        /// The tool call that made it, if recorded.
        call: Option<String>,
        /// The file, as recorded.
        path: String,
        /// What was done to it.
        change: Change,
        /// The difference or the new content, as recorded.
        diff: String,
    },
    /// The plan or to-do list as it now stands, one item a line: `[x] done`, `[~] doing`, `[ ] open`.
    Plan {
        /// The items.
        text: String,
    },
    /// The agent replaced earlier history by a summary.
    Compaction {
        /// The summary; empty where the agent keeps it sealed.
        summary: String,
    },
    /// Something worth a line of its own: an interruption, a command, an error, a model change.
    Marker {
        /// Which, in kebab-case: `interrupted`, `command`, `shell`, `error`.
        name: String,
        /// Its words.
        text: String,
    },
    /// A record that this version does not understand. It is kept whole in the archive; the text
    /// here is its beginning.
    Unknown {
        /// The agent's name for the kind.
        kind: String,
        /// The record.
        text: String,
    },
}

impl EventBody {
    /// The main text: the words, the input, the output, the difference.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Message { text }
            | Self::Reasoning { text }
            | Self::Plan { text }
            | Self::Compaction { summary: text }
            | Self::ToolCall { input: text, .. }
            | Self::ToolResult { output: text, .. }
            | Self::FileEdit { diff: text, .. }
            | Self::Marker { text, .. }
            | Self::Unknown { text, .. } => text,
        }
    }

    /// The main text, to be changed.
    pub const fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Message { text }
            | Self::Reasoning { text }
            | Self::Plan { text }
            | Self::Compaction { summary: text }
            | Self::ToolCall { input: text, .. }
            | Self::ToolResult { output: text, .. }
            | Self::FileEdit { diff: text, .. }
            | Self::Marker { text, .. }
            | Self::Unknown { text, .. } => text,
        }
    }
}

/// How a tool call went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolOutcome {
    /// It succeeded.
    Success,
    /// It failed, or was refused.
    Failure,
    /// The transcript does not say.
    Unstated,
}

impl ToolOutcome {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Unstated => "unstated",
        }
    }
}

/// What was done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Change {
    /// It was made.
    Create,
    /// It was changed.
    Update,
    /// It was removed.
    Delete,
    /// It was moved here.
    Move,
}

impl Change {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::Move => "move",
        }
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $number:literal $text:literal;)*) => {
        /// What an event is, as people filter by it. Numbers are stored: never renumbered.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventKind { $($(#[$doc])* $name = $number,)* }

        impl EventKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The word for it.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }

            /// The kind of a stored number.
            #[must_use]
            pub const fn from_number(number: i64) -> Option<Self> {
                match number { $($number => Some(Self::$name),)* _ => None }
            }

            /// The kind of a word.
            #[must_use]
            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.as_str() == word)
            }
        }
    };
}

kinds! {
    /// The human speaks.
    Prompt = 1 "prompt";
    /// The model speaks.
    Message = 2 "message";
    /// The model thinks.
    Reasoning = 3 "reasoning";
    /// A tool is called.
    ToolCall = 4 "tool_call";
    /// A tool answers.
    ToolResult = 5 "tool_result";
    /// A file changes.
    FileEdit = 6 "file_edit";
    /// The plan changes.
    Plan = 7 "plan";
    /// History is replaced by a summary.
    Compaction = 8 "compaction";
    /// A notice.
    Marker = 9 "marker";
    /// Another agent speaks.
    Task = 10 "task";
    /// The agent program injects text.
    Context = 11 "context";
    /// Not understood.
    Unknown = 12 "unknown";
}
