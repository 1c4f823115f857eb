//! Fast small bodies do not tunnel where steps are shortened: steps end where bodies meet, by closed forms.

use crate::{ball, floor, rough};
use carom::multibody::pair::{Block, Capsule, Convex, Shape, Sphere};
use carom::multibody::{Body, Multibody, MultibodyModel, Solid, Vector};
use carom::scheme::AnyModel;
use carom::simulation::{Adaptive, FixedStep, Observer, StepView};
use carom::{Coupling, ModelError, Simulation, Space, State, Warnings};
use serde_json::json;
use std::ops::ControlFlow;

/// Length of steps [s].
const H: f64 = 1e-3;

/// When contacts began to act, for each step in which one did: the time at its start, or at its end in schemes whose
/// contacts act at ends of steps; where bodies are at the end, and how many steps there were.
#[derive(Default)]
struct Log {
    acted: Vec<[f64; 2]>,
    end: State,
    steps: usize,
}

impl Observer for Log {
    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let reactions = view.reactions();
        if (0..reactions.len()).any(|i| reactions.normal(i) > 0.0) {
            self.acted.push([view.from().t, view.to().t]);
        }
        self.end.copy_from(view.to());
        self.steps += 1;
        Ok(ControlFlow::Continue(()))
    }
}

fn simulation(model: Multibody, scheme: &str, end: f64) -> Simulation {
    let row = carom::scheme::find(scheme).unwrap();
    let model = AnyModel::Mechanical(Box::new(model.build().unwrap()));
    let stepper = (row.bind)(&json!({}), model, carom_solve::solver::default()).unwrap();
    Simulation::new(stepper, Box::new(FixedStep { h: H }), end).unwrap()
}

fn run(model: Multibody, scheme: &str, end: f64) -> Log {
    let mut log = Log::default();
    simulation(model, scheme, end).shortening().unwrap().run(&mut [&mut log]).unwrap();
    log
}

/// The first impact is in time to 1e-9 of the time.
fn assert_meets(log: &Log, meeting: f64, what: &str) {
    let first = log.acted.first().unwrap_or_else(|| panic!("{what}: nothing acted"));
    let off = first.map(|t| (t - meeting).abs() / meeting).into_iter().fold(f64::INFINITY, f64::min);
    assert!(off < 1e-9, "{what}: {first:?} in place of {meeting}: {off:.1e}");
}

fn plate(at: [f64; 3], half: [f64; 3]) -> Solid {
    Solid::new("ground", "plate", Shape::Block(Block { centre: at, ..Block::new(half) })).material("steel")
}

fn bullet(name: &str, shape: Shape, at: [f64; 3], velocity: [f64; 3]) -> (Body, Solid) {
    let body = Body::new(name, 0.01, 1e-7).at(at).velocity(velocity);
    (body, Solid::new(name, "bullet", shape).material("steel"))
}

fn steel(restitution: f64) -> Multibody {
    Multibody::spatial().material("steel", rough(0.0, restitution))
}

trait With {
    fn with(self, bullet: (Body, Solid)) -> Self;
}

impl With for Multibody {
    fn with(self, (body, solid): (Body, Solid)) -> Self {
        self.body(body).solid(solid)
    }
}

