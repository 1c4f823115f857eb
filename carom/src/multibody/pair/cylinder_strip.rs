//! A cylinder across a plane strip: both rims as spheres of its radius, exact while its axis is along the strip.
//!
//! ```text
//!     gap_i = |c_i − p(t)| − R      with rim centres c_i as in the pair of sphere and strip                        (1)
//! ```
//!
//! Tilted by an angle it sees contact too early by at most R (1 − cos angle).

use super::sphere_strip::touch_strip;
use super::{Cylinder, Pair, Sphere, Strip, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Strip on body a, cylinder on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CylinderStrip {
    /// On body a.
    pub strip: Strip,
    /// On body b.
    pub cylinder: Cylinder,
}

impl Pair for CylinderStrip {
    fn places(&self) -> usize {
        2
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let sphere = Sphere { centre: self.cylinder.rim(place), radius: self.cylinder.radius };
        touch_strip(&self.strip, sphere, frames)
    }
}
