//! What stands in a state folder, as far as it can be compared with another one's.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use ai_hist_store::{
    FeedAccount, Origin, SessionPage, SessionRow, Store, StoredEvent, StoredSession, UsageTotal,
};

use crate::{
    answers::{self, Hit},
    machine::Place,
    transcript::{SUBJECTS, Token},
};

/// What stands in a state folder.
#[derive(Debug)]
pub(crate) struct Snapshot {
    /// This machine's sessions, by name.
    pub(crate) sessions: BTreeMap<String, Session>,
    /// The transcripts, by path.
    pub(crate) feeds: BTreeMap<PathBuf, Feed>,
    /// What is found of each subject.
    pub(crate) found: BTreeMap<&'static str, Vec<Hit>>,
}

/// A session, without what only means something in its own store.
#[derive(Debug)]
pub(crate) struct Session {
    pub(crate) stored: StoredSession,
    pub(crate) events: Vec<StoredEvent>,
    pub(crate) usage: Vec<UsageTotal>,
}

/// A transcript.
#[derive(Debug)]
pub(crate) struct Feed {
    pub(crate) account: FeedAccount,
    /// What is given back of it.
    pub(crate) restored: Vec<u8>,
}

/// How many sessions or events are read at once.
const PAGE: usize = 500;

impl Snapshot {
    pub(crate) fn of(place: Place<'_>) -> Self {
        Self::of_some(place, &SUBJECTS)
    }

    /// The same, and of what is found only some.
    pub(crate) fn of_some(place: Place<'_>, subjects: &[&'static str]) -> Self {
        let store = place.store();
        let hits = |subject: &&'static str| (*subject, answers::hits(place, subject));
        let found = subjects.iter().map(hits).collect();
        Self { sessions: sessions(&store), feeds: feeds(&store), found }
    }
}

impl Session {
    /// The records that its events were made from.
    pub(crate) fn tokens(&self) -> BTreeSet<Token> {
        self.events.iter().filter_map(|it| Token::of(it.body.text())).collect()
    }
}

fn sessions(store: &Store) -> BTreeMap<String, Session> {
    let mut sessions = BTreeMap::new();
    let mut page = SessionPage::FIRST;
    loop {
        let found = store.sessions(page, PAGE).expect("lists sessions");
        let Some(last) = found.last() else { return sessions };
        page = SessionPage::after(last);
        for mut stored in found.into_iter().filter(|it| it.origin == Origin::local()) {
            let events = events(store, &stored);
            let usage = store.usage(stored.row).expect("sums");
            stored.row = SessionRow(0);
            let name = stored.facts.key.to_string();
            sessions.insert(name, Session { stored, events, usage });
        }
    }
}

fn events(store: &Store, session: &StoredSession) -> Vec<StoredEvent> {
    let mut events = Vec::new();
    let mut from = 0;
    loop {
        let found = store.events_up(session.row, from, u64::MAX, PAGE).expect("reads events");
        let Some(last) = found.last() else { return events };
        from = last.seq + 1;
        events.extend(found.into_iter().map(|mut it| {
            (it.row, it.session, it.feed) = (0, SessionRow(0), None);
            it
        }));
    }
}

fn feeds(store: &Store) -> BTreeMap<PathBuf, Feed> {
    let mut feeds = BTreeMap::new();
    for account in store.accounts().expect("reads accounts") {
        // What was fetched from a workspace has no file here.
        let Some(path) = account.path.clone() else { continue };
        let mut restored = Vec::new();
        store.restore(&account, account.generation, &mut restored).expect("restores");
        feeds.insert(path, Feed { account, restored });
    }
    feeds
}
