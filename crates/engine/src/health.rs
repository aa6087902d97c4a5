//! The state of everything, for `doctor`.

use std::{collections::BTreeMap, time::Duration};

use ai_hist_ingest::{Lead, Source, follow};
use ai_hist_model::{Coded as _, ErrorCode};
use ai_hist_store::{AgentCount, FeedAccount, TallyClass};
use serde::Serialize;

use crate::{Engine, EngineError, sources::Cloud, sources::ConnectorStatus};

const DAY_MS: i64 = 86_400_000;

/// How far ahead `doctor` looks for what an agent is about to remove.
const SOON_DAYS: i64 = 7;

/// The state of everything.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Health {
    /// Whether there is nothing that anybody has to do.
    pub ok: bool,
    /// The state folder.
    pub state: String,
    /// What became of each transcript's lines:
    /// `lines = events_lines + ignored + unknown + damaged`.
    pub accounting: Vec<AccountRow>,
    /// The sums, by agent.
    pub totals: BTreeMap<String, Account>,
    /// Sessions and events, by agent.
    pub agents: Vec<AgentRow>,
    /// Bytes archived, as they were and as they are stored.
    pub archive: Archive,
    /// What agents have removed or will, and is kept here.
    pub retention: Vec<RetentionRow>,
    /// Working directories that are left unread.
    pub excluded: Vec<String>,
    /// How far the index has come: events indexed up to this row, of this many.
    pub index: IndexState,
    /// Transcripts that have changed since they were read.
    pub stale_feeds: u64,
    /// What somebody should look at.
    pub problems: Vec<Problem>,
}

/// What became of the lines of one transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccountRow {
    /// The connector that read it.
    pub source: String,
    /// The transcript.
    pub path: String,
    /// Whether its agent has removed it. Its history is kept.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
    /// How often it was rewritten under us.
    #[serde(skip_serializing_if = "is_zero")]
    pub rewritten: i64,
    /// What became of its lines.
    #[serde(flatten)]
    pub account: Account,
    /// Where the damaged lines are, the first hundred.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub damage: Vec<Damage>,
}

/// What an agent has removed or will, and is kept here.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RetentionRow {
    /// The connector.
    pub source: String,
    /// After how many days its agent removes transcripts; absent if it does not by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// Transcripts that are gone.
    pub gone: u64,
    /// How many bytes these were.
    pub gone_bytes: u64,
    /// Transcripts that its agent removes within a week.
    pub due: u64,
    /// How to make the agent keep them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What became of lines.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Account {
    /// Lines read.
    pub lines: u64,
    /// Lines that gave events, facts or usage.
    pub events_lines: u64,
    /// Lines known to hold nothing of their own.
    pub ignored: u64,
    /// Lines of unknown kinds.
    pub unknown: u64,
    /// Lines that could not be read.
    pub damaged: u64,
    /// Lines by fate and kind: `ignored/progress/hook_progress`.
    pub by_kind: BTreeMap<String, u64>,
    /// Of each unknown kind, where one such line begins: path and byte.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub examples: BTreeMap<String, String>,
}

/// A damaged line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Where.
    pub locator: String,
    /// What is wrong with it.
    pub reason: String,
}

/// What the store holds of one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentRow {
    /// The agent.
    pub source: String,
    /// Sessions.
    pub sessions: u64,
    /// Events.
    pub events: u64,
    /// Prompts.
    pub prompts: u64,
}

impl From<AgentCount> for AgentRow {
    fn from(count: AgentCount) -> Self {
        Self {
            source: count.agent,
            sessions: count.n_sessions,
            events: count.n_events,
            prompts: count.n_prompts,
        }
    }
}

/// How much is archived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Archive {
    /// Bytes as they were.
    pub bytes: u64,
    /// Bytes as they are stored.
    pub stored_bytes: u64,
}

/// How far the index has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct IndexState {
    /// The last event indexed, in commit order.
    pub watermark: u64,
    /// The last event stored, in commit order.
    pub last_row: u64,
}

