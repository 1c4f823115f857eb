//! Equality rows: chains, stars, trees, loops, redundant rows, beside contacts, against closed forms and a dense
//! pseudo-inverse.

mod mechanism;

use carom_solve::{Law, OneStepProblem, Parts, ProblemWork, Reaction, Redundancy, Rows, StoredProblem, solver};
use mechanism::*;
use nalgebra::DVector;

const G: f64 = 9.81;

/// Rods of one chain along x from a hinge at the origin: total length and mass 1.
fn chain(n: usize, planar_coordinates: bool, planar_axes: bool, axial: f64) -> Mechanism {
    let mut m = if planar_coordinates { Mechanism::plane() } else { Mechanism::space() };
    let l = 1.0 / n as f64;
    for i in 0..n {
        let (from, to) = ([i as f64 * l, 0.0, 0.0], [(i + 1) as f64 * l, 0.0, 0.0]);
        let body = m.rod(from, to, l, axial);
        let before = (i > 0).then(|| body - 1);
        let axis = match (planar_axes, i % 2) {
            (true, _) => [0.0, 1.0, 0.0],
            (_, 0) => unit([0.0, 1.0, 1.0]),
            _ => unit([0.0, 1.0, -1.0]),
        };
        if planar_coordinates {
            m.ball(before, body, from);
        } else {
            m.hinge(before, body, from, axis);
        }
    }
    m
}

/// A hub with n arms on ball joints, in all directions.
fn star(n: usize) -> Mechanism {
    let mut m = Mechanism::space();
    let hub = m.body([0.0; 3], 2.0, [[0.1, 0.01, 0.0], [0.01, 0.2, 0.02], [0.0, 0.02, 0.15]]);
    for i in 0..n {
        let (a, b) = (2.4 * i as f64, 0.7 * i as f64);
        let d = [a.cos() * b.cos(), a.sin() * b.cos(), b.sin()];
        let arm = m.rod(d.map(|x| 0.2 * x), d.map(|x| 0.9 * x), 0.1 + 0.01 * (i % 7) as f64, 0.01);
        m.ball(Some(hub), arm, d.map(|x| 0.2 * x));
    }
    // a star that falls as a whole would not know of its joints
    m.velocity.iter_mut().enumerate().for_each(|(k, v)| *v += ((k * 37 % 17) as f64 - 8.0) * 0.1);
    m
}

/// A binary tree of rods on hinges; the first one hangs from the ground.
fn tree(n: usize) -> Mechanism {
    let mut m = Mechanism::space();
    let mut ends: Vec<V3> = Vec::new();
    for i in 0..n {
        let parent = (i > 0).then(|| (i - 1) / 2);
        let from = parent.map_or([0.0; 3], |p| ends[p]);
        let a = 1.3 * i as f64;
        let d = [0.3 * a.cos(), 0.3 * a.sin(), -0.4 - 0.1 * (i % 3) as f64];
        let to = std::array::from_fn(|k| from[k] + d[k]);
        let body = m.rod(from, to, 1.0 + (i % 4) as f64, 0.05);
        m.hinge(parent, body, from, unit([a.sin(), 0.5, a.cos()]));
        ends.push(to);
    }
    m
}

fn four_bar() -> Mechanism {
    four_bar_at([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [2.61506227, 2.47018682, 0.0], [3.0, 0.0, 0.0]])
}

fn four_bar_at(p: [V3; 4]) -> Mechanism {
    let mut m = Mechanism::space();
    let z = [0.0, 0.0, 1.0];
    for k in 0..3 {
        let body = m.rod(p[k], p[k + 1], [1.0, 3.0, 2.5][k], 1e-3);
        m.hinge((k > 0).then(|| body - 1), body, p[k], z);
    }
    m.hinge(None, 2, p[3], z);
    // gravity along −y
    for (k, v) in m.velocity.iter_mut().enumerate() {
        *v = if k % 6 == 1 { -G } else { 0.0 };
    }
    m
}

