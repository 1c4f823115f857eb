//! Outputs of a model: values and lines of joints, motors, stops, friction and contacts, over any scalar.

use super::motion::Motion;
use super::near::Near;
use super::pair::Pair;
use super::plan::{Item, PlacedMotor, Plan};
use super::primitive::{Primitive, along};
use super::{Frame, Line, Vector};
use crate::ModelError;
use crate::model::Scalar;
use carom_solve::Law;

/// What takes the outputs, in the order of the laws.
pub(crate) trait Receive<T> {
    /// A law begins: its number and the value of its first row. Numbers behind those of the plan are of contacts that
    /// come and go.
    fn law(&mut self, number: usize, gap: T);

    /// The same for the row of a joint.
    #[inline]
    fn held(&mut self, number: usize, gap: T) {
        self.law(number, gap);
    }

    /// A row of the law that has begun: lines of bodies in rising order, without the ground, and ∂y/∂t.
    fn row(&mut self, lines: &[(usize, Line<T>)], drift: T);

    /// The same for lines of two bodies in any order, of which one may be the ground.
    #[inline]
    fn pair(&mut self, bodies: [usize; 2], [a, b]: [Line<T>; 2], drift: T) {
        let [a, b] = [(bodies[0], a), (bodies[1], b)];
        match (a.0, b.0) {
            (0, _) => self.row(&[b], drift),
            (_, 0) => self.row(&[a], drift),
            (i, j) if i < j => self.row(&[a, b], drift),
            _ => self.row(&[b, a], drift),
        }
    }
}

/// What prescribed motors do at a time: s and its first three derivatives.
pub(crate) type Drives = Vec<[f64; 4]>;

/// Finds what the motors do; the last two derivatives where they are asked for.
pub(crate) fn drive(motors: &mut [PlacedMotor], t: f64, all: bool, out: &mut Drives) -> Result<(), ModelError> {
    out.clear();
    for motor in motors {
        let PlacedMotor { is_rate, function, integral, start, .. } = motor;
        let mut one = [0.0];
        let mut first = |t: f64| -> Result<f64, ModelError> {
            if *is_rate {
                function.value(&[t], &mut one)?;
            } else {
                function.derivative(&[t], &[1.0], &mut one)?;
            }
            Ok(one[0])
        };
        let rate = first(t)?;
        let (mut second, mut third) = (0.0, 0.0);
        if all {
            let d = 1e-3 * t.abs().max(1e-2);
            let (near, far) = ([first(t + d)?, first(t - d)?], [first(t + 2.0 * d)?, first(t - 2.0 * d)?]);
            second = (8.0 * (near[0] - near[1]) - (far[0] - far[1])) / (12.0 * d);
            third = (16.0 * (near[0] + near[1]) - (far[0] + far[1]) - 30.0 * rate) / (12.0 * d * d);
        }
        let value = if *is_rate {
            *start + integral.at(function.as_mut(), t)?
        } else {
            function.value(&[t], &mut one)?;
            one[0]
        };
        out.push([value, rate, second, third]);
    }
    Ok(())
}

/// s and ṡ at a time that moves.
fn drive_at<T: Scalar>([s, first, second, third]: [f64; 4], t: T) -> (T, T) {
    let way = t - t.re();
    let square = way * way * 0.5;
    (way * first + square * second + s, way * second + square * third + first)
}

/// Tells all outputs at a time and place.
pub(crate) fn outputs<T: Scalar>(
    (plan, near): (&Plan, &Near),
    (t, motion): (T, &Motion<T>),
    drives: &Drives,
    sum: &mut Vec<(usize, Line<T>)>,
    out: &mut impl Receive<T>,
) {
    let mut points = [Vector::zero(); 2];
    for (number, (_, item)) in plan.items.iter().enumerate() {
        match item {
            Item::Row(i) => row(plan, motion, (number, *i), &mut points, sum, out),
            Item::Motor(i) => {
                let coordinate = plan.drives[*i];
                let (s, rate) = drive_at(drives[*i], t);
                out.law(number, motion.coordinate(plan, coordinate) - s);
                let placed = &plan.coordinates[coordinate];
                out.pair(placed.bodies, placed.coordinate.lines(motion.pair(placed.bodies)), -rate);
            }
            Item::Stop { coordinate, bound, sign, .. } => {
                let placed = &plan.coordinates[*coordinate];
                out.law(number, (motion.coordinate(plan, *coordinate) - *bound) * *sign);
                let lines = placed.coordinate.lines(motion.pair(placed.bodies)).map(|line| line.times(*sign));
                out.pair(placed.bodies, lines, T::zero());
            }
            Item::Friction { coordinate, .. } => {
                let placed = &plan.coordinates[*coordinate];
                out.law(number, T::zero());
                out.pair(placed.bodies, placed.coordinate.lines(motion.pair(placed.bodies)), T::zero());
            }
            Item::Contact { contact, place } => {
                let contact = &plan.contacts[*contact];
                touch(plan.is_planar, motion, (number, contact.bodies), (&contact.pair, *place, &contact.law), out);
            }
        }
    }
    for (k, &(pair, place)) in near.listed.iter().enumerate() {
        let pair = &near.pairs[pair as usize];
        let number = plan.items.len() + k;
        let law = &plan.solids.surfaces[pair.surface as usize].1;
        touch(plan.is_planar, motion, (number, pair.bodies), (&near.shapes(pair), place as usize, law), out);
    }
}

