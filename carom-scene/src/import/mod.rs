//! Robot descriptions become model files: one file and one row of [`FORMATS`] for each format.
//!
//! ```text
//! XML (`xml`) ──▶ Robot: parts with joints, masses, shapes (`robot`) ──▶ placed bodies (`place`) ──▶ TOML (`write`)
//! ```
//!
//! What a format says and carom has no word for is listed with its place, never dropped in silence.

mod contacts;
mod mass;
mod mesh;
mod mjcf;
mod names;
mod place;
mod robot;
mod tree;
mod urdf;
mod write;
mod xml;

use std::path::{Path, PathBuf};

use crate::diagnostic::{Diagnostic, Diagnostics, Place, SourceText, suggest};
use robot::Robot;
use xml::Element;

/// A format of robot descriptions.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Its name.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// The outermost element of its files.
    pub root: &'static str,
    read: fn(&Element, &Path, &Options, &mut Notes) -> Option<Robot>,
}

/// All formats.
pub static FORMATS: &[Format] = &[urdf::FORMAT, mjcf::FORMAT];

/// Things that a file may say and an import may leave out when asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feature {
    /// Limits of joints.
    Stops,
    /// Dry friction of joints.
    Friction,
    /// Damping of joints.
    Damping,
    /// Springs of joints.
    Springs,
    /// Inertia of rotors.
    Armature,
    /// Equality constraints and joints that follow others.
    Equality,
    /// Contacts between shapes.
    Contacts,
    /// Drag of the fluid around.
    Drag,
}

/// The words for [`Feature`]s.
pub static FEATURES: &[(&str, Feature)] = &[
    ("stops", Feature::Stops),
    ("friction", Feature::Friction),
    ("damping", Feature::Damping),
    ("springs", Feature::Springs),
    ("armature", Feature::Armature),
    ("equality", Feature::Equality),
    ("contacts", Feature::Contacts),
    ("drag", Feature::Drag),
];

/// How a robot is imported.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the root of a URDF file is free to move; else it stands on the ground.
    pub floating: bool,
    /// Joint coordinates at the start, by the names of the file [rad, m].
    pub positions: Vec<(String, f64)>,
    /// Joint rates at the start: one number; three of a ball, in axes of the child; six of a free joint, the velocity
    /// in axes of the space and the angular velocity in axes of the body [rad/s, m/s].
    pub rates: Vec<(String, Vec<f64>)>,
    /// What is left out.
    pub without: Vec<Feature>,
    /// Folder of the model file, from which it names files of meshes; this folder by default.
    pub folder: PathBuf,
}

impl Options {
    fn has(&self, feature: Feature) -> bool {
        !self.without.contains(&feature)
    }
}

/// Something that the model file does not have, or has otherwise.
#[derive(Clone, Debug)]
pub struct Omission {
    /// Its kind, such as "actuators".
    pub what: String,
    /// Where it stands.
    pub place: Place,
}

/// A robot as a model file.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The format that it was written in.
    pub format: &'static Format,
    /// The model file.
    pub text: String,
    /// What it does not have.
    pub left_out: Vec<Omission>,
    /// What it has otherwise, such as joints that start at a limit which the file violates.
    pub changed: Vec<Omission>,
    /// Number of bodies.
    pub bodies: usize,
    /// Number of joints.
    pub joints: usize,
    /// Findings that are no mistakes.
    pub warnings: Vec<Diagnostic>,
}

/// What is found while a file is read.
#[derive(Debug, Default)]
struct Notes {
    out: Diagnostics,
    left: Vec<Omission>,
    changed: Vec<Omission>,
}

impl Notes {
    /// Lists something that is left out.
    fn leave(&mut self, what: impl Into<String>, place: &Place) {
        self.left.push(Omission { what: what.into(), place: place.clone() });
    }
}

