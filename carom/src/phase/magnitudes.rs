//! How large coordinates and velocities are in a run: what tolerances are measured by where none is given.
//!
//! ```text
//!     Q_j = max |q_j|,    V_j = max |v_j|,    A_j = max T |(M⁻¹F)_j|    at starts of steps, T the longest one asked for    (1)
//!     V_j ← max(V_j, κ Q_j/T, κ √(E/M_jj)),    E = Σ M_jj (V_j² + A_j²/10⁴),    κ = 1/10                                   (2)
//!     behind the gap g_i:   |g_i| + Σ_j |C_ij| max(Q_j, κ T V_j),    behind its rate:   Σ_j |C_ij| V_j                     (3)
//! ```
//!
//! in the units of the coordinates, whatever they are, with the time τ of a step, asked for or proposed. (2) is for
//! those that are at rest, whose velocities are the rounding of other motion, of forces that cancel and of positions.
//! Magnitudes only grow, and a step that is done again finds them as they were.

use crate::model::{Places, mass_roots};
use crate::{Coupling, Mechanical, State};

/// κ of (2), and the share of forces in it: a step that is asked for may be many times as long as the motion's own.
const SHARE: f64 = 0.1;
const FORCES: f64 = 1e-2;

/// Part of T within which coordinates near the origin are not resolved.
const LEAST_PACE: f64 = 0.1;

/// Part of the size of its terms by which a gap is rounded.
pub(super) const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// Magnitudes that a run has met so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Magnitudes {
    /// (n) Q.
    pub q: Vec<f64>,
    /// (n) V with (2).
    pub v: Vec<f64>,
    /// T [s].
    pub time: f64,
    /// Which coordinates velocities move.
    pub places: Places,
    met: Vec<[f64; 2]>,  // (n) V and A of (1)
    roots: Vec<f64>,     // (n) √M_jj
    length: Option<f64>, // that the model says [m]
    origin: Vec<f64>,    // q that Q is counted from, where there are more coordinates than velocities
    way: Vec<f64>,       // (n) from there
}

carom_solve::persist!(Magnitudes { q, v, time, met, roots, length, origin, way } skip { places });

impl Magnitudes {
    pub fn of(model: &mut dyn Mechanical) -> Magnitudes {
        let (n, initial) = (model.dim(), model.initial());
        let roots = mass_roots(model);
        let (origin, way) = if initial.q.len() == n { Default::default() } else { (initial.q, vec![0.0; n]) };
        let zero = || vec![0.0; n];
        Magnitudes {
            q: zero(),
            v: zero(),
            time: 0.0,
            places: Places::of(&*model),
            met: vec![[0.0; 2]; n],
            roots,
            length: model.length(),
            origin,
            way,
        }
    }

    /// Forgets what was met.
    pub fn forget(&mut self) {
        self.q.fill(0.0);
        self.v.fill(0.0);
        self.met.fill([0.0; 2]);
        self.time = 0.0;
    }

    /// Takes what another one has met.
    pub fn follow(&mut self, other: &Magnitudes) {
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
        self.met.clone_from(&other.met);
        self.time = other.time;
    }

    /// Meets the start of a step that is to be `h` long, with the acceleration `a` over a time where it is known.
    pub fn meet(&mut self, model: &dyn Mechanical, at: &State, (a, time): (&[f64], f64), h: f64) {
        let q = if self.origin.is_empty() {
            &at.q
        } else {
            model.difference(&self.origin, &at.q, &mut self.way);
            &self.way
        };
        let mut grows = h > self.time;
        if grows {
            self.time = h;
        }
        let mut larger = |size: &mut f64, met: f64| {
            if met > *size && met < f64::INFINITY {
                *size = met;
                grows = true;
            }
        };
        let now = q.iter().zip(&at.v).enumerate();
        for ((size, met), (j, (q, v))) in self.q.iter_mut().zip(&mut self.met).zip(now) {
            larger(size, q.abs());
            larger(&mut met[0], v.abs());
            larger(&mut met[1], time * a.get(j).map_or(0.0, |a| a.abs()));
        }
        if grows {
            self.share();
        }
    }

    /// (2).
    fn share(&mut self) {
        let part = |([v, a], root): (&[f64; 2], &f64)| (v * root).powi(2) + (FORCES * a * root).powi(2);
        let energy = SHARE * self.met.iter().zip(&self.roots).map(part).sum::<f64>().sqrt();
        for (((v, q), met), root) in self.v.iter_mut().zip(&self.q).zip(&self.met).zip(&self.roots) {
            *v = met[0].max(SHARE * q / self.time).max(energy / root);
        }
    }

