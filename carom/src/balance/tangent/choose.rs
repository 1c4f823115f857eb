//! Which branch each law of a balance is on, and the matrix (6) that follows; equation numbers are those of
//! [`tangent`](super).

use super::{AT_START, BalanceTangent, Kind, RowState, RowsAt};
use crate::balance::words::{Acting, Level};
use carom_solve::Disc;
use carom_solve::elementary::hypot;
use std::ops::Range;

impl BalanceTangent {
    /// What (3) demands to be zero, or the tangential velocity.
    fn value(&self, line: &RowState) -> f64 {
        let acting = &self.acting[line.acting];
        let RowsAt { coupling, place, .. } = &self.sites[self.at[line.acting][1]];
        let normal = line.component == 0;
        if normal && acting.level == Level::Gap {
            return coupling.pairs[line.law].gap / (self.h * place.beta);
        }
        let own = coupling.rows.dot(line.row, &self.after) + coupling.drift[line.row];
        let Level::Velocity(Some(e)) = acting.level else { return own };
        if !normal {
            return own;
        }
        let coupling = &self.sites[AT_START].coupling;
        own + e * (coupling.rows.dot(line.row, &self.v) + coupling.drift[line.row])
    }

    /// The branch of each law.
    pub(super) fn choose(&mut self) {
        let m = self.lines.len();
        let mut first = 0;
        while first < m {
            let acting = self.acting[self.lines[first].acting];
            let size = acting.law.size();
            for k in first..first + size {
                let w = self.delassus[k * m + k];
                self.lines[k].w = if w > 0.0 && w.is_finite() { w } else { 1.0 };
                self.lines[k].kind = Kind::Idle;
            }
            let (w, p) = (self.lines[first].w, acting.impulse[0]);
            let natural = p - self.value(&self.lines[first]) / w;
            let (lower, upper) = acting.law.bounds();
            let acts = lower < natural && natural < upper && (p > lower || !acting.law.is_contact());
            if acts {
                self.lines[first].kind = Kind::Zero;
            }
            for (rows, disc) in acting.law.discs().filter(|(_, disc)| acts || disc.radius > 0.0) {
                self.choose_disc(first, rows, (disc, acting));
            }
            first += size;
        }
    }

    /// Stick or slip of the rows in a disc of the law whose normal row is the line `normal`.
    fn choose_disc(&mut self, normal: usize, rows: Range<usize>, (disc, acting): (Disc, Acting)) {
        let lines = normal + rows.start..normal + rows.end;
        let (mut u, mut natural) = ([0.0; 2], [0.0; 2]);
        let w = self.lines[lines.clone()].iter().map(|line| line.w).sum::<f64>() / lines.len() as f64;
        for (k, line) in lines.clone().enumerate() {
            u[k] = self.value(&self.lines[line]);
            natural[k] = acting.impulse[rows.start + k] - u[k] / w;
        }
        let (speed, bound) = (hypot(u[0], u[1]), disc.radius + disc.mu * acting.impulse[0]);
        let sticks = bound > 0.0 && hypot(natural[0], natural[1]) <= bound;
        let d = if speed > 0.0 { [u[0] / speed, u[1] / speed] } else { [0.0; 2] };
        let slip = Kind::Slip { normal, first: lines.start, size: rows.len(), mu: disc.mu, bound, speed };
        for line in &mut self.lines[lines] {
            (line.kind, line.d, line.w) = (if sticks { Kind::Zero } else { slip }, d, w);
        }
    }

    /// The matrix of (6), scaled by the size of W.
    pub(super) fn assemble(&mut self) {
        let m = self.lines.len();
        self.scale.clear();
        self.scale.extend(self.lines.iter().map(|line| 1.0 / line.w.sqrt()));
        let matrix = self.system.matrix_mut(m);
        let w = &self.delassus;
        for (k, line) in self.lines.iter().enumerate() {
            let row = &mut matrix[k * m..(k + 1) * m];
            match line.kind {
                Kind::Idle => row[k] = line.w,
                Kind::Zero => row.copy_from_slice(&w[k * m..(k + 1) * m]),
                Kind::Slip { normal, first, size, mu, bound, speed } => {
                    let ((turn, share), d) = (slip(line.w, bound, speed), line.d[k - first]);
                    for (l, x) in row.iter_mut().enumerate() {
                        let along: f64 = (0..size).map(|b| line.d[b] * w[(first + b) * m + l]).sum();
                        *x = share * turn * (w[k * m + l] - d * along);
                    }
                    row[k] += share * line.w;
                    row[normal] += share * line.w * mu * d;
                }
            }
        }
        for k in 0..m {
            for l in 0..m {
                matrix[k * m + l] *= self.scale[k] * self.scale[l];
            }
        }
        self.system.factor();
    }
}

/// |P_T| w/|U_T|, and the factor that keeps a row of (6) from growing as the slip comes to an end.
pub(super) fn slip(w: f64, bound: f64, speed: f64) -> (f64, f64) {
    if speed > 0.0 { (bound * w / speed, speed / (speed + bound * w)) } else { (0.0, 1.0) }
}
