//! The block that slides on one corner for 0.5 s.

use super::{FLOWS, SPEC, WORK, largest, scheme};
use crate::order::line;
use crate::trace::{Change, Trace, trace};
use crate::{Check, Data, Effort, Figure, Trouble};
use carom::elementary::log2;
use carom::scheme::EventDriven;
use carom::scheme::event_driven::Control;
use carom_analysis::report::{Chart, Series, SeriesStyle};
use carom_scene::scene::Choice;

const COLUMNS: [&str; 8] = ["q.x", "q.y", "q.theta", "v.x", "v.y", "v.theta", "gap.A", "output.rate"];

/// State at 0.5 s, from two step sizes of an independent implementation; x is closed.
const END: [f64; 6] = [0.5, 0.80006937231108, -0.10930865969692, 1.0, -0.77501945839694, 1.86662823989619];

const INCONSISTENT: &str = "the tables of the paper do not agree with themselves (work and average step give spans from 0.1 s to 6 s for a \
     stated 0.5 s), and its initial state is not stated; trends are comparable";

/// What a run shows.
struct Measured {
    error: f64,
    work: f64,
    mean: f64,
    drift: f64,
    rate: f64,
}

impl Measured {
    fn of(run: &Trace, flow: usize) -> Measured {
        let last = |k: usize| run.column(k).last().copied().unwrap_or(f64::NAN);
        let errors: Vec<f64> = END.iter().enumerate().map(|(k, end)| last(k) - end).collect();
        let steps = (run.t.len() - 1) as f64;
        let tries = steps + run.statistics.rejected as f64;
        Measured {
            error: largest(&errors),
            work: WORK[flow] * tries,
            mean: 0.5 / steps,
            drift: largest(run.column(6)),
            rate: largest(run.column(7)),
        }
    }
}

fn run(flow: usize, scheme: &EventDriven, step: f64) -> Result<Measured, Trouble> {
    let change = Change { step: Some(step), ..Change::scheme(&Choice::scheme(scheme)) };
    Ok(Measured::of(&trace("sliding-block", &change, &COLUMNS)?, flow))
}

/// With variable steps, the first of 0.05 s.
fn with_tolerance(flow: usize, control: Control, (atol, drift_limit): (f64, f64)) -> Result<Measured, Trouble> {
    let (first_step, h_min) = (Some(0.05), 1e-9);
    run(
        flow,
        &EventDriven {
            atol: Some(atol),
            drift_limit: Some(drift_limit),
            first_step,
            h_min: Some(h_min),
            ..scheme(FLOWS[flow], control)
        },
        0.5,
    )
}

fn tolerances(effort: Effort, finest: i32) -> Vec<f64> {
    let finest = if effort == Effort::Quick { finest.min(8) } else { finest };
    (2..=finest).map(|digits| 10f64.powi(-digits)).collect()
}

/// Figure 6a: HEM5 with error per step, Fehlberg with error per unit step.
pub fn work_precision(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(INCONSISTENT), ..Figure::default() };
    let mut chart = Chart::new("work and precision", "error at 0.5 s", "work").log_log();
    let expected: [&[(f64, f64, f64)]; 2] = [
        &[(1e-4, 234.0, 2.2e-6), (1e-6, 624.0, 1.7e-8), (1e-8, 1638.0, 1.2e-10), (1e-10, 4160.0, 9.6e-13)],
        &[(1e-6, 630.0, 1.1e-6), (1e-8, 1770.0, 1.1e-8), (1e-10, 5580.0, 1.1e-10)],
    ];
    for (flow, control) in [Control::Eps, Control::Epus].into_iter().enumerate() {
        let name = FLOWS[flow].0;
        let mut points = Vec::new();
        for tolerance in tolerances(effort, 10) {
            let m = with_tolerance(flow, control, (tolerance, 0.0))?;
            let known = expected[flow].iter().find(|known| (known.0 / tolerance - 1.0).abs() < 1e-6);
            if let Some(&(_, work, error)) = known {
                figure.check(Check::near(format!("{name}, {tolerance:.0e}: work"), m.work, (work, 0.4 * work), SPEC));
                let range = (error / 5.0, error * 5.0);
                figure.check(Check::between(format!("{name}, {tolerance:.0e}: error"), m.error, range, SPEC));
            }
            points.push((m.error, m.work));
        }
        let (errors, work) = points.into_iter().unzip();
        chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, errors, work));
    }
    figure.chart(chart);
    Ok(figure)
}

