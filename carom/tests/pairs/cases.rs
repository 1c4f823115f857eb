//! Random poses of each pair near contact, with the gap by brute force and how far points are from their shapes.

use crate::brute::*;
use crate::{bulk, convex, solids};
use carom::multibody::Frame;
use carom::multibody::pair::{self, *};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::f64::consts::{PI, TAU};

/// Gap by brute force of a place.
pub type Gap = Box<dyn Fn(usize, [&Frame; 2]) -> f64>;
/// How far a point of the space is from the surface of a shape on a body.
pub type Off = Box<dyn Fn(usize, &Frame, V) -> f64>;

pub struct Case {
    pub pair: AnyPair,
    pub frames: [Frame; 2],
    pub gap: Gap,
    pub off_a: Off,
    pub off_b: Off,
}

pub struct Random<'a> {
    pub rng: &'a mut Pcg64,
    pub planar: bool,
}

impl Random<'_> {
    pub fn number(&mut self, low: f64, high: f64) -> f64 {
        self.rng.random_range(low..high)
    }

    /// A place within this distance along each axis.
    pub fn place(&mut self, size: f64) -> V {
        let mut p: V = std::array::from_fn(|_| self.rng.random_range(-size..size));
        if self.planar {
            p[2] = 0.0;
        }
        p
    }

    pub fn direction(&mut self) -> V {
        loop {
            let d = self.place(1.0);
            if norm(d) > 0.1 && norm(d) < 1.0 {
                return unit(d);
            }
        }
    }

    /// The axis of a hole.
    pub fn axis(&mut self) -> V {
        if self.planar { [0.0, 0.0, 1.0] } else { self.direction() }
    }

    /// Three unit vectors, right-handed.
    pub fn axes(&mut self) -> [V; 3] {
        if self.planar {
            let (s, c) = self.number(0.0, TAU).sin_cos();
            return [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]];
        }
        let z = self.direction();
        let x = loop {
            let x = self.direction();
            if dot(x, z).abs() < 0.9 {
                break unit(sub(x, scale(z, dot(x, z))));
            }
        };
        [x, cross(z, x), z]
    }

    pub fn frame(&mut self) -> Frame {
        let axes = self.axes().map(carom::multibody::Vector);
        Frame { centre: carom::multibody::Vector(self.place(1.0)), axes }
    }

    /// A frame in which the point `s` of the body is at `p`.
    pub fn frame_at(&mut self, s: V, p: V) -> Frame {
        let mut frame = self.frame();
        frame.centre = carom::multibody::Vector(sub(p, turn(&frame, s)));
        frame
    }

    pub fn sphere(&mut self) -> Sphere {
        Sphere { centre: self.place(0.5), radius: self.number(0.3, 1.0) }
    }
}

pub fn turn(frame: &Frame, d: V) -> V {
    let [x, y, z] = frame.axes.map(|axis| axis.0);
    add(add(scale(x, d[0]), scale(y, d[1])), scale(z, d[2]))
}

pub fn world(frame: &Frame, s: V) -> V {
    add(frame.centre.0, turn(frame, s))
}

pub fn local(frame: &Frame, p: V) -> V {
    let r = sub(p, frame.centre.0);
    frame.axes.map(|axis| dot(axis.0, r))
}

pub const SPHERE: [[f64; 2]; 2] = [[0.0, PI], [0.0, TAU]];

/// Least value of a function over the surface of a sphere.
pub fn over_sphere(frame: &Frame, sphere: Sphere, f: impl Fn(V) -> f64) -> f64 {
    let c = world(frame, sphere.centre);
    least(&SPHERE, 12, |x| f(add(c, scale(on_sphere(x), sphere.radius))))
}

pub fn off_sphere(sphere: Sphere) -> Off {
    Box::new(move |_, frame, p| norm(sub(p, world(frame, sphere.centre))) - sphere.radius)
}

