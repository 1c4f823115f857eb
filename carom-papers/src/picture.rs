//! Pictures of mechanisms: the drawing that a scene has by itself, at one state, as outlines over equal axes.

use crate::{Data, Figure, Trouble};
use carom::State;
use carom_analysis::report::{Chart, Series};
use carom_scene::Scene;
use carom_scene::scene::ShapeKind;

/// Corners of a circle.
const ROUND: usize = 48;

/// The lines of one colour: a body, or what does not move.
struct Part {
    /// Name of the body; none for what does not move.
    name: Option<String>,
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
                let (s, c) = (std::f64::consts::TAU * k as f64 / ROUND as f64).sin_cos();
                [numbers[0] + numbers[2] * c, numbers[1] + numbers[2] * s]
            })
            .collect(),
    }
}

fn parts(scene: &Scene, state: &State) -> Result<Vec<Part>, Trouble> {
    let drawing = scene.drawing.as_ref().ok_or_else(|| Trouble(format!("`{}` has no drawing", scene.name)))?;
    let mut evaluator = drawing.evaluator();
    let numbers = evaluator.eval(state.t, &state.q, &state.v);
    let mut parts: Vec<Part> = Vec::new();
    for shape in &drawing.shapes {
        let points = line(shape.kind, &numbers[shape.numbers.clone()]);
        let at = parts.iter().position(|part| part.color == shape.color).unwrap_or_else(|| {
            parts.push(Part { name: None, color: shape.color.clone(), lines: Vec::new() });
            parts.len() - 1
        });
        if shape.moves {
            parts[at].name = parts[at].name.take().or_else(|| shape.name.clone());
        }
        parts[at].lines.push(points);
    }
    Ok(parts)
}

/// Adds a scene as it is at a state, with curves on top of it. Rows of the data: number of the line, x, y.
pub fn picture(
    figure: &mut Figure,
    title: &str,
    scene: &Scene,
    state: &State,
    on_top: Vec<Series>,
) -> Result<(), Trouble> {
    let mut chart = Chart { equal_axes: true, ..Chart::new(title, "x [m]", "y [m]") };
    for part in parts(scene, state)? {
        let name = part.name.unwrap_or_else(|| "frame".to_owned());
        let (mut x, mut y, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for (k, points) in part.lines.iter().enumerate() {
            if k > 0 {
                // the pen is lifted between lines
                x.push(f64::NAN);
                y.push(f64::NAN);
            }
            for [a, b] in points {
                x.push(*a);
                y.push(*b);
                rows.push(vec![k as f64, *a, *b]);
            }
        }
        let header = ["line", "x [m]", "y [m]"].map(String::from).to_vec();
        figure.data.push(Data { name: format!("{title} - {name}"), header, rows });
        chart = chart.with(Series::lines(name, x, y));
    }
    for series in on_top {
        let rows = series.x.iter().zip(series.y.iter()).map(|(x, y)| vec![*x, *y]).collect();
        let header = ["x [m]", "y [m]"].map(String::from).to_vec();
        figure.data.push(Data { name: format!("{title} - {}", series.name), header, rows });
        chart = chart.with(series);
    }
    figure.blocks.push(chart.into());
    Ok(())
}
