//! Forces: gravity, gyroscopic torques, springs, loads and motors.
//!
//! ```text
//!     F = (m g + f,  −Ω × JΩ + Rᵀ τ)  per body                                                                     (1)
//! ```
//!
//! All of it is written over numbers that may carry a derivative; functions of the user tell theirs.

use super::couple::columns;
use super::function::{Function, MOST_INPUTS, MOST_OUTPUTS};
use super::load::Axes;
use super::motion::Motion;
use super::plan::{LoadOn, PlacedEnds, PlacedLoad, PlacedSignal, PlacedSpring, Plan};
use super::{Frame, Line, Vector};
use crate::ModelError;
use crate::model::Scalar;
use crate::rotation::IDENTITY;
use num_dual::Dual64;

/// Numbers over which functions of the user can be called.
pub(crate) trait Number: Scalar {
    fn call(function: &mut dyn Function, x: &[Self], out: &mut [Self]) -> Result<(), ModelError>;
}

impl Number for f64 {
    fn call(function: &mut dyn Function, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        function.value(x, out)
    }
}

impl Number for Dual64 {
    fn call(function: &mut dyn Function, x: &[Dual64], out: &mut [Dual64]) -> Result<(), ModelError> {
        let (mut at, mut along) = ([0.0; MOST_INPUTS], [0.0; MOST_INPUTS]);
        let (mut value, mut slope) = ([0.0; MOST_OUTPUTS], [0.0; MOST_OUTPUTS]);
        for (i, x) in x.iter().enumerate() {
            (at[i], along[i]) = (x.re, x.eps);
        }
        function.value(&at[..x.len()], &mut value[..out.len()])?;
        function.derivative(&at[..x.len()], &along[..x.len()], &mut slope[..out.len()])?;
        out.iter_mut().zip(value.iter().zip(&slope)).for_each(|(o, (f, d))| *o = Dual64::new(*f, *d));
        Ok(())
    }
}

/// Effort or tension of a spring with its lines: the force on the bodies is effort times lines.
pub(crate) fn spring<T: Scalar>(plan: &Plan, spring: &PlacedSpring, motion: &Motion<T>) -> (T, [Line<T>; 2]) {
    let (value, lines) = stretch(plan, spring, motion);
    let rate = motion.rate(spring.bodies[0], &lines[0]) + motion.rate(spring.bodies[1], &lines[1]);
    let restoring = (value - spring.rest) * spring.stiffness + rate * spring.damping;
    let effort = match spring.ends {
        PlacedEnds::Points(_) => -(restoring + spring.preload),
        PlacedEnds::Coordinate(_) => -(restoring - spring.preload),
    };
    (effort, lines)
}

/// Length or angle of a spring, and its lines.
fn stretch<T: Scalar>(plan: &Plan, spring: &PlacedSpring, motion: &Motion<T>) -> (T, [Line<T>; 2]) {
    let (a, b) = motion.pair(spring.bodies);
    match spring.ends {
        PlacedEnds::Points([on_a, on_b]) => {
            let (on_a, on_b) = (a.point(on_a), b.point(on_b));
            let r = on_b - on_a;
            let length = r.length();
            let d = r * length.recip();
            (length, [Line::through(a, on_a, d).reversed(), Line::through(b, on_b, d)])
        }
        PlacedEnds::Coordinate(i) => (motion.coordinate(plan, i), plan.coordinates[i].coordinate.lines((a, b))),
    }
}

/// Potential energy of a spring [J].
pub(crate) fn spring_potential(plan: &Plan, spring: &PlacedSpring, motion: &Motion<f64>) -> f64 {
    let way = stretch(plan, spring, motion).0 - spring.rest;
    let sign = if matches!(spring.ends, PlacedEnds::Points(_)) { 1.0 } else { -1.0 };
    sign * spring.preload * way + 0.5 * spring.stiffness * way * way
}

/// Power of the damper of a spring, not positive [W].
pub(crate) fn damper_power(plan: &Plan, spring: &PlacedSpring, motion: &Motion<f64>) -> f64 {
    let lines = stretch(plan, spring, motion).1;
    let rate = motion.rate(spring.bodies[0], &lines[0]) + motion.rate(spring.bodies[1], &lines[1]);
    -spring.damping * rate * rate
}

