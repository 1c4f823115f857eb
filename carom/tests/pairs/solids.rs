//! Cases of boxes, capsules, cylinders, ellipsoids and tori.

use crate::brute::*;
use crate::cases::*;
use carom::multibody::Frame;
use carom::multibody::pair::*;
use std::f64::consts::TAU;

pub fn capsule(r: &mut Random) -> Capsule {
    Capsule { ends: ends(r), radius: r.number(0.2, 0.6) }
}

fn off_capsule(capsule: Capsule) -> Off {
    let off = off_segment(capsule.ends, None);
    Box::new(move |_, frame, p| off(0, frame, p) - capsule.radius)
}

/// How far a point is from the ball at an end.
fn off_end(capsule: Capsule, end: usize, frame: &Frame, p: V) -> f64 {
    norm(sub(p, world(frame, capsule.ends[end]))) - capsule.radius
}

/// Distance between two lines through points along unit vectors: the least of a quadratic by its two equations.
fn between_lines(p: V, d: V, q: V, e: V) -> f64 {
    let (r, c) = (sub(q, p), dot(d, e));
    // |r + t e − s d|²: s − c t = d·r, c s − t = e·r
    let (x, y) = (dot(d, r), dot(e, r));
    let t = (c * x - y) / (1.0 - c * c);
    let s = x + c * t;
    norm(sub(add(r, scale(e, t)), scale(d, s)))
}

/// A frame in which the point `s` of the second body is `far` from the point `o` of the first one.
pub fn beside(r: &mut Random, a: &Frame, o: V, s: V, far: f64) -> Frame {
    let at = add(world(a, o), scale(r.direction(), far));
    r.frame_at(s, at)
}

pub fn capsule_plane(r: &mut Random) -> Case {
    let (plane, capsule) = (plane(r), capsule(r));
    let frames = [r.frame(), r.frame()];
    let gap: Gap = Box::new(move |place, [a, b]| {
        let (o, n) = (world(a, plane.point), turn(a, plane.normal));
        over_sphere(b, Sphere { centre: capsule.ends[place], radius: capsule.radius }, |p| dot(sub(p, o), n))
    });
    let pair = CapsulePlane { plane, capsule };
    let off_b: Off = Box::new(move |place, frame, p| off_end(capsule, place, frame, p));
    Case { pair: pair.into(), frames, gap, off_a: off_plane(plane), off_b }
}

pub fn capsule_sphere(r: &mut Random) -> Case {
    let (capsule, sphere) = (capsule(r), r.sphere());
    let frames = [r.frame(), r.frame()];
    let off = off_segment(capsule.ends, None);
    let gap: Gap = Box::new(move |_, [a, b]| off(0, a, world(b, sphere.centre)) - sphere.radius - capsule.radius);
    let pair = CapsuleSphere { capsule, sphere };
    Case { pair: pair.into(), frames, gap, off_a: off_capsule(capsule), off_b: off_sphere(sphere) }
}

/// How far a point is from what is around a line.
fn off_line(p: V, ends: [V; 2], radius: f64) -> f64 {
    from_line(p, ends[0], unit(sub(ends[1], ends[0]))) - radius
}

pub fn capsule_capsule(r: &mut Random) -> Case {
    let (first, second) = (capsule(r), capsule(r));
    let a = r.frame();
    let far = r.number(0.5, 1.5);
    let b = beside(r, &a, first.ends[0], second.ends[1], far);
    let (along_a, along_b) = (off_segment(first.ends, None), off_segment(second.ends, None));
    let both = first.radius + second.radius;
    let gap: Gap = Box::new(move |place, [a, b]| match place {
        0 | 1 => along_b(0, b, world(a, first.ends[place])) - both,
        2 | 3 => along_a(0, a, world(b, second.ends[place - 2])) - both,
        _ => {
            let [p, q] = first.ends.map(|end| world(a, end));
            let [s, t] = second.ends.map(|end| world(b, end));
            between_lines(p, unit(sub(q, p)), s, unit(sub(t, s))) - both
        }
    });
    // ends are on their balls, what they touch is on the side of the other one
    let on = |capsule: Capsule, ends: usize| -> Off {
        let off = off_capsule(capsule);
        Box::new(move |place, frame, p| match place {
            4 => off_line(p, capsule.ends.map(|end| world(frame, end)), capsule.radius),
            _ if place / 2 == ends => off_end(capsule, place % 2, frame, p),
            _ => off(place, frame, p),
        })
    };
    let pair = CapsuleCapsule { first, second };
    Case { pair: pair.into(), frames: [a, b], gap, off_a: on(first, 0), off_b: on(second, 1) }
}

