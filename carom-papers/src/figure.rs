//! What an item gives: something to look at, the numbers behind it, and checks that lead to a verdict.

use carom::elementary::log10;
use carom_analysis::report::{Block, Cell, Chart, Table};

/// A computed figure or table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// Charts and tables, as the paper shows them.
    pub blocks: Vec<Block>,
    /// The numbers of the charts and tables.
    pub data: Vec<Data>,
    /// Measured numbers beside verified ones; the verdict follows from them.
    pub checks: Vec<Check>,
    /// Why the paper is met in trend only.
    pub trend: Option<&'static str>,
    /// What the paper states and careful computation does not confirm.
    pub contradicted: Option<&'static str>,
}

/// A table of numbers, written as CSV.
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    /// What the numbers are; the name of the file is made of it.
    pub name: String,
    /// Names of the columns.
    pub header: Vec<String>,
    /// Rows, with one number per column.
    pub rows: Vec<Vec<f64>>,
}

/// A measured number beside the verified one.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// What is measured, in words.
    pub what: String,
    /// The number that this run gave; NaN holds in no range.
    pub measured: f64,
    /// The accepted range.
    pub range: (f64, f64),
    /// The verified number itself, where one is known and not a range alone.
    pub number: Option<f64>,
    /// Where the range comes from.
    pub source: &'static str,
}

/// What can be said of an item.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// All checks hold, and no difference from the paper is known.
    Reproduced,
    /// The trend is there, the numbers of the paper are not; with the reason.
    Trend(&'static str),
    /// The computation agrees with the verified numbers, which contradict the paper.
    NotReproduced(&'static str),
    /// A verified number was missed, or the computation failed: a defect of this software.
    Failed(String),
}

/// A figure with its verdict.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the checks lead to, or why the computation failed.
    pub verdict: Verdict,
    /// What was computed; empty where the computation failed.
    pub figure: Figure,
}

impl Check {
    /// `measured` within `expected ± tolerance`.
    pub fn near(
        what: impl Into<String>,
        measured: f64,
        (expected, tolerance): (f64, f64),
        source: &'static str,
    ) -> Check {
        let range = (expected - tolerance, expected + tolerance);
        Check { what: what.into(), measured, range, number: Some(expected), source }
    }

    /// `measured` between two bounds.
    pub fn between(what: impl Into<String>, measured: f64, range: (f64, f64), source: &'static str) -> Check {
        Check { what: what.into(), measured, range, number: None, source }
    }

    /// `measured` at most `bound`.
    pub fn below(what: impl Into<String>, measured: f64, bound: f64, source: &'static str) -> Check {
        Check { what: what.into(), measured, range: (f64::NEG_INFINITY, bound), number: None, source }
    }

    /// Whether the measured number is in the accepted range.
    pub fn holds(&self) -> bool {
        // a NaN holds nothing
        self.measured >= self.range.0 && self.measured <= self.range.1
    }

    /// The accepted range in words: a number with its tolerance, or both ends where there is a range alone.
    pub fn expected(&self) -> String {
        let (low, high) = self.range;
        match self.number {
            Some(number) => format!("{} ± {}", to_within(number, high - number), short(high - number)),
            None if low == f64::NEG_INFINITY => format!("at most {}", short(high)),
            None if high == f64::INFINITY => format!("at least {}", short(low)),
            None if low == high => short(low),
            None => format!("{} to {}", to_within(low, high - low), to_within(high, high - low)),
        }
    }
}

impl Figure {
    /// Adds a chart and its curves as data.
    pub fn chart(&mut self, chart: Chart) {
        for series in &chart.series {
            self.data.push(Data {
                name: format!("{} - {}", chart.title, series.name),
                header: vec![chart.x_label.clone(), chart.y_label.clone()],
                rows: series.x.iter().zip(series.y.iter()).map(|(x, y)| vec![*x, *y]).collect(),
            });
        }
        self.blocks.push(chart.into());
    }

    /// Adds a table of numbers with names of rows.
    pub fn table(&mut self, title: &str, header: &[&str], rows: Vec<(String, Vec<f64>)>) {
        let mut table = Table::new(title, header.iter().copied());
        for (name, numbers) in &rows {
            table.row(std::iter::once(Cell::from(name.as_str())).chain(numbers.iter().map(|x| Cell::from(*x))));
        }
        self.blocks.push(table.into());
    }

