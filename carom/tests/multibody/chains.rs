//! Chains of hinged rods: total length and mass 1, along x from a hinge at the origin, at rest, gravity −z.

use super::{combined, distance, hem5, rod, run};
use carom::multibody::{Body, Joint, Multibody, MultibodyModel};
use carom::scheme::ReactionDirection::Mid;
use carom::{LinearSolve, Mechanical, Space};

/// In space; the hinges are parallel, or cross in turn.
fn spatial(n: usize, crossed: bool) -> MultibodyModel {
    let (length, mass) = (1.0 / n as f64, 1.0 / n as f64);
    let mut system = Multibody::spatial().gravity([0.0, 0.0, -9.81]);
    let name = |i: usize| if i == 0 { "ground".to_string() } else { format!("rod{i}") };
    for i in 0..n {
        let (a, b) = (i as f64 * length, (i + 1) as f64 * length);
        system = system.body(rod(&name(i + 1), mass, [[a, 0.0, 0.0], [b, 0.0, 0.0]]));
        let axis = match (crossed, i % 2) {
            (false, _) => [0.0, 1.0, 0.0],
            (true, 0) => [0.0, 1.0, 1.0],
            (true, _) => [0.0, 1.0, -1.0],
        };
        system =
            system.joint(Joint::revolute(&format!("hinge{i}"), &name(i), &name(i + 1)).at([a, 0.0, 0.0]).axis(axis));
    }
    system.build().unwrap()
}

/// In the plane (x, z) of the references, as (x, y).
fn planar(n: usize) -> MultibodyModel {
    let (length, mass) = (1.0 / n as f64, 1.0 / n as f64);
    let mut system = Multibody::planar().gravity([0.0, -9.81]);
    let name = |i: usize| if i == 0 { "ground".to_string() } else { format!("rod{i}") };
    for i in 0..n {
        let a = i as f64 * length;
        system = system.body(Body::new(&name(i + 1), mass, mass * length * length / 12.0).at([a + 0.5 * length, 0.0]));
        system = system.joint(Joint::revolute(&format!("hinge{i}"), &name(i), &name(i + 1)).at([a, 0.0]));
    }
    system.build().unwrap()
}

#[test]
fn chains_of_ten_rods_with_hem5() {
    let end = run(spatial(10, false), hem5(), 0.25, 2.5e-3);
    let error = distance(&end.q[63..66], &[0.8274627233931, 0.0, -0.3065157395355]);
    assert!(error < 1e-9, "{error:e}");
    let end = run(spatial(10, true), hem5(), 0.25, 2.5e-3);
    let error = distance(&end.q[63..66], &[0.826144446059, 0.000668184195, -0.306280625032]);
    assert!(error < 1e-9, "{error:e}");
    // absolute angles, to 1e-12
    for (t, expected) in [
        (0.1, [0.9408841562405, -0.0490501386453]),
        (0.25, [0.8274627233931, -0.3065157395355]),
        (0.4, [0.4131830644365, -0.7902080666045]),
        (0.5, [-0.2162567662124, -0.8509543764298]),
    ] {
        // the chain swings faster and faster
        let (h, most) = if t < 0.45 { (2.5e-3, 1e-9) } else { (1.25e-3, 1e-8) };
        let error = distance(&run(planar(10), hem5(), t, h).q[27..29], &expected);
        println!("t {t}: {error:e}");
        assert!(error < most, "{t}: {error:e}");
    }
}

/// A hundred rods, against the equations of their angles.
#[test]
#[ignore = "long: a thousand steps of five stages, each with a dense system"]
fn a_chain_of_a_hundred_rods_with_hem5() {
    let end = run(planar(100), hem5(), 0.5, 5e-4);
    let error = distance(&end.q[297..299], &[-0.2562591045, -0.8352062869]);
    println!("{error:e}");
    assert!(error < 1e-5, "{error:e}");
}

