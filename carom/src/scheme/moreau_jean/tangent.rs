//! The derivative of a Moreau-Jean step on its active branch; equation numbers are those of the scheme.
//!
//! A contact is closed with P > 0 or it does not act: which step an impact falls in is the same for neighbours, and its time is no part of the
//! map. For one contact without friction in one dimension a step with an impact has dv⁺ = −e dv, dq⁺ = dq + h (1 − θ − θe) dv: its
//! determinant is −e, that of the motion e².

use super::{MoreauJean, ReactionDirection, Work};
use crate::sensitivity::SensitivityError;
use crate::sensitivity::step::balance::{Acting, Level, Place};
use crate::sensitivity::step::{AT_START, Branch, Differentiable, Done, Frame};
use carom_solve::Law;

impl Differentiable for MoreauJean {
    fn carry(&self, w: &Work, done: Done<'_>, branch: &mut Branch, frame: &mut Frame) -> Result<(), SensitivityError> {
        let (Done { from, to, .. }, h, theta) = (done, w.h, self.theta);
        if frame.is_empty() {
            return Ok(());
        }
        // (1) and (3)
        let middle = Place::theta(theta);
        branch.begin((from.t, &from.q, &from.v), &to.v, h, middle);
        branch.force(1.0, middle);
        let output = match self.reaction {
            ReactionDirection::Start => AT_START,
            ReactionDirection::Mid | ReactionDirection::End => branch.site(Place::end(theta), None),
        };
        let input = match self.reaction {
            ReactionDirection::Mid if !w.constancy.rows => branch.site(middle, None),
            _ => output,
        };
        let mut k = 0;
        for &i in &w.active {
            let pair = w.reactions.coupling.pairs[i];
            let mut impulse = [0.0; Law::MOST_ROWS];
            for p in &mut impulse[..pair.law.size()] {
                *p = w.z.lambda[k];
                k += 1;
            }
            let contact = pair.law.is_contact();
            let level = Level::Velocity(contact.then_some(pair.restitution));
            branch.act(Acting { index: i, law: pair.law, impulse, level, input, output });
        }
        branch.factor()?;
        frame.carry_over(branch, (from, to), h, theta)
    }
}
