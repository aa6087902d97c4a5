//! What pushes do, and that what was pushed is what is read.

use ai_hist_connector::{
    ConnectorError, Start,
    model::{Author, Change, Event, EventBody, Timestamp, Title, TitleOrigin, ToolOutcome},
};

use crate::support::{EVERYTHING, Place, event, events, facts, key};

const N_PAGES: &str = "SELECT count(*) FROM pages";

#[test]
fn every_event_comes_back_as_it_was() {
    let place = Place::new();
    let mut pushed = Vec::new();
    let long = "0123456789 \0 é 😀 ".repeat(150_000);
    assert!(3_000_000 < long.len());
    for (i, text) in ["", "a\0b", "😀\u{200d}\u{fffd}\r\n\u{2028}", &long].iter().enumerate() {
        let text = || (*text).to_owned();
        for (j, body) in [
            EventBody::Message { text: text() },
            EventBody::Reasoning { text: text() },
            EventBody::ToolCall { call: "c".to_owned(), tool: "\0".to_owned(), input: text() },
            EventBody::ToolResult {
                call: "c".to_owned(),
                outcome: ToolOutcome::Failure,
                output: text(),
            },
            EventBody::FileEdit {
                call: None,
                path: "/home/dev/日本".to_owned(),
                change: Change::Move,
                diff: text(),
            },
            EventBody::Plan { text: text() },
            EventBody::Compaction { summary: text() },
            EventBody::Marker { name: "error".to_owned(), text: text() },
            EventBody::Unknown { kind: "k\0".to_owned(), text: text() },
        ]
        .into_iter()
        .enumerate()
        {
            let authors = [Author::Person, Author::Tool, Author::Agent, Author::Harness];
            let at = [None, Some(Timestamp(-1)), Some(Timestamp(i64::MAX))][j % 3];
            let event = event(&format!("{i}-{j}"), body);
            pushed.push(Event { author: authors[j % 4].clone(), at, ..event });
        }
    }
    let mut facts = facts("s-1");
    facts.title = Some(Title { text: "t\0 😀".to_owned(), origin: TitleOrigin::Person });
    let head = place.member().push_of(&facts, 0, &pushed).expect("pushes");
    assert_eq!(head.n_events, pushed.len() as u64);
    assert_eq!(head.last, pushed.last().map(|it| it.id));
    let reading = place.member().read();
    assert!(reading.events() == pushed, "the events differ");
    assert_eq!(reading.facts(), &facts);
}

#[test]
fn the_same_push_again_changes_nothing() {
    let place = Place::new();
    let member = place.member();
    let all = events("a", 0..450);
    let head = member.push(0, &all).expect("pushes");
    let before = std::fs::read(place.file()).expect("reads");
    for (first, again) in [(0, &all[..]), (0, &all[..10]), (100, &all[100..300]), (450, &[])] {
        assert_eq!(place.member().push(first, again).expect("pushes"), head);
    }
    assert_eq!(member.head(&key("s-1")).expect("asks"), Some(head));
    assert_eq!(std::fs::read(place.file()).expect("reads"), before);
    assert_eq!(place.count(N_PAGES), 3);
}

#[test]
fn only_what_is_new_is_appended() {
    let place = Place::new();
    let all = events("a", 0..700);
    let mut revisions = Vec::new();
    for (first, end) in [(0, 1), (1, 2), (2, 250), (100, 300), (300, 300), (0, 700)] {
        let pushed = &all[first..end];
        let head = place.member().push(first as u64, pushed).expect("pushes");
        assert_eq!(head.n_events, end as u64);
        assert_eq!(head.last, Some(all[end - 1].id));
        revisions.push(head.revision);
    }
    assert_eq!(revisions[3], revisions[4], "nothing was new");
    revisions.dedup();
    assert_eq!(revisions.len(), 5, "{revisions:?}");
    assert!(revisions[4].starts_with("g1-700-"), "{revisions:?}");
    assert_eq!(place.member().read().events(), all);
    // 1, 1, 200 + 48, 50, 200 + 200.
    assert_eq!(place.count(N_PAGES), 7);
}

#[test]
fn a_push_past_the_end_is_a_conflict_and_changes_nothing() {
    let place = Place::new();
    let all = events("a", 0..20);
    let refused = place.member().push(1, &all[1..]).expect_err("refuses");
    assert!(matches!(refused, ConnectorError::Conflict { held: 0, first: 1 }), "{refused}");
    assert_eq!(place.member().head(&key("s-1")).expect("asks"), None);
    let head = place.member().push(0, &all[..10]).expect("pushes");
    for (first, stretch) in [(11, &all[11..]), (u64::MAX, &all[..1]), (12, &[])] {
        let refused = place.member().push(first, stretch).expect_err("refuses");
        assert!(matches!(refused, ConnectorError::Conflict { held: 10, .. }), "{refused}");
    }
    assert_eq!(place.member().head(&key("s-1")).expect("asks"), Some(head));
}

