//! Families of problems, generated from a size and a seed: the same numbers on every machine.
//!
//! | family | laws | what it is |
//! |---|---|---|
//! | `box-stack` | spatial friction | towers of ten cubes, four contacts per interface: more contacts than the bodies can tell apart |
//! | `chain` | spatial friction, equality | links joined by spherical joints, each one touching the ground |
//! | `wall` | spatial friction | bricks in running bond, eight contacts under each of them |
//! | `sphere-heap` | spatial friction | a pyramid of spheres on a square lattice; neighbours of a layer touch without load |
//! | `bridge` | planar friction | arches of 25 stones, two contacts per joint |
//! | `slab` | spatial friction | plates on a grid of 100 contacts each: rank six out of 300 |
//! | `pd`, `aat`, `pns` | unilateral | dense random: positive definite, semidefinite, positive definite and not symmetric |
//! | `degenerate` | unilateral | dense, a third of the conditions with both sides zero |
//! | `redundant` | unilateral | dense, every row twice: rank n/2 |
//! | `obstacle` | unilateral | a membrane over an obstacle: the five-point Laplacian, sparse |
//!
//! Mechanical families are in global form, `M v = q + H λ`, one time step of 10 ms under gravity from rest with a small
//! random velocity; [`StoredProblem::condensed`] multiplies `W` out. `size` is about the number of contacts, or that of
//! rows.

mod complementarity;
mod mechanics;
mod planar;
mod spatial;

use crate::{StoredError, StoredProblem};

/// Why a problem was not generated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum FamilyError {
    #[error("family `{family}` goes up to size {limit}, asked for {size}")]
    TooLarge { family: &'static str, size: usize, limit: usize },
    #[error("family `{family}`: {error}")]
    Problem { family: &'static str, error: StoredError },
}

/// One family.
pub struct Family {
    /// Name, and beginning of the names of its problems.
    pub name: &'static str,
    /// One line on what its problems are.
    pub title: &'static str,
    /// Largest size.
    pub limit: usize,
    make: fn(usize, u64) -> Result<StoredProblem, StoredError>,
}

impl Family {
    /// A problem of about this size (at least the smallest one of the family).
    pub fn build(&self, size: usize, seed: u64) -> Result<StoredProblem, FamilyError> {
        if size > self.limit {
            return Err(FamilyError::TooLarge { family: self.name, size, limit: self.limit });
        }
        match (self.make)(size.max(1), seed) {
            Ok(problem) => Ok(problem.named(format!("{}-{size}-{seed}", self.name))),
            Err(error) => Err(FamilyError::Problem { family: self.name, error }),
        }
    }
}

/// Sparse families: rows and entries in proportion.
const SPARSE: usize = 1_000_000;

/// Dense families: n² entries, n³ operations.
const DENSE: usize = 4000;

/// Every family.
pub const FAMILIES: &[Family] = &[
    Family { name: "box-stack", title: "towers of ten cubes", limit: SPARSE, make: spatial::box_stack },
    Family { name: "chain", title: "links with joints on the ground", limit: SPARSE, make: spatial::chain },
    Family { name: "wall", title: "bricks in running bond", limit: SPARSE, make: spatial::wall },
    Family { name: "sphere-heap", title: "pyramid of spheres", limit: SPARSE, make: spatial::sphere_heap },
    Family { name: "slab", title: "plates on grids of contacts", limit: SPARSE / 10, make: spatial::slab },
    Family { name: "bridge", title: "arches of stones", limit: SPARSE, make: planar::bridge },
    Family { name: "pd", title: "positive definite", limit: DENSE, make: complementarity::pd },
    Family { name: "aat", title: "positive semidefinite", limit: DENSE, make: complementarity::aat },
    Family { name: "pns", title: "positive definite, not symmetric", limit: DENSE, make: complementarity::pns },
    Family { name: "degenerate", title: "both sides zero", limit: DENSE, make: complementarity::degenerate },
    Family { name: "redundant", title: "every row twice", limit: DENSE, make: complementarity::redundant },
    Family { name: "obstacle", title: "membrane over an obstacle", limit: SPARSE, make: complementarity::obstacle },
];

/// A family by name.
pub fn find(name: &str) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.name == name)
}

#[cfg(test)]
mod tests;