pub fn off_plane(plane: Plane) -> Off {
    Box::new(move |_, frame, p| dot(sub(p, world(frame, plane.point)), turn(frame, plane.normal)))
}

pub fn off_segment(ends: [V; 2], along: Option<V>) -> Off {
    Box::new(move |_, frame, p| {
        let [p0, p1] = ends.map(|end| world(frame, end));
        let flat = |d: V| along.map_or(d, |axis| sub(d, scale(turn(frame, axis), dot(d, turn(frame, axis)))));
        least(&[[0.0, 1.0]], 20, |t| norm(flat(sub(p, add(p0, scale(sub(p1, p0), t[0]))))))
    })
}

fn off_cylinder(centre: V, axis: V, radius: f64) -> Off {
    Box::new(move |_, frame, p| from_line(p, world(frame, centre), turn(frame, axis)) - radius)
}

pub fn off_block(block: Block) -> Off {
    Box::new(move |_, frame, p| {
        let y = sub(local(frame, p), block.centre);
        let n = if block.is_planar() { 2 } else { 3 };
        let y: Vec<f64> = (0..n).map(|i| dot(y, block.axes[i]).abs() - block.half[i]).collect();
        // on the surface: no coordinate beyond, one of them at its half length
        y.iter().fold(f64::NEG_INFINITY, |most, y| most.max(*y))
    })
}

fn off_corner(block: Block) -> Off {
    Box::new(move |place, frame, p| {
        let sign = |i: usize| if place >> i & 1 == 0 { 1.0 } else { -1.0 };
        let corner = (0..3).fold(block.centre, |c, i| add(c, scale(block.axes[i], sign(i) * block.half[i])));
        norm(sub(local(frame, p), corner))
    })
}

pub fn plane(r: &mut Random) -> Plane {
    Plane { point: r.place(0.5), normal: r.direction() }
}

pub fn block(r: &mut Random) -> Block {
    let half = [r.number(0.3, 1.0), r.number(0.3, 1.0), if r.planar { 0.0 } else { r.number(0.3, 1.0) }];
    Block { centre: r.place(0.5), axes: r.axes(), half }
}

pub fn ends(r: &mut Random) -> [V; 2] {
    let (p, d) = (r.place(0.5), r.direction());
    [p, add(p, scale(d, r.number(0.5, 2.0)))]
}

/// A direction normal to the line between two ends.
fn normal_to(r: &mut Random, [p, q]: [V; 2]) -> V {
    if r.planar { [0.0, 0.0, 1.0] } else { unit(cross(unit(sub(q, p)), r.direction())) }
}

fn sphere_plane(r: &mut Random) -> Case {
    let (plane, sphere) =
        (plane(r), Sphere { radius: [0.0, r.number(0.3, 1.0)][r.rng.random_range(0..2)], ..r.sphere() });
    let frames = [r.frame(), r.frame()];
    let gap: Gap = Box::new(move |_, [a, b]| {
        let (o, n) = (world(a, plane.point), turn(a, plane.normal));
        over_sphere(b, sphere, |p| dot(sub(p, o), n))
    });
    Case { pair: SpherePlane { plane, sphere }.into(), frames, gap, off_a: off_plane(plane), off_b: off_sphere(sphere) }
}

fn sphere_segment(r: &mut Random) -> Case {
    let (segment, sphere) = (Segment { ends: ends(r) }, r.sphere());
    let frames = [r.frame(), r.frame()];
    let off = off_segment(segment.ends, None);
    let gap: Gap = Box::new(move |_, [a, b]| off(0, a, world(b, sphere.centre)) - sphere.radius);
    let off_a = off_segment(segment.ends, None);
    Case { pair: SphereSegment { segment, sphere }.into(), frames, gap, off_a, off_b: off_sphere(sphere) }
}

