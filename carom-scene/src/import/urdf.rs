//! URDF: links and joints of a tree. Links on fixed joints become one with what carries them; the root stands on the
//! ground unless it is said to be floating. Visuals, transmissions and tags of simulators are left out.

use std::collections::HashMap;
use std::path::Path;

use carom::rotation::{normalised, product};

use super::robot::{
    Form, Freedom, Mass, Motion, Part, Pose, Robot, Solid, Tie, Touch, about, length, rotate_inertia, times,
};
use super::xml::{Attribute, Element};
use super::{Format, Notes, Options};
use crate::diagnostic::suggest;

pub(super) const FORMAT: Format =
    Format { name: "URDF", about: "Unified Robot Description Format of ROS", root: "robot", read };

/// Gravity, of which a URDF file says nothing.
const GRAVITY: [f64; 3] = [0.0, 0.0, -9.81];

/// Elements that have no counterpart, and what they are.
const LEFT: &[(&str, &str)] = &[
    ("transmission", "transmissions"),
    ("gazebo", "tags of simulators"),
    ("sensor", "sensors"),
    ("ros2_control", "actuators"),
    ("visual", "visuals"),
    ("material", "visuals"),
    ("contact", "contact options"),
    ("safety_controller", "actuators"),
    ("calibration", "sensors"),
];

