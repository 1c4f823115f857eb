//! A mechanical model written in Rust closures: `M(q) v̇ = F(t, q, v) + Hᵀλ`.
//!
//! Tangents and gradients that are not given are taken by central finite differences: they only steer Newton's loop (tangents) or
//! cost a few digits (gradients).

use super::{Combination, Constancy, DenseOperator, Energy, Labels, Mechanical, ModelError, Space};
use crate::{Coupling, Key, Pair, State};
use carom_solve::{Law, LinearSolve, Singular};

type Scalar = Box<dyn Fn(f64, &[f64]) -> f64 + Send>;
type Row = Box<dyn Fn(f64, &[f64], &mut [f64]) + Send>;
type Force = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64]) + Send>;
type Tangents = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64], &mut [f64]) + Send>;
type Mass = Box<dyn Fn(&[f64], &mut [f64]) + Send>;
type Potential = Box<dyn Fn(&[f64]) -> f64 + Send>;

/// A gap with an optional gradient, restitution and friction; or a bilateral constraint.
pub struct Contact {
    name: String,
    law: Law,
    restitution: f64,
    /// Gap first, then slip displacements.
    outputs: Vec<(Scalar, Option<Row>)>,
    /// Not negative where the contact counts.
    region: Option<Scalar>,
}

impl Contact {
    /// The unilateral constraint `gap(t, q) ≥ 0`.
    pub fn new(name: &str, gap: impl Fn(f64, &[f64]) -> f64 + Send + 'static) -> Contact {
        Contact {
            name: name.into(),
            law: Law::UNILATERAL,
            restitution: 0.0,
            outputs: vec![(Box::new(gap), None)],
            region: None,
        }
    }

    /// The bilateral constraint `value(t, q) = 0`.
    pub fn bilateral(name: &str, value: impl Fn(f64, &[f64]) -> f64 + Send + 'static) -> Contact {
        Contact { law: Law::EQUALITY, ..Contact::new(name, value) }
    }

    /// The gradient of the output given last (the gap, or a slip).
    pub fn gradient(mut self, row: impl Fn(f64, &[f64], &mut [f64]) + Send + 'static) -> Self {
        if let Some(output) = self.outputs.last_mut() {
            output.1 = Some(Box::new(row));
        }
        self
    }

    /// Newton's coefficient of restitution [-].
    pub fn restitution(mut self, e: f64) -> Self {
        self.restitution = e;
        self
    }

    /// The contact counts where `region(t, q) ≥ 0`, and is absent elsewhere.
    pub fn region(mut self, region: impl Fn(f64, &[f64]) -> f64 + Send + 'static) -> Self {
        self.region = Some(Box::new(region));
        self
    }

    /// Coulomb friction with coefficient `mu` along a slip displacement; a second call makes the contact spatial.
    pub fn friction(mut self, mu: f64, slip: impl Fn(f64, &[f64]) -> f64 + Send + 'static) -> Self {
        self.outputs.push((Box::new(slip), None));
        self.law = Law::coulomb(mu, self.outputs.len() - 1);
        self
    }
}

/// A model of `n` coordinates made of closures. Set at least the mass and the force.
pub struct Lagrangian {
    n: usize,
    mass: Option<Mass>,
    force: Force,
    tangents: Option<Tangents>,
    potential: Option<Potential>,
    contacts: Vec<Contact>,
    initial: State,
    constancy: Constancy,
    operator: DenseOperator,
    point: State,
    buffer: [Vec<f64>; 3],
}

impl Lagrangian {
    /// Unit mass, no force, no contact, at rest at the origin.
    pub fn new(n: usize) -> Lagrangian {
        let mut operator = DenseOperator::new(n);
        for i in 0..n {
            operator.mass[i * n + i] = 1.0;
        }
        let zero = vec![0.0; n];
        Lagrangian {
            n,
            mass: None,
            force: Box::new(|_, _, _, f| f.fill(0.0)),
            tangents: None,
            potential: None,
            contacts: Vec::new(),
            initial: State::new(0.0, &zero, &zero),
            constancy: Constancy { mass: true, ..Constancy::default() },
            operator,
            point: State::new(0.0, &zero, &zero),
            buffer: [zero.clone(), zero.clone(), zero],
        }
    }

    /// M, row-major, the same everywhere. A matrix of another size is ignored in a release build and refused in a debug build.
    pub fn constant_mass(mut self, mass: &[f64]) -> Self {
        debug_assert_eq!(mass.len(), self.n * self.n);
        if mass.len() == self.n * self.n {
            self.operator.mass.copy_from_slice(mass);
        }
        self.constancy.mass = true;
        self
    }

    /// M(q), row-major.
    pub fn mass(mut self, mass: impl Fn(&[f64], &mut [f64]) + Send + 'static) -> Self {
        self.mass = Some(Box::new(mass));
        self.constancy.mass = false;
        self
    }

    /// F(t, q, v): applied, gyroscopic and potential forces together.
    pub fn force(mut self, force: impl Fn(f64, &[f64], &[f64], &mut [f64]) + Send + 'static) -> Self {
        self.force = Box::new(force);
        self
    }

    /// K = −∂F/∂q and C = −∂F/∂v, row-major, in this order.
    pub fn tangents(mut self, k_c: impl Fn(f64, &[f64], &[f64], &mut [f64], &mut [f64]) + Send + 'static) -> Self {
        self.tangents = Some(Box::new(k_c));
        self
    }