fn sphere_strip(r: &mut Random) -> Case {
    let (ends, sphere) = (ends(r), r.sphere());
    let along = normal_to(r, ends);
    let frames = [r.frame(), r.frame()];
    let gap: Gap = Box::new(move |_, [a, b]| {
        let c = world(b, sphere.centre);
        let [p0, p1] = ends.map(|end| world(a, end));
        let at = |x: &[f64]| add(add(p0, scale(sub(p1, p0), x[0])), scale(turn(a, along), x[1]));
        least(&[[0.0, 1.0], [-10.0, 10.0]], 30, |x| norm(sub(c, at(x)))) - sphere.radius
    });
    let off_a = off_segment(ends, Some(along));
    let pair = SphereStrip { strip: Strip { ends, along }, sphere };
    Case { pair: pair.into(), frames, gap, off_a, off_b: off_sphere(sphere) }
}

fn cylinder_strip(r: &mut Random) -> Case {
    let (ends, sphere) = (ends(r), r.sphere());
    let along = normal_to(r, ends);
    let cylinder =
        Cylinder { centre: sphere.centre, axis: r.direction(), radius: sphere.radius, half: r.number(0.1, 1.0) };
    let frames = [r.frame(), r.frame()];
    let off = off_segment(ends, Some(along));
    let gap: Gap = Box::new(move |place, [a, b]| off(0, a, world(b, rim_centre(cylinder, place))) - cylinder.radius);
    let off_b: Off =
        Box::new(move |place, frame, p| norm(sub(p, world(frame, rim_centre(cylinder, place)))) - cylinder.radius);
    let pair = CylinderStrip { strip: Strip { ends, along }, cylinder };
    Case { pair: pair.into(), frames, gap, off_a: off_segment(ends, Some(along)), off_b }
}

fn sphere_block(r: &mut Random) -> Case {
    let (block, sphere) =
        (block(r), Sphere { radius: [0.0, r.number(0.1, 0.5)][r.rng.random_range(0..2)], ..r.sphere() });
    let frames = [r.frame(), r.frame()];
    let gap: Gap = Box::new(move |_, [a, b]| {
        let n = if block.is_planar() { 2 } else { 3 };
        let c = local(a, world(b, sphere.centre));
        let inside = off_block(block)(0, a, world(b, sphere.centre));
        let ranges: Vec<[f64; 2]> = (0..n).map(|i| [-block.half[i], block.half[i]]).collect();
        let at = |x: &[f64]| (0..n).fold(block.centre, |p, i| add(p, scale(block.axes[i], x[i])));
        let outside = || least(&ranges, 7, |x| norm(sub(c, at(x))));
        (if inside <= 0.0 { inside } else { outside() }) - sphere.radius
    });
    Case { pair: SphereBlock { block, sphere }.into(), frames, gap, off_a: off_block(block), off_b: off_sphere(sphere) }
}

fn sphere_sphere(r: &mut Random) -> Case {
    let (first, second) = (r.sphere(), r.sphere());
    let a = r.frame();
    let distance = (first.radius + second.radius) * r.number(0.9, 1.5);
    let at = add(world(&a, first.centre), scale(r.direction(), distance));
    let frames = [a, r.frame_at(second.centre, at)];
    let gap: Gap = Box::new(move |_, [a, b]| {
        let c = world(a, first.centre);
        over_sphere(b, second, |p| norm(sub(p, c)) - first.radius)
    });
    Case {
        pair: SphereSphere { first, second }.into(),
        frames,
        gap,
        off_a: off_sphere(first),
        off_b: off_sphere(second),
    }
}

/// A centre inside of something round about `centre`, from nearly touching to a little too deep.
fn inside(r: &mut Random, a: &Frame, centre: V, play: f64) -> V {
    add(world(a, centre), scale(r.direction(), play * r.number(0.3, 1.1)))
}

