//! Which of the events that match come first.

use ai_hist_model::EventKind;
use tantivy::{DocId, Score, SegmentReader, columnar::Column};

/// How much it counts that a word is in the name of the changed file.
pub(crate) const PATH_WEIGHT: Score = 0.5;

/// How much more an event counts that happened just now.
const FRESHNESS: f64 = 0.25;

/// After how many milliseconds half of that is gone: thirty days.
const HALF_LIFE_MS: f64 = 30.0 * 24.0 * 3600.0 * 1000.0;

/// The rank of an event without a time.
const UNTIMED: f64 = f64::MIN;

/// What events are sorted by: the higher comes first, and of equals the later row.
pub(crate) type Rank = (f64, u64);

/// How events are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// By how well they match. The present, if it is known, prefers what is fresh.
    Match { now_ms: Option<i64> },
    /// The newest first.
    Newest,
}

impl Order {
    /// Sorts the events of one segment.
    pub(crate) fn in_segment(
        self,
        segment: &SegmentReader,
    ) -> impl Fn(DocId, Score) -> Rank + use<> {
        let fast = segment.fast_fields();
        let columns = Columns {
            row: fast.u64("row").ok(),
            kind: fast.u64("kind").ok(),
            at: fast.i64("at").ok(),
        };
        move |doc, score| {
            let row = columns.row.as_ref().and_then(|it| it.first(doc)).unwrap_or(0);
            let at_ms = columns.at.as_ref().and_then(|it| it.first(doc));
            let rank = match self {
                Self::Newest => at_ms.map_or(UNTIMED, to_float),
                Self::Match { now_ms } => {
                    let kind = columns.kind.as_ref().and_then(|it| it.first(doc)).unwrap_or(0);
                    f64::from(score) * weight(kind) * freshness(at_ms, now_ms)
                }
            };
            (rank, row)
        }
    }
}

struct Columns {
    row: Option<Column<u64>>,
    kind: Option<Column<u64>>,
    at: Option<Column<i64>>,
}

/// How much a word counts by where it stands: what people and models say to each other is what is
/// looked for more often than what tools print.
fn weight(kind: u64) -> f64 {
    let kind = i64::try_from(kind).ok().and_then(EventKind::from_number);
    match kind {
        Some(EventKind::Prompt) => 1.6,
        Some(EventKind::Message | EventKind::Plan | EventKind::Task) => 1.3,
        Some(EventKind::Compaction | EventKind::FileEdit) => 1.0,
        Some(EventKind::Reasoning) => 0.9,
        Some(EventKind::ToolCall) => 0.8,
        Some(EventKind::ToolResult | EventKind::Marker) => 0.7,
        Some(EventKind::Context) => 0.5,
        Some(EventKind::Unknown) | None => 0.3,
    }
}

fn freshness(at_ms: Option<i64>, now_ms: Option<i64>) -> f64 {
    let (Some(at_ms), Some(now_ms)) = (at_ms, now_ms) else {
        return 1.0;
    };
    let age_ms = to_float(now_ms.saturating_sub(at_ms).max(0));
    1.0 + FRESHNESS * (-age_ms / HALF_LIFE_MS).exp2()
}

/// Exact for the times that people live in.
#[allow(clippy::cast_precision_loss, reason = "milliseconds of 250,000 years are exact")]
const fn to_float(ms: i64) -> f64 {
    ms as f64
}
