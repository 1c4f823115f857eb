//! Lagrangian models from equations. From the kinetic energy T(t, q, q') and the potential V(t, q) with generalised
//! forces Q(t, q, q')
//!
//! ```text
//!     M = ∂²T/∂v∂v,   F = Q − ∂V/∂q + ∂T/∂q − (∂²T/∂v∂q) v − ∂²T/∂v∂t                       (1)
//!     K = −∂F/∂q,   C = −∂F/∂v                                                             (2)
//!     rows of a gap or slip y:  ∂y/∂q,  drift ∂y/∂t,  curvature (u_q) v + u_t with u = y_q v + y_t     (3)
//!     rows of a slip given as velocity u = r(t, q) v + s(t, q):  r,  drift s,  curvature as in (3)     (4)
//! ```
//!
//! all exact, by symbolic differentiation at load time, evaluated as flat tapes over the inputs `[t | q | v]` and the
//! parameters. In large models (2) comes from forward derivatives of the tape of F.

mod derive;
mod first_order;
mod model;
mod tangent;

use derive::Derived;
pub use derive::{EquationError, derivations};
pub use first_order::{SourceRow, StateEquations, StatePlan, StateSource, StateTangents};
pub use model::{EquationPlan, Equations};
pub use tangent::{EquationTangent, Live};

use crate::expression::{Graph, NodeId};
use carom::State;
use carom_solve::Law;

/// The expressions of a model. Slots of the graph are `t`, then the coordinates, then the velocities, then the
/// parameters.
#[derive(Clone, Debug)]
pub struct Source {
    /// Holds the nodes of all expressions below.
    pub graph: Graph,
    /// Names of the coordinates q, in the order of their slots.
    pub coordinates: Vec<String>,
    /// Kinetic energy T(t, q, q') [J].
    pub kinetic: NodeId,
    /// Potential energy V(t, q) [J].
    pub potential: NodeId,
    /// One generalised force per coordinate: what has no potential.
    pub forces: Vec<NodeId>,
    /// Contacts and bilateral constraints, in the order of their keys.
    pub laws: Vec<SourceLaw>,
    /// Time, positions and velocities at the start.
    pub initial: State,
}

/// A contact or a bilateral constraint.
#[derive(Clone, Debug)]
pub struct SourceLaw {
    /// Name in messages and in the columns of results.
    pub name: String,
    /// Law of the multipliers, with its friction.
    pub law: Law,
    /// Coefficient of restitution [-].
    pub restitution: f64,
    /// Coefficient of restitution along the slips [-].
    pub tangential: f64,
    /// Gap (or constraint), then slips: as many as the law has rows.
    pub outputs: Vec<NodeId>,
    /// Whether the slips among the outputs are displacements or velocities.
    pub slip: Slip,
    /// Coefficients of friction while sliding and at rest, of t, q and v, where they depend on the state.
    pub friction: Option<[NodeId; 2]>,
    /// Value that is not negative where the gap counts; everywhere by default.
    pub region: Option<NodeId>,
}

/// How the slips of a law are given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slip {
    /// As displacements, of t and coordinates.
    #[default]
    Displacement,
    /// As velocities, affine in the velocities: where no displacement exists, as for a point that slides on a moving
    /// curve.
    Velocity,
}

impl Source {
    /// Slot of time.
    pub const TIME: usize = 0;

    /// Slot of coordinate `i`.
    pub fn position(&self, i: usize) -> usize {
        1 + i
    }

    /// Slot of velocity `i`.
    pub fn velocity(&self, i: usize) -> usize {
        1 + self.coordinates.len() + i
    }
}
