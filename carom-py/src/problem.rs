//! One-step problems with their numbers: u = W λ + b, λᵢ ∈ Lawᵢ(uᵢ), solved and certified.

use crate::convert::{to_json, to_python};
use crate::error::{hinted, usage};
use carom_analysis::folder::{Replace, write_file};
use carom_scene::problem_file::{FileFormat, encode, read};
use carom_scene::suggest;
use carom_solve::{Law, ProblemWork, Reaction, Rows, SOLVERS, StoredProblem};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A sparse matrix by rows: places of the rows, columns, values.
type Sparse = (Vec<usize>, Vec<usize>, Vec<f64>);

/// A one-step problem with its numbers.
#[pyclass(frozen, module = "carom._carom")]
pub struct Problem {
    problem: StoredProblem,
    /// The kind of its file; none where it was made here.
    #[pyo3(get)]
    kind: Option<&'static str>,
    /// What its file says besides.
    #[pyo3(get)]
    notes: Vec<String>,
}

/// A problem of a matrix, a vector and laws: names with numbers.
#[pyfunction]
pub fn make_problem(py: Python<'_>, w: Sparse, b: Vec<f64>, laws: Vec<(String, Vec<f64>)>) -> PyResult<Problem> {
    let laws = laws.iter().map(|(name, numbers)| law(py, name, numbers)).collect::<PyResult<Vec<Law>>>()?;
    let (starts, columns, values) = w;
    let mut rows = Rows::new(b.len());
    for ends in starts.windows(2) {
        let entries = columns.get(ends[0]..ends[1]).unwrap_or_default().iter().copied();
        rows.push_sparse(entries.zip(values.get(ends[0]..ends[1]).unwrap_or_default().iter().copied()));
    }
    let problem = StoredProblem::reduced("problem", rows, b, laws);
    let problem = problem.map_err(|error| usage(py, error.to_string(), ""))?;
    Ok(Problem { problem, kind: None, notes: Vec::new() })
}

/// A problem of a file.
#[pyfunction]
pub fn read_problem(py: Python<'_>, path: PathBuf, kind: Option<&str>) -> PyResult<Problem> {
    let known = "kinds are lcp, mlcp, relay, friction, global-friction, fclib";
    let find =
        |name: &str| FileFormat::find(name).ok_or_else(|| usage(py, format!("no kind is named `{name}`"), known));
    let kind = kind.map(find).transpose()?;
    let read = py.detach(|| read(&path, kind)).map_err(|error| hinted(py, "FilesError", &error.to_string(), ""))?;
    Ok(Problem { problem: read.problem, kind: Some(read.kind.name()), notes: read.notes })
}

#[pymethods]
impl Problem {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        self.problem.name()
    }

    /// Rows of W: where each begins, columns, values.
    fn matrix(&self, py: Python<'_>) -> Sparse {
        py.detach(|| {
            let reduced = self.problem.condensed();
            let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
            for i in 0..reduced.size() {
                for (j, x) in reduced.given_w().map_or(&[][..], |w| w.row(i)) {
                    columns.push(*j);
                    values.push(*x);
                }
                starts.push(columns.len());
            }
            (starts, columns, values)
        })
    }

    /// b.
    fn vector(&self) -> Vec<f64> {
        self.problem.b().to_vec()
    }

    /// Names of the laws, with their rows and coefficients of friction.
    fn laws(&self) -> Vec<(&'static str, usize, f64)> {
        self.problem.laws().iter().map(|law| (law.name(), law.size(), law.mu())).collect()
    }

    /// Writes a file, in the kind that holds it; the name of the kind.
    fn write(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<&'static str> {
        let replace = if force { Replace::Always } else { Replace::Never };
        py.detach(|| {
            let encoded = encode(&self.problem).map_err(|error| error.to_string())?;
            let written = write_file(&path, replace, &[], |out| out.write_all(&encoded.bytes));
            written.map(|()| encoded.kind.name()).map_err(|error| error.to_string())
        })
        .map_err(|message| {
            hinted(py, "FilesError", &message, if force { "" } else { "`force=True` overwrites a file" })
        })
    }

    /// Solves it; what was found as a dictionary.
    fn solve<'py>(&self, py: Python<'py>, solver: &str, options: &Bound<'_, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        solve(py, &self.problem, solver, options)
    }
}

