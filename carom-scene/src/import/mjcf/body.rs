//! Bodies with their joints, and how things are turned.

use carom::rotation::{Quaternion, normalised, product};

use super::super::robot::{Freedom, Mass, Motion, Part, Pose, about, length, rotate_inertia, times, to_axis};
use super::super::xml::{Attribute, Element};
use super::super::{Notes, mass};
use super::classes::Styled;
use super::{Compiler, FromGeom, Model, YES, known};

const TURNS: &[&str] = &["quat", "axisangle", "euler", "xyaxes", "zaxis"];

/// The rotation that an attribute says.
pub(super) fn turn(attribute: &Attribute, compiler: &Compiler, notes: &mut Notes) -> Option<Quaternion> {
    let log = &mut notes.out;
    let found = match attribute.name.as_str() {
        "quat" => {
            let q: Quaternion = attribute.vector(log)?;
            (q.iter().map(|x| x * x).sum::<f64>() > 1e-200).then(|| normalised(q))
        }
        "axisangle" => {
            let [x, y, z, angle] = attribute.vector(log)?;
            unit([x, y, z]).map(|axis| about(axis, angle * compiler.angle))
        }
        "euler" => {
            let angles: [f64; 3] = attribute.vector(log)?;
            let mut turn = carom::rotation::IDENTITY;
            for ((axis, stays), angle) in compiler.euler.into_iter().zip(angles) {
                let step = about(std::array::from_fn(|k| f64::from(u8::from(k == axis))), angle * compiler.angle);
                turn = if stays { product(step, turn) } else { product(turn, step) };
            }
            Some(normalised(turn))
        }
        "xyaxes" => {
            let [a, b, c, d, e, f] = attribute.vector(log)?;
            axes([a, b, c], [d, e, f])
        }
        _ => to_axis(attribute.vector(log)?),
    };
    if found.is_none() {
        log.error(&attribute.place, "this is no rotation: it has an axis without length");
    }
    found
}

fn unit(axis: [f64; 3]) -> Option<[f64; 3]> {
    let size = length(axis);
    (size > 1e-100).then(|| times(axis, 1.0 / size))
}

/// The rotation that takes x and y to two axes, the second of which is made perpendicular to the first.
fn axes(x: [f64; 3], y: [f64; 3]) -> Option<Quaternion> {
    let x = unit(x)?;
    let along: f64 = (0..3).map(|k| x[k] * y[k]).sum();
    let y = unit(std::array::from_fn(|k| y[k] - along * x[k]))?;
    let z = carom::rotation::cross(x, y);
    // columns x, y, z; the largest component first, which is not small
    let (d0, d1, d2) = (x[0], y[1], z[2]);
    let squares = [1.0 + d0 + d1 + d2, 1.0 + d0 - d1 - d2, 1.0 - d0 + d1 - d2, 1.0 - d0 - d1 + d2];
    let largest = (0..4).fold(0, |best, i| if squares[i] > squares[best] { i } else { best });
    let q = match largest {
        0 => [squares[0], y[2] - z[1], z[0] - x[2], x[1] - y[0]],
        1 => [y[2] - z[1], squares[1], x[1] + y[0], z[0] + x[2]],
        2 => [z[0] - x[2], x[1] + y[0], squares[2], y[2] + z[1]],
        _ => [x[1] - y[0], z[0] + x[2], y[2] + z[1], squares[3]],
    };
    Some(normalised(q))
}

/// Where an element stands.
pub(super) fn pose<'b>(
    get: impl Fn(&str) -> Option<&'b Attribute>,
    first: Option<&'b Attribute>,
    compiler: &Compiler,
    notes: &mut Notes,
) -> Pose {
    let at = get("pos").and_then(|a| a.vector(&mut notes.out)).unwrap_or_default();
    let turn = first.and_then(|a| turn(a, compiler, notes)).unwrap_or(carom::rotation::IDENTITY);
    Pose { at, turn }
}

/// Where an element without classes stands.
fn own_pose(element: &Element, compiler: &Compiler, notes: &mut Notes) -> Pose {
    let first = element.attributes.iter().find(|a| TURNS.contains(&a.name.as_str()));
    pose(|name| element.get(name), first, compiler, notes)
}

