//! Derivatives of the model along a direction, by dual numbers over the same formulas.
//!
//! ```text
//!     dF, dgap, dC, d(∂y/∂t)    at frames that move along dq:  p + ε p ⊗ (0, dΩ)/2                                 (1)
//!     dγ                        γ is the derivative of rows along the motion, taken at such frames                 (2)
//! ```

use super::Line;
use super::couple::{Drives, Receive, columns, drive, outputs};
use super::force::force;
use super::motion::Motion;
use super::near::Near;
use super::plan::{PlacedLoad, PlacedMotor, Plan};
use crate::model::tangent::At;
use crate::model::{Along, CouplingTangent, ModelError, Tangent};
use crate::rotation::product;
use num_dual::{Dual, Dual64};

/// Exact derivatives of a [`MultibodyModel`](super::MultibodyModel), without parameters.
pub struct MultibodyTangent {
    plan: Plan,
    near: Near,
    loads: Vec<PlacedLoad>,
    motors: Vec<PlacedMotor>,
    q: Vec<Dual64>,
    v: Vec<Dual64>,
    out: Vec<Dual64>,
    motion: Motion<Dual64>,
    moving: Motion<Dual<Dual64>>,
    drives: Drives,
    sum: Vec<(usize, Line<Dual64>)>,
    moving_sum: Vec<(usize, Line<Dual<Dual64>>)>,
}

impl MultibodyTangent {
    pub(super) fn new(plan: &Plan, loads: &[PlacedLoad], motors: &[PlacedMotor]) -> MultibodyTangent {
        let zero = Dual64::new(0.0, 0.0);
        MultibodyTangent {
            plan: plan.clone(),
            near: Near::default(),
            loads: loads.to_vec(),
            motors: motors.to_vec(),
            q: vec![zero; plan.positions()],
            v: vec![zero; plan.dim()],
            out: vec![zero; plan.dim()],
            motion: Motion::new(plan),
            moving: Motion::new(plan),
            drives: Vec::new(),
            sum: Vec::new(),
            moving_sum: Vec::new(),
        }
    }

    /// Frames and velocities along a direction.
    fn set(&mut self, (_, q, v): At<'_>, along: Along<'_>) {
        self.v.iter_mut().zip(v.iter().zip(along.v)).for_each(|(o, (v, d))| *o = Dual::new(*v, *d));
        self.q.iter_mut().zip(q).for_each(|(o, q)| *o = Dual::new(*q, 0.0));
        if self.plan.is_planar {
            self.q.iter_mut().zip(along.q).for_each(|(o, d)| o.eps = *d);
        } else {
            for (q, d) in self.q[..self.plan.poses()].chunks_exact_mut(7).zip(along.q.chunks_exact(6)) {
                (0..3).for_each(|i| q[i].eps = d[i]);
                let turn = product([q[3].re, q[4].re, q[5].re, q[6].re], [0.0, d[3], d[4], d[5]]);
                (0..4).for_each(|i| q[3 + i].eps = 0.5 * turn[i]);
            }
        }
        self.motion.set(&self.plan, &self.q, &self.v);
    }
}

/// Takes derivatives of a coupling.
struct Derivatives<'a> {
    plan: &'a Plan,
    motion: &'a Motion<Dual64>,
    out: &'a mut CouplingTangent,
}

impl Receive<Dual64> for Derivatives<'_> {
    fn law(&mut self, _number: usize, gap: Dual64) {
        self.out.gap.push(gap.eps);
    }

    fn row(&mut self, lines: &[(usize, Line<Dual64>)], drift: Dual64) {
        let (start, size) = (self.out.rows.len(), self.plan.sizes().1);
        self.out.drift.push(drift.eps);
        self.out.rows.resize(start + self.plan.dim(), 0.0);
        for (body, line) in lines {
            let columns = columns(self.plan.is_planar, &self.motion.frames[*body], line);
            let first = start + (body - 1) * size;
            let row = &mut self.out.rows[first..first + size];
            row.iter_mut().zip(columns).for_each(|(o, x)| *o = x.eps);
        }
    }
}

/// Takes derivatives of γ.
struct Bends<'a> {
    motion: &'a Motion<Dual64>,
    out: &'a mut Vec<f64>,
}

impl Receive<Dual<Dual64>> for Bends<'_> {
    fn law(&mut self, _number: usize, _gap: Dual<Dual64>) {}

    fn row(&mut self, lines: &[(usize, Line<Dual<Dual64>>)], drift: Dual<Dual64>) {
        let mut sum = drift.eps;
        for (body, line) in lines {
            let rate = Line { force: line.force.derivatives(), moment: line.moment.derivatives() };
            sum += self.motion.rate(*body, &rate);
        }
        self.out.push(sum.eps);
    }
}

impl Tangent for MultibodyTangent {
    fn parameters(&self) -> &[String] {
        &[]
    }

    fn knows_time(&self) -> bool {
        true
    }

    fn detect(&mut self, from: &crate::State, _h: f64, list: &[crate::Key]) -> Result<(), ModelError> {
        if !self.plan.solids.is_empty() {
            let mut motion = Motion::new(&self.plan);
            motion.set(&self.plan, &from.q, &from.v);
            self.near.follow(&self.plan, &motion, list);
        }
        Ok(())
    }

    fn force(&mut self, at: At<'_>, along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        self.set(at, along);
        let t = Dual::new(at.0, along.t);
        force(&self.plan, &mut self.loads, (t, &self.q, &self.v), &self.motion, &mut self.out)?;
        out.iter_mut().zip(&self.out).for_each(|(o, x)| *o = x.eps);
        finite(out, "a derivative of the force", at.0)
    }

    fn mass(&mut self, _at: At<'_>, _x: &[f64], _along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        Ok(())
    }

    fn coupling(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) -> Result<(), ModelError> {
        self.set(at, along);
        drive(&mut self.motors, at.0, true, &mut self.drives)?;
        for part in
            [&mut out.gap, &mut out.region, &mut out.restitution, &mut out.friction, &mut out.drift, &mut out.rows]
        {
            part.clear();
        }
        let MultibodyTangent { plan, near, motion, drives, sum, .. } = self;
        let t = Dual::new(at.0, along.t);
        outputs((plan, near), (t, motion), drives, sum, &mut Derivatives { plan, motion, out });
        // coefficients are numbers, and contacts are everywhere
        out.restitution.resize(out.gap.len(), 0.0);
        out.region.resize(out.gap.len(), 0.0);
        out.friction.resize(out.drift.len(), 0.0);
        finite(&out.gap, "a derivative of a gap", at.0)?;
        finite(&out.rows, "a derivative of the gradient of a gap", at.0)
    }

    fn curvature(&mut self, at: At<'_>, along: Along<'_>, out: &mut Vec<f64>) -> Result<(), ModelError> {
        self.set(at, along);
        drive(&mut self.motors, at.0, true, &mut self.drives)?;
        let MultibodyTangent { plan, near, motion, moving, drives, moving_sum, .. } = self;
        motion.moving(moving);
        out.clear();
        let t = Dual::new(Dual::new(at.0, along.t), Dual::new(1.0, 0.0));
        outputs((plan, near), (t, moving), drives, moving_sum, &mut Bends { motion, out });
        finite(out, "a derivative of the curvature of a gap", at.0)
    }
}

fn finite(values: &[f64], what: &'static str, t: f64) -> Result<(), ModelError> {
    if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ModelError::NotFinite { what, t }) }
}