fn ball_socket(r: &mut Random) -> Case {
    let ball = r.sphere();
    let socket = Socket { centre: r.place(0.5), radius: ball.radius + r.number(0.2, 1.0) };
    let a = r.frame();
    let at = inside(r, &a, socket.centre, socket.radius - ball.radius);
    let frames = [a, r.frame_at(ball.centre, at)];
    let gap: Gap = Box::new(move |_, [a, b]| {
        let c = world(a, socket.centre);
        over_sphere(b, ball, |p| socket.radius - norm(sub(p, c)))
    });
    let off_a = off_sphere(Sphere { centre: socket.centre, radius: socket.radius });
    Case { pair: BallSocket { socket, ball }.into(), frames, gap, off_a, off_b: off_sphere(ball) }
}

fn bore(r: &mut Random, radius: f64) -> Bore {
    Bore { centre: r.place(0.5), axis: r.axis(), radius }
}

fn pin_hole(r: &mut Random) -> Case {
    let pin = r.sphere();
    let play = r.number(0.2, 1.0);
    let hole = bore(r, pin.radius + play);
    let a = r.frame();
    let at = inside(r, &a, hole.centre, play);
    let frames = [a, r.frame_at(pin.centre, at)];
    let gap: Gap = Box::new(move |_, [a, b]| {
        let (o, d) = (world(a, hole.centre), turn(a, hole.axis));
        over_sphere(b, pin, |p| hole.radius - from_line(p, o, d))
    });
    let off_a = off_cylinder(hole.centre, hole.axis, hole.radius);
    Case { pair: PinHole { hole, pin }.into(), frames, gap, off_a, off_b: off_sphere(pin) }
}

fn pin_in_bore(r: &mut Random) -> (Bore, Cylinder, [Frame; 2]) {
    let pin = Cylinder { centre: r.place(0.5), axis: r.axis(), radius: r.number(0.5, 1.0), half: r.number(0.2, 1.0) };
    let play = r.number(0.3, 0.5);
    let bore = bore(r, pin.radius + play);
    let a = r.frame();
    let at = inside(r, &a, bore.centre, play);
    let mut b = r.frame_at(pin.centre, at);
    // its axis along that of the bore, but for a tilt
    let wanted = unit(add(turn(&a, bore.axis), scale(r.place(1.0), 0.3)));
    let now = turn(&b, pin.axis);
    let about = cross(now, wanted);
    if norm(about) > 1e-6 {
        let (axis, angle) = (unit(about), norm(about).atan2(dot(now, wanted)));
        b.axes = b.axes.map(|e| carom::multibody::Vector(crate::rotate(e.0, axis, angle)));
        b.centre = carom::multibody::Vector(sub(at, turn(&b, pin.centre)));
    }
    (bore, pin, [a, b])
}

fn rim_centre(pin: Cylinder, rim: usize) -> V {
    add(pin.centre, scale(pin.axis, if rim == 0 { pin.half } else { -pin.half }))
}

fn rims_sphere(r: &mut Random) -> Case {
    let (bore, pin, frames) = pin_in_bore(r);
    let rim = move |rim: usize| Sphere { centre: rim_centre(pin, rim), radius: pin.radius };
    let gap: Gap = Box::new(move |place, [a, b]| {
        let (o, d) = (world(a, bore.centre), turn(a, bore.axis));
        over_sphere(b, rim(place), |p| bore.radius - from_line(p, o, d))
    });
    let off_a = off_cylinder(bore.centre, bore.axis, bore.radius);
    let off_b: Off = Box::new(move |place, frame, p| off_sphere(rim(place))(0, frame, p));
    Case { pair: RimsBore { bore, pin, rim: Rim::Sphere }.into(), frames, gap, off_a, off_b }
}

/// A point of a rim by its angle.
fn rim_point(b: &Frame, cylinder: Cylinder, rim: usize, angle: f64) -> V {
    let axis = turn(b, cylinder.axis);
    let e = unit(cross(axis, if axis[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] }));
    let spoke = add(scale(e, angle.cos()), scale(cross(axis, e), angle.sin()));
    add(world(b, rim_centre(cylinder, rim)), scale(spoke, cylinder.radius))
}

