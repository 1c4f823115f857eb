//! Pictures of mechanisms: the drawing that a scene has by itself, at one state, as outlines over equal axes.

use crate::{Data, Figure, Trouble};
use carom::State;
use carom::elementary::sin_cos;
use carom::multibody::pair::Shape;
use carom_analysis::report::{Chart, Series};
use carom_scene::Scene;
use carom_scene::scene::{Form, ShapeKind, Space};

/// Corners of a circle.
const ROUND: usize = 48;

/// The lines of one colour: a body, or what does not move.
struct Part {
    /// Name of the body, where it has one.
    name: Option<String>,
    /// Whether it moves.
    moves: bool,
    color: Option<String>,
    /// Lines, each from its first to its last point.
    lines: Vec<Vec<[f64; 2]>>,
}

/// Points of a shape of the drawing.
fn line(kind: ShapeKind, numbers: &[f64]) -> Vec<[f64; 2]> {
    let corners = || numbers.chunks_exact(2).map(|p| [p[0], p[1]]);
    match kind {
        ShapeKind::Point | ShapeKind::Segment | ShapeKind::Polyline => corners().collect(),
        ShapeKind::Polygon => corners().chain(corners().next()).collect(),
        ShapeKind::Circle => (0..=ROUND)
            .map(|k| {
                let (s, c) = sin_cos(std::f64::consts::TAU * k as f64 / ROUND as f64);
                [numbers[0] + numbers[2] * c, numbers[1] + numbers[2] * s]
            })
            .collect(),
    }
}

fn parts(scene: &Scene, state: &State) -> Result<Vec<Part>, Trouble> {
    if let Some(space) = scene.space() {
        return Ok(from_above(&space, state));
    }
    let drawing = scene.drawing.as_ref().ok_or_else(|| Trouble(format!("`{}` has no drawing", scene.name)))?;
    let mut evaluator = drawing.evaluator();
    let numbers = evaluator.eval(state.t, &state.q, &state.v);
    let mut parts: Vec<Part> = Vec::new();
    for shape in &drawing.shapes {
        let points = line(shape.kind, &numbers[shape.numbers.clone()]);
        let at = parts.iter().position(|part| part.color == shape.color).unwrap_or_else(|| {
            parts.push(Part { name: None, moves: false, color: shape.color.clone(), lines: Vec::new() });
            parts.len() - 1
        });
        if shape.moves {
            parts[at].moves = true;
            parts[at].name = parts[at].name.take().or_else(|| shape.name.clone());
        }
        parts[at].lines.push(points);
    }
    Ok(parts)
}

/// Bodies in space, seen along z: middle lines and outlines.
fn from_above(space: &Space, state: &State) -> Vec<Part> {
    let bodies = space.bodies.iter().enumerate().map(|(i, body)| {
        let pose = i.checked_sub(1).and_then(|k| state.q.get(7 * k..7 * k + 7));
        let place = |at: [f64; 3]| {
            let Some(q) = pose else { return [at[0], at[1]] };
            let turned = turn([q[3], q[4], q[5], q[6]], at);
            [q[0] + turned[0], q[1] + turned[1]]
        };
        let lines = body.shapes.iter().map(|shape| outline(&shape.form).into_iter().map(place).collect());
        Part { name: pose.map(|_| body.name.clone()), moves: pose.is_some(), color: None, lines: lines.collect() }
    });
    bodies.filter(|part| !part.lines.is_empty()).collect()
}

/// A vector of the body with the unit quaternion q, in axes of the space.
fn turn([w, x, y, z]: [f64; 4], a: [f64; 3]) -> [f64; 3] {
    let cross = |a: [f64; 3], b: [f64; 3]| {
        std::array::from_fn(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3])
    };
    let u = [x, y, z];
    let once: [f64; 3] = cross(u, a);
    let twice: [f64; 3] = cross(u, once);
    std::array::from_fn(|i| a[i] + 2.0 * (w * once[i] + twice[i]))
}

