//! Where parts are and how they move at the start: forward kinematics of the tree.

use std::collections::HashMap;

use carom::rotation::{normalised, product, rotate};

use super::robot::{Freedom, Motion, Pose, Robot, Tie, about, minus, plus, times};
use super::{Feature, Notes, Omission, Options};
use crate::diagnostic::{Diagnostic, suggest};

/// What is said of a joint that is drawn outside of its limits.
const STARTS: &str = "joints that the file draws beyond a limit start at it (see --position)";

/// A joint as it stands at the start, in axes of the space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stance {
    pub axis: [f64; 3],
    pub at: [f64; 3],
    /// Its coordinate as the file counts it.
    pub start: f64,
}

/// A part at the start, in axes of the space.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub pose: Pose,
    pub joints: Vec<Stance>,
    /// Of the origin of its axes.
    pub velocity: [f64; 3],
    pub spin: [f64; 3],
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    carom::rotation::cross(a, b)
}

/// Places all parts; tells names of the command line that are no joints.
pub(super) fn place(robot: &Robot, options: &Options, notes: &mut Notes) -> Option<Vec<Placed>> {
    let starts = starts(robot, options, notes);
    let mut placed: Vec<Placed> = Vec::new();
    for part in &robot.parts {
        let (parent, velocity, spin) = match part.parent {
            Some(parent) => (placed[parent].pose, placed[parent].velocity, placed[parent].spin),
            None => (Pose::HERE, [0.0; 3], [0.0; 3]),
        };
        let mut pose = parent.then(&part.pose);
        let mut joints = Vec::new();
        for joint in &part.joints {
            let start = starts.get(joint.name.as_str()).copied().unwrap_or(joint.reference);
            let stance = Stance { axis: rotate(pose.turn, joint.axis), at: pose.point(joint.at), start };
            let way = start - joint.reference;
            match joint.freedom {
                Freedom::Turn if way != 0.0 => {
                    let turn = about(stance.axis, way);
                    let at = plus(stance.at, rotate(turn, minus(pose.at, stance.at)));
                    pose = Pose { at, turn: normalised(product(turn, pose.turn)) };
                }
                Freedom::Slide => pose.at = plus(pose.at, times(stance.axis, way)),
                Freedom::Turn | Freedom::Ball | Freedom::Free => {}
            }
            joints.push(stance);
        }
        let mut now = Placed { pose, joints, velocity, spin };
        now.velocity = plus(velocity, cross(spin, minus(pose.at, parent.at)));
        for (joint, stance) in part.joints.iter().zip(now.joints.clone()) {
            if let Some(rate) = rate(joint, options, notes) {
                move_on(&mut now, joint.freedom, &stance, &rate);
            }
        }
        placed.push(now);
    }
    (notes.out.errors() == 0).then_some(placed)
}

/// The rate of a joint that is asked for, with as many numbers as it needs.
fn rate(joint: &Motion, options: &Options, notes: &mut Notes) -> Option<Vec<f64>> {
    let (_, rate) = options.rates.iter().rfind(|(name, _)| *name == joint.name)?;
    let needed = match joint.freedom {
        Freedom::Turn | Freedom::Slide => 1,
        Freedom::Ball => 3,
        Freedom::Free => 6,
    };
    if rate.len() != needed || rate.iter().any(|x| !x.is_finite()) {
        let message = format!("the joint `{}` needs {needed} finite numbers, found {}", joint.name, rate.len());
        notes.out.push(Diagnostic::of_file("--rate", message));
        return None;
    }
    Some(rate.clone())
}

fn move_on(now: &mut Placed, freedom: Freedom, stance: &Stance, rate: &[f64]) {
    match (freedom, rate) {
        (Freedom::Turn, [rate]) => {
            let spin = times(stance.axis, *rate);
            now.spin = plus(now.spin, spin);
            now.velocity = plus(now.velocity, cross(spin, minus(now.pose.at, stance.at)));
        }
        (Freedom::Slide, [rate]) => now.velocity = plus(now.velocity, times(stance.axis, *rate)),
        (Freedom::Ball, [x, y, z]) => {
            let spin = rotate(now.pose.turn, [*x, *y, *z]);
            now.spin = plus(now.spin, spin);
            now.velocity = plus(now.velocity, cross(spin, minus(now.pose.at, stance.at)));
        }
        (Freedom::Free, [x, y, z, a, b, c]) => {
            now.velocity = plus(now.velocity, [*x, *y, *z]);
            now.spin = plus(now.spin, rotate(now.pose.turn, [*a, *b, *c]));
        }
        _ => {}
    }
}

/// Coordinates at the start by the names of joints: those that are asked for, and those that follow them.
fn starts<'a>(robot: &'a Robot, options: &'a Options, notes: &mut Notes) -> HashMap<&'a str, f64> {
    let joints = || robot.parts.iter().flat_map(|part| &part.joints);
    let given = options.positions.iter().map(|(name, value)| ("--position", name, value.is_finite()));
    let rates = options.rates.iter().map(|(name, _)| ("--rate", name, true));
    for (option, name, is_finite) in given.chain(rates) {
        let Some(joint) = joints().find(|joint| joint.name == *name) else {
            let names = || joints().map(|joint| joint.name.as_str());
            let all = || format!("joints: {}", names().take(12).collect::<Vec<_>>().join(", "));
            let mut error = Diagnostic::of_file(option, format!("there is no joint {name:?}"));
            error.hint(suggest(name, names(), true, all));
            notes.out.push(error);
            continue;
        };
        if option == "--position" && (!is_finite || !matches!(joint.freedom, Freedom::Turn | Freedom::Slide)) {
            let message =
                format!("the joint `{name}` cannot start there: a finite coordinate of a turn or slide is needed");
            notes.out.push(Diagnostic::of_file(option, message));
        }
    }
    let mut all: HashMap<&str, f64> = joints().map(|joint| (joint.name.as_str(), joint.reference)).collect();
    if options.has(Feature::Stops) {
        for joint in joints() {
            let Some(([lower, upper], place)) = &joint.limits else { continue };
            let start = joint.reference.clamp(lower.min(*upper), *upper);
            let is_given = options.positions.iter().any(|(name, _)| *name == joint.name);
            if (start - joint.reference).abs() > 1e-12 && !is_given {
                all.insert(joint.name.as_str(), start);
                notes.changed.push(Omission { what: STARTS.into(), place: place.clone() });
            }
        }
    }
    all.extend(options.positions.iter().map(|(name, value)| (name.as_str(), *value)));
    for (_, tie, _) in &robot.ties {
        if let Tie::Follow { joint, other, factor, constant } = tie
            && !options.positions.iter().any(|(name, _)| name == joint)
        {
            let other = other.as_ref().and_then(|name| all.get(name.as_str()).copied()).unwrap_or(0.0);
            all.insert(joint, constant + factor * other);
        }
    }
    all
}
