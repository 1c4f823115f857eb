//! Parts that do not move become one with what carries them; what is left must have mass.

use super::Notes;
use super::mass::wrong_inertia;
use super::robot::{Mass, Part, Pose, Robot, Tie};

/// The robot with parts that fuse fused, and checked.
pub(super) fn settled(robot: Robot, notes: &mut Notes) -> Option<Robot> {
    let robot = fused(robot);
    for part in &robot.parts {
        match &part.mass {
            Some(mass) if mass.mass > 0.0 => {
                if let Some(reason) = wrong_inertia(&mass.inertia) {
                    let hint = "moments about the mass centre; the largest is at most the sum of the other two";
                    notes.out.error(&part.place, format!("`{}`: {reason}", part.name)).hint(hint);
                }
            }
            _ => {
                let message = format!("`{}` moves and has no mass", part.name);
                let hint = "give it mass and inertia, or fix it to a part that has some";
                notes.out.error(&part.place, message).hint(hint);
            }
        }
    }
    (notes.out.errors() == 0).then_some(robot)
}

/// Where a part ends up.
#[derive(Clone, Copy)]
struct Home {
    /// Its number among those that are kept; none: the ground.
    part: Option<usize>,
    /// In axes of that part.
    pose: Pose,
}

fn fused(robot: Robot) -> Robot {
    let Robot { parts, mut ground, ties, mut cords, excluded, fluid, .. } = robot;
    // a part without mass that moves takes what is fixed to it
    let bare: Vec<bool> = parts.iter().map(|part| part.mass.is_none_or(|mass| mass.mass <= 0.0)).collect();
    let mut homes: Vec<Home> = Vec::new();
    let mut kept: Vec<Part> = Vec::new();
    let mut masses: Vec<Vec<Mass>> = Vec::new();
    for (number, mut part) in parts.into_iter().enumerate() {
        let parent = part.parent.map(|parent| homes[parent]);
        let home = parent.unwrap_or(Home { part: None, pose: Pose::HERE });
        let pose = home.pose.then(&part.pose);
        let stays = part.joints.is_empty();
        let joins =
            stays && (part.fuses || bare[number] || home.part.is_none() || part.parent.is_some_and(|p| bare[p]));
        if joins {
            let shapes = part.shapes.drain(..).map(|mut solid| {
                solid.pose = pose.then(&solid.pose);
                solid
            });
            match home.part {
                None => ground.extend(shapes),
                Some(at) => {
                    kept[at].shapes.extend(shapes);
                    masses[at].extend(part.mass.filter(|mass| mass.mass > 0.0).map(|mass| mass.moved(&pose)));
                }
            }
            homes.push(Home { part: home.part, pose });
        } else {
            homes.push(Home { part: Some(kept.len()), pose: Pose::HERE });
            masses.push(part.mass.filter(|mass| mass.mass > 0.0).into_iter().collect());
            kept.push(Part { parent: home.part, pose, ..part });
        }
    }
    for (part, masses) in kept.iter_mut().zip(&masses) {
        part.mass = Mass::sum(masses);
    }
    let home = |part: Option<usize>| part.map_or(Home { part: None, pose: Pose::HERE }, |part| homes[part]);
    let ties = ties.into_iter().map(|(name, tie, place)| {
        let tie = match tie {
            Tie::Point([a, b], at) => Tie::Point([home(a).part, home(b).part], home(a).pose.point(at)),
            Tie::Whole(pair) => Tie::Whole(pair.map(|part| home(part).part)),
            follow => follow,
        };
        (name, tie, place)
    });
    let ties = ties.collect();
    for (part, at) in cords.iter_mut().flat_map(|cord| &mut cord.ends) {
        let Home { part: to, pose } = home(*part);
        (*part, *at) = (to, pose.point(*at));
    }
    let excluded = excluded.into_iter().map(|pair| pair.map(|part| home(part).part)).collect();
    Robot { parts: kept, ground, ties, cords, excluded, fluid, ..robot }
}
