//! A session with a line that is longer than memory should have to hold.

use std::path::Path;

use super::{
    assignment::Assignment, line::Line, random::Random, speech::Speech, transcript::Transcript,
};

/// Writes a session of Claude Code below `home` whose middle line has `n_bytes`. The line is
/// written piece by piece.
pub(super) fn write(home: &Path, assignment: &Assignment<'_>) -> Result<u64, String> {
    let project = assignment.project;
    let speech = Speech { vocabulary: assignment.vocabulary, project };
    let random = &mut Random::of_part(assignment.seed, 2);
    let id = Random::of_part(assignment.seed, 1).uuid();
    let path = home.join(".claude/projects").join(project.slug()).join(format!("{id}.jsonl"));
    let mut transcript = Transcript::create(&path)?;
    let mut parent = "null".to_owned();
    for n in 0..3 {
        let uuid = random.uuid();
        let time = assignment.begins.after(n * 1_000).iso();
        transcript.piece(&format!(
            "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"user\",\
             \"message\":{{\"role\":\"user\",\"content\":\""
        ))?;
        let n_bytes = if n == 1 { assignment.n_bytes } else { 100 };
        let mut written = 0;
        while written < n_bytes {
            let mut line = Line::default();
            line.part(&speech.output(random, (n_bytes - written).min(50_000))).part("\n");
            written += line.as_str().len() as u64;
            transcript.piece(line.as_str())?;
        }
        transcript.piece(&format!(
            "\"}},\"uuid\":\"{uuid}\",\"timestamp\":\"{time}\",\"userType\":\"external\",\
             \"entrypoint\":\"cli\",\"cwd\":\"{}\",\"sessionId\":\"{id}\",\
             \"version\":\"2.1.332\",\"gitBranch\":\"{}\"}}\n",
            project.cwd, project.branch
        ))?;
        parent = format!("\"{uuid}\"");
    }
    transcript.finish(assignment.begins.after(2_000))
}
