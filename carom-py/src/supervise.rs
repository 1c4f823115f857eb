//! Computations that free the lock of the interpreter and hear its signals all the same.

use carom::simulation::{Observer, StepView};
use carom::{ModelError, State};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::time::{Duration, Instant};

/// Signals are looked at this often, and progress is told.
const LOOK: Duration = Duration::from_millis(50);

/// Steps between two looks at the clock, at most.
const MOST: u64 = 4096;

/// Room for expressions that are nested as deeply as the main thread allows.
const STACK: usize = 16 << 20;

/// Watches a run: a signal of the user breaks it, and a function of the user is told how far it is.
pub struct Watching {
    progress: Option<Py<PyAny>>,
    start: f64,
    last: Instant,
    stride: u64,
    next: u64,
    /// What a handler of signals, or the function of the user, has raised.
    pub raised: Option<PyErr>,
}

impl Watching {
    /// From this time on [s].
    pub fn new(start: f64, progress: Option<Py<PyAny>>) -> Watching {
        Watching { progress, start, last: Instant::now(), stride: 1, next: 1, raised: None }
    }

    #[cold]
    fn look(&mut self, index: u64, to: &State, end: f64) -> ControlFlow<()> {
        let passed = self.last.elapsed();
        self.stride = if passed < LOOK / 8 { (2 * self.stride).min(MOST) } else { (self.stride / 2).max(1) };
        self.next = index + self.stride;
        if passed < LOOK && index > 1 {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        let told = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                let part = (to.t - self.start) / (end - self.start);
                progress.call1(py, (part.clamp(0.0, 1.0), to.t, index))?;
            }
            Ok(())
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

impl Observer for Watching {
    fn asks_for_contacts(&self) -> bool {
        false
    }

    #[inline]
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        if view.index < self.next {
            return Ok(ControlFlow::Continue(()));
        }
        let end = view.end;
        Ok(self.look(view.index, view.to(), end))
    }
}

/// Does something that may take long on a thread of its own, and hears signals meanwhile: `ask` then asks it to stop.
/// What a handler of signals has raised comes beside the result.
///
/// # Errors
/// Fails where the system has no thread left.
pub fn supervised<R: Send>(
    py: Python<'_>,
    ask: impl Fn() + Send + Sync,
    work: impl FnOnce() -> R + Send,
) -> PyResult<(R, Option<PyErr>)> {
    supervised_with(py, ask, |py| py.check_signals(), work)
}

/// The same with something else that is looked at meanwhile.
///
/// # Errors
/// Fails where the system has no thread left.
pub fn supervised_with<R: Send>(
    py: Python<'_>,
    ask: impl Fn() + Send + Sync,
    look: impl Fn(Python<'_>) -> PyResult<()> + Send + Sync,
    work: impl FnOnce() -> R + Send,
) -> PyResult<(R, Option<PyErr>)> {
    let (done, raised) = py.detach(|| {
        std::thread::scope(|scope| {
            let waiting = std::thread::current();
            let handle = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || {
                let done = work();
                waiting.unpark();
                done
            })?;
            let mut raised = None;
            while !handle.is_finished() {
                std::thread::park_timeout(LOOK);
                if let Err(error) = Python::attach(&look) {
                    raised.get_or_insert(error);
                    ask();
                }
            }
            let done = handle.join().unwrap_or_else(|panic| resume_unwind(panic));
            Ok::<_, std::io::Error>((done, raised))
        })
    })?;
    Ok((done, raised))
}
