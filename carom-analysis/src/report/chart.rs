//! Charts: curves over one pair of axes, drawn and zoomed in the browser.

use serde::{Serialize, Serializer};

use super::ReportError;
use super::encode::gaps;

/// The link group of time histories: its charts also show the time cursor, and a click in them moves the animations.
pub const TIME_GROUP: &str = "time";

/// Curves over one pair of axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chart {
    /// Caption above the axes.
    pub title: String,
    /// Axis label with unit, e.g. `t [s]`.
    pub x_label: String,
    /// Label of the vertical axis with unit.
    pub y_label: String,
    /// Whether the horizontal axis is logarithmic.
    pub log_x: bool,
    /// Whether the vertical axis is logarithmic.
    pub log_y: bool,
    /// One unit has the same length on both axes: trajectories in the plane.
    pub equal_axes: bool,
    /// Curves, in the order of the legend.
    pub series: Vec<Series>,
    /// Charts of the same group share their x range when zoomed.
    pub linked: Option<String>,
}

/// One curve. Non-finite values are gaps; on logarithmic axes so are values that are not positive.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Shown in the legend, which charts with a single curve do not have.
    pub name: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Ordinates, as many as abscissae.
    pub y: Vec<f64>,
    /// Lines, markers or steps.
    pub style: SeriesStyle,
    /// Pattern of its lines.
    pub dash: Dash,
    /// Number of the palette colour; by default the position of the series in the chart.
    pub colour: Option<usize>,
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
}

/// The dash pattern of a curve.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dash {
    /// Solid; from the ninth curve on patterns change with each round of the palette.
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

    /// What the page draws. Curves name their columns by number, equal abscissae are stored once.
    pub(super) fn data(&self) -> ChartData<'_> {
        let mut columns: Vec<Column<'_>> = Vec::with_capacity(2 * self.series.len());
        let mut series = Vec::with_capacity(self.series.len());
        for curve in &self.series {
            let previous = series.last().map(|last: &SeriesData<'_>| last.x);
            let x = match previous.filter(|index| same(columns[*index].0, &curve.x)) {
                Some(index) => index,
                None => {
                    columns.push(Column(&curve.x));
                    columns.len() - 1
                }
            };
            columns.push(Column(&curve.y));
            let y = columns.len() - 1;
            series.push(SeriesData {
                name: &curve.name,
                x,
                y,
                style: curve.style,
                dash: curve.dash,
                colour: curve.colour,
            });
        }
        ChartData { chart: self, columns, series }
    }
}

impl Series {
    /// A curve of the given style.
    pub fn new(name: impl Into<String>, style: SeriesStyle, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { name: name.into(), x, y, style, ..Self::default() }
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
}

/// The form of a chart in the page.
pub(super) struct ChartData<'a> {
    chart: &'a Chart,
    columns: Vec<Column<'a>>,
    series: Vec<SeriesData<'a>>,
}

#[derive(Serialize)]
struct SeriesData<'a> {
    name: &'a str,
    x: usize,
    y: usize,
    style: SeriesStyle,
    dash: Dash,
    colour: Option<usize>,
}

struct Column<'a>(&'a [f64]);

impl Serialize for Column<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        gaps(self.0, serializer)
    }
}

impl Serialize for ChartData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let chart = self.chart;
        let mut out = serializer.serialize_struct("Chart", 8)?;
        out.serialize_field("xLabel", &chart.x_label)?;
        out.serialize_field("yLabel", &chart.y_label)?;
        out.serialize_field("logX", &chart.log_x)?;
        out.serialize_field("logY", &chart.log_y)?;
        out.serialize_field("equalAxes", &chart.equal_axes)?;
        out.serialize_field("group", &chart.linked)?;
        out.serialize_field("series", &self.series)?;
        out.serialize_field("columns", &self.columns)?;
        out.end()
    }
}

/// Equality of stored values; unlike `==` it holds for NaN too.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x.to_bits() == y.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(chart: &Chart) -> serde_json::Value {
        serde_json::from_str(&super::super::encode::json(&chart.data())).unwrap()
    }

    #[test]
    fn non_finite_values_are_null() {
        let y = vec![1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.5];
        let chart = Chart::new("c", "x", "y").with(Series::lines("s", vec![0.0, 1.0, 2.0, 3.0, f64::NAN], y));
        let json = value(&chart);
        assert_eq!(json["columns"][0], serde_json::json!([0.0, 1.0, 2.0, 3.0, null]));
        assert_eq!(json["columns"][1], serde_json::json!([1.0, null, null, null, -0.5]));
    }

    #[test]
    fn equal_abscissae_are_stored_once() {
        let t = vec![0.0, 0.1, f64::NAN];
        let chart = Chart::over_time("c", "y")
            .with(Series::lines("a", t.clone(), vec![1.0, 2.0, 3.0]))
            .with(Series::steps("b", t, vec![4.0, 5.0, 6.0]))
            .with(Series::markers("c", vec![7.0], vec![8.0]).dashed(Dash::DashDot).coloured(0));
        let json = value(&chart);
        assert_eq!(json["columns"].as_array().unwrap().len(), 5);
        let x: Vec<_> = json["series"].as_array().unwrap().iter().map(|s| s["x"].as_u64().unwrap()).collect();
        assert_eq!(x, [0, 0, 3]);
        assert_eq!(json["group"], "time");
        assert_eq!(json["series"][1]["style"], "steps");
        assert_eq!(json["series"][2]["dash"], "dashdot");
        assert_eq!(json["series"][2]["colour"], 0);
    }

    #[test]
    fn values_keep_all_their_digits() {
        let exact = [0.1 + 0.2, 1.0 / 3.0, 5e-324, f64::MAX];
        let chart = Chart::new("c", "x", "y").with(Series::lines("s", exact.to_vec(), exact.to_vec()));
        let text = super::super::encode::json(&chart.data());
        let (_, columns) = text.split_once("\"columns\":[[").unwrap();
        let (column, _) = columns.split_once(']').unwrap();
        // decimal text is read with correct rounding here as in the browser
        let stored: Vec<f64> = column.split(',').map(|number| number.parse().unwrap()).collect();
        assert_eq!(stored, exact);
    }

    #[test]
    fn unequal_lengths_are_refused() {
        let chart = Chart::new("c", "x", "y").with(Series::lines("s", vec![0.0], vec![]));
        let expected = ReportError::SeriesLength { chart: "c".into(), series: "s".into(), x: 1, y: 0 };
        assert_eq!(chart.check(), Err(expected));
    }
}