fn read(root: &Element, path: &Path, options: &Options, notes: &mut Notes) -> Option<Robot> {
    let mut links: Vec<&Element> = Vec::new();
    let mut joints: Vec<&Element> = Vec::new();
    for child in &root.children {
        match child.name.as_str() {
            "link" => links.push(child),
            "joint" => joints.push(child),
            _ => strange(child, &["link", "joint"], notes),
        }
    }
    if links.is_empty() && notes.out.errors() > 0 {
        return None;
    }
    if links.is_empty() {
        notes.out.error(&root.place, "the robot has no links").hint("add <link name=\"...\">");
        return None;
    }
    let mut index: HashMap<&str, usize> = HashMap::new();
    for (i, link) in links.iter().enumerate() {
        let Some(name) = link.need("name", &mut notes.out) else { continue };
        if let Some(first) = index.insert(&name.value, i) {
            let line = links[first].place.source.position(links[first].place.span.start).0;
            let error = notes.out.error(&name.place, format!("two links are called {:?}", name.value));
            error.hint(format!("the other one is in line {line}"));
        }
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut parts: Vec<Part> = links.iter().map(|link| part(link, folder, notes)).collect();
    let mut ties = Vec::new();
    let mut parents: Vec<Option<usize>> = vec![None; links.len()];
    let mut names: HashMap<&str, &Element> = HashMap::new();
    for joint in joints {
        if let Some(name) = joint.need("name", &mut notes.out)
            && names.insert(&name.value, joint).is_some()
        {
            notes.out.error(&name.place, format!("two joints are called {:?}", name.value));
        }
        let Some((parent, child)) = ends(joint, &index, notes) else { continue };
        if let Some(element) = joint.child("child").filter(|_| parents[child].is_some() || parent == child) {
            let message = format!("the link {:?} hangs on two joints, or on itself", parts[child].name);
            notes.out.error(&element.place, message).hint("the links of URDF are a tree");
            continue;
        }
        parents[child] = Some(parent);
        hang(joint, &mut parts[child], &mut ties, notes);
    }
    if notes.out.errors() > 0 {
        return None;
    }
    for (name, tie, place) in &ties {
        if let Tie::Follow { other: Some(other), .. } = tie
            && !names.contains_key(other.as_str())
        {
            let hint = suggest(other, names.keys().copied(), true, || "it names another joint".into());
            notes.out.error(place, format!("`{name}` mimics the joint {other:?}, which is not there")).hint(hint);
        }
    }
    let parts = sorted(parts, &parents, options, notes)?;
    let name = root.get("name").map_or_else(String::new, |name| name.value.clone());
    Some(Robot {
        name,
        gravity: GRAVITY,
        parts,
        ground: Vec::new(),
        ties,
        cords: Vec::new(),
        fluid: None,
        excluded: Vec::new(),
        touches: false,
        step: None,
    })
}

/// Tells an element that is left out, or that nobody knows.
fn strange(element: &Element, known: &[&str], notes: &mut Notes) {
    if let Some((_, what)) = LEFT.iter().find(|(name, _)| *name == element.name) {
        notes.leave(*what, &element.place);
        return;
    }
    let all = || format!("it has {}", known.join(", "));
    let hint = suggest(&element.name, known.iter().copied(), false, all);
    notes.out.error(&element.place, format!("<{}> is not known here", element.name)).hint(hint);
}

/// The numbers of parent and child of a joint.
fn ends(joint: &Element, index: &HashMap<&str, usize>, notes: &mut Notes) -> Option<(usize, usize)> {
    let mut find = |which: &str| {
        let Some(element) = joint.child(which) else {
            let error = notes.out.error(&joint.place, format!("the joint has no <{which}>"));
            error.hint(format!("add <{which} link=\"...\"/>"));
            return None;
        };
        let link = element.need("link", &mut notes.out)?;
        let found = index.get(link.value.as_str()).copied();
        if found.is_none() {
            let hint = suggest(&link.value, index.keys().copied(), true, || "it names a link of the robot".into());
            notes.out.error(&link.place, format!("there is no link {:?}", link.value)).hint(hint);
        }
        found
    };
    let (parent, child) = (find("parent"), find("child"));
    Some((parent?, child?))
}

/// Parents before children; the root on the ground, or free.
fn sorted(parts: Vec<Part>, parents: &[Option<usize>], options: &Options, notes: &mut Notes) -> Option<Vec<Part>> {
    let mut order: Vec<usize> = (0..parts.len()).filter(|&i| parents[i].is_none()).collect();
    if let [first, second, ..] = order[..] {
        let message = format!("the robot has two roots, {:?} and {:?}", parts[first].name, parts[second].name);
        notes.out.error(&parts[second].place, message).hint("every link but one is the child of a joint");
        return None;
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parts.len()];
    parents.iter().enumerate().for_each(|(child, parent)| {
        if let Some(parent) = parent {
            children[*parent].push(child);
        }
    });
    let mut next = 0;
    while let Some(&part) = order.get(next) {
        order.extend(&children[part]);
        next += 1;
    }
    if order.len() < parts.len() {
        let lost = (0..parts.len()).find(|i| !order.contains(i))?;
        let message = format!("the link {:?} hangs on itself, by a loop of joints", parts[lost].name);
        notes.out.error(&parts[lost].place, message).hint("the links of URDF are a tree");
        return None;
    }
    let mut place = vec![0; parts.len()];
    order.iter().enumerate().for_each(|(k, &i)| place[i] = k);
    let mut parts: Vec<Option<Part>> = parts.into_iter().map(Some).collect();
    let mut sorted: Vec<Part> = order.iter().filter_map(|&i| parts[i].take()).collect();
    for (part, &i) in sorted.iter_mut().zip(&order) {
        part.parent = parents[i].map(|parent| place[parent]);
    }
    if let Some(root) = sorted.first_mut().filter(|_| options.floating) {
        root.joints.push(Motion::new(root.name.clone(), &root.place, Freedom::Free));
    }
    Some(sorted)
}

/// A link.
fn part(link: &Element, folder: &Path, notes: &mut Notes) -> Part {
    let mut part = Part {
        name: link.get("name").map_or_else(String::new, |name| name.value.clone()),
        place: link.place.clone(),
        parent: None,
        pose: Pose::HERE,
        joints: Vec::new(),
        mass: None,
        shapes: Vec::new(),
        fuses: true,
    };
    for child in &link.children {
        match child.name.as_str() {
            "inertial" => {
                part.mass = mass(child, notes);
                // what is wrong with a mass is told where it stands
                part.place = child.place.clone();
            }
            "collision" => part.shapes.extend(solid(child, folder, notes)),
            _ => strange(child, &["inertial", "collision", "visual"], notes),
        }
    }
    part
}

/// The pose of an element by its <origin>.
fn origin(element: &Element, notes: &mut Notes) -> Pose {
    let Some(origin) = element.child("origin") else { return Pose::HERE };
    let mut three = |name: &str| match origin.get(name) {
        Some(attribute) => attribute.vector::<3>(&mut notes.out).unwrap_or_default(),
        None => [0.0; 3],
    };
    let (at, [roll, pitch, yaw]) = (three("xyz"), three("rpy"));
    let [x, y, z] = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let turn = product(product(about(z, yaw), about(y, pitch)), about(x, roll));
    Pose { at, turn: normalised(turn) }
}

fn mass(inertial: &Element, notes: &mut Notes) -> Option<Mass> {
    let pose = origin(inertial, notes);
    let Some(element) = inertial.child("mass") else {
        notes.out.error(&inertial.place, "an <inertial> has a <mass value=\"...\"/>");
        return None;
    };
    let mass = element.need("value", &mut notes.out)?.size(&mut notes.out)?;
    let Some(inertia) = inertial.child("inertia") else {
        notes.out.error(&inertial.place, "an <inertial> has an <inertia ixx=\"...\" .../>");
        return None;
    };
    let mut entry = |name: &str, needed: bool| match inertia.get(name) {
        Some(attribute) => attribute.number(&mut notes.out),
        None if needed => {
            inertia.need(name, &mut notes.out);
            None
        }
        None => Some(0.0),
    };
    let [ixx, iyy, izz] = ["ixx", "iyy", "izz"].map(|name| entry(name, true));
    let [ixy, ixz, iyz] = ["ixy", "ixz", "iyz"].map(|name| entry(name, false));
    let (ixx, iyy, izz, ixy, ixz, iyz) = (ixx?, iyy?, izz?, ixy?, ixz?, iyz?);
    let matrix = [[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]];
    if mass > 0.0
        && let Some(reason) = super::mass::wrong_inertia(&matrix)
    {
        let hint = "moments about the mass centre; the largest is at most the sum of the other two";
        notes.out.error(&inertia.place, reason).hint(hint);
        return None;
    }
    Some(Mass { mass, centre: pose.at, inertia: rotate_inertia(pose.turn, matrix) })
}

/// A positive size.
fn positive(attribute: &Attribute, notes: &mut Notes) -> Option<f64> {
    let x = attribute.number(&mut notes.out)?;
    if x <= 0.0 {
        notes.out.error(&attribute.place, format!("the size {x} is not positive"));
        return None;
    }
    Some(x)
}

/// A shape of a <collision>.
fn solid(collision: &Element, folder: &Path, notes: &mut Notes) -> Option<Solid> {
    let pose = origin(collision, notes);
    let Some(element) = collision.child("geometry").and_then(|geometry| geometry.children.first()) else {
        let hint = "add <geometry> with <box>, <cylinder>, <sphere>, <capsule> or <mesh>";
        notes.out.error(&collision.place, "a <collision> has no geometry").hint(hint);
        return None;
    };
    let mut size = |name: &str| element.need(name, &mut notes.out).and_then(|a| positive(a, notes));
    let form = match element.name.as_str() {
        "sphere" => Form::Sphere(size("radius")?),
        "cylinder" => Form::Cylinder { radius: size("radius")?, half: size("length")? / 2.0 },
        "capsule" => Form::Capsule { radius: size("radius")?, half: size("length")? / 2.0 },
        "box" => {
            let attribute = element.need("size", &mut notes.out)?;
            let edges = attribute.vector::<3>(&mut notes.out)?;
            if let Some(edge) = edges.iter().find(|edge| **edge <= 0.0) {
                notes.out.error(&attribute.place, format!("the edge {edge} of the box is not positive"));
                return None;
            }
            Form::Box(times(edges, 0.5))
        }
        "mesh" => mesh(element, folder, notes)?,
        _ => {
            strange(element, &["box", "cylinder", "sphere", "capsule", "mesh"], notes);
            return None;
        }
    };
    let name = collision.get("name").map(|name| name.value.clone());
    Some(Solid { name, place: element.place.clone(), form, pose, touch: Touch::NOTHING })
}

/// A mesh of a file, which must be there.
fn mesh(element: &Element, folder: &Path, notes: &mut Notes) -> Option<Form> {
    let file = element.need("filename", &mut notes.out)?;
    if let Some((scheme, _)) = file.value.split_once("://").filter(|(scheme, _)| *scheme != "file") {
        let message = format!("the mesh {:?} is not there: {scheme}:// means nothing outside of ROS", file.value);
        notes.out.error(&file.place, message).hint("give a path relative to the URDF file");
        return None;
    }
    let path = folder.join(file.value.trim_start_matches("file://"));
    if !path.is_file() {
        let error = notes.out.error(&file.place, format!("the mesh {:?} is not there", file.value));
        error.hint("paths are relative to the URDF file");
        return None;
    }
    let scale = element.get("scale").map_or(Some([1.0; 3]), |a| a.vector(&mut notes.out))?;
    super::mesh::file(file, &path, scale, notes)
}

/// What a type of joint leaves free; the second word is whether it must have limits.
const TYPES: &[(&str, (&[Freedom], bool))] = &[
    ("fixed", (&[], false)),
    ("revolute", (&[Freedom::Turn], true)),
    ("continuous", (&[Freedom::Turn], false)),
    ("prismatic", (&[Freedom::Slide], true)),
    ("planar", (&[Freedom::Slide, Freedom::Slide, Freedom::Turn], false)),
    ("floating", (&[Freedom::Free], false)),
    ("spherical", (&[Freedom::Ball], false)),
    ("ball", (&[Freedom::Ball], false)),
];

/// Hangs a part on a joint.
fn hang(joint: &Element, part: &mut Part, ties: &mut Vec<(String, Tie, crate::diagnostic::Place)>, notes: &mut Notes) {
    part.pose = origin(joint, notes);
    let Some((freedoms, limited)) = joint.need("type", &mut notes.out).and_then(|a| a.word(TYPES, &mut notes.out))
    else {
        return;
    };
    let name = joint.get("name").map_or_else(String::new, |name| name.value.clone());
    let has_axis = freedoms.iter().any(|freedom| matches!(freedom, Freedom::Turn | Freedom::Slide));
    let axis = Some(joint).filter(|_| has_axis).and_then(|joint| axis(joint, notes)).unwrap_or([1.0, 0.0, 0.0]);
    // ways of a planar joint are across its axis
    let across = super::robot::to_axis(axis).unwrap_or(carom::rotation::IDENTITY);
    let planar = freedoms.len() > 1;
    for (k, freedom) in freedoms.iter().enumerate() {
        let own = if planar { format!("{name}.{}", k + 1) } else { name.clone() };
        let mut motion = Motion::new(own, &joint.place, *freedom);
        motion.axis = match (planar, k) {
            (true, 0) => carom::rotation::rotate(across, [1.0, 0.0, 0.0]),
            (true, 1) => carom::rotation::rotate(across, [0.0, 1.0, 0.0]),
            _ => axis,
        };
        part.joints.push(motion);
    }
    let known = ["parent", "child", "origin", "axis", "limit", "dynamics", "joint_properties", "mimic"];
    for child in joint.children.iter().filter(|child| !known.contains(&child.name.as_str())) {
        strange(child, &known, notes);
    }
    let motions = &mut part.joints;
    if let Some(limit) = joint.child("limit") {
        limits(limit, limited, motions, notes);
    }
    for element in joint.children.iter().filter(|e| e.name == "dynamics" || e.name == "joint_properties") {
        for motion in motions.iter_mut() {
            let mut size = |name: &str| element.get(name).and_then(|a| a.size(&mut notes.out)).unwrap_or(0.0);
            (motion.damping, motion.friction) = (size("damping"), size("friction"));
        }
    }
    if let (Some(mimic), [_]) = (joint.child("mimic"), &motions[..]) {
        let mut number = |name: &str, otherwise: f64| match mimic.get(name) {
            Some(attribute) => attribute.number(&mut notes.out).unwrap_or(otherwise),
            None => otherwise,
        };
        let (factor, constant) = (number("multiplier", 1.0), number("offset", 0.0));
        if let Some(other) = mimic.need("joint", &mut notes.out) {
            let tie = Tie::Follow { joint: name.clone(), other: Some(other.value.clone()), factor, constant };
            ties.push((format!("{name}-mimic"), tie, other.place.clone()));
        }
    }
}

fn axis(joint: &Element, notes: &mut Notes) -> Option<[f64; 3]> {
    let attribute = joint.child("axis")?.need("xyz", &mut notes.out)?;
    let axis = attribute.vector::<3>(&mut notes.out)?;
    let size = length(axis);
    if size.is_nan() || size <= 1e-100 {
        notes.out.error(&attribute.place, "the axis has no length").hint("as in xyz=\"0 0 1\"");
        return None;
    }
    Some(times(axis, 1.0 / size))
}

/// Stops of a joint that has them; efforts and velocities bound actuators.
fn limits(limit: &Element, limited: bool, motions: &mut [Motion], notes: &mut Notes) {
    for name in ["effort", "velocity"] {
        if let Some(attribute) = limit.get(name) {
            notes.leave("limits of actuators (effort, velocity)", &attribute.place);
        }
    }
    let mut bound = |name: &str| limit.get(name).and_then(|attribute| attribute.number(&mut notes.out));
    let (lower, upper) = (bound("lower"), bound("upper"));
    if !limited || lower.is_none() && upper.is_none() {
        return;
    }
    let bounds = [lower.unwrap_or(0.0), upper.unwrap_or(0.0)];
    if bounds[0] > bounds[1] {
        let message = format!("the upper limit {} is below the lower one {}", bounds[1], bounds[0]);
        notes.out.error(&limit.place, message);
        return;
    }
    motions.iter_mut().for_each(|motion| motion.limits = Some((bounds, limit.place.clone())));
}
