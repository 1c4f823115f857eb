//! Systems `X + Y C A⁻¹ B` factored in the space of velocities, one block per group of degrees of freedom.
//!
//! Groups are the blocks of `A`, and neighbouring blocks that are touched by the same laws: bodies, also where `A` is
//! diagonal. Degrees of freedom that no law touches have no part in it.

use super::Diagonal;
use crate::block_lu::{BlockLu, Pattern, invert};
use crate::solver::scaled::Scaled;
use crate::{OneStepProblem, SolveError};

/// Widest group: the degrees of freedom of a body in space.
const WIDEST: usize = 6;

/// Most groups that a law may touch.
const MOST: usize = 8;

const NONE: u32 = u32::MAX;

/// `I + A⁻¹ B X⁻¹ Y C` and its factorisation.
#[derive(Default)]
pub(super) struct VelocitySpace {
    block: Vec<u32>,   // (n) block of A of each degree of freedom
    start: Vec<usize>, // (blocks of A + 1) first degree of freedom
    touch: Vec<u64>,   // pairs (block of A, law), sorted
    place: Vec<u32>,   // (n) group times WIDEST plus place in it; NONE if untouched
    groups: usize,
    first: Vec<usize>, // (laws + 1) first part of each law
    part: Vec<u32>,    // group of each part
    output: Vec<f64>,  // (parts × 3 × width) scaled C, row-major
    input: Vec<f64>,   // (parts × width × 3) scaled A⁻¹ B, row-major
    pair: Vec<u64>,    // pairs of groups that see each other, sorted
    pattern: Pattern,
    slot: Vec<u32>,  // block of the pattern for each pair of parts of each law
    value: Vec<f64>, // blocks of the matrix
    lu: BlockLu,
    inverse: Vec<[f64; 9]>, // (laws) X⁻¹
    ratio: Vec<[f64; 9]>,   // (laws) X⁻¹ Y
    scale: Vec<[f64; 9]>,   // (laws) (X + Y)⁻¹
    local: Vec<f64>,        // (laws × 3) X⁻¹ b
    right: Vec<f64>,        // (groups × width)
    velocity: Vec<f64>,     // (groups × width)
    column: Vec<f64>,       // one column of A⁻¹ B within a block of A
}

impl VelocitySpace {
    /// Takes over a problem. False if it is not given by bodies: with feedthrough, or with large blocks of `A`.
    pub fn load(&mut self, problem: &OneStepProblem<'_>, scaled: &Scaled) -> Result<bool, SolveError> {
        let parts = problem.parts();
        let feeds = parts.feedthrough.is_some_and(|d| d.iter().flatten().any(|entry| entry.1 != 0.0));
        if parts.lhs.dim() == 0 || feeds || !self.find_groups(problem) || !self.find_parts(problem) {
            return Ok(false);
        }
        self.find_pattern();
        self.lu.analyse(&self.pattern)?;
        self.take_rows(problem, scaled);
        Ok(true)
    }

    /// Scalar rows of the matrix.
    pub fn size(&self) -> usize {
        self.groups * self.pattern.width
    }

    /// Multiplications of one factorisation, the assembly included.
    pub fn multiplications(&self) -> f64 {
        let block = 3.0 * (self.pattern.width as f64).powi(2);
        self.lu.multiplications() + block * self.slot.len() as f64
    }

    /// Blocks of A that laws touch, joined to groups. False if one of them is too wide.
    fn find_groups(&mut self, problem: &OneStepProblem<'_>) -> bool {
        let (parts, n) = (problem.parts(), problem.parts().lhs.dim());
        self.block.clear();
        self.start.clear();
        while self.block.len() < n {
            let first = self.block.len();
            self.block.resize(parts.lhs.block(first).end.clamp(first + 1, n), self.start.len() as u32);
            self.start.push(first);
        }
        self.start.push(n);
        self.touch.clear();
        for i in 0..problem.laws().len() {
            for row in problem.rows(i) {
                for &(dof, _) in parts.output.row(row).iter().chain(parts.input.row(row)) {
                    self.touch.push(u64::from(self.block[dof]) << 32 | i as u64);
                }
            }
        }
        self.touch.sort_unstable();
        self.touch.dedup();
        self.place.clear();
        self.place.resize(n, NONE);
        (self.groups, self.pattern.width) = (0, 1);
        let (mut leader, mut width) = (0..0, WIDEST + 1); // laws of the first block of the group, and its width so far
        let mut next = 0;
        while next < self.touch.len() {
            let block = (self.touch[next] >> 32) as usize;
            let end = next + self.touch[next..].iter().take_while(|x| (**x >> 32) as usize == block).count();
            let dofs = self.start[block]..self.start[block + 1];
            if dofs.len() > WIDEST {
                return false;
            }
            if width + dofs.len() > WIDEST || !alike(&self.touch[leader.clone()], &self.touch[next..end]) {
                (leader, width) = (next..end, 0);
                self.groups += 1;
            }
            for dof in dofs {
                self.place[dof] = ((self.groups - 1) * WIDEST + width) as u32;
                width += 1;
            }
            // widths for which the factorisation has loops of constant length
            self.pattern.width = self.pattern.width.max(if width > 3 { WIDEST } else { width });
            next = end;
        }
        self.groups > 0
    }

