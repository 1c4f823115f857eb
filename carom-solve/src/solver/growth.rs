//! Reactions that grow without bound where a problem has no solution.
//!
//! The residual of the certificate is relative to the reactions: where these diverge it becomes as small as one likes.
//! So a point is refused, however small its residual, where the residual has fallen only because the reactions have
//! grown: where, since it was last twice as large, the size that it is relative to has grown by half and `‖F'‖` has not
//! fallen to a half. Divergence is a trend, not a level: large reactions alone refuse nothing, and a point that is
//! taken at some tolerance is taken at every larger one. Beyond doubt are points with
//!
//! ```text
//!     ‖F'‖ ≤ 10⁻³ (‖b'‖ + ‖bounds'‖)                                                       (1)
//! ```
//!
//! in the scaled variables of the certificate; a size of 10⁶ (‖b'‖ + ‖bounds'‖) besides is one beyond doubt as well.
//! Methods that see one point only compare it with no reaction at all.

use crate::{Certificate, Law, OneStepProblem, Reaction, SolveError};

/// Largest ‖F'‖ of a solution beyond doubt, relative to what drives the problem.
pub(super) const CERTAIN: f64 = 1e-3;

/// Size, relative to what drives the problem, that no solution has which misses (1).
const HUGE: f64 = 1e6;

/// Growth of the size that makes a trend.
const GROWN: f64 = 1.5;

/// Part of ‖F'‖ that is left where there is no trend.
const FALLEN: f64 = 0.5;

/// The same where no reaction is all that a point is compared with.
const CLEARLY: f64 = 0.1;

/// Where residual and size come from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Trend {
    before: Option<(f64, f64)>, // residual and size when the residual was at least twice as large as at the mark
    mark: Option<(f64, f64)>,   // when it last fell to a half
}

impl Trend {
    /// Notes a point of an iteration; tells whether the residual falls only because the size grows.
    pub(super) fn note(&mut self, residual: f64, size: f64) -> bool {
        match self.mark {
            Some(mark) if residual >= FALLEN * mark.0 => {}
            mark => {
                self.before = mark;
                self.mark = Some((residual, size));
            }
        }
        self.before.is_some_and(|before| size > GROWN * before.1 && residual * size > FALLEN * (before.0 * before.1))
    }
}

/// Whether a certified point, the only one that there is, seems to diverge.
pub(super) fn is_growing(problem: &OneStepProblem<'_>, certificate: Certificate) -> bool {
    is_doubtful(problem, certificate) && {
        let mut missed = 0.0;
        for (i, law) in problem.laws().iter().enumerate() {
            let (rows, scale) = (problem.rows(i), problem.scale(i));
            let (zero, mut f) = ([0.0; Law::MOST_ROWS], [0.0; Law::MOST_ROWS]);
            law.natural_map(&zero[..law.size()], &problem.b()[rows], 1.0 / scale, &mut f[..law.size()]);
            missed += scale * square(&f);
        }
        certificate.residual * certificate.size() > CLEARLY * missed.sqrt()
    }
}

/// Whether a certified point misses (1).
fn is_doubtful(problem: &OneStepProblem<'_>, certificate: Certificate) -> bool {
    certificate.residual * certificate.size() > CERTAIN * driving(problem)
}

/// Whether the size of a point alone tells that it diverges.
fn is_huge(problem: &OneStepProblem<'_>, certificate: Certificate) -> bool {
    certificate.size() > HUGE * driving(problem)
}

/// ‖b'‖ + ‖bounds'‖.
fn driving(problem: &OneStepProblem<'_>) -> f64 {
    let (mut driving, mut bounds) = (0.0, 0.0);
    for (i, law) in problem.laws().iter().enumerate() {
        let (rows, scale) = (problem.rows(i), problem.scale(i));
        driving += square(&problem.b()[rows]) / scale;
        bounds += law.driving() * scale;
    }
    driving.sqrt() + bounds.sqrt()
}

/// Whether a certified point is a solution to this tolerance; `diverging` is what its trend tells. The one test of
/// acceptance, monotone in the tolerance.
pub(super) fn accepts(problem: &OneStepProblem<'_>, certificate: Certificate, tolerance: f64, diverging: bool) -> bool {
    certificate.residual <= tolerance
        && !(is_doubtful(problem, certificate) && (diverging || is_huge(problem, certificate)))
}

/// The same of a point that is the only one that there is.
pub(super) fn accepts_alone(problem: &OneStepProblem<'_>, certificate: Certificate, tolerance: f64) -> bool {
    certificate.residual <= tolerance && !is_growing(problem, certificate)
}

/// [`OneStepProblem::conclude`] that refuses points which diverge.
pub(super) fn conclude(
    problem: &OneStepProblem<'_>,
    z: &mut Reaction,
    tolerance: f64,
    iterations: usize,
    diverging: bool,
) -> Result<Certificate, SolveError> {
    let certificate = problem.conclude(z, tolerance, iterations)?;
    match accepts(problem, certificate, tolerance, diverging) {
        false => Err(SolveError::NotConverged { certificate, tolerance, iterations }),
        true => Ok(certificate),
    }
}

fn square(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

#[cfg(test)]
mod tests {
    use super::Trend;

    #[test]
    fn growth_is_a_trend() {
        // the residual of reactions that double, and of such that settle
        let mut trend = Trend::default();
        assert!(!trend.note(1.0, 1.0));
        assert!((1..20).all(|k| trend.note(0.5f64.powi(k) * 0.99, 2f64.powi(k))));
        let mut trend = Trend::default();
        assert!(!trend.note(1.0, 1.0));
        let noted: Vec<bool> = (1..20).map(|k| trend.note(0.4f64.powi(k), 1e4 * (1.0 - 0.5f64.powi(k)))).collect();
        assert!(noted[3..].iter().all(|diverging| !diverging), "{noted:?}");
        // one step to the solution, however large it is
        let mut trend = Trend::default();
        assert!(!trend.note(1.0, 1.0) && !trend.note(1e-12, 1e6));
    }
}
