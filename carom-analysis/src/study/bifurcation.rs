//! Bifurcation diagrams: what is left of the motion after the transient, over a parameter.
//!
//! Each value of the parameter gives the points of a Poincaré section: the state once per period, or at each impact.
//! Along a chain the motion starts where the last value has left it, so that an attractor is followed; forward and
//! backward chains show where several coexist. Chains run in parallel, and what they give depends on nothing but their
//! own values.

use super::lyapunov::{Frame, shift};
use super::orbit_points::period;
use super::saltation::largest;
use super::{Impact, Motion, Stop, StudyError, exact, parallel};
use carom::sensitivity::Sensitivity;
use carom::{State, Stepper};
use serde::{Deserialize, Serialize};

/// Where points are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Section {
    /// Once per period.
    Stroboscopic,
    /// At each impact: the normal velocity before it.
    Impact,
}

/// In which order the values are run through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the first to the last, each from the final state of the one before.
    Forward,
    /// From the last to the first, each from the final state of the one before.
    Backward,
    /// Each value starts from the initial state.
    Independent,
}

/// What to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where points are taken.
    pub section: Section,
    /// Each of them gives a row for each value.
    pub directions: Vec<Direction>,
    /// Periods before the first point.
    pub transient: usize,
    /// Periods in which points are taken.
    pub recorded: usize,
    /// Size of the perturbation for the largest exponent; none is computed where there is nothing.
    pub epsilon: Option<f64>,
    /// Points closer than this are the same.
    pub tolerance: f64,
    /// Parts into which a chain is cut, each of which starts from the initial state.
    pub segments: usize,
    /// Threads; 0 means 1, and more than there are tasks are not used.
    pub threads: usize,
}

impl Options {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), StudyError> {
        if self.recorded == 0 {
            return Err(StudyError::option("the number of recorded periods", 0, "there would be no point"));
        }
        if self.segments == 0 {
            return Err(StudyError::option("the number of segments", 0, "at least one is needed"));
        }
        if self.directions.is_empty() {
            return Err(StudyError::option("the list of directions", "empty", "at least one is needed"));
        }
        if self.tolerance.is_nan() || self.tolerance < 0.0 {
            return Err(StudyError::option("the tolerance of points", self.tolerance, "it must not be negative"));
        }
        match self.epsilon {
            Some(epsilon) if !(epsilon > 0.0 && epsilon.is_finite()) => {
                Err(StudyError::option("the perturbation", epsilon, "it must be positive and finite"))
            }
            _ => Ok(()),
        }
    }
}

/// Reads a number from a state.
pub type Observe = Box<dyn FnMut(&State) -> f64 + Send>;

/// A model with one value of the parameter.
pub struct Case {
    /// The scheme with the model at its initial state.
    pub stepper: Box<dyn Stepper>,
    /// Period of the section [s].
    pub period: f64,
    /// Longest step [s]; a period is divided into equal ones.
    pub step: f64,
    /// The coordinate of the diagram at a state.
    pub observe: Observe,
    /// Length after which that coordinate repeats itself; zero where it drifts, so that what it gains in a period is
    /// the point.
    pub turn: Option<f64>,
    /// The motion with its derivatives, for the largest exponent by saltation; `Options::epsilon` is not needed then.
    pub motion: Option<Box<Sensitivity>>,
}

/// Makes the model with the value of this number.
pub type MakeCase<'a> = dyn Fn(usize) -> Result<Case, StudyError> + Sync + 'a;

/// The points of one value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Value of the parameter.
    pub parameter: f64,
    /// Direction of its chain.
    pub direction: Direction,
    /// Coordinates of the points in the order of time; with impacts their normal velocities before [m/s].
    #[serde(with = "exact")]
    pub points: Vec<f64>,
    /// Number of points after which they repeat, periods or impacts by the section, up to a quarter of their number;
    /// `None` where they do not.
    pub period: Option<usize>,
    /// Mean number of impacts in a recorded period.
    #[serde(with = "exact")]
    pub impacts_per_period: f64,
    /// How often a contact came to rest in the recorded periods.
    pub sticks: u64,
    /// Largest Lyapunov exponent per unit time; −∞ if the perturbation vanished.
    #[serde(with = "exact")]
    pub exponent: Option<f64>,
    /// Why the value has no points, or not all of them.
    pub failure: Option<String>,
}

