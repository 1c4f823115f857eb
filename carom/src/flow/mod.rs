//! Smooth phases: motion with a fixed set of closed contacts, and what happens between them.
//!
//! ```text
//!     phase ─▶ stages (Runge-Kutta on v̇, λ of the phase) ─▶ monitors change sign ─▶ impact, contact problem ─▶ next phase
//! ```
//!
//! Shared by schemes that integrate between events: they differ in how steps are chosen and how events are located.

pub mod acceleration;
pub mod booking;
pub mod choice;
pub mod contact;
pub mod curvature;
pub mod dop853;
pub mod edge;
pub mod held;
pub mod hem5;
pub mod hermite;
pub mod impact;
pub mod order_four;
pub mod phase;
pub mod projection;
pub(crate) mod ranked;
pub mod stages;
pub mod tableau;
pub mod transition;

pub use acceleration::{Acceleration, Monitor, Watch};
pub use booking::Booking;
pub use contact::{Candidate, ContactProblem};
pub use dop853::Dop853;
pub use edge::{Edge, Sorting};
pub use hem5::Hem5;
pub use hermite::{Crossing, Hermite, Quintic};
pub use order_four::OrderFour;
pub use phase::{Mode, Phase};
pub use projection::Projection;
pub use stages::{Newton, Stages};
pub use tableau::{Method, Tableau};
pub use transition::{Resolution, Transition};
