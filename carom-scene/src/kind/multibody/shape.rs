//! Shapes of bodies, in axes of their body: for contacts and for drawings.

use carom::elementary::sin_cos;
use carom::multibody::pair::HullError;
use carom::multibody::pair::shape::{
    Block, Bore, Capsule, Convex, Curve, Cylinder, Ellipsoid, Plane, Ring, Segment, Shape, Slot, Socket, Sphere, Strip,
    Torus,
};
use carom::multibody::{Frame, Vector};

use super::body::{body_direction, columns, quaternion};
use super::mesh::{self, MeshForm};
use super::number::{Measure, word};
use super::solid::{self, MaterialInfo};
use super::tables::BodyShapeTable;
use crate::diagnostic::Place;
use crate::file::{Formula, OneOrMore};
use crate::scene::context::{Context, label};
use crate::scene::draw::color;

/// A shape with its name and how it is drawn.
#[derive(Clone, Debug)]
pub(super) struct ShapeInfo {
    pub name: Option<String>,
    pub form: Form,
    pub color: Option<String>,
    pub fill: Option<String>,
    pub trace: bool,
    pub solid: SolidInfo,
}

/// What a shape says of contacts that come by themselves, and of mass.
#[derive(Clone, Debug)]
pub(super) struct SolidInfo {
    pub material: Option<String>,
    pub group: Option<String>,
    pub touches: bool,
    /// Where the first of these three stands.
    pub told: Option<Place>,
    /// Its own, or that of its material.
    pub density: Option<f64>,
    pub own_density: bool,
    pub place: Place,
}

/// What it is, in axes of its body.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// A shape that can touch others.
    Touching(Shape),
    /// Corners in space, or in the plane of what is not convex: for drawings.
    Polygon(Vec<[f64; 3]>),
    /// A mesh of a file.
    Mesh(MeshForm),
}

/// The word after `kind =`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Word {
    Sphere,
    Disc,
    Box,
    Cylinder,
    Capsule,
    Ellipsoid,
    Torus,
    Convex,
    Mesh,
    Plane,
    Segment,
    Polygon,
    Hole,
    Socket,
    Slot,
    Ring,
    Curve,
    Point,
}

const WORDS: &[(&str, Word)] = &[
    ("sphere", Word::Sphere),
    ("disc", Word::Disc),
    ("box", Word::Box),
    ("cylinder", Word::Cylinder),
    ("capsule", Word::Capsule),
    ("ellipsoid", Word::Ellipsoid),
    ("torus", Word::Torus),
    ("convex", Word::Convex),
    ("mesh", Word::Mesh),
    ("plane", Word::Plane),
    ("segment", Word::Segment),
    ("polygon", Word::Polygon),
    ("hole", Word::Hole),
    ("socket", Word::Socket),
    ("slot", Word::Slot),
    ("ring", Word::Ring),
    ("curve", Word::Curve),
    ("point", Word::Point),
];

/// Which keys a shape needs, and which it may have.
fn keys(word: Word, planar: bool) -> (&'static [&'static str], &'static [&'static str]) {
    match (word, planar) {
        (Word::Sphere, _) | (Word::Socket, _) => (&["radius"], &["at"]),
        (Word::Disc | Word::Hole | Word::Ring, true) => (&["radius"], &["at"]),
        (Word::Disc | Word::Hole | Word::Ring, false) => (&["radius"], &["at", "axis"]),
        (Word::Box, true) => (&["size"], &["at", "angle"]),
        (Word::Box | Word::Ellipsoid, false) => (&["size"], &["at", "attitude"]),
        (Word::Ellipsoid, true) => (&["size"], &["at"]),
        (Word::Torus, _) => (&["radius", "tube"], &["at", "axis"]),
        (Word::Cylinder | Word::Capsule, _) => (&["ends", "radius"], &[]),
        (Word::Slot, true) => (&["ends", "radius"], &[]),
        (Word::Slot, false) => (&["ends", "radius"], &["axis"]),
        (Word::Plane, _) => (&["normal"], &["at"]),
        (Word::Segment, true) => (&["ends"], &[]),
        (Word::Segment, false) => (&["ends"], &["axis"]),
        (Word::Mesh, _) => (&["file"], &["scale", "at", "attitude", "parts"]),
        (Word::Polygon | Word::Curve | Word::Convex, _) => (&["points"], &[]),
        (Word::Point, _) => (&[], &["at"]),
    }
}

