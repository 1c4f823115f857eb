//! Thinning, the only one: of rows of a run while it goes on, and of curves that would make a report too large.
//!
//! Rows are never changed, only left out. Of each block of 2^k rows those stay that hold the smallest and the largest
//! value of some column, the first and the last row, and the first gap of each column: every extreme is there, at its
//! time, and so is every point that is drawn.

use super::Values;

/// The largest blocks have 2^this rows.
pub const MOST: u32 = 30;

/// The rows that stay, in order. `value` tells (row, column), `index` the number of a row before any thinning, not
/// decreasing: blocks are counted by it, so that thinning in two goes is the same as in one.
pub fn rows(
    count: usize,
    columns: usize,
    value: impl Fn(usize, usize) -> f64,
    index: impl Fn(usize) -> u64,
    level: u32,
) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut start = 0;
    while start < count {
        let block = index(start) >> level;
        let mut end = start + 1;
        while end < count && index(end) >> level == block {
            end += 1;
        }
        let first = kept.len();
        kept.extend([start, end - 1]);
        (0..columns).for_each(|column| extremes(start..end, |row| value(row, column), &mut kept));
        kept[first..].sort_unstable();
        start = end;
    }
    kept.dedup();
    kept
}

fn extremes(rows: std::ops::Range<usize>, value: impl Fn(usize) -> f64, kept: &mut Vec<usize>) {
    let (mut low, mut high, mut gap) = (None, None, None);
    for row in rows {
        let x = value(row);
        if !x.is_finite() {
            gap = gap.or(Some(row));
            continue;
        }
        if low.is_none_or(|(_, least)| x < least) {
            low = Some((row, x));
        }
        if high.is_none_or(|(_, most)| x > most) {
            high = Some((row, x));
        }
    }
    kept.extend(low.into_iter().chain(high).map(|(row, _)| row).chain(gap));
}

/// Keeps the rows of a run: all of them up to a number of values, then ever larger blocks.
#[derive(Debug, Clone)]
pub struct Thinner {
    columns: usize,
    most: usize,
    /// Row after row; the first column is the time.
    values: Vec<f64>,
    index: Vec<u64>,
    count: u64,
    level: u32,
}

carom_solve::persist!(Thinner { values, index, count, level } skip { columns, most });

/// What a [`Thinner`] has kept.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Thinned {
    /// Columns, as they came.
    pub columns: Vec<Values>,
    /// Number of rows that were given.
    pub total: u64,
    /// Rows per block; 1 where all rows are kept.
    pub block: u64,
}

impl Thinner {
    /// For rows of `columns` numbers, of which the first is the abscissa; at most `most` numbers stay in memory, but
    /// always a few blocks.
    pub fn new(columns: usize, most: usize) -> Self {
        // one block may keep first, last and three rows of each column
        let most = most.max(32 * columns * (3 * columns + 2));
        Self { columns, most, values: Vec::new(), index: Vec::new(), count: 0, level: 0 }
    }

    /// Takes a row; missing numbers are gaps.
    pub fn push(&mut self, row: impl Iterator<Item = f64>) {
        if self.values.len() + self.columns > self.most {
            self.halve();
        }
        if self.values.len() + self.columns > self.values.capacity() {
            // growth by a quarter: memory is bounded, and doubling would take twice the bound
            self.values.reserve_exact((self.values.capacity() / 4).max(64 * self.columns));
        }
        self.values.extend(row.chain(std::iter::repeat(f64::NAN)).take(self.columns));
        self.index.push(self.count);
        self.count += 1;
    }

    /// Thins the rows that came last, and makes blocks larger until half of the memory is free.
    fn halve(&mut self) {
        self.level = self.level.max(3);
        self.thin();
        while self.values.len() > self.most / 2 && self.level < MOST {
            self.level += 1;
            self.thin();
        }
    }

    fn thin(&mut self) {
        let n = self.columns;
        let value = |row: usize, column: usize| self.values[row * n + 1 + column];
        let kept = rows(self.index.len(), n.saturating_sub(1), value, |row| self.index[row], self.level);
        // rows only move towards the front
        for (place, row) in kept.iter().enumerate() {
            self.values.copy_within(row * n..(row + 1) * n, place * n);
            self.index[place] = self.index[*row];
        }
        self.values.truncate(kept.len() * n);
        self.index.truncate(kept.len());
    }

    /// What is kept, column by column.
    pub fn finish(mut self) -> Thinned {
        if self.level > 0 {
            // the last rows are in blocks of the same size as the others
            self.thin();
        }
        let rows = self.values.len() / self.columns.max(1);
        let column = |k: usize| (0..rows).map(|row| self.values[row * self.columns + k]).collect();
        Thinned { columns: (0..self.columns).map(column).collect(), total: self.count, block: 1 << self.level }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A signal with a spike in one row of a hundred thousand.
    fn signal(k: u64) -> f64 {
        if k == 77_777 { 9.0 } else { (0.01 * k as f64).sin() }
    }

    fn thinned(count: u64, most: usize) -> Thinned {
        let mut thinner = Thinner::new(3, most);
        (0..count).for_each(|k| thinner.push([k as f64, signal(k), -2.0 * signal(k + 5)].into_iter()));
        thinner.finish()
    }

    #[test]
    fn nothing_is_lost_below_the_limit() {
        let all = thinned(1000, 3000);
        assert_eq!((all.total, all.block, all.columns[0].len()), (1000, 1, 1000));
    }

    #[test]
    fn rows_are_true_and_extremes_of_every_block_stay() {
        let kept = thinned(100_000, 30_000);
        assert_eq!(kept.total, 100_000);
        assert!(kept.block > 1 && kept.columns.iter().map(|c| c.len()).sum::<usize>() <= 30_000);
        let [t, x, y] = [0, 1, 2].map(|k| &kept.columns[k]);
        for ((t, x), y) in t.iter().zip(x.iter()).zip(y.iter()) {
            assert_eq!((*x, *y), (signal(*t as u64), -2.0 * signal(*t as u64 + 5)));
        }
        let largest = |from: u64, to: u64| (from..to).map(signal).fold(f64::MIN, f64::max);
        for block in 0..100_000 / kept.block {
            let (from, to) = (block * kept.block, (block + 1) * kept.block);
            let inside = t.iter().zip(x.iter()).filter(|(t, _)| (from..to).contains(&(**t as u64)));
            assert_eq!(inside.map(|(_, x)| *x).fold(f64::MIN, f64::max), largest(from, to), "rows {from} to {to}");
        }
        assert_eq!((t[0], t[t.len() - 1]), (0.0, 99_999.0));
    }

    /// Blocks grow no faster than they must: a good part of the memory is always used.
    #[test]
    fn blocks_are_as_small_as_the_memory_allows() {
        for count in [20_000, 50_000, 200_000, 1_000_000] {
            let kept = thinned(count, 30_000);
            let used: usize = kept.columns.iter().map(|c| c.len()).sum();
            assert!((3_000..=30_000).contains(&used), "{count} rows: {used} numbers in blocks of {}", kept.block);
        }
    }

    #[test]
    fn gaps_are_not_bridged() {
        let y = [1.0, 2.0, f64::NAN, 3.0, 2.0, 1.0, 1.0, 1.0];
        assert_eq!(rows(8, 1, |row, _| y[row], |row| row as u64, 3), [0, 2, 3, 7]);
    }
}
