//! A circuit breaker: handle, link, lever, arm, hook, trip bar and plunger, 12 contacts. The lever is held by a hook
//! whose friction carries it; a magnet moves the plunger, which turns the trip bar, which turns the hook.

use crate::multibody::pair::{
    AnyPair, Bore, Cylinder, CylinderStrip, PinHole, Rim, RimsBore, Segment, Sphere, SphereSegment, Strip,
};
use crate::multibody::{Body, Clearance, Contact, Joint, Load, Multibody, Signal, Spring};

/// The mechanism, closed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Breaker {
    /// Whether it is a planar model. In space it is 4 mm thick: discs are cylinders, edges are strips.
    pub is_planar: bool,
    /// Force of the magnet from 5 ms to 9 ms [N].
    pub magnet: f64,
    /// Friction between hook and lever [-].
    pub latch: f64,
    /// Radial play of the pivots of lever, arm and hook; none where they are ideal [m].
    pub play: Option<f64>,
}

impl Default for Breaker {
    fn default() -> Self {
        Breaker { is_planar: true, magnet: 0.0, latch: 0.2, play: None }
    }
}

/// The normal of the plane.
const Z: [f64; 3] = [0.0, 0.0, 1.0];
/// Half of the thickness in space [m].
const HALF: f64 = 2e-3;

/// Name, mass in g, length and centre in mm.
const BODIES: [(&str, f64, f64, [f64; 2]); 7] = [
    ("handle", 5.0, 20.0, [-28.0, 20.0]),
    ("link", 1.0, 19.1, [-12.5, 11.0]),
    ("lever", 6.0, 34.0, [0.0, 4.0]),
    ("arm", 3.0, 22.0, [0.0, -20.0]),
    ("hook", 2.0, 36.0, [22.0, 18.0]),
    ("trip", 1.5, 22.0, [40.0, 28.0]),
    ("plunger", 3.0, 14.0, [50.0, 37.0]),
];

/// Name, bodies, point in mm, torque in N m at the drawn angle, stiffness and damping.
type Pivot = (&'static str, [&'static str; 2], [f64; 2], [f64; 3]);

const PIVOTS: [Pivot; 6] = [
    ("handle-pivot", ["ground", "handle"], [-30.0, 22.0], [0.040, 0.03, 0.0]),
    ("link-pivot", ["handle", "link"], [-22.0, 12.0], [0.0; 3]),
    ("lever-pivot", ["ground", "lever"], [0.0, 0.0], [-0.20, 0.15, 0.0]),
    ("arm-pivot", ["lever", "arm"], [0.0, -10.0], [0.080, 0.10, 2e-5]),
    ("hook-pivot", ["ground", "hook"], [25.0, 17.0], [0.004, 0.010, 0.0]),
    ("trip-pivot", ["ground", "trip"], [40.0, 25.0], [-0.010, 0.010, 0.0]),
];

