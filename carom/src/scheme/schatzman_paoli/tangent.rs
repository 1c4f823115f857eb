//! The derivative of a Schatzman-Paoli step on its active branch; equation numbers are those of the scheme.
//!
//! The map goes from (q_k, w) to (q_{k+1}, w⁺), w the velocity between grid points that the scheme remembers: columns
//! are (δq, δw, δp, δt), and (δq, δv) follows from them. A start from a state is part of the map: w⁻ = v − (h/2) M⁻¹F.
//! Contacts that push have g(z) = 0 in (3); in which steps they do is the same for neighbours, and the time of an
//! impact is no part of the map.

use super::{Difference, SchatzmanPaoli, TwoStep, Work};
use crate::balance::{Balance, BalanceTangent, Direction, Frame, TangentError};
use crate::scheme::{Differentiable, Done};

impl Differentiable for SchatzmanPaoli {
    fn advance_columns(
        &self,
        w: &Work,
        done: Done<'_>,
        tangent: &mut BalanceTangent,
        frame: &mut Frame,
    ) -> Result<(), TangentError> {
        if frame.columns().any(|column| column.last().is_some_and(|dt| *dt != 0.0)) {
            let event = "steps are of one length, so that perturbations of time cannot be carried";
            return Err(TangentError::NotDifferentiable { t: done.from.t, event });
        }
        if !w.recalled {
            frame.recover();
            start(w, done, tangent, frame)?;
        }
        match self.velocity {
            Difference::Backward => {
                velocities(w, &w.next.last, tangent, frame)?;
                positions(&w.next.last, w.newton.h, tangent, frame);
                frame.show();
            }
            Difference::Centred => {
                if !w.recalled {
                    velocities(w, &w.here.last, tangent, frame)?;
                }
                positions(&w.here.last, w.newton.h, tangent, frame);
                frame.show();
                velocities(w, &w.next.last, tangent, frame)?;
                // v = (w⁻ + w⁺)/2
                for k in 0..frame.len() {
                    for i in 0..tangent.n {
                        let after = frame.carried(k).v[i];
                        let v = &mut frame.state(k).v[i];
                        *v = 0.5 * (*v + after);
                    }
                }
            }
        }
        Ok(())
    }
}

/// δw⁻ from δv: M (w⁻ − v) = −(h/2) F.
fn start(w: &Work, done: Done<'_>, tangent: &mut BalanceTangent, frame: &mut Frame) -> Result<(), TangentError> {
    let from = done.from;
    let balance = Balance { start: -0.5, ..Balance::IMPACT };
    tangent.set((from.t, &from.q, &from.v), &w.started, (w.newton.h, balance), [])?;
    each(tangent, frame)
}

/// δw⁺ from (3) with (2).
fn velocities(
    w: &Work,
    TwoStep { from, to, impulses }: &TwoStep,
    tangent: &mut BalanceTangent,
    frame: &mut Frame,
) -> Result<(), TangentError> {
    let acting = impulses.iter().map(|(index, impulse)| w.laws.acting(*index, &[*impulse]));
    tangent.set((from.t, &from.q, &from.v), &to.v, (w.newton.h, w.newton.balance), acting)?;
    each(tangent, frame)
}

/// The columns get the derivative of the balance in place of δv.
fn each(tangent: &mut BalanceTangent, frame: &mut Frame) -> Result<(), TangentError> {
    for k in 0..frame.len() {
        let dt = *frame.carried(k).t;
        let dh = frame.length(dt);
        let column = frame.carried(k);
        let after = tangent.apply(Direction { t: *column.t, h: dh, q: column.q, v: column.v, p: column.p })?;
        column.v.copy_from_slice(after);
    }
    Ok(())
}

/// q_{k+1} = q_k ⊕ h w⁺.
fn positions(last: &TwoStep, h: f64, tangent: &mut BalanceTangent, frame: &mut Frame) {
    for k in 0..frame.len() {
        let dt = *frame.carried(k).t;
        let dh = frame.length(dt);
        let column = frame.carried(k);
        let change = column.v.iter().zip(&last.to.v).map(|(dw, w)| dh * w + h * dw);
        tangent.carry(column.q, last.to.v.iter().map(|w| h * w), change);
        *column.t += dh;
    }
}
