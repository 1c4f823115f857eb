//! Contacts between shapes.

use carom::multibody::contact::Surface;
use carom::multibody::pair::{Shape, between};
use carom::multibody::{AnyPair, Contact};

use super::Mechanism;
use super::mesh;
use super::repeat::{Copy, copies, name};
use super::shape::{Form, ShapeInfo, touching};
use crate::diagnostic::{Place, suggest};
use crate::file::{ContactTable, Formula, Friction, ModelFile, Text};
use crate::law;
use crate::scene::context::{Context, label};

/// A contact with the place of its name.
#[derive(Clone, Debug)]
pub(super) struct ContactInfo {
    pub contact: Contact,
    pub place: Place,
    /// Its shapes as "body/shape".
    pub shapes: Option<[String; 2]>,
}

/// Reads all contacts into the mechanism.
pub(super) fn read(file: &ModelFile, mechanism: &mut Mechanism, context: &mut Context) {
    for Copy { table, index } in copies(file.contact.as_ref(), |table: &ContactTable| table.repeat.as_ref(), context) {
        if context.out.is_full() {
            return;
        }
        context.indexed(&index, |context| {
            if let Some(contact) = contact(table, mechanism, context) {
                let named = |text: &Option<Text>, context: &mut Context| name(text.as_ref()?, context);
                let shapes = named(&table.a, context).zip(named(&table.b, context)).map(|(a, b)| [a, b]);
                mechanism.contacts.push(ContactInfo { contact, place: table.name.place.clone(), shapes });
            }
        });
    }
}

fn contact(table: &ContactTable, mechanism: &Mechanism, context: &mut Context) -> Option<Contact> {
    let before = context.out.errors();
    foreign(table, context);
    let value = name(&table.name, context);
    let name = value.and_then(|value| label(&Text { value, place: table.name.place.clone() }, &mut context.out));
    let mut side = |key: &str, text: &Option<Text>| match text {
        Some(text) => mechanism.shape(text, context),
        None => {
            let error = context.out.error(&table.name.place, format!("the contact has no `{key}`"));
            error.hint(format!("as in {key} = \"body/shape\""));
            None
        }
    };
    let (a, b) = (side("a", &table.a), side("b", &table.b));
    let number = |formula: &Option<Formula>, what: &str, most: f64, unit: f64, context: &mut Context| match formula {
        Some(formula) => law::coefficient(formula, what, most, context).map(|x| x * unit),
        None => Some(0.0),
    };
    let unit = mechanism.measure.length;
    let restitution = number(&table.restitution, "the coefficient of restitution", 1.0, 1.0, context);
    let tangential = number(&table.tangential, "the tangential coefficient of restitution", 1.0, 1.0, context);
    if let Some(formula) = table.tangential.as_ref().filter(|_| table.friction.is_none()) {
        context.out.error(&formula.place, crate::law::NO_GRIP);
    }
    if let Some(friction @ Friction::Table(_)) = &table.friction {
        let error = context.out.error(friction.place(), "contacts between shapes have one coefficient of friction");
        error.hint("kind = \"lagrangian\" has friction that depends on the state");
    }
    let friction = table.friction.as_ref().map(|friction| friction.at_rest().clone());
    let friction = number(&friction, "the coefficient of friction", f64::INFINITY, 1.0, context);
    let rolling = number(&table.rolling, "the coefficient of rolling friction", f64::INFINITY, unit, context);
    let spinning = number(&table.spinning, "the coefficient of spinning friction", f64::INFINITY, unit, context);
    if let Some(formula) = table.rolling.as_ref().or(table.spinning.as_ref()).filter(|_| table.friction.is_none()) {
        context.out.error(&formula.place, "rolling friction needs `friction`: without it nothing would roll");
    }
    if let Some(formula) = table.spinning.as_ref().filter(|_| mechanism.measure.planar) {
        context.out.error(&formula.place, "nothing spins about the normal of a planar contact").hint("leave it out");
    }
    let ((body_a, shape_a), (body_b, shape_b)) = (a?, b?);
    if body_a == body_b {
        let place = table.b.as_ref().map_or(&table.name.place, |text| &text.place);
        let name = &mechanism.bodies[body_b].name;
        context.out.error(place, format!("both shapes belong to `{name}`"));
        return None;
    }
    let place = table.a.as_ref().map_or(&table.name.place, |text| &text.place);
    let (pair, swapped) = pair(mechanism, [(body_a, shape_a), (body_b, shape_b)], place, context)?;
    if context.out.errors() > before {
        return None;
    }
    let (first, second) = if swapped { (body_b, body_a) } else { (body_a, body_b) };
    let (first, second) = (&mechanism.bodies[first].name, &mechanism.bodies[second].name);
    let mut contact = Contact::new(&name?, first, second, pair);
    contact.surface = Surface {
        restitution: restitution?,
        tangential: tangential?,
        friction: friction?,
        rolling: rolling?,
        spinning: spinning?,
    };
    Some(contact)
}