/// Where an element with classes stands.
pub(super) fn styled_pose(styled: &Styled<'_, '_>, compiler: &Compiler, notes: &mut Notes) -> Pose {
    pose(|name| styled.get(name), styled.first(TURNS), compiler, notes)
}

impl<'a> Model<'a> {
    /// Reads what is inside of a body, a frame or the world, which stands at `pose` in the part.
    pub(super) fn children(
        &mut self,
        element: &'a Element,
        part: Option<usize>,
        pose: &Pose,
        class: usize,
        notes: &mut Notes,
    ) {
        for child in &element.children {
            match child.name.as_str() {
                "body" => self.read_body(child, part, pose, class, notes),
                "frame" => {
                    known::attributes(child, notes);
                    let inner = pose.then(&own_pose(child, &self.compiler, notes));
                    let class = self.child_class(child, class, notes);
                    self.children(child, part, &inner, class, notes);
                }
                "geom" => self.geom(child, part, pose, class, notes),
                "joint" | "freejoint" => match part {
                    Some(part) => {
                        if let Some(motion) = self.joint(child, part, pose, class, notes) {
                            self.parts[part].joints.push(motion);
                        }
                    }
                    None => {
                        notes.out.error(&child.place, "the world has no joints").hint("joints belong to bodies");
                    }
                },
                "inertial" if part.is_some() => {}
                "site" => {
                    // its size and colour are left out
                    let at = child.get("pos").map_or(Some([0.0; 3]), |a| a.vector(&mut notes.out));
                    if let (Some(name), Some(at)) = (child.get("name"), at) {
                        self.site(&name.value, part, pose.point(at));
                    }
                    known::strange(child, &[], notes);
                }
                _ => known::strange(child, &["body", "frame", "geom", "joint", "freejoint", "inertial"], notes),
            }
        }
    }

    fn child_class(&self, element: &Element, class: usize, notes: &mut Notes) -> usize {
        element.get("childclass").and_then(|name| self.classes.named(name, notes)).unwrap_or(class)
    }

    fn read_body(&mut self, element: &'a Element, parent: Option<usize>, pose: &Pose, class: usize, notes: &mut Notes) {
        known::attributes(element, notes);
        let number = self.parts.len();
        let name = match element.get("name") {
            Some(name) => {
                if self.bodies.insert(&name.value, Some(number)).is_some() {
                    notes.out.error(&name.place, format!("two bodies are called {:?}", name.value));
                }
                name.value.clone()
            }
            None => format!("body{}", number + 1),
        };
        let class = self.child_class(element, class, notes);
        self.parts.push(Part {
            name,
            place: element.place.clone(),
            parent,
            pose: pose.then(&own_pose(element, &self.compiler, notes)),
            joints: Vec::new(),
            mass: None,
            shapes: Vec::new(),
            fuses: self.compiler.fuse,
        });
        self.weights.push(Vec::new());
        let inertial = element.child("inertial").filter(|_| self.compiler.from_geom != FromGeom::Always);
        self.given.push(inertial.is_some() || self.compiler.from_geom == FromGeom::Never);
        self.children(element, Some(number), &Pose::HERE, class, notes);
        self.parts[number].mass = match inertial {
            Some(inertial) => self.inertial(inertial, notes),
            None if self.compiler.from_geom == FromGeom::Never => None,
            None => Mass::sum(&self.weights[number]),
        };
        // two joints of a name would be one for those who follow them
        let names: Vec<&Motion> = self.parts[number].joints.iter().collect();
        for motion in names {
            if !self.joints.insert(motion.name.clone()) {
                notes.out.error(&motion.place, format!("two joints are called {:?}", motion.name));
            }
        }
    }

    fn inertial(&self, element: &Element, notes: &mut Notes) -> Option<Mass> {
        known::attributes(element, notes);
        let pose = own_pose(element, &self.compiler, notes);
        let size = element.need("mass", &mut notes.out)?.size(&mut notes.out)?;
        let (inertia, place) = match (element.get("fullinertia"), element.get("diaginertia")) {
            (Some(full), _) => {
                let [xx, yy, zz, xy, xz, yz] = full.vector(&mut notes.out)?;
                ([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], &full.place)
            }
            (None, Some(diagonal)) => (mass::diagonal(diagonal.vector(&mut notes.out)?), &diagonal.place),
            (None, None) => {
                notes.out.error(&element.place, "an <inertial> has `diaginertia` or `fullinertia`");
                return None;
            }
        };
        if size > 0.0
            && !self.compiler.balance
            && self.compiler.bound_inertia == 0.0
            && let Some(reason) = mass::wrong_inertia(&inertia)
        {
            let hint = "moments about the mass centre, or balanceinertia=\"true\" in <compiler>";
            notes.out.error(place, reason).hint(hint);
            return None;
        }
        Some(Mass { mass: size, centre: pose.at, inertia: rotate_inertia(pose.turn, inertia) })
    }

