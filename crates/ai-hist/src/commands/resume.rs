//! `ai-hist resume`.

use std::{
    io::{self, Write as _},
    process::{self, ExitCode},
};

use ai_hist_engine::{Command, Engine};
use serde_json::json;

use crate::{report::CliError, text};

/// Reopen a session in its own agent
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Its id or the beginning of it, `source:id`, `latest`, or words of its title
    reference: String,

    /// Print the command instead of running it
    #[arg(long)]
    print: bool,
}

pub(crate) fn run(args: &Args, engine: &Engine, json: bool) -> Result<ExitCode, CliError> {
    let command = engine.resume_command(&args.reference)?;
    if json {
        let words: Vec<_> = command.args.iter().map(|it| it.to_string_lossy()).collect();
        text::json(&json!({
            "program": command.program.to_string_lossy(),
            "args": words,
            "cwd": command.cwd.as_ref().map(|it| it.display().to_string()),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.print {
        writeln!(io::stdout(), "{}", shell_line(&command))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut child = process::Command::new(&command.program);
    child.args(&command.args);
    if let Some(cwd) = &command.cwd {
        if !cwd.is_dir() {
            let problem = format!(
                "the session's folder `{}` is not there any more: make it again, or use --print",
                cwd.display()
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, problem).into());
        }
        child.current_dir(cwd);
    }
    let program = command.program.to_string_lossy().into_owned();
    let status = child.status().map_err(|source| CliError::Start { program, source })?;
    Ok(status.code().and_then(|it| u8::try_from(it).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// The command as a line for a POSIX shell.
pub(crate) fn shell_line(command: &Command) -> String {
    let mut words = vec![shell_word(&command.program.to_string_lossy())];
    words.extend(command.args.iter().map(|it| shell_word(&it.to_string_lossy())));
    let line = words.join(" ");
    match &command.cwd {
        Some(cwd) => format!("cd {} && {line}", shell_word(&cwd.to_string_lossy())),
        None => line,
    }
}

fn shell_word(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_for_the_shell_stays_one_word() {
        let table = [
            ("plain", "plain"),
            ("", "''"),
            ("two words", "'two words'"),
            ("it's", r"'it'\''s'"),
            ("$(rm -rf x)", "'$(rm -rf x)'"),
        ];
        for (word, expected) in table {
            assert_eq!(shell_word(word), expected);
        }
    }
}
