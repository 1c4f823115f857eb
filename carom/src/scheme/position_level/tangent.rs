//! The derivative of a position-level step on its active branch; equation numbers are those of the scheme.
//!
//! Gaps that push stay zero: g(q⁺) = 0 to first order. What the velocity keeps of a perturbation is −((1−θ)/θ) of it in each step of closed contact,
//! nothing with θ = 1.

use super::{PositionLevel, Work};
use crate::sensitivity::SensitivityError;
use crate::sensitivity::step::balance::{Acting, Level, Place};
use crate::sensitivity::step::{Branch, Differentiable, Done, Frame};
use carom_solve::Law;

impl Differentiable for PositionLevel {
    fn carry(
        &self,
        w: &Work,
        Done { from, to, .. }: Done<'_>,
        branch: &mut Branch,
        frame: &mut Frame,
    ) -> Result<(), SensitivityError> {
        if frame.is_empty() {
            return Ok(());
        }
        let middle = Place::theta(self.theta);
        branch.begin((from.t, &from.q, &from.v), &to.v, w.h, middle);
        branch.force(1.0, middle);
        let end = branch.site(Place::end(self.theta), None);
        for (index, p) in w.problem.impulses() {
            let (law, _) = w.problem.pair(index);
            let mut impulse = [0.0; Law::MOST_ROWS];
            impulse[..p.len()].copy_from_slice(p);
            let level = if law.is_relay() { Level::Velocity(None) } else { Level::Gap };
            branch.act(Acting { index, law, impulse, level, input: end, output: end });
        }
        branch.factor()?;
        frame.carry_over(branch, (from, to), w.h, self.theta)
    }
}
