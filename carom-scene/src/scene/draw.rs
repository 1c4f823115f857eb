//! The planar drawing: shapes whose numbers are one tape.

use std::ops::Range;

use super::context::Context;
use crate::expression::{Evaluator, NodeId, Tape};
use crate::file::{ContactTable, DrawTable, Formula, ModelFile, Point, Text};

/// A planar drawing of the model, in the order in which shapes cover each other.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// All shapes, in the order of the file.
    pub shapes: Vec<Shape>,
    /// Where contacts act, of those that say so.
    pub places: Vec<ContactPlace>,
    tape: Tape,
}

/// One shape; its numbers are a range of those of a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// What its numbers mean.
    pub kind: ShapeKind,
    /// Name in the legend.
    pub name: Option<String>,
    /// Colour of the line: `#` with 3, 4, 6 or 8 hexadecimal digits, or a word.
    pub color: Option<String>,
    /// Colour of the inside, written as that of the line.
    pub fill: Option<String>,
    /// [pixels]
    pub width: Option<f64>,
    /// Whether the path of the first point is drawn.
    pub trace: bool,
    /// Numbers of the shape in a frame.
    pub numbers: Range<usize>,
    /// Whether any of them changes.
    pub moves: bool,
}

/// Where a contact acts; its numbers follow those of the shapes in a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct ContactPlace {
    /// Number of the contact among the laws of the scene.
    pub law: usize,
    /// x, y in a frame.
    pub at: Range<usize>,
    /// x, y of the direction in which it pushes, of any length, where it is told.
    pub normal: Option<Range<usize>>,
}

/// The drawing that a model has by itself, before it is compiled.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    pub shapes: Vec<SketchShape>,
}

/// A shape by the expressions of its numbers.
#[derive(Clone, Debug)]
pub(crate) struct SketchShape {
    pub kind: ShapeKind,
    pub name: Option<String>,
    pub color: Option<String>,
    pub fill: Option<String>,
    pub width: Option<f64>,
    pub trace: bool,
    pub numbers: Vec<NodeId>,
}

/// What the numbers of a shape are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShapeKind {
    /// x, y
    Point,
    /// x, y, x, y
    Segment,
    /// x, y, radius
    Circle,
    /// x, y of each corner
    Polygon,
    /// x, y of each corner
    Polyline,
}

impl Drawing {
    /// Evaluates frames: the numbers of all shapes at a state.
    pub fn evaluator(&self) -> Evaluator {
        Evaluator::new(&self.tape)
    }
}

/// The parts that all shapes share.
struct Style<'a> {
    name: Option<&'a Text>,
    color: Option<&'a Text>,
    fill: Option<&'a Text>,
    width: Option<&'a Formula>,
    trace: bool,
}

struct Draft<'a> {
    position: usize,
    kind: ShapeKind,
    formulas: Vec<&'a Formula>,
    style: Style<'a>,
}

fn numbers(points: &[Point]) -> Vec<&Formula> {
    points.iter().flat_map(|point| &point.coordinates).collect()
}

/// Builds the drawing; `None` if it has a mistake, or if there is none. What the model draws by itself is behind what
/// the file draws.
pub(super) fn build(file: &ModelFile, sketch: Option<&Sketch>, context: &mut Context) -> Option<Drawing> {
    let before = context.out.errors();
    let drafts = file.draw.as_ref().map(drafts).unwrap_or_default();
    let (mut shapes, mut nodes) = (Vec::new(), Vec::new());
    for shape in sketch.iter().flat_map(|sketch| &sketch.shapes) {
        let start = nodes.len();
        nodes.extend(&shape.numbers);
        shapes.push(Shape {
            kind: shape.kind,
            name: shape.name.clone(),
            color: shape.color.clone(),
            fill: shape.fill.clone(),
            width: shape.width,
            trace: shape.trace,
            numbers: start..nodes.len(),
            moves: shape.numbers.iter().any(|&node| !context.graph.is_fixed(node)),
        });
    }
    for draft in drafts {
        let start = nodes.len();
        let zero = context.graph.constant(0.0);
        let found: Vec<NodeId> = draft.formulas.iter().map(|formula| context.node(formula).unwrap_or(zero)).collect();
        let moves = found.iter().any(|&node| !context.graph.is_fixed(node));
        nodes.extend(found);
        shapes.push(Shape {
            kind: draft.kind,
            name: draft.style.name.map(|name| name.value.clone()),
            color: draft.style.color.and_then(|text| color(text, context)),
            fill: draft.style.fill.and_then(|text| color(text, context)),
            width: None,
            trace: draft.style.trace,
            numbers: start..nodes.len(),
            moves,
        });
    }
    let places = places(file.contact.as_deref().unwrap_or_default(), &mut nodes, context);
    let is_drawn = file.draw.is_some() || sketch.is_some();
    if !is_drawn || context.out.errors() > before {
        return None;
    }
    Some(Drawing { shapes, places, tape: Tape::compile(&context.graph, &nodes) })
}

