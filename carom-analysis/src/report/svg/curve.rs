//! Curves of a figure as paths.

use std::fmt::Write as _;

use super::super::chart::split_unit;
use super::super::{Chart, Dash, Series, SeriesStyle, thin};
use super::axis::Axis;

/// Points of a curve above which it is thinned: more make files that viewers cannot handle.
const MOST: usize = 20_000;
/// Colours on paper, those of the page (`style/colours.css`).
pub const COLOURS: [&str; 6] = ["#1a68bd", "#f04a12", "#0a9660", "#7b2c84", "#22262c", "#94992a"];

/// Way up and down per way across from which a curve is a band.
const BAND: f64 = 12.0;
/// Part of the range of all curves of a unit that the eye cannot tell apart.
const EQUAL: f64 = 0.015;

/// Whether a solid line covers one of those before it, which is dashed over it then.
fn hides_another(chart: &Chart, number: usize) -> bool {
    let b = &chart.series[number];
    let is_line = |s: &Series| !matches!(s.style, SeriesStyle::Markers | SeriesStyle::Stems);
    let values = chart.series.iter().filter(|s| s.unit == b.unit).flat_map(|s| s.y.iter().copied());
    let (low, high) =
        values.filter(|y| y.is_finite()).fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)));
    let equal = |a: &Series| {
        a.unit == b.unit
            && a.dash == Dash::Solid
            && is_line(a)
            && a.x == b.x
            && !a.y.iter().zip(b.y.iter()).any(|(p, q)| (p - q).abs() > EQUAL * (high - low))
    };
    is_line(b) && chart.series[..number].iter().any(equal)
}

/// What is drawn of a series.
pub struct Curve<'a> {
    pub name: &'a str,
    pub unit: &'a str,
    style: SeriesStyle,
    jumps: bool,
    pub colour: &'static str,
    dash: Dash,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Rows per block where the curve was thinned.
    pub block: u64,
}

