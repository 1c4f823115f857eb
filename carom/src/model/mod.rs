//! Models: what a scheme may ask of a system. A model knows neither schemes nor solvers.

use crate::{Coupling, State};
use carom_solve::solver::Accept;
use carom_solve::{Archive, ArchiveError, Law, LinearSolve, Rows, Singular};

mod answer;
mod chart;
mod check;
mod dense;
pub(crate) mod differences;
pub mod dual;
mod dual_tangent;
pub mod first_order;
pub mod lagrangian;
pub mod lcs;
pub mod linear;
mod places;
mod sparse;
pub mod sweeping;
pub mod tangent;

pub use answer::Answer;
pub use chart::Chart;
pub(crate) use chart::Turning;
pub(crate) use check::check_model;
pub use dense::DenseOperator;
pub use dual::{DualLagrangian, Functions, NamedLaw, Scalar};
pub use dual_tangent::DualTangent;
pub use first_order::{FirstOrderSystem, Output};
pub use lagrangian::{Contact, Lagrangian};
pub use lcs::{Lcs, LcsError, Matrices, Source};
pub use linear::{AffineRow, Linear, LinearContact};
pub(crate) use places::Places;
pub(crate) use sparse::SparseFactor;
pub use sparse::SparseMatrix;
pub use sweeping::{MovingSet, Piece, Pieces, Shape, Sweeping, SweepingError};
pub use tangent::{Along, CouplingTangent, LinearTangent, Tangent};

/// A relay whose bounds are those that it has in the list and, besides, `coefficient` times the length of the reactions
/// of other laws: |λ| ≤ bound + μ ‖λ_load‖.
#[derive(Clone, Debug, PartialEq)]
pub struct Bearing {
    /// The relay, by its place in the list, which is the same at all times.
    pub law: usize,
    /// [-], or [m] where the relay has a moment and the others forces.
    pub coefficient: f64,
    /// Laws of one row whose reactions are the components of the load.
    pub load: Vec<usize>,
}

/// Where states live, what couples to them, and how to name things.
///
/// Every position update goes through `retract`, which quaternions override, together with `chart`. As a
/// [`LinearSolve`] the model applies the inverse of the matrix that it factored last.
pub trait Space: LinearSolve + Send {
    /// Where the motion starts.
    fn initial(&self) -> State;

    /// What is wrong with the model as it was built, if anything. It is asked for where a scheme is bound, which checks
    /// the initial state, names, laws, coefficients and keys of every model besides.
    fn check(&self) -> Result<(), ModelError> {
        Ok(())
    }

    /// Number of coordinates; it may exceed the number of velocities [`LinearSolve::dim`].
    fn positions(&self) -> usize {
        self.dim()
    }

    /// The coordinate whose rate velocity `j` is, where there is one; none for a part of a rotation, which is counted
    /// in radians. Models with more coordinates than velocities say it for their translations: sizes and roundings of
    /// lengths come from them.
    fn moves(&self, j: usize) -> Option<usize> {
        (self.positions() == self.dim()).then_some(j)
    }

    /// The direction in axes of the space along which a row of a coupling pushes its bodies, with the sign of the last
    /// one, where the model knows: impulses are the same vectors in a next step, whatever the tangents are by then.
    /// Zero for a row that only turns.
    fn axis(&self, _row: &[(usize, f64)]) -> Option<[f64; 3]> {
        None
    }

    /// Chooses the contacts of the coming step, which begins at `from` and is at most `h` long: those that may come to
    /// act in it. Every `couple` until the next call lists just these, in one order. Returns whether the list is
    /// another one than before. Models whose contacts are always the same need not do anything.
    fn detect(&mut self, _from: &State, _h: f64) -> Result<bool, ModelError> {
        Ok(false)
    }

    /// Whether bodies at rest may sleep.
    fn sleeps(&self) -> bool {
        false
    }

    /// Stops what the last `detect` let fall asleep at this state; returns the kinetic energy that is lost by it [J].
    /// Nothing falls asleep where the list stays as it was.
    fn rest(&mut self, _from: &mut State) -> Option<f64> {
        None
    }

