//! Periodic orbits through impacts, their multipliers, and how both change with a parameter [mueller1995, leine2004].
//!
//! ```text
//!     G(y, p) = 0:  a state comes back to itself after a round; Newton's method  G_y dy = −G                            (1)
//!     multipliers: eigenvalues of the derivative of the return map                                                      (2)
//! ```
//!
//! `section.rs` has the kinds of rounds: over periods of a forcing, from an impact to one of the next, or of a free
//! length where there is no forcing. Derivatives come from the variational flow and saltation matrices. `branch.rs`
//! follows orbits over a parameter, `switch.rs` goes over to the orbits of twice the period.

use carom::elementary::hypot;
mod branch;
mod image;
mod place;
mod section;
mod switch;

pub use branch::{Branch, Follow, Special, SpecialKind};
pub use section::{Case, Period, Section, ZeroFunction};

use super::{StudyError, exact};
use carom::sensitivity::Impact;
use carom::{Key, State};
use image::Image;
use nalgebra::{DMatrix, DVector, Schur};
use place::{is_singular, solutions};
use serde::{Deserialize, Serialize};

/// Makes the motion for a value of the parameter.
pub type MakeCase<'a> = dyn Fn(f64) -> Result<Case, StudyError> + 'a;

/// What to look for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Periods of the forcing in one of the orbit; without forcing, meetings with the section.
    pub multiple: usize,
    /// Impacts of the contact in a round, where it makes the section; [`Case::approach`] counts them.
    pub returns: usize,
    /// Largest |G| of an orbit.
    pub tolerance: f64,
    /// Most steps of Newton's method.
    pub iterations: usize,
}

impl Options {
    /// One round of so many periods to 1e-11.
    pub fn new(multiple: usize) -> Options {
        Options { multiple, returns: multiple, tolerance: 1e-11, iterations: 40 }
    }

    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), StudyError> {
        if self.multiple == 0 || self.returns == 0 {
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Stability::Stable => "stable",
            Stability::Flip => "unstable (flip)",
            Stability::Fold => "unstable (fold)",
            Stability::NeimarkSacker => "unstable (Neimark-Sacker)",
        }
    }

    /// Of multipliers, by the largest one.
    pub fn of(multipliers: &[(f64, f64)]) -> Stability {
        let largest = multipliers.iter().max_by(|a, b| hypot(a.0, a.1).total_cmp(&hypot(b.0, b.1)));
        match largest {
            Some((re, im)) if hypot(*re, *im) > 1.0 => match (*im != 0.0, *re < 0.0) {
                (true, _) => Stability::NeimarkSacker,
                (false, true) => Stability::Flip,
                (false, false) => Stability::Fold,
            },
            _ => Stability::Stable,
        }
    }
}

/// A periodic orbit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orbit {
    /// Value of the parameter; NaN where none is varied.
    #[serde(with = "exact")]
    pub parameter: f64,
    /// Time at the section [s].
    pub start: f64,
    /// Positions and velocities there.
    pub state: Vec<f64>,
    /// Length of the orbit [s].
    pub period: f64,
    /// |G|.
    pub residual: f64,
    /// Real and imaginary parts, the largest first.
    pub multipliers: Vec<(f64, f64)>,
    /// How many of them are 1 because the orbit is one of a family, as where a momentum is conserved.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub neutral: usize,
    /// What the largest of the others says.
    pub stability: Stability,
    /// Impacts: time since the section, contact, normal velocity before.
    pub impacts: Vec<(f64, Key, f64)>,
    /// Slowest impact [m/s]; infinite without one.
    #[serde(with = "exact")]
    pub slowest: f64,
    /// Least gap between impacts [m]: grazing is as far away as this.
    #[serde(with = "exact")]
    pub clearance: f64,
    /// What cyclic coordinates gain in it: number of the coordinate, and whole turns of it or its drift.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advance: Vec<(usize, f64)>,
    /// How often a contact comes to rest: perturbations vanish there, and multipliers are zero.
    pub rests: u64,
    /// det(DP + 1), det(DP − 1), and Π (μᵢμⱼ − 1) over pairs.
    #[serde(skip)]
    tests: [f64; 3],
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A multiplier of an orbit of a family that is 1 up to this is neutral: those of a drift are double, and known to the
/// root of the error of the motion.
const NEUTRAL: f64 = 1e-4;

/// Singular values below this part of the largest one are zero.
const ZERO: f64 = 1e-12;

/// Samples of an orbit in which gaps are looked at.
const SAMPLES: usize = 400;

/// States of an orbit closer than this part of its size are the same.
const SAME: f64 = 1e-6;

