//! The search for rest: the motion without inertia, then Newton's method.
//!
//! ```text
//!     M v = h F(q + h v, v) + Cᵀ P,   gap/h + C v and P in their laws,   q ← q ⊕ h v                          (1)
//!     [K −Cᵀ; C 0] (δq, λ) = (F, −gap)   on the rows that held in (1)                                         (2)
//! ```
//!
//! (1) begins each step at rest: what loses potential and friction alone decides where it goes. It is solved with one
//! linearisation; h grows while that is good, so that steps become those of (2) where springs carry everything. (2) has
//! the geometric stiffness of reactions besides, and is tried while the same contacts act. A point of (2) counts where
//! it is one of rest and stable.

use super::place::Place;
use super::reactions::{Reactions, complement, solve};
use super::{BALANCE, EquilibriumError, Where};
use crate::balance::lengths::Lengths;
use crate::model::{Combination, Tangent};
use crate::{Coupling, Key, Law, Mechanical, ModelError, Space, State};
use carom_solve::{OneStepProblem, Parts, ProblemWork, Reaction, Rows, Solver};
use nalgebra::{DMatrix, DVector};

/// Most steps that are taken.
const STEPS: usize = 600;

/// Steps that are tried to tell where a position moves to that is judged alone.
const FEW: usize = 8;

/// Most steps that are tried.
const TRIALS: usize = 1500;

/// A step is good where what its linearisation misses is below this part of it; it grows below the second.
const GOOD: (f64, f64) = (0.5, 0.1);

/// Part of the size of a coordinate that a step may go.
const REACH: f64 = 0.1;

/// Slip below this part of the largest velocity is none.
const SLIP: f64 = 1e-6;

/// Rounding of a force, as a part of the terms that cancel in it.
const ROUNDING: f64 = 1e-13;

/// Steps of Newton's method.
const NEWTON: usize = 25;

/// Where it rests.
pub(super) struct Found {
    pub place: Place,
    pub reactions: Reactions,
    pub steps: usize,
    /// By how much the laws are missed, as a part of the forces.
    pub violation: f64,
}

/// Finds rest from a position.
pub(super) fn search(
    model: &mut dyn Mechanical,
    tangent: &mut dyn Tangent,
    from: &State,
    place: Where,
) -> Result<Found, EquilibriumError> {
    let only_here = place == Where::Here;
    let mut search = Search::new(model, from);
    let place = Place::new(model, from.t, &from.q, &search.lengths)?;
    let keys: Vec<Key> = place.coupling.pairs.iter().map(|pair| pair.key).collect();
    search.measure(model, tangent, (&place, &keys))?;
    let mut best = match search.judge(place, 0) {
        Ok(found) => return Ok(found),
        Err(place) => place,
    };
    let mut h = first_step(&*model, &best);
    let (mut steps, mut last) = (0, None);
    for trial in 0..TRIALS {
        // where it moves from here, a few short steps tell
        if h < f64::MIN_POSITIVE || only_here && trial == FEW {
            break;
        }
        let Some(step) = search.step(model, &best, h)? else {
            h *= 0.25;
            continue;
        };
        if step.missed > GOOD.0 {
            h *= 0.25;
            continue;
        }
        if step.missed < GOOD.1 {
            h *= 3.0;
        }
        steps += 1;
        let same = last.as_ref().is_some_and(|before: &Step| before.held == step.held);
        if only_here {
            let (moves, residual) = search.unrest(model, &best, Some(&step));
            return Err(EquilibriumError::NotHere { moves, residual });
        }
        best = match search.judge(step.place.clone(), steps) {
            Ok(found) => return Ok(search.polish(model, tangent, (&step, &keys), steps)?.unwrap_or(found)),
            Err(place) => place,
        };
        if same && let Some(found) = search.polish(model, tangent, (&step, &keys), steps)? {
            return Ok(found);
        }
        last = Some(step);
        if steps == STEPS || h > 1e150 {
            break;
        }
    }
    let (moves, residual) = search.unrest(model, &best, last.as_ref());
    Err(match only_here {
        true => EquilibriumError::NotHere { moves, residual },
        false => EquilibriumError::NotFound { steps, moves, residual },
    })
}

/// A first step in which nothing goes far; any will do.
fn first_step(model: &dyn Mechanical, place: &Place) -> f64 {
    let mut sizes = vec![0.0; model.dim()];
    model.least_sizes(&mut sizes);
    let acceleration = place.increment(&place.scaled_force);
    let rate = acceleration.iter().zip(&sizes).filter(|(_, size)| **size > 0.0).map(|(a, size)| (a / size).abs());
    let rate = rate.fold(0.0, f64::max);
    if rate > 0.0 { (0.01 / rate).sqrt() } else { 1e-3 }
}

