//! Bodies: mass, inertia, where they are drawn and how they move at the start.

use carom::elementary::sin_cos;
use carom::multibody::{Frame, GROUND, Vector};

use super::number::{Measure, normalised, refuse};
use super::repeat::{Copy, copies, name};
use super::shape::{ShapeInfo, shape};
use super::solid::{MaterialInfo, weigh};
use super::tables::{AttitudeTable, BodyTable, Tensor};
use crate::diagnostic::Place;
use crate::expression::is_identifier;
use crate::file::{Formula, ModelFile, Text};
use crate::scene::context::{Context, label};

/// What shapes are read with.
type With<'a> = (&'a Measure, &'a [MaterialInfo]);

/// Most bodies of a file.
const LIMIT: usize = 20_000;

/// A body as it is drawn, with its shapes.
#[derive(Clone, Debug)]
pub(super) struct BodyInfo {
    pub name: String,
    /// Where its name stands.
    pub place: Place,
    /// What the model needs; nothing of the ground.
    pub mass: Option<Mass>,
    /// Of the mass centre.
    pub position: [f64; 3],
    /// w, x, y, z
    pub attitude: [f64; 4],
    /// In the plane.
    pub angle: f64,
    pub velocity: [f64; 3],
    /// In axes of the body.
    pub spin: [f64; 3],
    pub shapes: Vec<ShapeInfo>,
    /// Where the mass centre is from the point that the tables count from; zero but where the mass comes from shapes.
    pub centre: [f64; 3],
    /// Whether it has a mistake of its own.
    pub broken: bool,
}

/// Mass and inertia.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mass {
    pub mass: f64,
    pub inertia: [[f64; 3]; 3],
}

impl BodyInfo {
    /// Where the body is drawn.
    pub fn frame(&self, planar: bool) -> Frame {
        let axes = match planar {
            true => {
                let (s, c) = sin_cos(self.angle);
                [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]
            }
            false => columns(self.attitude),
        };
        Frame { centre: Vector(self.position), axes: axes.map(Vector) }
    }

    fn ground(place: Place) -> BodyInfo {
        BodyInfo {
            name: GROUND.into(),
            place,
            mass: None,
            position: [0.0; 3],
            attitude: [1.0, 0.0, 0.0, 0.0],
            angle: 0.0,
            velocity: [0.0; 3],
            spin: [0.0; 3],
            shapes: Vec::new(),
            centre: [0.0; 3],
            broken: false,
        }
    }
}

/// The columns of the rotation matrix of a unit quaternion.
pub(super) fn columns([w, x, y, z]: [f64; 4]) -> [[f64; 3]; 3] {
    [
        [w * w + x * x - y * y - z * z, 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)],
        [2.0 * (x * y - w * z), w * w - x * x + y * y - z * z, 2.0 * (y * z + w * x)],
        [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), w * w - x * x - y * y + z * z],
    ]
}

/// How a name is written in expressions.
pub(super) fn identifier(name: &str) -> String {
    name.replace('-', "_")
}

/// A name of a body or a joint: a label that expressions can use.
pub(super) fn part_name(text: &Text, what: &str, context: &mut Context) -> Option<String> {
    let value = name(text, context)?;
    let name = label(&Text { value, place: text.place.clone() }, &mut context.out)?;
    if !is_identifier(&identifier(&name)) {
        let error = context.out.error(&text.place, format!("{name:?} cannot name a {what}"));
        error.hint("it begins with a letter, so that expressions can use it");
        return None;
    }
    Some(name)
}

/// Reads all bodies, the ground first; and whether there are some whose names could not be read.
pub(super) fn read(
    file: &ModelFile,
    measure: &Measure,
    materials: &[MaterialInfo],
    context: &mut Context,
) -> (Vec<BodyInfo>, bool) {
    let measure = (measure, materials);
    let mut all = vec![BodyInfo::ground(file.model.table.place().clone())];
    let before = context.out.errors();
    let copies = copies(file.body.as_ref(), |table: &BodyTable| table.repeat.as_ref(), context);
    let mut lost = context.out.errors() > before;
    if let Some(copy) = copies.get(LIMIT) {
        context.out.error(&copy.table.name.place, format!("there are more than {LIMIT} bodies"));
        return (all, true);
    }
    for Copy { table, index } in &copies {
        if context.out.is_full() {
            return (all, true);
        }
        context.indexed(index, |context| {
            let Some(name) = part_name(&table.name, "body", context) else {
                lost = true;
                return;
            };
            if name == GROUND {
                all[0].place = table.name.place.clone();
                ground(table, measure, &mut all[0], context);
            } else {
                all.extend(body(table, name, measure, context));
            }
        });
    }
    if copies.iter().all(|copy| copy.table.name.value == GROUND) && context.out.errors() == 0 {
        let error = context.out.error(file.model.table.place(), "the model has no bodies");
        error.hint("add [[body]] with name, mass, inertia and position");
    }
    (all, lost)
}

