//! Progress on a terminal, and the wish of the user to stop.
//!
//! Whatever takes over a second shows one line on standard error: how far it is, how long it took, how fast it goes and
//! how long it will take. There is none where standard error is no terminal, and none with `--quiet`.

use carom::ModelError;
use carom::simulation::{Observer, StepView};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

static STOP: AtomicBool = AtomicBool::new(false);

/// Whether the command is a part of another program.
static HOSTED: AtomicBool = AtomicBool::new(false);

/// After a wish to stop the computation may take so long to end by itself.
const GRACE: Duration = Duration::from_millis(700);

/// Who ends the command after a wish to stop.
enum Ending {
    /// The computation goes on; should it not listen, this tells what is left of it.
    Open(Option<Box<dyn FnOnce() -> String + Send>>),
    /// The command itself: it has come out of the computation.
    Command,
    /// The handler: the computation did not listen.
    Handler,
}

static ENDING: Mutex<Ending> = Mutex::new(Ending::Open(None));

fn ending() -> MutexGuard<'static, Ending> {
    ENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A command inside another program has no handler of its own: the program hears Ctrl-C, and says so by [`stop`].
/// Forgets the wishes to stop of earlier commands.
pub fn hosted() {
    HOSTED.store(true, Ordering::Relaxed);
    STOP.store(false, Ordering::Relaxed);
    *ending() = Ending::Open(None);
}

/// Whether the command is inside another program.
pub fn is_hosted() -> bool {
    HOSTED.load(Ordering::Relaxed)
}

/// The user asks the command of this program to stop; it does so soon, and keeps what it has.
pub fn stop() {
    STOP.store(true, Ordering::Relaxed);
}

/// Lets Ctrl-C (and a polite kill) end runs instead of the process. A computation that does not listen, inside a long
/// solve for example, is left after a moment: files are whole at any time. A second Ctrl-C ends the process at once.
pub fn watch_for_interrupts() {
    if HOSTED.load(Ordering::Relaxed) {
        return;
    }
    // a handler that is there already, or cannot be set, leaves the default behaviour
    let _ = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            let mut state = ending();
            let Ending::Open(left) = &mut *state else { return };
            let left = left.take().map_or_else(|| "no results were written".to_owned(), |left| left());
            *state = Ending::Handler;
            std::process::exit(crate::failure::Failure::Interrupted(left).tell().into());
        });
    });
}

/// What to say, and to save, where the computation does not listen to a wish to stop.
pub fn when_left(left: impl FnOnce() -> String + Send + 'static) {
    if let Ending::Open(place) = &mut *ending() {
        *place = Some(Box::new(left));
    }
}

/// The computation is over and results are written: that takes the time that it takes.
pub fn wind_up() {
    let mut state = ending();
    match *state {
        Ending::Handler => {
            drop(state);
            // the process ends in a moment
            loop {
                std::thread::park();
            }
        }
        _ => *state = Ending::Command,
    }
}

/// Whether the user asked to stop.
pub fn interrupted() -> bool {
    STOP.load(Ordering::Relaxed)
}

/// In builds with debug assertions the environment variable `CAROM_STOP` names a step after which the user asks to
/// stop, as Ctrl-C does: tests cut runs at a known place.
#[cfg(debug_assertions)]
fn stop_at(step: u64) {
    static STEP: std::sync::OnceLock<Option<u64>> = std::sync::OnceLock::new();
    let wanted = STEP.get_or_init(|| std::env::var("CAROM_STOP").ok()?.parse().ok());
    if *wanted == Some(step) {
        STOP.store(true, Ordering::Relaxed);
    }
}

#[cfg(not(debug_assertions))]
#[inline]
fn stop_at(_step: u64) {}

/// Nothing is shown before.
const PATIENCE: Duration = Duration::from_secs(1);

/// What the line tells besides how far it is.
#[derive(Clone)]
enum Told {
    /// What is counted, and what is being done now.
    Counts(&'static str, Arc<Mutex<String>>),
    /// Steps done of a run; how far it is follows from the time that it has reached.
    Steps(Arc<AtomicU64>),
}

/// The line of one command; it goes away with its value.
pub struct Bar {
    bar: ProgressBar,
    told: Told,
}

impl Bar {
    /// A line for so many things of a kind.
    pub fn new(counts: &'static str, total: usize, quiet: bool) -> Bar {
        Bar::telling(Told::Counts(counts, Arc::default()), total as u64, quiet)
    }

