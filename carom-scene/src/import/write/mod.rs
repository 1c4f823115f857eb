//! A robot as the text of a model file.

mod cord;
mod fluid;
mod forces;
mod line;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use carom::rotation::{cross, rotate};

use super::contacts::{Shape, contacts};
use super::names::{Names, plain};
use super::place::{Placed, Stance};
use super::robot::{Freedom, Mass, Motion, Part, Pose, Robot, Solid, minus, plus};
use super::{Feature, Format, Notes, Options, summary};
pub(super) use line::Line;
use line::{inertia, number, shape, vector};

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
    let shapes = writer.all_bodies();
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
    writer.cords(notes);
    writer.drag();
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
    for (word, list) in [("Left out", &notes.left), ("Changed", &notes.changed)] {
        let lines = summary(list);
        if !lines.is_empty() {
            let _ = writeln!(out, "# {word}:");
        }
        lines.iter().for_each(|line| {
            let _ = writeln!(out, "#   {}", clean(line));
        });
    }
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
    fn all_bodies(&mut self) -> Vec<Shape<'a>> {
        let (robot, placed) = (self.robot, self.placed);
        let mut shapes = Vec::new();
        if !robot.ground.is_empty() || self.is_tied(None) {
            self.out.extend([Line::Table("body"), Line::text("name", "ground")]);
            shapes.extend(self.shapes("ground", None, &robot.ground, &Pose::HERE));
            self.cord_shapes(None, [0.0; 3]);
        }
        for (i, (part, placed)) in robot.parts.iter().zip(placed).enumerate() {
            let Some(mass) = part.mass else { continue };
            let name = self.bodies[i].clone();
            self.body(&name, &mass, placed);
            let centred = Pose { at: placed.pose.point(mass.centre), ..placed.pose };
            let solids = &part.shapes;
            let offset = mass.centre;
            shapes.extend(self.shapes_at(&name, Some(i), solids, (&centred, offset)));
            self.cord_shapes(Some(i), offset);
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

    fn shapes(&mut self, body: &str, part: Option<usize>, solids: &'a [Solid], frame: &Pose) -> Vec<Shape<'a>> {
        self.shapes_at(body, part, solids, (frame, [0.0; 3]))
    }

    /// Shapes of a body that stands at `frame`, from a point of its part.
    fn shapes_at(
        &mut self,
        body: &str,
        part: Option<usize>,
        solids: &'a [Solid],
        (frame, offset): (&Pose, [f64; 3]),
    ) -> Vec<Shape<'a>> {
        let mut names = Names::default();
        let mut all = Vec::new();
        for (k, solid) in solids.iter().enumerate() {
            let pose = Pose { at: minus(solid.pose.at, offset), ..solid.pose };
            let name = names.make(solid.name.as_deref().unwrap_or(&format!("shape{}", k + 1)), "shape");
            let lines = shape(&solid.form, &pose, &self.options.folder);
            self.out.extend([Line::Table("body.shape"), Line::text("name", &name)]);
            self.out.extend(lines);
            let written = format!("{body}/{name}");
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
            let hint =
                "at most three slides and three turns, none parallel to the one before; put a part with mass between";
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
}