/// What the ground may have: shapes.
fn ground(table: &BodyTable, with: With<'_>, ground: &mut BodyInfo, context: &mut Context) {
    let lists = [&table.position, &table.velocity, &table.spin, &table.spin_world];
    let lists = lists.into_iter().flatten().map(|list| &list.place);
    let numbers = [&table.mass, &table.angle].into_iter().flatten().map(|formula| &formula.place);
    let rest = table.inertia.iter().map(|inertia| &inertia.place);
    let rest = rest.chain(table.attitude.iter().map(|attitude| &attitude.place));
    if let Some(place) = lists.chain(numbers).chain(rest).next() {
        let error = context.out.error(place, "the ground does not move: it has shapes and nothing else");
        error.hint("give the body another name, or leave this out");
    }
    let before = context.out.errors();
    let frame = ground.frame(with.0.planar);
    let shapes = table.shape.iter().flatten();
    ground.shapes.extend(shapes.filter_map(|table| shape(table, &frame, with, context)));
    unique(table, &ground.shapes, context);
    ground.broken |= context.out.errors() > before;
}

fn body(table: &BodyTable, name: String, with: With<'_>, context: &mut Context) -> Option<BodyInfo> {
    let before = context.out.errors();
    let measure = with.0;
    let by_shapes = table.mass.is_none() && table.inertia.is_none() && has_density(table, with.1);
    let missing = |what: &str, example: &str, context: &mut Context| {
        let error = context.out.error(&table.name.place, format!("the body `{name}` has no {what}"));
        error.hint(format!("add {example}"));
    };
    let mass = match &table.mass {
        Some(formula) => measure.positive(formula, measure.mass, "the mass", context),
        None if by_shapes => None,
        None => {
            missing("mass", "mass = 1.0", context);
            None
        }
    };
    let inertia = match &table.inertia {
        Some(tensor) => inertia(tensor, measure, context),
        None if by_shapes => None,
        None => {
            missing("inertia", if measure.planar { "inertia = 0.1" } else { "inertia = [0.1, 0.1, 0.1]" }, context);
            None
        }
    };
    let mut vector = |list: &Option<_>, what: &str| match list {
        Some(list) => measure.vector(list, measure.length, what, context),
        None => Some([0.0; 3]),
    };
    let (position, velocity) = (vector(&table.position, "`position`"), vector(&table.velocity, "`velocity`"));
    let attitude = attitude(table, measure, context);
    let mut info = BodyInfo {
        mass: mass.zip(inertia).map(|(mass, inertia)| Mass { mass, inertia }),
        position: position.unwrap_or_default(),
        velocity: velocity.unwrap_or_default(),
        name,
        ..BodyInfo::ground(table.name.place.clone())
    };
    if let Some((attitude, angle)) = attitude {
        (info.attitude, info.angle) = (attitude, angle);
    }
    let frame = info.frame(measure.planar);
    info.spin = spin(table, &frame, measure, context).unwrap_or_default();
    info.shapes = table.shape.iter().flatten().filter_map(|table| shape(table, &frame, with, context)).collect();
    unique(table, &info.shapes, context);
    let own = table.shape.iter().flatten().find_map(|shape| shape.density.as_ref());
    if let Some(formula) = own.filter(|_| !by_shapes) {
        let error = context.out.error(&formula.place, "the body has a mass of its own: nothing uses the density");
        error.hint("leave out `mass` and `inertia`, or the density");
    }
    if by_shapes && context.out.errors() == before {
        let mass = weigh(&mut info, measure, &table.name.place, context);
        info.mass = mass.map(|mass| Mass { mass: mass.mass, inertia: mass.inertia });
    }
    // a body with a mistake is known all the same, so that what refers to it is not a mistake as well
    info.broken = context.out.errors() > before;
    Some(info)
}

