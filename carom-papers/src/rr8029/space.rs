//! The slider-crank in space: three bodies with unit quaternions, a pin with two rims in its hole, a round slider.

use super::SPEC;
use crate::film::Film;
use crate::picture::picture;
use crate::trace::{Change, scene};
use crate::{Check, Effort, Figure, Trouble};
use carom::elementary::{atan2, hypot};
use carom::scheme::{Bound, CombinedProjection};
use carom::simulation::FixedStep;
use carom::testbed::multibody::SliderCrank;
use carom::{Simulation, State};
use carom_analysis::report::{Chart, Series};
use std::f64::consts::PI;

/// Play of the pin [m].
const PLAY: f64 = 5e-4;
/// Length of the arrow of a force [m/N].
const ARROW: f64 = 2.5e-4;

/// Axis `i` of a body whose pose is x, y, z and a unit quaternion.
pub(super) fn axis(q: &[f64], i: usize) -> [f64; 3] {
    let [a, b, c, d] = [q[3], q[4], q[5], q[6]];
    match i {
        0 => [1.0 - 2.0 * (c * c + d * d), 2.0 * (b * c + a * d), 2.0 * (b * d - a * c)],
        1 => [2.0 * (b * c - a * d), 1.0 - 2.0 * (b * b + d * d), 2.0 * (c * d + a * b)],
        _ => [2.0 * (b * d + a * c), 2.0 * (c * d - a * b), 1.0 - 2.0 * (b * b + c * c)],
    }
}

/// A point on the x axis of a body.
fn along(q: &[f64], s: f64) -> [f64; 3] {
    let x = axis(q, 0);
    [q[0] + s * x[0], q[1] + s * x[1], q[2] + s * x[2]]
}

/// Sine of the angle between the axes of hole and pin.
fn tilt(state: &State) -> f64 {
    let (a, b) = (axis(&state.q[0..7], 2), axis(&state.q[7..14], 2));
    let cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    cross.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Runs until the crank has made two turns, or until `end`.
fn run(system: &SliderCrank, h: f64, end: f64) -> Result<Film, Trouble> {
    let trouble = |e: &dyn std::fmt::Display| Trouble(e.to_string());
    let model = system.describe().build().map_err(|e| trouble(&e))?;
    // two rims carry one force: their impulses are found to fewer digits than those of one contact
    let scheme = CombinedProjection { newton_tolerance: 1e-8, ..CombinedProjection::default() };
    let stepper = Bound::new(scheme, Box::new(model), carom::solver::default()).map_err(|e| trouble(&e))?;
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).map_err(|e| trouble(&e))?;
    let (mut turned, mut last) = (0.0, 0.0);
    let mut goes_on = |state: &State| {
        let x = axis(&state.q[0..7], 0);
        let angle = atan2(x[1], x[0]);
        turned += (angle - last + PI).rem_euclid(2.0 * PI) - PI;
        last = angle;
        turned < 4.0 * PI
    };
    Film::of(&mut simulation, &mut goes_on)
}

/// The picture: three views with the force on the rod in the pin, as it is at the end of a run.
fn draw(figure: &mut Figure, film: &Film, h: f64) -> Result<(), Trouble> {
    let scene = scene("slider-crank-play-3d", &Change::default())?;
    let state = film.last()?;
    let normal = (film.law("pin.rim.1")?, film.law("pin.rim.2")?);
    let impulses = film.impulses.last().map_or(0.0, |p| p[normal.0][0] + p[normal.1][0]);
    let tip = along(&state.q[0..7], 0.5 * SliderCrank::CRANK);
    let pin = along(&state.q[7..14], -0.5 * SliderCrank::ROD);
    let off = [pin[0] - tip[0], pin[1] - tip[1]];
    let scale = ARROW * impulses / h / hypot(off[0], off[1]).max(f64::MIN_POSITIVE);
    let arrow =
        Series::lines("force on the rod", vec![pin[0], pin[0] - scale * off[0]], vec![pin[1], pin[1] - scale * off[1]]);
    let title = "slider-crank in space: x-y, x-z and y-z";
    picture(figure, title, &scene, state, vec![arrow])
}

