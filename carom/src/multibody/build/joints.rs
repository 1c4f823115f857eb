//! Joints and contacts of a description.

use super::{Drawn, Multibody, bodies};
use crate::model::Bearing;
use crate::multibody::contact::Surface;
use crate::multibody::joint::clearance::give_way;
use crate::multibody::joint::{Anchor, Chain, Laid, Need, Setting, Where};
use crate::multibody::motion::Motion;
use crate::multibody::plan::{Aligned, Item, JointRow, PlacedContact, PlacedCoordinate, PlacedPlay, Plan};
use crate::multibody::primitive::Primitive;
use crate::multibody::{AnyPair, Frame, Joint, JointCoordinate, MultibodyError, Vector};
use carom_solve::elementary::hypot;
use std::collections::HashSet;
use std::sync::Arc;

/// Places joints and contacts.
pub(super) fn place(description: &Multibody, plan: &mut Plan, drawn: &Drawn) -> Result<(), MultibodyError> {
    let mut motion = Motion::new(plan);
    motion.place(plan, &drawn.q);
    let mut known = HashSet::new();
    for joint in &description.joints {
        if !known.insert(joint.name.as_str()) {
            return Err(MultibodyError::Duplicate { what: "joints", name: joint.name.clone() });
        }
        plan.joints.push(joint.name.clone());
        lay(joint, plan, &motion, drawn)?;
    }
    // relations may refer to joints that come later
    for (number, joint) in description.joints.iter().enumerate() {
        if joint.kind.has(Need::Terms) {
            relate(joint, number, plan, drawn)?;
        }
    }
    for contact in &description.contacts {
        let [a, b] = &contact.bodies;
        let found =
            [bodies::find(plan, a, "contact", &contact.name)?, bodies::find(plan, b, "contact", &contact.name)?];
        place_contact(plan, contact.name.clone(), found, (contact.pair.clone(), contact.surface))?;
    }
    Ok(())
}

fn place_contact(
    plan: &mut Plan,
    name: String,
    bodies: [usize; 2],
    (pair, surface): (AnyPair, Surface),
) -> Result<(), MultibodyError> {
    if bodies[0] == bodies[1] {
        return Err(MultibodyError::Misfit { what: "contact", name, reason: "its two bodies are one" });
    }
    let Surface { restitution, tangential, friction, rolling, spinning } = surface;
    let number = |quantity, value, range| {
        Err(MultibodyError::Number { what: "contact", name: name.clone(), quantity, value, range })
    };
    if !(0.0..=1.0).contains(&restitution) {
        return number("the restitution", restitution, "it must lie in [0, 1]");
    }
    if !(0.0..=1.0).contains(&tangential) {
        return number("the tangential restitution", tangential, "it must lie in [0, 1]");
    }
    for (quantity, mu) in
        [("the friction", friction), ("the rolling friction", rolling), ("the spinning friction", spinning)]
    {
        if !(mu >= 0.0 && mu.is_finite()) {
            return number(quantity, mu, "it must be finite and not negative");
        }
    }
    let law = surface.law(plan.is_planar);
    plan.contacts.push(PlacedContact { name, bodies, pair, surface, law });
    Ok(())
}

