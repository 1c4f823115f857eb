//! Meshes from files: STL (text and binary), OBJ, glTF and GLB. One file for each format.
//!
//! A file is read as a whole up to [`MOST_BYTES`]. What it says of its own sizes is compared with its bytes before
//! anything is allocated for it.

mod gltf;
mod obj;
mod stl;

use carom::multibody::pair::{Hull, HullError};
use carom::multibody::{Mesh, MeshError};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Most bytes of a file, and of all files that a glTF file names.
pub const MOST_BYTES: usize = 256 << 20;

/// Most triangles of a mesh.
const MOST_TRIANGLES: usize = 10_000_000;

/// A mesh of a file, with its convex hull.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    pub mesh: Arc<Mesh>,
    pub hull: Result<Arc<Hull>, HullError>,
}

/// Meshes that are at hand, by their paths and the bits of the numbers that they were placed with.
pub(crate) type Shelf = HashMap<(PathBuf, Vec<u64>), Read>;

/// Where something is wrong in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spot {
    /// A line, from 1.
    Line(usize),
    /// A byte, from 0.
    Byte(usize),
    /// A part of a glTF file, such as `accessors[3]`.
    Part(String),
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Spot::Line(line) => write!(f, "line {line}"),
            Spot::Byte(byte) => write!(f, "byte {byte}"),
            Spot::Part(part) => write!(f, "{part}"),
        }
    }
}

/// A file that is no mesh.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshFileError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It is too large.
    #[error("it has more than {MOST_BYTES} bytes")]
    Large,
    /// There are too many triangles.
    #[error("it has more than {MOST_TRIANGLES} triangles")]
    Many,
    /// The end of its name is not known.
    #[error("meshes are .stl, .obj, .gltf or .glb files, not .{0}")]
    Kind(String),
    /// Something in it is wrong.
    #[error("{spot}: {what}")]
    Wrong {
        /// Where it is.
        spot: Spot,
        /// What it is.
        what: String,
    },
    /// There is nothing in it.
    #[error("it has no triangles")]
    Empty,
    /// The triangles make no surface.
    #[error(transparent)]
    Mesh(#[from] MeshError),
}

fn wrong(spot: Spot, what: impl Into<String>) -> MeshFileError {
    MeshFileError::Wrong { spot, what: what.into() }
}

/// Points, and triangles by their numbers.
#[derive(Default)]
struct Surface {
    points: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl Surface {
    /// Adds a triangle with corners of its own.
    fn push(&mut self, corners: [[f64; 3]; 3]) {
        let first = self.points.len() as u32;
        self.points.extend(corners);
        self.triangles.push([first, first + 1, first + 2]);
    }
}

/// The formats: ends of names, and how their bytes are read; the path is that of the file, for what it names.
type Parse = fn(&[u8], &Path) -> Result<Surface, MeshFileError>;
const FORMATS: &[(&str, Parse)] =
    &[("stl", stl::parse), ("obj", obj::parse), ("gltf", gltf::parse), ("glb", gltf::parse)];

/// Whether a file has the name of a mesh.
pub fn is_known(path: &Path) -> bool {
    FORMATS.iter().any(|(known, _)| *known == ending(path))
}

fn ending(path: &Path) -> String {
    path.extension().map_or_else(String::new, |end| end.to_string_lossy().to_lowercase())
}

/// Reads a file; its format follows from its name.
pub fn read(path: &Path) -> Result<Mesh, MeshFileError> {
    parse(path, &bytes(path, MOST_BYTES)?)
}

/// The same of bytes that are at hand; the path is their name.
pub fn parse(path: &Path, bytes: &[u8]) -> Result<Mesh, MeshFileError> {
    let ending = ending(path);
    let Some((_, parse)) = FORMATS.iter().find(|(known, _)| *known == ending) else {
        return Err(MeshFileError::Kind(ending));
    };
    let surface = parse(bytes, path)?;
    if surface.triangles.is_empty() {
        return Err(MeshFileError::Empty);
    }
    if surface.triangles.len() > MOST_TRIANGLES {
        return Err(MeshFileError::Many);
    }
    Ok(Mesh::new(&surface.points, &surface.triangles)?)
}

/// All bytes of a file that has no more than these.
fn bytes(path: &Path, most: usize) -> Result<Vec<u8>, MeshFileError> {
    use std::io::Read as _;
    let unreadable = |error: std::io::Error| MeshFileError::Unreadable(error.to_string());
    let file = std::fs::File::open(path).map_err(unreadable)?;
    // what is no plain file, as a pipe, may have no end
    if !file.metadata().map_err(unreadable)?.is_file() {
        return Err(MeshFileError::Unreadable("it is no file".into()));
    }
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() > most { Err(MeshFileError::Large) } else { Ok(bytes) }
}

/// A number of a text.
fn number(word: Option<&str>, line: usize) -> Result<f64, MeshFileError> {
    let word = word.ok_or_else(|| wrong(Spot::Line(line), "a number is missing"))?;
    match word.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        _ => Err(wrong(Spot::Line(line), format!("{:?} is not a number", clipped(word)))),
    }
}

/// A word for a message.
fn clipped(word: &str) -> String {
    word.chars().take(40).collect()
}

#[cfg(test)]
mod tests;
