//! `summary.json`: what was run, how it ended, and its figures.
//!
//! Keys keep the order of the fields. JSON has no number that is not finite: such a figure is written as `null` and
//! read back as NaN.

use super::{ColumnInfo, Estimate, PlaySummary, ResultError};
use carom::scheme::StepError;
use carom::simulation::{Accumulation, EnergyLedger, Statistics};
use carom::{Labels, SimulationError};
use carom_solve::Certificate;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Name of the run, from its inputs.
    pub name: String,
    /// Version of carom.
    pub carom: String,
    /// Version of the files; 0 before they had one.
    #[serde(default)]
    pub format: u32,
    /// How the run ended.
    pub status: Status,
    /// Why the results are not all of the run; nothing where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// Where and why the run failed.
    pub failure: Option<Failure>,
    /// Model, scheme, solver and span.
    pub inputs: Inputs,
    /// Counts of steps and of the work in them.
    pub statistics: Totals,
    /// How often a contact closed.
    pub impacts: u64,
    /// Number of events by kind, from schemes that locate them; those of the user are of the kind `user`.
    #[serde(default)]
    pub events: BTreeMap<String, u64>,
    /// Contacts that stay closed after infinitely many impacts.
    #[serde(default)]
    pub accumulations: Vec<Accumulation>,
    /// The event of the user that ended the run.
    #[serde(default)]
    pub stopped: Option<Stop>,
    /// Smallest gaps [m]; negative where bodies overlap, or by rounding.
    pub smallest_gap: SmallestGaps,
    /// What joints with play did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plays: Vec<PlaySummary>,
    /// The worst of all one-step problems.
    pub certificate: Residuals,
    /// `null` where the model does not know its energy.
    pub energy: Option<EnergySummary>,
    /// Rows of the trajectory.
    pub rows: u64,
    /// Its columns, with their units and how they are read.
    #[serde(default)]
    pub columns: Vec<ColumnInfo>,
    /// Columns that it lacks because the model is large; `--columns all` has them.
    #[serde(default)]
    pub columns_left_out: usize,
    /// Result files in the directory of the summary.
    pub files: Vec<String>,
    /// What the solver did, the most frequent path first.
    #[serde(default)]
    pub solver: Vec<SolverPath>,
    /// What the user should know.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// How far off the run is, where that was asked for.
    #[serde(default)]
    pub estimate: Option<Estimate>,
}

/// Problems that took one way through the methods of the solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SolverPath {
    /// Methods in the order in which they were tried.
    pub methods: String,
    /// How many problems.
    pub problems: u64,
    /// Problems among them that were not solved.
    pub failed: u64,
    /// The largest residual of those that were solved [-].
    #[serde(with = "nullable")]
    pub worst_residual: f64,
}

impl SolverPath {
    /// All paths of a run, the most frequent first.
    pub(super) fn all(paths: &[carom::scheme::SolverPath]) -> Vec<SolverPath> {
        let row = |p: &carom::scheme::SolverPath| SolverPath {
            methods: p.path.to_string(),
            problems: p.problems,
            failed: p.failed,
            worst_residual: p.worst_residual,
        };
        let mut list: Vec<SolverPath> = paths.iter().map(row).collect();
        list.sort_by(|a, b| b.problems.cmp(&a.problems).then_with(|| a.methods.cmp(&b.methods)));
        list
    }
}

/// Something that the user should know, whoever noticed it: file, model, scheme, solver or an observer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// For programs; see [`carom::WarningKind`].
    pub kind: String,
    /// What happened.
    pub message: String,
    /// When it happened first [s]; `null` where it belongs to no time.
    pub time: Option<f64>,
    /// Name of the contact that it belongs to.
    pub contact: Option<String>,
    /// The worst figure.
    pub value: Option<f64>,
    /// Unit of the figure.
    pub unit: String,
    /// How often it happened; 0 where that makes no sense.
    pub count: u64,
    /// What may be done about it.
    pub hint: Option<String>,
}