/// A point of a box by signs along its axes, zero for the middle.
fn spot(block: Block, signs: [f64; 3]) -> V {
    (0..3).fold(block.centre, |p, i| add(p, scale(block.axes[i], signs[i] * block.half[i])))
}

fn corner(block: Block, corner: usize) -> V {
    spot(block, std::array::from_fn(|i| if corner >> i & 1 == 0 { 1.0 } else { -1.0 }))
}

/// Middle and direction of an edge.
fn edge(block: Block, edge: usize) -> (V, V) {
    let axis = edge / 4;
    let mut signs = [0.0; 3];
    signs[(axis + 1) % 3] = if edge & 1 == 0 { 1.0 } else { -1.0 };
    signs[(axis + 2) % 3] = if edge & 2 == 0 { 1.0 } else { -1.0 };
    (spot(block, signs), block.axes[axis])
}

pub fn capsule_block(r: &mut Random) -> Case {
    let (block, capsule) = (block(r), capsule(r));
    let a = r.frame();
    let far = r.number(0.8, 2.0);
    let b = beside(r, &a, block.centre, capsule.ends[0], far);
    let n = if r.planar { 2 } else { 3 };
    let along = off_segment(capsule.ends, None);
    let gap: Gap = Box::new(move |place, [a, b]| match place {
        0 | 1 => {
            let c = local(a, world(b, capsule.ends[place]));
            let inside = off_block(block)(0, a, world(b, capsule.ends[place]));
            let ranges: Vec<[f64; 2]> = (0..n).map(|i| [-block.half[i], block.half[i]]).collect();
            let at = |x: &[f64]| (0..n).fold(block.centre, |p, i| add(p, scale(block.axes[i], x[i])));
            let outside = || least(&ranges, 7, |x| norm(sub(c, at(x))));
            (if inside <= 0.0 { inside } else { outside() }) - capsule.radius
        }
        2..10 => along(0, b, world(a, corner(block, place - 2))) - capsule.radius,
        _ => {
            let (p, d) = edge(block, place - 10);
            let [s, t] = capsule.ends.map(|end| world(b, end));
            between_lines(world(a, p), turn(a, d), s, unit(sub(t, s))) - capsule.radius
        }
    });
    let off_a: Off = Box::new(move |place, frame, p| match place {
        0 | 1 => off_block(block)(0, frame, p),
        2..10 => norm(sub(p, world(frame, corner(block, place - 2)))),
        _ => {
            let (middle, d) = edge(block, place - 10);
            from_line(p, world(frame, middle), turn(frame, d))
        }
    });
    let off = off_capsule(capsule);
    let off_b: Off = Box::new(move |place, frame, p| match place {
        0 | 1 => off_end(capsule, place, frame, p),
        2..10 => off(0, frame, p),
        _ => off_line(p, capsule.ends.map(|end| world(frame, end)), capsule.radius),
    });
    Case { pair: CapsuleFaceted { shape: Faceted::Block(block), capsule }.into(), frames: [a, b], gap, off_a, off_b }
}

/// How far a point is from the plane of a face.
fn off_face(block: Block, face: usize, frame: &Frame, p: V) -> f64 {
    let side = if face.is_multiple_of(2) { 1.0 } else { -1.0 };
    side * dot(sub(local(frame, p), block.centre), block.axes[face / 2]) - block.half[face / 2]
}

pub fn block_block(r: &mut Random) -> Case {
    let (first, second) = (block(r), block(r));
    let a = r.frame();
    let far = r.number(0.9, 2.2);
    let b = beside(r, &a, first.centre, second.centre, far);
    let gap: Gap = Box::new(move |place, [a, b]| match place {
        0..48 => off_face(first, place % 6, a, world(b, corner(second, place / 6))),
        48..96 => off_face(second, place % 6, b, world(a, corner(first, (place - 48) / 6))),
        _ => {
            let ((p, d), (q, e)) = (edge(first, (place - 96) / 12), edge(second, (place - 96) % 12));
            let (p, q) = (world(a, p), world(b, q));
            // apart along the direction out of both
            let n = unit(cross(turn(a, d), turn(b, e)));
            let out = dot(n, sub(p, world(a, first.centre)));
            out.signum() * dot(n, sub(q, p))
        }
    });
    let off_a: Off = Box::new(move |place, frame, p| match place {
        0..48 => off_face(first, place % 6, frame, p),
        48..96 => norm(sub(p, world(frame, corner(first, (place - 48) / 6)))),
        _ => {
            let (middle, d) = edge(first, (place - 96) / 12);
            from_line(p, world(frame, middle), turn(frame, d))
        }
    });
    let off_b: Off = Box::new(move |place, frame, p| match place {
        0..48 => norm(sub(p, world(frame, corner(second, place / 6)))),
        48..96 => off_face(second, place % 6, frame, p),
        _ => {
            let (middle, d) = edge(second, (place - 96) % 12);
            from_line(p, world(frame, middle), turn(frame, d))
        }
    });
    Case { pair: BlockBlock { first, second }.into(), frames: [a, b], gap, off_a, off_b }
}