    pub(crate) fn check(&mut self, check: Check) {
        self.checks.push(check);
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let missed: Vec<&str> =
            self.checks.iter().filter(|check| !check.holds()).map(|check| check.what.as_str()).collect();
        match (missed.as_slice(), self.contradicted, self.trend) {
            ([], Some(why), _) => Verdict::NotReproduced(why),
            ([], None, Some(why)) => Verdict::Trend(why),
            ([], None, None) => Verdict::Reproduced,
            (missed, ..) => Verdict::Failed(format!("missed: {}", missed.join("; "))),
        }
    }
}

impl Verdict {
    /// One word.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Reproduced => "reproduced",
            Verdict::Trend(_) => "reproduced in trend",
            Verdict::NotReproduced(_) => "not reproduced",
            Verdict::Failed(_) => "FAILED",
        }
    }

    /// Why it is not simply reproduced.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Verdict::Reproduced => None,
            Verdict::Trend(why) | Verdict::NotReproduced(why) => Some(why),
            Verdict::Failed(why) => Some(why),
        }
    }
}

/// A number in few characters.
pub fn short(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (1e-3..1e4).contains(&size) {
        let text = format!("{x:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{x:.3e}")
    }
}

/// A number with the digits that a tolerance claims, as far as a double has them; never fewer than [`short`] gives.
fn to_within(x: f64, tolerance: f64) -> String {
    // a tolerance is the difference of two ends: 1e-6 may be a little less
    let exponent = |x: f64| (log10(x.abs()) + 1e-3).floor() as i32;
    let rounded = short(x);
    if !(x.is_finite() && x != 0.0 && tolerance > 0.0)
        || rounded.parse::<f64>().is_ok_and(|y| (y - x).abs() < 0.05 * tolerance)
    {
        return rounded;
    }
    // one digit beyond the first of the tolerance: the end of the range is then right in its first digit
    let digits = (exponent(x) - exponent(tolerance) + 1).clamp(3, 15);
    if !(1e-3..1e4).contains(&x.abs()) {
        return format!("{x:.0$e}", digits as usize);
    }
    let text = format!("{x:.0$}", (digits - exponent(x)).max(4) as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_from_checks() {
        let good = Check::near("order", 0.97, (1.0, 0.1), "closed form");
        let mut figure = Figure::default();
        figure.check(good.clone());
        assert_eq!(figure.verdict(), Verdict::Reproduced);
        figure.trend = Some("the step is not stated");
        assert_eq!(figure.verdict(), Verdict::Trend("the step is not stated"));
        figure.contradicted = Some("a sign");
        assert_eq!(figure.verdict(), Verdict::NotReproduced("a sign"));
        for bad in [1.2, f64::NAN, f64::INFINITY] {
            let mut figure = figure.clone();
            figure.check(Check { measured: bad, ..good.clone() });
            assert_eq!(figure.verdict(), Verdict::Failed("missed: order".into()));
        }
    }

    #[test]
    fn ranges_in_words() {
        assert_eq!(Check::near("", 0.0, (1.0, 0.15), "").expected(), "1 ± 0.15");
        // the centre has the digits that the tolerance claims
        assert_eq!(Check::near("", 0.0, (0.109713, 1e-9), "").expected(), "0.109713 ± 1.000e-9");
        assert_eq!(Check::near("", 0.0, (1.0 / 3.0, 1e-6), "").expected(), "0.3333333 ± 1.000e-6");
        assert_eq!(Check::near("", 0.0, (12345.678, 0.01), "").expected(), "1.2345678e4 ± 0.01");
        assert_eq!(Check::near("", 0.0, (1.0 / 3.0, 0.1), "").expected(), "0.3333 ± 0.1");
        assert_eq!(Check::near("", 0.0, (0.0, 1e-9), "").expected(), "0 ± 1.000e-9");
        assert_eq!(Check::below("", 0.0, 1e-10, "").expected(), "at most 1.000e-10");
        assert_eq!(Check::between("", 0.0, (2.0, f64::INFINITY), "").expected(), "at least 2");
        // a range is a range: 5.98e-8 ± 5.52e-8 would say nothing
        assert_eq!(Check::between("", 0.0, (4.6e-9, 1.15e-7), "").expected(), "4.600e-9 to 1.150e-7");
        assert_eq!(Check::between("", 0.0, (-0.214, -0.189), "").expected(), "-0.214 to -0.189");
        assert_eq!(Check::between("", 0.0, (0.33333, 0.33334), "").expected(), "0.33333 to 0.33334");
        assert_eq!(Check::between("", 0.0, (3.0, 3.0), "").expected(), "3");
    }
}
