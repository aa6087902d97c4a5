//! What the program finds and hands over, page after page.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::machine::Place;

/// An event that was found: its session's name and its number there.
pub(crate) type Hit = (String, u64);

/// Every event that `word` finds, the best first.
pub(crate) fn hits(place: Place<'_>, word: &str) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let page = page(place, &["search", word, "-n", "200"], cursor.as_deref());
        for hit in page["hits"].as_array().expect("is a list") {
            let part = |name: &str| hit[name].as_str().expect("is text").to_owned();
            let name = format!("{}:{}", part("source"), part("session_id"));
            hits.push((name, hit["seq"].as_u64().expect("is a number")));
        }
        let Some(next) = page["next_cursor"].as_str() else {
            assert_eq!(page["total"], hits.len(), "`{word}`: the pages are not the whole");
            return hits;
        };
        cursor = Some(next.to_owned());
    }
}

/// Hands a session over and takes it, all of it: how many events its rows stand for.
pub(crate) fn handed_over(place: Place<'_>, source: &str, id: &str) -> usize {
    place.json(&["handoff", "create", "--session", &format!("{source}:{id}"), "go on"]);
    let mut numbers = BTreeSet::new();
    let mut n_rows = 0;
    let mut cursor: Option<String> = None;
    loop {
        let page = page(place, &["handoff", "resume", source, id], cursor.as_deref());
        for list in ["prompts", "events", "tool_calls", "file_edits"] {
            for row in page[list].as_array().expect("is a list") {
                n_rows += 1;
                for number in ["seq", "result_seq"].iter().filter_map(|it| row[it].as_u64()) {
                    assert!(numbers.insert(number), "{id}: event {number} comes twice");
                }
            }
        }
        let Some(next) = page["next_cursor"].as_str() else {
            assert_eq!(page["hydration"]["rows_total"], n_rows, "{id}");
            assert_eq!(page["hydration"]["skipped"], 0, "{id}");
            return numbers.len();
        };
        cursor = Some(next.to_owned());
    }
}

fn page(place: Place<'_>, args: &[&str], cursor: Option<&str>) -> Value {
    // As one word: a cursor may begin with a hyphen.
    let cursor = cursor.map(|it| format!("--cursor={it}"));
    let args: Vec<&str> = args.iter().copied().chain(cursor.as_deref()).collect();
    place.json(&args)
}
