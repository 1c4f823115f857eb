//! The slider-crank with play in its guide and in its pin, in the plane and in space.

use super::*;
use carom::testbed::multibody::SliderCrank;

/// Time, angular velocity of the crank and energy after two turns, between steps.
struct Turns {
    t: f64,
    omega: f64,
    energy: f64,
}

/// Runs until the crank has made two turns.
fn two_turns<S: Scheme<Model = dyn Mechanical>>(scheme: &S, system: SliderCrank, h: f64) -> (Trace, Turns) {
    let mut angle = 0.0;
    let mut last = 0.0;
    let goes_on = |state: &State| {
        if system.is_planar {
            angle = state.q[2];
        } else {
            // the crank turns about z by its velocity, steps are small
            angle += 0.5 * (last + state.v[5]) * if state.t > 0.0 { h } else { 0.0 };
            last = state.v[5];
        }
        angle < 4.0 * std::f64::consts::PI
    };
    let trace = attempt(scheme, &system.describe(), h, goes_on).unwrap();
    let omega = trace.last().v[if system.is_planar { 2 } else { 5 }];
    let turns = Turns { t: trace.last().t, omega, energy: trace.energy[trace.energy.len() - 1] };
    println!(
        "{system:?} h = {h:e}: t {:.5} omega {:.4} E {:.5} penetration {:.3e} start {:.5}",
        turns.t,
        turns.omega,
        turns.energy,
        -trace.least_gap(),
        trace.energy[0],
    );
    (trace, turns)
}

fn combined() -> CombinedProjection {
    CombinedProjection::default()
}

/// An ideal pin: the values of the Lagrangian model with minimal coordinates.
#[test]
fn an_ideal_pin_agrees_with_minimal_coordinates() {
    let (trace, turns) = two_turns(&capturing(gamma(0.0)), SliderCrank::default(), 1e-5);
    near(trace.energy[0], 7.49555, 1e-5);
    near(turns.t, 0.13756, 2e-5);
    near(turns.omega, 146.416, 0.004);
    near(turns.energy, 7.1412, 1e-3);
    let (trace, turns) = two_turns(&combined(), SliderCrank::default(), 1e-5);
    near(turns.t, 0.13756, 2e-5);
    near(turns.omega, 146.416, 0.004);
    near(turns.energy, 7.1412, 1e-3);
    assert!(trace.least_gap() > -1e-12);
}

/// The same at a coarse step, which any test run can afford: the row of the table for h = 1e-4.
#[test]
fn an_ideal_pin_at_a_coarse_step() {
    let (_, turns) = two_turns(&capturing(gamma(0.0)), SliderCrank::default(), 1e-4);
    near(turns.t, 0.13760, 1e-5);
    near(turns.omega, 146.390, 0.02);
    near(turns.energy, 7.1393, 2e-3);
    let (trace, turns) = two_turns(&combined(), SliderCrank::default(), 1e-4);
    near(turns.t, 0.13760, 1e-5);
    near(turns.omega, 146.398, 0.02);
    near(turns.energy, 7.1454, 2e-3);
    assert!(trace.least_gap() > -1e-12);
}

/// What happens at the first impact of the pin: time, velocities before, impulse, velocities after, lost energy.
#[derive(Debug)]
struct FirstImpact {
    t: f64,
    normal: f64,
    tangential: f64,
    impulse: f64,
    crank: f64,
    rod: f64,
    loss: f64,
}

