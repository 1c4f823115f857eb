//! Beyond the paper: between impacts no constraint acts, and a method of order 8 does the same work with fewer
//! evaluations.

use crate::trace::{Change, trace};
use crate::{Check, Data, Effort, Figure, Trouble};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::Flow;
use carom_analysis::report::{Chart, Series, SeriesStyle};
use carom_scene::scene::Choice;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

const CLOSED: &str = "closed form: impacts at π/4 s and every π/2 s after it";

/// The flows by name; Fehlberg's pair with its better result.
const FLOWS: [(&str, Flow); 3] = [("HEM5", Flow::Hem5), ("RKF45, y5", Flow::Rkf45), ("DOP853", Flow::Dop853)];

const END: f64 = 20.0;

/// Evaluations of forces, and the largest error of an impact time.
fn run(flow: Flow, tolerance: f64) -> Result<[f64; 2], Trouble> {
    let scheme =
        Choice::scheme(&EventDriven { flow, atol: Some(tolerance), rtol: tolerance, ..EventDriven::default() });
    let set = [("damping", 0.0), ("restitution", 1.0)];
    let change = Change { set: &set, step: Some(END), end: Some(END), ..Change::scheme(&scheme) };
    let run = trace("linear-oscillator", &change, &["q.q"])?;
    let times = run.events.iter().filter(|event| event.kind == "impact").map(|event| event.t);
    let errors = times.enumerate().map(|(n, t)| (t - FRAC_PI_4 - n as f64 * FRAC_PI_2).abs());
    Ok([run.statistics.evaluations as f64, errors.fold(0.0, f64::max)])
}

/// Work and precision of an oscillator that strikes its stop with all its speed, 13 times.
pub fn work_precision(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let mut chart = Chart::new("work and precision", "error of impact times [s]", "evaluations of forces").log_log();
    let tolerances: &[f64] = match effort {
        Effort::Quick => &[1e-4, 1e-6, 1e-9],
        Effort::Full => &[1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12],
    };
    let header = ["tolerance", "evaluations", "error of impact times [s]"];
    let mut at_nine = [0.0; 3];
    for (k, (name, flow)) in FLOWS.into_iter().enumerate() {
        let runs = tolerances.iter().map(|&tolerance| run(flow, tolerance)).collect::<Result<Vec<_>, _>>()?;
        for (tolerance, [work, error]) in tolerances.iter().zip(&runs) {
            if flow == Flow::Dop853 && *tolerance < 2e-4 {
                figure.check(Check::below(
                    format!("{name}, {tolerance:.0e}: error over tolerance"),
                    error / tolerance,
                    10.0,
                    CLOSED,
                ));
            }
            if *tolerance == 1e-9 {
                at_nine[k] = *work;
            }
        }
        let rows = tolerances.iter().zip(&runs).map(|(tolerance, [work, error])| vec![*tolerance, *work, *error]);
        let names = header.map(String::from).to_vec();
        figure.data.push(Data { name: name.into(), header: names, rows: rows.collect() });
        let rows = tolerances.iter().zip(&runs).map(|(tolerance, run)| (format!("{tolerance:.0e}"), run.to_vec()));
        figure.table(name, &header, rows.collect());
        let (work, errors) = runs.iter().map(|[work, error]| (*work, *error)).unzip();
        chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, errors, work));
    }
    let source = "a method of order 8 against methods of order 5";
    figure.check(Check::below("1e-9: work of DOP853 over that of HEM5", at_nine[2] / at_nine[0], 0.25, source));
    figure.check(Check::below("1e-9: work of DOP853 over that of RKF45", at_nine[2] / at_nine[1], 0.5, source));
    figure.chart(chart);
    Ok(figure)
}
