//! What the ladder did, kept without allocation and put into words on request.

use super::super::{Method, Path};
use super::rung::Rung;
use crate::{Certificate, SolveError};
use std::fmt;

/// Why a rung was left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum End {
    /// It solved the problem, or had nothing more to try.
    #[default]
    Own,
    /// The method after it costs less than what is left.
    Slow,
    /// The option `budget`.
    Budget,
    /// The option `max-sweeps`.
    Sweeps,
    /// Not begun: one factorisation is too large for the option `budget`, or at all.
    Unaffordable,
    /// Its residual is small only because its reactions are large.
    Growing,
    /// The full error is above its limit.
    FullError,
    /// Its residual has not fallen for thousands of sweeps.
    Wandering,
    /// The option `seconds`.
    Late,
    /// Not begun: another one costs less.
    Skipped,
}

/// One rung that was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub rung: Rung,
    pub end: End,
    /// Sweeps, or steps of the path, where there were any; proximal steps and Newton steps inside them.
    pub effort: [u32; 3],
    /// Infinite where there is no point.
    pub residual: f32,
}

impl Entry {
    pub(super) fn new(rung: Rung, residual: f64) -> Entry {
        Entry { rung, residual: residual as f32, ..Entry::default() }
    }

    pub(super) fn of(rung: Rung, result: &Result<Certificate, SolveError>) -> Entry {
        let certificate = match result {
            Ok(certificate) => Some(*certificate),
            Err(error) => error.certificate(),
        };
        Entry::new(rung, certificate.map_or(f64::INFINITY, |c| c.residual))
    }

    /// The method of the rung, as it is told.
    #[inline]
    fn method(&self) -> Method {
        match self.rung {
            Rung::AtRest => Method::AtRest,
            Rung::Equalities => Method::Equalities,
            Rung::ActiveSet => Method::ActiveSet,
            Rung::ClosedForm => Method::ClosedForm,
            Rung::Lemke => Method::Lemke,
            Rung::NewtonMin => Method::NewtonMin,
            Rung::FewSweeps | Rung::Sweeps | Rung::AllSweeps | Rung::FirstCourse | Rung::EarlyCourse | Rung::Course => {
                Method::Nsgs
            }
            Rung::Statuses => Method::StatusNewton,
            Rung::InteriorPoint | Rung::Path | Rung::Persistence => Method::InteriorPoint,
            Rung::Finish => Method::Proximal,
            Rung::Islands => Method::Islands,
            Rung::Enumeration => Method::Enumeration,
            Rung::Descent => Method::Descent,
        }
    }
}

/// Number of rungs whose figures are kept.
const KEPT: usize = 12;

/// The rungs that a solve has tried, in order, with what they took and reached; more than ten are counted, not kept.
/// Its `Display` is that of [`Solver::log`](crate::Solver::log); the alternate form `{:#}` says besides why each rung
/// was left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rungs {
    entry: [Entry; KEPT],
    tried: u32,
    last: End,  // of the one tried last, kept or not
    path: Path, // the methods of those that are kept
}

impl Default for Rungs {
    fn default() -> Self {
        Rungs { entry: Default::default(), tried: 0, last: End::Own, path: Path::of("auto") }
    }
}

impl Rungs {
    #[inline]
    pub(super) fn clear(&mut self) {
        (self.tried, self.path) = (0, Path::of("auto"));
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        if let Some(place) = self.entry.get_mut(self.tried as usize) {
            *place = entry;
            let method = entry.method();
            self.path.push(method);
            // a path that ended with steps of the proximal method
            if method == Method::InteriorPoint && entry.effort[2] > 0 {
                self.path.push(Method::Proximal);
            }
        }
        self.tried += 1;
        self.last = entry.end;
    }

    /// The rungs of a part of the problem.
    pub(super) fn append(&mut self, part: &Rungs) {
        part.kept().iter().for_each(|&entry| self.push(entry));
    }

    /// Changes why the last rung was left.
    pub(super) fn refuse(&mut self, end: End) {
        let last = self.tried.checked_sub(1).and_then(|k| self.entry.get_mut(k as usize));
        last.into_iter().for_each(|entry| entry.end = end);
        self.last = end;
    }

    /// The methods that were tried.
    #[inline]
    pub fn path(&self) -> Path {
        self.path
    }

    fn kept(&self) -> &[Entry] {
        &self.entry[..KEPT.min(self.tried as usize)]
    }

    /// Whether the clock has ended the last one.
    pub(in crate::solver) fn is_late(&self) -> bool {
        self.tried > 0 && self.last == End::Late
    }

    /// Whether the last one was refused for reactions that grow.
    pub(super) fn is_growing(&self) -> bool {
        self.tried > 0 && self.last == End::Growing
    }

    /// The option that would let a rung go on.
    pub fn stopped_by(&self) -> Option<&'static str> {
        self.kept().iter().find_map(|entry| match entry.end {
            End::Budget | End::Unaffordable => Some("budget"),
            End::Sweeps => Some("max-sweeps"),
            End::Late => Some("seconds"),
            _ => None,
        })
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [steps, proximal, newton] = self.effort;
        match self.rung {
            Rung::AtRest => write!(f, "at rest")?,
            Rung::Equalities => write!(f, "equalities eliminated")?,
            Rung::ActiveSet => write!(f, "active set")?,
            Rung::ClosedForm => write!(f, "closed form")?,
            Rung::Lemke => write!(f, "lemke")?,
            Rung::NewtonMin => write!(f, "newton-min")?,
            Rung::FewSweeps | Rung::Sweeps | Rung::AllSweeps | Rung::FirstCourse | Rung::EarlyCourse | Rung::Course => {
                write!(f, "nsgs {steps}")?
            }
            Rung::Statuses => write!(f, "nsgs {steps} and newton on statuses")?,
            Rung::InteriorPoint | Rung::Path | Rung::Persistence if newton > 0 => {
                write!(f, "interior-point {steps}, proximal {proximal}/{newton}")?
            }
            Rung::InteriorPoint | Rung::Path | Rung::Persistence => write!(f, "interior-point {steps}")?,
            Rung::Islands => write!(f, "islands {steps}")?,
            Rung::Finish => write!(f, "proximal {proximal}/{newton}")?,
            Rung::Enumeration => write!(f, "enumeration")?,
            Rung::Descent => write!(f, "descent {steps}")?,
        }
        if !f.alternate() {
            return write!(f, " ({:.1e})", self.residual);
        }
        if self.residual.is_finite() {
            write!(f, " (residual {:.1e}", self.residual)?;
        } else {
            write!(f, " (no point")?;
        }
        f.write_str(match self.end {
            End::Own => ")",
            End::Slow => ", slower than what follows)",
            End::Budget => ", stopped by `budget`)",
            End::Sweeps => ", stopped by `max-sweeps`)",
            End::Unaffordable => ", too large for `budget`)",
            End::Growing => ", refused: its reactions grow without bound)",
            End::FullError => ", refused: the full error is missed)",
            End::Wandering => ", wandering)",
            End::Late => ", stopped by `seconds`)",
            End::Skipped => ", skipped)",
        })
    }
}

impl fmt::Display for Rungs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, entry) in self.kept().iter().enumerate() {
            f.write_str(if k == 0 { "" } else { ", " })?;
            entry.fmt(f)?;
        }
        let more = (self.tried as usize).saturating_sub(KEPT);
        if more > 0 {
            write!(f, ", and {more} more")?;
        }
        Ok(())
    }
}