pub fn sphere_cylinder(r: &mut Random) -> Case {
    let sphere = Sphere { radius: r.number(0.1, 0.5), ..r.sphere() };
    let cylinder =
        Cylinder { centre: r.place(0.5), axis: r.direction(), radius: r.number(0.3, 1.0), half: r.number(0.2, 1.0) };
    let a = r.frame();
    let far = r.number(0.3, 2.0);
    let b = beside(r, &a, cylinder.centre, sphere.centre, far);
    let off = move |frame: &Frame, p: V| {
        let (c, d) = (world(frame, cylinder.centre), turn(frame, cylinder.axis));
        (dot(sub(p, c), d).abs() - cylinder.half).max(from_line(p, c, d) - cylinder.radius)
    };
    let gap: Gap = Box::new(move |_, [a, b]| {
        let c = world(b, sphere.centre);
        let inside = off(a, c);
        let axis = turn(a, cylinder.axis);
        let e = unit(cross(axis, if axis[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] }));
        let at = |x: &[f64]| {
            let spoke = add(scale(e, x[2].cos()), scale(cross(axis, e), x[2].sin()));
            add(world(a, cylinder.centre), add(scale(axis, x[0]), scale(spoke, x[1])))
        };
        let ranges = [[-cylinder.half, cylinder.half], [0.0, cylinder.radius], [-TAU, TAU]];
        let outside = || least(&ranges, 9, |x| norm(sub(c, at(x))));
        (if inside <= 0.0 { inside } else { outside() }) - sphere.radius
    });
    let off_a: Off = Box::new(move |_, frame, p| off(frame, p));
    Case { pair: SphereCylinder { cylinder, sphere }.into(), frames: [a, b], gap, off_a, off_b: off_sphere(sphere) }
}

pub fn ellipsoid(r: &mut Random) -> Ellipsoid {
    let half = std::array::from_fn(|_| r.number(0.3, 1.0));
    Ellipsoid { centre: r.place(0.5), axes: r.axes(), half }
}

fn on_ellipsoid(e: Ellipsoid, frame: &Frame, angles: &[f64]) -> V {
    let x = on_sphere(angles);
    world(frame, (0..3).fold(e.centre, |p, i| add(p, scale(e.axes[i], e.half[i] * x[i]))))
}

/// Nearly the distance from the surface, and zero on it.
fn off_ellipsoid(e: Ellipsoid) -> Off {
    Box::new(move |_, frame, p| {
        let y = sub(local(frame, p), e.centre);
        0.5 * ((0..3).map(|i| (dot(y, e.axes[i]) / e.half[i]).powi(2)).sum::<f64>() - 1.0)
    })
}

pub fn ellipsoid_plane(r: &mut Random) -> Case {
    let (plane, ellipsoid) = (plane(r), ellipsoid(r));
    let frames = [r.frame(), r.frame()];
    let gap: Gap = Box::new(move |_, [a, b]| {
        let (o, n) = (world(a, plane.point), turn(a, plane.normal));
        least(&SPHERE, 12, |x| dot(sub(on_ellipsoid(ellipsoid, b, x), o), n))
    });
    let pair = EllipsoidPlane { plane, ellipsoid };
    Case { pair: pair.into(), frames, gap, off_a: off_plane(plane), off_b: off_ellipsoid(ellipsoid) }
}

pub fn ellipsoid_sphere(r: &mut Random) -> Case {
    let (ellipsoid, sphere) = (ellipsoid(r), Sphere { radius: r.number(0.0, 0.5), ..r.sphere() });
    let a = r.frame();
    // outside, down to a little inside, where the closest point is still unique
    let out: V = std::array::from_fn(|_| r.number(-1.0, 1.0));
    let scaled = scale(unit(out), r.number(0.95, 3.0));
    let at = (0..3).fold(ellipsoid.centre, |p, i| add(p, scale(ellipsoid.axes[i], ellipsoid.half[i] * scaled[i])));
    let b = r.frame_at(sphere.centre, world(&a, at));
    let off = off_ellipsoid(ellipsoid);
    let gap: Gap = Box::new(move |_, [a, b]| {
        let c = world(b, sphere.centre);
        let far = least(&SPHERE, 16, |x| norm(sub(c, on_ellipsoid(ellipsoid, a, x))));
        off(0, a, c).signum() * far - sphere.radius
    });
    let pair = EllipsoidSphere { ellipsoid, sphere };
    Case { pair: pair.into(), frames: [a, b], gap, off_a: off_ellipsoid(ellipsoid), off_b: off_sphere(sphere) }
}