/// Value of a signal.
fn signal<T: Scalar>(plan: &Plan, (t, q): (T, &[T]), motion: &Motion<T>, signal: PlacedSignal) -> T {
    match signal {
        PlacedSignal::Time => t,
        PlacedSignal::Coordinate(i) => motion.coordinate(plan, i),
        PlacedSignal::Rate(i) => motion.coordinate_rate(plan, i),
        PlacedSignal::Position(body, axis) => motion.frames[body].centre.0[axis],
        PlacedSignal::Angle(0) => T::zero(),
        PlacedSignal::Angle(body) => q[3 * body - 1],
        PlacedSignal::Attitude(0, k) => T::from(IDENTITY[k]),
        PlacedSignal::Attitude(body, k) => q[7 * body - 4 + k],
        PlacedSignal::Velocity(body, axis) => motion.velocities[body][0].0[axis],
        PlacedSignal::Spin(body, axis) => motion.velocities[body][1].0[axis],
    }
}

/// Refuses a load that is no number.
fn check<T: Scalar>(load: &PlacedLoad, out: &[T], t: T) -> Result<(), ModelError> {
    match out.iter().find(|x| !x.re().is_finite()) {
        Some(x) => Err(ModelError::Quantity { quantity: load.name.as_str().into(), value: x.re(), t: t.re() }),
        None => Ok(()),
    }
}

/// Tells what a load does: bodies and the lines of force and moment on them.
pub(crate) fn load<T: Number>(
    plan: &Plan,
    load: &mut PlacedLoad,
    (t, q): (T, &[T]),
    motion: &Motion<T>,
    mut push: impl FnMut(usize, Line<T>),
) -> Result<(), ModelError> {
    let (mut x, mut out) = ([T::zero(); MOST_INPUTS], [T::zero(); MOST_OUTPUTS]);
    for (x, input) in x.iter_mut().zip(&load.inputs) {
        *x = signal(plan, (t, q), motion, *input);
    }
    let inputs = &x[..load.inputs.len()];
    match load.on {
        LoadOn::Body { body, point, axes } => {
            T::call(load.function.as_mut(), inputs, &mut out)?;
            check(load, &out, t)?;
            let frame = &motion.frames[body];
            let [force, moment] = [Vector([out[0], out[1], out[2]]), Vector([out[3], out[4], out[5]])];
            let (force, moment) = match axes {
                Axes::World => (force, moment),
                Axes::Body => (frame.turn(force), frame.turn(moment)),
            };
            push(body, Line::through(frame, frame.point(point), force).plus(Line::about(moment)));
        }
        LoadOn::Coordinate(i) => {
            T::call(load.function.as_mut(), inputs, &mut out[..1])?;
            check(load, &out[..1], t)?;
            let placed = &plan.coordinates[i];
            let lines = placed.coordinate.lines(motion.pair(placed.bodies));
            for (body, line) in placed.bodies.into_iter().zip(lines) {
                push(body, line.scaled(out[0]));
            }
        }
    }
    Ok(())
}

/// Adds a force and moment on a body to the columns of the body.
#[inline]
pub(crate) fn add_line<T: Scalar>(plan: &Plan, frame: &Frame<T>, body: usize, line: &Line<T>, out: &mut [T]) {
    if body == 0 {
        return;
    }
    let size = plan.sizes().1;
    let part = &mut out[(body - 1) * size..body * size];
    part.iter_mut().zip(columns(plan.is_planar, frame, line)).for_each(|(o, x)| *o += x);
}

/// (1) at a motion that is placed; `loads` are those of the plan.
pub(crate) fn force<T: Number>(
    plan: &Plan,
    loads: &mut [PlacedLoad],
    (t, q, v): (T, &[T], &[T]),
    motion: &Motion<T>,
    out: &mut [T],
) -> Result<(), ModelError> {
    let size = plan.sizes().1;
    for ((body, v), out) in plan.bodies.iter().zip(v.chunks_exact(size)).zip(out.chunks_exact_mut(size)) {
        out.fill(T::zero());
        let weight = plan.gravity.map(|g| T::from(body.mass * g));
        if plan.is_planar {
            (out[0], out[1]) = (weight[0], weight[1]);
            continue;
        }
        out[..3].copy_from_slice(&weight);
        if !body.is_isotropic {
            let spin = Vector([v[3], v[4], v[5]]);
            let momentum = Vector(body.inertia.map(|row| spin.0[0] * row[0] + spin.0[1] * row[1] + spin.0[2] * row[2]));
            out[3..].copy_from_slice(&momentum.cross(spin).0);
        }
    }
    for item in &plan.springs {
        let (effort, lines) = spring(plan, item, motion);
        for (body, line) in item.bodies.into_iter().zip(lines) {
            add_line(plan, &motion.frames[body], body, &line.scaled(effort), out);
        }
    }
    for item in loads {
        load(plan, item, (t, q), motion, |body, line| add_line(plan, &motion.frames[body], body, &line, out))?;
    }
    Ok(())
}
