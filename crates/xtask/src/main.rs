//! The project's own tools: `cargo xtask <connectors|tidy|ci|gen-history|bench>`.
//!
//! **Invariant:** no dependencies, so that the first `cargo xtask` on a new machine is quick.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "this is a command-line tool")]

mod bench;
mod ci;
mod connectors;
mod history;
mod layers;
mod limits;
mod manifest;
mod sources;
mod tidy;
mod tree;
mod words;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask <task>

  connectors  write crates/catalog anew from the folders in connectors/
  tidy        check the rules of the tree that no compiler knows
  ci          everything a change must pass: format, lints, docs, tests, tidy, licences
  gen-history write a made-up history of agents: --out DIR [--bytes 500MB] [--sessions 2000]
              [--seed 1] [--one-session 1GB] [--long-line 200MB]
  bench       measure the released program: [--bytes 500MB] [--home DIR] [--binary FILE]
              [--keep] [--large] [--json]";

fn main() -> ExitCode {
    let task = std::env::args().nth(1);
    let result = match task.as_deref() {
        Some("connectors") => connectors::write(),
        Some("tidy") => tidy::check(),
        Some("ci") => ci::run(),
        Some("bench") => bench::run(std::env::args().skip(2)),
        Some("gen-history") => history::run(std::env::args().skip(2)),
        Some(_) | None => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}
