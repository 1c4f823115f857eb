//! Periodic orbits through impacts, their multipliers, and how both change with a parameter [mueller1995, leine2004].
//!
//! ```text
//!     G(x, p) = P(x, p) − x = 0,   P the state after k periods T(p)                                                     (1)
//!     Newton:  (DP − 1) dx = −G,   multipliers: eigenvalues of DP                                                       (2)
//!     G_p = P_p + k T'(p) f(x⁺)                                                                                         (3)
//! ```
//!
//! DP and P_p come from the variational flow and saltation matrices. `branch.rs` follows orbits over a parameter.

mod branch;

pub use branch::{Branch, Follow, Kind, Special};

use super::StudyError;
use carom::sensitivity::{Sensitivity, Strike};
use carom::{Key, State};
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

/// A motion with the period of its forcing, for one value of a parameter.
pub struct Case {
    /// Differentiates by the parameter where there is one.
    pub motion: Sensitivity,
    /// T and dT/dp [s].
    pub period: (f64, f64),
}

/// Makes the motion for a value of the parameter.
pub type MakeCase<'a> = dyn Fn(f64) -> Result<Case, StudyError> + 'a;

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// k: periods of the forcing in one of the orbit.
    pub multiple: usize,
    /// Largest |G| of an orbit.
    pub tolerance: f64,
    /// Most steps of Newton's method.
    pub iterations: usize,
}

impl Options {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), StudyError> {
        if self.multiple == 0 {
            return Err(StudyError::option("the number of periods", 0, "at least one is needed"));
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            return Err(StudyError::option("the tolerance", self.tolerance, "it must be positive and below 1"));
        }
        if self.iterations == 0 {
            return Err(StudyError::option("the number of iterations", 0, "at least one is needed"));
        }
        Ok(())
    }
}

/// What becomes of perturbations of an orbit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stability {
    /// All multipliers inside the unit circle.
    Stable,
    /// A real multiplier below −1: a period doubling lies between this orbit and a stable one.
    Flip,
    /// A real multiplier above 1.
    Fold,
    /// A complex pair outside.
    NeimarkSacker,
}

impl Stability {
    pub const fn name(self) -> &'static str {
        match self {
            Stability::Stable => "stable",
            Stability::Flip => "unstable (flip)",
            Stability::Fold => "unstable (fold)",
            Stability::NeimarkSacker => "unstable (Neimark-Sacker)",
        }
    }

    /// Of multipliers, by the largest one.
    pub fn of(multipliers: &[(f64, f64)]) -> Stability {
        let largest = multipliers.iter().max_by(|a, b| a.0.hypot(a.1).total_cmp(&b.0.hypot(b.1)));
        match largest {
            Some((re, im)) if re.hypot(*im) > 1.0 => match (*im != 0.0, *re < 0.0) {
                (true, _) => Stability::NeimarkSacker,
                (false, true) => Stability::Flip,
                (false, false) => Stability::Fold,
            },
            _ => Stability::Stable,
        }
    }
}

/// A periodic orbit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Orbit {
    pub parameter: f64,
    /// Positions and velocities at the section.
    pub state: Vec<f64>,
    /// Length of the orbit [s].
    pub period: f64,
    /// |G|.
    pub residual: f64,
    /// Real and imaginary parts, the largest first.
    pub multipliers: Vec<(f64, f64)>,
    pub stability: Stability,
    /// Impacts: time since the section, contact, normal velocity before.
    pub impacts: Vec<(f64, u64, f64)>,
    /// Slowest impact [m/s]; infinite without one.
    pub slowest: f64,
    /// Least gap between impacts [m]: grazing is as far away as this.
    pub clearance: f64,
    /// How often a contact comes to rest: perturbations vanish there, and multipliers are zero.
    pub rests: u64,
    /// det(DP + 1), det(DP − 1), and |μ|² − 1 of the largest complex pair.
    #[serde(skip)]
    tests: [f64; 3],
}

/// Samples of an orbit in which gaps are looked at.
const SAMPLES: usize = 400;

/// P and its derivatives at a state.
struct Image {
    x: DVector<f64>,
    dx: DMatrix<f64>,
    dp: DVector<f64>,
}

/// P(x), DP and P_p of (1)-(3).
fn image(case: &mut Case, start: f64, x: &DVector<f64>, multiple: usize) -> Result<Image, StudyError> {
    let motion = &mut case.motion;
    let (n, parameters) = motion.dimensions();
    let length = multiple as f64 * case.period.0;
    motion.restart(&State::new(start, &x.as_slice()[..n], &x.as_slice()[n..]));
    motion.reset();
    motion.passage.clear();
    motion.advance(start + length)?;
    let end = motion.state().clone();
    let columns: Vec<&[f64]> = motion.columns().collect();
    let dx = DMatrix::from_fn(2 * n, 2 * n, |i, j| columns[j][i]);
    let mut dp = DVector::zeros(2 * n);
    if parameters > 0 {
        dp.copy_from_slice(&columns[2 * n][..2 * n]);
        let mut rate = vec![0.0; n];
        motion.rate(&mut rate)?;
        let stretch = multiple as f64 * case.period.1;
        for (i, f) in end.v.iter().chain(&rate).enumerate() {
            dp[i] += stretch * f;
        }
    }
    let x = DVector::from_iterator(2 * n, end.q.iter().chain(&end.v).copied());
    if !(x.iter().chain(dx.iter()).chain(dp.iter()).all(|x| x.is_finite())) {
        return Err(StudyError::Build("the derivative of the motion is not finite: an impact grazes".into()));
    }
    Ok(Image { x, dx, dp })
}

