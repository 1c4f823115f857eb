//! What a step of the corrected Paoli-Schatzman scheme was made of, kept for its derivative; equation numbers are those
//! of the scheme.

use super::{CorrectedPaoli, Found, Work};
use crate::State;
use crate::balance::words::impulse;
use crate::balance::{Acting, Level, Place};

/// What gives the time of an impact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Root {
    /// Nothing: the impact is at the start of the flight.
    #[default]
    Start,
    /// The quadratic of this law.
    Quadratic(usize),
    /// The quadratic of this law, from the wall.
    Wall(usize),
    /// The gap of this law along (5), on which the root was polished.
    Gap(usize),
}

/// A flight, and the impact that ended it.
#[derive(Default)]
pub(super) struct Part {
    pub start: State,
    pub ahead: Vec<f64>, // (n) v̂
    pub length: f64,
    pub share: f64, // of what was left of the step
    pub held: Vec<Acting>,
    pub impact: Option<(f64, Root)>, // s
    pub struck: Vec<Acting>,
    pub after: Vec<f64>, // (n) v⁺
}

/// The parts of a step, on buffers that are reused.
#[derive(Default)]
pub(super) struct Log {
    parts: Vec<Part>,
    used: usize,
    /// Whether another scheme has done the rest of the step.
    pub handed_over: bool,
}

impl Log {
    pub(super) fn parts(&self) -> &[Part] {
        &self.parts[..self.used]
    }
}

impl Work {
    pub(super) fn start_log(&mut self) {
        if let Some(log) = &mut self.log {
            (log.used, log.handed_over) = (0, false);
        }
    }

    pub(super) fn log_hand_over(&mut self) {
        if let Some(log) = &mut self.log {
            log.handed_over = true;
        }
    }

    /// A flight that has been solved; it counts once its end is known.
    pub(super) fn log_flight(&mut self, length: f64, share: f64) {
        let Some(log) = &mut self.log else { return };
        if log.used == log.parts.len() {
            log.parts.push(Part::default());
        }
        let part = &mut log.parts[log.used];
        part.start.copy_from(&self.state);
        part.ahead.clone_from(&self.ahead.v);
        (part.length, part.share, part.impact) = (length, share, None);
        part.held.clear();
        part.struck.clear();
        part.held.extend(self.laws.acting(&self.newton, |_| Level::Velocity(None)));
    }

    /// The flight went to its end.
    pub(super) fn log_end(&mut self) {
        if let Some(log) = &mut self.log {
            log.used += 1;
        }
    }
}

impl CorrectedPaoli {
    /// The impact at `s`, after which the state is the one behind it.
    pub(super) fn log_impact(&self, w: &mut Work, s: f64, length: f64) {
        if w.log.is_none() {
            return;
        }
        let root = if s > 0.0 { self.root_of(w, s, length) } else { Root::Start };
        let Some(log) = &mut w.log else { return };
        let part = &mut log.parts[log.used];
        part.impact = Some((s, root));
        part.after.clone_from(&w.state.v);
        let (problem, mut first) = (&w.laws.problem, 0);
        for &index in &w.laws.active {
            let pair = w.touch.pairs[index];
            let rows = first..first + pair.law.size();
            let impulse = impulse(problem.z.lambda.get(rows).unwrap_or(&[]));
            let rebounds = problem.b[first] != w.before[w.touch.offset[index]];
            let level = Level::Velocity(rebounds.then_some(pair.restitution));
            let (input, output) = (Place::START, Place::START);
            part.struck.push(Acting { index, law: pair.law, impulse, level, input, output, slope: None });
            first += pair.law.size();
        }
        log.used += 1;
    }

    /// What has given the time `s` of the impact that is in `touch`: a quadratic, unless its root was polished.
    fn root_of(&self, w: &Work, s: f64, length: f64) -> Root {
        let free = w.paths.iter().enumerate().filter(|(_, path)| path.is_free());
        let roots = free.filter_map(|(i, path)| match self.root(path, length) {
            Found::Impact(s) => Some((i, s)),
            Found::Nothing | Found::NoRoot => None,
        });
        let first = roots.min_by(|a, b| a.1.total_cmp(&b.1));
        if w.newton.constancy.rows || first.is_some_and(|(_, root)| root == s) {
            return match first {
                Some((i, _)) if w.paths[i].gap <= w.paths[i].activation => Root::Wall(i),
                Some((i, _)) => Root::Quadratic(i),
                None => Root::Start,
            };
        }
        let contacts = w.touch.pairs.iter().enumerate().filter_map(|(i, pair)| {
            let velocity = w.before[w.touch.offset[i]];
            let counts = pair.law.is_contact() && w.touch.is_present(i) && !w.paths[i].held;
            (counts && velocity < 0.0).then_some((i, pair.gap / -velocity))
        });
        contacts.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(Root::Start, |(i, _)| Root::Gap(i))
    }
}
