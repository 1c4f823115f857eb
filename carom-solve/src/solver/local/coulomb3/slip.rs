//! Slip as one equation for the direction `d = (cos φ, sin φ)` of the friction force.
//!
//! ```text
//!     den(d) = a_NN + μ a_NT·d,   r_N = −b_N/den,   e(d) = a_TN + μ A_TT d
//!     g(d) = den (d⊥·b_T) − b_N (d⊥·e) = den d⊥·u_T = 0                                    (1)
//! ```
//!
//! `g` is a trigonometric polynomial of degree two: at most four roots. A root is a slip if `den > 0` and `d·u_T ≤ 0`.

use super::Vector;
use crate::elementary::sin_cos;

type Direction = [f64; 2];

/// A step whose third power is lost in rounding.
const NEAR: f64 = 3e-5;

/// Square of a slope whose own square may overflow.
const HUGE: f64 = 1e150;

/// Error of an angle that is lost in rounding.
const LOST: f64 = 1e-14;

/// The tangential direction of a vector.
#[inline]
pub(super) fn direction(r: Vector) -> Option<Direction> {
    let size = (r[1] * r[1] + r[2] * r[2]).sqrt();
    (size > 0.0 && size.is_finite()).then(|| [r[1] / size, r[2] / size])
}

/// The slip equation of a contact.
pub(super) struct Slip<'a> {
    pub mu: f64,
    pub a: &'a [f64; 9],
    pub b: Vector,
}

/// The terms of (1) at a direction, and their derivatives with respect to the angle.
struct Terms {
    den: f64,
    den_slope: f64,
    g: f64,
    slope: f64,
    e: Direction,
    across: f64,  // d⊥·e
    turning: f64, // μ d⊥·A_TT d⊥
}

/// `mean + single·(cos φ, sin φ) + double·(cos 2φ, sin 2φ)`.
struct Wave {
    mean: f64,
    single: [f64; 2],
    double: [f64; 2],
}

impl Wave {
    /// Value, first and second derivative.
    #[inline]
    fn at(&self, c: f64, s: f64) -> [f64; 3] {
        let (c2, s2) = (c * c - s * s, 2.0 * c * s);
        let ([c1, s1], [c3, s3]) = (self.single, self.double);
        let (single, double) = (c1 * c + s1 * s, c3 * c2 + s3 * s2);
        [self.mean + single + double, (s1 * c - c1 * s) + 2.0 * (s3 * c2 - c3 * s2), -single - 4.0 * double]
    }
}

