//! Bringing the store up to date with every source.

use std::{
    cmp::Reverse,
    collections::HashSet,
    sync::{
        Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
};

use ai_hist_connector::Feed;
use ai_hist_model::{Coded as _, Stamp};
use ai_hist_store::{Commit, FeedState, Origin, Step, Store, StoreError, Taken};

use crate::{
    IngestError, Source,
    limits::{MAX_QUEUED_STEPS, MAX_READERS, MAX_TRANSACTION_BYTES, MAX_TRANSACTION_STEPS},
    pass::{Pass, is_rewritten},
    reread::reread,
};

/// How far a sync has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Units done: bytes while reading, transcripts while reading again, events while indexing.
    pub done: u64,
    /// Units there are.
    pub total: u64,
}

/// What is being done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Transcripts are read.
    Reading,
    /// What is archived is read again, because this version understands more of it.
    Rereading,
    /// Events are indexed.
    Indexing,
}

/// What a sync did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Summary {
    /// Feeds that exist.
    pub n_feeds: u64,
    /// Feeds that had changed and were read.
    pub n_read: u64,
    /// Feeds that could not be read.
    pub n_failed: u64,
    /// New events.
    pub n_events: u64,
    /// Raw bytes read and archived.
    pub n_bytes: u64,
    /// Feeds that were read again from the archive.
    pub n_reread: u64,
    /// Places that could not be looked at, and connectors that failed, with the reason.
    pub problems: Vec<String>,
}

/// What has changed in the sources since they were last read.
#[derive(Debug)]
pub struct Outlook<'a> {
    jobs: Vec<Job<'a>>,
    /// Feeds that an older version of their connector has read.
    outdated: Vec<(&'a Source, i64)>,
    /// Connectors whose set of feeds has changed.
    moved: Vec<(&'a Source, HashSet<String>)>,
    /// Feeds that exist.
    pub n_feeds: u64,
    /// Bytes there are to read.
    pub n_bytes: u64,
    /// Places that could not be looked at.
    pub problems: Vec<String>,
}

impl Outlook<'_> {
    /// How many feeds there are to read.
    #[must_use]
    pub fn n_changed(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there is nothing to be done.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.moved.is_empty() && self.outdated.is_empty()
    }

    /// Leaves out the oldest feeds, so that about `n_bytes` remain to be read.
    pub fn keep_newest(&mut self, n_bytes: u64) {
        let _ = self.split_off_oldest(n_bytes);
    }

    /// Takes the oldest feeds out, so that about `n_bytes` remain to be read; at least one feed
    /// does.
    #[must_use]
    pub fn split_off_oldest(&mut self, n_bytes: u64) -> Self {
        let mut sum = 0;
        let n_kept = self.jobs.iter().take_while(|it| {
            let is_first = sum == 0;
            sum += it.n_bytes;
            is_first || sum <= n_bytes
        });
        let n_kept = n_kept.count();
        let jobs = self.jobs.split_off(n_kept);
        let bytes = |jobs: &[Job<'_>]| jobs.iter().map(|it| it.n_bytes).sum();
        self.n_bytes = bytes(&self.jobs);
        Self {
            n_bytes: bytes(&jobs),
            jobs,
            outdated: Vec::new(),
            moved: Vec::new(),
            n_feeds: 0,
            problems: Vec::new(),
        }
    }
}

#[derive(Debug)]
struct Job<'a> {
    source: &'a Source,
    feed: Feed,
    state: Option<FeedState>,
    n_bytes: u64,
}

/// Looks at what has changed. Reads names and metadata only.
pub fn outlook<'a>(store: &Store, sources: &'a [Source]) -> Result<Outlook<'a>, StoreError> {
    let mut found = Outlook {
        jobs: Vec::new(),
        outdated: Vec::new(),
        moved: Vec::new(),
        n_feeds: 0,
        n_bytes: 0,
        problems: vec![],
    };
    for source in sources {
        let discovery = match source.connector.discover() {
            Ok(discovery) => discovery,
            Err(error) => {
                let code = error.code().as_str();
                found.problems.push(format!("{}: {code}: {error}", source.id));
                continue;
            }
        };
        let mut states = store.feed_states(&source.id)?;
        let reading = source.connector.reading();
        let is_old = |it: &&FeedState| it.reading != reading && it.cursor.is_some();
        found.outdated.extend(states.values().filter(is_old).map(|it| (source, it.row)));
        let is_whole = discovery.problems.is_empty();
        for problem in discovery.problems {
            found.problems.push(format!("{}: {}", problem.path.display(), problem.reason));
        }
        let n_here = states.values().filter(|it| !it.is_gone).count();
        let n_known =
            discovery.feeds.iter().filter(|it| states.get(&it.id).is_some_and(|it| !it.is_gone));
        // A listing with holes says nothing about what is gone.
        if is_whole && n_known.count() < n_here {
            let present = discovery.feeds.iter().map(|it| it.id.0.clone()).collect();
            found.moved.push((source, present));
        }
        for feed in discovery.feeds {
            found.n_feeds += 1;
            let state = states.remove(&feed.id);
            if state.as_ref().is_some_and(|it| it.is_hidden || is_read(it, feed.stamp)) {
                continue;
            }
            let read = state.as_ref().and_then(|it| it.stamp).map_or(0, |it| it.n_bytes);
            let size = feed.stamp.map_or(0, |it| it.n_bytes);
            let n_bytes = size.checked_sub(read).unwrap_or(size);
            found.n_bytes += n_bytes;
            found.jobs.push(Job { source, feed, state, n_bytes });
        }
    }
    found.outdated.sort_by_key(|it| it.1);
    // What people ask for first is what happened last.
    found.jobs.sort_by_key(|it| Reverse(it.feed.stamp.map_or(0, |it| it.modified_ms)));
    Ok(found)
}

