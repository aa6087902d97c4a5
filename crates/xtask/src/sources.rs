//! Rules for each source file.

use std::path::Path;

use crate::{limits::MAX_FILE_LINES, tree::TextFile};

/// Names that say nothing of what is in a file.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "helper", "helpers", "common", "misc", "manager", "managers"];

/// A path of a package, and the only places that may name it in source.
///
/// The manifests are checked too; this says where in `crates/connector` it may be.
const RUSQLITE_PLACES: &[&str] =
    &["crates/store/", "connectors/", "crates/connector/src/database.rs", "tests/crash/"];

pub(crate) fn faults_of(file: &TextFile) -> Vec<String> {
    if !is_rust(&file.path) {
        return Vec::new();
    }
    let TextFile { path, text } = file;
    let mut faults = Vec::new();
    let mut fault = |what: String| faults.push(format!("{path}: {what}"));
    if !text.starts_with("//!") {
        fault("does not begin by saying what it is (`//!`)".to_owned());
    }
    let n_lines = text.lines().count();
    if MAX_FILE_LINES < n_lines {
        fault(format!("{n_lines} lines are more than {MAX_FILE_LINES}: split it by noun"));
    }
    if let Some(name) = path.split(['/', '.']).find(|it| EMPTY_NAMES.contains(it)) {
        fault(format!("`{name}` says nothing of what is in it"));
    }
    if text.contains(concat!("rusqlite", "::"))
        && !RUSQLITE_PLACES.iter().any(|it| path.starts_with(it))
    {
        fault(
            "SQL is spoken in crates/store, and by connectors to the databases of others"
                .to_owned(),
        );
    }
    if text.contains(concat!("#[", "ignore")) {
        fault("a test that is ignored is none".to_owned());
    }
    if !path.ends_with("/limits.rs") {
        for name in text.lines().filter_map(bound) {
            fault(format!("`{name}` is a bound: it belongs in the crate's `limits.rs`"));
        }
    }
    faults
}

pub(crate) fn is_rust(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|it| it == "rs")
}

/// The name of the bound that `line` defines, if it does.
fn bound(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace();
    let keyword = words.find(|it| !it.starts_with("pub"))?;
    if !["const", "static"].contains(&keyword) {
        return None;
    }
    let name = words.next()?.split(':').next()?;
    (name.starts_with("MAX_") || name.ends_with("_LIMIT")).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, expected: &[&str]) {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        let faults = faults_of(&file);
        assert_eq!(faults.len(), expected.len(), "{path}: {faults:?}");
        for (fault, expected) in faults.iter().zip(expected) {
            assert!(fault.contains(expected), "{path}: {fault}");
        }
    }

    #[test]
    fn each_rule_sees_its_fault_and_nothing_else() {
        let ok = "//! What it is.\n";
        check("crates/a/src/b.rs", ok, &[]);
        check("crates/a/src/b.rs", "use x;\n", &["//!"]);
        check("crates/a/README.md", "use x;\n", &[]);
        check("crates/a/src/utils.rs", ok, &["`utils`"]);
        check("crates/a/src/helper/b.rs", ok, &["`helper`"]);
        check("crates/a/src/commonplace.rs", ok, &[]);
        let sql = format!("{ok}use {}Connection;\n", concat!("rusqlite", "::"));
        check("crates/index/src/b.rs", &sql, &["SQL"]);
        check("crates/connector/src/feed.rs", &sql, &["SQL"]);
        check("crates/connector/src/database.rs", &sql, &[]);
        check("crates/store/tests/b.rs", &sql, &[]);
        let ignored = format!("{ok}{}]\nfn x() {{}}\n", concat!("#[", "ignore"));
        check("crates/a/src/b.rs", &ignored, &["ignored"]);
        check("crates/a/src/b.rs", &ok.repeat(MAX_FILE_LINES), &[]);
        check("crates/a/src/b.rs", &ok.repeat(MAX_FILE_LINES + 1), &["601 lines"]);
    }

    #[test]
    fn a_bound_belongs_in_limits() {
        for (line, expected) in [
            ("const MAX_ROWS: usize = 1;", Some("MAX_ROWS")),
            ("    pub(crate) const ROWS_LIMIT: u64 = 1;", Some("ROWS_LIMIT")),
            ("pub static MAX_AGE: u64 = 1;", Some("MAX_AGE")),
            ("use crate::limits::MAX_ROWS;", None),
            ("const fn max_rows() -> usize {", None),
            ("// const MAX_ROWS", None),
            ("const CLIMAX_: u8 = 1;", None),
        ] {
            assert_eq!(bound(line), expected, "`{line}`");
        }
        let text = "//! X.\nconst MAX_ROWS: usize = 1;\n";
        check("crates/a/src/b.rs", text, &["`MAX_ROWS`"]);
        check("crates/a/src/limits.rs", text, &[]);
    }
}
