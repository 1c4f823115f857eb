//! Sobol's sequence, with the direction numbers of Joe and Kuo [sobol1967, joe2008]: samples that fill a box more
//! evenly than random ones.
//!
//! Points are numbered in the order of Gray's code, so that each depends on its number alone. A seed shifts all of them
//! digitwise, which keeps how evenly they are spread; seed 0 is the sequence itself, whose first point is a corner.

use super::range::Random;

/// Binary digits of a coordinate.
const DIGITS: u32 = 53;

/// Digits that the number of a point may have.
const NUMBERS: usize = 32;

/// Most coordinates of a point.
pub const MOST_DIMENSIONS: usize = POLYNOMIALS.len() + 1;

/// Of each coordinate from the second on: degree of a primitive polynomial over the field of two elements, its inner
/// coefficients as digits, and the first direction numbers.
const POLYNOMIALS: [(u32, u32, &[u64]); 20] = [
    (1, 0, &[1]),
    (2, 1, &[1, 3]),
    (3, 1, &[1, 3, 1]),
    (3, 2, &[1, 1, 1]),
    (4, 1, &[1, 1, 3, 3]),
    (4, 4, &[1, 3, 5, 13]),
    (5, 2, &[1, 1, 5, 5, 17]),
    (5, 4, &[1, 1, 5, 5, 5]),
    (5, 7, &[1, 1, 7, 11, 19]),
    (5, 11, &[1, 1, 5, 1, 1]),
    (5, 13, &[1, 1, 1, 3, 11]),
    (5, 14, &[1, 3, 5, 5, 31]),
    (6, 1, &[1, 3, 3, 9, 7, 49]),
    (6, 13, &[1, 1, 1, 15, 21, 21]),
    (6, 16, &[1, 3, 1, 13, 27, 49]),
    (6, 19, &[1, 1, 1, 15, 7, 5]),
    (6, 22, &[1, 3, 1, 15, 13, 25]),
    (6, 25, &[1, 1, 5, 5, 19, 61]),
    (7, 1, &[1, 3, 7, 11, 23, 15, 103]),
    (7, 4, &[1, 3, 7, 13, 13, 15, 69]),
];

/// The sequence in a number of dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Sobol {
    /// For each coordinate what each digit of a number adds, and its shift.
    directions: Vec<([u64; NUMBERS], u64)>,
}

impl Sobol {
    /// In so many dimensions, at most [`MOST_DIMENSIONS`].
    pub fn new(dimensions: usize, seed: u64) -> Sobol {
        let shift = |k: usize| match seed {
            0 => 0,
            seed => (Random::new(seed, k as u64).uniform() * (1u64 << DIGITS) as f64) as u64,
        };
        Sobol { directions: (0..dimensions.min(MOST_DIMENSIONS)).map(|k| (directions(k), shift(k))).collect() }
    }

    /// A point of the unit box, by its number from 0.
    pub fn point(&self, number: u64) -> Vec<f64> {
        let gray = number ^ (number >> 1);
        let coordinate = |(directions, shift): &([u64; NUMBERS], u64)| {
            let set = directions.iter().enumerate().filter(|(k, _)| gray >> k & 1 == 1);
            let digits = set.fold(*shift, |digits, (_, direction)| digits ^ direction);
            digits as f64 / (1u64 << DIGITS) as f64
        };
        self.directions.iter().map(coordinate).collect()
    }
}

/// What the digits of a number add to a coordinate.
fn directions(coordinate: usize) -> [u64; NUMBERS] {
    let place = |k: usize| DIGITS - 1 - k as u32;
    let mut all = std::array::from_fn(|k| 1 << place(k));
    let Some((degree, inner, first)) = coordinate.checked_sub(1).and_then(|k| POLYNOMIALS.get(k)) else { return all };
    let degree = *degree as usize;
    for k in 0..NUMBERS {
        all[k] = match first.get(k) {
            Some(number) => number << place(k),
            None => (1..degree)
                .filter(|j| inner >> (degree - 1 - j) & 1 == 1)
                .fold(all[k - degree] ^ (all[k - degree] >> degree), |sum, j| sum ^ all[k - j]),
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first points in the plane, as they are printed in textbooks.
    #[test]
    fn first_points() {
        let sobol = Sobol::new(2, 0);
        let points: Vec<Vec<f64>> = (0..8).map(|k| sobol.point(k)).collect();
        let expected = [
            [0.0, 0.0],
            [0.5, 0.5],
            [0.75, 0.25],
            [0.25, 0.75],
            [0.375, 0.375],
            [0.875, 0.875],
            [0.625, 0.125],
            [0.125, 0.625],
        ];
        assert_eq!(points, expected);
    }

    /// x generates all non-zero remainders modulo a primitive polynomial, and none before the last.
    #[test]
    fn polynomials_are_primitive_and_numbers_are_odd() {
        let mut seen = std::collections::BTreeSet::new();
        for (degree, inner, first) in POLYNOMIALS {
            let polynomial = 1 << degree | inner << 1 | 1;
            assert!(seen.insert(polynomial));
            let (mut power, mut order) = (1u32, 0);
            loop {
                power <<= 1;
                if power >> degree & 1 == 1 {
                    power ^= polynomial;
                }
                order += 1;
                if power == 1 {
                    break;
                }
                assert!(order < 1 << degree, "{polynomial:b}");
            }
            assert_eq!(order, (1 << degree) - 1, "{polynomial:b}");
            assert_eq!(first.len(), degree as usize);
            assert!(first.iter().enumerate().all(|(k, m)| m % 2 == 1 && *m < 2 << k), "{first:?}");
        }
    }

    /// The first 2^k points have one in each dyadic interval of each coordinate, and in each dyadic rectangle of the
    /// first two, whatever the shift.
    #[test]
    fn points_are_spread_evenly() {
        for seed in [0, 1, 99] {
            let sobol = Sobol::new(MOST_DIMENSIONS, seed);
            for k in [3, 6, 9] {
                let points: Vec<Vec<f64>> = (0..1 << k).map(|number| sobol.point(number)).collect();
                let distinct = |cell: &dyn Fn(&Vec<f64>) -> (usize, usize)| {
                    let mut cells: Vec<_> = points.iter().map(cell).collect();
                    cells.sort_unstable();
                    cells.dedup();
                    cells.len()
                };
                for j in 0..MOST_DIMENSIONS {
                    let part = f64::from(1 << k);
                    assert_eq!(distinct(&|x| ((x[j] * part) as usize, 0)), 1 << k, "coordinate {j}");
                }
                for a in 0..=k {
                    let parts = [f64::from(1 << a), f64::from(1 << (k - a))];
                    let cell = |x: &Vec<f64>| ((x[0] * parts[0]) as usize, (x[1] * parts[1]) as usize);
                    assert_eq!(distinct(&cell), 1 << k, "rectangles of 2^-{a}");
                }
            }
        }
    }
}