/// Newton's method (1) from a guess at the section.
pub fn find(case: &mut Case, parameter: f64, guess: &State, options: &Options) -> Result<Orbit, StudyError> {
    options.check()?;
    case.check()?;
    let mut y = case.unknowns(guess);
    case.settle(&mut y, guess.t, options)?;
    let mut at = case.image(&y, guess.t, options)?;
    let mut residual = at.residual().norm();
    for _ in 0..options.iterations {
        if residual <= options.tolerance * (1.0 + y.norm()) {
            return finish(case, parameter, at, options).and_then(|orbit| repeats(case, orbit, options));
        }
        let steps = solutions(at.matrix(), &-at.residual());
        if steps.is_empty() {
            return Err(StudyError::NoOrbit { residual });
        }
        // shorter steps where the whole one leads away
        let mut accepted = None;
        'search: for step in steps {
            let mut factor = 1.0;
            while factor >= 1e-4 {
                let mut trial = case.moved(&y, &(factor * &step));
                case.settle(&mut trial, guess.t, options)?;
                if let Ok(next) = case.image(&trial, guess.t, options) {
                    let there = next.residual().norm();
                    if there < residual * (1.0 - 1e-4 * factor) || there <= options.tolerance {
                        accepted = Some((trial, next, there));
                        break 'search;
                    }
                }
                factor *= 0.5;
            }
        }
        let Some((trial, next, there)) = accepted else { break };
        (y, at, residual) = (trial, next, there);
    }
    if residual <= 1e3 * options.tolerance * (1.0 + y.norm()) {
        // the motion has gone another way since
        let at = case.image(&y, guess.t, options)?;
        return finish(case, parameter, at, options).and_then(|orbit| repeats(case, orbit, options));
    }
    Err(StudyError::NoOrbit { residual })
}

/// Refuses an orbit of a free period that does not come back a second time: forces depend on time.
fn repeats(case: &mut Case, orbit: Orbit, options: &Options) -> Result<Orbit, StudyError> {
    if matches!(case.period, Period::Forced(..)) {
        return Ok(orbit);
    }
    let again = DVector::from_iterator(orbit.state.len() + 1, orbit.state.iter().copied().chain([orbit.period]));
    let at = case.image(&again, orbit.start + orbit.period, options)?;
    let (residual, growth) = (at.residual().norm(), at.flow.norm());
    if residual <= 1e4 * options.tolerance * (1.0 + again.norm()) * (1.0 + growth) {
        return Ok(orbit);
    }
    Err(StudyError::NotAutonomous { period: orbit.period, residual })
}

/// All that is told of an orbit.
fn finish(case: &mut Case, parameter: f64, mut at: Image, options: &Options) -> Result<Orbit, StudyError> {
    let rounds = options.multiple;
    if let Some(y) = case.laid_down(&at)? {
        at = case.image(&y, at.start, options)?;
    }
    let residual = at.residual().norm();
    let returns = at.returns()?;
    let one = DMatrix::identity(returns.nrows(), returns.nrows());
    let lost = || StudyError::Build("the multipliers of the orbit were not found".into());
    let mut multipliers = eigenvalues(&returns).ok_or_else(lost)?;
    multipliers.sort_by(|a, b| hypot(b.0, b.1).total_cmp(&hypot(a.0, a.1)).then(b.1.total_cmp(&a.1)));
    // those that are 1 because the orbit is one of a family say nothing about its stability
    let counted: Vec<(f64, f64)> = match is_singular(&at.matrix()) {
        true => multipliers.iter().copied().filter(|z| hypot(z.0 - 1.0, z.1) > NEUTRAL).collect(),
        false => multipliers.clone(),
    };
    let neutral = multipliers.len() - counted.len();
    let fold = match neutral {
        0 => (&returns - &one).determinant(),
        _ => counted.iter().fold((1.0, 0.0), |product, z| times(product, (z.0 - 1.0, z.1))).0,
    };
    let tests = [(&returns + &one).determinant(), fold, pairs(&counted)];
    let counts = case.motion.counts.clone();
    let impacts = counts.listed.iter().map(|s: &Impact| (s.t - at.start, s.contact, s.before)).collect();
    let state = case.state_of(at.from.as_slice(), at.start);
    let Survey { clearance, least } = survey(case, &state, (at.length, rounds), residual)?;
    if least < rounds {
        return Err(StudyError::Shorter { rounds, least });
    }
    Ok(Orbit {
        parameter,
        start: at.start,
        state: at.from.as_slice().to_vec(),
        period: at.length,
        residual,
        stability: Stability::of(&counted),
        multipliers,
        neutral,
        impacts,
        slowest: counts.slowest,
        clearance,
        advance: case.cyclic.coordinates().map(|i| (i, at.to[i] - at.from[i])).collect(),
        rests: counts.rests,
        tests,
    })
}

