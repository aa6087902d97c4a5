//! A plan in tantivy's terms.

use std::ops::Bound;

use tantivy::{
    Term,
    query::{
        AllQuery, BooleanQuery, BoostQuery, ConstScoreQuery, EmptyQuery, FuzzyTermQuery, Occur,
        PhrasePrefixQuery, PhraseQuery, Query, RangeQuery, TermQuery, TermSetQuery,
    },
    schema::{Field, IndexRecordOption},
};

use crate::{
    Clause, ClauseTerm, Closeness, Demand, Filters, Plan,
    limits::{MAX_CLAUSES, MAX_PREFIX_EXPANSIONS},
    rank::PATH_WEIGHT,
    schema::Fields,
};

type Boxed = Box<dyn Query>;

/// `plan` as a query.
pub(crate) fn compile(plan: &Plan, fields: &Fields) -> Boxed {
    let mut parts: Vec<(Occur, Boxed)> = filters(&plan.filters, fields);
    for part in &mut parts {
        // A filter says whether, not how well.
        let filter = std::mem::replace(&mut part.1, Box::new(EmptyQuery));
        part.1 = Box::new(ConstScoreQuery::new(filter, 0.0));
    }
    let clauses = || plan.clauses.iter().take(MAX_CLAUSES);
    let wanted: Vec<Boxed> = clauses().filter_map(|it| clause(it, fields.text)).collect();
    match (wanted.is_empty(), plan.clauses.is_empty(), plan.demand) {
        (true, true, _) => parts.push((Occur::Must, Box::new(AllQuery))),
        // Words were asked for, and there is none among them.
        (true, false, _) => return Box::new(EmptyQuery),
        (false, _, Demand::All) => {
            parts.extend(wanted.into_iter().map(|it| (Occur::Must, it)));
        }
        (false, _, Demand::Any) => {
            parts.push((Occur::Must, Box::new(BooleanQuery::union(wanted))));
        }
    }
    for named in clauses().filter_map(|it| clause(it, fields.path)) {
        parts.push((Occur::Should, Box::new(BoostQuery::new(named, PATH_WEIGHT))));
    }
    let excluded = plan.excluded.iter().take(MAX_CLAUSES);
    for excluded in excluded.filter_map(|it| clause(it, fields.text)) {
        parts.push((Occur::MustNot, excluded));
    }
    Box::new(BooleanQuery::new(parts))
}

fn filters(filters: &Filters, fields: &Fields) -> Vec<(Occur, Boxed)> {
    let mut parts: Vec<(Occur, Boxed)> = Vec::new();
    let mut must = |query: Boxed| parts.push((Occur::Must, query));
    if !filters.kinds.is_empty() {
        let kinds = filters.kinds.iter().map(|it| Term::from_field_u64(fields.kind, *it as u64));
        must(Box::new(TermSetQuery::new(kinds)));
    }
    if !filters.agents.is_empty() {
        let agents = filters.agents.iter().map(|it| Term::from_field_text(fields.agent, it));
        must(Box::new(TermSetQuery::new(agents)));
    }
    if let Some(sessions) = &filters.sessions {
        let sessions = sessions.iter().map(|it| Term::from_field_u64(fields.session, *it));
        must(Box::new(TermSetQuery::new(sessions)));
    }
    let named = [
        (&filters.projects, fields.project, Closeness::Prefix),
        (&filters.paths, fields.path, Closeness::Prefix),
        (&filters.tools, fields.tool, Closeness::Exact),
    ];
    for (names, field, closeness) in named {
        let one = |text: &String| clause(&Clause { text: text.clone(), closeness }, field);
        if !names.is_empty() {
            must(Box::new(BooleanQuery::union(names.iter().filter_map(one).collect())));
        }
    }
    if filters.since.is_some() || filters.until.is_some() {
        let bound = |at: i64| Term::from_field_i64(fields.at, at);
        let since = filters.since.map_or(i64::MIN, |it| it.0);
        let until = filters.until.map_or(Bound::Unbounded, |it| Bound::Excluded(bound(it.0)));
        must(Box::new(RangeQuery::new(Bound::Included(bound(since)), until)));
    }
    if let Some(row) = filters.last_row {
        let last = Bound::Included(Term::from_field_u64(fields.row, row));
        must(Box::new(RangeQuery::new(Bound::Unbounded, last)));
    }
    parts
}

/// `clause` on `field`. `None` if there is no word in it.
fn clause(clause: &Clause, field: Field) -> Option<Boxed> {
    let mut terms = clause.terms();
    let last = terms.pop()?;
    let term = |it: &ClauseTerm| Term::from_field_text(field, &it.text);
    let closeness = if last.is_glyph { Closeness::Prefix } else { clause.closeness };
    if closeness == Closeness::Fuzzy {
        terms.push(last);
        let near = terms.iter().map(|it| fuzzy(term(it), &it.text)).collect();
        return Some(Box::new(BooleanQuery::intersection(near)));
    }
    if terms.is_empty() {
        let term = term(&last);
        return Some(match closeness {
            Closeness::Prefix => Box::new(FuzzyTermQuery::new_prefix(term, 0, true)),
            Closeness::Exact | Closeness::Apart | Closeness::Fuzzy => {
                Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs))
            }
        });
    }
    terms.push(last);
    let placed = terms.iter().map(|it| (it.position, term(it))).collect();
    if closeness == Closeness::Prefix {
        let mut phrase = PhrasePrefixQuery::new_with_offset(placed);
        phrase.set_max_expansions(MAX_PREFIX_EXPANSIONS);
        return Some(Box::new(phrase));
    }
    Some(Box::new(PhraseQuery::new_with_offset(placed)))
}

fn fuzzy(term: Term, text: &str) -> Boxed {
    match text.chars().count() {
        0..=3 => Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs)),
        4..=7 => Box::new(FuzzyTermQuery::new(term, 1, true)),
        _ => Box::new(FuzzyTermQuery::new(term, 2, true)),
    }
}
