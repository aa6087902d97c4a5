//! Workspaces that earlier versions have written are still read. One file a version, never
//! changed: `fixtures/cloud/<version>/shared/`.

use std::{fs, path::Path};

use ai_hist_connector::{
    Start,
    model::{Author, Cursor, EventBody, Relation, Timestamp, TitleOrigin},
};

use crate::support::{EVERYTHING, Member, Place, key};

const SESSION: &str = "11111111-1111-4111-8111-111111111111";

/// A copy of the recording.
fn recorded() -> Place {
    let place = Place::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/cloud");
    fs::create_dir(&place.folder).expect("makes");
    fs::copy(fixtures.join("1/shared/home/team/workspace.db"), place.file()).expect("copies");
    place
}

#[test]
fn a_workspace_of_version_1_is_read() {
    let place = recorded();
    let member = place.member();
    let head = member.head(&key(SESSION)).expect("asks").expect("is there");
    assert_eq!(head.revision, "g1-10-00b268e0cb3f");
    let mut reader = member.0.open(&member.feed(&key(SESSION)), None).expect("opens");
    let batch = reader.next_batch(EVERYTHING).expect("reads").expect("is there");
    let facts = &batch.sessions[0];
    let title = facts.title.as_ref().map(|it| (&*it.text, it.origin));
    assert_eq!(title, Some(("Fix the parser", TitleOrigin::Generated)));
    assert_eq!(facts.git_branch.as_deref(), Some("main"));
    assert_eq!(facts.lineage.as_ref().map(|it| it.relation), Some(Relation::Fork));
    let said: Vec<String> = batch
        .events
        .iter()
        .map(|it| format!("{} {}", it.kind().as_str(), it.body.text().escape_debug()))
        .collect();
    assert_eq!(
        said,
        [
            r#"prompt the parser fails on \"é\" and on NUL: \0"#,
            "reasoning bytes, not characters",
            "message I will look at it 🔍",
            r#"tool_call {\"path\":\"src/parse.rs\"}"#,
            "tool_result done",
            r"file_edit -a\n+b\n",
            r"plan [x] parse\n[ ] test",
            "compaction the parser is fixed",
            "marker ",
            r#"unknown {\"steps\":3}"#,
        ]
    );
    assert_eq!(batch.events[2].author, Author::Model { name: Some("model-1".to_owned()) });
    assert_eq!(batch.events[9].at, Some(Timestamp(1_700_000_000_009)));
    assert!(matches!(&batch.events[9].body, EventBody::Unknown { kind, .. } if kind == "dance"));
}

#[test]
fn a_cursor_of_version_1_resumes() {
    let place = recorded();
    let member = place.member();
    let feed = member.feed(&key(SESSION));
    let cursor = Cursor::new("1:7:d629385865fe:b3b19a95c56f".to_owned());
    let mut reader = member.0.open(&feed, Some(&cursor)).expect("opens");
    assert_eq!(reader.start(), Start::Continued);
    let batch = reader.next_batch(EVERYTHING).expect("reads").expect("is there");
    assert_eq!(batch.events.len(), 3);
}

#[test]
fn each_workspace_of_a_file_is_its_own() {
    let place = recorded();
    let n_events = |workspace: &str| {
        let member = Member::of(&place.folder, workspace);
        member.head(&key(SESSION)).expect("asks").map(|it| it.n_events)
    };
    assert_eq!(n_events("team"), Some(10));
    assert_eq!(n_events("other"), Some(1));
    assert_eq!(n_events("third"), None);
}