/// Errors of the midpoint rule with projection at t = 0.5, as in an independent prototype.
#[test]
fn chains_of_ten_rods_at_second_order() {
    let parallel = distance(
        &run(spatial(10, false), combined(Mid), 0.5, 1e-3).q[63..66],
        &[-0.2162567662124, 0.0, -0.8509543764298],
    );
    assert!((parallel / 2.127e-5 - 1.0).abs() < 0.02, "{parallel:e}");
    let crossed = distance(
        &run(spatial(10, true), combined(Mid), 0.5, 1e-3).q[63..66],
        &[-0.2021499760540, 0.0859036069822, -0.8387692026432],
    );
    assert!((crossed / 1.587e-5 - 1.0).abs() < 0.02, "{crossed:e}");
    let plane = distance(&run(planar(10), combined(Mid), 0.5, 1e-3).q[27..29], &[-0.2162567662124, -0.8509543764298]);
    assert!((plane / 2.127e-5 - 1.0).abs() < 0.1, "{plane:e}");
}

/// A projection of one hinge moves the whole chain: sixty rods are closed in fewer iterations than they have hinges.
#[test]
fn a_chain_of_sixty_rods_is_projected() {
    let end = run(planar(60), combined(Mid), 5e-3, 1e-3);
    // absolute angles, DOP853 of SciPy with tolerances 1e-10 and 1e-12: the same to 1e-14
    let error = distance(&end.q[177..179], &[0.991665890415476, -1.226250000000e-4]);
    // a part (h/t)^2 of the fall
    assert!(error < 5e-6, "{error:e}");
}

/// Positions of a long chain are projected along the tree of its bodies: dense problems of 1600 rows would take
/// minutes.
#[test]
fn a_chain_of_four_hundred_rods_is_projected() {
    let (n, t) = (400, 5e-3);
    let end = run(planar(n), combined(Mid), t, 1e-3);
    // the far end does not know of the support yet
    let fall = end.q[3 * (n - 1) + 1] + 0.5 * 9.81 * t * t;
    assert!(fall.abs() < 1e-12, "{fall:e}");
    let mut coupling = carom::Coupling::default();
    planar(n).couple(end.t, &end.q, &mut coupling).unwrap();
    let gap = coupling.pairs.iter().fold(0.0f64, |most, pair| most.max(pair.gap.abs()));
    assert!(gap < 1e-12, "{gap:e}");
}

/// The first acceleration of the last centre, exactly: −(15/14) g, −(723/724) g, −(524175/524174) g.
#[test]
fn chains_begin_to_fall() {
    for (n, expected) in [(2, 15.0 / 14.0), (5, 723.0 / 724.0), (10, 524175.0 / 524174.0)] {
        for model in [spatial(n, false), planar(n)] {
            let is_planar = model.dim() == 3 * n;
            let h = 1e-7;
            let end = run(model, super::moreau(Mid), h, h);
            let size = if is_planar { 3 } else { 6 };
            let speed = end.v[(n - 1) * size + if is_planar { 1 } else { 2 }];
            assert!((-speed / (h * 9.81) - expected).abs() < 1e-8, "{n}: {} {expected}", -speed / (h * 9.81));
        }
    }
}

/// A long chain begins as one without an end: closed forms up to (2 − √3)^2n.
#[test]
fn a_thousand_rods_begin_to_fall() {
    let (n, h, gravity) = (1000, 1e-7, 9.81);
    for model in [spatial(n, false), planar(n)] {
        let is_planar = model.dim() == 3 * n;
        let (size, up) = if is_planar { (3, 1) } else { (6, 2) };
        let bound = carom::scheme::Bound::new(super::moreau(Mid), Box::new(model), carom_solve::solver::default());
        let mut stepper: Box<dyn carom::Stepper> = Box::new(bound.unwrap());
        stepper.attempt(h).unwrap();
        let falls = |rod: usize| -stepper.to().v[rod * size + up] / (h * gravity);
        assert!((falls(n - 1) - 1.0).abs() < 1e-8, "{}", falls(n - 1));
        assert!((falls(0) - 0.6339745962156).abs() < 1e-8, "{}", falls(0));
        // the rows of the first hinge are the first of all; in axes of the space
        let force = stepper.reactions().impulse[..up + 1].iter().map(|p| p * p).sum::<f64>().sqrt() / h;
        let weight = gravity / n as f64;
        assert!((force / weight - 0.2886751345948).abs() < 1e-8, "{}", force / weight);
    }
}

