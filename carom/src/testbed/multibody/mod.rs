//! Mechanisms of the literature as descriptions of bodies, joints and contacts.

mod breaker;
mod slider_crank;

pub use breaker::Breaker;
pub use slider_crank::SliderCrank;
