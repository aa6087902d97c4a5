//! That nothing but what was pushed is ever read as the session.

use ai_hist_connector::{
    ConnectorError, FeedReader,
    model::{Coded as _, ErrorCode, EventBody},
};

use crate::support::{EVERYTHING, ONE_RECORD, Place, event, events, facts, key};

/// A session of pages of 200, 200, 100.
fn shared() -> Place {
    let place = Place::new();
    place.member().push(0, &events("a", 0..500)).expect("pushes");
    place
}

fn read_all(reader: &mut dyn FeedReader) -> (usize, Option<ConnectorError>) {
    let mut n_events = 0;
    loop {
        match reader.next_batch(EVERYTHING) {
            Ok(Some(batch)) => n_events += batch.events.len(),
            Ok(None) => return (n_events, None),
            Err(error) => return (n_events, Some(error)),
        }
    }
}

#[test]
fn damage_is_seen_and_what_stands_before_it_is_read() {
    let flipped = "CAST(substr(body, 1, 20) || x'00' || substr(body, 22) AS BLOB)";
    for (sql, n_read, page) in [
        (format!("UPDATE pages SET body = {flipped} WHERE first_seq = 200"), 200, 200),
        (format!("UPDATE pages SET body = {flipped} WHERE first_seq = 0"), 0, 0),
        ("UPDATE pages SET body = x'' WHERE first_seq = 400".to_owned(), 400, 400),
        ("UPDATE pages SET sha256 = zeroblob(32) WHERE first_seq = 200".to_owned(), 200, 200),
        ("UPDATE pages SET chain = zeroblob(32) WHERE first_seq = 200".to_owned(), 200, 200),
        ("UPDATE pages SET n_events = 201 WHERE first_seq = 0".to_owned(), 0, 0),
        ("UPDATE pages SET codec = 9 WHERE first_seq = 0".to_owned(), 0, 0),
        ("UPDATE pages SET n_bytes = 1 << 62 WHERE first_seq = 0".to_owned(), 0, 0),
        ("DELETE FROM pages WHERE first_seq = 200".to_owned(), 200, 200),
        ("DELETE FROM pages".to_owned(), 0, 0),
        ("UPDATE sessions SET head_hash = zeroblob(32)".to_owned(), 400, 400),
        ("UPDATE sessions SET n_events = 450".to_owned(), 400, 400),
        ("UPDATE sessions SET n_events = 900".to_owned(), 500, 500),
    ] {
        let place = shared();
        place.spoil(&sql);
        let (n_events, error) = read_all(&mut *place.member().open(None));
        let error = error.unwrap_or_else(|| panic!("`{sql}` is not seen"));
        assert!(matches!(error, ConnectorError::Damaged { .. }), "`{sql}`: {error}");
        let named = format!("the page at event {page} of `claude:s-1`");
        assert!(error.to_string().contains(&named), "`{sql}`: {error}");
        assert_eq!(n_events, n_read, "`{sql}`");
        assert_eq!(error.code(), ErrorCode::HandoffSourceUnavailable);
    }
}

#[test]
fn a_page_of_another_session_does_not_fit() {
    let place = shared();
    let other = events("a", 0..200).into_iter().map(|mut it| {
        it.session = key("s-2").id();
        it
    });
    let other: Vec<_> = other.collect();
    place.member().push_of(&facts("s-2"), 0, &other).expect("pushes");
    place.spoil("DELETE FROM pages WHERE session_id = 's-1' AND first_seq = 0");
    place.spoil("UPDATE pages SET session_id = 's-1' WHERE session_id = 's-2'");
    let (n_events, error) = read_all(&mut *place.member().open(None));
    assert!(n_events == 0 && matches!(error, Some(ConnectorError::Damaged { .. })));
}

#[test]
fn damage_in_the_middle_of_a_page_that_is_being_read_is_seen() {
    let place = shared();
    let mut reader = place.member().open(None);
    let batch = reader.next_batch(ONE_RECORD).expect("reads").expect("is there");
    place.spoil("UPDATE pages SET body = zeroblob(9) WHERE first_seq = 0");
    let feed = place.member().feed(&key("s-1"));
    let resumed = place.member().0.open(&feed, Some(&batch.cursor));
    assert!(matches!(resumed, Err(ConnectorError::Damaged { .. })));
}

#[test]
fn a_push_from_the_beginning_repairs() {
    let all = events("a", 0..500);
    for (sql, stretch, generation) in [
        ("UPDATE pages SET body = x'' WHERE first_seq = 0", 500, 2),
        ("UPDATE pages SET body = x'' WHERE first_seq = 200", 500, 2),
        ("DELETE FROM pages WHERE first_seq = 400", 500, 2),
        ("DELETE FROM pages", 500, 2),
        ("UPDATE pages SET body = x'' WHERE first_seq = 200", 100, 2),
    ] {
        let place = shared();
        place.spoil(sql);
        for first in (0..500).step_by(stretch) {
            let pushed = &all[first..first + stretch];
            place.member().push(first as u64, pushed).expect("pushes");
        }
        let head = place.member().head(&key("s-1")).expect("asks").expect("is there");
        assert!(head.revision.starts_with(&format!("g{generation}-500-")), "`{sql}`");
        assert_eq!(place.member().read().events(), all, "`{sql}`");
    }
    // Where the lost part is not pushed, nothing is pretended.
    let place = shared();
    place.spoil("UPDATE pages SET body = x'' WHERE first_seq = 200");
    let refused = place.member().push(300, &all[300..]);
    assert!(matches!(refused, Err(ConnectorError::Damaged { .. })));
}

#[test]
fn damaged_facts_are_an_error() {
    for (sql, error) in [
        ("UPDATE sessions SET facts = 'x'", "facts"),
        ("UPDATE sessions SET last_event = x'01'", "team"),
        ("UPDATE sessions SET head_hash = x'01'", "team"),
        ("UPDATE sessions SET n_events = -1", "team"),
    ] {
        let place = shared();
        let feed = place.member().feed(&key("s-1"));
        place.spoil(sql);
        let refused = place.member().0.open(&feed, None).expect_err("refuses");
        assert!(matches!(refused, ConnectorError::Damaged { .. }), "`{sql}`: {refused}");
        assert!(refused.to_string().contains(error), "`{sql}`: {refused}");
    }
}

#[test]
fn a_damaged_file_is_an_error() {
    for length in [100, 4096, 5000] {
        let place = shared();
        let bytes = std::fs::read(place.file()).expect("reads");
        std::fs::write(place.file(), [&vec![7; length][..], &bytes[length..]].concat())
            .expect("writes");
        let refused = place.member().head(&key("s-1")).expect_err("refuses");
        assert!(matches!(refused, ConnectorError::Damaged { .. }), "{length}: {refused}");
        let refused = place.member().push(0, &[]).expect_err("refuses");
        assert!(matches!(refused, ConnectorError::Damaged { .. }), "{length}: {refused}");
    }
}

#[test]
fn a_later_version_may_say_more() {
    // An event of a kind that this version does not have, made from one that it has.
    let place = Place::new();
    let unknown = EventBody::Unknown { kind: "k".to_owned(), text: "t".to_owned() };
    place.member().push(0, &[event("e", unknown)]).expect("pushes");
    place.spoil("UPDATE sessions SET facts = '{\"v\":2,\"mood\":1,\"cwd\":\"/later\"}'");
    assert_eq!(place.member().read().facts().cwd.as_deref(), Some("/later"));
}
