//! Everything a change must pass, in order, with what it took.

use std::{
    io::{self, BufRead as _, BufReader, IsTerminal as _, Read, Write},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use crate::{sources, tidy, tree};

/// What became of a step.
enum Outcome {
    Passed,
    Failed,
    /// Not done, for this reason.
    Skipped(&'static str),
}

struct Report {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

/// How the tests are run.
#[derive(Clone, Copy)]
enum Runner {
    Nextest,
    CargoTest,
}

/// Runs every step, also after one that failed: one run tells all that is wrong.
pub(crate) fn run() -> Result<(), String> {
    let runner = if has_subcommand("nextest") { Runner::Nextest } else { Runner::CargoTest };
    let mut summary = Vec::new();
    let reports = [
        step("format", || cargo(&["fmt", "--all", "--check"])),
        step("lints", || {
            cargo(&["clippy", "--workspace", "--all-targets", "--", "--deny", "warnings"])
        }),
        step("docs", docs),
        step("tests", || tests(runner, &mut summary)),
        step("doc tests", doc_tests),
        step("tidy", || {
            tidy::check().map_or_else(
                |faults| {
                    println!("{faults}");
                    Outcome::Failed
                },
                |()| Outcome::Passed,
            )
        }),
        step("dependencies", dependencies),
    ];
    conclude(&reports, &summary)
}

fn step(name: &'static str, run: impl FnOnce() -> Outcome) -> Report {
    println!("\n=== {name} ===");
    let began = Instant::now();
    let outcome = run();
    if let Outcome::Skipped(why) = outcome {
        println!("skipped: {why}");
    }
    Report { name, outcome, took: began.elapsed() }
}

fn docs() -> Outcome {
    let mut command = cargo_command(&["doc", "--workspace", "--no-deps"]);
    outcome(command.env("RUSTDOCFLAGS", "--deny warnings"))
}

/// With the points at which tests make a pass fail.
const FEATURES: &str = "ai-hist/failpoints";

fn tests(runner: Runner, summary: &mut Vec<String>) -> Outcome {
    let args: &[&str] = match runner {
        Runner::Nextest => {
            &["nextest", "run", "--workspace", "--features", FEATURES, "--no-fail-fast"]
        }
        Runner::CargoTest => &[
            "test",
            "--workspace",
            "--features",
            FEATURES,
            "--lib",
            "--bins",
            "--tests",
            "--no-fail-fast",
        ],
    };
    match relayed(&mut cargo_command(args), runner) {
        Ok((is_success, lines)) => {
            // No test at all is no success: something hid them.
            let is_success = is_success && !lines.is_empty();
            summary.extend(lines);
            if is_success { Outcome::Passed } else { Outcome::Failed }
        }
        Err(error) => {
            println!("cannot run cargo: {error}");
            Outcome::Failed
        }
    }
}

fn doc_tests() -> Outcome {
    let files = tree::text_files();
    if files.iter().any(|it| sources::is_rust(&it.path) && has_example(&it.text)) {
        cargo(&["test", "--workspace", "--doc"])
    } else {
        Outcome::Skipped("no documentation has an example")
    }
}

/// Licences, owners and origins. What is known of vulnerabilities is asked apart, because that
/// always needs a network: `cargo deny check advisories`.
fn dependencies() -> Outcome {
    if !has_subcommand("deny") {
        return Outcome::Skipped("cargo-deny is not installed");
    }
    // It looks at the crates of every platform, and a build has fetched those of one.
    if let Outcome::Failed = cargo(&["fetch"]) {
        return Outcome::Skipped("the crates of other platforms cannot be fetched");
    }
    cargo(&["deny", "--all-features", "check", "bans", "licenses", "sources"])
}

fn has_example(source: &str) -> bool {
    let mut is_open = false;
    for line in source.lines().map(str::trim_start) {
        let doc = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(language) = doc.and_then(|it| it.trim_start().strip_prefix("```")) else {
            continue;
        };
        is_open = !is_open;
        if is_open && ["", "rust", "no_run", "should_panic"].contains(&language) {
            return true;
        }
    }
    false
}

fn cargo(args: &[&str]) -> Outcome {
    outcome(&mut cargo_command(args))
}

fn cargo_command(args: &[&str]) -> Command {
    println!("cargo {}", args.join(" "));
    let mut command = Command::new("cargo");
    command.args(args).current_dir(tree::root());
    command
}

fn outcome(command: &mut Command) -> Outcome {
    match command.status() {
        Ok(status) if status.success() => Outcome::Passed,
        Ok(_) => Outcome::Failed,
        Err(error) => {
            println!("cannot run cargo: {error}");
            Outcome::Failed
        }
    }
}

fn has_subcommand(name: &str) -> bool {
    let output = Command::new("cargo").args([name, "--version"]).output();
    output.is_ok_and(|it| it.status.success())
}

/// Runs `command`, passes on what it says, and keeps the lines that say how many tests ran.
fn relayed(command: &mut Command, runner: Runner) -> io::Result<(bool, Vec<String>)> {
    if io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let (from_stdout, from_stderr) = thread::scope(|scope| {
        let one = scope.spawn(|| relay(stdout, io::stdout(), runner));
        let other = scope.spawn(|| relay(stderr, io::stderr(), runner));
        (one.join().unwrap_or_default(), other.join().unwrap_or_default())
    });
    let status = child.wait()?;
    Ok((status.success(), [from_stdout, from_stderr].concat()))
}

fn relay(from: Option<impl Read>, mut to: impl Write, runner: Runner) -> Vec<String> {
    let mut kept = Vec::new();
    let Some(from) = from else {
        return kept;
    };
    for line in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line);
        // Whoever closed our output does not want the rest; the tests go on.
        let _ = writeln!(to, "{line}");
        let plain = without_colour(&line);
        if is_summary(&plain, runner) {
            kept.push(plain);
        }
    }
    kept
}

/// Whether `runner` says in `line` how many tests ran.
fn is_summary(line: &str, runner: Runner) -> bool {
    let line = line.trim_start();
    match runner {
        Runner::Nextest => line.starts_with("Summary ["),
        Runner::CargoTest => line
            .strip_prefix("test result: ")
            .and_then(|it| it.split_once(". "))
            .is_some_and(|it| !it.1.starts_with("0 passed; 0 failed")),
    }
}

fn without_colour(line: &str) -> String {
    let mut out = String::new();
    let mut parts = line.split("\u{1b}[");
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        out.push_str(part.split_once('m').map_or("", |it| it.1));
    }
    out
}

