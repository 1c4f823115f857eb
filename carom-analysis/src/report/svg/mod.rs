//! Charts and images as SVG files for papers and slides, from the same description as in the page. They are light, have
//! no script, and show the whole range; text stays text.

mod axis;
mod curve;

use std::fmt::Write as _;

use base64::Engine as _;

use super::chart::split_unit;
use super::encode::escape;
use super::{Block, Chart, Image, Report};
use axis::{Axis, Tick, by_unit};
use curve::Curve;

/// Pixels of a figure; printed at 96 to the inch it is 170 mm wide.
const WIDTH: f64 = 642.0;
const HEIGHT: f64 = 340.0;
/// Curves that are drawn, as in the page.
const SHOWN: usize = 8;
const INK: &str = "#14181d";
const MUTED: &str = "#59636e";
const GRID: &str = "#e6e9ec";
const RULE: &str = "#8a949e";

impl Report {
    /// Every chart and image as an SVG file: its name without ending, from the title, and its text.
    pub fn figures(&self) -> Vec<(String, String)> {
        let mut figures: Vec<(String, String)> = Vec::new();
        let mut add = |title: &str, text: String| {
            let stem = slug(title);
            let taken = |name: &str| figures.iter().any(|(other, _)| other == name);
            let numbered = (2..).map(|k| format!("{stem}-{k}"));
            let name = std::iter::once(stem.clone()).chain(numbered).find(|name| !taken(name));
            figures.push((name.unwrap_or(stem), text));
        };
        let run = self.run.iter().flat_map(|run| &run.charts);
        let blocks =
            || self.blocks().filter_map(|block| if let Block::Chart(chart) = block { Some(chart) } else { None });
        let linked: Vec<&Chart> = run.clone().chain(blocks()).filter(|chart| chart.linked.is_some()).collect();
        for chart in run {
            add(&chart.title, chart.svg_beside(&linked));
        }
        for block in self.blocks() {
            match block {
                Block::Chart(chart) => add(&chart.title, chart.svg_beside(&linked)),
                Block::Image(image) => add(&image.title, image.svg()),
                _ => {}
            }
        }
        figures
    }
}

