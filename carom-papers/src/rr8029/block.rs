//! The rocking block.

use super::{SPEC, combined, direct_explicit};
use crate::trace::{Change, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom_analysis::report::{Chart, Series};

/// Figure 9: direct against combined projection: positions, velocities, energy. The report does not state the forecast
/// of its direct projection; its section 4.2 takes γ = 0, which leaves chatter at rest, and so does γ = 1/2.
pub fn comparison(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let columns = ["q.y", "q.theta", "v.y", "v.theta", "energy.kinetic", "energy.potential", "energy.total"];
    let mut ends = Vec::new();
    for (name, scheme, is_combined) in [
        ("direct projection, γ = 0", direct_explicit(0.0), false),
        ("direct projection, γ = 1/2", direct_explicit(0.5), false),
        ("combined projection", combined(0.5), true),
    ] {
        let run = trace("rocking-block", &Change::scheme(&scheme), &columns)?;
        for (title, label, range) in [
            ("position", "y [m], θ [rad]", 0..2),
            ("velocity", "y' [m/s], θ' [rad/s]", 2..4),
            ("energy", "energy [J]", 4..7),
        ] {
            let mut chart = Chart::over_time(format!("{name}: {title}"), label);
            for k in range {
                chart = chart.with(Series::lines(columns[k], run.t.clone(), run.column(k).to_vec()));
            }
            figure.chart(chart);
        }
        let last = |k: usize| run.window(k, 1.7, 2.0).fold(0.0f64, |m, x| m.max(x.abs()));
        let energy = run.column(6);
        let gain = energy.iter().fold(f64::NEG_INFINITY, |m, x| m.max(*x)) - energy[0];
        figure.check(Check::below(format!("{name}: violation [m]"), run.violation, 1e-10, SPEC));
        if is_combined {
            let y = run.column(0).last().copied().unwrap_or(f64::NAN);
            figure.check(Check::near("combined: y(T) [m]", y, (0.75, 1e-6), "closed form: at rest on both corners"));
            figure.check(Check::below(
                "combined: largest velocity in the last 0.3 s",
                last(2).max(last(3)),
                1e-6,
                SPEC,
            ));
            figure.check(Check::below("combined: energy above the initial one [J]", gain, 1e-9, SPEC));
        } else {
            let chatter = if ends.is_empty() { (0.1445, 0.005) } else { (0.0654, 0.002) };
            figure.check(Check::near(format!("{name}: chatter in the last 0.3 s [m/s]"), last(2), chatter, SPEC));
            figure.check(Check::near(format!("{name}: energy above the initial one [J]"), gain, (4.5e-2, 1e-3), SPEC));
        }
        ends.push(energy.last().copied().unwrap_or(f64::NAN));
    }
    let what = "energy at the end: direct, γ = 0, over combined, less 1";
    let source = "stated in the paper: the combined approach dissipates more";
    figure.check(Check::between(what, ends[0] / ends[2] - 1.0, (1e-6, f64::INFINITY), source));
    Ok(figure)
}