/// Figure 6b: fixed steps.
pub fn orders(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let steps: Vec<f64> = (4..=7).map(|k| 0.5f64.powi(k)).collect();
    let mut chart = Chart::new("error against step", "h [s]", "error at 0.5 s").log_log();
    for (flow, (order, slack, at)) in [(4.95, 0.1, 2.4e-9), (3.9, 0.15, 1.2e-7)].into_iter().enumerate() {
        let name = FLOWS[flow].0;
        let errors = steps.iter().map(|h| Ok(run(flow, &scheme(FLOWS[flow], Control::Fixed), *h)?.error));
        let errors = errors.collect::<Result<Vec<f64>, Trouble>>()?;
        let slope = log2(errors[1] / errors[3]) / 2.0;
        figure.check(Check::near(format!("{name}: order"), slope, (order, slack), SPEC));
        figure.check(Check::near(format!("{name}: error with h = 1/64"), errors[2], (at, 0.2 * at), SPEC));
        chart = chart.with(line(&format!("slope {}", 5 - flow), &steps, errors[0], 5.0 - flow as f64));
        chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, steps.clone(), errors));
    }
    figure.chart(chart);
    Ok(figure)
}

const HEADER: [&str; 6] =
    ["tolerance", "average h [s]", "work", "largest drift of g [m]", "largest drift of dg/dt [m/s]", "error"];

fn tabulate(figure: &mut Figure, title: &str, rows: Vec<(f64, Measured)>) {
    let numbers = |m: &Measured| vec![m.mean, m.work, m.drift, m.rate, m.error];
    let all = |(tolerance, m): &(f64, Measured)| [vec![*tolerance], numbers(m)].concat();
    let header = HEADER.map(String::from).to_vec();
    figure.data.push(Data { name: title.into(), header, rows: rows.iter().map(all).collect() });
    let rows = rows.iter().map(|(tolerance, m)| (format!("{tolerance:.0e}"), numbers(m))).collect();
    figure.table(title, &HEADER, rows);
}

/// Table 1.
pub fn half_explicit(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure { trend: Some(INCONSISTENT), ..Figure::default() };
    let mut rows = Vec::new();
    for tolerance in tolerances(effort, 11) {
        let m = with_tolerance(0, Control::Eps, (tolerance, 0.0))?;
        figure.check(Check::below(format!("{tolerance:.0e}: drift of dg/dt [m/s]"), m.rate, 1e-14, SPEC));
        figure.check(Check::below(format!("{tolerance:.0e}: error over tolerance"), m.error / tolerance, 0.1, SPEC));
        rows.push((tolerance, m));
    }
    for (tolerance, m) in &rows {
        let known = [(1e-4, 1.6e-7), (1e-6, 1.0e-9), (1e-8, 6.8e-12), (1e-10, 5.5e-14)];
        if let Some((_, drift)) = known.iter().find(|known| (known.0 / tolerance - 1.0).abs() < 1e-6) {
            let range = (drift / 5.0, drift * 5.0);
            figure.check(Check::between(format!("{tolerance:.0e}: drift of g [m]"), m.drift, range, SPEC));
        }
    }
    let works: Vec<f64> = rows.iter().map(|row| row.1.work).collect();
    let falls = works.windows(2).filter(|pair| pair[1] < pair[0]).count();
    figure.check(Check::below(
        "tolerances at which the work falls",
        falls as f64,
        0.0,
        "stated in the paper: it grows",
    ));
    tabulate(&mut figure, "HEM5", rows);
    Ok(figure)
}

/// Table 2, with error per step; the drift is kept below the tolerance by projections instead of rejections.
pub fn fehlberg(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        contradicted: Some(
            "steps that shrink without bound follow from rejecting by the drift, which accumulates: projected where it reaches the tolerance, \
             the method keeps its steps. The tables of the paper do not agree with themselves either (work and average step give 0.1 s to \
             1.5 s for a stated 0.5 s)",
        ),
        ..Figure::default()
    };
    let mut rows = Vec::new();
    for tolerance in tolerances(effort, 11) {
        let m = with_tolerance(1, Control::Eps, (tolerance, tolerance))?;
        let source = "the drift limit";
        figure.check(Check::below(
            format!("{tolerance:.0e}: drift of g over the limit"),
            m.drift / tolerance,
            1.0,
            source,
        ));
        let what = format!("{tolerance:.0e}: drift of dg/dt over the limit");
        figure.check(Check::below(what, m.rate / tolerance, 1.0, source));
        rows.push((tolerance, m));
    }
    // an error of order 5 per step: two digits cost at most a factor 10^(2/5), with some slack
    let works: Vec<f64> = rows.iter().map(|row| row.1.work).collect();
    let growth = works.windows(3).map(|w| w[2] / w[0]).fold(0.0, f64::max);
    figure.check(Check::below("growth of the work for two digits", growth, 5.0, "order of the error estimate"));
    tabulate(&mut figure, "Runge-Kutta-Fehlberg", rows);
    Ok(figure)
}
