//! Polygons and polyhedra against brute force over all points, lines and triangles between the points that they are
//! made of: faces and edges of the library are not asked.

use crate::brute::*;
use crate::cases::{Case, Gap, Off, Random, block, ends, off_plane, off_sphere, plane, turn, world};
use carom::multibody::Frame;
use carom::multibody::pair::{self, *};
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::f64::consts::TAU;

/// Points on an ellipse or an ellipsoid, and their hull.
fn convex(r: &mut Random) -> (Convex, Vec<V>) {
    let half: V = std::array::from_fn(|_| r.number(0.4, 1.0));
    let centre = r.place(0.5);
    let n = if r.planar { 5 } else { 7 };
    let points: Vec<V> = (0..n)
        .map(|k| {
            let angle = TAU * (f64::from(k) + r.number(0.1, 0.9)) / f64::from(n);
            let on = if r.planar { [angle.cos(), angle.sin(), 0.0] } else { r.direction() };
            std::array::from_fn(|i| half[i] * on[i])
        })
        .collect();
    let made = match r.planar {
        true => Convex::polygon(&points.iter().map(|[x, y, _]| [*x, *y]).collect::<Vec<_>>()),
        false => Convex::around(&points),
    };
    let placed = points.iter().map(|p| add(*p, centre)).collect();
    (Convex { centre, ..made.unwrap() }, placed)
}

/// One of them.
pub fn shape(r: &mut Random) -> Convex {
    convex(r).0
}

/// Distance of a point from a line between two points, and how far inside of them its foot is.
fn to_segment(p: V, [a, b]: [V; 2]) -> (f64, f64) {
    let d = sub(b, a);
    let t = (dot(sub(p, a), d) / dot(d, d)).clamp(0.0, 1.0);
    (norm(sub(p, add(a, scale(d, t)))), t.min(1.0 - t))
}

/// Height over the plane of a triangle, and whether the foot is inside of it.
fn over(p: V, [a, b, c]: [V; 3]) -> (f64, bool) {
    let n = unit(cross(sub(b, a), sub(c, a)));
    let inside = |a: V, b: V| dot(cross(sub(b, a), sub(p, a)), n) >= 0.0;
    (dot(sub(p, a), n), inside(a, b) && inside(b, c) && inside(c, a))
}

/// All choices of two or three points.
fn twos(points: &[V]) -> Vec<[V; 2]> {
    (0..points.len()).flat_map(|i| (0..i).map(move |j| [points[i], points[j]])).collect()
}

fn threes(points: &[V]) -> Vec<[V; 3]> {
    let all = (0..points.len()).flat_map(|i| (0..i).flat_map(move |j| (0..j).map(move |k| [i, j, k])));
    all.map(|t| t.map(|i| points[i])).collect()
}

/// Heights of a point over all planes, or lines of the plane, through the points that have no point outside.
fn heights(p: V, points: &[V], planar: bool) -> Vec<f64> {
    let mut all = Vec::new();
    let mut see = |a: V, n: V| {
        let side: Vec<f64> = points.iter().map(|q| dot(sub(*q, a), n)).collect();
        let (low, high) = side.iter().fold((0.0f64, 0.0f64), |(l, h), x| (l.min(*x), h.max(*x)));
        if high < 1e-12 || low > -1e-12 {
            all.push(dot(sub(p, a), n) * if high < 1e-12 { 1.0 } else { -1.0 });
        }
    };
    match planar {
        true => twos(points).iter().for_each(|[a, b]| see(*a, unit(cross(sub(*b, *a), [0.0, 0.0, 1.0])))),
        false => threes(points).iter().for_each(|[a, b, c]| see(*a, unit(cross(sub(*b, *a), sub(*c, *a))))),
    }
    all
}

