//! Places where formulas have corners, and refusals.

use crate::brute::*;
use crate::cases::{Hermite, Random, local, world};
use carom::multibody::pair::*;
use carom::multibody::{Frame, Vector};
use num_dual::Dual64;
use rand::SeedableRng;
use rand_pcg::Pcg64;
use std::f64::consts::{PI, TAU};

const Z: V = [0.0, 0.0, 1.0];

fn at(x: f64, y: f64) -> Frame {
    Frame { centre: Vector([x, y, 0.0]), ..Frame::ground() }
}

#[test]
fn in_the_middle_of_a_hole_the_gap_is_the_play_and_the_frame_is_one() {
    let pin = Sphere { centre: [0.0; 3], radius: 0.9 };
    let pairs: [AnyPair; 5] = [
        PinHole { hole: Bore { centre: [0.0; 3], axis: Z, radius: 1.0 }, pin }.into(),
        BallSocket { socket: Socket { centre: [0.0; 3], radius: 1.0 }, ball: pin }.into(),
        SphereSlot { slot: Slot { ends: [[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], axis: Z, radius: 1.0 }, pin }.into(),
        RingSphere { ring: Ring { centre: [0.0; 3], axis: Z, radius: 1.0 }, sphere: pin, side: Side::Inside }.into(),
        RimsBore {
            bore: Bore { centre: [0.0; 3], axis: Z, radius: 1.0 },
            pin: Cylinder { centre: [0.0; 3], axis: Z, radius: 0.9, half: 0.5 },
            rim: Rim::Exact,
        }
        .into(),
    ];
    for pair in pairs {
        let (a, b) = (Frame::<Dual64>::ground(), Frame::<Dual64>::ground());
        let touch = pair.touch(0, (&a, &b));
        assert!((touch.gap.re - 0.1).abs() < 1e-15, "{pair:?}");
        for v in [touch.normal, touch.tangent, touch.on_a, touch.on_b] {
            assert!(v.0.iter().all(|x| x.re.is_finite() && x.eps.is_finite()), "{pair:?}");
        }
        assert!((touch.normal.length().re - 1.0).abs() < 1e-15);
        assert!(touch.normal.dot(touch.tangent).re.abs() < 1e-15);
        assert_eq!(touch.normal.0[2].re, 0.0);
    }
}

#[test]
fn a_rim_as_a_sphere_is_too_large_by_the_cosine_of_the_tilt() {
    // 9.5 mm, tilt 0.05: 1.19e-5 m
    let (radius, tilt) = (9.5e-3, 0.05f64);
    let bore = Bore { centre: [0.0; 3], axis: Z, radius: 0.01 };
    let pin = Cylinder { centre: [0.0; 3], axis: Z, radius, half: 0.01 };
    let turned = Frame {
        centre: Vector([0.0; 3]),
        axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], Z].map(|e| Vector(crate::rotate(e, [1.0, 0.0, 0.0], tilt))),
    };
    let ground = Frame::ground();
    let gap = |rim| RimsBore { bore, pin, rim }.touch::<f64>(0, (&ground, &turned)).gap;
    // the rim centre is off by half·sin; the rim itself reaches out by r cos there
    let expected = 0.01 - (0.01 * tilt.sin() + radius * tilt.cos());
    assert!((gap(Rim::Exact) - expected).abs() < 1e-16, "{} {expected}", gap(Rim::Exact));
    let over = gap(Rim::Exact) - gap(Rim::Sphere);
    assert!((over - radius * (1.0 - tilt.cos())).abs() < 1e-16);
    assert!((over - 1.19e-5).abs() < 5e-8);
}

#[test]
fn a_ring_keeps_its_side() {
    let ring = Ring { centre: [0.0; 3], axis: Z, radius: 1.0 };
    let ground = Frame::ground();
    let pair = RingSphere::new(ring, Sphere::point([0.0; 3]), (&ground, &at(0.9, 0.0)));
    assert_eq!(pair.side, Side::Inside);
    // beyond the wall it is a penetration, not the other side
    let touch = pair.touch::<f64>(0, (&ground, &at(1.001, 0.0)));
    assert!((touch.gap + 0.001).abs() < 1e-15);
    assert_eq!(touch.normal.0, [-1.0, 0.0, 0.0]);
    let pair = RingSphere::new(ring, Sphere::point([0.0; 3]), (&ground, &at(1.1, 0.0)));
    assert_eq!(pair.side, Side::Outside);
    assert!((pair.touch::<f64>(0, (&ground, &at(0.999, 0.0))).gap + 0.001).abs() < 1e-15);
}

