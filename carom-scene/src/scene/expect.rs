//! Numbers that a run must reproduce, and the observer that compares them.

use std::ops::ControlFlow;

use carom::ModelError;
use carom::scheme::{EventKind, Family, Stepper};
use carom::simulation::{Observer, RunEvent, SWITCH, StepView};
use carom::subject::SubjectError;
use carom_solve::{Archive, ArchiveError, Persist};

use super::Column;
use super::Scene;
use super::context::Context;
use super::output::Sampler;
use crate::diagnostic::{Place, suggest};
use crate::file::{ExpectTable, Formula};

/// A number that a run must reproduce.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The quantity as written in the file.
    pub text: String,
    /// What is measured of the run.
    pub quantity: Quantity,
    /// The number that the run must give.
    pub value: f64,
    /// Largest accepted absolute difference.
    pub tolerance: f64,
    /// Where the number comes from.
    pub source: Option<String>,
    /// Where the expectation stands in the file.
    pub place: Place,
}

/// What is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The last value of a column.
    Final(Column),
    /// The smallest value, the initial one included.
    Min(Column),
    /// The largest value, the initial one included.
    Max(Column),
    /// The sum over all steps, without the initial value.
    Sum(Column),
    /// The mean over time, of the straight lines between the steps.
    Mean(Column),
    /// The number of impacts.
    Impacts,
    /// The number of events of a name.
    Events(String),
    /// The time of the first event of a name; not a number where there is none.
    First(String),
    /// The time of the last event of a name.
    Last(String),
    /// How far off a figure is, from runs with finer steps.
    Estimate(&'static str),
}

/// Figures whose error can be estimated.
const ESTIMATED: [&str; 4] = ["positions", "velocities", "positions on the way", "impact times"];

impl Quantity {
    /// Whether it is known only after runs with finer steps.
    pub fn is_estimate(&self) -> bool {
        matches!(self, Quantity::Estimate(_))
    }
}

impl Expectation {
    /// Whether a measured value is close enough.
    pub fn accepts(&self, actual: f64) -> bool {
        (actual - self.value).abs() <= self.tolerance
    }
}

const QUANTITIES: [&str; 10] = ["final", "min", "max", "sum", "mean", "impacts", "events", "first", "last", "estimate"];

/// What quantities may speak of.
pub(super) struct Names<'a> {
    pub family: Family,
    pub coordinates: &'a [String],
    pub velocities: &'a [String],
    /// All columns of the scene.
    pub columns: &'a [(String, Column)],
    pub events: &'a [&'a str],
    pub laws: &'a [&'a str],
}

/// Reads one expectation.
pub(super) fn read(table: &ExpectTable, names: &Names<'_>, context: &mut Context) -> Option<Expectation> {
    let quantity = names.quantity(&table.quantity.value);
    let quantity = quantity.map_err(|e| context.out.error(&table.quantity.place, e.message).hint(e.hint)).ok();
    let value = context.number(&table.value);
    let mut bound = |formula: &Formula| {
        let bound = context.number(formula)?;
        if bound < 0.0 {
            context.out.error(&formula.place, format!("the tolerance {bound} is negative"));
        }
        Some(bound)
    };
    let tolerance = match (&table.tolerance, &table.relative) {
        (Some(absolute), None) => bound(absolute),
        (None, Some(relative)) => bound(relative).zip(value).map(|(relative, value)| relative * value.abs()),
        (Some(_), Some(relative)) => {
            context.out.error(&relative.place, "give either `tolerance` or `relative`, not both");
            None
        }
        // numbers of impacts and events may be expected exactly
        (None, None) if matches!(quantity, Some(Quantity::Impacts | Quantity::Events(_))) => Some(0.0),
        (None, None) => {
            context.out.error(&table.place, "an expectation needs `tolerance` (absolute) or `relative`");
            None
        }
    };
    Some(Expectation {
        text: table.quantity.value.clone(),
        quantity: quantity?,
        value: value?,
        tolerance: tolerance?,
        source: table.source.as_ref().map(|source| source.value.clone()),
        place: table.place.clone(),
    })
}

