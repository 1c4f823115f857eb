//! Points that slide over edges: a jump of curvature, and a kink.
//!
//! The systems of the paper are solved as they stand (`stage.rs`), and the whole motion is run by the scheme with the
//! problem that each of its two methods asks at the edge. For this the floor goes on below the second contact, as in
//! the paper: with a region for each part one contact alone is left behind the edge, and nothing has to be sorted out.

use super::SPEC;
use super::stage::{Gradients, REACH, Stage, sort};
use crate::trace::{Change, Trace, overrides};
use crate::{Check, Effort, Figure, Trouble};
use carom::scheme::EventDriven;
use carom::scheme::event_driven::{EdgeMethod, Flow};
use carom_analysis::report::{Chart, Series};
use carom_scene::scene::Choice;

/// Accelerations alone, and the two methods of the paper: stages of the flow, a velocity step.
const CONTACT: EdgeMethod = EdgeMethod::Contact;
const METHODS: [(EdgeMethod, &str); 2] = [(EdgeMethod::Lcp, "stage LCP"), (EdgeMethod::Sort, "sorting")];

const CLOSED: &str = "closed form";
const PRINTED: &str = "the paper's own system, section 4";

/// Weight and speed at the edge.
const WEIGHT: f64 = 9.81;
const SPEED: [f64; 2] = [0.0, 2.0];

/// Columns: place, velocity, energy, and the forces of both contacts.
const COLUMNS: [&str; 5] = ["q.z", "q.x", "v.z", "v.x", "energy.total"];

/// The region that the floor has in the examples.
const REGION: &str = "where = \"x < 0\"\n";

/// A run of an example whose floor does not end at the edge.
fn run(example: &str, edge: EdgeMethod, end: f64, forces: [&str; 2]) -> Result<Trace, Trouble> {
    let scheme = EventDriven { flow: Flow::Hem5, atol: Some(1e-12), rtol: 0.0, edge, ..EventDriven::default() };
    let change = Change { end: Some(end), ..Change::scheme(&Choice::scheme(&scheme)) };
    let text = carom_scene::examples::find(example).filter(|text| text.contains(REGION));
    let text = text.ok_or_else(|| Trouble(format!("`{example}` has no floor that ends")))?.replace(REGION, "");
    let scene = carom_scene::from_str(example, &text, &overrides(&change));
    let scene = scene.map_err(|all| Trouble(all.iter().map(ToString::to_string).collect()))?;
    Trace::of(&scene, &[&COLUMNS[..], &forces].concat())
}

/// A column with the value before each jump.
fn with_jumps(run: &Trace, k: usize, before: impl Fn(f64) -> Option<f64>) -> Series {
    let (mut t, mut y) = (Vec::new(), Vec::new());
    for (at, value) in run.t.iter().zip(run.column(k)) {
        if let Some(earlier) = before(*at) {
            t.push(*at);
            y.push(earlier);
        }
        t.push(*at);
        y.push(*value);
    }
    Series::lines(COLUMNS[k], t, y)
}

/// Differences of the state at the end of a run.
fn miss(run: &Trace, expected: [f64; 4]) -> f64 {
    let last = |k: usize| run.column(k).last().copied().unwrap_or(f64::NAN);
    let errors: Vec<f64> = (0..4).map(|k| last(k) - expected[k]).collect();
    super::largest(&errors)
}

/// The paths of both figures.
fn path(figure: &mut Figure, run: &Trace) {
    let series = Series::lines("point", run.column(1).to_vec(), run.column(0).to_vec());
    figure.chart(Chart::new("path", "x [m]", "z [m]").with(series));
}

/// Checks one problem of an edge: both multipliers, and both slacks.
fn check_lcp(
    figure: &mut Figure,
    what: &str,
    stage: &Stage,
    expected: [[f64; 2]; 2],
    source: &'static str,
) -> Result<(), Trouble> {
    let found = stage.lcp()?;
    for (name, found, expected) in [("Λ", found.lambda, expected[0]), ("slack", found.slack, expected[1])] {
        for (k, (found, expected)) in found.into_iter().zip(expected).enumerate() {
            let what = format!("{what}: {name}{} by Lemke's method", k + 1);
            figure.check(Check::near(what, found, (expected, 1e-9 * expected.abs().max(1.0)), source));
        }
    }
    Ok(())
}

