//! The options, from words to values.

use std::path::PathBuf;

use ai_hist_connector::{ConnectorError, Host, Membership, Settings};

use crate::limits::MAX_NAME_BYTES;

const CONFIG: &str = r#"{ "plugins": [
    { "module": "cloud",
      "options": { "path": "~/team-sessions", "workspace": "team" } }
] }"#;

/// The account of a machine that has no name for its user, as in many containers.
const NOBODY: &str = "unknown";

pub(crate) fn folder(settings: &Settings, host: &Host) -> Result<PathBuf, ConnectorError> {
    let path = settings.text("path").filter(|it| !it.is_empty()).ok_or_else(|| missing("path"))?;
    let folder = host.expand(path);
    if folder.is_absolute() {
        return Ok(folder);
    }
    Err(ConnectorError::Option {
        option: "path",
        problem: format!("is `{path}`, which is relative"),
        hint: "write the whole path, or one that begins with `~/`".to_owned(),
    })
}

pub(crate) fn membership(settings: &Settings, host: &Host) -> Result<Membership, ConnectorError> {
    let workspace = settings.text("workspace").ok_or_else(|| missing("workspace"))?;
    let account = match settings.text("account") {
        Some(account) => name("account", account)?,
        None => user(host),
    };
    Ok(Membership { workspace: name("workspace", workspace)?, account })
}

fn missing(option: &'static str) -> ConnectorError {
    ConnectorError::Option {
        option,
        problem: "is missing".to_owned(),
        hint: format!("write into the file that `AI_HIST_PLUGIN_CONFIG` names:\n{CONFIG}"),
    }
}

fn name(option: &'static str, name: &str) -> Result<String, ConnectorError> {
    let fits = (1..=MAX_NAME_BYTES).contains(&name.len());
    if fits && name.bytes().all(is_plain) {
        return Ok(name.to_owned());
    }
    Err(ConnectorError::Option {
        option,
        problem: format!("is `{}`, which is no name", name.escape_debug()),
        hint: format!("choose 1 to {MAX_NAME_BYTES} of `a-z`, `0-9`, `.`, `_` and `-`"),
    })
}

const fn is_plain(byte: u8) -> bool {
    matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')
}

/// The user's name, made to fit: nobody chose it for this purpose.
fn user(host: &Host) -> String {
    let user = host.var("USER").or_else(|| host.var("USERNAME")).unwrap_or(NOBODY);
    let plain = |it: char| match it.to_ascii_lowercase() {
        it if u8::try_from(it).is_ok_and(is_plain) => it,
        _ => '-',
    };
    user.chars().take(MAX_NAME_BYTES).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use ai_hist_connector::model::{Coded as _, ErrorCode};
    use serde_json::{Map, Value, json};

    use super::*;

    fn host(vars: &[(&str, &str)]) -> Host {
        let vars: BTreeMap<String, String> =
            vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Host { home: PathBuf::from("/home/dev"), vars }
    }

    fn settings(options: Value) -> Settings {
        let Value::Object(options) = options else {
            return Settings(Map::new());
        };
        Settings(options)
    }

    #[test]
    fn a_path_is_whole_or_below_home() {
        let folder = |path: &str| super::folder(&settings(json!({ "path": path })), &host(&[]));
        assert_eq!(folder("~/team").expect("fits"), Path::new("/home/dev/team"));
        #[cfg(unix)]
        assert_eq!(folder("/srv/team").expect("fits"), Path::new("/srv/team"));
        for bad in ["", "team", "./team", "~other/team"] {
            let error = folder(bad).expect_err("refuses");
            assert_eq!(error.code(), ErrorCode::ConnectorConfigInvalid, "`{bad}`");
        }
    }

    #[test]
    fn a_missing_option_shows_the_configuration() {
        for error in [
            folder(&settings(json!({})), &host(&[])).expect_err("refuses"),
            membership(&settings(json!({ "path": "/x" })), &host(&[])).expect_err("refuses"),
        ] {
            assert_eq!(error.code(), ErrorCode::ConnectorConfigInvalid);
            let hint = error.hint().expect("has a hint");
            assert!(hint.contains(CONFIG), "{hint}");
        }
        assert_eq!(CONFIG.lines().count(), 4);
        assert!(serde_json::from_str::<Value>(CONFIG).is_ok());
    }

    #[test]
    fn names_are_plain() {
        let whole = "x".repeat(MAX_NAME_BYTES);
        for good in ["team", "a", "t.e_a-m9", &whole] {
            let options = settings(json!({ "workspace": good, "account": good }));
            let membership = membership(&options, &host(&[])).expect("fits");
            assert_eq!((&*membership.workspace, &*membership.account), (good, good));
        }
        let long = "x".repeat(MAX_NAME_BYTES + 1);
        for bad in ["", "Team", "a b", "a/b", "é", "a\0", "a\n", &long] {
            for options in [
                json!({ "workspace": bad, "account": "dev" }),
                json!({ "workspace": "team", "account": bad }),
            ] {
                let refused = membership(&settings(options), &host(&[]));
                assert!(matches!(refused, Err(ConnectorError::Option { .. })), "`{bad}`");
            }
        }
    }

    #[test]
    fn an_account_is_the_user_unless_it_is_said() {
        for (vars, expected) in [
            (&[("USER", "dev"), ("USERNAME", "other")][..], "dev"),
            (&[("USERNAME", "Jané Doe")], "jan--doe"),
            (&[("USER", "")], "unknown"),
            (&[], "unknown"),
        ] {
            let options = settings(json!({ "workspace": "team" }));
            let membership = membership(&options, &host(vars)).expect("fits");
            assert_eq!(membership.account, expected);
        }
    }
}
