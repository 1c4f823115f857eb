//! The description of a system of bodies, and how a model is made of it.

mod bodies;
mod extent;
mod forces;
mod joints;
mod solids;

use super::contact::Surface;
use super::material::{Combine, Material, Materials};
use super::plan::{Item, Plan};
use super::sleep::Sleep;
use super::{Body, Contact, Joint, JointCoordinate, Load, Motor, MultibodyError, MultibodyModel, Solid, Spring, Xyz};
use crate::State;
use crate::rotation::Retraction;

/// Bodies, joints, contacts, springs, motors and loads by name.
///
/// What makes no sense is told by [`build`](Multibody::build).
#[derive(Clone, Debug)]
pub struct Multibody {
    /// Whether bodies move in the plane z = 0 and turn about z.
    pub is_planar: bool,
    /// Acceleration of free fall [m/s²].
    pub gravity: [f64; 3],
    /// What makes an attitude of an increment, in space.
    pub retraction: Retraction,
    /// The bodies, without the ground.
    pub bodies: Vec<Body>,
    /// The joints.
    pub joints: Vec<Joint>,
    /// The contacts.
    pub contacts: Vec<Contact>,
    /// The springs.
    pub springs: Vec<Spring>,
    /// The motors.
    pub motors: Vec<Motor>,
    /// The loads.
    pub loads: Vec<Load>,
    /// A length that is typical of the model [m], where it is given: tolerances of gaps are parts of it.
    pub length: Option<f64>,
    /// Coordinates of joints whose turns are counted, besides those that something acts on.
    pub counted: Vec<JointCoordinate>,
    /// Up to which residual joints are closed at the start, where bodies are to be moved for it [m, or cosines].
    pub assembly: Option<f64>,
    /// Shapes that touch those of other bodies by themselves.
    pub solids: Vec<Solid>,
    /// What they are made of.
    pub materials: Materials,
    /// What does not touch by itself: two bodies, groups or shapes (`body/shape`) each.
    pub apart: Vec<[String; 2]>,
    /// Whether bodies of one joint touch by themselves as well.
    pub joined_touch: bool,
    /// When bodies at rest fall asleep; they stay awake by default.
    pub sleep: Option<Sleep>,
}

impl Multibody {
    fn new(is_planar: bool) -> Multibody {
        Multibody {
            is_planar,
            gravity: [0.0; 3],
            retraction: Retraction::Exponential,
            bodies: Vec::new(),
            joints: Vec::new(),
            contacts: Vec::new(),
            springs: Vec::new(),
            motors: Vec::new(),
            loads: Vec::new(),
            length: None,
            counted: Vec::new(),
            assembly: None,
            solids: Vec::new(),
            materials: Materials::default(),
            apart: Vec::new(),
            joined_touch: false,
            sleep: None,
        }
    }

    /// Bodies in the plane: q = (x, y, angle) of each.
    pub fn planar() -> Multibody {
        Multibody::new(true)
    }

    /// Bodies in space: q = (x, unit quaternion) of each.
    pub fn spatial() -> Multibody {
        Multibody::new(false)
    }

    /// Acceleration of free fall [m/s²].
    pub fn gravity(mut self, g: impl Into<Xyz>) -> Multibody {
        self.gravity = g.into().0;
        self
    }

    /// What makes an attitude of an increment, in space.
    pub fn retraction(mut self, retraction: Retraction) -> Multibody {
        self.retraction = retraction;
        self
    }

    /// A length that is typical of the model [m].
    pub fn typical_length(mut self, length: f64) -> Multibody {
        self.length = Some(length);
        self
    }

    /// One more body.
    pub fn body(mut self, body: Body) -> Multibody {
        self.bodies.push(body);
        self
    }

    /// One more joint.
    pub fn joint(mut self, joint: Joint) -> Multibody {
        self.joints.push(joint);
        self
    }

    /// One more contact.
    pub fn contact(mut self, contact: Contact) -> Multibody {
        self.contacts.push(contact);
        self
    }

    /// One more shape that touches those of other bodies by itself.
    pub fn solid(mut self, solid: Solid) -> Multibody {
        self.solids.push(solid);
        self
    }

    /// One more material.
    pub fn material(mut self, name: &str, surface: Surface) -> Multibody {
        self.materials.all.push(Material { name: name.into(), surface });
        self
    }

    /// Coefficients between two materials.
    pub fn material_pair(mut self, a: &str, b: &str, surface: Surface) -> Multibody {
        self.materials.pairs.push(([a.into(), b.into()], surface));
        self
    }