/// Reads a shape of a body that is drawn in `frame`.
pub(super) fn shape(
    table: &BodyShapeTable,
    frame: &Frame,
    (measure, materials): (&Measure, &[MaterialInfo]),
    context: &mut Context,
) -> Option<ShapeInfo> {
    let before = context.out.errors();
    let kind = word(&table.kind, "kind of shape", WORDS, context)?;
    fitting(table, kind, measure.planar, context);
    let of_space = [Word::Sphere, Word::Cylinder, Word::Socket, Word::Ellipsoid, Word::Torus, Word::Convex, Word::Mesh];
    if measure.planar && of_space.contains(&kind) {
        let message = format!("a planar body has no {}", table.kind.value);
        let hint = match kind {
            Word::Socket => "write \"hole\"",
            Word::Convex | Word::Mesh => "write \"polygon\", with the corners one after the other",
            _ => "write \"disc\", \"box\" or \"capsule\"",
        };
        context.out.error(&table.kind.place, message).hint(hint);
    }
    let world = match &table.frame {
        Some(text) => word(text, "frame", &[("body", false), ("world", true)], context).unwrap_or(false),
        None => false,
    };
    let name = table.name.as_ref().map(|name| label(name, &mut context.out));
    let color = |text: &Option<_>, context: &mut Context| text.as_ref().and_then(|text| color(text, context));
    let (line, fill) = (color(&table.color, context), color(&table.fill, context));
    let solid = solid_info(table, measure, materials, context);
    if context.out.errors() > before {
        return None;
    }
    let axes = Axes { frame, world, measure };
    let form = form(table, kind, &axes, context)?;
    let form = match form {
        Form::Touching(shape) => match shape.checked() {
            Ok(shape) => Form::Touching(shape),
            Err(error) => {
                context.out.error(&table.kind.place, error.to_string());
                return None;
            }
        },
        drawn => drawn,
    };
    Some(ShapeInfo { name: name.flatten(), form, color: line, fill, trace: table.trace.unwrap_or(false), solid })
}

fn solid_info(
    table: &BodyShapeTable,
    measure: &Measure,
    materials: &[MaterialInfo],
    context: &mut Context,
) -> SolidInfo {
    let material = table.material.as_ref().and_then(|text| solid::find(text, materials, context));
    let own = table.density.as_ref().map(|formula| solid::density(formula, measure, context));
    let own_density = own.is_some();
    let told = table.group.as_ref().map(|text| text.place.clone());
    SolidInfo {
        density: own.unwrap_or_else(|| material.and_then(|info| info.density)),
        own_density,
        material: material.map(|info| info.material.name.clone()),
        group: table.group.as_ref().and_then(|text| label(text, &mut context.out)),
        touches: table.contact.unwrap_or(true),
        told,
        place: table.kind.place.clone(),
    }
}

/// Tells missing keys and keys that do not belong to the shape.
fn fitting(table: &BodyShapeTable, kind: Word, planar: bool, context: &mut Context) {
    let given: [(&str, Option<&Place>); 13] = [
        ("at", table.at.as_ref().map(|x| &x.place)),
        ("radius", table.radius.as_ref().map(|x| &x.place)),
        ("tube", table.tube.as_ref().map(|x| &x.place)),
        ("attitude", table.attitude.as_ref().map(|x| &x.place)),
        ("size", table.size.as_ref().map(|x| &x.place)),
        ("angle", table.angle.as_ref().map(|x| &x.place)),
        ("ends", table.ends.as_ref().map(|x| x.first().map_or(&table.place, |x| &x.place))),
        ("axis", table.axis.as_ref().map(|x| &x.place)),
        ("normal", table.normal.as_ref().map(|x| &x.place)),
        ("file", table.file.as_ref().map(|x| &x.place)),
        ("scale", table.scale.as_ref().map(|x| &x.place)),
        ("parts", table.parts.as_ref().map(|x| x.first().map_or(&table.place, |x| &x.place))),
        ("points", table.points.as_ref().map(|x| x.first().map_or(&table.place, |x| &x.place))),
    ];
    let (needed, allowed) = keys(kind, planar);
    for (key, place) in given {
        match place {
            None if needed.contains(&key) => {
                let message = format!("a {} needs `{key}`", table.kind.value);
                context.out.error(&table.kind.place, message);
            }
            Some(place) if !needed.contains(&key) && !allowed.contains(&key) => {
                let all: Vec<&str> = needed.iter().chain(allowed).copied().collect();
                let error = context.out.error(place, format!("a {} has no `{key}`", table.kind.value));
                error.hint(format!("it has {}", all.join(", ")));
            }
            _ => {}
        }
    }
}

