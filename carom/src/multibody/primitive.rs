//! Rows of joints: five primitives, over frames of any scalar.
//!
//! ```text
//!     Point      φ = d_a · r,  r = b − a       d · (velocity of b − velocity of a) + ω_a · (d × r)                 (1)
//!     Direction  φ = d_a · d_b                 (ω_a − ω_b) · (d_a × d_b)                                           (2)
//!     Length     φ = |r| − l                   as (1) with d = r/|r|, which turns with r and not with a            (3)
//!     Relation   φ = Σ cᵢ sᵢ − constant        of coordinates of joints                                            (4)
//!     Chain      φ of `joint::chain`           its derivatives by dual numbers                                     (5)
//! ```

use super::joint::Chain;
use super::{Frame, Line, Vector};
use crate::model::Scalar;
use carom_solve::elementary::hypot;
use std::sync::Arc;

/// A row of a joint between two bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum Primitive {
    /// (1)
    Point {
        /// d, in axes of a.
        direction: [f64; 3],
        /// Point of a, in its axes.
        a: [f64; 3],
        /// Point of b, in its axes.
        b: [f64; 3],
    },
    /// (2)
    Direction {
        /// d_a, in axes of a.
        a: [f64; 3],
        /// d_b, in axes of b.
        b: [f64; 3],
    },
    /// (3)
    Length {
        /// Point of a, in its axes.
        a: [f64; 3],
        /// Point of b, in its axes.
        b: [f64; 3],
        /// l [m].
        length: f64,
    },
    /// (4)
    Relation {
        /// Number of a coordinate, and its factor. Joints number their own coordinates, models all of them.
        terms: Vec<(usize, f64)>,
        /// The constant.
        constant: f64,
    },
    /// (5)
    Chain {
        /// The links.
        chain: Arc<Chain>,
        /// Which of its values.
        index: usize,
    },
}

/// Lines of d · (b − a), where d turns with body a.
#[inline]
pub(super) fn along<T: Scalar>((a, b): (&Frame<T>, &Frame<T>), d: Vector<T>, on_b: Vector<T>) -> [Line<T>; 2] {
    // −(on_a − x_a) × d + d × (on_b − on_a) = −(on_b − x_a) × d: the line of a goes through the point of b
    [Line::through(a, on_b, d).reversed(), Line::through(b, on_b, d)]
}

impl Primitive {
    /// Value and lines of the bodies a and b; `None` for relations, which have more bodies.
    #[inline]
    pub fn evaluate<T: Scalar>(&self, (fa, fb): (&Frame<T>, &Frame<T>)) -> Option<(T, [Line<T>; 2])> {
        match self {
            Primitive::Point { direction, a, b } => {
                let (d, on_a, on_b) = (fa.direction(*direction), fa.point(*a), fb.point(*b));
                Some((d.dot(on_b - on_a), along((fa, fb), d, on_b)))
            }
            Primitive::Direction { a, b } => {
                let (a, b) = (fa.direction(*a), fb.direction(*b));
                let turn = a.cross(b);
                Some((a.dot(b), [Line::about(turn), Line::about(-turn)]))
            }
            Primitive::Length { a, b, length } => {
                let (on_a, on_b) = (fa.point(*a), fb.point(*b));
                let r = on_b - on_a;
                let distance = r.length();
                let d = r * distance.recip();
                Some((distance - *length, [Line::through(fa, on_a, d).reversed(), Line::through(fb, on_b, d)]))
            }
            Primitive::Relation { .. } => None,
            Primitive::Chain { chain, index } => Some((chain.value(*index, (fa, fb)), chain.lines(*index, (fa, fb)))),
        }
    }

    /// Whether nothing is left of it in the plane, where bodies turn about z alone.
    pub fn is_void_in_plane(&self) -> bool {
        let upright = |d: &[f64; 3]| hypot(d[0], d[1]) <= 1e-9 * d[2].abs();
        match self {
            Primitive::Point { direction, .. } => upright(direction),
            Primitive::Direction { a, b } => upright(a) || upright(b),
            Primitive::Length { .. } | Primitive::Relation { .. } | Primitive::Chain { .. } => false,
        }
    }
}
