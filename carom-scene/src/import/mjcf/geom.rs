//! Geoms: shapes and what they weigh.

use super::super::robot::{
    Form, Mass, MeshFile, Pose, Solid, Touch, length, minus, plus, rotate_inertia, times, to_axis,
};
use super::super::xml::{Attribute, Element};
use super::super::{Notes, mass};
use super::body::{styled_pose, yes};
use super::classes::{Classes, Styled};
use super::{Model, known};
use crate::diagnostic::suggest;
use carom::multibody::Mesh;
use carom::multibody::pair::hull;
use std::path::Path;
use std::sync::Arc;

/// The word after `type`, and how many numbers its size has; with `fromto`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Plane,
    Sphere,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Mesh,
    Field,
}

const TYPES: &[(&str, Type)] = &[
    ("plane", Type::Plane),
    ("sphere", Type::Sphere),
    ("capsule", Type::Capsule),
    ("ellipsoid", Type::Ellipsoid),
    ("cylinder", Type::Cylinder),
    ("box", Type::Box),
    ("mesh", Type::Mesh),
    ("hfield", Type::Field),
    ("sdf", Type::Field),
];

/// Most points of a mesh that is given by them.
const MOST: usize = 2000;

/// Density of water, that of geoms that say nothing [kg/m³].
const DENSITY: f64 = 1000.0;

impl<'a> Model<'a> {
    pub(super) fn geom(
        &mut self,
        element: &Element,
        part: Option<usize>,
        pose: &Pose,
        class: usize,
        notes: &mut Notes,
    ) {
        known::attributes(element, notes);
        let styled = self.classes.styled(element, class, notes);
        let given = part.is_some_and(|part| self.given[part]);
        let made = self.solid(&styled, given, notes);
        let Some((mut solid, mass)) = made else { return };
        solid.pose = pose.then(&solid.pose);
        match part {
            Some(part) => {
                self.weights[part].extend(mass.map(|mass| mass.moved(pose)));
                self.parts[part].shapes.push(solid);
            }
            None => self.ground.push(solid),
        }
    }

    /// The shape in axes of its body, and its mass there where it counts; that of a mesh not where the mass is given.
    fn solid(&self, styled: &Styled<'_, '_>, given: bool, notes: &mut Notes) -> Option<(Solid, Option<Mass>)> {
        let element = styled.element;
        let kind = match styled.get("type") {
            Some(attribute) => attribute.word(TYPES, &mut notes.out)?,
            None if styled.get("mesh").is_some() => Type::Mesh,
            None => Type::Sphere,
        };
        let mut pose = styled_pose(styled, &self.compiler, notes);
        let form = self.form(styled, kind, &mut pose, notes)?;
        let name = element.get("name").map(|name| name.value.clone());
        let touch = touch(styled, notes);
        let solid = Solid { name, place: element.place.clone(), form, pose, touch };
        let is_mesh = matches!(solid.form, Form::Mesh(_) | Form::Hull(_));
        let own = if given && is_mesh { None } else { self.weight(styled, &solid, notes)? };
        Some((solid, own))
    }