/// Distance of a rectangle and a segment that are apart, by sampling both.
fn apart(block: Block, ends: [V; 2], [a, b]: [&Frame; 2]) -> f64 {
    let [p, q] = ends.map(|end| sub(local(b, world(a, end)), block.centre));
    let along = |d: V| [dot(d, block.axes[0]), dot(d, block.axes[1])];
    let (p, q) = (along(p), along(q));
    least(&[[0.0, 1.0]], 200, |t| {
        let s: [f64; 2] = std::array::from_fn(|i| p[i] + (q[i] - p[i]) * t[0]);
        let out: [f64; 2] = std::array::from_fn(|i| (s[i].abs() - block.half[i]).max(0.0));
        out[0].hypot(out[1])
    })
}

#[test]
fn a_rectangle_is_as_far_from_an_edge_as_its_closest_place() {
    let mut rng = Pcg64::seed_from_u64(3);
    let mut apart_poses = 0;
    while apart_poses < 1000 {
        let mut r = Random { rng: &mut rng, planar: true };
        let block = Block { half: [r.number(0.3, 1.0), r.number(0.3, 1.0), 0.0], centre: r.place(0.5), axes: r.axes() };
        let ends = [r.place(1.5), r.place(1.5)];
        if norm(sub(ends[1], ends[0])) < 0.2 {
            continue;
        }
        let frames = [r.frame(), r.frame()];
        let distance = apart(block, ends, [&frames[0], &frames[1]]);
        if distance < 1e-3 {
            continue;
        }
        apart_poses += 1;
        let pair = BlockSegment::new(Segment { ends }, block, (&frames[0], &frames[1]));
        let touches: Vec<Touch> = (0..pair.places()).map(|k| pair.touch(k, (&frames[0], &frames[1]))).collect();
        // a corner behind the edge is below zero only where its foot is on the edge: not while they are apart in front
        let front = |t: &&Touch| t.gap >= 0.0;
        let least = touches.iter().filter(front).map(|t| t.gap).fold(f64::INFINITY, f64::min);
        assert!((least - distance).abs() < 1e-9, "{least} {distance} {touches:?}");
        for (k, touch) in touches.iter().enumerate() {
            let off = sub(sub(touch.on_b.0, touch.on_a.0), scale(touch.normal.0, touch.gap));
            assert!(norm(off) < 1e-12, "{k}");
            assert!(touch.normal.dot(touch.tangent).abs() < 1e-14 && touch.normal.0[2] == 0.0);
        }
    }
}

#[test]
fn a_rectangle_on_an_edge_is_penetrated_by_what_it_is_too_low() {
    let segment = Segment { ends: [[0.0; 3], [2.0, 0.0, 0.0]] };
    let block = Block::new([0.5, 0.25, 0.0]);
    let ground = Frame::ground();
    let pair = BlockSegment::new(segment, block, (&ground, &at(1.8, 0.25)));
    let low = |y: f64| -> Vec<f64> { (0..6).map(|k| pair.touch::<f64>(k, (&ground, &at(1.8, y))).gap).collect() };
    // corners (+,+) (−,+) (+,−) (−,−): the last one is over the edge, the third one beyond its end at 2
    let gaps = low(0.25 - 1e-3);
    assert!((gaps[3] + 1e-3).abs() < 1e-15, "{gaps:?}");
    assert!(gaps[2] > 0.29, "{gaps:?}");
    assert!((gaps[5] + 1e-3).abs() < 1e-15, "the end of the edge is in the rectangle: {gaps:?}");
}

