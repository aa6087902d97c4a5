//! The rules: what a secret looks like.
//!
//! They are read from `rules.toml`; the crate's README says what each field means. A regex is
//! compiled when its keyword is met for the first time: most texts meet none.

use std::{collections::BTreeMap, ops::Range, sync::OnceLock};

use regex::{Regex, RegexSet};
use serde::Deserialize;

use crate::{
    edge::{self, Left},
    entropy,
    limits::{MAX_BEFORE_BYTES, MAX_MATCH_BYTES, MAX_PLACEHOLDER_BYTES},
};

/// The file of rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RuleFile {
    /// Parts of regexes, by the name that stands for them in double braces.
    #[serde(borrow)]
    pub(crate) macros: BTreeMap<&'static str, &'static str>,
    /// What is no secret for any rule.
    pub(crate) allowlists: Vec<AllowList>,
    /// The rules. Where two find overlapping secrets, the first names them.
    pub(crate) rules: Vec<Rule>,
}

/// Parts of regexes, by name.
pub(crate) type Macros = BTreeMap<&'static str, &'static str>;

/// One shape of secret.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) description: &'static str,
    /// Matched from `lead` bytes before a keyword.
    regex: &'static str,
    #[serde(borrow)]
    pub(crate) keywords: Vec<&'static str>,
    /// The least bits per byte of a secret.
    #[serde(default)]
    entropy: f64,
    /// The first group that is the secret; of those from it on, the one that took part.
    #[serde(default)]
    secret_group: usize,
    #[serde(default)]
    left: Left,
    #[serde(default)]
    lead: usize,
    #[serde(default)]
    allowlists: Vec<AllowList>,
    #[serde(skip)]
    compiled: OnceLock<Regex>,
}

/// What is no secret, though it looks like one.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct AllowList {
    #[serde(borrow, default)]
    regexes: Vec<&'static str>,
    /// Words that no secret holds, in lower case.
    #[serde(borrow, default)]
    stopwords: Vec<&'static str>,
    #[serde(default)]
    regex_target: RegexTarget,
    #[serde(skip)]
    compiled: OnceLock<RegexSet>,
}

/// What the regexes of an allow-list are matched with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RegexTarget {
    /// The secret.
    #[default]
    Secret,
    /// All that the rule's regex matched.
    Match,
    /// What stands before that, on the same line or not.
    Before,
}

/// What an allow-list looks at.
struct Place<'t> {
    before: &'t str,
    whole: &'t str,
    secret: &'t str,
}

/// What a rule says of one place.
pub(crate) enum Verdict {
    /// Nothing like a secret is there.
    Nothing,
    /// It is not one, up to the end given.
    Rejected(usize),
    /// It is one, and the match goes to the end given.
    Secret(Range<usize>, usize),
}

impl RuleFile {
    /// Reads the rules.
    pub(crate) fn parse(text: &'static str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }
}

impl Rule {
    /// Where a match would begin for a keyword at `keyword`, if it may.
    pub(crate) fn start(&self, text: &str, keyword: usize) -> Option<usize> {
        let start = keyword.checked_sub(self.lead).filter(|it| text.is_char_boundary(*it))?;
        self.left.admits(text.as_bytes(), start).then_some(start)
    }

    /// Looks at the text from `start` on.
    pub(crate) fn look(&self, file: &RuleFile, text: &str, start: usize) -> Verdict {
        let end = text.floor_char_boundary((start + MAX_MATCH_BYTES).min(text.len()));
        let Some(groups) = self.compiled(&file.macros).captures(&text[start..end]) else {
            return Verdict::Nothing;
        };
        let mut candidates = (self.secret_group..groups.len()).filter_map(|it| groups.get(it));
        let Some(candidate) = candidates.next() else {
            return Verdict::Nothing;
        };
        let whole = groups.get_match();
        let end = start + whole.end();
        let found = start + candidate.start()..start + candidate.end();
        let Some(secret) = edge::replaceable(text, found) else {
            return Verdict::Rejected(end);
        };
        let value = &text[secret.clone()];
        let is_allowed = || {
            let before = text.floor_char_boundary(start.saturating_sub(MAX_BEFORE_BYTES));
            let place =
                Place { before: &text[before..start], whole: whole.as_str(), secret: value };
            let mut lists = file.allowlists.iter().chain(&self.allowlists);
            lists.any(|it| it.holds(&file.macros, &place))
        };
        let is_too_plain = || 0.0 < self.entropy && entropy::bits_per_byte(value) < self.entropy;
        if is_too_plain() || is_allowed() || edge::touches_marker(text, &secret) {
            return Verdict::Rejected(end);
        }
        Verdict::Secret(secret, end)
    }

