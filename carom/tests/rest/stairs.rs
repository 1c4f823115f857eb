//! A box on a staircase: each corner has a contact with every tread, which counts above that tread only.

use crate::{G, Log, both, moreau_jean};
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::{EventKind, State};
use carom_solve::Law;

const TREADS: usize = 14;
const WIDTH: f64 = 0.4;
const RISE: f64 = 0.05;
const HALF: [f64; 2] = [0.15, 0.1];

#[derive(Clone)]
struct Stairs {
    mu: f64,
    restitution: f64,
}

impl Stairs {
    /// Height and place of corner `k`.
    fn corner<D: Scalar>(k: usize, q: &[D]) -> (D, D) {
        let side = if k == 0 { -HALF[0] } else { HALF[0] };
        let (s, c) = (q[2].sin(), q[2].cos());
        (q[1] + s * side - c * HALF[1], q[0] + c * side + s * HALF[1])
    }

    fn model(&self, q: [f64; 3], v: [f64; 3]) -> DualLagrangian<Stairs> {
        DualLagrangian::new(self.clone(), State::new(0.0, &q, &v)).unwrap()
    }
}

impl Functions for Stairs {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        (v[0] * v[0] + v[1] * v[1]) * 0.5 + v[2] * v[2] * ((HALF[0] * HALF[0] + HALF[1] * HALF[1]) / 6.0)
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        for (k, out) in out.chunks_exact_mut(2).enumerate() {
            let (height, place) = Stairs::corner(k / TREADS, q);
            out[0] = height + (k % TREADS) as f64 * RISE;
            out[1] = place;
        }
    }
    fn region<D: Scalar>(&self, law: usize, _t: D, q: &[D]) -> D {
        let tread = (law % TREADS) as f64;
        let place = Stairs::corner(law / TREADS, q).1;
        (place - tread * WIDTH) * (-place + (tread + 1.0) * WIDTH)
    }
    fn laws(&self) -> Vec<NamedLaw> {
        let law = |k: usize| {
            let name = format!("corner {} tread {}", k / TREADS, k % TREADS);
            NamedLaw::new(&name, Law::coulomb(self.mu, 1)).restitution(self.restitution)
        };
        (0..2 * TREADS).map(law).collect()
    }
}

fn rests(name: &str, log: &Log, steps: &Log) {
    assert_eq!(log.count(EventKind::HandOver), 0, "{name}");
    assert!(log.is_still(), "{name}: {:?}", log.end);
    println!("{name}: {} evaluations, moreau-jean {}, {} events", log.evaluations, steps.evaluations, log.events.len());
    assert!(log.evaluations <= 10 * steps.evaluations, "{name}: {} {}", log.evaluations, steps.evaluations);
}

/// At rest on one tread, with corners in its middle, at the very edge of its region, and by rounding beside it.
#[test]
fn rest_next_to_an_edge_is_one_phase() {
    let stairs = Stairs { mu: 0.4, restitution: 0.2 };
    for x in [0.2, HALF[0], HALF[0] + 1e-16, HALF[0] + 1e-12, WIDTH - HALF[0], WIDTH - HALF[0] - 1e-13] {
        let model = || stairs.model([x, HALF[1], 0.0], [0.0; 3]);
        let steps = moreau_jean(model(), 1.0, 0.02);
        for (name, log) in both(model, 1.0, 0.02) {
            assert!(log.events.is_empty(), "{name} {x}: {:?}", log.kinds());
            rests(&format!("{name} at rest at {x}"), &log, &steps);
        }
    }
}

/// Down the stairs and to rest.
#[test]
fn a_thrown_box_comes_to_rest_on_the_stairs() {
    let stairs = Stairs { mu: 0.4, restitution: 0.2 };
    for (q, v) in [([0.2, 0.25, 0.1], [1.0, 0.0, 0.0]), ([0.6, 0.3, -0.2], [1.5, 0.0, 1.0])] {
        let model = || stairs.model(q, v);
        let steps = moreau_jean(model(), 3.0, 1e-3);
        for (name, log) in both(model, 3.0, 1e-3) {
            rests(name, &log, &steps);
        }
    }
}
