//! Axes of a figure: ranges, ticks and what they say, as in the page (`script/axis.js`).

use super::super::table::prefix;
use super::curve::Curve;
use carom::elementary::{log10, powf};

/// A range that pixels stand for; logarithms where the axis is logarithmic.
#[derive(Debug, Clone)]
pub struct Axis {
    pub log: bool,
    lo: f64,
    hi: f64,
    /// Values are divided by this in the texts of ticks.
    factor: f64,
    /// The unit with its prefix; may be empty.
    pub unit: String,
    /// Pixels of both ends.
    from: f64,
    to: f64,
}

/// A place on the axis and its text; a power of ten has an exponent.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    pub at: f64,
    pub text: String,
    pub exponent: Option<i32>,
}

impl Axis {
    /// Holds all these values, with a margin on each side as a part of the range.
    pub fn around(values: impl Iterator<Item = f64>, unit: &str, log: bool, margin: f64) -> Axis {
        let usable = values.filter(|x| x.is_finite() && !(log && *x <= 0.0));
        let (mut low, mut high, mut largest) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
        for x in usable {
            (low, high, largest) = (low.min(x), high.max(x), largest.max(x.abs()));
        }
        if low > high {
            (low, high) = if log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        let (factor, prefix) = if log { (1.0, "") } else { prefix(largest, unit) };
        let unit = format!("{prefix}{unit}");
        if log {
            (low, high) = (log10(low), log10(high));
        }
        // rounding noise of a large constant is no motion
        let least = if log { 0.2 } else { (largest * 1e-9).max(f64::MIN_POSITIVE) };
        if high - low < least {
            let half = if log || largest == 0.0 { 0.5 } else { largest * 0.5 };
            (low, high) = (low - half, high + half);
        }
        let room = margin * (high - low);
        Axis { log, lo: low - room, hi: high + room, factor, unit, from: 0.0, to: 1.0 }
    }

    /// The same length for one unit as on another axis: the shorter range grows.
    pub fn equalise(x: &mut Axis, y: &mut Axis) {
        let scale = |axis: &Axis| (axis.hi - axis.lo) / (axis.to - axis.from).abs();
        let (a, b) = (scale(x), scale(y));
        let (small, ratio) = if a < b { (x, b / a) } else { (y, a / b) };
        let (middle, half) = ((small.lo + small.hi) / 2.0, (small.hi - small.lo) / 2.0 * ratio);
        (small.lo, small.hi) = (middle - half, middle + half);
    }

    /// Takes a given range.
    pub fn show(&mut self, range: Option<[f64; 2]>) {
        let range = range.map(|range| range.map(|x| if self.log { log10(x) } else { x }));
        if let Some([lo, hi]) = range.filter(|[lo, hi]| lo < hi && (hi - lo).is_finite()) {
            (self.lo, self.hi) = (lo, hi);
        }
    }

    pub fn place(&mut self, from: f64, to: f64) {
        (self.from, self.to) = (from, to);
    }

    /// Pixel of a value; `None` where the axis cannot show it.
    pub fn at(&self, value: f64) -> Option<f64> {
        let place = if self.log { log10(value) } else { value };
        place.is_finite().then(|| self.pixel(place))
    }

    fn pixel(&self, place: f64) -> f64 {
        self.from + (place - self.lo) / (self.hi - self.lo) * (self.to - self.from)
    }

    /// Pixels from one end to the other.
    pub fn length(&self) -> f64 {
        (self.to - self.from).abs()
    }

    /// Pixel of zero or, where that is not shown, of the end next to it.
    pub fn foot(&self) -> f64 {
        self.pixel(if self.log { self.lo } else { 0f64.clamp(self.lo, self.hi) })
    }

    /// Round numbers, about so many.
    pub fn ticks(&self, count: f64) -> Vec<Tick> {
        let found = match self.log {
            true => powers(self.lo, self.hi, count),
            false => round(self.lo / self.factor, self.hi / self.factor, count),
        };
        let unit = if self.log { 1.0 } else { self.factor };
        found.into_iter().map(|tick| Tick { at: self.pixel(tick.at * unit), ..tick }).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten from `a` to `b`.
fn round(a: f64, b: f64, count: f64) -> Vec<Tick> {
    let raw = (b - a) / count.max(1.0);
    let power = powf(10f64, log10(raw).floor());
    let lead = match raw / power {
        lead if lead < 1.5 => 1.0,
        lead if lead < 3.5 => 2.0,
        lead if lead < 7.5 => 5.0,
        _ => 10.0,
    };
    let step = lead * power;
    let decimals = (-(log10(step) + 1e-9).floor()).clamp(0.0, 15.0) as usize;
    let (first, last) = ((a / step - 1e-9).ceil(), (b / step + 1e-9).floor());
    let numbers = (0..=200).map(|k| first + f64::from(k)).take_while(|k| *k <= last);
    let tick = |k: f64| {
        let at = k * step;
        let large = at.abs() >= 1e6 || step < 1e-6;
        let text = if large && at != 0.0 { format!("{at:.3e}") } else { format!("{:.decimals$}", at + 0.0) };
        Tick { at, text: text.replace('-', "\u{2212}"), exponent: None }
    };
    numbers.map(tick).collect()
}

/// Powers of ten between two logarithms; where there are fewer than two also 2 and 5 times them, or round numbers.
fn powers(a: f64, b: f64, count: f64) -> Vec<Tick> {
    let every = ((b - a) / count.max(1.0)).ceil().max(1.0) as i32;
    let (first, last) = ((a - 1e-9).ceil() as i32, (b + 1e-9).floor() as i32);
    let power = |e: i32| Tick { at: f64::from(e), text: "10".into(), exponent: Some(e) };
    let found: Vec<Tick> = (first..=last).filter(|e| e.rem_euclid(every) == 0).map(power).collect();
    if found.len() >= 2 {
        return found;
    }
    let between = (first - 1..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|lead| lead * 10f64.powi(e)));
    let tick = |x: f64| Tick { at: log10(x), text: super::super::number(x, 2), exponent: None };
    let found: Vec<Tick> = between.map(tick).filter(|tick| (a..=b).contains(&tick.at)).collect();
    if found.len() >= 2 {
        return found;
    }
    // less than a factor of two or so
    let numbers = round(powf(10f64, a), powf(10f64, b), count);
    numbers.into_iter().map(|tick| Tick { at: log10(tick.at), ..tick }).collect()
}

/// Curves by their units, in the order in which units come: one axis each.
pub fn by_unit<'a, 'b>(curves: &'b [Curve<'a>]) -> Vec<(&'a str, Vec<&'b Curve<'a>>)> {
    let mut units: Vec<(&str, Vec<&Curve<'_>>)> = Vec::new();
    for curve in curves {
        match units.iter_mut().find(|(unit, _)| *unit == curve.unit) {
            Some((_, list)) => list.push(curve),
            None => units.push((curve.unit, vec![curve])),
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|tick| tick.text.as_str()).collect()
    }

    #[test]
    fn ticks_are_round_and_at_their_values() {
        let mut axis = Axis::around([-0.02, 0.03].into_iter(), "m", false, 0.0);
        axis.place(100.0, 600.0);
        assert_eq!(axis.unit, "mm");
        let ticks = axis.ticks(5.0);
        assert_eq!(texts(&ticks), ["\u{2212}20", "\u{2212}10", "0", "10", "20", "30"]);
        let zero = ticks.iter().find(|tick| tick.text == "0").map(|tick| tick.at);
        assert!((zero.unwrap() - 300.0).abs() < 1e-9 && (axis.at(0.0).unwrap() - 300.0).abs() < 1e-9);
    }

    #[test]
    fn logarithmic_ticks_are_powers_or_their_parts() {
        let mut axis = Axis::around([1e-8, 1.0].into_iter(), "s", true, 0.0);
        axis.place(0.0, 80.0);
        let exponents: Vec<_> = axis.ticks(4.0).iter().map(|tick| (tick.exponent.unwrap(), tick.at)).collect();
        assert_eq!(exponents, [(-8, 0.0), (-6, 20.0), (-4, 40.0), (-2, 60.0), (0, 80.0)]);
        assert_eq!(axis.at(0.0), None);
        let narrow = Axis::around([1.5, 6.0].into_iter(), "", true, 0.0);
        assert_eq!(texts(&narrow.ticks(4.0)), ["2", "5"]);
    }

    #[test]
    fn constants_and_nothing_have_a_range() {
        for values in [vec![], vec![0.0], vec![5.0, 5.0 + 1e-12], vec![f64::NAN], vec![-3.0]] {
            for log in [false, true] {
                let axis = Axis::around(values.iter().copied(), "", log, 0.05);
                assert!(axis.hi > axis.lo && axis.ticks(5.0).len() < 60, "{values:?}");
            }
        }
    }
}
