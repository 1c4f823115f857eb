//! The derivative of the impact map on its active branch.
//!
//! ```text
//!     M (v⁺ − v⁻) = B P,   U_N⁺ = −e U_N⁻ for contacts with P_N > 0,   U_T⁺ = 0 for those that stick                      (1)
//!     slipping contacts have P_T = −μ P_N d,  d = U_T⁺/|U_T⁺|: in B, and in the plane across d one more unknown             (2)
//!     M (dv⁺ − dv⁻) = dB P + B dP − dM (v⁺ − v⁻)                                                                           (3)
//!     C dv⁺ = −(dC v⁺ + d∂y/∂t) − e (C dv⁻ + dC v⁻ + d∂y/∂t) − de U_N⁻,   without the terms in e for the other rows        (4)
//! ```
//!
//! The branch is read off the velocities before and after. Velocities held at zero without an impulse (a contact that
//! comes to rest) are the same with e = 0 and P = 0.

use super::field::Field;
use crate::model::{Along, CouplingTangent};
use crate::phase::{Mode, Phase, RankedLu};
use crate::{Coupling, ModelError, State};
use carom_solve::elementary::hypot;

/// Velocities at less than this part of the largest one are zero.
const ZERO: f64 = 1e-9;

/// What an unknown belongs to.
#[derive(Clone, Copy, Debug)]
enum Unknown {
    /// Normal impulse with this restitution, and the direction of slip.
    Normal { law: usize, e: f64, slip: Option<[f64; 2]> },
    /// A velocity held at zero.
    Zero,
    /// The component of a spatial slip across its direction, and |U_T|/(μ P_N).
    Turn { across: [f64; 2], weight: f64 },
}

/// One row of (4) and its column of B.
#[derive(Clone, Debug)]
struct Line {
    kind: Unknown,
    row: usize,         // row of the coupling; the first tangent of a turning slip
    c: Vec<f64>,        // (n)
    response: Vec<f64>, // (n) M⁻¹B
    impulse: f64,
}

/// The linearised impact of one instant.
#[derive(Default)]
pub(super) struct Jump {
    t: f64,
    q: Vec<f64>,
    before: Vec<f64>,
    after: Vec<f64>,
    jump: Vec<f64>, // v⁺ − v⁻
    lines: Vec<Line>,
    system: RankedLu,
    coupling: CouplingTangent,
    r: Vec<f64>,
    part: Vec<f64>,
    x: Vec<f64>,
}

