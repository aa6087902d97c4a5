//! The connector configuration: a JSON file that `AI_HIST_PLUGIN_CONFIG` names.
//!
//! A configuration is inert: reading it starts nothing and contacts nobody.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use ai_hist_connector::{ConnectorError, ConnectorSpec, Settings};
use ai_hist_model::{Coded, ConnectorId, ErrorCode};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Which connectors a configuration names, with their options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// The options of each connector that is named.
    pub plugins: BTreeMap<ConnectorId, Settings>,
}

/// Why a configuration cannot be used, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}`:{line}:{column}: {problem}", path.display())]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 if the file could not be read at all.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
    /// What would be right: one imperative sentence.
    pub hint: String,
}

impl ConfigError {
    /// The error of a connector that refuses its options. It is placed at the file's module entry.
    pub(crate) fn of_connector(path: &Path, id: &ConnectorId, error: &ConnectorError) -> Self {
        let text = fs::read_to_string(path).unwrap_or_default();
        let reading = Reading { path, text: &text, specs: &[] };
        let at = text.find(&format!("\"{id}\"")).unwrap_or(0);
        let hint = error.hint().unwrap_or_default();
        reading.error(&text[at..], error.to_string(), hint)
    }
}

impl Coded for ConfigError {
    fn code(&self) -> ErrorCode {
        ErrorCode::ConnectorConfigInvalid
    }

    fn hint(&self) -> Option<String> {
        Some(self.hint.clone())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File<'a> {
    #[serde(borrow)]
    plugins: Vec<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plugin<'a> {
    #[serde(borrow)]
    module: &'a RawValue,
    #[serde(borrow, default)]
    options: Option<&'a RawValue>,
}

impl Config {
    /// Reads the configuration at `path` against the connectors that there are.
    pub fn read(path: &Path, specs: &[ConnectorSpec]) -> Result<Self, ConfigError> {
        let text = fs::read_to_string(path).map_err(|error| ConfigError {
            path: path.to_owned(),
            line: 0,
            column: 0,
            problem: format!("cannot be read: {error}"),
            hint: "let AI_HIST_PLUGIN_CONFIG name a readable JSON file, or unset it".to_owned(),
        })?;
        Reading { path, text: &text, specs }.config()
    }
}

/// One configuration being read.
struct Reading<'a> {
    path: &'a Path,
    text: &'a str,
    specs: &'a [ConnectorSpec],
}

impl<'a> Reading<'a> {
    fn config(&self) -> Result<Config, ConfigError> {
        let file: File<'a> = self.parse(self.text)?;
        let mut config = Config::default();
        for raw in file.plugins {
            let plugin: Plugin<'a> = self.parse(raw.get())?;
            let spec = self.spec(plugin.module)?;
            let settings = match plugin.options {
                Some(options) => self.settings(spec, options.get())?,
                None => Settings::default(),
            };
            if config.plugins.insert(spec.id.clone(), settings).is_some() {
                let problem = format!("`{}` is configured twice", spec.id);
                let hint = "keep one entry for each module".to_owned();
                return Err(self.error(plugin.module.get(), problem, hint));
            }
        }
        Ok(config)
    }

