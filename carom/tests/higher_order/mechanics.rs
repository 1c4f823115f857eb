//! Nonlinear models with several contacts and constraints, against reference numbers of other methods and closed forms.

use crate::{run, scheme, show, simulation, slope};
use carom::model::{Contact, DualLagrangian, Functions, Lagrangian, NamedLaw, Scalar};
use carom::scheme::higher_order::RungeKutta;
use carom::simulation::{GapMonitor, LedgerObserver};
use carom::testbed::BouncingBall;
use carom::{Solution, State};
use carom_solve::Law;

const G: f64 = 9.81;

fn last(s: &Solution) -> (&[f64], &[f64]) {
    (s.q(s.len() - 1), s.v(s.len() - 1))
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

/// Block of 1.5 m by 1 m and 1 kg above a floor, corners A and B.
struct Block;

impl Functions for Block {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] * (3.25 / 12.0)) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = q[1] - q[2].cos() * 0.75 + q[2].sin() * 0.5;
        out[1] = q[1] - q[2].cos() * 0.75 - q[2].sin() * 0.5;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        ["A", "B"].map(|name| NamedLaw::new(name, Law::UNILATERAL).restitution(0.5)).to_vec()
    }
}

fn block(q: [f64; 3], v: [f64; 3]) -> DualLagrangian<Block> {
    DualLagrangian::new(Block, State::new(0.0, &q, &v)).unwrap()
}

/// Corner A slides with curvature in its gap; the reference is that of a DAE solver.
#[test]
fn sliding_corner_of_the_block() {
    let start = || block([0.0, 0.8343845987784619, -0.2], [1.0, 0.5115469362364874, -1.5]);
    let exact = [0.5, 0.80006937231108, -0.10930865969692, 1.0, -0.77501945839694, 1.86662823989619];
    for method in RungeKutta::ALL {
        let points: Vec<(f64, f64)> = [6, 12, 24, 48]
            .iter()
            .map(|&n| {
                let s = run(start(), scheme(method, 1e-3), 0.5, n);
                let (q, v) = last(&s);
                (0.5 / n as f64, distance(&[q, v].concat(), &exact))
            })
            .collect();
        println!("{method:?}: {:.2} {}", slope(&points), show(&points));
        assert!(slope(&points) > f64::from(method.order()) - 0.25, "{method:?}: {points:?}");
    }
    // the multiplier at the end is the mean impulse of a short last step
    let mut gaps = GapMonitor::default();
    simulation(start(), scheme(RungeKutta::RadauIia3, 1.0), 0.5, 50).run(&mut [&mut gaps]).unwrap();
    assert!(gaps.smallest[0].abs() < 1e-14, "{:?}", gaps.smallest);
}

/// Five impacts of alternating corners, then two nested accumulations and rest.
#[test]
fn rocking_block_falls_and_rests() {
    let start = || block([0.0, 1.0, 0.2], [0.0, 0.0, 0.2]);
    for method in [RungeKutta::RadauIia3, RungeKutta::LobattoIiia3, RungeKutta::Herk4] {
        let s = run(start(), scheme(method, 1.0), 0.6, 211);
        let (q, v) = last(&s);
        let reference = [0.75900815, 0.01171128, 0.06276012, 0.13790628];
        let error = distance(&[&q[1..], &v[1..]].concat(), &reference);
        println!("{method:?}: {error:.1e}");
        assert!(error < 2e-8, "{method:?}: {error:e}");
    }
    let mut run = simulation(start(), scheme(RungeKutta::RadauIia3, 1.0), 2.0, 200);
    let (mut gaps, mut ledger) = (GapMonitor::default(), LedgerObserver::default());
    run.run(&mut [&mut gaps, &mut ledger]).unwrap();
    let State { q, v, .. } = run.state();
    println!("{q:?} {v:?} {:?} {:?}", gaps.smallest, run.statistics());
    assert!((q[1] - 0.75).abs() < 1e-14 && q[2].abs() < 1e-13 && v[1..].iter().all(|v| v.abs() < 1e-14));
    assert!(gaps.overall().unwrap() > -1e-14);
    let ledger = ledger.ledger().unwrap();
    assert!(ledger.largest_gain < 1e-12 && ledger.residue().abs() < 1e-9, "{}", ledger.residue());
}