/// Newton's method (2) from a guess.
pub fn find(case: &mut Case, parameter: f64, guess: &State, options: &Options) -> Result<Orbit, StudyError> {
    options.check()?;
    let n = guess.q.len();
    let mut x = DVector::from_iterator(2 * n, guess.q.iter().chain(&guess.v).copied());
    let mut at = image(case, guess.t, &x, options.multiple)?;
    let mut residual = (&at.x - &x).norm();
    for _ in 0..options.iterations {
        if residual <= options.tolerance * (1.0 + x.norm()) {
            return finish(case, (parameter, guess.t), x, at, options);
        }
        let matrix = &at.dx - DMatrix::identity(2 * n, 2 * n);
        let step = matrix.lu().solve(&(&x - &at.x)).ok_or(StudyError::NoOrbit { residual })?;
        // shorter steps where the whole one leads away
        let mut factor = 1.0;
        let accepted = loop {
            let trial = &x + factor * &step;
            if let Ok(next) = image(case, guess.t, &trial, options.multiple) {
                let there = (&next.x - &trial).norm();
                if there < residual * (1.0 - 1e-4 * factor) || there <= options.tolerance {
                    break Some((trial, next, there));
                }
            }
            factor *= 0.5;
            if factor < 1e-4 {
                break None;
            }
        };
        let Some((trial, next, there)) = accepted else { break };
        (x, at, residual) = (trial, next, there);
    }
    if residual <= 1e3 * options.tolerance * (1.0 + x.norm()) {
        return finish(case, (parameter, guess.t), x, at, options);
    }
    Err(StudyError::NoOrbit { residual })
}

/// All that is told of an orbit.
fn finish(
    case: &mut Case,
    (parameter, start): (f64, f64),
    x: DVector<f64>,
    at: Image,
    options: &Options,
) -> Result<Orbit, StudyError> {
    let n = x.len() / 2;
    let residual = (&at.x - &x).norm();
    let mut multipliers: Vec<(f64, f64)> = at.dx.complex_eigenvalues().iter().map(|z| (z.re, z.im)).collect();
    multipliers.sort_by(|a, b| b.0.hypot(b.1).total_cmp(&a.0.hypot(a.1)).then(b.1.total_cmp(&a.1)));
    let one = DMatrix::identity(2 * n, 2 * n);
    let pair = multipliers.iter().filter(|z| z.1 != 0.0).map(|z| z.0 * z.0 + z.1 * z.1 - 1.0);
    let tests = [(&at.dx + &one).determinant(), (&at.dx - &one).determinant(), pair.fold(f64::NAN, f64::max)];
    let length = options.multiple as f64 * case.period.0;
    let passage = case.motion.passage.clone();
    let impacts = passage.strikes.iter().map(|s: &Strike| (s.t - start, s.contact.0, s.before)).collect();
    let state = State::new(start, &x.as_slice()[..n], &x.as_slice()[n..]);
    let clearance = clearance(&mut case.motion, &state, length)?;
    Ok(Orbit {
        parameter,
        state: x.as_slice().to_vec(),
        period: length,
        residual,
        stability: Stability::of(&multipliers),
        multipliers,
        impacts,
        slowest: passage.slowest,
        clearance,
        rests: passage.rests,
        tests,
    })
}

/// Least gap over an orbit apart from impacts: the lowest points between them, on cubics through samples.
fn clearance(motion: &mut Sensitivity, state: &State, length: f64) -> Result<f64, StudyError> {
    motion.set_columns(0);
    motion.restart(state);
    let h = length / SAMPLES as f64;
    let mut least = f64::INFINITY;
    let mut last: Vec<(Key, f64, f64)> = Vec::new();
    let mut struck = motion.passage.impacts;
    for k in 0..=SAMPLES {
        if k > 0 {
            motion.advance(state.t + k as f64 * h)?;
        }
        let now = motion.gaps()?;
        let smooth = motion.passage.impacts == struck;
        struck = motion.passage.impacts;
        for (key, gap, rate) in &now {
            let before = last.iter().find(|(known, ..)| known == key).filter(|_| smooth);
            let Some((_, g0, u0)) = before else { continue };
            if *u0 < 0.0 && *rate > 0.0 {
                // the cubic's lowest point, by its parabola of slopes
                let (d, m0, m1) = (gap - g0, h * u0, h * rate);
                let (c2, c3) = (3.0 * d - 2.0 * m0 - m1, m0 + m1 - 2.0 * d);
                let root = (c2 * c2 - 3.0 * c3 * m0).max(0.0).sqrt();
                let s = (-m0 / (c2 + root)).clamp(0.0, 1.0);
                least = least.min(g0 + s * (m0 + s * (c2 + s * c3)));
            }
        }
        last = now;
    }
    motion.reset();
    Ok(least)
}
