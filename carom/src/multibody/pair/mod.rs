//! Where two shapes are closest: gap, normal and the two points, exact to rounding and written over any scalar.
//!
//! A pair is one file and one row of [`AnyPair`]. It tells a fixed number of places, features of the two shapes that
//! may touch; the place is the identity of a contact.

mod sphere_plane;

use super::{Frame, Line, Vector};
use crate::model::Scalar;
pub use sphere_plane::SpherePlane;

/// One place where two bodies may touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch<T = f64> {
    /// Distance, not negative where they are apart [m].
    pub gap: T,
    /// Unit normal from body a to body b.
    pub normal: Vector<T>,
    /// Closest point of body a.
    pub on_a: Vector<T>,
    /// Closest point of body b.
    pub on_b: Vector<T>,
    /// First tangent, a unit vector; the second one is normal × first. In the plane it lies in the plane.
    pub tangent: Vector<T>,
}

impl<T: Scalar> Touch<T> {
    /// Lines of one row, of body a and of body b: u = d · (velocity of b's point − velocity of a's point). With the
    /// normal it is the rate of the gap.
    #[inline]
    pub fn lines(&self, (a, b): (&Frame<T>, &Frame<T>), d: Vector<T>) -> [Line<T>; 2] {
        [Line::through(a, self.on_a, d).reversed(), Line::through(b, self.on_b, d)]
    }
}

/// A pair of shapes, one on each body.
pub trait Pair: Send + Sync {
    /// Number of places.
    fn places(&self) -> usize;

    /// The place with this number.
    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T>;
}

/// The pairs there are: file and type of each.
macro_rules! pairs {
    ($($(#[$doc:meta])* $kind:ident),* $(,)?) => {
        /// Any of the pairs.
        #[derive(Clone, Debug)]
        pub enum AnyPair {
            $($(#[$doc])* $kind($kind),)*
        }

        impl Pair for AnyPair {
            fn places(&self) -> usize {
                match self {
                    $(AnyPair::$kind(pair) => pair.places(),)*
                }
            }

            fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
                match self {
                    $(AnyPair::$kind(pair) => pair.touch(place, frames),)*
                }
            }
        }

        $(impl From<$kind> for AnyPair {
            fn from(pair: $kind) -> AnyPair {
                AnyPair::$kind(pair)
            }
        })*
    };
}

pairs! {
    /// A plane on a, a sphere on b; in the plane a line and a disc.
    SpherePlane,
}
