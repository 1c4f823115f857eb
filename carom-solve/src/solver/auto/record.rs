//! What the ladder did, kept without allocation and put into words on request.

use super::Rung;
use crate::{Certificate, SolveError};
use std::fmt;

/// One rung that was tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Entry {
    pub rung: Rung,
    /// Sweeps, where there were any.
    pub effort: usize,
    pub residual: f64,
}

impl Entry {
    pub(super) fn new(rung: Rung, result: &Result<Certificate, SolveError>) -> Entry {
        let certificate = match result {
            Ok(certificate) => Some(*certificate),
            Err(error) => error.certificate(),
        };
        Entry { rung, effort: 0, residual: certificate.map_or(f64::INFINITY, |c| c.residual) }
    }
}

/// The rungs of the last solve; more than eight are counted, not kept.
#[derive(Debug, Default)]
pub(super) struct Record {
    entry: [Entry; 8],
    tried: usize,
}

impl Record {
    pub(super) fn clear(&mut self) {
        self.tried = 0;
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        if let Some(place) = self.entry.get_mut(self.tried) {
            *place = entry;
        }
        self.tried += 1;
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, entry) in self.entry.iter().take(self.tried).enumerate() {
            f.write_str(if k == 0 { "" } else { ", " })?;
            match entry.rung {
                Rung::AtRest => write!(f, "at rest")?,
                Rung::ActiveSet => write!(f, "active set")?,
                Rung::ClosedForm => write!(f, "closed form")?,
                Rung::Lemke => write!(f, "lemke")?,
                Rung::NewtonMin => write!(f, "newton-min")?,
                Rung::FewSweeps | Rung::Sweeps | Rung::AllSweeps => write!(f, "nsgs {}", entry.effort)?,
                Rung::Statuses => write!(f, "nsgs {} and newton on statuses", entry.effort)?,
                Rung::InteriorPoint => write!(f, "interior-point")?,
                Rung::Enumeration => write!(f, "enumeration")?,
            }
            write!(f, " ({:.1e})", entry.residual)?;
        }
        if self.tried > self.entry.len() {
            write!(f, ", and {} more", self.tried - self.entry.len())?;
        }
        Ok(())
    }
}
