//! A robot as the text of a model file.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use carom::rotation::{cross, rotate};

use super::contacts::{Shape, contacts};
use super::mass::rows;
use super::names::{Names, plain};
use super::place::{Placed, Stance};
use super::robot::{Form, Freedom, Mass, Motion, Part, Pose, Robot, Solid, Tie, minus, plus, times};
use super::{Feature, Format, Notes, Options, summary};

/// A line of a model file.
pub(super) enum Line {
    /// [[name]]
    Table(&'static str),
    /// key = value
    Value(&'static str, String),
    /// # text
    Comment(String),
}

impl Line {
    pub fn text(key: &'static str, text: &str) -> Line {
        Line::Value(key, format!("\"{text}\""))
    }

    pub fn number(key: &'static str, x: f64) -> Line {
        Line::Value(key, number(x))
    }

    fn vector(key: &'static str, x: [f64; 3]) -> Line {
        Line::Value(key, vector(x))
    }
}

/// A number that is read back to the last bit.
fn number(x: f64) -> String {
    // no negative zero
    format!("{:?}", x + 0.0)
}

fn vector(x: [f64; 3]) -> String {
    let [x, y, z] = x.map(number);
    format!("[{x}, {y}, {z}]")
}

/// A coordinate of the model file that a joint of the robot became.
#[derive(Clone)]
struct Handle {
    name: String,
    turns: bool,
    start: f64,
}

struct Writer<'a> {
    robot: &'a Robot,
    placed: &'a [Placed],
    options: &'a Options,
    names: Names,
    bodies: Vec<String>,
    handles: HashMap<&'a str, Handle>,
    joints: usize,
    out: Vec<Line>,
}

/// The text and the number of joints.
pub(super) fn write(
    robot: &Robot,
    placed: &[Placed],
    format: &Format,
    path: &Path,
    options: &Options,
    notes: &mut Notes,
) -> Option<(String, usize)> {
    let mut names = Names::default();
    names.make("ground", "");
    let bodies = robot.parts.iter().map(|part| names.make(&part.name, "body")).collect();
    let (handles, out) = (HashMap::new(), Vec::new());
    let mut writer = Writer { robot, placed, options, names, bodies, handles, joints: 0, out };
    let shapes = writer.all_bodies(notes);
    for part in 0..robot.parts.len() {
        writer.joints_of(part, notes);
    }
    for part in 0..robot.parts.len() {
        for (joint, stance) in robot.parts[part].joints.iter().zip(&placed[part].joints) {
            writer.springs(part, joint, stance, notes);
        }
    }
    if options.has(Feature::Equality) {
        writer.ties(notes);
    }
    if options.has(Feature::Contacts) && robot.touches {
        contacts(robot, &shapes, &mut writer.out, notes);
    }
    if notes.out.errors() > 0 {
        return None;
    }
    let joints = writer.joints;
    let text = text(robot, &writer.out, format, path, notes);
    let far = |x: &f64| !x.is_finite();
    let mut numbers = placed.iter().flat_map(|part| part.pose.at.into_iter().chain(part.velocity).chain(part.spin));
    if numbers.any(|x| far(&x)) || text.contains("inf") && text.contains("= inf") || text.contains("NaN") {
        let place = &robot.parts.first()?.place;
        notes.out.error(place, "numbers of the robot are so large or small that they cannot be computed with");
        return None;
    }
    Some((text, joints))
}

fn text(robot: &Robot, lines: &[Line], format: &Format, path: &Path, notes: &Notes) -> String {
    let mut out = String::new();
    let clean = |text: &str| text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>();
    let file = path.file_name().map_or_else(String::new, |name| clean(&name.to_string_lossy()));
    let _ = writeln!(out, "# {file} ({}), imported by `carom import`.", format.name);
    let left = summary(&notes.left);
    if !left.is_empty() {
        let _ = writeln!(out, "# Left out:");
    }
    left.iter().for_each(|line| {
        let _ = writeln!(out, "#   {}", clean(line));
    });
    let stem = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    let name = if robot.name.is_empty() { stem } else { robot.name.clone() };
    let _ = write!(
        out,
        "version = 1\nname = \"{}\"\n\n[model]\nkind = \"multibody\"\ndimension = 3\ngravity = {}\n",
        plain(&name),
        vector(robot.gravity)
    );
    for line in lines {
        let _ = match line {
            Line::Table(name) => writeln!(out, "\n[[{name}]]"),
            Line::Value(key, value) => writeln!(out, "{key} = {value}"),
            Line::Comment(text) => writeln!(out, "# {}", clean(text)),
        };
    }
    let _ = write!(out, "\n[simulation]\nend = 1.0\nstep = {}\n", number(robot.step.unwrap_or(1e-3)));
    out
}

impl<'a> Writer<'a> {
    /// Bodies with their shapes.
    fn all_bodies(&mut self, notes: &mut Notes) -> Vec<Shape<'a>> {
        let (robot, placed) = (self.robot, self.placed);
        let mut shapes = Vec::new();
        if !robot.ground.is_empty() {
            self.out.extend([Line::Table("body"), Line::text("name", "ground")]);
            shapes.extend(self.shapes("ground", None, &robot.ground, &Pose::HERE, notes));
        }
        for (i, (part, placed)) in robot.parts.iter().zip(placed).enumerate() {
            let Some(mass) = part.mass else { continue };
            let name = self.bodies[i].clone();
            self.body(&name, &mass, placed);
            let centred = Pose { at: placed.pose.point(mass.centre), ..placed.pose };
            let solids = &part.shapes;
            let offset = mass.centre;
            shapes.extend(self.shapes_at(&name, Some(i), solids, (&centred, offset), notes));
        }
        shapes
    }

