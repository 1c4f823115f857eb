//! Cylinders, ellipsoids and tori with other solids. Distances by a search of its own: the point of the difference of
//! two convex sets that is nearest to the origin, from their support functions, with a bound on both sides.

use crate::brute::*;
use crate::cases::*;
use crate::solids::{beside, capsule, ellipsoid, on_circle, torus};
use crate::{convex, places};
use carom::multibody::Frame;
use carom::multibody::pair::{self, *};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::f64::consts::TAU;

/// The point of a solid that is farthest along a direction of space.
fn support(shape: &Shape, frame: &Frame, d: V) -> V {
    let d = frame.axes.map(|axis| dot(axis.0, d));
    let best = |points: Vec<V>| points.into_iter().max_by(|p, q| dot(*p, d).total_cmp(&dot(*q, d))).unwrap_or_default();
    let at = match shape {
        Shape::Sphere(s) => add(s.centre, scale(unit(d), s.radius)),
        Shape::Block(b) => (0..3).fold(b.centre, |p, i| {
            add(p, scale(b.axes[i], b.half[i] * if dot(b.axes[i], d) < 0.0 { -1.0 } else { 1.0 }))
        }),
        Shape::Convex(c) => best(c.hull.corners().iter().map(|p| add(c.centre, *p)).collect()),
        Shape::Capsule(c) => add(best(c.ends.to_vec()), scale(unit(d), c.radius)),
        Shape::Cylinder(c) => {
            let z = dot(c.axis, d);
            let flat = sub(d, scale(c.axis, z));
            // what is left of a direction along the axis is rounding, which goes anywhere
            let out = if norm(flat) > 1e-9 * norm(d) {
                let flat = unit(flat);
                scale(unit(sub(flat, scale(c.axis, dot(c.axis, flat)))), c.radius)
            } else {
                [0.0; 3]
            };
            add(add(c.centre, scale(c.axis, if z < 0.0 { -c.half } else { c.half })), out)
        }
        Shape::Ellipsoid(e) => {
            let y: V = std::array::from_fn(|i| e.half[i] * dot(e.axes[i], d));
            let y = unit(y);
            (0..3).fold(e.centre, |p, i| add(p, scale(e.axes[i], e.half[i] * y[i])))
        }
        other => panic!("no support function of {other:?}"),
    };
    world(frame, at)
}

/// Weights of the point of the hull of some points that is nearest to the origin: the best of all subsets.
fn nearest(points: &[V]) -> (V, Vec<usize>) {
    let mut best = ([f64::INFINITY; 3], Vec::new());
    for set in 1..1usize << points.len() {
        let members: Vec<usize> = (0..points.len()).filter(|i| set >> i & 1 == 1).collect();
        let o = points[members[0]];
        let e: Vec<V> = members[1..].iter().map(|i| sub(points[*i], o)).collect();
        // |o + Σ w_i e_i|² least, by an orthogonal base of the e_i
        let n = e.len();
        let mut q: Vec<V> = Vec::new();
        let mut r = vec![vec![0.0; n]; n];
        for j in 0..n {
            let mut v = e[j];
            for _ in 0..2 {
                for (i, q) in q.iter().enumerate() {
                    let part = dot(*q, v);
                    r[i][j] += part;
                    v = sub(v, scale(*q, part));
                }
            }
            r[j][j] = norm(v);
            q.push(if r[j][j] > 0.0 { unit(v) } else { [0.0; 3] });
        }
        if (0..n).any(|j| r[j][j] <= 1e-13 * norm(e[j])) {
            continue;
        }
        let mut w: Vec<f64> = q.iter().map(|q| -dot(*q, o)).collect();
        for i in (0..n).rev() {
            for j in i + 1..n {
                w[i] -= r[i][j] * w[j];
            }
            w[i] /= r[i][i];
        }
        if w.iter().any(|w| *w < 0.0) || w.iter().sum::<f64>() > 1.0 {
            continue;
        }
        let v = e.iter().zip(&w).fold(o, |v, (e, w)| add(v, scale(*e, *w)));
        if norm(v) < norm(best.0) {
            best = (v, members);
        }
    }
    best
}

