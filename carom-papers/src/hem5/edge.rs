//! Points that slide over edges: a jump of curvature, and a kink.

use super::SPEC;
use crate::trace::{Change, trace};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{EdgeMethod, Flow};
use carom_analysis::report::{Chart, Series};
use carom_scene::scene::Choice;

/// The ways to choose the contacts behind an edge: accelerations, stages of the flow, a velocity step.
const METHODS: [(EdgeMethod, &str); 3] =
    [(EdgeMethod::Contact, "contact"), (EdgeMethod::Lcp, "lcp"), (EdgeMethod::Sort, "sort")];

const CLOSED: &str = "closed form";

fn scheme(edge: EdgeMethod) -> Choice {
    Choice::scheme(&EventDriven { flow: Flow::Hem5, atol: Some(1e-12), rtol: 0.0, edge, ..EventDriven::default() })
}

/// Figure 7a: flat floor and parabola. Position and velocity are continuous, the acceleration jumps from 0 to 8 m/s².
pub fn curvature(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let columns = ["q.z", "q.x", "v.z", "v.x", "energy.total"];
    for (edge, method) in METHODS {
        let scheme = scheme(edge);
        let middle = trace("parabola-edge", &Change { end: Some(0.7), ..Change::scheme(&scheme) }, &columns)?;
        let last = |k: usize| middle.column(k).last().copied().unwrap_or(f64::NAN);
        let expected = [0.109712542119, 0.331228836484, 0.750646581305, 1.133123838601];
        for (k, expected) in expected.into_iter().enumerate() {
            figure.check(Check::near(format!("{method}: {} at 0.7 s", columns[k]), last(k), (expected, 1e-9), SPEC));
        }
        let run = trace("parabola-edge", &Change { end: Some(1.0), ..Change::scheme(&scheme) }, &columns)?;
        let turn = run.events.iter().find(|event| event.name == "turning-point").map_or(f64::NAN, |event| event.t);
        figure.check(Check::near(format!("{method}: turning point [s]"), turn, (0.918507065313, 1e-8), SPEC));
        let energy = run.column(4);
        let change = energy.iter().fold(0.0f64, |m, e| m.max((e - energy[0]).abs()));
        figure.check(Check::below(format!("{method}: change of energy [J]"), change, 1e-9, CLOSED));
        if edge == METHODS[0].0 {
            let series = Series::lines("point", run.column(1).to_vec(), run.column(0).to_vec());
            figure.chart(Chart::new("path", "x [m]", "z [m]").with(series));
            let mut chart = Chart::over_time("velocities", "velocity [m/s]");
            for k in [2, 3] {
                chart = chart.with(Series::lines(columns[k], run.t.clone(), run.column(k).to_vec()));
            }
            figure.chart(chart);
        }
    }
    Ok(figure)
}

/// Figure 7b: flat floor and ramp of 30°. The edge is an impact: speed times cos 30°, a quarter of the kinetic energy
/// is lost.
pub fn kink(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure::default();
    let columns = ["q.z", "q.x", "v.z", "v.x", "energy.kinetic"];
    for (edge, method) in METHODS {
        let scheme = scheme(edge);
        let run = trace("kinked-table", &Change::scheme(&scheme), &columns)?;
        let jump = run.events.iter().find(|event| event.kind == "impact" && event.contact.as_deref() == Some("ramp"));
        let velocity = |k: usize| jump.and_then(|event| event.after.v.get(k)).copied().unwrap_or(f64::NAN);
        figure.check(Check::near(format!("{method}: z' behind the kink"), velocity(0), (0.75f64.sqrt(), 1e-9), CLOSED));
        figure.check(Check::near(format!("{method}: x' behind the kink"), velocity(1), (1.5, 1e-9), CLOSED));
        let ratio = 0.25 * (velocity(0).powi(2) + velocity(1).powi(2));
        figure.check(Check::near(format!("{method}: kinetic energy after over before"), ratio, (0.75, 1e-9), CLOSED));
        let last = |k: usize| run.column(k).last().copied().unwrap_or(f64::NAN);
        let expected = 0.15 - 9.81 * 0.75f64.sqrt() * 0.5 * 0.005;
        figure.check(Check::near(format!("{method}: x at 0.6 s"), last(1), (expected, 1e-9), CLOSED));
        if edge == METHODS[0].0 {
            let series = Series::lines("point", run.column(1).to_vec(), run.column(0).to_vec());
            figure.chart(Chart::new("path", "x [m]", "z [m]").with(series));
            let mut chart = Chart::over_time("velocities", "velocity [m/s]");
            for k in [2, 3] {
                chart = chart.with(Series::steps(columns[k], run.t.clone(), run.column(k).to_vec()));
            }
            figure.chart(chart);
        }
    }
    Ok(figure)
}