/// Where contacts act; the expressions are added to `nodes`.
fn places(contacts: &[ContactTable], nodes: &mut Vec<NodeId>, context: &mut Context) -> Vec<ContactPlace> {
    let zero = context.graph.constant(0.0);
    let mut places = Vec::new();
    for (law, contact) in contacts.iter().enumerate() {
        let mut add = |point: &Point| {
            let start = nodes.len();
            nodes.extend(point.coordinates.iter().map(|formula| context.node(formula).unwrap_or(zero)));
            start..nodes.len()
        };
        let (at, normal) = (contact.at.as_ref().map(&mut add), contact.normal.as_ref().map(&mut add));
        match (at, normal) {
            (Some(at), normal) => places.push(ContactPlace { law, at, normal }),
            (None, Some(_)) => {
                let place = contact.normal.as_ref().map_or(&contact.place, |normal| &normal.coordinates[0].place);
                let error =
                    context.out.error(place, format!("contact `{}` has a normal but no place", contact.name.value));
                error.hint("say where it acts, as in at = [\"x\", \"y\"]");
            }
            (None, None) => {}
        }
    }
    places
}

/// The drawing with the values of the context; `None` if one of its numbers has a mistake.
pub(super) fn bind(drawing: Option<&Drawing>, table: Option<&DrawTable>, context: &mut Context) -> Option<Drawing> {
    let before = context.out.errors();
    let drafts = table.map(drafts).unwrap_or_default();
    let widths: Vec<Option<f64>> =
        drafts.iter().map(|draft| draft.style.width.and_then(|formula| positive(formula, context))).collect();
    let mut drawing = drawing.filter(|_| context.out.errors() == before)?.clone();
    // those of the file come last
    let own = drawing.shapes.len().saturating_sub(widths.len());
    drawing.shapes[own..].iter_mut().zip(widths).for_each(|(shape, width)| shape.width = width);
    drawing.tape = drawing.tape.bind(&context.vector());
    Some(drawing)
}

fn drafts(table: &DrawTable) -> Vec<Draft<'_>> {
    let mut drafts = Vec::new();
    for shape in table.segment.iter().flatten() {
        let formulas = shape.from.coordinates.iter().chain(&shape.to.coordinates).collect();
        let (name, color, width) = (shape.name.as_ref(), shape.color.as_ref(), shape.width.as_ref());
        let style = Style { name, color, fill: None, width, trace: false };
        drafts.push(Draft { position: shape.place.span.start, kind: ShapeKind::Segment, formulas, style });
    }
    for shape in table.circle.iter().flatten() {
        let formulas = shape.center.coordinates.iter().chain([&shape.radius]).collect();
        let (name, color, fill, width) =
            (shape.name.as_ref(), shape.color.as_ref(), shape.fill.as_ref(), shape.width.as_ref());
        let style = Style { name, color, fill, width, trace: shape.trace.unwrap_or(false) };
        drafts.push(Draft { position: shape.place.span.start, kind: ShapeKind::Circle, formulas, style });
    }
    for shape in table.point.iter().flatten() {
        let formulas = shape.at.coordinates.iter().collect();
        let (name, color, width) = (shape.name.as_ref(), shape.color.as_ref(), shape.width.as_ref());
        let style = Style { name, color, fill: None, width, trace: shape.trace.unwrap_or(false) };
        drafts.push(Draft { position: shape.place.span.start, kind: ShapeKind::Point, formulas, style });
    }
    let polygons = table.polygon.iter().flatten().map(|shape| (ShapeKind::Polygon, shape));
    let polylines = table.polyline.iter().flatten().map(|shape| (ShapeKind::Polyline, shape));
    for (kind, shape) in polygons.chain(polylines) {
        let (name, color, fill, width) =
            (shape.name.as_ref(), shape.color.as_ref(), shape.fill.as_ref(), shape.width.as_ref());
        let style = Style { name, color, fill, width, trace: false };
        drafts.push(Draft { position: shape.place.span.start, kind, formulas: numbers(&shape.points), style });
    }
    // shapes cover each other in the order of the file
    drafts.sort_by_key(|draft| draft.position);
    drafts
}

fn positive(formula: &Formula, context: &mut Context) -> Option<f64> {
    let value = context.number(formula)?;
    if value <= 0.0 {
        context.out.error(&formula.place, format!("the width {value} is not positive"));
        return None;
    }
    Some(value)
}

pub(crate) fn color(text: &Text, context: &mut Context) -> Option<String> {
    let value = text.value.as_str();
    let good = match value.strip_prefix('#') {
        Some(digits) => matches!(digits.len(), 3 | 4 | 6 | 8) && digits.chars().all(|c| c.is_ascii_hexdigit()),
        None => !value.is_empty() && value.chars().all(|c| c.is_ascii_alphabetic()),
    };
    if !good {
        context
            .out
            .error(&text.place, format!("{value:?} is not a colour"))
            .hint("write \"#334455\", \"#345\" or a word such as \"tomato\"");
        return None;
    }
    Some(value.to_string())
}
