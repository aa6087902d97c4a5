//! What may be typed.

use clap::{Parser, Subcommand};

use crate::commands::{
    completions, connectors, doctor, events, exclude, export, forget, handoff, mcp, quickstart,
    reparse, restore, resume, search, sessions, show, sync, watch,
};

/// Find, reopen and hand over the sessions of every coding agent on this machine
///
/// Without a command: reads what is new, and says what is there.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print one JSON value instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,

    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The commands, in the order in which a newcomer meets them.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Quickstart(quickstart::Args),
    Sync(sync::Args),
    Search(search::Args),
    Sessions(sessions::Args),
    Show(show::Args),
    Events(events::Args),
    Resume(resume::Args),
    Restore(restore::Args),
    Export(export::Args),
    Forget(forget::Args),
    Exclude(exclude::Args),
    Reparse(reparse::Args),
    #[command(subcommand)]
    Handoff(handoff::Command),
    Connectors(connectors::Args),
    Doctor(doctor::Args),
    Watch(watch::Args),
    Mcp(mcp::Args),
    Completions(completions::Args),
}