/// Shapes that are 5 mm thick to all sides of x, y and z, or at least along x.
fn shapes() -> [(&'static str, Shape); 4] {
    let r = 0.005;
    let corner = |k: u32| [0, 1, 2].map(|i| if k >> i & 1 == 0 { r } else { -r });
    let corners: Vec<[f64; 3]> = (0..8).map(corner).collect();
    [
        ("ball", ball(r)),
        ("box", Shape::Block(Block::new([r; 3]))),
        ("capsule", Shape::Capsule(Capsule { ends: [[0.0, -0.01, 0.0], [0.0, 0.01, 0.0]], radius: r })),
        ("hull", Shape::Convex(Convex::around(&corners).unwrap())),
    ]
}

/// Bullets of 5 mm at 300 m/s, 0.3 m in a step, and a plate of 2 mm: at many places of a step, straight and aslant, in
/// every scheme and with every restitution.
#[test]
fn bullets_meet_a_thin_plate_in_time() {
    for scheme in ["moreau-jean", "direct-projection", "combined-projection", "higher-order"] {
        for (name, shape) in shapes() {
            for k in 0..20 {
                let (x, across, e) = (1.0 + 0.3 * f64::from(k) / 20.0, 40.0 * f64::from(k % 4), 0.5 * f64::from(k % 3));
                let model = steel(e).solid(plate([x, 0.0, 0.0], [0.001, 2.0, 2.0]));
                let log = run(model.with(bullet("b", shape.clone(), [0.0; 3], [300.0, across, 0.0])), scheme, 0.01);
                let what = format!("{scheme} {name} {k}");
                let (meeting, place) = ((x - 0.006) / 300.0, x - 0.006);
                assert_meets(&log, meeting, &what);
                assert!((log.end.v[0] + 300.0 * e).abs() < 1e-9, "{what}: {:?}", log.end.v);
                // the step in which it acts is so short that its velocity hardly matters
                let back = place - 300.0 * e * (0.01 - meeting);
                assert!((log.end.q[0] - back).abs() < 2e-5, "{what}: {} {back}", log.end.q[0]);
                assert!(log.steps < 20, "{what}: {} steps", log.steps);
            }
        }
    }
}

/// Two balls at each other, off centre: |r + v t| = 2 R. What is promised is a distance, 1e-9 of way and thickness: at
/// a glancing angle more time is left.
#[test]
fn bullets_meet_each_other_in_time() {
    let mut met = 0;
    for k in 0..60 {
        let (a, b) = ([0.0, 0.0, 0.0], [2.0, 0.0021 * f64::from(k % 6), 0.03]);
        let (u, v) = ([400.0, 0.0, 10.0], [-250.0 - 10.0 * f64::from(k), 0.0, -0.5]);
        let model = steel(0.5).with(bullet("a", ball(0.005), a, u)).with(bullet("b", ball(0.005), b, v));
        let (r, w): ([f64; 3], [f64; 3]) = (std::array::from_fn(|i| b[i] - a[i]), std::array::from_fn(|i| v[i] - u[i]));
        let dot = |x: [f64; 3], y: [f64; 3]| (0..3).map(|i| x[i] * y[i]).sum::<f64>();
        let (p, q, c) = (dot(w, w), dot(r, w), dot(r, r) - 1e-4);
        let discriminant = q * q - p * c;
        let log = run(model, "moreau-jean", 0.006);
        if discriminant > 0.0 {
            met += 1;
            // |r|' at the meeting is √discriminant/2R
            let (meeting, rate) = ((-q - discriminant.sqrt()) / p, discriminant.sqrt() / 0.01);
            let off = (log.acted[0][0] - meeting).abs() * rate;
            assert!(off < 2e-9 * (0.01 + H * p.sqrt()), "{k}: {:?} {meeting}: {off:.1e} m", log.acted);
        } else {
            assert!(log.acted.is_empty(), "{k}: {:?}", log.acted);
        }
    }
    assert!((20..50).contains(&met), "{met} of 60 meet");
}

/// A thin plate that falls under strong gravity on a thin plate, t = √(2 d/g), on a way that is bent within the step.
#[test]
fn plates_meet_on_a_bent_way() {
    for (scheme, distance) in [("moreau-jean", 0.73), ("moreau-jean", 0.61), ("combined-projection", 0.67)] {
        let gravity = 9.81e4;
        let falling = Shape::Block(Block::new([0.2, 0.2, 0.001]));
        let model = steel(0.0).gravity([0.0, 0.0, -gravity]).solid(plate([0.0; 3], [0.2, 0.2, 0.001])).with(bullet(
            "b",
            falling,
            [0.0, 0.0, distance + 0.002],
            [0.0; 3],
        ));
        let log = run(model, scheme, 0.0045);
        assert_meets(&log, (2.0 * distance / gravity).sqrt(), scheme);
        assert!((log.end.q[2] - 0.002).abs() < 1e-4, "{:?}", log.end.q);
    }
}

/// A ball at rest that is hit by a fast one flies on into a plate within the same step. And a rod that spins: its end
/// is at the height of the plate after the angle asin(z/l).
#[test]
fn what_is_pushed_on_and_what_spins_meets_in_time() {
    // they touch at the start, 0.2 m before the plate
    let model = steel(1.0)
        .solid(plate([0.2, 0.0, 0.0], [0.001, 1.0, 1.0]))
        .with(bullet("a", ball(0.005), [-0.01, 0.0, 0.0], [300.0, 0.0, 0.0]))
        .with(bullet("b", ball(0.005), [0.0; 3], [0.0; 3]));
    let log = run(model, "moreau-jean", 0.002);
    let meeting = 0.194 / 300.0;
    let off = log.acted.iter().flatten().map(|t| (t - meeting).abs()).fold(f64::INFINITY, f64::min);
    // the first contact acts in a step that is as short as a thousandth of 5 mm is long
    assert!(off < 2e-8, "{:?} {meeting}", log.acted);
    assert!(log.end.q[7] < 0.194 + 1e-9, "{:?}", log.end.q);
    // half a radian in a step; the end of the axis of the capsule is above the plate by its radius
    let (l, spin, z) = (0.1, 500.0, 0.03);
    let rod = Shape::Capsule(Capsule { ends: [[0.0; 3], [l, 0.0, 0.0]], radius: 0.002 });
    let body = Body::new("rod", 1.0, 1e-3).spin([0.0, -spin, 0.0]);
    let model = steel(0.0)
        .solid(plate([0.0, 0.0, z + 0.002 + 0.001], [1.0, 1.0, 0.001]))
        .with((body, Solid::new("rod", "rod", rod).material("steel")));
    let log = run(model, "moreau-jean", 0.001);
    assert_meets(&log, (z / l).asin() / spin, "rod");
}

/// Half spaces are met in time, too, and what is slow is left alone: the bits are those of a run without the option.
#[test]
fn half_spaces_are_met_and_slow_bodies_left_alone() {
    for k in 0..10 {
        let z = 1.0 + 0.03 * f64::from(k);
        let ground = Solid::new("ground", "floor", floor()).material("steel");
        let model = steel(0.0).solid(ground).with(bullet("b", ball(0.005), [0.0, 0.0, z], [0.0, 100.0, -300.0]));
        assert_meets(&run(model, "moreau-jean", 0.006), (z - 0.005) / 300.0, &format!("{k}"));
    }
    let slow = || {
        let ground = Solid::new("ground", "floor", floor()).material("steel");
        let model = steel(0.5).gravity([0.0, 0.0, -9.81]).solid(ground);
        let model = model.with(bullet("a", ball(0.005), [0.0, 0.0, 0.02], [0.0; 3]));
        model.with(bullet("b", Shape::Block(Block::new([0.004; 3])), [0.002, 0.0, 0.03], [0.0; 3]))
    };
    let (shortened, mut log) = (run(slow(), "moreau-jean", 0.3), Log::default());
    simulation(slow(), "moreau-jean", 0.3).run(&mut [&mut log]).unwrap();
    assert!(log.acted.len() > 50 && shortened.end == log.end && shortened.steps == log.steps);
}

/// Without the option bullets go through the plate, and a warning names the pair, in every scheme and for every shape.
#[test]
fn what_goes_through_without_the_option_is_told() {
    for scheme in ["moreau-jean", "direct-projection", "combined-projection"] {
        for (name, shape) in shapes() {
            let mut told = 0;
            for k in 0..20 {
                let x = 1.0 + 0.3 * f64::from(k) / 20.0;
                let model = steel(0.0).solid(plate([x, 0.0, 0.0], [0.001, 2.0, 2.0]));
                let mut run =
                    simulation(model.with(bullet("b", shape.clone(), [0.0; 3], [300.0, 0.0, 0.0])), scheme, 0.01);
                let (mut log, mut warnings) = (Log::default(), Warnings::default());
                run.run(&mut [&mut log]).unwrap();
                run.stepper().warnings(&mut warnings);
                let labels = run.stepper().labels().clone();
                let told_of = |warning: &carom::Warning| {
                    let contact = warning.contact.map(|key| labels.contact(key));
                    warning.kind.name == "tunnelled"
                        && contact.is_some_and(|c| c.starts_with("ground/plate - b/bullet"))
                };
                let is_told = warnings.sorted().iter().any(told_of);
                assert_eq!(log.end.q[0] > x, is_told, "{scheme} {name} {k}: {}", log.end.q[0]);
                told += usize::from(is_told);
            }
            assert!(told > 0, "{scheme} {name}: nothing went through");
        }
    }
}

/// With adaptive steps bullets do not go through the plate or a ball of 1 mm unseen: a warning names the pair, or,
/// where steps may be shortened, they come back at half of their velocity, from where they have met.
#[test]
fn adaptive_steps_do_not_let_bullets_through_unseen() {
    let pin = |x: f64| {
        let pin = Sphere { centre: [x, 0.0, 0.0], radius: 0.001 };
        Solid::new("ground", "plate", Shape::Sphere(pin)).material("steel")
    };
    for (name, shape) in shapes() {
        for k in 0..10 {
            let x = 1.0 + 0.37 * f64::from(k);
            for obstacle in [plate([x, 0.0, 0.0], [0.001, 2.0, 2.0]), pin(x)] {
                let fly = |shortens: bool| {
                    let model = steel(0.5).solid(obstacle.clone());
                    let model = model.with(bullet("b", shape.clone(), [0.0; 3], [300.0, 0.0, 0.0])).build().unwrap();
                    let (row, solver) = (carom::scheme::find("moreau-jean").unwrap(), carom_solve::solver::default());
                    let adaptive = Adaptive { tolerance: Some(1e-6), ..Adaptive::default() };
                    let model = AnyModel::Mechanical(Box::new(model));
                    let stepper = (row.bind_adaptive)(&json!({}), adaptive.accuracy(), model, solver).unwrap();
                    let control = Box::new(adaptive.control(1e-4, (0.0, 0.02)));
                    let mut run = Simulation::new(stepper, control, 0.02).unwrap();
                    if shortens {
                        run = run.shortening().unwrap();
                    }
                    let mut log = Log::default();
                    run.run(&mut [&mut log]).unwrap();
                    let labels = run.stepper().labels().clone();
                    let names = |warning: &carom::Warning| {
                        let contact = warning.contact.map(|key| labels.contact(key));
                        contact.is_some_and(|c| c.starts_with("ground/plate - b/bullet"))
                    };
                    (log.end, run.warnings().sorted().iter().any(names))
                };
                let (end, is_told) = fly(false);
                assert!(end.q[0] < x || is_told, "{name} {k}: {}", end.q[0]);
                let (end, _) = fly(true);
                // 5 mm and 1 mm before x, then back
                let meeting = (x - 0.006) / 300.0;
                let back = x - 0.006 - 150.0 * (0.02 - meeting);
                assert!((end.q[0] - back).abs() < 1e-4 * x && end.v[0] < 0.0, "{name} {k}: {} {back}", end.q[0]);
            }
        }
    }
}

/// A gas of balls, boxes and capsules of 5 mm in a box of 0.25 m with walls of 2 mm, up to 0.2 m in a step: nothing
/// comes out, and the energy of a gas without losses hardly changes.
#[test]
fn a_gas_stays_in_its_thin_box() {
    let side = 0.25;
    for planar in [false, true] {
        let mut model = if planar { Multibody::planar() } else { Multibody::spatial() };
        model = model.material("steel", rough(0.0, 1.0));
        for axis in 0..if planar { 2 } else { 3 } {
            for way in [-1.0, 1.0] {
                let (mut at, mut half) = ([0.0; 3], [0.6 * side; 3]);
                (at[axis], half[axis]) = (0.5 * way * side, 0.001);
                if planar {
                    half[2] = 0.0;
                }
                let wall = Shape::Block(Block { centre: at, ..Block::new(half) });
                let name = format!("wall{axis}{}", if way > 0.0 { "ahead" } else { "behind" });
                model = model.solid(Solid::new("ground", &name, wall).material("steel"));
            }
        }
        let r = 0.005;
        for k in 0..12 {
            let place = |i: u32| side * (f64::from((7 * k + 5 * i) % 12) / 12.0 - 0.46);
            let speed = |i: u32| 250.0 * (f64::from((5 * k + 3 * i * i + i) % 11) / 11.0 - 0.5);
            let height = if planar { 0.0 } else { 1.0 };
            let at = [place(0), side * (f64::from(k) / 12.0 - 0.46), height * place(2)];
            let shape = match k % 3 {
                0 => ball(r),
                1 => Shape::Block(Block::new([r, r, height * r])),
                _ => Shape::Capsule(Capsule { ends: [[-r, 0.0, 0.0], [r, 0.0, 0.0]], radius: 0.5 * r }),
            };
            let name = format!("b{k}");
            let body = Body::new(&name, 0.01, 1e-7).at(at).velocity([speed(0), speed(1), height * speed(2)]);
            model = model.body(body).solid(Solid::new(&name, "shape", shape).material("steel"));
        }
        let mut twin = model.clone().build().unwrap();
        let before = twin.energy(&twin.initial()).unwrap().kinetic;
        let mut log = Log::default();
        // several contacts that are far and forecast at once may contradict each other
        let run = simulation(model, "moreau-jean", 0.01).shortening().unwrap();
        run.parting().unwrap().run(&mut [&mut log]).unwrap();
        let after = twin.energy(&log.end).unwrap().kinetic;
        println!(
            "planar {planar}: {} steps, {} with impacts, {:.1e}",
            log.steps,
            log.acted.len(),
            after / before - 1.0
        );
        assert!(log.acted.len() > 30, "{} impacts", log.acted.len());
        // boxes that are slow beside each other turn in the steps in which they meet
        assert!((after / before - 1.0).abs() < 1e-3, "{before} {after}");
        for q in log.end.q.chunks_exact(if planar { 3 } else { 7 }) {
            assert!(q[..if planar { 2 } else { 3 }].iter().all(|x| x.abs() < 0.5 * side), "{q:?}");
        }
    }
}

/// n³ balls that fly by up to eight radii along each axis in a step, each its own way.
fn flying(n: usize) -> (MultibodyModel, [State; 2]) {
    let mut model = steel(0.0);
    for k in 0..n * n * n {
        let at = [k % n, k / n % n, k / n / n].map(|i| 0.03 * i as f64);
        let way = |i: usize| ((7919 * k * (k + 3 * i) + 41 * i) % 101) as f64 / 101.0 - 0.5;
        model = model.with(bullet(&format!("b{k}"), ball(0.005), at, [0, 1, 2].map(|i| 0.08 * way(i) / H)));
    }
    let model = model.build().unwrap();
    let from = model.initial();
    let mut to = from.clone();
    to.t += H;
    for (q, v) in to.q.chunks_exact_mut(7).zip(from.v.chunks_exact(6)) {
        (0..3).for_each(|i| q[i] += H * v[i]);
    }
    (model, [from, to])
}

/// The first of many meetings, against |r + v t| = 2 R of all pairs.
#[test]
fn the_first_meeting_of_many_is_found() {
    let (mut model, [from, to]) = flying(6);
    let (mut first, mut meetings) = (f64::INFINITY, 0);
    let place = |state: &State, k: usize| Vector([0, 1, 2].map(|i| state.q[7 * k + i]));
    for j in 0..216 {
        for i in 0..j {
            let r = place(&from, j) - place(&from, i);
            let w = place(&to, j) - place(&to, i) - r;
            let (p, q, c) = (w.dot(w), r.dot(w), r.dot(r) - 1e-4);
            let discriminant = q * q - p * c;
            let s = (-q - discriminant.sqrt()) / p;
            if discriminant > 0.0 && (0.0..1.0).contains(&s) {
                (first, meetings) = (first.min(s), meetings + 1);
            }
        }
    }
    let found = model.passing((&from, &to), [H, H], (&Coupling::default(), &[], &[])).unwrap();
    assert!(meetings > 10 && (found - first).abs() < 1e-8, "{meetings} meetings: {found} {first}");
}

/// One look at them.
fn seconds(n: usize) -> f64 {
    let (mut model, [from, to]) = flying(n);
    let (none, mut best) = (Coupling::default(), f64::INFINITY);
    for _ in 0..5 {
        let clock = std::time::Instant::now();
        assert!(model.passing((&from, &to), [H, H], (&none, &[], &[])).is_some());
        best = best.min(clock.elapsed().as_secs_f64());
    }
    best
}

#[test]
#[ignore = "long: measures time, alone on its machine"]
fn following_ways_is_linear_in_bodies() {
    // few of them at the border
    let (small, large) = (seconds(11), seconds(22));
    let exponent = (large / small).ln() / 8f64.ln();
    println!("{small:.3e} s for 1331, {large:.3e} s for 10648 bodies: exponent {exponent:.3}");
    assert!(exponent <= 1.1, "exponent {exponent}");
}
