//! `ai-hist quickstart`: the whole product in miniature, in a folder that is removed afterwards.

mod client;
mod samples;

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
    process::ExitCode,
};

use ai_hist_engine::{Engine, SearchRequest, SessionFilter, SessionRow, Setup};
use serde_json::json;

use crate::{
    commands::{resume::shell_line, sync},
    host,
    progress::Bar,
    report::CliError,
    text::{bytes, count, line},
};

/// How much history the demonstration reads: enough to be real, little enough to be quick.
const HISTORY_BYTES: u64 = 100 * 1024 * 1024;

/// See it work: index, search, and hand a session over by pointer, in a temporary folder
///
/// Reads this machine's sessions, or bundled samples where there are none. Nothing leaves the
/// machine, nothing of the agents' is changed, and the folder is removed at the end.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Use the bundled samples also where this machine has sessions of its own
    #[arg(long)]
    samples: bool,

    /// Keep the folder
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &Args, json: bool) -> Result<ExitCode, CliError> {
    let folder = tempfile::Builder::new().prefix("ai-hist-quickstart-").tempdir()?;
    let outcome = demonstrate(args, folder.path(), json);
    if args.keep {
        let kept = folder.keep();
        writeln!(io::stderr(), "kept {}", kept.display())?;
    }
    outcome.map(|()| ExitCode::SUCCESS)
}

fn demonstrate(args: &Args, folder: &Path, json: bool) -> Result<(), CliError> {
    let mut setup = host::setup()?;
    setup.state = folder.join("state");
    setup.config = Some(write_config(folder)?);
    let uses_samples = args.samples || !has_sessions(&setup);
    if uses_samples {
        setup.host = samples::write(&folder.join("home"))?;
    }
    let home = setup.host.home.clone();
    let say = |text: &str| -> io::Result<()> {
        if json { Ok(()) } else { writeln!(io::stdout(), "{text}") }
    };

    say("1. index")?;
    let place = if uses_samples { "bundled samples" } else { "this machine's agents" };
    say(&format!("   sessions of {place}, into {}", setup.state.display()))?;
    let config = setup.config.clone();
    let engine = Engine::new(setup);
    let bar = Bar::new();
    let report = engine.sync_newest(HISTORY_BYTES, &|progress| bar.show(progress));
    bar.clear();
    let report = report?;
    if !json {
        sync::print(&report)?;
    }
    let agents = engine.counts()?;
    for agent in &agents {
        let sessions = count(agent.sessions, "session");
        say(&format!("   {:<8} {sessions}, {}", agent.source, count(agent.events, "event")))?;
    }

    let session = newest(&engine)?;
    let words = search_words(&session.title);
    say(&format!("\n2. search: {words}"))?;
    let request = SearchRequest { query: words.clone(), limit: Some(3), cursor: None };
    let answer = engine.search(&request)?;
    for hit in &answer.hits {
        say(&format!("   {}:{} event {}", hit.source, hit.session_id, hit.seq))?;
        say(&format!("     {}", line(&hit.snippet, 160)))?;
    }
    say(&format!("   {}", count(answer.total, "matching event")))?;

    say("\n3. hand a session over, as one agent does to another: over MCP, by pointer")?;
    let server = client::Server { state: engine.state(), config: config.as_deref(), home: &home };
    let handed = server.hand_over(&session, &say)?;

    say("\n4. what was written, and where")?;
    for (path, n_bytes) in written(folder)? {
        say(&format!("   {:>10}  {}", bytes(n_bytes), path.display()))?;
    }
    say(if args.keep { "" } else { "   all of it is removed now" })?;

    say("\nnow for real:")?;
    say("   ai-hist                       reads everything, and says what it found")?;
    let program = std::env::current_exe()?.into_os_string();
    let mut n_wired = 0;
    for (_, command) in Engine::new(host::setup()?).wirings(&[program, "mcp".into()]) {
        n_wired += 1;
        say(&format!("   {}", shell_line(&command)))?;
    }
    if n_wired == 0 {
        say("   install Claude Code or Codex; `ai-hist connectors` then shows how to wire it")?;
    }
    if json {
        crate::text::json(&json!({
            "samples": uses_samples,
            "sync": report,
            "agents": agents,
            "query": words,
            "search": answer,
            "handoff": handed,
        }))?;
    }
    Ok(())
}

fn has_sessions(setup: &Setup) -> bool {
    let probe = Setup {
        state: setup.state.clone(),
        host: setup.host.clone(),
        config: None,
        cwd: None,
        ..*setup
    };
    Engine::new(probe).n_feeds().is_ok_and(|n| 0 < n)
}

fn write_config(folder: &Path) -> io::Result<std::path::PathBuf> {
    let path = folder.join("plugins.json");
    let workspace = folder.join("workspace");
    let config = json!({"plugins": [{"module": "cloud", "options": {
        "path": workspace.display().to_string(), "workspace": "quickstart", "account": "me"
    }}]});
    fs::write(&path, format!("{config:#}\n"))?;
    Ok(path)
}

fn newest(engine: &Engine) -> Result<SessionRow, CliError> {
    let list = engine.sessions(&SessionFilter::default())?;
    let rich = list.sessions.iter().find(|it| 5 <= it.n_events && 0 < it.n_prompts);
    let session = rich.or(list.sessions.first()).cloned();
    session.ok_or_else(|| CliError::Quickstart("there is no session to show".to_owned()))
}

/// Words of a title that are worth searching for.
fn search_words(title: &str) -> String {
    let words = title.split(|it: char| !it.is_alphanumeric());
    let long: Vec<&str> = words.filter(|it| 3 < it.chars().count()).take(2).collect();
    if long.is_empty() { title.to_owned() } else { long.join(" ") }
}

fn written(folder: &Path) -> io::Result<Vec<(std::path::PathBuf, u64)>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let mut n_index = 0;
        for entry in fs::read_dir(&next)? {
            let entry = entry?;
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                folders.push(entry.path());
            } else if next.components().any(|it| it.as_os_str() == "index") {
                n_index += metadata.len();
            } else {
                files.push((entry.path(), metadata.len()));
            }
        }
        if 0 < n_index {
            files.push((next, n_index));
        }
    }
    files.sort();
    Ok(files)
}