/// Something that somebody should look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Its code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: String,
}

impl Engine {
    /// Looks at everything. Reads no transcript.
    pub fn health(&self) -> Result<Health, EngineError> {
        let store = self.store()?;
        let outlook = ai_hist_ingest::outlook(store, &self.sources().local)?;
        let mut problems: Vec<Problem> = Vec::new();
        for place in &outlook.problems {
            problems.push(problem("CONNECTOR_READ_FAILED", place, "check that it may be read"));
        }
        self.configuration_problems(&mut problems);
        let mut accounting = Vec::new();
        let mut totals: BTreeMap<String, Account> = BTreeMap::new();
        let mut retention = self.retention();
        for feed in store.accounts()? {
            if feed.is_hidden {
                continue;
            }
            let row = account_row(&feed);
            self.count_gone(&feed, &mut retention);
            if let Some(reason) = &feed.problem {
                let message = format!("{}: {reason}", row.path);
                let hint = "check the file; what was read of it is kept";
                problems.push(problem("CONNECTOR_READ_FAILED", &message, hint));
            }
            totals.entry(row.source.clone()).or_default().add(&row.account);
            accounting.push(row);
        }
        for (source, total) in &totals {
            total.problems(source, &mut problems);
        }
        self.check_index(&mut problems)?;
        let (bytes, stored_bytes) = store.archive_bytes()?;
        let index = IndexState { watermark: self.index()?.mark().row, last_row: store.last_row()? };
        Ok(Health {
            ok: problems.is_empty(),
            state: self.state().display().to_string(),
            accounting,
            totals,
            agents: store.counts()?.into_iter().map(AgentRow::from).collect(),
            archive: Archive { bytes, stored_bytes },
            retention,
            excluded: store.exclusions()?,
            index,
            stale_feeds: outlook.n_changed() as u64,
            problems,
        })
    }

    /// What each source's agent keeps.
    fn retention(&self) -> Vec<RetentionRow> {
        let row = |source: &Source| {
            let retention = source.connector.retention();
            RetentionRow {
                source: source.id.to_string(),
                days: retention.as_ref().map(|it| it.days),
                gone: 0,
                gone_bytes: 0,
                due: 0,
                hint: retention.map(|it| it.hint),
            }
        };
        self.sources().local.iter().map(row).collect()
    }

    fn count_gone(&self, feed: &FeedAccount, retention: &mut [RetentionRow]) {
        let Some(row) = retention.iter_mut().find(|it| it.source == feed.connector) else { return };
        let Some(stamp) = feed.stamp else { return };
        if feed.is_gone {
            row.gone += 1;
            row.gone_bytes += stamp.n_bytes;
            return;
        }
        let age_days = (self.now().0 - stamp.modified_ms) / DAY_MS;
        if row.days.is_some_and(|days| i64::from(days) - SOON_DAYS <= age_days) {
            row.due += 1;
        }
    }

    /// What the store holds of each agent on this machine.
    pub fn counts(&self) -> Result<Vec<AgentRow>, EngineError> {
        Ok(self.store()?.counts()?.into_iter().map(AgentRow::from).collect())
    }

    /// Compares the index with its checksums. One that is damaged is made anew from the store.
    fn check_index(&self, problems: &mut Vec<Problem>) -> Result<(), EngineError> {
        let index = self.index()?;
        let damage = match index.check() {
            Err(error) => Some(error.to_string()),
            Ok(()) => index.view().problem().map(str::to_owned),
        };
        let Some(damage) = damage else {
            return Ok(());
        };
        let hint = match Lead::take(self.state(), Duration::ZERO)? {
            Some(_lead) => {
                follow(self.store()?, index, &|_| {})?;
                "nothing is left to do: it has been made anew from the store"
            }
            None => "run `ai-hist doctor` again when no other ai-hist is reading",
        };
        problems.push(problem(ErrorCode::IndexUnavailable.as_str(), &damage, hint));
        Ok(())
    }