    fn joint(&self, element: &Element, part: usize, pose: &Pose, class: usize, notes: &mut Notes) -> Option<Motion> {
        known::attributes(element, notes);
        let of = &self.parts[part];
        let name = match element.get("name") {
            Some(name) => name.value.clone(),
            None => format!("{}.joint{}", of.name, of.joints.len() + 1),
        };
        if element.name == "freejoint" {
            return Some(Motion::new(name, &element.place, Freedom::Free));
        }
        let styled = self.classes.styled(element, class, notes);
        let types =
            [("hinge", Freedom::Turn), ("slide", Freedom::Slide), ("ball", Freedom::Ball), ("free", Freedom::Free)];
        let freedom = match styled.get("type") {
            Some(attribute) => attribute.word(&types, &mut notes.out)?,
            None => Freedom::Turn,
        };
        let mut motion = Motion::new(name, &element.place, freedom);
        let at = styled.get("pos").map_or(Some([0.0; 3]), |a| a.vector(&mut notes.out))?;
        motion.at = pose.point(at);
        if let Some(attribute) = styled.get("axis") {
            let Some(axis) = unit(attribute.vector(&mut notes.out)?) else {
                notes.out.error(&attribute.place, "the axis has no length").hint("as in axis=\"0 0 1\"");
                return None;
            };
            motion.axis = axis;
        }
        motion.axis = carom::rotation::rotate(pose.turn, motion.axis);
        let angle = if matches!(freedom, Freedom::Turn | Freedom::Ball) { self.compiler.angle } else { 1.0 };
        let mut number = |name: &str| styled.get(name).map_or(Some(0.0), |a| a.number(&mut notes.out));
        let (reference, rest) = (number("ref")? * angle, number("springref")? * angle);
        let mut size = |name: &str, off: bool| match styled.get(name) {
            Some(attribute) => attribute.size(&mut notes.out).map(|x| if off { 0.0 } else { x }),
            None => Some(0.0),
        };
        (motion.reference, motion.rest) = (reference, rest);
        motion.stiffness = size("stiffness", self.flags.spring)?;
        motion.damping = size("damping", self.flags.damper)?;
        motion.friction = size("frictionloss", self.flags.friction)?;
        motion.armature = size("armature", false)?;
        self.limit(&styled, &mut motion, angle, notes)?;
        Some(motion)
    }

    fn limit(&self, styled: &Styled<'_, '_>, motion: &mut Motion, angle: f64, notes: &mut Notes) -> Option<()> {
        let range = styled.get("range");
        let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
        let limited = match styled.get("limited") {
            Some(attribute) => attribute.word(&words, &mut notes.out)?,
            None => None,
        };
        if limited.is_none()
            && !self.compiler.auto_limits
            && let Some(range) = range
        {
            let error = notes.out.error(&range.place, "there is a range, and autolimits=\"false\": is it limited?");
            error.hint("add limited=\"true\" or \"false\"");
            return None;
        }
        if !limited.unwrap_or(range.is_some()) || self.flags.limit || motion.freedom == Freedom::Free {
            return Some(());
        }
        let Some(range) = range else {
            let error = notes.out.error(&styled.element.place, "a limited joint needs a `range`");
            error.hint("as in range=\"-90 90\"");
            return None;
        };
        let [lower, upper] = range.vector::<2>(&mut notes.out)?;
        if lower >= upper {
            notes.out.error(&range.place, format!("the range ends at {upper}, not above its start {lower}"));
            return None;
        }
        motion.limits = Some(([lower * angle, upper * angle], range.place.clone()));
        Some(())
    }
}

/// Whether a word says yes.
pub(super) fn yes(attribute: Option<&Attribute>, otherwise: bool, notes: &mut Notes) -> bool {
    attribute.and_then(|a| a.word(YES, &mut notes.out)).unwrap_or(otherwise)
}
