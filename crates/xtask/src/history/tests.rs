//! A history as a whole: small ones, written and read again.

use std::{
    collections::{BTreeMap, HashSet},
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::*;

/// The texts of a history, by their paths in it.
fn history(n_bytes: u64, seed: u64) -> BTreeMap<PathBuf, String> {
    let dir = tempfile::tempdir().expect("makes a folder");
    let options = Options { seed, ..Options::new(dir.path().join("home"), n_bytes, None, None) };
    write(&options).expect("is written");
    texts(&options.out)
}

fn texts(root: &Path) -> BTreeMap<PathBuf, String> {
    let mut texts = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("is a folder") {
            let path = entry.expect("is there").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).expect("is text");
            texts.insert(path.strip_prefix(root).expect("is below").to_owned(), text);
        }
    }
    texts
}

fn records(text: &str) -> Vec<Value> {
    text.lines().map(|it| serde_json::from_str(it).expect("is JSON")).collect()
}

#[test]
fn a_seed_decides_every_byte() {
    let first = history(1_000_000, 1);
    assert_eq!(first, history(1_000_000, 1));
    let names = |it: &BTreeMap<PathBuf, String>| it.keys().cloned().collect::<HashSet<_>>();
    let other = history(1_000_000, 2);
    assert!(names(&first).is_disjoint(&names(&other)));
}

#[test]
fn a_history_has_the_size_that_is_asked_for_and_whole_records() {
    let history = history(6_000_000, 3);
    let n_bytes: usize = history.values().map(String::len).sum();
    assert!((5_900_000..6_100_000).contains(&n_bytes), "{n_bytes}");
    let mut kinds = HashSet::new();
    for (path, text) in &history {
        assert!(text.ends_with('\n') || path.extension().is_some_and(|it| it == "json"));
        for record in records(text) {
            kinds.insert(record["type"].as_str().unwrap_or("sidecar").to_owned());
        }
    }
    for kind in ["user", "assistant", "attachment", "api-request", "response_item", "sidecar"] {
        assert!(kinds.contains(kind), "no {kind}");
    }
}

#[test]
fn a_chain_names_only_records_that_precede_it() {
    for (path, text) in history(3_000_000, 4) {
        if !path.starts_with(".claude") || path.extension().is_some_and(|it| it == "json") {
            continue;
        }
        let mut seen = HashSet::new();
        for record in records(&text) {
            if let Some(parent) = record["parentUuid"].as_str() {
                assert!(seen.contains(parent), "{}: {record}", path.display());
            }
            if let Some(uuid) = record["uuid"].as_str() {
                assert!(seen.insert(uuid.to_owned()), "{}: {uuid} twice", path.display());
            }
        }
    }
}

#[test]
fn a_fork_begins_with_the_records_of_its_origin() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let options = Options::new(dir.path().to_owned(), 1_000_000, None, None);
    let world = World::new(&options);
    let parent = world.assignment(7, 600_000, None);
    let origin = world.origin(7, &parent);
    let (home, forked) = (dir.path().join("a"), dir.path().join("b"));
    claude::write(&home, &parent).expect("is written");
    claude::write(&forked, &world.assignment(8, 100_000, Some(origin))).expect("is written");

    let chain = |home: &Path| -> Vec<Value> {
        let texts = texts(home);
        let main = texts.iter().find(|it| !it.0.to_string_lossy().contains("subagents"));
        let mut records = records(main.expect("has a session").1);
        records.retain(|it| it["uuid"].is_string());
        for record in &mut records {
            // Alone is not copied.
            record["sessionId"] = Value::Null;
        }
        records
    };
    let (parent, child) = (chain(&home), chain(&forked));
    let n_same = parent.iter().zip(&child).take_while(|it| it.0 == it.1).count();
    assert!(n_same > 50, "{n_same}");
    let uuids: HashSet<&str> = parent.iter().filter_map(|it| it["uuid"].as_str()).collect();
    let mut own = child[n_same..].iter().filter_map(|it| it["uuid"].as_str());
    assert!(child.len() > n_same && own.all(|it| !uuids.contains(it)));
}

#[test]
fn a_sub_agent_stands_below_its_parent_and_is_named_by_it() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let world = World::new(&Options::new(dir.path().to_owned(), 0, None, None));
    claude::write(dir.path(), &world.assignment(7, 3_000_000, None)).expect("is written");
    let texts = texts(dir.path());
    let is_sidecar = |path: &Path| path.to_string_lossy().ends_with(".meta.json");
    let sidecars: Vec<_> = texts.iter().filter(|it| is_sidecar(it.0)).collect();
    assert!(!sidecars.is_empty());
    let main = texts.iter().find(|it| !it.0.to_string_lossy().contains("subagents"));
    let (path, main) = main.expect("has a session");
    for (sidecar, text) in sidecars {
        assert!(sidecar.starts_with(path.with_extension("")));
        let sidecar_text: Value = serde_json::from_str(text).expect("is JSON");
        let call = sidecar_text["toolUseId"].as_str().expect("names the call");
        assert!(main.contains(&format!("\"id\":\"{call}\",\"name\":\"Agent\"")), "{call}");
        let name = sidecar.to_string_lossy().replace(".meta.json", ".jsonl");
        let records = records(&texts[Path::new(&name)]);
        assert!(records.iter().any(|it| it["isSidechain"] == true));
    }
}

#[test]
fn the_special_sessions_have_their_sizes() {
    let dir = tempfile::tempdir().expect("makes a folder");
    let options = Options::new(dir.path().to_owned(), 0, Some(2_000_000), Some(400_000));
    let written = write(&options).expect("is written");
    assert_eq!(written.n_sessions, 2);
    assert!((2_350_000..2_600_000).contains(&written.n_bytes), "{}", written.n_bytes);
    let texts = texts(dir.path());
    assert_eq!(texts.len(), 2);
    let longest = texts.values().flat_map(|it| it.lines()).max_by_key(|it| it.len());
    let longest = longest.expect("has lines");
    assert!((400_000..402_000).contains(&longest.len()), "{}", longest.len());
    records(longest);
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let dir = tempfile::tempdir().expect("makes a folder");
    fs::write(dir.path().join("mine"), "x").expect("writes");
    let options = Options::new(dir.path().to_owned(), 1_000_000, None, None);
    assert!(write(&options).is_err());
    assert_eq!(fs::read_dir(dir.path()).expect("is a folder").count(), 1);
}
