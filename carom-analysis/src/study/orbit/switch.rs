//! From an orbit at a period doubling to the branch of orbits of twice its length.
//!
//! ```text
//!     z = z* + ε (w, 0),   w the direction that comes back with the factor −1;   then G₂ = 0 across w                     (1)
//! ```
//!
//! The orbits of the doubled round cross the others at z*: along w the parameter changes like ε², and Newton's method
//! across w finds the other branch where ε is neither so small that both are the same to rounding nor so large that (1)
//! is no guess.

use super::super::{Stop, StudyError};
use super::branch::BranchPlace;
use super::{Branch, Follow, Options, Special, SpecialKind};

/// ε as parts of the size of the state, tried one after the other.
const PARTS: [f64; 4] = [1e-3, 3e-3, 1e-2, 3e-4];

impl Follow<'_> {
    /// The branch of orbits of twice the period that begins at a period doubling of this branch, until the parameter
    /// leaves the range. The orbits have twice the `multiple`.
    pub fn switch(&self, at: &Special, stop: &Stop<'_>, tick: &dyn Fn()) -> Result<(Branch, Options), StudyError> {
        if at.kind != SpecialKind::PeriodDoubling {
            return Err(StudyError::option(
                "the special point",
                at.kind.name(),
                "only period doublings have a second branch",
            ));
        }
        let options =
            Options { multiple: 2 * self.options.multiple, returns: 2 * self.options.returns, ..self.options };
        // the section may have moved
        let single = Follow { start: at.orbit.start, ..*self };
        let doubled = Follow { options, ..single };
        let place = doubled.leave(&single, at)?;
        Ok((doubled.walk(place, stop, tick)?, options))
    }

    /// A first orbit of the doubled branch, with its direction away from the doubling.
    fn leave(&self, single: &Follow<'_>, at: &Special) -> Result<BranchPlace, StudyError> {
        let mut case = (self.make)(at.orbit.parameter)?;
        let mut z = single.place(&case, &at.orbit);
        let size = z.len();
        let y = z.rows(0, size - 1).into_owned();
        let flipped = case.image(&y, single.start, &single.options)?.flipped()?;
        if case.is_free() {
            z[size - 2] *= 2.0;
        }
        let direction = flipped.push(0.0);
        let scale = 1.0 + y.norm();
        let mut last = StudyError::NoOrbit { residual: f64::NAN };
        for part in PARTS {
            let epsilon = part * scale;
            match self.correct(&case.moved(&z, &(epsilon * &direction)), &direction) {
                Ok((there, orbit)) => {
                    let away = case.apart(&z, &there);
                    // Newton's method may fall back to the single orbit
                    if away.dot(&direction) < 0.5 * epsilon || away.norm() > 20.0 * epsilon {
                        continue;
                    }
                    let tangent = self.tangent(&there, &(&away / away.norm()))?;
                    return Ok(BranchPlace { z: there, orbit, tangent });
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}
