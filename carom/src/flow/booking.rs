//! What the laws did in a step that has parts: impulses and work of smooth motion and of impacts, law by law.

use super::contact::ContactProblem;
use crate::scheme::{Reactions, StepError};
use crate::{Coupling, Mechanical, State};

/// The reactions of a step while they add up.
#[derive(Default)]
pub struct Booking {
    pub reactions: Box<Reactions>,
    struck: Vec<bool>, // (laws) whether an impact was booked in this step
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
        self.reactions.work.clear();
        self.reactions.work.resize(rows, 0.0);
        self.struck.clear();
        self.struck.resize(self.reactions.len(), false);
        Ok(())
    }

    /// Adds impulses and work of smooth motion, row by row of `coupling`.
    pub fn smooth(&mut self, coupling: &Coupling, impulse: &[f64], work: &[f64]) {
        if impulse.iter().all(|p| *p == 0.0) {
            return;
        }
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = self.reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(self.reactions.range(j)) {
                let (Some(p), Some(w)) = (impulse.get(row), work.get(row)) else { continue };
                self.reactions.impulse[place] += p;
                self.reactions.work[place] += w;
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

    /// Adds the reactions of another scheme that did a part of the step.
    pub fn part(&mut self, part: &Reactions) {
        let all = &mut self.reactions;
        for i in 0..part.len() {
            let Some(j) = all.find(part.key(i), i) else { continue };
            for (row, place) in part.range(i).zip(all.range(j)) {
                all.impulse[place] += part.impulse[row];
                all.work[place] += part.work(row);
            }
        }
    }

    /// Velocities at the end of laws that acted without an impact, and the obstacles' own motion.
    pub fn conclude(&mut self, coupling: &Coupling, v: &[f64]) {
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let Some(j) = self.reactions.find(pair.key, i) else { continue };
            for (row, place) in coupling.range(i).zip(self.reactions.range(j)) {
                let reactions = &mut self.reactions;
                reactions.obstacle[place] = 0.5 * (reactions.coupling.drift[place] + coupling.drift[row]);
                if !self.struck[j] && reactions.impulse[place] != 0.0 {
                    reactions.after[place] = coupling.rows.dot(row, v) + coupling.drift[row];
                }
            }
        }
    }
}