/// Bounds of the distance of two convex sets by their support functions; none where they overlap.
pub fn bounds(first: impl Fn(V) -> V, second: impl Fn(V) -> V) -> Option<[f64; 2]> {
    let along = |d: V| sub(second(d), first(scale(d, -1.0)));
    let mut points = vec![along([1.0, 0.0, 0.0])];
    let mut low = f64::NEG_INFINITY;
    let mut high = f64::INFINITY;
    for _ in 0..400 {
        let (v, members) = nearest(&points);
        if norm(v) < 1e-9 {
            return None;
        }
        high = high.min(norm(v));
        points = members.into_iter().map(|i| points[i]).collect();
        let s = along(scale(v, -1.0));
        low = low.max(dot(s, unit(v)));
        if high - low < 1e-12 || points.contains(&s) || points.len() == 4 {
            break;
        }
        points.push(s);
    }
    Some([low, high])
}

/// Bounds of the distance of two solids, one of which may be a torus.
fn distance([a, b]: [&Shape; 2], frames: [&Frame; 2]) -> Option<[f64; 2]> {
    match (a, b) {
        (Shape::Torus(one), Shape::Torus(other)) => {
            let apart = |x: &[f64]| norm(sub(on_circle(*one, frames[0], x[0]), on_circle(*other, frames[1], x[1])));
            let least = least(&[[0.0, TAU], [0.0, TAU]], 24, apart) - one.tube - other.tube;
            Some([least; 2])
        }
        (Shape::Torus(_), _) => distance([b, a], [frames[1], frames[0]]),
        (solid, Shape::Torus(torus)) => {
            let far = |x: &[f64]| outside(solid, frames[0], on_circle(*torus, frames[1], x[0]));
            let least = least(&[[0.0, TAU]], 40, far) - torus.tube;
            (least > -torus.tube).then_some([least; 2])
        }
        _ => bounds(|d| support(a, frames[0], d), |d| support(b, frames[1], d)),
    }
}

/// How far a point is outside of a solid; inside it is negative.
fn outside(shape: &Shape, frame: &Frame, p: V) -> f64 {
    let y = local(frame, p);
    let from = |o: V, axis: V| {
        let r = sub(y, o);
        let z = dot(r, axis);
        [z, norm(sub(r, scale(axis, z)))]
    };
    match shape {
        Shape::Block(b) => {
            let beyond: V = std::array::from_fn(|i| dot(sub(y, b.centre), b.axes[i]).abs() - b.half[i]);
            let inside = beyond.into_iter().fold(f64::NEG_INFINITY, f64::max);
            if inside <= 0.0 { inside } else { norm(beyond.map(|x| x.max(0.0))) }
        }
        Shape::Cylinder(c) => {
            let [z, rho] = from(c.centre, c.axis);
            let [x, y] = [z.abs() - c.half, rho - c.radius];
            if x <= 0.0 || y <= 0.0 { x.max(y) } else { x.hypot(y) }
        }
        Shape::Capsule(c) => {
            let [p, q] = c.ends;
            let d = sub(q, p);
            let t = (dot(sub(y, p), d) / dot(d, d)).clamp(0.0, 1.0);
            norm(sub(y, add(p, scale(d, t)))) - c.radius
        }
        Shape::Torus(t) => {
            let [z, rho] = from(t.centre, t.axis);
            z.hypot(rho - t.radius) - t.tube
        }
        Shape::Ellipsoid(e) => {
            let x: V = std::array::from_fn(|i| dot(sub(y, e.centre), e.axes[i]) / e.half[i]);
            if norm(x) < 1.0 - 1e-12 {
                let at = |x: &[f64]| {
                    let u = on_sphere(x);
                    (0..3).fold(e.centre, |p, i| add(p, scale(e.axes[i], e.half[i] * u[i])))
                };
                return -least(&SPHERE, 16, |x| norm(sub(y, at(x))));
            }
            bounds(|d| support(shape, frame, d), |_| p).map_or(0.0, |[_, high]| high)
        }
        Shape::Convex(c) => {
            let height = |face: &hull::Face| dot(face.normal, sub(sub(y, c.centre), c.hull.corners()[face.corner]));
            let inside = c.hull.faces().iter().map(height).fold(f64::NEG_INFINITY, f64::max);
            if inside <= 0.0 {
                return inside;
            }
            bounds(|d| support(shape, frame, d), |_| p).map_or(0.0, |[_, high]| high)
        }
        other => panic!("no distance from {other:?}"),
    }
}