    /// V(q) [J], for the energy ledger. The work of all other forces is left to the numerical residue.
    pub fn potential(mut self, potential: impl Fn(&[f64]) -> f64 + Send + 'static) -> Self {
        self.potential = Some(Box::new(potential));
        self
    }

    pub fn contact(mut self, contact: Contact) -> Self {
        self.contacts.push(contact);
        self
    }

    pub fn initial(mut self, q: &[f64], v: &[f64]) -> Self {
        self.initial = State::new(0.0, q, v);
        self
    }

    /// Declares that tangents and rows do not depend on the state (F affine, gaps affine): one solve per step.
    pub fn linear(mut self) -> Self {
        self.constancy.tangents = true;
        self.constancy.rows = true;
        self
    }

    /// Column j of −∂F/∂x by central differences, for positions or velocities.
    fn differences(&mut self, velocities: bool) {
        let n = self.n;
        for j in 0..n {
            let x = if velocities { self.point.v[j] } else { self.point.q[j] };
            let d = f64::EPSILON.cbrt() * x.abs().max(1.0);
            let [plus, minus, _] = &mut self.buffer;
            for (sign, out) in [(1.0, plus), (-1.0, minus)] {
                let moved = if velocities { &mut self.point.v } else { &mut self.point.q };
                moved[j] = x + sign * d;
                (self.force)(self.point.t, &self.point.q, &self.point.v, out);
            }
            let moved = if velocities { &mut self.point.v } else { &mut self.point.q };
            moved[j] = x;
            let target = if velocities { &mut self.operator.damping } else { &mut self.operator.stiffness };
            for i in 0..n {
                target[i * n + j] = (self.buffer[1][i] - self.buffer[0][i]) / (2.0 * d);
            }
        }
    }

    fn evaluate_mass(&mut self, q: &[f64]) {
        if let Some(mass) = &self.mass {
            mass(q, &mut self.operator.mass);
        }
    }

    /// Refuses a mass that is not positive definite, if it is not the same everywhere.
    fn check_mass(&mut self) -> Result<(), ModelError> {
        if self.constancy.mass {
            return Ok(());
        }
        let bad = |singular: Singular| ModelError::Mass {
            coordinate: format!("q{}", singular.column).into(),
            pivot: singular.pivot,
        };
        self.operator.check_mass().map_err(bad)
    }
}

impl LinearSolve for Lagrangian {
    fn dim(&self) -> usize {
        self.n
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.operator.solve(rhs);
    }
}

impl Space for Lagrangian {
    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(self.n);
        self.point.q.copy_from_slice(q);
        let row = &mut self.buffer[2];
        for (k, contact) in self.contacts.iter().enumerate() {
            let gap = contact.outputs.first().map_or(0.0, |(gap, _)| gap(t, q));
            // a NaN would count as an open gap
            if !gap.is_finite() {
                return Err(ModelError::Gap { contact: contact.name.as_str().into(), t });
            }
            let region = contact.region.as_ref().map_or(f64::INFINITY, |region| region(t, q));
            if region.is_nan() {
                return Err(ModelError::Gap { contact: contact.name.as_str().into(), t });
            }
            let pair = Pair { key: Key::from(k), law: contact.law, gap, restitution: contact.restitution };
            out.push_within(pair, region);
            for (output, gradient) in &contact.outputs {
                match gradient {
                    Some(gradient) => gradient(t, q, row),
                    None => gradient_by_differences(output, t, &mut self.point.q, row),
                }
                out.rows.push_dense(row);
                let d = f64::EPSILON.cbrt() * t.abs().max(1.0);
                out.drift.push((output(t + d, q) - output(t - d, q)) / (2.0 * d));
            }
        }
        Ok(())
    }

    fn labels(&self) -> Labels {
        Labels {
            contacts: self.contacts.iter().map(|c| (c.name.clone(), c.law)).collect(),
            ..Labels::numbered(self.n, 0)
        }
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        self.evaluate_mass(&at.q);
        let potential = self.potential.as_ref()?(&at.q);
        Some(Energy { kinetic: self.operator.kinetic(&at.v), potential })
    }
}

/// Central differences of `output` at `q`, which is left as it was.
pub(super) fn gradient_by_differences(output: &Scalar, t: f64, q: &mut [f64], row: &mut [f64]) {
    for j in 0..q.len() {
        let x = q[j];
        let d = f64::EPSILON.cbrt() * x.abs().max(1.0);
        q[j] = x + d;
        let plus = output(t, q);
        q[j] = x - d;
        row[j] = (plus - output(t, q)) / (2.0 * d);
        q[j] = x;
    }
}

impl Mechanical for Lagrangian {
    fn constancy(&self) -> Constancy {
        self.constancy
    }

    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        (self.force)(t, q, v, out);
        match out.iter().position(|f| !f.is_finite()) {
            Some(i) => Err(ModelError::Force { coordinate: format!("q{i}").into(), t }),
            None => Ok(()),
        }
    }

    fn mass_mul(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.evaluate_mass(q);
        self.operator.mass_mul(v, out);
        self.check_mass()
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        self.evaluate_mass(&at.q);
        if c.damping == 0.0 && c.stiffness == 0.0 {
            self.check_mass()?;
        } else {
            match &self.tangents {
                Some(tangents) => {
                    let DenseOperator { stiffness, damping, .. } = &mut self.operator;
                    tangents(at.t, &at.q, &at.v, stiffness, damping);
                }
                None => {
                    self.point.copy_from(at);
                    self.differences(false);
                    self.differences(true);
                }
            }
        }
        self.operator.factor(c, at.t)
    }
}
