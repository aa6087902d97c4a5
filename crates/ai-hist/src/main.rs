//! The program: reads the arguments, wires the crates together, prints.

mod cli;
mod commands;
mod host;
mod progress;
mod report;
mod text;

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
    let _scenario = ai_hist_fault::scenario();
    let cli = cli::Cli::parse();
    match commands::run(&cli) {
        Ok(code) => code,
        Err(error) => report::failure(&error, cli.json),
    }
}