impl Warning {
    pub(super) fn of(warning: &carom::Warning, labels: &Labels) -> Warning {
        let carom::Warning { kind, t, contact, worst, count } = *warning;
        Warning {
            kind: kind.name.into(),
            message: kind.message.into(),
            time: Some(t).filter(|t| t.is_finite()),
            contact: contact.map(|key| labels.contact(key)),
            value: Some(worst).filter(|value| value.is_finite()),
            unit: kind.unit.into(),
            count,
            hint: Some(kind.hint).filter(|hint| !hint.is_empty()).map(String::from),
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        if let Some(contact) = &self.contact {
            write!(f, " at contact {contact}")?;
        }
        if let Some(value) = self.value {
            write!(f, ", {}{value:.3e} {}", if self.count > 1 { "at most " } else { "" }, self.unit)?;
        }
        match (self.time, self.count) {
            (Some(t), 0 | 1) => write!(f, ", at t = {t:?} s")?,
            (Some(t), count) => write!(f, ", {count} times from t = {t:?} s on")?,
            (None, _) => {}
        }
        self.hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The end of the span was reached, or an event that stops.
    Finished,
    /// The run, or its recording, ended with an error.
    Failed,
    /// An observer ended the run.
    Interrupted,
}

impl Status {
    /// The mark of results that end at a time before their end; none where they are whole.
    pub(super) fn partial(self, time: f64) -> Option<String> {
        let word = match self {
            Status::Finished => return None,
            Status::Failed => "failed",
            Status::Interrupted => "interrupted",
        };
        Some(format!("{word} at t = {time:?}"))
    }
}

/// What was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inputs {
    /// Becomes the name of the summary.
    #[serde(skip)]
    pub name: String,
    /// Name of the model file.
    pub model: Option<String>,
    /// [`fingerprint`] of its text.
    pub fingerprint: Option<String>,
    /// Parameters of the model by name.
    pub parameters: Value,
    /// The time-stepping scheme.
    pub scheme: Method,
    /// The solver of one-step problems.
    pub solver: Method,
    /// The law of impacts at several contacts at once.
    #[serde(default)]
    pub impacts: Option<String>,
    /// The rule by which coefficients of two materials make those of their contact; `null` where no shapes touch by
    /// themselves.
    #[serde(default)]
    pub materials: Option<String>,
    /// Start of the span [s].
    #[serde(with = "nullable")]
    pub start: f64,
    /// End of the span [s].
    #[serde(with = "nullable")]
    pub end: f64,
    /// First step size [s].
    #[serde(with = "nullable")]
    pub step: f64,
    /// Options of adaptive steps; `null` where all steps are equal.
    #[serde(default)]
    pub adaptive: Option<Value>,
}

/// A scheme or a solver by name, with its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Method {
    /// The name by which it is chosen.
    pub name: String,
    /// Its options by name.
    pub options: Value,
}

/// Where and why a run failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// Time of the last state that was reached [s].
    #[serde(with = "nullable")]
    pub time: f64,
    /// Steps done before.
    pub step: u64,
    /// Name of the contact to blame, where one is known.
    pub contact: Option<String>,
    /// Residual of the problem that was not solved.
    pub residual: Option<f64>,
    /// The error in words.
    pub message: String,
}

/// An event that ended the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stop {
    /// Name of the event.
    pub event: String,
    /// [s]
    #[serde(with = "nullable")]
    pub time: f64,
}

carom_solve::persist!(Stop { event, time });

/// Counts over a whole run; the work in rejected steps is included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    /// Steps that were accepted.
    pub steps: u64,
    /// Steps that were taken back.
    pub rejected: u64,
    /// One-step problems solved.
    pub solves: u64,
    /// Newton iterations: linearised steps solved.
    pub iterations: u64,
    /// Evaluations of the right-hand side.
    #[serde(default)]
    pub evaluations: u64,
}

/// Smallest gaps of the unilateral contacts at the ends of the steps [m].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SmallestGaps {
    /// Of all contacts; `null` where there is none.
    pub overall: Option<f64>,
    /// By name; `null` where the contact never came up.
    pub contacts: BTreeMap<String, Option<f64>>,
    /// How deep bodies overlap [m]; zero where negative gaps are rounding of the lengths behind them.
    #[serde(default)]
    pub overlap: f64,
}

/// The figures of a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Residuals {
    /// [-]
    #[serde(with = "nullable")]
    pub residual: f64,
    /// [N s]
    #[serde(with = "nullable")]
    pub cone: f64,
    /// [m/s]
    #[serde(with = "nullable")]
    pub velocity: f64,
    /// [J]
    #[serde(with = "nullable")]
    pub complementarity: f64,
    /// The error of the literature [-], where the solver was asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_error: Option<f64>,
}

/// The energy ledger [J].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EnergySummary {
    /// Kinetic energy of the first state.
    #[serde(with = "nullable")]
    pub kinetic_start: f64,
    /// Potential energy of the first state.
    #[serde(with = "nullable")]
    pub potential_start: f64,
    /// Kinetic energy of the last state.
    #[serde(with = "nullable")]
    pub kinetic_end: f64,
    /// Potential energy of the last state.
    #[serde(with = "nullable")]
    pub potential_end: f64,
    /// Work of the forces without potential.
    #[serde(with = "nullable")]
    pub applied: f64,
    /// Work of obstacles that move by themselves.
    #[serde(with = "nullable")]
    pub obstacles: f64,
    /// Lost along the normals of contacts.
    #[serde(with = "nullable")]
    pub impact_loss: f64,
    /// Lost along tangents and by dry friction of joints.
    #[serde(with = "nullable")]
    pub friction_loss: f64,
    /// Work of bilateral constraints, and of relays that are no dry friction.
    #[serde(with = "nullable")]
    pub bilateral: f64,
    /// Kinetic energy of bodies that fell asleep, where bodies may.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sleep_loss: f64,
    /// What the other entries do not explain.
    #[serde(with = "nullable")]
    pub residue: f64,
    /// The largest total energy above the initial one.
    #[serde(with = "nullable")]
    pub largest_gain: f64,
}

