//! The terms of a query, to be found again in a text.

use std::collections::HashMap;

use ai_hist_index::{Clause, ClauseTerm, Closeness};

/// The terms of a query, to be found again in a text.
#[derive(Debug, Clone, Default)]
pub struct Terms {
    /// How many clauses there are. Each has a number below.
    n_clauses: usize,
    exact: HashMap<String, usize>,
    prefixes: Vec<(String, usize)>,
    near: Vec<(Vec<char>, usize)>,
    phrases: Vec<Phrase>,
}

/// Terms that have to stand at their distances.
#[derive(Debug, Clone)]
pub(crate) struct Phrase {
    /// The number of its clause.
    pub(crate) clause: usize,
    terms: Vec<ClauseTerm>,
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

    /// The number of a clause that `term` satisfies by itself.
    pub(crate) fn find(&self, term: &str) -> Option<usize> {
        let exact = self.exact.get(term).copied();
        let prefix = || self.prefixes.iter().find(|it| term.starts_with(&it.0)).map(|it| it.1);
        let near = || self.near.iter().find(|it| is_near(&it.0, term)).map(|it| it.1);
        exact.or_else(prefix).or_else(near)
    }

    pub(crate) fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.n_clauses == 0
    }

    fn add(&mut self, clause: &Clause) {
        let number = self.n_clauses;
        self.n_clauses += 1;
        let terms = clause.terms();
        let is_phrase = matches!(clause.closeness, Closeness::Exact | Closeness::Apart);
        if is_phrase && 1 < terms.len() {
            self.phrases.push(Phrase { clause: number, terms });
            return;
        }
        let n_terms = terms.len();
        for (i, term) in terms.into_iter().enumerate() {
            let is_beginning = clause.closeness == Closeness::Prefix && i + 1 == n_terms;
            if term.is_glyph || is_beginning {
                self.prefixes.push((term.text, number));
            } else if clause.closeness == Closeness::Fuzzy && 3 < term.text.chars().count() {
                self.near.push((term.text.chars().collect(), number));
            } else {
                self.exact.entry(term.text).or_insert(number);
            }
        }
    }
}

impl Phrase {
    /// Where the phrase would begin of which `term` at `position` is a part, and which part: a bit
    /// for each place that it has in the phrase.
    pub(crate) fn places<'p>(
        &'p self,
        term: &'p str,
        position: usize,
    ) -> impl Iterator<Item = (usize, u64)> + 'p {
        let first = self.terms[0].position;
        let same = self.terms.iter().enumerate().filter(move |it| it.1.text == term);
        same.filter_map(move |(i, it)| {
            Some((
                position.checked_sub(it.position - first)?,
                1_u64.checked_shl(i.try_into().ok()?)?,
            ))
        })
    }

    /// All parts together.
    pub(crate) fn whole(&self) -> u64 {
        u64::MAX >> (64 - self.terms.len().min(64))
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
            ("lgoin", Closeness::Fuzzy, "login", true),
            ("lgoin", Closeness::Fuzzy, "logout", false),
            ("库", Closeness::Exact, "库迁", true),
        ] {
            let found = term(text, closeness).find(word).is_some();
            assert_eq!(found, expected, "`{text}` {closeness:?} `{word}`");
        }
    }
}
