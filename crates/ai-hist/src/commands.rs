//! The commands, one a file: its arguments, its help, what it does.

pub(crate) mod completions;
pub(crate) mod connectors;
pub(crate) mod doctor;
pub(crate) mod events;
pub(crate) mod exclude;
pub(crate) mod export;
pub(crate) mod forget;
pub(crate) mod handoff;
pub(crate) mod mcp;
pub(crate) mod quickstart;
pub(crate) mod reparse;
pub(crate) mod restore;
pub(crate) mod resume;
pub(crate) mod search;
pub(crate) mod sessions;
pub(crate) mod show;
pub(crate) mod sync;
pub(crate) mod watch;
mod welcome;

use std::process::ExitCode;

use ai_hist_engine::Engine;

use crate::{
    cli::{Cli, Command},
    host,
    report::CliError,
};

/// Runs what was typed.
pub(crate) fn run(cli: &Cli) -> Result<ExitCode, CliError> {
    let engine = Engine::new(host::setup()?);
    let json = cli.json;
    match &cli.command {
        None => welcome::run(&engine, json),
        Some(Command::Quickstart(args)) => quickstart::run(args, json),
        Some(Command::Sync(args)) => sync::run(args, &engine, json),
        Some(Command::Search(args)) => search::run(args, &engine, json),
        Some(Command::Sessions(args)) => sessions::run(args, &engine, json),
        Some(Command::Show(args)) => show::run(args, &engine, json),
        Some(Command::Events(args)) => events::run(args, &engine, json),
        Some(Command::Resume(args)) => resume::run(args, &engine, json),
        Some(Command::Restore(args)) => restore::run(args, &engine, json),
        Some(Command::Export(args)) => export::run(args, &engine, json),
        Some(Command::Forget(args)) => forget::run(args, &engine, json),
        Some(Command::Exclude(args)) => exclude::run(args, &engine, json),
        Some(Command::Reparse(args)) => reparse::run(args, &engine, json),
        Some(Command::Handoff(command)) => handoff::run(command, &engine, json),
        Some(Command::Connectors(args)) => connectors::run(args, &engine, json),
        Some(Command::Doctor(args)) => doctor::run(args, &engine, json),
        Some(Command::Watch(args)) => watch::run(args, engine, json),
        Some(Command::Mcp(args)) => mcp::run(args, engine),
        Some(Command::Completions(args)) => completions::run(args),
    }
}
