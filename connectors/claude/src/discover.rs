//! Where the transcripts are.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
};

use ai_hist_connector::{
    Discovery, Feed, FeedPlace, Host, Settings, Stamp,
    model::{FeedId, SessionKey},
    walk,
};

use crate::identity::{self, HISTORY, Identity, SUBAGENTS};

/// The folders that the agent keeps its files in. There may be several on one machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Roots(Vec<Root>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Root {
    path: PathBuf,
    /// A person named this folder, so it may also be one of projects.
    is_chosen: bool,
}

impl Roots {
    /// The roots that the settings name; else those of the environment; else the usual ones.
    pub(crate) fn of(settings: &Settings, host: &Host) -> Self {
        let named = |paths: Vec<&str>, is_chosen| {
            let paths = paths.into_iter().map(str::trim).filter(|it| !it.is_empty());
            let root = |it| Root { path: host.expand(it), is_chosen };
            Self(paths.map(root).collect()).each_once()
        };
        if let Some(paths) = settings.texts("roots") {
            return named(paths, true);
        }
        match host.var("CLAUDE_CONFIG_DIR") {
            Some(paths) => named(paths.split(',').collect(), false),
            None => named(vec!["~/.claude", "~/.config/claude"], false),
        }
    }

    /// The root that is there, or would be.
    pub(crate) fn first(&self) -> Option<&Path> {
        let there = self.0.iter().find(|it| it.path.is_dir()).or(self.0.first());
        there.map(|it| it.path.as_path())
    }

    /// Why there is nothing to read, if none of them exists.
    pub(crate) fn absence(&self) -> Option<String> {
        if self.0.iter().any(|it| it.path.is_dir()) {
            return None;
        }
        let paths: Vec<String> =
            self.0.iter().map(|it| format!("`{}`", it.path.display())).collect();
        Some(match paths.as_slice() {
            [] => "no root is set".to_owned(),
            paths => format!("there is no folder {}", paths.join(" or ")),
        })
    }

    /// Lists every feed: the transcripts, and the histories of prompts.
    pub(crate) fn discover(&self) -> Discovery {
        let mut discovery = self.transcripts();
        discovery.feeds.extend(self.0.iter().filter_map(|it| feed(it.history())));
        in_order(discovery)
    }

    /// Lists every transcript.
    pub(crate) fn transcripts(&self) -> Discovery {
        let mut discovery = Discovery::default();
        for root in &self.0 {
            let walk = walk::files(&root.transcripts(), |it| root.holds(it));
            discovery.problems.extend(walk.problems);
            discovery.feeds.extend(walk.files.into_iter().map(|it| feed_of(it.0, &it.1)));
        }
        in_order(discovery)
    }

    /// The files that are named after `session`.
    pub(crate) fn locate(&self, session: &SessionKey) -> Vec<Feed> {
        let mut feeds = Vec::new();
        for root in &self.0 {
            let folder = root.transcripts();
            for path in named_after(&folder, session) {
                // A name may be shared by sub-agents of several sessions.
                let is_it = Identity::of(&path).is_ok_and(|it| it.key() == Some(session));
                feeds.extend(feed(path).filter(|_| is_it));
            }
        }
        feeds
    }

    /// What to look at for changes.
    pub(crate) fn watched(&self) -> Vec<PathBuf> {
        self.0.iter().flat_map(|it| [it.transcripts(), it.history()]).collect()
    }

    /// The names of all transcripts that stand where the agent puts them.
    pub(crate) fn names(&self) -> HashSet<String> {
        let projects = self.0.iter().flat_map(|it| folders(&it.transcripts()));
        let paths = projects.flat_map(|it| entries(&it)).filter(|it| is_transcript(it));
        paths.filter_map(|it| Some(it.file_stem()?.to_string_lossy().into_owned())).collect()
    }

    /// The folders of the roots themselves.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(|it| it.path.as_path())
    }

    /// The folder of each root in which transcripts of work in `cwd` stand.
    pub(crate) fn projects_of(&self, cwd: &Path) -> Vec<PathBuf> {
        let slug = slug(&cwd.to_string_lossy());
        self.0.iter().map(|it| it.transcripts().join(&slug)).collect()
    }

    /// Two names of one folder are one root: its transcripts are not to be listed twice.
    fn each_once(mut self) -> Self {
        let mut seen = HashSet::new();
        let real = |it: &Root| fs::canonicalize(&it.path).unwrap_or_else(|_| it.path.clone());
        self.0.retain(|it| seen.insert(real(it)));
        self
    }
}

