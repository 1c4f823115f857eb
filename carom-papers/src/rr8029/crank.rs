//! The slider-crank with clearance in the guide.

use super::{SPEC, combined, direct_explicit, moreau_jean};
use crate::trace::{Change, Trace, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::ReactionDirection::End;
use carom_analysis::report::{Chart, Series};
use carom_scene::scene::Choice;

const COLUMNS: [&str; 9] =
    ["output.revolutions", "output.x", "output.y", "v.th1", "q.th3", "gap.1", "gap.3", "energy.total", "impulse.1"];

/// Clearance between slider and walls [m].
const CLEARANCE: f64 = 0.001;

fn crank(scheme: &Choice, step: f64) -> Result<Trace, Trouble> {
    trace("slider-crank", &Change { step: Some(step), ..Change::scheme(scheme) }, &COLUMNS)
}

fn over_revolutions(title: String, label: &str, run: &Trace, y: &[f64]) -> Chart {
    let name = label.split(" [").next().unwrap_or(label);
    Chart::new(title, "crank revolutions", label).with(Series::lines(name, run.column(0).to_vec(), y.to_vec()))
}

/// Figure 23: position, speed of the crank and of the slider, contact force.
pub fn motion(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let h = if effort == Effort::Quick { 1e-5 } else { 1e-6 };
    let run = crank(&moreau_jean(End), h)?;
    let ends: Vec<f64> =
        run.column(0).windows(2).zip(run.column(1).windows(2)).map(|(_, x)| (x[1] - x[0]) / h).collect();
    figure.chart(over_revolutions("slider, x".into(), "x [m]", &run, run.column(1)));
    figure.chart(over_revolutions("slider, y".into(), "y [m]", &run, run.column(2)));
    figure.chart(over_revolutions("speed of the crank".into(), "ω [rad/s]", &run, run.column(3)));
    let revolutions = &run.column(0)[1..];
    figure.chart(Chart::new("speed of the slider", "crank revolutions", "x' [m/s]").with(Series::lines(
        "x'",
        revolutions.to_vec(),
        ends,
    )));
    figure.chart(over_revolutions("impulse at corner 1".into(), "P [N s]", &run, run.column(8)));
    let last = |k: usize| run.column(k).last().copied().unwrap_or(f64::NAN);
    figure.check(Check::near("revolutions at t = 0.13757 s", last(0), (2.0, 5e-4), SPEC));
    figure.check(Check::near("speed of the crank there [rad/s]", last(3), (146.40, 0.03), SPEC));
    figure.check(Check::near("energy there [J]", last(7), (7.140, 0.004), SPEC));
    let first = run.column(8).iter().position(|p| *p > 0.0).map_or(f64::NAN, |k| run.column(0)[k]);
    figure.check(Check::near("first impact, in revolutions", first.min(first_touch(&run)), (0.0566, 5e-4), SPEC));
    Ok(figure)
}

/// Revolution at which a gap of the lower or upper wall first closes.
fn first_touch(run: &Trace) -> f64 {
    let closed = |k: usize| run.column(k).iter().position(|g| *g <= 0.0).map_or(f64::INFINITY, |at| run.column(0)[at]);
    closed(5).min(closed(6))
}

/// Figure 24: dimensionless y of the corners between the walls at ±1, for two steps.
pub fn corners(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let steps: &[f64] = if effort == Effort::Quick { &[1e-4, 1e-5] } else { &[1e-4, 1e-5, 1e-6] };
    let mut violations = Vec::new();
    for &h in steps {
        let run = crank(&moreau_jean(End), h)?;
        let y: Vec<f64> = run.column(2).iter().map(|y| y / CLEARANCE).collect();
        figure.chart(over_revolutions(format!("corners, h = {h:e}"), "y/c [-]", &run, &y));
        let turned = run.column(4).iter().fold(0.0f64, |m, x| m.max(x.abs()));
        figure.check(Check::below(
            format!("h = {h:e}: largest angle of the slider [rad]"),
            turned,
            1e-9,
            "symmetry: pure translation",
        ));
        figure.check(Check::between(format!("h = {h:e}: violation over h [m/s]"), run.violation / h, (0.6, 1.5), SPEC));
        violations.push(run.violation);
    }
    for (pair, h) in violations.windows(2).zip(steps) {
        figure.check(Check::between(
            format!("violation at h = {h:e} over that at a tenth"),
            pair[0] / pair[1],
            (6.0, 18.0),
            SPEC,
        ));
    }
    Ok(figure)
}

/// The three schemes of figures 25 and 26.
fn schemes() -> [(&'static str, Choice); 3] {
    [(PLAIN, moreau_jean(End)), ("direct projection", direct_explicit(0.0)), ("combined projection", combined(0.5))]
}

/// Name of the one that does not project.
const PLAIN: &str = "Moreau-Jean";

/// Figure 25: y against x of the slider.
pub fn portraits(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    for (name, scheme) in schemes() {
        let run = crank(&scheme, 1e-4)?;
        let series = Series::lines("centre of the slider", run.column(1).to_vec(), run.column(2).to_vec());
        figure.chart(Chart::new(name, "x [m]", "y [m]").with(series));
        if name == PLAIN {
            figure.check(Check::between("Moreau-Jean: violation over h [m/s]", run.violation / 1e-4, (0.6, 1.5), SPEC));
        } else {
            figure.check(Check::below(format!("{name}: violation [m]"), run.violation, 1e-10, SPEC));
        }
    }
    Ok(figure)
}

/// Figure 26: normal velocity at corner 1 over the first quarter of a revolution.
pub fn velocities(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let mut chatter = Vec::new();
    for (name, scheme) in schemes() {
        let run = crank(&scheme, 1e-4)?;
        let until = |end: f64| run.column(0).iter().position(|r| *r > end).unwrap_or(run.t.len());
        for (from, to) in [(0.0, 0.25), (0.15, 0.25)] {
            let range = until(from)..until(to);
            let series = Series::lines("u", run.column(0)[range.clone()].to_vec(), run.approach[range].to_vec());
            figure.chart(Chart::new(format!("{name} on [{from}, {to}]"), "crank revolutions", "U [m/s]").with(series));
        }
        // sign changes of the velocity while the contact should be closed
        let range = until(0.17)..until(0.2);
        let flips =
            run.approach[range].windows(2).filter(|u| u[0] * u[1] < 0.0 && u[0].abs().max(u[1].abs()) > 1e-6).count();
        chatter.push(flips as f64);
    }
    figure.check(Check::below(
        "Moreau-Jean: changes of sign of U on [0.17, 0.2]",
        chatter[0],
        0.0,
        "stated in the paper: smooth",
    ));
    figure.check(Check::between(
        "direct projection: changes of sign of U on [0.17, 0.2]",
        chatter[1],
        (2.0, f64::INFINITY),
        "stated in the paper: oscillatory",
    ));
    figure.check(Check::below(
        "combined projection: changes of sign of U on [0.17, 0.2]",
        chatter[2],
        0.0,
        "stated in the paper: smooth",
    ));
    Ok(figure)
}

/// Table 3.
pub fn efficiency(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        contradicted: Some(
            "the digits of the violations are those of a maximum over many impacts, h |U| (1 − s + 0.3), and depend on variants that the \
             report does not state (inertia of the rod, averaged forces); magnitude and order in h agree. Iterations are counted \
             differently: the report nests projection loops",
        ),
        ..Figure::default()
    };
    let steps: &[f64] = if effort == Effort::Quick { &[1e-4, 1e-5] } else { &[1e-4, 1e-5, 1e-6] };
    let mut rows = Vec::new();
    for (name, scheme) in schemes() {
        for &h in steps {
            let run = crank(&scheme, h)?;
            let iterations = run.statistics.iterations as f64 / run.statistics.steps as f64;
            rows.push((name.to_owned(), vec![h, run.violation, iterations]));
            if name == PLAIN {
                figure.check(Check::between(
                    format!("{name}, h = {h:e}: violation over h [m/s]"),
                    run.violation / h,
                    (0.6, 1.5),
                    SPEC,
                ));
            } else {
                figure.check(Check::below(format!("{name}, h = {h:e}: violation [m]"), run.violation, 1e-10, SPEC));
            }
        }
    }
    figure.data.push(crate::Data {
        name: "table 3".into(),
        header: ["h [s]", "violation [m]", "iterations per step"].map(String::from).to_vec(),
        rows: rows.iter().map(|row| row.1.clone()).collect(),
    });
    figure.table(
        "Violation and mean Newton iterations",
        &["scheme", "h [s]", "violation [m]", "iterations per step"],
        rows,
    );
    Ok(figure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_analysis::report::Block;

    /// An impulse of one step among ten thousand is in the chart and in the CSV.
    #[test]
    fn peaks_of_the_slider_crank_are_in_chart_and_data() {
        let figure = motion(Effort::Quick).unwrap();
        let run = crank(&moreau_jean(End), 1e-5).unwrap();
        let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::MIN, f64::max);
        let peak = largest(&mut run.column(8).iter().copied());
        let Some(Block::Chart(chart)) = figure.blocks.last() else { panic!("the last block is a chart") };
        assert_eq!(largest(&mut chart.series[0].y.iter().copied()), peak);
        let data = figure.data.iter().find(|data| data.name.starts_with("impulse")).unwrap();
        assert_eq!(largest(&mut data.rows.iter().map(|row| row[1])), peak);
    }
}