    /// The rule for pairs of materials that are not given.
    pub fn combine(mut self, rule: Combine) -> Multibody {
        self.materials.combine = Some(rule);
        self
    }

    /// Two bodies, groups or shapes (`body/shape`) do not touch by themselves.
    pub fn apart(mut self, a: &str, b: &str) -> Multibody {
        self.apart.push([a.into(), b.into()]);
        self
    }

    /// Bodies whose points have been slower than `speed` [m/s] for the time `after` [s], and all that they touch, fall
    /// asleep: see [`sleep`](super::sleep).
    pub fn sleep(mut self, speed: f64, after: f64) -> Multibody {
        self.sleep = Some(Sleep { speed, after });
        self
    }

    /// One more spring.
    pub fn spring(mut self, spring: Spring) -> Multibody {
        self.springs.push(spring);
        self
    }

    /// One more motor.
    pub fn motor(mut self, motor: Motor) -> Multibody {
        self.motors.push(motor);
        self
    }

    /// One more load.
    pub fn load(mut self, load: Load) -> Multibody {
        self.loads.push(load);
        self
    }

    /// Turns of a coordinate of a joint are counted, so that its angle goes on beyond a turn.
    pub fn count(mut self, coordinate: impl Into<JointCoordinate>) -> Multibody {
        self.counted.push(coordinate.into());
        self
    }

    /// Bodies are moved from where they are drawn until the joints are closed up to `tolerance` [m, or cosines], and
    /// velocities are changed to fit: as little as possible in kinetic energy.
    pub fn assemble(mut self, tolerance: f64) -> Multibody {
        self.assembly = Some(tolerance);
        self
    }

    /// The model, or what makes no sense in the description.
    pub fn build(&self) -> Result<MultibodyModel, MultibodyError> {
        let (mut plan, drawn) = bodies::place(self)?;
        joints::place(self, &mut plan, &drawn)?;
        forces::place(self, &mut plan, &drawn)?;
        solids::place(self, &mut plan)?;
        list(self, &mut plan)?;
        plan.length = plan.length.or_else(|| extent::extent(&plan, &drawn));
        count_turns(self, &mut plan);
        let sleep = self.sleep.map(|sleep| sleep.under(self.gravity)).transpose()?;
        let mut model = MultibodyModel::new(plan, drawn, sleep)?;
        model.close(self.assembly)?;
        Ok(model)
    }
}

/// Gives a counter to each angle in space whose turns matter.
fn count_turns(description: &Multibody, plan: &mut Plan) {
    if plan.is_planar {
        return;
    }
    let mut used = plan.used_coordinates();
    for asked in &description.counted {
        let joint = plan.joints.iter().position(|name| *name == asked.joint);
        let place = joint.map(|joint| plan.of_joint[joint].start + asked.index);
        if let Some(used) = place.and_then(|place| used.get_mut(place)) {
            *used = true;
        }
    }
    for (i, coordinate) in plan.coordinates.iter_mut().enumerate() {
        if used[i] && coordinate.coordinate.is_angle() {
            coordinate.counter = Some(plan.counted.len());
            plan.counted.push(i);
        }
    }
}

/// Lists the laws: joints, motors, stops, friction, contacts.
fn list(description: &Multibody, plan: &mut Plan) -> Result<(), MultibodyError> {
    let mut items: Vec<(String, Item)> = Vec::new();
    for (i, row) in plan.rows.iter().enumerate() {
        items.push((format!("{}.{}", plan.joints[row.joint], row.name), Item::Row(i)));
    }
    let prescribed = description.motors.iter().filter(|motor| motor.is_prescribed());
    items.extend(prescribed.enumerate().map(|(i, motor)| (motor.name.clone(), Item::Motor(i))));
    for joint in &description.joints {
        joints::list_stops(joint, plan, &mut items)?;
    }
    use super::pair::Pair;
    for (contact, placed) in plan.contacts.iter().enumerate().filter(|(_, placed)| !placed.pair.comes_and_goes()) {
        let places = placed.pair.places();
        for place in 0..places {
            let name = if places == 1 { placed.name.clone() } else { format!("{}.{}", placed.name, place + 1) };
            items.push((name, Item::Contact { contact, place }));
        }
    }
    plan.items = items;
    Ok(())
}

/// State at the start, where the bodies are drawn; angles that are counted are there too.
pub(crate) type Drawn = State;