#[test]
fn another_first_event_begins_a_new_generation() {
    let place = Place::new();
    let (old, new) = (events("a", 0..300), events("b", 0..40));
    let before = place.member().push(0, &old).expect("pushes");
    let cursor = place.member().read().cursor().clone();
    let head = place.member().push(0, &new).expect("pushes");
    assert!(before.revision.starts_with("g1-300-") && head.revision.starts_with("g2-40-"));
    let reading = place.member().read_from(Some(&cursor), EVERYTHING).expect("reads");
    assert_eq!(reading.start, Start::Restarted);
    assert_eq!(reading.events(), new);
    assert_eq!(place.count(N_PAGES), 3, "the old pages stay");
    // And back: a third one, not the first again.
    let head = place.member().push(0, &old).expect("pushes");
    assert!(head.revision.starts_with("g3-300-"), "{}", head.revision);
    assert_eq!(place.member().read().events(), old);
}

#[test]
fn a_session_that_differs_in_its_middle_is_replaced_from_there() {
    // Pages of 200, 200, 100; then the other session in stretches of 50.
    for fork in [1, 199, 200, 201, 399, 420, 499] {
        let place = Place::new();
        let old = events("a", 0..500);
        place.member().push(0, &old).expect("pushes");
        let new = [&old[..fork], &events("b", fork..520)].concat();
        for first in (0..520).step_by(50) {
            let end = new.len().min(first + 50);
            place.member().push(first as u64, &new[first..end]).expect("pushes");
        }
        let head = place.member().head(&key("s-1")).expect("asks").expect("is there");
        assert!(head.revision.starts_with("g2-520-"), "{fork}: {}", head.revision);
        assert_eq!(head.last, new.last().map(|it| it.id));
        let reading = place.member().read();
        assert_eq!(reading.events(), new, "{fork}");
        // One stretch or many, the content is the same, whatever the pages.
        let whole = Place::new();
        whole.member().push(0, &new).expect("pushes");
        assert_eq!(reading.raw(), whole.member().read().raw());
    }
}

#[test]
fn facts_alone_are_news() {
    let place = Place::new();
    let all = events("a", 0..10);
    let before = place.member().push(0, &all).expect("pushes");
    let cursor = place.member().read().cursor().clone();
    let mut facts = facts("s-1");
    facts.title = Some(Title { text: "t".to_owned(), origin: TitleOrigin::Generated });
    let head = place.member().push_of(&facts, 10, &[]).expect("pushes");
    assert_ne!(head.revision, before.revision);
    assert_eq!((head.n_events, head.last), (before.n_events, before.last));
    let reading = place.member().read_from(Some(&cursor), EVERYTHING).expect("reads");
    assert_eq!(reading.start, Start::Continued);
    assert_eq!((reading.facts(), reading.events().len()), (&facts, 0));
    let quiet = place.member().read_from(Some(reading.cursor()), EVERYTHING).expect("reads");
    assert!(quiet.batches.is_empty());
}

#[test]
fn an_older_copy_of_a_session_takes_nothing_back() {
    let place = Place::new();
    let all = events("a", 0..10);
    let head = place.member().push(0, &all).expect("pushes");
    let mut older = facts("s-1");
    older.cwd = None;
    assert_eq!(place.member().push_of(&older, 0, &all[..9]).expect("pushes"), head);
    assert_eq!(place.member().read().facts(), &facts("s-1"));
}

#[test]
fn a_session_may_have_no_events() {
    let place = Place::new();
    let head = place.member().push(0, &[]).expect("pushes");
    assert_eq!((head.n_events, head.last), (0, None));
    let reading = place.member().read();
    assert_eq!((reading.batches.len(), reading.facts()), (1, &facts("s-1")));
    let cursor = reading.cursor().clone();
    let all = events("a", 0..3);
    place.member().push(0, &all).expect("pushes");
    let reading = place.member().read_from(Some(&cursor), EVERYTHING).expect("reads");
    assert_eq!((reading.start, reading.events()), (Start::Continued, all));
}

#[test]
fn events_of_another_session_are_refused() {
    let place = Place::new();
    let refused = place.member().push_of(&facts("s-2"), 0, &events("a", 0..1));
    assert!(matches!(refused, Err(ConnectorError::Unsupported { .. })));
    assert_eq!(place.member().head(&key("s-2")).expect("asks"), None);
}
