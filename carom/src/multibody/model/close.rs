//! Closing the joints at the start: Gauss and Newton's iteration in the metric of the mass.
//!
//! ```text
//!     δ = −M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ φ,   q ← q ⊕ δ  until |φ| ≤ tolerance;     v ← v − M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ (J v + ∂φ/∂t)  (1)
//! ```
//!
//! ⁺ is the pseudo-inverse of rows scaled to a unit diagonal: redundant rows share their load.

use super::*;
use crate::model::{Combination, Mechanical, Space};
use crate::multibody::primitive::Primitive;
use crate::{Coupling, Key, WarningKind};
use carom_solve::{Law, LinearSolve, OneStepProblem, Parts, ProblemWork, Reaction, Rows, solver};
use nalgebra::{DMatrix, DVector};

/// A row that is open by more than this part of the length of the joints is refused.
const OPEN: f64 = 1e-9;

/// Velocities that miss a row by more than this part of the largest one do not fit.
const FIT: f64 = 1e-9;

/// Most iterations of (1).
const ITERATIONS: u32 = 100;

/// Most rows of a dense pseudo-inverse.
const DENSE: usize = 300;

/// Singular values below this part of the largest one are dropped.
const CUT: f64 = 1e-10;

/// Longest step of the iteration, as a part of the length of the joints and as an angle.
const STRIDE: f64 = 0.5;

/// Rows that do not count.
pub const REDUNDANT: WarningKind = WarningKind {
    name: "redundant-joints",
    message: "joints hold a direction together: the motion is unique, how they share the reactions is not",
    unit: "rows too many",
    hint: "compare sums of reactions, or free a direction of one of the joints",
};

/// Velocities that no motion has.
pub const UNFIT: WarningKind = WarningKind {
    name: "unfit-velocities",
    message: "velocities at the start do not fit a joint: the first step begins with an impact",
    unit: "m/s or rad/s",
    hint: "assemble the bodies, or give velocities that fit",
};

impl MultibodyModel {
    /// Counted angles at the start; then closes the joints, or refuses what is open.
    pub(in crate::multibody) fn close(&mut self, assembly: Option<f64>) -> Result<(), MultibodyError> {
        self.initial.q.truncate(self.plan.poses());
        self.initial.q.resize(self.plan.positions(), 0.0);
        self.motion.place(&self.plan, &self.initial.q);
        for (place, &i) in self.plan.counted.iter().enumerate() {
            self.initial.q[self.plan.poses() + place] = self.motion.coordinate(&self.plan, i);
        }
        self.start_motors();
        let mut coupling = Coupling::default();
        let at = self.initial.clone();
        self.couple(at.t, &at.q, &mut coupling)?;
        let length = self.plan.length.unwrap_or(0.0);
        let held = self.plan.items.iter().take_while(|item| matches!(item.1, Item::Row(_) | Item::Motor(_))).count();
        if held == 0 {
            return Ok(());
        }
        if let Some(tolerance) = assembly {
            self.assemble(&mut coupling, held, (tolerance, length))?;
        }
        for i in 0..held {
            let (gap, is_length) = (coupling.pairs[i].gap.abs(), self.is_length(i));
            let allowed = assembly.unwrap_or(if is_length { OPEN * length } else { OPEN });
            if gap > allowed {
                return Err(MultibodyError::Open { name: self.holder(i), residual: gap });
            }
        }
        self.check_branches()?;
        self.start_motors();
        self.fit_velocities(&coupling, held, assembly.is_some())?;
        self.find_redundancy(&coupling, held)?;
        self.watch = watch::Watch::of(&self.plan, &coupling);
        Ok(())
    }

    fn start_motors(&mut self) {
        self.motion.place(&self.plan, &self.initial.q);
        for (motor, &coordinate) in self.motors.iter_mut().zip(&self.plan.drives) {
            motor.start = self.motion.coordinate(&self.plan, coordinate);
        }
    }