    /// The part of the step of length `h[0]` between two states at which it has to end so that no body passes through
    /// another one, where contacts come and go; usual steps have the length `h[1]`. The list of the step, the impulses
    /// of its rows and the velocities of these before it tell which contacts have acted.
    fn passing(&mut self, _ends: (&State, &State), _h: [f64; 2], _acted: (&Coupling, &[f64], &[f64])) -> Option<f64> {
        None
    }

    /// A balance over the time `h` begins, be it a part of the step: bounds of impulses that come from forces follow.
    fn begin_step(&mut self, _h: f64) {}

    /// Lists the laws with gaps and rows at `(t, q)`: the same laws in the same order since the last `detect`.
    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError>;

    /// Brings gaps and drifts of a coupling that was filled before up to `(t, q)`. The rows are known to be constant.
    /// Models whose list changes keep this default, for the coupling may have been filled with another list.
    fn refresh(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        self.couple(t, q, out)
    }

    /// Whether coefficients of friction depend on the state. Then [`couple`](Self::couple) lists those of the initial
    /// state, and schemes that treat such laws ask [`rub`](Self::rub) for the present ones.
    fn friction_varies(&self) -> bool {
        false
    }

    /// Sets the coefficients of friction at `(t, q, v)` in a coupling that was filled before; `sticks` tells which laws
    /// do not slide, whatever rounding is left in `v`.
    fn rub(&mut self, _at: tangent::At<'_>, _sticks: &[bool], _out: &mut Coupling) -> Result<(), ModelError> {
        Ok(())
    }

    /// Whether contacts may have a restitution along their tangents ([`Coupling::rebounds`]).
    fn has_rebounds(&self) -> bool {
        false
    }

    /// Relays whose bounds follow the reactions of other laws, as friction in a bearing follows its load.
    fn bearings(&self) -> &[Bearing] {
        &[]
    }

    /// `out ← q ⊕ dq`.
    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        for ((o, q), dq) in out.iter_mut().zip(q).zip(dq) {
            *o = q + dq;
        }
    }

    /// `out ← b ⊖ a`, so that `retract(a, difference(a, b)) = b`.
    fn difference(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        for ((o, a), b) in out.iter_mut().zip(a).zip(b) {
            *o = b - a;
        }
    }

    /// What increments are, where `retract` is no sum: attitudes in space have a chart, and need it for more than
    /// second order.
    fn chart(&self) -> Option<&dyn Chart> {
        None
    }

    /// The name of a contact, also of one that comes and goes.
    fn contact_name(&self, key: crate::Key) -> String {
        self.labels().contact(key)
    }

    /// Names of coordinates and contacts.
    fn labels(&self) -> Labels {
        Labels::numbered(self.positions(), 0)
    }

    /// A length that is typical of the model [m], where it says one: tolerances of gaps are parts of it. Without one
    /// they are parts of the lengths that a run meets.
    fn length(&self) -> Option<f64> {
        None
    }

    /// Sizes of the coordinates, counted by velocities, that the lengths behind gaps have from the start: the reach of
    /// a mechanism for translations, a radian for rotations. Nothing by default: `out` arrives as zeros.
    fn least_sizes(&self, _out: &mut [f64]) {}

    /// Up to which error the best point of a contact problem that misses its tolerance is taken, with a warning, where
    /// the options of the solver do not say it.
    fn accept(&self) -> Accept {
        Accept::default()
    }

    /// What the user should know of the motion so far, where the model warns.
    fn warnings(&self) -> Option<&crate::Warnings> {
        None
    }

    /// What impulses of the sizes in `out` are rounded by at positions q: parts of a vector round each other, and
    /// moments round by the places from which their arms are measured.
    fn round_together(&self, _q: &[f64], _out: &mut [f64]) {}

    /// Names of the constraints that nearly hold one direction together at a place, where the model knows them.
    fn nearly_singular(&mut self, _at: &State) -> Option<String> {
        None
    }

    /// Kinetic and potential energy [J], where the model knows them.
    fn energy(&mut self, _at: &State) -> Option<Energy> {
        None
    }

    /// Whether there are forces that have no potential: where there are none, nobody asks for their power.
    fn has_applied_power(&self) -> bool {
        true
    }

    /// Power of the forces that have no potential [W].
    fn applied_power(&mut self, _at: &State) -> f64 {
        0.0
    }

    /// Writes down what the model remembers from step to step, or takes over what was written: warnings, contacts that
    /// it lists for the step that began at `last`, and the matrix factored last. Returns whether it has that matrix
    /// again; it is factored anew otherwise. What is worked out again from a state is none of it.
    fn persist(&mut self, _archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        Ok(false)
    }
}

