//! A progress bar for long work, where a person is looking.

use std::cell::RefCell;

use ai_hist_engine::{Phase, Progress};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar that appears on standard error if that is a terminal.
#[derive(Debug)]
pub(crate) struct Bar {
    shown: RefCell<Option<(Phase, ProgressBar)>>,
}

impl Bar {
    pub(crate) const fn new() -> Self {
        Self { shown: RefCell::new(None) }
    }

    /// Shows how far the work has come.
    pub(crate) fn show(&self, progress: Progress) {
        let mut shown = self.shown.borrow_mut();
        if shown.as_ref().is_none_or(|it| it.0 != progress.phase) {
            if let Some((_, bar)) = shown.take() {
                bar.finish_and_clear();
            }
            *shown = Some((progress.phase, bar(progress.phase)));
        }
        if let Some((_, bar)) = &*shown {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        }
    }

    /// Takes the bar away.
    pub(crate) fn clear(&self) {
        if let Some((_, bar)) = self.shown.borrow_mut().take() {
            bar.finish_and_clear();
        }
    }
}

fn bar(phase: Phase) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let template = match phase {
        Phase::Reading => "reading  [{bar:30}] {bytes}/{total_bytes}  {bytes_per_sec}  {eta} left",
        Phase::Rereading => "archive  [{bar:30}] {pos}/{len} transcripts  {eta} left",
        Phase::Indexing => "indexing [{bar:30}] {pos}/{len} events  {eta} left",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
