//! Periodic orbits through impacts, their multipliers, and how both change with a parameter [mueller1995, leine2004].
//!
//! ```text
//!     G(x, p) = P(x, p) − x = 0,   P the state after k periods T(p)                                                     (1)
//!     Newton:  (DP − 1) dx = −G,   multipliers: eigenvalues of DP                                                       (2)
//!     branch:  G = 0 and τ·(z − z₀ − Δs τ) = 0,  z = (x, p);   G_p = P_p + k T'(p) f(x⁺)                                (3)
//!     flip det(DP + 1) = 0,   fold det(DP − 1) = 0,   Neimark-Sacker |μ| = 1 of a complex pair                          (4)
//!     grazing: an impact whose speed goes to zero, or a gap whose least value does                                      (5)
//! ```
//!
//! DP and P_p come from the variational flow and saltation matrices. A branch is followed by pseudo-arclength, so that it passes folds; zeros of (4)
//! between two points are located on the branch itself. Near (5) the speed of an impact goes like a root of the distance: the place is where its square vanishes.

use super::{Stop, StudyError};
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

/// A point on a branch where something changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Special {
    pub kind: Kind,
    pub orbit: Orbit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    PeriodDoubling,
    Fold,
    NeimarkSacker,
    Grazing,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Kind::PeriodDoubling => "period doubling",
            Kind::Fold => "fold",
            Kind::NeimarkSacker => "Neimark-Sacker",
            Kind::Grazing => "grazing",
        }
    }
}

/// A branch of orbits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Branch {
    pub orbits: Vec<Orbit>,
    pub specials: Vec<Special>,
    /// Why it ended before the last value.
    pub ended: Option<String>,
}

/// Samples of an orbit in which gaps are looked at.
const SAMPLES: usize = 400;

/// Halvings of a step along a branch.
const HALVINGS: i32 = 12;

/// Steps in the location of a special point.
const LOCATE: u32 = 60;

/// Slowest impact below which a branch that ends has come to grazing, as a part of the fastest one.
const SLOW: f64 = 0.2;

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
        let step = matrix.lu().solve(&(&x - &at.x)).ok_or_else(|| StudyError::NoOrbit { residual })?;
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

/// A point of a branch with its direction.
struct Place {
    z: DVector<f64>,
    orbit: Orbit,
    tangent: DVector<f64>,
}

/// The unit vector of the parameter.
fn along_parameter(size: usize) -> DVector<f64> {
    DVector::from_fn(size, |i, _| if i + 1 == size { 1.0 } else { 0.0 })
}

/// A branch over the values of a parameter, from an orbit at the first of them; `start` is the time of the section.
pub struct Follow<'a> {
    pub make: &'a MakeCase<'a>,
    pub options: Options,
    pub start: f64,
    /// First and last value, and how many steps lie between them.
    pub range: (f64, f64, usize),
}