/// `M(q) v̇ = F(t, q, v) + Hᵀλ`,  `q̇ = v` (through `retract`).
pub trait Mechanical: Space {
    /// What does not depend on the state: schemes then factor once and need no Newton loop.
    fn constancy(&self) -> Constancy {
        Constancy::default()
    }

    /// `out ← F(t, q, v)`.
    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError>;

    /// `out ← M(q) v`.
    fn mass_mul(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError>;

    /// `out ←` the diagonal of M(q): it tells what the units of coordinates are worth beside each other.
    fn mass_diagonal(&mut self, q: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let (mut unit, mut column) = (vec![0.0; out.len()], vec![0.0; out.len()]);
        for j in 0..out.len() {
            unit[j] = 1.0;
            self.mass_mul(q, &unit, &mut column)?;
            (unit[j], out[j]) = (0.0, column[j]);
        }
        Ok(())
    }

    /// Factors `A = mass·M − damping·∂F/∂v − stiffness·∂F/∂q`, kept by the model in its own format.
    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError>;

    /// Adds `reach` Ċ, with ∂(C v)/∂q δq = Ċ δq, to the first of the rows of `couple` where the model knows it, as many
    /// as `along` has entries at most; these become `reach` Ċ v. Newton's loop follows rows that turn.
    fn turn_rows(&mut self, (_q, _v): (&[f64], &[f64]), _reach: f64, _rows: &mut Rows, _along: &mut [f64]) {}

    /// Lets the next `factor` add −`reach` ∂(B P)/∂q at `q`, or what a model knows of it and has room for in the blocks
    /// of A; `impulse` is P by the rows of `couple`.
    fn brace(&mut self, _q: &[f64], _reach: f64, _impulse: &[f64]) {}

    /// Bounds of the rate of each gap, `out[i]` for law number i of `couple`, while time, positions and velocities are
    /// within theirs. Returns whether they are known: what is narrow is not overlooked then.
    fn bound_rates(&mut self, _t: [f64; 2], _q: &[[f64; 2]], _v: &[[f64; 2]], _out: &mut Vec<[f64; 2]>) -> bool {
        false
    }

    /// `Ḣ v + ∂²y/∂t² + ...`, for schemes at the acceleration level.
    fn acceleration_level(&mut self) -> Option<&mut dyn AccelerationLevel> {
        None
    }
}

/// (n) √M_jj at the initial state: what the units of coordinates are worth beside each other. The least one where an
/// entry is not positive, and 1 where the mass cannot be evaluated: that is an error of the first step.
pub(crate) fn mass_roots(model: &mut dyn Mechanical) -> Vec<f64> {
    let mut roots = vec![0.0; model.dim()];
    let known = model.mass_diagonal(&model.initial().q, &mut roots).is_ok();
    let least = roots.iter().filter(|m| **m > 0.0).fold(f64::INFINITY, |least, m| least.min(*m));
    let least = if known && least.is_finite() { least } else { 1.0 };
    roots.iter_mut().for_each(|m| *m = if known && *m > 0.0 { *m } else { least }.sqrt());
    roots
}

/// `E ẋ = f(t, x) + B λ`,  `y = h(t, x) + D λ`,  `λᵢ ∈ Lawᵢ(yᵢ)`.
///
/// The state is `State::q`, and `State::v` is empty. [`Space::couple`] hands over, for each law of one row, `pair.gap =
/// hᵢ(t, x)` (the output at λ = 0), `rows = ∂h/∂x`, `input = Bᵀ` (no rows where B = Cᵀ) and `feedthrough = D` (no rows
/// where D = 0); restitution and drift are not used and may be zero. The number of rows stays the same for ever: a law
/// that is switched off in time is `Law::interval(0.0, 0.0)` (λ = 0 and y free), one that is switched on is
/// `Law::EQUALITY` (y = 0 and λ free).
pub trait FirstOrder: Space {
    /// What does not depend on the state: `mass` is E, which is constant always, `tangents` is ∂f/∂x, `rows` are B, C
    /// and D.
    fn constancy(&self) -> Constancy {
        Constancy { mass: true, ..Constancy::default() }
    }

