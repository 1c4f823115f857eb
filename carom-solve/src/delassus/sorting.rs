//! Blocks of `W` from the order of columns, in which they are found, to that of rows.

use super::Delassus;
use super::assembly::{MANY, Workspace};
use std::ops::Range;

/// Laws whose blocks a thread copies at a time.
const PORTION: usize = 1000;

impl Delassus {
    /// From column order to row order (a stable counting sort).
    pub(super) fn sort_into_rows(&mut self, offset: &[usize]) {
        let Workspace { part, position, .. } = &mut self.work;
        for &(i, ..) in part.iter().flat_map(|part| &part.by_column) {
            self.law[i as usize + 1].block += 1;
        }
        for i in 1..offset.len() {
            self.law[i].block += self.law[i - 1].block;
        }
        let blocks = self.law[offset.len() - 1].block;
        self.column.resize(blocks, 0);
        position.resize(blocks, (0, 0));
        // fill each row from its start; `diagonal` serves as the cursor until the end
        for law in &mut self.law {
            law.diagonal = law.block;
        }
        for (part, number) in part.iter().zip(0..) {
            for &(i, j, from) in &part.by_column {
                let cursor = &mut self.law[i as usize].diagonal;
                self.column[*cursor] = j;
                position[*cursor] = (number, from);
                *cursor += 1;
            }
        }
        let mut values = 0;
        for i in 0..offset.len() - 1 {
            let height = offset[i + 1] - offset[i];
            for k in self.law[i].block..self.law[i + 1].block {
                let j = self.column[k] as usize;
                if self.uniform == 0 {
                    self.at.push(values);
                }
                values += height * (offset[j + 1] - offset[j]);
                if j == i {
                    self.law[i].diagonal = k;
                }
            }
        }
        let mut value = std::mem::take(&mut self.value);
        value.resize(values, 0.0);
        self.copy_rows(0..offset.len() - 1, &mut value);
        self.value = value;
    }

    /// The values of some rows, in order.
    fn copy_rows(&self, rows: Range<usize>, value: &mut [f64]) {
        if rows.len() > PORTION && self.law.len() > MANY {
            let middle = rows.start.midpoint(rows.end);
            let (low, high) = value.split_at_mut(self.at(self.law[middle].block) - self.at(self.law[rows.start].block));
            rayon::join(|| self.copy_rows(rows.start..middle, low), || self.copy_rows(middle..rows.end, high));
            return;
        }
        let mut rest = value;
        for i in rows {
            for k in self.law[i].block..self.law[i + 1].block {
                let (part, from) = self.work.position[k];
                let own =
                    rest.split_off_mut(..self.height(i) * self.height(self.column[k] as usize)).unwrap_or_default();
                own.copy_from_slice(&self.work.part[part as usize].raw[from..from + own.len()]);
            }
        }
    }
}