    /// Groups that each law touches. False if they are too many.
    fn find_parts(&mut self, problem: &OneStepProblem<'_>) -> bool {
        let parts = problem.parts();
        self.part.clear();
        self.first.clear();
        self.first.push(0);
        for i in 0..problem.laws().len() {
            let first = self.part.len();
            for row in problem.rows(i) {
                for &(dof, _) in parts.output.row(row).iter().chain(parts.input.row(row)) {
                    let group = self.place[dof] / WIDEST as u32;
                    if !self.part[first..].contains(&group) {
                        self.part.push(group);
                    }
                    // the response spreads over the block of A, which may be a part of the group
                }
            }
            if self.part.len() - first > MOST {
                return false;
            }
            self.part[first..].sort_unstable();
            self.first.push(self.part.len());
        }
        true
    }

    /// Which groups see each other, and where the parts of each law go.
    fn find_pattern(&mut self) {
        self.pair.clear();
        self.pair.extend((0..self.groups as u64).map(|g| g << 32 | g));
        for law in self.first.windows(2) {
            for &p in &self.part[law[0]..law[1]] {
                self.pair.extend(self.part[law[0]..law[1]].iter().map(|&q| u64::from(p) << 32 | u64::from(q)));
            }
        }
        self.pair.sort_unstable();
        self.pair.dedup();
        self.pattern.start.clear();
        self.pattern.start.resize(self.groups + 1, 0);
        self.pattern.column.clear();
        for &pair in &self.pair {
            self.pattern.start[(pair >> 32) as usize + 1] += 1;
            self.pattern.column.push(pair as u32);
        }
        for g in 0..self.groups {
            self.pattern.start[g + 1] += self.pattern.start[g];
        }
        self.slot.clear();
        for law in self.first.windows(2) {
            for &p in &self.part[law[0]..law[1]] {
                let row = self.pattern.start[p as usize]..self.pattern.start[p as usize + 1];
                for q in &self.part[law[0]..law[1]] {
                    // every pair was entered above
                    let at = self.pattern.column[row.clone()].binary_search(q).unwrap_or(0);
                    self.slot.push((row.start + at) as u32);
                }
            }
        }
        self.value.resize(self.pair.len() * self.pattern.width.pow(2), 0.0);
        self.right.resize(self.groups * self.pattern.width, 0.0);
        self.velocity.resize(self.groups * self.pattern.width, 0.0);
    }

    /// C and A⁻¹ B in scaled variables.
    fn take_rows(&mut self, problem: &OneStepProblem<'_>, scaled: &Scaled) {
        let (parts, width) = (problem.parts(), self.pattern.width);
        for list in [&mut self.output, &mut self.input] {
            list.clear();
            list.resize(self.part.len() * 3 * width, 0.0);
        }
        let laws = problem.laws().len();
        self.inverse.resize(laws, [0.0; 9]);
        self.ratio.resize(laws, [0.0; 9]);
        self.scale.resize(laws, [0.0; 9]);
        self.local.resize(3 * laws, 0.0);
        for i in 0..laws {
            let factor = scaled.factor(i);
            for (k, row) in problem.rows(i).enumerate() {
                for &(dof, value) in parts.output.row(row) {
                    let (part, place) = self.find(i, dof);
                    self.output[(part * 3 + k) * width + place] += factor * value;
                }
                let mut done = 0;
                let entries = parts.input.row(row);
                // entries come in rising order: one block of A after the other
                while done < entries.len() {
                    let block = self.block[entries[done].0] as usize;
                    let dofs = self.start[block]..self.start[block + 1];
                    self.column.clear();
                    self.column.resize(dofs.len(), 0.0);
                    while done < entries.len() && dofs.contains(&entries[done].0) {
                        self.column[entries[done].0 - dofs.start] += factor * entries[done].1;
                        done += 1;
                    }
                    parts.lhs.solve_block(dofs.clone(), &mut self.column);
                    let (part, place) = self.find(i, dofs.start);
                    for (d, &x) in self.column.iter().enumerate() {
                        self.input[(part * width + place + d) * 3 + k] += x;
                    }
                }
            }
        }
    }

    /// The part of law `i` with this degree of freedom, and its place there.
    fn find(&self, i: usize, dof: usize) -> (usize, usize) {
        let (group, place) = (self.place[dof] / WIDEST as u32, self.place[dof] as usize % WIDEST);
        let own = self.first[i]..self.first[i + 1];
        (own.start + self.part[own].iter().position(|&g| g == group).unwrap_or(0), place)
    }

