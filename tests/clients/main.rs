//! Real agents: the pinned Claude Code and Codex, offline, with our server and a scripted model.

// The agents are pinned for these systems.
#![cfg(unix)]

mod claude;
mod codex;
mod handoff;
mod install;
mod limits;
mod machine;
mod mock_model;
mod restore;
mod resumed;
mod runner;
mod sub_agent;