#[test]
fn a_standing_cylinder_rests_on_fixed_points() {
    let plane = Plane { point: [0.0; 3], normal: Z };
    let cylinder = Cylinder { centre: [0.0; 3], axis: Z, radius: 0.5, half: 1.0 };
    let pair = CylinderPlane { plane, cylinder };
    let (ground, body) = (Frame::ground(), Frame { centre: Vector([0.3, 0.2, 1.0]), ..Frame::ground() });
    let counts: Vec<usize> = (0..8)
        .filter(|&k| {
            pair.region(k, (&ground, &body)) >= 0.0 && pair.touch::<f64>(k, (&ground, &body)).gap.abs() < 1e-15
        })
        .collect();
    assert_eq!(counts, [5, 6, 7]);
    let tilted = Frame { axes: body.axes.map(|e| Vector(crate::rotate(e.0, [1.0, 0.0, 0.0], 0.3))), ..body };
    assert!((0..2).all(|k| pair.region(k, (&ground, &tilted)) > 0.0));
    assert!((2..8).all(|k| pair.region(k, (&ground, &tilted)) < 0.0));
    // a frame with derivatives is one
    let touch = pair.touch::<Dual64>(0, (&Frame::ground(), &Frame::ground()));
    assert!(touch.gap.eps.is_finite() && touch.on_b.0.iter().all(|x| x.eps.is_finite()));
}

/// The cam of 24 points of the spec of cams: lifts of a roller that moves on a line through the axis.
fn spec_cam() -> Vec<[f64; 2]> {
    let at = |j: usize| {
        let angle = TAU * j as f64 / 24.0;
        let radius = 0.03 + 0.003 * (1.0 - (2.0 * angle).cos());
        [radius * angle.cos(), radius * angle.sin()]
    };
    (0..24).map(at).collect()
}

#[test]
fn a_roller_on_a_cam_has_the_lifts_of_the_offset_curve() {
    let curve = Curve::through(&spec_cam()).unwrap();
    let lift = |rho: f64, psi: f64| {
        let pair = CurveSphere { curve: curve.clone(), sphere: Sphere { centre: [0.0; 3], radius: rho } };
        let turned =
            Frame { axes: Frame::<f64>::ground().axes.map(|e| Vector(crate::rotate(e.0, Z, psi))), ..Frame::ground() };
        // the height at which the gap is zero, by secants
        let gap = |y: f64| pair.touch::<f64>(0, (&turned, &at(0.0, y))).gap;
        let (mut y, mut last) = (0.04 + rho, 0.05 + rho);
        for _ in 0..60 {
            let (g, before) = (gap(y), gap(last));
            if g == before {
                break;
            }
            (last, y) = (y, y - g * (y - last) / (g - before));
        }
        y
    };
    // psi = −90 degrees is the lowest place
    for (psi, y) in [(-PI / 2.0, 0.040), (0.0, 0.046), (-PI / 4.0, 0.043123940327), (-PI / 3.0, 0.041606028723)] {
        assert!((lift(0.01, psi) - y).abs() < 1e-12, "{psi}: {} {y}", lift(0.01, psi));
    }
}

#[test]
fn a_spline_goes_through_its_points_with_two_derivatives() {
    let mut rng = Pcg64::seed_from_u64(5);
    for _ in 0..100 {
        let points = crate::cases::cam(&mut Random { rng: &mut rng, planar: true });
        let n = points.len();
        let (spline, hermite) = (Spline::through(&points).unwrap(), Hermite::new(points.clone()));
        for j in 0..n {
            let (start, end) = (spline.spot(j, 0.0), spline.spot((j + n - 1) % n, 1.0));
            for i in 0..2 {
                assert!((start.at[i] - points[j][i]).abs() < 1e-15);
                assert!((end.at[i] - points[j][i]).abs() < 1e-14);
                assert!((start.slope[i] - end.slope[i]).abs() < 1e-13);
                assert!((start.bend[i] - end.bend[i]).abs() < 1e-13);
                assert!((spline.spot(j, 0.37).at[i] - hermite.at(j as f64 + 0.37)[i]).abs() < 1e-13);
            }
        }
    }
}

