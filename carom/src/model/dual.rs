//! A mechanical model written as energies in Rust, differentiated by (hyper-)dual numbers [fike2011].
//!
//! ```text
//!     M = T_vv                                                                       (1)
//!     F = Q − V_q + T_q − (T_vq v + T_vt)                                            (2)
//!     K = −F_q,   C = −F_v                                                           (3)
//!     C rows = y_q,   drift = y_t,   curvature = y_qq(v, v) + 2 y_qt v + y_tt        (4)
//! ```
//!
//! All derivatives are exact. The bracket in (2) is the derivative of T_v along (ṫ, q̇) = (1, v): one mixed second
//! derivative per coordinate. The curvature in (4) is the second derivative along the same direction. (3) holds third
//! derivatives of T: (2) is written over any scalar and evaluated once more over dual numbers.
//!
//! Cost over n coordinates, in evaluations of T: n²/2 for M, 2n for F, 4n² for K and C.

use super::check::{check_law, distinct, require};
use super::{
    AccelerationLevel, Combination, DenseOperator, DualTangent, Energy, Labels, Mechanical, ModelError, Space,
};
use crate::{Coupling, Key, Pair, State};
use carom_solve::{Archive, ArchiveError, Law, LinearSolve, Persist};
use num_dual::{Dual, Dual2, Dual2_64, Dual64, DualNum, HyperDual, HyperDual64};

/// The numbers that a model's functions must accept: `f64` and dual numbers over it, with `+ − * /` among themselves
/// and with `f64` on the right, `sin`, `cos`, `sqrt`, `powi`, ... as methods, and `D::from(1.0)` for constants.
/// Functions with the same bits on every machine are in [`elementary::dual`](crate::elementary::dual).
pub trait Scalar: DualNum<Primitive = f64> + Copy {}

impl<D: DualNum<Primitive = f64> + Copy> Scalar for D {}

/// Energies, forces and outputs of a model, over any scalar.
///
/// ```
/// use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
/// use carom::{State, scheme::MoreauJean, Span, simulate};
/// use carom_solve::Law;
///
/// /// Two rods of 1 m with 1 kg at their ends, angles from the vertical, and a wall 0.5 m to the left.
/// struct DoublePendulum;
///
/// impl Functions for DoublePendulum {
///     fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
///         v[0] * v[0] + v[1] * v[1] * 0.5 + v[0] * v[1] * (q[0] - q[1]).cos()
///     }
///     fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
///         -(q[0].cos() * 2.0 + q[1].cos()) * 9.81
///     }
///     fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
///         out[0] = q[0].sin() + q[1].sin() + 0.5;
///     }
///     fn laws(&self) -> Vec<NamedLaw> {
///         vec![NamedLaw::new("wall", Law::UNILATERAL).restitution(0.8)]
///     }
/// }
///
/// let model = DualLagrangian::new(DoublePendulum, State::new(0.0, &[1.0, 1.0], &[0.0, 0.0]))?;
/// let solution = simulate(model, MoreauJean::default(), Span { end: 2.0, step: 1e-3 })?;
/// assert_eq!(solution.impacts[0].contact, "wall");
/// assert!((0..solution.len()).all(|k| solution.q(k)[0].sin() + solution.q(k)[1].sin() > -0.51));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Functions: Send {
    /// T(t, q, v) [J], quadratic in v; the quadratic part must not depend on t.
    fn kinetic<D: Scalar>(&self, t: D, q: &[D], v: &[D]) -> D;

    /// V(t, q) [J].
    fn potential<D: Scalar>(&self, _t: D, _q: &[D]) -> D {
        D::zero()
    }

    /// Q(t, q, v) [N]: forces without potential. `out` arrives as zeros.
    fn force<D: Scalar>(&self, _t: D, _q: &[D], _v: &[D], _out: &mut [D]) {}

    /// One value per row of each law, in order: the gap, then the slip displacements [m]. `out` arrives as zeros.
    fn outputs<D: Scalar>(&self, _t: D, _q: &[D], _out: &mut [D]) {}

    /// A function that is ≥ 0 where the law of this number counts; outside a contact is absent.
    fn region<D: Scalar>(&self, _law: usize, _t: D, _q: &[D]) -> D {
        D::from(f64::INFINITY)
    }

    /// The laws of the outputs; asked for once.
    fn laws(&self) -> Vec<NamedLaw> {
        Vec::new()
    }
}