/// Signed distance of a point.
fn distance(p: V, points: &[V], planar: bool) -> f64 {
    let inside = heights(p, points, planar).into_iter().fold(f64::NEG_INFINITY, f64::max);
    if inside <= 0.0 {
        return inside;
    }
    let lines = twos(points).iter().map(|ends| to_segment(p, *ends).0).fold(f64::INFINITY, f64::min);
    if planar {
        return lines;
    }
    let faces = threes(points).into_iter().map(|t| over(p, t)).filter(|(_, inside)| *inside);
    faces.map(|(height, _)| height.abs()).fold(lines, f64::min)
}

fn placed(points: &[V], frame: &Frame) -> Vec<V> {
    points.iter().map(|p| world(frame, *p)).collect()
}

/// Height over the face with a number: over the farthest point along its normal.
fn over_face(shape: &Faceted, points: &[V], face: usize, frame: &Frame, p: V) -> f64 {
    let n = turn(frame, shape.face(face).normal);
    let top = placed(points, frame).iter().map(|q| dot(*q, n)).fold(f64::NEG_INFINITY, f64::max);
    dot(p, n) - top
}

pub fn convex_plane(r: &mut Random) -> Case {
    let (plane, (convex, _)) = (plane(r), convex(r));
    let frames = [r.frame(), r.frame()];
    let corner = convex.clone();
    let gap: Gap = Box::new(move |place, [a, b]| {
        dot(sub(world(b, corner.corner(place)), world(a, plane.point)), turn(a, plane.normal))
    });
    let corner = convex.clone();
    let off_b: Off = Box::new(move |place, frame, p| norm(sub(p, world(frame, corner.corner(place)))));
    Case { pair: ConvexPlane { plane, convex }.into(), frames, gap, off_a: off_plane(plane), off_b }
}

pub fn convex_sphere(r: &mut Random) -> Case {
    let (convex, points) = convex(r);
    let sphere = Sphere { radius: r.number(0.0, 0.5), ..r.sphere() };
    let a = r.frame();
    let at = add(world(&a, convex.centre), scale(r.direction(), r.number(0.2, 2.0)));
    let frames = [a, r.frame_at(sphere.centre, at)];
    let planar = r.planar;
    let (raw, own) = (points.clone(), points);
    let gap: Gap =
        Box::new(move |_, [a, b]| distance(world(b, sphere.centre), &placed(&raw, a), planar) - sphere.radius);
    let off_a: Off = Box::new(move |_, frame, p| distance(p, &placed(&own, frame), planar));
    Case { pair: ConvexSphere { convex, sphere }.into(), frames, gap, off_a, off_b: off_sphere(sphere) }
}

/// Distance between two lines.
fn between_lines([p, d]: [V; 2], [q, e]: [V; 2]) -> f64 {
    dot(sub(q, p), unit(cross(d, e))).abs()
}

pub fn capsule_convex(r: &mut Random) -> Case {
    let (convex, points) = convex(r);
    let capsule = Capsule { ends: ends(r), radius: r.number(0.1, 0.4) };
    let a = r.frame();
    let at = add(world(&a, convex.centre), scale(r.direction(), r.number(0.5, 1.8)));
    let frames = [a, r.frame_at(capsule.ends[0], at)];
    let (planar, corners) = (r.planar, convex.hull.corners().len());
    let line = |convex: &Convex, frame: &Frame, edge: usize| {
        let edge = convex.hull.edges()[edge];
        [world(frame, convex.placed(edge.at)), turn(frame, edge.direction)]
    };
    let (one, raw) = (convex.clone(), points);
    let gap: Gap = Box::new(move |place, [a, b]| {
        let [s, t] = capsule.ends.map(|end| world(b, end));
        let far = match place {
            0 | 1 => distance([s, t][place], &placed(&raw, a), planar),
            place if place < 2 + corners => to_segment(world(a, one.corner(place - 2)), [s, t]).0,
            place => between_lines(line(&one, a, place - 2 - corners), [s, sub(t, s)]),
        };
        far - capsule.radius
    });
    let one = convex.clone();
    let off_a: Off = Box::new(move |place, frame, p| match place {
        0 | 1 => {
            let points = placed(one.hull.points(), frame);
            distance(p, &points.iter().map(|q| add(*q, turn(frame, one.centre))).collect::<Vec<_>>(), planar)
        }
        place if place < 2 + corners => norm(sub(p, world(frame, one.corner(place - 2)))),
        place => {
            let [q, d] = line(&one, frame, place - 2 - corners);
            from_line(p, q, d)
        }
    });
    let off_b: Off = Box::new(move |place, frame, p| {
        let [s, t] = capsule.ends.map(|end| world(frame, end));
        match place {
            0 | 1 => norm(sub(p, [s, t][place])) - capsule.radius,
            place if place < 2 + corners => to_segment(p, [s, t]).0 - capsule.radius,
            _ => from_line(p, s, unit(sub(t, s))) - capsule.radius,
        }
    });
    Case { pair: CapsuleFaceted { shape: Faceted::Convex(convex), capsule }.into(), frames, gap, off_a, off_b }
}

