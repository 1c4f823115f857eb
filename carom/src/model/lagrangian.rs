//! A mechanical model written in Rust closures: `M(q) v̇ = F(t, q, v) + Hᵀλ`.
//!
//! Tangents and gradients that are not given are taken by central finite differences: they only steer Newton's loop
//! (tangents) or cost two or three digits (gradients). They find their own steps, whatever the units of the coordinates
//! are. Closures may return what they compute, or a `Result` ([`Answer`]).

use super::check::{check_law, distinct, require};
use super::differences::{ENTERS, ROUNDING, STEERS, Sizes, Told, may_grow, settle, tell};
use super::{Answer, Combination, Constancy, DenseOperator, Energy, Labels, Mechanical, ModelError, Space};
use crate::{Coupling, Key, Pair, State};
use carom_solve::elementary::{cbrt, powf};
use carom_solve::{Archive, ArchiveError, Law, LinearSolve, Persist, Singular};

type Checked<T> = Result<T, ModelError>;
pub(super) type Scalar = Box<dyn Fn(f64, &[f64]) -> Checked<f64> + Send>;
pub(super) type Row = Box<dyn Fn(f64, &[f64], &mut [f64]) -> Checked<()> + Send>;
type Force = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64]) -> Checked<()> + Send>;
type Tangents = Box<dyn Fn(f64, &[f64], &[f64], &mut [f64], &mut [f64]) -> Checked<()> + Send>;
type Mass = Box<dyn Fn(&[f64], &mut [f64]) -> Checked<()> + Send>;
type Potential = Box<dyn Fn(&[f64]) -> f64 + Send>;

/// A function of time and position as the model keeps it.
pub(super) fn scalar<A: Answer<f64>>(f: impl Fn(f64, &[f64]) -> A + Send + 'static) -> Scalar {
    Box::new(move |t, q| f(t, q).answer())
}

/// A row that depends on time and position as the model keeps it.
pub(super) fn row<A: Answer<()>>(f: impl Fn(f64, &[f64], &mut [f64]) -> A + Send + 'static) -> Row {
    Box::new(move |t, q, out| f(t, q, out).answer())
}

/// A gap with an optional gradient, restitution and friction; or a bilateral constraint.
pub struct Contact {
    name: String,
    law: Law,
    restitution: f64,
    tangential: f64,
    /// Gap first, then slip displacements.
    outputs: Vec<(Scalar, Option<Row>)>,
    /// Not negative where the contact counts.
    region: Option<Scalar>,
    /// The first thing that makes no sense.
    mistake: Option<&'static str>,
}

impl Contact {
    /// The unilateral constraint `gap(t, q) ≥ 0`.
    pub fn new<A: Answer<f64>>(name: &str, gap: impl Fn(f64, &[f64]) -> A + Send + 'static) -> Contact {
        Contact {
            name: name.into(),
            law: Law::UNILATERAL,
            restitution: 0.0,
            tangential: 0.0,
            outputs: vec![(scalar(gap), None)],
            region: None,
            mistake: None,
        }
    }

    /// The bilateral constraint `value(t, q) = 0`.
    pub fn bilateral<A: Answer<f64>>(name: &str, value: impl Fn(f64, &[f64]) -> A + Send + 'static) -> Contact {
        Contact { law: Law::EQUALITY, ..Contact::new(name, value) }
    }

    /// The gradient of the output given last (the gap, or a slip).
    pub fn gradient<A: Answer<()>>(mut self, f: impl Fn(f64, &[f64], &mut [f64]) -> A + Send + 'static) -> Self {
        if let Some(output) = self.outputs.last_mut() {
            output.1 = Some(row(f));
        }
        self
    }

    /// Newton's coefficient of restitution [-], in [0, 1]; of contacts, not of bilateral constraints.
    pub fn restitution(mut self, e: f64) -> Self {
        self.restitution = e;
        self
    }

    /// Coefficient of restitution along the slips [-], in [0, 1]; of contacts with friction.
    pub fn tangential(mut self, e: f64) -> Self {
        self.tangential = e;
        self
    }

