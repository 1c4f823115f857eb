//! Which balls may be in each other: a grid for each size.
//!
//! ```text
//!     a ball of radius R lies in the grid with cells of 2^l ≥ 2R, in the cell of its centre                        (1)
//!     it may meet balls of its own grid and of coarser ones, in the 27 cells around                                (2)
//! ```
//!
//! In its own grid it looks at its cell and at the 13 that come after it: those before look at it.
//!
//! Balls lie sorted in a table of hashes. Cells that follow each other along x have hashes that do, so that the cells
//! around are read in rows, and balls that are numbered one after the other find each other in the cache. The work is
//! linear in the balls whatever their sizes are, times the number of grids, which differ by a factor of two in size.

use std::ops::Range;

/// Most levels of (1), above and below those of a metre.
const LEVELS: i32 = 60;

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

/// A ball in the table.
#[derive(Clone, Copy, Debug)]
struct Entry {
    row: u64, // its level and the row of its cell, mixed
    x: i64,   // its cell in the row
    ball: Ball,
    number: u32,
}

/// Buffers of a search.
#[derive(Clone, Debug, Default)]
pub struct Grid {
    level: Vec<i32>,      // of each ball
    mask: usize,          // number of hashes, a power of two, less one
    starts: Vec<u32>,     // of each hash in the table, and the end
    table: Vec<Entry>,    // by rising hashes and numbers
    unsorted: Vec<Entry>, // by rising numbers
    levels: Vec<i32>,     // that have balls, rising
}

impl Grid {
    /// Calls `found` for all pairs of finite balls that meet, the smaller number first, each pair once: twice where two
    /// of the 9 rows have the same 64 mixed bits.
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
                        let after = (dz, dy).cmp(&(0, 0));
                        if level == own && after.is_lt() {
                            continue;
                        }
                        let row = mixed(level, [y + dy, z + dz]);
                        let first = if level == own && after.is_eq() { 0 } else { -1 };
                        for dx in first..2 {
                            for entry in self.bucket(row, x + dx) {
                                let is_first = level > own || after.is_gt() || dx > 0 || entry.number as usize > i;
                                let is_there = entry.row == row && entry.x == x + dx;
                                if is_there && is_first && ball.meets(&entry.ball) {
                                    let i = i as u32;
                                    found(i.min(entry.number), i.max(entry.number));
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    fn fill(&mut self, balls: &[Ball]) {
        let size = (2 * balls.len()).next_power_of_two().max(16);
        self.mask = size - 1;
        self.starts.clear();
        self.starts.resize(size + 1, 0);
        self.unsorted.clear();
        self.level.clear();
        self.levels.clear();
        for (number, ball) in balls.iter().enumerate() {
            let level = level(ball.radius);
            self.level.push(level);
            if ball.radius.is_finite() {
                let [x, y, z] = cell(ball.centre, level);
                let row = mixed(level, [y, z]);
                let hash = hash(self.mask, row, x);
                self.starts[hash] += 1;
                self.unsorted.push(Entry { row, x, ball: *ball, number: number as u32 });
                if let Err(at) = self.levels.binary_search(&level) {
                    self.levels.insert(at, level);
                }
            }
        }
        (0..size).for_each(|hash| self.starts[hash + 1] += self.starts[hash]);
        self.table.clear();
        self.table.extend_from_slice(&self.unsorted);
        // from behind: each start goes from the end of its balls to their beginning
        for entry in self.unsorted.iter().rev() {
            let hash = hash(self.mask, entry.row, entry.x);
            self.starts[hash] -= 1;
            self.table[self.starts[hash] as usize] = *entry;
        }
    }

    /// The balls with the hash of a cell.
    #[inline]
    fn bucket(&self, row: u64, x: i64) -> &[Entry] {
        let hash = hash(self.mask, row, x);
        &self.table[self.starts[hash] as usize..self.starts[hash + 1] as usize]
    }
}

/// The hash of a cell: that of its row, and one more from cell to cell.
#[inline]
fn hash(mask: usize, row: u64, x: i64) -> usize {
    ((row >> 20) as usize).wrapping_add(x as usize) & mask
}

/// The level of a ball by (1): exponents of numbers tell it.
#[inline]
fn level(radius: f64) -> i32 {
    let bits = (2.0 * radius).to_bits();
    let exponent = ((bits >> 52) & 0x7ff) as i32 - 1023;
    (exponent + i32::from(bits << 12 != 0)).clamp(-LEVELS, LEVELS)
}

/// Level and row of a cell as one number; each step is one to one, so that rows beside each other never have the same.
#[inline]
fn mixed(level: i32, [y, z]: [i64; 2]) -> u64 {
    let mix = |sum: u64, part: i64| (sum ^ part as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    mix(mix(mix(0, i64::from(level)), z), y)
}

/// The cell of a place; places beyond all numbers are in the last cells.
#[inline]
fn cell(centre: [f64; 3], level: i32) -> [i64; 3] {
    // 2^-level
    let inverse = f64::from_bits(((1023 - level) as u64) << 52);
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