    fn form(&self, styled: &Styled<'_, '_>, kind: Type, pose: &mut Pose, notes: &mut Notes) -> Option<Form> {
        let element = styled.element;
        match kind {
            Type::Plane => return Some(Form::Plane),
            Type::Mesh => return self.mesh(styled, notes),
            Type::Field => {
                let error = notes.out.error(&element.place, "height fields and distance fields cannot be imported");
                error.hint("leave the geom out, or take planes and boxes");
                return None;
            }
            _ => {}
        }
        if styled.get("mesh").is_some() {
            let error = notes.out.error(&element.place, "a shape that is fitted to a mesh cannot be imported");
            error.hint("give its size");
            return None;
        }
        let ends = match styled.get("fromto").filter(|_| kind != Type::Sphere) {
            Some(attribute) => Some((attribute, attribute.vector::<6>(&mut notes.out)?)),
            None => None,
        };
        let mut half = None;
        if let Some((attribute, [a, b, c, d, e, f])) = ends {
            let (from, to) = ([a, b, c], [d, e, f]);
            let Some(turn) = to_axis(minus(to, from)) else {
                notes.out.error(&attribute.place, "both ends of the geom are at the same place");
                return None;
            };
            *pose = Pose { at: times(plus(from, to), 0.5), turn };
            half = Some(length(minus(to, from)) / 2.0);
        }
        let needed = match (kind, half) {
            (Type::Sphere, _) | (_, Some(_)) => 1,
            (Type::Capsule | Type::Cylinder, None) => 2,
            _ => 3,
        };
        let Some(attribute) = styled.get("size") else {
            notes.out.error(&element.place, "the geom has no `size`").hint(format!("{needed} numbers"));
            return None;
        };
        let size = sizes(attribute, needed, notes)?;
        Some(match (kind, half) {
            (Type::Sphere, _) => Form::Sphere(size[0]),
            (Type::Capsule, half) => Form::Capsule { radius: size[0], half: half.unwrap_or_else(|| size[1]) },
            (Type::Cylinder, half) => Form::Cylinder { radius: size[0], half: half.unwrap_or_else(|| size[1]) },
            (Type::Ellipsoid, half) => Form::Ellipsoid(half.map_or_else(|| three(&size), |h| [size[0], size[0], h])),
            (_, half) => Form::Box(half.map_or_else(|| three(&size), |h| [size[0], size[0], h])),
        })
    }

    /// The mesh that a geom names.
    fn mesh(&self, styled: &Styled<'_, '_>, notes: &mut Notes) -> Option<Form> {
        let Some(name) = styled.get("mesh") else {
            notes.out.error(&styled.element.place, "the geom names no `mesh`");
            return None;
        };
        let found = self.meshes.get(name.value.as_str()).cloned();
        if found.is_none() && !self.left.contains(name.value.as_str()) {
            let hint = suggest(&name.value, self.meshes.keys().copied(), true, || "meshes are named in <asset>".into());
            notes.out.error(&name.place, format!("there is no mesh {:?}", name.value)).hint(hint);
        }
        found
    }

    /// What a geom weighs; nothing where its group does not count.
    fn weight(&self, styled: &Styled<'_, '_>, solid: &Solid, notes: &mut Notes) -> Option<Option<Mass>> {
        let group = styled.get("group").map_or(Some(0.0), |a| a.number(&mut notes.out))?;
        let given = match styled.get("mass") {
            Some(attribute) => Some(attribute.size(&mut notes.out)?),
            None => None,
        };
        let density = styled.get("density").map_or(Some(DENSITY), |a| a.size(&mut notes.out))?;
        let unit = match &solid.form {
            Form::Plane => return Some(None),
            Form::Mesh(MeshFile { mesh, .. }) | Form::Hull(mesh) => match mesh.mass(1.0) {
                Ok(carom::multibody::Mass { mass, centre, inertia }) => Mass { mass, centre, inertia },
                Err(error) => {
                    let error = notes.out.error(&solid.place, format!("the mesh has no mass: {error}"));
                    error.hint("close the surface, or give the body an <inertial>");
                    return None;
                }
            },
            form => {
                let (volume, moments) = mass::solid(form)?;
                Mass { mass: volume, centre: [0.0; 3], inertia: mass::diagonal(moments.map(|x| x * volume)) }
            }
        };
        if yes(styled.get("shellinertia"), false, notes) {
            let error = notes.out.error(&solid.place, "the mass of a shell is not known: shellinertia=\"true\"");
            error.hint("give the body an <inertial>");
            return None;
        }
        let factor = given.map_or(density, |given| if unit.mass > 0.0 { given / unit.mass } else { 0.0 });
        let [low, high] = self.compiler.groups;
        if factor <= 0.0 || group < low || group > high {
            return Some(None);
        }
        let own = Mass { mass: unit.mass * factor, inertia: unit.inertia.map(|row| row.map(|x| x * factor)), ..unit };
        let centre = solid.pose.point(own.centre);
        Some(Some(Mass { centre, inertia: rotate_inertia(solid.pose.turn, own.inertia), ..own }))
    }
}

fn three(size: &[f64]) -> [f64; 3] {
    std::array::from_fn(|k| size.get(k).copied().unwrap_or(0.0))
}

