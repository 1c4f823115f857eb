//! The one-step problem: the waist between schemes and solvers.
//!
//! ```text
//!     u = W λ + b,   W = D + C A⁻¹ B,   λᵢ ∈ Lawᵢ(uᵢ)                                  (1)
//! ```
//!
//! A scheme lays out the ingredients; a solver may ask for `W` (assembled once, on the first request) and must end with
//! [`OneStepProblem::conclude`], which recomputes `u` through `A`, `B`, `C`, `D` and judges the laws.

use crate::inertia::Inertia;
use crate::{Certificate, Delassus, History, Law, Rows, SolveError};
use std::cell::{Cell, Ref, RefCell};
use std::ops::Range;

/// `x ← A⁻¹ x` for the matrix last factored.
pub trait LinearSolve {
    /// Number of rows of `A`.
    fn dim(&self) -> usize;

    /// `rhs ← A⁻¹ rhs`.
    fn solve(&self, rhs: &mut [f64]);

    /// The interval of degrees of freedom that `A` couples with `dof`: `A` is block-diagonal over such intervals. All,
    /// unless the implementor knows better; then the Delassus matrix of many small bodies costs what its entries cost.
    fn block(&self, _dof: usize) -> Range<usize> {
        0..self.dim()
    }

    /// `x ← A⁻¹ x` within one interval of [`block`](Self::block); `rhs` has its length.
    fn solve_block(&self, _block: Range<usize>, rhs: &mut [f64]) {
        self.solve(rhs);
    }

    /// The entries of `A` within one interval of [`block`](Self::block), row-major, where they are at hand; false and
    /// nothing where they are not. Who eliminates equality rows needs them, and finds them by solving otherwise.
    fn matrix(&self, _block: Range<usize>, _out: &mut [f64]) -> bool {
        false
    }
}

/// The unit matrix of a given size, for problems that are given in reduced form.
pub struct Identity(pub usize);

impl LinearSolve for Identity {
    fn dim(&self) -> usize {
        self.0
    }
    fn solve(&self, _rhs: &mut [f64]) {}
    fn block(&self, dof: usize) -> Range<usize> {
        dof..dof + 1
    }
}

/// What a scheme hands over. `input` holds `Bᵀ`: in mechanics it often is the same object as `output`.
#[derive(Clone, Copy)]
pub struct Parts<'a> {
    /// `A⁻¹`.
    pub lhs: &'a dyn LinearSolve,
    /// `C`.
    pub output: &'a Rows,
    /// `Bᵀ`.
    pub input: &'a Rows,
    /// `D`; none where it is zero.
    pub feedthrough: Option<&'a Rows>,
    /// (rows) `u` without reactions.
    pub b: &'a [f64],
    /// One law per group of rows, in order.
    pub laws: &'a [Law],
}

/// Buffers of a problem that live as long as the scheme's workspace.
#[derive(Default)]
pub struct ProblemWork {
    offset: Vec<usize>,
    delassus: RefCell<Delassus>,
    assembled: Cell<bool>,
    inertia: RefCell<Inertia>,
    measured: Cell<bool>,
}

crate::persist!(ProblemWork { offset, delassus, assembled, inertia, measured });

/// The answer of a solver, and its initial guess.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reaction {
    /// (m) reactions: impulses, multipliers.
    pub lambda: Vec<f64>,
    /// (m) outputs `u = W λ + b`, recomputed by the certificate.
    pub u: Vec<f64>,
    /// (n) `A⁻¹ B λ`, a by-product of the certificate: the change of velocity that the reactions cause.
    pub response: Vec<f64>,
}

crate::persist!(Reaction { lambda, u, response });

impl Reaction {
    /// Sets all reactions to zero for a problem of `m` rows, and makes room for its velocities.
    pub fn reset(&mut self, m: usize) {
        self.lambda.clear();
        self.lambda.resize(m, 0.0);
        self.u.reserve(m.saturating_sub(self.u.len()));
    }
}

