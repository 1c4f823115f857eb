//! Options that all solvers have: the error that the tolerance means, and up to which error a point is taken that
//! misses it.
//!
//! Solvers know the residual alone. Where the error of the literature is meant they are asked for a smaller residual,
//! from the point that they have, until that error is met.

use super::{Accept, Configured, Path, SolveError, Solver, SolverInfo, SolverWarning, Unsupported};
use crate::options::positive;
use crate::{Certificate, Law, Measure, OneStepProblem, OptionDoc, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Part of the tolerance that is asked for next.
const SMALLER: f64 = 1.0 / 30.0;

/// Smallest residual that is asked for.
const SMALLEST: f64 = 1e-15;

/// The options that all solvers have.
#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Common {
    /// Largest error that is taken with a warning where the tolerance is not met; none if it is an error [-].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    accept: Option<f64>,
    /// What `tolerance` means: "residual", relative and scaled, or "full-error", that of the literature in the user's
    /// units [-].
    measure: Measure,
}

impl Options for Common {
    fn validate(&self) -> Result<(), OptionError> {
        positive("accept", self.accept.unwrap_or(1.0))
    }
}

/// A solver from its table of options.
pub(super) fn build<S: Configured>(table: &Value) -> Result<Box<dyn Solver>, OptionError> {
    let (mut own, mut common) = (table.clone(), json!({}));
    if let Some(own) = own.as_object_mut().filter(|_| !S::IS_COMPLETE) {
        for name in ["accept", "measure"] {
            own.remove(name).into_iter().for_each(|value| common[name] = value);
        }
    }
    let options = S::Options::read(&own)?;
    match Common::read(&common)? {
        Common { measure: Measure::Residual, accept: None } => Ok(Box::new(S::configure(options))),
        common => Ok(Box::new(Judged::<S>::of(options, common)?)),
    }
}

/// Its options with defaults and meanings.
pub(super) fn describe<S: Configured>() -> Vec<OptionDoc> {
    let mut all = S::Options::describe();
    if !S::IS_COMPLETE {
        all.extend(Common::describe());
    }
    all
}

/// JSON Schema of its table of options.
pub(super) fn schema<S: Configured>() -> Value {
    let mut schema = S::Options::schema();
    if !S::IS_COMPLETE
        && let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut)
    {
        let common = Common::schema();
        let common = common.get("properties").and_then(Value::as_object).into_iter().flatten();
        properties.extend(common.map(|(name, property)| (name.clone(), property.clone())));
    }
    schema
}

/// A solver for each of the residuals that are asked for; the second and later ones are made when they are needed.
struct Judged<S: Configured> {
    table: Value,
    tolerance: f64,
    common: Common,
    solvers: Vec<S>,
    last: usize, // the one used last
    warning: Option<SolverWarning>,
}

impl<S: Configured> Judged<S> {
    fn of(options: S::Options, common: Common) -> Result<Self, OptionError> {
        let table = serde_json::to_value(&options).unwrap_or_default();
        let tolerance = table["tolerance"].as_f64();
        let tolerance = tolerance.ok_or_else(|| OptionError::new("measure", "there is no tolerance that it is of"))?;
        let solvers = vec![S::configure(options)];
        Ok(Judged { table, tolerance, common, solvers, last: 0, warning: None })
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

    /// To the tolerance in the measure that is meant.
    fn attempt(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        loop {
            let result = self.solvers[self.last].solve(problem, z);
            if self.common.measure == Measure::Residual {
                return result;
            }
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
}

impl<S: Configured> Solver for Judged<S> {
    fn info(&self) -> &'static SolverInfo {
        const { &S::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.solvers[0].admits(laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        (self.last, self.warning) = (0, None);
        let result = self.attempt(problem, z);
        let (Some(accept), Err(error)) = (self.common.accept, &result) else { return result };
        match problem.tolerate(error, Accept::Error(accept), z) {
            Some(certificate) => {
                self.warning = Some(SolverWarning::loose(&certificate));
                Ok(certificate)
            }
            None => result,
        }
    }

    fn path(&self) -> Path {
        self.solvers[self.last].path()
    }

    fn warning(&self) -> Option<SolverWarning> {
        self.warning.or_else(|| self.solvers[self.last].warning())
    }

    fn accept(&self) -> Option<f64> {
        self.common.accept
    }

    fn log(&self) -> String {
        self.solvers[self.last].log()
    }
}
