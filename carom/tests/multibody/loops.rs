//! Closed loops in space, with rows that are redundant.

use super::{combined, distance, rod_of, run};
use carom::multibody::{Body, Joint, Motor, Multibody, MultibodyModel};
use carom::scheme::Bound;
use carom::scheme::CombinedProjection;
use carom::scheme::ReactionDirection::Mid;
use carom::simulation::FixedStep;
use carom::{Coupling, Simulation, Space, State};

type Point = [f64; 3];

fn bar(name: &str, mass: f64, ends: [Point; 2]) -> carom::multibody::Body {
    let length2: f64 = (0..3).map(|i| (ends[1][i] - ends[0][i]).powi(2)).sum();
    let across = mass * length2 / 12.0;
    rod_of(name, mass, ends, [1e-3 * across, across, across])
}

/// Crank, coupler and rocker in a plane, with hinges in space.
fn four_bar() -> MultibodyModel {
    let (a, b, c, d) = ([0.0; 3], [0.0, 1.0, 0.0], [2.61506227, 2.47018682, 0.0], [3.0, 0.0, 0.0]);
    let hinge =
        |name: &str, one: &str, two: &str, at: Point| Joint::revolute(name, one, two).at(at).axis([0.0, 0.0, 1.0]);
    // the crank turns at 2 rad/s; velocities of the others follow from the loop
    let mut crank = bar("crank", 1.0, [a, b]);
    crank.velocity = [-1.0, 0.0, 0.0];
    crank.spin = [0.0, 0.0, 2.0];
    // coupler and rocker: v_B + ω₂ × (C − B) = ω₃ × (C − D)
    let (r, s) = ([c[0] - b[0], c[1] - b[1]], [c[0] - d[0], c[1] - d[1]]);
    let v = [-2.0, 0.0];
    // −ω₂ r_y + ω₃ s_y = −v_x,   ω₂ r_x − ω₃ s_x = −v_y
    let det = r[1] * s[0] - s[1] * r[0];
    let w2 = (v[0] * s[0] + v[1] * s[1]) / det;
    let w3 = (v[1] * r[1] + v[0] * r[0]) / det;
    let mut coupler = bar("coupler", 3.0, [b, c]);
    coupler.velocity = [v[0] - 0.5 * w2 * r[1], v[1] + 0.5 * w2 * r[0], 0.0];
    coupler.spin = [0.0, 0.0, w2];
    let mut rocker = bar("rocker", 2.5, [c, d]);
    rocker.velocity = [-0.5 * w3 * s[1], 0.5 * w3 * s[0], 0.0];
    rocker.spin = [0.0, 0.0, w3];
    Multibody::spatial()
        .gravity([0.0, -9.81, 0.0])
        .body(crank)
        .body(coupler)
        .body(rocker)
        .joint(hinge("A", "ground", "crank", a))
        .joint(hinge("B", "crank", "coupler", b))
        .joint(hinge("C", "coupler", "rocker", c))
        .joint(hinge("D", "rocker", "ground", d))
        .assemble(1e-12)
        .build()
        .unwrap()
}

#[test]
fn a_four_bar_has_three_rows_too_many() {
    let mut model = four_bar();
    let found = model.redundancy().unwrap().clone();
    assert_eq!((found.rows, found.rank), (20, 17));
    assert_eq!(found.joints, [["A", "B", "C", "D"]]);
    assert!((model.energy(&model.initial()).unwrap().total() - 93.940042).abs() < 1e-5);
    assert!((model.initial().v[5] - 2.0).abs() < 1e-6);
}

#[test]
fn a_four_bar_moves_in_its_plane() {
    let end = run(four_bar(), combined(Mid), 2.0, 1e-3);
    let error = distance(&end.q[7..9], &[0.26520997, 1.13292821]);
    assert!(error < 3e-5, "{error:e}");
    assert!(end.q[9].abs() < 1e-12, "{:e}", end.q[9]);
    assert!((end.v[5] - 4.774948).abs() < 1e-3, "{}", end.v[5]);
}

