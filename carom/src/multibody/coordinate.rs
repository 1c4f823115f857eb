//! Coordinates of joints: what a joint leaves free.
//!
//! ```text
//!     angle   A = atan2(w · m, u · m)      line (d − (m · d) m_⊥/|m_⊥|²) · (ω_b − ω_a),  m_⊥ = m − (m · d) d       (1)
//!     along   d_a · r,  r = b − a          line of the row `Point`                                                 (2)
//!     chain   a link of `joint::chain`     its derivative by dual numbers                                          (3)
//! ```
//!
//! with (u, w, d) fixed in body a and the mark m in body b; where they are in b and the mark is in a, the angle has the
//! other sign. While a joint keeps m perpendicular to d the line is d. Turns are counted in the state, never here: an
//! angle is the one nearest to a given number.

use super::joint::Chain;
use super::primitive::along;
use super::{Frame, Line};
use crate::elementary::dual::atan2;
use crate::model::Scalar;
use std::f64::consts::TAU;
use std::sync::Arc;

/// The name of a coordinate: a joint, and which of its coordinates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointCoordinate {
    /// Name of the joint.
    pub joint: String,
    /// Which of its coordinates, in the order of [`JointKind::coordinates`](super::joint::JointKind::coordinates).
    pub index: usize,
}

impl From<&str> for JointCoordinate {
    /// The first coordinate of a joint.
    fn from(joint: &str) -> Self {
        JointCoordinate { joint: joint.into(), index: 0 }
    }
}

impl From<(&str, usize)> for JointCoordinate {
    fn from((joint, index): (&str, usize)) -> Self {
        JointCoordinate { joint: joint.into(), index }
    }
}

/// A coordinate of a joint between two bodies.
#[derive(Clone, Debug, PartialEq)]
pub enum Coordinate {
    /// (1)
    Angle {
        /// u, w and d, in axes of a; of b where `is_in_b`.
        axes: [[f64; 3]; 3],
        /// m, in axes of b; of a where `is_in_b`.
        mark: [f64; 3],
        /// Which body has the axes.
        is_in_b: bool,
    },
    /// (2)
    Along {
        /// d, in axes of a.
        direction: [f64; 3],
        /// Point of a, in its axes.
        a: [f64; 3],
        /// Point of b, in its axes.
        b: [f64; 3],
    },
    /// (3)
    Chain {
        /// The links.
        chain: Arc<Chain>,
        /// Which of them.
        index: usize,
    },
}

impl Coordinate {
    /// Whether it comes back after a turn.
    pub fn is_angle(&self) -> bool {
        match self {
            Coordinate::Angle { .. } => true,
            Coordinate::Along { .. } => false,
            Coordinate::Chain { chain, index } => !chain.is_length(*index),
        }
    }

    /// The value, of an angle that in (−π, π].
    #[inline]
    pub fn value<T: Scalar>(&self, (a, b): (&Frame<T>, &Frame<T>)) -> T {
        match self {
            Coordinate::Angle { axes: [u, w, _], mark, is_in_b } => {
                let (frame, other) = if *is_in_b { (b, a) } else { (a, b) };
                let m = other.direction(*mark);
                let angle = atan2(frame.direction(*w).dot(m), frame.direction(*u).dot(m));
                if *is_in_b { -angle } else { angle }
            }
            Coordinate::Along { direction, a: on_a, b: on_b } => {
                a.direction(*direction).dot(b.point(*on_b) - a.point(*on_a))
            }
            Coordinate::Chain { chain, index } => chain.value(*index, (a, b)),
        }
    }

    /// The value; of an angle that next to `near`.
    #[inline]
    pub fn value_near<T: Scalar>(&self, frames: (&Frame<T>, &Frame<T>), near: f64) -> T {
        let value = self.value(frames);
        if self.is_angle() { value + ((near - value.re()) / TAU).round() * TAU } else { value }
    }

    /// Along what it moves with the bodies a and b.
    #[inline]
    pub fn lines<T: Scalar>(&self, (a, b): (&Frame<T>, &Frame<T>)) -> [Line<T>; 2] {
        match self {
            Coordinate::Angle { axes: [_, _, d], mark, is_in_b } => {
                let (frame, other) = if *is_in_b { (b, a) } else { (a, b) };
                let (d, m) = (frame.direction(*d), other.direction(*mark));
                let off = m.dot(d);
                let across = m - d * off;
                let d = d - across * (off / across.square());
                [Line::about(-d), Line::about(d)]
            }
            Coordinate::Along { direction, b: on_b, .. } => along((a, b), a.direction(*direction), b.point(*on_b)),
            Coordinate::Chain { chain, index } => chain.lines(*index, (a, b)),
        }
    }
}
