//! Nonlinear first-order systems from closures:
//!
//! ```text
//!     ẋ = f(t, x) + B(t, x) λ,    y = h(t, x) + D λ,    λᵢ ∈ Lawᵢ(yᵢ)                                     (1)
//! ```
//!
//! Tangents that are not given are taken by central differences. Closures may return what they compute, or a `Result`
//! ([`Answer`]).

use super::check::{check_law, distinct, require};
use super::differences::{Sizes, jacobian};
use super::lagrangian::{Row as Vector, Scalar, gradient_by_differences, row, scalar};
use super::{Answer, Constancy, FirstOrder, Labels, ModelError, Space};
use crate::{Coupling, Key, Pair, State};
use carom_solve::{Archive, ArchiveError, DenseLu, Law, LinearSolve, Persist};

/// An output `yᵢ` with its law, and the direction in which `λᵢ` acts.
pub struct Output {
    name: String,
    law: Law,
    value: Scalar,
    gradient: Option<Vector>,
    input: Vector,
}

impl Output {
    /// `y = value(t, x)`, and λ enters the rate along `input(t, x)`. The law has one row.
    pub fn new<A: Answer<f64>, B: Answer<()>>(
        name: &str,
        law: Law,
        value: impl Fn(f64, &[f64]) -> A + Send + 'static,
        input: impl Fn(f64, &[f64], &mut [f64]) -> B + Send + 'static,
    ) -> Self {
        Output { name: name.into(), law, value: scalar(value), gradient: None, input: row(input) }
    }

    /// ∂y/∂x.
    pub fn gradient<A: Answer<()>>(mut self, f: impl Fn(f64, &[f64], &mut [f64]) -> A + Send + 'static) -> Self {
        self.gradient = Some(row(f));
        self
    }
}

/// A system (1) from closures. What makes no sense is told by [`FirstOrderSystem::build`], and at the latest where a
/// scheme is bound.
pub struct FirstOrderSystem {
    n: usize,
    rate: Vector,
    tangent: Option<Vector>,
    outputs: Vec<Output>,
    feedthrough: Vec<f64>,
    initial: State,
    point: Vec<f64>,
    buffer: [Vec<f64>; 2],
    far: Vec<f64>,
    matrix: Vec<f64>,
    lu: DenseLu,
}

impl FirstOrderSystem {
    /// `n` states, `ẋ = rate(t, x)`, from `initial`.
    pub fn new<A: Answer<()>>(initial: &[f64], rate: impl Fn(f64, &[f64], &mut [f64]) -> A + Send + 'static) -> Self {
        let n = initial.len();
        FirstOrderSystem {
            n,
            rate: row(rate),
            tangent: None,
            outputs: Vec::new(),
            feedthrough: Vec::new(),
            initial: State::new(0.0, initial, &[]),
            point: vec![0.0; n],
            buffer: [vec![0.0; n], vec![0.0; n]],
            far: vec![0.0; n],
            matrix: vec![0.0; n * n],
            lu: DenseLu::default(),
        }
    }

    /// The system, or what makes no sense in it.
    pub fn build(self) -> Result<Self, ModelError> {
        self.check()?;
        Ok(self)
    }

    /// ∂f/∂x, row-major.
    pub fn tangent<A: Answer<()>>(mut self, f: impl Fn(f64, &[f64], &mut [f64]) -> A + Send + 'static) -> Self {
        self.tangent = Some(row(f));
        self
    }

    /// One more output, with a name of its own.
    pub fn output(mut self, output: Output) -> Self {
        self.outputs.push(output);
        self
    }

    /// D of all outputs, row-major; zero unless it is given.
    pub fn feedthrough(mut self, d: &[f64]) -> Self {
        self.feedthrough = d.to_vec();
        self
    }

    fn differentiate(&mut self, at: &State) -> Result<(), ModelError> {
        self.point.copy_from_slice(&at.q);
        let FirstOrderSystem { point, initial, buffer: [plus, minus], far, rate, matrix, .. } = self;
        jacobian((point, &initial.q), [plus, minus, far], matrix, |x, out| rate(at.t, x, out))
    }
}