    fn body(&mut self, name: &str, mass: &Mass, placed: &Placed) {
        let arm = rotate(placed.pose.turn, mass.centre);
        self.out.extend([
            Line::Table("body"),
            Line::text("name", name),
            Line::number("mass", mass.mass),
            Line::Value("inertia", inertia(&mass.inertia)),
            Line::vector("position", plus(placed.pose.at, arm)),
        ]);
        if placed.pose.turn != carom::rotation::IDENTITY {
            let [w, x, y, z] = placed.pose.turn.map(number);
            self.out.push(Line::Value("attitude", format!("{{ quaternion = [{w}, {x}, {y}, {z}] }}")));
        }
        let velocity = plus(placed.velocity, cross(placed.spin, arm));
        if velocity != [0.0; 3] {
            self.out.push(Line::vector("velocity", velocity));
        }
        if placed.spin != [0.0; 3] {
            self.out.push(Line::vector("spin_world", placed.spin));
        }
    }

    fn shapes(
        &mut self,
        body: &str,
        part: Option<usize>,
        solids: &'a [Solid],
        frame: &Pose,
        notes: &mut Notes,
    ) -> Vec<Shape<'a>> {
        self.shapes_at(body, part, solids, (frame, [0.0; 3]), notes)
    }

    /// Shapes of a body that stands at `frame`, from a point of its part.
    fn shapes_at(
        &mut self,
        body: &str,
        part: Option<usize>,
        solids: &'a [Solid],
        (frame, offset): (&Pose, [f64; 3]),
        notes: &mut Notes,
    ) -> Vec<Shape<'a>> {
        let mut names = Names::default();
        let mut all = Vec::new();
        for (k, solid) in solids.iter().enumerate() {
            let pose = Pose { at: minus(solid.pose.at, offset), ..solid.pose };
            let name = names.make(solid.name.as_deref().unwrap_or(&format!("shape{}", k + 1)), "shape");
            let written = match shape(&solid.form, &pose, frame) {
                Ok(lines) => {
                    self.out.extend([Line::Table("body.shape"), Line::text("name", &name)]);
                    self.out.extend(lines);
                    format!("{body}/{name}")
                }
                Err(what) => {
                    notes.leave(format!("shapes: {what}"), &solid.place);
                    String::new()
                }
            };
            all.push(Shape { solid, part, name: written, pose: frame.then(&pose) });
        }
        all
    }

    fn body_name(&self, part: Option<usize>) -> &str {
        part.map_or("ground", |part| self.bodies[part].as_str())
    }

    /// The joint of a part with what carries it.
    fn joints_of(&mut self, number: usize, notes: &mut Notes) {
        let (part, placed) = (&self.robot.parts[number], &self.placed[number]);
        let pair = format!("[\"{}\", \"{}\"]", self.body_name(part.parent), self.bodies[number]);
        match &part.joints[..] {
            [] => {
                let name = self.open("fixed", &format!("{}-fixed", part.name), &pair);
                self.out.push(Line::vector("at", placed.pose.at));
                name
            }
            [joint] if joint.freedom == Freedom::Free => {
                if part.parent.is_some() {
                    let error = notes.out.error(&joint.place, "a free joint belongs to a part on the ground alone");
                    error.hint("move the part out of the one that carries it, or leave the joint out");
                }
                return;
            }
            [joint] if joint.freedom == Freedom::Ball => {
                let name = self.open("spherical", &joint.name, &pair);
                self.out.push(Line::vector("at", placed.joints[0].at));
                self.loose(joint, notes);
                name
            }
            [joint] => {
                let turns = joint.freedom == Freedom::Turn;
                let name = self.open(if turns { "revolute" } else { "prismatic" }, &joint.name, &pair);
                let stance = placed.joints[0];
                self.out.extend([Line::vector("at", stance.at), Line::vector("axis", stance.axis)]);
                self.coordinate(joint, &stance, notes);
                self.handle(joint, name.clone(), &stance);
                name
            }
            joints => self.chain(part, joints, &placed.joints, &pair, notes),
        };
        self.joints += 1;
    }

    /// Begins a joint; its name.
    fn open(&mut self, kind: &str, wanted: &str, pair: &str) -> Option<String> {
        let name = self.names.make(wanted, "joint");
        self.out.extend([Line::Table("joint"), Line::text("name", &name), Line::text("kind", kind)]);
        self.out.push(Line::Value("bodies", pair.into()));
        Some(name)
    }

    /// Several turns and slides of one part.
    fn chain(
        &mut self,
        part: &'a Part,
        joints: &'a [Motion],
        stances: &[Stance],
        pair: &str,
        notes: &mut Notes,
    ) -> Option<String> {
        if let Some(joint) = joints.iter().find(|joint| !matches!(joint.freedom, Freedom::Turn | Freedom::Slide)) {
            let error = notes.out.error(&joint.place, "a ball or free joint is the only joint of its part");
            error.hint("put a part with mass between the joints");
            return None;
        }
        let turning: Vec<[f64; 3]> = joints
            .iter()
            .zip(stances)
            .filter(|(joint, _)| joint.freedom == Freedom::Turn)
            .map(|(_, s)| s.axis)
            .collect();
        let parallel = turning.windows(2).any(|pair| super::robot::length(cross(pair[0], pair[1])) < 2e-3);
        if turning.len() > 3 || joints.len() - turning.len() > 3 || parallel {
            let place = &joints[joints.len() - 1].place;
            let message = format!("`{}` has joints that do the same: {} of them", part.name, joints.len());
            let hint = "at most three turns, none parallel to the one before it, and three slides; put a part with mass between";
            notes.out.error(place, message).hint(hint);
            return None;
        }
        let name = self.open("chain", &part.name, pair);
        for (i, (joint, stance)) in joints.iter().zip(stances).enumerate() {
            let turns = joint.freedom == Freedom::Turn;
            self.out.push(Line::Table("joint.link"));
            self.out.push(Line::Comment(joint.name.clone()));
            self.out.push(Line::vector(if turns { "turn" } else { "slide" }, stance.axis));
            if turns {
                self.out.push(Line::vector("at", stance.at));
            }
            self.coordinate(joint, stance, notes);
            let part = if turns { "angle" } else { "along" };
            let handle = name.as_ref().map(|name| format!("{name}.{part}{}", i + 1));
            self.handle(joint, handle, stance);
        }
        name
    }

    fn handle(&mut self, joint: &'a Motion, name: Option<String>, stance: &Stance) {
        let turns = joint.freedom == Freedom::Turn;
        if let Some(name) = name {
            self.handles.insert(&joint.name, Handle { name, turns, start: stance.start });
        }
    }

    /// Stops and friction of a coordinate.
    fn coordinate(&mut self, joint: &Motion, stance: &Stance, notes: &mut Notes) {
        if let Some(([lower, upper], place)) = &joint.limits
            && self.options.has(Feature::Stops)
        {
            let bounds = [lower - stance.start, upper - stance.start];
            let kept = [bounds[0] <= 1e-12, bounds[1] >= -1e-12];
            let words = ["lower", "upper"];
            if bounds[0] >= bounds[1] {
                notes.leave("limits without a range between them", place);
            } else {
                let parts: Vec<String> = (0..2)
                    .filter(|&k| kept[k] && bounds[k].is_finite())
                    .map(|k| format!("{} = {}", words[k], number(bounds[k])))
                    .collect();
                if !parts.is_empty() {
                    self.out.push(Line::Value("stops", format!("{{ {} }}", parts.join(", "))));
                }
                if kept != [true; 2] {
                    notes.leave("limits that the start violates (see --position)", place);
                }
            }
        }
        if joint.friction > 0.0 && self.options.has(Feature::Friction) {
            self.out.push(Line::number("friction", joint.friction));
        }
    }

    /// What balls have no coordinates for.
    fn loose(&mut self, joint: &Motion, notes: &mut Notes) {
        let stops = joint.limits.as_ref().filter(|_| self.options.has(Feature::Stops));
        if let Some((_, place)) = stops {
            notes.leave("limits of ball joints", place);
        }
        let rest = [
            (joint.friction, Feature::Friction, "dry friction of ball joints"),
            (joint.stiffness, Feature::Springs, "springs of ball joints"),
            (joint.armature, Feature::Armature, "armature of ball joints"),
        ];
        for (x, feature, what) in rest {
            if x > 0.0 && self.options.has(feature) {
                notes.leave(what, &joint.place);
            }
        }
    }

    /// Springs, damping and rotors.
    fn springs(&mut self, part: usize, joint: &'a Motion, stance: &Stance, notes: &mut Notes) {
        let has = |x: f64, feature: Feature| if self.options.has(feature) { x } else { 0.0 };
        let (stiffness, damping) = (has(joint.stiffness, Feature::Springs), has(joint.damping, Feature::Damping));
        let armature = has(joint.armature, Feature::Armature);
        let Some(handle) = self.handles.get(joint.name.as_str()).cloned() else {
            match joint.freedom {
                Freedom::Ball if damping > 0.0 => self.ball_damping(part, damping),
                Freedom::Free if stiffness + damping + armature > 0.0 => {
                    notes.leave("springs, damping and armature of free joints", &joint.place);
                }
                _ => {}
            }
            return;
        };
        if stiffness > 0.0 || damping > 0.0 {
            self.out.push(Line::Table("spring"));
            self.out.push(Line::text("kind", if handle.turns { "torsion" } else { "linear" }));
            self.out.push(Line::text("joint", &handle.name));
            let rest = joint.rest - stance.start;
            if stiffness > 0.0 {
                self.out.push(Line::number("stiffness", stiffness));
                if rest != 0.0 {
                    self.out.push(Line::number("rest", rest));
                }
            }
            if damping > 0.0 {
                self.out.push(Line::number("damping", damping));
            }
        }
        if armature > 0.0 {
            self.rotor(joint, &handle, stance, armature);
        }
    }

    /// Torques against the angular velocity of a part beside that of what carries it.
    fn ball_damping(&mut self, part: usize, damping: f64) {
        let of = |name: &str, axis: &str| format!("{}.w{axis}", name.replace('-', "_"));
        let (child, parent) = (self.bodies[part].clone(), self.robot.parts[part].parent);
        let parent = parent.map(|parent| self.bodies[parent].clone());
        for (body, sign) in [(Some(&child), "-"), (parent.as_ref(), "")] {
            let Some(body) = body else { continue };
            let terms = ["x", "y", "z"].map(|axis| {
                let rate = match &parent {
                    Some(parent) => format!("({} - {})", of(&child, axis), of(parent, axis)),
                    None => of(&child, axis),
                };
                format!("\"{sign}{}*{rate}\"", number(damping))
            });
            self.out.extend([Line::Table("load"), Line::text("body", body)]);
            self.out.push(Line::Value("torque", format!("[{}]", terms.join(", "))));
        }
    }

    /// A wheel on the ground that turns as a joint does: it has the inertia of the joint's rotor and no other effect.
    fn rotor(&mut self, joint: &Motion, handle: &Handle, stance: &Stance, armature: f64) {
        let name = self.names.make(&format!("{}-rotor", joint.name), "body");
        let rate = self.options.rates.iter().rfind(|(known, _)| *known == joint.name);
        let rate = rate.and_then(|(_, rate)| rate.first().copied()).unwrap_or(0.0);
        self.out.extend([
            Line::Table("body"),
            Line::Comment(format!("the rotor of {}", joint.name)),
            Line::text("name", &name),
            Line::number("mass", 1.0),
            Line::vector("inertia", [armature; 3]),
            Line::vector("position", stance.at),
        ]);
        if rate != 0.0 {
            self.out.push(Line::vector("spin_world", times(stance.axis, rate)));
        }
        let pivot = self.open("revolute", &format!("{}-shaft", joint.name), &format!("[\"ground\", \"{name}\"]"));
        self.out.extend([Line::vector("at", stance.at), Line::vector("axis", stance.axis)]);
        let gear = self.names.make(&format!("{}-gear", joint.name), "joint");
        self.out.extend([Line::Table("joint"), Line::text("name", &gear)]);
        let (kind, key) = if handle.turns { ("gear", "ratio") } else { ("rack", "radius") };
        self.out.push(Line::text("kind", kind));
        let pivot = pivot.unwrap_or_default();
        self.out.push(Line::Value("joints", format!("[\"{pivot}\", \"{}\"]", handle.name)));
        self.out.push(Line::number(key, 1.0));
    }

    /// Joints that close loops, and coordinates that follow others.
    fn ties(&mut self, notes: &mut Notes) {
        for (wanted, tie, place) in &self.robot.ties {
            match tie {
                Tie::Point([a, b], at) => {
                    let world = a.map_or(*at, |part| self.placed[part].pose.point(*at));
                    if self.tie("spherical", wanted, [*a, *b]) {
                        self.out.push(Line::vector("at", world));
                    }
                }
                Tie::Whole([a, b]) => {
                    let world = a.or(*b).map_or([0.0; 3], |part| self.placed[part].pose.at);
                    if self.tie("fixed", wanted, [*a, *b]) {
                        self.out.push(Line::vector("at", world));
                    }
                }
                Tie::Follow { joint, other, factor, constant } => {
                    let found = (self.handles.get(joint.as_str()), other.as_ref());
                    let (Some(own), other) = found else {
                        notes.leave("relations of joints without a coordinate", place);
                        continue;
                    };
                    let other = match other {
                        Some(name) => match self.handles.get(name.as_str()) {
                            Some(other) => Some(other.clone()),
                            None => {
                                notes.leave("relations of joints without a coordinate", place);
                                continue;
                            }
                        },
                        None => None,
                    };
                    let expected = constant + factor * other.as_ref().map_or(0.0, |other| other.start);
                    if (own.start - expected).abs() > 1e-9 * (1.0 + expected.abs()) {
                        notes.leave("relations of joints that the start violates (see --position)", place);
                        continue;
                    }
                    let own = own.clone();
                    self.follow(wanted, &own, other.as_ref(), *factor);
                }
            }
        }
    }

    fn follow(&mut self, wanted: &str, own: &Handle, other: Option<&Handle>, factor: f64) {
        let Some(other) = other.filter(|_| factor != 0.0) else {
            self.out.extend([Line::Table("motor"), Line::text("joint", &own.name)]);
            self.out.push(Line::Value("position", "0".into()));
            return;
        };
        let name = self.names.make(wanted, "coupler");
        self.out.extend([Line::Table("joint"), Line::text("name", &name), Line::text("kind", "coupler")]);
        self.out.push(Line::Value("joints", format!("[\"{}\", \"{}\"]", own.name, other.name)));
        self.out.push(Line::Value("factors", format!("[1, {}]", number(-factor))));
        self.joints += 1;
    }

    /// A joint between parts that are not the same; whether it was written.
    fn tie(&mut self, kind: &str, wanted: &str, [a, b]: [Option<usize>; 2]) -> bool {
        if a == b {
            return false;
        }
        let pair = format!("[\"{}\", \"{}\"]", self.body_name(a), self.body_name(b));
        self.open(kind, wanted, &pair);
        self.joints += 1;
        true
    }
}