    /// `out ← f(t, x)`.
    fn rate(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), ModelError>;

    /// `out ← E x`; the unit matrix by default.
    fn inertia_mul(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(x);
    }

    /// Whether row `i` of E is zero: equation `i` is algebraic and holds at the end of each step whatever the weights
    /// of a scheme.
    fn is_algebraic(&self, _i: usize) -> bool {
        false
    }

    /// Factors `A = E − c ∂f/∂x`.
    fn factor(&mut self, at: &State, c: f64) -> Result<(), ModelError>;

    /// The matrices, where the system is a linear complementarity system.
    fn linear(&mut self) -> Option<&mut Lcs> {
        None
    }

    /// Why the laws cannot hold at the time `t`, where the model knows; asked after a problem without solution.
    fn explain(&mut self, _t: f64) -> Option<String> {
        None
    }

    /// The moving set, where the law is the normal cone to one.
    fn set(&mut self) -> Option<&mut dyn MovingSet> {
        None
    }
}

/// Models that can differentiate their constraints twice.
pub trait AccelerationLevel {
    /// One entry per row of the coupling: `u̇ = C v̇ + out`, that is `out = G_qq(v, v) + 2 G_t v + g_tt`.
    fn curvature(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut Vec<f64>) -> Result<(), ModelError>;
}

/// Weights of mass, damping and stiffness in an iteration matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Combination {
    /// Weight of `M`.
    pub mass: f64,
    /// Weight of `−∂F/∂v`.
    pub damping: f64,
    /// Weight of `−∂F/∂q`.
    pub stiffness: f64,
}

impl Combination {
    /// The mass matrix alone.
    pub const MASS: Combination = Combination { mass: 1.0, damping: 0.0, stiffness: 0.0 };
}

/// Which parts of a model do not depend on the state (nor on time).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Constancy {
    /// The mass matrix, or E of a first-order system.
    pub mass: bool,
    /// `∂F/∂q` and `∂F/∂v`.
    pub tangents: bool,
    /// The rows of the coupling (gaps may still move).
    pub rows: bool,
    /// The explicit time derivative of the outputs: obstacles stand still or move steadily.
    pub drift: bool,
    /// The whole coupling, laws and inputs too, depends on time through the state alone.
    pub still: bool,
}

impl Constancy {
    /// No part depends on the state: a linear model, whose outputs may move in time.
    pub const LINEAR: Constancy = Constancy { mass: true, tangents: true, rows: true, drift: true, still: false };

    /// The iteration matrix needs to be factored once per step size.
    pub fn matrix(&self) -> bool {
        self.mass && self.tangents
    }

    /// One linear solve is the whole step.
    pub fn linear(&self) -> bool {
        self.matrix() && self.rows
    }
}

/// Mechanical energy of a model in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Energy {
    /// [J]
    pub kinetic: f64,
    /// [J]
    pub potential: f64,
}

carom_solve::persist!(Energy { kinetic, potential });

impl Energy {
    /// Kinetic and potential energy together [J].
    pub fn total(&self) -> f64 {
        self.kinetic + self.potential
    }
}

/// Names for results and messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Labels {
    /// Name of each coordinate, in order.
    pub coordinates: Vec<String>,
    /// Name of each velocity, in order; none where they are the rates of the coordinates, or have no names.
    pub velocities: Vec<String>,
    /// Name and law of each contact or constraint that is always there, numbered by [`Labels::position`].
    pub contacts: Vec<(String, Law)>,
    /// What contacts that come and go are between, by the numbers in their keys, which begin with 1.
    pub shapes: Vec<String>,
}

