//! The bouncing ball: orders, multipliers, chattering and energy of direct projection.

use super::{SPEC, direct, direct_explicit, moreau_jean};
use crate::order::{ARCHETYPES, errors, line, plan, slope};
use crate::trace::{Change, Trace, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::ReactionDirection::End;
use carom::scheme::{Forecast, SchatzmanPaoli};
use carom_analysis::error::{geometric_mean, log_log_slope};
use carom_analysis::report::{Chart, Series, SeriesStyle};
use carom_scene::scene::Choice;

/// Columns of a run of the ball.
const COLUMNS: [&str; 5] = ["q.y", "v.y", "energy.kinetic", "energy.potential", "energy.total"];

/// A run over the largest number of equal steps that fits before `end`.
fn ball(scheme: Choice, step: f64, end: f64, e: f64) -> Result<Trace, Trouble> {
    let end = step * (end / step + 1e-9).floor();
    trace(
        "bouncing-ball",
        &Change { scheme: Some(scheme), set: &[("e", e)], step: Some(step), end: Some(end) },
        &COLUMNS,
    )
}

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |m, x| m.max(x.abs()))
}

/// Norms of figure 2.
const NORMS: [&str; 3] = ["sup", "l1", "l2"];

/// Figure 2: three schemes, three norms, two systems.
pub fn orders(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let plan = plan(effort);
    // fewer grids scatter more
    let (near_one, near_half) = if effort == Effort::Full { (0.15, 0.1) } else { (0.3, 0.2) };
    let schemes = [
        ("schatzman-paoli", Choice::scheme(&SchatzmanPaoli::default())),
        ("moreau-jean", moreau_jean(End)),
        ("direct projection", direct_explicit(0.0)),
    ];
    // slopes of l1(q) and l2(v), ball and oscillator
    let expected = [[(0.97, 0.48), (1.00, 0.49)], [(1.03, 0.50), (1.00, 0.51)], [(0.96, 0.48), (1.01, 0.50)]];
    for (system, (example, name)) in ARCHETYPES.into_iter().enumerate() {
        // three curves each: nine names of curves leave no room for them
        let mut charts: Vec<Chart> = ['q', 'v']
            .into_iter()
            .flat_map(|of| {
                NORMS.map(|norm| Chart::new(format!("{name}, {norm}({of})"), "h [s]", format!("error of {of}")))
            })
            .map(Chart::log_log)
            .collect();
        for (k, (label, scheme)) in schemes.iter().enumerate() {
            let study = errors(example, scheme, &plan)?;
            let steps: Vec<f64> = study.levels.iter().map(|level| level.step).collect();
            for (place, chart) in charts.iter_mut().enumerate() {
                let norm = NORMS[place % NORMS.len()];
                let is_position = place < NORMS.len();
                let y = study.levels.iter().map(|l| if is_position { l.q } else { l.v }.get(norm)).collect();
                let series = Series::new(*label, SeriesStyle::LinesAndMarkers, steps.clone(), y);
                *chart = std::mem::take(chart).with(series);
            }
            let (q, v) = expected[k][system];
            figure.check(Check::near(
                format!("{name}, {label}: order of l1(q)"),
                slope(&study, 'q', "l1")?,
                (q, near_one),
                SPEC,
            ));
            figure.check(Check::near(
                format!("{name}, {label}: order of l2(v)"),
                slope(&study, 'v', "l2")?,
                (v, near_half),
                SPEC,
            ));
        }
        charts.into_iter().for_each(|chart| figure.chart(chart));
    }
    Ok(figure)
}

/// Figure 3: max |τ| against h.
pub fn multiplier(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let plan = plan(effort);
    let mut chart = Chart::new("bouncing ball, direct projection", "h [s]", "max |τ|").log_log();
    let mut fitted = Vec::new();
    for gamma in [0.0, 1.0] {
        let (mut steps, mut largest_tau) = (Vec::new(), Vec::new());
        for &count in &plan.counts {
            let grids = plan.grids_of(count);
            let taus = grids.iter().map(|&n| {
                let run = ball(direct_explicit(gamma), plan.end / n as f64, plan.end, 0.5)?;
                Ok(largest(run.projection.iter().copied()))
            });
            // neighbouring grids differ by orders of magnitude, down to none at all where an impact falls on a grid
            // point
            largest_tau.push(taus.collect::<Result<Vec<_>, Trouble>>()?.into_iter().fold(0.0, f64::max));
            steps.push(geometric_mean(&grids.iter().map(|&n| plan.end / n as f64).collect::<Vec<_>>()).value);
        }
        fitted.push(log_log_slope(&steps, &largest_tau).map_err(|e| Trouble(e.to_string()))?.slope);
        let first = largest_tau[0];
        chart =
            chart.with(Series::new(format!("γ = {gamma}"), SeriesStyle::LinesAndMarkers, steps.clone(), largest_tau));
        if gamma == 0.0 {
            chart = chart.with(line("slope 1", &steps, first, 1.0));
        }
    }
    figure.chart(chart);
    for (slope, gamma) in fitted.into_iter().zip([0, 1]) {
        figure.check(Check::near(
            format!("order of max |τ|, γ = {gamma}"),
            slope,
            (1.0, 0.1),
            "proposition 1 of the paper",
        ));
    }
    Ok(figure)
}

