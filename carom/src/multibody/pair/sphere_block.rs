//! A sphere, a disc or a point against a box.
//!
//! ```text
//!     outside:  gap = |y − clamp(y)| − R;      inside:  the face of least depth, the first of equal ones           (1)
//!     y = offset of the centre in axes of the box
//! ```

use super::geometry::{offset, polar, tangent};
use super::{Block, Pair, Sphere, Touch};
use crate::model::Scalar;
use crate::multibody::{Frame, Vector};

/// Box on body a, sphere on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SphereBlock {
    /// On body a.
    pub block: Block,
    /// On body b.
    pub sphere: Sphere,
}

impl Pair for SphereBlock {
    fn places(&self) -> usize {
        1
    }

    fn touch<T: Scalar>(&self, _place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        touch_block(&self.block, self.sphere, frames)
    }
}

/// The box on body a and a sphere or a point on body b.
pub(super) fn touch_block<T: Scalar>(block: &Block, sphere: Sphere, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
    let (a, b) = frames;
    let dimensions = if block.is_planar() { 2 } else { 3 };
    let axes: [Vector<T>; 3] = block.axes.map(|axis| a.direction(axis));
    let r = offset(frames, block.centre, sphere.centre);
    let y = axes.map(|axis| axis.dot(r));
    let depth = |i: usize| y[i].re().abs() - block.half[i];
    let beyond = (0..dimensions).filter(|&i| depth(i) > 0.0).count();
    let (distance, normal) = if beyond <= 1 {
        // one face: signed, so that it is smooth where the centre goes through it
        let face = (1..dimensions).fold(0, |face, i| if depth(i) > depth(face) { i } else { face });
        let side = if y[face].re() < 0.0 { -1.0 } else { 1.0 };
        (y[face] * side - block.half[face], axes[face] * T::from(side))
    } else {
        let outer = (0..dimensions).filter(|&i| depth(i) > 0.0);
        let part = |i: usize| axes[i] * (y[i] - block.half[i].copysign(y[i].re()));
        polar(outer.map(part).fold(Vector::zero(), |sum, part| sum + part), || axes[0])
    };
    let centre = b.point(sphere.centre);
    Touch {
        gap: distance - sphere.radius,
        normal,
        on_a: centre - normal * distance,
        on_b: centre - normal * T::from(sphere.radius),
        tangent: tangent(normal),
    }
}
