//! Progress on a terminal, and the wish of the user to stop.

use carom::ModelError;
use carom::simulation::{Observer, StepView};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);

/// Lets Ctrl-C (and a polite kill) end runs instead of the process. A second one ends the process.
pub fn watch_for_interrupts() {
    // a handler that is there already, or cannot be set, leaves the default behaviour
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}

/// Whether the user asked to stop.
pub fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// A bar with rate and remaining time on a terminal, silence otherwise; breaks the run when the user asks to stop.
pub struct Progress {
    bar: Option<ProgressBar>,
    start: f64,
}

/// Parts of the bar.
const PARTS: f64 = 10_000.0;

impl Progress {
    pub fn new(start: f64, quiet: bool) -> Progress {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(PARTS as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:32} {percent:>3} %  {msg}  {eta} left") {
                bar.set_style(style);
            }
            bar
        });
        Progress { bar, start }
    }
}

impl Observer for Progress {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        // a look at the clock every 4096 steps costs nothing
        if view.index.is_multiple_of(4096)
            && let Some(bar) = &self.bar
        {
            bar.set_position((PARTS * (view.to().t - self.start) / (view.end - self.start)) as u64);
            let rate = view.index as f64 / bar.elapsed().as_secs_f64();
            bar.set_message(format!("{} steps, {rate:.3e} steps/s", view.index));
        }
        Ok(if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
