//! Basins of attraction: which initial states lead to which attractor.
//!
//! Each cell of a grid is a run from its initial state. After the transient its states once per period are compared:
//! they repeat after p periods (an attractor of period p), or not (aperiodic). Cells are sorted by attractor in their
//! order, so that numbers do not depend on threads.

use super::{Cyclic, Make, Motion, Stop, StudyError, exact, parallel};
use crate::metric::Metric;
use carom::State;
use serde::{Deserialize, Serialize};

/// What to compute.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Time between two states that are compared [s].
    pub period: f64,
    /// Longest step [s].
    pub step: f64,
    /// Periods before the comparison.
    pub transient: usize,
    /// Longest period that is recognised.
    pub longest: usize,
    /// States closer than this are the same, in each direction in which they can differ.
    pub tolerance: f64,
    /// Runs that leave this distance from the origin have escaped.
    pub escape: f64,
    /// Coordinates in which states are compared up to whole turns, or not at all.
    pub cyclic: Cyclic,
    /// Threads; 0 means 1, and more than there are tasks are not used.
    pub threads: usize,
}

impl Options {
    /// Refuses what makes no sense.
    pub fn check(&self) -> Result<(), StudyError> {
        for (what, value) in [("the period", self.period), ("the step", self.step), ("the tolerance", self.tolerance)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(StudyError::option(what, value, "it must be positive and finite"));
            }
        }
        if self.period < self.step * (1.0 - 1e-9) {
            return Err(StudyError::option("the period", self.period, "it is shorter than a step"));
        }
        // infinite where no run is given up
        if self.escape.is_nan() || self.escape <= 0.0 {
            return Err(StudyError::option("the distance of --escape", self.escape, "it must be positive"));
        }
        if self.longest == 0 {
            return Err(StudyError::option("the longest period", 0, "at least one is needed"));
        }
        Ok(())
    }
}

/// Where a cell leads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// To the attractor of this number.
    Attractor(usize),
    /// Farther from the origin than [`Options::escape`].
    Escaped,
    /// The initial state is behind a wall.
    Outside,
    /// The run ended with this error.
    Failed(String),
}

/// An attractor that was found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attractor {
    /// Number of different states; `None` if they do not repeat.
    pub period: Option<usize>,
    /// Its states once per period, coordinates then velocities.
    pub points: Vec<Vec<f64>>,
    /// Cells that lead to it.
    pub cells: usize,
}

/// Runs whose states repeat but for a coordinate that gains the same each time: an angle that turns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gain {
    /// Number of the coordinate.
    pub coordinate: usize,
    /// Periods after which all else repeats.
    pub periods: usize,
    /// What the coordinate gains meanwhile, in the first of these runs.
    pub gain: f64,
    /// Cells of such runs.
    pub cells: usize,
}

/// All cells, row by row, and the attractors that they lead to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Basins {
    /// Where each cell leads.
    pub fates: Vec<Fate>,
    /// In the order in which cells came to them; [`Fate::Attractor`] counts from 0.
    pub attractors: Vec<Attractor>,
    /// What the aperiodic ones have gained evenly.
    pub gains: Vec<Gain>,
}

/// Runs this many tolerances away from an attractor belong to it.
const SETTLED: f64 = 10.0;

/// What is left of a run: its states once per period, or where it went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rest {
    /// States after the transient, coordinates then velocities.
    Points(#[serde(with = "exact")] Vec<Vec<f64>>),
    /// It came to no attractor.
    Fate(Fate),
}