/// Between impacts the block falls freely, which every method integrates exactly: what is left are three brackets of
/// width δ.
#[test]
fn rocking_block_shows_the_brackets_alone() {
    let start = || block([0.0, 1.0, 0.2], [0.0, 0.0, 0.2]);
    let end = 0.5;
    let fine = run(start(), scheme(RungeKutta::LobattoIiia4, 1e-6), end, 400);
    for method in RungeKutta::ALL {
        for n in [11, 23, 43, 83] {
            let s = run(start(), scheme(method, 1.0), end, n);
            let delta = (end / n as f64).powi(method.order() as i32 + 1);
            let error = distance(last(&s).0, last(&fine).0);
            assert!(error < 10.0 * delta + 1e-12, "{method:?} N = {n}: {error:e} for δ = {delta:e}");
        }
    }
}

/// Double pendulum of unit masses and lengths between two walls.
struct DoublePendulum;

impl Functions for DoublePendulum {
    fn kinetic<D: Scalar>(&self, _t: D, q: &[D], v: &[D]) -> D {
        v[0] * v[0] + v[1] * v[1] * 0.5 + v[0] * v[1] * (q[0] - q[1]).cos()
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        -(q[0].cos() * 2.0 + q[1].cos()) * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        let tip = q[0].sin() + q[1].sin();
        out[0] = tip + 0.3;
        out[1] = -tip + 0.8;
        out[2] = q[0].sin() + 0.2;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        ["left", "right", "elbow"].map(|name| NamedLaw::new(name, Law::UNILATERAL).restitution(0.6)).to_vec()
    }
}

#[test]
fn double_pendulum_between_walls_converges() {
    let start = || DualLagrangian::new(DoublePendulum, State::new(0.0, &[0.4, 0.3], &[1.0, 0.5])).unwrap();
    let end = 2.2;
    let fine = run(start(), scheme(RungeKutta::LobattoIiia4, 1.0), end, 800);
    assert!(!fine.impacts.is_empty());
    println!("{:?}", fine.impacts.iter().map(|i| (i.t, i.contact.clone())).collect::<Vec<_>>());
    let exact = last(&fine).0.to_vec();
    for method in RungeKutta::ALL {
        let points: Vec<(f64, f64)> = [61, 83, 117, 163]
            .iter()
            .map(|&n| {
                let s = run(start(), scheme(method, 1e-3), end, n);
                (end / n as f64, distance(last(&s).0, &exact))
            })
            .collect();
        println!("{method:?}: {:.2} {}", slope(&points), show(&points));
        assert!(slope(&points) > f64::from(method.order()) - 0.3, "{method:?}: {points:?}");
    }
}

/// Unit mass on a massless rod, as a bilateral constraint.
struct Pendulum;

impl Functions for Pendulum {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1]
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = (q[0] * q[0] + q[1] * q[1] - 1.0) * 0.5;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("rod", Law::EQUALITY)]
    }
}

/// The pendulum at T = 2 to 15 digits (elliptic functions); the rod keeps its length.
#[test]
fn bilateral_pendulum() {
    let start = || DualLagrangian::new(Pendulum, State::new(0.0, &[1.0, 0.0], &[0.0, 0.0])).unwrap();
    let exact = [-0.204193214788280, -0.978930605831908, -1.369754885003414, 0.285714484535000];
    for method in RungeKutta::ALL {
        let points: Vec<(f64, f64)> = [20, 28, 40, 56]
            .iter()
            .map(|&n| {
                let s = run(start(), scheme(method, 1.0), 2.0, n);
                let drift = (0..s.len()).map(|k| (s.q(k)[0].hypot(s.q(k)[1]) - 1.0).abs()).fold(0.0, f64::max);
                assert!(drift < 1e-14, "{method:?}: {drift}");
                let (q, v) = last(&s);
                (2.0 / n as f64, distance(&[q, v].concat(), &exact))
            })
            .collect();
        println!("{method:?}: {:.2} {}", slope(&points), show(&points));
        assert!(slope(&points) > f64::from(method.order()) - 0.25, "{method:?}: {points:?}");
    }
}

