//! The four-bar linkage under a torque: 5 s, tolerance 1e-10, steps between 1e-6 s and 1e-2 s.

use super::{FLOWS, SPEC, WORK, largest, scheme};
use crate::trace::{Change, Trace, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{Control, Drift, Flow};
use carom_analysis::report::{Chart, Series};
use carom_scene::scene::Choice;

const COLUMNS: [&str; 5] = ["gap.g1", "gap.g2", "output.rate1", "output.rate2", "output.invariant"];

const UNSTATED: &str = "the paper does not state the lengths of the bars (a family of two parameters fits its start), \
    and prints no numbers of the drift; what it says of both methods is met";

/// The limit of the drift in the paper [m, m/s], and the smallest step there [s].
const LIMIT: f64 = 1e-6;
const SMALLEST: f64 = 1e-6;

/// Both flows, with error per step.
fn runs(control: Control) -> Result<[Trace; 2], Trouble> {
    let run = |flow| {
        let scheme =
            EventDriven { atol: Some(1e-10), h_min: Some(SMALLEST), h_max: Some(1e-2), ..scheme(flow, control) };
        let change = Change { end: Some(5.0), step: Some(1e-2), ..Change::scheme(&Choice::scheme(&scheme)) };
        trace("four-bar", &change, &COLUMNS)
    };
    Ok([run(FLOWS[0])?, run(FLOWS[1])?])
}

fn drift(figure: &mut Figure, runs: &[Trace; 2], (first, label): (usize, &str)) {
    for column in first..first + 2 {
        let mut chart = Chart::over_time(COLUMNS[column], label);
        for ((name, _), run) in FLOWS.iter().zip(runs) {
            chart = chart.with(Series::lines(*name, run.t.clone(), run.column(column).to_vec()));
        }
        figure.chart(chart);
    }
}

/// The larger of two columns.
fn worst(run: &Trace, first: usize) -> f64 {
    largest(run.column(first).iter().chain(run.column(first + 1)))
}

/// Figure 2.
pub fn positions(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(UNSTATED), ..Figure::default() };
    let runs = runs(Control::Eps)?;
    drift(&mut figure, &runs, (0, "g [m]"));
    let [half_explicit, fehlberg] = [worst(&runs[0], 0), worst(&runs[1], 0)];
    figure.check(Check::below("HEM5: largest drift [m]", half_explicit, 1e-11, SPEC));
    figure.check(Check::between("RKF45: largest drift [m]", fehlberg, (2.3e-8 / 5.0, 2.3e-8 * 5.0), SPEC));
    let source = "stated in the paper: HEM5 reduces it drastically";
    figure.check(Check::between("ratio of the drifts", fehlberg / half_explicit, (1e3, f64::INFINITY), source));
    let source = "the limit stated in the paper, kept without a rule for it";
    figure.check(Check::below("RKF45: largest drift over the limit", fehlberg / LIMIT, 1.0, source));
    Ok(figure)
}

/// Figure 3.
pub fn velocities(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(UNSTATED), ..Figure::default() };
    let runs = runs(Control::Eps)?;
    drift(&mut figure, &runs, (2, "dg/dt [m/s]"));
    let source = "stated in the paper: HEM5 keeps it; rounding";
    figure.check(Check::below("HEM5: largest drift [m/s]", worst(&runs[0], 2), 1e-13, source));
    figure.check(Check::between("RKF45: largest drift [m/s]", worst(&runs[1], 2), (1.7e-8 / 5.0, 1.7e-8 * 5.0), SPEC));
    for (run, ((name, _), bound)) in runs.iter().zip(FLOWS.iter().zip([1e-10, 1e-6])) {
        let energy = run.column(4);
        let change = largest(&energy.iter().map(|e| e - energy[0]).collect::<Vec<_>>());
        figure.check(Check::below(format!("{name}: change of the invariant [J]"), change, bound, SPEC));
    }
    Ok(figure)
}

/// A run of Fehlberg's method that rejects steps by their drift: its trace, and the steps that are the smallest ones.
fn rejecting(tolerance: f64, h_max: f64, h_min: f64) -> Result<(Trace, f64), Trouble> {
    let (atol, drift_limit) = (Some(tolerance), Some(LIMIT));
    let (h_min, h_max, drift) = (Some(h_min), Some(h_max), Drift::Reject);
    let scheme = EventDriven { atol, h_min, h_max, drift_limit, drift, ..scheme(("", Flow::Rkf45), Control::Eps) };
    let change = Change { end: Some(5.0), step: h_max, ..Change::scheme(&Choice::scheme(&scheme)) };
    let run = trace("four-bar", &change, &COLUMNS)?;
    let least = run.t.windows(2).filter(|t| t[1] - t[0] < 1.01 * h_min.unwrap_or(0.0)).count();
    Ok((run, least as f64))
}

