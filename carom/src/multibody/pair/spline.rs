//! A closed curve through points: the periodic cubic spline with two continuous derivatives, and its closest point.
//!
//! ```text
//!     C(s) = P_j + b_j t + M_j t²/2 + (M_{j+1} − M_j) t³/6,      t = s − j ∈ [0, 1]                                (1)
//!     M_{j−1} + 4 M_j + M_{j+1} = 6 (P_{j+1} − 2 P_j + P_{j−1})                                                   (2)
//!     closest point of c:   f(s) = (C(s) − c)·C'(s) = 0                                                            (3)
//! ```
//!
//! On a piece f is a polynomial of degree five. Its roots are separated by the signs of its Bernstein coefficients and
//! found by Newton's method inside a bracket; pieces that cannot hold the closest point are left out by a circle around
//! them.

use crate::model::Scalar;
use carom_solve::elementary::hypot;

/// A point or a vector of the plane of the curve.
type Pair = [f64; 2];

/// The curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Spline {
    pieces: Vec<Piece>,
    outward: f64, // 1 where the points go around counter-clockwise, else −1
}

/// One piece of (1), with a circle around it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    coefficients: [Pair; 4], // of 1, t, t², t³
    middle: Pair,
    radius: f64,
}

/// Points that make no curve.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplineError {
    /// Too few points.
    #[error("a closed curve needs at least 3 points; there are {0}")]
    Few(usize),
    /// A number is infinite or not a number.
    #[error("point {0} of the curve is not finite")]
    NotFinite(usize),
    /// Two points in a row are the same.
    #[error("point {0} of the curve is the same as the one before it")]
    Twice(usize),
    /// The curve comes to a halt, so that it has no direction.
    #[error("the curve has no direction next to point {0}: are its points uneven or do they turn back?")]
    Cusp(usize),
    /// The curve has no inside.
    #[error("the points of the curve have no area between them")]
    Flat,
}

/// Where a curve is at one parameter, with two derivatives.
pub struct Spot<T> {
    /// C
    pub at: [T; 2],
    /// C'
    pub slope: [T; 2],
    /// C''
    pub bend: [T; 2],
}

impl Spline {
    /// The curve through these points; the last one is followed by the first one.
    pub fn through(points: &[Pair]) -> Result<Self, SplineError> {
        let n = points.len();
        if n < 3 {
            return Err(SplineError::Few(n));
        }
        if let Some(j) = points.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return Err(SplineError::NotFinite(j));
        }
        if let Some(j) = (0..n).find(|&j| points[j] == points[(j + n - 1) % n]) {
            return Err(SplineError::Twice(j));
        }
        let column = |i: usize| second_derivatives(&points.iter().map(|p| p[i]).collect::<Vec<_>>());
        let (mx, my) = (column(0), column(1));
        let bend = |j: usize| [mx[j % n], my[j % n]];
        let pieces: Vec<Piece> =
            (0..n).map(|j| Piece::new([points[j], points[(j + 1) % n]], [bend(j), bend(j + 1)])).collect();
        if let Some(j) = pieces.iter().position(Piece::has_cusp) {
            return Err(SplineError::Cusp(j));
        }
        let area: f64 = (0..n).map(|j| cross(points[j], points[(j + 1) % n])).sum();
        let size: f64 = points.iter().map(|p| dot(*p, *p)).sum();
        if area.abs() <= 1e-14 * size {
            return Err(SplineError::Flat);
        }
        Ok(Spline { pieces, outward: area.signum() })
    }

    /// Number of points; the parameter goes from 0 to it.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// There is always a point.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// 1 where the points go around counter-clockwise, else −1.
    pub fn outward(&self) -> f64 {
        self.outward
    }

    /// A bound of the distance of its points from their origin.
    pub fn reach(&self) -> f64 {
        self.pieces.iter().map(|p| length(p.middle) + p.radius).fold(0.0, f64::max)
    }

    /// The curve on piece `j` at t, which may leave [0, 1] a little.
    #[inline]
    pub fn spot<T: Scalar>(&self, j: usize, t: T) -> Spot<T> {
        let c = &self.pieces[j].coefficients;
        let at = |i: usize| ((t * c[3][i] + c[2][i]) * t + c[1][i]) * t + c[0][i];
        let slope = |i: usize| (t * (3.0 * c[3][i]) + 2.0 * c[2][i]) * t + c[1][i];
        let bend = |i: usize| t * (6.0 * c[3][i]) + 2.0 * c[2][i];
        Spot { at: [at(0), at(1)], slope: [slope(0), slope(1)], bend: [bend(0), bend(1)] }
    }

    /// The closest point of the curve to `c`: piece and t in it. Of equally close ones the first.
    pub fn closest(&self, c: Pair) -> (usize, f64) {
        let mut best = Best { square: f64::INFINITY, piece: 0, t: 0.0 };
        for (j, piece) in self.pieces.iter().enumerate() {
            best.try_at(piece, j, 0.0, c);
        }
        for (j, piece) in self.pieces.iter().enumerate() {
            let off = sub(c, piece.middle);
            if length(off) - piece.radius > best.square.sqrt() {
                continue;
            }
            piece.roots(piece.bernstein(c), [0.0, 1.0], 0, &mut |t| best.try_at(piece, j, piece.polish(t, c), c));
        }
        (best.piece, best.t)
    }

    /// The same, with derivatives: Newton's steps of (3) from the closest point. Each step doubles the number of
    /// derivatives that are exact.
    pub fn closest_of<T: Scalar>(&self, c: [T; 2]) -> (usize, T) {
        let (j, t) = self.closest(c.map(|x| x.re()));
        let mut t = T::from(t);
        let mut exact = 0;
        while exact < T::NDERIV {
            let Spot { at, slope, bend } = self.spot(j, t);
            let off = [at[0] - c[0], at[1] - c[1]];
            let speed = slope[0] * slope[0] + slope[1] * slope[1];
            let rate = speed + off[0] * bend[0] + off[1] * bend[1];
            if rate.re().abs() <= 1e-12 * speed.re() {
                break; // c is a centre of curvature: the closest point jumps
            }
            t -= (off[0] * slope[0] + off[1] * slope[1]) / rate;
            exact = 2 * exact + 1;
        }
        (j, t)
    }
}

