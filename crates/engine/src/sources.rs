//! The connectors at work on this machine.

use std::path::Path;

use ai_hist_connector::{Availability, ConnectorSpec, Host, Settings};
use ai_hist_ingest::Source;
use ai_hist_model::ConnectorId;

use crate::config::{Config, ConfigError};

/// The connectors at work on this machine, and why the others are not.
#[derive(Debug)]
pub(crate) struct Sources {
    /// Those that read what agents write here.
    pub(crate) local: Vec<Source>,
    /// The one through which sessions are shared.
    pub(crate) cloud: Cloud,
    /// Every connector with what became of it.
    pub(crate) states: Vec<ConnectorState>,
}

/// The connector through which sessions are shared.
#[derive(Debug)]
pub(crate) enum Cloud {
    /// It is there.
    Ready(Source),
    /// It is not configured.
    NotConfigured,
    /// The configuration, or what it says of this connector, cannot be used.
    BadConfig(ConfigError),
}

/// What became of a connector.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectorState {
    /// The connector.
    pub id: ConnectorId,
    /// Its name for people.
    pub display_name: &'static str,
    /// Whether it is at work.
    pub status: ConnectorStatus,
}

/// Whether a connector is at work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectorStatus {
    /// It is.
    Ready,
    /// It has nothing to read here.
    Absent(String),
    /// It runs only when it is configured.
    NotConfigured,
    /// It cannot be set up.
    Failed(String),
}

/// The connector whose name handoffs ask for.
pub(crate) const CLOUD: ConnectorId = ConnectorId::from_static("cloud");

impl Sources {
    pub(crate) fn set_up(
        specs: &[ConnectorSpec],
        config: Result<&Config, &ConfigError>,
        config_path: Option<&Path>,
        host: &Host,
    ) -> Self {
        let cloud = match config {
            Ok(_) => Cloud::NotConfigured,
            Err(error) => Cloud::BadConfig(error.clone()),
        };
        let mut sources = Self { local: Vec::new(), cloud, states: Vec::new() };
        for spec in specs {
            let settings = config.ok().and_then(|it| it.plugins.get(&spec.id));
            let status = match settings {
                None if !spec.default_on => ConnectorStatus::NotConfigured,
                _ => {
                    let settings = settings.cloned().unwrap_or_default();
                    sources.add(spec, &settings, config_path, host)
                }
            };
            let display_name = spec.display_name;
            sources.states.push(ConnectorState { id: spec.id.clone(), display_name, status });
        }
        sources
    }

    fn add(
        &mut self,
        spec: &ConnectorSpec,
        settings: &Settings,
        config_path: Option<&Path>,
        host: &Host,
    ) -> ConnectorStatus {
        let id = spec.id.clone();
        match (spec.configure)(settings, host) {
            Ok(Availability::Ready(connector)) => {
                let source = Source { id, connector };
                if spec.id == CLOUD {
                    self.cloud = Cloud::Ready(source);
                } else {
                    self.local.push(source);
                }
                ConnectorStatus::Ready
            }
            Ok(Availability::Absent(why)) => ConnectorStatus::Absent(why),
            Err(error) => {
                let status = ConnectorStatus::Failed(error.to_string());
                if spec.id == CLOUD {
                    self.cloud = Cloud::BadConfig(ConfigError::of_connector(
                        config_path.unwrap_or(Path::new("")),
                        &spec.id,
                        &error,
                    ));
                }
                status
            }
        }
    }
}