pub fn torus(r: &mut Random) -> Torus {
    let radius = r.number(0.5, 1.0);
    Torus { centre: r.place(0.5), axis: r.direction(), radius, tube: radius * r.number(0.1, 0.7) }
}

pub fn on_circle(torus: Torus, frame: &Frame, angle: f64) -> V {
    let axis = turn(frame, torus.axis);
    let e = unit(cross(axis, if axis[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] }));
    let spoke = add(scale(e, angle.cos()), scale(cross(axis, e), angle.sin()));
    add(world(frame, torus.centre), scale(spoke, torus.radius))
}

fn off_torus(torus: Torus) -> Off {
    Box::new(move |_, frame, p| least(&[[0.0, TAU]], 40, |x| norm(sub(p, on_circle(torus, frame, x[0])))) - torus.tube)
}

pub fn torus_plane(r: &mut Random) -> Case {
    let (plane, torus) = (plane(r), torus(r));
    let frames = [r.frame(), r.frame()];
    let pair = TorusPlane { plane, torus };
    let gap: Gap = Box::new(move |place, [a, b]| {
        let (o, n) = (world(a, plane.point), turn(a, plane.normal));
        match place {
            0 => least(&[[0.0, TAU]], 40, |x| dot(sub(on_circle(torus, b, x[0]), o), n)) - torus.tube,
            // a fixed point: its own height, which the test of points puts on the tube
            _ => dot(sub(pair.touch::<f64>(place, (a, b)).on_b.0, o), n),
        }
    });
    let off = off_torus(torus);
    // a fixed point is on the ball around a point of the circle, which may lie inside the tube
    let off_b: Off = Box::new(move |place, frame, p| match place {
        0 => off(0, frame, p),
        _ => least(&[[0.0, TAU]], 400, |x| (norm(sub(p, on_circle(torus, frame, x[0]))) - torus.tube).abs()),
    });
    Case { pair: pair.into(), frames, gap, off_a: off_plane(plane), off_b }
}

pub fn torus_sphere(r: &mut Random) -> Case {
    let (torus, sphere) = (torus(r), Sphere { radius: r.number(0.0, 0.3), ..r.sphere() });
    let a = r.frame();
    let around = on_circle(torus, &a, r.number(0.0, TAU));
    let far = torus.tube * r.number(0.9, 1.1) + sphere.radius;
    let b = r.frame_at(sphere.centre, around);
    let b = Frame { centre: carom::multibody::Vector(add(b.centre.0, scale(r.direction(), far))), ..b };
    let off = off_torus(torus);
    let gap: Gap = Box::new(move |_, [a, b]| off(0, a, world(b, sphere.centre)) - sphere.radius);
    let pair = TorusSphere { torus, sphere };
    Case { pair: pair.into(), frames: [a, b], gap, off_a: off_torus(torus), off_b: off_sphere(sphere) }
}

/// Closest points of two boxes by projecting from one to the other in turn; nothing where it takes long.
fn closest(first: Block, a: &Frame, second: Block, b: &Frame) -> Option<(V, V)> {
    let onto = |block: Block, frame: &Frame, p: V| {
        let y = sub(local(frame, p), block.centre);
        let inside = |i: usize| dot(y, block.axes[i]).clamp(-block.half[i], block.half[i]);
        world(frame, (0..3).fold(block.centre, |p, i| add(p, scale(block.axes[i], inside(i)))))
    };
    let mut p = world(a, first.centre);
    for _ in 0..100_000 {
        let q = onto(second, b, p);
        let next = onto(first, a, q);
        let moved = norm(sub(next, p));
        p = next;
        if moved < 1e-15 {
            return Some((p, q));
        }
    }
    None
}

/// At how many of its half lengths a point of a box is.
fn bounds(block: Block, frame: &Frame, p: V) -> usize {
    let y = sub(local(frame, p), block.centre);
    (0..3).filter(|&i| dot(y, block.axes[i]).abs() > block.half[i] - 1e-9).count()
}

