//! The home under the storm, and the ledger of all that ever stood in it.
//!
//! A record is *acknowledged* if it stood whole on the disk from before a `sync` began until after
//! it had ended with success: whatever happens to the file later, the record must be kept.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    fs,
    path::{Path, PathBuf},
};

use fastrand::Rng;

use crate::{
    limits::HOT_TRANSCRIPTS,
    transcript::{Agent, Record, Token, Transcript},
};

/// A moment between two changes of the home.
pub(crate) type Tick = u64;

/// How the transcripts of a home are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    pub(crate) claude: u32,
    pub(crate) codex: u32,
    /// Records in each, but for the long ones.
    pub(crate) records: usize,
    /// How many of all are long: more than is read at once.
    pub(crate) long: u32,
    pub(crate) long_records: usize,
}

/// A record that was begun.
#[derive(Debug)]
struct Entry {
    transcript: usize,
    /// From when until when it stood whole in its file.
    stood: Vec<(Tick, Option<Tick>)>,
}

/// How often each kind of change was made.
pub(crate) type Changes = BTreeMap<&'static str, u32>;

/// The home and its ledger.
#[derive(Debug)]
pub(crate) struct World {
    home: PathBuf,
    rng: Rng,
    tick: Tick,
    pub(crate) transcripts: Vec<Transcript>,
    ledger: HashMap<Token, Entry>,
    /// From when until when a sync that succeeded ran.
    syncs: BTreeSet<(Tick, Tick)>,
    pub(crate) changes: Changes,
    /// Where something happened last: agents are asked about the present.
    hot: Vec<usize>,
}

impl World {
    pub(crate) fn new(home: &Path, size: Size, seed: u64) -> Self {
        let mut world = Self {
            home: home.to_owned(),
            rng: Rng::with_seed(seed),
            tick: 0,
            transcripts: Vec::new(),
            ledger: HashMap::new(),
            syncs: BTreeSet::new(),
            changes: Changes::new(),
            hot: Vec::new(),
        };
        for number in 0..size.claude + size.codex {
            let agent = if number < size.claude { Agent::Claude } else { Agent::Codex };
            let is_long = number * size.long % (size.claude + size.codex) < size.long;
            let n_records = if is_long { size.long_records } else { size.records };
            world.create(agent, n_records);
        }
        world.changes.clear();
        world
    }

    /// Every word of every transcript that is there, with the file.
    pub(crate) fn files(&self) -> BTreeMap<PathBuf, String> {
        let here = self.transcripts.iter().filter(|it| !it.is_gone);
        here.map(|it| (it.path.clone(), it.content())).collect()
    }

    pub(crate) const fn now(&self) -> Tick {
        self.tick
    }

    /// A `sync` that began at `from` has ended with success.
    pub(crate) fn acknowledge(&mut self, from: Tick) {
        self.syncs.insert((from, self.tick));
    }

    pub(crate) fn n_acknowledging(&self) -> usize {
        self.syncs.len()
    }

    /// What must be kept, by the name of its session.
    pub(crate) fn acknowledged(&self) -> BTreeMap<String, Vec<Token>> {
        let is_within = |(written, removed): &(Tick, Option<Tick>)| {
            let later = self.syncs.range((*written, 0)..);
            later.into_iter().any(|(_, to)| removed.is_none_or(|it| *to < it))
        };
        let mut found: BTreeMap<String, Vec<Token>> = BTreeMap::new();
        for (token, entry) in &self.ledger {
            if entry.stood.iter().any(is_within) {
                let name = self.transcripts[entry.transcript].name();
                found.entry(name).or_default().push(*token);
            }
        }
        found
    }

    /// The name of the session in whose file the record was written, if any was.
    pub(crate) fn session_of(&self, token: Token) -> Option<String> {
        self.ledger.get(&token).map(|it| self.transcripts[it.transcript].name())
    }

    pub(crate) fn n_records(&self) -> usize {
        self.ledger.len()
    }

    /// A session of which something happened lately.
    pub(crate) fn hot(&self, rng: &mut Rng) -> (&'static str, String) {
        let at = match rng.choice(&self.hot) {
            Some(at) => *at,
            None => rng.usize(..self.transcripts.len()),
        };
        (self.transcripts[at].agent.source(), self.transcripts[at].id.clone())
    }

    /// Changes one transcript, in a way that is rarer the more it disturbs.
    pub(crate) fn change(&mut self) {
        let at = match self.rng.u8(..3) {
            0 if !self.hot.is_empty() => self.hot[self.rng.usize(..self.hot.len())],
            _ => self.rng.usize(..self.transcripts.len()),
        };
        if self.transcripts[at].is_gone {
            return;
        }
        self.warm(at);
        match self.rng.u8(..100) {
            0..60 => self.append_some(at),
            60..80 => self.tear(at),
            80..86 => self.rewrite(at, Transcript::write, "rewritten in place"),
            86..90 => self.rewrite(at, Transcript::replace, "replaced"),
            90..95 => self.truncate(at),
            95..97 => self.delete(at),
            _ => {
                let agent = if self.rng.bool() { Agent::Claude } else { Agent::Codex };
                let n_records = self.rng.usize(..12);
                self.create(agent, n_records);
            }
        }
    }