    fn compiled(&self, macros: &Macros) -> &Regex {
        self.compiled.get_or_init(|| {
            let regex = format!(r"\A(?:{})", expand(self.regex, macros));
            Regex::new(&regex).expect("the rules are compiled in, and a test compiles each")
        })
    }
}

impl AllowList {
    fn holds(&self, macros: &Macros, place: &Place<'_>) -> bool {
        let is_long = MAX_PLACEHOLDER_BYTES < place.secret.len();
        let target = match self.regex_target {
            RegexTarget::Secret if is_long => return false,
            RegexTarget::Secret => place.secret,
            RegexTarget::Match => place.whole,
            RegexTarget::Before => place.before,
        };
        let has_stopword = || {
            let secret = place.secret.to_ascii_lowercase();
            self.stopwords.iter().any(|it| secret.contains(it))
        };
        (!self.stopwords.is_empty() && has_stopword()) || self.compiled(macros).is_match(target)
    }

    fn compiled(&self, macros: &Macros) -> &RegexSet {
        self.compiled.get_or_init(|| {
            let regexes = self.regexes.iter().map(|it| expand(it, macros));
            RegexSet::new(regexes).expect("the rules are compiled in, and a test compiles each")
        })
    }
}

/// `regex` with its macros, which may name others, written out.
fn expand(regex: &str, macros: &Macros) -> String {
    let mut out = String::with_capacity(4 * regex.len());
    let mut rest = regex;
    while let Some((before, name, after)) = rest.split_once("{{").and_then(|(before, it)| {
        let (name, after) = it.split_once("}}")?;
        Some((before, name, after))
    }) {
        out.push_str(before);
        out.push_str("(?:");
        out.push_str(&expand(macros.get(name).copied().unwrap_or_default(), macros));
        out.push(')');
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{edge::MARKER, limits::MAX_MARKER_BYTES};

    fn file() -> RuleFile {
        let read = RuleFile::parse(include_str!("../rules.toml"));
        read.map_err(|it| it.message().to_owned()).expect("rules")
    }

    #[test]
    fn every_regex_compiles() {
        let file = file();
        for rule in &file.rules {
            rule.compiled(&file.macros);
            for list in &rule.allowlists {
                list.compiled(&file.macros);
            }
        }
        for list in &file.allowlists {
            list.compiled(&file.macros);
        }
    }

    #[test]
    fn every_rule_is_well_formed() {
        let file = file();
        for (i, rule) in file.rules.iter().enumerate() {
            let id = rule.id;
            let is_name = |it: u8| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-';
            assert!(id.bytes().all(is_name), "`{id}`");
            assert!(MARKER.len() + id.len() < MAX_MARKER_BYTES, "`{id}` is too long");
            assert!(file.rules[..i].iter().all(|it| it.id != id), "`{id}` twice");
            assert!(rule.description.ends_with('.'), "`{id}` says what it is in a sentence");
            assert!(!rule.keywords.is_empty(), "`{id}` is never tried");
            let n_groups = rule.compiled(&file.macros).captures_len();
            assert!(rule.secret_group < n_groups, "`{id}` has no such group");
        }
    }

    #[test]
    fn macros_are_known_and_written_out() {
        let macros = Macros::from([("a", "x{{b}}"), ("b", "y")]);
        assert_eq!(expand(r"{{a}}z{1,2}{{b}}", &macros), "(?:x(?:y))z{1,2}(?:y)");
        let file = file();
        for regex in file.rules.iter().map(|it| it.regex).chain(file.macros.values().copied()) {
            for name in regex.split("{{").skip(1).filter_map(|it| it.split_once("}}")) {
                assert!(file.macros.contains_key(name.0), "`{}` in `{regex}`", name.0);
            }
        }
    }
}