    /// The velocities (3) behind a row, with those of `v` [m/s].
    #[inline]
    pub fn speed(&self, row: &[(usize, f64)], v: &[f64]) -> f64 {
        row.iter().map(|&(j, c)| c.abs() * self.v[j].max(v[j].abs())).sum()
    }

    /// The lengths (3) behind the gap of law `i`, or the length that the model says [m].
    pub fn length(&self, coupling: &Coupling, i: usize) -> f64 {
        let row = coupling.rows.row(coupling.offset[i]);
        let size = |j: usize| self.q[j].max(SHARE * self.time * self.v[j]);
        let met = || row.iter().fold(coupling.pairs[i].gap.abs(), |sum, &(j, c)| sum + c.abs() * size(j));
        self.length.unwrap_or_else(met)
    }

    /// Rounding of the gap of law `i` at `q`: that of the terms whose difference it is [m].
    pub fn gap_rounding(&self, coupling: &Coupling, i: usize, q: &[f64]) -> f64 {
        let (size, sum) = self.places.terms(coupling.rows.row(coupling.offset[i]), q);
        // at rest in the origin all terms vanish
        (ROUNDING * (size + (coupling.pairs[i].gap - sum).abs())).max(f64::MIN_POSITIVE)
    }

    /// The same with that of the time at which an obstacle is where it is [m].
    pub fn gap_rounding_at(&self, coupling: &Coupling, i: usize, state: &State) -> f64 {
        let motion = coupling.drift[coupling.offset[i]] * state.t;
        self.gap_rounding(coupling, i, &state.q) + ROUNDING * motion.abs()
    }

    /// The velocity along a row that has the kinetic energy of both velocities [m/s]: what rounding may leave of it.
    pub fn share_of(&self, row: &[(usize, f64)], (v, w): (&[f64], &[f64])) -> f64 {
        let fastest = v.iter().zip(w).zip(&self.roots).fold(0.0f64, |m, ((v, w), r)| m.max(r * v.abs().max(w.abs())));
        fastest * row.iter().map(|&(j, c)| c.abs() / self.roots[j]).sum::<f64>()
    }

    /// (n) `out ←` positions at a state with the way in a step of length h from there, each as large as the largest one
    /// by the mass: what rounding of other positions leaves in it counts.
    pub fn extent(&self, at: &State, h: f64, out: &mut Vec<f64>) {
        out.clear();
        let (mut most, mut way) = (0.0f64, 0.0f64);
        for ((j, v), root) in at.v.iter().enumerate().zip(&self.roots) {
            (most, way) = (most.max(root * self.places.size(&at.q, j)), way.max(root * v.abs()));
        }
        out.extend(self.roots.iter().map(|root| (most + h * way) / root));
    }

    /// A time in which no coordinate changes by more than its size [s]; a second where nothing was met.
    pub fn pace(&self, q: &[f64], v: &[f64]) -> f64 {
        let least = LEAST_PACE * self.time;
        let of = |(j, v): (usize, &f64)| (self.q[j].max(self.places.size(q, j)) / v.abs()).max(least);
        let moving = v.iter().enumerate().take(self.q.len()).filter(|(_, v)| **v != 0.0);
        let pace = moving.map(of).fold(f64::INFINITY, f64::min);
        match (pace.is_finite(), self.time > 0.0) {
            (true, true) => pace,
            (false, true) => self.time,
            (_, false) => 1.0 / v.iter().fold(1.0f64, |m, v| m.max(v.abs())),
        }
    }

    /// A change of a coordinate or of a velocity that is like its size; 1 where nothing was met.
    pub fn step(&self, is_velocity: bool, j: usize) -> f64 {
        let size = if is_velocity { self.v[j] } else { self.q[j].max(self.time * self.v[j]) };
        if size > 0.0 { size } else { 1.0 }
    }

    /// The time in which a coordinate changes by its size, with this velocity and acceleration: the shortest one [s];
    /// zero where none tells it.
    pub fn natural_time(&self, v: &[f64], a: &[f64]) -> f64 {
        let moving = self.q.iter().zip(v).zip(a).filter(|((q, v), a)| **q > 0.0 && (**v != 0.0 || **a != 0.0));
        let time = moving.map(|((q, v), a)| q / (v.abs() + (q * a.abs()).sqrt())).fold(f64::INFINITY, f64::min);
        if time.is_finite() { time } else { 0.0 }
    }

    /// The power of two next to the unit of velocity `j` that the mass tells, 1/√M_jj.
    pub fn unit(&self, j: usize) -> f64 {
        f64::from_bits((1.0 / self.roots[j]).to_bits() & f64::INFINITY.to_bits()).max(f64::MIN_POSITIVE)
    }

    /// The largest of all sizes.
    pub fn largest(&self) -> f64 {
        self.q.iter().chain(&self.v).fold(0.0f64, |m, x| m.max(*x))
    }
}
