//! Points y and directions between them, and linear systems whose solutions are directions.
//!
//! ```text
//!     y = (q, v, …),   dy = (dq, dv, …) with as many dq as dv,   y ⊕ dy = (q ⊕ dq, v + dv, …)                           (1)
//! ```
//!
//! Attitudes are no vectors: dq is an increment on the chart of the model. Whatever else y has is added as it is.

use super::super::{Cyclic, StudyError};
use super::Case;
use carom::State;
use nalgebra::{DMatrix, DVector};

/// A pivot or a singular value below this part of the largest one is zero.
const SINGULAR: f64 = 1e-9;

/// A coordinate moved by this much is moved by exactly this much, if nothing but it moves [m].
const MOVED: f64 = 0.5;

impl Case {
    /// The state of y, at a time.
    pub(super) fn state_of(&self, y: &[f64], t: f64) -> State {
        let (positions, velocities) = (self.motion.state().q.len(), self.motion.state().v.len());
        State::new(t, &y[..positions], &y[positions..positions + velocities])
    }

    /// y ⊕ dy of (1).
    pub(super) fn moved(&self, y: &DVector<f64>, dy: &DVector<f64>) -> DVector<f64> {
        let from = self.state_of(y.as_slice(), 0.0);
        let mut to = from.clone();
        let (way, more) = dy.as_slice().split_at(2 * from.v.len());
        self.motion.space().retract(&from, way, &mut to);
        let kept = &y.as_slice()[from.q.len() + from.v.len()..];
        let rest = kept.iter().zip(more).map(|(y, d)| y + d);
        DVector::from_iterator(y.len(), to.q.into_iter().chain(to.v).chain(rest))
    }

    /// dy of (1) from a to b.
    pub(super) fn apart(&self, a: &DVector<f64>, b: &DVector<f64>) -> DVector<f64> {
        let ends = [a, b].map(|y| self.state_of(y.as_slice(), 0.0));
        let (size, known) = (2 * ends[0].v.len(), ends[0].q.len() + ends[0].v.len());
        let mut out = DVector::zeros(size + a.len() - known);
        self.motion.space().difference(&ends[0], &ends[1], &mut out.as_mut_slice()[..size]);
        (known..a.len()).for_each(|i| out[size + i - known] = b[i] - a[i]);
        out
    }

    /// The state between two, a part of the way.
    pub(super) fn between(&self, a: &State, b: &State, s: f64) -> State {
        let (mut way, mut out) = (vec![0.0; 2 * a.v.len()], a.clone());
        self.motion.space().difference(a, b, &mut way);
        way.iter_mut().for_each(|d| *d *= s);
        self.motion.space().retract(a, &way, &mut out);
        out.t = a.t + s * (b.t - a.t);
        out
    }

    /// The entry of dq that moves a coordinate and nothing else.
    pub(super) fn direction_of(&self, coordinate: usize) -> Result<usize, StudyError> {
        let from = self.motion.state();
        let n = from.v.len();
        if from.q.len() == n {
            return Ok(coordinate);
        }
        let (mut way, mut to) = (vec![0.0; 2 * n], from.clone());
        for k in 0..n {
            way.fill(0.0);
            way[k] = MOVED;
            self.motion.space().retract(from, &way, &mut to);
            let alone = (0..from.q.len()).all(|i| (to.q[i] == from.q[i]) == (i != coordinate));
            if alone && to.q[coordinate] == from.q[coordinate] + MOVED {
                return Ok(k);
            }
        }
        let name = self.motion.labels().coordinates.get(coordinate).cloned().unwrap_or_default();
        let message = format!("the coordinate `{name}` has no direction of its own: it is a part of an attitude");
        Err(StudyError::usage(message, "attitudes come back by themselves; only lengths and plane angles are cyclic"))
    }

    /// Cyclic coordinates by their directions.
    pub(super) fn cyclic_directions(&self) -> Result<Cyclic, StudyError> {
        let direction = |i: usize| Ok((self.direction_of(i)?, self.cyclic.length(i).unwrap_or(0.0)));
        let all: Result<Vec<_>, StudyError> = self.cyclic.coordinates().map(direction).collect();
        Ok(Cyclic::new(&all?))
    }
}

/// Whether a matrix has no inverse to speak of: its orbit is one of a family.
pub(super) fn is_singular(matrix: &DMatrix<f64>) -> bool {
    has_no_inverse(&matrix.clone().lu())
}

fn has_no_inverse(lu: &nalgebra::LU<f64, nalgebra::Dyn, nalgebra::Dyn>) -> bool {
    let pivots = lu.u().diagonal().abs();
    let (least, largest) = (pivots.min(), pivots.max());
    // a NaN is no pivot
    pivots.is_empty() || least.is_nan() || largest.is_nan() || least <= SINGULAR * largest
}

/// Solutions of a system, the best first. Where it is singular that is the shortest one, which leaves alone what keeps
/// an orbit in its family.
pub(super) fn solutions(matrix: DMatrix<f64>, rhs: &DVector<f64>) -> Vec<DVector<f64>> {
    let lu = matrix.clone().lu();
    let mut all = Vec::new();
    if has_no_inverse(&lu) && matrix.iter().all(|x| x.is_finite()) {
        let svd = matrix.svd(true, true);
        let least = SINGULAR * svd.singular_values.max();
        all.extend(svd.solve(rhs, least).ok());
    }
    all.extend(lu.solve(rhs).filter(|x| x.iter().all(|x| x.is_finite())));
    all
}
