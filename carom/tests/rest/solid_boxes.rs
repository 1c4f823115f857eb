//! Random boxes in space with friction, dropped, thrown and rocking: event-driven runs follow them through impacts,
//! accumulations and slides on up to four corners, at the cost of a capturing scheme.

use crate::{Log, moreau_jean, run};
use carom::multibody::pair::{Block, BlockPlane, Plane};
use carom::multibody::{Body, Contact, Multibody, MultibodyModel};
use carom::scheme::EventDriven;
use carom::{Coupling, EventKind, Space};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

const END: f64 = 2.0;

/// Step of the Moreau-Jean scheme, and of the others.
const STEPS: (f64, f64) = (1e-3, 1e-2);

/// A box of 1 kg and how it starts; `height` is that of its lowest corner.
#[derive(Clone, Debug)]
struct Case {
    half: [f64; 3],
    restitution: f64,
    friction: f64,
    height: f64,
    attitude: [f64; 4],
    velocity: [f64; 3],
    spin: [f64; 3],
}

impl Case {
    fn random(random: &mut Pcg64) -> Case {
        let mut within = |low: f64, high: f64| random.random_range(low..high);
        let half = [within(0.1, 0.4), within(0.1, 0.4), within(0.1, 0.4)];
        let restitution = [0.0, 0.5, 0.8][within(0.0, 3.0) as usize];
        let friction = [0.05, 0.3, 0.6][within(0.0, 3.0) as usize];
        let mut any = |size: f64| [within(-size, size), within(-size, size), within(-size, size)];
        let (axis, velocity, spin) = (any(1.0), any(1.0), any(3.0));
        let turned = |part: f64| [1.0, part * axis[0], part * axis[1], part * axis[2]];
        let still = [0.0; 3];
        let (height, attitude, velocity, spin) = match within(0.0, 3.0) as u32 {
            0 => (within(0.05, 0.3), turned(1.0), still, still),
            1 => (within(0.05, 0.3), turned(1.0), velocity, spin),
            // nearly upright, on the floor
            _ => (0.0, turned(0.1), still, still),
        };
        Case { half, restitution, friction, height, attitude, velocity, spin }
    }

    fn at(&self, z: f64) -> MultibodyModel {
        let [a, b, c] = self.half.map(|x| x * x / 3.0);
        let body = Body::new("box", 1.0, [b + c, a + c, a + b])
            .at([0.0, 0.0, z])
            .attitude(self.attitude)
            .velocity(self.velocity)
            .spin(self.spin);
        let plane = Plane { point: [0.0; 3], normal: [0.0, 0.0, 1.0] };
        let pair = BlockPlane { plane, block: Block::new(self.half) };
        let contact = Contact::new("corner", "ground", "box", pair);
        let bodies = Multibody::spatial().gravity([0.0, 0.0, -9.81]).body(body);
        bodies.contact(contact.restitution(self.restitution).friction(self.friction)).build().unwrap()
    }

    fn model(&self) -> MultibodyModel {
        let mut low = self.at(0.0);
        let (start, mut coupling) = (low.initial(), Coupling::default());
        low.couple(0.0, &start.q, &mut coupling).unwrap();
        let lowest = (0..coupling.len()).map(|i| coupling.gap(i)).fold(f64::INFINITY, f64::min);
        self.at(self.height - lowest)
    }
}

/// How far the place at the end is from that of another run.
fn distance(a: &Log, b: &Log) -> f64 {
    a.end.q.iter().zip(&b.end.q).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()))
}

/// The end of a run is as good as that of the Moreau-Jean scheme at least, judged by a run with a thousandth of the
/// tolerance.
#[test]
fn a_few_boxes_in_space_cost_little() {
    let mut random = Pcg64::seed_from_u64(15);
    for k in 0..4 {
        let case = Case::random(&mut random);
        let steps = moreau_jean(case.model(), END, STEPS.0);
        let tight = EventDriven { atol: Some(1e-12), rtol: 1e-12, ..EventDriven::default() };
        let exact = run(case.model(), tight, END, STEPS.1);
        let log = run(case.model(), EventDriven::default(), END, STEPS.1);
        let (own, other) = (distance(&log, &exact), distance(&steps, &exact));
        assert_eq!(log.count(EventKind::HandOver), 0, "{k} {case:?}");
        assert!(log.lowest > -1e-9, "{k} {case:?}: {:e}", log.lowest);
        assert!(log.evaluations <= 10 * steps.evaluations, "{k}: {} {}", log.evaluations, steps.evaluations);
        assert!(own <= other.max(1e-6), "{k} {case:?}: {own:e}, moreau-jean {other:e}");
    }
}
