//! Meshes of robot descriptions: files beside them, and lists of points.

use std::path::Path;
use std::sync::Arc;

use carom::multibody::Mesh;

use super::Notes;
use super::robot::{Form, MeshFile};
use super::xml::Attribute;
use crate::mesh::{self, MeshFileError};

/// The mesh of a file that an attribute names; a format that is not known is left out, or refused.
pub(super) fn file(attribute: &Attribute, path: &Path, scale: [f64; 3], notes: &mut Notes) -> Option<Form> {
    if let Some(k) = scale.iter().position(|x| *x == 0.0 || !x.is_finite()) {
        let message = format!("the scale {} of the mesh leaves nothing of it", scale[k]);
        notes.out.error(&attribute.place, message);
        return None;
    }
    let to = |p: [f64; 3]| -> [f64; 3] { std::array::from_fn(|i| p[i] * scale[i]) };
    let mirrored = scale.iter().filter(|x| **x < 0.0).count() % 2 == 1;
    let made = mesh::read(path).map(|mesh| mesh.mapped(mirrored, to));
    match made.and_then(|mesh| Ok(Mesh::new(mesh.points(), mesh.triangles())?)) {
        Ok(mesh) => Some(Form::Mesh(MeshFile { path: path.to_owned(), scale, mesh: Arc::new(mesh) })),
        Err(MeshFileError::Kind(kind)) => {
            notes.leave(format!("shapes: meshes of .{kind} files"), &attribute.place);
            None
        }
        Err(error) => {
            let error = notes.out.error(&attribute.place, format!("the mesh {:?}: {error}", attribute.value));
            error.hint("paths are relative to the robot description");
            None
        }
    }
}

/// A path to a file from a folder, with `/` between its parts.
pub(super) fn relative(path: &Path, folder: &Path) -> String {
    let whole = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let folder = if folder.as_os_str().is_empty() { whole(Path::new(".")) } else { whole(folder) };
    let path = whole(path);
    let (there, from): (Vec<_>, Vec<_>) = (path.components().collect(), folder.components().collect());
    let common = there.iter().zip(&from).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| "..".to_owned());
    let down = there[common..].iter().map(|part| part.as_os_str().to_string_lossy().into_owned());
    up.chain(down).collect::<Vec<_>>().join("/")
}
