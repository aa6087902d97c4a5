//! The promises are kept by a connector without defects, and each defect breaks one.

use std::{fs, panic, path::Path};

use ai_hist_connector::ConnectorSpec;

use crate::{fake::FAKE, faults};

/// A recording of two notes, one of them packed and one torn, for a connector with `defect`.
fn record(fixtures: &Path, defect: &str) {
    let notes = fixtures.join("fake/1/basic/home/notes");
    fs::create_dir_all(&notes).expect("makes a folder");
    // Each line has another length, so that a wrong place cannot be right by chance.
    let line = |id: usize| {
        let more = "more ".repeat(id);
        format!("{{\"id\":\"{id}\",\"say\":\"words of {id}\\nand {more}\"}}\n")
    };
    let lines: String = (0..7).map(line).collect();
    fs::write(notes.join("a.jsonl"), format!("{lines}not a note\n\n{{\"id\":\"8\",\"sa"))
        .expect("writes");
    let packed = zstd::encode_all(lines.trim_end().as_bytes(), 3).expect("packs");
    fs::write(notes.join("b.jsonl.zst"), packed).expect("writes");
    let settings = format!("{{\"defect\": \"{defect}\"}}");
    fs::write(fixtures.join("fake/1/basic/settings.json"), settings).expect("writes");
}

/// The promises that `spec` breaks with `defect`. A panic of the connector is one of its own.
fn broken(spec: &ConnectorSpec, defect: &str) -> Vec<&'static str> {
    let fixtures = tempfile::tempdir().expect("makes a folder");
    record(fixtures.path(), defect);
    let check = || faults(spec, fixtures.path());
    let names = |faults: Vec<crate::Fault>| faults.into_iter().map(|it| it.promise).collect();
    let first: Vec<&'static str> = names(panic::catch_unwind(check).expect("does not panic"));
    if first == ["the_golden_text_matches"] { names(check()) } else { first }
}

#[test]
fn a_sound_connector_keeps_every_promise() {
    assert_eq!(broken(&FAKE, "none"), Vec::<&str>::new());
}

#[test]
fn every_defect_breaks_the_promise_that_names_it() {
    let table = [
        ("loses an event at a batch's end", "batch_size_changes_nothing"),
        ("gives other bytes", "the_raw_bytes_are_the_file"),
        ("is off by one line", "any_cursor_resumes"),
        ("doubles at resume", "any_cursor_resumes"),
        ("doubles at resume", "the_end_is_quiet"),
        ("swallows a bad line", "one_bad_line_costs_one_line"),
        ("forgets a bad line", "the_tally_accounts_for_every_line"),
        ("lists in reverse", "discovery_repeats_itself"),
        ("takes a rewritten file for the old one", "a_rewritten_file_restarts"),
        ("takes a rewritten file for the old one", "a_foreign_cursor_restarts"),
        ("writes", "nothing_is_written"),
        ("reads a missing file as empty", "a_missing_file_is_an_error"),
        ("locates elsewhere", "locate_finds_the_feed"),
        ("seeds undeclared", "declared_capabilities_are_true"),
        ("ignores its budget", "batch_size_changes_nothing"),
        ("hides the rest", "a_torn_last_line_waits"),
        ("counts from where it begins", "any_cursor_resumes"),
        ("has one name for all", "event_ids_are_unique"),
        ("places by batch", "every_span_is_a_record"),
        ("names no session", "every_session_is_stated"),
        ("titles by batch", "batch_size_changes_nothing"),
        ("knows its session from the beginning only", "any_cursor_resumes"),
    ];
    for (defect, promise) in table {
        let broken = broken(&FAKE, defect);
        assert!(broken.contains(&promise), "`{defect}` breaks {broken:?}, not `{promise}`");
    }
}

#[test]
fn a_false_declaration_is_seen() {
    for (resume, workspace) in [(false, false), (true, true)] {
        let mut spec = FAKE;
        spec.capabilities.resume = resume;
        spec.capabilities.workspace = workspace;
        assert_eq!(broken(&spec, "none"), ["declared_capabilities_are_true"]);
    }
}

#[test]
fn a_connector_without_a_recording_is_told_where_to_put_one() {
    let fixtures = tempfile::tempdir().expect("makes a folder");
    let faults = faults(&FAKE, fixtures.path());
    assert_eq!(faults.len(), 1);
    assert!(faults[0].to_string().contains("fixtures/fake/<version>/<case>"));
}

#[test]
fn a_stale_golden_text_is_rewritten_and_fails_once() {
    let fixtures = tempfile::tempdir().expect("makes a folder");
    record(fixtures.path(), "none");
    let golden = fixtures.path().join("fake/1/basic/events.txt");
    fs::write(&golden, "stale\n").expect("writes");
    let first = faults(&FAKE, fixtures.path());
    assert_eq!(first.len(), 1, "fails once");
    assert!(first[0].what.contains("- stale"), "{}", first[0]);
    assert!(faults(&FAKE, fixtures.path()).is_empty(), "and then passes");
    let text = fs::read_to_string(golden).expect("reads");
    let lines: Vec<&str> = text.lines().take(3).collect();
    assert_eq!(
        lines,
        ["feed ~/notes/a.jsonl", "  session fake:a", "  1 prompt person: words of 0 … [15 bytes]"]
    );
}

#[test]
fn an_option_that_is_none_is_a_fault() {
    let fixtures = tempfile::tempdir().expect("makes a folder");
    record(fixtures.path(), "none");
    let settings = fixtures.path().join("fake/1/basic/settings.json");
    for (text, expected) in
        [("{\"colour\": \"{HOME}\"}", "`colour`"), ("{\"defect\": 1}", "a string"), ("{", "EOF")]
    {
        fs::write(&settings, text).expect("writes");
        let faults = faults(&FAKE, fixtures.path());
        assert!(faults[0].what.contains(expected), "`{text}`: {}", faults[0]);
    }
}