fn cylinder(r: &mut Random) -> Cylinder {
    Cylinder { centre: r.place(0.5), axis: r.direction(), radius: r.number(0.3, 1.0), half: r.number(0.2, 1.0) }
}

fn centre(shape: &Shape) -> V {
    shape.ball().map_or([0.0; 3], |ball| ball.0)
}

/// Two shapes near each other. Each place is judged by what it says: a point of one shape is as far from the other one
/// as its gap tells. That it is the nearest one follows from the rows, which are derivatives of the gap only then.
fn case(r: &mut Random, [first, second]: [Shape; 2], far: [f64; 2]) -> (Case, [Shape; 2]) {
    let a = r.frame();
    let far = r.number(far[0], far[1]);
    let b = beside(r, &a, centre(&first), centre(&second), far);
    let (pair, is_exchanged) = pair::between(&first, &second, (&a, &b)).expect("a pair");
    let (shapes, frames) = if is_exchanged { ([second, first], [b, a]) } else { ([first, second], [a, b]) };
    let [one, other] = shapes.clone();
    let (off_a, off_b) = (one.clone(), other.clone());
    let same = pair.clone();
    let gap: Gap = Box::new(move |place, [a, b]| {
        let touch: Touch = same.touch(place, (a, b));
        let crossings = match (&one, &other) {
            (Shape::Block(_), Shape::Cylinder(_)) => 48,
            (Shape::Convex(c), Shape::Cylinder(_)) => 4 * c.hull.edges().len(),
            (Shape::Cylinder(_), Shape::Cylinder(_)) => 8,
            _ => 0,
        };
        let mut found = vec![outside(&one, a, touch.on_b.0), outside(&other, b, touch.on_a.0)];
        // of what is around a curve, the middle of the ball that touches: beyond a rim the inside has another nearest
        // face
        let around = |shape: &Shape| match shape {
            Shape::Capsule(c) => Some(c.radius),
            Shape::Torus(t) => Some(t.tube),
            _ => None,
        };
        let along = |p: V, by: f64| add(p, scale(touch.normal.0, by));
        found.extend(around(&other).map(|r| outside(&one, a, along(touch.on_b.0, r)) - r));
        found.extend(around(&one).map(|r| outside(&other, b, along(touch.on_a.0, -r)) - r));
        if place >= same.places() - crossings {
            let apart = norm(sub(touch.on_b.0, touch.on_a.0));
            found.extend([apart, -apart]);
        }
        found.into_iter().min_by(|x, y| (x - touch.gap).abs().total_cmp(&(y - touch.gap).abs())).unwrap_or(f64::NAN)
    });
    // an end of a capsule and a fixed point of a torus are on their balls, which may lie inside
    let off = |shape: Shape| -> Off {
        let is_ball = matches!(shape, Shape::Capsule(_) | Shape::Torus(_));
        Box::new(move |_, frame, p| outside(&shape, frame, p).max(if is_ball { 0.0 } else { f64::NEG_INFINITY }))
    };
    let (off_a, off_b) = (off(off_a), off(off_b));
    (Case { pair, frames, gap, off_a, off_b }, shapes)
}

macro_rules! shapes {
    ($($name:ident: $first:expr, $second:expr, $far:expr;)*) => {
        $(pub fn $name(r: &mut Random) -> Case {
            let shapes = [$first(r), $second(r)];
            case(r, shapes, $far).0
        })*
    };
}

