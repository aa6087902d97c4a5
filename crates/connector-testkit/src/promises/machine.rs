//! Promises about a machine as a whole.

use std::collections::{BTreeMap, HashSet};

use ai_hist_connector::{
    AgentCommand, Availability, ConnectorError, Host, Launch, Settings,
    model::{AgentId, NativeSessionId, Relation, SessionFacts, SessionKey},
};

use super::{Stage, feeds};
use crate::reading::{EVERYTHING, reading, same, same_list};

/// A prompt that a careless command would break.
const PROMPT: &str = "go on with \"this\"\n$(and `that`) 'too'";

pub(super) fn discovery_repeats_itself(stage: &Stage<'_>) -> Result<(), String> {
    let discover = || stage.connector.discover().map_err(|error| error.to_string());
    let (once, twice) = (discover()?, discover()?);
    same_list("feed", &once.feeds, &twice.feeds)?;
    same_list("problem", &once.problems, &twice.problems)?;
    if let Some(problem) = once.problems.first() {
        return Err(format!("cannot list `{}`: {}", problem.path.display(), problem.reason));
    }
    match once.feeds.windows(2).find(|it| it[1].id <= it[0].id) {
        Some(pair) => {
            Err(format!("`{}` comes before `{}`: not in order of id", pair[0].id, pair[1].id))
        }
        None => Ok(()),
    }
}

pub(super) fn an_empty_machine_is_no_error(stage: &Stage<'_>) -> Result<(), String> {
    if !stage.spec.default_on {
        return Ok(());
    }
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let host = Host { home: home.path().to_owned(), vars: BTreeMap::new() };
    match (stage.spec.configure)(&Settings::default(), &host) {
        Ok(Availability::Ready(connector)) => match feeds(&*connector)?.first() {
            Some(feed) => Err(format!("feed `{}` is found in an empty home", feed.id)),
            None => Ok(()),
        },
        Ok(Availability::Absent(_)) => Ok(()),
        Err(error) => Err(format!("cannot be configured: {error}")),
    }
}

pub(super) fn locate_finds_the_feed(stage: &Stage<'_>) -> Result<(), String> {
    for feed in stage.feeds()? {
        let reading = reading(&*stage.connector, &feed, EVERYTHING)?;
        let with_events: HashSet<_> = reading.events.iter().map(|it| it.session).collect();
        for key in reading.facts.keys().filter(|it| with_events.contains(&it.id())) {
            let located = stage.connector.locate(key).map_err(|error| error.to_string())?;
            if !located.is_empty() && !located.iter().any(|it| it.id == feed.id) {
                return Err(format!(
                    "`{key}` is said to be in `{}` only, and `{}` gives it",
                    located[0].id, feed.id
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn declared_capabilities_are_true(stage: &Stage<'_>) -> Result<(), String> {
    let capabilities = stage.spec.capabilities;
    let session = some_session(stage)?;
    let resume = stage.connector.command(&Launch::Resume(&session));
    command_is_as_declared("resume", capabilities.resume, resume, session.native.as_str())?;
    let seed = stage.connector.command(&Launch::Seed { prompt: PROMPT });
    command_is_as_declared("seed", capabilities.seed, seed, PROMPT)?;
    let has_workspace = stage.connector.workspace().is_some();
    same("`workspace` as declared and as it is", &capabilities.workspace, &has_workspace)
}

pub(super) fn nothing_is_written(stage: &Stage<'_>) -> Result<(), String> {
    // A connector that shares sessions keeps them in a place of its own.
    if stage.spec.capabilities.workspace {
        return Ok(());
    }
    let fresh = Stage::set(stage.spec, stage.recording)?;
    let before = fresh.machine.contents();
    for feed in fresh.feeds()? {
        for key in reading(&*fresh.connector, &feed, EVERYTHING)?.facts.keys() {
            // Whether they succeed is another promise.
            let _ = fresh.connector.locate(key);
            let _ = fresh.connector.command(&Launch::Resume(key));
        }
    }
    let after = fresh.machine.contents();
    let paths: HashSet<_> = before.keys().chain(after.keys()).collect();
    let is_lock = |path: &str| path.ends_with("-shm") || path.ends_with("-wal");
    let changed = paths.into_iter().find(|it| {
        // Whoever opens a database in WAL mode makes these, also for reading.
        before.get(*it) != after.get(*it) && !is_lock(&it.to_string_lossy())
    });
    match changed {
        Some(path) => Err(format!("`{}` was changed by reading", path.display())),
        None => Ok(()),
    }
}

/// A session that its agent could reopen: a sub-agent's cannot be.
fn some_session(stage: &Stage<'_>) -> Result<SessionKey, String> {
    let is_own = |it: &SessionFacts| {
        it.lineage.as_ref().is_none_or(|lineage| lineage.relation != Relation::SubAgent)
    };
    for feed in stage.feeds()? {
        let mut facts = reading(&*stage.connector, &feed, EVERYTHING)?.facts.into_values();
        if let Some(facts) = facts.find(is_own) {
            return Ok(facts.key);
        }
    }
    let agent = AgentId::parse(stage.spec.id.as_str()).ok_or("the connector's id is no slug")?;
    let native = NativeSessionId::parse("11111111-1111-4111-8111-111111111111");
    Ok(SessionKey { agent, native: native.ok_or("no session id")? })
}

fn command_is_as_declared(
    what: &str,
    declared: bool,
    command: Result<AgentCommand, ConnectorError>,
    carried: &str,
) -> Result<(), String> {
    match command {
        Ok(command) if declared => {
            let mut args = command.args.iter().map(|it| it.to_string_lossy());
            if args.any(|it| it.contains(carried)) {
                return Ok(());
            }
            Err(format!("the command to {what} does not carry `{carried}` in one argument"))
        }
        Err(ConnectorError::Unsupported { .. }) if !declared => Ok(()),
        Ok(_) => Err(format!("it can {what} and does not declare it")),
        Err(error) => Err(format!("declared `{what}: {declared}`, and: {error}")),
    }
}
