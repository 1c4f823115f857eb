//! The errors of an answer, written down once more from their definitions [acary2018]: own projections, own products,
//! own elimination, so that no test asks the code under test how well it did.
//!
//! ```text
//!     F(r, u)ᵢ = rᵢ − P_Kᵢ(rᵢ − uᵢ − μᵢ‖u_Tᵢ‖ n)
//!     reduced    ‖F‖ / max(‖b‖, ‖r‖, ‖u‖),          u = W r + b                                  (1)
//!     global     ‖M v − H r − q‖ / max(‖q‖, ‖M v‖, ‖H r‖) + ‖F‖ / max(‖r‖, ‖u‖),   u = Hᵀ v + b  (2)
//!     scaled     (1) after r = s r', u' = s u, b' = s b,   sᵢ = (tr Wᵢᵢ/dim)^(−1/2)              (3)
//! ```
//!
//! A denominator below the machine epsilon counts as one. What is not finite has an infinite error.

use carom_solve::{GlobalParts, Law, Rows, StoredProblem};

/// Entries (column, value) of a row.
pub type Row = Vec<(usize, f64)>;

/// `u = W r + b` and its laws, in the plainest form.
#[derive(Clone, Debug)]
pub struct Plain {
    pub laws: Vec<Law>,
    pub w: Vec<Row>,
    pub b: Vec<f64>,
}

impl Plain {
    /// A problem given by `W`, row-major.
    pub fn dense(laws: &[Law], w: &[f64], b: &[f64]) -> Plain {
        let row = |row: &[f64]| row.iter().copied().enumerate().filter(|x| x.1 != 0.0).collect();
        Plain { laws: laws.to_vec(), w: w.chunks(b.len().max(1)).map(row).collect(), b: b.to_vec() }
    }

    /// The reduced form of a stored problem.
    pub fn of(problem: &StoredProblem) -> Plain {
        let laws = problem.laws().to_vec();
        match (problem.given_w(), problem.global_parts()) {
            (Some(w), _) => Plain { laws, w: w.iter().map(<[_]>::to_vec).collect(), b: problem.b().to_vec() },
            (None, Some(parts)) => {
                let (w, b) = condensed(&parts);
                Plain { laws, w, b }
            }
            (None, None) => panic!("a problem is reduced or global"),
        }
    }

    pub fn u(&self, r: &[f64]) -> Vec<f64> {
        self.w.iter().zip(&self.b).map(|(row, b)| b + product(row, r)).collect()
    }

    /// The error (1).
    pub fn full_error(&self, r: &[f64]) -> f64 {
        if r.len() != self.b.len() {
            return f64::INFINITY;
        }
        relative_error(&self.laws, r, &self.u(r), norm(&self.b))
    }

    /// The error (3).
    pub fn scaled_error(&self, r: &[f64]) -> f64 {
        if r.len() != self.b.len() {
            return f64::INFINITY;
        }
        let s = self.scales();
        let times = |x: &[f64]| x.iter().zip(&s).map(|(x, s)| x * s).collect::<Vec<f64>>();
        let unscaled: Vec<f64> = r.iter().zip(&s).map(|(x, s)| x / s).collect();
        // the bounds of boxes are reactions
        let mut first = 0;
        let mut laws = self.laws.clone();
        for law in &mut laws {
            if law.size() == 1 {
                let (lower, upper) = law.bounds();
                *law = Law::interval(lower / s[first], upper / s[first]);
            }
            first += law.size();
        }
        relative_error(&laws, &unscaled, &times(&self.u(r)), norm(&times(&self.b)))
    }

    /// (m) s of each row; one where a law sees no inertia.
    pub fn scales(&self) -> Vec<f64> {
        let mut scales = Vec::with_capacity(self.b.len());
        for law in &self.laws {
            let rows = scales.len()..scales.len() + law.size();
            let trace: f64 = rows.clone().map(|i| entry(&self.w[i], i)).sum();
            let mean = trace / law.size() as f64;
            let scale = if mean > 0.0 { 1.0 / mean.sqrt() } else { 1.0 };
            scales.extend(rows.map(|_| scale));
        }
        scales
    }
}

/// The error of the form that was given: (1), or (2) with the velocity `v` in the given order of degrees of freedom.
pub fn error_as_given(problem: &StoredProblem, plain: &Plain, r: &[f64], v: Option<&[f64]>) -> f64 {
    match (problem.global_parts(), v) {
        (Some(parts), Some(v)) => global_error(&parts, problem.laws(), r, v),
        (Some(_), None) => f64::INFINITY,
        (None, _) => plain.full_error(r),
    }
}

/// The error (2).
fn global_error(parts: &GlobalParts, laws: &[Law], r: &[f64], v: &[f64]) -> f64 {
    if r.len() != parts.b.len() || v.len() != parts.q.len() {
        return f64::INFINITY;
    }
    let moved: Vec<f64> = parts.mass.iter().map(|row| product(row, v)).collect();
    let mut pushed = vec![0.0; v.len()];
    for (row, r) in parts.jacobian.iter().zip(r) {
        for &(j, value) in row {
            pushed[j] += value * r;
        }
    }
    let missed: Vec<f64> = (0..v.len()).map(|i| moved[i] - pushed[i] - parts.q[i]).collect();
    let size = norm(&parts.q).max(norm(&moved)).max(norm(&pushed));
    let dynamics = if size > f64::EPSILON { norm(&missed) / size } else { norm(&missed) };
    let u: Vec<f64> = parts.jacobian.iter().zip(&parts.b).map(|(row, b)| b + product(row, v)).collect();
    let error = dynamics + relative_error(laws, r, &u, 0.0);
    if error.is_finite() { error } else { f64::INFINITY }
}

