//! A workspace: sessions of every agent, shared between agents, machines and people.
//!
//! In this form a workspace lives in a folder that its members can all reach. What a session is in
//! a workspace (pages of lines, a hash chain over them, generations) is decided here once; where
//! the pages are kept is a `Backend`, so that another one adds storage and
//! nothing else.
//!
//! **Invariant:** every statement names the workspace that the configuration opened. A session of
//! another workspace cannot be told from one that does not exist.
//! **Invariant:** a page is never changed. What is read is what was pushed, or an error.
//! **Invariant:** `configure` looks at the options alone. Nothing is made before the first push.

mod append;
mod backend;
mod cloud;
mod folder;
mod hash;
mod limits;
mod lines;
mod options;
mod page;
mod reader;
mod wire;

use ai_hist_connector::{
    Availability, Capabilities, ConnectorError, ConnectorSpec, Host, OptionKind, OptionSpec,
    Settings, model::ConnectorId,
};

use crate::{cloud::Cloud, folder::Folder};

/// Sessions in a workspace, of every agent.
pub const CONNECTOR: ConnectorSpec = ConnectorSpec {
    id: ConnectorId::from_static("cloud"),
    display_name: "Cloud workspace",
    capabilities: Capabilities { resume: false, seed: false, workspace: true },
    options: &[
        OptionSpec {
            name: "path",
            kind: OptionKind::Text,
            help: "The folder that holds the workspace; `~` is the home folder.",
        },
        OptionSpec {
            name: "workspace",
            kind: OptionKind::Text,
            help: "The workspace in that folder whose sessions are shared.",
        },
        OptionSpec {
            name: "account",
            kind: OptionKind::Text,
            help: "Who you are there; without it, the name of the user.",
        },
    ],
    default_on: false,
    configure,
};

fn configure(settings: &Settings, host: &Host) -> Result<Availability, ConnectorError> {
    let folder = options::folder(settings, host)?;
    let membership = options::membership(settings, host)?;
    let backend = Folder::new(folder, membership);
    Ok(Availability::Ready(Box::new(Cloud::new(backend))))
}

#[cfg(test)]
mod tests {
    #[test]
    fn keeps_the_contract() {
        ai_hist_connector_testkit::check(&super::CONNECTOR);
    }
}
