//! The pendulum in a ring.

use super::{SPEC, combined, moreau_jean};
use crate::trace::{Change, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::ReactionDirection;
use carom_analysis::report::{Chart, Series};

/// Figure 20: the gap under three ways to keep it.
pub fn gap(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "the growing drift appears when the gradient is frozen at the start of the step; with the gradient at the end, as the \
             scheme is written, the gap of the first touch stays. The paper does not give the geometry of the rod: a homogeneous rod is taken",
        ),
        ..Figure::default()
    };
    let end = if effort == Effort::Quick { 2.0 } else { 10.0 };
    let mut chart = Chart::over_time("gap of the hook", "g [m]");
    let mut runs = Vec::new();
    for (name, scheme) in [
        ("Moreau-Jean, gradient at the start", moreau_jean(ReactionDirection::Start)),
        ("Moreau-Jean, gradient at the end", moreau_jean(ReactionDirection::End)),
        ("combined projection", combined(0.5)),
    ] {
        let run = trace("pendulum-ring", &Change { end: Some(end), ..Change::scheme(&scheme) }, &["gap.hook"])?;
        chart = chart.with(Series::lines(name, run.t.clone(), run.column(0).to_vec()));
        runs.push(run);
    }
    figure.chart(chart);
    let range = |k: usize, from: f64| {
        let values = runs[k].window(0, from, end);
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), g| (a.min(g), b.max(g)))
    };
    let (low, high) = range(1, 0.05);
    figure.check(Check::near("gradient at the end: smallest gap [m]", low, (-2.66e-4, 1e-6), SPEC));
    figure.check(Check::near("gradient at the end: largest gap after the touch [m]", high, (-2.66e-4, 1e-6), SPEC));
    let (low, high) = range(2, 0.05);
    figure.check(Check::below("combined projection: largest |gap| after the touch [m]", high.max(-low), 1e-12, SPEC));
    let drift = runs[0].column(0).last().copied().unwrap_or(f64::NAN);
    let expected = if effort == Effort::Quick { (-3.05e-3, 0.05e-3) } else { (-1.46e-2, 5e-4) };
    figure.check(Check::near(format!("gradient at the start: gap({end}) [m]"), drift, expected, SPEC));
    Ok(figure)
}