/// Two shapes with the points that they are made of.
fn two(first: (Faceted, Vec<V>), second: (Faceted, Vec<V>), frames: [Frame; 2]) -> Case {
    let pair = ConvexConvex { first: first.0.clone(), second: second.0.clone() };
    let shapes = std::rc::Rc::new([first, second]);
    let count = |k: usize, shapes: &[(Faceted, Vec<V>); 2]| shapes[1 - k].0.corners() * shapes[k].0.faces();
    let (to_b, to_a) = (count(0, &shapes), count(0, &shapes) + count(1, &shapes));
    // the shape with the face, the face, and the corner of the other one
    let facing = move |place: usize, shapes: &[(Faceted, Vec<V>); 2]| {
        let (k, place) = if place < to_b { (0, place) } else { (1, place - to_b) };
        (k, place % shapes[k].0.faces(), place / shapes[k].0.faces())
    };
    let lines = move |place: usize, k: usize, frame: &Frame, shapes: &[(Faceted, Vec<V>); 2]| {
        let number = place - to_a;
        let number = if k == 0 { number / shapes[1].0.edges() } else { number % shapes[1].0.edges() };
        let edge = shapes[k].0.edge(number);
        [world(frame, edge.at), turn(frame, edge.direction)]
    };
    let all = shapes.clone();
    let gap: Gap = Box::new(move |place, frames| {
        if place < to_a {
            let (k, face, corner) = facing(place, &all);
            let p = world(frames[1 - k], all[1 - k].0.corner(corner));
            return over_face(&all[k].0, &all[k].1, face, frames[k], p);
        }
        let [p, d] = lines(place, 0, frames[0], &all);
        let [q, e] = lines(place, 1, frames[1], &all);
        let points = placed(&all[0].1, frames[0]);
        let middle = scale(points.iter().fold([0.0; 3], |sum, p| add(sum, *p)), 1.0 / points.len() as f64);
        let n = unit(cross(d, e));
        dot(n, sub(p, middle)).signum() * dot(n, sub(q, p))
    });
    let off = |k: usize| -> Off {
        let all = shapes.clone();
        Box::new(move |place, frame, p| {
            if place >= to_a {
                let [q, d] = lines(place, k, frame, &all);
                return from_line(p, q, d);
            }
            let (on, face, corner) = facing(place, &all);
            match on == k {
                true => over_face(&all[k].0, &all[k].1, face, frame, p),
                false => norm(sub(p, world(frame, all[k].0.corner(corner)))),
            }
        })
    };
    let (off_a, off_b) = (off(0), off(1));
    Case { pair: pair.into(), frames, gap, off_a, off_b }
}

fn beside(r: &mut Random, from: V, to: V) -> [Frame; 2] {
    let a = r.frame();
    let at = add(world(&a, from), scale(r.direction(), r.number(0.9, 2.2)));
    [a, r.frame_at(to, at)]
}