/// Whether the mass of a body can come from its shapes.
fn has_density(table: &BodyTable, materials: &[MaterialInfo]) -> bool {
    let dense = |text: &Text| materials.iter().any(|info| info.material.name == text.value && info.density.is_some());
    table.shape.iter().flatten().any(|shape| shape.density.is_some() || shape.material.as_ref().is_some_and(dense))
}

/// Names of shapes are different.
fn unique(table: &BodyTable, shapes: &[ShapeInfo], context: &mut Context) {
    for (i, shape) in shapes.iter().enumerate() {
        if let Some(name) = &shape.name
            && shapes[..i].iter().any(|other| other.name.as_ref() == Some(name))
        {
            let place =
                table.shape.iter().flatten().filter_map(|shape| shape.name.as_ref()).rfind(|n| n.value == *name);
            let place = place.map_or(&table.place, |text| &text.place);
            context.out.error(place, format!("the body has two shapes with the name {name:?}"));
        }
    }
}

/// The matrix of inertia.
fn inertia(tensor: &Tensor, measure: &Measure, context: &mut Context) -> Option<[[f64; 3]; 3]> {
    let unit = measure.mass * measure.length * measure.length;
    let wrong = |message: String, hint: &str, context: &mut Context| {
        context.out.error(&tensor.place, message).hint(hint);
        None
    };
    let mut number = |formula: &Formula| context.number(formula).map(|x| x * unit);
    let single: Vec<&Formula> = tensor.rows.iter().flatten().collect();
    let mut matrix = [[0.0; 3]; 3];
    match (measure.planar, tensor.is_matrix, &single[..]) {
        (true, false, [moment]) => matrix[2][2] = number(moment)?,
        (true, ..) => {
            return wrong("the inertia of a planar body is one number".into(), "about its mass centre", context);
        }
        (false, false, [a, b, c]) => {
            let values = [number(a), number(b), number(c)];
            for (i, value) in values.into_iter().enumerate() {
                matrix[i][i] = value?;
            }
        }
        (false, true, entries) if tensor.rows.len() == 3 && tensor.rows.iter().all(|row| row.len() == 3) => {
            let values: Vec<Option<f64>> = entries.iter().map(|formula| number(formula)).collect();
            for (k, value) in values.into_iter().enumerate() {
                matrix[k / 3][k % 3] = value?;
            }
        }
        (false, _, entries) => {
            let message =
                format!("the inertia has 3 principal values or 3x3 entries in space, found {}", entries.len());
            return wrong(message, "as in [0.1, 0.2, 0.3], or three rows of three", context);
        }
    }
    definite(&matrix, tensor, measure.planar, context).then_some(matrix)
}

/// Whether a matrix of inertia is symmetric and positive definite; one of no body is told.
fn definite(matrix: &[[f64; 3]; 3], tensor: &Tensor, planar: bool, context: &mut Context) -> bool {
    if planar {
        if matrix[2][2] > 0.0 && matrix[2][2].is_finite() {
            return true;
        }
        context.out.error(&tensor.place, format!("the inertia is {}, not positive", matrix[2][2]));
        return false;
    }
    let size = matrix.iter().flatten().fold(0.0f64, |size, x| size.max(x.abs()));
    for (i, j) in [(0, 1), (1, 2), (0, 2)] {
        if (matrix[i][j] - matrix[j][i]).abs() > 1e-12 * size {
            let message = format!(
                "the inertia is not symmetric: {} in row {} and {} in row {}",
                matrix[i][j],
                i + 1,
                matrix[j][i],
                j + 1
            );
            context.out.error(&tensor.place, message);
            return false;
        }
    }
    let flat: Vec<f64> = matrix.iter().flatten().copied().collect();
    if let Some((axis, pivot)) = crate::scene::check::bad_pivot(3, &flat) {
        let axis = ["x", "y", "z"][axis];
        let message = format!("the inertia is not positive definite: pivot {pivot:.6e} at the axis {axis}");
        context.out.error(&tensor.place, message).hint("moments of inertia about all axes are positive");
        return false;
    }
    // J = tr(S) I - S with the second moments S of the mass, which are not negative
    let half = (matrix[0][0] + matrix[1][1] + matrix[2][2]) / 2.0;
    let second: Vec<f64> =
        (0..9).map(|k| if k / 3 == k % 3 { half * (1.0 + 1e-9) - flat[k] } else { -flat[k] }).collect();
    if crate::scene::check::bad_pivot(3, &second).is_some() {
        let message = "no body has this inertia: one principal moment is larger than the sum of the other two";
        context.out.warning(&tensor.place, message);
    }
    true
}