    /// Assembles and factors.
    pub fn factor(&mut self, diagonal: &[Diagonal]) {
        for (block, scale) in diagonal.iter().zip(&mut self.scale) {
            let sum: [f64; 9] = std::array::from_fn(|k| block.x[k] + block.y[k]);
            *scale = invert::<3, 9>(&sum, &sum);
        }
        for ((block, inverse), ratio) in diagonal.iter().zip(&mut self.inverse).zip(&mut self.ratio) {
            *inverse = block.inverse;
            *ratio = product(inverse, &block.y);
        }
        match self.pattern.width {
            1 => self.assemble::<1, 1>(),
            2 => self.assemble::<2, 4>(),
            3 => self.assemble::<3, 9>(),
            _ => self.assemble::<6, 36>(),
        }
        self.lu.factor(&self.value);
    }

    fn assemble<const B: usize, const N: usize>(&mut self) {
        self.value.fill(0.0);
        let value = self.value.as_chunks_mut::<N>().0;
        for g in 0..self.groups {
            let row = self.pattern.start[g]..self.pattern.start[g + 1];
            if let Ok(at) = self.pattern.column[row.clone()].binary_search(&(g as u32)) {
                for k in 0..B {
                    value[row.start + at][k * B + k] = 1.0;
                }
            }
        }
        let (output, input) = (self.output.as_chunks::<B>().0, self.input.as_chunks::<3>().0);
        let mut next = 0;
        for (ratio, law) in self.ratio.iter().zip(self.first.windows(2)) {
            let own = law[0]..law[1];
            for p in own.clone() {
                // A⁻¹ B Z of this part
                let mut side = [[0.0; 3]; B];
                for (side, input) in side.iter_mut().zip(&input[p * B..]) {
                    for k in 0..3 {
                        for c in 0..3 {
                            side[c] += input[k] * ratio[k * 3 + c];
                        }
                    }
                }
                for q in own.clone() {
                    let target = &mut value[self.slot[next] as usize];
                    next += 1;
                    for (row, side) in side.iter().enumerate() {
                        for (k, output) in output[q * 3..q * 3 + 3].iter().enumerate() {
                            for c in 0..B {
                                target[row * B + c] += side[k] * output[c];
                            }
                        }
                    }
                }
            }
        }
    }

    /// The norm of `(X + Y)⁻¹ rest`: a residual in the scale of what it means for the unknowns of each law.
    pub fn balanced(&self, rest: &[f64]) -> f64 {
        let rows = rest.len() / self.scale.len().max(1);
        let parts = rest.chunks(rows.max(1)).zip(&self.scale);
        parts.flat_map(|(rest, scale)| multiply(scale, rest)).map(|x| x * x).sum::<f64>().sqrt()
    }

    /// `x ← x + (X + Y C A⁻¹ B)⁻¹ rest`.
    pub fn correct(&mut self, rest: &[f64], x: &mut [f64]) {
        let (width, laws) = (self.pattern.width, self.inverse.len().max(1));
        let rows = rest.len() / laws;
        self.right.fill(0.0);
        for (i, rest) in rest.chunks(rows.max(1)).enumerate() {
            let local = multiply(&self.inverse[i], rest);
            self.local[3 * i..3 * i + 3].copy_from_slice(&local);
            for p in self.first[i]..self.first[i + 1] {
                let at = self.part[p] as usize * width;
                for (right, input) in self.right[at..at + width].iter_mut().zip(self.input[p * width * 3..].chunks(3)) {
                    *right += input[0] * local[0] + input[1] * local[1] + input[2] * local[2];
                }
            }
        }
        self.lu.substitute_once(&self.right, &mut self.velocity);
        for (i, x) in x.chunks_mut(rows.max(1)).enumerate() {
            let mut u = [0.0; 3];
            for p in self.first[i]..self.first[i + 1] {
                let at = self.part[p] as usize * width;
                for (u, output) in u.iter_mut().zip(self.output[p * 3 * width..].chunks(width)) {
                    *u += output.iter().zip(&self.velocity[at..]).map(|(c, v)| c * v).sum::<f64>();
                }
            }
            let change = multiply(&self.ratio[i], &u);
            for (k, x) in x.iter_mut().enumerate() {
                *x += self.local[3 * i + k] - change[k];
            }
        }
    }
}

/// Whether two lists of laws have more than half of the longer one in common.
fn alike(a: &[u64], b: &[u64]) -> bool {
    let law = |x: &u64| *x as u32;
    let common = a.iter().filter(|x| b.binary_search_by_key(&law(x), law).is_ok()).count();
    2 * common > a.len().max(b.len())
}

fn product(a: &[f64; 9], b: &[f64; 9]) -> [f64; 9] {
    let mut out = [0.0; 9];
    for row in 0..3 {
        for k in 0..3 {
            for c in 0..3 {
                out[row * 3 + c] += a[row * 3 + k] * b[k * 3 + c];
            }
        }
    }
    out
}

/// A three by three block times a vector of up to three entries.
fn multiply(a: &[f64; 9], x: &[f64]) -> [f64; 3] {
    let mut out = [0.0; 3];
    for (row, out) in out.iter_mut().enumerate() {
        *out = x.iter().enumerate().map(|(k, x)| a[row * 3 + k] * x).sum();
    }
    out
}