    /// The contact counts where `region(t, q) ≥ 0`, and is absent elsewhere.
    pub fn region<A: Answer<f64>>(mut self, region: impl Fn(f64, &[f64]) -> A + Send + 'static) -> Self {
        self.region = Some(scalar(region));
        self
    }

    /// Coulomb friction with coefficient `mu` along a slip displacement; a second call, with the same `mu`, makes the
    /// contact spatial.
    pub fn friction<A: Answer<f64>>(mut self, mu: f64, slip: impl Fn(f64, &[f64]) -> A + Send + 'static) -> Self {
        let tangents = self.outputs.len();
        let mistake = match () {
            () if self.law.is_equality() => Some("a bilateral constraint has no friction"),
            () if tangents > 2 => Some("friction has one or two directions, a third was given"),
            () if tangents == 2 && self.law.mu() != mu => Some("its two directions of friction have one coefficient"),
            () => None,
        };
        self.mistake = self.mistake.or(mistake);
        if mistake.is_none() {
            self.outputs.push((scalar(slip), None));
            self.law = Law::coulomb(mu, tangents);
        }
        self
    }

    fn check(&self) -> Result<(), ModelError> {
        let unused = self.restitution != 0.0 && self.law.is_equality();
        let mistake = self.mistake.or(unused.then_some("a bilateral constraint has no restitution"));
        match mistake {
            Some(reason) => Err(ModelError::Contact { contact: self.name.as_str().into(), reason }),
            None => check_law(&self.name, self.law, [self.restitution, self.tangential]),
        }
    }
}

