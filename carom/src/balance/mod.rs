//! Impulse balances: the equations of a step as data ([`words`]), Newton's loop that solves them ([`newton`]) with laws
//! on velocities ([`velocity_law`]) or on gaps ([`gap_law`]), the lengths that gaps are judged by ([`lengths`]), and
//! their derivative ([`tangent`]). Schemes fill in what their step is.

pub(crate) mod axes;
mod frame;
pub(crate) mod gap_law;
pub(crate) mod lengths;
mod mixing;
pub(crate) mod newton;
pub(crate) mod problem;
pub(crate) mod tangent;
mod tangents;
pub(crate) mod velocity_law;
pub(crate) mod words;

pub use frame::Frame;
pub(crate) use frame::Parts;
pub(crate) use gap_law::{GapLaw, GapLaws};
pub use lengths::Lengths;
pub(crate) use mixing::PARTS;
pub(crate) use newton::{Laws, Limits, Newton};
pub(crate) use problem::Problem;
pub(crate) use tangent::{BalanceTangent, Direction, Scratch, TangentError};
pub(crate) use velocity_law::VelocityLaws;
pub(crate) use words::{Acting, Balance, Level, Place};
