//! Orbits over a parameter: branches with the points where they change.
//!
//! ```text
//!     G = 0 and τ·(z − z₀ − Δs τ) = 0,   z = (y, p),   τ the direction of the branch                                    (1)
//!     flip det(DP + 1) = 0,   fold det(DP − 1) = 0,   Neimark-Sacker Π (μᵢμⱼ − 1) = 0 with a complex pair               (2)
//!     grazing: an impact whose speed goes to zero, or a gap whose least value does                                      (3)
//! ```
//!
//! Pseudo-arclength (1) passes folds. Where det(DP − 1) vanishes and the branch does not turn, another one crosses it.
//! Zeros of (2) between two points are located on the branch itself. Near (3) derivatives become infinite: the branch
//! ends, and the place is where the speed or the gap vanishes by extrapolation, with the parameter as a parabola of
//! them (speeds may go like a root of the distance).

use super::super::{Stop, StudyError};
use super::image::Image;
use super::place::solutions;
use super::{Case, MakeCase, Options, Orbit, Period, Section, find, finish};
use carom::State;
use carom::elementary::hypot;
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// A point on a branch where something changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Special {
    /// What changes.
    pub kind: SpecialKind,
    /// The orbit there; for grazing the last one of the branch, with an extrapolated parameter.
    pub orbit: Orbit,
}

/// What changes at a point of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpecialKind {
    /// A multiplier passes −1: orbits of twice the period branch off.
    PeriodDoubling,
    /// A multiplier passes 1, and the branch turns back in the parameter.
    Fold,
    /// Another branch crosses.
    BranchPoint,
    /// A complex pair of multipliers passes the unit circle.
    NeimarkSacker,
    /// The speed of an impact, or the least value of a gap, goes to zero.
    Grazing,
}

impl SpecialKind {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            SpecialKind::PeriodDoubling => "period doubling",
            SpecialKind::Fold => "fold",
            SpecialKind::BranchPoint => "branch point",
            SpecialKind::NeimarkSacker => "Neimark-Sacker",
            SpecialKind::Grazing => "grazing",
        }
    }
}

/// A branch of orbits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Orbits in the order along the branch.
    pub orbits: Vec<Orbit>,
    /// Points on the way where something changes.
    pub specials: Vec<Special>,
    /// Why it ended before the last value.
    pub ended: Option<String>,
}

/// Halvings of a step along a branch.
const HALVINGS: i32 = 12;

/// Most halves of a step of the branch in the search of a special point.
const HALVES: u32 = 12;

/// Steps in the location of a special point.
const LOCATE: u32 = 60;

/// Most times that the section moves along a branch, and how near an impact comes to it before, as a part of the
/// longest time between two impacts.
const MOVES: u32 = 50;
const NEAR: f64 = 0.1;

/// Slowest impact below which a branch that ends has come to grazing, as a part of the fastest one on it.
const SLOW: f64 = 0.2;

/// A point of a branch with its direction.
pub(super) struct BranchPlace {
    /// Positions, velocities, what else is unknown, and the parameter.
    pub z: DVector<f64>,
    pub orbit: Orbit,
    pub tangent: DVector<f64>,
}

/// The unit vector of the parameter.
fn along_parameter(size: usize) -> DVector<f64> {
    DVector::from_fn(size, |i, _| if i + 1 == size { 1.0 } else { 0.0 })
}

/// The entry of the parameter, the last one.
fn parameter(z: &DVector<f64>) -> f64 {
    z[z.len() - 1]
}

/// Whether the pair of multipliers whose product is nearest to 1 is complex.
fn is_on_circle(orbit: &Orbit) -> bool {
    let mut nearest = (f64::INFINITY, false);
    for (i, a) in orbit.multipliers.iter().enumerate() {
        for b in &orbit.multipliers[i + 1..] {
            let miss = hypot(a.0 * b.0 - a.1 * b.1 - 1.0, a.0 * b.1 + a.1 * b.0);
            if miss < nearest.0 {
                nearest = (miss, a.1 != 0.0);
            }
        }
    }
    nearest.1
}

