//! What SQLite itself says of a database.

use std::{
    fs,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

/// The databases below `folder`, with what is wrong with each; nothing of one that is sound.
pub(crate) fn faults_below(folder: &Path) -> Vec<String> {
    let found = databases(folder);
    assert!(!found.is_empty(), "there is no database in `{}`", folder.display());
    found.iter().filter_map(|it| fault_of(it)).collect()
}

fn fault_of(path: &Path) -> Option<String> {
    let db = Connection::open(path).expect("opens");
    let said: String = db
        .query_row("PRAGMA integrity_check", [], |row| row.get(0))
        .unwrap_or_else(|error| error.to_string());
    (said != "ok").then(|| format!("{}: {said}", path.display()))
}

fn databases(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("lists a folder") {
        let path = entry.expect("lists a folder").path();
        if path.is_dir() {
            found.extend(databases(&path));
        } else if path.extension().is_some_and(|it| it == "db") {
            found.push(path);
        }
    }
    found
}