/// Find `λ, u` with (1).
#[derive(Clone, Copy)]
pub struct OneStepProblem<'a> {
    parts: Parts<'a>,
    work: &'a ProblemWork,
    reference: Reference,
    kept: bool,
    names: Option<&'a Names<'a>>,
    history: Option<&'a History>,
}

/// Names a law by its number in the problem.
pub type Names<'a> = dyn Fn(usize) -> Option<u128> + 'a;

/// What the error of the literature is relative to, besides reactions and velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reference {
    /// The free velocity `b`: problems given in reduced form.
    #[default]
    FreeVelocity,
    /// Nothing: problems given in global form.
    None,
}

impl<'a> OneStepProblem<'a> {
    /// A new problem; what `work` held before is forgotten.
    pub fn new(parts: Parts<'a>, work: &'a mut ProblemWork) -> Self {
        work.assembled.set(false);
        work.measured.set(false);
        OneStepProblem::again(parts, work)
    }

    /// A problem that differs from the last one on the same `work` in `b` and in laws of the same size alone: an
    /// assembled `W` is kept.
    pub fn again(parts: Parts<'a>, work: &'a mut ProblemWork) -> Self {
        work.offset.clear();
        work.offset.reserve(parts.laws.len() + 1);
        let mut m = 0;
        for law in parts.laws {
            work.offset.push(m);
            m += law.size();
        }
        work.offset.push(m);
        debug_assert!(m == parts.b.len() && m == parts.output.len() && m == parts.input.len());
        let kept = work.assembled.get();
        OneStepProblem { parts, work, reference: Reference::FreeVelocity, kept, names: None, history: None }
    }

    /// The same problem with another reference of [`full_error`](Self::full_error).
    pub fn relative_to(self, reference: Reference) -> Self {
        OneStepProblem { reference, ..self }
    }

    /// Names the laws, for those who tell of the problem.
    #[inline]
    pub fn name_by(&mut self, names: &'a Names<'a>) {
        self.names = Some(names);
    }

    /// The name of law `i`.
    pub fn name(&self, i: usize) -> Option<u128> {
        self.names.and_then(|names| names(i))
    }

    /// The same problem whose solvers tell of their way.
    pub fn recorded(&self, history: &'a History) -> Self {
        OneStepProblem { history: Some(history), ..*self }
    }