/// A branch over the values of a parameter, from an orbit at the first of them.
pub struct Follow<'a> {
    /// Makes the motion for each value.
    pub make: &'a MakeCase<'a>,
    /// What to look for at each value.
    pub options: Options,
    /// Time of the section, where it is no unknown. A phase to which an impact comes is left for another one.
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
        let place = self.first(guess)?;
        self.walk(place, stop, tick)
    }

    /// Follows a branch from a place on it, along its direction, until the parameter leaves the range.
    pub(super) fn walk(&self, mut place: BranchPlace, stop: &Stop<'_>, tick: &dyn Fn()) -> Result<Branch, StudyError> {
        let (first, last, steps) = self.range;
        // the section may move on the way
        let (mut here, mut moves) = (Follow { ..*self }, 0);
        let mut branch = Branch { orbits: vec![place.orbit.clone()], ..Branch::default() };
        // length of one step in the parameter, and of the step now
        let whole = (last - first).abs() / steps as f64;
        let mut length = whole;
        for _ in 0..40 * steps {
            if stop() {
                return Err(StudyError::Interrupted);
            }
            let unit = parameter(&place.tangent).abs().max(0.05);
            let next = here.step(&place, length / unit);
            let shorter = matches!(next, Err(StudyError::Shorter { .. }));
            let Some(mut next) = next.ok().filter(|next| here.is_near(&place, next)) else {
                if moves < MOVES
                    && let Some((start, moved)) = here.move_section(&place)
                {
                    (here.start, place, length) = (start, moved, whole);
                    moves += 1;
                    continue;
                }
                length *= 0.5;
                if length < whole * 0.5f64.powi(HALVINGS) {
                    branch.ended = Some(match shorter {
                        true => format!("at about {} it becomes an orbit of fewer rounds", place.orbit.parameter),
                        false => here.end_of(&mut branch, &place),
                    });
                    return Ok(branch);
                }
                continue;
            };
            let along = (parameter(&next.z) - first) / (last - first);
            if along >= 1.0 {
                next = here.at_end(&place, next);
            }
            here.find_specials(&place, &next, &mut branch.specials);
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

    /// The same orbit from a phase far from impacts, where one of them has come to the phase of the section: states
    /// jump there.
    fn move_section(&self, place: &BranchPlace) -> Option<(f64, BranchPlace)> {
        let mut case = (self.make)(place.orbit.parameter).ok()?;
        let orbit = &place.orbit;
        let mut times: Vec<f64> = orbit.impacts.iter().map(|impact| impact.0.rem_euclid(orbit.period)).collect();
        times.sort_by(f64::total_cmp);
        let (first, last) = (*times.first()?, *times.last()?);
        times.push(first + orbit.period);
        let widest = times.windows(2).max_by(|a, b| (a[1] - a[0]).total_cmp(&(b[1] - b[0])))?;
        let near = first.min(orbit.period - last) < NEAR * (widest[1] - widest[0]);
        if !near || !matches!(case.section, Section::Strobe) {
            return None;
        }
        let start = self.start + (0.5 * (widest[0] + widest[1])).rem_euclid(orbit.period);
        case.motion.set_columns(0);
        case.motion.restart(&case.state_of(&orbit.state, orbit.start));
        case.motion.advance(start).ok()?;
        let guess = case.motion.state().clone();
        let orbit = find(&mut case, orbit.parameter, &guess, &self.options).ok()?;
        let moved = Follow { start, ..*self };
        let z = moved.place(&case, &orbit);
        let direction = along_parameter(place.tangent.len()) * parameter(&place.tangent).signum();
        let tangent = moved.tangent(&z, &direction).ok()?;
        Some((start, BranchPlace { z, orbit, tangent }))
    }

    /// The orbit at the first value, and the direction towards the last.
    fn first(&self, guess: &State) -> Result<BranchPlace, StudyError> {
        let (first, last, _) = self.range;
        let mut case = (self.make)(first)?;
        let orbit = find(&mut case, first, guess, &self.options)?;
        let z = self.place(&case, &orbit);
        let size = case.apart(&z, &z).len();
        let tangent = self.tangent(&z, &(along_parameter(size) * (last - first).signum()))?;
        Ok(BranchPlace { z, orbit, tangent })
    }

    /// z of an orbit.
    pub(super) fn place(&self, case: &Case, orbit: &Orbit) -> DVector<f64> {
        let extra = match (&case.section, case.period) {
            (Section::Strobe, _) => None,
            (_, Period::Forced(..)) => Some(orbit.start),
            (_, Period::Free(_)) => Some(orbit.period),
        };
        let entries: Vec<f64> = orbit.state.iter().copied().chain(extra).chain([orbit.parameter]).collect();
        DVector::from_vec(entries)
    }

    /// The point at the last value instead of one beyond it.
    fn at_end(&self, from: &BranchPlace, beyond: BranchPlace) -> BranchPlace {
        let part = (self.range.1 - parameter(&from.z)) / (parameter(&beyond.z) - parameter(&from.z));
        let Ok(case) = (self.make)(self.range.1) else { return beyond };
        let way = case.apart(&from.z, &beyond.z);
        let mut guess = case.moved(&from.z, &(part * &way));
        let last = guess.len() - 1;
        guess[last] = self.range.1;
        match self.correct(&guess, &along_parameter(way.len())) {
            Ok((z, orbit)) => BranchPlace { z, orbit, tangent: beyond.tangent },
            Err(_) => beyond,
        }
    }

    /// Unit direction of the branch at z, along `last`.
    pub(super) fn tangent(&self, z: &DVector<f64>, last: &DVector<f64>) -> Result<DVector<f64>, StudyError> {
        let (matrix, _) = self.system(z, last)?;
        let rhs = along_parameter(last.len());
        let tangent = solutions(matrix, &rhs).into_iter().next().ok_or(StudyError::NoOrbit { residual: 0.0 })?;
        let norm = tangent.norm();
        Ok(tangent / norm)
    }

    /// The matrix of (1) at z with the direction in its last row, and G.
    fn system(&self, z: &DVector<f64>, direction: &DVector<f64>) -> Result<(DMatrix<f64>, DVector<f64>), StudyError> {
        let (matrix, g, ..) = self.full_system(&mut z.clone(), direction)?;
        Ok((matrix, g))
    }

    /// The same with what it was made from; z moves to the section next to it.
    fn full_system(
        &self,
        z: &mut DVector<f64>,
        direction: &DVector<f64>,
    ) -> Result<(DMatrix<f64>, DVector<f64>, Case, Image), StudyError> {
        let size = z.len();
        let mut case = (self.make)(z[size - 1])?;
        let mut y = z.rows(0, size - 1).into_owned();
        case.settle(&mut y, self.start, &self.options)?;
        z.rows_mut(0, size - 1).copy_from(&y);
        let at = case.image(&y, self.start, &self.options)?;
        let m = direction.len() - 1;
        let mut matrix = DMatrix::zeros(m + 1, m + 1);
        matrix.view_mut((0, 0), (m, m)).copy_from(&at.matrix());
        matrix.view_mut((0, m), (m, 1)).copy_from(&at.by_parameter());
        matrix.view_mut((m, 0), (1, m + 1)).copy_from(&direction.transpose());
        let g = at.residual();
        Ok((matrix, g, case, at))
    }

    /// Newton's method on (1) from a guess, in the plane across `direction`.
    pub(super) fn correct(
        &self,
        guess: &DVector<f64>,
        direction: &DVector<f64>,
    ) -> Result<(DVector<f64>, Orbit), StudyError> {
        let mut z = guess.clone();
        let mut least = f64::INFINITY;
        for _ in 0..self.options.iterations {
            let (matrix, g, mut case, at) = self.full_system(&mut z, direction)?;
            let residual = g.norm();
            let settled = residual <= self.options.tolerance * (1.0 + z.norm());
            // rounding may keep a good point from the tolerance
            let stuck = residual >= 0.5 * least && residual <= 1e3 * self.options.tolerance * (1.0 + z.norm());
            if settled || stuck {
                let orbit = finish(&mut case, parameter(&z), at, &self.options)?;
                return Ok((z, orbit));
            }
            if residual > 10.0 * least && residual > 1e-3 {
                return Err(StudyError::NoOrbit { residual });
            }
            least = least.min(residual);
            let rhs = (-g).push(direction.dot(&case.apart(&z, guess)));
            let step = solutions(matrix, &rhs).into_iter().next().ok_or(StudyError::NoOrbit { residual })?;
            z = case.moved(&z, &step);
        }
        Err(StudyError::NoOrbit { residual: least })
    }

    /// The next point of the branch.
    fn step(&self, from: &BranchPlace, length: f64) -> Result<BranchPlace, StudyError> {
        let case = (self.make)(parameter(&from.z))?;
        let guess = case.moved(&from.z, &(length * &from.tangent));
        let (z, orbit) = self.correct(&guess, &from.tangent)?;
        let tangent = self.tangent(&z, &from.tangent)?;
        Ok(BranchPlace { z, orbit, tangent })
    }

    /// Whether two points are neighbours: the same impacts in the same order, and no leap.
    fn is_near(&self, a: &BranchPlace, b: &BranchPlace) -> bool {
        let contacts = |o: &Orbit| o.impacts.iter().map(|i| i.1).collect::<Vec<_>>();
        contacts(&a.orbit) == contacts(&b.orbit) && a.tangent.dot(&b.tangent) > 0.9
    }

    /// Special points between two neighbours.
    fn find_specials(&self, a: &BranchPlace, b: &BranchPlace, specials: &mut Vec<Special>) {
        for (k, kind) in
            [SpecialKind::PeriodDoubling, SpecialKind::Fold, SpecialKind::NeimarkSacker].into_iter().enumerate()
        {
            let (fa, fb) = (a.orbit.tests[k], b.orbit.tests[k]);
            if fa * fb >= 0.0 {
                continue;
            }
            let Some(orbit) = self.close_in(a, b, &|orbit| orbit.tests[k], HALVES) else { continue };
            let turns = parameter(&a.tangent) * parameter(&b.tangent) < 0.0;
            let kind = if kind == SpecialKind::Fold && !turns { SpecialKind::BranchPoint } else { kind };
            // two real multipliers with the product 1 change nothing
            if kind != SpecialKind::NeimarkSacker || is_on_circle(&orbit) {
                specials.push(Special { kind, orbit });
            }
        }
    }

    /// The same where the branch bends too much for its chord, as it does behind a period doubling: points of the
    /// branch half way between, so many times.
    fn close_in(&self, a: &BranchPlace, b: &BranchPlace, test: &dyn Fn(&Orbit) -> f64, halves: u32) -> Option<Orbit> {
        if let found @ Some(_) = self.locate(a, b, test) {
            return found;
        }
        let case = (self.make)(parameter(&a.z)).ok()?;
        let half = 0.5 * case.apart(&a.z, &b.z).norm();
        let middle = [(a, half), (b, -half)].into_iter().filter(|_| halves > 0).find_map(|(from, length)| {
            let middle = self.step(from, length).ok()?;
            (self.is_near(a, &middle) && self.is_near(&middle, b)).then_some(middle)
        })?;
        if test(&a.orbit) * test(&middle.orbit) <= 0.0 {
            self.close_in(a, &middle, test, halves - 1)
        } else {
            self.close_in(&middle, b, test, halves - 1)
        }
    }

    /// The zero of a function of orbits between two points.
    fn locate(&self, a: &BranchPlace, b: &BranchPlace, test: &dyn Fn(&Orbit) -> f64) -> Option<Orbit> {
        let case = (self.make)(parameter(&a.z)).ok()?;
        let chord = case.apart(&a.z, &b.z);
        let direction = &chord / chord.norm();
        let (mut low, mut high) = ((0.0, test(&a.orbit)), (1.0, test(&b.orbit)));
        let mut best = None;
        let mut side = 0;
        for _ in 0..LOCATE {
            // Illinois: false position whose idle end loses half its value
            let s = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
            let guess = case.moved(&a.z, &(s * &chord));
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
    fn end_of(&self, branch: &mut Branch, last: &BranchPlace) -> String {
        let fastest = branch.orbits.iter().flat_map(|o| &o.impacts).fold(0.0f64, |m, impact| m.max(impact.2.abs()));
        let size = last.orbit.clearance.min(last.orbit.slowest);
        let by_speed = last.orbit.slowest <= SLOW * fastest;
        // along the branch the parameter is a smooth function of what vanishes
        let place = vanishing(&branch.orbits, |o| o.slowest).filter(|_| by_speed);
        let place = place.or_else(|| vanishing(&branch.orbits, |o| o.clearance));
        if let Some(parameter) = place {
            branch
                .specials
                .push(Special { kind: SpecialKind::Grazing, orbit: Orbit { parameter, ..last.orbit.clone() } });
            return format!("the branch ends in grazing at about {parameter}");
        }
        format!("no orbit was found beyond {}, the nearest impact or gap is {size:.3e} away", last.orbit.parameter)
    }
}

/// The parameter at which a quantity of the last three orbits is zero, if it falls: p as a parabola of it.
fn vanishing(orbits: &[Orbit], quantity: impl Fn(&Orbit) -> f64) -> Option<f64> {
    let [.., a, b, c] = orbits else { return None };
    let [x, y, z] = [a, b, c].map(&quantity);
    if !(x > y && y > z && z >= 0.0 && x.is_finite()) {
        return None;
    }
    let weight = |own: f64, one: f64, other: f64| one * other / ((own - one) * (own - other));
    let parameter = a.parameter * weight(x, y, z) + b.parameter * weight(y, x, z) + c.parameter * weight(z, x, y);
    // far away it is no place of this branch
    let reach = 10.0 * (c.parameter - a.parameter).abs();
    (parameter.is_finite() && (parameter - c.parameter).abs() <= reach).then_some(parameter)
}