impl Labels {
    /// `q0, q1, ...`, and contacts `contact0, ...` of the unilateral law.
    pub fn numbered(coordinates: usize, contacts: usize) -> Labels {
        Labels {
            velocities: Vec::new(),
            coordinates: (0..coordinates).map(|i| format!("q{i}")).collect(),
            contacts: (0..contacts).map(|i| (format!("contact{i}"), Law::UNILATERAL)).collect(),
            shapes: Vec::new(),
        }
    }

    /// The place in `contacts` of the contact with this key.
    pub fn position(&self, key: crate::Key) -> Option<usize> {
        usize::try_from(key.0).ok().filter(|&i| i < self.contacts.len())
    }

    /// The name of a contact, or its number. One between two shapes has the names of both, and the number of the place
    /// where they touch if it is not the first one.
    pub fn contact(&self, key: crate::Key) -> String {
        if let Some(i) = self.position(key) {
            return self.contacts[i].0.clone();
        }
        let name = |number: u32| self.shapes.get((number as usize).wrapping_sub(1)).map(String::as_str);
        let (numbers, place) = key.parts();
        let mut text = match numbers.map(name) {
            [Some(a), Some(b)] => format!("{a} - {b}"),
            [None, Some(b)] => b.to_owned(),
            _ => return format!("contact {key}"),
        };
        if place > 0 {
            text.push_str(&format!(".{}", place + 1));
        }
        text
    }
}

/// A model that cannot answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A dense iteration matrix is singular.
    #[error("the iteration matrix cannot be factored at t = {t:?}: {source} (does the mass matrix lose rank?)")]
    Singular {
        /// Time [s].
        t: f64,
        /// The column without a pivot.
        source: Singular,
    },
    /// The sparse iteration matrix is singular.
    #[error("the sparse iteration matrix cannot be factored at t = {t:?}: it is singular")]
    SparseSingular {
        /// Time [s].
        t: f64,
    },
    /// The mass matrix is not positive definite.
    #[error(
        "the mass matrix is singular or indefinite: pivot {pivot:.3e} at the coordinate `{coordinate}` (does the motion reach a singular configuration?)"
    )]
    Mass {
        /// Name of the coordinate at which its factorisation fails.
        coordinate: Box<str>,
        /// The pivot there, which must be positive.
        pivot: f64,
    },
    /// The length of the model is none.
    #[error("the length of the model is {length}; it must be positive")]
    Length {
        /// As the model says it [m].
        length: f64,
    },
    /// A force is infinite or not a number.
    #[error("the force on `{coordinate}` is not finite at t = {t:?}")]
    Force {
        /// Name of the coordinate that it acts on.
        coordinate: Box<str>,
        /// Time [s].
        t: f64,
    },
    /// A gap, or an output of a first-order system, is infinite or not a number.
    #[error("the gap of contact `{contact}` is not finite at t = {t:?}")]
    Gap {
        /// Name of the contact or constraint.
        contact: Box<str>,
        /// Time [s].
        t: f64,
    },
    /// A coefficient of friction that depends on the state has a value that makes no sense.
    #[error(
        "the coefficient of friction of contact `{contact}` is {value} at t = {t:?}; it must be finite and not negative wherever the motion leads"
    )]
    Friction {
        /// Name of the contact.
        contact: Box<str>,
        /// The coefficient.
        value: f64,
        /// Time [s].
        t: f64,
    },
    /// A quantity that is measured along a run is infinite or not a number.
    #[error("`{quantity}` is {value} at t = {t:?}; only finite numbers are results")]
    Quantity {
        /// What is measured.
        quantity: Box<str>,
        /// Its value.
        value: f64,
        /// Time [s].
        t: f64,
    },
    /// A row of the coupling has an entry that is infinite or not a number.
    #[error("the gradient of contact `{contact}` is not finite at t = {t:?}")]
    Gradient {
        /// Name of the contact or constraint.
        contact: Box<str>,
        /// Time [s].
        t: f64,
    },
    /// The right-hand side of a first-order system is infinite or not a number.
    #[error("the rate of `{state}` is not finite at t = {t:?}")]
    Rate {
        /// Name of the state that it drives.
        state: Box<str>,
        /// Time [s].
        t: f64,
    },
    /// The numbers of a piece of a moving set do not describe one.
    #[error("the piece `{piece}` of the moving set is not usable at t = {t:?}: {reason}")]
    Piece {
        /// Name of the piece.
        piece: Box<str>,
        /// Time [s].
        t: f64,
        /// What is wrong with them, in words.
        reason: &'static str,
    },
    /// The list of contacts is another one than `detect` has chosen.
    #[error(
        "the contacts change inside a step, at t = {t:?}: contact {key} {change}; choose them in `detect`, once per step, and list the same ones in the same order in every `couple`"
    )]
    Contacts {
        /// Time [s].
        t: f64,
        /// The contact in which the lists differ.
        key: crate::Key,
        /// What became of it, in words: gone, new or moved.
        change: &'static str,
    },
    /// A wrong number of entries.
    #[error("{what}: {found} where {needed} are needed")]
    Size {
        /// What was counted, in words.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        needed: usize,
    },
    /// An entry of a sparse matrix lies outside of it, or is infinite or not a number.
    #[error("the entry {value} in row {row}, column {column} of a matrix with {n} rows is outside of it or not finite")]
    Entry {
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The entry itself.
        value: f64,
        /// Number of rows, and of columns, of the matrix.
        n: usize,
    },
    /// A coefficient or bound of a law is out of range.
    #[error("{what} of contact `{contact}` is {value}: {range}")]
    Coefficient {
        /// Which one, in words.
        what: &'static str,
        /// Name of the contact or constraint.
        contact: Box<str>,
        /// The value that was given.
        value: f64,
        /// What is allowed, in words.
        range: &'static str,
    },
    /// A contact whose parts do not fit together.
    #[error("contact `{contact}` makes no sense: {reason}")]
    Contact {
        /// Name of the contact or constraint.
        contact: Box<str>,
        /// What is wrong with it, in words.
        reason: &'static str,
    },
    /// A name or key is given twice.
    #[error("two {what} are called `{name}`")]
    Duplicate {
        /// Kind of the things that share it, in the plural.
        what: &'static str,
        /// What they share.
        name: Box<str>,
    },
    /// Another quantity is infinite or not a number.
    #[error("{what} is not finite at t = {t:?}")]
    NotFinite {
        /// Which one, in words.
        what: &'static str,
        /// Time [s].
        t: f64,
    },
    /// Anything else, in words: mostly what a function of the user says.
    #[error("{0}")]
    Callback(String),
}