/// Figure 27.
pub fn view(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "the CAD model of the report is not given: bodies of Table 2, a pin of 20 mm length with two rims in \
             a hole of 10 mm radius, and a round slider stand for it, kicked out of its plane by 1 rad/s; the \
             arrow is the force of the hole on the rod",
        ),
        ..Figure::default()
    };
    let (h, end) = (1e-5, if effort == Effort::Full { 0.18 } else { 0.02 });
    // out of the plane by a kick of 1 rad/s: an exactly planar start leaves the forces of the rims open
    let film = run(&SliderCrank { is_planar: false, play: Some(PLAY), kick: 1.0 }, h, end)?;
    draw(&mut figure, &film, h)?;
    let t: Vec<f64> = film.states.iter().map(|s| s.t).collect();
    let out: Vec<f64> = film.states.iter().map(|s| s.q[7 + 2]).collect();
    let tilts: Vec<f64> = film.states.iter().map(tilt).collect();
    let largest = |values: &[f64]| values.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let bound = 2.0 * PLAY / SliderCrank::BEARING;
    let source = "stated in the paper: out-of-plane motion; tilt at most 2 r over the length of the bearing";
    figure.check(Check::between("tilt of the pin [rad]", largest(&tilts), (1e-4, 1.001 * bound), source));
    figure.check(Check::between("rod out of the plane [m]", largest(&out), (1e-5, f64::INFINITY), source));
    figure.check(Check::below("penetration [m]", -film.least_gap, 1e-10, "tolerance of the paper"));
    if effort == Effort::Full {
        let last = film.last()?.t;
        figure.check(Check::near("two revolutions at t [s]", last, (0.14127, 5e-4), SPEC));
        figure.check(Check::near(
            "energy there [J]",
            film.energy.last().copied().unwrap_or(f64::NAN),
            (6.755, 0.03),
            SPEC,
        ));
    }
    figure.chart(Chart::over_time("rod out of the plane", "z [m]").with(Series::lines("z", t.clone(), out)));
    figure.chart(Chart::over_time("tilt of the pin in its hole", "tilt [rad]").with(Series::lines("tilt", t, tilts)));
    check_ideal(&mut figure)?;
    parameters(&mut figure);
    Ok(figure)
}

/// An ideal pin in space: the motion of section 6.4.1.
fn check_ideal(figure: &mut Figure) -> Result<(), Trouble> {
    let film = run(&SliderCrank { is_planar: false, ..SliderCrank::default() }, 1e-4, 0.18)?;
    let source = "stated in the paper: as with minimal coordinates; independent implementation, h = 1e-4 s";
    let last = film.last()?;
    figure.check(Check::near("ideal pin: two revolutions at t [s]", last.t, (0.13760, 2e-4), source));
    figure.check(Check::near("ideal pin: speed of the crank there [rad/s]", last.v[5], (146.398, 0.02), source));
    let energy = film.energy.last().copied().unwrap_or(f64::NAN);
    figure.check(Check::near("ideal pin: energy there [J]", energy, (7.1454, 2e-3), source));
    Ok(())
}

fn parameters(figure: &mut Figure) {
    let (m, j) = (SliderCrank::MASSES, SliderCrank::INERTIAS);
    let length = [SliderCrank::CRANK, SliderCrank::ROD, 2.0 * SliderCrank::SLIDER[0]];
    let rows: Vec<(String, Vec<f64>)> = ["crank", "rod", "slider"]
        .iter()
        .enumerate()
        .map(|(i, name)| ((*name).into(), vec![length[i], m[i], j[i]]))
        .collect();
    figure.data.push(crate::Data {
        name: "bodies".into(),
        header: ["length [m]", "mass [kg]", "Jz [kg m²]"].map(String::from).to_vec(),
        rows: rows.iter().map(|row| row.1.clone()).collect(),
    });
    figure.table("Bodies", &["body", "length [m]", "mass [kg]", "Jz [kg m²]"], rows);
    let plays = [
        ("pin in the hole of the crank", vec![SliderCrank::HOLE, PLAY, 0.0, 0.01]),
        ("slider in its bore", vec![SliderCrank::SLIDER[1] + SliderCrank::GUIDE, SliderCrank::GUIDE, 0.4, 0.01]),
    ];
    let rows = plays.into_iter().map(|(name, row)| (name.to_owned(), row)).collect();
    figure.table("Play", &["contact", "radius [m]", "play [m]", "restitution", "friction"], rows);
}