impl Jump {
    /// (1) for the laws that are `struck`, between two states; `coupling` belongs to their positions.
    pub fn impact(
        &mut self,
        field: &mut Field,
        coupling: &Coupling,
        (before, after): (&State, &State),
        struck: &[bool],
    ) -> Result<(), ModelError> {
        self.start(field, before, &after.v)?;
        let n = field.n;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let range = coupling.range(i);
            let u = |row: usize, v: &[f64]| coupling.rows.dot(row, v) + coupling.drift[row];
            if pair.law.is_equality() {
                self.push(field, coupling, Unknown::Zero, range.start);
            }
            if pair.law.is_equality() || !struck[i] {
                continue;
            }
            let (approach, leave) = (u(range.start, &before.v).min(0.0), u(range.start, &after.v));
            // an impact that is made plastic ends at zero whatever the contact says
            let missed = (leave + pair.restitution * approach).abs();
            let e = if missed <= leave.abs() { pair.restitution } else { 0.0 };
            let e = if approach < 0.0 { e } else { 0.0 };
            let slip: Vec<f64> = range.clone().skip(1).map(|row| u(row, &after.v)).collect();
            let speed = slip.iter().map(|x| x * x).sum::<f64>().sqrt();
            let scale = range.clone().fold(0.0f64, |m, row| m.max(u(row, &before.v).abs()));
            let slides = range.len() > 1 && speed > ZERO * scale;
            let mut d = [0.0; 2];
            d.iter_mut().zip(&slip).for_each(|(d, x)| *d = if slides { x / speed } else { 0.0 });
            self.push(field, coupling, Unknown::Normal { law: i, e, slip: slides.then_some(d) }, range.start);
            if range.len() > 1 && !slides {
                range.skip(1).for_each(|row| self.push(field, coupling, Unknown::Zero, row));
            }
        }
        self.factor();
        self.x.clear();
        self.x.extend(self.lines.iter().map(|line| dot(&line.c, &self.jump)));
        self.system.solve(&mut self.x);
        self.lines.iter_mut().zip(&self.x).for_each(|(line, x)| line.impulse = *x);
        self.add_turning(field, coupling, &after.v, n);
        self.factor();
        Ok(())
    }

    /// Rows that a phase holds, whose velocities are zero before and after.
    pub fn rest(
        &mut self,
        field: &mut Field,
        coupling: &Coupling,
        state: &State,
        phase: &Phase,
    ) -> Result<(), ModelError> {
        self.start(field, state, &state.v)?;
        for (i, pair) in coupling.pairs.iter().enumerate() {
            let rows = match phase.mode(i) {
                Mode::Open => 0,
                Mode::Held | Mode::Slip(_) => 1,
                Mode::Stick => pair.law.size(),
            };
            coupling.range(i).take(rows).for_each(|row| self.push(field, coupling, Unknown::Zero, row));
        }
        self.factor();
        Ok(())
    }

    fn start(&mut self, field: &mut Field, before: &State, after: &[f64]) -> Result<(), ModelError> {
        let State { t, q, v } = before;
        field.acceleration.factor_mass(&mut *field.model, (*t, q, v))?;
        self.t = *t;
        self.q.clone_from(q);
        self.before.clone_from(v);
        self.after.clear();
        self.after.extend_from_slice(after);
        self.jump.clear();
        self.jump.extend(after.iter().zip(v).map(|(a, b)| a - b));
        self.r.resize(v.len(), 0.0);
        self.part.resize(v.len(), 0.0);
        self.lines.clear();
        Ok(())
    }

    fn push(&mut self, field: &Field, coupling: &Coupling, kind: Unknown, row: usize) {
        let (mut c, mut response) = (vec![0.0; field.n], vec![0.0; field.n]);
        coupling.rows.add_row(row, 1.0, &mut c);
        coupling.rows.add_row(row, 1.0, &mut response);
        if let Unknown::Normal { law, slip: Some(d), .. } = kind {
            let mu = coupling.pairs[law].law.mu();
            for (tangent, d) in coupling.range(law).skip(1).zip(d) {
                coupling.rows.add_row(tangent, -mu * d, &mut response);
            }
        }
        field.model.solve(&mut response);
        self.lines.push(Line { kind, row, c, response, impulse: 0.0 });
    }

    /// One unknown for each spatial slip.
    fn add_turning(&mut self, field: &Field, coupling: &Coupling, after: &[f64], n: usize) {
        for k in 0..self.lines.len() {
            let Unknown::Normal { law, slip: Some(d), .. } = self.lines[k].kind else { continue };
            let range = coupling.range(law);
            let strength = coupling.pairs[law].law.mu() * self.lines[k].impulse;
            if range.len() < 3 || strength <= 0.0 {
                continue;
            }
            let across = [-d[1], d[0]];
            let (mut c, mut speed) = (vec![0.0; n], 0.0f64);
            for (row, x) in range.clone().skip(1).zip(across) {
                coupling.rows.add_row(row, x, &mut c);
                speed = hypot(speed, coupling.rows.dot(row, after) + coupling.drift[row]);
            }
            let mut response = c.clone();
            field.model.solve(&mut response);
            let kind = Unknown::Turn { across, weight: speed / strength };
            self.lines.push(Line { kind, row: range.start + 1, c, response, impulse: 0.0 });
        }
    }

    fn factor(&mut self) {
        let m = self.lines.len();
        let w = self.system.matrix_mut(m);
        for (k, line) in self.lines.iter().enumerate() {
            for (l, other) in self.lines.iter().enumerate() {
                w[k * m + l] = dot(&line.c, &other.response);
            }
            if let Unknown::Turn { weight, .. } = line.kind {
                w[k * m + k] += weight;
            }
        }
        self.system.factor();
    }

    /// `dv ← dv⁺` of (3), (4) along (dt, dq, dv⁻, dp) = (dt, column).
    pub fn apply(
        &mut self,
        field: &mut Field,
        coupling: &Coupling,
        dt: f64,
        column: &mut [f64],
    ) -> Result<(), ModelError> {
        let n = field.n;
        let at = (self.t, &self.q[..], &self.before[..]);
        let along = Along { t: dt, q: &column[..n], v: &column[n..2 * n], p: &column[2 * n..] };
        field.tangent.coupling(at, along, &mut self.coupling)?;
        field.tangent.mass(at, &self.jump, along, &mut self.part)?;
        self.r.iter_mut().zip(&self.part).for_each(|(r, x)| *r = -x);
        for line in self.lines.iter().filter(|line| line.impulse != 0.0) {
            self.coupling.add_row(line.row, line.impulse, &mut self.r);
            let Unknown::Normal { law, slip: Some(d), .. } = line.kind else { continue };
            let mu = coupling.pairs[law].law.mu();
            for (tangent, d) in coupling.range(law).skip(1).zip(d) {
                self.coupling.add_row(tangent, -mu * d * line.impulse, &mut self.r);
                coupling.rows.add_row(tangent, -self.coupling.friction[tangent] * d * line.impulse, &mut self.r);
            }
        }
        field.model.solve(&mut self.r);
        let dv = &mut column[n..2 * n];
        self.x.clear();
        for line in &self.lines {
            let own = |row: usize, v: &[f64]| self.coupling.row_dot(row, v) + self.coupling.drift[row];
            let there = dot(&line.c, dv) + dot(&line.c, &self.r);
            self.x.push(match line.kind {
                Unknown::Normal { law, e, .. } => {
                    let approach = coupling.rows.dot(line.row, &self.before) + coupling.drift[line.row];
                    let change = if e > 0.0 { self.coupling.restitution[law] * approach } else { 0.0 };
                    -(there + own(line.row, &self.after))
                        - e * (dot(&line.c, dv) + own(line.row, &self.before))
                        - change
                }
                Unknown::Zero => -(there + own(line.row, &self.after)),
                Unknown::Turn { across, .. } => {
                    -(there + across[0] * own(line.row, &self.after) + across[1] * own(line.row + 1, &self.after))
                }
            });
        }
        self.system.solve(&mut self.x);
        for i in 0..n {
            dv[i] += self.r[i] + self.lines.iter().zip(&self.x).map(|(line, x)| line.response[i] * x).sum::<f64>();
        }
        Ok(())
    }

    /// Moves `dq` so that the gaps of the rows held do not change; for contacts that come to rest without an approach.
    pub fn close(&mut self, field: &mut Field, coupling: &Coupling, column: &mut [f64]) -> Result<(), ModelError> {
        let n = field.n;
        let at = (self.t, &self.q[..], &self.before[..]);
        let along = Along { t: 0.0, q: &column[..n], v: &column[n..2 * n], p: &column[2 * n..] };
        field.tangent.coupling(at, along, &mut self.coupling)?;
        self.x.clear();
        for line in &self.lines {
            let normal = coupling.offset.binary_search(&line.row);
            self.x.push(normal.map_or(0.0, |law| -self.coupling.gap[law]));
        }
        self.system.solve(&mut self.x);
        for i in 0..n {
            column[i] += self.lines.iter().zip(&self.x).map(|(line, x)| line.response[i] * x).sum::<f64>();
        }
        Ok(())
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