/// How far a point is from a rim.
fn off_rim(cylinder: Cylinder, rim: usize, b: &Frame, p: V) -> f64 {
    let (c, axis) = (world(b, rim_centre(cylinder, rim)), turn(b, cylinder.axis));
    dot(sub(p, c), axis).abs().max((norm(sub(p, c)) - cylinder.radius).abs())
}

fn rims_exact(r: &mut Random) -> Case {
    let (bore, pin, frames) = pin_in_bore(r);
    let gap: Gap = Box::new(move |place, [a, b]| {
        let (o, d) = (world(a, bore.centre), turn(a, bore.axis));
        least(&[[0.0, TAU]], 40, |x| bore.radius - from_line(rim_point(b, pin, place, x[0]), o, d))
    });
    let off_a = off_cylinder(bore.centre, bore.axis, bore.radius);
    let off_b: Off = Box::new(move |place, frame, p| off_rim(pin, place, frame, p));
    Case { pair: RimsBore { bore, pin, rim: Rim::Exact }.into(), frames, gap, off_a, off_b }
}

fn slot(r: &mut Random) -> Case {
    let pin = r.sphere();
    let play = r.number(0.2, 1.0);
    let ends = ends(r);
    let slot = Slot { ends, axis: normal_to(r, ends), radius: pin.radius + play };
    let a = r.frame();
    let at = loop {
        let middle = add(ends[0], scale(sub(ends[1], ends[0]), r.number(0.0, 1.0)));
        let at = inside(r, &a, middle, play);
        // the normal is undefined on the middle line
        if off_segment(ends, Some(slot.axis))(0, &a, at) > 0.1 * play {
            break at;
        }
    };
    let frames = [a, r.frame_at(pin.centre, at)];
    let off = move || off_segment(slot.ends, Some(slot.axis));
    let gap: Gap = Box::new(move |_, [a, b]| {
        // the search over the pin, on segments by formula for speed
        let [p0, p1] = slot.ends.map(|end| world(a, end));
        let (axis, e, length) = (turn(a, slot.axis), unit(sub(p1, p0)), norm(sub(p1, p0)));
        let off = |p: V| {
            let s = dot(sub(p, p0), e).clamp(0.0, length);
            let d = sub(sub(p, p0), scale(e, s));
            norm(sub(d, scale(axis, dot(d, axis))))
        };
        over_sphere(b, pin, |p| slot.radius - off(p))
    });
    let off_a: Off = Box::new(move |place, frame, p| off()(place, frame, p) - slot.radius);
    Case { pair: SphereSlot { slot, pin }.into(), frames, gap, off_a, off_b: off_sphere(pin) }
}

fn ring(r: &mut Random) -> Case {
    let sphere = Sphere { radius: [0.0, r.number(0.1, 0.4)][r.rng.random_range(0..2)], ..r.sphere() };
    let ring = Ring { centre: r.place(0.5), axis: r.axis(), radius: r.number(0.6, 1.5) };
    let a = r.frame();
    let inner = r.rng.random_range(0..2) == 0;
    let play = if inner { ring.radius - sphere.radius } else { 2.0 * (ring.radius + sphere.radius) };
    let at = inside(r, &a, ring.centre, play);
    let frames = [a, r.frame_at(sphere.centre, at)];
    let side = if inner { Side::Inside } else { Side::Outside };
    let gap: Gap = Box::new(move |_, [a, b]| {
        let (o, d) = (world(a, ring.centre), turn(a, ring.axis));
        let sign = if inner { 1.0 } else { -1.0 };
        if inner {
            over_sphere(b, sphere, |p| sign * (ring.radius - from_line(p, o, d)))
        } else {
            // the wall seen from the centre of the sphere
            let (c, e) = (
                world(b, sphere.centre),
                unit(cross(d, if d[0].abs() < 0.6 { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] })),
            );
            let at = |x: &[f64]| {
                let spoke = add(scale(e, x[0].cos()), scale(cross(d, e), x[0].sin()));
                add(add(o, scale(spoke, ring.radius)), scale(d, x[1]))
            };
            let far = least(&[[0.0, TAU], [-8.0, 8.0]], 30, |x| norm(sub(c, at(x))));
            let sign = if from_line(c, o, d) < ring.radius { -1.0 } else { 1.0 };
            sign * far - sphere.radius
        }
    });
    let off_a = off_cylinder(ring.centre, ring.axis, ring.radius);
    Case { pair: RingSphere { ring, sphere, side }.into(), frames, gap, off_a, off_b: off_sphere(sphere) }
}