impl Row {
    /// A value without points.
    pub fn failed(parameter: f64, direction: Direction, reason: String) -> Row {
        Row {
            parameter,
            direction,
            points: Vec::new(),
            period: None,
            impacts_per_period: f64::NAN,
            sticks: 0,
            exponent: None,
            failure: Some(reason),
        }
    }
}

/// Transient periods of the first value of a chain, in multiples of those of the others.
const FIRST: usize = 4;

/// Rows for all values and directions: those of the first direction in the order of values, then those of the next.
pub fn diagram(
    values: &[f64],
    make: &MakeCase<'_>,
    options: &Options,
    stop: &Stop<'_>,
    tick: &(dyn Fn() + Sync),
) -> Result<Vec<Row>, StudyError> {
    options.check()?;
    if values.is_empty() {
        return Err(StudyError::option("the number of values", 0, "there would be no point"));
    }
    let chains = chains(values.len(), options);
    let run = |task: usize| chain(&chains[task], values, make, options, (stop, tick));
    let rows: Vec<Row> = parallel::map(chains.len(), options.threads, &run).into_iter().flatten().collect();
    if stop() && rows.is_empty() {
        return Err(StudyError::Interrupted);
    }
    Ok(rows)
}

/// A direction, and numbers of values in the order in which they are run through.
pub type Chain = (Direction, Vec<usize>);

/// The chains of so many values: of the first direction from the first value on, then those of the next.
pub fn chains(values: usize, options: &Options) -> Vec<Chain> {
    let mut chains = Vec::new();
    for &direction in &options.directions {
        let segments = if direction == Direction::Independent { values } else { options.segments };
        let length = values.div_ceil(segments.clamp(1, values.max(1))).max(1);
        for first in (0..values).step_by(length) {
            let mut chain: Vec<usize> = (first..(first + length).min(values)).collect();
            if direction == Direction::Backward {
                chain.reverse();
            }
            chains.push((direction, chain));
        }
    }
    chains
}

