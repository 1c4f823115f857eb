//! What sources add to the zero-dynamics form: the offset o of z and the forcing s.
//!
//! ```text
//!     o_{i,j} = cᵢ^{(j−1)} + Σ_{l<j−1} (Cᵢ A^{j−2−l}) a^{(l)},   j = 1, ..., rᵢ + 1                       (1)
//!     s_{i,j} = 0 (j < rᵢ),   s_{i,rᵢ} = o_{i,rᵢ+1} − (Ā o)_{i,rᵢ},     s_ξ = N a − (Ā o)_ξ                 (2)
//! ```
//!
//! (1) is the rule z_{j+1} = ż_j; (2) follows with x = W⁻¹(z − o).

use crate::ModelError;
use crate::model::Lcs;
use crate::zero_dynamics::ZeroDynamics;
use carom_solve::elementary::powf;
use nalgebra::DMatrix;

/// Buffers for o and s, in scaled variables; empty where there are no sources.
pub(super) struct Sources {
    constant: bool,
    known: Option<(f64, f64)>, // time and step of what is held
    chains: Vec<usize>,
    w: DMatrix<f64>,
    a_bar: DMatrix<f64>,
    inertia: Option<DMatrix<f64>>,
    state: Vec<f64>,
    output: Vec<f64>,
    time: f64,
    order: usize,                 // longest chain
    state_derivatives: Vec<f64>,  // ((order + 1) × n) a^{(l)}
    output_derivatives: Vec<f64>, // ((order + 1) × m) c^{(l)}
    samples: Vec<f64>,            // ((order + 1) × (n + m)) values that are differenced
    offset: Vec<f64>,             // (n) o, zero in ξ
    forcing: Vec<f64>,            // (n) s
    buffer: Vec<f64>,             // (n)
}

carom_solve::persist!(Sources {
    known, state_derivatives, output_derivatives, samples, offset, forcing, buffer,
} skip { constant, chains, w, a_bar, inertia, state, output, time, order });

impl Sources {
    pub(super) fn new(form: &ZeroDynamics, lcs: &Lcs) -> Sources {
        let (n, m) = lcs.sizes();
        let scaled = form.scaled();
        let [w, _, a_bar, _] = form.matrices();
        let order = form.degrees().iter().copied().max().unwrap_or(0);
        Sources {
            constant: lcs.has_constant_sources(),
            known: None,
            chains: form.chains().to_vec(),
            w: w.clone(),
            a_bar: a_bar.clone(),
            inertia: scaled.inertia.clone(),
            state: scaled.state.clone(),
            output: scaled.output.clone(),
            time: scaled.time,
            order,
            state_derivatives: vec![0.0; (order + 1) * n],
            output_derivatives: vec![0.0; (order + 1) * m],
            samples: vec![0.0; (order + 1) * (n + m)],
            offset: vec![0.0; n],
            forcing: vec![0.0; n],
            buffer: vec![0.0; n],
        }
    }

    /// o at the time of the last evaluation.
    pub(super) fn offset(&self) -> &[f64] {
        &self.offset
    }

    /// `z ← z + η s`.
    pub(super) fn add_forcing(&self, eta: f64, z: &mut [f64]) {
        z.iter_mut().zip(&self.forcing).for_each(|(z, s)| *z += eta * s);
    }

    /// o and s at `t`, for steps of `h`.
    pub(super) fn evaluate(&mut self, lcs: &mut Lcs, t: f64, h: f64) -> Result<(), ModelError> {
        if self.known == Some((t, h)) || (self.constant && self.known.is_some()) {
            return Ok(());
        }
        let (n, m) = lcs.sizes();
        for l in 0..=self.order {
            if l > 0 && self.constant {
                break;
            }
            let power = self.time.powi(l as i32);
            let span = (powf(f64::EPSILON, 1.0 / (l as f64 + 2.0)) / self.time).min(100.0 * h);
            self.difference(lcs, t, (l, span))?;
            for j in 0..n {
                self.state_derivatives[l * n + j] = self.buffer[j] / (self.state[j] * self.time * power);
            }
            for i in 0..m {
                self.output_derivatives[l * m + i] = self.samples[n + i] * self.output[i] / power;
            }
        }
        self.fill(n, m);
        self.known = Some((t, h));
        Ok(())
    }

    /// Derivative of order l by central differences: E⁻¹ a in `buffer`, c behind the first n of `samples`.
    fn difference(&mut self, lcs: &mut Lcs, t: f64, (l, span): (usize, f64)) -> Result<(), ModelError> {
        let (n, m) = lcs.sizes();
        let width = n + m;
        for k in 0..=l {
            let at = t + (k as f64 - 0.5 * l as f64) * span;
            let sample = &mut self.samples[k * width..(k + 1) * width];
            let (a, c) = sample.split_at_mut(n);
            lcs.state_source(at, a)?;
            lcs.output_source(at, c)?;
        }
        // differences of differences: exactly zero where nothing changes
        for pass in 0..l {
            for k in 0..l - pass {
                for j in 0..width {
                    let (low, high) = (self.samples[k * width + j], self.samples[(k + 1) * width + j]);
                    self.samples[k * width + j] = (high - low) / span;
                }
            }
        }
        match &self.inertia {
            None => self.buffer.copy_from_slice(&self.samples[..n]),
            Some(inverse) => {
                for (i, out) in self.buffer.iter_mut().enumerate() {
                    *out = (0..n).map(|j| inverse[(i, j)] * self.samples[j]).sum();
                }
            }
        }
        Ok(())
    }

    /// (1) and (2) from the derivatives.
    fn fill(&mut self, n: usize, m: usize) {
        let start = self.chains[m];
        self.offset.fill(0.0);
        self.forcing.fill(0.0);
        for i in 0..m {
            let (first, r) = (self.chains[i], self.chains[i + 1] - self.chains[i]);
            for j in 1..=r + 1 {
                let mut o = self.output_derivatives[(j - 1) * m + i];
                for l in 0..j - 1 {
                    let a = &self.state_derivatives[l * n..(l + 1) * n];
                    let row = self.w.row(first + j - 2 - l);
                    o += row.iter().zip(a).map(|(w, a)| w * a).sum::<f64>();
                }
                if j <= r {
                    self.offset[first + j - 1] = o;
                } else {
                    self.forcing[first + r - 1] = o;
                }
            }
        }
        for k in start..n {
            self.forcing[k] = self.w.row(k).iter().zip(&self.state_derivatives).map(|(w, a)| w * a).sum();
        }
        let ends = (0..m).map(|i| self.chains[i + 1] - 1);
        for k in ends.chain(start..n) {
            self.forcing[k] -= (0..n).map(|j| self.a_bar[(k, j)] * self.offset[j]).sum::<f64>();
        }
    }
}
