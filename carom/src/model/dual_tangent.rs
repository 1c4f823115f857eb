//! The tangent of a model written over dual numbers: one more dual part along the direction.
//!
//! ```text
//!     dF         F of (2) in `dual.rs` at (q + ε dq, v + ε dv)                                             (1)
//!     (dM x)ᵢ    third derivative of T: along eᵢ and x in v, along dq in q                                 (2)
//!     dC, d y_t  second derivatives of the outputs: along eⱼ, or t, and along (dt, dq)                     (3)
//!     dγ         γ is the second derivative of outputs along (1, v), taken at (t + ε dt, q + ε dq, v + ε dv)  (4)
//! ```
//!
//! All of it is exact. The functions have no named parameters; derivatives by them are those of a
//! [`DifferenceTangent`](crate::sensitivity::DifferenceTangent).

use super::dual::{Inertia, Point};
use super::tangent::At;
use super::{Along, CouplingTangent, Functions, ModelError, NamedLaw, Tangent};
use num_dual::{Dual, Dual2, Dual64, HyperDual, HyperDual64};

/// Derivatives of a [`DualLagrangian`](super::DualLagrangian).
pub struct DualTangent<F> {
    functions: F,
    laws: Vec<NamedLaw>,
    at: Point<Dual64>,                              // (q + ε dq, v + ε dv)
    inertia: Inertia<Dual64>,                       // for (1)
    force: Vec<Dual64>,                             // (n)
    mixed: Point<HyperDual<Dual64>>,                // for (2)
    seeded: (Vec<HyperDual64>, Vec<HyperDual64>),   // coordinates and outputs of (3)
    path: (Vec<Dual2<Dual64>>, Vec<Dual2<Dual64>>), // coordinates and outputs of (4)
}

impl<F: Functions> DualTangent<F> {
    /// Of functions of `n` coordinates.
    pub fn new(functions: F, n: usize) -> DualTangent<F> {
        let (zero, laws) = (Dual64::new(0.0, 0.0), functions.laws());
        let rows = laws.iter().map(|law| law.law.size()).sum();
        let (second, hyper) = (Dual2::new(zero, zero, zero), HyperDual64::new(0.0, 0.0, 0.0, 0.0));
        DualTangent {
            functions,
            laws,
            at: Point::new(n),
            inertia: Inertia::new(n),
            force: vec![zero; n],
            mixed: Point::new(n),
            seeded: (vec![hyper; n], vec![hyper; rows]),
            path: (vec![second; n], vec![second; rows]),
        }
    }

    /// Outputs with their second derivatives along the direction in the first part of `t` and of the coordinates, and
    /// the one in the second.
    fn outputs(&mut self, t: HyperDual64) -> &[HyperDual64] {
        let (coordinates, outputs) = &mut self.seeded;
        outputs.fill(HyperDual::new(0.0, 0.0, 0.0, 0.0));
        self.functions.outputs(t, coordinates, outputs);
        outputs
    }

    /// Derivatives of gaps and regions along (dt, dq), with the coordinates of `seeded` set to the direction.
    fn gaps(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) {
        let t = HyperDual::new(at.0, 0.0, along.t, 0.0);
        self.outputs(t);
        for (x, (q, dq)) in self.at.q.iter_mut().zip(at.1.iter().zip(along.q)) {
            *x = Dual::new(*q, *dq);
        }
        let mut row = 0;
        for (k, law) in self.laws.iter().enumerate() {
            out.gap.push(self.seeded.1[row].eps2);
            let region = self.functions.region(k, Dual::new(at.0, along.t), &self.at.q);
            out.region.push(if region.re.is_finite() { region.eps } else { 0.0 });
            row += law.law.size();
        }
    }
}

impl<F: Functions> Tangent for DualTangent<F> {
    fn parameters(&self) -> &[String] {
        &[]
    }

    fn force(&mut self, (t, q, v): At<'_>, along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        for i in 0..q.len() {
            self.at.q[i] = Dual::new(q[i], along.q[i]);
            self.at.v[i] = Dual::new(v[i], along.v[i]);
        }
        self.inertia.force(&self.functions, Dual::new(t, along.t), &self.at, &mut self.force);
        out.iter_mut().zip(&self.force).for_each(|(o, f)| *o = f.eps);
        finite(out, "a derivative of the force", t)
    }

    fn mass(&mut self, (t, q, _): At<'_>, x: &[f64], along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        let (zero, one) = (Dual64::new(0.0, 0.0), Dual64::new(1.0, 0.0));
        for i in 0..q.len() {
            self.mixed.q[i] = HyperDual::new(Dual::new(q[i], along.q[i]), zero, zero, zero);
            self.mixed.v[i] = HyperDual::new(zero, zero, Dual::new(x[i], 0.0), zero);
        }
        let time = HyperDual::new(Dual::new(t, 0.0), zero, zero, zero);
        for (i, out) in out.iter_mut().enumerate() {
            self.mixed.v[i].eps1 = one;
            *out = self.functions.kinetic(time, &self.mixed.q, &self.mixed.v).eps1eps2.eps;
            self.mixed.v[i].eps1 = zero;
        }
        finite(out, "a derivative of the mass", t)
    }

    fn coupling(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) -> Result<(), ModelError> {
        let (n, laws, rows) = (at.1.len(), self.laws.len(), self.seeded.1.len());
        for part in
            [&mut out.gap, &mut out.region, &mut out.restitution, &mut out.friction, &mut out.drift, &mut out.rows]
        {
            part.clear();
        }
        // coefficients are numbers
        out.restitution.resize(laws, 0.0);
        out.friction.resize(rows, 0.0);
        out.rows.resize(rows * n, 0.0);
        for (x, (q, dq)) in self.seeded.0.iter_mut().zip(at.1.iter().zip(along.q)) {
            *x = HyperDual::new(*q, 0.0, *dq, 0.0);
        }
        self.gaps(at, along, out);
        out.drift.extend(self.outputs(HyperDual::new(at.0, 1.0, along.t, 0.0)).iter().map(|y| y.eps1eps2));
        for j in 0..n {
            self.seeded.0[j].eps1 = 1.0;
            let outputs = self.outputs(HyperDual::new(at.0, 0.0, along.t, 0.0));
            outputs.iter().enumerate().for_each(|(i, y)| out.rows[i * n + j] = y.eps1eps2);
            self.seeded.0[j].eps1 = 0.0;
        }
        finite(&out.gap, "a derivative of a gap", at.0)?;
        finite(&out.rows, "a derivative of the gradient of a gap", at.0)
    }

    fn curvature(&mut self, (t, q, v): At<'_>, along: Along<'_>, out: &mut Vec<f64>) -> Result<(), ModelError> {
        let (zero, one) = (Dual64::new(0.0, 0.0), Dual64::new(1.0, 0.0));
        let (coordinates, outputs) = &mut self.path;
        for (i, x) in coordinates.iter_mut().enumerate() {
            *x = Dual2::new(Dual::new(q[i], along.q[i]), Dual::new(v[i], along.v[i]), zero);
        }
        outputs.fill(Dual2::new(zero, zero, zero));
        self.functions.outputs(Dual2::new(Dual::new(t, along.t), one, zero), coordinates, outputs);
        out.clear();
        out.extend(outputs.iter().map(|y| y.v2.eps));
        finite(out, "a derivative of the curvature of a gap", t)
    }
}

fn finite(values: &[f64], what: &'static str, t: f64) -> Result<(), ModelError> {
    if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ModelError::NotFinite { what, t }) }
}