    /// Adds `n` records to some transcript. Disturbs nothing.
    pub(crate) fn append_anywhere(&mut self, n: usize) {
        let at = self.rng.usize(..self.transcripts.len());
        if !self.transcripts[at].is_gone {
            self.warm(at);
            self.append(at, n);
        }
    }

    fn warm(&mut self, at: usize) {
        self.hot.retain(|it| *it != at);
        self.hot.push(at);
        if HOT_TRANSCRIPTS < self.hot.len() {
            self.hot.remove(0);
        }
    }

    fn append_some(&mut self, at: usize) {
        let n = self.rng.usize(1..6);
        self.append(at, n);
    }

    fn count(&mut self, change: &'static str) {
        *self.changes.entry(change).or_default() += 1;
    }

    fn make(&mut self, at: usize) -> Record {
        let token = Token(u32::try_from(self.ledger.len()).expect("a test makes fewer records"));
        self.ledger.insert(token, Entry { transcript: at, stood: Vec::new() });
        self.transcripts[at].make(token, &mut self.rng)
    }

    fn append(&mut self, at: usize, n: usize) {
        self.complete(at);
        let records: Vec<Record> = (0..n).map(|_| self.make(at)).collect();
        let text: String = records.iter().flat_map(|it| [&*it.line, "\n"]).collect();
        self.transcripts[at].append(&text);
        self.stand(records.iter().map(|it| it.token).collect());
        self.transcripts[at].records.extend(records);
        self.count("appended");
    }

    /// Writes what a torn line lacks.
    fn complete(&mut self, at: usize) {
        let Some((record, n_bytes)) = self.transcripts[at].torn.take() else { return };
        self.transcripts[at].append(&format!("{}\n", &record.line[n_bytes..]));
        self.stand(vec![record.token]);
        self.transcripts[at].records.push(record);
        self.count("completed");
    }

    /// Completes a torn line, and begins another.
    fn tear(&mut self, at: usize) {
        self.complete(at);
        let record = self.make(at);
        // All of it but the newline is a whole line, too.
        let n_bytes = self.rng.usize(1..=record.line.len());
        self.transcripts[at].append(&record.line[..n_bytes]);
        self.transcripts[at].torn = Some((record, n_bytes));
        self.count("torn");
    }

    fn rewrite(&mut self, at: usize, write: fn(&Transcript), change: &'static str) {
        self.fall(at);
        let mut kept = std::mem::take(&mut self.transcripts[at].records);
        // A file that changes and keeps its size and time to the millisecond is not seen to have
        // changed.
        let n_before = kept.len();
        kept.retain(|_| self.rng.u8(..5) != 0);
        if kept.len() == n_before {
            kept.push(self.make(at));
        }
        let tokens = kept.iter().map(|it| it.token).collect();
        let transcript = &mut self.transcripts[at];
        transcript.torn = None;
        transcript.records = kept;
        transcript.n_versions += 1;
        write(transcript);
        self.stand(tokens);
        self.count(change);
    }

    /// Cuts the file somewhere, at a line's end or in its middle.
    fn truncate(&mut self, at: usize) {
        self.fall(at);
        let n_kept = self.rng.usize(..=self.transcripts[at].records.len());
        let rng = &mut self.rng;
        let transcript = &mut self.transcripts[at];
        let cut = transcript.records.drain(n_kept..).next();
        transcript.torn = cut.filter(|_| rng.bool()).map(|record| {
            let n_bytes = rng.usize(1..=record.line.len());
            (record, n_bytes)
        });
        transcript.cut();
        let tokens = transcript.records.iter().map(|it| it.token).collect();
        self.stand(tokens);
        self.count("truncated");
    }

    fn delete(&mut self, at: usize) {
        self.fall(at);
        let transcript = &mut self.transcripts[at];
        fs::remove_file(&transcript.path).expect("removes");
        transcript.records.clear();
        transcript.torn = None;
        transcript.is_gone = true;
        self.count("deleted");
    }

    fn create(&mut self, agent: Agent, n_records: usize) {
        let at = self.transcripts.len();
        let number = u32::try_from(at).expect("a test makes fewer transcripts");
        self.transcripts.push(Transcript::new(agent, number, &self.home));
        let records: Vec<Record> = (0..n_records).map(|_| self.make(at)).collect();
        let tokens = records.iter().map(|it| it.token).collect();
        self.transcripts[at].records = records;
        self.transcripts[at].write();
        self.stand(tokens);
        self.count("created");
    }

    /// These stand on the disk from now on.
    fn stand(&mut self, tokens: Vec<Token>) {
        self.tick += 1;
        for token in tokens {
            let entry = self.ledger.get_mut(&token).expect("was made");
            if entry.stood.last().is_none_or(|it| it.1.is_some()) {
                entry.stood.push((self.tick, None));
            }
        }
    }

    /// Nothing of this transcript is sure to stand on the disk from now on.
    fn fall(&mut self, at: usize) {
        self.tick += 1;
        self.transcripts[at].was_disturbed = true;
        for record in &self.transcripts[at].records {
            let entry = self.ledger.get_mut(&record.token).expect("was made");
            if let Some((_, removed @ None)) = entry.stood.last_mut() {
                *removed = Some(self.tick);
            }
        }
    }
}
