//! A transcript as an agent writes it: whole lines, at times the beginning of one, at times all of
//! it anew.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use fastrand::Rng;
use serde_json::{Value, json};

/// Whose shape it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agent {
    /// Claude Code 2.1.
    Claude,
    /// Codex 0.46.
    Codex,
}

impl Agent {
    pub(crate) const fn source(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

/// What tells a record from every other one of the test: a word in its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Token(pub(crate) u32);

/// The letters of tokens: no word of a text is made of these alone, and of so many.
const LETTERS: &[u8] = b"bcdfghjkmnpqrtvw";
const TOKEN_LETTERS: usize = 6;

impl Token {
    /// The word: `zz` and six letters.
    pub(crate) fn word(self) -> String {
        let digit = |place: usize| (self.0 >> (4 * place)) as usize & 15;
        let letters = (0..TOKEN_LETTERS).map(|it| char::from(LETTERS[digit(it)]));
        "zz".chars().chain(letters).collect()
    }

    /// The token whose word stands in `text`. There is one in each record.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let word = text.get(text.find("zz")? + 2..)?.as_bytes().get(..TOKEN_LETTERS)?;
        let mut number = 0;
        for (place, letter) in word.iter().enumerate() {
            let digit = LETTERS.iter().position(|it| it == letter)?;
            number |= u32::try_from(digit).ok()? << (4 * place);
        }
        Some(Self(number))
    }
}

/// Words that many records share: what is searched for in the end.
pub(crate) const SUBJECTS: [&str; 12] = [
    "harbour", "lantern", "meadow", "compass", "orchard", "granite", "thimble", "walnut",
    "cinnamon", "pendulum", "gazebo", "marzipan",
];

/// A line of a transcript.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) token: Token,
    pub(crate) line: String,
}

/// A transcript.
#[derive(Debug)]
pub(crate) struct Transcript {
    pub(crate) agent: Agent,
    pub(crate) id: String,
    pub(crate) path: PathBuf,
    /// The whole lines, after the one at the head of a Codex file.
    pub(crate) records: Vec<Record>,
    /// A line that is being written, and how much of it stands there.
    pub(crate) torn: Option<(Record, usize)>,
    /// How often it was written anew.
    pub(crate) n_versions: u32,
    /// Whether it was ever changed in another way than by being appended to.
    pub(crate) was_disturbed: bool,
    pub(crate) is_gone: bool,
    number: u32,
    n_written: u32,
}

impl Transcript {
    /// The transcript `number` of a home, which is not there yet.
    pub(crate) fn new(agent: Agent, number: u32, home: &Path) -> Self {
        let (id, path) = match agent {
            Agent::Claude => {
                let id = format!("{number:08x}-1111-4111-8111-111111111111");
                let path = format!(".claude/projects/-home-dev-demo/{id}.jsonl");
                (id, path)
            }
            Agent::Codex => {
                let id = format!("019b0000-{:04x}-7000-8000-{number:012x}", number % 0xffff);
                let day = 1 + number % 28;
                let folder = format!(".codex/sessions/2026/11/{day:02}");
                (id.clone(), format!("{folder}/rollout-2026-11-{day:02}T10-00-00-{id}.jsonl"))
            }
        };
        let path = home.join(path);
        fs::create_dir_all(path.parent().expect("is below the home")).expect("makes a folder");
        Self {
            agent,
            id,
            path,
            records: Vec::new(),
            torn: None,
            n_versions: 0,
            was_disturbed: false,
            is_gone: false,
            number,
            n_written: 0,
        }
    }

    /// As people and tools name its session.
    pub(crate) fn name(&self) -> String {
        format!("{}:{}", self.agent.source(), self.id)
    }

    /// A record that comes after all that were made of this transcript.
    pub(crate) fn make(&mut self, token: Token, rng: &mut Rng) -> Record {
        self.n_written += 1;
        let subject = SUBJECTS[rng.usize(..SUBJECTS.len())];
        let filler = "and so it went on ".repeat(rng.usize(..8));
        let text = format!("about the {subject} {} {filler}", token.word());
        let value = match self.agent {
            Agent::Claude => self.claude(token, &text),
            Agent::Codex => self.codex(token, &text),
        };
        Record { token, line: value.to_string() }
    }

    fn at(&self) -> String {
        let n = self.n_written;
        let (hour, minute, second) = (n / 3600 % 24, n / 60 % 60, n % 60);
        let ms = self.number % 1000;
        format!("2026-11-{:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z", 1 + n / 86_400 % 28)
    }

