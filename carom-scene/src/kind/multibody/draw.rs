//! The drawing that a planar model of bodies has by itself: its shapes. Bodies without shapes are points with lines to
//! their joints. Models in space are seen in space: `space.rs`.

use carom::elementary::sin_cos;
use carom::multibody::joint::Anchor;
use carom::multibody::pair::shape::Shape;
use carom::multibody::{SpringEnds, Vector};

use super::Mechanism;
use super::node::{Frames, Nodes};
use super::shape::{Form, ShapeInfo};
use crate::expression::{Graph, NodeId};
use crate::scene::ShapeKind;
use crate::scene::draw::{Sketch, SketchShape};

/// Colours of bodies, one after the other.
pub(super) const COLOURS: [&str; 8] =
    ["#3366cc", "#cc6633", "#339966", "#9955bb", "#bb8800", "#3399aa", "#cc4477", "#667788"];

/// What does not move.
pub(super) const GROUND_COLOUR: &str = "#888888";

/// Corners of round lines.
const ROUND: usize = 24;

/// A line of a body in its axes.
enum Stroke {
    Point([f64; 3]),
    /// Centre and radius.
    Ball([f64; 3], f64),
    Line(Vec<[f64; 3]>),
    Loop(Vec<[f64; 3]>),
}

/// Makes the drawing of a planar model.
pub(super) fn sketch(mechanism: &Mechanism, frames: &mut Frames, graph: &mut Graph) -> Option<Sketch> {
    if !mechanism.measure.planar {
        return None;
    }
    let size = mechanism.extent().max(f64::MIN_POSITIVE);
    let mut painter = Painter { frames, graph, shapes: Vec::new() };
    for (i, body) in mechanism.bodies.iter().enumerate() {
        let colour = if i == 0 { GROUND_COLOUR } else { COLOURS[(i - 1) % COLOURS.len()] };
        for (k, info) in body.shapes.iter().enumerate() {
            let name = (k == 0 && i > 0).then(|| body.name.clone());
            painter.shape(i, info, colour, name, size);
        }
        if body.shapes.is_empty() && i > 0 {
            painter.bare(mechanism, i, colour);
        }
    }
    painter.springs(mechanism);
    Some(Sketch { shapes: painter.shapes })
}

/// Corners of a circle about a centre, in the plane of two directions.
fn circle(centre: [f64; 3], [u, w]: [[f64; 3]; 2], radius: f64) -> Vec<[f64; 3]> {
    arc(centre, [u, w], radius, 0.0, ROUND)
}

/// Corners from an angle on, all around where there are as many as a circle has.
fn arc(centre: [f64; 3], [u, w]: [[f64; 3]; 2], radius: f64, first: f64, count: usize) -> Vec<[f64; 3]> {
    let corner = |k: usize| {
        let (s, c) = sin_cos(first + std::f64::consts::TAU * k as f64 / ROUND as f64);
        std::array::from_fn(|i| centre[i] + radius * (c * u[i] + s * w[i]))
    };
    (0..count).map(corner).collect()
}

/// Two directions normal to an axis.
fn normals(axis: [f64; 3]) -> [[f64; 3]; 2] {
    let d = Vector(axis);
    let helper = if axis[2].abs() < 0.9 { [0.0, 0.0, 1.0] } else { [1.0, 0.0, 0.0] };
    let u = Vector(helper).cross(d);
    let u = u * (1.0 / u.length());
    [u.0, d.cross(u).0]
}

/// The outline of a line with round ends.
fn stadium(ends: [[f64; 3]; 2], normal: [f64; 3], radius: f64) -> Vec<[f64; 3]> {
    let along = Vector(ends[1]) - Vector(ends[0]);
    let along = along * (1.0 / along.length());
    let side = Vector(normal).cross(along).0;
    let quarter = std::f64::consts::FRAC_PI_2;
    let axes = [along.0, side];
    let mut all = arc(ends[1], axes, radius, -quarter, ROUND / 2 + 1);
    all.extend(arc(ends[0], axes, radius, quarter, ROUND / 2 + 1));
    all
}

/// What is drawn of a shape.
fn strokes(form: &Form, size: f64) -> Vec<Stroke> {
    let shape = match form {
        Form::Touching(shape) => shape,
        Form::Polygon(points) => return vec![Stroke::Loop(points.clone())],
        Form::Mesh(_) => return Vec::new(),
    };
    match shape {
        Shape::Sphere(s) if s.radius == 0.0 => vec![Stroke::Point(s.centre)],
        Shape::Sphere(s) => {
            let rim = std::array::from_fn(|i| s.centre[i] + if i == 0 { s.radius } else { 0.0 });
            vec![Stroke::Ball(s.centre, s.radius), Stroke::Line(vec![s.centre, rim])]
        }
        Shape::Socket(s) => vec![Stroke::Ball(s.centre, s.radius)],
        Shape::Segment(s) => vec![Stroke::Line(s.ends.to_vec())],
        Shape::Strip(s) => vec![Stroke::Line(s.ends.to_vec())],
        Shape::Plane(p) => {
            let along = [p.normal[1], -p.normal[0], 0.0];
            let end = |s: f64| std::array::from_fn(|i| p.point[i] + s * size * along[i]);
            vec![Stroke::Line(vec![end(-1.0), end(1.0)])]
        }
        Shape::Block(b) => vec![Stroke::Loop([0, 1, 3, 2].map(|k| b.corner(k)).to_vec())],
        Shape::Capsule(c) => vec![Stroke::Loop(stadium(c.ends, [0.0, 0.0, 1.0], c.radius))],
        Shape::Convex(c) if c.hull.is_planar() => {
            vec![Stroke::Loop(c.hull.corners().iter().map(|p| c.placed(*p)).collect())]
        }
        // of space alone
        Shape::Cylinder(_) | Shape::Ellipsoid(_) | Shape::Torus(_) | Shape::Convex(_) => Vec::new(),
        Shape::Bore(b) => vec![Stroke::Loop(circle(b.centre, normals(b.axis), b.radius))],
        Shape::Ring(r) => vec![Stroke::Loop(circle(r.centre, normals(r.axis), r.radius))],
        Shape::Slot(s) => vec![Stroke::Loop(stadium(s.ends, s.axis, s.radius))],
        Shape::Curve(c) => {
            let count = 8 * c.spline.len();
            let corner = |k: usize| {
                let [a, b] = c.spline.spot(k / 8, (k % 8) as f64 / 8.0).at;
                std::array::from_fn(|i| c.centre[i] + a * c.axes[0][i] + b * c.axes[1][i])
            };
            vec![Stroke::Loop((0..count).map(corner).collect())]
        }
    }
}