/// Reads a robot description and makes a model file of it.
pub fn import(path: &Path, options: &Options) -> Result<Imported, Vec<Diagnostic>> {
    finish(path, options, |out| xml::load(path, out))
}

/// The same of a text; the path is its name, and files that it includes are relative to it.
pub fn import_text(path: &Path, text: &str, options: &Options) -> Result<Imported, Vec<Diagnostic>> {
    finish(path, options, |out| xml::parse(path, text.into(), out))
}

fn finish(
    path: &Path,
    options: &Options,
    read: impl FnOnce(&mut Diagnostics) -> Option<Element>,
) -> Result<Imported, Vec<Diagnostic>> {
    let mut notes = Notes::default();
    let root = read(&mut notes.out);
    let made = root.as_ref().and_then(|root| make(root, path, options, &mut notes));
    let failed = notes.out.errors() > 0;
    let source = root.map_or_else(|| SourceText::new("", ""), |root| root.place.source);
    let findings = notes.out.finish(&source);
    match made {
        Some(made) if !failed => {
            Ok(Imported { left_out: notes.left, changed: notes.changed, warnings: findings, ..made })
        }
        _ => Err(findings),
    }
}

fn make(root: &Element, path: &Path, options: &Options, notes: &mut Notes) -> Option<Imported> {
    let Some(format) = FORMATS.iter().find(|format| format.root == root.name) else {
        let known = || FORMATS.iter().map(|format| format.root);
        let all: Vec<String> = FORMATS.iter().map(|format| format!("<{}> ({})", format.root, format.name)).collect();
        let hint = suggest(&root.name, known(), false, || format!("the outermost element is {}", all.join(" or ")));
        notes.out.error(&root.place, format!("<{}> is no robot description that is known", root.name)).hint(hint);
        return None;
    };
    let robot = (format.read)(root, path, options, notes)?;
    let robot = tree::settled(robot, notes)?;
    let placed = place::place(&robot, options, notes)?;
    let (text, joints) = write::write(&robot, &placed, format, path, options, notes)?;
    let bodies = robot.parts.len();
    let (left_out, changed) = (Vec::new(), Vec::new());
    Some(Imported { format, text, bodies, joints, left_out, changed, warnings: Vec::new() })
}

impl Imported {
    /// What was left out: each kind once, with the number and the lines of its places.
    pub fn summary(&self) -> Vec<String> {
        summary(&self.left_out)
    }

    /// What was changed, likewise.
    pub fn changes(&self) -> Vec<String> {
        summary(&self.changed)
    }
}

/// Kinds of omissions with the files and lines where they stand.
fn summary(left: &[Omission]) -> Vec<String> {
    let mut kinds: Vec<(&str, &str, Vec<usize>)> = Vec::new();
    for Omission { what, place } in left {
        let (line, _) = place.source.position(place.span.start);
        match kinds.iter_mut().find(|(kind, file, _)| kind == what && *file == place.source.name) {
            Some((.., lines)) => lines.push(line),
            None => kinds.push((what, &place.source.name, vec![line])),
        }
    }
    let words = kinds.into_iter().map(|(what, file, mut lines)| {
        let count = lines.len();
        lines.sort_unstable();
        lines.dedup();
        let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
        let word = if lines.len() == 1 { "line" } else { "lines" };
        let times = if count > 1 { format!(" ({count})") } else { String::new() };
        format!("{what}{times}: {name}, {word} {}", ranges(&lines))
    });
    words.collect()
}

/// Line numbers in rising order as ranges: 3-5, 9.
fn ranges(lines: &[usize]) -> String {
    let mut parts: Vec<[usize; 2]> = Vec::new();
    for &line in lines {
        match parts.last_mut() {
            Some([_, last]) if *last + 1 == line => *last = line,
            _ => parts.push([line, line]),
        }
    }
    let words = parts.iter().map(|[a, b]| if a == b { a.to_string() } else { format!("{a}-{b}") });
    words.collect::<Vec<_>>().join(", ")
}
