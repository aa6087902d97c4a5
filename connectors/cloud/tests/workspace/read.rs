//! The promises of the contract, on feeds that no discovery lists; and who may read what.

use ai_hist_connector::{
    Budget, ConnectorError, Discovery, Feed, FeedPlace, Start, Watch,
    model::{Cursor, EventBody, FeedId, Tally},
};

use crate::support::{EVERYTHING, Member, ONE_RECORD, Place, Reading, event, events, facts, key};

const THREE_RECORDS: Budget = Budget { records: 3, bytes: usize::MAX };
const ONE_BYTE: Budget = Budget { records: usize::MAX, bytes: 1 };

fn shared() -> Place {
    let place = Place::new();
    place.member().push(0, &events("a", 0..250)).expect("pushes");
    place.member().push(250, &events("a", 250..260)).expect("pushes");
    let unknown = EventBody::Unknown { kind: "dance".to_owned(), text: "{}".to_owned() };
    place.member().push(260, &[event("u", unknown)]).expect("pushes");
    place
}

fn tally(reading: &Reading) -> Tally {
    let mut sum = Tally::default();
    for batch in &reading.batches {
        sum.damaged += batch.tally.damaged;
        for (kind, n) in &batch.tally.understood {
            *sum.understood.entry(kind.clone()).or_default() += n;
        }
        for (kind, n) in &batch.tally.unknown {
            *sum.unknown.entry(kind.clone()).or_default() += n;
        }
    }
    sum
}

#[test]
fn nothing_is_read_unasked() {
    let place = shared();
    assert_eq!(place.member().0.discover().expect("discovers"), Discovery::default());
    assert_eq!(place.member().0.watch(), Watch::Never);
}

#[test]
fn a_session_is_one_feed() {
    let feed = shared().member().feed(&key("s-1"));
    assert_eq!(feed.id, FeedId("claude/s-1".to_owned()));
    assert_eq!(feed.place, FeedPlace::Remote);
    assert!(feed.stamp.is_some_and(|it| 0 < it.n_bytes && it.modified_ms == 1_700_000_000_000));
}

#[test]
fn the_batch_size_changes_nothing() {
    let place = shared();
    let whole = place.member().read();
    assert_eq!(whole.batches.len(), 1);
    for budget in [ONE_RECORD, THREE_RECORDS, ONE_BYTE, Budget { records: 0, bytes: 0 }] {
        let other = place.member().read_from(None, budget).expect("reads");
        assert_eq!(other.start, Start::Restarted);
        let each = |it: &Reading| it.batches.iter().flat_map(|it| it.events.clone()).collect();
        let (a, b): (Vec<_>, Vec<_>) = (each(&whole), each(&other));
        assert_eq!(a, b, "{budget:?}");
        assert_eq!(whole.raw(), other.raw());
        assert_eq!(tally(&whole), tally(&other));
        assert_eq!(whole.cursor(), other.cursor());
        for batch in &other.batches {
            assert!(batch.events.len() <= budget.records.max(1));
            assert_eq!(batch.sessions, [facts("s-1")], "each batch states its session");
        }
    }
}

#[test]
fn any_cursor_resumes() {
    let place = shared();
    let member = place.member();
    let whole = member.read().events();
    let batches = member.read_from(None, ONE_RECORD).expect("reads").batches;
    assert_eq!(batches.len(), 261);
    for cut in [1, 2, 199, 200, 201, 249, 250, 251, 260, 261] {
        let cursor = &batches[cut - 1].cursor;
        let rest = member.read_from(Some(cursor), EVERYTHING).expect("reads");
        assert_eq!(rest.start, Start::Continued, "{cut}");
        assert_eq!(rest.events(), whole[cut..], "{cut}");
    }
}

#[test]
fn a_record_is_a_line_and_each_is_accounted_for() {
    let reading = shared().member().read();
    let raw = reading.raw();
    let lines: Vec<&[u8]> = raw.split_inclusive(|it| *it == b'\n').collect();
    let mut at = 0;
    for (event, line) in reading.batches[0].events.iter().zip(&lines) {
        assert_eq!(event.span.first_byte, at);
        assert_eq!(event.span.n_bytes, line.len() as u64 - 1);
        at += line.len() as u64;
    }
    assert_eq!((at, lines.len()), (raw.len() as u64, 261));
    let tally = tally(&reading);
    assert_eq!(tally.records(), 261);
    assert_eq!((tally.understood["message"], tally.unknown["dance"]), (260, 1));
}