impl ModelError {
    /// The contact or constraint that the error speaks of.
    pub fn contact(&self) -> Option<&str> {
        match self {
            ModelError::Gap { contact, .. }
            | ModelError::Friction { contact, .. }
            | ModelError::Gradient { contact, .. }
            | ModelError::Coefficient { contact, .. }
            | ModelError::Contact { contact, .. } => Some(contact),
            ModelError::Piece { piece, .. } => Some(piece),
            _ => None,
        }
    }

    /// The time that the error speaks of [s].
    pub fn time(&self) -> Option<f64> {
        match self {
            ModelError::Singular { t, .. }
            | ModelError::SparseSingular { t }
            | ModelError::Force { t, .. }
            | ModelError::Gap { t, .. }
            | ModelError::Friction { t, .. }
            | ModelError::Gradient { t, .. }
            | ModelError::Rate { t, .. }
            | ModelError::Quantity { t, .. }
            | ModelError::Piece { t, .. }
            | ModelError::Contacts { t, .. }
            | ModelError::NotFinite { t, .. } => Some(*t),
            ModelError::Mass { .. }
            | ModelError::Length { .. }
            | ModelError::Size { .. }
            | ModelError::Entry { .. }
            | ModelError::Coefficient { .. }
            | ModelError::Contact { .. }
            | ModelError::Duplicate { .. }
            | ModelError::Callback(_) => None,
        }
    }
}

/// For `?` and `Err(..)` in closures: what went wrong, in words.
impl From<&str> for ModelError {
    fn from(reason: &str) -> Self {
        ModelError::Callback(reason.into())
    }
}

impl From<String> for ModelError {
    fn from(reason: String) -> Self {
        ModelError::Callback(reason)
    }
}