    fn claude(&self, token: Token, text: &str) -> Value {
        let call = format!("toolu_{:08}", self.n_written / 5);
        let (kind, message) = match self.n_written % 5 {
            1 => ("user", json!({"role": "user", "content": text})),
            2 => ("assistant", json!({"type": "thinking", "thinking": text, "signature": "c2ln"})),
            3 => (
                "assistant",
                json!({"type": "tool_use", "id": call, "name": "Bash",
                    "input": {"command": text, "description": "look"}}),
            ),
            4 => (
                "user",
                json!({"role": "user", "content": [
                    {"tool_use_id": call, "type": "tool_result", "content": text}]}),
            ),
            _ => ("assistant", json!({"type": "text", "text": text})),
        };
        let message = match kind {
            "assistant" => json!({
                "id": format!("msg_{:08}", token.0), "type": "message", "role": "assistant",
                "model": "claude-opus-5-5", "content": [message], "stop_reason": null,
                "usage": {"input_tokens": 12, "cache_creation_input_tokens": 3,
                    "cache_read_input_tokens": 4, "output_tokens": 1 + token.0 % 90},
            }),
            _ => message,
        };
        json!({
            "parentUuid": null, "isSidechain": false, "type": kind, "message": message,
            "uuid": format!("{:08x}-2222-4222-8222-222222222222", token.0),
            "timestamp": self.at(), "userType": "external", "entrypoint": "cli",
            "cwd": "/home/dev/demo", "sessionId": self.id, "version": "2.1.332",
            "gitBranch": "main",
        })
    }

    fn codex(&self, token: Token, text: &str) -> Value {
        let call = format!("call_{}", self.n_written / 5);
        let message = |role: &str, kind: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
        let payload = match self.n_written % 5 {
            1 => message("user", "input_text"),
            2 => json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": text}],
                "content": null, "encrypted_content": format!("c2VhbGVk{}", token.0)}),
            3 => json!({"type": "function_call", "name": "shell", "call_id": call,
                "arguments": json!({"command": ["bash", "-lc", text]}).to_string()}),
            4 => json!({"type": "function_call_output", "call_id": call,
                "output": json!({"output": text, "metadata": {"exit_code": 0}}).to_string()}),
            _ => message("assistant", "output_text"),
        };
        json!({"timestamp": self.at(), "type": "response_item", "payload": payload})
    }

    /// The line at the head of the file. It tells each version of a file from the one before:
    /// whether a file is the one that was read is judged by its first and its last 4 KiB.
    fn head(&self) -> String {
        let line = match self.agent {
            Agent::Claude => json!({
                "type": "mode", "mode": "default", "sessionId": self.id,
                "version": format!("{:06}", self.n_versions),
            }),
            Agent::Codex => json!({
                "timestamp": "2026-11-01T00:00:00.000Z", "type": "session_meta",
                "payload": {"id": self.id, "timestamp": "2026-11-01T00:00:00.000Z",
                    "cwd": "/home/dev/demo", "originator": "codex_cli_rs",
                    "cli_version": "0.46.0", "instructions": format!("v{:06}", self.n_versions)},
            }),
        };
        format!("{line}\n")
    }

    /// What stands in the file.
    pub(crate) fn content(&self) -> String {
        let mut content = self.head();
        for record in &self.records {
            content.push_str(&record.line);
            content.push('\n');
        }
        if let Some((record, n_bytes)) = &self.torn {
            content.push_str(&record.line[..*n_bytes]);
        }
        content
    }

    /// Writes the file anew, over the old one.
    pub(crate) fn write(&self) {
        fs::write(&self.path, self.content()).expect("writes");
    }

    /// Writes the file anew beside the old one, and puts it in its place.
    pub(crate) fn replace(&self) {
        let new = self.path.with_extension("tmp");
        fs::write(&new, self.content()).expect("writes");
        fs::rename(&new, &self.path).expect("renames");
    }

    /// Cuts the file to what now stands in it.
    pub(crate) fn cut(&self) {
        let file = fs::OpenOptions::new().write(true).open(&self.path).expect("opens");
        file.set_len(self.content().len() as u64).expect("cuts");
    }

    /// Adds `text` to the file.
    pub(crate) fn append(&self, text: &str) {
        let mut file = fs::OpenOptions::new().append(true).open(&self.path).expect("opens");
        file.write_all(text.as_bytes()).expect("writes");
    }
}
