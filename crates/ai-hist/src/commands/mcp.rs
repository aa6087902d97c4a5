//! `ai-hist mcp`.

use std::{process::ExitCode, sync::Arc};

use ai_hist_engine::Engine;

use crate::report::CliError;

/// Serve MCP on standard input and output, for an agent to start
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, engine: Engine) -> Result<ExitCode, CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let served = runtime.block_on(ai_hist_mcp::serve(Arc::new(engine)));
    // A call that is still at work on another thread must not hold up the end.
    runtime.shutdown_background();
    served?;
    Ok(ExitCode::SUCCESS)
}