/// A model of `n` coordinates made of closures. Set at least the mass and the force.
///
/// What makes no sense is told by [`Lagrangian::build`], and at the latest where a scheme is bound.
pub struct Lagrangian {
    n: usize,
    mass: Option<Mass>,
    force: Force,
    tangents: Option<Tangents>,
    potential: Option<Potential>,
    contacts: Vec<Contact>,
    initial: State,
    length: Option<f64>,
    constancy: Constancy,
    operator: DenseOperator,
    point: State,
    buffer: [Vec<f64>; 3],
    /// The first thing that makes no sense.
    mistake: Option<ModelError>,
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
            force: Box::new(|_, _, _, f| {
                f.fill(0.0);
                Ok(())
            }),
            tangents: None,
            potential: None,
            contacts: Vec::new(),
            initial: State::new(0.0, &zero, &zero),
            length: None,
            constancy: Constancy { mass: true, ..Constancy::default() },
            operator,
            point: State::new(0.0, &zero, &zero),
            buffer: [zero.clone(), zero.clone(), zero],
            mistake: None,
        }
    }

    /// The model, or what makes no sense in it.
    pub fn build(self) -> Result<Self, ModelError> {
        self.check()?;
        Ok(self)
    }

    /// M, row-major, the same everywhere; symmetric and positive definite.
    pub fn constant_mass(mut self, mass: &[f64]) -> Self {
        match require("the entries of the mass matrix", mass.len(), self.n * self.n) {
            Ok(()) => self.operator.mass.copy_from_slice(mass),
            Err(error) => self.mistake = self.mistake.or(Some(error)),
        }
        self.mass = None;
        self.constancy.mass = true;
        self
    }

    /// M(q), row-major.
    pub fn mass<A: Answer<()>>(mut self, mass: impl Fn(&[f64], &mut [f64]) -> A + Send + 'static) -> Self {
        self.mass = Some(Box::new(move |q, out| mass(q, out).answer()));
        self.constancy.mass = false;
        self
    }

    /// F(t, q, v): applied, gyroscopic and potential forces together.
    pub fn force<A: Answer<()>>(
        mut self,
        force: impl Fn(f64, &[f64], &[f64], &mut [f64]) -> A + Send + 'static,
    ) -> Self {
        self.force = Box::new(move |t, q, v, out| force(t, q, v, out).answer());
        self
    }

    /// K = −∂F/∂q and C = −∂F/∂v, row-major, in this order.
    pub fn tangents<A: Answer<()>>(
        mut self,
        k_c: impl Fn(f64, &[f64], &[f64], &mut [f64], &mut [f64]) -> A + Send + 'static,
    ) -> Self {
        self.tangents = Some(Box::new(move |t, q, v, k, c| k_c(t, q, v, k, c).answer()));
        self
    }

    /// V(q) [J], for the energy ledger. The work of all other forces is left to the numerical residue.
    pub fn potential(mut self, potential: impl Fn(&[f64]) -> f64 + Send + 'static) -> Self {
        self.potential = Some(Box::new(potential));
        self
    }

    /// One more contact or constraint, with a name of its own.
    pub fn contact(mut self, contact: Contact) -> Self {
        self.contacts.push(contact);
        self
    }

    /// Positions and velocities at t = 0.
    pub fn initial(mut self, q: &[f64], v: &[f64]) -> Self {
        self.initial = State::new(0.0, q, v);
        self
    }

    /// A length that is typical of the model [m], see [`Space::length`].
    pub fn typical_length(mut self, length: f64) -> Self {
        self.length = Some(length);
        self
    }

    /// Declares that tangents and rows do not depend on the state (F affine, gaps affine): one solve per step.
    pub fn linear(mut self) -> Self {
        self.constancy.tangents = true;
        self.constancy.rows = true;
        self
    }

    /// How large the numbers of the state at hand are.
    fn sizes(&self) -> Sizes {
        let State { q, v, .. } = &self.point;
        Sizes::of(q.iter().chain(v).chain(&self.initial.q).chain(&self.initial.v).copied().chain(self.length))
    }

    /// −∂F/∂x by central differences, for positions or velocities.
    fn differences(&mut self, velocities: bool) -> Result<(), ModelError> {
        let sizes = self.sizes();
        for j in 0..self.n {
            let (at, initial) = (&self.point, &self.initial);
            let [x, initial] = if velocities { [at.v[j], initial.v[j]] } else { [at.q[j], initial.q[j]] };
            let steps = sizes.steps(cbrt(f64::EPSILON), x, initial);
            if sizes.is_large(x) {
                let told = self.column((velocities, j), steps[0], false)?;
                if told.lost <= STEERS.lost || told.lost == f64::INFINITY {
                    continue;
                }
            }
            settle(steps, STEERS, |d| self.column((velocities, j), d, true))?;
        }
        Ok(())
    }

    /// Column j of −∂F/∂x with the step d, and what it tells; that with 2d is not taken unless it is asked for.
    fn column(&mut self, (velocities, j): (bool, usize), d: f64, checks: bool) -> Result<Told, ModelError> {
        let n = self.n;
        let mut told = Told { missed: 0.0, lost: 0.0 };
        for (double, d) in [(true, 2.0 * d), (false, d)].into_iter().skip(usize::from(!checks)) {
            let x = if velocities { self.point.v[j] } else { self.point.q[j] };
            let [plus, minus, far] = &mut self.buffer;
            let mut result = Ok(());
            for (sign, out) in [(1.0, &mut *plus), (-1.0, &mut *minus)] {
                let moved = if velocities { &mut self.point.v } else { &mut self.point.q };
                moved[j] = x + sign * d;
                result = result.and((self.force)(self.point.t, &self.point.q, &self.point.v, out));
            }
            let moved = if velocities { &mut self.point.v } else { &mut self.point.q };
            moved[j] = x;
            result?;
            let quotients = plus.iter().zip(minus.iter()).map(|(plus, minus)| (minus - plus) / (2.0 * d));
            if double {
                far.iter_mut().zip(quotients).for_each(|(far, quotient)| *far = quotient);
                continue;
            }
            let largest = plus.iter().chain(minus.iter()).fold(0.0f64, |m, f| m.max(f.abs()));
            let pairs = quotients.clone().zip(far.iter().copied());
            told = tell(pairs.map(|(near, far)| (near, if checks { far } else { near })), ROUNDING * largest / d);
            let target = if velocities { &mut self.operator.damping } else { &mut self.operator.stiffness };
            quotients.enumerate().for_each(|(i, quotient)| target[i * n + j] = quotient);
        }
        Ok(told)
    }

    fn evaluate_mass(&mut self, q: &[f64]) -> Result<(), ModelError> {
        self.mass.as_ref().map_or(Ok(()), |mass| mass(q, &mut self.operator.mass))
    }

    /// Refuses a mass that is not positive definite, if it is not the same everywhere.
    fn check_mass(&mut self) -> Result<(), ModelError> {
        if self.constancy.mass {
            return Ok(());
        }
        self.operator.check_mass().map_err(bad_mass)
    }
}

