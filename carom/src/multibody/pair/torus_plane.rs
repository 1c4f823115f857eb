//! A torus on a plane: the lowest point of its tube, or three fixed points of it where it lies flat.
//!
//! ```text
//!     axis d:   u = n − (n·d) d,   gap = n·(c − o) − R |u| − r                                                    (1)
//! ```
//!
//! The middle circle is the rim of a thin disc, and the tube is what is within r of it: all is as with a disc on a
//! plane that is raised by r.

use super::{CylinderPlane, Pair, Plane, Torus, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Plane on body a, torus on body b.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TorusPlane {
    /// On body a.
    pub plane: Plane,
    /// On body b.
    pub torus: Torus,
}

impl TorusPlane {
    fn disc(&self) -> CylinderPlane {
        CylinderPlane { plane: self.plane, cylinder: self.torus.disc() }
    }
}

impl Pair for TorusPlane {
    fn places(&self) -> usize {
        self.disc().places()
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let disc = self.disc().touch(place, frames);
        let tube = T::from(self.torus.tube);
        Touch { gap: disc.gap - tube, on_b: disc.on_b - disc.normal * tube, ..disc }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        self.disc().features(place)
    }

    fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
        self.disc().region(place, frames)
    }
}