/// A contact or constraint: what its outputs obey.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedLaw {
    /// Name in results and messages.
    pub name: String,
    /// The law, with one output per row.
    pub law: Law,
    /// Newton's coefficient of restitution [-].
    pub restitution: f64,
    /// Coefficient of restitution along the tangents [-].
    pub tangential: f64,
}

impl NamedLaw {
    /// Without restitution.
    pub fn new(name: &str, law: Law) -> NamedLaw {
        NamedLaw { name: name.into(), law, restitution: 0.0, tangential: 0.0 }
    }

    /// With Newton's coefficient of restitution `e`, in [0, 1] [-].
    pub fn restitution(mut self, e: f64) -> NamedLaw {
        self.restitution = e;
        self
    }

    /// With a coefficient of restitution `e` along the tangents, in [0, 1]; of laws with friction [-].
    pub fn tangential(mut self, e: f64) -> NamedLaw {
        self.tangential = e;
        self
    }
}

/// Positions and velocities as dual numbers of one kind.
pub(super) struct Point<D> {
    pub q: Vec<D>,
    pub v: Vec<D>,
}

impl<D: Scalar> Point<D> {
    pub fn new(n: usize) -> Self {
        Point { q: vec![D::zero(); n], v: vec![D::zero(); n] }
    }
}

/// Buffers of (2) over the scalar `D`.
pub(super) struct Inertia<D> {
    mixed: Point<HyperDual<D>>,
    first: Point<Dual<D>>,
}

impl<D: Scalar> Inertia<D> {
    pub fn new(n: usize) -> Self {
        Inertia { mixed: Point::new(n), first: Point::new(n) }
    }

    /// F of (2) at `(t, q, v)`.
    pub fn force<F: Functions>(&mut self, functions: &F, t: D, at: &Point<D>, out: &mut [D]) {
        let (zero, one) = (D::zero(), D::one());
        out.fill(zero);
        functions.force(t, &at.q, &at.v, out);
        let Inertia { mixed, first } = self;
        for (j, (q, v)) in at.q.iter().zip(&at.v).enumerate() {
            mixed.q[j] = HyperDual::new(*q, zero, *v, zero);
            mixed.v[j] = HyperDual::new(*v, zero, zero, zero);
            first.q[j] = Dual::new(*q, zero);
            first.v[j] = Dual::new(*v, zero);
        }
        for (i, out) in out.iter_mut().enumerate() {
            // T_vq v + T_vt: along e_i in v, then along (1, v) in (t, q)
            mixed.v[i].eps1 = one;
            *out -= functions.kinetic(HyperDual::new(t, zero, one, zero), &mixed.q, &mixed.v).eps1eps2;
            mixed.v[i].eps1 = zero;
            // T_q − V_q
            first.q[i].eps = one;
            let t = Dual::new(t, zero);
            *out += functions.kinetic(t, &first.q, &first.v).eps - functions.potential(t, &first.q).eps;
            first.q[i].eps = zero;
        }
    }
}

/// A mechanical model from [`Functions`].
pub struct DualLagrangian<F> {
    functions: F,
    laws: Vec<NamedLaw>,
    labels: Vec<String>,
    initial: State,
    operator: DenseOperator,
    values: Point<f64>,                   // where F is asked for
    inertia: Inertia<f64>,                // for F
    seeded: Point<Dual64>,                // the same with one coordinate moving, for K and C
    tangent: Inertia<Dual64>,             // for K and C
    column: Vec<Dual64>,                  // (n) one column of K or C
    mass: Point<HyperDual64>,             // for M
    output: Vec<Dual64>,                  // (rows) outputs with one coordinate moving
    row: Vec<f64>,                        // (rows × n) their gradients
    path: (Vec<Dual2_64>, Vec<Dual2_64>), // coordinates and outputs along (1, v)
}

