//! Orbits, exponents and sensitivities of models of bodies, against closed forms and against the same systems in
//! minimal coordinates.

use carom_analysis::study::orbit::{Case, Follow, Options, Section, SpecialKind, Stability, find};
use carom_analysis::study::{StudyError, lyapunov, saltation};
use carom_scene::{Overrides, Scene, from_str};

fn load(text: &str) -> Scene {
    let scheme = r#"{ name = "event-driven", atol = 1e-12, rtol = 1e-12 }"#;
    let overrides = Overrides { scheme: Some(scheme.into()), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

fn with(scene: &Scene, set: &[(&str, f64)]) -> Scene {
    scene.with(set).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// A ball that flies over a table, which a motor moves up and down. It turns three times per period.
const BALL: &str = r#"
version = 1
name = "ball"
[parameters]
a = 0.03
om = 20
e = 0.5
g = 9.81
period = "2*pi/om"
w = "(1 - e)/(1 + e)*g*period/2"       # speed of the table at the impact
phase = "acos(w/(a*om))"
[model]
kind = "multibody"
gravity = [0, 0, "-g"]
length = 0.1
[[body]]
name = "table"
mass = 5
inertia = [1, 1, 1]
position = [0, 0, "a*sin(phase)"]
velocity = [0, 0, "w"]
[[body.shape]]
kind = "plane"
name = "top"
normal = [0, 0, 1]
[[body]]
name = "ball"
mass = 0.3
inertia = [2e-4, 2e-4, 2e-4]
position = [0.02, -0.01, "0.05 + a*sin(phase)"]
velocity = [0, 0, "g*period/2"]
spin = ["3*om*0.6", 0, "3*om*0.8"]
[[body.shape]]
kind = "sphere"
name = "rim"
radius = 0.05
[[joint]]
name = "guide"
kind = "prismatic"
bodies = ["ground", "table"]
at = [0, 0, "a*sin(phase)"]
axis = [0, 0, 1]
[[motor]]
joint = "guide"
position = "a*(sin(om*t + phase) - sin(phase))"
[[contact]]
name = "table"
a = "table/top"
b = "ball/rim"
restitution = "e"
[simulation]
end = 1
step = 1e-3
"#;

/// Phase of the table, its trace and determinant: impacts once per period leave with gT/2 and meet the table at the
/// speed (1 − e)/(1 + e) gT/2.
fn closed_form(scene: &Scene) -> (f64, f64, f64) {
    let [a, om, e, g] = ["a", "om", "e", "g"].map(|name| scene.parameter(name).unwrap());
    let speed = (1.0 - e) / (1.0 + e) * g * std::f64::consts::PI / om;
    let phase = (speed / (a * om)).acos();
    let trace = 1.0 + e * e - (1.0 + e).powi(2) * a * om * om * phase.sin() / g;
    (phase, trace, e * e)
}

fn ball_case(scene: &Scene, parameters: &[&str]) -> Case {
    let period = match parameters.first() {
        Some(name) => scene.slope("period", name).unwrap(),
        None => (scene.parameter("period").unwrap(), 0.0),
    };
    let contact = scene.laws.iter().position(|law| law.name == "table").unwrap();
    let motion = scene.sensitivity(parameters).unwrap();
    Case { section: Section::Impact(contact.into()), ..Case::strobe(motion, period) }
}

/// From a state beside the orbit, with wrong speed and wrong spin: phase, multipliers and whole turns. The table has no
/// freedom (12 zeros); what is left of the ball is free to drift and to turn (10 ones).
#[test]
fn a_spinning_ball_on_a_vibrating_table() {
    let scene = load(BALL);
    let (phase, trace, determinant) = closed_form(&scene);
    let mut guess = scene.initial.clone();
    guess.v[8] *= 1.02;
    guess.v[9] += 0.3;
    guess.v[11] -= 0.2;
    let orbit = find(&mut ball_case(&scene, &[]), f64::NAN, &guess, &Options::new(1)).unwrap();
    assert!(orbit.residual < 1e-10, "{orbit:?}");
    assert_eq!((orbit.state.len(), orbit.multipliers.len(), orbit.neutral), (26, 24, 10));
    let [om, g, period] = ["om", "g", "period"].map(|name| scene.parameter(name).unwrap());
    // the table stands at sin(om t + phase): the orbit starts at t = 0
    let found = (om * orbit.start + phase).rem_euclid(2.0 * std::f64::consts::PI);
    assert!((found - phase).abs() < 1e-9, "{found} {phase}");
    assert!((orbit.state[14 + 8] - g * period / 2.0).abs() < 1e-9, "{orbit:?}");
    let spin = orbit.state[14 + 9..].iter().map(|w| w * w).sum::<f64>().sqrt();
    assert!((spin - 3.0 * om).abs() < 1e-8, "{spin}");
    // the pair of the closed form is what is neither 1 nor 0
    let far = |z: &&(f64, f64)| (z.0 - 1.0).hypot(z.1) > 1e-4 && z.0.hypot(z.1) > 1e-7;
    let pair: Vec<&(f64, f64)> = orbit.multipliers.iter().filter(far).collect();
    assert_eq!(pair.len(), 2, "{orbit:?}");
    assert!((pair[0].0 + pair[1].0 - trace).abs() < 1e-7, "{pair:?} {trace}");
    let product = pair[0].0 * pair[1].0 - pair[0].1 * pair[1].1;
    assert!((product - determinant).abs() < 1e-7, "{pair:?} {determinant}");
    assert_eq!(orbit.stability, Stability::Stable);
}

/// Over the amplitude the orbit doubles its period where the trace is −1 − e²: a sin(phase) = 2 (1 + e²)/(1 + e)²
/// g/om².
#[test]
fn the_branch_of_the_ball_doubles_where_the_closed_form_does() {
    let scene = load(BALL);
    let [om, e, g, period] = ["om", "e", "g", "period"].map(|name| scene.parameter(name).unwrap());
    let height = 2.0 * (1.0 + e * e) / (1.0 + e).powi(2) * g / (om * om);
    let speed = (1.0 - e) / (1.0 + e) * g * period / 2.0;
    let expected = height.hypot(speed / om);
    let first = 0.95 * expected;
    let base = with(&scene, &[("a", first)]);
    let make = |value: f64| -> Result<Case, StudyError> {
        let scene = base.with(&[("a", value)]).map_err(|all| StudyError::Build(all[0].to_string()))?;
        Ok(ball_case(&scene, &["a"]))
    };
    let follow = Follow { make: &make, options: Options::new(1), start: 0.0, range: (first, 1.05 * expected, 4) };
    let branch = follow.run(&base.initial, &|| false, &|| {}).unwrap();
    assert!(branch.ended.is_none(), "{:?}", branch.ended);
    let kinds: Vec<_> = branch.specials.iter().map(|special| special.kind).collect();
    assert_eq!(kinds, [SpecialKind::PeriodDoubling]);
    let found = branch.specials[0].orbit.parameter;
    assert!((found / expected - 1.0).abs() < 1e-7, "{found} {expected}");
}

const PENDULUM: &str = r#"
version = 1
name = "pendulum"
[parameters]
l = 0.5
m = 1.3
J = 0.04
c = 0.08
T = 4.0
om = 2.1
start = 1.0
speed = 0.5
[model]
kind = "multibody"
dimension = 2
gravity = [0, -9.81]
[[body]]
name = "rod"
mass = "m"
inertia = "J"
position = ["l*sin(start)", "-l*cos(start)"]
angle = "start"
velocity = ["l*cos(start)*speed", "l*sin(start)*speed"]
spin = "speed"
[[joint]]
name = "pin"
kind = "revolute"
bodies = ["ground", "rod"]
at = [0, 0]
[[load]]
body = "rod"
torque = "T*cos(om*t) - c*rod.angle'"
[simulation]
end = 1
step = 1e-3
"#;

const ANGLE: &str = r#"
version = 1
name = "pendulum"
[parameters]
l = 0.5
m = 1.3
J = 0.04
c = 0.08
T = 4.0
om = 2.1
start = 1.0
speed = 0.5
[model]
kind = "lagrangian"
coordinates = ["th"]
kinetic = "(J + m*l^2)*th'^2/2"
potential = "-m*9.81*l*cos(th)"
force.th = "T*cos(om*t) - c*th'"
[initial]
th = "start"
"th'" = "speed"
[simulation]
end = 1
step = 1e-3
"#;

/// A damped pendulum that is driven slowly comes to a periodic motion with two different real multipliers: over whole
/// periods of it exponents do not depend on the coordinates. Those of the joint are none.
#[test]
fn exponents_of_a_pendulum_are_those_of_its_angle() {
    let quarter = 0.5 * std::f64::consts::PI / 2.1;
    let options = lyapunov::Options {
        epsilon: 1e-6,
        interval: quarter,
        transient: 40,
        intervals: 40,
        batches: 2,
        step: 0.1,
        count: None,
    };
    // the first half brings the frame into the directions of the multipliers
    let spectrum = |text: &str| {
        let scene = with(&load(text), &[("c", 4.0)]);
        let [half, whole] = [40, 80].map(|intervals| {
            let options = lyapunov::Options { intervals, ..options };
            let found =
                saltation::saltation(&mut scene.sensitivity(&[]).unwrap(), &options, |_| 1.0, &|| false).unwrap();
            found.exponents.iter().map(|exponent| exponent.value).collect::<Vec<f64>>()
        });
        half.iter().zip(whole).map(|(half, whole)| 2.0 * whole - half).collect::<Vec<f64>>()
    };
    let (bodies, angle) = (spectrum(PENDULUM), spectrum(ANGLE));
    assert_eq!((bodies.len(), angle.len()), (2, 2));
    // the divergence of the angle is −c/(J + m l²)
    let expected = -4.0 / (0.04 + 1.3 * 0.25);
    assert!((angle[0] + angle[1] - expected).abs() < 1e-8, "{angle:?} {expected}");
    assert!((angle[0] - angle[1]).abs() > 1.0, "{angle:?}");
    assert!(bodies.iter().zip(&angle).all(|(a, b)| (a - b).abs() < 1e-6), "{bodies:?} {angle:?}");
}

/// The angle after two seconds by the parameters of the model, against the exact derivative of the same pendulum in
/// its angle, and by its length against differences of runs.
#[test]
fn sensitivities_of_a_pendulum_are_those_of_its_angle() {
    let (bodies, angle, end) = (load(PENDULUM), load(ANGLE), 2.0);
    let (start, speed) = (1.0f64, 0.5);
    for name in ["l", "m", "J", "c", "T", "om"] {
        let slope = |scene: &Scene, column: &[f64]| {
            let mut motion = scene.sensitivity(&[name]).unwrap();
            motion.set_columns(1);
            motion.columns_mut().next().unwrap().copy_from_slice(column);
            motion.advance(end).unwrap();
            let n = motion.dimensions().0;
            motion.columns().next().unwrap()[n - 1]
        };
        // where the rod begins depends on its length
        let (s, c) = if name == "l" { start.sin_cos() } else { (0.0, 0.0) };
        let found = slope(&bodies, &[s, -c, 0.0, speed * c, speed * s, 0.0, 1.0]);
        let exact = slope(&angle, &[0.0, 0.0, 1.0]);
        assert!((found - exact).abs() < 1e-7 * exact.abs().max(0.1), "{name}: {found} {exact}");
    }
    let reached = |l: f64| {
        let mut motion = with(&bodies, &[("l", l)]).sensitivity(&[]).unwrap();
        motion.set_columns(0);
        motion.advance(end).unwrap();
        motion.state().q[2]
    };
    let d = 1e-4;
    let difference = (reached(0.5 + d) - reached(0.5 - d)) / (2.0 * d);
    let mut motion = bodies.sensitivity(&["l"]).unwrap();
    motion.set_columns(1);
    let (s, c) = start.sin_cos();
    let column = [s, -c, 0.0, speed * c, speed * s, 0.0, 1.0];
    motion.columns_mut().next().unwrap().copy_from_slice(&column);
    motion.advance(end).unwrap();
    let found = motion.columns().next().unwrap()[2];
    assert!((found - difference).abs() < 1e-5 * difference.abs().max(1.0), "{found} {difference}");
}

/// An unknown parameter has no derivative; one that moves what is drawn has.
#[test]
fn unknown_parameters_are_refused() {
    let scene = load(PENDULUM);
    let error = scene.sensitivity(&["nothing"]).err().unwrap().to_string();
    assert!(error.contains("nothing"), "{error}");
    let text = PENDULUM.replace("position = [\"l*sin(start)\", \"-l*cos(start)\"]", "position = [0, \"-l\"]");
    let text = text.replace("angle = \"start\"", "angle = 0").replace("at = [0, 0]", "at = [0, \"0.5 - l\"]");
    assert!(load(&text).sensitivity(&["l"]).is_ok());
}