fn bricard() -> Mechanism {
    let mut m = Mechanism::space();
    let p: [V3; 6] =
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, -1.0, 0.0], [1.0, -1.0, 1.0], [0.0, -1.0, 1.0], [0.0, 0.0, 1.0]];
    let edge = |k: usize| minus(p[(k + 1) % 6], p[k % 6]);
    for k in 0..5 {
        let body = m.rod(p[k], p[k + 1], 1.0, 0.02);
        m.hinge((k > 0).then(|| body - 1), body, p[k], unit(cross(edge(k + 5), edge(k))));
    }
    m.hinge(None, 4, p[5], unit(cross(edge(4), edge(5))));
    for (k, v) in m.velocity.iter_mut().enumerate() {
        *v = if k % 6 == 1 { -G } else { 0.0 };
    }
    m
}

fn solve(m: &Mechanism, input: &Rows) -> (Reaction, String) {
    let (mut z, mut solver) = (Reaction::default(), solver::default());
    let certificate = m.with(&m.bodies(), input, |p| solver.solve(p, &mut z)).unwrap();
    assert!(certificate.residual < 1e-11, "{certificate:?}");
    (z, solver.log())
}

/// Largest difference, relative to the largest entry.
fn off(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let largest = b.iter().fold(1e-300f64, |most, x| most.max(x.abs()));
    a.iter().zip(b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / largest
}

/// Input rows: those of the output, turned by about `by`.
fn turned(m: &Mechanism, by: f64) -> Rows {
    m.rows(|k, x| x * (1.0 + by * ((k * 7919 % 1009) as f64 / 504.5 - 1.0)))
}

#[test]
fn chains_begin_to_fall_as_they_should() {
    for (n, last) in [(2, 15.0 / 14.0), (5, 723.0 / 724.0), (10, 524175.0 / 524174.0), (1000, 1.0)] {
        for (flat, axial) in [(true, 1.0), (false, 1e-3)] {
            let m = chain(n, flat, true, axial);
            let (z, log) = solve(&m, &m.rows(|_, x| x));
            assert!(log.contains("equalities"), "{log}");
            let v = m.after(&z);
            let row = if flat { 1 } else { 2 };
            let found = v[(n - 1) * m.size + row];
            assert!((found / (-G * last) - 1.0).abs() < 1e-12, "{n}: {found}");
            if n == 1000 {
                let first = -G * (3.0 - 3f64.sqrt()) / 2.0;
                assert!((v[row] / first - 1.0).abs() < 1e-12);
                let support = 1e-3 * G / (2.0 * 3f64.sqrt());
                assert!((z.lambda[row] / support - 1.0).abs() < 1e-11, "{}", z.lambda[row]);
            }
        }
    }
}

/// Motion and reactions against the pseudo-inverse, with B = Cᵀ and turned by 1e-3.
fn compare(name: &str, m: &Mechanism, rank: usize) {
    for by in [0.0, 1e-3] {
        // redundant rows would not be any more
        let by = if rank < m.laws.len() { 0.0 } else { by };
        compare_with(&format!("{name} {by}"), m, &turned(m, by), rank);
    }
}

fn compare_with(name: &str, m: &Mechanism, input: &Rows, rank: usize) {
    {
        let dense = Dense::of(m, input);
        assert_eq!(dense.rank, rank, "{name}");
        let (z, log) = solve(m, input);
        let expected = dense.reactions(&m.free(), &DVector::zeros(m.output.len()));
        let response = dense.response(&expected);
        let (motion, reaction) = (off(&z.response, response.as_slice()), off(&z.lambda, expected.as_slice()));
        println!("{name}: motion {motion:.1e}, reactions {reaction:.1e}; {log}");
        assert!(motion < 1e-11 && reaction < 1e-9, "{name}: {motion:e} {reaction:e}");
        let found = m.with(&m.bodies(), input, Redundancy::of).unwrap();
        assert_eq!((found.rows, found.rank, found.shared.len()), (m.laws.len(), rank, m.laws.len() - rank), "{name}");
    }
}

#[test]
fn motions_and_reactions_are_those_of_the_pseudo_inverse() {
    for n in [3, 12] {
        compare("planar chain", &chain(n, true, true, 1.0), 2 * n);
        compare("chain", &chain(n, false, false, 1e-3), 5 * n);
        compare("star", &star(n), 3 * n);
        compare("tree", &tree(n), 5 * n);
    }
    compare("four-bar", &four_bar(), 17);
    compare("bricard", &bricard(), 29);
    // reactions at mid-step: the rows of a position nearby, as redundant as those at the end
    let nearby = four_bar_at([[0.0, 0.0, 0.0], [1e-3, 0.9999995, 0.0], [2.6155, 2.4705, 0.0], [3.0, 0.0, 0.0]]);
    compare_with("four-bar, mid", &four_bar(), &nearby.rows(|_, x| x), 17);
}

/// Loops without the ground, rows of three bodies, a body in two bearings, a row twice, an empty row, bodies apart.
#[test]
fn odd_mechanisms_are_solved_too() {
    let (x, z) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    // a ring of ball joints that floats: nothing to do but to turn
    let mut ring = Mechanism::space();
    let at = |k: usize| [(k as f64 * 1.1).cos(), (k as f64 * 1.1).sin(), 0.2 * (k % 3) as f64];
    for k in 0..5 {
        ring.rod(at(k), at(k + 1), 1.0 + k as f64, 0.1);
    }
    ring.velocity.iter_mut().enumerate().for_each(|(k, v)| *v = ((k * 37 % 17) as f64 - 8.0) * 0.1);
    for k in 0..4 {
        ring.ball(Some(k), k + 1, at(k + 1));
    }
    ring.ball(Some(4), 0, at(0));
    compare("ring", &ring, 15);
    // wheels on a carrier, rolling on each other: rows of three bodies
    let mut gear = Mechanism::space();
    let ball = [[0.1, 0.0, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, 0.2]];
    (0..4).for_each(|k| _ = gear.body([k as f64, 0.0, 0.0], 1.0 + k as f64, ball));
    gear.hinge(None, 0, [0.0; 3], z);
    (1..4).for_each(|k| gear.hinge(Some(0), k, [k as f64, 0.0, 0.0], z));
    for k in 1..3 {
        gear.push(Law::EQUALITY, vec![vec![(5, -2.0), (k * 6 + 5, 1.0), ((k + 1) * 6 + 5, 1.0)]]);
    }
    gear.velocity.iter_mut().enumerate().for_each(|(k, v)| *v += (k % 5) as f64);
    compare("gears", &gear, 22);
    // a shaft in two bearings, and a pendulum on it
    let mut shaft = Mechanism::space();
    shaft.rod([0.0; 3], [2.0, 0.0, 0.0], 3.0, 0.1);
    shaft.rod([1.0, 0.0, 0.0], [1.0, 0.5, 0.0], 1.0, 0.1);
    shaft.hinge(None, 0, [0.0; 3], x);
    shaft.hinge(Some(0), 1, [1.0, 0.0, 0.0], x);
    shaft.hinge(None, 0, [2.0, 0.0, 0.0], x);
    compare("shaft", &shaft, 10);
    // the first row once more, and a row of nothing
    let mut twice = tree(4);
    let row = twice.output[0].clone();
    twice.push(Law::EQUALITY, vec![row.iter().map(|x| (x.0, 3.0 * x.1)).collect()]);
    compare("twice", &twice, 20);
    let mut nothing = tree(3);
    nothing.push(Law::EQUALITY, vec![vec![]]);
    let (mut z, input) = (Reaction::default(), nothing.rows(|_, x| x));
    nothing.with(&nothing.bodies(), &input, |p| solver::default().solve(p, &mut z)).unwrap();
    let found = nothing.with(&nothing.bodies(), &input, Redundancy::of).unwrap();
    assert_eq!((found.rank, found.shared), (15, vec![vec![15]]));
    // two pendulums whose bodies alternate, and one body alone
    let mut mixed = Mechanism::space();
    for k in 0..5 {
        mixed.rod([0.0, k as f64, 0.0], [1.0, k as f64, 0.0], 1.0, 0.1);
    }
    mixed.hinge(None, 0, [0.0; 3], [0.0, 1.0, 0.0]);
    mixed.ball(Some(0), 2, [1.0, 0.0, 0.0]);
    mixed.hinge(None, 1, [0.0, 1.0, 0.0], [0.0, 1.0, 0.0]);
    mixed.ball(Some(1), 3, [1.0, 1.0, 0.0]);
    compare("mixed", &mixed, 16);
}

/// Redundant rows name those that share a load: the four-bar leaves three directions, the Bricard linkage one that all
/// its hinges share, and a shaft's bearings carry nothing of its pendulum.
#[test]
fn redundant_rows_are_named() {
    let rank = |m: &Mechanism| m.with(&m.bodies(), &m.rows(|_, x| x), Redundancy::of).unwrap();
    let found = rank(&bricard());
    assert_eq!((found.rows, found.rank, found.shared.len()), (30, 29, 1));
    for hinge in 0..6 {
        assert!(found.shared[0].iter().any(|law| law / 5 == hinge), "{found:?}");
    }
    let found = rank(&four_bar());
    assert_eq!((found.rows, found.rank, found.shared.len()), (20, 17, 3));
    assert!(found.shared.iter().all(|laws| laws.len() > 1), "{found:?}");
}

/// Redundant rows of a mechanism that has drifted contradict each other: the motion is that of the pseudo-inverse up to
/// the drift, reactions do not explode, and a warning tells how far off the rows are.
#[test]
fn rows_that_have_drifted_do_not_explode() {
    for drift in [1e-9, 1e-7, 1e-6] {
        let mut m = bricard();
        for row in &mut m.output {
            for x in row.iter_mut().filter(|x| x.0 % 6 >= 3) {
                x.1 += drift * ((x.0 * 31 % 13) as f64 - 6.0) / 6.0;
            }
        }
        m.velocity.iter_mut().enumerate().for_each(|(k, v)| *v += ((k * 37 % 17) as f64 - 8.0) * 0.1);
        let (mut z, mut solver) = (Reaction::default(), solver::default());
        let input = m.rows(|_, x| x);
        let certificate = m.with(&m.bodies(), &input, |p| solver.solve(p, &mut z)).unwrap();
        let dense = Dense::of(&m, &input);
        assert_eq!(dense.rank, 29);
        let expected = dense.reactions(&m.free(), &DVector::zeros(30));
        let motion = off(&z.response, dense.response(&expected).as_slice());
        let reaction = off(&z.lambda, expected.as_slice());
        println!("drift {drift}: motion {motion:.1e}, reactions {reaction:.1e}, {:.1e}", certificate.residual);
        assert!(motion < 30.0 * drift && reaction < 1e3 * drift, "{motion:e} {reaction:e}");
        let warning = solver.warning();
        assert!(certificate.residual <= 1e-10 || warning.unwrap().value == certificate.residual, "{warning:?}");
        assert!(certificate.residual <= drift);
    }
    // rows that have nothing in common are no drift
    let mut m = four_bar();
    m.velocity[3] = 5.0;
    let row = m.output[0].clone();
    m.push(Law::EQUALITY, vec![row]);
    let mut b = m.free();
    b[20] += 1.0;
    let (lhs, output) = (m.bodies(), m.rows(|_, x| x));
    let parts = Parts { lhs: &lhs, output: &output, input: &output, feedthrough: None, b: &b, laws: &m.laws };
    let mut work = ProblemWork::default();
    let error = solver::default().solve(&OneStepProblem::new(parts, &mut work), &mut Reaction::default()).unwrap_err();
    assert!(error.certificate().unwrap().residual > 1e-3, "{error}");
}

/// The problem of contacts alone, from the pseudo-inverse, by another solver.
fn reference(m: &Mechanism, input: &Rows, rows: &[usize], laws: Vec<Law>, name: &str) -> (Vec<f64>, Vec<f64>) {
    let dense = Dense::of(m, input);
    let (w, b) = dense.reduced(&m.free(), rows);
    let entries: Vec<f64> = w.transpose().iter().copied().collect();
    let stored = StoredProblem::reduced("", Rows::dense(rows.len(), &entries), b.as_slice().to_vec(), laws).unwrap();
    let mut other = (solver::find(name).unwrap().build)(&serde_json::json!({"tolerance": 1e-13})).unwrap();
    let mut z = Reaction::default();
    stored.with(&mut ProblemWork::default(), |p| other.solve(p, &mut z)).unwrap();
    let mut rest = DVector::zeros(m.output.len());
    rows.iter().zip(&z.lambda).for_each(|(&row, &x)| rest[row] = x);
    let all = dense.reactions(&m.free(), &rest);
    (dense.response(&all).as_slice().to_vec(), all.as_slice().to_vec())
}

#[test]
fn contacts_beside_joints_are_solved() {
    // ends of a tree on a slope, others free
    for by in [0.0, 1e-3] {
        let mut m = tree(7);
        let first = m.output.len();
        for body in [3, 4, 5, 6] {
            let at = std::array::from_fn(|k| m.centre[body][k] + [0.05, -0.02, -0.2][k]);
            m.contact(None, body, at, unit([0.1, 0.05, 1.0]), 0.3);
        }
        m.contact(Some(3), 5, m.centre[3], unit([1.0, 0.3, 0.1]), 0.5);
        let input = turned(&m, by);
        let rows: Vec<usize> = (first..m.output.len()).collect();
        let (response, lambda) = reference(&m, &input, &rows, m.laws[first..].to_vec(), "nsgs");
        let (z, log) = solve(&m, &input);
        let (motion, reaction) = (off(&z.response, &response), off(&z.lambda, &lambda));
        println!("tree on a slope {by}: motion {motion:.1e}, reactions {reaction:.1e}; {log}");
        assert!(motion < 1e-10 && lambda[first] > 0.0, "{motion:e}");
        assert!(log.contains("equalities"));
    }
    // laws in any order, in the plane
    let mut m = chain(6, true, true, 1.0);
    m.contact(None, 5, [1.0, 0.0, 0.0], [0.0, 0.0, 1.0], 0.4);
    m.contact(None, 2, m.centre[2], [0.0, 0.0, 1.0], 0.2);
    let (laws, output) = (m.laws.clone(), m.output.clone());
    let order = [12, 0, 1, 2, 3, 4, 13, 5, 6, 7, 8, 9, 10, 11];
    let row = |law: usize| if law < 12 { law..law + 1 } else { 12 + 2 * (law - 12)..14 + 2 * (law - 12) };
    m.laws = order.iter().map(|&i| laws[i]).collect();
    m.output = order.iter().flat_map(|&i| row(i)).map(|r| output[r].clone()).collect();
    let input = m.rows(|_, x| x);
    let (response, _) = reference(&m, &input, &[0, 1, 7, 8], vec![laws[12], laws[13]], "lemke");
    let (z, log) = solve(&m, &input);
    println!("chain in the plane: {:.1e}; {log}", off(&z.response, &response));
    assert!(off(&z.response, &response) < 1e-11);
}

/// Planar joints leave a contact in space no way across: it is a planar one, whichever tangent that is.
#[test]
fn contacts_that_cannot_move_across_are_planar() {
    for flat in [1, 2] {
        let mut m = four_bar();
        let (n, x, z) = (unit([0.2, 1.0, 0.0]), unit([1.0, -0.2, 0.0]), [0.0, 0.0, 1.0]);
        let frame = if flat == 1 { [n, z, x] } else { [n, x, z] };
        m.contact_along(None, 1, [1.4, 1.7, 0.3], frame, 0.3);
        m.contact_along(
            None,
            2,
            [2.8, 1.2, -0.2],
            [x.map(|x| -x), if flat == 1 { z } else { n }, if flat == 1 { n } else { z }],
            0.2,
        );
        let input = m.rows(|_, x| x);
        let tangent = 3 - flat;
        let rows = [20, 20 + tangent, 23, 23 + tangent];
        let laws = vec![Law::coulomb(0.3, 1), Law::coulomb(0.2, 1)];
        let (response, _) = reference(&m, &input, &rows, laws, "lemke");
        let (z, log) = solve(&m, &input);
        println!("flat {flat}: {:.1e}; {log}", off(&z.response, &response));
        assert!(off(&z.response, &response) < 1e-10);
        assert_eq!(z.lambda[20 + flat], 0.0);
    }
}

/// One dense block, as Lagrangian models have it, and bodies that do not tell their matrix: the same answers.
#[test]
fn other_forms_of_the_matrix_give_the_same() {
    for mut m in [chain(8, false, false, 1e-3), four_bar(), star(6)] {
        m.contact(None, 2, m.centre[2], unit([0.1, 0.2, 1.0]), 0.3);
        let input = m.rows(|_, x| x);
        let (z, _) = solve(&m, &input);
        let mut bodies = m.bodies();
        bodies.tells = false;
        let mut other = Reaction::default();
        m.with(&bodies, &input, |p| solver::default().solve(p, &mut other)).unwrap();
        let hidden = off(&other.response, &z.response);
        let mut other = Reaction::default();
        m.with(&OneBlock(&bodies), &input, |p| solver::default().solve(p, &mut other)).unwrap();
        let dense = off(&other.response, &z.response);
        println!("hidden {hidden:.1e}, one block {dense:.1e}");
        // solving tells A to its condition times rounding only
        assert!(hidden < 1e-10 && dense < 1e-10, "{hidden:e} {dense:e}");
    }
}

/// A mechanism of so many bodies.
type Make = (&'static str, fn(usize) -> Mechanism);

const MAKES: [Make; 4] = [
    ("planar chain", |n| chain(n, true, true, 1.0)),
    ("chain", |n| chain(n, false, false, 1e-3)),
    ("star", star),
    ("tree", tree),
];

/// The cost grows with the bodies and no faster: numbers that are stored.
///
/// A sparse factorisation of the same system in the same order has 33 (planar chain), 151 (chain) and 63 (star) entries
/// per body. Blocks are stored in full here: n² + 2 r (n + p) + r² numbers for a body with n freedoms and r rows to a
/// parent with p, which may be half as many again for chains, and twice as many where blocks are diagonal as in the
/// star.
#[test]
fn factors_grow_with_the_bodies() {
    for (name, make) in MAKES {
        let per_body = [100, 1000, 10_000].map(|n| {
            let m = make(n);
            let (lhs, input) = (m.bodies(), m.rows(|_, x| x));
            let found = m.with(&lhs, &input, Redundancy::of).unwrap();
            assert_eq!(found.rank, found.rows, "{name}");
            found.entries as f64 / n as f64
        });
        println!("{name}: {per_body:?} per body");
        let exponent = 1.0 + (per_body[2] / per_body[0]).log10() / 2.0;
        assert!((exponent - 1.0).abs() < 0.005, "{name}: {exponent}");
        let (sparse, full, factor) = match name {
            "planar chain" => (33.0, 37.0, 1.5),
            "chain" => (151.0, 181.0, 1.5),
            "star" => (63.0, 117.0, 2.0),
            _ => continue,
        };
        assert!(per_body[2] <= factor * sparse, "{name}: {per_body:?}");
        assert!((per_body[2] / full - 1.0).abs() < 1e-3, "{name}: {per_body:?}");
    }
}

/// Time of one solve, and of one more with the same rows. Run it in release mode on a quiet machine.
#[test]
#[ignore = "long: measures times"]
fn times() {
    for n in [1, 2, 3, 5, 10] {
        let m = chain(n, true, true, 1.0);
        let (lhs, output, b) = (m.bodies(), m.rows(|_, x| x), m.free());
        let parts = Parts { lhs: &lhs, output: &output, input: &output, feedthrough: None, b: &b, laws: &m.laws };
        for name in ["auto", "lemke", "newton-min"] {
            let mut solver = (solver::find(name).unwrap().build)(&serde_json::json!({})).unwrap();
            let (mut work, mut z, mut best) = (ProblemWork::default(), Reaction::default(), f64::INFINITY);
            for _ in 0..500 {
                let start = std::time::Instant::now();
                solver.solve(&OneStepProblem::new(parts, &mut work), &mut z).unwrap();
                best = best.min(start.elapsed().as_secs_f64());
            }
            println!("{:3} rows by {name:10}: {:9.2} us; few bodies {}", b.len(), best * 1e6, solver.log());
        }
    }
    for (name, make) in MAKES {
        for n in [10, 100, 1000, 10_000] {
            let m = make(n);
            let (lhs, output, b) = (m.bodies(), m.rows(|_, x| x), m.free());
            let parts = Parts { lhs: &lhs, output: &output, input: &output, feedthrough: None, b: &b, laws: &m.laws };
            let (mut work, mut z, mut solver) = (ProblemWork::default(), Reaction::default(), solver::default());
            let (mut new, mut again) = (f64::INFINITY, f64::INFINITY);
            for _ in 0..(20_000 / n).clamp(5, 200) {
                let start = std::time::Instant::now();
                solver.solve(&OneStepProblem::new(parts, &mut work), &mut z).unwrap();
                new = new.min(start.elapsed().as_secs_f64());
                let start = std::time::Instant::now();
                solver.solve(&OneStepProblem::again(parts, &mut work), &mut z).unwrap();
                again = again.min(start.elapsed().as_secs_f64());
            }
            println!("{name:12} {n:6} bodies: new {:9.1} us, same rows {:9.1} us", new * 1e6, again * 1e6);
        }
    }
}
