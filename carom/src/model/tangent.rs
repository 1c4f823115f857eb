//! Directional derivatives of a model, exact: what sensitivities need besides the model itself.
//!
//! ```text
//!     dF = F_q dq + F_v dv + F_p dp,    dM x,    dgap, dC, d(∂y/∂t), dγ, de, dμ        along (dt, dq, dv, dp)      (1)
//! ```
//!
//! p are named parameters. A tangent is an object of its own, with its own working memory: steppers and tangents of one
//! model run side by side. Models from files have one (`Scene::tangent`), and so have [`Linear`](super::Linear) and
//! models over dual numbers ([`DualTangent`](super::DualTangent)); closures do not tell their derivatives,
//! [`DifferenceTangent`](crate::sensitivity::DifferenceTangent) takes differences of them.

use super::{Linear, Mechanical, ModelError};
use carom_solve::Rows;

/// A point at which derivatives are taken: time, positions, velocities.
pub type At<'a> = (f64, &'a [f64], &'a [f64]);

/// A direction.
#[derive(Clone, Copy, Debug)]
pub struct Along<'a> {
    /// dt: of time [s].
    pub t: f64,
    /// dq: of positions, as an increment of as many entries as there are velocities.
    pub q: &'a [f64],
    /// dv: of velocities.
    pub v: &'a [f64],
    /// dp: of parameters, in the order of [`Tangent::parameters`].
    pub p: &'a [f64],
}

/// Derivatives of a coupling, in its order.
#[derive(Clone, Debug, Default)]
pub struct CouplingTangent {
    /// (laws) of gaps.
    pub gap: Vec<f64>,
    /// (laws) of the functions that tell where contacts count.
    pub region: Vec<f64>,
    /// (laws) of coefficients of restitution.
    pub restitution: Vec<f64>,
    /// (rows) of the coefficients of friction: each row has that of the disc it lies in, normal rows have zero.
    pub friction: Vec<f64>,
    /// (rows) of the explicit time derivatives of outputs.
    pub drift: Vec<f64>,
    /// (rows × n) of C, row by row.
    pub rows: Vec<f64>,
}

impl CouplingTangent {
    /// dC x of one row.
    pub fn row_dot(&self, row: usize, x: &[f64]) -> f64 {
        self.rows[row * x.len()..(row + 1) * x.len()].iter().zip(x).map(|(c, x)| c * x).sum()
    }

    /// `y ← y + a dCᵀ` of one row.
    pub fn add_row(&self, row: usize, a: f64, y: &mut [f64]) {
        let n = y.len();
        y.iter_mut().zip(&self.rows[row * n..(row + 1) * n]).for_each(|(y, c)| *y += a * c);
    }
}

/// Derivatives (1) of a mechanical model.
pub trait Tangent: Send {
    /// Names of the parameters, in the order of `Along::p`.
    fn parameters(&self) -> &[String];

    /// Whether derivatives of the force by time are known as well.
    fn knows_time(&self) -> bool {
        false
    }

    /// Tells the contacts of the coming step, as [`Space::detect`](super::Space::detect) of the model has chosen them:
    /// derivatives of couplings are in the order of the `list`. Tangents of models whose contacts are always the same
    /// need not do anything.
    fn detect(&mut self, _from: &crate::State, _h: f64, _list: &[crate::Key]) -> Result<(), ModelError> {
        Ok(())
    }

    /// `out ← dF`. Where the tangent does not know the time, `along.t` is zero.
    fn force(&mut self, at: At<'_>, along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError>;

    /// `out ← dM x`.
    fn mass(&mut self, at: At<'_>, x: &[f64], along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError>;

    /// Writes the derivatives of gaps, rows, drifts and coefficients.
    fn coupling(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) -> Result<(), ModelError>;

    /// One entry per row, of γ (see [`AccelerationLevel`](super::AccelerationLevel)).
    fn curvature(&mut self, at: At<'_>, along: Along<'_>, out: &mut Vec<f64>) -> Result<(), ModelError>;
}

/// The tangent of a linear model, without parameters.
pub struct LinearTangent {
    damping: Rows,
    stiffness: Rows,
    /// Normal row and rate of each law.
    gaps: Vec<(Vec<(usize, f64)>, f64)>,
    rows: usize,
}

impl LinearTangent {
    /// Copies what it needs from the model, whose rows are asked for at its initial state.
    pub fn new(model: &mut Linear) -> Result<LinearTangent, ModelError> {
        let initial = super::Space::initial(model);
        let mut coupling = crate::Coupling::default();
        super::Space::couple(model, initial.t, &initial.q, &mut coupling)?;
        let gap = |i: usize| {
            let row = coupling.offset[i];
            (coupling.rows.row(row).to_vec(), coupling.drift[row])
        };
        let (damping, stiffness) = model.matrices();
        Ok(LinearTangent {
            damping: damping.clone(),
            stiffness: stiffness.clone(),
            gaps: (0..coupling.len()).map(gap).collect(),
            rows: coupling.drift.len(),
        })
    }
}

impl Tangent for LinearTangent {
    fn parameters(&self) -> &[String] {
        &[]
    }

    fn force(&mut self, _at: At<'_>, along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        self.stiffness.subtract_mul(along.q, out);
        self.damping.subtract_mul(along.v, out);
        Ok(())
    }

    fn mass(&mut self, _at: At<'_>, _x: &[f64], _along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        Ok(())
    }

    fn coupling(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) -> Result<(), ModelError> {
        let laws = self.gaps.len();
        let zeros = |x: &mut Vec<f64>, n: usize| {
            x.clear();
            x.resize(n, 0.0);
        };
        zeros(&mut out.region, laws);
        zeros(&mut out.restitution, laws);
        zeros(&mut out.friction, self.rows);
        zeros(&mut out.drift, self.rows);
        zeros(&mut out.rows, self.rows * at.1.len());
        out.gap.clear();
        out.gap.extend(self.gaps.iter().map(|(row, rate)| Rows::product(row, along.q) + rate * along.t));
        Ok(())
    }

    fn curvature(&mut self, _at: At<'_>, _along: Along<'_>, out: &mut Vec<f64>) -> Result<(), ModelError> {
        out.clear();
        out.resize(self.rows, 0.0);
        Ok(())
    }
}

/// Whether the force is affine with constant slopes and the mass constant: the variational equation of free flight is
/// autonomous.
pub(crate) fn is_autonomous(model: &dyn Mechanical) -> bool {
    model.constancy().matrix()
}