fn bad_mass(singular: Singular) -> ModelError {
    ModelError::Mass { coordinate: format!("q{}", singular.column).into(), pivot: singular.pivot }
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
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        self.operator.persist(archive).map(|()| true)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn check(&self) -> Result<(), ModelError> {
        if let Some(mistake) = &self.mistake {
            return Err(mistake.clone());
        }
        require("the initial positions", self.initial.q.len(), self.n)?;
        require("the initial velocities", self.initial.v.len(), self.n)?;
        if self.mass.is_none() {
            self.operator.clone().check_mass().map_err(bad_mass)?;
        }
        self.contacts.iter().try_for_each(Contact::check)?;
        distinct("contacts", self.contacts.iter().map(|contact| contact.name.as_str()))
    }

    fn length(&self) -> Option<f64> {
        self.length
    }

    fn has_rebounds(&self) -> bool {
        self.contacts.iter().any(|contact| contact.tangential > 0.0)
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(self.n);
        self.point.q.copy_from_slice(q);
        let sizes = Sizes::of(q.iter().chain(&self.initial.q).copied().chain(self.length));
        let row = &mut self.buffer[2];
        for (k, contact) in self.contacts.iter().enumerate() {
            let gap = contact.outputs.first().map_or(Ok(0.0), |(gap, _)| gap(t, q))?;
            // a NaN would count as an open gap
            if !gap.is_finite() {
                return Err(ModelError::Gap { contact: contact.name.as_str().into(), t });
            }
            let region = contact.region.as_ref().map_or(Ok(f64::INFINITY), |region| region(t, q))?;
            if region.is_nan() {
                return Err(ModelError::Gap { contact: contact.name.as_str().into(), t });
            }
            let pair = Pair { key: Key::from(k), law: contact.law, gap, restitution: contact.restitution };
            out.rebound(contact.tangential);
            out.push_within(pair, region);
            for (output, gradient) in &contact.outputs {
                match gradient {
                    Some(gradient) => gradient(t, q, row)?,
                    None => gradient_by_differences(output, t, (&mut self.point.q, &self.initial.q), sizes, row)?,
                }
                if !row.iter().all(|x| x.is_finite()) {
                    return Err(ModelError::Gradient { contact: contact.name.as_str().into(), t });
                }
                out.rows.push_dense(row);
                out.drift.push(rate(output, t, q)?);
            }
        }
        Ok(())
    }

    fn labels(&self) -> Labels {
        Labels {
            velocities: Vec::new(),
            contacts: self.contacts.iter().map(|c| (c.name.clone(), c.law)).collect(),
            ..Labels::numbered(self.n, 0)
        }
    }

    fn has_applied_power(&self) -> bool {
        false
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        let potential = self.potential.as_ref()?(&at.q);
        self.evaluate_mass(&at.q).ok()?;
        Some(Energy { kinetic: self.operator.kinetic(&at.v), potential })
    }
}

/// ∂/∂t of `output` by central differences. The first step is a part of the time, or of a second where that is longer:
/// nothing tells how fast obstacles are that begin to move at t = 0.
fn rate(output: &Scalar, t: f64, q: &[f64]) -> Result<f64, ModelError> {
    let d = cbrt(f64::EPSILON) * t.abs().max(1.0);
    let (above, below) = (output(t + d, q)?, output(t - d, q)?);
    // most obstacles do not move
    if above == below && above == output(t, q)? {
        return Ok(0.0);
    }
    let mut found = 0.0;
    settle([d; 2], ENTERS, |d| {
        let quotient = |d: f64| -> Checked<f64> { Ok((output(t + d, q)? - output(t - d, q)?) / (2.0 * d)) };
        let (near, far) = (quotient(d)?, quotient(2.0 * d)?);
        found = (4.0 * near - far) / 3.0;
        let value = output(t, q)?.abs();
        Ok::<Told, ModelError>(tell([(near, far)].into_iter(), ROUNDING * value / d))
    })?;
    Ok(found)
}