/// The rows of a chain in the order of the values; fewer where it was stopped.
pub fn chain(
    (direction, chain): &Chain,
    values: &[f64],
    make: &MakeCase<'_>,
    options: &Options,
    (stop, tick): (&Stop<'_>, &(dyn Fn() + Sync)),
) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut state = None;
    for &index in chain {
        if stop() {
            break;
        }
        let (row, end) = one(values[index], *direction, (make, index), options, (state.take(), stop));
        state = end;
        tick();
        // a value that was stopped on its way is none
        if row.failure.is_none() || !stop() {
            rows.push((index, row));
        }
    }
    rows.sort_by_key(|(index, _)| *index);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// One value, from a state or from the initial one. Returns the last state as well.
fn one(
    parameter: f64,
    direction: Direction,
    (make, index): (&MakeCase<'_>, usize),
    options: &Options,
    (state, stop): (Option<State>, &Stop<'_>),
) -> (Row, Option<State>) {
    let mut row = Row { failure: None, ..Row::failed(parameter, direction, String::new()) };
    match fill(&mut row, make(index), options, (state, stop)) {
        Ok(state) => (row, Some(state)),
        Err(error) => {
            row.failure = Some(error.to_string());
            (row, None)
        }
    }
}

fn fill(
    row: &mut Row,
    case: Result<Case, StudyError>,
    options: &Options,
    (state, stop): (Option<State>, &Stop<'_>),
) -> Result<State, StudyError> {
    let Case { stepper, period: length, step, mut observe, turn, motion: derivative } = case?;
    if !(length > 0.0 && length.is_finite()) {
        return Err(StudyError::option("the period", length, "it must be positive and finite"));
    }
    if !(step > 0.0 && step.is_finite()) {
        return Err(StudyError::option("the step", step, "it must be positive and finite"));
    }
    let start = stepper.from().t;
    let steps = (length / step - 1e-9).ceil().max(1.0);
    let mut motion = Motion::new(stepper, length / steps)?;
    let transient = if state.is_some() { options.transient } else { FIRST * options.transient };
    if let Some(mut state) = state {
        // the phase is that of the start
        state.t = start;
        motion.restart(&state);
    }
    for k in 0..transient {
        motion.watched(start + (k + 1) as f64 * length, stop, &mut |_| {})?;
    }
    motion.forget_counts();
    let mut exponent = options.epsilon.map(|epsilon| Growth::new(&mut motion, epsilon));
    let mut impacts = Vec::new();
    let mut before = observe(motion.state());
    for k in 0..options.recorded {
        let end = start + (transient + k + 1) as f64 * length;
        let from = exponent.as_ref().map(|_| motion.state().clone());
        if let Some(from) = &from {
            // trajectories that are compared start alike
            motion.restart(from);
        }
        let mut note = |impact: &Impact| impacts.push(impact.before);
        motion.watched(end, stop, &mut note)?;
        if options.section == Section::Stroboscopic {
            let now = observe(motion.state());
            let point = match turn {
                Some(0.0) => now - before,
                Some(turn) => now - turn * (now / turn).round(),
                None => now,
            };
            before = now;
            if !point.is_finite() {
                return Err(StudyError::NotFinite { what: "the column of the diagram", value: point, t: end });
            }
            row.points.push(point);
        }
        if let (Some(growth), Some(from)) = (&mut exponent, &from) {
            growth.advance(&mut motion, from, end, stop)?;
        }
    }
    let recorded = options.recorded as f64;
    let mut turn = turn.filter(|turn| *turn > 0.0);
    if options.section == Section::Impact {
        (row.points, turn) = (impacts, None);
    }
    let apart = |a: f64, b: f64| turn.map_or(a - b, |turn| (a - b) - turn * ((a - b) / turn).round());
    row.period = period(&row.points, row.points.len() / 4, |a, b| apart(a, b).abs() <= options.tolerance);
    row.impacts_per_period = motion.impacts as f64 / recorded;
    row.sticks = motion.sticks;
    // a contact at rest forgets its past: with one degree of freedom no perturbation is left
    let collapsed = motion.sticks > 0 && motion.state().q.len() == 1;
    row.exponent = exponent.map(|growth| if collapsed { f64::NEG_INFINITY } else { growth.sum / (recorded * length) });
    if let Some(mut derivative) = derivative {
        derivative.restart(motion.state());
        row.exponent = Some(largest(&mut derivative, length, options.recorded, stop)?);
    }
    if let Some(value) = row.exponent.filter(|x| x.is_nan() || *x == f64::INFINITY) {
        return Err(StudyError::NotFinite { what: "the exponent", value, t: motion.state().t });
    }
    Ok(motion.state().clone())
}

/// The growth of one perturbation.
struct Growth {
    frame: Frame,
    epsilon: f64,
    neighbour: State,
    sum: f64,
}

impl Growth {
    fn new(motion: &mut Motion, epsilon: f64) -> Growth {
        let dimension = motion.stepper().dimension();
        Growth { frame: Frame::new(dimension, 1), epsilon, neighbour: motion.state().clone(), sum: 0.0 }
    }

    /// Runs the neighbour over an interval that the motion has just done; leaves it where it was.
    fn advance(&mut self, motion: &mut Motion, from: &State, end: f64, stop: &Stop<'_>) -> Result<(), StudyError> {
        let (reference, counts) = (motion.state().clone(), (motion.impacts, motion.sticks, motion.slowest));
        shift(motion, from, &self.frame.columns[0], self.epsilon, &mut self.neighbour);
        motion.restart(&self.neighbour);
        motion.watched(end, stop, &mut |_| {})?;
        self.frame.set(0, motion, &reference, self.epsilon);
        self.sum += self.frame.orthonormalise()[0];
        motion.restart(&reference);
        (motion.impacts, motion.sticks, motion.slowest) = counts;
        Ok(())
    }
}
