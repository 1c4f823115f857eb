//! One-step problems with their numbers: u = W λ + b, λᵢ ∈ Lawᵢ(uᵢ), solved and certified.

use crate::convert::{to_json, to_python};
use crate::error::{hinted, usage};
use carom_scene::suggest;
use carom_solve::{Law, ProblemWork, Reaction, Rows, SOLVERS, StoredProblem};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Value, json};

/// A sparse matrix by rows: places of the rows, columns, values.
type Sparse = (Vec<usize>, Vec<usize>, Vec<f64>);

/// Solves a problem; what was found as a dictionary. Laws are names with numbers.
#[pyfunction]
pub fn solve_problem<'py>(
    py: Python<'py>,
    w: Sparse,
    b: Vec<f64>,
    laws: Vec<(String, Vec<f64>)>,
    solver: &str,
    options: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyDict>> {
    let laws = laws.iter().map(|(name, numbers)| law(py, name, numbers)).collect::<PyResult<Vec<Law>>>()?;
    let (starts, columns, values) = w;
    let mut rows = Rows::new(b.len());
    for ends in starts.windows(2) {
        let entries = columns.get(ends[0]..ends[1]).unwrap_or_default().iter().copied();
        rows.push_sparse(entries.zip(values.get(ends[0]..ends[1]).unwrap_or_default().iter().copied()));
    }
    let problem = StoredProblem::reduced("problem", rows, b, laws);
    let problem = problem.map_err(|error| usage(py, error.to_string(), ""))?;
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
