//! Reactions that friction and redundant supports leave open.

use super::*;
use carom::equilibrium::Status;
use carom::multibody::pair::{Plane, Sphere, SpherePlane};
use carom::multibody::{Body, Contact, Joint, Motor};

/// A ladder of length 1 and weight 1 at an angle, its centre at a fraction of its length from the foot.
fn ladder(angle: f64, s: f64, [floor, wall]: [f64; 2]) -> Multibody {
    let (sin, cos) = angle.sin_cos();
    let end = |at: f64| Sphere::point([at - s, 0.0, 0.0]);
    let plane = |normal| Plane { point: [0.0; 3], normal };
    Multibody::planar()
        .gravity([0.0, -1.0])
        .body(Body::new("ladder", 1.0, 1.0 / 12.0).at([-(1.0 - s) * cos, s * sin]).angle(angle))
        .contact(
            Contact::new("floor", "ground", "ladder", SpherePlane { plane: plane([0.0, 1.0, 0.0]), sphere: end(0.0) })
                .friction(floor),
        )
        .contact(
            Contact::new("wall", "ground", "ladder", SpherePlane { plane: plane([-1.0, 0.0, 0.0]), sphere: end(1.0) })
                .friction(wall),
        )
}

#[test]
fn a_ladder_slips_below_its_angle() {
    for (floor, wall, s, degrees) in
        [(0.3f64, 0.3, 0.5, 56.6015115320), (0.4, 0.2, 0.5, 48.9909130984), (0.3, 0.0, 0.5, 59.0362434679)]
    {
        let closed = (s * (1.0 + floor * wall) / floor - wall).atan();
        near(closed.to_degrees(), degrees, 1e-9);
        assert!(falls(&ladder(closed - 1e-7, s, [floor, wall])), "{degrees}");
        let found = here(&ladder(closed + 1e-7, s, [floor, wall]));
        // at the limit all friction is needed
        near(found.reserve.unwrap(), 1.0, 1e-5);
    }
}

#[test]
fn forces_of_a_ladder_have_known_ranges() {
    let found = here(&ladder(60f64.to_radians(), 0.5, [0.3, 0.3]));
    assert_eq!(found.freedom, 1);
    near_both(range(&found, "wall", 0), [0.2460568398, 0.3122497073], 1e-10);
    near_both(range(&found, "floor", 0), [0.9261829481, 1.0408323577], 1e-10);
    // the closed form behind them: tan 60 = √3
    let (t, mu, s) = (3f64.sqrt(), 0.3, 0.5);
    near_both(range(&found, "wall", 0), [s / (t + mu), mu * (1.0 - s) / (1.0 - mu * t)], 1e-12);
    // the floor must hold the wall's push: T_f/N_f = N_w/N_f, least where the wall helps most
    let least = s / (t + mu) / (1.0 - mu * s / (t + mu));
    let needed = law(&found, "floor").usage[0].unwrap();
    near(needed.least.unwrap(), least / mu, 1e-12);
    near(needed.most.unwrap(), 1.0, 1e-12);
    // without friction at the wall the floor needs s/tan α, and the wall may always go without
    near(law(&found, "wall").usage[0].unwrap().least.unwrap(), 0.0, 1e-12);
    // tan α = s (1 + m²)/m − m for m = share of both: m² (1 − s) + m tan α − s = 0
    let m = (-t + (t * t + 4.0 * (1.0 - s) * s).sqrt()) / (2.0 * (1.0 - s));
    near(found.reserve.unwrap(), m / mu, 1e-8);
    assert!(found.laws.iter().all(|law| law.status == Status::Carries));
}

