//! Impacts of the corrected Paoli-Schatzman scheme, equations (5) and (6) there.

use super::{CorrectedPaoli, ImpactTime, Work};
use crate::balance::VelocityLaws;
use crate::model::Combination;
use crate::scheme::{EventKind, Step, StepError, System};
use crate::{Mechanical, WarningKind};

/// Most evaluations of the gap along the path (5), where rows are not constant: bisections to rounding, at worst.
const POLISH: u32 = 100;

/// An impact where no gap is closed.
pub const OPEN: WarningKind = WarningKind {
    name: "open-impact",
    message: "an impact was taken at an open gap: along the path of the printed variant it does not close",
    unit: "of the lengths behind the gap",
    hint: "take a smaller step, or `variant = \"consistent\"`",
};

impl CorrectedPaoli {
    /// Moves the state along (5) to the impact at `s`, which is polished on the true gap. Returns the time of the
    /// impact; none where no gap closes along (5) and none is negative at the end of the flight.
    pub(super) fn move_to_impact(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        s: f64,
        h: f64,
    ) -> Result<Option<f64>, StepError> {
        let mut s = s;
        // (5) with the coupling there
        self.place(w, model, s, h)?;
        if !w.newton.constancy.rows && s > 0.0 {
            let closes = self.polish(w, model, &mut s, h)?;
            let is_open = !w.paths.iter().any(|path| path.is_free() && path.ahead < 0.0);
            if !closes && is_open {
                return Ok(None);
            }
            if !closes && let Some((i, gap, _)) = Self::nearest(w) {
                let part = gap / w.lengths.met(&w.touch, i);
                w.warnings.raise(&OPEN, w.touching.t, Some(w.touch.pairs[i].key), part);
            }
        }
        w.book_flight(s / h);
        std::mem::swap(&mut w.state, &mut w.touching);
        Ok(Some(s))
    }

    /// Newton's steps on the gap along (5) from `s`, between a time at which no gap is closed and one at which one is.
    /// Returns whether a gap vanishes at the `s` that is left.
    fn polish(&self, w: &mut Work, model: &mut dyn Mechanical, s: &mut f64, h: f64) -> Result<bool, StepError> {
        let (mut open, mut closed) = (0.0, None);
        for _ in 0..POLISH {
            let nearest = Self::nearest(w);
            match (Self::is_beyond(w), nearest) {
                (false, Some((i, gap, _))) if gap <= 0.1 * w.paths[i].activation => return Ok(true),
                (true, _) => closed = Some(*s),
                (false, _) => open = *s,
            }
            let last = closed.unwrap_or(h);
            if last - open <= 4.0 * f64::EPSILON * h {
                break;
            }
            let newton = nearest.map_or(f64::NAN, |(_, gap, velocity)| *s - gap / velocity);
            *s = if newton > open && newton < last {
                newton
            } else if closed.is_none() && open < h {
                // the end has not been looked at
                h
            } else {
                0.5 * (open + last)
            };
            self.place(w, model, *s, h)?;
        }
        // between two neighbours the gap changes its sign
        Ok(closed.is_some())
    }

    /// Whether a contact that was open, or approaches, has passed its obstacle.
    fn is_beyond(w: &Work) -> bool {
        w.paths.iter().enumerate().any(|(i, path)| {
            let counts = path.is_free() && w.touch.is_present(i);
            let comes = path.gap > path.activation || w.before[w.touch.offset[i]] < 0.0;
            counts && comes && w.touch.pairs[i].gap < -0.1 * path.activation
        })
    }

    /// (5) at `s`, left in `touching`, with its coupling in `touch` and velocities in `before`.
    fn place(&self, w: &mut Work, model: &mut dyn Mechanical, s: f64, h: f64) -> Result<(), StepError> {
        let Work { state, ahead, touching, touch, before, laws, newton, .. } = w;
        let increment = &mut newton.increment;
        let columns = touching.v.iter_mut().zip(increment.iter_mut()).zip(state.v.iter().zip(&ahead.v));
        for ((v, d), (a, b)) in columns {
            let slope = if self.variant == ImpactTime::Printed { 0.5 * (a + b) } else { *a };
            let bend = (b - a) / h;
            *d = s * (slope + 0.5 * s * bend);
            *v = slope + s * bend;
        }
        model.retract(&state.q, increment, &mut touching.q);
        touching.t = state.t + s;
        if s == 0.0 {
            touching.v.copy_from_slice(&state.v);
        }
        touch.fill(model, (touching.t, &touching.q), newton.constancy.rows, &laws.list)?;
        touch.velocity(&touching.v, before);
        Ok(())
    }

