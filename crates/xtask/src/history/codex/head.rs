//! What stands at the head of a rollout, and of each turn.

use super::{Assignment, MODEL, Session, VERSION, Who};
use crate::history::{boilerplate::cut, random::Random};

impl Session<'_> {
    pub(super) fn session_meta(&mut self) -> Result<(), String> {
        let share = Assignment::share(self.limit);
        let project = self.speech.project;
        let (id, time) = (self.id.clone(), self.now.iso());
        let window = Random::of_part(self.assignment.seed, 3).uuid_of_time(self.now.0);
        let (root, origin) = match (&self.who, &self.assignment.origin) {
            (Who::Agent { parent, nickname }, _) => (
                parent.clone(),
                format!(
                    "\"parent_thread_id\":\"{parent}\",\"source\":{{\"subagent\":{{\
                     \"thread_spawn\":{{\"parent_thread_id\":\"{parent}\",\"depth\":1,\
                     \"agent_path\":null,\"agent_nickname\":\"{nickname}\",\
                     \"agent_role\":null}}}}}},\"thread_source\":\"subagent\",\
                     \"agent_nickname\":\"{nickname}\""
                ),
            ),
            (Who::Thread, Some(origin)) => {
                let parent = Assignment::thread_id(origin.seed, origin.begins);
                let (ordinal, offset) = (origin.n_ordinals(), origin.n_copied);
                let fields = format!(
                    "\"forked_from_id\":\"{parent}\",\"forked_from_ordinal_exclusive\":{ordinal},\
                     \"history_base\":{{\"thread_id\":\"{parent}\",\
                     \"end_ordinal_exclusive\":{ordinal},\"end_byte_offset\":{offset}}},\
                     \"source\":\"cli\",\"thread_source\":\"user\""
                );
                (id.clone(), fields)
            }
            (Who::Thread, None) => {
                (id.clone(), "\"source\":\"cli\",\"thread_source\":\"user\"".to_owned())
            }
        };
        self.begin("session_meta");
        self.line.put(format_args!(
            "{{\"session_id\":\"{root}\",\"id\":\"{id}\",\"timestamp\":\"{time}\",\
             \"cwd\":\"{}\",\"originator\":\"codex-tui\",\"cli_version\":\"{VERSION}\",{origin},\
             \"model_provider\":\"openai\",\"base_instructions\":{{\"text\":",
            project.cwd
        ));
        self.line.string(cut(&self.assignment.boilerplate.instructions, 210 * share));
        self.line.put(format_args!(
            "}},\"history_mode\":\"paginated\",\"context_window\":{{\"window_id\":\"{window}\"}},\
             \"git\":{{\"commit_hash\":\"{}\",\"branch\":\"{}\"}}}}",
            project.commit, project.branch
        ));
        self.end()
    }

    /// Writes that a turn begins, and in the first one what the model is told before it.
    pub(super) fn begin_turn(&mut self) -> Result<(), String> {
        let is_first = self.turn_id.is_empty();
        self.turn_id = self.random.uuid_of_time(self.now.0);
        let turn_id = self.turn_id.clone();
        let cwd = &self.speech.project.cwd;
        self.begin("event_msg");
        self.line.put(format_args!(
            "{{\"type\":\"task_started\",\"turn_id\":\"{turn_id}\",\"root_turn_id\":\"{turn_id}\",\
             \"started_at\":{},\"model_context_window\":258400,\
             \"collaboration_mode_kind\":\"default\"}}",
            self.now.0 / 1000
        ));
        self.end()?;
        if is_first {
            let skills =
                cut(&self.assignment.boilerplate.skills, 47 * Assignment::share(self.limit));
            let skills = format!("<skills_instructions>\n{skills}\n</skills_instructions>");
            self.message("developer", "host_skills.instructions", &skills)?;
            let date = self.now.iso()[..10].to_owned();
            let environment = format!(
                "<environment_context>\n  <cwd>{cwd}</cwd>\n  <shell>bash</shell>\n  \
                 <current_date>{date}</current_date>\n</environment_context>"
            );
            self.message("user", "environments.environment_context", &environment)?;
            self.begin("world_state");
            self.line.put(format_args!(
                "{{\"full\":true,\"state\":{{\"environments\":{{\"environments\":{{\"local\":\
                 {{\"cwd\":\"{cwd}\",\"status\":\"available\",\"shell\":\"bash\"}}}},\
                 \"current_date\":\"{date}\"}},\"host_skills\":{{\"body\":"
            ));
            self.line.string(&skills);
            self.line
                .put(format_args!(",\"includeInstructions\":true}},\"model\":\"{MODEL}\"}}}}"));
            self.end()?;
        }
        self.begin("turn_context");
        self.line.put(format_args!(
            "{{\"turn_id\":\"{turn_id}\",\"cwd\":\"{cwd}\",\"approval_policy\":\"on-request\",\
             \"model\":\"{MODEL}\",\"collaboration_mode\":{{\"mode\":\"default\",\"settings\":\
             {{\"model\":\"{MODEL}\",\"reasoning_effort\":\"medium\"}}}},\"effort\":\"medium\",\
             \"summary\":\"auto\",\"sandbox_policy\":{{\"type\":\"workspace-write\"}}}}"
        ));
        self.end()
    }
}
