//! Contacts between shapes: which pairs touch, with which friction, and which of them carom has.

use super::robot::{Form, MeshFile, Pose, Robot, Solid, plus, times};
use super::write::Line;
use super::{Notes, mass};
use carom::multibody::Frame;
use carom::multibody::pair::{self, Pair as _};
use carom::rotation::rotate;

/// More shapes are not paired with each other.
const MOST: usize = 2000;

/// A shape that is written, with its body and its place in the space.
pub(super) struct Shape<'a> {
    pub solid: &'a Solid,
    /// The part; none: the ground.
    pub part: Option<usize>,
    /// Names of body and shape, as contacts write them.
    pub name: String,
    pub pose: Pose,
}

fn word(form: &Form) -> &'static str {
    match form {
        Form::Sphere(_) => "sphere",
        Form::Box(_) => "box",
        Form::Cylinder { .. } => "cylinder",
        Form::Capsule { .. } => "capsule",
        Form::Ellipsoid(_) => "ellipsoid",
        Form::Plane => "plane",
        Form::Mesh(_) | Form::Hull(_) => "mesh",
    }
}

/// Writes contacts between all shapes that touch.
pub(super) fn contacts(robot: &Robot, shapes: &[Shape<'_>], out: &mut Vec<Line>, notes: &mut Notes) {
    if let Some(shape) = shapes.get(MOST) {
        notes.leave(format!("contacts of more than {MOST} shapes"), &shape.solid.place);
        return;
    }
    let mut number = 0;
    let solids: Vec<Option<pair::Shape>> = shapes.iter().map(touching).collect();
    for (i, a) in shapes.iter().enumerate() {
        for (j, b) in shapes.iter().enumerate().skip(i + 1) {
            if !touch(robot, a, b) {
                continue;
            }
            let Some(gap) = gap(solids[i].as_ref(), solids[j].as_ref()) else {
                let mut kinds = [word(&a.solid.form), word(&b.solid.form)];
                kinds.sort_unstable();
                let place = if a.part.is_none() { &b.solid.place } else { &a.solid.place };
                notes.leave(format!("contacts of a {} with a {}", kinds[0], kinds[1]), place);
                continue;
            };
            if gap < -1e-9 {
                notes.leave("contacts that begin inside each other", &b.solid.place);
                continue;
            }
            number += 1;
            write(number, a, b, out);
        }
    }
}

/// Whether two shapes touch: by their bits, unless they belong together.
fn touch(robot: &Robot, a: &Shape<'_>, b: &Shape<'_>) -> bool {
    if a.part == b.part || robot.excluded.iter().any(|pair| *pair == [a.part, b.part] || *pair == [b.part, a.part]) {
        return false;
    }
    let carries = |parent: Option<usize>, part: Option<usize>| {
        parent.is_some() && part.is_some_and(|part| robot.parts[part].parent == parent)
    };
    let [a_is, a_sees] = a.solid.touch.bits;
    let [b_is, b_sees] = b.solid.touch.bits;
    !carries(a.part, b.part) && !carries(b.part, a.part) && (a_is & b_sees != 0 || b_is & a_sees != 0)
}

fn write(number: usize, a: &Shape<'_>, b: &Shape<'_>, out: &mut Vec<Line>) {
    let (first, second) = (a.solid.touch, b.solid.touch);
    let (friction, dimensions) = match first.priority.cmp(&second.priority) {
        std::cmp::Ordering::Greater => (first.friction, first.dimensions),
        std::cmp::Ordering::Less => (second.friction, second.dimensions),
        std::cmp::Ordering::Equal => (
            std::array::from_fn(|i| first.friction[i].max(second.friction[i])),
            first.dimensions.max(second.dimensions),
        ),
    };
    out.push(Line::Table("contact"));
    out.push(Line::text("name", &format!("contact{number}")));
    out.push(Line::text("a", &a.name));
    out.push(Line::text("b", &b.name));
    let [slide, spin, roll] = friction;
    if dimensions >= 3 && slide > 0.0 {
        out.push(Line::number("friction", slide));
        if dimensions >= 4 && spin > 0.0 {
            out.push(Line::number("spinning", spin));
        }
        if dimensions >= 6 && roll > 0.0 {
            out.push(Line::number("rolling", roll));
        }
    }
}

/// The gap between two shapes where they are drawn [m]; none where they make no pair.
fn gap(a: Option<&pair::Shape>, b: Option<&pair::Shape>) -> Option<f64> {
    let ground = Frame::ground();
    let frames = (&ground, &ground);
    let (pair, _) = pair::between(a?, b?, frames).ok()?;
    let mut places = Vec::new();
    match pair.comes_and_goes() {
        // of many places those that are in each other
        true => pair.near(frames, 0.0, &mut places),
        false => places.extend(0..pair.places() as u32),
    }
    let counts = |place: &usize| pair.region(*place, frames) >= 0.0;
    let gaps = places.into_iter().map(|place| place as usize).filter(counts).map(|place| pair.touch(place, frames).gap);
    Some(gaps.fold(f64::INFINITY, f64::min))
}

/// A shape in axes of the space, as pairs know it.
fn touching(shape: &Shape<'_>) -> Option<pair::Shape> {
    let centre = shape.pose.at;
    let rows = mass::rows(shape.pose.turn);
    let axes: [[f64; 3]; 3] = std::array::from_fn(|j| [rows[0][j], rows[1][j], rows[2][j]]);
    let axis = rotate(shape.pose.turn, [0.0, 0.0, 1.0]);
    let ends = |half: f64| [-half, half].map(|x| plus(centre, times(axis, x)));
    Some(match &shape.solid.form {
        &Form::Sphere(radius) => pair::Shape::Sphere(pair::Sphere { centre, radius }),
        &Form::Capsule { radius, half: 0.0 } => pair::Shape::Sphere(pair::Sphere { centre, radius }),
        &Form::Capsule { radius, half } => pair::Shape::Capsule(pair::Capsule { ends: ends(half), radius }),
        &Form::Box(half) => pair::Shape::Block(pair::Block { centre, axes, half }),
        &Form::Cylinder { radius, half } => pair::Shape::Cylinder(pair::Cylinder { centre, axis, radius, half }),
        &Form::Ellipsoid(half) => pair::Shape::Ellipsoid(pair::Ellipsoid { centre, axes, half }),
        Form::Plane => pair::Shape::Plane(pair::Plane { point: centre, normal: axis }),
        Form::Mesh(MeshFile { mesh, .. }) | Form::Hull(mesh) => {
            let turned = mesh.mapped(false, |p| rotate(shape.pose.turn, p));
            let hull = std::sync::Arc::new(turned.hull().ok()?);
            pair::Shape::Convex(pair::Convex { centre, hull })
        }
    })
}
