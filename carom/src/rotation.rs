//! Attitudes as unit quaternions, and increments of them as vectors in axes of the body [iserles2000].
//!
//! ```text
//!     p ⊕ θ = p ⊗ exp(θ),   exp(θ) = (cos |θ|/2, sin(|θ|/2) θ/|θ|),   or   cay(θ) = (1, θ/2)/√(1 + |θ|²/4)       (1)
//!     ṗ = p ⊗ (0, Ω)/2,   Ω in axes of the body                                                                  (2)
//!     exp:   θ̇ = Ω + θ × Ω/2 + c θ × (θ × Ω),      c = (1 − (a/2) cot(a/2))/a²,   a = |θ|                         (3)
//!            Ω = θ̇ − b θ × θ̇ + d θ × (θ × θ̇),      b = (1 − cos a)/a²,   d = (a − sin a)/a³                    (4)
//!     cay:   θ̇ = Ω + θ × Ω/2 + θ (θ·Ω)/4,          Ω = (θ̇ − θ × θ̇/2)/(1 + |θ|²/4)                              (5)
//! ```
//!
//! (3) and (5) are what makes a sum over stages an increment: an increment of plain sums of Ω is of second order. All
//! functions take dual numbers as well; series near θ = 0 keep their derivatives finite.

use crate::elementary::dual::{atan2, sin_cos};
use crate::model::dual::Scalar;
use num_dual::Dual;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// (w, x, y, z).
pub type Quaternion<D = f64> = [D; 4];

/// A vector in space.
pub type Vector<D = f64> = [D; 3];

/// Below this half angle sine and cosine are summed as series.
const SMALL: f64 = 0.05;

/// Below this tangent of the half angle the arc tangent is summed as a series.
const NARROW: f64 = 0.03;

/// No rotation.
pub const IDENTITY: Quaternion = [1.0, 0.0, 0.0, 0.0];

/// a · b.
#[inline]
pub fn dot<D: Scalar>(a: Vector<D>, b: Vector<D>) -> D {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// a × b.
#[inline]
pub fn cross<D: Scalar>(a: Vector<D>, b: Vector<D>) -> Vector<D> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// a + s b.
#[inline]
fn plus<D: Scalar>(a: Vector<D>, s: D, b: Vector<D>) -> Vector<D> {
    [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]]
}

/// The rotation back; (w, −x, −y, −z).
#[inline]
pub fn conjugate<D: Scalar>([w, x, y, z]: Quaternion<D>) -> Quaternion<D> {
    [w, -x, -y, -z]
}

/// a ⊗ b.
#[inline]
pub fn product<D: Scalar>([a, b, c, d]: Quaternion<D>, [w, x, y, z]: Quaternion<D>) -> Quaternion<D> {
    [
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    ]
}

/// p/|p|.
#[inline]
pub fn normalised<D: Scalar>(p: Quaternion<D>) -> Quaternion<D> {
    let norm = (p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]).sqrt();
    p.map(|x| x / norm)
}

/// A vector in axes of the space, from axes of a body with the attitude `p`, of unit length.
#[inline]
pub fn rotate<D: Scalar>(p: Quaternion<D>, s: Vector<D>) -> Vector<D> {
    let u = [p[1], p[2], p[3]];
    let twice = cross(u, s).map(|x| x * 2.0);
    let turned = cross(u, twice);
    [s[0] + p[0] * twice[0] + turned[0], s[1] + p[0] * twice[1] + turned[1], s[2] + p[0] * twice[2] + turned[2]]
}

/// A vector in axes of a body with the attitude `p`, of unit length, from axes of the space.
#[inline]
pub fn rotate_back<D: Scalar>(p: Quaternion<D>, s: Vector<D>) -> Vector<D> {
    rotate(conjugate(p), s)
}

/// The matrix of [`rotate`], by rows.
pub fn matrix<D: Scalar>([w, x, y, z]: Quaternion<D>) -> [Vector<D>; 3] {
    let [xx, yy, zz] = [x * x, y * y, z * z];
    let [xy, xz, yz] = [x * y, x * z, y * z];
    let [wx, wy, wz] = [w * x, w * y, w * z];
    let one = D::from(1.0);
    [
        [one - (yy + zz) * 2.0, (xy - wz) * 2.0, (xz + wy) * 2.0],
        [(xy + wz) * 2.0, one - (xx + zz) * 2.0, (yz - wx) * 2.0],
        [(xz - wy) * 2.0, (yz + wx) * 2.0, one - (xx + yy) * 2.0],
    ]
}

/// c₀ + x (c₁ + x (c₂ + ...)).
#[inline]
fn series<D: Scalar, const N: usize>(x: D, c: [f64; N]) -> D {
    c.iter().rev().fold(D::from(0.0), |sum, c| sum * x + *c)
}

/// exp(θ) of (1).
#[inline]
pub fn exponential<D: Scalar>(theta: Vector<D>) -> Quaternion<D> {
    let square = dot(theta, theta) * 0.25;
    let (cosine, share) = if square < SMALL * SMALL {
        (
            series(square, [1.0, -1.0 / 2.0, 1.0 / 24.0, -1.0 / 720.0, 1.0 / 40320.0]),
            series(square, [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362880.0]),
        )
    } else {
        let half = square.sqrt();
        let (sine, cosine) = sin_cos(half);
        (cosine, sine / half)
    };
    let share = share * 0.5;
    [cosine, share * theta[0], share * theta[1], share * theta[2]]
}

