//! What bodies are drawn as: shapes that touch as they are; points, lines and what has no end by symbols of a size that
//! follows from the model.

use super::SpaceFilm;
use crate::run::Run;
use carom::multibody::pair::shape::Shape;
use carom_analysis::report::{Colour, Hinge, Mesh, Part, Push, Reactions, Solid, Space, SpaceBody, Spot};
use carom_scene::scene::{Form, SpaceJoint, SpaceShape};
use std::sync::Arc;

/// Radii of lines and points, half lengths of what has no end, and sizes of joints, as parts of the model.
const LINE: f64 = 0.006;
const POINT: f64 = 0.012;
const STRIP: f64 = 0.12;
const BORE: f64 = 0.3;
const JOINT: f64 = 0.018;

/// A piece of a spline that is drawn as straight lines.
const PIECES: usize = 8;

/// Bodies whose paths are drawn where the file marks none.
const TRAILS: usize = 12;

/// The motion in space; contacts go by the number of their lane.
pub fn build(run: &Run, film: &SpaceFilm, lanes: &[Option<usize>]) -> Space {
    let space = &film.space;
    let size = space.size.max(f64::MIN_POSITIVE);
    let marked = space.bodies.iter().any(|body| body.shapes.iter().any(|shape| shape.trace));
    let few = space.bodies.len() <= TRAILS;
    let bodies = space.bodies.iter().enumerate().map(|(i, body)| {
        let mut drawn = SpaceBody::new(&body.name, Colour::Css(body.color.into()), i > 0);
        drawn.parts = body.shapes.iter().flat_map(|shape| parts(shape, size, i == 0)).collect();
        if body.shapes.is_empty() && i > 0 {
            drawn.parts = bare(film, i, size);
        }
        drawn.trail = match body.shapes.iter().find(|shape| shape.trace) {
            Some(shape) => Some(middle(&shape.form)),
            None => (!marked && few && i > 0).then_some([0.0; 3]),
        };
        drawn
    });
    let (times, poses) = film.poses(run);
    let with_lane = |push: &Push| Some(Push { contact: (*lanes.get(push.contact)?)?, ..*push });
    let own = |all: Reactions| Reactions { t: all.t, pushes: all.pushes.iter().filter_map(with_lane).collect() };
    let up = space.gravity.map(|g| -g);
    Space {
        up: if up == [0.0; 3] { [0.0, 0.0, 1.0] } else { up },
        bodies: bodies.collect(),
        times,
        poses,
        joints: space.joints.iter().map(|joint| hinge(joint, size)).collect(),
        links: links(film),
        impacts: film.impacts.iter().filter_map(with_lane).collect(),
        forces: film.reactions().into_iter().map(own).collect(),
        note: note(run, film),
    }
}

/// What is missing of the motion.
fn note(run: &Run, film: &SpaceFilm) -> String {
    let (stride, history) = (film.film.stride(), &run.recorded.history);
    let mut notes = Vec::new();
    match (film.poses, stride) {
        (0, _) if history.block > 1 => notes.push(format!(
            "Thinned: of each {} rows those with the smallest and largest values of a column are drawn, straight \
             between them.",
            history.block
        )),
        (0, _) | (_, 1) => {}
        (_, stride) => {
            notes.push(format!("Thinned: every {stride}th step and impacts are drawn, straight between them."))
        }
    }
    if film.poses == 0 && stride > 1 {
        notes.push(format!("Forces of contacts are those of every {stride}th step."));
    }
    let all = run.recorded.summary.impacts;
    if (film.impacts.len() as u64) < all && film.impacts.len() == film.most_impacts {
        notes.push(format!("Arrows of the first {} of {all} impacts.", film.impacts.len()));
    }
    notes.join(" ")
}

