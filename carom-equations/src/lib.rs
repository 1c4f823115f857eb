//! Equations as text become carom models: expressions with exact derivatives, compiled to flat tapes.
//!
//! [`expression`] knows letters and numbers only; [`equations`] makes models of them: what a step evaluates. Where
//! expressions stand in files is not known here.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod equations;
pub mod expression;
pub mod nearest;
