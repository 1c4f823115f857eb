//! carom for Python: the extension module `carom._carom`. What users see is made of it by the package in
//! `python/carom`.
//!
//! Numbers go to NumPy without copies, the lock of the interpreter is free while something is computed, and signals
//! are heard all the same: see `supervise.rs`. Errors are raised as the classes of `carom/_errors.py`.

#![warn(missing_docs)]

mod command;
mod convert;
mod dense;
mod error;
mod listing;
mod many;
mod papers;
mod problem;
mod scene;
mod sensitivity;
mod solution;
mod solve;
mod stepper;
mod study;
mod supervise;

use pyo3::prelude::*;

/// The functions and classes of the extension module.
#[pymodule]
fn _carom(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<scene::Scene>()?;
    module.add_class::<solution::Solution>()?;
    module.add_class::<stepper::Stepper>()?;
    module.add_function(wrap_pyfunction!(command::main, module)?)?;
    module.add_function(wrap_pyfunction!(scene::load, module)?)?;
    module.add_function(wrap_pyfunction!(scene::load_text, module)?)?;
    module.add_function(wrap_pyfunction!(solution::open, module)?)?;
    module.add_function(wrap_pyfunction!(listing::registry, module)?)?;
    module.add_function(wrap_pyfunction!(listing::model_keys, module)?)?;
    module.add_class::<study::Job>()?;
    module.add_function(wrap_pyfunction!(study::study_input, module)?)?;
    module.add_function(wrap_pyfunction!(study::open_study, module)?)?;
    module.add_class::<problem::Problem>()?;
    module.add_function(wrap_pyfunction!(problem::make_problem, module)?)?;
    module.add_function(wrap_pyfunction!(problem::read_problem, module)?)?;
    module.add_function(wrap_pyfunction!(solve::solve, module)?)?;
    module.add_function(wrap_pyfunction!(papers::papers, module)?)?;
    module.add_function(wrap_pyfunction!(papers::reproduce, module)?)?;
    Ok(())
}
