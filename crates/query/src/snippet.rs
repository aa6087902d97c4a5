//! The place in a text that shows best why it was found.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
};

use ai_hist_index::{Words, ansi_end};

use crate::{
    Terms,
    limits::{MAX_SNIPPET_CHARS, MAX_SNIPPET_MATCHES, MAX_SNIPPET_TEXT_BYTES},
};

/// A piece of a text, on one line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Snippet {
    /// The piece, with `…` where it was cut.
    pub text: String,
    /// The bytes of it that match, in order.
    pub marks: Vec<Range<usize>>,
}

/// The piece of `text` in which most of `terms` stand together. Without a match its beginning.
pub fn snippet(text: &str, terms: &Terms) -> Snippet {
    let text = &text[..text.floor_char_boundary(MAX_SNIPPET_TEXT_BYTES)];
    let matches = matches(text, terms);
    let best = best(text, &matches);
    let piece = widen(text, &best);
    render(text, piece, &matches)
}

#[derive(Debug)]
struct Match {
    range: Range<usize>,
    clause: usize,
}

/// A term that is a match if the rest of its phrase stands where it should.
struct Candidate {
    phrase: usize,
    /// Where the phrase would begin.
    start: usize,
    range: Range<usize>,
}

/// Where the clauses are satisfied, in order.
fn matches(text: &str, terms: &Terms) -> Vec<Match> {
    let mut matches: Vec<Match> = Vec::new();
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut seen: HashMap<(usize, usize), u64> = HashMap::new();
    if terms.is_empty() {
        return matches;
    }
    let mut words = Words::new(text);
    let mut word = String::new();
    while let Some(place) = words.next(&mut word) {
        if let Some(clause) = terms.find(&word) {
            matches.push(Match { range: place.range.clone(), clause });
        }
        for (phrase, it) in terms.phrases().iter().enumerate() {
            for (start, part) in it.places(&word, place.position) {
                *seen.entry((phrase, start)).or_default() |= part;
                candidates.push(Candidate { phrase, start, range: place.range.clone() });
            }
        }
        if MAX_SNIPPET_MATCHES < matches.len() + candidates.len() {
            break;
        }
    }
    let phrases = terms.phrases();
    let is_whole = |it: &Candidate| seen[&(it.phrase, it.start)] == phrases[it.phrase].whole();
    let of_phrases = candidates.into_iter().filter(is_whole);
    matches.extend(of_phrases.map(|it| {
        let clause = phrases[it.phrase].clause;
        Match { range: it.range, clause }
    }));
    matches.sort_by_key(|it| it.range.start);
    matches
}

/// The range with the most different matches, then the most matches, then the first.
fn best(text: &str, matches: &[Match]) -> Range<usize> {
    let mut best = 0..0;
    let mut most = (0, 0);
    let mut from = 0;
    for to in 0..matches.len() {
        let end = matches[to].range.end;
        let is_wide =
            |from: usize| MAX_SNIPPET_CHARS < end.saturating_sub(matches[from].range.start);
        while from < to && is_wide(from) {
            from += 1;
        }
        let within = &matches[from..=to];
        let n_clauses = within.iter().map(|it| it.clause).collect::<HashSet<_>>().len();
        if most < (n_clauses, within.len()) {
            most = (n_clauses, within.len());
            best = matches[from].range.start..end;
        }
    }
    debug_assert!(text.get(best.clone()).is_some());
    best
}

/// `best` with what stands around it, to the length of a snippet.
fn widen(text: &str, best: &Range<usize>) -> Range<usize> {
    let n_chars = text[best.clone()].chars().count();
    let room = MAX_SNIPPET_CHARS.saturating_sub(n_chars);
    let before = &text[..best.start];
    let n_before = room / 3;
    let mut start = before.char_indices().rev().take(n_before).last().map_or(best.start, |it| it.0);
    let n_before = text[start..best.start].chars().count();
    let after = &text[best.end..];
    let cut = after.char_indices().nth(room - n_before);
    let mut end = cut.map_or(text.len(), |it| best.end + it.0);
    // No word is cut in two, if there is a space near.
    if 0 < start && !text[..start].ends_with(char::is_whitespace) {
        let space = text[start..best.start].find(char::is_whitespace);
        start += space.filter(|it| *it < 24).unwrap_or(0);
    }
    if end < text.len() && !text[end..].starts_with(char::is_whitespace) {
        let space = text[best.end..end].rfind(char::is_whitespace).map(|it| best.end + it);
        end = space.filter(|it| end - it < 24).unwrap_or(end);
    }
    start..end
}

