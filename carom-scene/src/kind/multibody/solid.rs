//! Shapes that touch by themselves: materials, what is left out, and mass by density.

use carom::multibody::contact::Surface;
use carom::multibody::pair::Shape;
use carom::multibody::{Combine, Mass, Material, Materials, Multibody, Sleep, Solid};

use super::Mechanism;
use super::body::BodyInfo;
use super::number::{Measure, word};
use super::repeat::name;
use super::shape::{Form, ShapeInfo, touching};
use super::tables::{ContactsTable, MaterialPairTable, MaterialTable};
use crate::diagnostic::{Place, suggest};
use crate::file::{Formula, ModelFile, Text};
use crate::law;
use crate::scene::context::{Context, label};

/// A material with its density.
#[derive(Clone, Debug)]
pub(super) struct MaterialInfo {
    pub material: Material,
    pub density: Option<f64>,
}

/// Shapes that touch by themselves, as the library takes them.
#[derive(Clone, Debug, Default)]
pub(super) struct Solids {
    solids: Vec<Solid>,
    places: Vec<Place>,
    materials: Materials,
    apart: Vec<[String; 2]>,
    joined: bool,
    sleep: Option<Sleep>,
}

impl Solids {
    /// The rule by which materials combine, if any; `None` where no shapes touch by themselves.
    pub fn combine(&self) -> Option<Option<Combine>> {
        (!self.solids.is_empty()).then_some(self.materials.combine)
    }

    /// Adds them to a description.
    pub fn describe(&self, all: &mut Multibody) {
        all.solids.clone_from(&self.solids);
        all.materials.clone_from(&self.materials);
        all.apart.clone_from(&self.apart);
        all.joined_touch = self.joined;
        all.sleep = self.sleep;
    }

    /// Where the shape with a name stands.
    pub fn place_of(&self, name: &str) -> Option<&Place> {
        self.solids.iter().position(|solid| solid.full_name() == name).map(|i| &self.places[i])
    }

    /// Where one of the two shapes of a contact stands.
    pub fn place_of_contact(&self, contact: &str) -> Option<&Place> {
        let (_, second) = contact.split_once(" - ")?;
        self.place_of(second).or_else(|| self.place_of(second.rsplit_once('.')?.0))
    }
}

/// Reads the coefficients of a material or of a pair of them.
fn surface(
    [restitution, tangential, friction, rolling, spinning]: [&Option<Formula>; 5],
    measure: &Measure,
    context: &mut Context,
) -> Option<Surface> {
    let mut number = |formula: &Option<Formula>, what: &str, most: f64, unit: f64| match formula {
        Some(formula) => law::coefficient(formula, what, most, context).map(|x| x * unit),
        None => Some(0.0),
    };
    let read = [
        number(restitution, "the coefficient of restitution", 1.0, 1.0),
        number(tangential, "the tangential coefficient of restitution", 1.0, 1.0),
        number(friction, "the coefficient of friction", f64::INFINITY, 1.0),
        number(rolling, "the coefficient of rolling friction", f64::INFINITY, measure.length),
        number(spinning, "the coefficient of spinning friction", f64::INFINITY, measure.length),
    ];
    if let Some(formula) = tangential.as_ref().filter(|_| friction.is_none()) {
        context.out.error(&formula.place, crate::law::NO_GRIP);
    }
    if let Some(formula) = rolling.as_ref().or(spinning.as_ref()).filter(|_| friction.is_none()) {
        context.out.error(&formula.place, "rolling friction needs `friction`: without it nothing would roll");
    }
    if let Some(formula) = spinning.as_ref().filter(|_| measure.planar) {
        context.out.error(&formula.place, "nothing spins about the normal of a planar contact").hint("leave it out");
    }
    let [restitution, tangential, friction, rolling, spinning] = read;
    Some(Surface {
        restitution: restitution?,
        tangential: tangential?,
        friction: friction?,
        rolling: rolling?,
        spinning: spinning?,
    })
}

/// A density in SI units.
pub(super) fn density(formula: &Formula, measure: &Measure, context: &mut Context) -> Option<f64> {
    // kg/m³ whatever the units of the file are, as forces and stiffnesses
    measure.positive(formula, 1.0, "the density", context)
}

/// Reads all materials.
pub(super) fn materials(file: &ModelFile, measure: &Measure, context: &mut Context) -> Vec<MaterialInfo> {
    let mut all: Vec<MaterialInfo> = Vec::new();
    for table in file.material.iter().flatten() {
        let MaterialTable { name, restitution, tangential, friction, rolling, spinning, .. } = table;
        let surface = surface([restitution, tangential, friction, rolling, spinning], measure, context);
        let density = table.density.as_ref().map(|formula| density(formula, measure, context));
        let Some(known) = label(name, &mut context.out) else { continue };
        if all.iter().any(|other| other.material.name == known) {
            context.out.error(&name.place, format!("there are two materials with the name {known:?}"));
        } else {
            let material = Material { name: known, surface: surface.unwrap_or_default() };
            all.push(MaterialInfo { material, density: density.flatten() });
        }
    }
    all
}