/// A step of (1).
struct Step {
    place: Place,       // where it ends
    lambda: Vec<f64>,   // (rows of the coupling) forces
    held: Vec<bool>,    // (rows of the coupling) which rows do not move
    velocity: Vec<f64>, // v
    missed: f64,        // what the linearisation misses, as a part of the step
}

struct Search {
    lengths: Lengths,
    sizes: Vec<f64>,
    unit: f64, // how large forces are, scaled by the mass
    solver: Box<dyn Solver>,
    work: ProblemWork,
    z: Reaction,
}

impl Search {
    fn new(model: &dyn Mechanical, from: &State) -> Search {
        let mut sizes = vec![0.0; model.dim()];
        model.least_sizes(&mut sizes);
        let mut lengths = Lengths::of(model);
        lengths.meet(model, &from.q, &vec![0.0; model.dim()], 0.0);
        let (solver, work, z) = (carom_solve::solver::default(), ProblemWork::default(), Reaction::default());
        Search { lengths, sizes, unit: 0.0, solver, work, z }
    }

    /// How large forces are: those at the start, or the rounding of what springs do over the size of the model.
    fn measure(
        &mut self,
        model: &mut dyn Mechanical,
        tangent: &mut dyn Tangent,
        (place, keys): (&Place, &[Key]),
    ) -> Result<(), EquilibriumError> {
        let [stiffness, _] = place.stiffness(tangent, keys, &vec![0.0; place.coupling.drift.len()])?;
        let n = model.dim();
        let size = |j: usize| self.sizes[j].max(if place.q.len() == n { place.q[j].abs() } else { 0.0 });
        let far = place.mass.l_dirty().lower_triangle().transpose() * DVector::from_fn(n, |j, _| size(j));
        self.unit = place.scaled_force.norm().max(ROUNDING / BALANCE * stiffness.norm() * far.norm());
        Ok(())
    }

    /// Whether a position is one of rest.
    fn judge(&self, place: Place, steps: usize) -> Result<Found, Place> {
        if !place.is_admissible() {
            return Err(place);
        }
        let mut reactions = place.reactions(self.unit);
        if reactions.residual > BALANCE {
            return Err(place);
        }
        let violation = reactions.violation(1.0);
        if violation > BALANCE { Err(place) } else { Ok(Found { place, reactions, steps, violation }) }
    }

    /// The part of its size that a coordinate goes at most.
    fn reach(&self, way: &[f64]) -> f64 {
        let parts = way.iter().zip(&self.sizes).filter(|(_, size)| **size > 0.0).map(|(way, size)| way.abs() / size);
        parts.fold(0.0, f64::max)
    }

    /// One step of (1); nothing where there is none of this length.
    fn step(&mut self, model: &mut dyn Mechanical, from: &Place, h: f64) -> Result<Option<Step>, EquilibriumError> {
        let n = model.dim();
        let still = State::new(from.t, &from.q, &vec![0.0; n]);
        model.detect(&still, h)?;
        model.begin_step(h);
        let mut coupling = Coupling::default();
        model.couple(from.t, &from.q, &mut coupling)?;
        let sticks = vec![true; coupling.len()];
        model.rub((from.t, &from.q, &still.v), &sticks, &mut coupling)?;
        if model.factor(&still, Combination { mass: 1.0, damping: h, stiffness: h * h }).is_err() {
            return Ok(None);
        }
        let mut v: Vec<f64> = from.force.iter().map(|f| h * f).collect();
        model.solve(&mut v);
        let present: Vec<usize> = (0..coupling.len()).filter(|&i| coupling.is_present(i)).collect();
        let (mut laws, mut output, mut b, mut places) = (Vec::new(), Rows::new(n), Vec::new(), Vec::new());
        for &i in &present {
            let pair = coupling.pairs[i];
            laws.push(pair.law);
            for row in coupling.range(i) {
                let is_gap = row == coupling.offset[i] && !pair.law.is_relay();
                output.push_row_of(&coupling.rows, row);
                b.push(coupling.rows.dot(row, &v) + if is_gap { pair.gap / h } else { 0.0 });
                places.push(row);
            }
        }
        let mut impulse = vec![0.0; coupling.drift.len()];
        let mut slides = vec![true; coupling.drift.len()];
        if !laws.is_empty() {
            let lhs: &dyn carom_solve::LinearSolve = &*model;
            let parts = Parts { lhs, output: &output, input: &output, feedthrough: None, b: &b, laws: &laws };
            let problem = OneStepProblem::new(parts, &mut self.work);
            if self.solver.solve(&problem, &mut self.z).is_err() {
                return Ok(None);
            }
            v.iter_mut().zip(&self.z.response).for_each(|(v, dv)| *v += dv);
            let fastest = self.z.u.iter().fold(f64::MIN_POSITIVE, |m, u| m.max(u.abs()));
            for (k, &row) in places.iter().enumerate() {
                impulse[row] = self.z.lambda[k];
                slides[row] = self.z.u[k].abs() > SLIP * fastest;
            }
        }
        let way: Vec<f64> = v.iter().map(|v| h * v).collect();
        if !way.iter().all(|x| x.is_finite()) || self.reach(&way) > REACH {
            return Ok(None);
        }
        let mut q = from.q.clone();
        model.retract(&from.q, &way, &mut q);
        let held = held(&coupling, &impulse, &slides);
        // positions outside the domain of the model are too far
        let Ok(place) = Place::new(model, from.t, &q, &self.lengths) else { return Ok(None) };
        if self.penetrates(&coupling, &place, &way) {
            return Ok(None);
        }
        let missed = self.missed(model, &place, (&v, &impulse, h))?;
        let lambda = impulse.iter().map(|p| p / h).collect();
        Ok(Some(Step { place, lambda, held, velocity: v, missed }))
    }

