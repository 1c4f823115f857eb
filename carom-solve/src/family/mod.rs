//! Families of problems, generated from a size and a seed: the same numbers on every machine.
//!
//! | family | laws | what it is |
//! |---|---|---|
//! | `box-stack` | spatial friction | towers of ten cubes, four contacts per interface: more contacts than the bodies can tell apart |
//! | `tower`, `tower-2d` | friction | one tower of cubes or squares, however high |
//! | `towers` | spatial friction | as many towers of cubes as each of them has floors |
//! | `chain` | spatial friction, equality | links joined by spherical joints, each one touching the ground |
//! | `wall` | spatial friction | bricks in running bond that meet at the corners of their common faces |
//! | `sphere-heap` | spatial friction | a pyramid of spheres on a square lattice; neighbours of a layer touch without load |
//! | `fcc`, `fcc-2d` | friction | the densest packing of spheres or discs, in a box |
//! | `rcp`, `rcp-2d` | friction | a random close packing, settled in a box |
//! | `heap`, `heap-2d` | friction | a cone cut out of a random close packing, on a floor |
//! | `wall-2d` | planar friction | the wall as a drawing, two contacts per face |
//! | `bridge` | planar friction | arches of 25 stones, two contacts per joint |
//! | `arch` | planar friction | one arch, however many stones |
//! | `cards` | planar friction | a house of cards |
//! | `slab` | spatial friction | plates on a grid of 100 contacts each: rank six out of 300 |
//! | `pd`, `aat`, `pns` | unilateral | dense random: positive definite, semidefinite, positive definite and not symmetric |
//! | `degenerate` | unilateral | dense, a third of the conditions with both sides zero |
//! | `redundant` | unilateral | dense, every row twice: rank n/2 |
//! | `obstacle` | unilateral | a membrane over an obstacle: the five-point Laplacian, sparse |
//!
//! Mechanical families are in global form, `M v = q + H λ`, one time step of 10 ms under gravity from rest;
//! [`StoredProblem::condensed`] multiplies `W` out. `size` is about the number of contacts, or that of rows. A small
//! random velocity is added, or a kick: normally distributed numbers times `kick` times the velocity gained in a step
//! of free fall, on all components of all bodies. Without a kick nearly all of them are at rest; what is hard is
//! motion.

mod complementarity;
mod grid;
mod mechanics;
mod packing;
mod planar;
mod spatial;

use crate::{StoredError, StoredProblem};

