//! `W = D` where a problem is given in reduced form: entries become blocks at the cost of a copy.

use super::Delassus;
use crate::{Parts, Rows};

impl Delassus {
    /// `W = D`: the problem is given in reduced form.
    pub(super) fn assemble_direct(&mut self, p: &Parts<'_>, offset: &[usize]) {
        let laws = p.laws.len();
        let none = Rows::default();
        let d = p.feedthrough.unwrap_or(&none);
        self.column.clear();
        self.value.clear();
        // laws of equal size in rising order need no index
        let mut indexed = !(1..=3).contains(&self.uniform);
        if indexed {
            self.index_directly(offset, laws);
        }
        if self.uniform > 0 {
            self.column.reserve(d.entries() / (self.uniform * self.uniform));
            self.value.reserve(d.entries());
        }
        for i in 0..laws {
            self.law[i].block = self.column.len();
            let copied = d.len() == offset[laws]
                && match self.uniform {
                    1 => self.copy_entries(d.row(i), i),
                    2 => self.copy_equal_blocks([d.row(2 * i), d.row(2 * i + 1)], i),
                    3 => self.copy_equal_blocks([d.row(3 * i), d.row(3 * i + 1), d.row(3 * i + 2)], i),
                    _ => offset[i + 1] - offset[i] <= 3 && self.copy_blocks(d, i, offset),
                };
            if !copied {
                if !indexed {
                    self.index_directly(offset, laws);
                    indexed = true;
                }
                self.gather_blocks(d, i, offset);
            }
        }
        self.law[laws].block = self.column.len();
    }

    /// Which law a row belongs to; none has seen another.
    #[inline(never)]
    fn index_directly(&mut self, offset: &[usize], laws: usize) {
        self.work.index.index_laws(offset, laws);
        self.work.seen.reset(laws);
    }

    /// The blocks of law `i` where all laws have one row, from entries in rising order without zeros. Whether they were
    /// so.
    fn copy_entries(&mut self, row: &[(usize, f64)], i: usize) -> bool {
        let Ok(place) = row.binary_search_by_key(&i, |entry| entry.0) else { return false };
        let rising = row.windows(2).fold(true, |rising, pair| rising & (pair[0].0 < pair[1].0));
        let full = row.iter().fold(true, |full, entry| full & (entry.1 != 0.0));
        if rising && full {
            let at = self.value.len();
            self.law[i].diagonal = at + place;
            self.column.extend(row.iter().map(|entry| entry.0 as u32));
            self.value.extend(row.iter().map(|entry| entry.1));
        }
        rising && full
    }

    /// The same as [`copy_blocks`](Self::copy_blocks) where all laws have N rows, whose blocks may have gaps.
    fn copy_equal_blocks<const N: usize>(&mut self, rows: [&[(usize, f64)]; N], i: usize) -> bool {
        let (blocks, values) = (self.column.len(), self.value.len());
        if rows.iter().all(|row| row.len() == (self.law.len() - 1) * N) {
            if self.copy_full_blocks(rows.map(|row| row.as_chunks().0), i) {
                return true;
            }
            self.column.truncate(blocks);
            self.value.truncate(values);
        }
        let (mut rest, mut diagonal, mut least) = (rows, None, 0);
        loop {
            let next = rest.iter().filter_map(|row| row.first()).map(|entry| entry.0).min();
            let Some(j) = next.map(|column| column / N) else { break };
            let mut block = [[0.0; N]; N];
            let mut bits = 0;
            for (rest, values) in rest.iter_mut().zip(&mut block) {
                // columns that do not rise end before the row does
                let mut column = j * N;
                while let Some((entry, tail)) = rest.split_first()
                    && (column..(j + 1) * N).contains(&entry.0)
                {
                    values[entry.0 - j * N] = entry.1;
                    bits |= entry.1.to_bits() << 1;
                    (*rest, column) = (tail, entry.0 + 1);
                }
            }
            if j < least {
                diagonal = None;
                break;
            }
            least = j + 1;
            if j == i {
                diagonal = Some(self.column.len());
            }
            if j == i || bits != 0 {
                self.column.push(j as u32);
                self.value.extend_from_slice(block.as_flattened());
            }
        }
        match diagonal {
            Some(diagonal) => self.law[i].diagonal = diagonal,
            None => {
                self.column.truncate(blocks);
                self.value.truncate(values);
            }
        }
        diagonal.is_some()
    }

