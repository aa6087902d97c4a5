//! What is looked for where nothing has all the words.

use ai_hist_index::{Clause, Closeness, Demand, IndexError, Page, Plan, View};

use crate::limits::MAX_WORDS;

/// How near to the query's words the hits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Stage {
    step: Step,
    /// The words that are nowhere, each a bit. Words like them are looked for in their place.
    unknown: u64,
}

const _: () = assert!(MAX_WORDS <= 64, "a word is a bit");

/// From the nearest to the farthest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Step {
    /// All words, as they are.
    #[default]
    All,
    /// All words; the parts of an identifier may stand apart.
    Apart,
    /// All words, or others like those that are nowhere.
    Near,
    /// Some of the words.
    Any,
}

impl Step {
    const ALL: [Self; 4] = [Self::All, Self::Apart, Self::Near, Self::Any];
}

impl Stage {
    /// As numbers.
    pub(crate) const fn numbers(self) -> (u64, u64) {
        (self.step as u64, self.unknown)
    }

    pub(crate) fn from_numbers(step: u64, unknown: u64) -> Option<Self> {
        let step = Step::ALL.into_iter().find(|it| *it as u64 == step)?;
        Some(Self { step, unknown })
    }

    /// The first stage at which anything is found. If nothing is at any, the first one.
    pub(crate) fn find(view: &View, plan: &Plan) -> Result<Self, IndexError> {
        let first = Self::default();
        if plan.clauses.is_empty() || 0 < count(view, plan)? {
            return Ok(first);
        }
        let apart = Self { step: Step::Apart, unknown: 0 };
        if 0 < count(view, &apart.plan(plan))? {
            return Ok(apart);
        }
        let unknown = unknown(view, plan)?;
        if unknown != 0 {
            let near = Self { step: Step::Near, unknown };
            if 0 < count(view, &near.plan(plan))? {
                return Ok(near);
            }
        }
        let any = Self { step: Step::Any, unknown };
        if 0 < count(view, &any.plan(plan))? { Ok(any) } else { Ok(first) }
    }

    /// `plan` at this stage.
    pub(crate) fn plan(self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for (i, clause) in plan.clauses.iter_mut().enumerate() {
            let is_unknown = self.unknown >> i & 1 == 1;
            clause.closeness = match (self.step, clause.closeness) {
                (Step::Near | Step::Any, Closeness::Exact) if is_unknown => Closeness::Fuzzy,
                (Step::Apart | Step::Any, Closeness::Exact) => Closeness::Apart,
                (_, closeness) => closeness,
            };
        }
        if self.step == Step::Any {
            plan.demand = Demand::Any;
        }
        plan
    }

    /// What there is to say of it.
    pub(crate) fn note(self, plan: &Plan) -> Option<String> {
        let unknown = plan.clauses.iter().enumerate().filter(|it| self.unknown >> it.0 & 1 == 1);
        let unknown: Vec<String> = unknown.map(|it| format!("`{}`", it.1.text)).collect();
        let unknown = unknown.join(", ");
        match (self.step, unknown.is_empty()) {
            (Step::All, _) => None,
            (Step::Apart, _) => {
                Some("nothing matches as written; these have the parts of the words apart".into())
            }
            (Step::Near, _) => Some(format!("nothing has {unknown}; these have words like it")),
            (Step::Any, true) => Some("nothing has all the words; these have some of them".into()),
            (Step::Any, false) => Some(format!(
                "nothing has {unknown}, nor all of the other words; these have some of them, or \
                 words like it"
            )),
        }
    }
}

/// The words that no event has, whatever the filters.
fn unknown(view: &View, plan: &Plan) -> Result<u64, IndexError> {
    let mut unknown = 0;
    for (i, clause) in plan.clauses.iter().enumerate() {
        let clause = match clause.closeness {
            Closeness::Exact => Clause { closeness: Closeness::Apart, ..clause.clone() },
            Closeness::Apart | Closeness::Prefix | Closeness::Fuzzy => clause.clone(),
        };
        let alone = Plan { clauses: vec![clause], ..Plan::default() };
        unknown |= u64::from(count(view, &alone)? == 0) << i;
    }
    Ok(unknown)
}

/// How many events match.
pub(crate) fn count(view: &View, plan: &Plan) -> Result<u64, IndexError> {
    Ok(view.search(plan, Page { limit: 0, offset: 0 })?.total)
}
