//! Charts: curves over axes, drawn and zoomed in the browser.
//!
//! A label may end with its unit, as in `r [N]`. Curves of one unit share an axis: the first unit of a chart stands on
//! the left, others on the right; the page chooses SI prefixes.

use serde::Serialize;

use super::ReportError;
use super::store::{Store, Values};

/// The link group of time histories.
pub const TIME_GROUP: &str = "time";

/// Curves over one abscissa.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// Caption above the axes.
    pub title: String,
    /// Axis label with unit, e.g. `t [s]`.
    pub x_label: String,
    /// Label of the vertical axis with the unit of curves that do not name their own.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// One unit has the same length on both axes: trajectories in the plane.
    pub equal_axes: bool,
    /// Smallest and largest abscissa shown; all of them by default.
    pub x_range: Option<[f64; 2]>,
    /// Smallest and largest value shown on the first axis; all of them by default.
    pub y_range: Option<[f64; 2]>,
    /// Curves, in the order of the legend; the first eight are drawn until the reader asks for others.
    pub series: Vec<Series>,
    /// Charts of the same group share their x range when zoomed.
    pub linked: Option<String>,
    /// A remark below the axes; may be empty.
    pub note: String,
    /// Name of the file with all rows, told where the chart had to be thinned.
    pub file: Option<String>,
}

/// One curve. Non-finite values are gaps; on logarithmic axes so are values that are not positive.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Shown in the legend.
    pub name: String,
    /// Abscissae.
    pub x: Values,
    /// Ordinates, as many as abscissae.
    pub y: Values,
    /// Lines, markers or steps.
    pub style: SeriesStyle,
    /// Pattern of its lines.
    pub dash: Dash,
    /// Number of the palette colour; by default the position of the series in the chart.
    pub colour: Option<usize>,
    /// Unit of its ordinates, where it is not that of the chart's label.
    pub unit: Option<String>,
    /// Whether two rows of the same abscissa are a jump: dotted, with an open circle before and a filled one after.
    pub jumps: bool,
}

/// How the points of a curve are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeriesStyle {
    /// Straight lines from point to point.
    #[default]
    Lines,
    /// A marker at each point, no lines.
    Markers,
    /// Straight lines, and a marker at each point.
    LinesAndMarkers,
    /// Right-continuous steps: horizontal to the next abscissa, then vertical.
    Steps,
    /// Means over the interval before each abscissa: stairs.
    Means,
    /// A vertical line from the axis to each point.
    Stems,
}

/// The dash pattern of a curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dash {
    /// Solid; from the seventh curve on patterns change with each round of the palette.
    #[default]
    Solid,
    /// Short lines.
    Dash,
    /// Dots.
    Dot,
    /// Short lines and dots in turn.
    DashDot,
}

impl Chart {
    /// An empty chart with linear axes.
    pub fn new(title: impl Into<String>, x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self { title: title.into(), x_label: x_label.into(), y_label: y_label.into(), ..Self::default() }
    }

    /// An empty time history over `t [s]`, linked with all others.
    pub fn over_time(title: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self::new(title, "t [s]", y_label).linked(TIME_GROUP)
    }

    /// Adds a curve.
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Makes both axes logarithmic.
    pub fn log_log(mut self) -> Self {
        self.log_x = true;
        self.log_y = true;
        self
    }

    /// Joins a group of charts with a common x range.
    pub fn linked(mut self, group: impl Into<String>) -> Self {
        self.linked = Some(group.into());
        self
    }

    pub(super) fn check(&self) -> Result<(), ReportError> {
        match self.series.iter().find(|series| series.x.len() != series.y.len()) {
            None => Ok(()),
            Some(series) => Err(ReportError::SeriesLength {
                chart: self.title.clone(),
                series: series.name.clone(),
                x: series.x.len(),
                y: series.y.len(),
            }),
        }
    }

    /// What the page draws; the numbers go to the store.
    pub(super) fn data<'a>(&'a self, store: &mut Store) -> ChartData<'a> {
        let (x_label, x_unit) = split_unit(&self.x_label);
        let (y_label, y_unit) = split_unit(&self.y_label);
        let logs = (self.log_x, self.log_y);
        let series = self.series.iter().map(|series| series.data(store, logs, y_unit)).collect();
        let Chart { log_x, log_y, x_range, y_range, equal_axes: equal, .. } = *self;
        let Chart { title, linked: group, note, file, .. } = self;
        ChartData { title, x_label, x_unit, y_label, log_x, log_y, x_range, y_range, equal, group, note, file, series }
    }
}

impl Default for Series {
    fn default() -> Self {
        Self::lines("", Vec::new(), Vec::new())
    }
}

impl Series {
    /// A curve of the given style.
    pub fn new(name: impl Into<String>, style: SeriesStyle, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::shared(name, style, x.into(), y.into())
    }

