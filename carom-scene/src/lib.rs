//! Model files: equations in TOML become carom models.
//!
//! ```text
//! text ──▶ ModelFile (tables with places) ──▶ Scene (checked, with numbers) ──▶ model, stepper, simulation
//!            `file`                            `scene`
//! ```
//!
//! Every mistake is a [`Diagnostic`] with file, line, column, field, reason and hint.
//!
//! ```
//! let text = carom_scene::new_example("my ball");
//! let scene = carom_scene::from_str("ball.toml", &text, &Default::default()).unwrap();
//! let mut simulation = scene.simulation().unwrap();
//! let mut watch = scene.watch();
//! assert!(simulation.run(&mut [&mut watch]).unwrap());
//! assert!(watch.outcomes().iter().all(|outcome| outcome.holds));
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod circuit;
mod diagnostic;
pub mod examples;
pub mod file;
pub mod import;
pub mod kind;
mod law;
pub mod mesh;
pub mod problem_file;
pub mod scene;

pub use carom_equations::{equations, expression, nearest};
pub use diagnostic::{Diagnostic, Place, Severity, SourceText, brief, suggest};
pub use file::{ModelFile, STUDY_EXAMPLE, StudyFile, StudyKind, new_example, schema, study_schema};
pub use kind::KINDS;
pub use scene::{BuildError, Overrides, Scene, from_str, load};
