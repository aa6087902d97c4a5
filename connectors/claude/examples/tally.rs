//! Reads every transcript below the given roots, and tells how fast and what became of the
//! records: `cargo run --release -p ai-hist-connector-claude --example tally -- ROOT…`.
//!
//! A new version of the agent is looked at with this first: what it writes that is not understood
//! stands under `unknown` and `damaged`.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    path::PathBuf,
    time::{Duration, Instant},
};

use ai_hist_connector::{Availability, Budget, Connector, Host, Settings, model::Tally};
use ai_hist_connector_claude::CONNECTOR;
use serde_json::json;

/// As much as the pipeline asks for at once.
const BUDGET: Budget = Budget { records: 2000, bytes: 4 * 1024 * 1024 };

/// How often all is read; the quickest time counts.
const N_ROUNDS: usize = 5;

#[derive(Default)]
struct Sum {
    n_bytes: usize,
    n_events: usize,
    n_sessions: usize,
    kinds: BTreeMap<(&'static str, String), u64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let roots: Vec<String> = std::env::args().skip(1).collect();
    let mut settings = Settings::default();
    settings.0.insert("roots".to_owned(), json!(roots));
    let host = Host { home: PathBuf::new(), vars: BTreeMap::new() };
    let connector = match (CONNECTOR.configure)(&settings, &host)? {
        Availability::Ready(connector) => connector,
        Availability::Absent(reason) => return Err(reason.into()),
    };
    let mut out = io::stdout().lock();
    let mut quickest = Duration::MAX;
    let mut sum = Sum::default();
    for _ in 0..N_ROUNDS {
        let begun = Instant::now();
        sum = read(&*connector, &mut out)?;
        quickest = quickest.min(begun.elapsed());
    }
    for ((class, kind), n) in &sum.kinds {
        writeln!(out, "{class:10} {n:8} {kind}")?;
    }
    let Sum { n_bytes, n_events, n_sessions, .. } = sum;
    writeln!(out, "{n_bytes} bytes, {n_events} events of {n_sessions} feeds in {quickest:?}")?;
    Ok(())
}

fn read(
    connector: &dyn Connector,
    out: &mut impl io::Write,
) -> Result<Sum, Box<dyn std::error::Error>> {
    let mut sum = Sum::default();
    for feed in connector.discover()?.feeds {
        let mut reader = connector.open(&feed, None)?;
        let mut has_session = false;
        while let Some(batch) = reader.next_batch(BUDGET)? {
            sum.n_bytes += batch.raw.len();
            sum.n_events += batch.events.len();
            has_session |= !batch.sessions.is_empty();
            sum.add(batch.tally);
            for skipped in batch.skipped {
                writeln!(out, "{} {}: {}", feed.id, skipped.locator, skipped.reason)?;
            }
        }
        sum.n_sessions += usize::from(has_session);
    }
    Ok(sum)
}

impl Sum {
    fn add(&mut self, tally: Tally) {
        let Tally { understood, ignored, unknown, damaged } = tally;
        for (class, kinds) in
            [("understood", understood), ("ignored", ignored), ("unknown", unknown)]
        {
            for (kind, n) in kinds {
                *self.kinds.entry((class, kind)).or_default() += n;
            }
        }
        if damaged != 0 {
            *self.kinds.entry(("damaged", String::new())).or_default() += damaged;
        }
    }
}
