//! What agents write into every transcript anew: instructions, and descriptions of tools.

use std::fmt::Write as _;

use super::{line::Line, project::Project, random::Random, speech::Speech, vocabulary::Vocabulary};

/// Long texts that are the same in every session, but for where they are cut.
pub(crate) struct Boilerplate {
    /// What tells the model how to work.
    pub(crate) instructions: String,
    /// The skills there are, in lines.
    pub(crate) skills: String,
    /// JSON of the descriptions of tools, each ending in a comma.
    pub(crate) tools: Vec<String>,
}

impl Boilerplate {
    pub(crate) fn new(seed: u64, vocabulary: &Vocabulary) -> Self {
        let project = Project::new(seed, vocabulary);
        let speech = Speech { vocabulary, project: &project };
        let random = &mut Random::new(seed);
        let mut skills = String::new();
        for _ in 0..13 {
            let name = &project.name(random).snake;
            let what = speech.answer(random, 400).replace('\n', " ");
            let _ = writeln!(skills, "- {name}: {what}");
        }
        let tools = (0..14).map(|_| tool(speech, random)).collect();
        Self { instructions: speech.answer(random, 21_000), skills, tools }
    }
}

/// The first `n_bytes` of `text`, or a little less.
pub(crate) fn cut(text: &str, n_bytes: u64) -> &str {
    let mut end = usize::try_from(n_bytes).map_or(text.len(), |it| it.min(text.len()));
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn tool(speech: Speech<'_>, random: &mut Random) -> String {
    let mut line = Line::default();
    let name = &speech.project.name(random).class;
    line.put(format_args!("{{\"name\":\"{name}\",\"description\":"));
    line.string(&speech.answer(random, 1_200));
    line.raw(",\"input_schema\":{\"type\":\"object\",\"properties\":{");
    for i in 0..random.between(2, 6) {
        let comma = if i > 0 { "," } else { "" };
        let name = &speech.project.name(random).snake;
        line.put(format_args!("{comma}\"{name}\":{{\"type\":\"string\",\"description\":"));
        line.string(&speech.title(random)).raw("}");
    }
    line.raw("},\"additionalProperties\":false}}");
    line.as_str().to_owned()
}