/// n blocks of length 1 and weight 1, each over the one below by L/2k from the top, times a factor.
fn overhang(n: usize, factor: f64) -> Multibody {
    let mut system = Multibody::planar().gravity([0.0, -1.0]);
    let plane = |at: [f64; 3], normal| Plane { point: at, normal };
    // from the table up; the k-th from the top stands out by 1/2k
    let (mut below, mut x, half) = ("ground".to_owned(), -0.5, [0.5, 0.1]);
    for k in (1..=n).rev() {
        let name = format!("block{k}");
        x += factor * 0.5 / k as f64;
        let y = 0.2 * (n - k) as f64 + 0.1;
        system = system.body(Body::new(&name, 1.0, 0.1).at([x, y]));
        // the edge of what is below under the face of the block, and the corner of the block on what is below
        let edge = if k == n { [0.0, 0.0, 0.0] } else { [half[0], half[1], 0.0] };
        let face = plane([0.0, -half[1], 0.0], [0.0, -1.0, 0.0]);
        let top = plane(if k == n { [0.0; 3] } else { [0.0, half[1], 0.0] }, [0.0, 1.0, 0.0]);
        let corner = Sphere::point([-half[0], -half[1], 0.0]);
        system = system
            .contact(
                Contact::new(
                    &format!("edge{k}"),
                    &name,
                    &below,
                    SpherePlane { plane: face, sphere: Sphere::point(edge) },
                )
                .friction(0.5),
            )
            .contact(
                Contact::new(&format!("rear{k}"), &below, &name, SpherePlane { plane: top, sphere: corner })
                    .friction(0.5),
            );
        below = name;
    }
    system
}

#[test]
fn an_overhanging_stack_stands_up_to_half_the_harmonic_number() {
    for (n, reach) in [(4, 25.0 / 24.0), (5, 137.0 / 120.0)] {
        let sum: f64 = (1..=n).map(|k| 0.5 / k as f64).sum();
        near(sum, reach, 1e-15);
        let found = here(&overhang(n, 0.999));
        // all weight above is on the edges, nearly
        for k in 1..=n {
            let edge = range(&found, &format!("edge{k}"), 0);
            assert!(edge[0] > 0.99 * k as f64 && edge[1] < k as f64 + 1e-9, "{k}: {edge:?}");
        }
        assert!(falls(&overhang(n, 1.001)));
    }
}

/// A table of weight 1 whose load is at a point, on four legs without friction.
fn table(x: f64, y: f64) -> Multibody {
    let mut system = Multibody::spatial().gravity([0.0, 0.0, -1.0]).body(Body::new("table", 1.0, 0.4).at([x, y, 1.0]));
    for (name, leg) in [("++", [1.0, 1.0]), ("-+", [-1.0, 1.0]), ("--", [-1.0, -1.0]), ("+-", [1.0, -1.0])] {
        let plane = Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };
        let sphere = Sphere::point([leg[0] - x, leg[1] - y, -1.0]);
        system = system.contact(Contact::new(name, "ground", "table", SpherePlane { plane, sphere }));
    }
    system
}

#[test]
fn a_table_on_four_legs() {
    let found = here(&table(0.0, 0.0));
    assert_eq!(found.freedom, 1);
    for name in ["++", "-+", "--", "+-"] {
        near_both(range(&found, name, 0), [0.0, 0.5], 1e-12);
        near(law(&found, name).reaction[0].middle, 0.25, 1e-12);
        assert_eq!(law(&found, name).status, Status::MayCarry);
    }
    let found = here(&table(0.3, 0.2));
    for (name, ends) in [("++", [0.25, 0.6]), ("-+", [0.0, 0.35]), ("--", [0.0, 0.35]), ("+-", [0.05, 0.4])] {
        near_both(range(&found, name, 0), ends, 1e-12);
    }
    assert_eq!(law(&found, "++").status, Status::Carries);
    assert!(falls(&table(1.001, 0.0)));
}

