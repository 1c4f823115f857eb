//! Positions and velocities of bodies as frames, over any scalar.

use super::plan::{PlacedCoordinate, Plan};
use super::{Frame, Line, Vector};
use crate::elementary::dual::sin_cos;
use crate::model::Scalar;
use crate::rotation::matrix;
use num_dual::Dual;

/// Where bodies are and how they move; number 0 is the ground.
#[derive(Clone, Debug)]
pub(crate) struct Motion<T> {
    pub frames: Vec<Frame<T>>,
    /// Velocity of the mass centre and angular velocity, in axes of the space.
    pub velocities: Vec<[Vector<T>; 2]>,
    /// Value of each coordinate that counts turns, next to which it is.
    pub near: Vec<f64>,
}

impl<T: Scalar> Motion<T> {
    pub fn new(plan: &Plan) -> Motion<T> {
        Motion {
            frames: vec![Frame::ground(); plan.bodies.len() + 1],
            velocities: vec![[Vector::zero(); 2]; plan.bodies.len() + 1],
            near: vec![0.0; plan.coordinates.len()],
        }
    }

    /// Frames at q.
    #[inline]
    pub fn place(&mut self, plan: &Plan, q: &[T]) {
        let size = plan.sizes().0;
        for (frame, q) in self.frames[1..].iter_mut().zip(q[..plan.poses()].chunks_exact(size)) {
            *frame = frame_of(plan.is_planar, q);
        }
        for (near, coordinate) in self.near.iter_mut().zip(&plan.coordinates) {
            *near = near_of(plan, coordinate, q);
        }
    }

    /// Frames at q and velocities at v.
    #[inline]
    pub fn set(&mut self, plan: &Plan, q: &[T], v: &[T]) {
        self.place(plan, q);
        let size = plan.sizes().1;
        for ((velocity, frame), v) in self.velocities[1..].iter_mut().zip(&self.frames[1..]).zip(v.chunks_exact(size)) {
            *velocity = velocity_of(plan.is_planar, frame, v);
        }
    }

    /// Frames of the two bodies of something.
    #[inline]
    pub fn pair(&self, bodies: [usize; 2]) -> (&Frame<T>, &Frame<T>) {
        (&self.frames[bodies[0]], &self.frames[bodies[1]])
    }

    /// f · ẋ + m · ω of a body.
    #[inline]
    pub fn rate(&self, body: usize, line: &Line<T>) -> T {
        let [velocity, spin] = self.velocities[body];
        line.force.dot(velocity) + line.moment.dot(spin)
    }

    /// Value of a coordinate, turns included.
    #[inline]
    pub fn coordinate(&self, plan: &Plan, i: usize) -> T {
        let placed = &plan.coordinates[i];
        placed.coordinate.value_near(self.pair(placed.bodies), self.near[i])
    }

    /// Rate of a coordinate.
    #[inline]
    pub fn coordinate_rate(&self, plan: &Plan, i: usize) -> T {
        let placed = &plan.coordinates[i];
        let [a, b] = placed.coordinate.lines(self.pair(placed.bodies));
        self.rate(placed.bodies[0], &a) + self.rate(placed.bodies[1], &b)
    }

    /// The same motion as functions of time: frames that move along the velocities.
    pub fn moving(&self, out: &mut Motion<Dual<T>>) {
        for ((frame, [velocity, spin]), out) in self.frames.iter().zip(&self.velocities).zip(&mut out.frames) {
            let with = |x: Vector<T>, rate: Vector<T>| Vector(std::array::from_fn(|i| Dual::new(x.0[i], rate.0[i])));
            *out = Frame {
                centre: with(frame.centre, *velocity),
                axes: frame.axes.map(|axis| with(axis, spin.cross(axis))),
            };
        }
        out.near.copy_from_slice(&self.near);
    }
}

/// The frame of a body with these coordinates.
#[inline]
pub(crate) fn frame_of<T: Scalar>(is_planar: bool, q: &[T]) -> Frame<T> {
    let (zero, one) = (T::zero(), T::one());
    if is_planar {
        let (sine, cosine) = sin_cos(q[2]);
        let axes = [Vector([cosine, sine, zero]), Vector([-sine, cosine, zero]), Vector([zero, zero, one])];
        return Frame { centre: Vector([q[0], q[1], zero]), axes };
    }
    let rows = matrix([q[3], q[4], q[5], q[6]]);
    let axis = |j: usize| Vector([rows[0][j], rows[1][j], rows[2][j]]);
    Frame { centre: Vector([q[0], q[1], q[2]]), axes: [axis(0), axis(1), axis(2)] }
}

/// Velocity of the mass centre and angular velocity of a body, in axes of the space.
#[inline]
pub(crate) fn velocity_of<T: Scalar>(is_planar: bool, frame: &Frame<T>, v: &[T]) -> [Vector<T>; 2] {
    if is_planar {
        let zero = T::zero();
        return [Vector([v[0], v[1], zero]), Vector([zero, zero, v[2]])];
    }
    [Vector([v[0], v[1], v[2]]), frame.turn(Vector([v[3], v[4], v[5]]))]
}

/// The value next to which a coordinate is.
#[inline]
fn near_of<T: Scalar>(plan: &Plan, placed: &PlacedCoordinate, q: &[T]) -> f64 {
    if plan.is_planar {
        let angle = |body: usize| if body == 0 { 0.0 } else { q[3 * body - 1].re() };
        angle(placed.bodies[1]) - angle(placed.bodies[0]) - placed.offset
    } else {
        placed.counter.map_or(0.0, |place| q[plan.poses() + place].re())
    }
}
