//! Rows inside a step: as many as it takes to draw the motion, or those of a grid; before and after impacts and events.
//!
//! A chord between two rows is checked in its middle and in its quarters against the interpolant of the scheme: it is
//! halved where a column that is drawn as a line is farther away than [`TOLERANCE`] of the range that it has had so
//! far. A step, or what lies between two events in it, has at most 2^[`DEPTH`] − 1 such rows. They belong to schemes
//! that choose their steps ([`Motion::Sampled`], [`Motion::Dense`]); equal steps are as short as the user wants them.
//!
//! A capturing scheme knows the velocities at the ends of the step in which a contact closes: the row before the impact
//! has those of its start and the positions of its end.

use super::column::Candidate;
use super::table::Cell;
use super::trajectory::{RowKind, Trajectory};
use super::{RecordOptions, ResultError};
use carom::State;
use carom::scheme::{Motion, Stepper};
use carom::simulation::{Column, ColumnKind, SWITCH, StepView, USER};
use carom_solve::{Archive, ArchiveError, Persist};

/// Largest distance of a chord from the motion, as a part of the range that the column has had so far.
pub const TOLERANCE: f64 = 1e-3;

/// How often a step is halved at most.
pub const DEPTH: usize = 6;

/// Differences below these parts of the largest value of a column, and of all columns that it is made of, are rounding.
const ROUNDING: (f64, f64) = (1e-9, 1e-12);

/// Which rows there are inside steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sampling {
    /// As many as it takes to draw the motion, where the scheme chooses its steps and every step is recorded.
    #[default]
    Auto,
    /// At multiples of this time after the start [s].
    Grid(f64),
}

/// Finds the rows inside steps.
#[derive(Default)]
pub(super) struct Rows {
    sampling: Option<Sampling>,
    start: f64,
    /// Columns that are drawn as lines.
    lines: Vec<Line>,
    /// Largest values by [`Size`].
    largest: [f64; 4],
    /// States inside the step: both ends, one for each depth, and a spare one.
    samples: Vec<Sample>,
    /// Instants of events in the step; entries beyond `marked` are buffers.
    marks: Vec<Mark>,
    marked: usize,
}

/// States before and after an instant, and whether they are those of the scheme itself.
#[derive(Default)]
struct Mark {
    before: State,
    after: State,
    is_located: bool,
}

/// A column by its place in a row, with what its rounding is relative to, and its smallest and largest values so far.
struct Line {
    place: usize,
    size: Size,
    range: (f64, f64),
}

/// Columns of one kind of size: a gap that is closed is rounding beside positions.
#[derive(Clone, Copy)]
enum Size {
    Position,
    Velocity,
    Energy,
    /// Whatever the user computes from positions and velocities.
    Output,
}

#[derive(Clone, Default)]
struct Sample {
    state: State,
    cells: Vec<Cell<'static>>,
}

/// Places in `samples`.
const ENDS: (usize, usize) = (0, 1);
const SPARE: usize = 2;
const FIRST: usize = 3;

/// What the rows so far have met; samples and marks are those of one step.
impl Persist for Rows {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        for Line { range, .. } in &mut self.lines {
            range.persist(archive)?;
        }
        self.largest.persist(archive)
    }
}

impl Rows {
    pub fn new(options: &RecordOptions, stepper: &dyn Stepper, columns: &[Candidate]) -> Rows {
        let sampling = match options.sampling {
            // states of first-order models go along lines
            Sampling::Auto => (stepper.motion() != Motion::Steps && options.every <= 1 && !stepper.from().v.is_empty())
                .then_some(Sampling::Auto),
            Sampling::Grid(step) => Some(Sampling::Grid(step)).filter(|_| step > 0.0 && step.is_finite()),
        };
        let line = |(i, column): (usize, &Candidate)| {
            let size = match column.column {
                _ if column.kind != ColumnKind::Line => return None,
                Column::Position(_) | Column::Gap(_) => Size::Position,
                Column::Velocity(_) => Size::Velocity,
                Column::Kinetic | Column::Potential | Column::Total => Size::Energy,
                Column::Output(_) => Size::Output,
                // known of whole steps
                _ => return None,
            };
            // behind the time stands `row`
            Some(Line { place: i + 1, size, range: (f64::INFINITY, f64::NEG_INFINITY) })
        };
        let lines = columns.iter().enumerate().filter_map(line).collect();
        Rows {
            sampling,
            start: stepper.from().t,
            lines,
            largest: [0.0; 4],
            samples: vec![Sample::default(); FIRST + DEPTH],
            marks: Vec::new(),
            marked: 0,
        }
    }

