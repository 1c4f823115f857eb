//! Values of a varied quantity: `NAME=FIRST:LAST:COUNT`, `NAME=FIRST:LAST` or `NAME=VALUE,VALUE,...`; and samples.

/// A quantity that is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Varied {
    /// Name of the quantity.
    pub name: String,
    /// Its values in order.
    pub values: Values,
}

/// The values that it takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Equally spaced from the first to the last.
    Range {
        /// Value at the start.
        first: f64,
        /// Value at the end, which may be below the first.
        last: f64,
        /// Number of values, both ends included.
        count: usize,
    },
    /// Values one by one.
    List(Vec<f64>),
}

/// Values where no number is given.
const COUNT: usize = 11;

/// Most values of one quantity.
pub const MOST: usize = 10_000_000;

/// A text that is none of the forms.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RangeError {
    /// A text without a name and an equals sign after it.
    #[error("`{0}` has no name: write NAME=FIRST:LAST:COUNT or NAME=VALUE,VALUE")]
    Name(String),
    /// A text with nothing after the equals sign.
    #[error("`{0}` has no values: write NAME=FIRST:LAST:COUNT or NAME=VALUE,VALUE")]
    Empty(String),
    /// A part that is no finite number.
    #[error("`{text}` in `{of}` is not a finite number")]
    Number {
        /// The part that was read.
        text: String,
        /// The whole text.
        of: String,
    },
    /// A number of values that is none, or out of bounds.
    #[error("`{text}` in `{of}` is not a number of values from 1 to {MOST}")]
    Count {
        /// The part that was read.
        text: String,
        /// The whole text.
        of: String,
    },
    /// A text with more than two colons.
    #[error("`{0}` has more than three parts: write NAME=FIRST:LAST:COUNT")]
    Parts(String),
}

impl Varied {
    /// Reads `NAME=FIRST:LAST:COUNT` and the like.
    pub fn parse(text: &str) -> Result<Varied, RangeError> {
        let (name, rest) = text.split_once('=').ok_or_else(|| RangeError::Name(text.into()))?;
        let name = name.trim();
        if name.is_empty() {
            return Err(RangeError::Name(text.into()));
        }
        if rest.trim().is_empty() {
            return Err(RangeError::Empty(text.into()));
        }
        let number = |part: &str| match part.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            _ => Err(RangeError::Number { text: part.trim().into(), of: text.into() }),
        };
        let parts: Vec<&str> = rest.split(':').collect();
        let values = match parts.as_slice() {
            [list] => Values::List(list.split(',').map(number).collect::<Result<_, _>>()?),
            [first, last] => Values::Range { first: number(first)?, last: number(last)?, count: COUNT },
            [first, last, count] => {
                let read = count.trim().parse::<usize>().ok().filter(|count| (1..=MOST).contains(count));
                let count = read.ok_or_else(|| RangeError::Count { text: count.trim().into(), of: text.into() })?;
                Values::Range { first: number(first)?, last: number(last)?, count }
            }
            _ => return Err(RangeError::Parts(text.into())),
        };
        Ok(Varied { name: name.into(), values })
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match &self.values {
            Values::Range { count, .. } => *count,
            Values::List(values) => values.len(),
        }
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of a place; ends are met exactly.
    pub fn value(&self, index: usize) -> f64 {
        match &self.values {
            Values::List(values) => values.get(index).copied().unwrap_or(f64::NAN),
            Values::Range { first, last, count } => {
                let (k, n) = (index as f64, count.saturating_sub(1) as f64);
                if index == 0 { *first } else { short((first * (n - k) + last * k) / n) }
            }
        }
    }

    /// All values in order.
    pub fn all(&self) -> Vec<f64> {
        (0..self.len()).map(|index| self.value(index)).collect()
    }

