//! Linear programs with cuts: the largest value of a linear function over an intersection of half-spaces, which may be
//! found one by one.
//!
//! ```text
//!     max c·y   with   a_j·y ≤ b_j,                u = B⁻ᵀ c ≥ 0 with the rows B of d active constraints       (1)
//! ```
//!
//! The dual simplex method [lemke1954]: it begins at a corner of a large box, and the half-space that is missed most
//! takes the place of an active one. Round cones are cut off by planes where the corner is outside. A corner is found
//! to rounding, not to a tolerance of an inner path; a box that stays active is an infinite value.

use nalgebra::DMatrix;

/// Half of the width of the box; the numbers of a program are about one.
const REACH: f64 = 1e6;

/// A half-space that is missed by no more than this holds.
const TOLERANCE: f64 = 1e-12;

/// What rounding may leave of a half-space where pivots do not mend it.
const LOOSE: f64 = 1e-8;

/// Pivots below this are rounding; rows have length one.
const PIVOT: f64 = 1e-9;

/// Multipliers may miss zero by this part of c, for the sake of larger pivots.
const GIVE: f64 = 1e-12;

/// A multiplier of the box below this part of c is rounding.
const FREE: f64 = 1e-8;

/// Pivots between two fresh inverses.
const FRESH: usize = 30;

/// Most pivots, per unknown and constraint.
const PIVOTS: usize = 20;

/// Most times that half-spaces are added.
const CUTS: usize = 3000;

/// `a·y ≤ b`.
pub(super) type HalfSpace = (Vec<f64>, f64);

/// Half-spaces that a point misses and that are not listed yet.
pub(super) type Cuts<'a> = &'a mut dyn FnMut(&[f64]) -> Vec<HalfSpace>;

/// What became of a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Best {
    /// The value, and where; half-spaces are missed by less than 1e-8.
    At(f64, Vec<f64>),
    /// There is no largest value.
    Infinite,
    /// No point is in all half-spaces.
    Empty,
    /// The method did not come to an end: by how much a half-space is missed.
    Stalled(f64),
}

/// A program, with d unknowns.
pub(super) struct Program {
    d: usize,
    spaces: Vec<HalfSpace>, // the box first: −e_i, +e_i for each unknown
    basis: Vec<usize>,
    inverse: DMatrix<f64>, // B⁻¹
}

impl Program {
    /// A program of these half-spaces.
    pub fn new(d: usize, spaces: Vec<HalfSpace>) -> Program {
        let mut all = Vec::with_capacity(2 * d + spaces.len());
        for i in 0..d {
            for sign in [-1.0, 1.0] {
                let mut a = vec![0.0; d];
                a[i] = sign;
                all.push((a, REACH));
            }
        }
        all.extend(spaces.into_iter().map(normalised));
        Program { d, spaces: all, basis: Vec::new(), inverse: DMatrix::zeros(d, d) }
    }

    /// The largest value of c·y.
    pub fn maximise(&mut self, c: &[f64], cuts: Cuts<'_>) -> Best {
        let d = self.d;
        self.basis = (0..d).map(|i| 2 * i + usize::from(c[i] >= 0.0)).collect();
        self.inverse = DMatrix::from_fn(d, d, |i, j| if i != j { 0.0 } else { 1.0f64.copysign(c[i]) });
        for i in (0..d).filter(|&i| c[i] == 0.0) {
            self.inverse[(i, i)] = 1.0;
        }
        let (mut pivots, mut added, mut old, mut missed) = (0, 0, 0, f64::INFINITY);
        loop {
            let most = PIVOTS * (self.spaces.len() + d);
            if old >= FRESH && !self.invert() {
                return Best::Stalled(missed);
            }
            old = if old >= FRESH { 0 } else { old };
            let y = self.corner();
            if pivots > most {
                return if missed < LOOSE { self.best(c, y) } else { Best::Stalled(missed) };
            }
            let circles = pivots > most / 2;
            let entering = self.missed(&y, circles);
            let leaving = entering.and_then(|entering| self.leaving(c, entering, circles));
            match (entering, leaving) {
                (Some(entering), Some(leaving)) => {
                    missed = excess(&self.spaces[entering], &y);
                    self.exchange(entering, leaving);
                    (pivots, old) = (pivots + 1, old + 1);
                }
                // a conclusion is drawn from a fresh inverse
                _ if old > 0 => old = FRESH,
                (Some(entering), None) if excess(&self.spaces[entering], &y) > LOOSE => return Best::Empty,
                _ => {
                    let more: Vec<HalfSpace> = cuts(&y);
                    if more.is_empty() {
                        return self.best(c, y);
                    }
                    if added == CUTS {
                        return Best::Stalled(more.iter().map(|space| excess(space, &y)).fold(0.0, f64::max));
                    }
                    added += 1;
                    self.spaces.extend(more.into_iter().map(normalised));
                }
            }
        }
    }

    /// The value at a corner where nothing is missed.
    fn best(&self, c: &[f64], y: Vec<f64>) -> Best {
        let size = c.iter().fold(f64::MIN_POSITIVE, |m, x| m.max(x.abs()));
        let multiplier = |r: usize| (0..self.d).map(|i| c[i] * self.inverse[(i, r)]).sum::<f64>();
        let boxed = (0..self.d).any(|r| self.basis[r] < 2 * self.d && multiplier(r) > FREE * size);
        if boxed { Best::Infinite } else { Best::At(dot(c, &y), y) }
    }

    /// B⁻¹ b, and once more what rounding has left: where active planes are nearly parallel that is much.
    fn corner(&self) -> Vec<f64> {
        let mut y = vec![0.0; self.d];
        for _ in 0..2 {
            let left: Vec<f64> = self.basis.iter().map(|j| &self.spaces[*j]).map(|(a, b)| b - dot(a, &y)).collect();
            for (i, y) in y.iter_mut().enumerate() {
                *y += left.iter().enumerate().map(|(r, left)| self.inverse[(i, r)] * left).sum::<f64>();
            }
        }
        y
    }

