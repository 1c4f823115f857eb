//! Nonsmooth dynamics: mechanical systems with contact, impact and friction.
//!
//! ```
//! use carom::{model::{Contact, Lagrangian}, scheme::MoreauJean, Span, simulate};
//!
//! // a ball of 1 kg dropped from 1 m under 2 N, restitution 1/2
//! let ball = Lagrangian::new(1)
//!     .constant_mass(&[1.0])
//!     .force(|_t, _q, _v, f| f[0] = -2.0)
//!     .contact(Contact::new("floor", |_t, q| q[0]).gradient(|_t, _q, row| row[0] = 1.0).restitution(0.5))
//!     .initial(&[1.0], &[0.0])
//!     .build()?;
//! let solution = simulate(ball, MoreauJean::default(), Span { end: 5.0, step: 1e-3 })?;
//! assert!(solution.q(solution.len() - 1)[0].abs() < 1e-4);      // at rest on the floor
//! assert_eq!(solution.impacts[0].contact, "floor");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A model hands a scheme a [`Coupling`]; a scheme hands a solver a
//! [`OneStepProblem`](carom_solve::OneStepProblem). `docs/architecture.md` has the picture.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod balance;
mod coupling;
pub mod elementary;
pub mod equilibrium;
mod event;
mod impact;
mod integrator;
pub mod model;
pub mod multibody;
mod phase;
mod reactions;
pub mod rotation;
pub mod scheme;
pub mod sensitivity;
pub mod simulation;
mod state;
mod step;
pub mod subject;
pub mod testbed;
mod warning;
pub mod zero_dynamics;

pub use carom_solve::{Law, LinearSolve, solver};
pub use coupling::{ContactList, Coupling, Key, Keyed, Matching, Pair};
pub use event::{Event, EventKind, Events};
pub use impact::{IMPACT_ORDER, IMPACTS_CUT, ImpactLaw};
pub use model::{Constancy, FirstOrder, Labels, Mechanical, ModelError, Space};
pub use reactions::{Collision, Reactions};
pub use scheme::{SCHEMES, Scheme, SchemeInfo, Stepper};
pub use simulation::{Simulation, SimulationError, Solution, Span, simulate, simulate_first_order};
pub use state::State;
pub use step::{LocalError, Step, StepError, System};
pub use subject::{Subject, SubjectError};
pub use warning::{Warning, WarningKind, Warnings};