    /// The value of a number in [0, 1): between the ends of a range, or one of a list.
    pub fn at(&self, x: f64) -> f64 {
        match &self.values {
            Values::Range { first, last, .. } => first + (last - first) * x,
            Values::List(values) => {
                let index = (x * values.len() as f64) as usize;
                values.get(index.min(values.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
            }
        }
    }
}

/// A number without the rounding of its last digits: 0.3 instead of 0.30000000000000004.
fn short(x: f64) -> f64 {
    format!("{x:.14e}").parse().unwrap_or(x)
}

/// All combinations of varied quantities; the last one changes fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid(pub Vec<Varied>);

impl Grid {
    /// Number of combinations; `None` where there are too many to count.
    pub fn count(&self) -> Option<usize> {
        self.0.iter().try_fold(1usize, |n, varied| n.checked_mul(varied.len())).filter(|n| *n <= MOST)
    }

    /// The combination of a number.
    pub fn at(&self, mut index: usize) -> Vec<f64> {
        let mut values: Vec<f64> = self
            .0
            .iter()
            .rev()
            .map(|varied| {
                let n = varied.len().max(1);
                let value = varied.value(index % n);
                index /= n;
                value
            })
            .collect();
        values.reverse();
        values
    }

    /// A random combination that depends on seed and number alone.
    pub fn draw(&self, seed: u64, index: usize) -> Vec<f64> {
        let mut random = Random::new(seed, index as u64);
        self.0.iter().map(|varied| varied.at(random.uniform())).collect()
    }

    /// The combination of a point in the unit box.
    pub fn inside(&self, point: &[f64]) -> Vec<f64> {
        self.0.iter().zip(point).map(|(varied, x)| varied.at(*x)).collect()
    }
}

/// Random numbers by SplitMix64 [steele2014]: the same on every machine.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// An independent stream for each pair of numbers.
    pub fn new(seed: u64, stream: u64) -> Random {
        let mut first = Random(seed);
        let mut second = Random(first.next() ^ stream.wrapping_mul(0xd134_2543_de82_ef95));
        Random(second.next())
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// In [0, 1).
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms() {
        let tenths = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
        assert_eq!(Varied::parse("e=0.1:0.9:9").unwrap().all(), tenths);
        assert_eq!(Varied::parse(" mu = 0.1, 2e-1 ").unwrap().all(), [0.1, 0.2]);
        assert_eq!(Varied::parse("x=1:2").unwrap().len(), 11);
        assert_eq!(Varied::parse("x=3:7:1").unwrap().all(), [3.0]);
        let ends = Varied::parse("om=2.5:2.9:400").unwrap().all();
        assert_eq!((ends[0], ends[399], ends.len()), (2.5, 2.9, 400));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "e", "=1", "e=", "e=a", "e=1:2:0", "e=1:2:-3", "e=1:2:3:4", "e=1:nan:3", "e=inf", "e=1,,2"] {
            assert!(Varied::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn grids_and_samples() {
        let grid = Grid(vec![Varied::parse("a=1,2").unwrap(), Varied::parse("b=0:1:3").unwrap()]);
        let all: Vec<Vec<f64>> = (0..grid.count().unwrap()).map(|k| grid.at(k)).collect();
        assert_eq!(all, [[1.0, 0.0], [1.0, 0.5], [1.0, 1.0], [2.0, 0.0], [2.0, 0.5], [2.0, 1.0]]);
        let huge = Varied::parse("a=0:1:10000000").unwrap();
        assert_eq!(Grid(vec![huge.clone(), huge]).count(), None);
        // means of uniform numbers, and the same numbers again
        let draws: Vec<Vec<f64>> = (0..4000).map(|k| grid.draw(5, k)).collect();
        let mean = |i: usize| draws.iter().map(|d| d[i]).sum::<f64>() / 4000.0;
        assert!((mean(0) - 1.5).abs() < 0.03 && (mean(1) - 0.5).abs() < 0.02, "{} {}", mean(0), mean(1));
        assert_eq!(grid.draw(5, 17), draws[17]);
        assert_ne!(grid.draw(6, 17), draws[17]);
    }
}