/// A tree of wires in space: what its root carries is rounded by more than a part of what moves it, and a rod that
/// hardly resists turning about itself shows it.
#[test]
fn a_tree_of_slender_rods_meets_its_balance() {
    let (n, length) = (200, 1.0 / 7.0);
    let mut ends = vec![[0.0; 3]];
    let mut system = Multibody::spatial().gravity([0.0, 0.0, -9.81]);
    for i in 1..=n {
        let parent = (i - 1) / 2;
        // directions without a pattern, all at one angle to x
        let (sine, cosine) = ((i as f64 * 0.754877666).fract() * std::f64::consts::TAU).sin_cos();
        let (a, way) = (ends[parent], [0.6, 0.8 * cosine, 0.8 * sine]);
        let b = std::array::from_fn(|j| a[j] + length * way[j]);
        ends.push(b);
        let name = |i: usize| if i == 0 { "ground".to_string() } else { format!("rod{i}") };
        let across = length * length / (12.0 * n as f64);
        system = system
            .body(super::rod_of(&name(i), 1.0 / n as f64, [a, b], [1e-7 * across, across, across]))
            .joint(Joint::revolute(&format!("hinge{i}"), &name(parent), &name(i)).at(a).axis([0.0, -way[2], way[1]]));
    }
    run(system.build().unwrap(), super::moreau(Mid), 5e-3, 1e-4);
}

/// Blocks of the iteration matrix are those of single bodies.
#[test]
fn bodies_without_springs_have_blocks_of_their_own() {
    let mut model = spatial(3, true);
    let at = model.initial();
    model.factor(&at, carom::model::Combination { mass: 1.0, damping: 0.1, stiffness: 0.01 }).unwrap();
    assert_eq!(model.block(7), 6..12);
    let mut x = vec![1.0; 6];
    model.solve_block(6..12, &mut x);
    let mut all = vec![1.0; 18];
    model.solve(&mut all);
    assert_eq!(&all[6..12], &x[..]);
}

/// Newton's loop of a chain of 300 rods takes few iterations though the waves of its tension are faster than the step.
#[test]
fn long_chains_take_few_iterations() {
    let bound =
        carom::scheme::Bound::new(super::moreau(Mid), Box::new(spatial(300, true)), carom_solve::solver::default());
    let mut stepper: Box<dyn carom::Stepper> = Box::new(bound.unwrap());
    for _ in 0..30 {
        let step = stepper.attempt(1e-3).unwrap();
        assert!(step.iterations <= 6, "{} at {}", step.iterations, stepper.from().t);
        stepper.accept();
    }
}

/// An iteration costs as much per rod in a long chain as in one of 100, up to what caches do. Steps of one size take
/// more iterations the finer the chain is, as it has faster waves.
#[test]
#[ignore = "long: it measures time"]
fn long_chains_cost_what_their_rods_cost() {
    let cost = |n: usize, h: f64, steps: usize| {
        let bound =
            carom::scheme::Bound::new(super::moreau(Mid), Box::new(spatial(n, true)), carom_solve::solver::default());
        let mut stepper: Box<dyn carom::Stepper> = Box::new(bound.unwrap());
        let (mut best, mut iterations, mut whole) = (f64::INFINITY, 0, 0.0);
        for _ in 0..steps {
            let start = std::time::Instant::now();
            let done = stepper.attempt(h).unwrap_or_else(|e| panic!("{n} {h:e} t {}: {e}", stepper.from().t));
            iterations += done.iterations;
            stepper.accept();
            let seconds = start.elapsed().as_secs_f64();
            (best, whole) = (f64::min(best, seconds), whole + seconds);
        }
        let (mean, iterations) = (whole / steps as f64, f64::from(iterations) / steps as f64);
        println!("{n} rods, h {h:e}: {:.3} ms per step, least {:.3}; {iterations} iterations", 1e3 * mean, 1e3 * best);
        (mean, mean / iterations)
    };
    for h in [1e-3, 5e-4, 1e-4] {
        let costs = [cost(100, h, 200), cost(1000, h, 50), cost(10_000, h, 10)];
        for pair in costs.windows(2) {
            let exponents = [(pair[1].0 / pair[0].0).log10(), (pair[1].1 / pair[0].1).log10()];
            println!("exponents {:.2}, of an iteration {:.2}", exponents[0], exponents[1]);
            assert!(pair[1].1 < 20.0 * pair[0].1, "{costs:?}");
        }
    }
}
