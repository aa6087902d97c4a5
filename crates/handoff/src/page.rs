//! A session, a bounded page at a time.

use std::collections::HashMap;

use ai_hist_model::{EventBody, EventKind, SessionKey};
use ai_hist_redact::Redactor;
use ai_hist_store::{SessionRow, Store, StoreError, StoredEvent, StoredSession};
use serde::Serialize;

use crate::{
    HandoffError,
    cursor::{self, Place},
    limits::{
        DEFAULT_PAGE_BYTES, DEFAULT_PAGE_ROWS, MAX_PAGE_BYTES, MAX_PAGE_ROWS, MAX_READ_EVENTS,
        MIN_PAGE_BYTES,
    },
    quote::CONTENT_TRUST,
    row::{Row, RowStyle},
    summary::{SessionSummary, summarize},
};

/// What stands for a cursor while the size of a page is reckoned: none is longer.
const CURSOR_BYTES: usize = 320;

/// In which direction pages follow each other. Inside a page it is always forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// The first page is the session's end.
    #[default]
    Newest,
    /// The first page is its beginning.
    Oldest,
}

impl Order {
    /// The word for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Newest => "newest",
            Self::Oldest => "oldest",
        }
    }

    /// The order of a word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Newest, Self::Oldest].into_iter().find(|it| it.as_str() == word)
    }
}

/// Which page.
#[derive(Debug, Clone, Default)]
pub struct PageRequest {
    /// In which direction; `None` for newest first, or the cursor's.
    pub order: Option<Order>,
    /// Rows of one kind at most.
    pub limit: Option<usize>,
    /// Bytes of the serialized page at most.
    pub max_bytes: Option<usize>,
    /// Where the page before ended.
    pub cursor: Option<String>,
}

/// One page of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ResumePage {
    /// The version of this shape.
    pub contract_version: u32,
    /// The agent that held the session.
    pub source: String,
    /// The session.
    pub session_id: String,
    /// What is known about it. First prompt, plan and files are on the first page only.
    pub session: SessionSummary,
    /// How the copy stands to the workspace.
    pub hydration: Hydration,
    /// The human's turns.
    pub prompts: Vec<Row>,
    /// Everything that is in none of the other lists.
    pub events: Vec<Row>,
    /// Tool calls with their results.
    pub tool_calls: Vec<Row>,
    /// Changes of files.
    pub file_edits: Vec<Row>,
    /// Goes on from here; `None` on the last page.
    pub next_cursor: Option<String>,
    /// How to take the recorded text.
    pub content_trust: &'static str,
}

/// How the copy stands to the workspace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hydration {
    /// Whether anything was fetched.
    pub status: HydrationStatus,
    /// The revision that the walk is pinned to.
    pub revision: String,
    /// How many rows all pages have together.
    pub rows_total: u64,
    /// How many events of the revision could not be had.
    pub skipped: u64,
}

/// Whether anything was fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HydrationStatus {
    /// Something was.
    Fetched,
    /// The copy was up to date.
    Unchanged,
    /// Not everything could be had.
    Partial,
}

/// Makes pages.
#[derive(Debug, Clone, Copy)]
pub struct Pager<'a> {
    /// Where the session is.
    pub store: &'a Store,
    /// What hides its secrets.
    pub redactor: &'a Redactor,
}

/// A walk at work on one page.
struct Walk<'a> {
    pager: Pager<'a>,
    session: SessionRow,
    order: Order,
    head: u64,
    limit: usize,
    left: usize,
    at: u64,
    rows: Vec<(List, Row)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum List {
    Prompts,
    Events,
    ToolCalls,
    FileEdits,
}