/// A line that shows a shape, in axes of its body.
fn outline(form: &Form) -> Vec<[f64; 3]> {
    let round = |centre: [f64; 3], radius: f64| {
        let point = |k: usize| {
            let (s, c) = sin_cos(std::f64::consts::TAU * k as f64 / ROUND as f64);
            [centre[0] + radius * c, centre[1] + radius * s, centre[2]]
        };
        (0..=ROUND).map(point).collect()
    };
    match form {
        Form::Polygon(points) => points.iter().chain(points.first()).copied().collect(),
        Form::Touching(Shape::Sphere(s)) => round(s.centre, s.radius),
        Form::Touching(Shape::Segment(s)) => s.ends.to_vec(),
        Form::Touching(Shape::Strip(s)) => s.ends.to_vec(),
        Form::Touching(Shape::Capsule(c)) => c.ends.to_vec(),
        Form::Touching(Shape::Cylinder(c)) => {
            [-c.half, c.half].map(|s| std::array::from_fn(|i| c.centre[i] + s * c.axis[i])).to_vec()
        }
        Form::Touching(Shape::Bore(b)) => round(b.centre, b.radius),
        Form::Touching(Shape::Block(b)) => {
            [0, 1, 3, 2, 0, 4, 5, 1, 5, 7, 3, 7, 6, 2, 6, 4].map(|k| b.corner(k)).to_vec()
        }
        Form::Touching(Shape::Convex(c)) if c.hull.is_planar() => {
            let corners = c.hull.corners();
            corners.iter().chain(corners.first()).map(|p| c.placed(*p)).collect()
        }
        Form::Touching(_) | Form::Mesh(_) => Vec::new(),
    }
}

/// A scene as it is at a state, over equal axes.
///
/// # Errors
/// Fails for scenes without bodies in space and without a drawing.
pub fn drawing(title: &str, scene: &Scene, state: &State) -> Result<Chart, Trouble> {
    let mut chart = Chart { equal_axes: true, ..Chart::new(title, "x [m]", "y [m]") };
    for part in parts(scene, state)? {
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for (k, points) in part.lines.iter().enumerate() {
            if k > 0 {
                // the pen is lifted between lines
                x.push(f64::NAN);
                y.push(f64::NAN);
            }
            x.extend(points.iter().map(|p| p[0]));
            y.extend(points.iter().map(|p| p[1]));
        }
        let name = part.name.unwrap_or_else(|| if part.moves { "moves" } else { "frame" }.to_owned());
        chart = chart.with(Series::lines(name, x, y));
    }
    Ok(chart)
}

/// Adds a scene as it is at a state, with curves on top of it. Rows of the data: number of the line, x, y.
pub fn picture(
    figure: &mut Figure,
    title: &str,
    scene: &Scene,
    state: &State,
    on_top: Vec<Series>,
) -> Result<(), Trouble> {
    let mut chart = drawing(title, scene, state)?;
    let header = |first: &[&str]| first.iter().chain(&["x [m]", "y [m]"]).map(|name| (*name).to_owned()).collect();
    for series in &chart.series {
        let points = series.x.iter().zip(series.y.iter());
        let mut rows = Vec::new();
        points.fold(0.0, |line, (x, y)| {
            let is_end = x.is_nan();
            rows.extend((!is_end).then(|| vec![line, *x, *y]));
            line + f64::from(u8::from(is_end))
        });
        figure.data.push(Data { name: format!("{title} - {}", series.name), header: header(&["line"]), rows });
    }
    for series in on_top {
        let rows = series.x.iter().zip(series.y.iter()).map(|(x, y)| vec![*x, *y]).collect();
        figure.data.push(Data { name: format!("{title} - {}", series.name), header: header(&[]), rows });
        chart = chart.with(series);
    }
    figure.blocks.push(chart.into());
    Ok(())
}
