//! What programs may read of a model: the coordinates of its joints, and another start.

use super::*;
use crate::multibody::JointCoordinate;
use crate::multibody::Touch;
use crate::multibody::coordinate::Coordinate;
use crate::multibody::joint::Play;
use crate::multibody::motion::frame_of;
use crate::multibody::pair::Pair as _;
use crate::multibody::plan::Item;

/// A coordinate of a joint in a model.
#[derive(Clone, Debug)]
pub struct ModelCoordinate<'a> {
    /// Which one.
    pub of: JointCoordinate,
    /// Name of the joint and of the coordinate, with a point between.
    pub name: &'a str,
    /// The bodies a and b; the ground is 0.
    pub bodies: [usize; 2],
    /// What it measures.
    pub coordinate: Coordinate,
    /// The entry of q in which its turns are counted, where there is one.
    pub counter: Option<usize>,
    /// In the plane: angle of b less that of a where the coordinate is zero [rad].
    pub offset: f64,
}

/// The play of a joint in a model.
#[derive(Clone, Debug)]
pub struct ModelPlay<'a> {
    /// Name of the joint.
    pub joint: &'a str,
    /// The bodies a and b; the ground is 0.
    pub bodies: [usize; 2],
    /// How the place of b in a is measured.
    pub play: &'a Play,
    /// Numbers of the laws of its contacts, without thrust faces.
    pub laws: Vec<usize>,
}

impl MultibodyModel {
    /// The joints with play.
    pub fn plays(&self) -> impl Iterator<Item = ModelPlay<'_>> {
        let plan = &self.plan;
        plan.plays.iter().map(move |placed| {
            let own = |item: &Item| matches!(item, Item::Contact { contact, .. } if placed.contacts.contains(contact));
            let laws = plan.items.iter().enumerate().filter(|(_, (_, item))| own(item)).map(|(law, _)| law);
            let joint = &plan.joints[placed.joint];
            ModelPlay { joint, bodies: placed.bodies, play: &placed.play, laws: laws.collect() }
        })
    }

    /// The coordinates of joints; those of torsion springs between bodies are not among them.
    pub fn joint_coordinates(&self) -> impl Iterator<Item = ModelCoordinate<'_>> {
        let plan = &self.plan;
        plan.of_joint.iter().enumerate().flat_map(move |(joint, range)| {
            range.clone().enumerate().map(move |(index, i)| {
                let placed = &plan.coordinates[i];
                ModelCoordinate {
                    of: JointCoordinate { joint: plan.joints[joint].clone(), index },
                    name: &placed.name,
                    bodies: placed.bodies,
                    coordinate: placed.coordinate.clone(),
                    counter: placed.counter.map(|place| plan.poses() + place),
                    offset: placed.offset,
                }
            })
        })
    }

    /// The bodies of the contact that a law belongs to, in the order of its pair, and where they are closest at
    /// positions q; the ground is 0. `None` where the law is that of no contact.
    pub fn touch(&self, law: usize, q: &[f64]) -> Option<([usize; 2], Touch)> {
        let (_, Item::Contact { contact, place }) = self.plan.items.get(law)? else { return None };
        let (contact, size) = (&self.plan.contacts[*contact], self.plan.sizes().0);
        let frame = |body: usize| match body {
            0 => Frame::ground(),
            _ => frame_of(self.plan.is_planar, &q[(body - 1) * size..body * size]),
        };
        let [a, b] = contact.bodies.map(frame);
        Some((contact.bodies, contact.pair.touch(*place, (&a, &b))))
    }

    /// The same model with another start. Positions and velocities are as many as they were.
    pub fn starting(mut self, initial: State) -> MultibodyModel {
        self.initial = initial;
        self
    }
}