/// Principal values where the matrix has no others.
fn inertia(matrix: &[[f64; 3]; 3]) -> String {
    let off = [matrix[0][1], matrix[0][2], matrix[1][2]];
    if off == [0.0; 3] {
        return vector([matrix[0][0], matrix[1][1], matrix[2][2]]);
    }
    format!("[{}]", matrix.map(vector).join(", "))
}

/// The words of a shape of a body that stands at `frame`, or what it is that model files do not know.
fn shape(form: &Form, pose: &Pose, frame: &Pose) -> Result<Vec<Line>, &'static str> {
    let axis = rotate(pose.turn, [0.0, 0.0, 1.0]);
    let ends = |half: f64| {
        let [a, b] = [-half, half].map(|x| vector(plus(pose.at, times(axis, x))));
        Line::Value("ends", format!("[{a}, {b}]"))
    };
    let round = |kind: &str, radius: f64, half: f64| {
        Ok(vec![Line::text("kind", kind), ends(half), Line::number("radius", radius)])
    };
    match *form {
        Form::Sphere(radius) => {
            Ok(vec![Line::text("kind", "sphere"), Line::vector("at", pose.at), Line::number("radius", radius)])
        }
        Form::Cylinder { radius, half } => round("cylinder", radius, half),
        Form::Capsule { radius, half } if half > 0.0 => round("capsule", radius, half),
        Form::Capsule { radius, .. } => shape(&Form::Sphere(radius), pose, frame),
        Form::Plane => Ok(vec![Line::text("kind", "plane"), Line::vector("at", pose.at), Line::vector("normal", axis)]),
        Form::Box(half) => {
            let (in_body, in_space) = (edges(pose, half), edges(&frame.then(pose), half));
            let (size, at, world) = match (in_body, in_space) {
                (Some(size), _) => (size, pose.at, false),
                (None, Some(size)) => (size, frame.point(pose.at), true),
                (None, None) => return Err("boxes that are turned in their body"),
            };
            let mut lines = vec![Line::text("kind", "box"), Line::vector("at", at), Line::vector("size", size)];
            if world {
                lines.push(Line::text("frame", "world"));
            }
            Ok(lines)
        }
        Form::Ellipsoid(_) => Err("ellipsoids"),
        Form::Mesh => Err("meshes"),
    }
}

/// Edges of a box along the axes that its pose is in, if it stands along them.
fn edges(pose: &Pose, half: [f64; 3]) -> Option<[f64; 3]> {
    let rows = rows(pose.turn);
    let mut size = [0.0; 3];
    for (size, row) in size.iter_mut().zip(rows) {
        let k = (0..3).find(|&k| row[k].abs() > 1.0 - 1e-12)?;
        *size = 2.0 * half[k];
    }
    Some(size)
}
