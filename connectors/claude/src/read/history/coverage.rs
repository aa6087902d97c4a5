//! Which prompts of the history stand in a transcript.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use ai_hist_connector::model::Timestamp;
use memchr::memmem;

use crate::{
    discover::{self, Roots},
    limits::{MAX_RECORD_LAG_MS, MAX_TIME_DISTANCE_BYTES},
    read::time,
};

/// The transcripts that are there, each looked at once in a pass and only if it is asked for.
#[derive(Debug)]
pub(super) struct Coverage {
    roots: Roots,
    /// Whether a session has a transcript.
    known: HashMap<String, bool>,
    /// The names of all transcripts.
    names: Option<HashSet<String>>,
    /// From when to when the transcripts of a project go.
    times: HashMap<String, Vec<RangeInclusive<Timestamp>>>,
}

impl Coverage {
    pub(super) fn of(roots: Roots) -> Self {
        Self { roots, known: HashMap::new(), names: None, times: HashMap::new() }
    }

    /// Whether there is a transcript of `session`, which as a rule stands in its project's folder.
    pub(super) fn has(&mut self, session: &str, project: Option<&str>) -> bool {
        if let Some(known) = self.known.get(session) {
            return *known;
        }
        let file = format!("{session}.jsonl");
        let folders = project.map(|it| self.roots.projects_of(Path::new(it))).unwrap_or_default();
        let is_there = folders.iter().any(|it| it.join(&file).is_file())
            || self.names.get_or_insert_with(|| self.roots.names()).contains(session);
        self.known.insert(session.to_owned(), is_there);
        is_there
    }

    /// Whether a transcript of `project` goes from before the time `at` to after it. A prompt that
    /// does not say its session is most likely one of that.
    pub(super) fn covers(&mut self, project: Option<&str>, at: Option<Timestamp>) -> bool {
        let (Some(project), Some(at)) = (project, at) else {
            return false;
        };
        let times = match self.times.get(project) {
            Some(times) => times,
            None => {
                let folders = self.roots.projects_of(Path::new(project));
                let times = folders.iter().flat_map(|it| transcripts(it));
                let times = times.filter_map(|it| lifetime(&it).ok().flatten()).collect();
                self.times.entry(project.to_owned()).or_insert(times)
            }
        };
        times.iter().any(|it| it.contains(&at))
    }
}

fn transcripts(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|it| Some(it.ok()?.path()));
    paths.filter(|it| discover::is_transcript(it)).collect()
}

/// The time at which the first prompt may have been typed, and that of the last record.
fn lifetime(path: &Path) -> io::Result<Option<RangeInclusive<Timestamp>>> {
    const LEAD: &[u8] = b"\"timestamp\":\"";
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut head = Vec::new();
    (&mut file).take(MAX_TIME_DISTANCE_BYTES).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TIME_DISTANCE_BYTES)))?;
    let mut end = Vec::new();
    file.take(MAX_TIME_DISTANCE_BYTES).read_to_end(&mut end)?;
    let time = |bytes: &[u8], at: usize| {
        let text = &bytes[at + LEAD.len()..];
        let text = &text[..memchr::memchr(b'"', text)?];
        std::str::from_utf8(text).ok().and_then(time::parse)
    };
    let first = memmem::find(&head, LEAD).and_then(|at| time(&head, at));
    let last = memmem::rfind(&end, LEAD).and_then(|at| time(&end, at));
    let first = first.map(|it| Timestamp(it.0.saturating_sub(MAX_RECORD_LAG_MS)));
    Ok(first.zip(last).map(|(first, last)| first..=last))
}