    fn telling(told: Told, total: u64, quiet: bool) -> Bar {
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::hidden());
        if !quiet && std::io::stderr().is_terminal() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            let shown = told.clone();
            let line = move |state: &ProgressState, out: &mut dyn Write| {
                // a terminal that is gone is none that could be told
                let _ = write!(out, "{}", line(state, &shown));
            };
            if let Ok(style) = ProgressStyle::with_template("{line}") {
                bar.set_style(style.with_key("line", line));
            }
            // time goes on while one thing is being done
            bar.enable_steady_tick(PATIENCE / 5);
        }
        Bar { bar, told }
    }

    /// Says how many there are.
    pub fn set_total(&self, total: usize) {
        self.bar.set_length(total as u64);
    }

    /// Says what is being done now.
    pub fn note(&self, what: &str) {
        if let Told::Counts(_, note) = &self.told {
            *note.lock().unwrap_or_else(PoisonError::into_inner) = what.to_owned();
        }
    }

    /// Counts some that are done.
    pub fn add(&self, done: usize) {
        self.bar.inc(done as u64);
    }

    /// Prints something besides the line.
    pub fn aside<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The line: nothing in the first second.
fn line(state: &ProgressState, told: &Told) -> String {
    let (elapsed, part) = (state.elapsed(), f64::from(state.fraction()).clamp(0.0, 1.0));
    if elapsed < PATIENCE {
        return String::new();
    }
    let (seconds, done) = (elapsed.as_secs_f64(), state.pos());
    let (count, unit, note) = match told {
        Told::Counts(counts, note) => {
            let note = note.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (format!("{done} of {} {counts}", state.len().unwrap_or(done)), *counts, note)
        }
        Told::Steps(steps) => {
            let steps = steps.load(Ordering::Relaxed);
            (format!("{:.0} %, {steps} steps", (100.0 * part).floor()), "steps", String::new())
        }
    };
    let rate = match told {
        Told::Counts(..) => done as f64 / seconds,
        Told::Steps(steps) => steps.load(Ordering::Relaxed) as f64 / seconds,
    };
    let filled = (24.0 * part) as usize;
    let mut text = format!("{}{} {count}, {}", "#".repeat(filled), ".".repeat(24 - filled), clock(seconds));
    if rate > 0.0 {
        text += &format!(", {} {unit}/s", short(rate));
    }
    if part > 0.0 {
        text += &format!(", {} left", clock(seconds * (1.0 - part) / part));
    }
    if !note.is_empty() {
        text += &format!("  {note}");
    }
    text
}

/// Three digits.
fn short(rate: f64) -> String {
    match rate {
        r if r >= 1e4 => format!("{r:.2e}"),
        r if r >= 100.0 => format!("{r:.0}"),
        r if r >= 1.0 => format!("{r:.1}"),
        r => format!("{r:.2}"),
    }
}

/// `12 s`, `3:05 min` or `2:03 h`.
fn clock(seconds: f64) -> String {
    let whole = seconds.round().min(1e15) as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02} min", whole / 60, whole % 60),
        _ => format!("{}:{:02} h", whole / 3600, whole / 60 % 60),
    }
}

/// The line of a run; it breaks the run when the user asks to stop.
pub struct Progress {
    bar: Bar,
    steps: Arc<AtomicU64>,
    start: f64,
}

/// Parts of the way.
const PARTS: f64 = 1e9;

impl Progress {
    pub fn new(start: f64, quiet: bool) -> Progress {
        let steps = Arc::<AtomicU64>::default();
        Progress { bar: Bar::telling(Told::Steps(steps.clone()), PARTS as u64, quiet), steps, start }
    }
}

impl Observer for Progress {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.steps.store(view.index, Ordering::Relaxed);
        // a look every 64 steps costs nothing, and models with slow steps have their line as well
        if view.index.is_multiple_of(64) {
            let part = (view.to().t - self.start) / (view.end - self.start);
            self.bar.bar.set_position((PARTS * part) as u64);
        }
        stop_at(view.index);
        Ok(if interrupted() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_rates_in_few_characters() {
        assert_eq!([0.4, 59.4, 59.6, 185.0, 7380.0].map(clock), ["0 s", "59 s", "1:00 min", "3:05 min", "2:03 h"]);
        assert_eq!([0.25, 3.11, 250.4, 123456.0].map(short), ["0.25", "3.1", "250", "1.23e5"]);
    }
}
