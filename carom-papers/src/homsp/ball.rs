//! Figure 1: the bouncing ball with restitution by the Moreau-Jean scheme with the explicit forecast.

use super::SPEC;
use crate::trace::{Change, Trace, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::{Forecast, MoreauJean};
use carom_analysis::report::{Chart, Series};
use carom_scene::scene::Choice;

const STEP: f64 = 5e-3;
/// Weight and restitution; the height is not stated in the paper, 1 m fits the figure.
const PARAMETERS: [(&str, f64); 3] = [("f", 10.0), ("e", 0.8), ("height", 1.0)];

/// Four panels: position, velocity, impulse, energies.
pub(super) fn motion(_: Effort) -> Result<Figure, Trouble> {
    let columns = ["q.y", "v.y", "impulse.floor", "energy.total", "energy.kinetic", "energy.potential"];
    let scheme = MoreauJean { theta: 0.5, forecast: Forecast::Explicit { gamma: 0.0 }, ..MoreauJean::default() };
    let scheme = Some(Choice::scheme(&scheme));
    let change = Change { scheme, set: &PARAMETERS, step: Some(STEP), end: Some(6.0) };
    let run = trace("bouncing-ball", &change, &columns)?;
    let mut figure = Figure::default();
    let series = |k: usize, name: &str| Series::lines(name, run.t.clone(), run.column(k).to_vec());
    figure.chart(Chart::over_time("(a) Position of the ball", "q [m]").with(series(0, "q")));
    figure.chart(Chart::over_time("(b) Velocity of the ball", "v [m/s]").with(series(1, "v")));
    figure.chart(Chart::over_time("(c) Amplitude of the impulse", "p [N s]").with(series(2, "p")));
    let energies = Chart::over_time("(d) Energies", "energy [J]");
    figure.chart(energies.with(series(3, "total")).with(series(4, "kinetic")).with(series(5, "potential")));
    impulses(&run, &mut figure);
    let energy = |t: f64| run.window(3, t - 0.1 * STEP, t + 0.1 * STEP).next().unwrap_or(f64::NAN);
    for (t, expected) in [(0.4, 10.0), (0.8, 6.3325), (1.5, 3.9817), (2.1, 2.484708), (3.0, 0.602611)] {
        // six decimals are known
        figure.check(Check::near(format!("energy at {t} s"), energy(t), (expected, 1e-6), SPEC));
    }
    let rest = run.column(0).last().copied().unwrap_or(f64::NAN);
    figure.check(Check::near("position at rest", rest, (-6.74e-6, 1e-8), SPEC));
    let lowest = run.column(0).iter().copied().fold(0.0, f64::min);
    figure.check(Check::near("lowest position", lowest, (-0.01655, 1e-5), SPEC));
    Ok(figure)
}

fn impulses(run: &Trace, figure: &mut Figure) {
    let steps = || run.t.iter().zip(run.column(2)).filter(|(_, p)| **p > 1e-9);
    let expected = [(0.455, 8.15), (1.180, 6.53), (1.760, 5.216), (2.220, 4.1072), (2.585, 3.28424), (2.875, 2.592608)];
    for (k, ((t, p), (time, impulse))) in steps().zip(expected).enumerate() {
        figure.check(Check::near(format!("time of impact {}", k + 1), *t, (time, 1e-9), SPEC));
        figure.check(Check::near(format!("impulse {}", k + 1), *p, (impulse, 1e-9), SPEC));
    }
    let sum: f64 = run.column(2).iter().sum();
    figure.check(Check::near("sum of impulses over 6 s", sum, (60.0, 1e-8), "momentum: m g T"));
}