fn block_plane(r: &mut Random) -> Case {
    let (plane, block) = (plane(r), block(r));
    let frames = [r.frame(), r.frame()];
    let gap: Gap = Box::new(move |place, [a, b]| {
        let sign = |i: usize| if place >> i & 1 == 0 { 1.0 } else { -1.0 };
        let corner = (0..3).fold(block.centre, |c, i| add(c, scale(block.axes[i], sign(i) * block.half[i])));
        dot(sub(world(b, corner), world(a, plane.point)), turn(a, plane.normal))
    });
    Case { pair: BlockPlane { plane, block }.into(), frames, gap, off_a: off_plane(plane), off_b: off_corner(block) }
}

fn corner_wall(r: &mut Random) -> Case {
    let block = block(r);
    let axes = r.axes();
    let (half, axis) = (r.number(0.5, 1.5), r.rng.random_range(0..2));
    let pair = CornerWall { centre: r.place(0.5), normal: axes[0], along: axes[1], half, block, axis };
    let frames = [r.frame(), r.frame()];
    let gap: Gap = Box::new(move |place, [a, b]| {
        let sign = |i: usize| if place >> i & 1 == 0 { 1.0 } else { -1.0 };
        let corner = (0..3).fold(block.centre, |c, i| add(c, scale(block.axes[i], sign(i) * block.half[i])));
        let d = turn(a, pair.normal);
        half - sign(axis) * dot(sub(world(b, corner), world(a, pair.centre)), d)
    });
    let off_a: Off =
        Box::new(move |_, frame, p| dot(sub(p, world(frame, pair.centre)), turn(frame, pair.normal)).abs() - half);
    Case { pair: pair.into(), frames, gap, off_a, off_b: off_corner(block) }
}

fn cylinder_plane(r: &mut Random) -> Case {
    let plane = plane(r);
    let thin = r.rng.random_range(0..4) == 0;
    let half = if thin { 0.0 } else { r.number(0.2, 1.0) };
    let cylinder = Cylinder { centre: r.place(0.5), axis: r.direction(), radius: r.number(0.3, 1.0), half };
    let frames = [r.frame(), r.frame()];
    let rims = if thin { 1 } else { 2 };
    let gap: Gap = Box::new(move |place, [a, b]| {
        let (o, n) = (world(a, plane.point), turn(a, plane.normal));
        let height = |p: V| dot(sub(p, o), n);
        match place.checked_sub(rims) {
            None => least(&[[0.0, TAU]], 40, |x| height(rim_point(b, cylinder, place, x[0]))),
            // a fixed point: the height of the point itself, which the test of points puts on the rim
            Some(_) => {
                let pair = CylinderPlane { plane, cylinder };
                height(pair.touch::<f64>(place, (a, b)).on_b.0)
            }
        }
    });
    let off_b: Off = Box::new(move |place, frame, p| {
        let rim = place.checked_sub(rims).map_or(place, |fixed| fixed / 3);
        off_rim(cylinder, rim, frame, p)
    });
    Case { pair: CylinderPlane { plane, cylinder }.into(), frames, gap, off_a: off_plane(plane), off_b }
}