pub fn convex_convex(r: &mut Random) -> Case {
    let ((one, points), (other, others)) = (convex(r), convex(r));
    let frames = beside(r, one.centre, other.centre);
    two((Faceted::Convex(one), points), (Faceted::Convex(other), others), frames)
}

pub fn convex_block(r: &mut Random) -> Case {
    let ((one, points), block) = (convex(r), block(r));
    let frames = beside(r, one.centre, block.centre);
    let corners = (0..block.corners()).map(|k| block.corner(k)).collect();
    two((Faceted::Convex(one), points), (Faceted::Block(block), corners), frames)
}

/// Distance of two lines between points, and how far inside of both the closest points are.
fn segments([p, q]: [V; 2], [s, t]: [V; 2]) -> (f64, f64) {
    let (d, e, r) = (sub(q, p), sub(t, s), sub(s, p));
    let (aa, bb, ab) = (dot(d, d), dot(e, e), dot(d, e));
    let whole = aa * bb - ab * ab;
    let (x, y) = ((dot(d, r) * bb - dot(e, r) * ab) / whole, (dot(d, r) * ab - dot(e, r) * aa) / whole);
    if !(x > 0.0 && x < 1.0 && y > 0.0 && y < 1.0) {
        return (f64::INFINITY, 0.0);
    }
    (norm(sub(add(r, scale(e, y)), scale(d, x))), x.min(1.0 - x).min(y).min(1.0 - y))
}

/// The distance of two sets, and whether a corner is over a face, or two edges cross.
fn apart(first: &[V], second: &[V], planar: bool) -> (f64, bool) {
    let (mut best, mut told) = (f64::INFINITY, false);
    let mut see = |far: f64, inside: bool| {
        if far < best - 1e-12 {
            (best, told) = (far, inside);
        } else if far < best + 1e-12 {
            told |= inside;
        }
    };
    for (points, others) in [(first, second), (second, first)] {
        for &p in points {
            for ends in twos(others) {
                let (far, inside) = to_segment(p, ends);
                see(far, planar && inside > 1e-3);
            }
            for triangle in threes(others).into_iter().filter(|_| !planar) {
                let (height, inside) = over(p, triangle);
                let [a, b, c] = triangle;
                let rim = [[a, b], [b, c], [c, a]].map(|ends| to_segment(p, ends).0);
                let well = rim.iter().all(|far| far * far > height * height + 1e-6);
                see(if inside { height.abs() } else { f64::INFINITY }, well);
            }
        }
    }
    for one in twos(first).into_iter().filter(|_| !planar) {
        for other in twos(second) {
            let (far, inside) = segments(one, other);
            see(far, inside > 1e-3);
        }
    }
    (best, told)
}

/// Whether the hulls of two sets have a point in common: no plane through a point of one, along a line of the other or
/// along two lines, parts them.
fn meet(first: &[V], second: &[V], planar: bool) -> bool {
    let directions = |points: &[V]| -> Vec<V> { twos(points).iter().map(|[a, b]| sub(*b, *a)).collect() };
    let (of_a, of_b) = (directions(first), directions(second));
    let all: Vec<V> = of_a.iter().chain(&of_b).copied().collect();
    let parts = |n: V| {
        let range = |points: &[V]| {
            let along = points.iter().map(|p| dot(*p, n));
            along.fold([f64::INFINITY, f64::NEG_INFINITY], |[l, h], x| [l.min(x), h.max(x)])
        };
        let ([a, b], [c, d]) = (range(first), range(second));
        norm(n) > 1e-9 && (b < c || d < a)
    };
    let normals = |u: V| -> Vec<V> {
        if planar { vec![cross(u, [0.0, 0.0, 1.0])] } else { all.iter().map(|w| cross(u, *w)).collect() }
    };
    !all.iter().any(|u| normals(*u).into_iter().any(parts))
}

