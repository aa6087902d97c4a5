//! Reads a home folder into a temporary store, and compares what the archive gives back with every
//! transcript: `cargo run --release -p ai-hist-ingest --example verify -- HOME`.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Write as _},
    path::PathBuf,
    time::Instant,
};

use ai_hist_connector::{Availability, Host, Settings};
use ai_hist_ingest::{Source, outlook, sync};
use ai_hist_store::{Store, TallyClass};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let home: PathBuf = std::env::args_os().nth(1).ok_or("usage: verify HOME")?.into();
    let host = Host { home, vars: BTreeMap::new() };
    let mut sources = Vec::new();
    for spec in [ai_hist_connector_claude::CONNECTOR, ai_hist_connector_codex::CONNECTOR] {
        if let Availability::Ready(connector) = (spec.configure)(&Settings::default(), &host)? {
            sources.push(Source { id: spec.id.clone(), connector });
        }
    }
    let dir = tempfile::tempdir()?;
    let store = Store::open(dir.path())?;
    let begun = Instant::now();
    let summary = sync(&store, outlook(&store, &sources)?, &|_| {})?;
    let elapsed = begun.elapsed();
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "read {} transcripts, {} bytes, {} events in {elapsed:?}; {} failed",
        summary.n_read, summary.n_bytes, summary.n_events, summary.n_failed
    )?;
    let mut kinds: BTreeMap<(String, TallyClass, String), u64> = BTreeMap::new();
    let (mut n_same, mut n_other) = (0, 0);
    for account in store.accounts()? {
        for row in &account.tally {
            let key = (account.connector.clone(), row.class, row.kind.clone());
            *kinds.entry(key).or_default() += row.n;
        }
        let Some(path) = &account.path else { continue };
        let mut expected = fs::read(path)?;
        if path.extension().is_some_and(|it| it == "zst") {
            expected = zstd::decode_all(&expected[..])?;
        }
        let mut restored = Vec::new();
        store.restore(&account, account.generation, &mut restored)?;
        if restored == expected {
            n_same += 1;
        } else {
            n_other += 1;
            writeln!(out, "differs: {}", path.display())?;
        }
    }
    for ((connector, class, kind), n) in &kinds {
        writeln!(out, "{connector:8} {class:12?} {n:8} {kind}")?;
    }
    let (bytes, stored) = store.archive_bytes()?;
    writeln!(out, "{n_same} transcripts come back byte for byte, {n_other} do not")?;
    writeln!(out, "archive: {bytes} bytes kept in {stored}")?;
    if n_other == 0 { Ok(()) } else { Err("the archive is not the transcripts".into()) }
}