    /// The approaching contact that is nearest to closing, or deepest: its place, gap and velocity.
    fn nearest(w: &Work) -> Option<(usize, f64, f64)> {
        let approaching = w.touch.pairs.iter().enumerate().filter_map(|(i, pair)| {
            let velocity = w.before[w.touch.offset[i]];
            let counts = pair.law.is_contact() && w.touch.is_present(i) && !w.paths[i].held;
            (counts && velocity < 0.0).then_some((i, pair.gap, velocity))
        });
        approaching.min_by(|a, b| (a.1 / -a.2).total_cmp(&(b.1 / -b.2)))
    }

    /// (6) for all that touch at the state, which is where `touch` was filled; `h` is the length of the flight that led
    /// there.
    pub(super) fn impact(
        &self,
        w: &mut Work,
        system: &mut System<'_, dyn Mechanical>,
        h: f64,
        step: &mut Step,
    ) -> Result<(), StepError> {
        let System { model, solver } = system;
        w.newton.invalidate();
        model.factor(&w.state, Combination::MASS)?;
        self.lay_out(w, h);
        let VelocityLaws { problem, active, list, .. } = &mut w.laws;
        if active.is_empty() {
            return Ok(());
        }
        problem.solve((&**model, &mut **solver), false, step, |law| Some(list[*active.get(law)?]))?;
        w.struck.copy_from(&w.state);
        for (v, dv) in w.state.v.iter_mut().zip(&w.laws.problem.z.response) {
            *v += dv;
        }
        w.touch.velocity(&w.state.v, &mut w.after);
        Self::note(w);
        Self::book(w);
        Ok(())
    }

    /// Laws, rows and b of (6).
    fn lay_out(&self, w: &mut Work, h: f64) {
        let Work { touch, before, paths, laws: VelocityLaws { active, problem, .. }, state, .. } = &mut *w;
        active.clear();
        problem.clear(state.v.len());
        problem.b.clear();
        // the first to close counts as touching, wherever rounding leaves it
        let least = |(i, pair): (usize, &crate::Pair)| {
            let approaches = pair.law.is_contact() && before[touch.offset[i]] < 0.0;
            approaches.then_some(touch.gap(i))
        };
        let first = touch.pairs.iter().enumerate().filter_map(least).fold(f64::INFINITY, f64::min);
        for (i, pair) in touch.pairs.iter().enumerate() {
            let path = paths[i];
            let closed = || path.held || touch.gap(i) <= path.activation.max(first);
            let takes_part = pair.law.is_equality() || pair.law.is_contact() && closed();
            if !takes_part {
                continue;
            }
            active.push(i);
            problem.laws.push(pair.law);
            for row in touch.range(i) {
                let approach = before[row].min(0.0);
                let pull = (-path.bend).max(0.0);
                let rebounds = -2.0 * pair.restitution * approach > self.stick * h * pull;
                let restitution = if row == touch.offset[i] && rebounds { pair.restitution * approach } else { 0.0 };
                problem.output.push_row_of(&touch.rows, row);
                problem.input.push_row_of(&touch.rows, row);
                problem.b.push(before[row] + restitution);
            }
        }
        problem.z.reset(problem.b.len());
    }

    /// An event for each contact with an impulse.
    fn note(w: &mut Work) {
        let mut row = 0;
        for &i in &w.laws.active {
            let pair = &w.touch.pairs[i];
            if pair.law.is_contact() && w.laws.problem.z.lambda[row] > 0.0 {
                w.events.push(EventKind::Impact, Some(pair.key), &w.struck, &w.state);
            }
            row += pair.law.size();
        }
    }

    /// Impulses and velocities of the laws that took part.
    fn book(w: &mut Work) {
        let mut k = 0;
        for &i in &w.laws.active {
            let struck = w.laws.problem.z.lambda[k] > 0.0;
            for row in w.touch.range(i) {
                let (p, mean) = (w.laws.problem.z.lambda[k], 0.5 * (w.before[row] + w.after[row]));
                if struck {
                    w.reactions.before[row] = w.before[row];
                }
                w.reactions.after[row] = w.after[row];
                w.reactions.impulse[row] += p;
                w.reactions.work[row] += p * mean;
                w.driven[row] += p * w.touch.drift[row];
                k += 1;
            }
        }
    }
}