/// Why a problem was not generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum FamilyError {
    #[error("family `{family}` goes up to size {limit}, asked for {size}")]
    TooLarge { family: &'static str, size: usize, limit: usize },
    #[error("family `{family}` has no friction and no bodies: `{option}` says nothing")]
    NoBodies { family: &'static str, option: &'static str },
    #[error("`{option}` is {value}, which is negative or not finite")]
    Value { option: &'static str, value: f64 },
    #[error("family `{family}`: {error}")]
    Problem { family: &'static str, error: StoredError },
}

/// What is asked of a family.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Recipe {
    /// About the number of contacts, or of rows.
    pub size: usize,
    /// Of all random numbers.
    pub seed: u64,
    /// Coefficient of friction of all contacts, in place of the family's own [-].
    pub mu: Option<f64>,
    /// Size of the kick, in velocities of one step's free fall, in place of a small random velocity [-].
    pub kick: Option<f64>,
}

/// One family.
pub struct Family {
    /// Name, and beginning of the names of its problems.
    pub name: &'static str,
    /// One line on what its problems are.
    pub title: &'static str,
    /// Largest size.
    pub limit: usize,
    /// Whether it is made of bodies with friction.
    pub bodies: bool,
    make: fn(&Recipe) -> Result<StoredProblem, StoredError>,
}

impl Family {
    /// A problem of about this size (at least the smallest one of the family).
    pub fn build(&self, size: usize, seed: u64) -> Result<StoredProblem, FamilyError> {
        self.generate(&Recipe { size, seed, ..Recipe::default() })
    }

    /// A problem after a recipe.
    pub fn generate(&self, recipe: &Recipe) -> Result<StoredProblem, FamilyError> {
        let (family, size) = (self.name, recipe.size);
        if size > self.limit {
            return Err(FamilyError::TooLarge { family, size, limit: self.limit });
        }
        for (option, value) in [("mu", recipe.mu), ("kick", recipe.kick)] {
            match value {
                Some(_) if !self.bodies => return Err(FamilyError::NoBodies { family, option }),
                Some(value) if !(value >= 0.0 && value.is_finite()) => {
                    return Err(FamilyError::Value { option, value });
                }
                _ => {}
            }
        }
        let option = |name: &str, value: Option<f64>| value.map_or(String::new(), |x| format!("-{name}{x}"));
        let name = format!("{family}-{size}-{}{}{}", recipe.seed, option("mu", recipe.mu), option("kick", recipe.kick));
        match (self.make)(&Recipe { size: size.max(1), ..*recipe }) {
            Ok(problem) => Ok(problem.named(name)),
            Err(error) => Err(FamilyError::Problem { family, error }),
        }
    }
}

/// Sparse families: rows and entries in proportion.
const SPARSE: usize = 1_000_000;

/// Dense families: n² entries, n³ operations.
const DENSE: usize = 4000;

/// A family of bodies with friction.
const fn bodies(
    name: &'static str,
    title: &'static str,
    limit: usize,
    make: fn(&Recipe) -> Result<StoredProblem, StoredError>,
) -> Family {
    Family { name, title, limit, bodies: true, make }
}

/// A linear complementarity family.
const fn rows(
    name: &'static str,
    title: &'static str,
    limit: usize,
    make: fn(&Recipe) -> Result<StoredProblem, StoredError>,
) -> Family {
    Family { name, title, limit, bodies: false, make }
}

/// Every family.
pub static FAMILIES: &[Family] = &[
    bodies("box-stack", "towers of ten cubes", SPARSE, spatial::box_stack),
    bodies("tower", "one tower of cubes", SPARSE, spatial::tower),
    bodies("tower-2d", "one tower of squares", SPARSE, planar::tower),
    bodies("towers", "as many towers of cubes as floors", SPARSE, spatial::towers),
    bodies("chain", "links with joints on the ground", SPARSE, spatial::chain),
    bodies("wall", "bricks in running bond", SPARSE, spatial::wall),
    bodies("wall-2d", "bricks in running bond, in the plane", SPARSE, planar::wall),
    bodies("sphere-heap", "pyramid of spheres", SPARSE, spatial::sphere_heap),
    bodies("fcc", "densest packing of spheres in a box", SPARSE, packing::fcc),
    bodies("fcc-2d", "densest packing of discs in a box", SPARSE, packing::hexagonal),
    bodies("rcp", "random close packing of spheres in a box", SPARSE, packing::rcp),
    bodies("rcp-2d", "random close packing of discs in a box", SPARSE, packing::rcp_planar),
    bodies("heap", "cone of spheres on a floor", SPARSE / 5, packing::heap),
    bodies("heap-2d", "triangle of discs on a floor", SPARSE / 5, packing::heap_planar),
    bodies("slab", "plates on grids of contacts", SPARSE / 10, spatial::slab),
    bodies("bridge", "arches of stones", SPARSE, planar::bridge),
    bodies("arch", "one arch of stones", SPARSE, planar::arch),
    bodies("cards", "house of cards", SPARSE, planar::cards),
    rows("pd", "positive definite", DENSE, complementarity::pd),
    rows("aat", "positive semidefinite", DENSE, complementarity::aat),
    rows("pns", "positive definite, not symmetric", DENSE, complementarity::pns),
    rows("degenerate", "both sides zero", DENSE, complementarity::degenerate),
    rows("redundant", "every row twice", DENSE, complementarity::redundant),
    rows("obstacle", "membrane over an obstacle", SPARSE, complementarity::obstacle),
];

/// A family by name.
pub fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

#[cfg(test)]
mod tests;
