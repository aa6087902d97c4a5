//! The machine: the one place that reads the environment, the home folder and the clock.

use std::{
    env,
    path::PathBuf,
    time::{SystemTime, UNIX_EPOCH},
};

use ai_hist_catalog::CONNECTORS;
use ai_hist_connector::Host;
use ai_hist_engine::{Setup, model::Timestamp};

use crate::report::CliError;

/// The machine as it is.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub(crate) fn setup() -> Result<Setup, CliError> {
    let vars = env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect();
    let home = env::home_dir().ok_or(CliError::NoHome)?;
    let host = Host { home, vars };
    let state = match host.var("AI_HIST_HOME") {
        Some(folder) => host.expand(folder),
        None => dirs::data_local_dir().ok_or(CliError::NoHome)?.join("ai-hist"),
    };
    let config = host.var("AI_HIST_PLUGIN_CONFIG").map(PathBuf::from);
    Ok(Setup {
        state,
        config,
        host,
        specs: CONNECTORS,
        cwd: env::current_dir().ok(),
        parent_pid: parent_pid(),
        now,
    })
}

/// The time now.
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(unix)]
fn parent_pid() -> Option<u32> {
    Some(std::os::unix::process::parent_id())
}

#[cfg(not(unix))]
fn parent_pid() -> Option<u32> {
    None
}
