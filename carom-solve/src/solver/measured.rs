//! Tolerances that mean the error of the literature, for solvers that know the residual alone: they are asked for a
//! smaller residual, from the point that they have, until the error is met.

use super::{Configured, Path, SolveError, Solver, SolverInfo, SolverWarning, Unsupported};
use crate::{Certificate, Law, Measure, OneStepProblem, OptionDoc, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Part of the tolerance that is asked for next.
const SMALLER: f64 = 1.0 / 30.0;

/// Smallest residual that is asked for.
const SMALLEST: f64 = 1e-15;

/// The option that all solvers have.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Common {
    /// What `tolerance` means: "residual", relative and scaled, or "full-error", that of the literature in the user's
    /// units [-].
    measure: Measure,
}

impl Options for Common {}

/// A solver from its table of options.
pub(super) fn build<S: Configured>(table: &Value) -> Result<Box<dyn Solver>, OptionError> {
    let mut own = table.clone();
    let measure = own.as_object_mut().filter(|_| !S::MEASURES).and_then(|own| own.remove("measure"));
    let options = S::Options::read(&own)?;
    match measure.map(|measure| Common::read(&json!({ "measure": measure }))).transpose()? {
        Some(Common { measure: Measure::FullError }) => Measured::<S>::of(options).map(|it| Box::new(it) as _),
        _ => Ok(Box::new(S::configure(options))),
    }
}

/// Its options with defaults and meanings.
pub(super) fn describe<S: Configured>() -> Vec<OptionDoc> {
    let mut all = S::Options::describe();
    if !S::MEASURES {
        all.extend(Common::describe());
    }
    all
}

/// JSON Schema of its table of options.
pub(super) fn schema<S: Configured>() -> Value {
    let mut schema = S::Options::schema();
    if !S::MEASURES
        && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
    {
        properties.insert("measure".into(), Common::schema()["properties"]["measure"].clone());
    }
    schema
}

/// A solver for each of the residuals that are asked for; those of the second and later ones are made when they are
/// needed.
struct Measured<S: Configured> {
    table: Value,
    tolerance: f64,
    solvers: Vec<S>,
    last: usize, // the one used last
}

impl<S: Configured> Measured<S> {
    fn of(options: S::Options) -> Result<Self, OptionError> {
        let table = serde_json::to_value(&options).unwrap_or_default();
        let tolerance = table["tolerance"].as_f64();
        let tolerance = tolerance.ok_or_else(|| OptionError::new("measure", "there is no tolerance that it is of"))?;
        Ok(Measured { table, tolerance, solvers: vec![S::configure(options)], last: 0 })
    }

    /// Makes the next solver; false where no smaller residual is asked for.
    fn go_on(&mut self) -> bool {
        let tolerance = self.tolerance * SMALLER.powi(self.last as i32 + 1);
        if tolerance < SMALLEST {
            return false;
        }
        if self.last + 1 == self.solvers.len() {
            self.table["tolerance"] = json!(tolerance);
            let Ok(options) = S::Options::read(&self.table) else { return false };
            self.solvers.push(S::configure(options));
        }
        self.last += 1;
        true
    }
}

impl<S: Configured> Solver for Measured<S> {
    fn info(&self) -> &'static SolverInfo {
        const { &S::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.solvers[0].admits(laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        self.last = 0;
        loop {
            let result = self.solvers[self.last].solve(problem, z);
            let (goes_on, iterations) = match result {
                Ok(_) => (true, 0),
                // a point that was refused in spite of its residual is none
                Err(SolveError::NotConverged { certificate, tolerance, iterations })
                    if certificate.residual > tolerance =>
                {
                    (false, iterations)
                }
                Err(error) => return Err(error),
            };
            let certificate = problem.certify_by(Measure::FullError, z);
            if certificate.error() <= self.tolerance {
                return Ok(certificate);
            }
            if !goes_on || !self.go_on() {
                return Err(SolveError::NotConverged { certificate, tolerance: self.tolerance, iterations });
            }
        }
    }

    fn path(&self) -> Path {
        self.solvers[self.last].path()
    }

    fn warning(&self) -> Option<SolverWarning> {
        self.solvers[self.last].warning()
    }

    fn log(&self) -> String {
        self.solvers[self.last].log()
    }
}