/// At least so many positive numbers.
fn sizes(attribute: &Attribute, needed: usize, notes: &mut Notes) -> Option<Vec<f64>> {
    let size = attribute.numbers(&mut notes.out)?;
    if size.len() < needed {
        let word = if needed == 1 { "number" } else { "numbers" };
        notes.out.error(&attribute.place, format!("{needed} {word} needed, found {}", size.len()));
        return None;
    }
    if let Some(bad) = size[..needed].iter().find(|x| **x <= 0.0) {
        notes.out.error(&attribute.place, format!("the size {bad} is not positive"));
        return None;
    }
    Some(size)
}

/// How a geom touches others.
fn touch(styled: &Styled<'_, '_>, notes: &mut Notes) -> Touch {
    let mut whole = |name: &str, otherwise: u32| match styled.get(name) {
        Some(attribute) => match attribute.number(&mut notes.out) {
            Some(x) if x >= 0.0 && x <= f64::from(u32::MAX) && x.fract() == 0.0 => x as u32,
            Some(x) => {
                notes.out.error(&attribute.place, format!("{x} is no whole number from 0 on"));
                otherwise
            }
            None => otherwise,
        },
        None => otherwise,
    };
    let (bits, dimensions) = ([whole("contype", 1), whole("conaffinity", 1)], whole("condim", 3));
    let priority = styled.get("priority").and_then(|a| a.number(&mut notes.out)).map_or(0, |x| x as i64);
    let mut friction = [1.0, 0.005, 0.0001];
    if let Some(attribute) = styled.get("friction") {
        let given = attribute.numbers(&mut notes.out).unwrap_or_default();
        if given.len() > 3 || given.iter().any(|x| *x < 0.0) {
            notes.out.error(&attribute.place, "friction has up to three numbers, none of them negative");
        }
        friction.iter_mut().zip(given).for_each(|(old, new)| *old = new);
    }
    Touch { bits, friction, dimensions, priority }
}

/// A mesh of a file, or one that is given by its corners.
pub(super) fn mesh(asset: &Element, classes: &Classes<'_>, folder: &Path, notes: &mut Notes) -> Option<Form> {
    let styled = classes.styled(asset, 0, notes);
    let scale = styled.get("scale").map_or(Some([1.0; 3]), |a| a.vector(&mut notes.out))?;
    if let Some(attribute) = ["refpos", "refquat"].iter().find_map(|name| asset.get(name)) {
        let message = format!("the mesh has a `{}`, which is not known", attribute.name);
        notes.out.error(&attribute.place, message).hint("move and turn the geoms that use it");
        return None;
    }
    match (asset.get("vertex"), asset.get("file")) {
        (Some(vertex), _) => corners(vertex, asset, scale, notes),
        (None, Some(file)) => super::super::mesh::file(file, &folder.join(&file.value), scale, notes),
        (None, None) => {
            notes.out.error(&asset.place, "a mesh has a `file` or a `vertex`");
            None
        }
    }
}

fn corners(vertex: &Attribute, asset: &Element, scale: [f64; 3], notes: &mut Notes) -> Option<Form> {
    let numbers = vertex.numbers(&mut notes.out)?;
    if !numbers.len().is_multiple_of(3) || numbers.len() < 12 || numbers.len() > 3 * MOST {
        let message = format!("{} numbers are no list of 4 to {MOST} points", numbers.len());
        notes.out.error(&vertex.place, message);
        return None;
    }
    if let Some(face) = asset.get("face") {
        let error = notes.out.error(&face.place, "the mesh has a `face`: only hulls of points are known");
        error.hint("write the mesh to a file");
        return None;
    }
    let points: Vec<[f64; 3]> = numbers.chunks_exact(3).map(|p| std::array::from_fn(|k| p[k] * scale[k])).collect();
    let made = hull::Hull::around(&points).map_err(|error| error.to_string());
    match made.and_then(|hull| Mesh::new(hull.points(), hull.triangles()).map_err(|error| error.to_string())) {
        Ok(mesh) => Some(Form::Hull(Arc::new(mesh))),
        Err(error) => {
            notes.out.error(&vertex.place, error);
            None
        }
    }
}
