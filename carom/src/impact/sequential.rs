//! Impacts one after the other: of the contacts that approach, the fastest first, until none does.
//!
//! ```text
//!     i = the contact with the largest −u_N:   0 ≤ u_i⁺ + e u_i ⊥ P_i ≥ 0 alone, bilateral laws besides         (1)
//! ```
//!
//! (1) changes the velocities of its neighbours, and the next contact is chosen by them. Equal balls in a row pass a
//! velocity on, as a cradle does; the result is that of small gaps between the contacts. Of contacts that approach
//! equally fast the one that is listed first goes first. Where such contacts see each other, the impact is resolved in
//! the other order as well: if the results differ, the order decides and the run says so (`impact-order`). Contacts
//! without restitution need impacts without an end to come to rest on each other: a long sequence is cut, and its rest
//! resolved by (1) of all contacts at once with e = 0 (`impacts-cut`).

use super::{Impacts, Tools, Touching, restitution};
use crate::StepError;
use crate::reactions::Collision;

/// Approaches up to this part of the fastest one are none.
const REST: f64 = 1e-13;

/// .. nor are those up to this multiple of the rounding of the velocities that they are made of.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Approaches that differ by this part are equal.
const EQUAL: f64 = 1e-10;

/// Results of two orders that differ by this part of the fastest approach are two.
const DIFFERENT: f64 = 1e-8;

/// Impacts in a sequence at most, without contacts and for each of them.
const MOST: (usize, usize) = (1000, 200);

/// Which of several contacts that approach equally fast goes first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ties {
    First,
    Last,
}

impl Impacts {
    /// (1) until no contact approaches; once more with ties the other way round, where there were some.
    pub(super) fn sequential(&mut self, at: Touching<'_>, tools: &mut Tools<'_>) -> Result<(), StepError> {
        let fastest = self.fastest(at);
        let Some(first) = self.sequence(at, tools, fastest, Ties::First)? else { return Ok(()) };
        std::mem::swap(&mut self.done, &mut self.other);
        self.done.start(at);
        let again = self.sequence(at, tools, fastest, Ties::Last);
        std::mem::swap(&mut self.done, &mut self.other);
        again?;
        let rows = at.active.iter().map(|&i| at.coupling.offset[i]);
        let differs = rows.fold(0.0f64, |most, row| most.max((self.done.after[row] - self.other.after[row]).abs()));
        if differs > DIFFERENT * fastest {
            self.done.order = Some((first, differs));
        } else {
            self.done.collisions.iter_mut().for_each(|collision| collision.order_decides = false);
        }
        Ok(())
    }

    /// The sequence; the first contact at which others that it changes were as fast, if any.
    fn sequence(
        &mut self,
        at: Touching<'_>,
        tools: &mut Tools<'_>,
        fastest: f64,
        ties: Ties,
    ) -> Result<Option<usize>, StepError> {
        let contacts = at.active.iter().filter(|&&i| !at.is_equality(i)).count();
        let mut first = None;
        while let Some((i, approach)) = self.next(at, REST * fastest, ties) {
            if self.done.collisions.len() >= MOST.0 + MOST.1 * contacts {
                self.done.cut = Some((i, approach));
                self.finish(at, tools)?;
                break;
            }
            let tied = self.collide(at, tools, i, REST * fastest)?;
            if tied && first.is_none() {
                first = Some(i);
            }
        }
        Ok(first)
    }

    /// The largest approach of all contacts [m/s].
    fn fastest(&self, at: Touching<'_>) -> f64 {
        let contacts = at.active.iter().filter(|&&i| at.coupling.pairs[i].law.is_contact());
        contacts.fold(0.0, |most, &i| f64::max(most, -self.done.after[at.coupling.offset[i]]))
    }

    /// The contact that is next, with its approach; those as fast as it are left in `tied`.
    fn next(&mut self, at: Touching<'_>, rest: f64, ties: Ties) -> Option<(usize, f64)> {
        let Impacts { done, tied, .. } = self;
        tied.clear();
        let mut largest = 0.0f64;
        for &i in at.active.iter().filter(|&&i| at.coupling.pairs[i].law.is_contact()) {
            let row = at.coupling.offset[i];
            let approach = -done.after[row];
            if approach <= rest || approach < largest * (1.0 - EQUAL) {
                continue;
            }
            let terms = at.coupling.rows.row(row).iter().map(|&(j, c)| (c * done.velocity[j]).abs());
            if approach > ROUNDING * terms.sum::<f64>() {
                largest = largest.max(approach);
                tied.push((i, approach));
            }
        }
        tied.retain(|(_, approach)| *approach >= largest * (1.0 - EQUAL));
        match ties {
            Ties::First => tied.first().copied(),
            Ties::Last => tied.last().copied(),
        }
    }

    /// (1) for contact `i`; whether it has changed others that approached as fast.
    fn collide(&mut self, at: Touching<'_>, tools: &mut Tools<'_>, i: usize, rest: f64) -> Result<bool, StepError> {
        let coupling = at.coupling;
        self.clear(at);
        for &j in at.active.iter().filter(|&&j| at.is_equality(j)) {
            self.admit(at, j, coupling.pairs[j].law, |_| 0.0);
        }
        let rows = coupling.range(i);
        let mut before = [0.0; carom_solve::Law::MOST_ROWS];
        before[..rows.len()].copy_from_slice(&self.done.after[rows.clone()]);
        let shift = |row: usize| restitution(coupling, i, row - rows.start, before[row - rows.start]);
        self.admit(at, i, coupling.pairs[i].law, shift);
        self.solve(at, tools)?;
        let done = &mut self.done;
        let lambda = &self.problem.z.lambda[self.problem.z.lambda.len() - rows.len()..];
        let mut collision = Collision::new(i, [&before[..rows.len()], &done.after[rows.clone()], lambda]);
        for (k, row) in rows.enumerate() {
            done.work[row] += 0.5 * lambda[k] * (before[k] + done.after[row]);
        }
        let change = |&(j, approach): &(usize, f64)| (done.after[coupling.offset[j]] + approach).abs();
        let tied = self.tied.iter().any(|tied| tied.0 != i && change(tied) > rest + EQUAL * tied.1);
        collision.order_decides = tied;
        done.collisions.push(collision);
        Ok(tied)
    }

    /// What is left of a sequence, all contacts at once and without restitution.
    #[cold]
    fn finish(&mut self, at: Touching<'_>, tools: &mut Tools<'_>) -> Result<(), StepError> {
        self.clear(at);
        for &i in at.active {
            self.admit(at, i, at.coupling.pairs[i].law, |_| 0.0);
        }
        self.kept.clone_from(&self.done.after);
        self.solve(at, tools)?;
        let (done, mut first) = (&mut self.done, 0);
        for &i in at.active {
            let rows = at.coupling.range(i);
            let lambda = &self.problem.z.lambda[first..first + rows.len()];
            first += rows.len();
            for (row, p) in rows.clone().zip(lambda) {
                done.work[row] += 0.5 * p * (self.kept[row] + done.after[row]);
            }
            if at.coupling.pairs[i].law.is_contact() && lambda[0] > 0.0 {
                done.collisions.push(Collision::new(i, [&self.kept[rows.clone()], &done.after[rows], lambda]));
            }
        }
        Ok(())
    }
}
