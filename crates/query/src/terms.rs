//! The terms of a query, to be found again in a text.

use std::collections::HashMap;

use ai_hist_index::{Clause, Closeness, Role, Words};

/// The terms of a query, to be found again in a text.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// Each with its number.
    exact: HashMap<String, usize>,
    prefixes: Vec<String>,
    near: Vec<Vec<char>>,
}

impl Terms {
    /// The terms of `clauses`.
    #[must_use]
    pub fn of(clauses: &[Clause]) -> Self {
        let mut terms = Self::default();
        for clause in clauses {
            terms.add(clause);
        }
        terms
    }

    /// Which of the terms `term` is: a number that is the same for the same one.
    pub(crate) fn find(&self, term: &str) -> Option<usize> {
        let n_prefixes = self.prefixes.len();
        if let Some(prefix) = self.prefixes.iter().position(|it| term.starts_with(it.as_str())) {
            return Some(prefix);
        }
        if let Some(near) = self.near.iter().position(|it| is_near(it, term)) {
            return Some(n_prefixes + near);
        }
        let exact = self.exact.get(term)?;
        Some(n_prefixes + self.near.len() + exact)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.exact.is_empty() && self.prefixes.is_empty() && self.near.is_empty()
    }

    fn add(&mut self, clause: &Clause) {
        let mut words = Words::new(&clause.text);
        let mut term = String::new();
        let mut last = None;
        while let Some(place) = words.next(&mut term) {
            if place.role == Role::Glyph {
                self.prefixes.push(term.clone());
            } else if clause.closeness == Closeness::Fuzzy && 3 < term.chars().count() {
                self.near.push(term.chars().collect());
            } else if place.role == Role::Whole || clause.closeness == Closeness::Apart {
                let number = self.exact.len();
                self.exact.entry(term.clone()).or_insert(number);
            }
            if place.role == Role::Whole {
                last = Some(term.clone());
            }
        }
        if clause.closeness == Closeness::Prefix {
            self.prefixes.extend(last);
        }
    }
}

/// Whether few letters differ: one of up to seven, two of more. Two that changed places are one.
fn is_near(wanted: &[char], term: &str) -> bool {
    let most = if wanted.len() < 8 { 1 } else { 2 };
    let n_bytes = term.len();
    if n_bytes + most < wanted.len() || 4 * (wanted.len() + most) < n_bytes {
        return false;
    }
    let term: Vec<char> = term.chars().collect();
    if most < term.len().abs_diff(wanted.len()) {
        return false;
    }
    distance(wanted, &term) <= most
}

/// How many letters have to be added, removed, changed or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let first: Vec<usize> = (0..=b.len()).collect();
    let mut rows = [first.clone(), first, vec![0; b.len() + 1]];
    for i in 1..=a.len() {
        let [above, last, this] = &mut rows;
        this[0] = i;
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut fewest = changed.min(last[j] + 1).min(this[j - 1] + 1);
            if 1 < i && 1 < j && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                fewest = fewest.min(above[j - 2] + 1);
            }
            this[j] = fewest;
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_once() {
        for (a, b, expected) in [
            ("", "", 0),
            ("login", "login", 0),
            ("lgoin", "login", 1),
            ("logn", "login", 1),
            ("loggin", "login", 1),
            ("kitten", "sitting", 3),
            ("ab", "ba", 1),
            ("", "abc", 3),
        ] {
            let chars = |it: &str| it.chars().collect::<Vec<_>>();
            assert_eq!(distance(&chars(a), &chars(b)), expected, "`{a}` `{b}`");
        }
    }

    #[test]
    fn a_term_is_found_as_the_clause_says() {
        let term = |text: &str, closeness| Terms::of(&[Clause { text: text.into(), closeness }]);
        for (text, closeness, word, expected) in [
            ("login", Closeness::Exact, "login", true),
            ("login", Closeness::Exact, "logins", false),
            ("log", Closeness::Prefix, "login", true),
            ("userLogin", Closeness::Exact, "login", false),
            ("userLogin", Closeness::Apart, "login", true),
            ("lgoin", Closeness::Fuzzy, "login", true),
            ("lgoin", Closeness::Fuzzy, "logout", false),
            ("库", Closeness::Exact, "库迁", true),
        ] {
            let found = term(text, closeness).find(word).is_some();
            assert_eq!(found, expected, "`{text}` {closeness:?} `{word}`");
        }
    }
}
