//! The query language.
//!
//! | written | looked for |
//! |---|---|
//! | `fix login` | both words |
//! | `"connection refused"` | the words one after the other |
//! | `hand*` | words that begin so |
//! | `-draft`, `-"not yet"` | events without it |
//! | `source:codex` | sessions of that agent |
//! | `kind:prompt,message` | events of these kinds; `-kind:` all others |
//! | `role:user` | what that side said: `user`, `assistant`, `tool`, `system` |
//! | `project:my-app`, `cwd:/home/a` | sessions whose working directory has these words |
//! | `path:login.rs` | edits of files whose path has these words |
//! | `tool:Bash` | calls of that tool |
//! | `session:3f2a`, `session:codex:3f2a` | sessions whose id begins so |
//! | `after:2026-11-01`, `before:2026-12-01` | events from that day on, events before that day (UTC) |
//!
//! Everything else is text: `status:500`, `C++`, `--flag`, `$HOME`, `a AND b`, an unclosed quote.
//! Filters of one name add up, of different names each has to hold.

mod filter;
#[cfg(test)]
mod tests;

use std::ops::Range;

use ai_hist_index::{Clause, Closeness, Words};
use ai_hist_model::{EventKind, Timestamp};

use crate::limits::MAX_WORDS;

use filter::Kinds;

/// A query, understood.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query {
    /// What has to occur.
    pub words: Vec<Clause>,
    /// What must not occur.
    pub excluded: Vec<Clause>,
    /// Which events count.
    pub wanted: Wanted,
    /// Whether there is text in it without a word: nothing can match that.
    pub is_wordless: bool,
    /// What was not taken as it may have been meant.
    pub problems: Vec<Problem>,
}

/// Which events count. An empty list excludes nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Agents.
    pub sources: Vec<String>,
    /// Kinds of events; `Some` of none excludes everything.
    pub kinds: Option<Vec<EventKind>>,
    /// Words of the working directory.
    pub projects: Vec<String>,
    /// Words of the path of a changed file.
    pub paths: Vec<String>,
    /// Words of a tool's name.
    pub tools: Vec<String>,
    /// Beginnings of session ids, with or without the agent.
    pub sessions: Vec<String>,
    /// Not before.
    pub after: Option<Timestamp>,
    /// Before.
    pub before: Option<Timestamp>,
}

/// What was not taken as it may have been meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Which bytes of the query.
    pub range: Range<usize>,
    /// What is wrong and what was done, for a person.
    pub what: String,
}

/// Understands `text`. Every text is a query.
pub fn parse(text: &str) -> Query {
    let mut parser =
        Parser { text, at: 0, query: Query::default(), kinds: Kinds::default(), is_cut: false };
    while parser.skip_spaces() {
        parser.item();
    }
    parser.finish()
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    query: Query,
    kinds: Kinds,
    is_cut: bool,
}

/// Whether an item is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Wanted,
    Excluded,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Whether there is anything after them.
    fn skip_spaces(&mut self) -> bool {
        self.at = self.text.len() - self.rest().trim_start().len();
        self.at < self.text.len()
    }

    fn item(&mut self) {
        let start = self.at;
        let sign = if self.is_exclusion() { Sign::Excluded } else { Sign::Wanted };
        self.at += usize::from(sign == Sign::Excluded);
        if let Some(phrase) = self.quoted() {
            self.add(Clause::exact(phrase), sign, start);
            return;
        }
        if self.filter(sign, start) {
            return;
        }
        let word = self.word();
        let stem = word.strip_suffix('*').filter(|it| has_word(it));
        self.add(
            match stem {
                Some(stem) => Clause { text: stem.to_owned(), closeness: Closeness::Prefix },
                None => Clause::exact(word),
            },
            sign,
            start,
        );
    }

    /// Whether a minus before a word or a quote stands here. One before another minus or before a
    /// single letter belongs to a flag of a command.
    fn is_exclusion(&self) -> bool {
        let Some(rest) = self.rest().strip_prefix('-') else {
            return false;
        };
        let mut signs = rest.chars();
        match signs.next() {
            Some('"') => true,
            Some(first) if first.is_alphanumeric() || first == '_' => {
                signs.next().is_some_and(|it| !it.is_whitespace()) || !first.is_ascii()
            }
            Some(_) | None => false,
        }
    }

    /// What stands in quotes here, if they are closed.
    fn quoted(&mut self) -> Option<&'t str> {
        let within = self.rest().strip_prefix('"')?;
        let phrase = &within[..within.find('"')?];
        self.at += phrase.len() + 2;
        Some(phrase)
    }

    fn word(&mut self) -> &'t str {
        let rest = self.rest();
        let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Takes a filter if one stands here.
    fn filter(&mut self, sign: Sign, start: usize) -> bool {
        let rest = self.rest();
        let n_letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        let name = &rest[..n_letters];
        if !rest[n_letters..].starts_with(':') || !filter::NAMES.contains(&name) {
            return false;
        }
        let before = self.at;
        self.at += n_letters + 1;
        let value = match self.quoted() {
            Some(value) => value,
            None => self.word(),
        };
        let range = start..self.at;
        let is_excluded = sign == Sign::Excluded;
        match filter::apply(name, value, is_excluded, &mut self.query.wanted, &mut self.kinds) {
            Ok(()) => true,
            Err(what) => {
                let what = format!("{what}: looked for as text");
                self.query.problems.push(Problem { range, what });
                self.at = before;
                false
            }
        }
    }

    fn add(&mut self, clause: Clause, sign: Sign, start: usize) {
        if !has_word(&clause.text) {
            self.query.is_wordless = true;
            return;
        }
        let list = match sign {
            Sign::Wanted => &mut self.query.words,
            Sign::Excluded => &mut self.query.excluded,
        };
        if list.contains(&clause) {
            return;
        }
        if list.len() < MAX_WORDS {
            list.push(clause);
            return;
        }
        if !self.is_cut {
            self.is_cut = true;
            let range = start..self.text.len();
            let what = format!("only the first {MAX_WORDS} words are looked for");
            self.query.problems.push(Problem { range, what });
        }
    }

    fn finish(self) -> Query {
        let mut query = self.query;
        query.wanted.kinds = self.kinds.wanted();
        // Nothing but what must not occur: that was meant to be found.
        if query.words.is_empty() && query.wanted == Wanted::default() {
            query.words = std::mem::take(&mut query.excluded);
        }
        query.is_wordless &= query.words.is_empty() && query.excluded.is_empty();
        query
    }
}

fn has_word(text: &str) -> bool {
    Words::new(text).next(&mut String::new()).is_some()
}
