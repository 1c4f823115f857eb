//! The model of a system of bodies.

mod close;
pub mod coordinates;
mod traits;
mod watch;

use super::bend::{Pin, pins};
use super::couple::{Drives, drive, outputs};
use super::force;
use super::motion::Motion;
use super::near::Near;
use super::operator::Operator;
use super::plan::{Item, PlacedLoad, PlacedMotor, Plan};
use super::sleep::{Sleep, Sleepers};
use super::{Frame, Line, MultibodyError, MultibodyTangent};
use crate::model::{Labels, ModelError};
use crate::{State, Warnings};
use num_dual::Dual64;
use std::sync::atomic::{AtomicU64, Ordering};

/// Rigid bodies with joints, contacts and forces, made by [`Multibody::build`](super::Multibody::build).
///
/// Laws are listed in one order: rows of joints, prescribed motors, stops and friction of joints, contacts.
pub struct MultibodyModel {
    plan: Plan,
    motors: Vec<PlacedMotor>, // of the plan
    loads: Vec<PlacedLoad>,   // of the plan
    initial: State,
    operator: Operator,
    near: Near, // contacts that come and go
    sleepers: Option<Sleepers>,
    added: Vec<f64>, // velocities by those that act too early
    motion: Motion<f64>,
    moving: Motion<Dual64>,  // the motion along its velocity
    drives: Drives,          // what motors do
    sum: Vec<(usize, Line)>, // lines of a relation
    moving_sum: Vec<(usize, Line<Dual64>)>,
    h: f64, // length of the coming step
    warnings: Warnings,
    redundancy: Option<Redundancy>,
    watch: Option<watch::Watch>, // where joints close loops
    pins: Vec<Pin>,
    number: u64,    // tells its couplings from those of others
    entries: usize, // of the rows of a coupling
}

/// Counts models; nothing is computed from the number of one.
static NUMBER: AtomicU64 = AtomicU64::new(1);

/// How many of the rows of joints are independent at the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Redundancy {
    /// Number of rows.
    pub rows: usize,
    /// Number of independent ones.
    pub rank: usize,
    /// Names of the joints that share directions which were dropped: each list hangs together.
    pub joints: Vec<Vec<String>>,
}

impl MultibodyModel {
    pub(super) fn new(mut plan: Plan, initial: State, sleep: Option<Sleep>) -> Result<MultibodyModel, MultibodyError> {
        let sleepers = sleep.map(|sleep| Sleepers::new(&plan, sleep));
        let (motors, loads) = (std::mem::take(&mut plan.motors), std::mem::take(&mut plan.loads));
        let (operator, motion, moving) = (Operator::new(&plan), Motion::new(&plan), Motion::new(&plan));
        plan.drives = motors.iter().map(|motor| motor.coordinate).collect();
        let pins = pins(&plan);
        plan.mark_pins();
        Ok(MultibodyModel {
            plan,
            motors,
            loads,
            initial,
            operator,
            added: Vec::new(),
            near: Near::default(),
            sleepers,
            motion,
            moving,
            drives: Vec::new(),
            sum: Vec::new(),
            moving_sum: Vec::new(),
            h: 0.0,
            warnings: Warnings::default(),
            redundancy: None,
            watch: None,
            pins,
            number: NUMBER.fetch_add(1, Ordering::Relaxed),
            entries: 0,
        })
    }

    /// Names of bodies, without the ground.
    pub fn bodies(&self) -> &[String] {
        &self.plan.names[1..]
    }

    /// How many bodies sleep.
    pub fn asleep(&self) -> usize {
        self.sleepers.as_ref().map_or(0, Sleepers::count)
    }

    /// Names of joints.
    pub fn joints(&self) -> &[String] {
        &self.plan.joints
    }

    /// Names of the coordinates of joints, and of torsion springs between bodies.
    pub fn coordinate_names(&self) -> impl Iterator<Item = &str> {
        self.plan.coordinates.iter().map(|coordinate| coordinate.name.as_str())
    }

    /// Value of a coordinate, by its place in [`coordinate_names`](Self::coordinate_names), at positions q.
    pub fn coordinate(&mut self, i: usize, q: &[f64]) -> f64 {
        self.motion.place(&self.plan, q);
        self.motion.coordinate(&self.plan, i)
    }

    /// Rate of a coordinate.
    pub fn coordinate_rate(&mut self, i: usize, q: &[f64], v: &[f64]) -> f64 {
        self.motion.set(&self.plan, q, v);
        self.motion.coordinate_rate(&self.plan, i)
    }

    /// Where a body is, by its place in [`bodies`](Self::bodies).
    pub fn frame(&self, body: usize, q: &[f64]) -> Frame {
        let size = self.plan.sizes().0;
        super::motion::frame_of(self.plan.is_planar, &q[body * size..(body + 1) * size])
    }

    /// Exact derivatives of the model, for sensitivities.
    pub fn tangent(&self) -> MultibodyTangent {
        MultibodyTangent::new(&self.plan, &self.loads, &self.motors)
    }

    /// How many rows of joints are independent at the start; `None` where it was not found.
    pub fn redundancy(&self) -> Option<&Redundancy> {
        self.redundancy.as_ref()
    }

    /// Force [N] and moment about its point [N m] that a joint exerts on its body b, in axes of the space, from the
    /// multipliers of all laws (forces, or impulses for impulses) at positions q. Relations have none.
    pub fn joint_reaction(&mut self, joint: usize, q: &[f64], multipliers: &[f64]) -> [[f64; 3]; 2] {
        self.motion.place(&self.plan, q);
        let (mut force, mut moment) = (super::Vector::zero(), super::Vector::zero());
        for (&lambda, (_, item)) in multipliers.iter().zip(&self.plan.items) {
            let Item::Row(i) = item else { break };
            let row = &self.plan.rows[*i];
            if row.joint != joint {
                continue;
            }
            if let Some((_, [_, line])) = row.primitive.evaluate(self.motion.pair(row.bodies)) {
                let arm = match &row.primitive {
                    super::primitive::Primitive::Point { b, .. } | super::primitive::Primitive::Length { b, .. } => {
                        self.motion.frames[row.bodies[1]].direction(*b)
                    }
                    _ => super::Vector::zero(),
                };
                // about the point of the joint, not the mass centre
                let about = line.moment - arm.cross(line.force);
                force = force + line.force * lambda;
                moment = moment + about * lambda;
            }
        }
        [force.0, moment.0]
    }

    fn drive(&mut self, t: f64, all: bool) -> Result<(), ModelError> {
        drive(&mut self.motors, t, all, &mut self.drives)
    }

    fn names(&self) -> Labels {
        let parts: &[&str] =
            if self.plan.is_planar { &["x", "y", "angle"] } else { &["x", "y", "z", "e0", "e1", "e2", "e3"] };
        let poses = self.bodies().iter().flat_map(|body| parts.iter().map(move |part| format!("{body}.{part}")));
        let counted = self.plan.counted.iter().map(|&i| self.plan.coordinates[i].name.clone());
        let rates: &[&str] = if self.plan.is_planar { parts } else { &["x", "y", "z", "spin_x", "spin_y", "spin_z"] };
        let velocities = self.bodies().iter().flat_map(|body| rates.iter().map(move |part| format!("{body}.{part}")));
        Labels {
            velocities: velocities.collect(),
            coordinates: poses.chain(counted).collect(),
            contacts: self.plan.items.iter().map(|(name, item)| (name.clone(), self.plan.law(item, self.h))).collect(),
            shapes: self.plan.solids.names.clone(),
        }
    }
}
