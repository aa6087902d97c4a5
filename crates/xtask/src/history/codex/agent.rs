//! Sub-agents: a rollout of their own, and a call in the parent's.

use super::{MODEL, Session, Who};
use crate::history::{
    assignment::{Assignment, Delegates},
    limits::MAX_SPEECH_BYTES,
    line::Line,
};

const NICKNAMES: [&str; 8] =
    ["Curie", "Noether", "Ampere", "Hypatia", "Lovelace", "Euler", "Turing", "Hopper"];

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

    /// Writes a call of a sub-agent, its rollout, and what it gave.
    pub(super) fn delegate(&mut self) -> Result<(), String> {
        let n_task = self.size(700, MAX_SPEECH_BYTES);
        let task = self.speech.prompt(&mut self.random, n_task);
        let nickname = self.random.pick(&NICKNAMES).to_owned();
        let n_bytes = self.room_for_agent().min(self.random.spread(60_000, 24));
        let mut arguments = Line::default();
        arguments.raw("{\"message\":").string(&task).raw("}");
        let namespace = ",\"namespace\":\"multi_agent_v1\"";
        let call = self.function_call("spawn_agent", namespace, arguments.as_str())?;
        self.wait(50);
        let of = self.assignment;
        let assignment = Assignment {
            vocabulary: of.vocabulary,
            boilerplate: of.boilerplate,
            project: of.project,
            seed: self.random.next(),
            n_bytes,
            begins: self.now,
            origin: None,
            delegates: Delegates::Never,
        };
        let who = Who::Agent { parent: self.id.clone(), nickname: nickname.clone() };
        let mut agent = Session::new(&self.home, &assignment, who)?;
        let agent_id = agent.id.clone();
        agent.session_meta()?;
        agent.turn(Some(&task))?;
        self.n_agent_bytes += agent.finish()?;
        self.limit = self.limit.saturating_sub(n_bytes);
        let sender = self.id.clone();
        self.begin_completed("CollabAgentToolCall");
        self.line.put(format_args!(
            ",\"id\":\"{call}\",\"tool\":\"spawn_agent\",\"status\":\"completed\",\
             \"sender_thread_id\":\"{sender}\",\"receiver_thread_ids\":[\"{agent_id}\"],\
             \"receiver_agents\":[{{\"thread_id\":\"{agent_id}\",\
             \"agent_nickname\":\"{nickname}\"}}],\"prompt\":"
        ));
        self.line.string(&task).put(format_args!(
            ",\"model\":\"{MODEL}\",\"reasoning_effort\":\"medium\",\
             \"agents_states\":{{\"{agent_id}\":\"pending_init\"}}"
        ));
        self.end_completed()?;
        let answer = format!("{{\"agent_id\":\"{agent_id}\",\"nickname\":\"{nickname}\"}}");
        self.function_output("function_call_output", &call, &answer)
    }
}
