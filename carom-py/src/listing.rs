//! What there is: schemes, solvers, studies, examples, kinds of models, and their pages.

use crate::convert::to_python;
use carom_analysis::study::STUDIES;
use carom_scene::examples::EXAMPLES;
use carom_scene::{KINDS, schema};
use carom_solve::{OptionDoc, SOLVERS, page};
use pyo3::prelude::*;
use serde_json::{Value, json};

fn options(options: &[OptionDoc]) -> Value {
    let row = |option: &OptionDoc| {
        let OptionDoc { name, default, meaning } = option;
        json!({ "name": name, "default": default, "meaning": meaning })
    };
    options.iter().map(row).collect()
}

/// Rows of a registry: `schemes`, `solvers`, `studies`, `examples` or `models`.
#[pyfunction]
pub fn registry<'py>(py: Python<'py>, what: &str) -> PyResult<Bound<'py, PyAny>> {
    let rows: Vec<Value> = match what {
        "schemes" => carom::SCHEMES
            .iter()
            .map(|row| {
                let info = row.info;
                json!({ "name": info.name, "title": info.title, "page": page(info.source),
                "options": options(&(row.options)()), "citations": info.citations })
            })
            .collect(),
        "solvers" => SOLVERS
            .iter()
            .map(|row| {
                let info = row.info;
                json!({ "name": info.name, "title": info.title, "page": page(info.source),
                "options": options(&(row.options)()), "citations": info.citations })
            })
            .collect(),
        "studies" => STUDIES
            .iter()
            .map(|row| {
                let info = row.info;
                json!({ "name": info.name, "title": info.title, "page": page(info.source),
                "options": options(&(row.options)()), "citations": info.citations, "schema": (row.schema)() })
            })
            .collect(),
        "examples" => EXAMPLES.iter().map(|(name, text)| json!({ "name": name, "text": text })).collect(),
        _ => KINDS.iter().map(|kind| json!({ "name": kind.name, "title": kind.about })).collect(),
    };
    to_python(py, &Value::Array(rows))
}

/// The keys of a model file, and those of its `[simulation]`.
#[pyfunction]
pub fn model_keys() -> (Vec<String>, Vec<String>) {
    let all = schema();
    let keys = |table: &Value| table["properties"].as_object().into_iter().flatten().map(|(k, _)| k.clone()).collect();
    (keys(&all), keys(&all["$defs"]["SimulationTable"]))
}
