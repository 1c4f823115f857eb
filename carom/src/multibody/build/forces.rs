//! Springs, motors and loads of a description.

use super::joints::{find_coordinate, points_of};
use super::{Drawn, Multibody, bodies};
use crate::multibody::coordinate::Coordinate;
use crate::multibody::function::MOST_INPUTS;
use crate::multibody::joint::{Anchor, Joint};
use crate::multibody::load::Signal;
use crate::multibody::motion::Motion;
use crate::multibody::motor::{Drive, Integral};
use crate::multibody::plan::{
    LoadOn, PlacedCoordinate, PlacedEnds, PlacedLoad, PlacedMotor, PlacedSignal, PlacedSpring, Plan,
};
use crate::multibody::{Load, Motor, MultibodyError, Spring, SpringEnds};

/// Places springs, motors and loads.
pub(super) fn place(description: &Multibody, plan: &mut Plan, drawn: &Drawn) -> Result<(), MultibodyError> {
    let mut motion = Motion::new(plan);
    motion.place(plan, &drawn.q);
    distinct("springs", description.springs.iter().map(|spring| &spring.name))?;
    distinct("motors", description.motors.iter().map(|motor| &motor.name))?;
    distinct("loads", description.loads.iter().map(|load| &load.name))?;
    for spring in &description.springs {
        let placed = place_spring(spring, plan, &motion, drawn)?;
        plan.springs.push(placed);
    }
    for motor in &description.motors {
        place_motor(motor, plan)?;
    }
    for load in &description.loads {
        place_load(load, plan)?;
    }
    Ok(())
}

fn distinct<'a>(what: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), MultibodyError> {
    let mut sorted: Vec<&String> = names.collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(MultibodyError::Duplicate { what, name: twice[0].clone() }),
        None => Ok(()),
    }
}

fn place_spring(
    spring: &Spring,
    plan: &mut Plan,
    motion: &Motion<f64>,
    drawn: &Drawn,
) -> Result<PlacedSpring, MultibodyError> {
    let misfit = |reason| MultibodyError::Misfit { what: "spring", name: spring.name.clone(), reason };
    let numbers = [
        ("the stiffness", spring.stiffness),
        ("the damping", spring.damping),
        ("the preload", spring.preload),
        ("the rest length", spring.rest.unwrap_or(0.0)),
    ];
    for (quantity, value) in numbers {
        let must = quantity == "the stiffness" || quantity == "the damping";
        if !value.is_finite() || must && value < 0.0 {
            let range = if must { "it must be finite and not negative" } else { "it must be finite" };
            return Err(MultibodyError::Number { what: "spring", name: spring.name.clone(), quantity, value, range });
        }
    }
    let both = |plan: &Plan, [a, b]: &[String; 2]| {
        let found = [bodies::find(plan, a, "spring", &spring.name)?, bodies::find(plan, b, "spring", &spring.name)?];
        if found[0] == found[1] { Err(misfit("its two bodies are one")) } else { Ok(found) }
    };
    let (found, ends, rest) = match &spring.ends {
        SpringEnds::Points { bodies: names, points } => {
            let found = both(plan, names)?;
            let points = points_of(*points, motion.pair(found));
            let (a, b) = motion.pair(found);
            let length = (b.point(points[1]) - a.point(points[0])).length();
            if !(length > 0.0 && length.is_finite()) {
                return Err(misfit("its ends are one point where the bodies are drawn"));
            }
            (found, PlacedEnds::Points(points), length)
        }
        SpringEnds::Coordinate(coordinate) => {
            let i = find_coordinate(plan, coordinate, "spring", &spring.name)?;
            (plan.coordinates[i].bodies, PlacedEnds::Coordinate(i), 0.0)
        }
        SpringEnds::Angle { bodies: names, axis } => {
            let found = both(plan, names)?;
            let i = place_angle(spring, *axis, found, plan, motion, drawn)?;
            (found, PlacedEnds::Coordinate(i), 0.0)
        }
    };
    Ok(PlacedSpring {
        bodies: found,
        ends,
        stiffness: spring.stiffness,
        damping: spring.damping,
        preload: spring.preload,
        rest: spring.rest.unwrap_or(rest),
    })
}

