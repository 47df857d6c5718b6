//! The step under way, live on the standard error of a terminal.

use std::io::IsTerminal;

use indicatif::ProgressBar;
use trainwright::training::TrainEvent;

/// Shows steps where someone can see them.
pub(super) struct Live(Option<ProgressBar>);

impl Live {
    /// Nothing is shown beside JSON, or where there is no terminal.
    pub(super) fn new(json: bool) -> Self {
        let shows = !json && std::io::stderr().is_terminal();
        Self(shows.then(ProgressBar::new_spinner))
    }

    /// Shows a step, or makes way while `tell` tells something else.
    pub(super) fn hear(&self, event: &TrainEvent, tell: impl FnOnce()) {
        match (&self.0, event) {
            (Some(bar), TrainEvent::Step(step)) => {
                let (epoch, number, loss) = (step.epoch, step.step, step.loss);
                bar.set_message(format!("epoch {epoch}: step {number}, loss {loss:.4}"));
                bar.inc(1);
            }
            (Some(bar), _) => bar.suspend(tell),
            (None, _) => tell(),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
