//! Smooth phases: motion with a fixed set of closed contacts, and what happens between them.
//!
//! ```text
//!     phase ─▶ integrator (v̇, λ of the phase) ─▶ monitors change sign ─▶ impact, contact problem ─▶ next phase
//! ```
//!
//! Shared by schemes that integrate between events: they differ in how steps are chosen and how events are located.

mod acceleration;
mod account;
mod admissible;
mod choice;
mod contact;
mod curvature;
mod edge;
mod held;
mod impact;
mod magnitudes;
mod mode;
mod motion;
mod projection;
mod ranked;
mod rubbing;
mod transition;

pub(crate) use acceleration::{Acceleration, ModeChange, Monitor, slip_direction};
pub(crate) use curvature::Curvature;
pub(crate) use edge::Sorting;
pub(crate) use held::HeldRows;
pub(crate) use magnitudes::Magnitudes;
pub(crate) use mode::{Mode, Phase};
pub(crate) use motion::{FreeMotion, HeldMotion, StageLog, StagedMotion, VelocityConstraint};
pub(crate) use ranked::RankedLu;
pub(crate) use transition::{PASSED, Reach, Resolution, Transition};
