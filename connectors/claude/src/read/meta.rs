//! Meta records: they stand outside the conversation and state one thing each. Of those that are
//! written again and again the last one counts.

use std::borrow::Cow;

use ai_hist_connector::model::TitleOrigin;

use super::{
    kind, queue,
    record::Meta,
    scribe::{Fate, Line, Part, Scribe},
};

pub(super) fn read(scribe: &mut Scribe, line: &Line<'_>, word: &str) -> Fate {
    if let Some(kind) = kind::meta_of_no_content(word) {
        return Fate::Ignored(Cow::Borrowed(kind));
    }
    let record = Meta::of(line.text);
    match word {
        "ai-title" => title(scribe, "ai-title", record.ai_title.words(), TitleOrigin::Generated),
        "custom-title" => {
            title(scribe, "custom-title", record.custom_title.words(), TitleOrigin::Person)
        }
        queue::KIND => queue::read(scribe, line, &record),
        "summary" => summary(scribe, line, &record),
        "agent-name" => match record.agent_name.words() {
            Some(name) => {
                scribe.session.note_nickname(name, &mut scribe.page.facts);
                Fate::Understood(Cow::Borrowed("agent-name"))
            }
            None => Fate::Ignored(Cow::Borrowed("agent-name")),
        },
        // It is written again with every pass of the program.
        "tag" if scribe.earlier.has_line(line.span.first_byte, line.text) => {
            Fate::Ignored(Cow::Borrowed("tag"))
        }
        "tag" => marker(scribe, line, "tag", record.tag.words()),
        "pr-link" => marker(scribe, line, "pr-link", record.pr_url.words()),
        "relocated" => marker(scribe, line, "relocated", record.relocated_cwd.words()),
        "continued-in" => {
            marker(scribe, line, "continued-in", record.continued_in_session_id.words())
        }
        "teleported-from" => {
            scribe.session.note_fork(record.remote_session_id.words(), &mut scribe.page.facts);
            Fate::Understood(Cow::Borrowed("teleported-from"))
        }
        "worktree-state" => {
            let worktree = record.worktree_session.0.as_ref();
            let commit = worktree.and_then(|it| it.original_head_commit.words());
            let Some(commit) = commit else {
                return Fate::Ignored(Cow::Borrowed("worktree-state"));
            };
            scribe.session.facts(&mut scribe.page.facts).git_commit = Some(commit.to_owned());
            Fate::Understood(Cow::Borrowed("worktree-state"))
        }
        "progress" => {
            let of = record.data.0.as_ref().and_then(|it| it.kind.words());
            Fate::Ignored(kind::progress(of.unwrap_or("(none)")))
        }
        _ => {
            scribe.unknown(line, Part::WHOLE, word);
            Fate::Unknown(Cow::Owned(word.to_owned()))
        }
    }
}

fn title(scribe: &mut Scribe, kind: &'static str, text: Option<&str>, origin: TitleOrigin) -> Fate {
    let kind = Cow::Borrowed(kind);
    match text {
        Some(text) => {
            scribe.title(text, origin);
            Fate::Understood(kind)
        }
        None => Fate::Ignored(kind),
    }
}

/// A summary is of the session that its leaf stands in. At the head of a file there are those of
/// other sessions, which say nothing of this one; and where history was copied, those of the
/// records that follow, which the leaf then tells.
fn summary(scribe: &mut Scribe, line: &Line<'_>, record: &Meta<'_>) -> Fate {
    let (Some(text), Some(leaf)) = (record.summary.words(), record.leaf_uuid.words()) else {
        return Fate::Ignored(Cow::Borrowed("summary"));
    };
    if !scribe.earlier.has_record(line.span.first_byte, leaf) {
        return Fate::Ignored(Cow::Borrowed("summary/leaf-elsewhere"));
    }
    scribe.title(text, TitleOrigin::Summary);
    Fate::Understood(Cow::Borrowed("summary"))
}

fn marker(scribe: &mut Scribe, line: &Line<'_>, kind: &'static str, text: Option<&str>) -> Fate {
    let Some(text) = text else {
        return Fate::Ignored(Cow::Borrowed(kind));
    };
    scribe.marker(line, Part::WHOLE, kind, text.to_owned());
    Fate::Understood(Cow::Borrowed(kind))
}