/// Position and velocity over time.
fn histories(figure: &mut Figure, name: &str, run: &Trace) {
    for (column, label) in [(0, "q [m]"), (1, "v [m/s]")] {
        let what = if column == 0 { "position" } else { "velocity" };
        let series = Series::lines(what, run.t.clone(), run.column(column).to_vec());
        figure.chart(Chart::over_time(format!("{name}: {what}"), label).with(series));
    }
}

/// Figure 4: limit cycles after the accumulation, in closed form (2/3) h |f| and (4/3) h |f|.
pub fn chattering(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let h = 0.05;
    for (gamma, amplitude) in [(0.0, 4.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, 2.0 / 3.0)] {
        let run = ball(direct_explicit(gamma), h, 5.0, 0.5)?;
        histories(&mut figure, &format!("γ = {gamma}"), &run);
        let tail = largest(ball(direct_explicit(gamma), h, 12.0, 0.5)?.window(1, 11.0, 12.0));
        figure.check(Check::near(
            format!("γ = {gamma}: largest |v| on [11, 12]"),
            tail,
            (amplitude * h * 2.0, 1e-5),
            "limit cycle in closed form",
        ));
    }
    Ok(figure)
}

/// Figure 5: the free forecast.
pub fn chattering_free(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "no chattering, as stated; but τ = 0 throughout holds for θ = 1 only: with θ = 1/2 the step of an impact \
             moves by h v (1 − θ − θ e) and is projected, and the ball rests at a height of order h²",
        ),
        ..Figure::default()
    };
    for theta in [0.5, 1.0] {
        let run = ball(direct(theta, Forecast::Free), 0.05, 5.0, 0.5)?;
        histories(&mut figure, &format!("θ = {theta}"), &run);
    }
    // h = 0.05 makes the first impact fall on a grid point: numbers are taken beside it
    let run = ball(direct(1.0, Forecast::Free), 0.047, 5.0, 0.5)?;
    figure.check(Check::below("θ = 1, h = 0.047: largest |v| on [4, 5]", largest(run.window(1, 4.0, 5.0)), 1e-4, SPEC));
    figure.check(Check::below("θ = 1, h = 0.047: largest |τ|", largest(run.projection.iter().copied()), 0.0, SPEC));
    let run = ball(direct(0.5, Forecast::Free), 0.047, 12.0, 0.5)?;
    let height = run.column(0).last().copied().unwrap_or(f64::NAN);
    figure.check(Check::near("θ = 1/2, h = 0.047: height of rest [m]", height, (9.66e-4, 0.02e-4), SPEC));
    Ok(figure)
}

fn energies(name: String, run: &Trace) -> Chart {
    [("kinetic", 2), ("potential", 3), ("total", 4)]
        .into_iter()
        .fold(Chart::over_time(name, "energy [J]"), |chart, (what, k)| {
            chart.with(Series::lines(what, run.t.clone(), run.column(k).to_vec()))
        })
}

/// Largest rise of the total energy in one step.
fn rise(run: &Trace) -> f64 {
    run.column(4).windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max)
}

/// Figure 6: projections raise the potential energy.
pub fn energy(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    for gamma in [0.0, 1.0] {
        let run = ball(direct_explicit(gamma), 0.05, 5.0, 0.5)?;
        figure.chart(energies(format!("θ = 1/2, γ = {gamma}"), &run));
        // each projection lifts the ball by τ against the force f = 2 while velocities stay
        let lifted: f64 = run.projection.iter().sum::<f64>() * 2.0;
        figure.check(Check::between(
            format!("γ = {gamma}: energy brought in by projections [J]"),
            lifted,
            (1e-3, f64::INFINITY),
            "the ball is lifted by τ against the force",
        ));
    }
    let run = ball(direct(0.5, Forecast::Free), 0.05, 5.0, 0.5)?;
    figure.chart(energies("θ = 1/2, free forecast".into(), &run));
    let plain = ball(moreau_jean(End), 0.05, 5.0, 0.5)?;
    figure.check(Check::below(
        "Moreau-Jean: largest rise in a step [J]",
        rise(&plain),
        1e-12,
        "closed form: constant between impacts, loss at impacts",
    ));
    Ok(figure)
}

/// Figure 7: with e = 1 the energy should stay at 2.
pub fn elastic_energy(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "the energy grows at the first projection, then stays: growth for ever needs a literal test g ≤ 0 at \
             impacts that fall on grid points, as with h = 0.05, where rounding decides",
        ),
        ..Figure::default()
    };
    for h in [0.05, 0.047] {
        let run = ball(direct_explicit(0.0), h, 10.0, 1.0)?;
        figure.chart(energies(format!("direct projection, γ = 0, h = {h}"), &run));
    }
    for end in [10.0, 20.0, 100.0] {
        let run = ball(direct_explicit(0.0), 0.047, end, 1.0)?;
        let energy = run.column(4).last().copied().unwrap_or(f64::NAN);
        figure.check(Check::near(format!("direct projection, h = 0.047: E({end})"), energy, (2.138312, 1e-6), SPEC));
    }
    let run = ball(moreau_jean(End), 0.047, 10.0, 1.0)?;
    let energy = run.column(4).last().copied().unwrap_or(f64::NAN);
    figure.check(Check::near("Moreau-Jean: E(10)", energy, (2.0, 1e-9), "conserved"));
    Ok(figure)
}
