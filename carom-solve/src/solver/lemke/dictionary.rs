//! The dictionary of Lemke's method: basic variables as functions of the nonbasic ones, `x_B = q + T x_N`.
//!
//! Only nonbasic columns are stored (half of the usual tableau). The lexicographic rule needs the columns of the inverse
//! basis; they are there: the perturbation `q + (ε, ε², …)` moves row i by `−T_ik` per unit of the nonbasic `w_j` in column k,
//! and by one if `w_j` itself is basic in row i [cottle1992, §4.9; murty1988, §2.2.8].

/// Relative size of what rounding leaves of a zero after some pivots.
const ROUNDING: f64 = 1e-14;

/// A variable of the LCP: `w_k`, `z_k`, or the artificial one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Variable {
    W(usize),
    Z(usize),
    Artificial,
}

impl Variable {
    pub(super) fn complement(self) -> Variable {
        match self {
            Variable::W(k) => Variable::Z(k),
            Variable::Z(k) => Variable::W(k),
            Variable::Artificial => Variable::Artificial,
        }
    }
}

/// Where a `w_k` stands.
#[derive(Clone, Copy, Debug)]
enum Place {
    Row(usize),
    Column(usize),
}

#[derive(Debug, Default)]
pub(super) struct Dictionary {
    rows: usize,
    negligible: f64, // relative size below which an entry is no pivot, and two ratios are one
    largest_q: f64,
    table: Vec<f64>, // (rows × (rows + 2)) q, then the nonbasic columns; the artificial one is the last at first
    basic: Vec<Variable>, // (rows)
    nonbasic: Vec<Variable>, // (rows + 1)
    place: Vec<Place>, // (rows) of each w
    ties: Vec<usize>, // rows that share the smallest ratio
    pivot_row: Vec<f64>, // (rows + 2)
}

impl Dictionary {
    /// Starts from `w = q + M z + 1 z₀`; the rows of `fill` are `q, M`.
    pub(super) fn start(&mut self, rows: usize, negligible: f64, mut fill: impl FnMut(usize, &mut [f64])) {
        let width = rows + 2;
        self.negligible = negligible;
        self.rows = rows;
        self.table.resize(rows * width, 0.0);
        self.pivot_row.resize(width, 0.0);
        for (i, row) in self.table.chunks_mut(width).enumerate() {
            fill(i, &mut row[..=rows]);
            row[rows + 1] = 1.0;
        }
        self.largest_q = self.table.iter().step_by(width).fold(0.0, |a: f64, q| a.max(q.abs()));
        self.basic.clear();
        self.basic.extend((0..rows).map(Variable::W));
        self.nonbasic.clear();
        self.nonbasic.extend((0..rows).map(Variable::Z));
        self.nonbasic.push(Variable::Artificial);
        self.place.clear();
        self.place.extend((0..rows).map(Place::Row));
    }

    /// The row with the lexicographically smallest `(q, unit vector)`, if its `q` is negative.
    pub(super) fn most_negative(&self) -> Option<usize> {
        let mut best = None;
        let mut smallest = 0.0;
        for i in 0..self.rows {
            let q = self.q(i);
            if q < smallest || (q == smallest && best.is_some()) {
                (best, smallest) = (Some(i), q);
            }
        }
        best
    }

    pub(super) fn q(&self, row: usize) -> f64 {
        self.table[row * (self.rows + 2)]
    }

    pub(super) fn basic(&self) -> &[Variable] {
        &self.basic
    }

    pub(super) fn column_of(&self, variable: Variable) -> Option<usize> {
        self.nonbasic.iter().position(|&v| v == variable).map(|k| k + 1)
    }