/// Mass on a disc: it leaves at height (2/3) cos 0.1 after 0.90711011104 s, then flies.
struct Disc;

impl Functions for Disc {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        out[0] = (q[0] * q[0] + q[1] * q[1] - 1.0) * 0.5;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("disc", Law::UNILATERAL)]
    }
}

#[test]
fn mass_leaves_the_disc() {
    let angle = 0.1f64;
    let start = State::new(0.0, &[angle.sin(), angle.cos()], &[0.0, 0.0]);
    let (release, height) = (0.90711011104, 2.0 / 3.0 * angle.cos());
    // the flight that follows: speed² = g z at release, tangent to the disc
    let (speed, side) = ((G * height).sqrt(), (1.0 - height * height).sqrt());
    let end = 1.0;
    let s = end - release;
    let exact = [side + speed * height * s, height - speed * side * s - 0.5 * G * s * s];
    for method in [RungeKutta::RadauIia3, RungeKutta::LobattoIiia4, RungeKutta::Herk4] {
        let model = DualLagrangian::new(Disc, start.clone()).unwrap();
        let solution = run(model, scheme(method, 1.0), end, 97);
        let error = distance(last(&solution).0, &exact);
        println!("{method:?}: {error:.1e}");
        // the release time is known to 1e-11
        assert!(error < if method == RungeKutta::Herk4 { 1e-7 } else { 1e-9 }, "{method:?}: {error:e}");
    }
}

/// A beam on three supports, statically indeterminate, under a growing moment: it tips about the right one at t₀ = m
/// g/k, then θ = −k (t − t₀)³/(6 (I + m)).
#[test]
fn redundant_supports_hold_and_let_go() {
    let (rate, inertia) = (12.0, 0.5);
    let beam = || {
        let mut model = Lagrangian::new(2)
            .constant_mass(&[1.0, 0.0, 0.0, inertia])
            .force(move |t, _, _, f| f.copy_from_slice(&[-G, -rate * t]))
            .tangents(|_, _, _, k, c| {
                k.fill(0.0);
                c.fill(0.0);
            });
        for x in [-1.0, 0.0, 1.0] {
            let support = Contact::new(&format!("support {x}"), move |_, q| q[0] + x * q[1]);
            model = model.contact(support.gradient(move |_, _, row| row.copy_from_slice(&[1.0, x])).restitution(0.3));
        }
        model.initial(&[0.0; 2], &[0.0; 2]).linear()
    };
    let (start, end) = (G / rate, 1.3);
    let exact = -rate * f64::powi(end - start, 3) / (6.0 * (inertia + 1.0));
    for method in [RungeKutta::RadauIia3, RungeKutta::Herk3, RungeKutta::LobattoIiia3] {
        let s = run(beam(), scheme(method, 1e-3), end, 61);
        let (q, _) = last(&s);
        assert!((q[1] - exact).abs() < 1e-9 && (q[0] + q[1]).abs() < 1e-14, "{method:?}: {:e}", q[1] - exact);
        let still = (0..s.len()).filter(|&k| s.t[k] < start).map(|k| s.q(k)[1].abs()).fold(0.0, f64::max);
        assert!(still < 1e-14, "{method:?}: {still}");
    }
}

/// A mass on a table that moves like 15 sin t: it leaves where the table falls faster than g, with the table's
/// velocity.
struct Table;