/// Name; disc: body, centre and radius; segment: body and ends; friction, restitution. Lengths in mm.
type Stop = (&'static str, (&'static str, [f64; 2], f64), (&'static str, [[f64; 2]; 2]), f64, f64);

const STOPS: [Stop; 11] = [
    ("latch", ("hook", [2.0, 20.0], 1.0), ("lever", [[1.0, 14.0], [1.0, 20.8]]), 0.2, 0.0),
    ("main", ("arm", [0.0, -30.0], 1.0), ("ground", [[1.0, -34.0], [1.0, -26.0]]), 0.15, 0.2),
    ("back-stop", ("arm", [4.0, -14.0], 0.5), ("lever", [[5.3, -17.0], [5.3, -11.0]]), 0.15, 0.0),
    ("open-stop", ("lever", [-3.0, -10.0], 1.0), ("ground", [[-7.5, -16.0], [-7.5, -4.0]]), 0.15, 0.3),
    ("finger", ("trip", [35.0, 19.0], 0.5), ("hook", [[31.0, 18.0], [37.0, 18.0]]), 0.15, 0.0),
    ("trip-stop", ("trip", [45.0, 25.0], 1.0), ("ground", [[43.0, 24.0], [47.0, 24.0]]), 0.15, 0.0),
    ("plunger-trip", ("trip", [40.0, 37.0], 1.0), ("plunger", [[42.0, 33.0], [42.0, 41.0]]), 0.15, 0.3),
    ("plunger-rear", ("plunger", [56.0, 37.0], 1.0), ("ground", [[57.0, 33.0], [57.0, 41.0]]), 0.15, 0.0),
    ("plunger-front", ("plunger", [44.0, 37.0], 1.0), ("ground", [[38.0, 33.0], [38.0, 41.0]]), 0.15, 0.3),
    ("hook-return", ("hook", [8.0, 18.0], 1.0), ("ground", [[6.0, 16.2], [10.0, 16.2]]), 0.15, 0.3),
    ("handle-off", ("handle", [-30.0, 32.0], 1.0), ("ground", [[-35.5, 28.0], [-35.5, 36.0]]), 0.15, 0.3),
];

fn metres(p: [f64; 2]) -> [f64; 2] {
    p.map(|x| x * 1e-3)
}

/// A drawn point in axes of a body, in m.
fn local(body: &str, [x, y]: [f64; 2]) -> [f64; 3] {
    let centre = BODIES.iter().find(|row| row.0 == body).map_or([0.0; 2], |row| row.3);
    [(x - centre[0]) * 1e-3, (y - centre[1]) * 1e-3, 0.0]
}

impl Breaker {
    /// The description.
    pub fn describe(&self) -> Multibody {
        let system = if self.is_planar { Multibody::planar() } else { Multibody::spatial() };
        let mut system = system.gravity([0.0, -9.81]);
        for (name, grams, length, centre) in BODIES {
            let mass = grams * 1e-3;
            let inertia = mass * (length * 1e-3) * (length * 1e-3) / 12.0;
            system = system.body(Body::new(name, mass, inertia).at(metres(centre)));
        }
        for (name, [a, b], at, [torque, stiffness, damping]) in PIVOTS {
            let mut joint = Joint::revolute(name, a, b).at(metres(at)).axis(Z);
            let loose = ["lever-pivot", "arm-pivot", "hook-pivot"].contains(&name);
            if let Some(play) = self.play.filter(|_| loose) {
                let length = if self.is_planar { 0.0 } else { 6e-3 };
                joint = joint.clearance(Clearance::new(play, 1.5e-3).length(length).friction(0.15));
            }
            system = system.joint(joint);
            if stiffness > 0.0 {
                let spring = Spring::on(&format!("{name}-spring"), name, stiffness);
                system = system.spring(spring.preload(torque).damping(damping));
            }
        }
        system = system
            .joint(Joint::prismatic("plunger-guide", "ground", "plunger").at(metres([50.0, 37.0])).axis([1.0, 0.0]))
            .spring(Spring::on("plunger-spring", "plunger-guide", 200.0).preload(2.0))
            .load(self.pull());
        for stop in STOPS {
            system = system.contact(self.stop(stop));
        }
        system.contact(self.link_pin())
    }

    /// The pin of the link in the hole of the lever.
    fn link_pin(&self) -> Contact {
        let hole = Bore { centre: local("lever", [-4.0, 10.0]), axis: Z, radius: 2e-3 };
        let (centre, radius) = (local("link", [-3.0, 10.0]), 1e-3);
        let pair: AnyPair = if self.is_planar {
            PinHole { hole, pin: Sphere { centre, radius } }.into()
        } else {
            RimsBore { bore: hole, pin: Cylinder { centre, axis: Z, radius, half: HALF }, rim: Rim::Sphere }.into()
        };
        Contact::new("link-pin", "lever", "link", pair).friction(0.15)
    }

    fn stop(&self, (name, disc, segment, friction, restitution): Stop) -> Contact {
        let (centre, radius) = (local(disc.0, disc.1), disc.2 * 1e-3);
        let ends = segment.1.map(|end| local(segment.0, end));
        let pair: AnyPair = if self.is_planar {
            SphereSegment { segment: Segment { ends }, sphere: Sphere { centre, radius } }.into()
        } else {
            let cylinder = Cylinder { centre, axis: Z, radius, half: HALF };
            CylinderStrip { strip: Strip { ends, along: Z }, cylinder }.into()
        };
        let friction = if name == "latch" { self.latch } else { friction };
        Contact::new(name, segment.0, disc.0, pair).friction(friction).restitution(restitution)
    }

    /// The pull of the magnet.
    fn pull(&self) -> Load {
        let force = self.magnet;
        Load::new("magnet", "plunger", vec![Signal::Time], move |x: &[f64], out: &mut [f64]| {
            out.fill(0.0);
            out[0] = if (5e-3..9e-3).contains(&x[0]) { -force } else { 0.0 };
        })
    }
}
