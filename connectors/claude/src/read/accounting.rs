//! What model calls cost.

use ai_hist_connector::model::{SessionId, Usage};

use super::{assistant::SYNTHETIC, record::Message, scribe::Line};

/// The usage that a fragment of a message states for the whole message.
///
/// Several records repeat it under one message id; it is named by that id and the request's, so
/// that it is kept once. The agent program's own answers cost nothing.
pub(super) fn of_message(
    session: SessionId,
    line: &Line<'_>,
    message: &Message<'_>,
) -> Option<Usage> {
    let tokens = message.usage.0.as_ref()?;
    if message.model.words() == Some(SYNTHETIC) {
        return None;
    }
    let key = match (message.id.words(), line.record.request_id.words()) {
        (Some(message), Some(request)) => format!("{message}:{request}"),
        (Some(message), None) => message.to_owned(),
        (None, _) => line.record.uuid.words()?.to_owned(),
    };
    Some(Usage {
        session,
        key,
        model: message.model.words().map(str::to_owned),
        at: line.at,
        input: tokens.input.count(),
        cache_read: tokens.cache_read.count(),
        cache_write: tokens.cache_write.count(),
        output: tokens.output.count(),
    })
}
