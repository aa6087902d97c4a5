//! Whose words a text with the role `user` holds.
//!
//! Codex speaks to the model in the person's name: it injects the environment, instructions and
//! notices as messages of the user. They are told from prompts by the kind that newer versions
//! record with each piece, else by their whole shape: a text that is wrapped in one of Codex's
//! tags from its first to its last character. A prompt that merely quotes such a tag is a prompt.

/// Whose words a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// The person's.
    Person,
    /// A command that the person ran with `!`, and what it printed.
    Shell,
    /// Codex's own.
    Harness,
}

/// The tags that Codex wraps its own words in.
const TAGS: &[&str] = &[
    "app-context",
    "apps_instructions",
    "codex_internal_context",
    "collaboration_mode",
    "environment_context",
    "goal_context",
    "hook_context",
    "hook_prompt",
    "model_switch",
    "multi_agent_mode",
    "multi_agent_role",
    "permissions instructions",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "recommended_plugins",
    "skill",
    "skills_instructions",
    "subagent_notification",
    "turn_aborted",
    "user_action",
    "user_instructions",
];

const SHELL: &str = "user_shell_command";

/// How the text begins that hands a summary to the model after a compaction.
const SUMMARY: &str = "Another language model started to solve this problem and produced a summary";

/// What the IDE extension puts before a prompt, and what stands between the two.
const CONTEXTS: [&str; 2] = ["# Context from my IDE setup:", "# Files mentioned by the user:"];
const REQUEST: &str = "\n## My request for Codex:";

/// Whose words `text` is. `kind` is what Codex itself calls the piece, if it says.
pub(super) fn voice(text: &str, kind: Option<&str>) -> Voice {
    let text = text.trim();
    if is_wrapped(text, SHELL) {
        return Voice::Shell;
    }
    match kind {
        None | Some("" | "unknown") => {}
        Some(kind) if kind.starts_with("user.") => return Voice::Person,
        Some(_) => return Voice::Harness,
    }
    let is_instructions =
        text.starts_with("# AGENTS.md instructions") && text.ends_with("</INSTRUCTIONS>");
    let is_ours =
        is_instructions || text.starts_with(SUMMARY) || TAGS.iter().any(|it| is_wrapped(text, it));
    if is_ours { Voice::Harness } else { Voice::Person }
}

/// A prompt's context and the prompt itself, where the IDE extension has joined them.
pub(super) fn split_request(text: &str) -> Option<(&str, &str)> {
    if !CONTEXTS.iter().any(|it| text.trim_start().starts_with(it)) {
        return None;
    }
    let (context, request) = text.split_once(REQUEST)?;
    Some((context.trim(), request.trim_start_matches([' ', '\r', '\n'])))
        .filter(|it| !it.1.is_empty())
}

/// The plan that a text consists of.
pub(super) fn proposed_plan(text: &str) -> Option<&str> {
    let inner = text.trim().strip_prefix("<proposed_plan>")?.strip_suffix("</proposed_plan>")?;
    Some(inner.trim())
}

fn is_wrapped(text: &str, tag: &str) -> bool {
    let Some(rest) = text.strip_prefix('<').and_then(|it| it.strip_prefix(tag)) else {
        return false;
    };
    // The tag may have attributes.
    let Some(inner) = rest.strip_suffix('>').and_then(|it| it.strip_suffix(tag)) else {
        return false;
    };
    rest.starts_with(['>', ' ', '\n']) && inner.ends_with("</")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_harness_is_told_from_the_person() {
        use Voice::{Harness, Person, Shell};
        let table = [
            ("fix it", None, Person),
            ("<environment_context>\n <cwd>/a</cwd>\n</environment_context>", None, Harness),
            ("\n<skill>\n<name>x</name>\n</skill>\n", None, Harness),
            (
                "<codex_internal_context source=\"goal\">go on</codex_internal_context>",
                None,
                Harness,
            ),
            (
                "# AGENTS.md instructions for /a\n\n<INSTRUCTIONS>\nx\n</INSTRUCTIONS>",
                None,
                Harness,
            ),
            ("<user_shell_command>\n<command>ls</command>\n</user_shell_command>", None, Shell),
            ("<user_shell_command>\n</user_shell_command>", Some("user.shell"), Shell),
            ("what does <environment_context> mean?", None, Person),
            ("<environment_context> what is this?", None, Person),
            ("<skill>is this closed?</skills>", None, Person),
            ("<skillful>x</skillful>", None, Person),
            ("# AGENTS.md instructions are wrong", None, Person),
            ("<turn_aborted>x</turn_aborted>", Some("user.text"), Person),
            ("anything", Some("environments.environment_context"), Harness),
            ("<turn_aborted>x</turn_aborted>", Some("unknown"), Harness),
            ("", None, Person),
            ("<skill", None, Person),
        ];
        for (text, kind, expected) in table {
            assert_eq!(voice(text, kind), expected, "`{text}` {kind:?}");
        }
    }

    #[test]
    fn a_request_is_taken_out_of_its_context() {
        let text = "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs\n\n## My request for Codex:\nfix it\n";
        let (context, request) = split_request(text).expect("has a request");
        assert_eq!((context.lines().last(), request), (Some("- a.rs"), "fix it\n"));
        for whole in [
            "# Context from my IDE setup:\n## Open tabs:\n",
            "# Context from my IDE setup:\n## My request for Codex:\n \n",
            "see\n## My request for Codex:\nfix it",
        ] {
            assert_eq!(split_request(whole), None, "`{whole}`");
        }
    }

    #[test]
    fn a_plan_is_a_message_that_is_nothing_else() {
        assert_eq!(proposed_plan("<proposed_plan>\n# A\n</proposed_plan>\n"), Some("# A"));
        assert_eq!(proposed_plan("see <proposed_plan>\n# A\n</proposed_plan>"), None);
    }
}