/// The closed form: the crank is a pendulum, rod and slider are a free body that turns with −75 rad/s about its centre;
/// the pin comes to the edge of the hole; one impact without restitution and with slip or its reversal.
///
/// The angle of the pendulum is integrated by a Taylor-accurate Runge-Kutta method with very small steps.
fn first_impact(play: f64) -> FirstImpact {
    let (l1, l2, radius, mu) = (SliderCrank::CRANK, SliderCrank::ROD, SliderCrank::HOLE, 0.01);
    let ([m1, m2, m3], [j1, j2, _]) = (SliderCrank::MASSES, SliderCrank::INERTIAS);
    let about = j1 + 0.25 * m1 * l1 * l1;
    // θ'' = −m g l/2 cos θ / I from θ = 0, θ' = 150: steps of order four, 2e-7 s or less
    let crank = |t: f64| {
        let f = |y: [f64; 2]| [y[1], -0.5 * m1 * GRAVITY * l1 * y[0].cos() / about];
        let steps = (t / 1e-6).ceil().max(1.0);
        let h = t / steps;
        let mut y = [0.0, 150.0];
        for _ in 0..steps as usize {
            let along = |k: [f64; 2], part: f64| [y[0] + part * k[0], y[1] + part * k[1]];
            let k1 = f(y);
            let k2 = f(along(k1, 0.5 * h));
            let k3 = f(along(k2, 0.5 * h));
            let k4 = f(along(k3, h));
            y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
        }
        y
    };
    let mass = m2 + m3;
    let reach = (0.5 * m2 * l2 + m3 * l2) / mass;
    let rise = 150.0 * l1 - 75.0 * reach;
    let centre = |t: f64| [l1 + reach, rise * t - 0.5 * GRAVITY * t * t];
    let offset = |t: f64| {
        let (c, [angle, _]) = (centre(t), crank(t));
        let pin = [c[0] - reach * (75.0 * t).cos(), c[1] + reach * (75.0 * t).sin()];
        [pin[0] - l1 * angle.cos(), pin[1] - l1 * angle.sin()]
    };
    let far = |t: f64| offset(t)[0].hypot(offset(t)[1]) - play;
    let (mut low, mut high) = (1e-4, 2e-3);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if far(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let t = 0.5 * (low + high);
    let ([angle, spin], c, off) = (crank(t), centre(t), offset(t));
    let out = [off[0] / play, off[1] / play];
    let tip = [l1 * angle.cos(), l1 * angle.sin()];
    let on_hole = [tip[0] + radius * out[0], tip[1] + radius * out[1]];
    let on_pin = [on_hole[0], on_hole[1]]; // the same point where they touch
    let row = |d: [f64; 2]| {
        let lever = [on_pin[0] - c[0], on_pin[1] - c[1]];
        let moment = |p: [f64; 2]| p[0] * d[1] - p[1] * d[0];
        [-moment(on_hole), d[0], d[1], moment(lever)]
    };
    let n = [-out[0], -out[1]];
    let (normal, tangent) = (row(n), row([n[1], -n[0]]));
    let inertia = j2 + m2 * (reach - 0.5 * l2).powi(2) + m3 * (l2 - reach).powi(2);
    let masses = [about, mass, mass, inertia];
    let v = [spin, 0.0, rise - GRAVITY * t, -75.0];
    let dot = |a: [f64; 4], b: [f64; 4]| (0..4).map(|i| a[i] * b[i]).sum::<f64>();
    let over = |a: [f64; 4]| std::array::from_fn::<f64, 4, _>(|i| a[i] / masses[i]);
    let (u_n, u_t) = (dot(normal, v), dot(tangent, v));
    let (w_nn, w_nt, w_tt) = (dot(normal, over(normal)), dot(normal, over(tangent)), dot(tangent, over(tangent)));
    // slip in one direction or the other at the end; Moreau's law takes the velocity after the impact
    let (impulse, shear) = [1.0, -1.0]
        .into_iter()
        .map(|s| {
            let p = -u_n / (w_nn - s * mu * w_nt);
            (p, -s * mu * p, s)
        })
        .find(|(p, q, s)| *p > 0.0 && (u_t + w_nt * p + w_tt * q) * s >= 0.0)
        .map(|(p, q, _)| (p, q))
        .unwrap();
    let after: [f64; 4] = std::array::from_fn(|i| v[i] + (normal[i] * impulse + tangent[i] * shear) / masses[i]);
    let energy = |v: [f64; 4]| 0.5 * (0..4).map(|i| masses[i] * v[i] * v[i]).sum::<f64>();
    let loss = energy(after) - energy(v);
    FirstImpact { t, normal: u_n, tangential: u_t, impulse, crank: after[0], rod: after[3], loss }
}

#[test]
fn the_closed_form_is_that_of_the_specification() {
    for (play, t, un, ut, p, crank, rod, loss) in [
        (5e-4, 4.52917e-4, -2.207213, 2.1981, 0.241243, 141.87623, -73.02447, -0.27051),
        (5e-3, 1.433966e-3, -6.956211, 1.7344, 0.566550, 102.30584, -55.74135, -1.96872),
    ] {
        let impact = first_impact(play);
        near(impact.t, t, 5.1e-10);
        near(impact.normal, un, 1e-6);
        near(impact.tangential.abs(), ut, 1e-4);
        near(impact.impulse, p, 1e-6);
        near(impact.crank, crank, 1e-5);
        near(impact.rod, rod, 1e-5);
        near(impact.loss, loss, 1e-5);
    }
}

#[test]
fn the_first_impact_of_the_pin_is_that_of_the_closed_form() {
    for play in [5e-4, 5e-3] {
        let exact = first_impact(play);
        let system = SliderCrank { play: Some(play), ..SliderCrank::default() };
        let log = located(&system.describe(), 1.2 * exact.t, 1e-5);
        let impacts = log.of(EventKind::Impact, "pin.pin");
        let impact = impacts[0];
        println!("{exact:?}: {:?} {:?}", impact.t, impact.after.v);
        near(impact.t / exact.t, 1.0, 1e-8);
        near(impact.after.v[2] / exact.crank, 1.0, 1e-8);
        near(impact.after.v[5] / exact.rod, 1.0, 1e-8);
        let energy = |state: &State| {
            let m = SliderCrank::MASSES;
            let j = SliderCrank::INERTIAS;
            let v = &state.v;
            (0..3)
                .map(|i| {
                    0.5 * (m[i] * (v[3 * i] * v[3 * i] + v[3 * i + 1] * v[3 * i + 1])
                        + j[i] * v[3 * i + 2] * v[3 * i + 2])
                })
                .sum::<f64>()
        };
        near((energy(&impact.after) - energy(&impact.before)) / exact.loss, 1.0, 1e-7);
    }
}

/// Capturing schemes find the same impact with an error of the order of the step.
#[test]
fn the_first_impact_by_small_steps() {
    for play in [5e-4, 5e-3] {
        let exact = first_impact(play);
        let system = SliderCrank { play: Some(play), ..SliderCrank::default() };
        let errors: Vec<f64> = [1e-5, 1e-6]
            .into_iter()
            .map(|h| {
                let trace = run(&combined(), &system.describe(), h, (1.02 * exact.t / h) as usize);
                let law = trace.law("pin.pin");
                let k = trace.impulses.iter().position(|p| p[law][0] > 0.0).unwrap();
                let state = &trace.states[k + 1];
                println!("play {play} h {h}: t {} omega {} {}", state.t, state.v[2], state.v[5]);
                assert!((state.t - exact.t).abs() <= 1.01 * h);
                let relative = [
                    state.v[2] / exact.crank,
                    state.v[5] / exact.rod,
                    trace.impulses[k][law][0] / exact.impulse,
                    // gravity does hardly any work in a step
                    (trace.energy[k + 1] - trace.energy[k]) / exact.loss,
                ];
                println!("{relative:?}");
                relative.iter().fold(0.0f64, |most, x| most.max((x - 1.0).abs()))
            })
            .collect();
        assert!(errors[1] < 3e-3, "{errors:?}");
        assert!(errors[1] < 0.2 * errors[0], "{errors:?}");
    }
}

/// Two turns with play: the pin stays pressed after its first impact.
#[test]
fn two_turns_with_play() {
    let system = SliderCrank { play: Some(5e-4), ..SliderCrank::default() };
    let (trace, turns) = two_turns(&combined(), system, 1e-5);
    near(turns.t, 0.1411, 3e-4);
    near(turns.energy, 6.770, 0.01);
    near(trace.share("pin.pin"), 0.997, 0.002);
    assert!(trace.least_gap() > -1e-12);
    let (trace, _) = two_turns(&capturing(gamma(0.0)), system, 1e-5);
    let pin = trace.law("pin.pin");
    let deepest = trace.gaps.iter().map(|g| -g[pin]).fold(0.0, f64::max);
    assert!((1e-5..6e-5).contains(&deepest), "{deepest}");
}

/// In space, with two rims in the hole and a round slider: kicked out of its plane.
#[test]
fn two_turns_with_play_in_space() {
    let system = SliderCrank { is_planar: false, play: Some(5e-4), kick: 1.0 };
    // two rims carry one force: their impulses are found to fewer digits than those of one contact
    let scheme = CombinedProjection { newton_tolerance: 1e-8, ..combined() };
    let (trace, turns) = two_turns(&scheme, system, 1e-5);
    near(turns.t, 0.14127, 5e-4);
    near(turns.energy, 6.755, 0.03);
    assert!(trace.least_gap() > -1e-12);
}

/// A play of .02 mm is passed in a fraction of a step, in which the normal of the pin turns by a radian: Newton's loop
/// fails there, and such steps are taken in parts. The others keep to the grid. The motion is that of small steps.
#[test]
fn a_small_play_at_large_steps() {
    let system = SliderCrank { play: Some(2e-5), ..SliderCrank::default() };
    let end = 0.02;
    let turned = |h: f64| {
        let model: Box<dyn Mechanical> = Box::new(system.describe().build().unwrap());
        let stepper = Bound::new(combined(), model, accurate()).unwrap();
        let simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
        let mut simulation = simulation.parting().unwrap();
        let mut log = Log::default();
        simulation.run(&mut [&mut log]).unwrap_or_else(|error| panic!("{h:e}: {error}"));
        let times: Vec<f64> = log.states.iter().map(|state| state.t).collect();
        // all of the grid is met, to rounding
        for k in 1..=(end / h).round() as usize {
            let t = k as f64 * h;
            assert!(times.iter().any(|time| (time - t).abs() < 1e-12), "{h:e}: {t}");
        }
        let warned = simulation.warnings().sorted();
        let parted = warned.iter().find(|warning| warning.kind.name == "parted-step");
        println!("{h:e}: {:?} {parted:?} lowest {:e}", simulation.statistics(), log.lowest);
        let count = parted.map_or(0, |warning| warning.count);
        assert_eq!(count, simulation.statistics().rejected);
        assert!(log.lowest > -1e-12, "{h:e}: {:e}", log.lowest);
        let state = simulation.state();
        (state.q[2], state.v[2], count)
    };
    // without parts the run ends and tells of them
    let model: Box<dyn Mechanical> = Box::new(system.describe().build().unwrap());
    let stepper = Bound::new(combined(), model, accurate()).unwrap();
    let mut whole = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-4 }), end).unwrap();
    let error = whole.run(&mut []).unwrap_err().to_string();
    assert!(error.contains("`part = true`"), "{error}");
    let (angle, omega, _) = turned(2e-6);
    for h in [2e-5, 5e-5, 1e-4] {
        let (found, speed, parted) = turned(h);
        println!("{h:e}: {} {}", found - angle, speed - omega);
        near(found, angle, 2e-3);
        // five plays per step
        assert!(parted > 0 || h < 1e-4);
    }
}
