//! The session of a transcript, and what the transcript has said of it so far.

use ai_hist_connector::model::{
    Lineage, Relation, SessionFacts, SessionId, SessionKey, Title, TitleOrigin,
};

use super::{earlier::Leaf, record::Record};
use crate::identity::{self, SubAgent};

/// The session that every record of a file belongs to.
///
/// **Invariant:** what is stated in a pass adds up to the same whatever the batches, and whichever
/// record a pass begins at. A fact is left out only if this pass has stated it already.
#[derive(Debug)]
pub(super) struct Session {
    key: SessionKey,
    id: SessionId,
    sub_agent: Option<SubAgent>,
    /// Records at which a summary at the head of the file ends.
    leaves: Vec<Leaf>,
    told: Told,
}

/// What this pass has stated.
#[derive(Debug, Default)]
struct Told {
    session: bool,
    cwd: bool,
    git_branch: Option<String>,
    version: Option<String>,
    entrypoint: Option<String>,
    nickname: Option<String>,
    fork: Option<String>,
}

impl Session {
    pub(super) fn main(key: SessionKey, leaves: Vec<Leaf>) -> Self {
        let id = key.id();
        Self { key, id, sub_agent: None, leaves, told: Told::default() }
    }

    pub(super) fn sub_agent(sub_agent: SubAgent) -> Self {
        let key = sub_agent.key.clone();
        let id = key.id();
        Self { key, id, sub_agent: Some(sub_agent), leaves: Vec::new(), told: Told::default() }
    }

    pub(super) const fn id(&self) -> SessionId {
        self.id
    }

    pub(super) const fn is_sub_agent(&self) -> bool {
        self.sub_agent.is_some()
    }

    /// Makes sure that this pass has named the session, before it is spoken of.
    pub(super) fn facts_stated(&mut self, facts: &mut Option<SessionFacts>) {
        if !self.told.session {
            self.facts(facts);
        }
    }

    /// The facts of the present batch, to be added to.
    pub(super) fn facts<'f>(
        &mut self,
        facts: &'f mut Option<SessionFacts>,
    ) -> &'f mut SessionFacts {
        let facts = facts.get_or_insert_with(|| SessionFacts::about(self.key.clone()));
        if self.told.session {
            return facts;
        }
        self.told.session = true;
        if let Some(SubAgent { parent, nickname, description, .. }) = &self.sub_agent {
            let lineage =
                |it: &SessionKey| Lineage { parent: it.clone(), relation: Relation::SubAgent };
            facts.lineage = parent.as_ref().map(lineage);
            facts.nickname.clone_from(nickname);
            self.told.nickname.clone_from(nickname);
            // The weakest, so that to state it again in a later pass overrides nothing.
            if let Some(text) = description {
                title(facts, text, TitleOrigin::Summary);
            }
        }
        facts
    }

    /// Takes from `record` what it says of the session beside its content.
    pub(super) fn note(&mut self, record: &Record<'_>, facts: &mut Option<SessionFacts>) {
        if !self.told.cwd
            && let Some(cwd) = record.cwd.words()
        {
            self.told.cwd = true;
            self.facts(facts).cwd = Some(cwd.to_owned());
        }
        // `HEAD` is no branch: nothing is checked out by name.
        let git_branch = record.git_branch.words().filter(|it| *it != "HEAD");
        if let Some(branch) = news(&mut self.told.git_branch, git_branch) {
            self.facts(facts).git_branch = Some(branch);
        }
        if let Some(version) = news(&mut self.told.version, record.version.words()) {
            self.facts(facts).agent_version = Some(version);
        }
        if let Some(entrypoint) = news(&mut self.told.entrypoint, record.entrypoint.words()) {
            self.facts(facts).originator = Some(entrypoint);
        }
        if self.is_sub_agent() {
            if let Some(name) = record.attribution_agent.words() {
                self.note_nickname(name, facts);
            }
            return;
        }
        if let Some(uuid) = record.uuid.words()
            && let Some(leaf) = self.leaves.iter().rfind(|it| it.uuid == uuid)
        {
            let summary = leaf.summary.clone();
            title(self.facts(facts), &summary, TitleOrigin::Summary);
        }
        let forked_from = record.forked_from.0.as_ref().and_then(|it| it.session_id.words());
        self.note_fork(forked_from.or(record.session_id.words()), facts);
    }

    /// A record that names another session than the one it stands in was copied from there.
    pub(super) fn note_fork(&mut self, original: Option<&str>, facts: &mut Option<SessionFacts>) {
        let original =
            original.filter(|it| *it != self.key.native.as_str() && !self.is_sub_agent());
        let Some(parent) = news(&mut self.told.fork, original).as_deref().and_then(identity::parse)
        else {
            return;
        };
        let lineage = Lineage { parent: identity::key(parent), relation: Relation::Fork };
        self.facts(facts).lineage = Some(lineage);
    }

    /// A name that a record gives, unless the sidecar gave one: that one stands in every pass.
    pub(super) fn note_nickname(&mut self, name: &str, facts: &mut Option<SessionFacts>) {
        if self.sub_agent.as_ref().is_some_and(|it| it.nickname.is_some()) {
            return;
        }
        if let Some(name) = news(&mut self.told.nickname, Some(name)) {
            self.facts(facts).nickname = Some(name);
        }
    }

    pub(super) fn note_title(
        &mut self,
        text: &str,
        origin: TitleOrigin,
        facts: &mut Option<SessionFacts>,
    ) {
        title(self.facts(facts), text, origin);
    }
}

/// In one batch as over all: the strongest origin wins, and of equals the latest.
fn title(facts: &mut SessionFacts, text: &str, origin: TitleOrigin) {
    if facts.title.as_ref().is_none_or(|it| it.origin <= origin) {
        facts.title = Some(Title { text: text.to_owned(), origin });
    }
}

/// `now`, if it is something and not what was told last; it is then what was told last.
fn news(told: &mut Option<String>, now: Option<&str>) -> Option<String> {
    let now = now.filter(|it| told.as_deref() != Some(it))?.to_owned();
    *told = Some(now.clone());
    Some(now)
}