/// What touches of a form, or why nothing does and what to do about it.
fn touching_shape(form: &Form, planar: bool) -> Result<&Shape, (String, &'static str)> {
    match form {
        Form::Touching(shape) => Ok(shape),
        Form::Polygon(points) if planar => Err(match touching(points) {
            Some(Err(error)) => (format!("{error}: it touches nothing"), "split it into convex polygons"),
            _ => ("a polygon with two points touches nothing".into(), "take a segment"),
        }),
        Form::Polygon(_) => {
            Err(("polygons in space are for drawings alone: they touch nothing".into(), "take a convex shape"))
        }
        Form::Mesh(mesh) => match &mesh.parts {
            Ok(parts) if parts.len() == 1 => Ok(&parts[0]),
            Ok(_) => Err(("a mesh with several parts has no contact of its own".into(), "let it touch by [contacts]")),
            Err(error) => Err((format!("the mesh cannot touch: {error}"), mesh::TOUCH)),
        },
    }
}

/// The pair of two shapes, and whether they change places.
fn pair(
    mechanism: &Mechanism,
    [a, b]: [(usize, &ShapeInfo); 2],
    place: &Place,
    context: &mut Context,
) -> Option<(AnyPair, bool)> {
    let first = touching_shape(&a.1.form, mechanism.measure.planar);
    let second = touching_shape(&b.1.form, mechanism.measure.planar);
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (first, second),
        (Err((message, hint)), _) | (_, Err((message, hint))) => {
            context.out.error(place, message).hint(hint);
            return None;
        }
    };
    let frame = |body: usize| mechanism.bodies[body].frame(mechanism.measure.planar);
    match between(first, second, (&frame(a.0), &frame(b.0))) {
        Ok(found) => Some(found),
        Err(error) => {
            let hint = "see the pairs of shapes in `carom docs model-files`";
            context.out.error(place, error.to_string()).hint(hint);
            None
        }
    }
}

/// Keys that contacts of equations have.
fn foreign(table: &ContactTable, context: &mut Context) {
    let formulas = [&table.gap, &table.region].into_iter().flatten().map(|formula| &formula.place);
    let lists = [&table.slip, &table.sliding, &table.turning].into_iter().flatten().map(|list| &list.place);
    let points = [&table.at, &table.normal].into_iter().flatten().map(|point| &point.coordinates[0].place);
    let texts = table.unit.iter().map(|text| &text.place);
    if let Some(place) = formulas.chain(lists).chain(points).chain(texts).next() {
        let error = context.out.error(place, "a contact between bodies is given by its shapes");
        error.hint("as in a = \"ball/sphere\", b = \"ground/floor\"; leave this out");
    }
}

impl Mechanism {
    /// The shape of a text "body/shape".
    fn shape(&self, text: &Text, context: &mut Context) -> Option<(usize, &ShapeInfo)> {
        let wanted = name(text, context)?;
        let Some((body, shape)) = wanted.split_once('/') else {
            let error = context.out.error(&text.place, format!("{wanted:?} does not name a shape"));
            error.hint("write \"body/shape\"");
            return None;
        };
        let body = self.body_named(body, &text.place, context)?;
        let shapes = &self.bodies[body].shapes;
        if let Some(info) = shapes.iter().find(|info| info.name.as_deref() == Some(shape)) {
            return Some((body, info));
        }
        // a shape with a mistake of its own is not missing
        if context.out.errors() > 0 && self.bodies[body].broken {
            return None;
        }
        let names = shapes.iter().filter_map(|info| info.name.as_deref());
        let hint = suggest(shape, names.clone(), true, || match names.clone().next() {
            Some(_) => format!("its shapes: {}", names.clone().collect::<Vec<_>>().join(", ")),
            None => "give its [[body.shape]] a name".into(),
        });
        let message = format!("the body `{}` has no shape {shape:?}", self.bodies[body].name);
        context.out.error(&text.place, message).hint(hint);
        None
    }
}
