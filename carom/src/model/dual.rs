//! Placeholder.
pub struct DualLagrangian;
pub trait Functions {}