/// A cam of random lobes, and the value of its spline by an independent solution of the conditions.
pub fn cam(r: &mut Random) -> Vec<[f64; 2]> {
    let n = r.rng.random_range(8..30);
    let (lobes, high, shift) = (r.rng.random_range(1..4), r.number(0.05, 0.25), r.number(0.0, TAU));
    let turn = if r.rng.random_range(0..2) == 0 { 1.0 } else { -1.0 };
    let at = |j: usize| {
        let angle = turn * TAU * j as f64 / n as f64;
        let radius = 1.0 + high * (f64::from(lobes) * angle + shift).cos();
        [radius * angle.cos(), radius * angle.sin()]
    };
    (0..n).map(at).collect()
}

/// Points of the curve by the values and slopes of its pieces: slopes from the conditions of continuous second
/// derivatives, solved by relaxation.
pub struct Hermite {
    points: Vec<[f64; 2]>,
    slopes: Vec<[f64; 2]>,
}

impl Hermite {
    pub fn new(points: Vec<[f64; 2]>) -> Self {
        let n = points.len();
        let mut slopes = vec![[0.0; 2]; n];
        for _ in 0..200 {
            for j in 0..n {
                let (next, last) = ((j + 1) % n, (j + n - 1) % n);
                slopes[j] = std::array::from_fn(|i| {
                    (3.0 * (points[next][i] - points[last][i]) - slopes[next][i] - slopes[last][i]) / 4.0
                });
            }
        }
        Hermite { points, slopes }
    }

    pub fn at(&self, s: f64) -> [f64; 2] {
        let n = self.points.len();
        let s = s.rem_euclid(n as f64);
        let j = (s.floor() as usize).min(n - 1);
        let (t, k) = (s - j as f64, (j + 1) % n);
        let u = 1.0 - t;
        std::array::from_fn(|i| {
            self.points[j][i] * u * u * (1.0 + 2.0 * t)
                + self.points[k][i] * t * t * (1.0 + 2.0 * u)
                + self.slopes[j][i] * t * u * u
                - self.slopes[k][i] * t * t * u
        })
    }

    /// Signed distance from the curve, positive outside.
    pub fn distance(&self, c: [f64; 2]) -> f64 {
        let n = self.points.len();
        let of = |s: f64| {
            let p = self.at(s);
            (p[0] - c[0]).hypot(p[1] - c[1])
        };
        let far = least(&[[0.0, n as f64]], 10 * n, |x| of(x[0]));
        // how often the curve goes around the point
        let mut turn = 0.0;
        let steps = 40 * n;
        for k in 0..steps {
            let [p, q] = [k, k + 1].map(|k| self.at(k as f64 * n as f64 / steps as f64));
            let (p, q) = ([p[0] - c[0], p[1] - c[1]], [q[0] - c[0], q[1] - c[1]]);
            turn += (p[0] * q[1] - p[1] * q[0]).atan2(p[0] * q[0] + p[1] * q[1]);
        }
        if turn.abs() > PI { -far } else { far }
    }
}

fn curve(r: &mut Random) -> Case {
    let points = cam(r);
    let sphere = Sphere { radius: [0.0, r.number(0.1, 0.5)][r.rng.random_range(0..2)], ..r.sphere() };
    let axes = r.axes();
    let spline = std::sync::Arc::new(Spline::through(&points).unwrap());
    let curve = pair::Curve { centre: r.place(0.5), axes: [axes[0], axes[1]], spline };
    let a = r.frame();
    let (angle, far) = (r.number(0.0, TAU), r.number(1.15, 2.0) + sphere.radius);
    let out = add(scale(axes[0], far * angle.cos()), scale(axes[1], far * angle.sin()));
    let lift = if r.planar { 0.0 } else { r.number(-1.0, 1.0) };
    let at = world(&a, add(add(curve.centre, out), scale(axes[2], lift)));
    let frames = [a, r.frame_at(sphere.centre, at)];
    let hermite = std::rc::Rc::new(Hermite::new(points));
    let centre = curve.centre;
    let flat = move |frame: &Frame, p: V| {
        let y = sub(local(frame, p), centre);
        [dot(y, axes[0]), dot(y, axes[1])]
    };
    let (shape, wall) = (hermite.clone(), hermite);
    let gap: Gap = Box::new(move |_, [a, b]| shape.distance(flat(a, world(b, sphere.centre))) - sphere.radius);
    let off_a: Off = Box::new(move |_, frame, p| wall.distance(flat(frame, p)));
    Case { pair: CurveSphere { curve, sphere }.into(), frames, gap, off_a, off_b: off_sphere(sphere) }
}