/// Figure 4.
pub fn steps(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        contradicted: Some(
            "that Fehlberg's method takes the smallest step throughout is not found and stays unexplained: its drift, \
             2.4e-8, is far below the limit of 1e-6, and with rejection by drift it takes the same steps. That rule \
             does drive it to the smallest step at looser tolerances, once the drift has accumulated to the limit. At \
             one tolerance it takes a third of the steps of HEM5; at equal errors HEM5 costs less, as stated",
        ),
        ..Figure::default()
    };
    let mut rows = Vec::new();
    let controls: &[(Control, &str, [f64; 2])] = match effort {
        Effort::Quick => &[(Control::Eps, "eps", [2791.0, 926.0])],
        Effort::Full => &[(Control::Eps, "eps", [2791.0, 926.0]), (Control::Epus, "epus", [15375.0, 3242.0])],
    };
    for (rule, control, expected) in controls {
        let mut chart = Chart::over_time(format!("step sizes, control {control}"), "h [s]");
        chart.log_y = true;
        for (((name, _), run), expected) in FLOWS.iter().zip(&runs(*rule)?).zip(expected) {
            let sizes = sizes(run);
            chart = chart.with(Series::steps(*name, run.t[..sizes.len()].to_vec(), sizes.clone()));
            rows.push(row(&format!("{name}, {control}"), &sizes));
            let what = format!("{name}, {control}: number of steps");
            figure.check(Check::near(what, sizes.len() as f64, (*expected, 0.25 * expected), SPEC));
            if *rule == Control::Eps {
                let what =
                    format!("{name}, {control}: smallest step over the smallest allowed; 1 in the paper for RKF45");
                // the last step is what is left of the span
                let least = sizes.iter().rev().skip(1).copied().fold(f64::INFINITY, f64::min);
                figure.check(Check::between(what, least / SMALLEST, (50.0, f64::INFINITY), SPEC));
            }
        }
        figure.chart(chart);
    }
    let (run, least) = rejecting(1e-10, 1e-2, SMALLEST)?;
    rows.push(row("RKF45, eps, steps rejected by their drift", &sizes(&run)));
    figure.check(Check::near(
        "rejecting by drift: number of steps",
        (run.t.len() - 1) as f64,
        (926.0, 0.25 * 926.0),
        SPEC,
    ));
    figure.check(Check::below(
        "rejecting by drift: steps of the smallest size",
        least,
        1.0,
        "the drift stays below the limit",
    ));
    // the rule at a looser tolerance: at the limit from about 4.33 s on
    let (run, least) = rejecting(1e-8, 0.1, 1e-3)?;
    let all = sizes(&run);
    rows.push(row("RKF45, eps, tolerance 1e-8, rejected by drift, at least 1 ms", &all));
    let stuck = all.iter().rev().skip(1).take_while(|h| **h < 1.01e-3).count();
    let from = run.t[all.len().saturating_sub(stuck + 1)];
    figure.check(Check::between("tolerance 1e-8, rejecting by drift: steps of 1 ms", least, (300.0, 800.0), SPEC));
    figure.check(Check::near(
        "tolerance 1e-8, rejecting by drift: at the smallest step from t [s]",
        from,
        (4.33, 0.25),
        SPEC,
    ));
    let series = Series::steps("RKF45, tolerance 1e-8, at least 1 ms", run.t[..all.len()].to_vec(), all);
    let mut chart = Chart::over_time("step sizes where the drift rejects them", "h [s]");
    chart.log_y = true;
    figure.chart(chart.with(series));
    at_equal_errors(&mut figure)?;
    figure.table("Steps over 5 s", &["run", "steps", "smallest [s]", "mean [s]", "largest [s]"], rows);
    Ok(figure)
}

fn sizes(run: &Trace) -> Vec<f64> {
    run.t.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// A row of the table of steps.
fn row(name: &str, sizes: &[f64]) -> (String, Vec<f64>) {
    let count = sizes.len() as f64;
    let least = sizes.iter().copied().fold(f64::INFINITY, f64::min);
    (name.to_owned(), vec![count, least, 5.0 / count, largest(sizes)])
}

/// Work and change of the invariant of HEM5 at a tolerance, and of Fehlberg's method that is as exact.
fn at_equal_errors(figure: &mut Figure) -> Result<(), Trouble> {
    let cost = |k: usize, tolerance: f64| -> Result<[f64; 2], Trouble> {
        let scheme = EventDriven { atol: Some(tolerance), h_max: Some(0.1), ..scheme(FLOWS[k], Control::Eps) };
        let change = Change { end: Some(5.0), step: Some(0.1), ..Change::scheme(&Choice::scheme(&scheme)) };
        let run = trace("four-bar", &change, &COLUMNS)?;
        let energy = run.column(4);
        let change = largest(&energy.iter().map(|e| e - energy[0]).collect::<Vec<_>>());
        Ok([WORK[k] * ((run.t.len() - 1) as f64 + run.statistics.rejected as f64), change])
    };
    let [half, error] = cost(0, 1e-8)?;
    let [fehlberg, miss] = cost(1, 1e-12)?;
    figure.check(Check::between(
        "error of the invariant: RKF45 at 1e-12 over HEM5 at 1e-8",
        miss / error,
        (1.0, f64::INFINITY),
        "so that the next number compares fairly",
    ));
    figure.check(Check::between(
        "work there: RKF45 over HEM5",
        fehlberg / half,
        (1.0, f64::INFINITY),
        "stated in the paper: HEM5 costs less",
    ));
    Ok(())
}