    fn configuration_problems(&self, problems: &mut Vec<Problem>) {
        if let Cloud::BadConfig(error) = &self.sources().cloud {
            let hint = error.hint().unwrap_or_default();
            problems.push(problem(error.code().as_str(), &error.to_string(), &hint));
        }
        for state in self.connectors() {
            if let ConnectorStatus::Failed(why) = &state.status
                && state.id != crate::sources::CLOUD
            {
                let message = format!("{}: {why}", state.id);
                let hint = "correct its options in the connector configuration";
                problems.push(problem("CONNECTOR_CONFIG_INVALID", &message, hint));
            }
        }
    }
}

impl Account {
    fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.events_lines += other.events_lines;
        self.ignored += other.ignored;
        self.unknown += other.unknown;
        self.damaged += other.damaged;
        for (kind, n) in &other.by_kind {
            *self.by_kind.entry(kind.clone()).or_default() += n;
        }
        for (kind, place) in &other.examples {
            self.examples.entry(kind.clone()).or_insert_with(|| place.clone());
        }
    }

    fn problems(&self, source: &str, problems: &mut Vec<Problem>) {
        if 0 < self.unknown {
            let kinds: Vec<String> = self
                .by_kind
                .iter()
                .filter_map(|(kind, n)| Some(format!("{} ({n})", kind.strip_prefix("unknown/")?)))
                .collect();
            let example = self
                .examples
                .values()
                .next()
                .map_or_else(String::new, |it| format!("; one is at {it}"));
            let kinds = kinds.join(", ");
            let message =
                format!("{source}: {} lines of unknown kinds: {kinds}{example}", self.unknown);
            let hint = "nothing is lost: they are kept whole and become events when a newer ai-hist \
                        knows them";
            problems.push(problem("LINES_UNKNOWN", &message, hint));
        }
        if 0 < self.damaged {
            let message = format!("{source}: {} damaged lines", self.damaged);
            let hint = "nothing can be done about a torn line; `doctor --json` says where each is";
            problems.push(problem("LINES_DAMAGED", &message, hint));
        }
    }
}

fn account_row(feed: &FeedAccount) -> AccountRow {
    let path = feed.path.as_ref().map_or_else(|| feed.name.clone(), |it| it.display().to_string());
    let mut account = Account::default();
    for row in &feed.tally {
        let (sum, class) = match row.class {
            TallyClass::Understood => (&mut account.events_lines, "events"),
            TallyClass::Ignored => (&mut account.ignored, "ignored"),
            TallyClass::Unknown => (&mut account.unknown, "unknown"),
            TallyClass::Damaged => (&mut account.damaged, "damaged"),
        };
        *sum += row.n;
        if let Some(first_byte) = row.example {
            account.examples.insert(row.kind.clone(), format!("{path}, byte {first_byte}"));
        }
        *account.by_kind.entry(format!("{class}/{}", row.kind)).or_default() += row.n;
    }
    let mut damage: Vec<Damage> = feed
        .skipped
        .iter()
        .map(|it| Damage { locator: it.locator.clone(), reason: it.reason.clone() })
        .collect();
    if 0 < feed.n_rest {
        account.damaged += 1;
        *account.by_kind.entry("damaged/unfinished".to_owned()).or_default() += 1;
        damage.push(Damage {
            locator: "last line".to_owned(),
            reason: format!("unfinished: {} bytes without an end", feed.n_rest),
        });
    }
    account.lines = account.events_lines + account.ignored + account.unknown + account.damaged;
    AccountRow {
        source: feed.connector.clone(),
        path,
        gone: feed.is_gone,
        rewritten: feed.generation,
        account,
        damage,
    }
}

fn problem(code: &str, message: &str, hint: &str) -> Problem {
    Problem { code: code.to_owned(), message: message.to_owned(), hint: hint.to_owned() }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(n: &i64) -> bool {
    *n == 0
}