impl<'a> Curve<'a> {
    pub fn new(chart: &'a Chart, series: &'a Series, number: usize) -> Curve<'a> {
        let unit = series.unit.as_deref().unwrap_or(split_unit(&chart.y_label).1);
        let mut level = 0;
        let mut rows: Option<Vec<usize>> = None;
        while rows.as_ref().map_or(series.y.len(), Vec::len) > MOST && level < thin::MOST {
            level = if level == 0 { 3 } else { level + 1 };
            let clouds = [&series.x, &series.y];
            rows = Some(thin::rows(series.y.len(), 2, |row, column| clouds[column][row], |row| row as u64, level));
        }
        let pick = |values: &[f64]| match &rows {
            Some(rows) => rows.iter().map(|row| values[*row]).collect(),
            None => values.to_vec(),
        };
        let round = number / COLOURS.len();
        let dash = match series.dash {
            Dash::Solid if hides_another(chart, number) => Dash::Dash,
            Dash::Solid => [Dash::Solid, Dash::Dash, Dash::Dot, Dash::DashDot][round % 4],
            dash => dash,
        };
        Curve {
            name: &series.name,
            unit: if unit == "1" { "" } else { unit },
            style: series.style,
            jumps: series.jumps,
            colour: COLOURS[series.colour.unwrap_or(number) % COLOURS.len()],
            dash,
            x: pick(&series.x),
            y: pick(&series.y),
            block: 1 << level,
        }
    }

    pub fn xs(&self) -> impl Iterator<Item = f64> {
        self.x.iter().copied()
    }

    /// The ordinates, and zero where stems stand on it.
    pub fn ys(&self) -> impl Iterator<Item = f64> {
        self.y.iter().copied().chain((self.style == SeriesStyle::Stems).then_some(0.0))
    }

    /// Whether its points have marks.
    pub fn is_marked(&self) -> bool {
        matches!(self.style, SeriesStyle::Markers | SeriesStyle::LinesAndMarkers | SeriesStyle::Stems)
    }

    fn joined(&self) -> bool {
        !matches!(self.style, SeriesStyle::Markers | SeriesStyle::Stems)
    }

    /// Attribute of the dash pattern; empty for a solid line.
    fn dashes(&self) -> &'static str {
        match self.dash {
            Dash::Solid => "",
            Dash::Dash => " stroke-dasharray=\"7 5\"",
            Dash::Dot => " stroke-dasharray=\"2 2.5\"",
            Dash::DashDot => " stroke-dasharray=\"7 3 2 3\"",
        }
    }

    pub fn draw(&self, x: &Axis, y: &Axis, out: &mut String) {
        let _ = writeln!(out, "<g stroke=\"{0}\" fill=\"{0}\">", self.colour);
        match self.style {
            SeriesStyle::Stems => self.stems(x, y, out),
            _ if self.joined() => self.line(x, y, out),
            _ => {}
        }
        if self.is_marked() {
            self.marks(x, y, out);
        }
        out.push_str("</g>\n");
    }

    /// Pixels of row `i`, unless an axis cannot show it.
    fn point(&self, x: &Axis, y: &Axis, i: usize) -> Option<(f64, f64)> {
        Some((x.at(self.x[i])?, y.at(self.y[i])?))
    }

    fn line(&self, x: &Axis, y: &Axis, out: &mut String) {
        let (mut path, mut jumps, mut last): (_, _, Option<(f64, f64)>) = (String::new(), Vec::new(), None);
        let mut travel = 0.0;
        for i in 0..self.y.len() {
            let point = self.point(x, y, i);
            travel += last.zip(point).map_or(0.0, |(a, b)| (b.1 - a.1).abs());
            match (last, point) {
                (_, None) => {}
                (None, Some((px, py))) => _ = write!(path, "M{px:.2} {py:.2}"),
                (Some((qx, qy)), Some((px, py))) => {
                    if self.jumps && self.x[i] == self.x[i - 1] && self.y[i] != self.y[i - 1] {
                        jumps.push((px, qy, py));
                        let _ = write!(path, "M{px:.2} {py:.2}");
                    } else {
                        match self.style {
                            SeriesStyle::Steps => _ = write!(path, "L{px:.2} {qy:.2}"),
                            SeriesStyle::Means => _ = write!(path, "L{qx:.2} {py:.2}"),
                            _ => {}
                        }
                        let _ = write!(path, "L{px:.2} {py:.2}");
                    }
                }
            }
            last = point;
        }
        // a band lets others shine through; dashes would draw a pattern of their own
        let style = if travel > BAND * x.length() { " stroke-opacity=\".6\"" } else { self.dashes() };
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\"{style}/>");
        for &(px, before, after) in &jumps {
            let _ = writeln!(out, "<path d=\"M{px:.2} {before:.2}V{after:.2}\" stroke-dasharray=\"2 2\"/>");
        }
        // circles on a few jumps only: many would cover the curve
        for &(px, before, after) in jumps.iter().filter(|_| jumps.len() <= 40) {
            let _ = writeln!(out, "<circle cx=\"{px:.2}\" cy=\"{before:.2}\" r=\"2.4\" fill=\"#fff\"/>");
            let _ = writeln!(out, "<circle cx=\"{px:.2}\" cy=\"{after:.2}\" r=\"2.4\"/>");
        }
    }

    fn stems(&self, x: &Axis, y: &Axis, out: &mut String) {
        let foot = y.foot();
        let points = (0..self.y.len()).filter_map(|i| self.point(x, y, i));
        let path = points.fold(String::new(), |mut path, (px, py)| {
            let _ = write!(path, "M{px:.2} {foot:.2}V{py:.2}");
            path
        });
        let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke-opacity=\".4\"/>");
    }

    fn marks(&self, x: &Axis, y: &Axis, out: &mut String) {
        let radius = if self.y.len() > 400 { 0.7 } else { 2.2 };
        out.push_str("<g stroke=\"none\">");
        for (px, py) in (0..self.y.len()).filter_map(|i| self.point(x, y, i)) {
            let _ = write!(out, "<circle cx=\"{px:.2}\" cy=\"{py:.2}\" r=\"{radius}\"/>");
        }
        out.push_str("</g>\n");
    }

    /// A sample of the curve in the legend, 18 pixels wide.
    pub fn sample(&self, x: f64, y: f64, out: &mut String) {
        if self.joined() {
            let dashes = self.dashes();
            let _ = write!(out, "<path d=\"M{x:.1} {y:.1}h18\" stroke=\"{}\" fill=\"none\"{dashes}/>", self.colour);
        }
        if !self.joined() || self.style == SeriesStyle::LinesAndMarkers {
            let _ = write!(out, "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"2.2\" fill=\"{}\"/>", x + 9.0, self.colour);
        }
    }
}
