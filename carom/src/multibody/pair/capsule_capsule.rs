//! Two capsules: each end of one against the other one, and the place where their axes cross.
//!
//! ```text
//!     end k:      gap = |c_k − p(t)| − R_a − R_b,      t = clamp((c_k − p₀)·e)                                     (1)
//!     crossing:   gap = |n·r| − R_a − R_b,             n = d_a × d_b / |d_a × d_b|                                 (2)
//! ```
//!
//! (1) holds for every end, so that parallel capsules touch at both ends of their overlap. Ends of the second capsule
//! count where their foot is inside the first axis: beyond it the end of the first capsule tells the same. (2) counts
//! where both closest points are inside; in the plane axes do not cross without lying in each other.

use super::geometry::{crossing_at, offset, span, touch_crossing};
use super::sphere_segment::{touch_round, within};
use super::{Capsule, Pair, Touch};
use crate::model::Scalar;
use crate::multibody::Frame;

/// Axes that are nearer than this part of both radii have no side.
const THROUGH: f64 = 1e-6;

/// Two capsules.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapsuleCapsule {
    /// On body a.
    pub first: Capsule,
    /// On body b.
    pub second: Capsule,
}

impl Pair for CapsuleCapsule {
    fn places(&self) -> usize {
        5
    }

    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        let Capsule { radius, .. } = self.first;
        match place {
            0 | 1 => {
                let exchanged = (frames.1, frames.0);
                touch_round(&self.second.axis(), self.second.radius, self.first.end(place), exchanged).exchanged()
            }
            2 | 3 => touch_round(&self.first.axis(), radius, self.second.end(place - 2), frames),
            _ => {
                let directions = [span(self.first.ends).0, span(self.second.ends).0];
                let points = [self.first.ends[0], self.second.ends[0]];
                touch_crossing(frames, points, directions, [radius, self.second.radius], |_, way| way >= 0.0)
            }
        }
    }

    fn features(&self, place: usize) -> [u32; 2] {
        [[0, 2], [1, 2], [2, 0], [2, 1], [2, 2]][place.min(4)]
    }

    fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
        match place {
            0 | 1 => f64::INFINITY,
            2 | 3 => within(&self.first.axis(), self.second.ends[place - 2], frames),
            _ => {
                let ((first, one), (second, other)) = (span(self.first.ends), span(self.second.ends));
                let points = [self.first.ends[0], self.second.ends[0]];
                let Some((normal, [s, t])) = crossing_at(frames, points, [first, second]) else { return -1.0 };
                let apart = normal.dot(offset(frames, points[0], points[1])).abs();
                if apart < THROUGH * (self.first.radius + self.second.radius) {
                    return -1.0;
                }
                s.min(one - s).min(t).min(other - t)
            }
        }
    }
}