/// Brings what is drawn to axes of the body.
pub(super) struct Axes<'a> {
    pub frame: &'a Frame,
    pub world: bool,
    pub measure: &'a Measure,
}

impl Axes<'_> {
    fn point(&self, list: Option<&OneOrMore>, what: &str, context: &mut Context) -> Option<[f64; 3]> {
        let Some(list) = list else {
            return Some(if self.world { self.frame.body_point(Vector::zero()).0 } else { [0.0; 3] });
        };
        let point = self.measure.vector(list, self.measure.length, what, context)?;
        Some(if self.world { self.frame.body_point(Vector(point)).0 } else { point })
    }

    fn direction(&self, list: Option<&OneOrMore>, what: &str, context: &mut Context) -> Option<[f64; 3]> {
        let Some(list) = list else {
            return Some([0.0, 0.0, 1.0]);
        };
        let d = self.measure.direction(list, what, context)?;
        Some(if self.world { body_direction(self.frame, d) } else { d })
    }

    fn points(&self, lists: &[OneOrMore], context: &mut Context) -> Option<Vec<[f64; 3]>> {
        lists.iter().map(|list| self.point(Some(list), "a point", context)).collect()
    }

    fn ends(&self, table: &BodyShapeTable, context: &mut Context) -> Option<[[f64; 3]; 2]> {
        let lists = table.ends.as_deref().unwrap_or_default();
        let [a, b] = lists else {
            let place = lists.first().map_or(&table.kind.place, |list| &list.place);
            context.out.error(place, format!("there are two ends, found {}", lists.len()));
            return None;
        };
        let ends = [self.point(Some(a), "an end", context), self.point(Some(b), "an end", context)];
        let [Some(a_at), Some(b_at)] = ends else { return None };
        if a_at == b_at {
            context.out.error(&b.place, format!("both ends of the {} are at the same place", table.kind.value));
            return None;
        }
        Some([a_at, b_at])
    }

    fn radius(&self, formula: Option<&Formula>, context: &mut Context) -> Option<f64> {
        self.measure.size(formula?, "the radius", context)
    }
}

fn form(table: &BodyShapeTable, kind: Word, axes: &Axes<'_>, context: &mut Context) -> Option<Form> {
    let measure = axes.measure;
    let centre = axes.point(table.at.as_ref(), "`at`", context);
    let axis = axes.direction(table.axis.as_ref(), "the axis", context);
    let radius = table.radius.as_ref().map(|formula| axes.radius(Some(formula), context));
    let radius = || radius.flatten();
    let shape = match kind {
        Word::Point => Shape::Sphere(Sphere::point(centre?)),
        Word::Sphere => Shape::Sphere(Sphere { centre: centre?, radius: radius()? }),
        Word::Disc if measure.planar => Shape::Sphere(Sphere { centre: centre?, radius: radius()? }),
        Word::Disc => Shape::Cylinder(Cylinder { centre: centre?, axis: axis?, radius: radius()?, half: 0.0 }),
        Word::Socket => Shape::Socket(Socket { centre: centre?, radius: radius()? }),
        Word::Hole => Shape::Bore(Bore { centre: centre?, axis: axis?, radius: radius()? }),
        Word::Ring => Shape::Ring(Ring { centre: centre?, axis: axis?, radius: radius()? }),
        Word::Plane => {
            let normal = axes.direction(table.normal.as_ref(), "the normal", context)?;
            Shape::Plane(Plane { point: centre?, normal })
        }
        Word::Box => Shape::Block(block(table, centre?, axes, context)?),
        Word::Segment => {
            let ends = axes.ends(table, context)?;
            match &table.axis {
                Some(_) => Shape::Strip(Strip { ends, along: axis? }),
                None => Shape::Segment(Segment { ends }),
            }
        }
        Word::Slot => Shape::Slot(Slot { ends: axes.ends(table, context)?, axis: axis?, radius: radius()? }),
        Word::Cylinder => {
            let [a, b] = axes.ends(table, context)?;
            let d: [f64; 3] = std::array::from_fn(|i| b[i] - a[i]);
            let half = d.iter().map(|x| x * x).sum::<f64>().sqrt() / 2.0;
            let centre = std::array::from_fn(|i| (a[i] + b[i]) / 2.0);
            Shape::Cylinder(Cylinder { centre, axis: d.map(|x| x / (2.0 * half)), radius: radius()?, half })
        }
        Word::Capsule => Shape::Capsule(Capsule { ends: axes.ends(table, context)?, radius: radius()? }),
        Word::Ellipsoid => {
            let Block { centre, axes, half } = block(table, centre?, axes, context)?;
            Shape::Ellipsoid(Ellipsoid { centre, axes, half })
        }
        Word::Torus => {
            let tube = measure.size(table.tube.as_ref()?, "the radius of the tube", context)?;
            Shape::Torus(Torus { centre: centre?, axis: axis?, radius: radius()?, tube })
        }
        Word::Mesh => return mesh::form(table, centre?, axes, context).map(Form::Mesh),
        Word::Polygon => {
            let points = polygon(table, axes, context)?;
            match touching(&points).filter(|_| measure.planar) {
                Some(Ok(convex)) => Shape::Convex(convex),
                _ => return Some(Form::Polygon(points)),
            }
        }
        Word::Convex => {
            let points = axes.points(table.points.as_deref()?, context)?;
            match Convex::around(&points) {
                Ok(convex) => Shape::Convex(convex),
                Err(error) => {
                    let hint = "four or more points, in any order, that are not in one plane";
                    context.out.error(&table.kind.place, error.to_string()).hint(hint);
                    return None;
                }
            }
        }
        Word::Curve => Shape::Curve(curve(table, axes, context)?),
    };
    Some(Form::Touching(shape))
}

