//! Errors as the exceptions of `carom/_errors.py`.

use carom_analysis::results::ResultError;
use carom_analysis::study::StudyError;
use carom_cli::Failure;
use carom_scene::{Diagnostic, Severity};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The exception of a class with a message and fields.
pub fn raise(py: Python<'_>, class: &str, message: &str, fields: &Bound<'_, PyDict>) -> PyErr {
    let made = || py.import("carom._errors")?.getattr(class)?.call((message,), Some(fields));
    match made() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// One with a hint alone.
pub fn hinted(py: Python<'_>, class: &str, message: &str, hint: &str) -> PyErr {
    let fields = PyDict::new(py);
    let set = if hint.is_empty() { Ok(()) } else { fields.set_item("hint", hint) };
    set.map_or_else(|error| error, |()| raise(py, class, message, &fields))
}

/// A mistake of the caller.
pub fn usage(py: Python<'_>, message: impl AsRef<str>, hint: impl AsRef<str>) -> PyErr {
    hinted(py, "OptionError", message.as_ref(), hint.as_ref())
}

/// What a command or a run could not do.
pub fn failure(py: Python<'_>, failure: &Failure) -> PyErr {
    match failure {
        Failure::Model(findings) => findings_error(py, findings),
        Failure::Usage { message, hint } => usage(py, message, hint),
        Failure::Environment(message) => hinted(py, "FilesError", message, ""),
        Failure::Computation(message) => hinted(py, "RunError", message, ""),
        Failure::Interrupted(message) => hinted(py, "Interrupted", message, ""),
        Failure::Expectation(missed) => hinted(py, "RunError", &format!("{missed} expected number(s) not met"), ""),
        Failure::Difference { over, .. } => hinted(py, "RunError", &format!("{over} column(s) differ"), ""),
    }
}

/// Mistakes in a model, each with its place.
pub fn findings_error(py: Python<'_>, findings: &[Diagnostic]) -> PyErr {
    let made = || {
        let list = PyList::empty(py);
        for finding in findings {
            list.append(finding_fields(py, finding)?)?;
        }
        let fields = PyDict::new(py);
        fields.set_item("findings", list)?;
        let errors = findings.iter().filter(|finding| finding.severity == Severity::Error);
        let lines: Vec<String> = errors.map(ToString::to_string).collect();
        Ok::<_, PyErr>(raise(py, "ModelError", &lines.join("\n"), &fields))
    };
    made().unwrap_or_else(|error| error)
}

/// A finding as a dictionary.
pub fn finding_fields<'py>(py: Python<'py>, finding: &Diagnostic) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("file", finding.file())?;
    fields.set_item("line", finding.span.is_some().then_some(finding.line))?;
    fields.set_item("column", finding.span.is_some().then_some(finding.column))?;
    fields.set_item("field", &finding.field)?;
    fields.set_item("message", &finding.message)?;
    fields.set_item("hint", &finding.hint)?;
    fields.set_item("severity", if finding.severity == Severity::Error { "error" } else { "warning" })?;
    fields.set_item("text", finding.to_string())?;
    Ok(fields)
}

/// What a study could not do.
pub fn study(py: Python<'_>, error: &StudyError) -> PyErr {
    let class = match error {
        StudyError::Interrupted => "Interrupted",
        StudyError::Environment(_) => "FilesError",
        error if error.is_usage() => "OptionError",
        _ => "StudyError",
    };
    hinted(py, class, &error.to_string(), error.hint())
}

/// Results that cannot be read or written.
pub fn results(py: Python<'_>, error: &ResultError) -> PyErr {
    hinted(py, "FilesError", &error.to_string(), "")
}