/// Rows, coordinates and contacts of a joint between bodies.
fn lay(joint: &Joint, plan: &mut Plan, motion: &Motion<f64>, drawn: &Drawn) -> Result<(), MultibodyError> {
    let refuse = |reason| Err(MultibodyError::Misfit { what: "joint", name: joint.name.clone(), reason });
    let number = plan.joints.len() - 1;
    plan.of_joint.push(plan.coordinates.len()..plan.coordinates.len());
    if plan.is_planar && joint.kind.dimensions == Where::Space {
        return refuse("there is no such joint in the plane");
    }
    if joint.clearance.is_some() && !joint.kind.may_have_play {
        return refuse("a joint of this kind has no play");
    }
    if joint.kind.has(Need::Terms) {
        return Ok(());
    }
    let [a, b] = &joint.bodies;
    let found = [bodies::find(plan, a, "joint", &joint.name)?, bodies::find(plan, b, "joint", &joint.name)?];
    if found[0] == found[1] {
        return refuse("its two bodies are one");
    }
    let setting = setting(joint, plan.is_planar, motion.pair(found))?;
    let mut laid = Laid::default();
    (joint.kind.lay)(&setting, &mut laid);
    if let Some(clearance) = &joint.clearance {
        let length = plan.length.unwrap_or_else(|| extent(plan, motion));
        give_way(joint.kind.name, clearance, &setting, length, &mut laid).map_err(|(quantity, value, range)| {
            MultibodyError::Number { what: "joint", name: joint.name.clone(), quantity, value, range }
        })?;
    }
    let first = plan.coordinates.len();
    for (name, coordinate) in laid.coordinates {
        let frames = motion.pair(found);
        let offset = offset(plan, drawn, found, coordinate.value(frames));
        let name = format!("{}.{name}", joint.name);
        plan.coordinates.push(PlacedCoordinate { name, bodies: found, coordinate, counter: None, offset });
    }
    plan.of_joint[number] = first..plan.coordinates.len();
    for (name, mut primitive) in laid.rows {
        if plan.is_planar && primitive.is_void_in_plane() {
            continue;
        }
        if let Primitive::Relation { terms, .. } = &mut primitive {
            terms.iter_mut().for_each(|(i, _)| *i += first);
        }
        plan.rows.push(JointRow { joint: number, name, bodies: found, primitive, follows: false });
    }
    plan.aligned.extend(laid.aligned.into_iter().map(|(a, b)| Aligned { joint: number, bodies: found, a, b }));
    let first = plan.contacts.len();
    for (name, pair, surface) in laid.contacts {
        place_contact(plan, format!("{}.{name}", joint.name), found, (pair, surface))?;
    }
    if let Some(play) = laid.play {
        let contacts = first..first + play.contacts;
        plan.plays.push(PlacedPlay { joint: number, bodies: found, play, contacts });
    }
    Ok(())
}

/// The largest distance of a mass centre from the origin [m].
fn extent(plan: &Plan, motion: &Motion<f64>) -> f64 {
    (1..plan.names.len()).map(|body| motion.pair([0, body]).1.centre.length()).fold(0.0, f64::max)
}

/// In the plane: the angle of b less that of a where a coordinate that has this value is zero.
pub(super) fn offset(plan: &Plan, drawn: &Drawn, [a, b]: [usize; 2], value: f64) -> f64 {
    let angle = |body: usize| if body == 0 { 0.0 } else { drawn.q[3 * body - 1] };
    if plan.is_planar { angle(b) - angle(a) - value } else { 0.0 }
}

/// The row of a gear, rack or coupler.
fn relate(joint: &Joint, number: usize, plan: &mut Plan, drawn: &Drawn) -> Result<(), MultibodyError> {
    let refuse = |reason| Err(MultibodyError::Misfit { what: "joint", name: joint.name.clone(), reason });
    if joint.terms.is_empty() {
        return refuse("it relates no coordinates");
    }
    if joint.clearance.is_some() || !joint.stops.is_empty() || !joint.friction.is_empty() {
        return refuse("a relation has no coordinate of its own");
    }
    let mut terms = Vec::new();
    for (coordinate, factor) in &joint.terms {
        if !(factor.is_finite() && *factor != 0.0) {
            let (quantity, range) = ("a factor", "it must be finite and not zero");
            return Err(MultibodyError::Number {
                what: "joint",
                name: joint.name.clone(),
                quantity,
                value: *factor,
                range,
            });
        }
        terms.push((find_coordinate(plan, coordinate, "joint", &joint.name)?, *factor));
    }
    let mut motion = Motion::new(plan);
    motion.place(plan, &drawn.q);
    let constant = terms.iter().map(|&(i, factor)| factor * motion.coordinate(plan, i)).sum();
    let primitive = Primitive::Relation { terms, constant };
    plan.rows.push(JointRow { joint: number, name: "relation", bodies: [0, 0], primitive, follows: false });
    Ok(())
}