fn conclude(reports: &[Report], summary: &[String]) -> Result<(), String> {
    println!("\n=== summary ===");
    for Report { name, outcome, took } in reports {
        let word = match outcome {
            Outcome::Passed => "passed".to_owned(),
            Outcome::Failed => "FAILED".to_owned(),
            Outcome::Skipped(why) => format!("skipped: {why}"),
        };
        println!("{name:<14}{:>6.1} s  {word}", took.as_secs_f64());
    }
    for line in summary {
        println!("{}", line.trim());
    }
    let is_failed = |it: &&Report| matches!(it.outcome, Outcome::Failed);
    let failed: Vec<&str> = reports.iter().filter(is_failed).map(|it| it.name).collect();
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_is_a_block_of_rust_in_a_doc_comment() {
        for (source, expected) in [
            ("/// Says.\n///\n/// ```\n/// x();\n/// ```\n", true),
            ("//! ```no_run\n//! x();\n//! ```\n", true),
            ("//! ```text\n//! x\n//! ```\n", false),
            ("    /// ```rust\n", true),
            ("let x = \"```\";\n// ```\n", false),
        ] {
            assert_eq!(has_example(source), expected, "{source}");
        }
    }

    #[test]
    fn lines_that_count_tests_are_kept() {
        let summary = "\u{1b}[32;1m     Summary\u{1b}[0m [   1.2s] 40 tests run: 40 passed";
        for (line, nextest, cargo_test) in [
            (summary, true, false),
            ("test result: ok. 6 passed; 0 failed; 0 filtered out", false, true),
            ("test result: FAILED. 0 passed; 1 failed; 0 filtered out", false, true),
            ("test result: ok. 0 passed; 0 failed; 0 filtered out", false, false),
            ("running 6 tests", false, false),
        ] {
            let line = without_colour(line);
            assert_eq!(is_summary(&line, Runner::Nextest), nextest, "{line}");
            assert_eq!(is_summary(&line, Runner::CargoTest), cargo_test, "{line}");
        }
    }

    #[test]
    fn colour_is_taken_off() {
        assert_eq!(without_colour("\u{1b}[1;31mred\u{1b}[0m and not"), "red and not");
        assert_eq!(without_colour("plain"), "plain");
    }
}