    /// Whether the value of a row is a length.
    fn is_length(&self, item: usize) -> bool {
        match self.plan.items[item].1 {
            Item::Row(i) => match &self.plan.rows[i].primitive {
                Primitive::Point { .. } | Primitive::Length { .. } => true,
                Primitive::Chain { chain, index } => chain.is_length(*index),
                Primitive::Direction { .. } | Primitive::Relation { .. } => false,
            },
            _ => false,
        }
    }

    /// The joint or motor that a row belongs to.
    pub(super) fn holder(&self, item: usize) -> String {
        match self.plan.items[item].1 {
            Item::Row(i) => self.plan.joints[self.plan.rows[i].joint].clone(),
            _ => self.plan.items[item].0.clone(),
        }
    }

    fn assemble(
        &mut self,
        coupling: &mut Coupling,
        held: usize,
        (tolerance, length): (f64, f64),
    ) -> Result<(), MultibodyError> {
        let mut at = self.initial.clone();
        let (mut way, mut next) = (vec![0.0; self.plan.dim()], at.q.clone());
        let mut best = f64::INFINITY;
        for iterations in 0.. {
            let worst = (0..held).fold(0, |worst, i| {
                if coupling.pairs[i].gap.abs() > coupling.pairs[worst].gap.abs() { i } else { worst }
            });
            let residual = coupling.pairs[worst].gap.abs();
            // one step more than needed: the last one costs little and leaves rounding
            if residual <= tolerance && (residual >= 0.5 * best || residual == 0.0) {
                break;
            }
            if iterations >= ITERATIONS && residual <= tolerance {
                break;
            }
            if iterations >= ITERATIONS {
                return Err(MultibodyError::Assembly { name: self.holder(worst), residual, iterations });
            }
            best = best.min(residual);
            let gaps: Vec<f64> = coupling.pairs[..held].iter().map(|pair| pair.gap).collect();
            self.correct(coupling, held, &gaps, &mut way)?;
            self.shorten(length, &mut way);
            self.retract(&at.q, &way, &mut next);
            at.q.copy_from_slice(&next);
            self.couple(at.t, &at.q, coupling)?;
        }
        self.initial.q.copy_from_slice(&at.q);
        self.motion.place(&self.plan, &self.initial.q);
        Ok(())
    }

    /// Keeps a step within the reach of the linearisation.
    fn shorten(&self, length: f64, way: &mut [f64]) {
        let (size, turn) = (self.plan.sizes().1, if self.plan.is_planar { 2 } else { 3 });
        let part = |i: usize, x: f64| x.abs() / (STRIDE * if i % size < turn { length } else { 1.0 });
        let longest = way.iter().enumerate().fold(1.0f64, |most, (i, x)| most.max(part(i, *x)));
        way.iter_mut().for_each(|x| *x /= longest);
    }

    /// Velocities of (1), or a warning where they do not fit.
    fn fit_velocities(&mut self, coupling: &Coupling, held: usize, change: bool) -> Result<(), MultibodyError> {
        let mut missed = Vec::new();
        coupling.velocity(&self.initial.v, &mut missed);
        missed.truncate(held);
        if change {
            let mut jump = vec![0.0; self.plan.dim()];
            self.correct(coupling, held, &missed, &mut jump)?;
            self.initial.v.iter_mut().zip(&jump).for_each(|(v, d)| *v += d);
            return Ok(());
        }
        for (i, missed) in missed.iter().enumerate() {
            let row = coupling.rows.row(i);
            let size: f64 = row.iter().map(|&(j, c)| (c * self.initial.v[j]).abs()).sum();
            if missed.abs() > FIT * size && size > 0.0 || size == 0.0 && *missed != 0.0 {
                self.warnings.raise(&UNFIT, self.initial.t, Some(Key::from(i)), missed.abs());
            }
        }
        Ok(())
    }

