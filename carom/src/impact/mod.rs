//! Impacts of several contacts at once: how the velocities after them follow from those before.
//!
//! ```text
//!     u = C v + ∂y/∂t,    v⁺ = v + A⁻¹ Cᵀ P,    u⁺ = u + W P                                                     (1)
//! ```
//!
//! A is the mass, or what a capturing scheme has in its place. For one contact without friction all laws agree. They
//! differ where several contacts touch: the coefficients of restitution alone do not tell what happens then, and which
//! law is right depends on the bodies. Newton's law is a term of the problem that a scheme solves anyway; the others
//! have a file each, and schemes ask for them through [`Impacts::resolve`].

mod poisson;
mod sequential;

use crate::balance::Problem;
use crate::reactions::Collision;
use crate::{Coupling, Key, LinearSolve, Step, StepError, WarningKind, Warnings};
use carom_solve::{Law, Solver};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How impacts of contacts that touch at the same time are resolved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ImpactLaw {
    /// All contacts at once, each with `0 ≤ u⁺ + e u ⊥ P ≥ 0` [moreau1988]. Three equal balls, e = 1: (1, 0, 0) becomes
    /// (-1/3, 2/3, 2/3).
    #[default]
    Newton,
    /// All contacts at once, restitution of impulses: compression up to u ≥ 0, then the part e of its impulses again
    /// [pfeiffer1996].
    Poisson,
    /// One contact after the other, the one that approaches fastest first, until none does. Three equal
    /// balls, e = 1: (1, 0, 0) becomes (0, 0, 1).
    Sequential,
}

impl ImpactLaw {
    /// Every law.
    pub const ALL: [ImpactLaw; 3] = [ImpactLaw::Newton, ImpactLaw::Poisson, ImpactLaw::Sequential];

    /// The name, as in model files.
    pub const fn name(self) -> &'static str {
        match self {
            ImpactLaw::Newton => "newton",
            ImpactLaw::Poisson => "poisson",
            ImpactLaw::Sequential => "sequential",
        }
    }
}

/// An order that is no fact of the model.
pub const IMPACT_ORDER: WarningKind = WarningKind {
    name: "impact-order",
    message: "contacts approach equally fast, and their order decides: the motion after it is one of several",
    unit: "m/s between the results of two orders",
    hint: "the contact that is listed first goes first; small gaps, or another impact law, say which motion is meant",
};

/// A sequence of impacts without an end.
pub const IMPACTS_CUT: WarningKind = WarningKind {
    name: "impacts-cut",
    message: "impacts one after the other did not end: the rest was resolved at once, without restitution",
    unit: "m/s of approach were left",
    hint: "contacts with little restitution come to rest on each other: take the impact law newton or poisson",
};

/// The contacts that touch: their rows, which laws of the coupling take part, and the velocity before.
#[derive(Clone, Copy)]
pub(crate) struct Touching<'a> {
    pub coupling: &'a Coupling,
    /// Laws that take part, bilateral ones among them, in rising order.
    pub active: &'a [usize],
    /// (n) before the impact.
    pub v: &'a [f64],
}

impl Touching<'_> {
    fn is_equality(&self, i: usize) -> bool {
        self.coupling.pairs[i].law.is_equality()
    }

    /// Velocity along a row.
    fn along(&self, row: usize, v: &[f64]) -> f64 {
        self.coupling.rows.dot(row, v) + self.coupling.drift[row]
    }
}

/// What solves the problems of an impact: `A⁻¹`, and a solver.
pub(crate) struct Tools<'a> {
    pub lhs: &'a dyn LinearSolve,
    pub solver: &'a mut dyn Solver,
    pub step: &'a mut Step,
}

/// An impact while it is resolved, and then its result.
#[derive(Default)]
pub(crate) struct Impacts {
    pub law: ImpactLaw,
    /// The result.
    pub done: Outcome,
    other: Outcome, // of another order
    problem: Problem,
    members: Vec<usize>, // laws of the coupling that the problem has
    kept: Vec<f64>,      // what is needed of a problem after the next one
    tied: Vec<(usize, f64)>,
}

carom_solve::persist!(Impacts { done, other, problem, members, kept, tied } skip { law });

/// What an impact did; rows are those of the coupling.
#[derive(Default)]
pub(crate) struct Outcome {
    /// (rows) relative velocity before and after [m/s].
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    /// (rows) impulse [N s], and its work [J].
    pub impulse: Vec<f64>,
    pub work: Vec<f64>,
    /// (n) velocity after.
    pub velocity: Vec<f64>,
    /// The impacts that it consists of, in their order.
    pub collisions: Vec<Collision>,
    /// How far the results of two orders differ, with a contact [m/s]; none where the order does not matter.
    order: Option<(usize, f64)>,
    /// The approach that a sequence had left where it was cut, with a contact [m/s].
    cut: Option<(usize, f64)>,
}