fn a_block(r: &mut Random) -> Shape {
    Shape::Block(block(r))
}

fn a_cylinder(r: &mut Random) -> Shape {
    Shape::Cylinder(cylinder(r))
}

fn a_capsule(r: &mut Random) -> Shape {
    Shape::Capsule(capsule(r))
}

fn an_ellipsoid(r: &mut Random) -> Shape {
    Shape::Ellipsoid(ellipsoid(r))
}

fn a_torus(r: &mut Random) -> Shape {
    Shape::Torus(torus(r))
}

fn a_convex(r: &mut Random) -> Shape {
    Shape::Convex(convex::shape(r))
}

shapes! {
    block_cylinder: a_block, a_cylinder, [1.2, 2.2];
    convex_cylinder: a_convex, a_cylinder, [1.2, 2.2];
    cylinder_cylinder: a_cylinder, a_cylinder, [1.2, 2.2];
    cylinder_capsule: a_cylinder, a_capsule, [1.2, 2.2];
    cylinder_ellipsoid: a_cylinder, an_ellipsoid, [1.2, 2.2];
    block_ellipsoid: a_block, an_ellipsoid, [1.2, 2.2];
    convex_ellipsoid: a_convex, an_ellipsoid, [1.2, 2.2];
    capsule_ellipsoid: a_capsule, an_ellipsoid, [1.2, 2.2];
    ellipsoid_ellipsoid: an_ellipsoid, an_ellipsoid, [1.2, 2.2];
    block_torus: a_block, a_torus, [1.2, 2.6];
    convex_torus: a_convex, a_torus, [1.2, 2.6];
    cylinder_torus: a_cylinder, a_torus, [1.2, 2.6];
    capsule_torus: a_capsule, a_torus, [1.2, 2.6];
    ellipsoid_torus: an_ellipsoid, a_torus, [1.2, 2.6];
    torus_torus: a_torus, a_torus, [0.5, 2.6];
}

