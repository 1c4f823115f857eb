//! Orbits over a parameter: branches with the points where they change.
//!
//! ```text
//!     G = 0 and τ·(z − z₀ − Δs τ) = 0,   z = (x, p),   τ the direction of the branch                                    (1)
//!     flip det(DP + 1) = 0,   fold det(DP − 1) = 0,   Neimark-Sacker |μ| = 1 of a complex pair                          (2)
//!     grazing: an impact whose speed goes to zero, or a gap whose least value does                                      (3)
//! ```
//!
//! Pseudo-arclength (1) passes folds. Zeros of (2) between two points are located on the branch itself. Near (3) the speed of an impact goes
//! like a root of the distance, and derivatives become infinite: the branch ends, and the place is where the square of the speed, or the
//! gap, vanishes by extrapolation.

use super::super::{Stop, StudyError};
use super::{Case, Image, MakeCase, Options, Orbit, find, finish, image};
use carom::State;
use nalgebra::{DMatrix, DVector};
use serde::Serialize;

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

/// Halvings of a step along a branch.
const HALVINGS: i32 = 12;

/// Steps in the location of a special point.
const LOCATE: u32 = 60;

/// Slowest impact below which a branch that ends has come to grazing, as a part of the fastest one.
const SLOW: f64 = 0.2;

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

    /// The matrix of (1) at z with the direction in its last row, and G.
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

    /// Newton's method on (1) from a guess, in the plane across `direction`.
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
            // without a complex pair the third is no number, and has no sign
            let changes = fa * fb < 0.0;
            if changes && let Some(orbit) = self.locate(a, b, |orbit| orbit.tests[k]) {
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