impl LinearSolve for FirstOrderSystem {
    fn dim(&self) -> usize {
        self.n
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.lu.solve(rhs);
    }
}

impl Space for FirstOrderSystem {
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        self.lu.persist(archive).map(|()| true)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn check(&self) -> Result<(), ModelError> {
        for Output { name, law, .. } in &self.outputs {
            check_law(name, *law, [0.0; 2])?;
            if law.size() != 1 {
                let reason = "an output of a first-order system has a law of one row";
                return Err(ModelError::Contact { contact: name.as_str().into(), reason });
            }
        }
        let m = self.outputs.len();
        if !self.feedthrough.is_empty() {
            require("the entries of D", self.feedthrough.len(), m * m)?;
        }
        if !self.feedthrough.iter().all(|x| x.is_finite()) {
            return Err(ModelError::NotFinite { what: "D", t: self.initial.t });
        }
        distinct("outputs", self.outputs.iter().map(|output| output.name.as_str()))
    }

    fn couple(&mut self, t: f64, x: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(self.n);
        self.point.copy_from_slice(x);
        let sizes = Sizes::of(x.iter().chain(&self.initial.q).copied());
        let row = &mut self.buffer[0];
        for (k, output) in self.outputs.iter().enumerate() {
            let gap = (output.value)(t, x)?;
            if !gap.is_finite() {
                return Err(ModelError::Gap { contact: output.name.as_str().into(), t });
            }
            out.push(Pair { key: Key::from(k), law: output.law, gap, restitution: 0.0 });
            match &output.gradient {
                Some(gradient) => gradient(t, x, row)?,
                None => gradient_by_differences(&output.value, t, (&mut self.point, &self.initial.q), sizes, row)?,
            }
            if !row.iter().all(|g| g.is_finite()) {
                return Err(ModelError::Gradient { contact: output.name.as_str().into(), t });
            }
            out.rows.push_dense(row);
            out.drift.push(0.0);
            (output.input)(t, x, row)?;
            if !row.iter().all(|b| b.is_finite()) {
                return Err(ModelError::Gradient { contact: output.name.as_str().into(), t });
            }
            out.input.push_dense(row);
        }
        let m = self.outputs.len();
        if m > 0 && self.feedthrough.len() == m * m {
            out.feedthrough.clear(m);
            self.feedthrough.chunks_exact(m).for_each(|row| out.feedthrough.push_dense(row));
        }
        Ok(())
    }

    fn labels(&self) -> Labels {
        Labels {
            coordinates: (0..self.n).map(|i| format!("x{i}")).collect(),
            contacts: self.outputs.iter().map(|o| (o.name.clone(), o.law)).collect(),
            ..Labels::default()
        }
    }
}

impl FirstOrder for FirstOrderSystem {
    fn constancy(&self) -> Constancy {
        Constancy { mass: true, ..Constancy::default() }
    }

    fn rate(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        (self.rate)(t, x, out)?;
        match out.iter().position(|x| !x.is_finite()) {
            Some(i) => Err(ModelError::Rate { state: format!("x{i}").into(), t }),
            None => Ok(()),
        }
    }

    fn factor(&mut self, at: &State, c: f64) -> Result<(), ModelError> {
        let n = self.n;
        match &self.tangent {
            Some(tangent) => tangent(at.t, &at.q, &mut self.matrix)?,
            None if c != 0.0 => self.differentiate(at)?,
            None => {}
        }
        let matrix = self.lu.matrix_mut(n);
        for (k, (x, d)) in matrix.iter_mut().zip(&self.matrix).enumerate() {
            let tangent = if c == 0.0 { 0.0 } else { c * d };
            *x = f64::from(u8::from(k / n == k % n)) - tangent;
        }
        self.lu.factor().map_err(|source| ModelError::Singular { t: at.t, source })
    }
}