/// The places that count: none is nearer than the shapes are, and one is as near wherever a corner is over a face or
/// two edges are closest.
#[test]
fn the_nearest_place_of_two_convex_shapes_is_their_distance() {
    for (make, planar) in [
        (convex_convex as fn(&mut Random) -> Case, true),
        (convex_convex, false),
        (convex_block, true),
        (convex_block, false),
    ] {
        let mut rng = Pcg64::seed_from_u64(19);
        let (mut tried, mut told) = (0, 0);
        for _ in 0..1000 {
            let mut r = Random { rng: &mut rng, planar };
            let Case { pair, frames: [a, b], .. } = make(&mut r);
            let AnyPair::ConvexConvex(ConvexConvex { first, second }) = &pair else { unreachable!() };
            let points = |shape: &Faceted, frame: &Frame| -> Vec<V> {
                (0..shape.corners()).map(|k| world(frame, shape.corner(k))).collect()
            };
            let (one, other) = (points(first, &a), points(second, &b));
            let (far, is_told) = apart(&one, &other, planar);
            let within = |margin: f64| {
                let mut places = Vec::new();
                pair.near((&a, &b), margin, &mut places);
                places.retain(|place| pair.region(*place as usize, (&a, &b)) >= 0.0);
                let gaps = places.iter().map(|place| pair.touch::<f64>(*place as usize, (&a, &b)).gap);
                gaps.collect::<Vec<f64>>()
            };
            if meet(&one, &other, planar) {
                // a push out of each other, unless they are in each other by the borders of faces
                assert!(far < 1e-3 || within(1e-3).iter().any(|gap| *gap < 0.0), "{far}");
                continue;
            }
            tried += 1;
            let gaps = within(far + 1e-6);
            assert!(gaps.iter().all(|gap| *gap >= far - 4e-4), "{gaps:?} {far}");
            if is_told {
                told += 1;
                let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
                assert!((least - far).abs() < 1e-9, "{least} {far}: {gaps:?}");
            }
        }
        assert!(tried > 200 && told > 80, "{planar}: {tried} {told}");
    }
}

/// Faces of a hull are all planes through three points that have no point outside, and Euler's formula holds.
#[test]
fn hulls_have_the_faces_of_brute_force() {
    let mut rng = Pcg64::seed_from_u64(23);
    for _ in 0..200 {
        let mut r = Random { rng: &mut rng, planar: false };
        let points: Vec<V> = (0..12).map(|_| r.place(1.0)).collect();
        let hull = Hull::around(&points).unwrap();
        let (v, e, f) = (hull.corners().len(), hull.edges().len(), hull.faces().len());
        assert_eq!(v + f, e + 2);
        let mut normals: Vec<V> = Vec::new();
        for [a, b, c] in threes(&points) {
            let n = unit(cross(sub(b, a), sub(c, a)));
            let side: Vec<f64> = points.iter().map(|p| dot(sub(*p, a), n)).collect();
            let high = side.iter().fold(0.0f64, |m, x| m.max(*x));
            let low = side.iter().fold(0.0f64, |m, x| m.min(*x));
            if high < 1e-9 || low > -1e-9 {
                normals.push(if high < 1e-9 { n } else { scale(n, -1.0) });
            }
        }
        assert_eq!(normals.len(), f);
        for face in hull.faces() {
            assert!(normals.iter().any(|n| norm(sub(*n, face.normal)) < 1e-9));
        }
        for p in &points {
            assert!(distance(*p, hull.corners(), false) < 1e-12, "a point is outside");
        }
    }
}

