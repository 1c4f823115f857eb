//! The pendulum in a ring: the gap under three schemes, and as the report's library of shapes sees it.

use super::{SPEC, combined, moreau_jean};
use crate::trace::{Change, Trace, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::ReactionDirection;
use carom_analysis::report::{Chart, Series};

/// Thickness of the ring [m].
const THICKNESS: f64 = 2e-3;

/// The right panel: the gap as a library of shapes sees it, which takes the nearer boundary of a thin ring.
fn thin_ring(figure: &mut Figure, run: &Trace) -> Result<(), Trouble> {
    let gaps = run.column(0);
    let out = gaps.iter().position(|g| *g < -THICKNESS);
    let end = out.unwrap_or(gaps.len());
    // inside the material the distance to the nearer boundary, with a sign
    let seen: Vec<f64> = gaps[..end].iter().map(|g| if *g >= 0.0 { *g } else { -(-g).min(THICKNESS + g) }).collect();
    let deepest = seen.iter().skip(200).fold(0.0f64, |m, g| m.max(-g));
    let source = "stated in the paper: first decreasing, then increasing; half of the thickness";
    figure.check(Check::near("gap to the nearer boundary: deepest [m]", deepest, (0.5 * THICKNESS, 2e-5), source));
    let lost = out.map_or(f64::NAN, |k| run.t[k]);
    figure.check(Check::near("gradient at the start: outer boundary reached at t [s]", lost, (1.31, 0.03), SPEC));
    let fine = moreau_jean(ReactionDirection::Start);
    let fine =
        trace("pendulum-ring", &Change { end: Some(3.0), step: Some(2.5e-4), ..Change::scheme(&fine) }, &["gap.hook"])?;
    let lost = fine.column(0).iter().position(|g| *g < -THICKNESS).map_or(f64::NAN, |k| fine.t[k]);
    figure.check(Check::near("the same with half the step [s]", lost, (2.86, 0.06), SPEC));
    let chart = Chart::over_time("gap to the nearer boundary of the ring, up to the loss of contact", "g [m]");
    figure.chart(chart.with(Series::lines("gradient at the start", run.t[..end].to_vec(), seen)));
    Ok(())
}

/// Figure 20: the gap under three ways to keep it.
pub fn gap(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "the growing drift appears when the gradient is frozen at the start of the step; with the gradient at the \
             end, as the scheme is written, the gap of the first touch stays. The paper does not give the geometry of \
             the rod: a homogeneous rod is taken",
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
    thin_ring(&mut figure, &runs[0])?;
    let drift = runs[0].column(0).last().copied().unwrap_or(f64::NAN);
    let expected = if effort == Effort::Quick { (-3.05e-3, 0.05e-3) } else { (-1.46e-2, 5e-4) };
    figure.check(Check::near(format!("gradient at the start: gap({end}) [m]"), drift, expected, SPEC));
    Ok(figure)
}