/// Figure 7a: flat floor and parabola. Position and velocity are continuous, the acceleration jumps from 0 to 8 m/s².
pub fn curvature(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "the paper prints one system (7) and no numbers of a motion; its system and what it says of both ways out \
             are confirmed. (13) is printed with the acceleration where the slack of the constraint belongs",
        ),
        ..Figure::default()
    };
    // the system that the paper prints
    let printed = Stage {
        gradients: [[[1.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [1.0, 6.65031e-5]]],
        force: [-WEIGHT, 0.0],
        r: [-3.62238e-2, 44.1971],
    };
    let what = "printed system (7): rank, of 4";
    figure.check(Check::between(what, printed.rank() as f64, (3.0, 3.0), "stated in the paper: not well posed"));
    let what = "printed system (7): contradiction of both constraints";
    figure.check(Check::near(what, printed.contradiction(), (44.1971 + 3.62238e-2, 1e-9), PRINTED));
    let expected = [[0.0, 44.1971 + WEIGHT], [44.1971 + 3.62238e-2, 0.0]];
    check_lcp(&mut figure, "printed system as (13)", &printed, expected, PRINTED)?;
    // the same at our edge, where both problems are known by hand
    let parabola = |x: f64| -> Gradients { [[1.0, 0.0], [1.0, -2.0 * x]] };
    let stage = Stage::first(parabola, SPEED, 1e-2, WEIGHT);
    figure.check(Check::between("flat and parabola: rank of (7), of 4", stage.rank() as f64, (3.0, 3.0), CLOSED));
    let expected = [[0.0, WEIGHT + 8.0], [8.0, 0.0]];
    check_lcp(&mut figure, "flat and parabola", &stage, expected, CLOSED)?;
    for h in [1e-3, 1e-4] {
        let found = sort(parabola, SPEED, h, WEIGHT)?;
        let set = found.lambda.map(|p| f64::from(u8::from(p > 1e-9 * h)));
        let what = format!("sorting with h = {h:e}: contacts that carry, the flat 1 and the parabola 2");
        figure.check(Check::between(what, set[0] + 2.0 * set[1], (2.0, 2.0), "stated in the paper: it decides"));
    }
    motion_over_the_edge(&mut figure)?;
    Ok(figure)
}

/// The motion by the scheme: the jump of force and acceleration, and what each method makes of it.
fn motion_over_the_edge(figure: &mut Figure) -> Result<(), Trouble> {
    let forces = ["force.flat", "force.parabola"];
    let plain = run("parabola-edge", CONTACT, 0.7, forces)?;
    let whole = run("parabola-edge", CONTACT, 1.0, forces)?;
    let states = [
        (0.7, [0.109712542119, 0.331228836484, 0.750646581305, 1.133123838601]),
        (1.0, [0.189437104480, 0.435243729972, -0.349433492173, -0.401422775459]),
    ];
    figure.check(Check::below("z, x and rates at 0.7 s: error", miss(&plain, states[0].1), 1e-9, SPEC));
    figure.check(Check::below("z, x and rates at 1 s: error", miss(&whole, states[1].1), 1e-9, SPEC));
    let turn = whole.events.iter().find(|event| event.name == "turning-point").map_or(f64::NAN, |event| event.t);
    figure.check(Check::near("turning point [s]", turn, (0.918507065313, 1e-8), SPEC));
    let energy = whole.column(4);
    let change = energy.iter().fold(0.0f64, |m, e| m.max((e - energy[0]).abs()));
    figure.check(Check::below("change of energy [J]", change, 1e-9, CLOSED));
    for (edge, method) in METHODS {
        let run = run("parabola-edge", edge, 0.7, forces)?;
        let asked = run.statistics.solves as f64 - plain.statistics.solves as f64;
        let what = format!("{method}: problems asked at the edge, beyond those of accelerations");
        figure.check(Check::between(what, asked, (1.0, 1.0), "one edge is passed"));
        let what = format!("{method}: z, x and rates at 0.7 s: error");
        figure.check(Check::below(what, miss(&run, states[0].1), 1e-9, SPEC));
    }
    // on the parabola λ = (g + 2 x'²)/(1 + 4 x²), on the flat g
    let exact = |k: usize| {
        let (x, v) = (whole.column(1)[k], whole.column(3)[k]);
        if whole.t[k] <= 0.5 + 1e-9 { [WEIGHT, 0.0] } else { [0.0, (WEIGHT + 2.0 * v * v) / (1.0 + 4.0 * x * x)] }
    };
    let rows = || 1..whole.t.len();
    let error = |i: usize| super::largest(&rows().map(|k| whole.column(5 + i)[k] - exact(k)[i]).collect::<Vec<f64>>());
    figure.check(Check::below("force of the flat: largest error [N]", error(0), 1e-8, CLOSED));
    figure.check(Check::below("force of the parabola: largest error [N]", error(1), 1e-8, CLOSED));
    let behind = rows().find(|k| whole.t[*k] > 0.5 + 1e-9).unwrap_or(0);
    let before = rows().rev().find(|k| whole.t[*k] <= 0.5 + 1e-9).unwrap_or(0);
    // just behind the edge: the first value on the parabola, carried back by its own formula
    let (x, v) = (whole.column(1)[behind], whole.column(3)[behind]);
    let jump = whole.column(6)[behind] * (1.0 + 4.0 * x * x) + 2.0 * (4.0 - v * v) - whole.column(5)[before];
    figure.check(Check::near("jump of the contact force at the edge [N]", jump, (8.0, 1e-7), "closed form: 2 x'²"));
    path(figure, &whole);
    let velocities = Chart::over_time("velocities", "velocity [m/s]");
    figure.chart(velocities.with(with_jumps(&whole, 2, |_| None)).with(with_jumps(&whole, 3, |_| None)));
    // the force of each contact in its turn, with both values at the edge
    let (mut t, mut force) = (vec![0.0], vec![WEIGHT]);
    for k in rows() {
        if k == behind {
            t.push(0.5);
            force.push(WEIGHT + 8.0);
        }
        t.push(whole.t[k]);
        force.push(if k < behind { whole.column(5)[k] } else { whole.column(6)[k] });
    }
    figure.chart(Chart::over_time("contact force", "λ [N]").with(Series::lines("λ", t.clone(), force.clone())));
    let acceleration = force.iter().map(|f| f - WEIGHT).collect();
    figure.chart(Chart::over_time("acceleration upwards", "z'' [m/s²]").with(Series::lines("z''", t, acceleration)));
    Ok(())
}