/// Springs between points, and rods of given length.
fn links(film: &SpaceFilm) -> Vec<[Spot; 2]> {
    let rods = film.space.joints.iter().filter(|joint| joint.kind == "distance").map(|joint| joint.ends);
    let all = film.space.springs.iter().copied().chain(rods);
    all.map(|ends| ends.map(|end| Spot { body: end.body, at: end.at })).collect()
}

/// The symbol of a joint on its first body.
fn hinge(joint: &SpaceJoint, size: f64) -> Hinge {
    let r = JOINT * size;
    let axis = joint.axis.unwrap_or([0.0, 0.0, 1.0]);
    let part = |solid: Solid| Part::new(solid).along(axis);
    let parts = match joint.kind {
        "revolute" => vec![part(Solid::Cylinder { radius: r, half: 1.6 * r })],
        "cylindrical" | "screw" => {
            vec![
                part(Solid::Cylinder { radius: 0.4 * r, half: 4.0 * r }),
                part(Solid::Cylinder { radius: r, half: 1.2 * r }),
            ]
        }
        "prismatic" => {
            vec![part(Solid::Block { half: [r, r, 1.6 * r] }), part(Solid::Block { half: [0.4 * r, 0.4 * r, 4.0 * r] })]
        }
        "planar" => vec![part(Solid::Cylinder { radius: 2.0 * r, half: 0.2 * r })],
        "fixed" => vec![part(Solid::Block { half: [r; 3] })],
        "universal" => {
            vec![part(Solid::Cylinder { radius: 0.5 * r, half: 2.0 * r }), part(Solid::Sphere { radius: r })]
        }
        _ => vec![part(Solid::Sphere { radius: r })],
    };
    Hinge {
        name: joint.name.clone(),
        kind: joint.kind,
        at: Spot { body: joint.ends[0].body, at: joint.ends[0].at },
        parts,
    }
}

/// A body without shapes: a point, and lines to its joints.
fn bare(film: &SpaceFilm, body: usize, size: f64) -> Vec<Part> {
    let ends = film.space.joints.iter().flat_map(|joint| joint.ends).filter(|end| end.body == body);
    let rods = ends.map(|end| Part::rod([[0.0; 3], end.at], LINE * size));
    [Part::new(Solid::Sphere { radius: 1.5 * POINT * size })].into_iter().chain(rods).collect()
}

/// The point of a shape whose path is drawn.
fn middle(form: &Form) -> [f64; 3] {
    let between = |[a, b]: [[f64; 3]; 2]| std::array::from_fn(|i| (a[i] + b[i]) / 2.0);
    match form {
        Form::Polygon(points) => points[0],
        Form::Mesh(mesh) => mesh.centre,
        Form::Touching(shape) => match shape {
            Shape::Sphere(s) => s.centre,
            Shape::Plane(p) => p.point,
            Shape::Segment(s) => between(s.ends),
            Shape::Strip(s) => between(s.ends),
            Shape::Block(b) => b.centre,
            Shape::Cylinder(c) => c.centre,
            Shape::Capsule(c) => between(c.ends),
            Shape::Ellipsoid(e) => e.centre,
            Shape::Torus(t) => t.centre,
            Shape::Convex(c) => c.placed(c.hull.ball().0),
            Shape::Bore(b) => b.centre,
            Shape::Socket(s) => s.centre,
            Shape::Slot(s) => between(s.ends),
            Shape::Ring(r) => r.centre,
            Shape::Curve(c) => c.centre,
        },
    }
}