/// Real and imaginary parts. The iteration may not end where several are the same. Then zeros, as joints have them, are
/// taken out: those of U S Vᵀ are those of S Vᵀ U else; and the others are shifted, and known to a little less.
fn eigenvalues(matrix: &DMatrix<f64>) -> Option<Vec<(f64, f64)>> {
    let schur = |matrix: &DMatrix<f64>, shift: f64, small: f64| {
        let n = matrix.nrows();
        let shifted = matrix + DMatrix::identity(n, n) * shift;
        let schur = Schur::try_new(shifted, small, 100 * n.max(1))?;
        Some(schur.complex_eigenvalues().iter().map(|z| (z.re - shift, z.im)).collect::<Vec<_>>())
    };
    if let found @ Some(_) = schur(matrix, 0.0, f64::EPSILON) {
        return found;
    }
    let svd = matrix.clone().svd(true, true);
    let rank = svd.rank(ZERO * svd.singular_values.max());
    let (u, v_t) = (svd.u?, svd.v_t?);
    let scaled = DMatrix::from_diagonal(&svd.singular_values) * v_t;
    let rest = scaled.rows(0, rank) * u.columns(0, rank);
    let norm = 1.0 + rest.norm();
    let mut tries = [1e-15, 1e-14, 1e-13].into_iter().flat_map(|small| [0.0, 1.0, 1.7, -1.3].map(|part| (part, small)));
    let mut found = tries.find_map(|(part, small)| schur(&rest, part * norm, small))?;
    found.resize(matrix.nrows(), (0.0, 0.0));
    Some(found)
}

/// Π (μᵢμⱼ − 1) over pairs of multipliers: smooth along a branch, and zero where a complex pair is on the unit circle.
fn pairs(multipliers: &[(f64, f64)]) -> f64 {
    let mut product = (1.0, 0.0);
    for (i, a) in multipliers.iter().enumerate() {
        for b in &multipliers[i + 1..] {
            let (re, im) = times(*a, *b);
            product = times(product, (re - 1.0, im));
        }
    }
    product.0
}

/// The product of two complex numbers.
fn times(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

/// What samples of an orbit tell.
struct Survey {
    /// Least gap apart from impacts: the lowest points between them, on cubics through samples.
    clearance: f64,
    /// Rounds after which it repeats.
    least: usize,
}

/// Goes round an orbit and looks at its gaps and at the rounds after which it repeats. States inside obstacles are
/// refused.
fn survey(case: &mut Case, state: &State, (length, rounds): (f64, usize), residual: f64) -> Result<Survey, StudyError> {
    case.motion.set_columns(0);
    case.motion.restart(state);
    // each round has as many
    let each = SAMPLES.div_ceil(rounds);
    let h = length / (each * rounds) as f64;
    let mut clearance = f64::INFINITY;
    let mut last: Vec<(Key, f64, f64)> = Vec::new();
    let mut states: Vec<State> = Vec::new();
    let mut struck = case.motion.counts.impacts;
    for k in 0..=each * rounds {
        if k > 0 {
            case.motion.advance(state.t + k as f64 * h)?;
        }
        case.is_outside(length)?;
        let now = case.motion.gaps()?;
        let smooth = case.motion.counts.impacts == struck;
        struck = case.motion.counts.impacts;
        for (key, gap, rate) in &now {
            let before = last.iter().find(|(known, ..)| known == key).filter(|_| smooth);
            let Some((_, g0, u0)) = before else { continue };
            if *u0 < 0.0 && *rate > 0.0 {
                // the cubic's lowest point, by its parabola of slopes
                let (d, m0, m1) = (gap - g0, h * u0, h * rate);
                let (c2, c3) = (3.0 * d - 2.0 * m0 - m1, m0 + m1 - 2.0 * d);
                let root = (c2 * c2 - 3.0 * c3 * m0).max(0.0).sqrt();
                let s = (-m0 / (c2 + root)).clamp(0.0, 1.0);
                clearance = clearance.min(g0 + s * (m0 + s * (c2 + s * c3)));
            }
        }
        last = now;
        if rounds > 1 {
            states.push(case.motion.state().clone());
        }
    }
    case.motion.reset();
    Ok(Survey { clearance, least: least_period(case, &states, (each, rounds), residual)? })
}

/// The least number of rounds after which states repeat: a divisor of `rounds`. Samples next to impacts may lie on
/// either side of them, so that more than half must agree.
fn least_period(
    case: &Case,
    states: &[State],
    (each, rounds): (usize, usize),
    residual: f64,
) -> Result<usize, StudyError> {
    let cyclic = case.cyclic_directions()?;
    let apart = |a: &State, b: &State| {
        let mut way = vec![0.0; 2 * a.v.len()];
        case.motion.space().difference(a, b, &mut way);
        way.iter().enumerate().map(|(i, d)| cyclic.rest(i, *d).powi(2)).sum::<f64>().sqrt()
    };
    let spread = states.iter().map(|x| apart(&states[0], x)).fold(0.0, f64::max);
    let same = (SAME * spread).max(1e3 * residual);
    let repeats = |d: usize| {
        let pairs = states.iter().zip(&states[d * each..]);
        let close = pairs.clone().filter(|(a, b)| apart(a, b) <= same).count();
        2 * close > pairs.count()
    };
    Ok((1..rounds).find(|&d| rounds.is_multiple_of(d) && repeats(d)).unwrap_or(rounds))
}
