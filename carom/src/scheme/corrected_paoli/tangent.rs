//! The derivative of a step of the corrected Paoli-Schatzman scheme on its active branch; equation numbers are those of
//! the scheme.
//!
//! ```text
//!     ds = −(dg + s dσ + s² dc/2)/(σ + s c), from the wall −(dσ + s dc/2)/(c/2), σ = U (consistent) or w (printed)  (7)
//!     dq(s) = dq + s da + s² dd/2 + v(s) ds,   dv(s) = da + s dd + d ds,   then the derivative of (6)              (8)
//! ```
//!
//! The time of an impact is solved for, so that its change (7) is a part of the map, as it is of the motion. Where rows
//! are not constant the root was polished: there ds is that of the gap along (5). A flight has the length that is left
//! of its step: dL = dh − Σ ds.

use super::log::{Log, Part, Root};
use super::{CorrectedPaoli, ImpactTime, Work};
use crate::balance::{Balance, BalanceTangent, Direction, Frame, Parts, Scratch, TangentError};
use crate::scheme::{Differentiable, Done};

impl Differentiable for CorrectedPaoli {
    fn record(&self, work: &mut Work) {
        work.log = Some(Box::new(Log::default()));
    }

    fn advance_columns(
        &self,
        w: &Work,
        done: Done<'_>,
        tangent: &mut BalanceTangent,
        frame: &mut Frame,
    ) -> Result<(), TangentError> {
        let Some(log) = &w.log else { return Ok(()) };
        if log.handed_over {
            let event = "impacts without end, after which another scheme has done the rest of the step";
            return Err(TangentError::NotDifferentiable { t: done.from.t, event });
        }
        for part in log.parts() {
            // (1) with (2)
            let (start, held) = (&part.start, part.held.iter().copied());
            tangent.set((start.t, &start.q, &start.v), &part.ahead, (part.length, w.newton.balance), held)?;
            for k in 0..frame.len() {
                let began = *frame.state(k).t;
                let dt = *frame.carried(k).t;
                let length = part.share * (frame.length(began) - (dt - began));
                self.column(part, length, tangent, frame.carried(k))?;
            }
            if let Some((s, _)) = part.impact {
                self.strike(part, s, tangent)?;
                for k in 0..frame.len() {
                    let Parts { q, v, p, t } = frame.carried(k);
                    let after = tangent.apply(Direction { t: *t, h: 0.0, q, v, p })?;
                    v.copy_from_slice(after);
                }
            }
        }
        frame.show();
        Ok(())
    }
}

impl CorrectedPaoli {
    /// (6).
    fn strike(&self, part: &Part, s: f64, tangent: &mut BalanceTangent) -> Result<(), TangentError> {
        let mut buffers = tangent.scratch();
        let [q, v, ..] = &mut buffers;
        self.place_along(part, s, (q, v));
        let struck = part.struck.iter().copied();
        let set = tangent.set((part.start.t + s, q, v), &part.after, (0.0, Balance::IMPACT), struck);
        tangent.keep(buffers);
        Ok(set?)
    }

    /// (5).
    fn place_along(&self, part: &Part, s: f64, (q, v): (&mut [f64], &mut [f64])) {
        for i in 0..q.len() {
            let (slope, bend) = self.slopes(part, i);
            q[i] = part.start.q[i] + s * (slope + 0.5 * s * bend);
            v[i] = if s == 0.0 { part.start.v[i] } else { slope + s * bend };
        }
    }

    /// a and d of (5).
    fn slopes(&self, part: &Part, i: usize) -> (f64, f64) {
        let (a, b) = (part.start.v[i], part.ahead[i]);
        (if self.variant == ImpactTime::Printed { 0.5 * (a + b) } else { a }, (b - a) / part.length)
    }

    /// da and dd from those of v and v̂.
    fn slopes_along(&self, (dv, dahead): (f64, f64), bend: f64, (l, dl): (f64, f64)) -> (f64, f64) {
        let da = if self.variant == ImpactTime::Printed { 0.5 * (dv + dahead) } else { dv };
        (da, (dahead - dv - bend * dl) / l)
    }