    /// Whether a step misses joints or goes into obstacles by more than a part of the way along their rows: normals
    /// that turn on the way, as that of a pin in the middle of its hole.
    fn penetrates(&self, from: &Coupling, to: &Place, way: &[f64]) -> bool {
        let pairs = &to.coupling.pairs;
        from.has_keys(pairs)
            && (0..pairs.len()).any(|i| {
                let law = pairs[i].law;
                let depth = if law.is_equality() { pairs[i].gap.abs() } else { -to.coupling.gap(i) };
                let along: f64 = from.rows.row(from.offset[i]).iter().map(|&(j, c)| (c * way[j]).abs()).sum();
                // a normal that is not defined yet may be across the way
                let far: f64 =
                    to.coupling.rows.row(to.coupling.offset[i]).iter().map(|&(j, c)| (c * way[j]).abs()).sum();
                let slack = 1e-12 * self.lengths.met(&to.coupling, i);
                !law.is_relay() && depth > REACH * along.max(far) + slack
            })
    }

    /// What is missing in (1) at the end of a step, as a part of M v.
    fn missed(
        &self,
        model: &mut dyn Mechanical,
        place: &Place,
        (v, impulse, h): (&[f64], &[f64], f64),
    ) -> Result<f64, EquilibriumError> {
        let n = v.len();
        let (mut sum, mut momentum) = (vec![0.0; n], vec![0.0; n]);
        model.force(place.t, &place.q, v, &mut sum)?;
        sum.iter_mut().for_each(|f| *f *= h);
        if place.coupling.drift.len() == impulse.len() {
            place.coupling.rows.add_transpose_mul(impulse, &mut sum);
        }
        model.mass_mul(&place.q, v, &mut momentum)?;
        let norm = |x: &[f64]| {
            let mut x = DVector::from_column_slice(x);
            place.mass.l_dirty().solve_lower_triangular_mut(&mut x);
            x.norm()
        };
        let size = norm(&momentum);
        let off: Vec<f64> = sum.iter().zip(&momentum).map(|(sum, p)| sum - p).collect();
        let rounding = 1e-13 * h * place.scaled_force.norm();
        Ok((norm(&off) / size.max(rounding).max(f64::MIN_POSITIVE)).min(f64::MAX))
    }

    /// (2) from the end of a step.
    fn polish(
        &self,
        model: &mut dyn Mechanical,
        tangent: &mut dyn Tangent,
        (step, keys): (&Step, &[Key]),
        steps: usize,
    ) -> Result<Option<Found>, EquilibriumError> {
        let mut place = step.place.clone();
        let listed = |place: &Place| place.coupling.has_keys(keys);
        let (mut before, mut definite) = (f64::INFINITY, true);
        for _ in 0..NEWTON {
            if !listed(&place) {
                return Ok(None);
            }
            let Some((way, is_definite)) = newton(tangent, &place, (keys, step))? else { return Ok(None) };
            let size = way.norm();
            definite = is_definite;
            // quadratic until rounding stops it
            if size >= before && before < 1e-6 * size.max(before).max(f64::MIN_POSITIVE) || size == 0.0 {
                break;
            }
            if size > 0.5 * before && before.is_finite() {
                break;
            }
            before = size;
            let way = place.increment(&way);
            if self.reach(&way) > 5.0 * REACH || !way.iter().all(|x| x.is_finite()) {
                return Ok(None);
            }
            let mut q = place.q.clone();
            model.retract(&place.q, &way, &mut q);
            place = match Place::new(model, place.t, &q, &self.lengths) {
                Ok(place) => place,
                Err(_) => return Ok(None),
            };
        }
        Ok(if definite { self.judge(place, steps).ok() } else { None })
    }