    /// The half-space that is missed most; the first one that is missed where the method may go in circles.
    fn missed(&self, y: &[f64], first: bool) -> Option<usize> {
        let (mut most, mut which) = (if first { LOOSE } else { TOLERANCE }, None);
        for (j, space) in self.spaces.iter().enumerate() {
            let by = excess(space, y);
            if by > most && !self.basis.contains(&j) {
                (most, which) = (by, Some(j));
                if first {
                    break;
                }
            }
        }
        which
    }

    /// The place of the active half-space that gives way to another one, so that u ≥ 0 stays: of those that do, up to
    /// rounding, the one with the largest pivot [harris1973]; the one with the lowest number ends circles.
    fn leaving(&self, c: &[f64], entering: usize, first: bool) -> Option<usize> {
        let a = &self.spaces[entering].0;
        let through = |x: &[f64], r: usize| (0..self.d).map(|i| x[i] * self.inverse[(i, r)]).sum::<f64>();
        let pairs: Vec<(usize, f64, f64)> =
            (0..self.d).map(|r| (r, through(a, r), through(c, r).max(0.0))).filter(|(_, w, _)| *w > PIVOT).collect();
        let give = if first { 0.0 } else { GIVE * c.iter().fold(0.0, |m: f64, x| m.max(x.abs())) };
        let bound = pairs.iter().map(|(_, w, u)| (u + give) / w).fold(f64::INFINITY, f64::min);
        let fit = pairs.iter().filter(|(_, w, u)| u / w <= bound);
        let best = match first {
            true => fit.min_by_key(|(r, ..)| self.basis[*r]),
            false => fit.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))),
        };
        best.map(|(r, ..)| *r)
    }

    /// Exchanges two half-spaces.
    fn exchange(&mut self, entering: usize, r: usize) {
        let a = &self.spaces[entering].0;
        let w: Vec<f64> = (0..self.d).map(|j| (0..self.d).map(|i| a[i] * self.inverse[(i, j)]).sum()).collect();
        for i in 0..self.d {
            let entry = self.inverse[(i, r)] / w[r];
            for j in 0..self.d {
                self.inverse[(i, j)] -= w[j] * entry;
            }
            self.inverse[(i, r)] = entry;
        }
        self.basis[r] = entering;
    }

    /// B⁻¹ anew; whether B is regular.
    fn invert(&mut self) -> bool {
        let rows = DMatrix::from_fn(self.d, self.d, |i, j| self.spaces[self.basis[i]].0[j]);
        rows.try_inverse().map(|inverse| self.inverse = inverse).is_some()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The same half-space with a row of length one; one that does not depend on the point stays as it is.
fn normalised((a, b): HalfSpace) -> HalfSpace {
    let length = dot(&a, &a).sqrt();
    if length <= PIVOT { (vec![0.0; a.len()], b) } else { (a.iter().map(|x| x / length).collect(), b / length) }
}

/// By how much a point misses a half-space, beyond the rounding of large numbers.
fn excess((a, b): &HalfSpace, y: &[f64]) -> f64 {
    let size: f64 = a.iter().zip(y).map(|(a, y)| (a * y).abs()).sum();
    dot(a, y) - b - 4.0 * f64::EPSILON * size
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_of_a_triangle() {
        // y₁, y₂ ≥ 0, y₁ + 2 y₂ ≤ 4
        let spaces = vec![(vec![-1.0, 0.0], 0.0), (vec![0.0, -1.0], 0.0), (vec![1.0, 2.0], 4.0)];
        for (c, value) in [([1.0, 0.0], 4.0), ([0.0, 1.0], 2.0), ([-1.0, -1.0], 0.0), ([1.0, 3.0], 6.0)] {
            match Program::new(2, spaces.clone()).maximise(&c, &mut |_| Vec::new()) {
                Best::At(found, _) => assert!((found - value).abs() < 1e-14, "{found} {value}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn nothing_in_common_and_no_end() {
        let none = vec![(vec![1.0], -1.0), (vec![-1.0], -1.0)];
        assert_eq!(Program::new(1, none).maximise(&[1.0], &mut |_| Vec::new()), Best::Empty);
        let half = vec![(vec![-1.0, 0.0], 0.0), (vec![-1.0, 1.0], 0.0)];
        assert_eq!(Program::new(2, half.clone()).maximise(&[1.0, 0.0], &mut |_| Vec::new()), Best::Infinite);
        // along the edge of the same set the value is finite
        match Program::new(2, half).maximise(&[-1.0, 1.0], &mut |_| Vec::new()) {
            Best::At(value, _) => assert!(value.abs() < 1e-6, "{value}"),
            other => panic!("{other:?}"),
        }
    }

    /// The ball by cuts: the value is its radius, as closely as active planes that are nearly parallel tell.
    #[test]
    fn a_ball_is_cut_out() {
        for d in 1..4 {
            let c: Vec<f64> = (0..d).map(|i| (i as f64 + 1.0).cos()).collect();
            let size = dot(&c, &c).sqrt();
            let mut cut = |y: &[f64]| {
                let length = dot(y, y).sqrt();
                if length <= 1.0 + 1e-9 { Vec::new() } else { vec![(y.iter().map(|x| x / length).collect(), 1.0)] }
            };
            match Program::new(d, Vec::new()).maximise(&c, &mut cut) {
                Best::At(value, _) => assert!((value - size).abs() < 1e-8 * size, "{d}: {value} {size}"),
                other => panic!("{d}: {other:?}"),
            }
        }
    }
}