/// The closest point so far.
struct Best {
    square: f64,
    piece: usize,
    t: f64,
}

impl Best {
    fn try_at(&mut self, piece: &Piece, j: usize, t: f64, c: Pair) {
        let off = sub(piece.at(t), c);
        let square = dot(off, off);
        if square < self.square {
            *self = Best { square, piece: j, t };
        }
    }
}

impl Piece {
    fn new([p, q]: [Pair; 2], [m, l]: [Pair; 2]) -> Self {
        let of = |i: usize| [p[i], q[i] - p[i] - (2.0 * m[i] + l[i]) / 6.0, m[i] / 2.0, (l[i] - m[i]) / 6.0];
        let (x, y) = (of(0), of(1));
        let coefficients: [Pair; 4] = std::array::from_fn(|k| [x[k], y[k]]);
        let mut piece = Piece { coefficients, middle: [0.0; 2], radius: 0.0 };
        let hull = piece.control();
        piece.middle = [hull.iter().map(|p| p[0]).sum::<f64>() / 4.0, hull.iter().map(|p| p[1]).sum::<f64>() / 4.0];
        // a little more, for the rounding of distances
        piece.radius = hull.iter().map(|p| length(sub(*p, piece.middle))).fold(0.0, f64::max) * (1.0 + 1e-12);
        piece
    }

    /// Points whose hull holds the piece.
    fn control(&self) -> [Pair; 4] {
        let [a, b, c, d] = self.coefficients;
        let of = |i: usize| {
            let (a, b, c, d) = (a[i], b[i], c[i], d[i]);
            [a, a + b / 3.0, a + 2.0 * b / 3.0 + c / 3.0, a + b + c + d]
        };
        let (x, y) = (of(0), of(1));
        std::array::from_fn(|k| [x[k], y[k]])
    }

    fn at(&self, t: f64) -> Pair {
        let [a, b, c, d] = self.coefficients;
        std::array::from_fn(|i| ((d[i] * t + c[i]) * t + b[i]) * t + a[i])
    }

    fn has_cusp(&self) -> bool {
        let [_, b, c, d] = self.coefficients;
        let slope = |t: f64| -> Pair { std::array::from_fn(|i| (3.0 * d[i] * t + 2.0 * c[i]) * t + b[i]) };
        let size = self.radius.max(f64::MIN_POSITIVE);
        (0..=64).any(|k| length(slope(f64::from(k) / 64.0)) <= 1e-3 * size)
    }