/// The piece on one line, without what a terminal would not show.
fn render(text: &str, piece: Range<usize>, matches: &[Match]) -> Snippet {
    let mut snippet = Snippet::default();
    if !text[..piece.start].trim().is_empty() {
        snippet.text.push('…');
    }
    let mut marks = joined(matches, &piece).into_iter().peekable();
    let mut begun = None;
    let mut at = piece.start;
    while at < piece.end {
        if let Some(mark) = marks.peek() {
            if mark.start == at {
                begun = Some(snippet.text.len());
            }
            if mark.end <= at {
                snippet.marks.extend(begun.take().map(|it| it..snippet.text.len()));
                marks.next();
                continue;
            }
        }
        let Some(next) = text[at..].chars().next() else { break };
        if next == '\x1b' {
            at = text.ceil_char_boundary(ansi_end(text.as_bytes(), at));
            continue;
        }
        at += next.len_utf8();
        if next.is_whitespace() || next.is_control() {
            let is_first = snippet.text.is_empty() || snippet.text.ends_with([' ', '…']);
            snippet.text.push_str(if is_first { "" } else { " " });
        } else if is_shown(next) {
            snippet.text.push(next);
        }
    }
    snippet.marks.extend(begun.map(|it| it..snippet.text.len()));
    snippet.text.truncate(snippet.text.trim_end().len());
    if !text[at.min(text.len())..].trim().is_empty() {
        snippet.text.push('…');
    }
    snippet
}

/// The matches within `piece`, those that overlap as one.
fn joined(matches: &[Match], piece: &Range<usize>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    let is_within = |it: &&Match| piece.start <= it.range.start && it.range.end <= piece.end;
    for found in matches.iter().filter(is_within) {
        match joined.last_mut() {
            Some(last) if found.range.start < last.end => {
                last.end = last.end.max(found.range.end);
            }
            Some(_) | None => joined.push(found.range.clone()),
        }
    }
    joined
}

/// Whether `it` shows. Characters that turn the direction of writing do, elsewhere.
const fn is_shown(it: char) -> bool {
    !matches!(it, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use ai_hist_index::{Clause, Closeness};
    use proptest::prelude::*;

    use super::*;

    fn shown(text: &str, query: &str) -> String {
        let clauses: Vec<Clause> = query.split(' ').map(Clause::exact).collect();
        let snippet = snippet(text, &Terms::of(&clauses));
        let mut shown = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            shown.insert(mark.end, ']');
            shown.insert(mark.start, '[');
        }
        shown
    }

    #[test]
    fn matches_are_marked_as_the_index_finds_them() {
        for (text, query, expected) in [
            ("", "x", ""),
            ("nothing here", "x", "nothing here"),
            ("fn handleUserLogin()", "login", "fn handleUser[Login]()"),
            ("fn handleUserLogin()", "handleuserlogin", "fn [handleUserLogin]()"),
            ("error error-401 401", "error-401", "error [error]-[401] 401"),
            ("a b a b c", "a-b-c", "a b [a] [b] [c]"),
            ("a\n\n  b\tc", "b", "a [b] c"),
            ("\x1b[31mred\x1b[0m alert", "red", "[red] alert"),
            ("x\0y \u{202e}z", "z", "x y [z]"),
            ("数据库迁移脚本", "迁移", "数据库[迁移]脚本"),
            ("数据库迁移脚本", "库迁移", "数据[库迁移]脚本"),
            ("in Straße", "strasse", "in [Straße]"),
            ("a so\u{200b}ft end", "soft", "a [soft] end"),
        ] {
            assert_eq!(shown(text, query), expected, "`{text}` `{query}`");
        }
    }

    #[test]
    fn the_densest_place_is_shown_with_what_is_around() {
        let filler = "some words in between ".repeat(40);
        let text = format!("alpha {filler} here alpha meets beta at last {filler} beta");
        let shown = shown(&text, "alpha beta");
        assert!(shown.starts_with("…") && shown.ends_with("…"), "{shown}");
        assert!(shown.contains("here [alpha] meets [beta] at last"), "{shown}");
        assert!(shown.chars().count() <= MAX_SNIPPET_CHARS + 2 + 4, "{shown}");
        assert!(shown.contains("…words") || shown.contains("…some") || shown.contains("…in"));
    }

    #[test]
    fn near_words_are_marked_too() {
        let clause = Clause { text: "lgoin".to_owned(), closeness: Closeness::Fuzzy };
        let snippet = snippet("the login page", &Terms::of(&[clause]));
        assert_eq!(&snippet.text[snippet.marks[0].clone()], "login");
    }

    proptest! {
        #[test]
        fn any_text_has_a_snippet(text in "([a-zé库 \n\u{1b}\\[\\\\]|login|\u{1b}\\[0m){0,600}") {
            let terms = Terms::of(&[Clause::exact("login"), Clause::exact("库"), Clause::exact("é")]);
            let snippet = snippet(&text, &terms);
            prop_assert!(snippet.text.chars().count() <= MAX_SNIPPET_CHARS + 2);
            let mut end = 0;
            for mark in &snippet.marks {
                prop_assert!(end <= mark.start && snippet.text.get(mark.clone()).is_some());
                end = mark.end;
            }
        }
    }
}