    /// `out ← −M⁻¹ Jᵀ (J M⁻¹ Jᵀ)⁺ b` for the first rows of a coupling.
    fn correct(&mut self, coupling: &Coupling, held: usize, b: &[f64], out: &mut [f64]) -> Result<(), MultibodyError> {
        let at = self.initial.clone();
        self.factor(&at, Combination::MASS)?;
        let n = self.plan.dim();
        let mut rows = Rows::new(n);
        (0..held).for_each(|i| rows.push_row_of(&coupling.rows, i));
        if held > DENSE {
            let laws = vec![Law::EQUALITY; held];
            let parts = Parts { lhs: &*self, output: &rows, input: &rows, feedthrough: None, b, laws: &laws };
            let mut work = ProblemWork::default();
            let problem = OneStepProblem::new(parts, &mut work);
            let mut z = Reaction { lambda: vec![0.0; held], u: vec![0.0; held], response: vec![0.0; n] };
            // an approximate step is a step: the residual at its end is what counts
            let _ = solver::default().solve(&problem, &mut z);
            out.copy_from_slice(&z.response);
            return Ok(());
        }
        let mut columns = vec![vec![0.0; n]; held];
        for (i, column) in columns.iter_mut().enumerate() {
            rows.add_row(i, 1.0, column);
            self.operator.solve(column);
        }
        let mut a = DMatrix::from_fn(held, held, |i, j| rows.dot(i, &columns[j]));
        let scale: Vec<f64> = (0..held).map(|i| if a[(i, i)] > 0.0 { a[(i, i)].sqrt().recip() } else { 0.0 }).collect();
        a = DMatrix::from_fn(held, held, |i, j| a[(i, j)] * scale[i] * scale[j]);
        let rhs = DVector::from_fn(held, |i, _| b[i] * scale[i]);
        let svd = a.svd(true, true);
        let cut = CUT * svd.singular_values.max();
        let Ok(lambda) = svd.solve(&rhs, cut) else {
            return Err(MultibodyError::Misfit {
                what: "system",
                name: "joints".into(),
                reason: "rows are not finite",
            });
        };
        out.fill(0.0);
        for (i, column) in columns.iter().enumerate() {
            out.iter_mut().zip(column).for_each(|(o, x)| *o -= lambda[i] * scale[i] * x);
        }
        Ok(())
    }

    /// Directions that rows do not tell from their opposites.
    fn check_branches(&self) -> Result<(), MultibodyError> {
        for pair in &self.plan.aligned {
            let (a, b) = self.motion.pair(pair.bodies);
            if a.direction(pair.a).dot(b.direction(pair.b)) < 0.0 {
                return Err(MultibodyError::Branch { name: self.plan.joints[pair.joint].clone() });
            }
        }
        Ok(())
    }

    /// The rank of the rows of joints, and who shares what is too many.
    fn find_redundancy(&mut self, coupling: &Coupling, held: usize) -> Result<(), MultibodyError> {
        let at = self.initial.clone();
        self.factor(&at, Combination::MASS)?;
        let mut rows = Rows::new(self.plan.dim());
        (0..held).for_each(|i| rows.push_row_of(&coupling.rows, i));
        let (laws, b) = (vec![Law::EQUALITY; held], vec![0.0; held]);
        let parts = Parts { lhs: &*self, output: &rows, input: &rows, feedthrough: None, b: &b, laws: &laws };
        let mut work = ProblemWork::default();
        let Some(found) = carom_solve::Redundancy::of(&OneStepProblem::new(parts, &mut work)) else {
            return Ok(());
        };
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for shared in &found.shared {
            // each joint is named once, by its first row
            for (place, &law) in shared.iter().enumerate() {
                let joint = self.holder(law);
                if shared[..place].iter().all(|&before| self.holder(before) != joint) {
                    self.warnings.raise(&REDUNDANT, self.initial.t, Some(Key::from(law)), (held - found.rank) as f64);
                }
            }
            // directions with a row in common hang together
            let (mut joined, apart): (Vec<_>, Vec<_>) =
                groups.into_iter().partition(|group| group.iter().any(|law| shared.contains(law)));
            joined.push(shared.clone());
            groups = apart;
            groups.push(joined.concat());
        }
        let names = |group: Vec<usize>| {
            let mut names: Vec<String> = group.into_iter().map(|law| self.holder(law)).collect();
            names.sort_unstable();
            names.dedup();
            names
        };
        let joints = groups.into_iter().map(names).collect();
        self.redundancy = Some(Redundancy { rows: found.rows, rank: found.rank, joints });
        Ok(())
    }
}
