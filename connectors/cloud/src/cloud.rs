//! A workspace as a connector.

use std::sync::Arc;

use ai_hist_connector::{
    Connector, ConnectorError, Discovery, Feed, FeedPlace, FeedReader, Head, Membership, Push,
    Stamp, Watch, Workspace,
    model::{AgentId, Cursor, FeedId, NativeSessionId, SessionKey},
};

use crate::{
    append::Stretch,
    backend::{Backend, Held},
    reader::Reader,
};

/// The workspace that a configuration opens.
#[derive(Debug)]
pub(crate) struct Cloud {
    backend: Arc<dyn Backend>,
}

impl Cloud {
    pub(crate) fn new(backend: impl Backend + 'static) -> Self {
        Self { backend: Arc::new(backend) }
    }
}

impl Connector for Cloud {
    /// Nothing: a workspace holds the history of a whole team, and none of it comes to this
    /// machine unless it is asked for by name.
    fn discover(&self) -> Result<Discovery, ConnectorError> {
        Ok(Discovery::default())
    }

    fn open(
        &self,
        feed: &Feed,
        cursor: Option<&Cursor>,
    ) -> Result<Box<dyn FeedReader>, ConnectorError> {
        let session = session_of(&feed.id).ok_or_else(|| ConnectorError::Unreachable {
            place: feed.id.to_string(),
            reason: "this names no session".to_owned(),
        })?;
        Ok(Box::new(Reader::open(Arc::clone(&self.backend), session, cursor)?))
    }

    fn locate(&self, session: &SessionKey) -> Result<Vec<Feed>, ConnectorError> {
        let held = self.backend.held(session)?;
        Ok(held.iter().map(|it| feed(session, it)).collect())
    }

    fn watch(&self) -> Watch {
        Watch::Never
    }

    fn workspace(&self) -> Option<&dyn Workspace> {
        Some(self)
    }
}

impl Workspace for Cloud {
    fn membership(&self) -> Membership {
        self.backend.membership().clone()
    }

    fn head(&self, session: &SessionKey) -> Result<Option<Head>, ConnectorError> {
        Ok(self.backend.held(session)?.map(|it| head(&it)))
    }

    fn push(&self, push: &Push<'_>) -> Result<Head, ConnectorError> {
        let stretch = Stretch::new(push, &self.backend.membership().workspace)?;
        let mut after = None;
        self.backend.change(&push.facts.key, &mut |view| {
            let (held, change) = stretch.decide(view)?;
            after = Some(head(&held));
            Ok(change)
        })?;
        Ok(after.expect("a change that was made has been decided"))
    }
}

fn feed(session: &SessionKey, held: &Held) -> Feed {
    Feed {
        id: FeedId(format!("{}/{}", session.agent, session.native)),
        place: FeedPlace::Remote,
        stamp: Some(Stamp { n_bytes: held.n_bytes, modified_ms: held.updated.0, changed: 0 }),
    }
}

fn session_of(feed: &FeedId) -> Option<SessionKey> {
    let (agent, native) = feed.0.split_once('/')?;
    Some(SessionKey { agent: AgentId::parse(agent)?, native: NativeSessionId::parse(native)? })
}

fn head(held: &Held) -> Head {
    Head { revision: held.revision(), n_events: held.n_events, last: held.last }
}
