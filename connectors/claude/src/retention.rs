//! How long Claude Code keeps transcripts.

use std::{fs, path::Path};

use ai_hist_connector::Retention;
use serde::Deserialize;

/// What Claude Code does if nothing is set.
const DEFAULT_DAYS: u32 = 30;

/// What is read of its settings.
#[derive(Deserialize)]
struct Settings {
    #[serde(rename = "cleanupPeriodDays")]
    cleanup_period_days: Option<u32>,
}

/// What the settings below `root` say.
pub(crate) fn of(root: &Path) -> Retention {
    let path = root.join("settings.json");
    let settings: Option<Settings> =
        fs::read(&path).ok().and_then(|it| serde_json::from_slice(&it).ok());
    let days = settings.and_then(|it| it.cleanup_period_days).unwrap_or(DEFAULT_DAYS);
    let hint = format!("set `cleanupPeriodDays` in `{}` to keep them longer", path.display());
    Retention { days, hint }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_counts_and_else_the_default() {
        let root = tempfile::tempdir().expect("makes a folder");
        assert_eq!(of(root.path()).days, 30);
        for (settings, days) in [
            (r#"{"cleanupPeriodDays": 365, "model": "x"}"#, 365),
            (r#"{"model": "x"}"#, 30),
            ("{", 30),
        ] {
            fs::write(root.path().join("settings.json"), settings).expect("writes");
            assert_eq!(of(root.path()).days, days, "{settings}");
        }
    }
}