    /// What moves most, and how much of the forces is not balanced.
    fn unrest(&self, model: &mut dyn Mechanical, place: &Place, last: Option<&Step>) -> (String, f64) {
        let mut reactions = place.reactions(self.unit);
        let residual = reactions.residual.max(reactions.violation(1.0)).min(1.0);
        let n = model.dim();
        let moving = match last {
            Some(step) => DVector::from_column_slice(&step.velocity),
            None => DVector::from_column_slice(&place.increment(&place.scaled_force)),
        };
        let shares = place.mass.l_dirty().lower_triangle().transpose() * moving;
        let most = (0..n).fold(0, |most, j| if shares[j].abs() > shares[most].abs() { j } else { most });
        (velocity_names(model).get(most).cloned().unwrap_or_default(), residual)
    }
}

/// Names of velocities, or of the coordinates whose rates they are.
pub(super) fn velocity_names(model: &dyn Space) -> Vec<String> {
    let labels = model.labels();
    let names = if labels.velocities.len() == model.dim() { labels.velocities } else { labels.coordinates };
    if names.len() == model.dim() { names } else { (0..model.dim()).map(|i| format!("v{i}")).collect() }
}

/// Rows that did not move in a step, of laws that acted.
fn held(coupling: &Coupling, impulse: &[f64], slides: &[bool]) -> Vec<bool> {
    let mut held = vec![false; coupling.drift.len()];
    for (i, pair) in coupling.pairs.iter().enumerate().filter(|(i, _)| coupling.is_present(*i)) {
        let (range, law): (_, Law) = (coupling.range(i), pair.law);
        let first = range.start;
        let presses = law.is_equality() || impulse[first] > 0.0;
        for row in range {
            held[row] = match (law.is_relay(), row == first) {
                (true, _) => !slides[row],
                (false, true) => presses,
                (false, false) => presses && !slides[row],
            };
        }
    }
    held
}

/// A step of Newton's method, scaled by the mass, and whether the stiffness is not negative anywhere; reactions of rows
/// that slide stay as they are.
fn newton(
    tangent: &mut dyn Tangent,
    place: &Place,
    (keys, step): (&[Key], &Step),
) -> Result<Option<(DVector<f64>, bool)>, ModelError> {
    let rows: Vec<usize> = (0..step.held.len()).filter(|&row| step.held[row]).collect();
    let gaps: Vec<f64> = rows.iter().map(|&row| gap_of(&place.coupling, row)).collect();
    let mut lambda = step.lambda.clone();
    rows.iter().for_each(|&row| lambda[row] = 0.0);
    // forces with the friction of what slides
    let mut force = place.force.clone();
    place.coupling.rows.add_transpose_mul(&lambda, &mut force);
    let mut force = DVector::from_column_slice(&force);
    place.mass.l_dirty().solve_lower_triangular_mut(&mut force);
    let mut a = place.rows(&rows);
    let scale: Vec<f64> = (0..rows.len()).map(|k| a.row(k).norm().max(f64::MIN_POSITIVE)).collect();
    (0..rows.len()).for_each(|k| a.row_mut(k).unscale_mut(scale[k]));
    let (reaction, range, _) = solve(&a.transpose(), &-&force);
    rows.iter().enumerate().for_each(|(k, &row)| lambda[row] = reaction[k] / scale[k]);
    let missed = DVector::from_fn(rows.len(), |k, _| -gaps[k] / scale[k]);
    let (back, _, _) = solve(&a, &missed);
    let [stiffness, _] = place.stiffness(tangent, keys, &lambda)?;
    let free = complement(&range);
    let reduced: DMatrix<f64> = free.transpose() * &stiffness * &free;
    let right = free.transpose() * (force - &stiffness * &back);
    let (y, _, _) = solve(&reduced, &right);
    let symmetric = (&reduced + reduced.transpose()) * 0.5;
    let least = eigenvalues(symmetric).into_iter().fold(f64::INFINITY, f64::min);
    let definite = least > -1e-9 * stiffness.norm();
    let way = back + free * y;
    Ok(way.iter().all(|x| x.is_finite()).then_some((way, definite)))
}

/// Eigenvalues of a symmetric matrix, which may be empty.
fn eigenvalues(matrix: DMatrix<f64>) -> Vec<f64> {
    if matrix.is_empty() { Vec::new() } else { matrix.symmetric_eigenvalues().as_slice().to_vec() }
}

/// The gap behind a row; tangents have none.
fn gap_of(coupling: &Coupling, row: usize) -> f64 {
    let law = coupling.offset.partition_point(|&first| first <= row) - 1;
    let is_gap = coupling.offset[law] == row && !coupling.pairs[law].law.is_relay();
    if is_gap { coupling.pairs[law].gap } else { 0.0 }
}