    /// Whether a step has no rows inside.
    pub fn sees_nothing(&self, view: &mut StepView<'_>) -> bool {
        self.sampling.is_none() && view.impacts().next().is_none() && view.events().is_empty()
    }

    /// Writes the rows inside a step; whether its end is just after an impact or an event.
    pub fn inside(&mut self, out: &mut Trajectory, view: &mut StepView<'_>) -> Result<bool, ResultError> {
        self.mark(view);
        let impact = !view.from().v.is_empty() && view.impacts().next().is_some();
        let (from, to) = (view.from().t, view.to().t);
        // a captured impact is somewhere in the step: what lies between its ends is not known
        let captured = impact && view.impacts().any(|acting| acting.located.is_none());
        let mut last = 0.0;
        let mut at_end = None;
        for k in 0..self.marked {
            let t = self.marks[k].after.t;
            if t >= to {
                at_end = Some(k);
                break;
            }
            let s = (t - from) / (to - from);
            self.sample(out, view, (last, s), captured)?;
            last = s;
            for kind in [RowKind::Before, RowKind::After] {
                let (mark, sample) = (&self.marks[k], &mut self.samples[SPARE]);
                sample.state.copy_from(if kind == RowKind::Before { &mark.before } else { &mark.after });
                sample.state.t = t;
                if captured && !mark.is_located {
                    // the jump is at the end
                    sample.state.v.copy_from_slice(&view.from().v);
                }
                out.inside(view.stepper, &sample.state, kind, &mut sample.cells)?;
                out.write_inside(&sample.cells)?;
            }
        }
        if to > from {
            self.sample(out, view, (last, 1.0), captured)?;
        }
        if at_end.is_none() && !captured {
            return Ok(false);
        }
        let sample = &mut self.samples[SPARE];
        match at_end.filter(|k| !captured || self.marks[*k].is_located) {
            Some(k) => sample.state.copy_from(&self.marks[k].before),
            None => {
                sample.state.copy_from(view.to());
                sample.state.v.copy_from_slice(&view.from().v);
            }
        }
        sample.state.t = to;
        out.inside(view.stepper, &sample.state, RowKind::Before, &mut sample.cells)?;
        out.write_inside(&sample.cells)?;
        Ok(true)
    }

    /// Copies the instants of events out of the step; those of one instant are one.
    fn mark(&mut self, view: &mut StepView<'_>) {
        self.marked = 0;
        let from = view.from().t;
        // relays jump in their multipliers alone, which hold over a step
        for event in view.events().iter().filter(|event| event.kind != SWITCH && event.t >= from) {
            let is_new = self.marked == 0 || self.marks[self.marked - 1].after.t < event.t;
            if is_new {
                if self.marks.len() == self.marked {
                    self.marks.push(Mark::default());
                }
                self.marks[self.marked].is_located = false;
                self.marked += 1;
            }
            let mark = &mut self.marks[self.marked - 1];
            let is_located = event.kind != USER;
            if is_new || is_located && !mark.is_located {
                mark.before.copy_from(&event.before);
            }
            if is_new || is_located || !mark.is_located {
                mark.after.copy_from(&event.after);
                mark.after.t = event.t;
            }
            mark.is_located |= is_located;
        }
    }