impl Names<'_> {
    /// A quantity by its words.
    pub fn quantity(&self, text: &str) -> Result<Quantity, SubjectError> {
        let text = text.trim();
        let (word, name) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let name = name.trim();
        let column = |make: fn(Column) -> Quantity| self.column(name).map(make);
        match word {
            "impacts" if name.is_empty() => Ok(Quantity::Impacts),
            "final" => column(Quantity::Final),
            "min" => column(Quantity::Min),
            "max" => column(Quantity::Max),
            "sum" => column(Quantity::Sum),
            "mean" => column(Quantity::Mean),
            "events" => self.event(name).map(Quantity::Events),
            "first" => self.event(name).map(Quantity::First),
            "last" => self.event(name).map(Quantity::Last),
            "estimate" => estimated(name),
            _ => {
                let all = "write \"final NAME\", \"min NAME\", \"max NAME\", \"sum NAME\", \"mean NAME\", \"impacts\", \
                           \"events NAME\", \"first NAME\", \"last NAME\" or \"estimate positions\"";
                let hint = suggest(word, QUANTITIES, false, || all.into());
                Err(SubjectError::new(format!("unknown quantity {text:?}"), hint))
            }
        }
    }

    /// A column by its name, or a coordinate or velocity by its short name.
    pub fn column(&self, name: &str) -> Result<Column, SubjectError> {
        let coordinate = |name: &str| self.coordinates.iter().position(|known| known == name);
        let velocity = |name: &str| self.velocities.iter().position(|known| known == name);
        let short = match name.strip_suffix('\'') {
            Some(_) if self.family == Family::FirstOrder => None,
            Some(name) => coordinate(name).and_then(|_| velocity(name)).map(Column::Velocity),
            None => coordinate(name).map(Column::Position).or_else(|| velocity(name).map(Column::Velocity)),
        };
        let found = short.or_else(|| self.columns.iter().find(|(known, _)| known == name).map(|(_, column)| *column));
        found.ok_or_else(|| {
            let short = self.coordinates.iter().map(String::as_str);
            let names = self.columns.iter().map(|(name, _)| name.as_str()).chain(short);
            let all = match self.family {
                Family::FirstOrder => {
                    "columns are t, x.STATE, y.ROW, lambda.ROW, impulse.ROW, mu1.ROW (homsp), output.NAME; in circuits \
                     v.NODE, v.ELEMENT, i.ELEMENT"
                }
                Family::Mechanical => {
                    "columns are t, q.NAME, v.NAME, gap.CONTACT, impulse.CONTACT, force.CONTACT, \
                     tau.CONTACT (projections), energy.total, loss.impact, loss.friction, output.NAME"
                }
            };
            let hint = suggest(name, names, false, || all.into());
            SubjectError::new(format!("there is no result column `{name}`"), hint)
        })
    }

    /// The name of an event of the file, a kind of event, or a kind at a contact.
    fn event(&self, name: &str) -> Result<String, SubjectError> {
        let kinds = || EventKind::ALL.iter().map(|kind| kind.name()).chain([SWITCH]);
        let known = match name.split_once('.') {
            Some((kind, contact)) => kinds().any(|known| known == kind) && self.laws.contains(&contact),
            None => self.events.contains(&name) || kinds().any(|known| known == name),
        };
        if known {
            return Ok(name.to_owned());
        }
        let bare = name.split('.').next().unwrap_or_default();
        let others = self.events.iter().copied().chain(kinds());
        let exact = others.clone().any(|known| known == bare);
        let hint = suggest(bare, others.filter(|_| !exact), false, || {
            let kinds = kinds().collect::<Vec<_>>().join(", ");
            format!("events are those of [[event]], kinds ({kinds}) and kinds with a contact, as in impact.floor")
        });
        Err(SubjectError::new(format!("there is no event `{name}`"), hint))
    }
}

/// A figure whose error is estimated.
fn estimated(name: &str) -> Result<Quantity, SubjectError> {
    ESTIMATED.into_iter().find(|known| *known == name).map(Quantity::Estimate).ok_or_else(|| {
        let hint = suggest(name, ESTIMATED, false, || format!("there are {}", ESTIMATED.join(", ")));
        SubjectError::new(format!("no error is estimated of `{name}`"), hint)
    })
}

/// What became of an expectation.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What was to be reproduced.
    pub expectation: Expectation,
    /// Measured value.
    pub actual: f64,
    /// Whether the measured value is close enough.
    pub holds: bool,
}

/// Watches a run for the expectations of a scene.
pub struct Watch {
    expectations: Vec<Expectation>,
    sampler: Sampler,
    // column of each expectation in the row; none for impacts
    at: Vec<Option<usize>>,
    row: Vec<f64>,
    actual: Vec<f64>,
    // time and values of the step before, for means and for what only steps have
    before: (f64, Vec<f64>),
    start: f64,
    of_steps: Vec<bool>,
    // columns that have no value where the model does not list their contact
    of_contacts: Vec<bool>,
    impacts: u64,
    // number, first and last time of the events that each expectation asks for
    seen: Vec<(u64, f64, f64)>,
}

impl Scene {
    /// An observer that compares a run with the expectations of the file. It sees every step, whatever is recorded.
    pub fn watch(&self) -> Watch {
        let (mut columns, mut at) = (Vec::new(), Vec::new());
        for expectation in &self.expectations {
            at.push(match expectation.quantity {
                Quantity::Impacts
                | Quantity::Events(_)
                | Quantity::First(_)
                | Quantity::Last(_)
                | Quantity::Estimate(_) => None,
                Quantity::Final(c) | Quantity::Min(c) | Quantity::Max(c) | Quantity::Sum(c) | Quantity::Mean(c) => {
                    columns.push(c);
                    Some(columns.len() - 1)
                }
            });
        }
        let of_steps = columns.iter().map(|column| self.is_of_steps(*column)).collect();
        let lacks = |column: &Column| matches!(column, Column::Gap(_) | Column::After(_) | Column::Force { .. });
        let of_contacts = columns.iter().map(lacks).collect();
        Watch {
            actual: vec![0.0; self.expectations.len()],
            before: (self.span.start, Vec::new()),
            start: self.span.start,
            of_steps,
            of_contacts,
            expectations: self.expectations.clone(),
            sampler: self.sampler(&columns),
            at,
            row: Vec::new(),
            impacts: 0,
            seen: vec![(0, f64::NAN, f64::NAN); self.expectations.len()],
        }
    }
}