type Shapes = (&'static str, fn(&mut Random) -> Shape, fn(&mut Random) -> Shape);

const ALL: &[Shapes] = &[
    ("box and cylinder", a_block, a_cylinder),
    ("polyhedron and cylinder", a_convex, a_cylinder),
    ("cylinder and cylinder", a_cylinder, a_cylinder),
    ("cylinder and capsule", a_cylinder, a_capsule),
    ("cylinder and ellipsoid", a_cylinder, an_ellipsoid),
    ("box and ellipsoid", a_block, an_ellipsoid),
    ("polyhedron and ellipsoid", a_convex, an_ellipsoid),
    ("capsule and ellipsoid", a_capsule, an_ellipsoid),
    ("ellipsoid and ellipsoid", an_ellipsoid, an_ellipsoid),
    ("box and torus", a_block, a_torus),
    ("polyhedron and torus", a_convex, a_torus),
    ("cylinder and torus", a_cylinder, a_torus),
    ("capsule and torus", a_capsule, a_torus),
    ("ellipsoid and torus", an_ellipsoid, a_torus),
    ("torus and torus", a_torus, a_torus),
];

#[test]
fn solids_are_as_far_apart_as_an_independent_search_tells() {
    for &(name, first, second) in ALL {
        let mut rng = Pcg64::seed_from_u64(11);
        let (mut sure, mut apart, mut told) = (0, 0, 0);
        for pose in 0..1000 {
            let mut r = Random { rng: &mut rng, planar: false };
            let shapes = [first(&mut r), second(&mut r)];
            let (case, [one, other]) = case(&mut r, shapes, [1.0, 3.0]);
            let Some([low, high]) = distance([&one, &other], [&case.frames[0], &case.frames[1]]) else { continue };
            if high < 1e-6 {
                continue;
            }
            apart += 1;
            let (found, _) = case.pair.apart((&case.frames[0], &case.frames[1]));
            if high - low < 1e-9 {
                sure += 1;
                assert!(found > low - 1e-9 && found < high + 1e-9, "{name}, pose {pose}: {found} and {low} to {high}");
            }
            // no place tells less than the distance, and most often one tells it
            let listed = places(&case).into_iter();
            let gaps = listed.map(|place| case.pair.touch::<f64>(place, (&case.frames[0], &case.frames[1])).gap);
            let least = gaps.fold(f64::INFINITY, f64::min);
            assert!(least > low - 1e-9, "{name}, pose {pose}: a place tells {least}, the distance is {low}");
            told += usize::from(least < 0.3);
        }
        assert!(apart > 300 && sure * 10 > apart * 9, "{name}: {sure} of {apart} poses are sure");
        assert!(told > 20, "{name}: {told} poses have a place");
    }
}

/// Points of the second body at which places that count touch.
fn touching(first: &Shape, second: &Shape, frames: [&Frame; 2]) -> Vec<V> {
    let (pair, is_exchanged) = pair::between(first, second, (frames[0], frames[1])).expect("a pair");
    let frames = if is_exchanged { (frames[1], frames[0]) } else { (frames[0], frames[1]) };
    let mut near = Vec::new();
    pair.near(frames, 1e-3, &mut near);
    let places = near.into_iter().map(|place| place as usize).filter(|place| pair.region(*place, frames) >= 0.0);
    let touches = places.map(|place| pair.touch::<f64>(place, frames)).filter(|touch| touch.gap.abs() < 1e-9);
    touches.map(|touch| if is_exchanged { touch.on_a.0 } else { touch.on_b.0 }).collect()
}

/// A cylinder that stands over the edge of a box, or off the middle of another cylinder, rests on where the outlines
/// cross besides; one that lies on a box rests on both rims, and a ring that lies over an edge on what is below it.
#[test]
fn flat_faces_touch_where_their_outlines_cross() {
    let table = Shape::Block(Block::new([1.0, 1.0, 0.5]));
    let can = Cylinder { centre: [0.0; 3], axis: [0.0, 0.0, 1.0], radius: 0.5, half: 0.3 };
    let at = |x: V| Frame { centre: carom::multibody::Vector(x), ..Frame::ground() };
    let has = |points: &[V], p: V| points.iter().any(|q| norm(sub(*q, p)) < 1e-9);
    let y = (0.25f64 - 0.01).sqrt();
    let points = touching(&table, &Shape::Cylinder(can), [&at([0.0; 3]), &at([0.9, 0.0, 0.8])]);
    assert!(has(&points, [1.0, y, 0.5]) && has(&points, [1.0, -y, 0.5]), "{points:?}");
    // none of them beyond the edge
    assert!(points.len() > 2 && points.iter().all(|p| p[0] < 1.0 + 1e-9), "{points:?}");

    // circles of 0.5, 0.6 apart, cross 0.4 to both sides
    let points = touching(&Shape::Cylinder(can), &Shape::Cylinder(can), [&at([0.0; 3]), &at([0.6, 0.0, 0.6])]);
    assert!(has(&points, [0.3, 0.4, 0.3]) && has(&points, [0.3, -0.4, 0.3]), "{points:?}");

    let lying = Cylinder { axis: [0.0, 1.0, 0.0], ..can };
    let points = touching(&table, &Shape::Cylinder(lying), [&at([0.0; 3]), &at([0.2, 0.1, 1.0])]);
    assert!(has(&points, [0.2, 0.4, 0.5]) && has(&points, [0.2, -0.2, 0.5]), "{points:?}");

    let ring = Shape::Torus(Torus { centre: [0.0; 3], axis: [0.0, 0.0, 1.0], radius: 0.5, tube: 0.1 });
    let points = touching(&table, &ring, [&at([0.0; 3]), &at([0.9, 0.0, 0.6])]);
    assert!(has(&points, [1.0, y, 0.5]) && has(&points, [1.0, -y, 0.5]), "{points:?}");
}