    /// A curve whose numbers belong to other curves, too.
    pub fn shared(name: impl Into<String>, style: SeriesStyle, x: Values, y: Values) -> Self {
        Self { name: name.into(), x, y, style, dash: Dash::Solid, colour: None, unit: None, jumps: false }
    }

    /// A curve drawn as a line.
    pub fn lines(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(name, SeriesStyle::Lines, x, y)
    }

    /// Points only.
    pub fn markers(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(name, SeriesStyle::Markers, x, y)
    }

    /// Right-continuous steps.
    pub fn steps(name: impl Into<String>, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self::new(name, SeriesStyle::Steps, x, y)
    }

    /// Sets the dash pattern.
    pub fn dashed(mut self, dash: Dash) -> Self {
        self.dash = dash;
        self
    }

    /// Sets the palette colour, e.g. that of the curve a reference line belongs to.
    pub fn coloured(mut self, colour: usize) -> Self {
        self.colour = Some(colour);
        self
    }

    /// Sets the unit: the curve goes to the axis of that unit. `1` is a number without unit.
    pub fn in_unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// Draws two rows of the same abscissa as a jump.
    pub fn jumping(mut self) -> Self {
        self.jumps = true;
        self
    }

    pub(super) fn data<'a>(&'a self, store: &mut Store, logs: (bool, bool), unit: &'a str) -> SeriesData<'a> {
        let (x, y) = store.curve(&self.x, &self.y, logs);
        let Series { style, dash, colour, jumps, .. } = *self;
        SeriesData { name: &self.name, x, y, style, dash, colour, jumps, unit: self.unit.as_deref().unwrap_or(unit) }
    }
}

/// A label and its unit: `x [m]` is `x` and `m`.
pub(super) fn split_unit(label: &str) -> (&str, &str) {
    match label.trim_end().strip_suffix(']').and_then(|label| label.rsplit_once('[')) {
        Some((name, unit)) => (name.trim_end(), if unit == "-" { "" } else { unit }),
        None => (label, ""),
    }
}

/// The form of a chart in the page.
#[derive(Serialize)]
pub(super) struct ChartData<'a> {
    title: &'a str,
    x_label: &'a str,
    x_unit: &'a str,
    y_label: &'a str,
    log_x: bool,
    log_y: bool,
    x_range: Option<[f64; 2]>,
    y_range: Option<[f64; 2]>,
    equal: bool,
    group: &'a Option<String>,
    note: &'a str,
    file: &'a Option<String>,
    series: Vec<SeriesData<'a>>,
}

/// The form of a curve in the page.
#[derive(Serialize)]
pub(super) struct SeriesData<'a> {
    name: &'a str,
    x: usize,
    y: usize,
    unit: &'a str,
    style: SeriesStyle,
    dash: Dash,
    colour: Option<usize>,
    jumps: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_end_with_units() {
        for (label, name, unit) in [
            ("t [s]", "t", "s"),
            ("x", "x", ""),
            ("rate [-]", "rate", ""),
            ("a[0] [N s]", "a[0]", "N s"),
            ("]", "]", ""),
        ] {
            assert_eq!(split_unit(label), (name, unit));
        }
    }

    #[test]
    fn curves_name_their_columns_and_units() {
        let t = vec![0.0, 0.1, f64::NAN];
        let chart = Chart::over_time("c", "force [N]")
            .with(Series::lines("a", t.clone(), vec![1.0, 2.0, 3.0]).jumping())
            .with(Series::steps("b", t, vec![4.0, 5.0, 6.0]).in_unit("N s"))
            .with(Series::markers("c", vec![7.0], vec![8.0]).dashed(Dash::DashDot).coloured(0));
        let json = serde_json::to_value(chart.data(&mut Store::default())).unwrap();
        let field = |name: &str| json["series"].as_array().unwrap().iter().map(|s| s[name].clone()).collect::<Vec<_>>();
        assert_eq!(field("x"), [0, 0, 3]);
        assert_eq!(field("y"), [1, 2, 4]);
        assert_eq!(field("unit"), ["N", "N s", "N"]);
        assert_eq!(field("style"), ["lines", "steps", "markers"]);
        assert_eq!(field("dash"), ["solid", "solid", "dashdot"]);
        assert_eq!(field("jumps"), [true, false, false]);
        assert_eq!((&json["group"], &json["x_unit"], &json["y_label"]), (&"time".into(), &"s".into(), &"force".into()));
    }

    #[test]
    fn unequal_lengths_are_refused() {
        let chart = Chart::new("c", "x", "y").with(Series::lines("s", vec![0.0], vec![]));
        let expected = ReportError::SeriesLength { chart: "c".into(), series: "s".into(), x: 1, y: 0 };
        assert_eq!(chart.check(), Err(expected));
    }
}