impl Root {
    /// The folder that holds a folder for each project.
    fn transcripts(&self) -> PathBuf {
        let projects = self.path.join("projects");
        if self.is_chosen && !projects.is_dir() { self.path.clone() } else { projects }
    }

    /// Whether `path` is a transcript.
    fn holds(&self, path: &Path) -> bool {
        is_transcript(path) && path != self.history()
    }

    /// The history of prompts, which stands beside the projects.
    fn history(&self) -> PathBuf {
        self.path.join(HISTORY)
    }
}

/// Each feed once, by id.
fn in_order(mut discovery: Discovery) -> Discovery {
    discovery.feeds.sort_by(|a, b| a.id.cmp(&b.id));
    discovery.feeds.dedup_by(|a, b| a.id == b.id);
    discovery
}

/// The feed that the file `path` is, if it is there.
fn feed(path: PathBuf) -> Option<Feed> {
    let metadata = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?;
    Some(feed_of(path, &metadata))
}

fn feed_of(path: PathBuf, metadata: &fs::Metadata) -> Feed {
    Feed {
        id: FeedId(path.to_string_lossy().into_owned()),
        place: FeedPlace::AppendedFile(path),
        stamp: Some(Stamp::of(metadata)),
    }
}

pub(crate) fn is_transcript(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "jsonl")
}

/// Files of which the name and the folder say that they are of `session`.
fn named_after(folder: &Path, session: &SessionKey) -> Vec<PathBuf> {
    let native = &session.native;
    let (parent, file) = match identity::split(native) {
        Some((parent, agent)) => (Some(parent), identity::sub_agent_file(agent)),
        None => (None, format!("{native}.jsonl")),
    };
    let mut found = Vec::new();
    for project in folders(folder) {
        let path = project.join(&file);
        if path.is_file() {
            found.push(path);
        }
        if let Some(parent) = parent {
            let subagents = project.join(parent).join(SUBAGENTS);
            let walk = walk::files(&subagents, |it| it.ends_with(&file));
            found.extend(walk.files.into_iter().map(|it| it.0));
        }
    }
    if found.is_empty() {
        // Somebody arranged the files in another way.
        let walk = walk::files(folder, |it| it.ends_with(&file));
        found.extend(walk.files.into_iter().map(|it| it.0));
    }
    found
}

fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut folders = entries(folder);
    folders.retain(|it| it.is_dir());
    folders
}

/// What is in `folder`, in order of path.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut entries: Vec<PathBuf> = entries.filter_map(|it| Some(it.ok()?.path())).collect();
    entries.sort();
    entries
}