    /// A column over the flight, to its end or to the impact; `dl` is the derivative of its length.
    fn column(
        &self,
        part: &Part,
        dl: f64,
        tangent: &mut BalanceTangent,
        column: Parts<'_>,
    ) -> Result<(), TangentError> {
        let Part { start, length: l, .. } = part;
        let Parts { q, v, p, t } = column;
        if matches!(part.impact, Some((_, Root::Start))) {
            return Ok(());
        }
        let Some((s, root)) = part.impact else {
            return Ok(tangent.advance_columns(Parts { q, v, p, t }, dl)?);
        };
        tangent.apply(Direction { t: *t, h: dl, q, v, p })?;
        let mut buffers = tangent.scratch();
        buffers[0].copy_from_slice(tangent.last());
        let here = Direction { t: *t, h: dl, q, v, p };
        let ds = match root {
            Root::Start => 0.0,
            Root::Gap(i) => self.on_gap(part, (s, i), here, (tangent, &mut buffers))?,
            Root::Quadratic(i) => self.on_quadratic(part, (s, i, false), here, (tangent, &mut buffers))?,
            Root::Wall(i) => self.on_quadratic(part, (s, i, true), here, (tangent, &mut buffers))?,
        };
        if !ds.is_finite() {
            let event = "an impact without velocity: grazing";
            return Err(TangentError::NotDifferentiable { t: start.t + s, event });
        }
        // (8)
        for i in 0..q.len() {
            let (slope, bend) = self.slopes(part, i);
            let (da, dd) = self.slopes_along((v[i], buffers[0][i]), bend, (*l, dl));
            q[i] += s * (da + 0.5 * s * dd) + ds * (slope + s * bend);
            v[i] = da + s * dd + ds * bend;
        }
        *t += ds;
        tangent.keep(buffers);
        Ok(())
    }

    /// ds where the gap along (5) is zero: dg + U(s) ds = 0. The first of the buffers is dv̂.
    fn on_gap(
        &self,
        part: &Part,
        (s, index): (f64, usize),
        here: Direction<'_>,
        (tangent, [dahead, q, v, dq]): (&mut BalanceTangent, &mut Scratch),
    ) -> Result<f64, TangentError> {
        self.place_along(part, s, (q, v));
        for i in 0..q.len() {
            let (_, bend) = self.slopes(part, i);
            let (da, dd) = self.slopes_along((here.v[i], dahead[i]), bend, (part.length, here.h));
            dq[i] = here.q[i] + s * (da + 0.5 * s * dd);
        }
        let probe = tangent.probe(index, (part.start.t + s, q, v), Direction { q: dq, ..here })?;
        Ok(-probe.gap_along / probe.velocity)
    }

    /// (7). The first of the buffers is dv̂.
    fn on_quadratic(
        &self,
        part: &Part,
        (s, index, from_wall): (f64, usize, bool),
        here: Direction<'_>,
        (tangent, [dahead, q, _, dq]): (&mut BalanceTangent, &mut Scratch),
    ) -> Result<f64, TangentError> {
        let Part { start, ahead, length, .. } = part;
        let (l, dl) = (*length, here.h);
        for i in 0..q.len() {
            q[i] = start.q[i] + 0.5 * l * (start.v[i] + ahead[i]);
            dq[i] = here.q[i] + 0.5 * (dl * (start.v[i] + ahead[i]) + l * (here.v[i] + dahead[i]));
        }
        let g = tangent.probe(index, (start.t, &start.q, &start.v), here)?;
        let there = tangent.probe(index, (start.t + l, q, ahead), Direction { t: here.t + dl, q: dq, ..here })?;
        let bend = 2.0 * (there.gap - g.gap - l * g.velocity) / (l * l);
        let change = there.gap_along - g.gap_along;
        let bend_along = 2.0 * (change - dl * g.velocity - l * g.velocity_along) / (l * l) - 2.0 * bend * dl / l;
        let (slope, slope_along) = match self.variant {
            ImpactTime::Consistent => (g.velocity, g.velocity_along),
            ImpactTime::Printed => {
                let slope = (there.gap - g.gap) / l;
                (slope, (change - slope * dl) / l)
            }
        };
        let turn = slope_along + 0.5 * s * bend_along;
        Ok(if from_wall { -2.0 * turn / bend } else { -(g.gap_along + s * turn) / (slope + s * bend) })
    }
}
