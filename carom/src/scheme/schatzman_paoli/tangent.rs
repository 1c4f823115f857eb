//! The derivative of a Schatzman-Paoli step on its active branch; equation numbers are those of the scheme.
//!
//! The map goes from (q_k, w) to (q_{k+1}, w⁺), w the velocity between grid points that the scheme remembers: columns are (δq, δw, δp, δt), and
//! (δq, δv) follows from them. A start from a state is part of the map: w⁻ = v − (h/2) M⁻¹F. Contacts that push have g(z) = 0 in the leap (3);
//! which leaps these are is the same for neighbours, and the time of an impact is no part of the map.

use super::{Difference, Leap, SchatzmanPaoli, Work};
use crate::sensitivity::SensitivityError;
use crate::sensitivity::step::balance::{Acting, Direction, Level, Place};
use crate::sensitivity::step::{AT_START, Branch, Differentiable, Done, Frame};

/// Forces of the leap are taken at q_k with the mean velocity.
const MIDDLE: Place = Place { tau: 0.0, alpha: 0.0, beta: 0.0, gamma: 0.5, delta: 0.5 };

impl Differentiable for SchatzmanPaoli {
    fn carry(&self, w: &Work, done: Done<'_>, branch: &mut Branch, frame: &mut Frame) -> Result<(), SensitivityError> {
        if frame.is_empty() {
            return Ok(());
        }
        if frame.columns().any(|column| column.last().is_some_and(|dt| *dt != 0.0)) {
            let event = "steps are of one length, so that perturbations of time cannot be carried";
            return Err(SensitivityError::NotDifferentiable { t: done.from.t, event });
        }
        let h = w.leaping.h;
        if !w.recalled {
            frame.recover();
            start(w, done, branch, frame)?;
        }
        match self.velocity {
            Difference::Backward => {
                leap(w, &w.next.leap, (branch, h), frame)?;
                advance(&w.next.leap, h, frame);
                frame.show();
            }
            Difference::Centred => {
                if !w.recalled {
                    leap(w, &w.here.leap, (branch, h), frame)?;
                }
                advance(&w.here.leap, h, frame);
                frame.show();
                leap(w, &w.next.leap, (branch, h), frame)?;
                // v = (w⁻ + w⁺)/2
                for k in 0..frame.len() {
                    for i in 0..branch.n {
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
fn start(w: &Work, done: Done<'_>, branch: &mut Branch, frame: &mut Frame) -> Result<(), SensitivityError> {
    let (from, h) = (done.from, w.leaping.h);
    branch.begin((from.t, &from.q, &from.v), &w.started, h, Place::START);
    branch.force(-0.5, Place::START);
    branch.factor()?;
    each(branch, frame)
}

/// (3) with (2).
fn leap(w: &Work, leap: &Leap, (branch, h): (&mut Branch, f64), frame: &mut Frame) -> Result<(), SensitivityError> {
    branch.begin((leap.t, &leap.q, &leap.w_before), &leap.w_after, h, Place::START);
    branch.force(1.0, MIDDLE);
    for &(index, impulse) in &leap.impulses {
        let (law, e) = w.leaping.problem.pair(index);
        // (4), and its derivative by e
        let f = 1.0 / (1.0 + e);
        let place = Place { tau: (1.0 - e) * f, alpha: -e * f, beta: f, gamma: 0.0, delta: 1.0 };
        let slope = Place { tau: -2.0 * f * f, alpha: -f * f, beta: -f * f, gamma: 0.0, delta: 0.0 };
        let turned = (!law.is_equality() && branch.parameters > 0).then_some((slope, index));
        let output = branch.site(place, turned);
        let at_base = law.is_equality() && !w.leaping.constancy.rows;
        let input = if at_base { AT_START } else { output };
        branch.act(Acting {
            index,
            law,
            impulse: [impulse, 0.0, 0.0, 0.0, 0.0, 0.0],
            level: Level::Gap,
            input,
            output,
        });
    }
    branch.factor()?;
    each(branch, frame)
}

/// The columns get the derivative of the balance in place of δv.
fn each(branch: &mut Branch, frame: &mut Frame) -> Result<(), SensitivityError> {
    for k in 0..frame.len() {
        let dt = *frame.carried(k).t;
        let dh = frame.length(dt);
        let column = frame.carried(k);
        let after = branch.apply(Direction { t: dt, h: dh, q: column.q, v: column.v, p: column.p })?;
        column.v.copy_from_slice(after);
    }
    Ok(())
}

/// q_{k+1} = q_k + h w⁺.
fn advance(leap: &Leap, h: f64, frame: &mut Frame) {
    for k in 0..frame.len() {
        let dt = *frame.carried(k).t;
        let dh = frame.length(dt);
        let column = frame.carried(k);
        for ((q, dw), w) in column.q.iter_mut().zip(&*column.v).zip(&leap.w_after) {
            *q += dh * w + h * dw;
        }
        *column.t += dh;
    }
}
