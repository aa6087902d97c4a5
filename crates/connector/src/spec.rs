//! What a connector says about itself before it runs.

use std::fmt;

use ai_hist_model::ConnectorId;
use serde_json::{Map, Value};

use crate::{Connector, ConnectorError, Host};

/// A connector, as data. A connector crate exports exactly one: `pub const CONNECTOR`.
#[derive(Debug, Clone)]
pub struct ConnectorSpec {
    /// Its id: its folder's name, and the `module` of a configuration.
    pub id: ConnectorId,
    /// Its name for people.
    pub display_name: &'static str,
    /// What it can do.
    pub capabilities: Capabilities,
    /// The options that a configuration may set.
    pub options: &'static [OptionSpec],
    /// Whether it runs without being configured.
    pub default_on: bool,
    /// Makes the connector. Contacts nobody and starts nothing.
    pub configure: fn(&Settings, &Host) -> Result<Availability, ConnectorError>,
}

/// What a connector can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// Reopens a session in its agent.
    pub resume: bool,
    /// Starts its agent with a first prompt.
    pub seed: bool,
    /// Takes sessions in and gives them out to others.
    pub workspace: bool,
}

/// One option of a connector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OptionSpec {
    /// Its name.
    pub name: &'static str,
    /// What values it takes.
    pub kind: OptionKind,
    /// What it is for: one sentence.
    pub help: &'static str,
}

/// What values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OptionKind {
    /// A string.
    Text,
    /// A list of strings.
    Texts,
    /// `true` or `false`.
    Flag,
}

impl OptionKind {
    /// Whether `value` is one of its values.
    #[must_use]
    pub fn admits(self, value: &Value) -> bool {
        match self {
            Self::Text => value.is_string(),
            Self::Texts => value.as_array().is_some_and(|it| it.iter().all(Value::is_string)),
            Self::Flag => value.is_boolean(),
        }
    }
}

impl fmt::Display for OptionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "a string",
            Self::Texts => "a list of strings",
            Self::Flag => "true or false",
        })
    }
}

/// The options that were set, already checked against [`ConnectorSpec::options`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings(pub Map<String, Value>);

impl Settings {
    /// The string `name`.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).and_then(Value::as_str)
    }

    /// The list of strings `name`.
    #[must_use]
    pub fn texts(&self, name: &str) -> Option<Vec<&str>> {
        Some(self.0.get(name)?.as_array()?.iter().filter_map(Value::as_str).collect())
    }

    /// The flag `name`.
    #[must_use]
    pub fn flag(&self, name: &str) -> Option<bool> {
        self.0.get(name).and_then(Value::as_bool)
    }
}

/// Whether a connector has anything to read here.
#[derive(Debug)]
pub enum Availability {
    /// It has.
    Ready(Box<dyn Connector>),
    /// It has not, for this reason. Not an error.
    Absent(String),
}