/// θ with exp(θ) = p or −p, the shorter way round.
#[inline]
pub fn logarithm<D: Scalar>(p: Quaternion<D>) -> Vector<D> {
    let [w, x, y, z] = if p[0] < 0.0 { p.map(|x| -x) } else { p };
    let square = x * x + y * y + z * z;
    let share = if square < w * w * (NARROW * NARROW) {
        series(square / (w * w), [1.0, -1.0 / 3.0, 1.0 / 5.0, -1.0 / 7.0, 1.0 / 9.0, -1.0 / 11.0]) * 2.0 / w
    } else {
        let sine = square.sqrt();
        atan2(sine, w) * 2.0 / sine
    };
    [share * x, share * y, share * z]
}

/// cay(θ) of (1).
#[inline]
pub fn cayley<D: Scalar>(theta: Vector<D>) -> Quaternion<D> {
    let cosine = (dot(theta, theta) * 0.25 + 1.0).sqrt().recip();
    let share = cosine * 0.5;
    [cosine, share * theta[0], share * theta[1], share * theta[2]]
}

/// θ with cay(θ) = p or −p; a half turn has none, and gives what is not finite.
#[inline]
pub fn cayley_inverse<D: Scalar>([w, x, y, z]: Quaternion<D>) -> Vector<D> {
    let share = w.recip() * 2.0;
    [share * x, share * y, share * z]
}

/// θ̇ of (3). The increment must be less than a whole turn.
#[inline]
pub fn exponential_rate<D: Scalar>(theta: Vector<D>, omega: Vector<D>) -> Vector<D> {
    let square = dot(theta, theta);
    let c = if square < SMALL * SMALL {
        series(square, [1.0 / 12.0, 1.0 / 720.0, 1.0 / 30240.0, 1.0 / 1209600.0])
    } else {
        let half = square.sqrt() * 0.5;
        let (sine, cosine) = sin_cos(half);
        (-(half * cosine / sine) + 1.0) / square
    };
    let once = cross(theta, omega);
    plus(plus(omega, D::from(0.5), once), c, cross(theta, once))
}

/// Ω of (4).
#[inline]
pub fn exponential_velocity<D: Scalar>(theta: Vector<D>, rate: Vector<D>) -> Vector<D> {
    let square = dot(theta, theta);
    let (b, d) = if square < 4.0 * SMALL * SMALL {
        (
            series(square, [1.0 / 2.0, -1.0 / 24.0, 1.0 / 720.0, -1.0 / 40320.0, 1.0 / 3628800.0]),
            series(square, [1.0 / 6.0, -1.0 / 120.0, 1.0 / 5040.0, -1.0 / 362880.0, 1.0 / 39916800.0]),
        )
    } else {
        let angle = square.sqrt();
        let (half, _) = sin_cos(angle * 0.5);
        (half * half * 2.0 / square, (angle - sin_cos(angle).0) / (square * angle))
    };
    let once = cross(theta, rate);
    plus(plus(rate, -b, once), d, cross(theta, once))
}

/// θ̇ of (5).
#[inline]
pub fn cayley_rate<D: Scalar>(theta: Vector<D>, omega: Vector<D>) -> Vector<D> {
    plus(plus(omega, D::from(0.5), cross(theta, omega)), dot(theta, omega) * 0.25, theta)
}

/// Ω of (5).
#[inline]
pub fn cayley_velocity<D: Scalar>(theta: Vector<D>, rate: Vector<D>) -> Vector<D> {
    let share = (dot(theta, theta) * 0.25 + 1.0).recip();
    plus(rate, D::from(-0.5), cross(theta, rate)).map(|x| share * x)
}

/// Which of the maps (1) makes an attitude of an increment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Retraction {
    /// exp: exact for a fixed axis, and the more accurate one where h |Ω| is small.
    #[default]
    Exponential,
    /// cay: without trigonometry. The midpoint rule keeps the angular momentum of a free body as a vector with it.
    Cayley,
}

impl Retraction {
    /// p ⊕ θ, of unit length.
    #[inline]
    pub fn retract<D: Scalar>(self, p: Quaternion<D>, theta: Vector<D>) -> Quaternion<D> {
        let turn = match self {
            Retraction::Exponential => exponential(theta),
            Retraction::Cayley => cayley(theta),
        };
        normalised(product(p, turn))
    }

    /// b ⊖ a: θ with a ⊕ θ = b or −b.
    #[inline]
    pub fn difference<D: Scalar>(self, a: Quaternion<D>, b: Quaternion<D>) -> Vector<D> {
        let turn = product(conjugate(a), b);
        match self {
            Retraction::Exponential => logarithm(turn),
            Retraction::Cayley => cayley_inverse(turn),
        }
    }

    /// θ̇ of an increment θ with which p ⊕ θ turns at Ω.
    #[inline]
    pub fn rate<D: Scalar>(self, theta: Vector<D>, omega: Vector<D>) -> Vector<D> {
        match self {
            Retraction::Exponential => exponential_rate(theta, omega),
            Retraction::Cayley => cayley_rate(theta, omega),
        }
    }

    /// Ω with which p ⊕ θ turns as θ moves at θ̇: the inverse of [`Retraction::rate`].
    #[inline]
    pub fn velocity<D: Scalar>(self, theta: Vector<D>, rate: Vector<D>) -> Vector<D> {
        match self {
            Retraction::Exponential => exponential_velocity(theta, rate),
            Retraction::Cayley => cayley_velocity(theta, rate),
        }
    }

    /// What θ̈ has beside the rate of Ω̇: the derivative of [`Retraction::rate`] along θ̇ at constant Ω.
    pub fn bend<D: Scalar>(self, theta: Vector<D>, omega: Vector<D>) -> Vector<D> {
        let rate = self.rate(theta, omega);
        let moving = std::array::from_fn(|i| Dual::new(theta[i], rate[i]));
        let fixed = omega.map(|x| Dual::new(x, D::from(0.0)));
        self.rate(moving, fixed).map(|x| x.eps)
    }
}

#[cfg(test)]
mod tests;
