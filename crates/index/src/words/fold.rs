//! The normal form of words that are not ASCII.

use unicode_normalization::{IsNormalized, UnicodeNormalization as _, is_nfkc_quick};

use crate::limits::MAX_TERM_BYTES;

use super::class::is_invisible;

/// Appends the normal form of `word`, cut to the length of a term: compatibility forms composed,
/// no case, nothing invisible.
pub(super) fn fold(word: &str, term: &mut String) {
    fold_whole(word, term);
    if MAX_TERM_BYTES < term.len() {
        term.truncate(term.floor_char_boundary(MAX_TERM_BYTES));
    }
}

/// Like [`fold`], and does not cut.
pub(super) fn fold_whole(word: &str, term: &mut String) {
    let is_normal = is_nfkc_quick(word.chars()) == IsNormalized::Yes;
    if is_normal {
        word.chars().for_each(|it| push(it, term));
    } else {
        word.nfkc().for_each(|it| push(it, term));
    }
}

fn push(it: char, term: &mut String) {
    if it.is_ascii() {
        term.push(it.to_ascii_lowercase());
        return;
    }
    // Through capitals, so that `ß` is `ss` and every sigma one.
    for capital in it.to_uppercase() {
        for small in capital.to_lowercase() {
            // The dot of the Turkish capital `İ`.
            let is_dot = small == '\u{307}' && term.ends_with('i');
            if !is_dot && !is_invisible(small) {
                term.push(small);
            }
        }
    }
}
