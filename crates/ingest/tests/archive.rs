//! What was read comes back byte for byte, and every line is accounted for.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ai_hist_connector::{Availability, ConnectorSpec, Host, Settings};
use ai_hist_ingest::{Source, outlook, sync};
use ai_hist_store::{FeedAccount, Store};

/// Recorded homes of one connector.
fn homes(id: &str) -> Vec<PathBuf> {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(id);
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).expect("lists");
        entries.map(|it| it.expect("lists").path()).filter(|it| it.is_dir()).collect()
    };
    folders(&fixtures).iter().flat_map(|it| folders(it)).map(|it| it.join("home")).collect()
}

/// Reads the home at `home` into a store; gives what it says of each transcript.
fn read(spec: &ConnectorSpec, home: &Path, store: &Store) -> Vec<FeedAccount> {
    let host = Host { home: home.to_owned(), vars: BTreeMap::new() };
    let ready = (spec.configure)(&Settings::default(), &host).expect("configures");
    let Availability::Ready(connector) = ready else { return Vec::new() };
    let sources = [Source { id: spec.id.clone(), connector }];
    let found = outlook(store, &sources).expect("looks");
    let summary = sync(store, found, &|_| {}).expect("reads");
    assert_eq!((summary.n_failed, summary.problems.len()), (0, 0), "{}", home.display());
    store.accounts().expect("reads")
}

fn check(spec: &ConnectorSpec) {
    let mut n_files = 0;
    for home in homes(spec.id.as_str()) {
        let dir = tempfile::tempdir().expect("makes a folder");
        let store = Store::open(dir.path()).expect("opens");
        for account in read(spec, &home, &store) {
            let path = account.path.clone().expect("is a file");
            let mut expected = fs::read(&path).expect("reads");
            if path.extension().is_some_and(|it| it == "zst") {
                expected = zstd::decode_all(&expected[..]).expect("unpacks");
            }
            let mut restored = Vec::new();
            store.restore(&account, account.generation, &mut restored).expect("restores");
            assert!(restored == expected, "{} came back otherwise", path.display());
            let counted: u64 = account.tally.iter().map(|it| it.n).sum();
            let n_torn = u64::from(0 < account.n_rest);
            let ends_open = !expected.is_empty() && !expected.ends_with(b"\n");
            let lines = expected.split(|it| *it == b'\n').count() as u64 - 1;
            assert_eq!(counted + n_torn, lines + u64::from(ends_open), "{}", path.display());
            n_files += 1;
        }
        let found = read(spec, &home, &store).len();
        assert!(0 < found, "{} has no transcript", home.display());
    }
    assert!(3 < n_files, "`{}` has too few recordings", spec.id);
}

#[test]
fn every_recording_of_claude_code_comes_back_byte_for_byte() {
    check(&ai_hist_connector_claude::CONNECTOR);
}

#[test]
fn every_recording_of_codex_comes_back_byte_for_byte() {
    check(&ai_hist_connector_codex::CONNECTOR);
}