#[test]
fn points_that_make_no_curve_are_refused() {
    let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    assert!(Spline::through(&square).is_ok());
    assert_eq!(Spline::through(&square[..2]), Err(SplineError::Few(2)));
    assert_eq!(Spline::through(&[[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), Err(SplineError::Twice(2)));
    assert_eq!(Spline::through(&[[0.0, 0.0], [1.0, f64::NAN], [0.0, 1.0]]), Err(SplineError::NotFinite(1)));
    assert!(matches!(
        Spline::through(&[[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]]),
        Err(SplineError::Cusp(_) | SplineError::Flat)
    ));
}

#[test]
fn shapes_make_the_same_pair_in_either_order() {
    let mut rng = Pcg64::seed_from_u64(11);
    let mut r = Random { rng: &mut rng, planar: true };
    let ball = Shape::Sphere(Sphere { centre: [0.1, 0.0, 0.0], radius: 0.2 });
    let others = [
        Shape::Plane(Plane { point: [0.0; 3], normal: [0.0, 2.0, 0.0] }),
        Shape::Segment(Segment { ends: [[0.0; 3], [1.0, 0.0, 0.0]] }),
        Shape::Strip(Strip { ends: [[0.0; 3], [1.0, 0.0, 0.0]], along: Z }),
        Shape::Block(Block::new([0.5, 0.4, 0.0])),
        Shape::Socket(Socket { centre: [0.0; 3], radius: 0.5 }),
        Shape::Bore(Bore { centre: [0.0; 3], axis: Z, radius: 0.5 }),
        Shape::Slot(Slot { ends: [[0.0; 3], [1.0, 0.0, 0.0]], axis: Z, radius: 0.5 }),
        Shape::Ring(Ring { centre: [0.0; 3], axis: Z, radius: 0.5 }),
        Shape::Curve(Curve::through(&spec_cam()).unwrap()),
    ];
    for other in &others {
        let frames = [r.frame(), r.frame()];
        let (there, swapped) = between(other, &ball, (&frames[0], &frames[1])).unwrap();
        let (back, exchanged) = between(&ball, other, (&frames[1], &frames[0])).unwrap();
        assert!(!swapped && exchanged && there == back, "{other:?}");
        assert!(other.reach().is_finite());
    }
}

#[test]
fn shapes_without_sense_are_refused() {
    let ground = Frame::ground();
    let between = |a: &Shape, b: &Shape| between(a, b, (&ground, &ground));
    let point = Shape::Sphere(Sphere::point([0.0; 3]));
    let segment = Shape::Segment(Segment { ends: [[0.0; 3], [1.0, 0.0, 0.0]] });
    assert!(matches!(between(&segment, &point), Err(PairError::Thin { .. })));
    assert!(matches!(between(&point, &point), Err(PairError::Thin { .. })));
    assert!(matches!(between(&segment, &segment), Err(PairError::None { .. })));
    let hole = Shape::Bore(Bore { centre: [0.0; 3], axis: Z, radius: 0.5 });
    let pin = |radius| Shape::Sphere(Sphere { centre: [0.0; 3], radius });
    assert!(matches!(between(&pin(0.5), &hole), Err(PairError::Tight { .. })));
    assert!(between(&pin(0.4), &hole).is_ok());
    let wrong = [
        (pin(-1.0), "not positive"),
        (pin(f64::NAN), "not finite"),
        (Shape::Bore(Bore { centre: [0.0; 3], axis: [0.0; 3], radius: 0.5 }), "no direction"),
        (Shape::Segment(Segment { ends: [[1.0; 3]; 2] }), "no direction"),
        (Shape::Slot(Slot { ends: [[0.0; 3], [1.0, 0.0, 0.0]], axis: [1.0, 0.0, 1.0], radius: 1.0 }), "not normal"),
    ];
    for (shape, what) in wrong {
        let error = shape.clone().checked().unwrap_err();
        let kind = match error {
            ShapeError::NotFinite { .. } => "not finite",
            ShapeError::NotPositive { .. } => "not positive",
            ShapeError::NoDirection { .. } => "no direction",
            ShapeError::NotNormal { .. } => "not normal",
        };
        assert_eq!(kind, what, "{shape:?}: {error}");
    }
}
