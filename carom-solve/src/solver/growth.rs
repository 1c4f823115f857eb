//! Reactions that grow without bound where a problem has no solution.
//!
//! The residual of the certificate is relative to the reactions: where these diverge it becomes as small as one likes.
//! What drives a problem is `b`, and the bounds and radii of its laws. So besides the residual a solution has, in the
//! scaled variables of the certificate,
//!
//! ```text
//!     ‖F'‖ ≤ 10⁻³ (‖b'‖ + ‖bounds'‖)                                                       (1)
//! ```

use crate::{Certificate, OneStepProblem, Reaction, SolveError};

/// Largest ‖F'‖ of a solution, relative to what drives the problem.
const GROWING: f64 = 1e-3;

/// Whether a certified point misses (1).
pub(super) fn is_growing(problem: &OneStepProblem<'_>, z: &Reaction, certificate: Certificate) -> bool {
    let w = problem.delassus();
    let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
    let (mut driving, mut bounds, mut lambda, mut u) = (0.0, 0.0, 0.0, 0.0);
    for (i, law) in problem.laws().iter().enumerate() {
        let (rows, scale) = (problem.rows(i), w.scale(i));
        driving += square(&problem.b()[rows.clone()]) / scale;
        lambda += square(&z.lambda[rows.clone()]) * scale;
        u += square(&z.u[rows]) / scale;
        bounds += law.driving() * scale;
    }
    let missed = certificate.residual * f64::max(driving, lambda).max(u).sqrt();
    missed > GROWING * (driving.sqrt() + bounds.sqrt())
}

/// [`OneStepProblem::conclude`] that refuses points which miss (1).
pub(super) fn conclude(
    problem: &OneStepProblem<'_>,
    z: &mut Reaction,
    tolerance: f64,
    iterations: usize,
) -> Result<Certificate, SolveError> {
    let certificate = problem.conclude(z, tolerance, iterations)?;
    match is_growing(problem, z, certificate) {
        true => Err(SolveError::NotConverged { certificate, tolerance, iterations }),
        false => Ok(certificate),
    }
}
