//! Whether a block is singular as its numbers stand, and not only to rounding: twice the digits of a number decide.
//!
//! A singular block need not have a solution, one that is only close to singular has one, however large. After one
//! elimination step with the largest entry as pivot, `s = a_pc a_ij − a_ic a_pj`, it is the determinant of the 2×2 rest
//! that tells.

/// A number as an unevaluated sum of two, the second below the rounding of the first.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    /// `a b`, exactly.
    fn product(a: f64, b: f64) -> Double {
        let p = a * b;
        Double(p, a.mul_add(b, -p))
    }

    fn times(self, other: Double) -> Double {
        let Double(p, e) = Double::product(self.0, other.0);
        Double(p, e + (self.0 * other.1 + self.1 * other.0))
    }

    fn minus(self, other: Double) -> Double {
        let d = self.0 - other.0;
        let part = self.0 - d;
        // the rounding of d, exactly, then the second halves
        let rounding = (part - other.0) + (self.0 - (d + part));
        Double(d, rounding + (self.1 - other.1))
    }

    fn size(self) -> f64 {
        (self.0 + self.1).abs()
    }
}

/// Whether the determinant vanishes to about thirty digits.
pub(super) fn is_singular(a: &[f64; 9]) -> bool {
    let Some(at) = (0..9).max_by(|&i, &j| a[i].abs().total_cmp(&a[j].abs())) else { return true };
    let (p, c) = (at / 3, at % 3);
    let rest = |i: usize, j: usize| {
        let (i, j) = ((p + i) % 3, (c + j) % 3);
        Double::product(a[at], a[3 * i + j]).minus(Double::product(a[3 * i + c], a[3 * p + j]))
    };
    let s = [rest(1, 1), rest(1, 2), rest(2, 1), rest(2, 2)];
    let determinant = s[0].times(s[3]).minus(s[1].times(s[2])).size();
    let largest = s.iter().map(|x| x.size()).fold(0.0, f64::max);
    determinant.is_nan() || determinant <= 1e-28 * largest * largest
}

#[cfg(test)]
mod tests {
    use super::is_singular;

    #[test]
    fn exact_and_nearly_singular_blocks_are_told_apart() {
        let singular = [
            [0.0; 9],
            [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            // rank one: 1/3 has no finite expansion, its products with powers of two are exact
            [4.0, 2.0, 1.0, 2.0, 1.0, 0.5, 1.0, 0.5, 0.25].map(|x| x / 3.0),
            [1.0, 0.0, 0.0, 0.0, 1e-100, 0.0, 0.0, 0.0, 1.0],
            [f64::NAN; 9],
        ];
        assert!(singular.iter().all(is_singular));
        // one unit in the last place beside a singular block
        let up = 1.0 + f64::EPSILON;
        for a in [
            [up, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            [up, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1e-16],
            [1.0, 0.0, 0.0, 0.0, 1e-20, 0.0, 0.0, 0.0, 1e-15],
        ] {
            assert!(!is_singular(&a), "{a:?}");
        }
    }
}