/// A block on an incline in space, on four corners: the friction that it needs is the slope, whatever its direction.
#[test]
fn a_block_on_an_incline_needs_its_slope() {
    let block = |slope: f64, mu: f64| {
        let mut system = Multibody::spatial()
            .gravity([G * slope.sin() * 0.6, G * slope.sin() * 0.8, -G * slope.cos()])
            .body(Body::new("block", 2.0, 0.01).at([0.0, 0.0, 0.1]));
        for k in 0..4 {
            let (x, y) = (if k % 2 == 0 { 0.3 } else { -0.3 }, if k / 2 == 0 { 0.2 } else { -0.2 });
            let plane = Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };
            let pair = SpherePlane { plane, sphere: Sphere::point([x, y, -0.1]) };
            system = system.contact(Contact::new(&format!("corner{k}"), "ground", "block", pair).friction(mu));
        }
        system
    };
    let slope = 0.35f64;
    let found = here(&block(slope, 0.5));
    near(found.reserve.unwrap(), slope.tan() / 0.5, 1e-6);
    // 12 unknowns, 6 equations
    assert_eq!(found.freedom, 6);
    // pressures are those of a table whose load is where the weight meets the floor; friction along the slope in
    // proportion to them has no moment, so that it bounds none of them
    let weight = 2.0 * G * slope.cos();
    let [x, y] = [0.6 / 0.3, 0.8 / 0.2].map(|part| 0.1 * slope.tan() * part);
    let even = |k: usize| {
        let [a, b] = [if k.is_multiple_of(2) { x } else { -x }, if k / 2 == 0 { y } else { -y }];
        0.25 * weight * (1.0 + a + b)
    };
    let more = |k: usize| if k == 0 || k == 3 { even(1).min(even(2)) } else { even(0).min(even(3)) };
    let less = |k: usize| if k == 0 || k == 3 { even(0).min(even(3)) } else { even(1).min(even(2)) };
    for k in 0..4 {
        near_both(range(&found, &format!("corner{k}"), 0), [even(k) - less(k), even(k) + more(k)], 1e-6);
        let usage = law(&found, &format!("corner{k}")).usage[0].unwrap();
        assert!(usage.least.unwrap() <= slope.tan() / 0.5 && usage.most.unwrap() <= 1.0 + 1e-6, "{usage:?}");
    }
    assert!(falls(&block(slope, slope.tan() * (1.0 - 1e-6))));
    assert!(!falls(&block(slope, slope.tan() * (1.0 + 1e-6))));
}

/// A door on two hinges: what each bears along the axis is open without end, what only both can bear is not.
#[test]
fn redundant_joints_are_open() {
    let door = Multibody::spatial()
        .gravity([0.0, 0.0, -G])
        .body(Body::new("door", 20.0, [3.0, 3.0, 1.0]).at([0.4, 0.0, 1.0]))
        .joint(Joint::revolute("low", "ground", "door").at([0.0, 0.0, 0.2]).axis([0.0, 0.0, 1.0]))
        .joint(Joint::revolute("high", "ground", "door").at([0.0, 0.0, 1.8]).axis([0.0, 0.0, 1.0]));
    let found = here(&door);
    assert_eq!(found.freedom, 5);
    assert!(found.laws.iter().all(|law| law.reaction[0].middle.is_finite()));
    let open = found.laws.iter().filter(|law| law.reaction[0].least.is_none()).count();
    assert_eq!(open, 10, "all ten rows are shared");
    // the turn about the hinges costs nothing
    let modes = found.vibrations.unwrap().modes;
    assert!(modes.len() == 1 && modes[0].omega == 0.0 && modes[0].growth == 0.0, "{modes:?}");
}

#[test]
fn what_is_driven_does_not_rest() {
    let system = Multibody::planar()
        .body(Body::new("wheel", 1.0, 1.0))
        .joint(Joint::revolute("axle", "ground", "wheel").at([0.0, 0.0]))
        .motor(Motor::velocity("drive", "axle", |_: &[f64], out: &mut [f64]| out[0] = 2.0));
    match rest_of(&system, Where::FromHere) {
        Err(EquilibriumError::Driven { law, rate, .. }) => {
            assert_eq!((law.as_str(), rate), ("drive", -2.0));
        }
        other => panic!("{other:?}"),
    }
}