/// Whether nothing has happened to a feed since its end was reached.
fn is_read(state: &FeedState, stamp: Option<Stamp>) -> bool {
    stamp.is_some() && state.stamp == stamp && !state.has_problem && !state.is_gone
}

/// Reads what has changed into the store, the newest first.
pub fn sync(
    store: &Store,
    outlook: Outlook<'_>,
    on_progress: &dyn Fn(Progress),
) -> Result<Summary, IngestError> {
    let mut summary = Summary {
        n_feeds: outlook.n_feeds,
        n_read: outlook.jobs.len() as u64,
        problems: outlook.problems,
        ..Summary::default()
    };
    let mut writer = store.writer()?;
    for (source, present) in &outlook.moved {
        writer.mark_present(&source.id, &|name| present.contains(name))?;
    }
    drop(writer);
    let again = reread(store, &outlook.outdated, on_progress)?;
    summary.n_reread = again.n_feeds + again.n_left;
    if outlook.jobs.is_empty() {
        return Ok(summary);
    }
    let jobs = Mutex::new(outlook.jobs.into_iter());
    let done = AtomicU64::new(0);
    let n_failed = AtomicUsize::new(0);
    let total = outlook.n_bytes;
    let (sender, receiver) = sync_channel(MAX_QUEUED_STEPS);
    let n_readers = thread::available_parallelism().map_or(1, usize::from).min(MAX_READERS);
    let taken = thread::scope(|scope| {
        for _ in 0..n_readers {
            let sender = sender.clone();
            let (jobs, done) = (&jobs, &done);
            scope.spawn(move || read_all(store, jobs, &sender, done));
        }
        drop(sender);
        // The writer owns the receiver: if it fails, the readers' next step is refused, and they end.
        write_all(store, receiver, &n_failed, &|| {
            let done = done.load(Ordering::Relaxed).min(total);
            on_progress(Progress { phase: Phase::Reading, done, total });
        })
    })?;
    summary.n_events = taken.n_events;
    summary.n_bytes = taken.n_bytes;
    summary.n_failed = n_failed.load(Ordering::Relaxed) as u64;
    Ok(summary)
}

fn read_all(
    store: &Store,
    jobs: &Mutex<std::vec::IntoIter<Job<'_>>>,
    sender: &SyncSender<Step>,
    done: &AtomicU64,
) {
    loop {
        // A reader that panicked has taken its job already: the others go on with the rest.
        let job = jobs.lock().unwrap_or_else(std::sync::PoisonError::into_inner).next();
        let Some(job) = job else { return };
        let mut counted = 0;
        let stamp = job.state.as_ref().and_then(|it| it.stamp);
        let pass = Pass {
            source: job.source,
            origin: Origin::local(),
            feed: &job.feed,
            cursor: job.state.and_then(|it| it.cursor),
            // If the store cannot say, the cursor decides.
            is_rewritten: is_rewritten(store, job.source, &job.feed, stamp).unwrap_or(false),
        };
        let outcome = pass.run(&mut |step| {
            if let Commit::Batch { batch, .. } = &step.commit {
                let n = (batch.raw.len() as u64).min(job.n_bytes - counted);
                counted += n;
                done.fetch_add(n, Ordering::Relaxed);
            }
            sender.send(step).is_ok()
        });
        if let Err(error) = outcome
            && sender.send(pass.failure(&error)).is_err()
        {
            return;
        }
        done.fetch_add(job.n_bytes - counted, Ordering::Relaxed);
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it has to end with this function")]
fn write_all(
    store: &Store,
    receiver: Receiver<Step>,
    n_failed: &AtomicUsize,
    on_commit: &dyn Fn(),
) -> Result<Taken, StoreError> {
    let mut writer = store.writer()?;
    let mut sum = Taken::default();
    let mut steps = Vec::new();
    while let Ok(first) = receiver.recv() {
        let mut n_bytes = size(&first);
        steps.push(first);
        while steps.len() < MAX_TRANSACTION_STEPS && n_bytes < MAX_TRANSACTION_BYTES {
            let Ok(step) = receiver.try_recv() else { break };
            n_bytes += size(&step);
            steps.push(step);
        }
        let failed = steps.iter().filter(|it| matches!(it.commit, Commit::Failed { .. })).count();
        n_failed.fetch_add(failed, Ordering::Relaxed);
        let taken = writer.commit(&steps)?;
        sum.n_events += taken.n_events;
        sum.n_known += taken.n_known;
        sum.n_bytes += taken.n_bytes;
        sum.n_stale += taken.n_stale;
        steps.clear();
        on_commit();
    }
    Ok(sum)
}

fn size(step: &Step) -> usize {
    match &step.commit {
        Commit::Batch { batch, .. } => batch.raw.len(),
        Commit::End { rest, .. } => rest.len(),
        Commit::Failed { .. } => 0,
    }
}
