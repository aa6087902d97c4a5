//! Words that no file of the project may hold.
//!
//! They would make it depend on one machine: on paths that are only there, or on the registries
//! that happen to be reached from it.

use crate::tree::TextFile;

/// Each is in pieces, so that this file passes.
const FORBIDDEN: &[(&str, &str)] = &[
    (concat!("/wo", "rk/"), "a path of one machine"),
    (concat!("../sh", "ared"), "a path of one machine"),
    (concat!("crates", ".io"), "a registry's host"),
    (concat!("registry.npm", "js"), "a registry's host"),
    (concat!("npm", "js.com"), "a registry's host"),
    (concat!("npm", "js.org"), "a registry's host"),
    (concat!("py", "pi.org"), "a registry's host"),
    (concat!("python", "hosted.org"), "a registry's host"),
    (concat!("deb.", "debian.org"), "a registry's host"),
];

/// What a source in `Cargo.lock` may be; any other is a registry of one machine or a repository
/// that may vanish.
const LOCKED_SOURCE: &str =
    concat!("source = \"registry+https://github.com/rust-lang/crates", ".io-index\"");

pub(crate) fn faults_of(file: &TextFile) -> Vec<String> {
    let TextFile { path, text } = file;
    if path.ends_with("Cargo.lock") {
        let is_other = |it: &&str| it.starts_with("source = ") && *it != LOCKED_SOURCE;
        return text
            .lines()
            .find(is_other)
            .map(|it| format!("{path}: `{it}` is not the public registry"))
            .into_iter()
            .collect();
    }
    let mut faults = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for (word, what) in FORBIDDEN {
            if holds(line, word) {
                faults.push(format!("{path}:{}: `{word}` is {what}", i + 1));
            }
        }
    }
    faults
}

/// Whether `line` holds `word`; a path only where it begins.
fn holds(line: &str, word: &str) -> bool {
    let in_a_path = |it: char| it.is_alphanumeric() || "._-~/}".contains(it);
    line.match_indices(word)
        .any(|(at, _)| !word.starts_with('/') || !line[..at].ends_with(in_a_path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, text: &str, n_faults: usize) {
        let file = TextFile { path: path.to_owned(), text: text.to_owned() };
        let faults = faults_of(&file);
        assert_eq!(faults.len(), n_faults, "{path} `{text}`: {faults:?}");
    }

    #[test]
    fn forbidden_words_are_found_wherever_they_are() {
        let path = FORBIDDEN[0].0;
        check("README.md", &format!("see {path}main"), 1);
        check("README.md", &format!("(`{path}main`)\n\n{path}x"), 2);
        check("fixtures/a.jsonl", &format!("\"cwd\":\"/home/dev{path}app\""), 0);
        for (word, _) in &FORBIDDEN[1..] {
            check("a/b.rs", &format!("x{word}y"), 1);
        }
        check("a/b.rs", "nothing of the kind", 0);
    }

    #[test]
    fn a_lock_file_names_the_public_registry_alone() {
        check("Cargo.lock", LOCKED_SOURCE, 0);
        check("Cargo.lock", &format!("{LOCKED_SOURCE}\nsource = \"git+https://x\""), 1);
        check("Cargo.lock", "source = \"registry+https://mirror.invalid/index\"", 1);
    }
}