    /// Where solvers tell of their way, if anywhere.
    pub(crate) fn history(&self) -> Option<&'a History> {
        self.history
    }

    /// Notes a new rung of the ladder.
    pub(crate) fn climb(&self, rung: &'static str) {
        if let Some(history) = self.history {
            history.climb(rung);
        }
    }

    /// Notes the point that a method ends with.
    #[inline]
    pub(crate) fn note_end(&self, certificate: &Certificate) {
        if let Some(history) = self.history {
            history.end(certificate.residual);
        }
    }

    /// Notes a residual that a method has reached.
    #[inline]
    pub(crate) fn note(&self, method: &'static str, iteration: usize, residual: f64) {
        if let Some(history) = self.history {
            history.note(method, iteration, residual);
        }
    }

    /// What the error of the literature is relative to.
    pub fn reference(&self) -> Reference {
        self.reference
    }

    /// Whether `W` is that of the problem before.
    pub fn is_kept(&self) -> bool {
        self.kept
    }

    /// Number of rows.
    #[inline]
    pub fn size(&self) -> usize {
        self.parts.b.len()
    }

    /// The laws, in the order of their rows.
    pub fn laws(&self) -> &'a [Law] {
        self.parts.laws
    }

    /// (rows) `u` without reactions.
    pub fn b(&self) -> &'a [f64] {
        self.parts.b
    }

    /// What the scheme handed over.
    pub fn parts(&self) -> &Parts<'a> {
        &self.parts
    }

    /// First row of each law, and the number of rows at the end.
    #[inline]
    pub fn offsets(&self) -> &[usize] {
        &self.work.offset
    }

    /// Rows of law `i`.
    #[inline]
    pub fn rows(&self, i: usize) -> Range<usize> {
        self.work.offset[i]..self.work.offset[i + 1]
    }

    /// The Delassus matrix, assembled on the first request.
    pub fn delassus(&self) -> Ref<'_, Delassus> {
        if !self.work.assembled.get() {
            self.work.delassus.borrow_mut().assemble(&self.parts, &self.work.offset);
            self.work.assembled.set(true);
        }
        self.work.delassus.borrow()
    }

    /// Whether `W` was asked for.
    #[cfg(test)]
    pub(crate) fn is_assembled(&self) -> bool {
        self.work.assembled.get()
    }

    /// Lets certificates do without `W`: `fill` measures its diagonal blocks, unless they are known. Returns the number
    /// of the measurement.
    pub(crate) fn measure(&self, fill: impl FnOnce(&mut Inertia)) -> u64 {
        if !self.work.measured.get() {
            let mut inertia = self.work.inertia.borrow_mut();
            inertia.clear();
            fill(&mut inertia);
            self.work.measured.set(true);
        }
        self.work.inertia.borrow().stamp()
    }

    /// The number of the measurement of this `W`, if there was one.
    pub(crate) fn measurement(&self) -> Option<u64> {
        self.work.measured.get().then(|| self.work.inertia.borrow().stamp())
    }

    /// The diagonal blocks of `W` where they were measured.
    pub(crate) fn inertia(&self) -> Option<Ref<'_, Inertia>> {
        self.work.measured.get().then(|| self.work.inertia.borrow())
    }

    /// Mean of the diagonal of `W` of law `i`, see [`Delassus::scale`]; `W` is not assembled where it need not be.
    pub fn scale(&self, i: usize) -> f64 {
        match self.inertia() {
            Some(inertia) if !self.work.assembled.get() => inertia.scale(i),
            _ => self.delassus().scale(i),
        }
    }

    /// `z.u ← W λ + b` and `z.response ← A⁻¹ B λ`, through the ingredients and not through an assembled `W`.
    pub fn evaluate(&self, z: &mut Reaction) {
        let p = &self.parts;
        let n = p.lhs.dim();
        z.response.clear();
        z.u.clear();
        z.u.extend_from_slice(p.b);
        // in reduced form there is nothing between reactions and outputs
        if let (0, Some(d)) = (n, p.feedthrough) {
            for (u, row) in z.u.iter_mut().zip(d.iter()) {
                *u += Rows::product(row, &z.lambda);
            }
            return;
        }
        z.response.resize(n, 0.0);
        p.input.add_transpose_mul(&z.lambda, &mut z.response);
        p.lhs.solve(&mut z.response);
        for (i, u) in z.u.iter_mut().enumerate() {
            *u += p.output.dot(i, &z.response);
            if let Some(d) = p.feedthrough {
                *u += d.dot(i, &z.lambda);
            }
        }
    }

    /// Judges `z.lambda`: recomputes `u`, then measures by how much each law is missed.
    pub fn certify(&self, z: &mut Reaction) -> Certificate {
        self.evaluate(z);
        if self.work.measured.get() && !self.work.assembled.get() {
            return self.certify_without_delassus(z);
        }
        Certificate::of(self, &*self.delassus(), z)
    }

    /// The same by diagonal blocks that were measured: mechanisms come here, and small problems need not step over it.
    #[inline(never)]
    fn certify_without_delassus(&self, z: &Reaction) -> Certificate {
        Certificate::of(self, &*self.work.inertia.borrow(), z)
    }

    /// The end of every solver: certifies, and turns a residual above the tolerance (or a number that is not finite)
    /// into an error.
    pub fn conclude(&self, z: &mut Reaction, tolerance: f64, iterations: usize) -> Result<Certificate, SolveError> {
        let certificate = self.certify(z);
        self.note_end(&certificate);
        if certificate.residual <= tolerance {
            Ok(certificate)
        } else {
            Err(SolveError::NotConverged { certificate, tolerance, iterations })
        }
    }
}