impl<F: Functions> DualLagrangian<F> {
    /// From an initial state, whose length is the number of coordinates. Refuses what makes no sense: as many
    /// velocities as positions are needed, and laws with names and coefficients.
    pub fn new(functions: F, initial: State) -> Result<Self, ModelError> {
        let n = initial.q.len();
        require("the initial velocities", initial.v.len(), n)?;
        let laws = functions.laws();
        laws.iter().try_for_each(|law| check_law(&law.name, law.law, [law.restitution, law.tangential]))?;
        distinct("contacts", laws.iter().map(|law| law.name.as_str()))?;
        let rows = laws.iter().map(|law| law.law.size()).sum();
        Ok(DualLagrangian {
            functions,
            laws,
            labels: (0..n).map(|i| format!("q{i}")).collect(),
            initial,
            operator: DenseOperator::new(n),
            values: Point::new(n),
            inertia: Inertia::new(n),
            seeded: Point::new(n),
            tangent: Inertia::new(n),
            column: vec![Dual64::new(0.0, 0.0); n],
            mass: Point::new(n),
            output: vec![Dual64::new(0.0, 0.0); rows],
            row: vec![0.0; rows * n],
            path: (vec![Dual2::new(0.0, 0.0, 0.0); n], vec![Dual2::new(0.0, 0.0, 0.0); rows]),
        })
    }

    /// Names of the coordinates, in order.
    pub fn with_labels(mut self, labels: Vec<String>) -> Self {
        self.labels = labels;
        self
    }

    /// Exact derivatives of the model, for sensitivities.
    pub fn tangent(&self) -> DualTangent<F>
    where
        F: Clone,
    {
        DualTangent::new(self.functions.clone(), self.initial.q.len())
    }

    /// The functions that the model was made from.
    pub fn functions(&self) -> &F {
        &self.functions
    }

    /// Sets the point of `mass` to `(q, 0)` without any direction.
    fn place_mass(&mut self, q: &[f64]) {
        for (x, q) in self.mass.q.iter_mut().zip(q) {
            *x = HyperDual::new(*q, 0.0, 0.0, 0.0);
        }
        self.mass.v.fill(HyperDual::new(0.0, 0.0, 0.0, 0.0));
    }

    /// The mixed second derivative of T along the two directions set in `mass`.
    fn mixed_mass(&self) -> f64 {
        self.functions.kinetic(HyperDual::new(self.initial.t, 0.0, 0.0, 0.0), &self.mass.q, &self.mass.v).eps1eps2
    }

    /// The name of a coordinate, or its number.
    fn coordinate(&self, i: usize) -> Box<str> {
        self.labels.get(i).map_or_else(|| format!("q{i}").into(), |name| name.as_str().into())
    }

    /// (1) into the operator.
    fn evaluate_mass(&mut self, q: &[f64]) {
        let n = q.len();
        self.place_mass(q);
        for i in 0..n {
            self.mass.v[i].eps1 = 1.0;
            for j in 0..=i {
                self.mass.v[j].eps2 = 1.0;
                let m = self.mixed_mass();
                self.operator.mass[i * n + j] = m;
                self.operator.mass[j * n + i] = m;
                self.mass.v[j].eps2 = 0.0;
            }
            self.mass.v[i].eps1 = 0.0;
        }
    }

    /// (3) into the operator.
    fn evaluate_tangents(&mut self, at: &State) {
        let n = at.q.len();
        for j in 0..n {
            self.seeded.q[j] = Dual64::new(at.q[j], 0.0);
            self.seeded.v[j] = Dual64::new(at.v[j], 0.0);
        }
        let t = Dual64::new(at.t, 0.0);
        for j in 0..n {
            self.seeded.q[j].eps = 1.0;
            self.tangent.force(&self.functions, t, &self.seeded, &mut self.column);
            self.seeded.q[j].eps = 0.0;
            for (i, f) in self.column.iter().enumerate() {
                self.operator.stiffness[i * n + j] = -f.eps;
            }
            self.seeded.v[j].eps = 1.0;
            self.tangent.force(&self.functions, t, &self.seeded, &mut self.column);
            self.seeded.v[j].eps = 0.0;
            for (i, f) in self.column.iter().enumerate() {
                self.operator.damping[i * n + j] = -f.eps;
            }
        }
    }
}

impl<F> LinearSolve for DualLagrangian<F> {
    fn dim(&self) -> usize {
        self.initial.v.len()
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.operator.solve(rhs);
    }
}

