//! What the laws did in a step that has parts: impulses and work of smooth motion and of impacts, law by law.

use super::contact::ContactProblem;
use super::projection::Projection;
use crate::scheme::{Reactions, StepError};
use crate::{Coupling, Mechanical, State};

/// The reactions of a step while they add up.
#[derive(Default)]
pub struct Booking {
    pub reactions: Box<Reactions>,
    struck: Vec<bool>, // (laws) whether an impact was booked in this step
    driven: Vec<f64>,  // (rows) ∫ λ ∂y/∂t dt: the part of the obstacle's own motion [J]
}

impl Booking {
    /// Starts a step: coupling and relative velocities at `from`, no law has acted.
    pub fn start(&mut self, model: &mut dyn Mechanical, constant: bool, from: &State) -> Result<(), StepError> {
        if constant && self.reactions.coupling.is_filled() {
            model.refresh(from.t, &from.q, &mut self.reactions.coupling)?;
        } else {
            model.couple(from.t, &from.q, &mut self.reactions.coupling)?;
        }
        self.reactions.start(&from.v);
        let rows = self.reactions.coupling.drift.len();
        self.reactions.multiplier.clear();
        for buffer in [&mut self.reactions.work, &mut self.driven] {
            buffer.clear();
            buffer.resize(rows, 0.0);
        }
        self.struck.clear();
        self.struck.resize(self.reactions.len(), false);
        Ok(())
    }

    /// Adds impulses and work of smooth motion, row by row of `coupling`, at the mean velocity of the obstacles.
    pub fn smooth(&mut self, coupling: &Coupling, impulse: &[f64], work: &[f64]) {
        self.add(coupling, impulse, work, None);
    }

    /// As [`smooth`](Self::smooth), where the part of the obstacles is known.
    pub fn smooth_driven(&mut self, coupling: &Coupling, impulse: &[f64], work: &[f64], driven: &[f64]) {
        self.add(coupling, impulse, work, Some(driven));
    }

    fn add(&mut self, coupling: &Coupling, impulse: &[f64], work: &[f64], driven: Option<&[f64]>) {
        if impulse.iter().all(|p| *p == 0.0) {
            return;
        }
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = self.reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(self.reactions.range(j)) {
                let (Some(p), Some(w)) = (impulse.get(row), work.get(row)) else { continue };
                self.reactions.impulse[place] += p;
                self.reactions.work[place] += w;
                let mean = || 0.5 * p * (self.reactions.coupling.drift[place] + coupling.drift[row]);
                self.driven[place] += driven.and_then(|d| d.get(row).copied()).unwrap_or_else(mean);
            }
        }
    }

    /// The multipliers themselves at the end of the smooth part, row by row of `coupling`; none act where there are no values.
    pub fn multipliers(&mut self, coupling: &Coupling, lambda: &[f64]) {
        let reactions = &mut self.reactions;
        reactions.multiplier.clear();
        reactions.multiplier.resize(reactions.coupling.drift.len(), 0.0);
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(reactions.range(j)) {
                reactions.multiplier[place] = lambda.get(row).copied().unwrap_or(0.0);
            }
        }
    }

    /// Adds the impact that `contact` has solved last.
    pub fn impact(&mut self, coupling: &Coupling, contact: &ContactProblem) {
        let reactions = &mut self.reactions;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(reactions.range(j)) {
                let Some(p) = contact.impulse.get(row).filter(|p| **p != 0.0) else { continue };
                let (before, after) = (contact.before[row], contact.after[row]);
                reactions.impulse[place] += p;
                reactions.work[place] += 0.5 * p * (before + after);
                self.driven[place] += p * coupling.drift[row];
                if !self.struck[j] {
                    reactions.before[place] = before;
                }
                reactions.after[place] = after;
            }
            if contact.impulse.get(coupling.offset[i]).is_some_and(|p| *p != 0.0) {
                self.struck[j] = true;
            }
        }
    }

    /// Adds what the last projection did to velocities: those of rows that it has brought to zero.
    pub fn projected(&mut self, coupling: &Coupling, projection: &Projection) {
        for (row, p, change) in projection.impulses().filter(|(_, p, _)| *p != 0.0) {
            let law = coupling.offset.partition_point(|first| *first <= row).saturating_sub(1);
            let Some(pair) = coupling.pairs.get(law) else { continue };
            let Some(j) = self.reactions.find(pair.key, law) else { continue };
            let place = self.reactions.range(j).start + row - coupling.offset[law];
            self.reactions.impulse[place] += p;
            self.reactions.work[place] -= 0.5 * p * change;
            self.driven[place] += p * coupling.drift[row];
        }
    }

    /// Adds the reactions of another scheme that did a part of the step.
    pub fn part(&mut self, part: &Reactions) {
        let all = &mut self.reactions;
        for i in 0..part.len() {
            let Some(j) = all.find(part.key(i), i) else { continue };
            for (row, place) in part.range(i).zip(all.range(j)) {
                all.impulse[place] += part.impulse[row];
                all.work[place] += part.work(row);
                self.driven[place] += part.impulse[row] * part.obstacle[row];
            }
        }
    }

    /// Velocities at the end of laws that acted without an impact, and the obstacles' own motion.
    pub fn conclude(&mut self, coupling: &Coupling, v: &[f64]) {
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = self.reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(self.reactions.range(j)) {
                let reactions = &mut self.reactions;
                // the velocity whose product with the impulse is the obstacle's part of the work
                let (p, mean) =
                    (reactions.impulse[place], 0.5 * (reactions.coupling.drift[place] + coupling.drift[row]));
                reactions.obstacle[place] = if p == 0.0 { mean } else { self.driven[place] / p };
                if !self.struck[j] && reactions.impulse[place] != 0.0 {
                    reactions.after[place] = coupling.rows.dot(row, v) + coupling.drift[row];
                }
            }
        }
    }
}
