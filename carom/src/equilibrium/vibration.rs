//! Small vibrations about rest, with the preload.
//!
//! ```text
//!     Zᵀ K Z y = ω² Zᵀ M Z y,   shapes Z y,   damping ζ = yᵀ D y / 2 ω yᵀ M y                                  (1)
//! ```
//!
//! Z spans the motions that joints, contacts that carry and friction that sticks leave free. Where forces have no
//! potential K is not symmetric: ω may be complex then, and shapes are not told.

use super::place::Place;
use super::reactions::{Reactions, complement, solve};
use super::search::velocity_names;
use super::{EquilibriumError, LawAtRest, Status};
use crate::model::Tangent;
use crate::{Key, Mechanical};
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

/// ω² below this part of the stiffness is zero.
const ZERO: f64 = 1e-12;

/// K is symmetric up to this part of it.
const SYMMETRIC: f64 = 1e-7;

/// Friction that is used up to this part has no more to give.
const LIMIT: f64 = 1.0 - 1e-6;

/// Small vibrations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vibrations {
    /// From the slowest one up; those that grow come first.
    pub modes: Vec<Mode>,
    /// Names of the entries of shapes.
    pub velocities: Vec<String>,
    /// Whether K is symmetric: all forces have a potential.
    pub symmetric: bool,
}

/// A vibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mode {
    /// Angular frequency [rad/s]; zero where it only grows or nothing drives it back.
    pub omega: f64,
    /// Rate at which it grows [1/s]; zero where it does not.
    pub growth: f64,
    /// Part of the critical damping, where the damping does not couple vibrations [-].
    pub damping: f64,
    /// Velocities, the largest entry 1; empty where K is not symmetric.
    pub shape: Vec<f64>,
}

/// Vibrations about a position of rest, or why there are none.
pub(super) fn vibrations(
    model: &mut dyn Mechanical,
    tangent: &mut dyn Tangent,
    place: &Place,
    (reactions, lambda): (&Reactions, &[f64]),
    laws: &[LawAtRest],
) -> Result<Result<Vibrations, String>, EquilibriumError> {
    let mut rows = Vec::new();
    for (k, &i) in place.active.iter().enumerate() {
        let law = &laws[i];
        let range = place.coupling.range(i);
        if law.status == Status::Touches {
            return Ok(Err(format!("`{}` touches without carrying: it opens in one direction alone", law.name)));
        }
        if law.law.is_relay() {
            let (lower, upper) = law.law.bounds();
            let force = lambda[reactions.offset[k]];
            if force <= lower * LIMIT || force >= upper * LIMIT {
                return Ok(Err(format!("the friction of `{}` is at its limit", law.name)));
            }
        }
        rows.push(range.start);
        for ((disc, of), usage) in law.law.discs().zip(&law.usage) {
            match usage {
                Some(usage) if usage.middle < LIMIT => rows.extend(disc.map(|row| range.start + row)),
                Some(_) => return Ok(Err(format!("the friction of `{}` is at its limit", law.name))),
                None if of.mu == 0.0 && of.radius == 0.0 => {}
                None => return Ok(Err(format!("the friction of `{}` has no pressure", law.name))),
            }
        }
    }
    let keys: Vec<Key> = place.coupling.pairs.iter().map(|pair| pair.key).collect();
    let [stiffness, damping] = place.stiffness(tangent, &keys, &place.spread(lambda))?;
    let mut a = place.rows(&rows);
    (0..rows.len()).for_each(|k| {
        let norm = a.row(k).norm();
        a.row_mut(k).unscale_mut(norm.max(f64::MIN_POSITIVE));
    });
    let (_, range, _) = solve(&a.transpose(), &DVector::zeros(a.ncols()));
    let free = complement(&range);
    let reduced = |matrix: &DMatrix<f64>| free.transpose() * matrix * &free;
    let (k, d) = (reduced(&stiffness), reduced(&damping));
    let size = stiffness.norm().max(f64::MIN_POSITIVE);
    let symmetric = (&k - k.transpose()).norm() <= SYMMETRIC * size;
    let modes = if k.is_empty() {
        Vec::new()
    } else if symmetric {
        shapes(place, &free, (&k, &d), size)
    } else {
        complex(&k, size)
    };
    Ok(Ok(Vibrations { modes, velocities: velocity_names(model), symmetric }))
}

/// Real vibrations with their shapes.
fn shapes(place: &Place, free: &DMatrix<f64>, (k, d): (&DMatrix<f64>, &DMatrix<f64>), size: f64) -> Vec<Mode> {
    let eigen = ((k + k.transpose()) * 0.5).symmetric_eigen();
    let mut order: Vec<usize> = (0..eigen.eigenvalues.len()).collect();
    order.sort_by(|&i, &j| eigen.eigenvalues[i].total_cmp(&eigen.eigenvalues[j]).then(i.cmp(&j)));
    let mode = |&i: &usize| {
        let square = eigen.eigenvalues[i];
        let square = if square.abs() <= ZERO * size { 0.0 } else { square };
        let y: DVector<f64> = eigen.eigenvectors.column(i).into_owned();
        let (omega, growth) = (square.max(0.0).sqrt(), (-square).max(0.0).sqrt());
        let loss = (y.transpose() * d * &y)[0];
        let damping = if omega > 0.0 { loss / (2.0 * omega) } else { 0.0 };
        let mut shape = place.increment(&(free * y));
        let largest =
            shape.iter().fold(0.0, |most: f64, x| if x.abs() > most.abs() * (1.0 + 1e-9) { *x } else { most });
        shape.iter_mut().for_each(|x| *x = if largest == 0.0 { 0.0 } else { *x / largest });
        // rounding of zeros
        shape.iter_mut().for_each(|x| *x = if x.abs() < 1e-12 { 0.0 } else { *x });
        Mode { omega, growth, damping, shape }
    };
    order.iter().map(mode).collect()
}

/// ω = √ of complex numbers; the motion e^{iωt} grows with −Im ω, and each root has both signs.
fn complex(k: &DMatrix<f64>, size: f64) -> Vec<Mode> {
    let mut modes: Vec<Mode> = k
        .complex_eigenvalues()
        .iter()
        .map(|square| {
            let square = if square.norm() <= ZERO * size { nalgebra::Complex::new(0.0, 0.0) } else { *square };
            let root = square.sqrt();
            let rounding = 1e-9 * root.norm();
            let clean = |x: f64| if x.abs() <= rounding { 0.0 } else { x.abs() };
            Mode { omega: clean(root.re), growth: clean(root.im), damping: 0.0, shape: Vec::new() }
        })
        .collect();
    modes.sort_by(|a, b| b.growth.total_cmp(&a.growth).then(a.omega.total_cmp(&b.omega)));
    modes
}
