//! Lines of a model file, and shapes as such.

use carom::rotation::{IDENTITY, rotate};
use std::path::Path;

use super::super::mass::rows;
use super::super::mesh::relative;
use super::super::robot::{Form, MeshFile, Pose, plus, times};

/// A line of a model file.
pub(in super::super) enum Line {
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

    pub fn vector(key: &'static str, x: [f64; 3]) -> Line {
        Line::Value(key, vector(x))
    }
}

/// A number that is read back to the last bit.
pub(super) fn number(x: f64) -> String {
    // no negative zero
    format!("{:?}", x + 0.0)
}

pub(super) fn vector(x: [f64; 3]) -> String {
    let [x, y, z] = x.map(number);
    format!("[{x}, {y}, {z}]")
}

/// Principal values where the matrix has no others.
pub(super) fn inertia(matrix: &[[f64; 3]; 3]) -> String {
    let off = [matrix[0][1], matrix[0][2], matrix[1][2]];
    if off == [0.0; 3] {
        return vector([matrix[0][0], matrix[1][1], matrix[2][2]]);
    }
    format!("[{}]", matrix.map(vector).join(", "))
}

/// The words of a shape of a body in a model file of a folder.
pub(super) fn shape(form: &Form, pose: &Pose, folder: &Path) -> Vec<Line> {
    let axis = rotate(pose.turn, [0.0, 0.0, 1.0]);
    let ends = |half: f64| {
        let [a, b] = [-half, half].map(|x| vector(plus(pose.at, times(axis, x))));
        Line::Value("ends", format!("[{a}, {b}]"))
    };
    let round =
        |kind: &str, radius: f64, half: f64| vec![Line::text("kind", kind), ends(half), Line::number("radius", radius)];
    match form {
        &Form::Sphere(radius) => {
            vec![Line::text("kind", "sphere"), Line::vector("at", pose.at), Line::number("radius", radius)]
        }
        &Form::Cylinder { radius, half } => round("cylinder", radius, half),
        &Form::Capsule { radius, half } if half > 0.0 => round("capsule", radius, half),
        &Form::Capsule { radius, .. } => shape(&Form::Sphere(radius), pose, folder),
        Form::Plane => vec![Line::text("kind", "plane"), Line::vector("at", pose.at), Line::vector("normal", axis)],
        &Form::Box(half) => edged("box", half, pose),
        &Form::Ellipsoid(half) => edged("ellipsoid", half, pose),
        Form::Mesh(MeshFile { path, scale, .. }) => {
            let path = relative(path, folder).replace('\\', "\\\\").replace('"', "\\\"");
            let mut lines = vec![Line::text("kind", "mesh"), Line::text("file", &path), Line::vector("at", pose.at)];
            lines.extend((*scale != [1.0; 3]).then(|| Line::vector("scale", *scale)));
            lines.extend((pose.turn != IDENTITY).then(|| turned(pose)));
            lines
        }
        Form::Hull(mesh) => {
            let points: Vec<String> = mesh.points().iter().map(|p| vector(pose.point(*p))).collect();
            vec![Line::text("kind", "convex"), Line::Value("points", format!("[{}]", points.join(", ")))]
        }
    }
}

/// How a shape stands in its body.
fn turned(pose: &Pose) -> Line {
    Line::Value("attitude", format!("{{ quaternion = [{}] }}", pose.turn.map(number).join(", ")))
}

/// A box or an ellipsoid, turned in its body where it does not stand along its axes.
fn edged(kind: &str, half: [f64; 3], pose: &Pose) -> Vec<Line> {
    let mut lines = vec![Line::text("kind", kind), Line::vector("at", pose.at)];
    match edges(pose, half) {
        Some(size) => lines.push(Line::vector("size", size)),
        None => {
            lines.push(Line::vector("size", half.map(|x| 2.0 * x)));
            lines.push(turned(pose));
        }
    }
    lines
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