/// Figure 7b: flat floor and ramp of 30°. The edge is an impact: speed times cos 30°, a quarter of the kinetic energy
/// is lost.
pub fn kink(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        contradicted: Some(
            "the text does not describe the figure; an edge whose normals differ is taken, a ramp of 30° behind a \
             flat. There the multiplier of (13) grows like 1/h: it is the impulse of a plastic impact over a₂₁ h, and \
             there is no contact force that it could estimate. The velocity behind the edge is right, and so is the \
             contact that sorting picks",
        ),
        ..Figure::default()
    };
    let slope = 1.0 / 3.0f64.sqrt();
    let ramp = |_: f64| -> Gradients { [[1.0, 0.0], [1.0, -slope]] };
    let impulse = 2.0 * slope / (1.0 + slope * slope);
    let steps = [1e-2, 1e-4, 1e-6];
    let mut multipliers = Vec::new();
    for h in steps {
        let stage = Stage::first(ramp, SPEED, h, WEIGHT);
        let found = stage.lcp()?;
        multipliers.push(found.lambda[1]);
        // P = h a₂₁ Λ, and what gravity adds to it in the stage
        let expected = (impulse + REACH * h * WEIGHT / (1.0 + slope * slope), 1e-9);
        let what = format!("(13) with h = {h:e}: h a₂₁ Λ2 [N s]");
        figure.check(Check::near(what, REACH * h * found.lambda[1], expected, "closed form: a plastic impact"));
        figure.check(Check::below(format!("(13) with h = {h:e}: Λ1 [N]"), found.lambda[0].abs(), 1e-9, CLOSED));
        let sorted = sort(ramp, SPEED, h, WEIGHT)?;
        let set = sorted.lambda.map(|p| f64::from(u8::from(p > 1e-9)));
        let what = format!("sorting with h = {h:e}: contacts that carry, the flat 1 and the ramp 2");
        figure.check(Check::between(what, set[0] + 2.0 * set[1], (2.0, 2.0), "stated in the paper: it decides"));
    }
    let growth = multipliers[2] / multipliers[0];
    let what = "(13): multiplier with h = 1e-6 over that with 1e-2";
    figure.check(Check::near(what, growth, (1e4, 100.0), "closed form: 1/h, and gravity"));
    let forces = ["force.flat", "force.ramp"];
    for (edge, method) in [(CONTACT, "accelerations"), METHODS[0], METHODS[1]] {
        let run = run("kinked-table", edge, 0.6, forces)?;
        let jump = run.events.iter().find(|event| event.kind == "impact" && event.contact.as_deref() == Some("ramp"));
        let velocity = |k: usize| jump.and_then(|event| event.after.v.get(k)).copied().unwrap_or(f64::NAN);
        let off = (velocity(0) - 0.75f64.sqrt()).abs().max((velocity(1) - 1.5).abs());
        figure.check(Check::below(format!("{method}: velocity behind the kink, error [m/s]"), off, 1e-9, CLOSED));
        let last = |k: usize| run.column(k).last().copied().unwrap_or(f64::NAN);
        let expected = 0.15 - 9.81 * 0.75f64.sqrt() * 0.5 * 0.005;
        figure.check(Check::near(format!("{method}: x at 0.6 s"), last(1), (expected, 1e-9), CLOSED));
        if edge == CONTACT {
            let ratio = 0.25 * (velocity(0).powi(2) + velocity(1).powi(2));
            figure.check(Check::near("kinetic energy after over before", ratio, (0.75, 1e-9), CLOSED));
            path(&mut figure, &run);
            let at = jump.map_or(f64::NAN, |event| event.t);
            let before = |k: usize| {
                let value = jump.and_then(|event| event.before.v.get(k)).copied();
                move |t: f64| value.filter(|_| (t - at).abs() < 1e-12)
            };
            let chart = Chart::over_time("velocities", "velocity [m/s]");
            figure.chart(chart.with(with_jumps(&run, 2, before(0))).with(with_jumps(&run, 3, before(1))));
        }
    }
    let series = Series::new("Λ2", carom_analysis::report::SeriesStyle::LinesAndMarkers, steps.to_vec(), multipliers);
    figure.chart(Chart::new("multiplier of (13) at the kink", "h [s]", "Λ [N]").log_log().with(series));
    Ok(figure)
}
