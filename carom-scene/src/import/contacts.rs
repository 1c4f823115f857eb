//! Contacts between shapes: which pairs touch, with which friction, and which of them carom has.

use super::robot::{Form, Pose, Robot, Solid, length, minus};
use super::write::Line;
use super::{Notes, mass};

/// Pairs of shapes that model files know; one line for each. Others are left out and listed.
const PAIRS: &[[&str; 2]] =
    &[["plane", "sphere"], ["plane", "box"], ["plane", "cylinder"], ["sphere", "sphere"], ["sphere", "box"]];

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
        Form::Mesh => "mesh",
    }
}

/// Writes contacts between all shapes that touch; shapes that are not written have no name.
pub(super) fn contacts(robot: &Robot, shapes: &[Shape<'_>], out: &mut Vec<Line>, notes: &mut Notes) {
    if let Some(shape) = shapes.get(MOST) {
        notes.leave(format!("contacts of more than {MOST} shapes"), &shape.solid.place);
        return;
    }
    let mut number = 0;
    for (i, a) in shapes.iter().enumerate() {
        for b in &shapes[i + 1..] {
            if !touch(robot, a, b) {
                continue;
            }
            let kinds = [word(&a.solid.form), word(&b.solid.form)];
            let Some(known) = PAIRS.iter().find(|pair| **pair == kinds || [pair[1], pair[0]] == kinds) else {
                let kinds = if kinds[0] <= kinds[1] { kinds } else { [kinds[1], kinds[0]] };
                let place = if a.part.is_none() { &b.solid.place } else { &a.solid.place };
                notes.leave(format!("contacts of a {} with a {}", kinds[0], kinds[1]), place);
                continue;
            };
            if a.name.is_empty() || b.name.is_empty() {
                continue;
            }
            let (a, b) = if *known == kinds { (a, b) } else { (b, a) };
            let gap = gap(a, b);
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

/// The gap between two shapes of [`PAIRS`] [m].
fn gap(a: &Shape<'_>, b: &Shape<'_>) -> f64 {
    let dot = |x: [f64; 3], y: [f64; 3]| x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
    let axes = |pose: &Pose| {
        let rows = mass::rows(pose.turn);
        std::array::from_fn::<[f64; 3], 3, _>(|j| [rows[0][j], rows[1][j], rows[2][j]])
    };
    let r = minus(b.pose.at, a.pose.at);
    match (&a.solid.form, &b.solid.form) {
        (Form::Plane, form) => {
            let ([_, _, n], of_b) = (axes(&a.pose), axes(&b.pose));
            let along = of_b.map(|axis| dot(n, axis));
            let reach = match form {
                Form::Sphere(radius) => *radius,
                Form::Box(half) => (0..3).map(|i| half[i] * along[i].abs()).sum(),
                Form::Cylinder { radius, half } => half * along[2].abs() + radius * along[0].hypot(along[1]),
                _ => 0.0,
            };
            dot(n, r) - reach
        }
        (Form::Sphere(first), Form::Sphere(second)) => length(r) - first - second,
        (Form::Sphere(radius), Form::Box(half)) => {
            let at = axes(&b.pose).map(|axis| -dot(axis, r));
            let outside: [f64; 3] = std::array::from_fn(|i| (at[i].abs() - half[i]).max(0.0));
            let inside = (0..3).map(|i| at[i].abs() - half[i]).fold(f64::NEG_INFINITY, f64::max).min(0.0);
            length(outside) + inside - radius
        }
        _ => 0.0,
    }
}
