//! Sets with any discs; out of line, so that the others stay short. The projection is exact.
//!
//! For a first reaction `t` the nearest point of a disc is known, so that the distance is a function of `t` alone,
//!
//! ```text
//!     d(t)² = (t − x₀)² + Σ_d max(0, ‖x_d‖ − radius_d − μ_d t)²                                   (1)
//!     φ(t) = ½ (d²)' = t − x₀ − Σ_d μ_d max(0, ‖x_d‖ − radius_d − μ_d t)                           (2)
//! ```
//!
//! `φ` rises, piece by piece on lines, and disc d leaves it at `t_d = (‖x_d‖ − radius_d)/μ_d`. With the discs taken up
//! in falling order of `t_d`, the root of the first line that ends above the next `t_d` is that of `φ`; between the
//! bounds it is the first reaction.

use super::cone::{self, norm};
use super::{DISCS, Law};

/// De Saxcé's shift.
#[inline(never)]
pub(super) fn shift(law: &Law, u: &[f64]) -> f64 {
    law.discs().map(|(rows, disc)| disc.mu * norm(&u[rows])).sum()
}

/// The power of all discs beyond the least one.
#[inline(never)]
pub(super) fn missed_power(law: &Law, lambda: &[f64], u: &[f64]) -> f64 {
    let radius = |mu: f64, radius: f64| radius + mu * lambda[0];
    let discs = law.discs().map(|(rows, disc)| (rows, radius(disc.mu, disc.radius)));
    discs.map(|(rows, radius)| cone::missed_power(&lambda[rows.clone()], &u[rows], radius)).sum()
}

#[inline(never)]
pub(super) fn project(law: &Law, mut x: [f64; Law::MOST_ROWS]) -> [f64; Law::MOST_ROWS] {
    let mut pieces = [(f64::NEG_INFINITY, 0.0, 0.0); DISCS]; // t_d, μ_d, ‖x_d‖ − radius_d
    let mut number = 0;
    for (rows, disc) in law.discs().filter(|(_, disc)| disc.mu > 0.0) {
        let beyond = norm(&x[rows]) - disc.radius;
        pieces[number] = (beyond / disc.mu, disc.mu, beyond);
        number += 1;
    }
    let pieces = &mut pieces[..number];
    pieces.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
    let (mut sum, mut slope) = (x[0], 1.0);
    for &(end, mu, beyond) in &*pieces {
        if sum / slope >= end {
            break;
        }
        sum += mu * beyond;
        slope += mu * mu;
    }
    x[0] = (sum / slope).max(law.bounds[0]).min(law.bounds[1]);
    for (rows, disc) in law.discs() {
        let (radius, size) = ((disc.radius + disc.mu * x[0]).max(0.0), norm(&x[rows.clone()]));
        if size > radius {
            x[rows].iter_mut().for_each(|x| *x *= radius / size);
        }
    }
    x
}
