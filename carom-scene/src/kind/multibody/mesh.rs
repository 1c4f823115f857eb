//! Shapes of bodies that are meshes of files.

use carom::multibody::pair::shape::{Convex, Shape};
use carom::multibody::{Mass, Mesh, MeshError};
use std::path::Path;
use std::sync::Arc;

use super::body::{body_direction, columns, quaternion};
use super::shape::Axes;
use super::tables::BodyShapeTable;
use crate::file::Text;
use crate::mesh::{self, MeshFileError, Read};
use crate::scene::context::Context;

/// What to do where a mesh cannot touch.
pub(super) const TOUCH: &str = "simplify it, give convex `parts`, or write contact = false for a drawing";

/// A mesh in axes of its body.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshForm {
    /// Its triangles, along the axes of the body.
    pub mesh: Arc<Mesh>,
    /// Where its origin is, from the mass centre [m].
    pub centre: [f64; 3],
    /// What touches: its hull, or that of each of its parts; or why it cannot.
    pub(crate) parts: Result<Vec<Shape>, String>,
}

impl MeshForm {
    /// Its points, from the mass centre.
    pub fn points(&self) -> impl Iterator<Item = [f64; 3]> {
        self.mesh.points().iter().map(|p| std::array::from_fn(|i| self.centre[i] + p[i]))
    }

    /// What is inside, with a density.
    pub(super) fn mass(&self, density: f64) -> Result<Mass, MeshError> {
        let mass = self.mesh.mass(density)?;
        Ok(Mass { centre: std::array::from_fn(|i| mass.centre[i] + self.centre[i]), ..mass })
    }

    pub(super) fn shift(&mut self, by: [f64; 3]) {
        self.centre = std::array::from_fn(|i| self.centre[i] + by[i]);
        if let Ok(parts) = &mut self.parts {
            parts.iter_mut().for_each(|part| *part = part.clone().moved(by));
        }
    }
}

/// Factors and directions of the coordinates of a file.
struct Stance {
    scale: [f64; 3],
    axes: [[f64; 3]; 3],
}

/// Reads the mesh of a shape.
pub(super) fn form(
    table: &BodyShapeTable,
    centre: [f64; 3],
    axes: &Axes<'_>,
    context: &mut Context,
) -> Option<MeshForm> {
    let stance = stance(table, axes, context)?;
    let read = take(table.file.as_ref()?, &stance, context)?;
    let mut parts = Vec::new();
    for part in table.parts.iter().flatten() {
        parts.push(take(part, &stance, context)?);
    }
    let hulls = if parts.is_empty() { std::slice::from_ref(&read) } else { &parts };
    let hull = |read: &Read| match &read.hull {
        Ok(hull) => Ok(Shape::Convex(Convex { centre, hull: hull.clone() })),
        Err(error) => Err(error.to_string()),
    };
    Some(MeshForm { parts: hulls.iter().map(hull).collect(), mesh: read.mesh, centre })
}

fn stance(table: &BodyShapeTable, axes: &Axes<'_>, context: &mut Context) -> Option<Stance> {
    let measure = axes.measure;
    let mut scale = [measure.length; 3];
    if let Some(list) = &table.scale {
        let given: Vec<f64> =
            list.items.iter().map(|item| measure.geometry(item, measure.length, context)).collect::<Option<_>>()?;
        match given[..] {
            [all] => scale = [all; 3],
            [x, y, z] => scale = [x, y, z],
            _ => {
                let error =
                    context.out.error(&list.place, format!("`scale` has one number or three, found {}", given.len()));
                error.hint("as in 0.001, or [1, 1, 2]");
                return None;
            }
        }
        if let Some(k) = given.iter().position(|x| *x == 0.0) {
            context.out.error(&list.items[k].place, "a scale of zero leaves nothing").hint("1 leaves it as it is");
            return None;
        }
    }
    let drawn = match &table.attitude {
        Some(attitude) => columns(quaternion(attitude, measure, context)?),
        None => columns([1.0, 0.0, 0.0, 0.0]),
    };
    Some(Stance { scale, axes: if axes.world { drawn.map(|d| body_direction(axes.frame, d)) } else { drawn } })
}

/// The mesh of a file, from the shelf where it is there.
fn take(file: &Text, stance: &Stance, context: &mut Context) -> Option<Read> {
    let folder = Path::new(&file.place.source.name).parent().unwrap_or(Path::new(""));
    let path = folder.join(&file.value);
    let numbers = stance.scale.iter().chain(stance.axes.iter().flatten());
    let key = (path.clone(), numbers.map(|x| x.to_bits()).collect());
    if let Some(read) = context.meshes.get(&key) {
        return Some(read.clone());
    }
    let Stance { scale, axes } = stance;
    let to = |p: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| (0..3).map(|j| axes[j][i] * scale[j] * p[j]).sum()) };
    let mirrored = scale.iter().filter(|x| **x < 0.0).count() % 2 == 1;
    let made = mesh::read(&path).map(|mesh| mesh.mapped(mirrored, to));
    // numbers of a file may be so large that their products are not finite
    let made = made.and_then(|mesh| Ok(Mesh::new(mesh.points(), mesh.triangles())?));
    match made {
        Ok(mesh) => {
            let hull = mesh.hull().map(Arc::new);
            let read = Read { mesh: Arc::new(mesh), hull };
            context.meshes.insert(key, read.clone());
            Some(read)
        }
        Err(error) => {
            let hint = match error {
                MeshFileError::Unreadable(_) => "paths are relative to the model file",
                MeshFileError::Kind(_) => "convert it to one of them",
                _ => "open it in a program for meshes and write it again",
            };
            context.out.error(&file.place, format!("the mesh {:?}: {error}", file.value)).hint(hint);
            None
        }
    }
}
