//! What the laws did in a step that has parts: impulses and work of smooth motion and of impacts, law by law.

use super::contact::ContactProblem;
use super::projection::Projection;
use crate::{ContactList, Coupling, Mechanical, Reactions, State, StepError};

/// The reactions of a step while they add up.
#[derive(Default)]
pub struct ReactionAccount {
    pub reactions: Box<Reactions>,
    struck: Vec<bool>, // (laws) whether an impact was booked in this step
    list: ContactList, // the contacts of the step
    driven: Vec<f64>,  // (rows) ∫ λ ∂y/∂t dt: the part of the obstacle's own motion [J]
}

carom_solve::persist!(ReactionAccount { reactions, struck, list, driven });

impl ReactionAccount {
    /// Starts a step: coupling and relative velocities at `from`, no law has acted.
    pub fn start(&mut self, model: &mut dyn Mechanical, constant: bool, from: &State) -> Result<(), StepError> {
        self.reactions.coupling.list(model, (from.t, &from.q), constant, &mut self.list)?;
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

    /// Adds impulses and work of smooth motion, row by row, and the part of the work that is the obstacles' own motion.
    pub fn smooth(&mut self, impulse: &[f64], work: &[f64], driven: &[f64]) {
        let reactions = &mut self.reactions;
        for (row, ((p, w), d)) in impulse.iter().zip(work).zip(driven).enumerate() {
            reactions.impulse[row] += p;
            reactions.work[row] += w;
            self.driven[row] += d;
        }
    }

    /// The multipliers themselves at the end of the smooth part, row by row; none act where there are no values.
    pub fn multipliers(&mut self, lambda: &[f64]) {
        let reactions = &mut self.reactions;
        reactions.multiplier.clear();
        reactions.multiplier.extend_from_slice(lambda);
        reactions.multiplier.resize(reactions.coupling.drift.len(), 0.0);
    }

    /// Adds the impact that `contact` has solved last.
    pub fn impact(&mut self, coupling: &Coupling, contact: &ContactProblem) {
        let reactions = &mut self.reactions;
        for i in 0..coupling.len() {
            for row in coupling.range(i) {
                let p = contact.impulse[row];
                if p == 0.0 {
                    continue;
                }
                let (before, after) = (contact.before[row], contact.after[row]);
                reactions.impulse[row] += p;
                reactions.work[row] += contact.works.get(row).copied().unwrap_or(0.5 * p * (before + after));
                self.driven[row] += p * coupling.drift[row];
                if !self.struck[i] {
                    reactions.before[row] = before;
                }
                reactions.after[row] = after;
            }
            self.struck[i] |= contact.impulse[coupling.offset[i]] != 0.0;
        }
    }

    /// Adds what the last projection did to velocities: those of rows that it has brought to zero.
    pub fn projected(&mut self, coupling: &Coupling, projection: &Projection) {
        for (row, p, change) in projection.impulses().filter(|(_, p, _)| *p != 0.0) {
            self.reactions.impulse[row] += p;
            self.reactions.work[row] -= 0.5 * p * change;
            self.driven[row] += p * coupling.drift[row];
        }
    }

    /// Adds the reactions of another scheme that did a part of the step, from `t` on.
    pub fn part(&mut self, part: &Reactions, t: f64) -> Result<(), StepError> {
        part.coupling.check(t, &self.list)?;
        self.reactions.collisions.extend_from_slice(&part.collisions);
        for (row, p) in part.impulse.iter().enumerate() {
            self.reactions.impulse[row] += p;
            self.reactions.work[row] += part.work(row);
            self.driven[row] += p * part.obstacle[row];
        }
        Ok(())
    }

    /// Velocities at the end of laws that acted without an impact, and the obstacles' own motion.
    pub fn conclude(&mut self, coupling: &Coupling, v: &[f64]) {
        let reactions = &mut self.reactions;
        for i in 0..reactions.len() {
            for row in coupling.range(i) {
                // the velocity whose product with the impulse is the obstacle's part of the work
                let (p, mean) = (reactions.impulse[row], 0.5 * (reactions.coupling.drift[row] + coupling.drift[row]));
                reactions.obstacle[row] = if p == 0.0 { mean } else { self.driven[row] / p };
                if !self.struck[i] && p != 0.0 {
                    reactions.after[row] = coupling.rows.dot(row, v) + coupling.drift[row];
                }
            }
        }
    }
}