/// The name that the agent gives a project's folder. Many paths have the same one.
fn slug(cwd: &str) -> String {
    cwd.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    fn host(home: &Path, vars: &[(&str, &str)]) -> Host {
        let vars: BTreeMap<String, String> =
            vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Host { home: home.to_owned(), vars }
    }

    fn settings(roots: &[&str]) -> Settings {
        let mut settings = Settings::default();
        settings.0.insert("roots".to_owned(), json!(roots));
        settings
    }

    fn machine(files: &[&str]) -> tempfile::TempDir {
        let home = tempfile::tempdir().expect("makes a folder");
        for file in files {
            let path = home.path().join(file);
            fs::create_dir_all(path.parent().expect("has a folder")).expect("makes folders");
            fs::write(path, "").expect("writes");
        }
        home
    }

    fn check(home: &Path, roots: &Roots, expected: &[&str]) {
        let discovery = roots.discover();
        let feeds = discovery.feeds.iter().filter_map(|it| it.place.path());
        let found: Vec<_> = feeds.map(|it| it.strip_prefix(home).expect("is below home")).collect();
        let expected: Vec<_> = expected.iter().map(Path::new).collect();
        assert_eq!(found, expected, "{roots:?}");
    }

    #[test]
    fn transcripts_are_found_at_any_depth_and_the_history_beside_them() {
        let home = machine(&[
            ".claude/history.jsonl",
            ".claude/projects/-a/1.jsonl",
            ".claude/projects/-a/1.txt",
            ".claude/projects/-a/1/subagents/agent-x.jsonl",
            ".claude/projects/-a/1/subagents/workflows/wf_1/journal.jsonl",
            ".config/claude/projects/-b/2.jsonl",
        ]);
        let roots = Roots::of(&Settings::default(), &host(home.path(), &[]));
        assert_eq!(roots.absence(), None);
        check(
            home.path(),
            &roots,
            &[
                ".claude/history.jsonl",
                ".claude/projects/-a/1.jsonl",
                ".claude/projects/-a/1/subagents/agent-x.jsonl",
                ".claude/projects/-a/1/subagents/workflows/wf_1/journal.jsonl",
                ".config/claude/projects/-b/2.jsonl",
            ],
        );
    }

    #[test]
    fn settings_come_before_the_environment_and_that_before_the_usual_places() {
        let home = machine(&[
            ".claude/projects/a/1.jsonl",
            "x/projects/a/2.jsonl",
            "y/a/3.jsonl",
            "y/history.jsonl",
        ]);
        let both = "~/x,~/y,~/x/../x";
        let with_env = host(home.path(), &[("CLAUDE_CONFIG_DIR", both)]);
        check(
            home.path(),
            &Roots::of(&Settings::default(), &with_env),
            &["x/projects/a/2.jsonl", "y/history.jsonl"],
        );
        check(
            home.path(),
            &Roots::of(&settings(&["~/y"]), &with_env),
            &["y/a/3.jsonl", "y/history.jsonl"],
        );
        check(home.path(), &Roots::of(&settings(&[]), &with_env), &[]);
    }

    #[test]
    fn a_machine_without_roots_is_absent() {
        let home = machine(&[]);
        let roots = Roots::of(&Settings::default(), &host(home.path(), &[]));
        assert!(roots.absence().is_some_and(|it| it.contains(".claude")));
        check(home.path(), &roots, &[]);
    }

    #[test]
    fn a_root_that_cannot_be_listed_is_a_problem_and_costs_no_other() {
        let home = machine(&[".claude/projects", ".config/claude/projects/-b/2.jsonl"]);
        let roots = Roots::of(&Settings::default(), &host(home.path(), &[]));
        check(home.path(), &roots, &[".config/claude/projects/-b/2.jsonl"]);
        let problems = roots.discover().problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].path.ends_with(".claude/projects"), "{problems:?}");
    }

    #[test]
    fn a_session_is_located_by_name() {
        const ONE: &str = "11111111-1111-4111-8111-111111111111";
        let files = [
            format!(".claude/projects/-a/{ONE}.jsonl"),
            format!(".claude/projects/-a/{ONE}/subagents/workflows/wf_1/agent-x.jsonl"),
            ".claude/projects/-a/agent-x.jsonl".to_owned(),
        ];
        let home = machine(&files.each_ref().map(String::as_str));
        let roots = Roots::of(&Settings::default(), &host(home.path(), &[]));
        let located = |native: &str| -> Vec<String> {
            let native = identity::parse(native).expect("is harmless");
            let feeds = roots.locate(&identity::key(native));
            let relative = |it: &Feed| {
                let path = it.place.path().expect("is a file");
                path.strip_prefix(home.path()).expect("is below home").display().to_string()
            };
            feeds.iter().map(relative).collect()
        };
        assert_eq!(located(ONE), [files[0].as_str()]);
        assert_eq!(located(&format!("{ONE}.agent-x")), [files[1].as_str()]);
        assert_eq!(located("agent-x"), [files[2].as_str()]);
        assert!(located("22222222-2222-4222-8222-222222222222").is_empty());
    }

    #[test]
    fn a_slug_keeps_letters_and_digits() {
        assert_eq!(slug("/home/dev/my_app.x"), "-home-dev-my-app-x");
        assert_eq!(slug(r"C:\Users\x"), "C--Users-x");
        assert_eq!(slug("/é"), "--");
    }
}