carom_solve::persist!(Outcome { before, after, impulse, work, velocity, collisions, order, cut });

impl Outcome {
    fn start(&mut self, at: Touching<'_>) {
        at.coupling.velocity(at.v, &mut self.before);
        self.after.clone_from(&self.before);
        self.velocity.clear();
        self.velocity.extend_from_slice(at.v);
        for buffer in [&mut self.impulse, &mut self.work] {
            buffer.clear();
            buffer.resize(self.before.len(), 0.0);
        }
        self.collisions.clear();
        (self.order, self.cut) = (None, None);
    }

    /// Velocities along the rows that take part, after the velocity has changed.
    fn follow(&mut self, at: Touching<'_>) {
        for row in at.active.iter().flat_map(|&i| at.coupling.range(i)) {
            self.after[row] = at.along(row, &self.velocity);
        }
    }

    /// Warns of what the user should know of the impact.
    pub fn warn(&self, coupling: &Coupling, t: f64, warnings: &mut Warnings) {
        for (kind, found) in [(&IMPACT_ORDER, self.order), (&IMPACTS_CUT, self.cut)] {
            if let Some((law, figure)) = found {
                warnings.raise(kind, t, Some(coupling.pairs[law].key), figure);
            }
        }
    }
}

impl Impacts {
    /// Whether the scheme asks for an impact at all: Newton's law is a term of its own problem.
    pub fn is_asked(&self) -> bool {
        self.law != ImpactLaw::Newton
    }

    /// Resolves the impact of contacts that touch by the law; `done` has what comes of it.
    pub fn resolve(&mut self, at: Touching<'_>, mut tools: Tools<'_>) -> Result<(), StepError> {
        self.done.start(at);
        match self.law {
            ImpactLaw::Newton => Ok(()),
            ImpactLaw::Poisson => self.poisson(at, &mut tools),
            ImpactLaw::Sequential => self.sequential(at, &mut tools),
        }
    }

    /// Starts a problem without laws.
    fn clear(&mut self, at: Touching<'_>) {
        self.problem.clear(at.v.len());
        self.problem.b.clear();
        self.members.clear();
    }

    /// Adds law `i` of the coupling to the problem, as `law`, with the velocities of `done` and what `shift` adds to
    /// each of its rows.
    fn admit(&mut self, at: Touching<'_>, i: usize, law: Law, shift: impl Fn(usize) -> f64) {
        self.members.push(i);
        self.problem.laws.push(law);
        for row in at.coupling.range(i) {
            self.problem.output.push_row_of(&at.coupling.rows, row);
            self.problem.input.push_row_of(&at.coupling.rows, row);
            self.problem.b.push(self.done.after[row] + shift(row));
        }
    }

    /// Solves the problem and takes its impulses: velocities follow.
    fn solve(&mut self, at: Touching<'_>, tools: &mut Tools<'_>) -> Result<(), StepError> {
        let Impacts { problem, members, done, .. } = self;
        problem.z.reset(problem.b.len());
        let key = |law: usize| -> Option<Key> { Some(at.coupling.pairs[*members.get(law)?].key) };
        problem.solve((tools.lhs, &mut *tools.solver), false, tools.step, key)?;
        done.velocity.iter_mut().zip(&problem.z.response).for_each(|(v, dv)| *v += dv);
        let mut lambda = problem.z.lambda.iter();
        for row in members.iter().flat_map(|&i| at.coupling.range(i)) {
            done.impulse[row] += lambda.next().copied().unwrap_or(0.0);
        }
        done.follow(at);
        Ok(())
    }
}

/// What the law of a contact that closes adds to the velocity `u` along its row number `k`: e u on the normal, e_T u on
/// the tangents along which it slides.
pub(crate) fn restitution(coupling: &Coupling, i: usize, k: usize, u: f64) -> f64 {
    match k {
        0 => coupling.pairs[i].restitution * u.min(0.0),
        _ => rebound(coupling, i, k) * u,
    }
}

/// The coefficient of restitution of law `i` along its row number `k`, a tangent.
pub(crate) fn rebound(coupling: &Coupling, i: usize, k: usize) -> f64 {
    let slides = || coupling.pairs[i].law.role(k).starts_with('t');
    if coupling.rebounds.is_empty() || !slides() { 0.0 } else { coupling.rebound_of(i) }
}