    /// Bernstein coefficients of (C − c)·C' on the piece.
    fn bernstein(&self, c: Pair) -> [f64; 6] {
        let p = self.control().map(|p| sub(p, c));
        let d: [Pair; 3] = std::array::from_fn(|k| sub(p[k + 1], p[k]).map(|x| 3.0 * x));
        // product of degrees three and two: Σ C(3,i) C(2,k) / C(5,i+k) p_i·d_k
        let mut out = [0.0; 6];
        for (i, ci) in [1.0, 3.0, 3.0, 1.0].into_iter().enumerate() {
            for (k, ck) in [1.0, 2.0, 1.0].into_iter().enumerate() {
                out[i + k] += ci * ck * dot(p[i], d[k]);
            }
        }
        let weights = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0];
        std::array::from_fn(|k| out[k] / weights[k])
    }

    /// Calls with each t at which the coefficients of the interval change their sign from minus to plus.
    fn roots(&self, b: [f64; 6], [low, high]: [f64; 2], depth: usize, found: &mut dyn FnMut(f64)) {
        let changes = b.windows(2).filter(|w| (w[0] < 0.0) != (w[1] < 0.0)).count();
        if changes == 0 {
            return;
        }
        if depth == 40 || (changes == 1 && depth >= 2) {
            return found(bisect(b, low, high));
        }
        let (left, right) = halves(b);
        let middle = 0.5 * (low + high);
        self.roots(left, [low, middle], depth + 1, found);
        self.roots(right, [middle, high], depth + 1, found);
    }

    /// Newton's steps on (3), which has a root next to t.
    fn polish(&self, mut t: f64, c: Pair) -> f64 {
        let [_, b, c2, c3] = self.coefficients;
        for _ in 0..3 {
            let off = sub(self.at(t), c);
            let slope: Pair = std::array::from_fn(|i| (3.0 * c3[i] * t + 2.0 * c2[i]) * t + b[i]);
            let bend: Pair = std::array::from_fn(|i| 6.0 * c3[i] * t + 2.0 * c2[i]);
            let rate = dot(slope, slope) + dot(off, bend);
            let step = dot(off, slope) / rate;
            if step.is_nan() || step.abs() >= 0.1 {
                return t;
            }
            t = (t - step).clamp(0.0, 1.0);
        }
        t
    }
}

/// The root of a polynomial by its Bernstein coefficients, between ends of different sign: Newton's method with the
/// derivative by differences, and bisection where it leaves the bracket.
fn bisect(b: [f64; 6], low: f64, high: f64) -> f64 {
    let (mut left, mut right) = (0.0, 1.0);
    let rises = b[0] < 0.0 || b[5] > 0.0;
    let mut t = 0.5;
    for _ in 0..60 {
        let (f, slope) = value(b, t);
        if f == 0.0 {
            break;
        }
        if (f > 0.0) == rises {
            right = t;
        } else {
            left = t;
        }
        let newton = t - f / slope;
        let next = if newton > left && newton < right { newton } else { 0.5 * (left + right) };
        if (next - t).abs() <= 1e-16 {
            break;
        }
        t = next;
    }
    low + t * (high - low)
}

/// Value and derivative, by de Casteljau's triangle.
fn value(b: [f64; 6], t: f64) -> (f64, f64) {
    let mut b = b;
    for k in (2..6).rev() {
        for i in 0..k {
            b[i] += t * (b[i + 1] - b[i]);
        }
    }
    (b[0] + t * (b[1] - b[0]), 5.0 * (b[1] - b[0]))
}

/// Coefficients on both halves.
fn halves(b: [f64; 6]) -> ([f64; 6], [f64; 6]) {
    let (mut b, mut left, mut right) = (b, [0.0; 6], [0.0; 6]);
    for k in 0..6 {
        (left[k], right[5 - k]) = (b[0], b[5 - k]);
        for i in 0..5 - k {
            b[i] = 0.5 * (b[i] + b[i + 1]);
        }
    }
    (left, right)
}

/// Solves (2) for one coordinate: a tridiagonal system with two corners, by the formula of Sherman and Morrison.
fn second_derivatives(p: &[f64]) -> Vec<f64> {
    let n = p.len();
    let right: Vec<f64> = (0..n).map(|j| 6.0 * (p[(j + 1) % n] - 2.0 * p[j] + p[(j + n - 1) % n])).collect();
    // the matrix is T + u wᵀ with u = (−4, 0, …, 1), w = (1, 0, …, −1/4)
    let mut diagonal = vec![4.0; n];
    (diagonal[0], diagonal[n - 1]) = (8.0, 4.25);
    let mut u = vec![0.0; n];
    (u[0], u[n - 1]) = (-4.0, 1.0);
    let (x, z) = (tridiagonal(&diagonal, right), tridiagonal(&diagonal, u));
    let of = |y: &[f64]| y[0] - 0.25 * y[n - 1];
    let factor = of(&x) / (1.0 + of(&z));
    x.iter().zip(&z).map(|(x, z)| x - factor * z).collect()
}

/// Solves T x = b with this diagonal and ones beside it.
fn tridiagonal(diagonal: &[f64], mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    let mut pivots = diagonal.to_vec();
    for j in 1..n {
        let factor = 1.0 / pivots[j - 1];
        pivots[j] -= factor;
        b[j] -= factor * b[j - 1];
    }
    b[n - 1] /= pivots[n - 1];
    for j in (0..n - 1).rev() {
        b[j] = (b[j] - b[j + 1]) / pivots[j];
    }
    b
}

fn dot(a: Pair, b: Pair) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn cross(a: Pair, b: Pair) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn sub(a: Pair, b: Pair) -> Pair {
    [a[0] - b[0], a[1] - b[1]]
}

fn length(a: Pair) -> f64 {
    hypot(a[0], a[1])
}