/// A box along the axes of the body, or as it is drawn.
fn block(table: &BodyShapeTable, centre: [f64; 3], axes: &Axes<'_>, context: &mut Context) -> Option<Block> {
    let (measure, size) = (axes.measure, table.size.as_ref()?);
    let half = measure.vector(size, measure.length / 2.0, "`size`", context)?;
    if let Some(i) = half.iter().take(measure.components()).position(|half| *half <= 0.0) {
        let what = if table.kind.value == "box" { "edge" } else { "length" };
        let message = format!("the {what} {} of the {} is not positive", half[i] * 2.0, table.kind.value);
        context.out.error(&size.items[i].place, message);
        return None;
    }
    let angle = match &table.angle {
        Some(formula) => measure.geometry(formula, measure.angle, context)?,
        None => 0.0,
    };
    let (s, c) = sin_cos(angle);
    let drawn = match &table.attitude {
        Some(attitude) => columns(quaternion(attitude, measure, context)?),
        None => [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]],
    };
    let turned = if axes.world { drawn.map(|d| body_direction(axes.frame, d)) } else { drawn };
    Some(Block { centre, axes: turned, half })
}

/// What touches of a polygon in the plane, or why it does not; nothing of a line.
pub(super) fn touching(points: &[[f64; 3]]) -> Option<Result<Convex, HullError>> {
    let corners: Vec<[f64; 2]> = points.iter().map(|[x, y, _]| [*x, *y]).collect();
    (points.len() > 2).then(|| Convex::polygon(&corners))
}

fn polygon(table: &BodyShapeTable, axes: &Axes<'_>, context: &mut Context) -> Option<Vec<[f64; 3]>> {
    let lists = table.points.as_deref()?;
    if lists.len() < 2 {
        let message = format!("a polygon has two or more points, found {}", lists.len());
        context.out.error(lists.first().map_or(&table.kind.place, |list| &list.place), message);
        return None;
    }
    axes.points(lists, context)
}

/// A closed curve in the first two axes of the body.
fn curve(table: &BodyShapeTable, axes: &Axes<'_>, context: &mut Context) -> Option<Curve> {
    let points = axes.points(table.points.as_deref()?, context)?;
    if let Some(i) = points.iter().position(|point| point[2] != 0.0) {
        let place = &table.points.as_deref()?[i].place;
        context.out.error(place, "the points of a curve have z = 0 in axes of the body");
        return None;
    }
    let planar: Vec<[f64; 2]> = points.iter().map(|[x, y, _]| [*x, *y]).collect();
    match Curve::through(&planar) {
        Ok(curve) => Some(curve),
        Err(error) => {
            let place = table.points.as_deref()?.first().map_or(&table.kind.place, |list| &list.place);
            context.out.error(place, error.to_string());
            None
        }
    }
}
