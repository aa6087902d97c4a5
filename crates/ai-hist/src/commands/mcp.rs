//! `ai-hist mcp`.

use std::{
    io::{self, Write as _},
    process::ExitCode,
    sync::Arc,
};

use ai_hist_engine::{Begin, Engine, Means, WatchNews, WatchPlan, WatchedBy};

use crate::{commands::watch::remark, report::CliError};

/// Serve MCP on standard input and output, for an agent to start
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, engine: Engine) -> Result<ExitCode, CliError> {
    let engine = Arc::new(engine);
    let plan = WatchPlan {
        means: Means::Notices,
        begin: Begin::OnceUsed,
        executable: std::env::current_exe().ok(),
    };
    // A server that cannot watch answers all the same: each question takes in what is new.
    let _watcher = Arc::clone(&engine).watch(plan, tell).map_err(|error| warn(&error.to_string()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(ai_hist_mcp::serve(engine));
    // A call that is still at work on another thread must not hold up the end.
    runtime.shutdown_background();
    served?;
    Ok(ExitCode::SUCCESS)
}

/// Says on standard error, which clients keep in a log, what somebody may have to look at.
#[expect(clippy::needless_pass_by_value, reason = "a watcher gives its news away")]
fn tell(news: WatchNews) {
    match &news {
        WatchNews::Took(_) | WatchNews::Watching { by: WatchedBy::Notices, .. } => {}
        WatchNews::Watching { by: WatchedBy::Intervals, .. }
        | WatchNews::Failed { .. }
        | WatchNews::Resigned { .. } => warn(&remark(&news)),
    }
}

fn warn(text: &str) {
    // Without a log there is nobody to tell.
    let _ = writeln!(io::stderr(), "ai-hist: {text}");
}