    fn spec(&self, module: &'a RawValue) -> Result<&'a ConnectorSpec, ConfigError> {
        let name: Cow<'_, str> = self.parse(module.get())?;
        let spec = self.specs.iter().find(|it| it.id.as_str() == name);
        spec.ok_or_else(|| {
            let known: Vec<&str> = self.specs.iter().map(|it| it.id.as_str()).collect();
            let hint = format!("use one of: {}", known.join(", "));
            self.error(module.get(), format!("unknown module `{name}`"), hint)
        })
    }

    fn settings(&self, spec: &ConnectorSpec, text: &'a str) -> Result<Settings, ConfigError> {
        let options: BTreeMap<String, &'a RawValue> = self.parse(text)?;
        let mut settings = Settings::default();
        for (name, raw) in options {
            let Some(option) = spec.options.iter().find(|it| it.name == name) else {
                let known: Vec<&str> = spec.options.iter().map(|it| it.name).collect();
                let problem = format!("`{}` has no option `{name}`", spec.id);
                let hint = format!("use one of: {}", known.join(", "));
                return Err(self.error(raw.get(), problem, hint));
            };
            let value = self.parse(raw.get())?;
            if !option.kind.admits(&value) {
                let problem = format!("option `{name}` of `{}` has the wrong type", spec.id);
                let hint = format!("give {}: {}", option.kind, option.help);
                return Err(self.error(raw.get(), problem, hint));
            }
            settings.0.insert(name, value);
        }
        Ok(settings)
    }

    /// Parses `part`, which is a part of the file's text.
    fn parse<T: Deserialize<'a>>(&self, part: &'a str) -> Result<T, ConfigError> {
        serde_json::from_str(part).map_err(|error| {
            let (line, column) = self.place(part);
            let (line, column) = match error.line() {
                0 | 1 => (line, column + error.column().saturating_sub(1)),
                more => (line + more - 1, error.column()),
            };
            let whole = error.to_string();
            let problem = whole.rsplit_once(" at line ").map_or(whole.as_str(), |it| it.0);
            ConfigError {
                path: self.path.to_owned(),
                line,
                column: column.max(1),
                problem: problem.to_owned(),
                hint: "write {\"plugins\":[{\"module\":\"NAME\",\"options\":{}}]}".to_owned(),
            }
        })
    }

    fn error(&self, part: &str, problem: String, hint: String) -> ConfigError {
        let (line, column) = self.place(part);
        ConfigError { path: self.path.to_owned(), line, column, problem, hint }
    }

    /// The line and column at which `part` of the file's text begins, from 1.
    fn place(&self, part: &str) -> (usize, usize) {
        let offset = (part.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        let before = &self.text[..self.text.floor_char_boundary(offset)];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (line, column)
    }
}

#[cfg(test)]
mod tests {
    use ai_hist_connector::{Availability, Capabilities, Host, OptionKind, OptionSpec};

    use super::*;

    const SPEC: ConnectorSpec = ConnectorSpec {
        id: ConnectorId::from_static("cloud"),
        display_name: "Cloud",
        capabilities: Capabilities { resume: false, seed: false, workspace: true },
        options: &[OptionSpec { name: "path", kind: OptionKind::Text, help: "the folder" }],
        default_on: false,
        configure,
    };

    fn configure(_: &Settings, _: &Host) -> Result<Availability, ConnectorError> {
        Ok(Availability::Absent("is a test".to_owned()))
    }

    fn read(text: &str) -> Result<Config, ConfigError> {
        Reading { path: Path::new("c.json"), text, specs: &[SPEC] }.config()
    }

    #[test]
    fn options_arrive() {
        let config = read(r#"{"plugins":[{"module":"cloud","options":{"path":"/x"}}]}"#);
        let plugins = config.expect("reads").plugins;
        assert_eq!(plugins[&SPEC.id].text("path"), Some("/x"));
        assert_eq!(read(r#"{"plugins":[]}"#).expect("reads"), Config::default());
    }

    #[test]
    fn an_error_says_where_it_is_and_what_would_be_right() {
        let table = [
            ("{", (1, 1), "EOF while parsing", "plugins"),
            (
                "{\"plugins\":\n  [{\"module\":\"clod\"}]}",
                (2, 14),
                "unknown module `clod`",
                "cloud",
            ),
            (
                "{\"plugins\":[{\"module\":\"cloud\",\n\"options\":{\n  \"pth\":\"/x\"}}]}",
                (3, 9),
                "no option `pth`",
                "path",
            ),
            (
                "{\"plugins\":[{\"module\":\"cloud\",\"options\":{\"path\":7}}]}",
                (1, 49),
                "wrong type",
                "a string",
            ),
            ("{\"plugins\":[\n{\"modul\":\"cloud\"}]}", (2, 8), "unknown field `modul`", "module"),
            (
                "{\"plugins\":[{\"module\":\"cloud\"},{\"module\":\"cloud\"}]}",
                (1, 42),
                "configured twice",
                "one entry",
            ),
            ("{\"plugins\":[{\"module\":\"cloud\"},]}", (1, 32), "trailing comma", "plugins"),
        ];
        for (text, place, problem, hint) in table {
            let error = read(text).expect_err(text);
            assert_eq!((error.line, error.column), place, "{error}");
            assert!(error.problem.contains(problem), "{error}");
            assert!(error.hint.contains(hint), "{} ({error})", error.hint);
        }
    }
}
