//! A store that was disturbed, against one that was not, and both against the ledger.
//!
//! | of a transcript that was only appended to | of one that was also written anew, cut, removed |
//! |---|---|
//! | session, events, their order, usage: equal | every event of the present file is there, once |
//! | account and bytes: equal | account and bytes of the present file: equal |
//! | | what is there besides once stood in that file, and is there once |
//!
//! And of both: what a `sync` acknowledged is there; what is found of a word is exactly the events
//! that hold it.
//!
//! It cannot see the loss of a record that was gone again before any `sync` had ended, and not a
//! change in the middle of a file that leaves its length and both ends as they were: for that a
//! transcript would have to be read whole to know that it is the same.

use std::collections::{BTreeMap, BTreeSet};

use ai_hist_store::StoredEvent;

use crate::{
    snapshot::{Session, Snapshot},
    transcript::{Token, Transcript},
    world::World,
};

/// What is wrong.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Records that are not there.
    pub(crate) n_lost: usize,
    /// Records that are there twice.
    pub(crate) n_doubled: usize,
    /// What is there of earlier versions of files.
    pub(crate) n_earlier: usize,
    /// How many records a `sync` had acknowledged.
    pub(crate) n_acknowledged: usize,
    /// In words.
    pub(crate) faults: Vec<String>,
}

/// Compares `disturbed` with `reference`, which read the same files once and in peace.
pub(crate) fn verdict(disturbed: &Snapshot, reference: &Snapshot, world: &World) -> Verdict {
    let mut verdict = Verdict::default();
    for transcript in world.transcripts.iter().filter(|it| !it.is_gone) {
        let name = transcript.name();
        verdict.matches_its_file("the reference", transcript, reference);
        verdict.matches_its_file("the store", transcript, disturbed);
        match (disturbed.sessions.get(&name), reference.sessions.get(&name)) {
            (Some(it), Some(other)) if transcript.was_disturbed => verdict.holds(it, other),
            (Some(it), Some(other)) => verdict.equals(it, other),
            (None, None) => {}
            // Of a file in which nothing is left, there is what was.
            (Some(_), None) if transcript.was_disturbed => {}
            (it, _) => verdict.fault(format!("{name}: is there in one only: {}", it.is_some())),
        }
        verdict.accounts_alike(transcript, disturbed, reference);
    }
    for transcript in world.transcripts.iter().filter(|it| it.is_gone) {
        let feed = disturbed.feeds.get(&transcript.path);
        if feed.is_some_and(|it| !it.account.is_gone) {
            verdict.fault(format!("{}: is gone, and not known to be", transcript.path.display()));
        }
    }
    for (name, session) in &disturbed.sessions {
        let others = reference.sessions.get(name);
        verdict.has_nothing_foreign(name, session, others, world);
    }
    verdict.keeps_what_was_acknowledged(disturbed, world);
    verdict.finds_what_there_is("the reference", reference);
    verdict.finds_what_there_is("the store", disturbed);
    verdict
}

/// The first of them, and of those the beginnings: one loss is told in many ways.
pub(crate) fn shown(faults: &[String]) -> String {
    let first = faults.iter().take(20).map(|it| it.chars().take(600).collect::<String>());
    first.collect::<Vec<_>>().join("\n")
}

impl Verdict {
    pub(crate) fn fault(&mut self, what: String) {
        self.faults.push(what);
    }

    /// Whether the records of the file are there, and its bytes come back.
    fn matches_its_file(&mut self, whose: &str, transcript: &Transcript, store: &Snapshot) {
        let name = transcript.name();
        let mut wanted: BTreeSet<Token> = transcript.records.iter().map(|it| it.token).collect();
        // A line without its newline is read once it is whole.
        let torn = transcript.torn.as_ref();
        wanted.extend(torn.filter(|it| it.0.line.len() == it.1).map(|it| it.0.token));
        let held = store.sessions.get(&name).map(Session::tokens).unwrap_or_default();
        let lost: Vec<&Token> = wanted.difference(&held).collect();
        if !lost.is_empty() {
            self.n_lost += lost.len();
            let n = lost.len();
            self.fault(format!("{name}: {whose} lacks {n} of {} records: {lost:?}", wanted.len()));
        }
        let restored = store.feeds.get(&transcript.path).map(|it| &*it.restored);
        if restored != Some(transcript.content().as_bytes()) {
            let n = restored.map(<[u8]>::len);
            let wanted = transcript.content().len();
            self.fault(format!("{name}: {whose} gives back {n:?} bytes, not the file's {wanted}"));
        }
    }

