//! Which branch each law of a balance is on, and the matrix (6) that follows; equation numbers are those of
//! [`tangent`](super).

use super::{AT_START, BalanceTangent, Kind, RowState, RowsAt};
use crate::balance::words::{Acting, Level};

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
                self.choose_tangents(first + 1..first + size, acting);
            }
            first += size;
        }
    }

    /// Stick or slip.
    fn choose_tangents(&mut self, lines: std::ops::Range<usize>, acting: Acting) {
        if lines.is_empty() {
            return;
        }
        let (mut u, mut natural) = ([0.0; 2], [0.0; 2]);
        let w = self.lines[lines.clone()].iter().map(|line| line.w).sum::<f64>() / lines.len() as f64;
        for (k, line) in lines.clone().enumerate() {
            u[k] = self.value(&self.lines[line]);
            natural[k] = acting.impulse[k + 1] - u[k] / w;
        }
        let (speed, bound) = (u[0].hypot(u[1]), acting.law.mu() * acting.impulse[0]);
        let sticks = bound > 0.0 && natural[0].hypot(natural[1]) <= bound;
        let d = if speed > 0.0 { [u[0] / speed, u[1] / speed] } else { [0.0; 2] };
        let slip = Kind::Slip { first: lines.start, speed };
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
                Kind::Slip { first, .. } => {
                    let (mu, turn, share) = slip(line, &self.acting[line.acting]);
                    let tangents = self.acting[line.acting].law.size() - 1;
                    for (l, x) in row.iter_mut().enumerate() {
                        let along: f64 = (0..tangents).map(|b| line.d[b] * w[(first + b) * m + l]).sum();
                        *x = share * turn * (w[k * m + l] - line.d[line.component - 1] * along);
                    }
                    row[k] += share * line.w;
                    row[first - 1] += share * line.w * mu * line.d[line.component - 1];
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

/// μ, μ P_N w/|U_T|, and the factor that keeps a row of (6) from growing as the slip comes to an end.
pub(super) fn slip(line: &RowState, acting: &Acting) -> (f64, f64, f64) {
    let (mu, Kind::Slip { speed, .. }) = (acting.law.mu(), line.kind) else { return (0.0, 0.0, 1.0) };
    let strength = mu * acting.impulse[0] * line.w;
    if speed > 0.0 { (mu, strength / speed, speed / (speed + strength)) } else { (mu, 0.0, 1.0) }
}