impl Follow<'_> {
    /// Follows the branch from a guess of its first orbit, until the parameter leaves the range.
    pub fn run(&self, guess: &State, stop: &Stop<'_>, tick: &dyn Fn()) -> Result<Branch, StudyError> {
        let (first, last, steps) = self.range;
        if first == last || steps == 0 || !(first.is_finite() && last.is_finite()) {
            let range = format!("{first}:{last}:{steps}");
            return Err(StudyError::option("the range of the parameter", range, "it is empty"));
        }
        let mut place = self.first(guess)?;
        let mut branch = Branch { orbits: vec![place.orbit.clone()], ..Branch::default() };
        // length of one step in the parameter, and of the step now
        let (size, whole) = (place.z.len(), (last - first).abs() / steps as f64);
        let mut length = whole;
        for _ in 0..40 * steps {
            if stop() {
                return Err(StudyError::Interrupted);
            }
            let unit = place.tangent[size - 1].abs().max(0.05);
            let next = self.step(&place, length / unit).ok().filter(|next| self.is_near(&place, next));
            let Some(mut next) = next else {
                length *= 0.5;
                if length < whole * 0.5f64.powi(HALVINGS) {
                    branch.ended = Some(self.end_of(&mut branch, &place));
                    return Ok(branch);
                }
                continue;
            };
            let along = (next.z[size - 1] - first) / (last - first);
            if along >= 1.0 {
                next = self.at_end(&place, next);
            }
            self.look(&place, &next, &mut branch.specials);
            length = (2.0 * length).min(whole);
            place = next;
            branch.orbits.push(place.orbit.clone());
            tick();
            if along >= 1.0 {
                return Ok(branch);
            }
            if along * steps as f64 <= -1.0 {
                branch.ended = Some(format!("the branch turns and leaves the range at {first}"));
                return Ok(branch);
            }
        }
        branch.ended = Some("the branch does not leave the range".into());
        Ok(branch)
    }

    /// The orbit at the first value, and the direction towards the last.
    fn first(&self, guess: &State) -> Result<Place, StudyError> {
        let (first, last, _) = self.range;
        let orbit = find(&mut (self.make)(first)?, first, guess, &self.options)?;
        let z = DVector::from_iterator(orbit.state.len() + 1, orbit.state.iter().copied().chain([first]));
        let tangent = self.tangent(&z, &(along_parameter(z.len()) * (last - first).signum()))?;
        Ok(Place { z, orbit, tangent })
    }

    /// The point at the last value instead of one beyond it.
    fn at_end(&self, from: &Place, beyond: Place) -> Place {
        let size = from.z.len();
        let part = (self.range.1 - from.z[size - 1]) / (beyond.z[size - 1] - from.z[size - 1]);
        let mut guess = &from.z + part * (&beyond.z - &from.z);
        guess[size - 1] = self.range.1;
        match self.correct(&guess, &along_parameter(size)) {
            Ok((z, orbit)) => Place { z, orbit, tangent: beyond.tangent },
            Err(_) => beyond,
        }
    }

    /// Unit direction of the branch at z, along `last`.
    fn tangent(&self, z: &DVector<f64>, last: &DVector<f64>) -> Result<DVector<f64>, StudyError> {
        let size = z.len();
        let (matrix, _) = self.system(z, last)?;
        let mut rhs = DVector::zeros(size);
        rhs[size - 1] = 1.0;
        let tangent = matrix.lu().solve(&rhs).ok_or(StudyError::NoOrbit { residual: 0.0 })?;
        let norm = tangent.norm();
        Ok(tangent / norm)
    }

    /// The matrix of (3) at z with the direction in its last row, and G.
    fn system(&self, z: &DVector<f64>, direction: &DVector<f64>) -> Result<(DMatrix<f64>, DVector<f64>), StudyError> {
        let (matrix, g, ..) = self.full_system(z, direction)?;
        Ok((matrix, g))
    }

    fn full_system(
        &self,
        z: &DVector<f64>,
        direction: &DVector<f64>,
    ) -> Result<(DMatrix<f64>, DVector<f64>, Case, Image), StudyError> {
        let size = z.len();
        let mut case = (self.make)(z[size - 1])?;
        let x = z.rows(0, size - 1).into_owned();
        let at = image(&mut case, self.start, &x, self.options.multiple)?;
        let mut matrix = DMatrix::zeros(size, size);
        for i in 0..size - 1 {
            for j in 0..size - 1 {
                matrix[(i, j)] = at.dx[(i, j)] - if i == j { 1.0 } else { 0.0 };
            }
            matrix[(i, size - 1)] = at.dp[i];
        }
        for j in 0..size {
            matrix[(size - 1, j)] = direction[j];
        }
        let g = &at.x - &x;
        Ok((matrix, g, case, at))
    }

    /// Newton's method on (3) from a guess, in the plane across `direction`.
    fn correct(&self, guess: &DVector<f64>, direction: &DVector<f64>) -> Result<(DVector<f64>, Orbit), StudyError> {
        let size = guess.len();
        let mut z = guess.clone();
        let mut least = f64::INFINITY;
        for _ in 0..self.options.iterations {
            let (matrix, g, mut case, at) = self.full_system(&z, direction)?;
            let residual = g.norm();
            let settled = residual <= self.options.tolerance * (1.0 + z.norm());
            // rounding may keep a good point from the tolerance
            let stuck = residual >= 0.5 * least && residual <= 1e3 * self.options.tolerance * (1.0 + z.norm());
            if settled || stuck {
                let x = z.rows(0, size - 1).into_owned();
                let orbit = finish(&mut case, (z[size - 1], self.start), x, at, &self.options)?;
                return Ok((z, orbit));
            }
            if residual > 10.0 * least && residual > 1e-3 {
                return Err(StudyError::NoOrbit { residual });
            }
            least = least.min(residual);
            let mut rhs = DVector::zeros(size);
            rhs.rows_mut(0, size - 1).copy_from(&-g);
            rhs[size - 1] = direction.dot(&(guess - &z));
            z += matrix.lu().solve(&rhs).ok_or(StudyError::NoOrbit { residual })?;
        }
        Err(StudyError::NoOrbit { residual: least })
    }

    /// The next point of the branch.
    fn step(&self, from: &Place, length: f64) -> Result<Place, StudyError> {
        let guess = &from.z + length * &from.tangent;
        let (z, orbit) = self.correct(&guess, &from.tangent)?;
        let tangent = self.tangent(&z, &from.tangent)?;
        Ok(Place { z, orbit, tangent })
    }

    /// Whether two points are neighbours: the same impacts in the same order, and no leap.
    fn is_near(&self, a: &Place, b: &Place) -> bool {
        let contacts = |o: &Orbit| o.impacts.iter().map(|i| i.1).collect::<Vec<_>>();
        contacts(&a.orbit) == contacts(&b.orbit) && a.tangent.dot(&b.tangent) > 0.9
    }

    /// Special points between two neighbours.
    fn look(&self, a: &Place, b: &Place, specials: &mut Vec<Special>) {
        for (k, kind) in [Kind::PeriodDoubling, Kind::Fold, Kind::NeimarkSacker].into_iter().enumerate() {
            let (fa, fb) = (a.orbit.tests[k], b.orbit.tests[k]);
            // the sign of a NaN (no complex pair) is none
            if !(fa * fb < 0.0) {
                continue;
            }
            if let Some(orbit) = self.locate(a, b, |orbit| orbit.tests[k]) {
                specials.push(Special { kind, orbit });
            }
        }
    }

    /// The zero of a function of orbits between two points.
    fn locate(&self, a: &Place, b: &Place, test: impl Fn(&Orbit) -> f64) -> Option<Orbit> {
        let chord = &b.z - &a.z;
        let direction = &chord / chord.norm();
        let (mut low, mut high) = ((0.0, test(&a.orbit)), (1.0, test(&b.orbit)));
        let mut best = None;
        let mut side = 0;
        for _ in 0..LOCATE {
            // Illinois: false position whose idle end loses half its value
            let s = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let guess = &a.z + s * &chord;
            let (_, orbit) = self.correct(&guess, &direction).ok()?;
            let value = test(&orbit);
            best = Some(orbit);
            if !value.is_finite() || value == 0.0 || (high.0 - low.0) < 1e-13 || value.abs() < 1e-13 {
                break;
            }
            if value * low.1 > 0.0 {
                low = (s, value);
                if side == 1 {
                    high.1 *= 0.5;
                }
                side = 1;
            } else {
                high = (s, value);
                if side == 2 {
                    low.1 *= 0.5;
                }
                side = 2;
            }
        }
        best
    }

    /// Why the branch cannot go on; a grazing point is noted.
    fn end_of(&self, branch: &mut Branch, last: &Place) -> String {
        let fastest = last.orbit.impacts.iter().fold(0.0f64, |m, i| m.max(i.2.abs()));
        let size = last.orbit.clearance.min(last.orbit.slowest);
        let square = |o: &Orbit| o.slowest * o.slowest;
        let before = branch.orbits.iter().rev().find(|o| (o.parameter - last.orbit.parameter).abs() > 0.0);
        if let Some(before) = before {
            let by_speed =
                last.orbit.slowest <= SLOW * fastest.max(f64::MIN_POSITIVE) && square(before) > square(&last.orbit);
            let by_gap = last.orbit.clearance.is_finite() && before.clearance > last.orbit.clearance;
            let extrapolated = |f: &dyn Fn(&Orbit) -> f64| {
                let (x, y) = (f(before), f(&last.orbit));
                last.orbit.parameter + (last.orbit.parameter - before.parameter) * y / (x - y)
            };
            let place = match (by_speed, by_gap) {
                (true, _) => Some(extrapolated(&square)),
                (false, true) => Some(extrapolated(&|o: &Orbit| o.clearance)),
                (false, false) => None,
            };
            if let Some(parameter) = place.filter(|p| p.is_finite()) {
                branch.specials.push(Special { kind: Kind::Grazing, orbit: Orbit { parameter, ..last.orbit.clone() } });
                return format!("the branch ends in grazing at about {parameter}");
            }
        }
        format!("no orbit was found beyond {}, the nearest impact or gap is {size:.3e} away", last.orbit.parameter)
    }
}
