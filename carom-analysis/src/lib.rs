//! Studies on top of carom: error norms, convergence, result files and reports.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod convergence;
pub mod error;
pub mod files;
pub mod folder;
pub mod gltf;
mod metric;
pub mod report;
pub mod results;
pub mod study;