/// A row of a joint.
fn row<T: Scalar>(
    plan: &Plan,
    motion: &Motion<T>,
    (number, i): (usize, usize),
    points: &mut [Vector<T>; 2],
    sum: &mut Vec<(usize, Line<T>)>,
    out: &mut impl Receive<T>,
) {
    let row = &plan.rows[i];
    if let Primitive::Point { direction, a, b } = &row.primitive {
        let (fa, fb) = motion.pair(row.bodies);
        // the rows of a pin have the same points
        if !row.follows {
            *points = [fa.point(*a), fb.point(*b)];
        }
        let ([on_a, on_b], d) = (*points, fa.direction(*direction));
        out.held(number, d.dot(on_b - on_a));
        out.pair(row.bodies, along((fa, fb), d, on_b), T::zero());
    } else if let Some((value, lines)) = row.primitive.evaluate(motion.pair(row.bodies)) {
        out.held(number, value);
        out.pair(row.bodies, lines, T::zero());
    } else if let Primitive::Relation { terms, constant } = &row.primitive {
        let mut value = T::from(-*constant);
        sum.clear();
        for &(c, factor) in terms {
            let placed = &plan.coordinates[c];
            value += motion.coordinate(plan, c) * factor;
            let lines = placed.coordinate.lines(motion.pair(placed.bodies));
            for (body, line) in placed.bodies.into_iter().zip(lines) {
                add(sum, body, line.times(factor));
            }
        }
        out.held(number, value);
        out.row(sum, T::zero());
    }
}

/// Adds a line to those of a row, which are in rising order of bodies.
fn add<T: Scalar>(sum: &mut Vec<(usize, Line<T>)>, body: usize, line: Line<T>) {
    if body == 0 {
        return;
    }
    match sum.binary_search_by_key(&body, |entry| entry.0) {
        Ok(at) => sum[at].1 = sum[at].1.plus(line),
        Err(at) => sum.insert(at, (body, line)),
    }
}

/// The rows of a place of a contact: normal, tangents, axes of rolling, spin.
#[inline]
fn touch<T: Scalar>(
    is_planar: bool,
    motion: &Motion<T>,
    (number, bodies): (usize, [usize; 2]),
    (pair, place, law): (&impl Pair, usize, &Law),
    out: &mut impl Receive<T>,
) {
    let frames = motion.pair(bodies);
    let touch = pair.touch(place, frames);
    out.law(number, touch.gap);
    out.pair(bodies, touch.lines(frames, touch.normal), T::zero());
    let tangents = [touch.tangent, touch.normal.cross(touch.tangent)];
    for (disc, (rows, _)) in law.discs().enumerate() {
        let axes = match (is_planar, disc) {
            (true, 0) => [touch.tangent; 2],
            (true, _) => [Vector::constant([0.0, 0.0, 1.0]); 2],
            (false, _) if rows.len() == 2 => tangents,
            (false, _) => [touch.normal; 2],
        };
        for axis in axes.into_iter().take(rows.len()) {
            let lines = match disc {
                0 => touch.lines(frames, axis),
                _ => [Line::about(-axis), Line::about(axis)],
            };
            out.pair(bodies, lines, T::zero());
        }
    }
}

/// Columns of a line at a body, three of them in the plane.
#[inline]
pub(crate) fn columns<T: Scalar>(is_planar: bool, frame: &Frame<T>, line: &Line<T>) -> [T; 6] {
    let [x, y, z] = line.force.0;
    if is_planar {
        let zero = T::zero();
        return [x, y, line.moment.0[2], zero, zero, zero];
    }
    let [a, b, c] = frame.body_direction(line.moment).0;
    [x, y, z, a, b, c]
}