/// The number of a coordinate that an item refers to.
pub(super) fn find_coordinate(
    plan: &Plan,
    coordinate: &JointCoordinate,
    what: &'static str,
    by: &str,
) -> Result<usize, MultibodyError> {
    let unknown = |referred, missing| MultibodyError::Unknown { what, name: by.into(), referred, missing };
    let joint = plan.joints.iter().position(|name| *name == coordinate.joint);
    let Some(joint) = joint else { return Err(unknown("joint", coordinate.joint.clone())) };
    let range = plan.of_joint[joint].clone();
    if coordinate.index < range.len() {
        return Ok(range.start + coordinate.index);
    }
    Err(unknown("coordinate", format!("number {} of {}", coordinate.index, coordinate.joint)))
}

/// Points and axes of a joint in both bodies.
pub(super) fn setting(joint: &Joint, is_planar: bool, frames: (&Frame, &Frame)) -> Result<Setting, MultibodyError> {
    let refuse = |reason| MultibodyError::Misfit { what: "joint", name: joint.name.clone(), reason };
    let points = match joint.point {
        // bodies that move as one share every point, and links have points of their own
        Anchor::None if joint.kind.name == "fixed" || joint.kind.has(Need::Links) => {
            let centre = frames.1.centre.0;
            points_of(Anchor::Drawn([centre; 2]), frames)
        }
        Anchor::None => return Err(refuse("its point is not given")),
        point => points_of(point, frames),
    };
    if points.iter().flatten().any(|x| !x.is_finite()) {
        return Err(refuse("its point is not finite"));
    }
    if is_planar && points.iter().any(|point| point[2] != 0.0) {
        return Err(refuse("its point is not in the plane"));
    }
    let axes = axes(joint, is_planar, frames)?;
    let drawn = (frames.1.point(points[1]) - frames.0.point(points[0])).length();
    let length = joint.length.unwrap_or(drawn);
    if joint.kind.has(Need::Ends) && !(length > 0.0 && length.is_finite()) {
        let (quantity, range) = ("the length", "it must be positive");
        return Err(MultibodyError::Number { what: "joint", name: joint.name.clone(), quantity, value: length, range });
    }
    if joint.kind.has(Need::Ends) && drawn == 0.0 {
        return Err(refuse("its two points are one where the bodies are drawn"));
    }
    if joint.kind.has(Need::Lead) && !(joint.lead != 0.0 && joint.lead.is_finite()) {
        let (quantity, range) = ("the lead", "it must be finite and not zero");
        return Err(MultibodyError::Number {
            what: "joint",
            name: joint.name.clone(),
            quantity,
            value: joint.lead,
            range,
        });
    }
    let chain = match joint.kind.has(Need::Links) {
        true => Some(Arc::new(Chain::new(&joint.links, frames).map_err(refuse)?)),
        false => None,
    };
    Ok(Setting { is_planar, points, axes, length, lead: joint.lead, chain })
}

/// Points in axes of the bodies.
pub(super) fn points_of(anchor: Anchor, (a, b): (&Frame, &Frame)) -> [[f64; 3]; 2] {
    match anchor {
        Anchor::None => [[0.0; 3]; 2],
        Anchor::Drawn([on_a, on_b]) => [a.body_point(Vector(on_a)).0, b.body_point(Vector(on_b)).0],
        Anchor::Bodies(points) => points,
    }
}