#[test]
fn only_what_is_new_is_fetched() {
    let place = shared();
    let cursor = place.member().read().cursor().clone();
    let quiet = place.member().read_from(Some(&cursor), EVERYTHING).expect("reads");
    assert_eq!(quiet.start, Start::Continued);
    assert!(quiet.batches.is_empty());
    let new = events("n", 261..300);
    place.member().push(261, &new).expect("pushes");
    let reading = place.member().read_from(Some(&cursor), EVERYTHING).expect("reads");
    assert_eq!((reading.start, reading.events()), (Start::Continued, new));
    let at = reading.batches[0].events[0].span.first_byte;
    let old = place.member().read();
    assert_eq!(old.batches[0].events[261].span.first_byte, at, "a place stays the same");
}

#[test]
fn a_reader_reads_the_session_as_it_stood() {
    let place = shared();
    let member = place.member();
    let before = member.read().events();
    let mut reader = member.open(None);
    let first = reader.next_batch(ONE_RECORD).expect("reads").expect("is there");
    assert_eq!(first.events.len(), 1);
    place.member().push(261, &events("n", 261..262)).expect("pushes");
    let rest = reader.next_batch(EVERYTHING).expect("reads").expect("is there");
    assert_eq!(rest.events.len(), before.len() - 1);
    assert_eq!(reader.next_batch(EVERYTHING).expect("reads"), None);
    // Also when a new generation has taken its place meanwhile.
    let mut reader = member.open(None);
    reader.next_batch(ONE_RECORD).expect("reads").expect("is there");
    place.member().push(0, &events("b", 0..3)).expect("pushes");
    let rest = reader.next_batch(EVERYTHING).expect("reads").expect("is there");
    assert_eq!(rest.events.len(), before.len());
}

#[test]
fn a_foreign_cursor_restarts() {
    let place = shared();
    let own = place.member().read().cursor().as_str().to_owned();
    let elsewhere = Place::new();
    elsewhere.member().push(0, &events("b", 0..261)).expect("pushes");
    let other = elsewhere.member().read().cursor().as_str().to_owned();
    for words in [
        "",
        "not a cursor of yours",
        "1:1:1:1",
        "18446744073709551615:1:0:0",
        &other,
        &own.replacen("1:261", "1:262", 1),
        &own.replacen("1:261", "2:261", 1),
        &own.replacen("1:261", "1:0", 1),
        &format!("{own}:1"),
    ] {
        let cursor = Cursor::new(words.to_owned());
        let reading = place.member().read_from(Some(&cursor), EVERYTHING).expect("reads");
        assert_eq!(reading.start, Start::Restarted, "`{words}`");
        assert_eq!(reading.events().len(), 261, "`{words}`");
    }
}

#[test]
fn another_workspace_sees_nothing() {
    let place = shared();
    let session = key("s-1");
    let feed = place.member().feed(&session);
    let other = Member::of(&place.folder, "other");
    assert_eq!(other.head(&session).expect("asks"), None);
    assert!(other.0.locate(&session).expect("asks").is_empty());
    let cursor = place.member().read().cursor().clone();
    // A forged name and a stolen cursor get the same answer as a session that nobody has.
    let mut answers = Vec::new();
    for (feed, cursor) in [
        (feed.clone(), None),
        (feed.clone(), Some(&cursor)),
        (Feed { id: FeedId("claude/s-9".to_owned()), ..feed.clone() }, None),
    ] {
        let error = other.0.open(&feed, cursor).expect_err("refuses").to_string();
        answers.push(error.replace("s-9", "s-1"));
    }
    answers.dedup();
    assert_eq!(answers, ["cannot reach `claude:s-1`: the workspace has no such session"]);
    // Its own session of the same name is another one.
    other.push(0, &events("o", 0..5)).expect("pushes");
    assert_eq!(other.read().events(), events("o", 0..5));
    assert_eq!(place.member().read().events().len(), 261);
    let foreign = other.read_from(Some(&cursor), EVERYTHING).expect("reads");
    assert_eq!((foreign.start, foreign.events().len()), (Start::Restarted, 5));
}

#[test]
fn a_feed_that_names_no_session_is_an_error() {
    let place = shared();
    let feed = place.member().feed(&key("s-1"));
    for id in ["", "/", "claude", "claude/", "/s-1", "Claude/s-1", "claude/../s-1", "claude/s-1/x"]
    {
        let feed = Feed { id: FeedId(id.to_owned()), ..feed.clone() };
        let refused = place.member().0.open(&feed, None);
        assert!(matches!(refused, Err(ConnectorError::Unreachable { .. })), "`{id}`");
    }
}
