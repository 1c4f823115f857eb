//! Spatial motions in closed form, for tests of reports and files.
#![allow(dead_code)] // not every test that includes this file uses all of it

use carom_analysis::report::{
    Chart, Colour, Hinge, Lane, Mesh, Part, Push, Reactions, Report, RunPage, Series, SeriesStyle, Solid, Space,
    SpaceBody, Spot, Values,
};
use std::sync::Arc;

pub const GRAVITY: f64 = 9.81;
/// Length of the run, restitution and height of the first drop.
pub const END: f64 = 2.0;
const RESTITUTION: f64 = 0.7;

/// Height of the lowest point of a ball dropped from 1 m, and the times of its impacts.
pub fn height(t: f64) -> f64 {
    let mut start = -(2.0 / GRAVITY).sqrt();
    let mut speed = (2.0 * GRAVITY).sqrt();
    while t >= start + 2.0 * speed / GRAVITY {
        start += 2.0 * speed / GRAVITY;
        speed *= RESTITUTION;
        if speed < 1e-3 {
            return 0.0;
        }
    }
    speed * (t - start) - GRAVITY / 2.0 * (t - start).powi(2)
}

pub fn impacts() -> Vec<f64> {
    let first = (2.0 / GRAVITY).sqrt();
    (0..8)
        .map(|k| first * (1.0 + 2.0 * (1..=k).map(|i| RESTITUTION.powi(i)).sum::<f64>()))
        .filter(|t| *t < END)
        .collect()
}

/// Every kind of solid.
pub fn solids() -> Vec<(&'static str, Solid)> {
    let outline: Vec<[f64; 2]> = [[0.2, 0.0], [0.05, 0.05], [0.0, 0.2], [-0.15, 0.0], [0.0, -0.15]].to_vec();
    vec![
        ("sphere", Solid::Sphere { radius: 0.15 }),
        ("block", Solid::Block { half: [0.2, 0.12, 0.08] }),
        ("cylinder", Solid::Cylinder { radius: 0.12, half: 0.15 }),
        ("disc", Solid::Cylinder { radius: 0.15, half: 0.0 }),
        ("capsule", Solid::Capsule { radius: 0.08, half: 0.15 }),
        ("ellipsoid", Solid::Ellipsoid { half: [0.2, 0.1, 0.15] }),
        ("torus", Solid::Torus { radius: 0.15, tube: 0.05 }),
        ("sheet", Solid::Sheet { half: [0.15, 0.1] }),
        ("bore", Solid::Bore { radius: 0.1, half: 0.15 }),
        ("socket", Solid::Socket { radius: 0.14 }),
        ("slot", Solid::Slot { radius: 0.06, half: 0.1, depth: 0.08 }),
        ("mesh", Solid::Mesh(Arc::new(Mesh::prism(&outline, 0.06)))),
    ]
}

/// Times of rows: regular ones, and two at each impact.
pub fn rows(count: usize) -> Vec<f64> {
    let mut times: Vec<f64> = (0..=count).map(|k| END * k as f64 / count as f64).collect();
    times.extend(impacts().into_iter().flat_map(|t| [t, t]));
    times.sort_by(f64::total_cmp);
    times
}

/// Poses of a body that falls and turns about x with 2 rad/s.
pub fn pose(times: &[f64], x: f64, y: f64, lift: f64) -> [Values; 7] {
    let column = |value: &dyn Fn(f64) -> f64| times.iter().map(|t| value(*t)).collect::<Values>();
    [
        column(&|_| x),
        column(&|_| y),
        column(&|t| lift + height(t)),
        column(&|t| t.cos()),
        column(&|t| t.sin()),
        column(&|_| 0.0),
        column(&|_| 0.0),
    ]
}

/// One body of each kind over a floor, with impacts, a force, a joint and a spring.
pub fn zoo(count: usize) -> Space {
    let times = rows(count);
    let floor = SpaceBody::new("ground", Colour::Muted, false).with(Part::new(Solid::Plane));
    let mut space = Space { up: [0.0, 0.0, 1.0], bodies: vec![floor], ..Space::default() };
    for (k, (name, solid)) in solids().into_iter().enumerate() {
        let (x, y) = (0.6 * (k % 4) as f64 - 0.9, 0.6 * (k / 4) as f64 - 0.6);
        let mut body = SpaceBody::new(name, Colour::Palette(k), true).with(Part::new(solid));
        body.trail = Some([0.0; 3]);
        space.bodies.push(body);
        space.poses.push(pose(&times, x, y, 0.2));
        for t in impacts() {
            space.impacts.push(Push { t, contact: k % 3, at: [x, y, 0.0], vector: [0.1, 0.0, 1.0 + k as f64] });
        }
    }
    space.impacts.sort_by(|a, b| a.t.total_cmp(&b.t));
    let push = Push { t: 0.0, contact: 1, at: [0.0, 0.0, 0.0], vector: [0.0, 0.0, 9.81] };
    space.forces = times.iter().map(|t| Reactions { t: *t, pushes: vec![push] }).collect();
    let parts = vec![Part::new(Solid::Cylinder { radius: 0.03, half: 0.05 })];
    let at = Spot { body: 2, at: [0.2, 0.0, 0.0] };
    space.joints.push(Hinge { name: "pin".into(), kind: "revolute", at, parts });
    space.links.push([at, Spot { body: 0, at: [0.0, 0.0, 1.5] }]);
    space.times = times.into();
    space
}

/// The report of a motion; the height of the first body is a signal.
pub fn report(space: Space) -> Report {
    let signal = Series::shared("q.z", SeriesStyle::Lines, space.times.clone(), space.poses[0][2].clone());
    let signal = signal.in_unit("m").jumping();
    let lane = |k: usize| {
        let own: Vec<&Push> = space.impacts.iter().filter(|push| push.contact == k).collect();
        let (times, impulses) = (own.iter().map(|p| p.t).collect(), own.iter().map(|p| p.vector[2]).collect());
        Lane { name: format!("contact{k}"), times, impulses, ..Lane::default() }
    };
    let mut report = Report::new("solids");
    report.run = Some(RunPage {
        state: "finished".into(),
        charts: vec![Chart::over_time("Height", "").with(signal.clone())],
        signals: vec![signal],
        lanes: (0..3).map(lane).collect(),
        marks: impacts(),
        space: Some(space),
        ..RunPage::default()
    });
    report
}

/// Many balls on a lattice that are thrown up with different speeds.
pub fn balls(count: usize, frames: usize) -> Space {
    let times: Values = (0..=frames).map(|k| END * k as f64 / frames as f64).collect();
    let side = (count as f64).cbrt().ceil() as usize;
    let mut space = Space { up: [0.0, 0.0, 1.0], times: times.clone(), ..Space::default() };
    for k in 0..count {
        let [x, y, z] = [k % side, k / side % side, k / side / side].map(|i| 0.3 * i as f64);
        let body = SpaceBody::new(format!("ball{k}"), Colour::Palette(k % 6), true);
        space.bodies.push(body.with(Part::new(Solid::Sphere { radius: 0.1 })));
        let speed = 5.0 + (k as f64 * 0.618).fract();
        let column = |value: &dyn Fn(f64) -> f64| times.iter().map(|t| value(*t)).collect::<Values>();
        let fall = column(&|t| z + speed * t - GRAVITY / 2.0 * t * t);
        let (turn, roll) = (column(&|t| (speed * t).cos()), column(&|t| (speed * t).sin()));
        let [x, y, zero] = [x, y, 0.0].map(|x| column(&|_| x));
        space.poses.push([x, y, fall, turn, roll, zero.clone(), zero]);
    }
    space
}