/// Bricard's linkage on the edges of a cube.
fn bricard() -> MultibodyModel {
    let p: [Point; 6] =
        [[0.0; 3], [1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [1.0, -1.0, 1.0], [0.0, -1.0, 1.0], [0.0, 0.0, 1.0]];
    let inertia = [0.01 / 6.0, (1.0 + 0.01) / 12.0, (1.0 + 0.01) / 12.0];
    let mut system = Multibody::spatial().gravity([0.0, -9.81, 0.0]);
    let name = |i: usize| if i == 5 || i == usize::MAX { "ground".to_string() } else { format!("rod{i}") };
    for i in 0..5 {
        system = system.body(rod_of(&name(i), 1.0, [p[i], p[i + 1]], inertia));
    }
    for i in 0..6 {
        // rods i − 1 and i meet at vertex i; the ground edge closes the loop
        let before: [f64; 3] = std::array::from_fn(|k| p[i][k] - p[(i + 5) % 6][k]);
        let after: [f64; 3] = std::array::from_fn(|k| p[(i + 1) % 6][k] - p[i][k]);
        let axis = [
            before[1] * after[2] - before[2] * after[1],
            before[2] * after[0] - before[0] * after[2],
            before[0] * after[1] - before[1] * after[0],
        ];
        // rows are fixed in the rod that follows: the other way the error is 8.7e-7 and the energy −1.2e-7, order 2 too
        let (a, b) = (name(i), name(if i == 0 { 5 } else { i - 1 }));
        system = system.joint(Joint::revolute(&format!("P{i}"), &a, &b).at(p[i]).axis(axis));
    }
    system.build().unwrap()
}

#[test]
fn bricard_has_one_row_too_many_and_moves() {
    let mut model = bricard();
    let found = model.redundancy().unwrap();
    assert_eq!((found.rows, found.rank), (30, 29));
    let start = model.energy(&model.initial()).unwrap().total();
    assert!((start + 29.43).abs() < 1e-10, "{start}");
    let scheme = CombinedProjection { newton_tolerance: 1e-12, ..combined(Mid) };
    let end = run(bricard(), scheme, 2.0, 1e-3);
    // the far end of the third rod, which goes from vertex 2 to vertex 3
    let tip = bricard().frame(2, &end.q).point([0.5, 0.0, 0.0]).0;
    let error = distance(&tip, &[-0.96934035, -1.22124690, 0.75427801]);
    assert!(error < 1e-6, "{error:e}");
    let gained = model.energy(&end).unwrap().total() - start;
    assert!(gained.abs() < 1e-7, "{gained:e}, error {error:e}");
    assert!(largest_gap(&mut model, &end) < 1e-12);
}

/// Warnings of a run of this kind: times and names of the laws.
fn singular(model: MultibodyModel, (end, h): (f64, f64)) -> Vec<(f64, String)> {
    let bound = Bound::new(combined(Mid), Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(bound), Box::new(FixedStep { h }), end).unwrap();
    simulation.run(&mut []).unwrap_or_else(|error| panic!("{error}"));
    let all = simulation.warnings().sorted();
    let labels = simulation.stepper().labels();
    let of = all.iter().filter(|warning| warning.kind.name == "singular-position");
    of.map(|warning| (warning.t, labels.contact(warning.contact.unwrap()))).collect()
}

/// A parallelogram of rods in the plane, without gravity: its crank turns steadily.
fn parallelogram(angle: f64, speed: f64) -> MultibodyModel {
    let (a, d) = ([0.0; 3], [2.0, 0.0, 0.0]);
    let way = [angle.cos(), angle.sin(), 0.0];
    let (b, c): (Point, Point) = (way, std::array::from_fn(|i| d[i] + way[i]));
    let across = |part: f64| [-part * speed * way[1], part * speed * way[0], 0.0];
    let turning = |name: &str, ends: [Point; 2], part: f64, spin: f64| {
        let centre: Point = std::array::from_fn(|i| 0.5 * (ends[0][i] + ends[1][i]));
        let body = Body::new(name, 1.0, 0.1).at([centre[0], centre[1]]).turning(spin);
        body.velocity([across(part)[0], across(part)[1]])
    };
    Multibody::planar()
        .body(turning("crank", [a, b], 0.5, speed))
        .body(turning("coupler", [b, c], 1.0, 0.0))
        .body(turning("rocker", [d, c], 0.5, speed))
        .joint(Joint::revolute("A", "ground", "crank").at(a))
        .joint(Joint::revolute("B", "crank", "coupler").at(b))
        .joint(Joint::revolute("C", "coupler", "rocker").at(c))
        .joint(Joint::revolute("D", "rocker", "ground").at(d))
        .build()
        .unwrap()
}

/// Flat at 180 degrees: the rods can go on as a parallelogram or as a crossed one, and all four joints share a row.
#[test]
fn a_parallelogram_warns_where_it_is_flat() {
    let (start, speed) = (1.0, 2.0);
    let flat = (std::f64::consts::PI - start) / speed;
    assert_eq!(singular(parallelogram(start, speed), (0.99 * flat, 1e-3)), []);
    let found = singular(parallelogram(start, speed), (1.1 * flat, 1e-3));
    let mut joints: Vec<&str> = found.iter().map(|(_, law)| law.split('.').next().unwrap()).collect();
    joints.sort_unstable();
    assert_eq!(joints, ["A", "B", "C", "D"], "{found:?}");
    assert!(found.iter().all(|(t, _)| (t - flat).abs() < 1e-3), "{found:?} {flat}");
}

/// The rank of Bricard's linkage is 29 all the way, and that of a crank and rocker in space 17.
#[test]
fn loops_that_keep_their_rank_do_not_warn() {
    assert_eq!(singular(bricard(), (2.0, 1e-3)), []);
    assert_eq!(singular(four_bar(), (2.0, 1e-3)), []);
}

fn largest_gap(model: &mut MultibodyModel, state: &State) -> f64 {
    let mut coupling = Coupling::default();
    model.couple(state.t, &state.q, &mut coupling).unwrap();
    coupling.pairs.iter().fold(0.0, |most, pair| pair.gap.abs().max(most))
}

/// A slider that is driven beyond the reach of crank and rod: the error names what holds the last direction.
#[test]
fn a_dead_point_is_named() {
    // lengths .2 and .4: the stroke ends at .6
    let slider = 0.12f64.sqrt();
    let model = Multibody::planar()
        .body(Body::new("crank", 1.0, 1e-2).at([0.0, 0.1]))
        .body(Body::new("rod", 1.0, 2e-2).at([0.5 * slider, 0.1]))
        .body(Body::new("slider", 1.0, 1e-2).at([slider, 0.0]))
        .joint(Joint::revolute("main", "ground", "crank").at([0.0; 3]))
        .joint(Joint::revolute("big end", "crank", "rod").at([0.0, 0.2, 0.0]))
        .joint(Joint::revolute("small end", "rod", "slider").at([slider, 0.0, 0.0]))
        .joint(Joint::prismatic("guide", "ground", "slider").at([slider, 0.0, 0.0]).axis([1.0, 0.0, 0.0]))
        .motor(Motor::position("drive", "guide", |x: &[f64], out: &mut [f64]| out[0] = 0.3 * x[0]))
        .assemble(1e-12)
        .build()
        .unwrap();
    let bound = Bound::new(super::moreau(Mid), Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(bound), Box::new(FixedStep { h: 1e-3 }), 1.5).unwrap();
    let error = simulation.run(&mut []).unwrap_err().to_string();
    let end = (0.6 - slider) / 0.3;
    let t = simulation.state().t;
    assert!(t < end && t > end - 0.02, "{t} {end}");
    assert!(error.contains("near a singular position: "), "{error}");
    assert!(error.contains("guide") && error.contains("drive"), "{error}");
}