/// Collects shapes with the expressions of their numbers.
struct Painter<'a> {
    frames: &'a mut Frames,
    graph: &'a mut Graph,
    shapes: Vec<SketchShape>,
}

impl Painter<'_> {
    fn push(&mut self, kind: ShapeKind, numbers: Vec<NodeId>, style: &Style<'_>) {
        self.shapes.push(SketchShape {
            kind,
            name: style.name.clone(),
            color: Some(style.color.to_owned()),
            fill: style.fill.map(str::to_owned),
            width: style.width,
            trace: style.trace,
            numbers,
        });
    }

    fn stroke(&mut self, body: usize, stroke: &Stroke, style: &Style<'_>) {
        let frame = self.frames.frame(self.graph, body);
        let (kind, points, radius) = match stroke {
            Stroke::Point(point) => (ShapeKind::Point, vec![*point], None),
            Stroke::Ball(centre, radius) => (ShapeKind::Circle, vec![*centre], Some(*radius)),
            Stroke::Line(points) if points.len() == 2 => (ShapeKind::Segment, points.clone(), None),
            Stroke::Line(points) => (ShapeKind::Polyline, points.clone(), None),
            Stroke::Loop(points) => (ShapeKind::Polygon, points.clone(), None),
        };
        let points: Vec<Nodes> = points.into_iter().map(|point| frame.point(self.graph, point)).collect();
        let mut numbers = seen(&points);
        numbers.extend(radius.map(|radius| self.graph.constant(radius)));
        self.push(kind, numbers, style);
    }

    /// A shape of a body.
    fn shape(&mut self, body: usize, info: &ShapeInfo, colour: &str, name: Option<String>, size: f64) {
        for (k, stroke) in strokes(&info.form, size).iter().enumerate() {
            let first = k == 0;
            let style = Style {
                name: name.clone().filter(|_| first),
                color: info.color.as_deref().unwrap_or(colour),
                fill: info.fill.as_deref().filter(|_| first),
                width: None,
                trace: info.trace && first,
            };
            self.stroke(body, stroke, &style);
        }
    }

    /// A body without shapes: a point, and lines to its joints.
    fn bare(&mut self, mechanism: &Mechanism, body: usize, colour: &str) {
        let info = &mechanism.bodies[body];
        let style = Style { name: Some(info.name.clone()), color: colour, fill: None, width: None, trace: false };
        self.stroke(body, &Stroke::Point([0.0; 3]), &style);
        let style = Style { name: None, width: Some(3.0), ..style };
        for joint in mechanism.joints.iter().map(|info| &info.joint) {
            for (k, name) in joint.bodies.iter().enumerate().filter(|(_, name)| **name == info.name) {
                if let Some(point) = anchored(mechanism, joint.point, k, name) {
                    self.stroke(body, &Stroke::Line(vec![[0.0; 3], point]), &style);
                }
            }
        }
    }

    /// Springs between points.
    fn springs(&mut self, mechanism: &Mechanism) {
        for spring in mechanism.springs.iter().map(|info| &info.spring) {
            let SpringEnds::Points { bodies, points } = &spring.ends else { continue };
            let ends: Option<Vec<Nodes>> = bodies
                .iter()
                .enumerate()
                .map(|(k, name)| {
                    let point = anchored(mechanism, *points, k, name)?;
                    let frame = self.frames.frame(self.graph, *mechanism.index.get(name)?);
                    Some(frame.point(self.graph, point))
                })
                .collect();
            let Some(ends) = ends else { continue };
            let style = Style { name: None, color: "#999999", fill: None, width: Some(1.0), trace: false };
            self.push(ShapeKind::Segment, seen(&ends), &style);
        }
    }
}

/// x and y of points.
fn seen(points: &[Nodes]) -> Vec<NodeId> {
    points.iter().flat_map(|point| [point[0], point[1]]).collect()
}

/// How a shape is drawn.
#[derive(Clone)]
struct Style<'a> {
    name: Option<String>,
    color: &'a str,
    fill: Option<&'a str>,
    width: Option<f64>,
    trace: bool,
}

/// A point of a joint or spring in axes of its body.
pub(super) fn anchored(mechanism: &Mechanism, anchor: Anchor, k: usize, body: &str) -> Option<[f64; 3]> {
    match anchor {
        Anchor::None => None,
        Anchor::Bodies(points) => Some(points[k]),
        Anchor::Drawn(points) => {
            let info = &mechanism.bodies[*mechanism.index.get(body)?];
            Some(info.frame(mechanism.measure.planar).body_point(Vector(points[k])).0)
        }
    }
}