impl Functions for Table {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        v[0] * v[0] * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[0] * G
    }
    fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
        out[0] = q[0] - t.sin() * 15.0;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("table", Law::UNILATERAL)]
    }
}

#[test]
fn moving_table_throws_a_mass() {
    let start = State::new(0.0, &[0.0], &[15.0]);
    let leaves = (G / 15.0f64).asin();
    let (end, s) = (1.5, 1.5 - leaves);
    let exact = 15.0 * (leaves.sin() + leaves.cos() * s) - 0.5 * G * s * s;
    for method in [RungeKutta::RadauIia3, RungeKutta::Herk3, RungeKutta::LobattoIiia3] {
        let model = DualLagrangian::new(Table, start.clone()).unwrap();
        let by_dual = last(&run(model, scheme(method, 1e-3), end, 61)).0[0] - exact;
        let closures = Lagrangian::new(1)
            .force(|_, _, _, f| f[0] = -G)
            .tangents(|_, _, _, k, c| (k[0], c[0]) = (0.0, 0.0))
            .contact(Contact::new("table", |t, q| q[0] - 15.0 * t.sin()).gradient(|_, _, row| row[0] = 1.0))
            .initial(&start.q, &start.v)
            .linear();
        let by_differences = last(&run(closures, scheme(method, 1e-3), end, 61)).0[0] - exact;
        // held on the table by projection, then a parabola: the bracket of the release and the differences are what is
        // left
        assert!(by_dual.abs() < 1e-9 && by_differences.abs() < 1e-6, "{method:?}: {by_dual:e} {by_differences:e}");
    }
}

/// The rod twice: redundant constraints change nothing.
#[test]
fn redundant_constraints_are_harmless() {
    struct Twice;
    impl Functions for Twice {
        fn kinetic<D: Scalar>(&self, t: D, q: &[D], v: &[D]) -> D {
            Pendulum.kinetic(t, q, v)
        }
        fn potential<D: Scalar>(&self, t: D, q: &[D]) -> D {
            Pendulum.potential(t, q)
        }
        fn outputs<D: Scalar>(&self, t: D, q: &[D], out: &mut [D]) {
            Pendulum.outputs(t, q, out);
            out[1] = out[0] * 2.0;
        }
        fn laws(&self) -> Vec<NamedLaw> {
            ["rod", "again"].map(|name| NamedLaw::new(name, Law::EQUALITY)).to_vec()
        }
    }
    let start = State::new(0.0, &[1.0, 0.0], &[0.0, 0.0]);
    let once = run(DualLagrangian::new(Pendulum, start.clone()).unwrap(), scheme(RungeKutta::RadauIia3, 1.0), 2.0, 40);
    let twice = run(DualLagrangian::new(Twice, start).unwrap(), scheme(RungeKutta::RadauIia3, 1.0), 2.0, 40);
    assert!(distance(once.positions(), twice.positions()) < 1e-12);
}

/// Elastic bounces keep the energy to the accuracy of the brackets, for a hundred seconds.
#[test]
fn elastic_ball_keeps_its_energy() {
    let ball = BouncingBall { restitution: 1.0, ..BouncingBall::default() };
    for method in RungeKutta::ALL {
        let mut run = simulation(ball.model(), scheme(method, 1e-3), 100.0, 2128);
        let mut ledger = LedgerObserver::default();
        run.run(&mut [&mut ledger]).unwrap();
        let energy = ledger.ledger().unwrap().last.total();
        let delta = (1e-3 * (100.0f64 / 2128.0).powi(method.order() as i32 + 1)).max(1e-13);
        // each of 50 bounces of speed 2 shifts q by at most 2 δ |v| and v by δ |a|
        println!("{method:?}: {:.1e}", energy - 2.0);
        assert!((energy - 2.0).abs() < 50.0 * 12.0 * delta, "{method:?}: {energy}");
    }
}