fn solve<'py>(
    py: Python<'py>,
    problem: &StoredProblem,
    solver: &str,
    options: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let names = || SOLVERS.iter().map(|row| row.info.name);
    let Some(row) = carom_solve::solver::find(solver) else {
        let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
        return Err(usage(py, format!("no solver is named `{solver}`"), suggest(solver, names(), false, all)));
    };
    let options = match to_json(options)? {
        Value::Null => json!({}),
        options => options,
    };
    let hint = || format!("see carom.show(\"{solver}\")");
    let mut solver = (row.build)(&options).map_err(|error| usage(py, error.to_string(), hint()))?;
    solver.admits(problem.laws()).map_err(|error| usage(py, error.to_string(), "take solver=\"auto\""))?;
    let mut z = Reaction::default();
    let (solved, certificate, full_error) = py.detach(|| {
        problem.with(&mut ProblemWork::default(), |p| {
            let solved = solver.solve(p, &mut z);
            z.lambda.resize(p.size(), 0.0);
            // the problem certifies what the solver claims
            let certificate = p.certify(&mut z);
            (solved, certificate, problem.full_error(p, &z))
        })
    });
    let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    let told = json!({
        "residual": finite(certificate.residual), "cone": finite(certificate.cone),
        "velocity": finite(certificate.velocity), "complementarity": finite(certificate.complementarity),
        "law": certificate.law, "full_error": finite(full_error), "path": solver.log(), "solver": row.info.name,
    });
    if let Err(error) = solved {
        let fields = PyDict::new(py);
        fields.set_item("certificate", to_python(py, &told)?)?;
        if z.lambda.iter().chain(&z.u).all(|x| x.is_finite()) {
            fields.set_item("point", (PyList::new(py, &z.lambda)?, PyList::new(py, &z.u)?))?;
        }
        return Err(crate::error::raise(py, "SolveError", &error.to_string(), &fields));
    }
    if !z.lambda.iter().chain(&z.u).all(|x| x.is_finite()) {
        return Err(hinted(py, "SolveError", "the solution is not finite", ""));
    }
    let found = PyDict::new(py);
    found.set_item("lambda", PyArray1::from_vec(py, z.lambda))?;
    found.set_item("u", PyArray1::from_vec(py, z.u))?;
    found.set_item("certificate", to_python(py, &told)?)?;
    Ok(found)
}

/// Names of laws, with what their numbers are.
const LAWS: [(&str, &str); 7] = [
    ("complementarity", "none"),
    ("equality", "none"),
    ("relay", "lower and upper bound"),
    ("coulomb", "coefficient of friction, number of tangents (1 or 2)"),
    ("tresca", "radius, number of tangents"),
    ("adhesion", "cohesion, coefficient of friction, number of tangents"),
    ("rolling", "coefficients of friction, of rolling and of spinning friction"),
];

fn law(py: Python<'_>, name: &str, numbers: &[f64]) -> PyResult<Law> {
    let tangents = |x: f64| if x == 1.0 || x == 2.0 { Some(x as usize) } else { None };
    let law = match (name, numbers) {
        ("complementarity", []) => Some(Law::UNILATERAL),
        ("equality", []) => Some(Law::EQUALITY),
        ("relay", [lower, upper]) => Some(Law::interval(*lower, *upper)),
        ("coulomb", [mu, n]) => tangents(*n).map(|n| Law::coulomb(*mu, n)),
        ("tresca", [radius, n]) => tangents(*n).map(|n| Law::tresca(*radius, n)),
        ("adhesion", [cohesion, mu, n]) => tangents(*n).map(|n| Law::adhesion(*cohesion, *mu, n)),
        ("rolling", [mu, rolling, spinning]) => Some(Law::rolling(*mu, *rolling, *spinning)),
        _ => None,
    };
    let names = || LAWS.iter().map(|(name, _)| *name);
    law.ok_or_else(|| match LAWS.iter().find(|(known, _)| *known == name) {
        Some((_, wanted)) => {
            usage(py, format!("the law `{name}` has the numbers {numbers:?}"), format!("it has {wanted}"))
        }
        None => {
            let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
            usage(py, format!("no law is named `{name}`"), suggest(name, names(), false, all))
        }
    })
}