/// Directions in axes of the bodies.
fn directions_of(anchor: Anchor, (a, b): (&Frame, &Frame)) -> Option<[[f64; 3]; 2]> {
    match anchor {
        Anchor::None => None,
        Anchor::Drawn([d, e]) => Some([a.body_direction(Vector(d)).0, b.body_direction(Vector(e)).0]),
        Anchor::Bodies(directions) => Some(directions),
    }
}

/// (u, w, d) in axes of a and of b.
fn axes(joint: &Joint, is_planar: bool, frames: (&Frame, &Frame)) -> Result<[[[f64; 3]; 3]; 2], MultibodyError> {
    let refuse = |reason| MultibodyError::Misfit { what: "joint", name: joint.name.clone(), reason };
    let given = directions_of(joint.axis, frames);
    if joint.kind.has(Need::Axis) && given.is_none() && !(is_planar && joint.kind.name == "revolute") {
        return Err(refuse("its axis is not given"));
    }
    let upright = |frames: (&Frame, &Frame)| {
        let z = Vector([0.0, 0.0, 1.0]);
        [frames.0.body_direction(z).0, frames.1.body_direction(z).0]
    };
    let [d_a, d_b] = given.unwrap_or_else(|| {
        // axes of body a, where no axis matters
        if is_planar { upright(frames) } else { [[0.0, 0.0, 1.0], across(frames, [0.0, 0.0, 1.0])] }
    });
    let (Some(d_a), Some(d_b)) = (unit(d_a), unit(d_b)) else {
        return Err(refuse("its axis has no length"));
    };
    if is_planar && d_a[2].abs() > 1e-9 && hypot(d_a[0], d_a[1]) > 1e-9 {
        return Err(refuse("its axis is neither in the plane nor its normal"));
    }
    let lies = d_a[2].abs() <= 1e-9;
    if is_planar && (joint.kind.name == "revolute" && lies || joint.kind.name == "prismatic" && !lies) {
        return Err(refuse("in the plane a revolute joint has the axis z, a prismatic one an axis in the plane"));
    }
    if joint.kind.has(Need::SecondAxis) {
        let Some([second_a, second_b]) = directions_of(joint.second_axis, frames) else {
            return Err(refuse("its second axis is not given"));
        };
        let (Some(u_a), Some(u_b)) = (perpendicular(second_a, d_a), unit(second_b)) else {
            return Err(refuse("its second axis has no length, or is the first one"));
        };
        let Some(d_b) = perpendicular(d_b, u_b) else {
            return Err(refuse("its second axis is the first one"));
        };
        return Ok([[u_a, cross(d_a, u_a), d_a], [u_b, cross(d_b, u_b), d_b]]);
    }
    let helper = if is_planar && lies { cross([0.0, 0.0, 1.0], d_a) } else { least_aligned(d_a) };
    let u_a = perpendicular(helper, d_a).ok_or_else(|| refuse("its axis has no length"))?;
    let u_b = perpendicular(across(frames, u_a), d_b).ok_or_else(|| refuse("its axes on the two bodies are across"))?;
    Ok([[u_a, cross(d_a, u_a), d_a], [u_b, cross(d_b, u_b), d_b]])
}

/// A direction of a in axes of b, where they are drawn.
fn across((a, b): (&Frame, &Frame), d: [f64; 3]) -> [f64; 3] {
    b.body_direction(a.direction(d)).0
}

/// The first axis in cyclic order after the one that a direction is closest to: x for z.
fn least_aligned(d: [f64; 3]) -> [f64; 3] {
    let largest = (0..3).fold(2, |best, i| if d[i].abs() > d[best].abs() { i } else { best });
    std::array::from_fn(|i| f64::from(u8::from(i == (largest + 1) % 3)))
}

fn unit(d: [f64; 3]) -> Option<[f64; 3]> {
    let length = Vector(d).length();
    (length > 0.0 && length.is_finite()).then(|| d.map(|x| x / length))
}