impl Slip<'_> {
    #[inline]
    fn terms(&self, [c, s]: Direction) -> Terms {
        let (mu, a, b) = (self.mu, self.a, &self.b);
        let den = a[0] + mu * (a[1] * c + a[2] * s);
        let den_slope = mu * (a[2] * c - a[1] * s);
        let e = [a[3] + mu * (a[4] * c + a[5] * s), a[6] + mu * (a[7] * c + a[8] * s)];
        let turning = mu * (a[4] * s * s - (a[5] + a[7]) * s * c + a[8] * c * c);
        let (across, along) = (e[1] * c - e[0] * s, e[0] * c + e[1] * s);
        let (b_across, b_along) = (b[2] * c - b[1] * s, b[1] * c + b[2] * s);
        Terms {
            den,
            den_slope,
            g: den * b_across - b[0] * across,
            slope: den_slope * b_across - den * b_along - b[0] * (turning - along),
            e,
            across,
            turning,
        }
    }

    /// The reaction at a direction, if it pushes.
    #[inline]
    fn reaction(&self, d: Direction, t: &Terms) -> Option<Vector> {
        let normal = -self.b[0] / t.den;
        (t.den > 0.0 && normal.is_finite()).then_some([normal, self.mu * normal * d[0], self.mu * normal * d[1]])
    }

    /// The reaction at a direction where `den` is lost in rounding, its sign included: `r_N` from `d⊥·u_T = 0` instead.
    fn jammed(&self, [c, s]: Direction, t: &Terms) -> Option<Vector> {
        let normal = -(self.b[2] * c - self.b[1] * s) / t.across;
        let lost = t.den.abs() <= 1e-8 * self.a[0].abs();
        (lost && normal > 0.0 && normal.is_finite()).then_some([normal, self.mu * normal * c, self.mu * normal * s])
    }

    /// The slip near a direction, by Halley's method on the angle: of third order, with one division and no sines in an
    /// iteration.
    #[inline]
    pub(super) fn halley(&self, start: Direction) -> Option<Vector> {
        let (mu, a, b) = (self.mu, self.a, &self.b);
        let wave = self.wave();
        let coupling = [mu * a[1], mu * a[2]];
        let [mut c, mut s] = start;
        for _ in 0..12 {
            let [g, slope, curvature] = wave.at(c, s);
            let pull = coupling[0] * c + coupling[1] * s;
            let square = slope * slope;
            // a root with falling g is no attractor of the direction; written so that a NaN is refused
            if !(slope > 0.0 && a[0] + pull > 0.0 && square < HUGE) {
                return None;
            }
            // far from the root the parabola may have none: Newton's step then
            let bent = square - 0.5 * g * curvature;
            let bent = if bent > 0.25 * square { bent } else { square };
            let mut turn = -g * slope;
            if turn.abs() > 0.7 * bent {
                turn = turn.clamp(-0.7 * bent, 0.7 * bent);
            }
            // the tangent of half the angle is turn/(2 bent)
            let half = 0.5 * turn;
            let (bent2, half2) = (bent * bent, half * half);
            let inverse = 1.0 / (bent2 + half2);
            let (cosine, sine) = ((bent2 - half2) * inverse, 2.0 * half * bent * inverse);
            let turned = [cosine * c - sine * s, cosine * s + sine * c];
            if turn.abs() < NEAR * bent {
                let step = turn / bent;
                // what is left is of the third order of the step, in the angle and in `den`
                if step.abs() * (step * curvature).powi(2) <= LOST * square {
                    let [c, s] = turned;
                    let normal = -b[0] / (a[0] + coupling[0] * c + coupling[1] * s);
                    let r = [normal, mu * normal * c, mu * normal * s];
                    let u = [
                        b[1] + a[3] * r[0] + a[4] * r[1] + a[5] * r[2],
                        b[2] + a[6] * r[0] + a[7] * r[1] + a[8] * r[2],
                    ];
                    let opposed = c * u[0] + s * u[1] <= 0.0;
                    return (opposed && normal > 0.0 && normal.is_finite()).then_some(r);
                }
            }
            [c, s] = turned;
        }
        None
    }

    /// g as a trigonometric polynomial, divided by the size of b.
    #[inline]
    fn wave(&self) -> Wave {
        let (mu, a, b) = (self.mu, self.a, &self.b);
        let scale = 1.0 / (b[0].abs() + b[1].abs() + b[2].abs());
        let b = [b[0] * scale, b[1] * scale, b[2] * scale];
        // g = k₁ c + k₂ s + μ (p c² + q c s + r s²)
        let p = a[1] * b[2] - b[0] * a[7];
        let q = a[2] * b[2] - a[1] * b[1] - b[0] * (a[8] - a[4]);
        let r = b[0] * a[5] - a[2] * b[1];
        let half = 0.5 * mu;
        Wave {
            mean: half * (p + r),
            single: [a[0] * b[2] - b[0] * a[6], b[0] * a[3] - a[0] * b[1]],
            double: [half * (p - r), half * q],
        }
    }

    /// Visits the roots between the sign changes of g on a grid of the circle; the caller judges them. Where g turns
    /// back towards zero inside a cell, the extremum splits the cell: two near roots are not missed.
    pub(super) fn sign_changes(&self, angles: usize, mut visit: impl FnMut(Vector)) {
        let width = std::f64::consts::TAU / angles as f64;
        let mut left = self.at(0.0);
        for k in 0..angles {
            let (low, high) = (k as f64 * width, (k + 1) as f64 * width);
            let right = self.at(high);
            let mut root = |low, high, g_low| {
                let (s, c) = sin_cos(self.bracketed(low, high, g_low));
                let t = self.terms([c, s]);
                let candidates = [self.reaction([c, s], &t), self.jammed([c, s], &t)];
                candidates.into_iter().flatten().for_each(&mut visit);
            };
            if (left.g <= 0.0) != (right.g <= 0.0) {
                root(low, high, left.g);
            } else if left.g * left.slope < 0.0 && right.g * right.slope > 0.0 {
                let (middle, g) = self.turning_point(low, high, left.g);
                if (g <= 0.0) != (left.g <= 0.0) {
                    root(low, middle, left.g);
                    root(middle, high, g);
                }
            }
            left = right;
        }
    }

    fn at(&self, angle: f64) -> Terms {
        let (s, c) = sin_cos(angle);
        self.terms([c, s])
    }

    /// Where g comes nearest to zero, or beyond it, between two angles with the same sign.
    fn turning_point(&self, mut low: f64, mut high: f64, g_low: f64) -> (f64, f64) {
        let mut best = (low, g_low);
        for _ in 0..50 {
            let middle = 0.5 * (low + high);
            let t = self.at(middle);
            best = (middle, t.g);
            if (t.g <= 0.0) != (g_low <= 0.0) {
                break;
            }
            if t.slope * g_low < 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        best
    }

    /// The root between two angles with different signs of g: Newton, with bisection as its guard.
    fn bracketed(&self, mut low: f64, mut high: f64, g_low: f64) -> f64 {
        let mut x = 0.5 * (low + high);
        for _ in 0..80 {
            let (s, c) = sin_cos(x);
            let t = self.terms([c, s]);
            if (t.g <= 0.0) == (g_low <= 0.0) {
                low = x;
            } else {
                high = x;
            }
            let mut next = x - t.g / t.slope;
            if !(next > low && next < high) {
                next = 0.5 * (low + high);
            }
            if (next - x).abs() <= 1e-16 * (1.0 + x.abs()) {
                return next;
            }
            x = next;
        }
        x
    }

    /// Newton on `(r_N, φ)` together, which does not divide by `den`.
    pub(super) fn polish(&self, r: Vector) -> Vector {
        let Some(mut d) = direction(r) else { return r };
        let mut normal = r[0];
        for _ in 0..3 {
            let t = self.terms(d);
            let u = [self.b[1] + normal * t.e[0], self.b[2] + normal * t.e[1]];
            let f = [t.den * normal + self.b[0], d[0] * u[1] - d[1] * u[0]];
            let j = [t.den, normal * t.den_slope, t.across, normal * t.turning - (d[0] * u[0] + d[1] * u[1])];
            let determinant = j[0] * j[3] - j[1] * j[2];
            let (dn, turn) = ((f[0] * j[3] - f[1] * j[1]) / determinant, (f[1] * j[0] - f[0] * j[2]) / determinant);
            if !(dn.is_finite() && turn.abs() < 0.5 && normal - dn > 0.0) {
                break;
            }
            normal -= dn;
            let inverse = 1.0 / (1.0 + turn * turn).sqrt();
            d = [(d[0] + turn * d[1]) * inverse, (d[1] - turn * d[0]) * inverse];
        }
        [normal, self.mu * normal * d[0], self.mu * normal * d[1]]
    }
}
