//! Blocks on inclines and stacks: closed forms, steps of 2 ms.

use super::*;
use carom::multibody::pair::{Block, BlockPlane, Plane};
use carom::multibody::{Body, Contact};

const H: f64 = 2e-3;

fn block(name: &str, mass: f64, half: [f64; 3], height: f64) -> Body {
    let [x, y, z] = half.map(|l| 4.0 * l * l * mass / 12.0);
    Body::new(name, mass, [y + z, z + x, x + y]).at([0.0, 0.0, height])
}

fn floor(point: [f64; 3]) -> Plane {
    Plane { point, normal: [0.0, 0.0, 1.0] }
}

#[test]
fn a_block_on_an_incline_slips_or_sticks() {
    let angle = 20f64.to_radians();
    let half = [0.2, 0.15, 0.1];
    let run = |mu: f64| {
        let pair = BlockPlane { plane: floor([0.0; 3]), block: Block::new(half) };
        let system = Multibody::spatial()
            .gravity([GRAVITY * angle.sin(), 0.0, -GRAVITY * angle.cos()])
            .body(block("block", 1.3, half, half[2]))
            .contact(Contact::new("floor", "ground", "block", pair).friction(mu));
        run(&MoreauJean::default(), &system, H, 250)
    };
    let expected = GRAVITY * (angle.sin() - 0.3 * angle.cos());
    near(expected, 0.589702, 1e-6);
    near(run(0.3).last().v[0] / 0.5, expected, 1e-12);
    let stuck = run(0.4);
    let speed = stuck.states.iter().flat_map(|s| &s.v).fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(speed < 1e-12, "{speed:e}");
}

/// A block of half width b and half height c on an incline topples where the slope and the friction are more than b/c,
/// about its lower edge at first.
#[test]
fn a_block_on_an_incline_topples() {
    let half = [0.05, 0.05, 0.15];
    let limit = half[0] / half[2];
    let speed = |angle: f64, mu: f64, steps: usize| {
        let pair = BlockPlane { plane: floor([0.0; 3]), block: Block::new(half) };
        let system = Multibody::spatial()
            .gravity([GRAVITY * angle.sin(), 0.0, -GRAVITY * angle.cos()])
            .body(block("block", 1.3, half, half[2]))
            .contact(Contact::new("floor", "ground", "block", pair).friction(mu));
        run(&MoreauJean::default(), &system, 1e-5, steps).last().v.clone()
    };
    let edge = limit.atan();
    let at = edge + 0.1;
    // m g d sin(a − edge) over 4/3 m d², d from the edge to the centre
    let d = half[0].hypot(half[2]);
    let expected = GRAVITY * (at - edge).sin() / (4.0 / 3.0 * d);
    let steps = 10;
    near(speed(at, 2.0 * limit, steps)[4] / (1e-5 * steps as f64), expected, 1e-4 * expected);
    // not steep enough: it stands
    assert!(speed(edge - 0.01, 2.0 * limit, steps).iter().all(|v| v.abs() < 1e-12));
    // too slippery: it slides upright
    let (slope, v) = (at, speed(at, 0.9 * limit, steps));
    near(v[0] / (1e-5 * steps as f64), GRAVITY * (slope.sin() - 0.9 * limit * slope.cos()), 1e-9);
    assert!(v[4].abs() < 1e-12, "{v:?}");
}

#[test]
fn a_stack_of_boxes_carries_its_weight() {
    let half = [0.2, 0.2, 0.1];
    let mut system = Multibody::spatial().gravity([0.0, 0.0, -GRAVITY]);
    let names = ["ground", "low", "middle", "high"];
    for (i, mass) in [1.0, 2.0, 3.0].into_iter().enumerate() {
        let height = half[2] * (2.0 * i as f64 + 1.0);
        let top = if i == 0 { [0.0; 3] } else { [0.0, 0.0, half[2]] };
        let pair = BlockPlane { plane: floor(top), block: Block::new(half) };
        system = system
            .body(block(names[i + 1], mass, half, height))
            .contact(Contact::new(names[i + 1], names[i], names[i + 1], pair).friction(0.3));
    }
    let trace = run(&MoreauJean::default(), &system, H, 100);
    for (name, weight) in [("low", 6.0), ("middle", 5.0), ("high", 3.0)] {
        let sum: f64 = (1..=8).map(|k| trace.last_impulse(&format!("{name}.{k}"))[0]).sum();
        near(sum / H, weight * GRAVITY, 1e-8);
    }
    let speed = trace.states.iter().flat_map(|s| &s.v).fold(0.0f64, |m, v| m.max(v.abs()));
    assert!(speed < 1e-10, "{speed:e}");
}
