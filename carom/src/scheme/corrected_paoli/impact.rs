//! Impacts of the corrected Paoli-Schatzman scheme, equations (5) and (6) there.

use super::{CorrectedPaoli, ImpactTime, Work};
use crate::Mechanical;
use crate::balance::VelocityLaws;
use crate::model::Combination;
use crate::scheme::{EventKind, Step, StepError, System};

/// Newton steps on the gap along the path (5), where rows are not constant.
const POLISH: u32 = 4;

impl CorrectedPaoli {
    /// Moves the state along (5) to the impact at `s`, which is polished on the true gap. Returns the time of the
    /// impact.
    pub(super) fn move_to_impact(
        &self,
        w: &mut Work,
        model: &mut dyn Mechanical,
        s: f64,
        h: f64,
    ) -> Result<f64, StepError> {
        let mut s = s;
        // (5) with the coupling there
        self.place(w, model, s, h)?;
        if !w.newton.constancy.rows && s > 0.0 {
            for _ in 0..POLISH {
                let Some((gap, velocity, activation)) = Self::deepest(w) else { break };
                if gap.abs() <= 0.1 * activation || velocity >= 0.0 {
                    break;
                }
                s = (s - gap / velocity).clamp(0.0, h);
                self.place(w, model, s, h)?;
            }
        }
        w.book_flight(s / h);
        std::mem::swap(&mut w.state, &mut w.touching);
        Ok(s)
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

    /// Gap, velocity and tolerance of the approaching contact that is nearest to closing, or deepest.
    fn deepest(w: &Work) -> Option<(f64, f64, f64)> {
        let approaching = w.touch.pairs.iter().enumerate().filter_map(|(i, pair)| {
            let velocity = w.before[w.touch.offset[i]];
            let counts = pair.law.is_contact() && w.touch.is_present(i) && !w.paths[i].held;
            (counts && velocity < 0.0).then_some((pair.gap, velocity, w.paths[i].activation))
        });
        approaching.min_by(|a, b| (a.0 / -a.1).total_cmp(&(b.0 / -b.1)))
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