/// A coordinate of the spring's own: the angle of one body beside another.
fn place_angle(
    spring: &Spring,
    axis: Anchor,
    found: [usize; 2],
    plan: &mut Plan,
    motion: &Motion<f64>,
    drawn: &Drawn,
) -> Result<usize, MultibodyError> {
    // as a revolute joint between the bodies would have it
    let [a, b] = found.map(|body| plan.names[body].clone());
    let joint = Joint { axis, ..Joint::revolute(&spring.name, &a, &b).at([0.0, 0.0]) };
    let setting = super::joints::setting(&joint, plan.is_planar, motion.pair(found)).map_err(|_| {
        MultibodyError::Misfit { what: "spring", name: spring.name.clone(), reason: "its axis is none" }
    })?;
    let coordinate: Coordinate = setting.angle();
    let offset = super::joints::offset(plan, drawn, found, coordinate.value(motion.pair(found)));
    let name = format!("{}.angle", spring.name);
    plan.coordinates.push(PlacedCoordinate { name, bodies: found, coordinate, counter: None, offset });
    Ok(plan.coordinates.len() - 1)
}

fn place_motor(motor: &Motor, plan: &mut Plan) -> Result<(), MultibodyError> {
    let coordinate = find_coordinate(plan, &motor.coordinate, "motor", &motor.name)?;
    match &motor.drive {
        Drive::Position(function) | Drive::Velocity(function) => {
            let is_rate = matches!(motor.drive, Drive::Velocity(_));
            let integral = Integral::default();
            plan.motors.push(PlacedMotor { coordinate, is_rate, function: function.clone(), integral, start: 0.0 });
        }
        Drive::Effort(inputs, function) => {
            let inputs = place_signals(inputs, plan, "motor", &motor.name)?;
            let on = LoadOn::Coordinate(coordinate);
            plan.loads.push(PlacedLoad { name: motor.name.clone(), on, inputs, function: function.clone() });
        }
    }
    Ok(())
}

fn place_load(load: &Load, plan: &mut Plan) -> Result<(), MultibodyError> {
    let body = bodies::find(plan, &load.body, "load", &load.name)?;
    let refuse = |reason| Err(MultibodyError::Misfit { what: "load", name: load.name.clone(), reason });
    if body == 0 {
        return refuse("the ground does not move");
    }
    if load.point.iter().any(|x| !x.is_finite()) || plan.is_planar && load.point[2] != 0.0 {
        return refuse("its point is not finite, or not in the plane");
    }
    let inputs = place_signals(&load.inputs, plan, "load", &load.name)?;
    let on = LoadOn::Body { body, point: load.point, axes: load.axes };
    plan.loads.push(PlacedLoad { name: load.name.clone(), on, inputs, function: load.function.clone() });
    Ok(())
}

fn place_signals(
    signals: &[Signal],
    plan: &Plan,
    what: &'static str,
    by: &str,
) -> Result<Vec<PlacedSignal>, MultibodyError> {
    let refuse = |reason| Err(MultibodyError::Misfit { what, name: by.into(), reason });
    if signals.len() > MOST_INPUTS {
        return refuse("its function has too many inputs");
    }
    let mut placed = Vec::new();
    for signal in signals {
        let body = |name: &str| bodies::find(plan, name, what, by);
        if let Signal::Position(_, axis) | Signal::Velocity(_, axis) | Signal::Spin(_, axis) = signal
            && *axis > 2
        {
            return refuse("a component is 0, 1 or 2");
        }
        placed.push(match signal {
            Signal::Time => PlacedSignal::Time,
            Signal::Coordinate(coordinate) => PlacedSignal::Coordinate(find_coordinate(plan, coordinate, what, by)?),
            Signal::Rate(coordinate) => PlacedSignal::Rate(find_coordinate(plan, coordinate, what, by)?),
            Signal::Position(name, axis) => PlacedSignal::Position(body(name)?, *axis),
            Signal::Angle(_) if !plan.is_planar => return refuse("only planar bodies have an angle"),
            Signal::Angle(name) => PlacedSignal::Angle(body(name)?),
            Signal::Attitude(_, k) if plan.is_planar || *k > 3 => {
                return refuse("an attitude has four components, in space");
            }
            Signal::Attitude(name, k) => PlacedSignal::Attitude(body(name)?, *k),
            Signal::Velocity(name, axis) => PlacedSignal::Velocity(body(name)?, *axis),
            Signal::Spin(name, axis) => PlacedSignal::Spin(body(name)?, *axis),
        });
    }
    Ok(placed)
}
