//! Poisson's law: restitution of impulses, all contacts at once [pfeiffer1996].
//!
//! ```text
//!     compression   u_c = u + W P_c,               P_c ∈ Law(u_c)                                   (1)
//!     expansion     u⁺ = u_c + W (e P_cN + D),     0 ≤ D_N ⊥ u_N⁺ ≥ 0,  |D_T| ≤ μ (e P_cN + D_N)    (2)
//! ```
//!
//! The impulse is P_c + e P_cN + D: what compression has stored comes back, and D is what keeps contacts from closing
//! again. Friction follows Coulomb's law in both phases, in the second one with the whole normal impulse of expansion;
//! tangents may have a restitution of velocities, as in Newton's law. Impulses of rolling and spinning likewise.

use super::{Impacts, Tools, Touching, restitution};
use crate::StepError;
use crate::reactions::Collision;

impl Impacts {
    /// (1) and (2).
    pub(super) fn poisson(&mut self, at: Touching<'_>, tools: &mut Tools<'_>) -> Result<(), StepError> {
        let coupling = at.coupling;
        self.clear(at);
        for &i in at.active {
            self.admit(at, i, coupling.pairs[i].law, |_| 0.0);
        }
        self.solve(at, tools)?;

        // what comes back: it changes all velocities before the second problem
        self.kept.clear();
        self.kept.resize(at.v.len(), 0.0);
        for &i in at.active.iter().filter(|&&i| coupling.pairs[i].law.is_contact()) {
            let (row, e) = (coupling.offset[i], coupling.pairs[i].restitution);
            let back = e * self.done.impulse[row].max(0.0);
            coupling.rows.add_row(row, back, &mut self.kept);
        }
        tools.lhs.solve(&mut self.kept);
        self.done.velocity.iter_mut().zip(&self.kept).for_each(|(v, dv)| *v += dv);
        self.done.follow(at);

        self.clear(at);
        self.kept.clear();
        for &i in at.active {
            let (pair, row) = (coupling.pairs[i], coupling.offset[i]);
            let back = if pair.law.is_contact() { pair.restitution * self.done.impulse[row].max(0.0) } else { 0.0 };
            self.kept.push(back);
            // friction has all of the normal impulse
            let law = if back > 0.0 { pair.law.loaded(back) } else { pair.law };
            let before = std::mem::take(&mut self.done.before);
            let closes = pair.law.is_contact() && before[row] < 0.0;
            let shift = |k: usize| if k > row && closes { restitution(coupling, i, k - row, before[k]) } else { 0.0 };
            self.admit(at, i, law, shift);
            self.done.before = before;
        }
        self.solve(at, tools)?;
        for (&i, back) in at.active.iter().zip(&self.kept) {
            self.done.impulse[coupling.offset[i]] += back;
        }
        self.share_out(at);
        Ok(())
    }

    /// Work of impulses over all of the impact, and one collision per contact.
    pub(super) fn share_out(&mut self, at: Touching<'_>) {
        let done = &mut self.done;
        for &i in at.active {
            let rows = at.coupling.range(i);
            for row in rows.clone() {
                done.work[row] = 0.5 * done.impulse[row] * (done.before[row] + done.after[row]);
            }
            if !at.is_equality(i) && done.impulse[rows.start] > 0.0 {
                let parts = [&done.before, &done.after, &done.impulse].map(|values| &values[rows.clone()]);
                done.collisions.push(Collision::new(i, parts));
            }
        }
    }
}