/// ‖F‖ / max(offset, ‖r‖, ‖u‖).
fn relative_error(laws: &[Law], r: &[f64], u: &[f64], offset: f64) -> f64 {
    let (mut missed, mut first) = (0.0, 0);
    for law in laws {
        let rows = first..first + law.size();
        first = rows.end;
        missed += natural_map(law, &r[rows.clone()], &u[rows]).iter().map(|f| f * f).sum::<f64>();
    }
    let (r, u) = (norm(r), norm(u));
    let size = offset.max(r).max(u);
    let error = if size > f64::EPSILON { missed.sqrt() / size } else { missed.sqrt() };
    // `max` forgets what is not a number
    if (error + r + u + offset).is_finite() { error } else { f64::INFINITY }
}

/// F with ρ = 1; zeros beyond the rows of the law.
pub fn natural_map(law: &Law, r: &[f64], u: &[f64]) -> [f64; 3] {
    let mut x = [0.0; 3];
    for i in 0..law.size() {
        x[i] = r[i] - u[i];
    }
    let projected = if law.size() == 1 {
        let (lower, upper) = law.bounds();
        [if x[0] < lower { lower } else { upper.min(x[0]) }, 0.0, 0.0]
    } else {
        let slip = if law.size() == 2 { u[1].abs() } else { (u[1] * u[1] + u[2] * u[2]).sqrt() };
        x[0] -= law.mu() * slip;
        onto_cone(law.mu(), x)
    };
    let mut f = [0.0; 3];
    for i in 0..law.size() {
        f[i] = r[i] - projected[i];
    }
    f
}

/// The nearest point of the cone `‖x_T‖ ≤ μ x_N`: the point itself, or the nearest one of the ray (1, μ d) in its own
/// plane.
fn onto_cone(mu: f64, x: [f64; 3]) -> [f64; 3] {
    let size = (x[1] * x[1] + x[2] * x[2]).sqrt();
    if x[0] >= 0.0 && size <= mu * x[0] {
        return x;
    }
    if size == 0.0 {
        return [0.0; 3];
    }
    let ray = [1.0, mu * x[1] / size, mu * x[2] / size];
    let along = (x[0] + x[1] * ray[1] + x[2] * ray[2]) / (1.0 + mu * mu);
    ray.map(|a| a * along.max(0.0))
}

/// `Hᵀ M⁻¹ H` and `Hᵀ M⁻¹ q + b` by elimination with partial pivoting, zeros skipped.
fn condensed(parts: &GlobalParts) -> (Vec<Row>, Vec<f64>) {
    let (n, m) = (parts.q.len(), parts.b.len());
    let mut a: Vec<Vec<f64>> = parts.mass.iter().map(|row| full(row, n)).collect();
    // right-hand sides: the columns of H, then q
    let mut x = vec![vec![0.0; m + 1]; n];
    for (k, row) in parts.jacobian.iter().enumerate() {
        for &(j, value) in row {
            x[j][k] += value;
        }
    }
    for (x, q) in x.iter_mut().zip(&parts.q) {
        x[m] = *q;
    }
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        x.swap(k, pivot);
        let (top, below) = a.split_at_mut(k + 1);
        let (x_top, x_below) = x.split_at_mut(k + 1);
        for (row, x) in below.iter_mut().zip(x_below).filter(|row| row.0[k] != 0.0) {
            let factor = row[k] / top[k][k];
            (k..n).for_each(|j| row[j] -= factor * top[k][j]);
            (0..=m).for_each(|j| x[j] -= factor * x_top[k][j]);
        }
    }
    for k in (0..n).rev() {
        let (x_top, x_below) = x.split_at_mut(k + 1);
        for (j, x) in (k + 1..n).zip(x_below).filter(|(j, _)| a[k][*j] != 0.0) {
            (0..=m).for_each(|i| x_top[k][i] -= a[k][j] * x[i]);
        }
        x_top[k].iter_mut().for_each(|x| *x /= a[k][k]);
    }
    let times = |row: &[(usize, f64)], k: usize| row.iter().map(|&(j, value)| value * x[j][k]).sum::<f64>();
    let columns = |row: &[(usize, f64)]| (0..m).map(|k| (k, times(row, k))).filter(|x| x.1 != 0.0).collect();
    let w = parts.jacobian.iter().map(columns).collect();
    let b = parts.jacobian.iter().zip(&parts.b).map(|(row, b)| b + times(row, m)).collect();
    (w, b)
}

fn full(row: &[(usize, f64)], n: usize) -> Vec<f64> {
    let mut full = vec![0.0; n];
    row.iter().for_each(|&(j, value)| full[j] += value);
    full
}

/// The rows of a matrix for a stored problem.
pub fn rows(w: &[Row], columns: usize) -> Rows {
    let mut rows = Rows::new(columns);
    w.iter().for_each(|row| rows.push_sparse(row.iter().copied()));
    rows
}

fn entry(row: &[(usize, f64)], column: usize) -> f64 {
    row.iter().filter(|x| x.0 == column).map(|x| x.1).sum()
}

pub fn product(row: &[(usize, f64)], x: &[f64]) -> f64 {
    row.iter().map(|&(j, value)| value * x[j]).sum()
}

pub fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}
