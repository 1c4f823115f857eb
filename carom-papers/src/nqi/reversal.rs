//! Section 2 of the paper: without forces the initial scheme is known in closed form.

use crate::{Check, Effort, Figure, Trouble};
use carom::model::{Contact, Lagrangian};
use carom::scheme::SchatzmanPaoli;
use carom::{Span, simulate};
use carom_analysis::report::{Block, Chart, Series, SeriesStyle};

/// Rebounds from u₀ = 1 with v₀ = −1, at several places of the impact within a step.
pub fn reversal(_effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    figure.blocks.push(Block::Paragraph(
        "Without forces U^n = u₀ + n h v₀ up to n = m + 1 and −e (u₀ + (n − 2) h v₀) from then on: the exact rebound, two steps late. The \
         error of the position is 2 e h |v₀| wherever the impact falls within a step. (The paper prints U^m for U^n in its last formulas.)"
            .into(),
    ));
    let (u0, v0, end) = (1.0f64, -1.0f64, 2.0f64);
    let (mut deviation, mut late) = (0.0f64, Vec::new());
    let mut chart = Chart::new("Rebound with e = 0.8", "t [s]", "u [m]");
    let mut table = Vec::new();
    for (k, h) in [0.1f64, 0.0965, 0.0931, 0.0887].into_iter().enumerate() {
        for e in [0.3, 0.8, 1.0] {
            let wall = Contact::new("wall", |_, q| q[0]).gradient(|_, _, row| row[0] = 1.0).restitution(e);
            let model = Lagrangian::new(1).constant_mass(&[1.0]).contact(wall).initial(&[u0], &[v0]).linear();
            let run = simulate(model, SchatzmanPaoli::default(), Span { end: h * (end / h).floor(), step: h });
            let run = run.map_err(|e| Trouble(e.to_string()))?;
            let positions = run.coordinate(0);
            let m = (((1.0 + e) * u0 + h * (1.0 - e) * v0) / (-(1.0 + e) * v0 * h)).floor();
            for (n, u) in positions.iter().enumerate() {
                let n = n as f64;
                let expected = if n <= m + 1.0 { u0 + n * h * v0 } else { -e * (u0 + (n - 2.0) * h * v0) };
                deviation = deviation.max((u - expected).abs());
            }
            let (t, u) = (run.t.last().copied().unwrap_or(0.0), positions.last().copied().unwrap_or(f64::NAN));
            let error = (u + e * (u0 + t * v0)).abs();
            late.push(error / (2.0 * e * h * v0.abs()));
            table.push((format!("h = {h}, e = {e}"), vec![m, error, 2.0 * e * h * v0.abs()]));
            if e == 0.8 {
                let name = format!("h = {h}");
                let style = SeriesStyle::LinesAndMarkers;
                chart = chart.with(Series::new(name, style, run.t.clone(), positions.clone()).coloured(k));
            }
        }
    }
    chart = chart.with(Series::lines("exact", vec![0.0, 1.0, end], vec![u0, 0.0, 0.8 * (end - 1.0)]));
    figure.chart(chart);
    figure.table("Delay of the rebound", &["run", "m", "error of the position", "2 e h |v₀|"], table);
    let source = "closed form";
    figure.check(Check::below("largest deviation from the closed form", deviation, 1e-10, source));
    let worst = late.iter().fold(0.0f64, |m, x| m.max((x - 1.0).abs()));
    figure.check(Check::below("error over 2 e h |v₀|, less 1", worst, 1e-9, source));
    Ok(figure)
}