/// The part of `d` perpendicular to the unit vector `axis`, as a unit vector.
fn perpendicular(d: [f64; 3], axis: [f64; 3]) -> Option<[f64; 3]> {
    let d = Vector(unit(d)?);
    let rest = d - Vector(axis) * d.dot(Vector(axis));
    (rest.length() > 1e-6).then(|| unit(rest.0)).flatten()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    Vector(a).cross(Vector(b)).0
}

/// Lists stops and friction of a joint.
pub(super) fn list_stops(
    joint: &Joint,
    plan: &mut Plan,
    items: &mut Vec<(String, Item)>,
) -> Result<(), MultibodyError> {
    let number = |quantity, value, range| {
        Err(MultibodyError::Number { what: "joint", name: joint.name.clone(), quantity, value, range })
    };
    let find = |index: usize| {
        let name = JointCoordinate { joint: joint.name.clone(), index };
        find_coordinate(plan, &name, "joint", &joint.name)
    };
    for (index, stops) in &joint.stops {
        let coordinate = find(*index)?;
        let (lower, upper, restitution) = (stops.lower, stops.upper, stops.restitution);
        if lower > upper || lower.is_nan() || upper.is_nan() {
            return number("the lower stop", lower, "it must not be above the upper one");
        }
        if !(0.0..=1.0).contains(&restitution) {
            return number("the restitution", restitution, "it must lie in [0, 1]");
        }
        let name = if *index == 0 { joint.name.clone() } else { plan.coordinates[coordinate].name.clone() };
        for (end, bound, sign) in [("lower", lower, 1.0), ("upper", upper, -1.0)] {
            if bound.is_finite() {
                items.push((format!("{name}.{end}"), Item::Stop { coordinate, bound, sign, restitution }));
            }
        }
    }
    for (index, size) in &joint.friction {
        let coordinate = find(*index)?;
        if !(*size >= 0.0 && size.is_finite()) {
            return number("the friction", *size, "it must be finite and not negative");
        }
        let name = if *index == 0 { joint.name.clone() } else { plan.coordinates[coordinate].name.clone() };
        items.push((format!("{name}.friction"), Item::Friction { coordinate, size: *size }));
    }
    if let Some(coefficient) = joint.bearing {
        let law = match joint.friction.iter().position(|(index, _)| *index == 0) {
            Some(place) => items.len() - joint.friction.len() + place,
            None => {
                items.push((format!("{}.friction", joint.name), Item::Friction { coordinate: find(0)?, size: 0.0 }));
                items.len() - 1
            }
        };
        bear(joint, coefficient, law, plan)?;
    }
    Ok(())
}

/// Friction that follows the load: rows of joints are the first laws, in their order.
fn bear(joint: &Joint, coefficient: f64, law: usize, plan: &mut Plan) -> Result<(), MultibodyError> {
    let number = plan.joints.iter().position(|name| *name == joint.name);
    let carries = |row: &JointRow| Some(row.joint) == number && LOAD.contains(&row.name);
    let load: Vec<usize> = plan.rows.iter().enumerate().filter(|(_, row)| carries(row)).map(|(i, _)| i).collect();
    let refuse = |reason| Err(MultibodyError::Misfit { what: "joint", name: joint.name.clone(), reason });
    if !matches!(joint.kind.name, "revolute" | "prismatic") {
        return refuse("only revolute and prismatic joints have friction that follows the load");
    }
    if joint.clearance.is_some() {
        return refuse("with play it is the contacts that have friction");
    }
    if !(coefficient >= 0.0 && coefficient.is_finite()) {
        let (quantity, range) = ("the friction of the bearing", "it must be finite and not negative");
        return Err(MultibodyError::Number {
            what: "joint",
            name: joint.name.clone(),
            quantity,
            value: coefficient,
            range,
        });
    }
    plan.bearings.push(Bearing { law, coefficient, load });
    Ok(())
}

/// Rows of a joint whose reactions are forces.
const LOAD: [&str; 3] = ["u", "w", "axial"];