impl Pager<'_> {
    /// A page of `session`, which stands for `revision` of its workspace.
    pub fn page(
        &self,
        session: &StoredSession,
        status: HydrationStatus,
        skipped: u64,
        request: &PageRequest,
    ) -> Result<ResumePage, HandoffError> {
        let key = &session.facts.key;
        let limit = within("limit", request.limit, DEFAULT_PAGE_ROWS, 1..=MAX_PAGE_ROWS)?;
        let max_bytes = within(
            "max_bytes",
            request.max_bytes,
            DEFAULT_PAGE_BYTES,
            MIN_PAGE_BYTES..=MAX_PAGE_BYTES,
        )?;
        let place = match &request.cursor {
            Some(token) => self.place(session, key, token, request.order)?,
            None => self.first_place(session, request.order.unwrap_or_default())?,
        };
        let hydration = Hydration {
            status,
            revision: place.revision.clone(),
            rows_total: place.n_rows,
            skipped,
        };
        let is_first = request.cursor.is_none();
        let mut page = self.frame(session, hydration, place.head, is_first, max_bytes)?;
        let mut walk = Walk {
            pager: *self,
            session: session.row,
            order: place.order,
            head: place.head,
            limit,
            left: max_bytes.saturating_sub(size(&page) + CURSOR_BYTES),
            at: place.at,
            rows: Vec::new(),
        };
        let is_last = walk.fill()?;
        let at = walk.at;
        for (list, row) in walk.rows_forward() {
            match list {
                List::Prompts => page.prompts.push(row),
                List::Events => page.events.push(row),
                List::ToolCalls => page.tool_calls.push(row),
                List::FileEdits => page.file_edits.push(row),
            }
        }
        if !is_last {
            let next = Place { at, ..place };
            let scope = session.origin.as_str();
            page.next_cursor = Some(cursor::seal(self.store.secret(), scope, key, &next));
        }
        Ok(page)
    }

    fn first_place(&self, session: &StoredSession, order: Order) -> Result<Place, HandoffError> {
        let head = session.n_events;
        Ok(Place {
            order,
            revision: session.revision.clone().unwrap_or_default(),
            head,
            last: self.last_id(session.row, head)?,
            n_rows: head - self.store.count_pairs(session.row, head)?,
            at: match order {
                Order::Newest => head,
                Order::Oldest => 0,
            },
        })
    }

    fn place(
        &self,
        session: &StoredSession,
        key: &SessionKey,
        token: &str,
        order: Option<Order>,
    ) -> Result<Place, HandoffError> {
        let place = cursor::open(self.store.secret(), session.origin.as_str(), key, token)?;
        if order.is_some_and(|it| it != place.order) {
            return Err(HandoffError::InvalidCursor { problem: "walks in the other order" });
        }
        if session.n_events < place.head || self.last_id(session.row, place.head)? != place.last {
            let problem = "belongs to a revision that is not held any more";
            return Err(HandoffError::InvalidCursor { problem });
        }
        Ok(place)
    }

    fn last_id(&self, session: SessionRow, head: u64) -> Result<String, StoreError> {
        let last = self.store.events_down(session, 0, head, 1)?;
        Ok(last.first().map(|it| it.id.to_string()).unwrap_or_default())
    }

    /// The page without rows. What is known about the session takes at most half of it.
    fn frame(
        &self,
        session: &StoredSession,
        hydration: Hydration,
        head: u64,
        is_first: bool,
        max_bytes: usize,
    ) -> Result<ResumePage, StoreError> {
        let style = RowStyle::for_agents(self.redactor);
        let mut page = ResumePage {
            contract_version: 1,
            source: session.facts.key.agent.to_string(),
            session_id: session.facts.key.native.to_string(),
            session: summarize(self.store, session, head, style)?,
            hydration,
            prompts: Vec::new(),
            events: Vec::new(),
            tool_calls: Vec::new(),
            file_edits: Vec::new(),
            next_cursor: None,
            content_trust: CONTENT_TRUST,
        };
        if !is_first {
            page.session.first_prompt = None;
            page.session.plan = None;
            page.session.files_touched.clear();
            page.session.usage.clear();
        }
        if max_bytes / 2 < size(&page) && is_first {
            let squeezed = summarize(self.store, session, head, style.squeezed())?;
            page.session.first_prompt = squeezed.first_prompt;
            page.session.plan = squeezed.plan;
        }
        while max_bytes / 2 < size(&page) && page.session.files_touched.pop().is_some() {}
        Ok(page)
    }
}