    /// The same of rows without gaps, if their columns rise.
    fn copy_full_blocks<const N: usize>(&mut self, rows: [&[[(usize, f64); N]]; N], i: usize) -> bool {
        let length = rows[0].len();
        let rows = rows.map(|row| &row[..length]);
        let mut astray = 0;
        for j in 0..length {
            // differences from the expected columns, and bits of the values without their signs
            let mut bits = 0;
            for row in &rows {
                for l in 0..N {
                    astray |= row[j][l].0 ^ (j * N + l);
                    bits |= row[j][l].1.to_bits();
                }
            }
            if j == i {
                self.law[i].diagonal = self.column.len();
            }
            if j == i || bits << 1 != 0 {
                self.column.push(j as u32);
                rows.iter().for_each(|row| self.value.extend(row[j].iter().map(|entry| entry.1)));
            }
        }
        astray == 0
    }

    /// The blocks of law `i` from rows of D that hold whole blocks in rising order, as dense and block-sparse matrices
    /// do. Whether the rows were of that kind; nothing is left behind if not.
    fn copy_blocks(&mut self, d: &Rows, i: usize, offset: &[usize]) -> bool {
        let (first, height) = (offset[i], offset[i + 1] - offset[i]);
        let rows = [d.row(first), d.row(first + (height - 1).min(1)), d.row(first + height - 1)];
        let rows = &rows[..height];
        let (blocks, values) = (self.column.len(), self.value.len());
        let (mut at, mut diagonal, mut least) = (0, None, 0);
        let regular = rows.iter().all(|row| row.len() == rows[0].len());
        while regular && at < rows[0].len() {
            let j = self.work.index.law_of[rows[0][at].0] as usize;
            let (start, width) = (offset[j], offset[j + 1] - offset[j]);
            let whole = |row: &&[(usize, f64)]| {
                row.get(at..at + width).is_some_and(|part| part.iter().enumerate().all(|(l, x)| x.0 == start + l))
            };
            if j < least || !rows.iter().all(whole) {
                break;
            }
            let parts = rows.iter().flat_map(|row| &row[at..at + width]);
            if j == i || parts.clone().any(|x| x.1 != 0.0) {
                if j == i {
                    diagonal = Some(self.column.len());
                }
                self.column.push(j as u32);
                self.place_block();
                self.value.extend(parts.map(|x| x.1));
            }
            at += width;
            least = j + 1;
        }
        match diagonal {
            Some(diagonal) if regular && at == rows[0].len() => {
                self.law[i].diagonal = diagonal;
                true
            }
            _ => {
                self.column.truncate(blocks);
                self.at.truncate(blocks);
                self.value.truncate(values);
                false
            }
        }
    }

    /// The blocks of law `i` from rows of D in any order.
    fn gather_blocks(&mut self, d: &Rows, i: usize, offset: &[usize]) {
        let rows = offset[i]..offset[i + 1];
        let height = rows.len();
        let (law_of, seen) = (&self.work.index.law_of, &mut self.work.seen);
        seen.found.clear();
        seen.last[i] = i as u32 + 1;
        seen.found.push(i as u32);
        let entries = |r: usize| if r < d.len() { d.row(r) } else { &[] }.iter().filter(|x| x.1 != 0.0);
        for &(c, _) in rows.clone().flat_map(entries) {
            let j = law_of[c];
            if seen.last[j as usize] != i as u32 + 1 {
                seen.last[j as usize] = i as u32 + 1;
                seen.found.push(j);
            }
        }
        seen.found.sort_unstable();
        for &j in &seen.found {
            if j as usize == i {
                self.law[i].diagonal = self.column.len();
            }
            let at = self.value.len();
            seen.place[j as usize] = at;
            self.column.push(j);
            if self.uniform == 0 {
                self.at.push(at);
            }
            self.value.resize(at + height * (offset[j as usize + 1] - offset[j as usize]), 0.0);
        }
        for (k, r) in rows.enumerate() {
            for &(c, value) in entries(r) {
                let j = law_of[c] as usize;
                let width = offset[j + 1] - offset[j];
                self.value[seen.place[j] + k * width + c - offset[j]] += value;
            }
        }
    }

    /// The next values are those of a new block.
    #[inline]
    fn place_block(&mut self) {
        if self.uniform == 0 {
            self.at.push(self.value.len());
        }
    }
}
