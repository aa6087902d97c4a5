//! Secrets, found and replaced.
//!
//! A text that leaves the machine goes through [`Redactor::redact`]: a push to a shared workspace,
//! an answer to another agent. The local store keeps what the agent wrote, because a session is
//! resumed from it.
//!
//! **Invariant:** the time is linear in the text, whatever the text is.
//! **Invariant:** JSON stays JSON: a secret is replaced within its string, and no escape is cut.
//! **Invariant:** redacting twice is redacting once.
//!
//! It does not decode: a secret that is compressed, encrypted, or base64 within another text stays.
//! What it looks for is in `rules.toml`.

mod edge;
mod entropy;
mod limits;
mod rule;

use std::{borrow::Cow, ops::Range, sync::OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::{
    edge::MARKER,
    limits::{MAX_PASSES, MAX_REJECTED_BYTES},
    rule::{Rule, RuleFile, Verdict},
};

/// What finds secrets.
#[derive(Debug)]
pub struct Redactor {
    file: RuleFile,
    keywords: AhoCorasick,
    /// For each keyword, the places of its rules in the file.
    rules_of_keyword: Vec<Vec<usize>>,
}

/// A text without its secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction<'t> {
    /// The text, with `[redacted:<rule>]` where a secret was. Borrowed if there was none.
    pub text: Cow<'t, str>,
    /// What was replaced, in the order of the text. No two overlap.
    pub findings: Vec<Finding>,
}

/// One secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static str,
    /// Where it is in the original, in bytes.
    pub range: Range<usize>,
}

/// A secret as one rule sees it.
struct Candidate {
    rule: usize,
    range: Range<usize>,
}

impl Redactor {
    /// The redactor with the rules that are compiled in.
    ///
    /// # Panics
    ///
    /// If the rules that are compiled in are no rules, which a test rules out.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Redactor> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let file = RuleFile::parse(include_str!("../rules.toml"))
                .expect("the rules are compiled in, and a test reads them");
            Self::new(file).expect("the keywords are few and short, and a test builds them")
        })
    }

    fn new(file: RuleFile) -> Result<Self, aho_corasick::BuildError> {
        let mut keywords: Vec<&str> = Vec::new();
        let mut rules_of_keyword: Vec<Vec<usize>> = Vec::new();
        for (i, rule) in file.rules.iter().enumerate() {
            for keyword in &rule.keywords {
                match keywords.iter().position(|it| it == keyword) {
                    Some(known) => rules_of_keyword[known].push(i),
                    None => {
                        keywords.push(keyword);
                        rules_of_keyword.push(vec![i]);
                    }
                }
            }
        }
        // The text is walked once and byte by byte, so the automaton has to be the fast kind; its
        // table has some hundred KB.
        let keywords = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(keywords)?;
        Ok(Self { file, keywords, rules_of_keyword })
    }

    /// Replaces the secrets in `text`.
    ///
    /// Promises that what it returns is JSON if `text` is, and that no finding comes of a text
    /// that it returned. Does not promise to find every secret: the rules are held to precision.
    pub fn redact<'t>(&self, text: &'t str) -> Redaction<'t> {
        let mut findings = self.findings(text);
        if findings.is_empty() {
            return Redaction { text: Cow::Borrowed(text), findings };
        }
        let mut out = replaced(text, &findings);
        for _ in 1..MAX_PASSES {
            let more = self.findings(&out);
            if more.is_empty() {
                break;
            }
            findings = woven(findings, more);
            out = replaced(text, &findings);
        }
        Redaction { text: Cow::Owned(out), findings }
    }

    /// What `rule` looks for, for a report to the user.
    pub fn description(&self, rule: &str) -> Option<&'static str> {
        self.file.rules.iter().find(|it| it.id == rule).map(|it| it.description)
    }

    fn findings(&self, text: &str) -> Vec<Finding> {
        self.merged(self.candidates(text))
    }

    fn candidates(&self, text: &str) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let mut walks: Vec<usize> = Vec::new();
        for keyword in self.keywords.find_overlapping_iter(text) {
            // Where each rule goes on, made only if there is a keyword at all.
            walks.resize(self.file.rules.len(), 0);
            for &i in &self.rules_of_keyword[keyword.pattern()] {
                let rule = &self.file.rules[i];
                candidates.extend(
                    self.candidate(rule, text, keyword.start(), &mut walks[i])
                        .map(|range| Candidate { rule: i, range }),
                );
            }
        }
        candidates
    }

    /// What `rule` finds at a keyword, if it has not passed that place.
    fn candidate(
        &self,
        rule: &Rule,
        text: &str,
        keyword: usize,
        walk: &mut usize,
    ) -> Option<Range<usize>> {
        let start = rule.start(text, keyword).filter(|it| *walk <= *it)?;
        match rule.look(&self.file, text, start) {
            Verdict::Nothing => None,
            Verdict::Rejected(end) => {
                if MAX_REJECTED_BYTES < end - start {
                    *walk = end;
                }
                None
            }
            // The keyword is in the name of a marker, and says nothing.
            Verdict::Secret(..) if edge::touches_marker(text, &(keyword..keyword)) => None,
            Verdict::Secret(range, end) => {
                *walk = end;
                Some(range)
            }
        }
    }

    /// Joins what overlaps, under the name of the first rule of the file.
    fn merged(&self, mut candidates: Vec<Candidate>) -> Vec<Finding> {
        candidates.sort_unstable_by_key(|it| (it.range.start, it.rule));
        let mut merged: Vec<Candidate> = Vec::with_capacity(candidates.len());
        for candidate in candidates {
            match merged.last_mut() {
                Some(last) if candidate.range.start < last.range.end => {
                    last.range.end = last.range.end.max(candidate.range.end);
                    last.rule = last.rule.min(candidate.rule);
                }
                Some(_) | None => merged.push(candidate),
            }
        }
        let finding =
            |it: Candidate| Finding { rule: self.file.rules[it.rule].id, range: it.range };
        merged.into_iter().map(finding).collect()
    }
}

impl Finding {
    fn marker_len(&self) -> usize {
        MARKER.len() + self.rule.len() + "]".len()
    }
}

/// `text` with a marker for each finding.
fn replaced(text: &str, findings: &[Finding]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for finding in findings {
        out.push_str(&text[at..finding.range.start]);
        out.push_str(MARKER);
        out.push_str(finding.rule);
        out.push(']');
        at = finding.range.end;
    }
    out.push_str(&text[at..]);
    out
}

/// `known`, and between them `more`, which was found in the text in which those are replaced.
fn woven(known: Vec<Finding>, more: Vec<Finding>) -> Vec<Finding> {
    let mut woven = Vec::with_capacity(known.len() + more.len());
    let mut known = known.into_iter().peekable();
    // Where the next byte that is not replaced stands, in both texts.
    let (mut original, mut replaced) = (0, 0);
    for Finding { rule, range } in more {
        while let Some(before) =
            known.next_if(|it| it.range.start - original + replaced < range.start)
        {
            replaced += before.range.start - original + before.marker_len();
            original = before.range.end;
            woven.push(before);
        }
        let start = range.start - replaced + original;
        woven.push(Finding { rule, range: start..start + range.len() });
    }
    woven.extend(known);
    woven
}