    /// Exchanges the basic variable of `row` with the nonbasic one of `column`, and returns the one that left the basis.
    pub(super) fn pivot(&mut self, row: usize, column: usize) -> Variable {
        let width = self.rows + 2;
        let inverse = 1.0 / self.table[row * width + column];
        let own = &mut self.table[row * width..(row + 1) * width];
        for x in own.iter_mut() {
            *x *= -inverse;
        }
        own[column] = inverse;
        self.pivot_row.copy_from_slice(own);
        for (i, other) in self.table.chunks_exact_mut(width).enumerate() {
            let factor = other[column];
            if i == row || factor == 0.0 {
                continue;
            }
            other[column] = 0.0;
            for (x, y) in other.iter_mut().zip(&self.pivot_row) {
                *x += factor * y;
            }
        }
        let (left, entered) = (self.basic[row], self.nonbasic[column - 1]);
        self.basic[row] = entered;
        self.nonbasic[column - 1] = left;
        if let Variable::W(k) = left {
            self.place[k] = Place::Column(column);
        }
        if let Variable::W(k) = entered {
            self.place[k] = Place::Row(row);
        }
        left
    }

    /// The row that blocks the growth of the variable in `column`, by the lexicographic ratio test; the artificial variable
    /// goes first where it may, since that ends the method. `None` is a ray.
    pub(super) fn blocking_row(&mut self, column: usize) -> Option<usize> {
        let width = self.rows + 2;
        let largest = self.table.iter().skip(column).step_by(width).fold(0.0, |a: f64, x| a.max(x.abs()));
        let threshold = self.negligible * largest.max(1.0);
        self.ties.clear();
        self.ties.extend((0..self.rows).filter(|i| -self.table[i * width + column] > threshold));
        // a basic variable below zero is zero up to rounding
        self.keep_smallest(column, ROUNDING * self.largest_q, |table, i| table[i * width].max(0.0));
        if let Some(&i) = self.ties.iter().find(|&&i| self.basic[i] == Variable::Artificial) {
            return Some(i);
        }
        for k in 0..self.rows {
            if self.ties.len() < 2 {
                break;
            }
            match self.place[k] {
                Place::Column(c) => self.keep_smallest(column, ROUNDING, |table, i| -table[i * width + c]),
                Place::Row(r) => self.keep_smallest(column, ROUNDING, |_, i| if i == r { 1.0 } else { 0.0 }),
            }
        }
        self.ties.first().copied()
    }

    /// Keeps the rows whose ratio of `numerator` to pivot is the smallest; numerators below `zero` are zero.
    fn keep_smallest(&mut self, column: usize, zero: f64, numerator: impl Fn(&[f64], usize) -> f64) {
        if self.ties.len() < 2 {
            return;
        }
        let (table, width) = (&self.table, self.rows + 2);
        let ratio = |i: usize| {
            let x = numerator(table, i);
            if x.abs() <= zero { 0.0 } else { x / -table[i * width + column] }
        };
        let smallest = self.ties.iter().map(|&i| ratio(i)).fold(f64::INFINITY, f64::min);
        let limit = smallest + self.negligible * smallest.abs();
        self.ties.retain(|&i| ratio(i) <= limit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pivot_and_its_inverse_restore_the_dictionary() {
        let m = [2.0, 1.0, 0.0, 3.0, 4.0, -1.0, 0.5, 0.0, 1.0];
        let mut d = Dictionary::default();
        d.start(3, 1e-9, |i, row| {
            row[0] = [-1.0, -2.0, 3.0][i];
            row[1..].copy_from_slice(&m[3 * i..3 * i + 3]);
        });
        let before = d.table.clone();
        assert_eq!(d.most_negative(), Some(1));
        assert_eq!(d.pivot(1, 2), Variable::W(1));
        assert_eq!(d.basic()[1], Variable::Z(1));
        // w₁ = 4 z₁ + …, so z₁ = (w₁ + 2 − 3 z₀ + …)/4
        assert_eq!(d.q(1), 0.5);
        assert_eq!(d.pivot(1, 2), Variable::Z(1));
        assert!(d.table.iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-15));
    }
}
