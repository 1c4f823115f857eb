//! Which balls may be in each other: a grid for each size.
//!
//! ```text
//!     a ball of radius R lies in the grid with cells of 2^l ≥ 2R, in the cell of its centre                        (1)
//!     it may meet balls of its own grid and of coarser ones, in the 27 cells around                                (2)
//! ```
//!
//! In its own grid it looks at its cell and at the 13 that come after it: those before look at it.
//!
//! Cells are found by a table of hashes with chains. The work is linear in the balls whatever their sizes are, times
//! the number of grids, which differ by a factor of two in size.

use carom_solve::elementary::log2;
use std::ops::Range;

/// No ball.
const NONE: u32 = u32::MAX;

/// Most levels of (1), above and below those of a metre.
const LEVELS: f64 = 60.0;

/// A ball, or what is to be left out where the radius is infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Centre.
    pub centre: [f64; 3],
    /// Radius [m].
    pub radius: f64,
}

impl Ball {
    /// Whether two balls have a point in common.
    #[inline]
    pub fn meets(&self, other: &Ball) -> bool {
        let reach = self.radius + other.radius;
        let square: f64 = (0..3).map(|i| (self.centre[i] - other.centre[i]).powi(2)).sum();
        square <= reach * reach
    }
}

/// Buffers of a search.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    level: Vec<i32>,  // of each ball
    cells: Vec<u64>,  // its level and cell, mixed
    heads: Vec<u32>,  // first ball of each hash
    next: Vec<u32>,   // next ball of the same hash
    levels: Vec<i32>, // that have balls, rising
}

impl Grid {
    /// Calls `found` for all pairs of finite balls that meet, the smaller number first, each pair once: twice where two
    /// of the 27 cells have the same 64 mixed bits.
    pub fn pairs(&mut self, balls: &[Ball], is_planar: bool, mut found: impl FnMut(u32, u32)) {
        self.fill(balls);
        let around: Range<i64> = -1..2;
        let deep = if is_planar { 0..1 } else { around.clone() };
        for (i, ball) in balls.iter().enumerate().filter(|(_, ball)| ball.radius.is_finite()) {
            let own = self.level[i];
            for &level in self.levels.iter().filter(|level| **level >= own) {
                let [x, y, z] = cell(ball.centre, level);
                for dz in deep.clone() {
                    for dy in around.clone() {
                        for dx in around.clone() {
                            let after = (dz, dy, dx).cmp(&(0, 0, 0));
                            if level == own && after.is_lt() {
                                continue;
                            }
                            let wanted = mixed(level, [x + dx, y + dy, z + dz]);
                            let mut j = self.heads[self.hash(wanted)];
                            while j != NONE {
                                let other = j as usize;
                                let is_first = level > own || after.is_gt() || other > i;
                                if self.cells[other] == wanted && is_first && ball.meets(&balls[other]) {
                                    let i = i as u32;
                                    found(i.min(j), i.max(j));
                                }
                                j = self.next[other];
                            }
                        }
                    }
                }
            }
        }
    }

    fn fill(&mut self, balls: &[Ball]) {
        let size = (2 * balls.len()).next_power_of_two().max(16);
        self.heads.clear();
        self.heads.resize(size, NONE);
        self.next.clear();
        self.next.resize(balls.len(), NONE);
        self.cells.clear();
        self.level.clear();
        self.levels.clear();
        for ball in balls {
            let level = log2(2.0 * ball.radius).ceil().clamp(-LEVELS, LEVELS) as i32;
            self.level.push(level);
            self.cells.push(mixed(level, cell(ball.centre, level)));
            if ball.radius.is_finite()
                && let Err(at) = self.levels.binary_search(&level)
            {
                self.levels.insert(at, level);
            }
        }
        // from behind, so that chains rise
        for (i, _) in balls.iter().enumerate().rev().filter(|(_, ball)| ball.radius.is_finite()) {
            let hash = self.hash(self.cells[i]);
            self.next[i] = self.heads[hash];
            self.heads[hash] = i as u32;
        }
    }

    #[inline]
    fn hash(&self, mixed: u64) -> usize {
        (mixed >> 20) as usize & (self.heads.len() - 1)
    }
}

/// Level and cell as one number; each step is one to one, so that cells in a row never have the same.
#[inline]
fn mixed(level: i32, [x, y, z]: [i64; 3]) -> u64 {
    let mix = |sum: u64, part: i64| (sum ^ part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    mix(mix(mix(mix(0, i64::from(level)), x), y), z)
}

/// The cell of a place; places beyond all numbers are in the last cells.
#[inline]
fn cell(centre: [f64; 3], level: i32) -> [i64; 3] {
    let inverse = 2f64.powi(-level);
    centre.map(|x| (x * inverse).floor().clamp(-1e15, 1e15) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn all_pairs_of_balls_that_meet_are_found_once() {
        let mut rng = Pcg64::seed_from_u64(3);
        let mut grid = Grid::default();
        for (count, spread) in [(200, 1.0f64), (300, 30.0), (50, 1000.0), (0, 1.0)] {
            for is_planar in [false, true] {
                let balls: Vec<Ball> = (0..count)
                    .map(|_| {
                        let z = if is_planar { 0.0 } else { 1.0 };
                        let mut number = |size: f64| rng.random_range(-size..size);
                        let centre = [number(1.0), number(1.0), z * number(1.0)];
                        let radius = 0.1 * spread.powf(number(0.5));
                        Ball { centre, radius: if number(1.0) > 0.95 { f64::INFINITY } else { radius } }
                    })
                    .collect();
                let mut found = Vec::new();
                grid.pairs(&balls, is_planar, |i, j| found.push((i, j)));
                let mut all = Vec::new();
                for j in 0..balls.len() {
                    for i in 0..j {
                        let finite = balls[i].radius.is_finite() && balls[j].radius.is_finite();
                        if finite && balls[i].meets(&balls[j]) {
                            all.push((i as u32, j as u32));
                        }
                    }
                }
                found.sort_unstable();
                all.sort_unstable();
                assert_eq!(found, all, "{count} {spread} {is_planar}");
                assert!(count < 100 || all.len() > 20, "{} pairs", all.len());
            }
        }
    }
}