    /// Of a session whose file was only appended to.
    fn equals(&mut self, it: &Session, other: &Session) {
        let name = it.stored.facts.key.to_string();
        if it.stored != other.stored {
            self.fault(format!("{name}: {:?}\n  and not {:?}", it.stored, other.stored));
        }
        if it.usage != other.usage {
            self.fault(format!("{name}: {:?}\n  and not {:?}", it.usage, other.usage));
        }
        for (event, wanted) in it.events.iter().zip(&other.events) {
            if event != wanted {
                return self.fault(format!("{name}: {event:?}\n  and not {wanted:?}"));
            }
        }
        if it.events.len() != other.events.len() {
            let (n, wanted) = (it.events.len(), other.events.len());
            self.fault(format!("{name}: {n} events, and not {wanted}"));
        }
    }

    /// Of a session whose file was written anew: every event of the present one is there.
    fn holds(&mut self, it: &Session, other: &Session) {
        let name = it.stored.facts.key.to_string();
        let by_id: BTreeMap<String, &StoredEvent> =
            it.events.iter().map(|it| (it.id.to_string(), it)).collect();
        for wanted in &other.events {
            let Some(event) = by_id.get(&wanted.id.to_string()) else {
                self.fault(format!("{name}: lacks {wanted:?}"));
                continue;
            };
            // Where it stood, and as which in the session, is told of the time it was first read.
            let like = StoredEvent { seq: wanted.seq, span: wanted.span, ..(*event).clone() };
            if like != *wanted {
                self.fault(format!("{name}: {event:?}\n  and not {wanted:?}"));
            }
        }
    }

    /// What became of each line, and what is known of the file.
    fn accounts_alike(&mut self, transcript: &Transcript, it: &Snapshot, other: &Snapshot) {
        let path = &transcript.path;
        let account = |it: &Snapshot| {
            let mut account = it.feeds.get(path)?.account.clone();
            account.tally.sort_by(|a, b| (a.class, &a.kind).cmp(&(b.class, &b.kind)));
            let known = (account.is_gone, account.problem, account.n_rest, account.stamp);
            Some((known, account.tally, account.skipped))
        };
        let (it, other) = (account(it), account(other));
        if it != other {
            self.fault(format!("{}: {it:?}\n  and not {other:?}", path.display()));
        }
    }

    /// Whether every event is of a record of this session's file, and of one record once.
    fn has_nothing_foreign(
        &mut self,
        name: &str,
        session: &Session,
        reference: Option<&Session>,
        world: &World,
    ) {
        let present = reference.map(Session::tokens).unwrap_or_default();
        let mut seen = BTreeSet::new();
        for event in &session.events {
            let Some(token) = Token::of(event.body.text()) else {
                self.fault(format!("{name}: {event:?} is of no record"));
                continue;
            };
            if world.session_of(token).as_deref() != Some(name) {
                self.fault(format!("{name}: {event:?} is another session's"));
            }
            if !seen.insert(token) {
                self.n_doubled += 1;
                self.fault(format!("{name}: {event:?} is there twice"));
            }
            self.n_earlier += usize::from(!present.contains(&token));
        }
        if session.stored.n_events != session.events.len() as u64 {
            let (n, wanted) = (session.stored.n_events, session.events.len());
            self.fault(format!("{name}: says that it has {n} events, and has {wanted}"));
        }
    }

    fn keeps_what_was_acknowledged(&mut self, store: &Snapshot, world: &World) {
        for (name, tokens) in world.acknowledged() {
            let held = store.sessions.get(&name).map(Session::tokens).unwrap_or_default();
            self.n_acknowledged += tokens.len();
            let lost: Vec<&Token> = tokens.iter().filter(|it| !held.contains(it)).collect();
            if !lost.is_empty() {
                self.n_lost += lost.len();
                self.fault(format!("{name}: acknowledged and lost: {lost:?}"));
            }
        }
    }

    /// Whether the index is the store.
    fn finds_what_there_is(&mut self, whose: &str, store: &Snapshot) {
        for (subject, hits) in &store.found {
            let found: BTreeSet<_> = hits.iter().cloned().collect();
            if found.len() != hits.len() {
                let n = hits.len() - found.len();
                self.n_doubled += n;
                self.fault(format!("{whose} finds {n} events of `{subject}` twice"));
            }
            let mut wanted = BTreeSet::new();
            for (name, session) in &store.sessions {
                let said = session.events.iter().filter(|it| it.body.text().contains(subject));
                wanted.extend(said.map(|it| (name.clone(), it.seq)));
            }
            let lacks: Vec<_> = wanted.difference(&found).take(5).collect();
            let excess: Vec<_> = found.difference(&wanted).take(5).collect();
            if !lacks.is_empty() || !excess.is_empty() {
                self.fault(format!("`{subject}`: {whose} misses {lacks:?}, and finds {excess:?}"));
            }
        }
    }
}
