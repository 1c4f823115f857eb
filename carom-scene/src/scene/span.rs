//! The time span and the step.

use super::context::Context;
use super::{Amount, Overrides};
use crate::diagnostic::{Place, SourceText};
use crate::file::{Content, Formula, SimulationTable};

/// Most steps of a run.
const STEP_LIMIT: f64 = 1e12;

/// First step of adaptive runs, relative to the span, where none is given.
const FIRST_STEP: f64 = 1e-3;

/// Start, end and step of a run [s]; with adaptive steps the first one.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TimeSpan {
    /// Time of the initial state [s].
    pub start: f64,
    /// Time at which the run ends [s].
    pub end: f64,
    /// Size of the steps, or of the first one [s].
    pub step: f64,
}

impl TimeSpan {
    /// Number of steps; the last one may be shorter.
    pub fn steps(&self) -> u64 {
        // a remainder below 1e-9 of a step belongs to the step before
        ((self.end - self.start) / self.step - 1e-9).ceil().max(0.0) as u64
    }
}

/// A number of the command line with its place.
fn option(name: &str, value: &Amount) -> Formula {
    let (text, content) = match value {
        Amount::Number(value) => (format!("{value:?}"), Content::Number(*value)),
        Amount::Text(text) => (text.clone(), Content::Expression(text.clone())),
    };
    let place = Place { span: 0..text.len(), source: SourceText::new(name, text), field: name.into() };
    Formula::new(content, place, Some(0))
}

/// Reads the span; numbers from outside replace those of the file.
pub(super) fn read(
    table: &SimulationTable,
    adaptive: bool,
    overrides: &Overrides,
    context: &mut Context,
) -> Option<TimeSpan> {
    let start = match &table.start {
        Some(formula) => context.number(formula),
        None => Some(0.0),
    };
    let end_formula = overrides.end.map(|end| option("--end", &end.into())).unwrap_or_else(|| table.end.clone());
    let end = finite(&end_formula, context);
    let given = (
        overrides.step.as_ref().map(|h| option("--step", h)),
        overrides.steps.map(|n| option("--steps", &(n as f64).into())),
    );
    let (step, steps) =
        if given.0.is_some() || given.1.is_some() { given } else { (table.step.clone(), table.steps.clone()) };
    let size = match (&step, &steps) {
        (Some(step), None) => Some((step, finite(step, context), false)),
        (None, Some(steps)) => Some((steps, finite(steps, context), true)),
        (Some(_), Some(steps)) => {
            context.out.error(&steps.place, "give either `step` or `steps`, not both");
            None
        }
        // the control finds its step
        (None, None) if adaptive => None,
        (None, None) => {
            context
                .out
                .error(&table.place, "the size of steps is missing")
                .hint("add step = 1e-3 (a size) or steps = 1000 (a number of equal steps)");
            None
        }
    };
    let (start, end) = (start?, end?);
    if end <= start {
        context.out.error(&end_formula.place, format!("the end {end} is not after the start {start}"));
        return None;
    }
    if adaptive && step.is_none() && steps.is_none() {
        return Some(TimeSpan { start, end, step: FIRST_STEP * (end - start) });
    }
    let (formula, value, counted) = size?;
    let value = value?;
    let step = if counted { count(formula, value, end - start, context)? } else { value };
    check_step(formula, TimeSpan { start, end, step }, context)
}

/// Most rows between the steps.
const ROW_LIMIT: f64 = 1e9;

/// The time between rows that are recorded besides the steps; `None` if it makes no sense.
pub(super) fn output(
    table: &SimulationTable,
    span: Option<&TimeSpan>,
    overrides: &Overrides,
    context: &mut Context,
) -> Option<Option<f64>> {
    let given = overrides.output.as_ref().map(|output| option("--output", output));
    let Some(formula) = given.or_else(|| table.output.clone()) else { return Some(None) };
    let output = finite(&formula, context)?;
    let span = span?;
    let rows = (span.end - span.start) / output;
    if output <= 0.0 {
        context.out.error(&formula.place, format!("the time {output} between rows is not positive"));
    } else if rows > ROW_LIMIT {
        context.out.error(&formula.place, format!("{rows:.3e} rows are too many; the limit is {ROW_LIMIT:e}"));
    } else {
        return Some(Some(output));
    }
    None
}

fn finite(formula: &Formula, context: &mut Context) -> Option<f64> {
    let value = context.number(formula)?;
    if !value.is_finite() {
        context.out.error(&formula.place, format!("{value} is not a finite number"));
        return None;
    }
    Some(value)
}

/// The size of steps from their number.
fn count(formula: &Formula, steps: f64, span: f64, context: &mut Context) -> Option<f64> {
    if !(steps >= 1.0 && steps.fract() == 0.0) {
        let message = format!("the number of steps is {steps}, not a whole number from 1 on");
        context.out.error(&formula.place, message).hint("the size of a step is `step`");
        return None;
    }
    Some(span / steps)
}

fn check_step(formula: &Formula, span: TimeSpan, context: &mut Context) -> Option<TimeSpan> {
    let TimeSpan { start, end, step } = span;
    let count = (end - start) / step;
    if step <= 0.0 || !step.is_finite() {
        context.out.error(&formula.place, format!("the step {step} is not positive and finite"));
    } else if count > STEP_LIMIT {
        context.out.error(&formula.place, format!("{count:.3e} steps are too many; the limit is {STEP_LIMIT:e}"));
    } else if start + step <= start || end - step >= end {
        let message = format!("the step {step} is too small to change the time between {start} and {end}");
        context.out.error(&formula.place, message);
    } else {
        return Some(span);
    }
    None
}