/// A title as the name of a file: `Contact forces (N)` is `contact-forces-n`.
fn slug(title: &str) -> String {
    let mut name = String::new();
    for character in title.chars() {
        match character.is_alphanumeric() {
            true => name.extend(character.to_lowercase()),
            false if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            false => {}
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "figure".into() } else { name.into() }
}

/// Where curves are drawn.
#[derive(Debug, Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Chart {
    /// The chart as the text of an SVG file.
    pub fn svg(&self) -> String {
        self.svg_beside(&[])
    }

    /// The same, with the abscissae of all charts that it is linked with.
    fn svg_beside(&self, others: &[&Chart]) -> String {
        let shown = self.series.iter().take(SHOWN).enumerate();
        let curves: Vec<Curve<'_>> = shown.map(|(number, series)| Curve::new(self, series, number)).collect();
        let group = others.iter().filter(|chart| self.linked.is_some() && chart.linked == self.linked);
        let abscissae = group.flat_map(|chart| &chart.series).flat_map(|series| series.x.iter().copied());
        let abscissae = abscissae.chain(curves.iter().flat_map(Curve::xs));
        // marks at the edge would be cut
        let margin = if self.linked.is_none() && curves.iter().any(Curve::is_marked) { 0.03 } else { 0.0 };
        let mut x = Axis::around(abscissae, split_unit(&self.x_label).1, self.log_x, margin);
        x.show(self.x_range);
        let mut axes: Vec<(Axis, Vec<&Curve<'_>>)> = by_unit(&curves)
            .into_iter()
            .map(|(unit, list)| (Axis::around(list.iter().flat_map(|c| c.ys()), unit, self.log_y, 0.06), list))
            .collect();
        if let Some((first, _)) = axes.first_mut() {
            first.show(self.y_range);
        }
        let rows = legend_rows(&curves);
        let bottom = HEIGHT - 40.0;
        let mut frame = Frame { left: 0.0, right: WIDTH, top: 54.0 + 15.0 * rows.len() as f64, bottom };
        let widths: Vec<f64> = axes.iter_mut().map(|(axis, _)| settle(axis, frame)).collect();
        frame.left = 8.0 + widths.first().copied().unwrap_or(0.0);
        frame.right = WIDTH - 12.0 - widths.iter().skip(1).sum::<f64>();
        x.place(frame.left, frame.right);
        if let (true, [(y, _)]) = (self.equal_axes, &mut axes[..]) {
            Axis::equalise(&mut x, y);
        }
        let remark = self.remark(&curves);
        let mut out = head(&self.title, if remark.is_empty() { HEIGHT } else { HEIGHT + 14.0 });
        legend(&rows, frame, &mut out);
        abscissa(&x, split_unit(&self.x_label).0, frame, &mut out);
        let mut right = frame.right;
        for (number, (axis, list)) in axes.iter().enumerate() {
            let tint = if axes.len() > 1 && list.len() == 1 { list[0].colour } else { MUTED };
            ordinate(axis, frame, (number > 0).then_some(right), tint, &mut out);
            right += if number > 0 { widths[number] } else { 0.0 };
        }
        let Frame { left, right, top, bottom } = frame;
        let (w, h) = (right - left, bottom - top);
        let rectangle = format!("x=\"{left:.1}\" y=\"{top:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"");
        let _ = writeln!(out, "<clipPath id=\"frame\"><rect {rectangle}/></clipPath>");
        out.push_str("<g clip-path=\"url(#frame)\" stroke-width=\"1.4\" stroke-linejoin=\"round\">\n");
        for (axis, list) in &axes {
            list.iter().for_each(|curve| curve.draw(&x, axis, &mut out));
        }
        out.push_str("</g>\n");
        let _ = writeln!(out, "<rect {rectangle} fill=\"none\" stroke=\"{RULE}\"/>");
        if !remark.is_empty() {
            text((8.0, HEIGHT + 6.0), &remark, "start", MUTED, &mut out);
        }
        out + "</svg>\n"
    }

    /// What the reader must know of a figure that does not show everything.
    fn remark(&self, curves: &[Curve<'_>]) -> String {
        let block = curves.iter().map(|curve| curve.block).max().unwrap_or(1);
        let mut parts = Vec::new();
        if !self.note.is_empty() {
            parts.push(self.note.clone());
        }
        if self.series.len() > curves.len() {
            parts.push(format!("{} more curves are in the report", self.series.len() - curves.len()));
        }
        if block > 1 {
            let file = self.file.as_ref().map(|file| format!("; all rows are in {file}")).unwrap_or_default();
            parts.push(format!("thinned, extremes of each {block} rows kept{file}"));
        }
        parts.join("; ")
    }
}

impl Image {
    /// The image between its axes as the text of an SVG file.
    pub fn svg(&self) -> String {
        let labels = [0, 1].map(|k| split_unit(&self.labels[k]));
        let [mut x, mut y] = [0, 1].map(|k| Axis::around(self.ranges[k].into_iter(), labels[k].1, false, 0.0));
        let mut frame = Frame { left: 60.0, right: WIDTH - 190.0, top: 50.0, bottom: HEIGHT + 60.0 };
        frame.left = 8.0 + settle(&mut y, frame);
        x.place(frame.left, frame.right);
        let mut out = head(&self.title, HEIGHT + 100.0);
        let png = base64::engine::general_purpose::STANDARD.encode(self.png());
        let Frame { left, right, top, bottom } = frame;
        let (w, h) = (right - left, bottom - top);
        let rectangle = format!("x=\"{left:.1}\" y=\"{top:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"");
        abscissa(&x, labels[0].0, frame, &mut out);
        ordinate(&y, frame, None, MUTED, &mut out);
        text((left, top - 22.0), labels[1].0, "start", MUTED, &mut out);
        let cells = "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\"";
        let _ = writeln!(out, "<image {rectangle} {cells} href=\"data:image/png;base64,{png}\"/>");
        let _ = writeln!(out, "<rect {rectangle} fill=\"none\" stroke=\"{RULE}\"/>");
        for (k, ([r, g, b], name)) in self.swatches.iter().enumerate() {
            let at = (right + 14.0, top + 18.0 * k as f64);
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"11\" height=\"11\" fill=\"rgb({r},{g},{b})\" stroke=\"{RULE}\"/>",
                at.0, at.1
            );
            text((at.0 + 17.0, at.1 + 9.5), name, "start", INK, &mut out);
        }
        out + "</svg>\n"
    }
}

fn head(title: &str, height: f64) -> String {
    let title = escape(title);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"11\">\n\
         <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"8\" y=\"17\" font-size=\"13\" font-weight=\"600\" fill=\"{INK}\">{title}</text>\n"
    )
}

fn text((x, y): (f64, f64), words: &str, anchor: &str, colour: &str, out: &mut String) {
    let words = escape(words);
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>");
}

/// Width of a text in this size, roughly: files are drawn with fonts that are not known here.
fn width(text: &str) -> f64 {
    6.2 * text.chars().count() as f64
}

/// Places an ordinate and returns the room that its numbers need.
fn settle(axis: &mut Axis, frame: Frame) -> f64 {
    axis.place(frame.bottom, frame.top);
    let of = |tick: &Tick| width(&tick.text) + tick.exponent.map_or(0.0, |_| 14.0);
    let ticks = axis.ticks((frame.bottom - frame.top) / 34.0);
    ticks.iter().map(of).fold(width(&axis.unit).max(20.0), f64::max) + 12.0
}

/// Curves in rows of the legend, with the place of each.
fn legend_rows<'a, 'b>(curves: &'b [Curve<'a>]) -> Vec<Vec<(&'b Curve<'a>, f64)>> {
    let mut rows: Vec<Vec<(&Curve<'_>, f64)>> = Vec::new();
    let mut end = f64::INFINITY;
    for curve in curves.iter().filter(|curve| !curve.name.is_empty()) {
        let needed = 26.0 + width(curve.name);
        if end + needed > WIDTH - 16.0 {
            rows.push(Vec::new());
            end = 0.0;
        }
        if let Some(row) = rows.last_mut() {
            row.push((curve, end));
        }
        end += needed + 14.0;
    }
    rows
}

fn legend(rows: &[Vec<(&Curve<'_>, f64)>], frame: Frame, out: &mut String) {
    out.push_str("<g stroke-width=\"1.6\">\n");
    for (number, row) in rows.iter().enumerate() {
        let y = frame.top - 28.0 - 15.0 * (rows.len() - 1 - number) as f64;
        for (curve, start) in row {
            curve.sample(8.0 + start, y, out);
            out.push_str("<g stroke=\"none\">");
            text((8.0 + start + 22.0, y + 4.0), curve.name, "start", INK, out);
            out.push_str("</g>");
        }
    }
    out.push_str("</g>\n");
}

/// A number, or a power of ten with its exponent raised.
fn number(tick: &Tick, (x, y): (f64, f64), anchor: &str, colour: &str, out: &mut String) {
    let power = tick.exponent.map(|e| e.to_string().replace('-', "\u{2212}"));
    let raised = power.map(|e| format!("<tspan dy=\"-4\" font-size=\"8.5\">{e}</tspan>")).unwrap_or_default();
    let words = format!("{}{raised}", escape(&tick.text));
    let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{words}</text>");
}

fn abscissa(axis: &Axis, name: &str, frame: Frame, out: &mut String) {
    for tick in axis.ticks((frame.right - frame.left) / 90.0) {
        let _ =
            writeln!(out, "<path d=\"M{0:.1} {1:.1}V{2:.1}\" stroke=\"{GRID}\"/>", tick.at, frame.top, frame.bottom);
        number(&tick, (tick.at, frame.bottom + 14.0), "middle", MUTED, out);
    }
    let title = [name.to_owned(), if axis.unit.is_empty() { String::new() } else { format!("[{}]", axis.unit) }];
    let title = title.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" ");
    text(((frame.left + frame.right) / 2.0, frame.bottom + 28.0), &title, "middle", INK, out);
}

/// Numbers on the left with the grid, or at `right` without.
fn ordinate(axis: &Axis, frame: Frame, right: Option<f64>, colour: &str, out: &mut String) {
    let (x, anchor) = right.map_or((frame.left - 5.0, "end"), |right| (right + 5.0, "start"));
    for tick in axis.ticks((frame.bottom - frame.top) / 34.0) {
        if right.is_none() {
            let (left, right) = (frame.left, frame.right);
            let _ = writeln!(out, "<path d=\"M{left:.1} {0:.1}H{right:.1}\" stroke=\"{GRID}\"/>", tick.at);
        }
        number(&tick, (x, tick.at + 4.0), anchor, colour, out);
    }
    if !axis.unit.is_empty() {
        let unit = format!("[{}]", axis.unit);
        text((x, frame.top - 7.0), &unit, anchor, colour, out);
    }
}

#[cfg(test)]
mod tests;