    /// Writes the rows between two parts of the step.
    fn sample(
        &mut self,
        out: &mut Trajectory,
        view: &mut StepView<'_>,
        (a, b): (f64, f64),
        captured: bool,
    ) -> Result<(), ResultError> {
        match self.sampling {
            None => Ok(()),
            Some(Sampling::Auto) if captured => Ok(()),
            Some(Sampling::Auto) => {
                self.samples[ENDS.0].cells.clear();
                self.samples[ENDS.0].cells.extend_from_slice(out.latest());
                self.evaluate(out, view, b, ENDS.1)?;
                self.meet(ENDS.0);
                self.meet(ENDS.1);
                self.refine(out, view, ((a, ENDS.0), (b, ENDS.1)), 0)
            }
            Some(Sampling::Grid(step)) => {
                let (from, h) = (view.from().t, view.to().t - view.from().t);
                let inside = |t: f64| (t - (from + a * h)) > 1e-9 * step && (from + b * h - t) > 1e-9 * step;
                let mut k = ((from + a * h - self.start) / step).floor();
                while self.start + k * step < from + b * h {
                    let t = self.start + k * step;
                    if inside(t) {
                        self.evaluate(out, view, (t - from) / h, SPARE)?;
                        let sample = &mut self.samples[SPARE];
                        sample.state.t = t;
                        if captured {
                            // the jump is at the end
                            sample.state.v.copy_from_slice(&view.from().v);
                        }
                        out.inside(view.stepper, &sample.state, RowKind::Output, &mut sample.cells)?;
                        out.write_inside(&sample.cells)?;
                    }
                    k += 1.0;
                }
                Ok(())
            }
        }
    }

    /// The row at the part `s` of the step.
    fn evaluate(
        &mut self,
        out: &mut Trajectory,
        view: &mut StepView<'_>,
        s: f64,
        at: usize,
    ) -> Result<(), ResultError> {
        let Sample { state, cells } = &mut self.samples[at];
        view.stepper.interpolate(s, state);
        out.inside(view.stepper, state, RowKind::Output, cells)
    }

    /// Writes rows between two parts of the step, whose rows are known, until chords lie on the motion.
    fn refine(
        &mut self,
        out: &mut Trajectory,
        view: &mut StepView<'_>,
        (a, b): ((f64, usize), (f64, usize)),
        depth: usize,
    ) -> Result<(), ResultError> {
        if depth >= DEPTH {
            return Ok(());
        }
        let (middle, at) = (0.5 * (a.0 + b.0), FIRST + depth);
        self.evaluate(out, view, middle, at)?;
        self.meet(at);
        let mut strays = self.strays((a.1, b.1), at, 0.5);
        for part in [0.25, 0.75] {
            // what bends one way and then the other crosses its chord in the middle
            if !strays {
                self.evaluate(out, view, a.0 + part * (b.0 - a.0), SPARE)?;
                self.meet(SPARE);
                strays = self.strays((a.1, b.1), SPARE, part);
            }
        }
        if strays {
            self.refine(out, view, (a, (middle, at)), depth + 1)?;
            out.write_inside(&self.samples[at].cells)?;
            self.refine(out, view, ((middle, at), b), depth + 1)?;
        }
        Ok(())
    }

    /// Widens the ranges.
    fn meet(&mut self, at: usize) {
        for line in &mut self.lines {
            if let Cell::Real(x) = self.samples[at].cells[line.place] {
                line.range = (line.range.0.min(x), line.range.1.max(x));
                let largest = &mut self.largest[line.size as usize];
                *largest = largest.max(x.abs());
            }
        }
    }

    /// Whether a row at the part `part` of a chord is too far from it.
    fn strays(&self, ends: (usize, usize), at: usize, part: f64) -> bool {
        let cell = |at: usize, place: usize| match self.samples[at].cells[place] {
            Cell::Real(x) => Some(x),
            _ => None,
        };
        self.lines.iter().any(|line| {
            let (Some(a), Some(b), Some(x)) =
                (cell(ends.0, line.place), cell(ends.1, line.place), cell(at, line.place))
            else {
                return false;
            };
            let (low, high) = line.range;
            let own = ROUNDING.0 * low.abs().max(high.abs());
            let largest = match line.size {
                Size::Output => self.largest.iter().fold(0.0, |most: f64, x| most.max(*x)),
                size => self.largest[size as usize],
            };
            let bound = (TOLERANCE * (high - low)).max(own).max(ROUNDING.1 * largest);
            (x - (a + part * (b - a))).abs() > bound
        })
    }
}