impl Scene {
    /// Whether a column has no value before the first step: multipliers, and what is computed from them.
    fn is_of_steps(&self, column: Column) -> bool {
        match column {
            Column::Multiplier(_) | Column::After(_) | Column::Force { .. } => true,
            Column::Output(i) => self.outputs.of_steps.get(i) == Some(&true),
            _ => false,
        }
    }
}

impl Watch {
    /// The comparison at the end of a run.
    pub fn outcomes(&self) -> Vec<Outcome> {
        let pairs = self.expectations.iter().zip(&self.actual);
        pairs
            .map(|(expectation, &actual)| Outcome {
                holds: expectation.accepts(actual),
                expectation: expectation.clone(),
                actual,
            })
            .collect()
    }

    /// Sets what is known only after other runs: how far off a figure is, by its name.
    pub fn set_estimates(&mut self, estimate: impl Fn(&str) -> f64) {
        for (expectation, actual) in self.expectations.iter().zip(&mut self.actual) {
            if let Quantity::Estimate(what) = expectation.quantity {
                *actual = estimate(what);
            }
        }
    }

    fn see(&mut self, stepper: &mut dyn Stepper, first: bool) -> Result<(), ModelError> {
        self.sampler.sample(stepper, &mut self.row)?;
        let t = stepper.to().t;
        let (earlier, previous) = (self.before.0, &self.before.1);
        for (k, expectation) in self.expectations.iter().enumerate() {
            let at = self.at[k].unwrap_or(usize::MAX);
            let value = self.row.get(at).copied().unwrap_or(0.0);
            let is_told = |list: &[bool]| list.get(at).copied().unwrap_or(false);
            let lacks = value.is_nan() && is_told(&self.of_contacts) || first && is_told(&self.of_steps);
            if !(value.is_finite() || lacks) {
                return Err(ModelError::Quantity { quantity: expectation.text.as_str().into(), value, t });
            }
            // the smallest and largest of values and none are the values
            let value = if first && is_told(&self.of_steps) { f64::NAN } else { value };
            let actual = &mut self.actual[k];
            *actual = match expectation.quantity {
                Quantity::Impacts => self.impacts as f64,
                Quantity::Events(_) => self.seen[k].0 as f64,
                Quantity::First(_) => self.seen[k].1,
                Quantity::Last(_) => self.seen[k].2,
                Quantity::Estimate(_) => f64::NAN,
                Quantity::Sum(_) | Quantity::Mean(_) if first => 0.0,
                Quantity::Sum(_) => *actual + value,
                Quantity::Mean(_) if t <= earlier => *actual,
                Quantity::Mean(_) => {
                    let old = previous.get(at).copied().filter(|old| !old.is_nan()).unwrap_or(value);
                    let integral = *actual * (earlier - self.start) + 0.5 * (old + value) * (t - earlier);
                    integral / (t - self.start)
                }
                Quantity::Min(_) if !first => actual.min(value),
                Quantity::Max(_) if !first => actual.max(value),
                Quantity::Final(_) | Quantity::Min(_) | Quantity::Max(_) => value,
            };
            if actual.is_infinite() {
                let (quantity, value) = (expectation.text.as_str().into(), *actual);
                return Err(ModelError::Quantity { quantity, value, t });
            }
        }
        self.before.0 = t;
        self.before.1.clone_from(&self.row);
        if first {
            let lacking = self.before.1.iter_mut().zip(&self.of_steps).filter(|(_, of_steps)| **of_steps);
            lacking.for_each(|(x, _)| *x = f64::NAN);
        }
        Ok(())
    }
}

/// Counts an event for the expectations that ask for its name or kind.
fn count(event: &RunEvent, expectations: &[Expectation], seen: &mut [(u64, f64, f64)]) {
    for (expectation, (number, first, last)) in expectations.iter().zip(seen) {
        let (Quantity::Events(name) | Quantity::First(name) | Quantity::Last(name)) = &expectation.quantity else {
            continue;
        };
        if *name == event.name || *name == event.kind {
            *number += 1;
            *first = if first.is_nan() { event.t } else { *first };
            *last = event.t;
        }
    }
}

impl Observer for Watch {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let Watch { sampler, actual, before, impacts, seen, .. } = self;
        (sampler, actual, before).persist(archive)?;
        (impacts, seen).persist(archive)
    }

    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.see(stepper, true)
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.impacts += view.count_impacts();
        view.events().iter().for_each(|event| count(event, &self.expectations, &mut self.seen));
        self.see(view.stepper, false)?;
        Ok(ControlFlow::Continue(()))
    }
}