/// The places of boxes that count: none is nearer than the boxes are, and one is as near wherever corner and face or
/// two edges are closest.
#[test]
fn the_nearest_place_of_two_boxes_is_their_distance() {
    use rand::SeedableRng;
    let mut rng = rand_pcg::Pcg64::seed_from_u64(11);
    let (mut tried, mut told) = (0, [0; 2]);
    for _ in 0..4000 {
        let mut r = Random { rng: &mut rng, planar: false };
        let Case { pair, frames, .. } = block_block(&mut r);
        let AnyPair::BlockBlock(BlockBlock { first, second }) = pair else { unreachable!() };
        let [a, b] = [&frames[0], &frames[1]];
        let Some((p, q)) = closest(first, a, second, b) else { continue };
        let distance = norm(sub(q, p));
        let mut places = Vec::new();
        pair.near((a, b), distance + 1e-6, &mut places);
        let counts = |place: &&u32| pair.region(**place as usize, (a, b)) >= 0.0;
        let gaps: Vec<f64> =
            places.iter().filter(counts).map(|place| pair.touch::<f64>(*place as usize, (a, b)).gap).collect();
        if distance < 1e-6 {
            // in each other: something pushes them apart, or they are in each other by the border of a face
            continue;
        }
        tried += 1;
        for gap in &gaps {
            assert!(*gap >= distance - 2e-4, "a place is {gap} away, the boxes {distance}");
        }
        let at = [bounds(first, a, p), bounds(second, b, q)];
        if at == [1, 3] || at == [3, 1] || at == [2, 2] {
            told[usize::from(at == [2, 2])] += 1;
            let least = gaps.iter().copied().fold(f64::INFINITY, f64::min);
            assert!((least - distance).abs() < 1e-9, "{at:?}: {least} {distance}: {gaps:?}");
        }
    }
    assert!(tried > 1000 && told[0] > 200 && told[1] > 100, "{tried} {told:?}");
}

/// Boxes on each other: how many places count.
#[test]
fn faces_on_each_other_touch_where_their_outlines_do() {
    let frame = |centre: V, yaw: f64| {
        let (s, c) = yaw.sin_cos();
        let axes = [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]].map(carom::multibody::Vector);
        Frame { centre: carom::multibody::Vector(centre), axes }
    };
    let ground = Frame::ground();
    let unit_box = Block::new([0.5; 3]);
    let count = |second: Block, at: V, yaw: f64| {
        let (pair, b) = (BlockBlock { first: unit_box, second }, frame(at, yaw));
        let mut places = Vec::new();
        pair.near((&ground, &b), 1e-3, &mut places);
        places.retain(|place| pair.region(*place as usize, (&ground, &b)) >= 0.0);
        for &place in &places {
            let touch: Touch = pair.touch(place as usize, (&ground, &b));
            assert!((touch.gap - 1e-5).abs() < 1e-12 && (touch.normal.0[2] - 1.0).abs() < 1e-12, "{touch:?}");
        }
        // corners of what the outlines have in common
        let mut points: Vec<V> =
            places.iter().map(|place| pair.touch::<f64>(*place as usize, (&ground, &b)).on_a.0).collect();
        points.sort_by(|p, q| p.partial_cmp(q).unwrap());
        points.dedup_by(|p, q| norm(sub(*p, *q)) < 1e-3);
        assert_eq!(points.len(), places.len(), "two places at one point");
        places.len()
    };
    let high = 1.0 + 1e-5;
    assert_eq!(count(unit_box, [0.0, 0.0, high], 0.0), 4);
    assert_eq!(count(unit_box, [0.3, 0.0, high], 0.0), 4);
    assert_eq!(count(unit_box, [0.3, -0.2, high], 0.0), 4);
    assert_eq!(count(unit_box, [0.0, 0.0, high], TAU / 8.0), 8);
    for yaw in [1e-9, 1e-6, 5e-5] {
        assert_eq!(count(unit_box, [0.0, 0.0, high], yaw), 4, "{yaw}");
    }
    for yaw in [3e-3, 0.1, 1.0] {
        assert_eq!(count(unit_box, [0.0, 0.0, high], yaw), 8, "{yaw}");
    }
    let small = Block::new([0.2, 0.2, 0.5]);
    assert_eq!(count(small, [0.0, 0.0, high], 0.3), 4);
    let large = Block::new([2.0, 2.0, 0.5]);
    assert_eq!(count(large, [0.0, 0.0, high], 0.3), 4);
    let long = Block::new([2.0, 0.5, 0.5]);
    assert_eq!(count(long, [0.0, 0.0, high], 0.0), 4);
    assert_eq!(count(long, [0.0, 0.0, high], 0.2), 6);
}
