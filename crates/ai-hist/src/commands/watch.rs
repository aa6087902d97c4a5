//! `ai-hist watch`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
    sync::{
        Arc,
        mpsc::{Sender, channel},
    },
    thread,
};

use ai_hist_engine::{
    Begin, Engine, Means, TakenIn, WatchNews, WatchPlan, WatchedBy, model::Class,
};
use tokio::runtime::Runtime;

use crate::{
    report::CliError,
    text::{self, bytes, count, line},
};

/// Keep everything up to date until Ctrl-C, saying what is read
///
/// Not needed for searching: every question reads first what is new, and `ai-hist mcp` watches by
/// itself. It is for those who want to see it, or to have the index ready before anybody asks. With
/// `--json`, one JSON value a line.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Look at intervals, where the system tells nothing of changes: on a disk that other machines
    /// write to
    #[arg(long)]
    poll: bool,
}

/// What the watching waits for.
enum Said {
    News(WatchNews),
    Stop,
}

pub(crate) fn run(args: &Args, engine: Engine, json: bool) -> Result<ExitCode, CliError> {
    let (sender, said) = channel();
    stop_at_signals(sender.clone())?;
    let means = if args.poll { Means::Intervals } else { Means::Notices };
    let plan = WatchPlan { means, begin: Begin::AtOnce, executable: std::env::current_exe().ok() };
    let watcher = Arc::new(engine).watch(plan, move |news| {
        // Nobody hears it when the end has come.
        let _ = sender.send(Said::News(news));
    })?;
    for said in said {
        let Said::News(news) = said else { break };
        if json {
            text::json(&news)?;
        } else {
            print(&news)?;
        }
        if let WatchNews::Resigned { .. } = news {
            return Ok(ExitCode::from(Class::Unavailable.exit_status()));
        }
    }
    drop(watcher);
    Ok(ExitCode::SUCCESS)
}

/// Says on `stop` that the program is asked to end: by Ctrl-C, or by whoever manages it.
fn stop_at_signals(stop: Sender<Said>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let end = end(&runtime)?;
    thread::Builder::new().name("ai-hist-signals".to_owned()).spawn(move || {
        runtime.block_on(end);
        let _ = stop.send(Said::Stop);
    })?;
    Ok(())
}

/// Ends when the program is asked to. The signals are caught from the call on.
#[cfg(unix)]
fn end(runtime: &Runtime) -> io::Result<impl Future<Output = ()> + Send + use<>> {
    use tokio::signal::unix::{SignalKind, signal};
    let _entered = runtime.enter();
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Ends when the program is asked to.
#[cfg(not(unix))]
fn end(_runtime: &Runtime) -> io::Result<impl Future<Output = ()> + Send + use<>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}

fn print(news: &WatchNews) -> io::Result<()> {
    match news {
        WatchNews::Took(taken) => writeln!(io::stdout(), "{}", took(taken)),
        WatchNews::Watching { .. } | WatchNews::Failed { .. } | WatchNews::Resigned { .. } => {
            writeln!(io::stderr(), "{}", remark(news))
        }
    }
}

fn took(taken: &TakenIn) -> String {
    let at = taken.at.as_deref().unwrap_or("(no time)").replace('T', " ");
    let events = count(taken.events, "new event");
    let read = format!("{} of {}", bytes(taken.bytes), count(taken.transcripts, "transcript"));
    let sessions = match taken.sessions.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, others @ ..] => format!("{one} and {} more", others.len()),
    };
    format!("{at}  {events}, {read}  {}", line(&sessions, 200))
}

/// What a watcher says of itself, for people: one line.
pub(crate) fn remark(news: &WatchNews) -> String {
    match news {
        WatchNews::Watching { by: WatchedBy::Notices, .. } => "watching".to_owned(),
        WatchNews::Watching { by: WatchedBy::Intervals, reason } => {
            let reason = reason.as_deref().unwrap_or("nothing tells of changes");
            format!("looking every few seconds: {}", line(reason, 200))
        }
        WatchNews::Took(taken) => took(taken),
        WatchNews::Failed { reason, times } => {
            format!("warning: {} ({times} in all); trying again", line(reason, 400))
        }
        WatchNews::Resigned { reason } => {
            format!("stopped watching: {}; start ai-hist again", line(reason, 200))
        }
    }
}
