//! What is known of a session, as JSON.

use ai_hist_connector::model::{
    AgentId, Lineage, NativeSessionId, Relation, SessionFacts, SessionKey, Title, TitleOrigin,
};
use serde::{Deserialize, Serialize};

use super::VERSION;

/// The facts of a session. Its key is not among them: the place where they are kept has it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Facts {
    v: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<TitleWords>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_branch: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    git_remote: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    originator: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nickname: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lineage: Option<LineageWords>,
}

#[derive(Debug, Serialize, Deserialize)]
struct TitleWords {
    text: String,
    origin: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct LineageWords {
    agent: String,
    session: String,
    relation: String,
}

/// Writes `facts`. The same facts give the same text.
pub(crate) fn write_facts(facts: &SessionFacts) -> serde_json::Result<String> {
    let facts = facts.clone();
    serde_json::to_string(&Facts {
        v: VERSION,
        title: facts
            .title
            .map(|it| TitleWords { text: it.text, origin: origin_word(it.origin).to_owned() }),
        cwd: facts.cwd,
        git_branch: facts.git_branch,
        git_commit: facts.git_commit,
        git_remote: facts.git_remote,
        agent_version: facts.agent_version,
        originator: facts.originator,
        nickname: facts.nickname,
        lineage: facts.lineage.map(|it| LineageWords {
            agent: it.parent.agent.to_string(),
            session: it.parent.native.to_string(),
            relation: relation_word(it.relation).to_owned(),
        }),
    })
}

/// Reads the facts about `key`. A word of a later version is passed over like a field of one.
pub(crate) fn read_facts(key: SessionKey, text: &str) -> serde_json::Result<SessionFacts> {
    let facts: Facts = serde_json::from_str(text)?;
    Ok(SessionFacts {
        key,
        title: facts.title.map(|it| Title { text: it.text, origin: origin(&it.origin) }),
        cwd: facts.cwd,
        git_branch: facts.git_branch,
        git_commit: facts.git_commit,
        git_remote: facts.git_remote,
        agent_version: facts.agent_version,
        originator: facts.originator,
        nickname: facts.nickname,
        lineage: facts.lineage.and_then(|it| lineage(&it)),
    })
}

fn lineage(words: &LineageWords) -> Option<Lineage> {
    let agent = AgentId::parse(&words.agent)?;
    let native = NativeSessionId::parse(&words.session)?;
    let relation = [Relation::SubAgent, Relation::Fork]
        .into_iter()
        .find(|it| relation_word(*it) == words.relation)?;
    Some(Lineage { parent: SessionKey { agent, native }, relation })
}

const fn relation_word(relation: Relation) -> &'static str {
    match relation {
        Relation::SubAgent => "sub-agent",
        Relation::Fork => "fork",
    }
}

const fn origin_word(origin: TitleOrigin) -> &'static str {
    match origin {
        TitleOrigin::Summary => "summary",
        TitleOrigin::Generated => "generated",
        TitleOrigin::Person => "person",
    }
}

/// An origin of a later version is taken for the weakest, so that the title gives way to any.
fn origin(word: &str) -> TitleOrigin {
    [TitleOrigin::Person, TitleOrigin::Generated]
        .into_iter()
        .find(|it| origin_word(*it) == word)
        .unwrap_or(TitleOrigin::Summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(native: &str) -> SessionKey {
        let native = NativeSessionId::parse(native).expect("is harmless");
        SessionKey { agent: AgentId::from_static("codex"), native }
    }

    fn whole() -> SessionFacts {
        let text = |it: &str| Some(it.to_owned());
        SessionFacts {
            key: key("s-1"),
            title: Some(Title {
                text: "a \"title\"\0 😀".to_owned(), origin: TitleOrigin::Person
            }),
            cwd: text("C:\\demo"),
            git_branch: text("main"),
            git_commit: text("0123"),
            git_remote: text("https://git.example.com/demo.git"),
            agent_version: text("1.2"),
            originator: text("cli"),
            nickname: text(""),
            lineage: Some(Lineage { parent: key("s-0"), relation: Relation::SubAgent }),
        }
    }

    #[test]
    fn facts_come_back_as_they_were() {
        let mut fork = whole();
        fork.lineage = Some(Lineage { parent: key("s-0"), relation: Relation::Fork });
        let mut generated = whole();
        generated.title = Some(Title { text: String::new(), origin: TitleOrigin::Generated });
        for facts in [whole(), fork, generated, SessionFacts::about(key("s-1"))] {
            let text = write_facts(&facts).expect("writes");
            assert_eq!(read_facts(facts.key.clone(), &text).expect("reads"), facts);
        }
    }

    #[test]
    fn words_of_a_later_version_are_passed_over() {
        let text = r#"{"v":9,"title":{"text":"t","origin":"committee"},"cwd":"/x","mood":[1],
            "lineage":{"agent":"codex","session":"s-0","relation":"cousin"}}"#;
        let mut expected = SessionFacts::about(key("s-1"));
        expected.cwd = Some("/x".to_owned());
        expected.title = Some(Title { text: "t".to_owned(), origin: TitleOrigin::Summary });
        assert_eq!(read_facts(key("s-1"), text).expect("reads"), expected);
        assert!(read_facts(key("s-1"), "7").is_err());
    }
}