/// The material that a text means.
pub(super) fn find<'a>(text: &Text, all: &'a [MaterialInfo], context: &mut Context) -> Option<&'a MaterialInfo> {
    if let Some(found) = all.iter().find(|info| info.material.name == text.value) {
        return Some(found);
    }
    let names = || all.iter().map(|info| info.material.name.as_str());
    let hint = suggest(&text.value, names(), true, || match all.is_empty() {
        true => format!("add [[material]] with name = {:?}", text.value),
        false => format!("materials: {}", names().collect::<Vec<_>>().join(", ")),
    });
    context.out.error(&text.place, format!("there is no material {:?}", text.value)).hint(hint);
    None
}

/// Reads what touches by itself into the mechanism.
pub(super) fn read(file: &ModelFile, materials: Vec<MaterialInfo>, mechanism: &mut Mechanism, context: &mut Context) {
    let pairs = pairs(file, &materials, &mechanism.measure, context);
    let Some(table) = &file.contacts else {
        let shapes = mechanism.bodies.iter().flat_map(|body| &body.shapes);
        if let Some(place) = shapes.filter_map(|info| info.solid.told.as_ref()).next() {
            let error = context.out.error(place, "shapes touch by themselves only where the file has [contacts]");
            error.hint("add [contacts], or leave this out");
        }
        return;
    };
    let default = table.material.as_ref().and_then(|text| find(text, &materials, context));
    let default = default.map(|info| info.material.name.clone());
    let combine = table.combine.as_ref().and_then(|text| word(text, "rule", &Combine::ALL, context));
    let mut solids = Solids { joined: table.joined.unwrap_or(false), ..Solids::default() };
    if let Some(table) = &table.sleep {
        let measure = &mechanism.measure;
        let speed = measure.positive(&table.speed, measure.length, "the speed", context);
        let after = measure.positive(&table.after, 1.0, "the time", context);
        solids.sleep = speed.zip(after).map(|(speed, after)| Sleep { speed, after });
        if let Some(sleep) = solids.sleep
            && let Err(error) = sleep.under(mechanism.gravity)
        {
            context.out.error(&table.after.place, error.to_string());
        }
    }
    for body in &mechanism.bodies {
        for (k, info) in body.shapes.iter().enumerate() {
            for (name, shape) in solid_shapes(info, k, &mechanism.measure, context) {
                let mut solid = Solid::new(&body.name, &name, shape);
                solid.material = info.solid.material.clone().or_else(|| default.clone());
                solid.group = info.solid.group.clone();
                solids.solids.push(solid);
                solids.places.push(info.solid.place.clone());
            }
        }
    }
    for info in &mechanism.contacts {
        solids.apart.extend(info.shapes.clone().filter(|shapes| known(shapes, &solids.solids)));
    }
    exclude(table, mechanism, &mut solids, context);
    let all = materials.into_iter().map(|info| info.material).collect();
    solids.materials = Materials { all, pairs, combine };
    mechanism.solids = solids;
}

/// What touches by itself of the shape with a number, with its names; what should and cannot is told.
fn solid_shapes(info: &ShapeInfo, number: usize, measure: &Measure, context: &mut Context) -> Vec<(String, Shape)> {
    // shapes without a name have the number that they have in the file
    let name = |word: &str| info.name.clone().unwrap_or_else(|| format!("{word}{}", number + 1));
    let mut refuse = |message: String, hint: &str| {
        context.out.error(&info.solid.place, message).hint(hint);
        Vec::new()
    };
    match &info.form {
        _ if !info.solid.touches => Vec::new(),
        Form::Touching(Shape::Sphere(s)) if s.radius == 0.0 => Vec::new(),
        Form::Touching(shape) if shape.ball().is_none() => Vec::new(),
        Form::Touching(shape) => vec![(name(shape.name()), shape.clone())],
        Form::Polygon(points) => match touching(points).filter(|_| measure.planar) {
            Some(Err(error)) => refuse(
                format!("{error}: with [contacts] it should touch, and cannot"),
                "split it into convex polygons, or write contact = false for a drawing",
            ),
            _ => Vec::new(),
        },
        Form::Mesh(mesh) => match &mesh.parts {
            Ok(parts) if parts.len() == 1 => vec![(name("mesh"), parts[0].clone())],
            Ok(parts) => {
                let names = (1..).map(|part| format!("{}.{part}", name("mesh")));
                names.zip(parts.iter().cloned()).collect()
            }
            Err(error) => refuse(format!("the mesh cannot touch: {error}"), super::mesh::TOUCH),
        },
    }
}