pub type Maker = fn(&mut Random) -> Case;

/// The pairs, and whether they are in the plane and in space.
pub const CASES: &[(&str, Maker, bool, bool)] = &[
    ("sphere and plane", sphere_plane, true, true),
    ("sphere and segment", sphere_segment, true, true),
    ("sphere and strip", sphere_strip, true, true),
    ("sphere and box", sphere_block, true, true),
    ("sphere and sphere", sphere_sphere, true, true),
    ("ball and socket", ball_socket, true, true),
    ("pin and hole", pin_hole, true, true),
    ("rims as spheres and bore", rims_sphere, false, true),
    ("rims and bore", rims_exact, false, true),
    ("pin and slot", slot, true, true),
    ("sphere and ring", ring, true, true),
    ("box and plane", block_plane, true, true),
    ("box and guide", corner_wall, true, true),
    ("cylinder and plane", cylinder_plane, false, true),
    ("cylinder and strip", cylinder_strip, false, true),
    ("cam and roller", curve, true, true),
    ("box and box", solids::block_block, true, true),
    ("capsule and plane", solids::capsule_plane, true, true),
    ("capsule and sphere", solids::capsule_sphere, true, true),
    ("capsule and capsule", solids::capsule_capsule, false, true),
    ("capsule and box", solids::capsule_block, true, true),
    ("cylinder and sphere", solids::sphere_cylinder, false, true),
    ("ellipsoid and plane", solids::ellipsoid_plane, false, true),
    ("ellipsoid and sphere", solids::ellipsoid_sphere, false, true),
    ("torus and plane", solids::torus_plane, false, true),
    ("torus and sphere", solids::torus_sphere, false, true),
    ("convex shape and plane", convex::convex_plane, true, true),
    ("convex shape and sphere", convex::convex_sphere, true, true),
    ("convex shape and capsule", convex::capsule_convex, true, true),
    ("two convex shapes", convex::convex_convex, true, true),
    ("convex shape and box", convex::convex_block, true, true),
    ("box and cylinder", bulk::block_cylinder, false, true),
    ("convex shape and cylinder", bulk::convex_cylinder, false, true),
    ("two cylinders", bulk::cylinder_cylinder, false, true),
    ("cylinder and capsule", bulk::cylinder_capsule, false, true),
    ("cylinder and ellipsoid", bulk::cylinder_ellipsoid, false, true),
    ("box and ellipsoid", bulk::block_ellipsoid, false, true),
    ("convex shape and ellipsoid", bulk::convex_ellipsoid, false, true),
    ("capsule and ellipsoid", bulk::capsule_ellipsoid, false, true),
    ("two ellipsoids", bulk::ellipsoid_ellipsoid, false, true),
    ("box and torus", bulk::block_torus, false, true),
    ("convex shape and torus", bulk::convex_torus, false, true),
    ("cylinder and torus", bulk::cylinder_torus, false, true),
    ("capsule and torus", bulk::capsule_torus, false, true),
    ("ellipsoid and torus", bulk::ellipsoid_torus, false, true),
    ("two tori", bulk::torus_torus, false, true),
];
