//! One solver on one problem: certified, timed.

use crate::failure::Failure;
use carom_scene::suggest;
use carom_solve::{History, Point, ProblemWork, Reaction, SOLVERS, SolverRow, StoredProblem};
use serde_json::{Value, json};
use std::time::Instant;

/// A solver with its options.
pub struct Method {
    pub row: &'static SolverRow,
    pub options: Value,
}

impl Method {
    /// A solver by name or as a table with its options, with a tolerance and what it means where these are given.
    pub fn find(choice: &str, tolerance: Option<f64>, measure: Option<&str>) -> Result<Method, Failure> {
        let (name, mut options) = read(choice)?;
        let name = name.as_str();
        let names = || SOLVERS.iter().map(|row| row.info.name);
        let row = carom_solve::solver::find(name).ok_or_else(|| {
            let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
            Failure::usage(format!("no solver is named `{name}`"), suggest(name, names(), false, all))
        })?;
        if let Some(tolerance) = tolerance {
            if tolerance < f64::EPSILON {
                let message = format!("--tolerance {tolerance:e} is below the rounding of numbers");
                return Err(Failure::usage(message, "residuals are relative: take 1e-14 or more"));
            }
            options["tolerance"] = json!(tolerance);
        }
        if let Some(measure) = measure {
            options["measure"] = json!(measure);
        }
        (row.build)(&options).map_err(|e| Failure::usage(e.to_string(), format!("see `carom show {name}`")))?;
        Ok(Method { row, options })
    }
}

/// Name and options of `NAME` or `{ name = "NAME", option = ... }`.
fn read(choice: &str) -> Result<(String, Value), Failure> {
    if !choice.trim_start().starts_with('{') {
        return Ok((choice.to_owned(), json!({})));
    }
    let wrong = |reason: String| Failure::usage(reason, "write '{ name = \"auto\", budget = 1e7 }'".to_owned());
    let table: toml::Table = toml::from_str(&format!("solver = {choice}"))
        .map_err(|error| wrong(format!("`{choice}` is no table: {}", error.message())))?;
    let mut options = json!(table.get("solver"));
    match options.as_object_mut().and_then(|options| options.remove("name")) {
        Some(Value::String(name)) => Ok((name, options)),
        _ => Err(wrong(format!("`{choice}` has no `name`"))),
    }
}

/// What became of it.
pub struct Attempt {
    pub name: String,
    pub kind: &'static str,
    pub laws: usize,
    pub rows: usize,
    pub solver: &'static str,
    /// What the solver did.
    pub log: String,
    /// Certificate's residual, relative and free of units.
    pub residual: f64,
    /// Relative error of the literature, in the form given.
    pub full_error: f64,
    pub seconds: f64,
    pub failure: Option<String>,
    /// Why it is solved with reservations.
    pub warning: Option<String>,
    pub z: Reaction,
    /// Velocities, where the problem was given in global form.
    pub velocity: Option<Vec<f64>>,
    /// How the residual fell, where it was asked for.
    pub history: Vec<Point>,
}

impl Attempt {
    /// One that has not been made.
    pub fn new(method: &Method, problem: &StoredProblem) -> Attempt {
        Attempt {
            name: problem.name().into(),
            kind: problem.kind(),
            laws: problem.laws().len(),
            rows: problem.size(),
            solver: method.row.info.name,
            log: String::new(),
            residual: f64::INFINITY,
            full_error: f64::INFINITY,
            seconds: 0.0,
            failure: None,
            warning: None,
            z: Reaction::default(),
            velocity: None,
            history: Vec::new(),
        }
    }

    /// Solves, and keeps the history of the residual where it is `recorded`.
    pub fn run(method: &Method, problem: &StoredProblem, recorded: bool) -> Attempt {
        let mut attempt = Attempt::new(method, problem);
        let mut solver = match (method.row.build)(&method.options) {
            Ok(solver) => solver,
            Err(error) => {
                attempt.failure = Some(error.to_string());
                return attempt;
            }
        };
        if let Err(error) = solver.admits(problem.laws()) {
            attempt.failure = Some(error.to_string());
            return attempt;
        }
        let z = &mut attempt.z;
        let history = recorded.then(|| History::new(attempt.solver));
        let (clock, mut work) = (Instant::now(), ProblemWork::default());
        let (solved, seconds, residual, full_error) = problem.with(&mut work, |p| {
            let solved = match &history {
                Some(history) => solver.solve(&p.recorded(history), z),
                None => solver.solve(p, z),
            };
            let seconds = clock.elapsed().as_secs_f64();
            // a solver that failed early may leave no point at all
            z.lambda.resize(p.size(), 0.0);
            let residual = p.certify(z).residual;
            (solved, seconds, residual, problem.full_error(p, z))
        });
        (attempt.seconds, attempt.residual, attempt.full_error) = (seconds, residual, full_error);
        attempt.log = solver.log();
        attempt.history = history.map_or_else(Vec::new, |history| history.points());
        attempt.warning = solver.warning().map(|warning| {
            let law = warning.law.map_or(String::new(), |law| format!(" at law {law}"));
            format!("{}: {:.3e}{law}", warning.kind.name, warning.value)
        });
        attempt.failure = solved.err().map(|error| error.to_string());
        attempt.velocity = problem.velocity(&attempt.z);
        attempt
    }

    pub fn to_json(&self) -> Value {
        let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
        json!({
            "name": self.name, "kind": self.kind, "laws": self.laws, "rows": self.rows, "solver": self.solver, "path": self.log,
            "residual": finite(self.residual), "full_error": finite(self.full_error), "seconds": self.seconds,
            "solved": self.failure.is_none(), "reason": self.failure, "warning": self.warning,
        })
    }
}
