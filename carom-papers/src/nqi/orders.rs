//! Section 3: errors of case P1 at t = 6 with the initial scheme and both forms of the corrected one.

use super::schemes;
use crate::order::line;
use crate::trace::{Change, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::testbed::ImpactOscillator;
use carom_analysis::error::log_log_slope;
use carom_analysis::report::{Block, Chart, Series, SeriesStyle};

/// Order, and the errors of u at t = 6 with 800, 1600 and 3200 steps, of each of the schemes.
const EXPECTED: [(f64, [f64; 3]); 3] = [
    (1.0, [2.666e-3, 1.310e-3, 6.471e-4]),
    (2.0, [9.854e-5, 2.484e-5, 6.211e-6]),
    (1.0, [3.458e-2, 1.553e-2, 8.855e-3]),
];

pub fn orders(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    figure.blocks.push(Block::Paragraph(
        "Case P1: α = 0.05, a = 1, ω = 2.5, u_min = −0.1, e = 0.7 from u = 0.5 at rest; two impacts before t = 6. The quadratic of the paper, \
         (31), starts with the mean velocity of the step: its impact velocity is wrong by O(h), and the scheme stays of first order, with a much \
         smaller constant. Started with the velocity at the beginning of the step the quadratic always has a root, no halving of steps is needed, \
         and the scheme is of second order."
            .into(),
    ));
    let exact = ImpactOscillator::default().state_at(6.0).0;
    let counts: &[u32] =
        if effort == Effort::Quick { &[800, 1600, 3200] } else { &[400, 800, 1600, 3200, 6400, 12800] };
    let mut chart = Chart::new("Error of u at t = 6, case P1", "h [s]", "error [m]").log_log();
    for (k, ((scheme, name), (order, expected))) in schemes().iter().zip(EXPECTED).enumerate() {
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for &n in counts {
            let h = 6.0 / f64::from(n);
            let run = trace("impact-oscillator", &Change { step: Some(h), ..Change::scheme(scheme) }, &["q.u"])?;
            steps.push(h);
            errors.push((run.column(0).last().copied().unwrap_or(f64::NAN) - exact).abs());
        }
        for (n, expected) in [800, 1600, 3200].into_iter().zip(expected) {
            let measured = counts.iter().position(|c| *c == n).and_then(|i| errors.get(i)).copied().unwrap_or(f64::NAN);
            let what = format!("{name}: error with {n} steps");
            figure.check(Check::near(what, measured, (expected, 0.01 * expected), "independent implementation"));
        }
        let fit = log_log_slope(&steps, &errors).map_err(|e| Trouble(e.to_string()))?;
        figure.check(Check::near(format!("{name}: order"), fit.slope, (order, 0.15), "independent implementation"));
        let first = errors.first().copied().unwrap_or(f64::NAN);
        chart = chart
            .with(line(&format!("slope {order}"), &steps, first, order).coloured(k))
            .with(Series::new(*name, SeriesStyle::LinesAndMarkers, steps, errors).coloured(k));
    }
    figure.chart(chart);
    Ok(figure)
}