/// Whether both shapes touch by themselves.
fn known(shapes: &[String; 2], solids: &[Solid]) -> bool {
    shapes.iter().all(|name| solids.iter().any(|solid| solid.full_name() == *name))
}

/// Coefficients of pairs of materials.
fn pairs(
    file: &ModelFile,
    materials: &[MaterialInfo],
    measure: &Measure,
    context: &mut Context,
) -> Vec<([String; 2], Surface)> {
    let mut all: Vec<([String; 2], Surface)> = Vec::new();
    for table in file.material_pair.iter().flatten() {
        let MaterialPairTable { restitution, tangential, friction, rolling, spinning, .. } = table;
        let surface = surface([restitution, tangential, friction, rolling, spinning], measure, context);
        let [a, b] = &table.materials[..] else {
            let message = format!("a pair has two materials, found {}", table.materials.len());
            context.out.error(&table.place, message).hint("as in materials = [\"steel\", \"rubber\"]");
            continue;
        };
        let found = [find(a, materials, context).is_some(), find(b, materials, context).is_some()];
        let names = [a.value.clone(), b.value.clone()];
        let is = |known: &[String; 2]| *known == names || known[0] == names[1] && known[1] == names[0];
        if all.iter().any(|(known, _)| is(known)) {
            context.out.error(&b.place, format!("the pair of {:?} and {:?} is given twice", names[0], names[1]));
        } else if found == [true; 2] {
            all.extend(surface.map(|surface| (names, surface)));
        }
    }
    all
}

/// What does not touch by itself.
fn exclude(table: &ContactsTable, mechanism: &Mechanism, solids: &mut Solids, context: &mut Context) {
    for entry in table.exclude.iter().flatten() {
        let [a, b] = &entry[..] else {
            let place = entry.first().map_or(&table.place, |text| &text.place);
            context.out.error(place, format!("an entry of `exclude` has two names, found {}", entry.len()));
            continue;
        };
        let mut side = |text: &Text| {
            let wanted = name(text, context)?;
            let groups = || solids.solids.iter().filter_map(|solid| solid.group.as_deref());
            let is_known = mechanism.index.contains_key(&wanted)
                || groups().any(|group| group == wanted)
                || solids.solids.iter().any(|solid| solid.full_name() == wanted);
            // a shape with a mistake of its own is not missing
            if is_known || mechanism.lost_bodies || mechanism.bodies.iter().any(|body| body.broken) {
                return Some(wanted);
            }
            let bodies = mechanism.bodies.iter().map(|body| body.name.as_str());
            let hint = suggest(&wanted, bodies.chain(groups()), true, || {
                "names are those of bodies, of groups, or of shapes as \"body/shape\"".into()
            });
            let message = format!("there is no body, group or shape {wanted:?} that touches by itself");
            context.out.error(&text.place, message).hint(hint);
            None
        };
        if let (Some(a), Some(b)) = (side(a), side(b)) {
            solids.apart.push([a, b]);
        }
    }
}

/// Mass, inertia and the place of the mass centre of a body whose shapes have densities. Shapes are moved so that they
/// are counted from the mass centre.
pub(super) fn weigh(info: &mut BodyInfo, measure: &Measure, place: &Place, context: &mut Context) -> Option<Mass> {
    let mut parts = Vec::new();
    for shape in &info.shapes {
        let Some(density) = shape.solid.density else { continue };
        let mass = match &shape.form {
            Form::Touching(shape) => Mass::of(shape, density, measure.planar),
            Form::Polygon(_) => None,
            Form::Mesh(mesh) => match mesh.mass(density) {
                Ok(mass) => Some(mass),
                Err(error) => {
                    let hint = "close the surface, or give the body `mass` and `inertia`";
                    context.out.error(&shape.solid.place, format!("the mesh has no mass: {error}")).hint(hint);
                    return None;
                }
            },
        };
        match mass {
            Some(mass) => parts.push(mass),
            None if shape.solid.own_density => {
                let message = "the shape has no volume: nothing has its density";
                context.out.error(&shape.solid.place, message).hint("give the body `mass` and `inertia`");
                return None;
            }
            None => {}
        }
    }
    let Some(mass) = Mass::sum(&parts) else {
        let error = context.out.error(place, format!("the body `{}` has no mass", info.name));
        error.hint("add mass = 1.0 and an inertia, or `density` to its shapes");
        return None;
    };
    let frame = info.frame(measure.planar);
    info.position = frame.point(mass.centre).0;
    info.centre = mass.centre;
    let by = mass.centre.map(|x| -x);
    for shape in &mut info.shapes {
        match &mut shape.form {
            Form::Touching(shape) => *shape = shape.clone().moved(by),
            Form::Polygon(points) => points.iter_mut().for_each(|p| (0..3).for_each(|i| p[i] += by[i])),
            Form::Mesh(mesh) => mesh.shift(by),
        }
    }
    Some(mass)
}
