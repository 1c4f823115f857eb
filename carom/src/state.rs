//! The state of a system: explicit data, never hidden in a model.

/// Time, positions and velocities. A first-order system keeps its state in `q` and leaves `v` empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Time [s].
    pub t: f64,
    /// Positions, or the state of a first-order system.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
}

carom_solve::persist!(State { t, q, v });

impl State {
    /// A state with copies of positions and velocities.
    pub fn new(t: f64, q: &[f64], v: &[f64]) -> Self {
        State { t, q: q.to_vec(), v: v.to_vec() }
    }

    /// Copies without allocating once the sizes agree.
    pub fn copy_from(&mut self, other: &State) {
        self.t = other.t;
        self.q.clone_from(&other.q);
        self.v.clone_from(&other.v);
    }

    /// Whether time, positions and velocities are all finite.
    #[expect(clippy::eq_op, reason = "x − x is +0, or no number where x is none")]
    pub fn is_finite(&self) -> bool {
        // without a branch for each number, and in two operations
        let all = |x: &[f64]| x.iter().fold(0, |bits, x| bits | (x - x).to_bits()) == 0;
        self.t.is_finite() & all(&self.q) & all(&self.v)
    }
}

/// `to ← from`, of the same length. Small models have one or two numbers: a call of `memcpy` costs more than they do.
#[inline(always)]
pub(crate) fn copy(from: &[f64], to: &mut [f64]) {
    match (from, &mut *to) {
        (&[a], [x]) => *x = a,
        (&[a, b], [x, y]) => (*x, *y) = (a, b),
        (from, to) => to.copy_from_slice(from),
    }
}

/// Adds `from` at the end of `to`, as [`copy`] does.
#[inline(always)]
pub(crate) fn append(from: &[f64], to: &mut Vec<f64>) {
    match *from {
        [a] => to.push(a),
        [a, b] => to.extend([a, b]),
        _ => to.extend_from_slice(from),
    }
}
