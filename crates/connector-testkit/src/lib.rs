//! The promises of the connector contract, as checks that run on any connector.
//!
//! A connector's whole test is one line, `check(&CONNECTOR)`: its recordings are found by its id
//! in `fixtures/<id>/<version>/<case>/`, and every promise is checked on every one of them. Each
//! promise is a function that is named after it; a new promise is a new function there and a line
//! in `promises::PROMISES`.
//!
//! **Invariant:** a recording is never touched, but for its golden text. Everything runs on copies.

#[cfg(test)]
mod fake;
mod golden;
mod promises;
mod reading;
mod recording;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use ai_hist_connector::ConnectorSpec;

use promises::{PROMISES, Stage};
use recording::Recording;

/// Checks every promise on every recording of `spec`.
///
/// # Panics
///
/// If any promise is broken, naming each with its recording; and if there is no recording.
pub fn check(spec: &ConnectorSpec) {
    let faults = faults(spec, &fixtures());
    if !faults.is_empty() {
        let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
        panic!("`{}` breaks the contract\n{}", spec.id, lines.join("\n"));
    }
}

/// A broken promise.
struct Fault {
    recording: String,
    promise: &'static str,
    what: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "  {}: {}: {}", self.recording, self.promise, self.what)
    }
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

fn faults(spec: &ConnectorSpec, fixtures: &Path) -> Vec<Fault> {
    let recordings = Recording::all_of(fixtures, spec.id.as_str());
    if recordings.is_empty() {
        let recording = format!("fixtures/{}/<version>/<case>", spec.id);
        let what =
            "there is none: put a home folder there as `home/` (fixtures/README.md says how)"
                .to_owned();
        return vec![Fault { recording, promise: "a_connector_has_a_recording", what }];
    }
    recordings.iter().flat_map(|it| faults_on(spec, it)).collect()
}

fn faults_on(spec: &ConnectorSpec, recording: &Recording) -> Vec<Fault> {
    let fault = |promise, what| Fault { recording: recording.to_string(), promise, what };
    let stage = match Stage::set(spec, recording) {
        Ok(stage) => stage,
        Err(what) => return vec![fault("a_recording_can_be_read", what)],
    };
    let mut faults = Vec::new();
    for (name, promise) in PROMISES {
        if let Err(what) = promise(&stage) {
            faults.push(fault(name, what));
        }
    }
    // A golden text of a connector that is wrong would be wrong.
    if faults.is_empty()
        && let Err(what) = golden::the_golden_text_matches(&stage)
    {
        faults.push(fault("the_golden_text_matches", what));
    }
    faults
}