/// Runs from `initial(cell)`; `width` cells make a row, which is one task.
pub fn basins(
    (cells, width): (usize, usize),
    initial: &(dyn Fn(usize) -> State + Sync),
    make: &Make<'_>,
    options: &Options,
    (stop, tick): (&Stop<'_>, &(dyn Fn() + Sync)),
) -> Result<Basins, StudyError> {
    options.check()?;
    if cells == 0 || width == 0 {
        return Err(StudyError::option("the number of cells", 0, "there would be nothing to see"));
    }
    let task = |task: usize| {
        let range = task * width..((task + 1) * width).min(cells);
        row(range.clone(), initial, make, options, (stop, tick))
            .unwrap_or_else(|error| range.map(|_| Rest::Fate(Fate::Failed(error.to_string()))).collect())
    };
    let runs: Vec<Rest> = parallel::map(cells.div_ceil(width), options.threads, &task).into_iter().flatten().collect();
    if stop() {
        return Err(StudyError::Interrupted);
    }
    Basins::of(runs, make, options)
}

/// The runs of some cells with one stepper.
pub fn row(
    cells: std::ops::Range<usize>,
    initial: &(dyn Fn(usize) -> State + Sync),
    make: &Make<'_>,
    options: &Options,
    (stop, tick): (&Stop<'_>, &(dyn Fn() + Sync)),
) -> Result<Vec<Rest>, StudyError> {
    let steps = (options.period / options.step - 1e-9).ceil().max(1.0);
    let mut motion = Motion::new(make()?, options.period / steps)?;
    let mut run = |cell: usize| {
        if stop() {
            return Err(StudyError::Interrupted);
        }
        let rest = follow(&mut motion, &initial(cell), options, stop);
        tick();
        match rest {
            Err(StudyError::Interrupted) => Err(StudyError::Interrupted),
            rest => Ok(rest.unwrap_or_else(|error| Rest::Fate(Fate::Failed(error.to_string())))),
        }
    };
    cells.map(&mut run).collect()
}

fn follow(motion: &mut Motion, initial: &State, options: &Options, stop: &Stop<'_>) -> Result<Rest, StudyError> {
    motion.restart(initial);
    let coupling = motion.coupling()?;
    if coupling.pairs.iter().any(|pair| pair.law.is_contact() && pair.gap < 0.0) {
        return Ok(Rest::Fate(Fate::Outside));
    }
    let mut points = Vec::with_capacity(2 * options.longest);
    for k in 0..options.transient + 2 * options.longest {
        motion.watched(initial.t + (k + 1) as f64 * options.period, stop, &mut |_| {})?;
        let state = motion.state();
        let mut point: Vec<f64> = state.q.iter().chain(&state.v).copied().collect();
        options.cyclic.reduce(&mut point);
        if point.iter().any(|x| x.abs() > options.escape) {
            return Ok(Rest::Fate(Fate::Escaped));
        }
        if k >= options.transient {
            points.push(point);
        }
    }
    Ok(Rest::Points(points))
}

/// Whether states are the same within some tolerances, as the model measures distances.
struct Same<'a> {
    metric: Metric<'a>,
    options: &'a Options,
}

impl Same<'_> {
    fn same(&mut self, a: &[f64], b: &[f64], tolerances: f64) -> bool {
        let most = tolerances * self.options.tolerance;
        self.metric.difference(a, b, &self.options.cyclic).iter().all(|d| d.abs() <= most)
    }

    /// Number of different states of a run.
    fn period(&mut self, points: &[Vec<f64>]) -> Option<usize> {
        let longest = self.options.longest.min(points.len() / 2);
        (1..=longest).find(|&p| points.iter().zip(&points[p..]).all(|(a, b)| self.same(a, b, 1.0)))
    }

    /// After how many periods the states of a run repeat but for coordinates that gain the same each time, with these.
    fn gains(&mut self, points: &[Vec<f64>]) -> Option<(usize, Vec<(usize, f64)>)> {
        let (tolerance, positions) = (self.options.tolerance, self.metric.positions());
        // directions are coordinates where there are as many
        if self.metric.coordinates() != positions {
            return None;
        }
        let longest = self.options.longest.min(points.len() / 2);
        (1..=longest).find_map(|p| {
            let first = self.metric.difference(&points[0], points.get(p)?, &self.options.cyclic).to_vec();
            let mut pairs = points.iter().zip(&points[p..]);
            let is_even = pairs.all(|(a, b)| {
                let now = self.metric.difference(a, b, &self.options.cyclic);
                now.iter().zip(&first).all(|(a, b)| (a - b).abs() <= tolerance)
            });
            let gains: Vec<_> = first.into_iter().enumerate().filter(|(_, gain)| gain.abs() > tolerance).collect();
            (is_even && gains.iter().all(|(i, _)| *i < positions)).then_some((p, gains))
        })
    }

    /// Whether all states of a run are states of a periodic attractor, as far as the run has settled.
    fn is_orbit(&mut self, attractor: &Attractor, points: &[Vec<f64>]) -> bool {
        attractor.points.len() <= self.options.longest
            && points.iter().all(|x| attractor.points.iter().any(|point| self.same(point, x, SETTLED)))
    }
}

impl Basins {
    /// Sorts all cells by attractor, in their order. Where there is something to compare, the model of a new stepper
    /// measures distances.
    pub fn of(runs: Vec<Rest>, make: &Make<'_>, options: &Options) -> Result<Basins, StudyError> {
        let mut basins = Basins { fates: Vec::new(), attractors: Vec::new(), gains: Vec::new() };
        let stepper = runs.iter().any(|rest| matches!(rest, Rest::Points(_))).then(make).transpose()?;
        let mut same = stepper.as_deref().map(|stepper| Same { metric: Metric::new(stepper), options });
        for rest in runs {
            let fate = match (rest, &mut same) {
                (Rest::Fate(fate), _) => fate,
                (Rest::Points(points), Some(same)) => Fate::Attractor(basins.sort(points, same)),
                (Rest::Points(_), None) => continue,
            };
            basins.fates.push(fate);
        }
        Ok(basins)
    }

    /// Counts a run in which these coordinates gain evenly.
    fn note(&mut self, periods: usize, gains: Vec<(usize, f64)>) {
        for (coordinate, gain) in gains {
            match self.gains.iter_mut().find(|known| known.coordinate == coordinate) {
                Some(known) => known.cells += 1,
                None => self.gains.push(Gain { coordinate, periods, gain, cells: 1 }),
            }
        }
    }

    /// The number of the attractor with these points; a new one where it is not known.
    fn sort(&mut self, mut points: Vec<Vec<f64>>, same: &mut Same<'_>) -> usize {
        let period = same.period(&points);
        if period.is_none()
            && let Some((periods, gains)) = same.gains(&points)
        {
            self.note(periods, gains);
        }
        let known = self.attractors.iter().position(|attractor| match (attractor.period, period) {
            (None, None) => true,
            _ => same.is_orbit(attractor, &points),
        });
        points.truncate(period.unwrap_or(points.len()));
        let number = known.unwrap_or_else(|| {
            self.attractors.push(Attractor { period, points: points.clone(), cells: 0 });
            self.attractors.len() - 1
        });
        // runs that have not settled yet may seem to have a multiple of the period
        let attractor = &mut self.attractors[number];
        if period.is_some() && attractor.period.is_none_or(|known| period < Some(known)) {
            (attractor.period, attractor.points) = (period, points);
        }
        self.attractors[number].cells += 1;
        number
    }
}