/// Quaternion and angle.
fn attitude(table: &BodyTable, measure: &Measure, context: &mut Context) -> Option<([f64; 4], f64)> {
    let identity = [1.0, 0.0, 0.0, 0.0];
    if measure.planar {
        let hint = "write angle = 0.1";
        refuse(table.attitude.as_ref().map(|a| &a.place), "a planar body has an `angle`", hint, context);
        return match &table.angle {
            Some(formula) => Some((identity, measure.geometry(formula, measure.angle, context)?)),
            None => Some((identity, 0.0)),
        };
    }
    let hint = "write attitude = { axis = [0, 0, 1], angle = 0.1 }";
    refuse(table.angle.as_ref().map(|a| &a.place), "a body in space has an `attitude`", hint, context);
    match &table.attitude {
        Some(table) => Some((quaternion(table, measure, context)?, 0.0)),
        None => Some((identity, 0.0)),
    }
}

pub(super) fn quaternion(table: &AttitudeTable, measure: &Measure, context: &mut Context) -> Option<[f64; 4]> {
    let half = |angle: f64| sin_cos(angle / 2.0);
    match (&table.axis, &table.angle, &table.quaternion, &table.rpy) {
        (Some(axis), Some(angle), None, None) => {
            let (axis, angle) =
                (measure.direction(axis, "the axis", context), measure.geometry(angle, measure.angle, context));
            let ([x, y, z], (s, c)) = (axis?, half(angle?));
            Some([c, s * x, s * y, s * z])
        }
        (None, None, Some(list), None) => {
            if list.items.len() != 4 {
                let message = format!("a quaternion has four components, found {}", list.items.len());
                context.out.error(&list.place, message).hint("w, x, y, z");
                return None;
            }
            let values: Vec<Option<f64>> =
                list.items.iter().map(|formula| measure.geometry(formula, 1.0, context)).collect();
            let values = values.into_iter().collect::<Option<Vec<f64>>>()?;
            let length = values.iter().map(|x| x * x).sum::<f64>().sqrt();
            if !(length > 1e-150 && length.is_finite()) {
                context.out.error(&list.place, "the quaternion has no length");
                return None;
            }
            Some(std::array::from_fn(|i| values[i] / length))
        }
        (None, None, None, Some(rpy)) => {
            let [(sr, cr), (sp, cp), (sy, cy)] = measure.vector(rpy, measure.angle, "`rpy`", context)?.map(half);
            Some([
                cr * cp * cy + sr * sp * sy,
                sr * cp * cy - cr * sp * sy,
                cr * sp * cy + sr * cp * sy,
                cr * cp * sy - sr * sp * cy,
            ])
        }
        (Some(axis), None, None, None) => {
            context.out.error(&axis.place, "an attitude by an axis needs an `angle`");
            None
        }
        (None, Some(angle), None, None) => {
            context.out.error(&angle.place, "an attitude by an angle needs an `axis`").hint("axis = [0, 0, 1]");
            None
        }
        _ => {
            let error =
                context.out.error(&table.place, "an attitude is `axis` with `angle`, or `quaternion`, or `rpy`");
            error.hint("give exactly one of them");
            None
        }
    }
}

/// The angular velocity in axes of the body.
fn spin(table: &BodyTable, frame: &Frame, measure: &Measure, context: &mut Context) -> Option<[f64; 3]> {
    match (&table.spin, &table.spin_world) {
        (Some(_), Some(world)) => {
            context.out.error(&world.place, "give either `spin` or `spin_world`, not both");
            None
        }
        (Some(spin), None) => measure.turning(spin, measure.angle, "`spin`", context),
        (None, Some(world)) => {
            let world = measure.turning(world, measure.angle, "`spin_world`", context)?;
            Some(frame.body_direction(Vector(world)).0)
        }
        (None, None) => Some([0.0; 3]),
    }
}

/// A direction in axes of a body.
pub(super) fn body_direction(frame: &Frame, d: [f64; 3]) -> [f64; 3] {
    normalised(frame.body_direction(Vector(d)).0).unwrap_or(d)
}