/// Central differences of `output` at `q`, which is left as it was where they are defined; the model begins at another
/// one.
pub(super) fn gradient_by_differences(
    output: &Scalar,
    t: f64,
    (q, initial): (&mut [f64], &[f64]),
    sizes: Sizes,
    row: &mut [f64],
) -> Result<(), ModelError> {
    let steps = |q: &[f64], j: usize| sizes.steps(powf(f64::EPSILON, 0.2), q[j], initial[j]);
    // the lengths behind the value, and what quotients have missed of it
    let (mut terms, mut missed) = (output(t, q)?.abs(), 0.0f64);
    // the least change that there was
    let mut least = f64::INFINITY;
    for j in 0..q.len() {
        let [d, most] = steps(q, j);
        match (quotient(output, t, q, (j, d)), quotient(output, t, q, (j, 2.0 * d))) {
            (Ok(near), Ok(far)) => {
                row[j] = (4.0 * near - far) / 3.0;
                terms += (row[j] * q[j]).abs();
                let Told { missed: apart, lost } = tell([(near, far)].into_iter(), 0.0);
                if apart > ENTERS.agree {
                    missed = missed.max((near - far).abs() * d);
                }
                if may_grow([d, most]) {
                    least = if lost == f64::INFINITY { 0.0 } else { least.min((row[j] * d).abs()) };
                }
            }
            // next to where the function ends
            _ => missed = f64::INFINITY,
        }
    }
    let rounding = ROUNDING * terms;
    if missed > rounding || rounding > ENTERS.lost * least || !missed.is_finite() || !terms.is_finite() {
        for j in 0..q.len() {
            settle(steps(q, j), ENTERS, |d| {
                let (near, far) = (quotient(output, t, q, (j, d))?, quotient(output, t, q, (j, 2.0 * d))?);
                row[j] = (4.0 * near - far) / 3.0;
                Ok::<Told, ModelError>(tell([(near, far)].into_iter(), rounding / d))
            })?;
        }
    }
    Ok(())
}

/// Central difference of `output` along coordinate `j` of `q`, which is left as it was.
fn quotient(output: &Scalar, t: f64, q: &mut [f64], (j, d): (usize, f64)) -> Checked<f64> {
    let x = q[j];
    let (plus, minus) = (x + d, x - d);
    q[j] = plus;
    let above = output(t, q);
    q[j] = minus;
    let below = output(t, q);
    q[j] = x;
    // the step that was taken, not the one that was wanted
    Ok((above? - below?) / (plus - minus))
}

impl Mechanical for Lagrangian {
    fn constancy(&self) -> Constancy {
        self.constancy
    }

    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        (self.force)(t, q, v, out)?;
        match out.iter().position(|f| !f.is_finite()) {
            Some(i) => Err(ModelError::Force { coordinate: format!("q{i}").into(), t }),
            None => Ok(()),
        }
    }

    fn mass_mul(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.evaluate_mass(q)?;
        self.operator.mass_mul(v, out);
        self.check_mass()
    }

    fn mass_diagonal(&mut self, q: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.evaluate_mass(q)?;
        self.operator.mass_diagonal(out);
        Ok(())
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        self.evaluate_mass(&at.q)?;
        if c.damping == 0.0 && c.stiffness == 0.0 {
            self.check_mass()?;
        } else {
            match &self.tangents {
                Some(tangents) => {
                    let DenseOperator { stiffness, damping, .. } = &mut self.operator;
                    tangents(at.t, &at.q, &at.v, stiffness, damping)?;
                }
                None => {
                    self.point.copy_from(at);
                    self.differences(false)?;
                    self.differences(true)?;
                }
            }
        }
        self.operator.factor(c, at.t)
    }
}
