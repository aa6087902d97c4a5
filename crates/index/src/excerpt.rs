//! The part of a long text that is indexed: its beginning, its end, and what failed between.

use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use crate::limits::{MAX_ERROR_LINE_BYTES, MAX_ERROR_LINES, MAX_HEAD_BYTES, MAX_TAIL_BYTES};

/// Words that a line about a failure has.
const FAILURES: &[&str] = &["error", "failed", "panic", "exception", "fatal", "traceback"];

/// Appends to `out` what of `text` is indexed.
///
/// A short text is taken whole. Of a long one the pieces stand on lines of their own, so the first
/// one still tells whether it is JSON.
pub(crate) fn take(text: &str, out: &mut String) {
    if text.len() <= MAX_HEAD_BYTES + MAX_TAIL_BYTES {
        out.push_str(text);
        return;
    }
    let head_end = text.floor_char_boundary(MAX_HEAD_BYTES);
    let tail_start = text.ceil_char_boundary(text.len() - MAX_TAIL_BYTES);
    out.push_str(&text[..head_end]);
    take_failures(&text[head_end..tail_start], out);
    out.push('\n');
    out.push_str(&text[tail_start..]);
}

fn take_failures(middle: &str, out: &mut String) {
    let mut taken_to = 0;
    let mut n_lines = 0;
    for found in finder().into_iter().flat_map(|it| it.find_iter(middle)) {
        if found.start() < taken_to {
            continue;
        }
        if n_lines == MAX_ERROR_LINES {
            return;
        }
        let from = found.start().saturating_sub(MAX_ERROR_LINE_BYTES).max(taken_to);
        let to = (found.end() + MAX_ERROR_LINE_BYTES).min(middle.len());
        let from = middle.ceil_char_boundary(from).min(found.start());
        let to = middle.floor_char_boundary(to);
        let line_start = middle[from..found.start()].rfind('\n').map_or(from, |it| from + it + 1);
        let line_end = middle[found.end()..to].find('\n').map_or(to, |it| found.end() + it);
        out.push('\n');
        out.push_str(&middle[line_start..line_end]);
        taken_to = line_end;
        n_lines += 1;
    }
}

/// Finds the words. `None` cannot be: a test builds it.
fn finder() -> Option<&'static AhoCorasick> {
    static FINDER: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    FINDER
        .get_or_init(|| AhoCorasick::builder().ascii_case_insensitive(true).build(FAILURES).ok())
        .as_ref()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> String {
        let mut out = String::new();
        take(text, &mut out);
        out
    }

    #[test]
    fn a_short_text_is_taken_whole() {
        let text = "é".repeat(usize::midpoint(MAX_HEAD_BYTES, MAX_TAIL_BYTES));
        assert_eq!(taken(&text), text);
    }

    #[test]
    fn of_a_long_text_both_ends_and_the_failures_are_taken() {
        let filler = "dull line\n".repeat(MAX_HEAD_BYTES / 10 + 1);
        let text = format!(
            "first\n{filler}before\nthread main Panicked at x\nafter\n{filler}\
             E: fetch FAILED twice, failed thrice\n{filler}{filler}last"
        );
        let out = taken(&text);
        assert!(out.starts_with("first\n"));
        assert!(out.ends_with("last"));
        assert!(out.contains("\nthread main Panicked at x\n"));
        assert_eq!(out.matches("fetch FAILED twice, failed thrice").count(), 1);
        assert!(!out.contains("before\n") && !out.contains("after\n"));
        assert!(out.len() < MAX_HEAD_BYTES + MAX_TAIL_BYTES + 200);
    }

    #[test]
    fn a_text_full_of_failures_stays_within_bounds() {
        let text = "é error ".repeat(MAX_HEAD_BYTES);
        let most = MAX_HEAD_BYTES + MAX_TAIL_BYTES;
        let most = most + MAX_ERROR_LINES * (2 * MAX_ERROR_LINE_BYTES + 20);
        assert!(taken(&text).len() <= most);
    }
}
