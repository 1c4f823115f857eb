//! Planar contact families: arches.

use super::mechanics::{Bodies, Meeting};
use crate::{StoredError, StoredProblem};
use std::f64::consts::PI;

/// Stones of an arch.
const STONES: usize = 25;

/// Semicircular arches between radii 4 and 5, one beside the other; neighbouring stones meet at both ends of their
/// joint.
pub(super) fn bridge(size: usize, seed: u64) -> Result<StoredProblem, StoredError> {
    let mut bodies = Bodies::new(true, seed);
    let (inner, outer) = (4.0f64, 5.0f64);
    let step = PI / STONES as f64;
    // sector of an annulus: area, distance of the centroid, polar inertia about it
    let area = 0.5 * step * (outer.powi(2) - inner.powi(2));
    let sine = (0.5 * step).sin() / (0.5 * step);
    let radius = 2.0 / 3.0 * sine * (outer.powi(3) - inner.powi(3)) / (outer.powi(2) - inner.powi(2));
    let inertia = 0.25 * step * (outer.powi(4) - inner.powi(4)) - area * radius * radius;
    for arch in 0..size.div_ceil(2 * (STONES + 1)) {
        let x = 11.0 * arch as f64;
        let mut last = None;
        for stone in 0..=STONES {
            // the joint before each stone, and the one after the last
            let angle = PI - step * stone as f64;
            let normal = [angle.sin(), -angle.cos(), 0.0];
            let above = if stone < STONES {
                let middle = angle - 0.5 * step;
                bodies.body([x + radius * middle.cos(), radius * middle.sin(), 0.0], area, [0.0, 0.0, inertia])
            } else {
                // the last stone stands on the ground: the joint seen from above
                arch * STONES + STONES - 1
            };
            let (below, normal) = if stone < STONES { (last, normal) } else { (None, normal.map(|x| -x)) };
            for distance in [inner, outer] {
                let point = [x + distance * angle.cos(), distance * angle.sin(), 0.0];
                bodies.contact(normal, Meeting { point, below, above }, 0.6);
            }
            last = Some(above);
        }
    }
    bodies.finish()
}