impl<F: Functions> Space for DualLagrangian<F> {
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        self.operator.persist(archive).map(|()| true)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn has_rebounds(&self) -> bool {
        self.laws.iter().any(|law| law.tangential > 0.0)
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let n = q.len();
        out.clear(n);
        if self.output.is_empty() {
            return Ok(());
        }
        for (x, q) in self.seeded.q.iter_mut().zip(q) {
            *x = Dual64::new(*q, 0.0);
        }
        for j in 0..n {
            self.seeded.q[j].eps = 1.0;
            self.output.fill(Dual64::new(0.0, 0.0));
            self.functions.outputs(Dual64::new(t, 0.0), &self.seeded.q, &mut self.output);
            self.seeded.q[j].eps = 0.0;
            for (i, y) in self.output.iter().enumerate() {
                self.row[i * n + j] = y.eps;
            }
        }
        self.output.fill(Dual64::new(0.0, 0.0));
        self.functions.outputs(Dual64::new(t, 1.0), &self.seeded.q, &mut self.output);
        let mut row = 0;
        for (k, NamedLaw { name, law, restitution, tangential }) in self.laws.iter().enumerate() {
            let gap = self.output[row].re;
            if !gap.is_finite() {
                return Err(ModelError::Gap { contact: name.as_str().into(), t });
            }
            let region = self.functions.region(k, t, q);
            if region.is_nan() {
                return Err(ModelError::Gap { contact: name.as_str().into(), t });
            }
            out.rebound(*tangential);
            out.push_within(Pair { key: Key::from(k), law: *law, gap, restitution: *restitution }, region);
            for row in row..row + law.size() {
                out.rows.push_dense(&self.row[row * n..(row + 1) * n]);
                out.drift.push(self.output[row].eps);
            }
            row += law.size();
        }
        Ok(())
    }

    fn labels(&self) -> Labels {
        Labels {
            coordinates: self.labels.clone(),
            contacts: self.laws.iter().map(|law| (law.name.clone(), law.law)).collect(),
            ..Labels::default()
        }
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        let kinetic = self.functions.kinetic(at.t, &at.q, &at.v);
        Some(Energy { kinetic, potential: self.functions.potential(at.t, &at.q) })
    }

    fn applied_power(&mut self, at: &State) -> f64 {
        self.values.v.fill(0.0);
        self.functions.force(at.t, &at.q, &at.v, &mut self.values.v);
        self.values.v.iter().zip(&at.v).map(|(f, v)| f * v).sum()
    }
}

impl<F: Functions> Mechanical for DualLagrangian<F> {
    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.values.q.copy_from_slice(q);
        self.values.v.copy_from_slice(v);
        self.inertia.force(&self.functions, t, &self.values, out);
        match out.iter().position(|f| !f.is_finite()) {
            Some(i) => Err(ModelError::Force { coordinate: self.coordinate(i), t }),
            None => Ok(()),
        }
    }

    fn mass_mul(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        // M v is the derivative of T_v along v: one evaluation per row
        self.place_mass(q);
        for (x, v) in self.mass.v.iter_mut().zip(v) {
            x.eps2 = *v;
        }
        for (i, out) in out.iter_mut().enumerate() {
            self.mass.v[i].eps1 = 1.0;
            *out = self.mixed_mass();
            self.mass.v[i].eps1 = 0.0;
        }
        Ok(())
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        self.evaluate_mass(&at.q);
        let checked = self.operator.check_mass();
        checked.map_err(|bad| ModelError::Mass { coordinate: self.coordinate(bad.column), pivot: bad.pivot })?;
        if c.damping != 0.0 || c.stiffness != 0.0 {
            self.evaluate_tangents(at);
        }
        self.operator.factor(c, at.t)
    }

    fn acceleration_level(&mut self) -> Option<&mut dyn AccelerationLevel> {
        Some(self)
    }
}

impl<F: Functions> AccelerationLevel for DualLagrangian<F> {
    fn curvature(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut Vec<f64>) -> Result<(), ModelError> {
        let (coordinates, outputs) = &mut self.path;
        for (x, (q, v)) in coordinates.iter_mut().zip(q.iter().zip(v)) {
            *x = Dual2::new(*q, *v, 0.0);
        }
        outputs.fill(Dual2::new(0.0, 0.0, 0.0));
        self.functions.outputs(Dual2::new(t, 1.0, 0.0), coordinates, outputs);
        out.clear();
        out.extend(outputs.iter().map(|y| y.v2));
        Ok(())
    }
}