impl Failure {
    /// What stopped the recording. Where it names no time, `time` and `step` are those of the last state.
    pub(super) fn recording(cause: &ResultError, (time, step): (f64, u64)) -> Failure {
        let (time, contact) = (cause.time().unwrap_or(time), cause.contact().map(String::from));
        Failure { time, step, contact, message: cause.to_string(), residual: None }
    }

    /// What a simulation error tells. Where it names no time, `time` and `step` are those of the last state.
    pub fn of(error: &SimulationError, time: f64, step: u64) -> Failure {
        let message = error.to_string();
        match error {
            SimulationError::Step { index, t, contact, source, .. } => {
                let residual = match source {
                    StepError::Solve { error, .. } => error.certificate().map(|certificate| certificate.residual),
                    StepError::Newton { residual, .. } => Some(*residual),
                    _ => None,
                };
                // `null` in the file, see the head
                let residual = residual.filter(|residual| residual.is_finite());
                Failure { time: *t, step: *index, contact: contact.clone(), residual, message }
            }
            SimulationError::StepTooSmall { t, .. } => Failure { time: *t, step, message, ..Failure::default() },
            SimulationError::Model(error) => Failure {
                time: error.time().unwrap_or(time),
                step,
                contact: error.contact().map(String::from),
                message,
                residual: None,
            },
            _ => Failure { time, step, message, ..Failure::default() },
        }
    }
}

impl From<&Statistics> for Totals {
    fn from(s: &Statistics) -> Totals {
        Totals {
            steps: s.steps,
            rejected: s.rejected,
            solves: s.solves,
            iterations: s.iterations,
            evaluations: s.evaluations,
        }
    }
}

impl From<Certificate> for Residuals {
    fn from(c: Certificate) -> Residuals {
        Residuals {
            residual: c.residual,
            cone: c.cone,
            velocity: c.velocity,
            complementarity: c.complementarity,
            full_error: c.full_error().filter(|error| error.is_finite()),
        }
    }
}

impl From<&EnergyLedger> for EnergySummary {
    fn from(ledger: &EnergyLedger) -> EnergySummary {
        EnergySummary {
            kinetic_start: ledger.initial.kinetic,
            potential_start: ledger.initial.potential,
            kinetic_end: ledger.last.kinetic,
            potential_end: ledger.last.potential,
            applied: ledger.applied,
            obstacles: ledger.obstacles,
            impact_loss: ledger.impact_loss,
            friction_loss: ledger.friction_loss,
            bilateral: ledger.bilateral,
            sleep_loss: ledger.sleep_loss,
            residue: ledger.residue(),
            largest_gain: ledger.largest_gain,
        }
    }
}

/// The 64-bit FNV-1a hash of a text: enough to see whether two runs used the same file, no protection against forgery.
pub fn fingerprint(text: &str) -> String {
    fingerprint_of(text.as_bytes())
}

/// That of bytes.
pub(super) fn fingerprint_of(bytes: &[u8]) -> String {
    let hash = bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("fnv1a64:{hash:016x}")
}

/// What nothing was lost to is not told.
fn is_zero(x: &f64) -> bool {
    *x == 0.0
}

/// Numbers that are not finite are `null`.
mod nullable {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        x.is_finite().then_some(*x).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::<f64>::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fingerprints_are_those_of_the_published_test_vectors() {
        assert_eq!(fingerprint(""), "fnv1a64:cbf29ce484222325");
        assert_eq!(fingerprint("a"), "fnv1a64:af63dc4c8601ec8c");
        assert_eq!(fingerprint("foobar"), "fnv1a64:85944171f73967e8");
    }

    #[test]
    fn numbers_that_are_not_finite_are_null() {
        let residuals = Residuals {
            residual: f64::INFINITY,
            cone: f64::NAN,
            velocity: 0.5,
            complementarity: 0.1,
            ..Residuals::default()
        };
        let text = serde_json::to_string(&residuals).unwrap();
        assert_eq!(text, r#"{"residual":null,"cone":null,"velocity":0.5,"complementarity":0.1}"#);
        let back: Residuals = serde_json::from_str(&text).unwrap();
        assert!(back.residual.is_nan() && back.cone.is_nan());
        assert_eq!((back.velocity, back.complementarity), (0.5, 0.1));
    }
}