/// A box by points on its faces, edges and inside, in single precision, is a box.
#[test]
fn points_on_the_faces_of_a_box_make_a_box() {
    let axes = [[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]];
    let mut points = Vec::new();
    for i in 0..125usize {
        let step = |k: usize| (k % 5) as f64 * 0.25 - 0.5;
        let at = [step(i), 2.0 * step(i / 5), 3.0 * step(i / 25)];
        let turned: V = std::array::from_fn(|k| (0..3).map(|j| at[j] * axes[j][k]).sum());
        points.push(turned);
    }
    let rounded: Vec<V> = points.iter().map(|p| p.map(|x| f64::from(x as f32))).collect();
    for points in [&points, &rounded] {
        let hull = Hull::around(points).unwrap();
        assert_eq!(hull.faces().len(), 6);
        for face in hull.faces() {
            assert!(axes.iter().any(|axis| (dot(*axis, face.normal).abs() - 1.0).abs() < 1e-6));
        }
        // corners of the rounded one may be points of edges that stand out by rounding
        assert!(points == &rounded || (hull.corners().len(), hull.edges().len()) == (8, 12));
    }
}

#[test]
fn polygons_without_sense_are_refused() {
    let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    assert!(Hull::polygon(&square).is_ok());
    let mut clockwise = square;
    clockwise.reverse();
    assert_eq!(Hull::polygon(&clockwise).unwrap().corners()[..2], [[0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]);
    assert_eq!(Hull::polygon(&square[..2]), Err(HullError::Few(2)));
    assert_eq!(Hull::polygon(&[[0.0, 0.0], [1.0, f64::NAN], [0.0, 1.0]]), Err(HullError::NotFinite(1)));
    assert_eq!(Hull::polygon(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), Err(HullError::Twice(2)));
    let dent = [[0.0, 0.0], [1.0, 0.0], [0.3, 0.3], [0.0, 1.0]];
    assert_eq!(Hull::polygon(&dent), Err(HullError::NotConvex(2)));
    let line = [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0], [0.0, 1.0]];
    assert_eq!(Hull::polygon(&line), Err(HullError::Straight(1)));
    let star: Vec<[f64; 2]> = (0..5).map(|k| (TAU * 2.0 * f64::from(k) / 5.0).sin_cos().into()).collect();
    assert_eq!(Hull::polygon(&star), Err(HullError::Crosses));
    let flat: Vec<V> = square.iter().map(|[x, y]| [*x, *y, 0.0]).collect();
    assert_eq!(Hull::around(&flat), Err(HullError::Flat));
    assert_eq!(Hull::around(&flat[..3]), Err(HullError::Few(3)));
    assert_eq!(Hull::around(&[[0.0; 3]; 9]), Err(HullError::Flat));
    let wrong = [[0.0, 0.0, f64::INFINITY]; 5];
    assert_eq!(Hull::around(&wrong), Err(HullError::NotFinite(0)));
}

/// A polygon in the place of a rectangle touches as the rectangle does, place by place.
#[test]
fn a_polygon_with_four_corners_touches_as_a_rectangle() {
    let mut rng = Pcg64::seed_from_u64(29);
    for _ in 0..500 {
        let mut r = Random { rng: &mut rng, planar: true };
        let block = block(&mut r);
        let corners: Vec<[f64; 2]> = [0, 1, 3, 2].map(|k| block.corner(k)).map(|[x, y, _]| [x, y]).to_vec();
        let convex = Convex::polygon(&corners).unwrap();
        let segment = Segment { ends: ends(&mut r) };
        let frames = [r.frame(), r.frame()];
        let gaps = |pair: AnyPair| -> Vec<f64> {
            let mut gaps: Vec<f64> =
                (0..pair.places()).map(|k| pair.touch::<f64>(k, (&frames[0], &frames[1])).gap).collect();
            gaps.sort_by(f64::total_cmp);
            gaps
        };
        let with = |shape: &pair::Shape| {
            let pair = between(&pair::Shape::Segment(segment), shape, (&frames[0], &frames[1])).unwrap().0;
            gaps(pair)
        };
        let (one, other) = (with(&pair::Shape::Block(block)), with(&pair::Shape::Convex(convex)));
        assert_eq!(one.len(), other.len());
        assert!(one.iter().zip(&other).all(|(x, y)| (x - y).abs() < 1e-13), "{one:?} {other:?}");
    }
}
