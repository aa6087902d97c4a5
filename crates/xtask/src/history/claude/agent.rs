//! Sub-agents: a transcript and a sidecar of their own, and a call in the parent's.

use std::fs;

use super::{Mode, Session, Who, call::Call, turn::Message};
use crate::history::{
    assignment::{Assignment, Delegates},
    limits::MAX_SPEECH_BYTES,
    line::Line,
};

impl Session<'_> {
    /// How many bytes a sub-agent may have; 0 if that is too few for one.
    pub(super) fn room_for_agent(&self) -> u64 {
        let left = self.limit.saturating_sub(self.spent);
        if left < 120_000 || self.assignment.delegates == Delegates::Never {
            0
        } else {
            (left / 4).min(600_000)
        }
    }

    /// Writes a call of a sub-agent, its transcript, and what it gave.
    pub(super) fn delegate(&mut self, message: &mut Message) -> Result<(), String> {
        let kind = self.random.pick(&["Explore", "general-purpose", "Plan"]);
        let what = self.speech.title(&mut self.random);
        let n_bytes = self.size(700, MAX_SPEECH_BYTES);
        let task = self.speech.prompt(&mut self.random, n_bytes);
        let id = format!("a{}", self.random.hex_word(16));
        let call_id = format!("toolu_01{}", self.random.hex_word(22));
        let (mut input, mut outcome) = (Line::default(), Line::default());
        input.put(format_args!("{{\"description\":\"{what}\",\"prompt\":")).string(&task);
        input.put(format_args!(",\"subagent_type\":\"{kind}\"}}"));
        let mut call = Call {
            id: call_id,
            name: "Agent",
            input: input.as_str().to_owned(),
            answer: String::new(),
            outcome: String::new(),
            is_error: false,
        };
        let uuid = self.tool_use(message, &call)?;
        let seed = self.random.next();
        let room = self.room_for_agent();
        let n_bytes = room.min(self.random.spread(60_000, 24));
        let n_answer = self.size(1_500, MAX_SPEECH_BYTES);
        call.answer = self.speech.answer(&mut self.random, n_answer);
        // Both the session and a fork that copies this have as much less room.
        self.limit = self.limit.saturating_sub(n_bytes);
        if self.mode == Mode::Own {
            self.write_agent(&Agent {
                id: &id,
                seed,
                n_bytes,
                kind,
                what: &what,
                task: &task,
                call: &call,
            })?;
        }
        self.now = self.now.after(n_bytes * 2);
        outcome.put(format_args!(
            "{{\"status\":\"completed\",\"agentId\":\"{id}\",\"agentType\":\"{kind}\",\"prompt\":"
        ));
        outcome.string(&task).raw(",\"content\":[{\"type\":\"text\",\"text\":");
        outcome.string(&call.answer).put(format_args!(
            "}}],\"totalDurationMs\":{},\"totalTokens\":{},\"totalToolUseCount\":{}}}",
            n_bytes * 2,
            n_bytes / 3,
            n_bytes / 5_000
        ));
        outcome.as_str().clone_into(&mut call.outcome);
        self.tool_result(&call, &uuid)
    }

    fn write_agent(&mut self, agent: &Agent<'_>) -> Result<(), String> {
        let of = self.assignment;
        let assignment = Assignment {
            vocabulary: of.vocabulary,
            boilerplate: of.boilerplate,
            project: self.speech.project,
            seed: agent.seed,
            n_bytes: agent.n_bytes,
            begins: self.now,
            origin: None,
            delegates: Delegates::Never,
        };
        let path = self.folder.join(format!("agent-{}.jsonl", agent.id));
        let who = Who::Agent(agent.id.to_owned());
        let (folder, id) = (self.folder.clone(), self.id.clone());
        let mut session = Session::new(&assignment, assignment.project, &path, folder, id, who)?;
        session.head()?;
        session.prompt(agent.task)?;
        while session.has_room() {
            session.step()?;
        }
        let mut message = session.message("end_turn");
        session.say(&mut message, 600)?;
        self.n_agent_bytes += session.transcript.finish(session.now)?;
        let sidecar = format!(
            "{{\"agentType\":\"{}\",\"isBuiltIn\":true,\"description\":\"{}\",\
             \"toolUseId\":\"{}\",\"spawnDepth\":1,\"requestShape\":\"foreground\",\
             \"finished\":true}}",
            agent.kind, agent.what, agent.call.id
        );
        let path = path.with_extension("meta.json");
        fs::write(&path, sidecar)
            .map_err(|error| format!("cannot write `{}`: {error}", path.display()))
    }
}

/// A sub-agent to be written.
struct Agent<'a> {
    id: &'a str,
    seed: u64,
    n_bytes: u64,
    kind: &'a str,
    what: &'a str,
    task: &'a str,
    call: &'a Call,
}