/// The solids of a shape.
fn parts(shape: &SpaceShape, size: f64, is_ground: bool) -> Vec<Part> {
    let colour = shape.color.clone().map(Colour::Css);
    let all = match &shape.form {
        Form::Polygon(points) => {
            let next = points.iter().cycle().skip(1);
            points.iter().zip(next).map(|(a, b)| Part::rod([*a, *b], LINE * size)).collect()
        }
        Form::Mesh(form) => {
            let mesh = Mesh { points: form.mesh.points().to_vec(), triangles: form.mesh.triangles().to_vec() };
            vec![Part::new(Solid::Mesh(Arc::new(mesh))).at(form.centre)]
        }
        Form::Touching(shape) => vec![solid(shape, size, is_ground)],
    };
    all.into_iter().map(|part| part.coloured(colour.clone())).collect()
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// Unit vector, half length and middle between two points.
fn span([a, b]: [[f64; 3]; 2]) -> ([f64; 3], f64, [f64; 3]) {
    let d: [f64; 3] = std::array::from_fn(|i| b[i] - a[i]);
    let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    (d.map(|x| x / length), length / 2.0, std::array::from_fn(|i| (a[i] + b[i]) / 2.0))
}

fn solid(shape: &Shape, size: f64, is_ground: bool) -> Part {
    // a hole has no end: that of the ground reaches through the model
    let depth = |radius: f64| if is_ground { (BORE * size).max(2.0 * radius) } else { 2.0 * radius };
    match shape {
        Shape::Sphere(s) if s.radius == 0.0 => Part::new(Solid::Sphere { radius: POINT * size }).at(s.centre),
        Shape::Sphere(s) => Part::new(Solid::Sphere { radius: s.radius }).at(s.centre),
        Shape::Plane(p) => Part::new(Solid::Plane).along(p.normal).at(p.point),
        Shape::Segment(s) => Part::rod(s.ends, LINE * size),
        Shape::Strip(s) => {
            let (along, half, middle) = span(s.ends);
            let solid = Solid::Sheet { half: [half, STRIP * size] };
            Part::new(solid).axes([along, s.along, cross(along, s.along)]).at(middle)
        }
        Shape::Block(b) => {
            // the third axis may be turned to the other side: a box is the same
            let axes = [b.axes[0], b.axes[1], cross(b.axes[0], b.axes[1])];
            Part::new(Solid::Block { half: b.half }).axes(axes).at(b.centre)
        }
        Shape::Cylinder(c) => Part::new(Solid::Cylinder { radius: c.radius, half: c.half }).along(c.axis).at(c.centre),
        Shape::Capsule(c) => Part::rod(c.ends, c.radius),
        Shape::Ellipsoid(e) => {
            let axes = [e.axes[0], e.axes[1], cross(e.axes[0], e.axes[1])];
            Part::new(Solid::Ellipsoid { half: e.half }).axes(axes).at(e.centre)
        }
        Shape::Torus(t) => Part::new(Solid::Torus { radius: t.radius, tube: t.tube }).along(t.axis).at(t.centre),
        Shape::Convex(c) => {
            let mesh = Mesh { points: c.hull.points().to_vec(), triangles: c.hull.triangles().to_vec() };
            Part::new(Solid::Mesh(Arc::new(mesh))).at(c.centre)
        }
        Shape::Bore(b) => Part::new(Solid::Bore { radius: b.radius, half: depth(b.radius) }).along(b.axis).at(b.centre),
        Shape::Ring(r) => Part::new(Solid::Bore { radius: r.radius, half: 0.5 * r.radius }).along(r.axis).at(r.centre),
        Shape::Socket(s) => Part::new(Solid::Socket { radius: s.radius }).at(s.centre),
        Shape::Slot(s) => {
            let (along, half, middle) = span(s.ends);
            let solid = Solid::Slot { radius: s.radius, half, depth: 2.0 * s.radius };
            Part::new(solid).axes([along, cross(s.axis, along), s.axis]).at(middle)
        }
        Shape::Curve(c) => {
            let spot = |k: usize| c.spline.spot(k / PIECES, (k % PIECES) as f64 / PIECES as f64).at;
            let outline: Vec<[f64; 2]> = (0..PIECES * c.spline.len()).map(spot).collect();
            let mesh = Mesh::prism(&outline, 0.1 * c.spline.reach());
            let [u, w] = c.axes;
            Part::new(Solid::Mesh(Arc::new(mesh))).axes([u, w, cross(u, w)]).at(c.centre)
        }
    }
}
