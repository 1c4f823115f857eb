//! The slider that falls on a roller: friction holds the roller once the slider rests.

use super::{direct_explicit, moreau_jean};
use crate::trace::{Change, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::ReactionDirection::End;
use carom_analysis::report::{Chart, Series};

/// Step of the example [s].
const STEP: f64 = 5e-3;

/// Figure 8: Moreau-Jean comes to rest, direct projection never does.
pub fn equilibrium(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "the report gives no numbers of this example; its own are taken: 1 kg, a roller of 10 cm and 0.01 kg m², \
             μ = 0.5, e = 0.5, a torque of 0.8 μ R m g. What it says of both schemes is met",
        ),
        ..Figure::default()
    };
    let columns = ["q.y", "v.y", "q.phi", "v.phi"];
    let mut speeds = Chart::over_time("speed of the roller", "φ' [rad/s]");
    let mut heights = Chart::over_time("slider above the roller", "y [m]");
    // torque over inertia, times the step: what the roller gains while the contact is open for one
    let gain = STEP * 0.8 * 0.5 * 9.81 * 0.1 / 0.01;
    for (name, scheme, is_plain) in
        [("Moreau-Jean", moreau_jean(End), true), ("direct projection", direct_explicit(0.0), false)]
    {
        let run = trace("slider-roller", &Change { step: Some(STEP), ..Change::scheme(&scheme) }, &columns)?;
        speeds = speeds.with(Series::lines(name, run.t.clone(), run.column(3).to_vec()));
        heights = heights.with(Series::lines(name, run.t.clone(), run.column(0).to_vec()));
        let largest = |k: usize| run.window(k, 3.0, 4.0).fold(0.0f64, |m, x| m.max(x.abs()));
        let turned = run.window(2, 3.0, 4.0).fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        if is_plain {
            let source = "stated in the paper: the equilibrium is observed";
            figure.check(Check::below(
                "Moreau-Jean: largest speed of the roller in the last second",
                largest(3),
                1e-9,
                source,
            ));
            figure.check(Check::below("Moreau-Jean: largest speed of the slider there", largest(1), 1e-9, source));
        } else {
            // the limit cycle has three steps: two of them open, and the third stops the roller
            let source = "closed form: two open steps of a cycle of three";
            figure.check(Check::near(
                "direct projection: largest speed of the roller in the last second",
                largest(3),
                (2.0 * gain, 1e-6),
                source,
            ));
            let source = "closed form: 0, 1 and 2 gains in turn, over one second";
            figure.check(Check::near(
                "direct projection: roller turns in the last second by",
                turned.1 - turned.0,
                (gain, 0.02 * gain),
                source,
            ));
            let source = "closed form: 4/3 h g of the ball at rest";
            figure.check(Check::near(
                "direct projection: largest speed of the slider there",
                largest(1),
                (4.0 / 3.0 * STEP * 9.81, 1e-6),
                source,
            ));
        }
    }
    figure.chart(speeds);
    figure.chart(heights);
    Ok(figure)
}