impl Walk<'_> {
    /// Adds rows until the page is full. Gives whether that was the session's end.
    fn fill(&mut self) -> Result<bool, StoreError> {
        loop {
            let events = self.read()?;
            if events.is_empty() {
                return Ok(true);
            }
            let window: HashMap<u64, &StoredEvent> = events.iter().map(|it| (it.seq, it)).collect();
            for event in &events {
                let Some(row) = self.row(event, &window)? else {
                    self.pass(event.seq);
                    continue;
                };
                if !self.add(row, event, &window)? {
                    return Ok(false);
                }
                self.pass(event.seq);
            }
        }
    }

    fn read(&self) -> Result<Vec<StoredEvent>, StoreError> {
        let store = self.pager.store;
        match self.order {
            Order::Newest => store.events_down(self.session, 0, self.at, MAX_READ_EVENTS),
            Order::Oldest => store.events_up(self.session, self.at, self.head, MAX_READ_EVENTS),
        }
    }

    fn pass(&mut self, seq: u64) {
        self.at = match self.order {
            Order::Newest => seq,
            Order::Oldest => seq + 1,
        };
    }

    /// `event` as a row; `None` for a result that goes with a call.
    fn row(
        &self,
        event: &StoredEvent,
        window: &HashMap<u64, &StoredEvent>,
    ) -> Result<Option<(List, Row)>, StoreError> {
        self.styled(RowStyle::for_agents(self.pager.redactor), event, window)
    }

    fn styled(
        &self,
        style: RowStyle<'_>,
        event: &StoredEvent,
        window: &HashMap<u64, &StoredEvent>,
    ) -> Result<Option<(List, Row)>, StoreError> {
        let plain = |list| Ok(Some((list, style.row(event, None))));
        match event.kind {
            EventKind::Prompt => plain(List::Prompts),
            EventKind::FileEdit => plain(List::FileEdits),
            EventKind::Context => Ok(Some((List::Events, style.squeezed().row(event, None)))),
            EventKind::Message
            | EventKind::Reasoning
            | EventKind::Plan
            | EventKind::Compaction
            | EventKind::Marker
            | EventKind::Task
            | EventKind::Unknown => plain(List::Events),
            EventKind::ToolCall | EventKind::ToolResult => {
                let partner = self.partner(event)?;
                if event.kind == EventKind::ToolResult {
                    return if partner.is_some() { Ok(None) } else { plain(List::ToolCalls) };
                }
                let Some(seq) = partner else { return plain(List::ToolCalls) };
                if let Some(result) = window.get(&seq) {
                    return Ok(Some((List::ToolCalls, style.row(event, Some(result)))));
                }
                let read = self.pager.store.events_up(self.session, seq, seq + 1, 1)?;
                Ok(Some((List::ToolCalls, style.row(event, read.first()))))
            }
        }
    }

    /// The event that goes with a call or a result: of each call id, the i-th result goes with the
    /// i-th call.
    fn partner(&self, event: &StoredEvent) -> Result<Option<u64>, StoreError> {
        let (EventBody::ToolCall { call, .. } | EventBody::ToolResult { call, .. }) = &event.body
        else {
            return Ok(None);
        };
        if call.is_empty() {
            return Ok(None);
        }
        let parts = self.pager.store.seqs_of_call(self.session, call, self.head)?;
        let is_call = event.kind == EventKind::ToolCall;
        let own = parts.iter().filter(|it| it.is_call == is_call);
        let index = own.take_while(|it| it.seq < event.seq).count();
        Ok(parts.iter().filter(|it| it.is_call != is_call).nth(index).map(|it| it.seq))
    }

    /// Adds a row if there is room. The first row always finds room.
    fn add(
        &mut self,
        (list, row): (List, Row),
        event: &StoredEvent,
        window: &HashMap<u64, &StoredEvent>,
    ) -> Result<bool, StoreError> {
        let of_list = self.rows.iter().filter(|it| it.0 == list).count();
        if self.limit <= of_list {
            return Ok(false);
        }
        let mut row = row;
        let mut n_bytes = size(&row) + 1;
        if self.left < n_bytes {
            if !self.rows.is_empty() {
                return Ok(false);
            }
            let style = RowStyle::for_agents(self.pager.redactor).squeezed();
            if let Some((_, squeezed)) = self.styled(style, event, window)? {
                row = squeezed;
                n_bytes = size(&row) + 1;
            }
        }
        self.left = self.left.saturating_sub(n_bytes);
        self.rows.push((list, row));
        Ok(true)
    }

    fn rows_forward(mut self) -> Vec<(List, Row)> {
        if self.order == Order::Newest {
            self.rows.reverse();
        }
        self.rows
    }
}

/// `given`, or `default`, if it is within `bounds`.
pub fn within(
    argument: &'static str,
    given: Option<usize>,
    default: usize,
    bounds: std::ops::RangeInclusive<usize>,
) -> Result<usize, HandoffError> {
    let value = given.unwrap_or(default);
    if bounds.contains(&value) {
        return Ok(value);
    }
    let problem = format!("is {value}, and must be {} to {}", bounds.start(), bounds.end());
    Err(HandoffError::InvalidArgument { argument, problem })
}

fn size(value: &impl Serialize) -> usize {
    serde_json::to_string(value).map_or(0, |it| it.len())
}
