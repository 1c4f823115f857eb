//! Derivatives of the steps of capturing schemes, against central differences of the same maps over runs whose branches do not change.

use carom::State;
use carom::sensitivity::StepSensitivity;
use carom_scene::{Overrides, Scene, from_str};

fn load(text: &str, scheme: &str) -> Scene {
    let overrides = Overrides { scheme: Some(scheme.into()), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// A sequence of numbers in [-1, 1].
struct Draw(u64);
impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// How the laws acted, step by step: pushes, slips, cuts the step short.
type Branches = Vec<(Vec<(bool, bool)>, bool)>;

/// The state after so many steps, with time at the end, and the branches on the way.
fn run(s: &mut StepSensitivity, from: &State, (h, steps): (f64, usize)) -> (Vec<f64>, Branches) {
    s.restart(from);
    let mut all = Vec::new();
    for _ in 0..steps {
        let step = s.step(h).unwrap();
        let reactions = s.stepper().reactions();
        let law = |i: usize| {
            let rows = reactions.range(i);
            let slips = rows.clone().skip(1).any(|row| reactions.after[row].abs() > 1e-7);
            let pushes = reactions.impulse[rows.start].abs() > 1e-12;
            (pushes, pushes && slips)
        };
        all.push(((0..reactions.len()).map(law).collect(), step.advanced < h));
    }
    let State { t, q, v } = s.state();
    (q.iter().chain(v).copied().chain([*t]).collect(), all)
}

fn moved(from: &State, k: usize, by: f64) -> State {
    let mut state = from.clone();
    let n = state.q.len();
    if k < n {
        state.q[k] += by;
    } else {
        state.v[k - n] += by;
    }
    state
}

/// Fourth-order central differences; nothing if the branches differ from those given.
fn difference(mut map: impl FnMut(f64) -> (Vec<f64>, Branches), branches: &Branches, step: f64) -> Option<Vec<f64>> {
    let points: Vec<(Vec<f64>, Branches)> = [-2.0, -1.0, 1.0, 2.0].iter().map(|k| map(k * step)).collect();
    if points.iter().any(|p| p.1 != *branches) {
        return None;
    }
    let weights = [1.0 / 12.0, -2.0 / 3.0, 2.0 / 3.0, -1.0 / 12.0];
    let entry = |i: usize| points.iter().zip(weights).map(|(p, w)| w * p.0[i]).sum::<f64>() / step;
    Some((0..points[0].0.len()).map(entry).collect())
}

/// What a comparison has met.
#[derive(Debug, Default)]
struct Met {
    worst: f64,
    pushes: usize,
    slips: usize,
    sticks: usize,
    cut: usize,
    runs: usize,
    tried: usize,
}

struct Check<'a> {
    scene: &'a Scene,
    parameters: &'a [&'a str],
    h: f64,
    steps: usize,
    /// Step of the differences.
    reach: f64,
}

impl Check<'_> {
    /// Compares all derivatives of the run from a state; states without any contact are passed over, and those whose neighbours take other
    /// branches.
    fn from(&self, s: &mut StepSensitivity, from: &State, met: &mut Met) {
        let grid = (self.h, self.steps);
        met.tried += 1;
        s.restart(from);
        s.frame.reset();
        let (_, branches) = run(s, from, grid);
        if !branches.iter().flat_map(|b| &b.0).any(|law| law.0) {
            return;
        }
        let found: Vec<Vec<f64>> = s.frame.states().map(<[f64]>::to_vec).collect();
        s.frame.set_columns(0);
        let n = from.q.len();
        let mut exact = Vec::new();
        for k in 0..2 * n {
            let Some(column) = difference(|by| run(s, &moved(from, k, by), grid), &branches, self.reach) else {
                return;
            };
            exact.push(column);
        }
        for name in self.parameters {
            let value = self.scene.parameter(name).unwrap();
            let map = |by: f64| {
                let mut other = self.scene.with(&[(name, value + by)]).unwrap().step_sensitivity(&[]).unwrap();
                other.frame.set_columns(0);
                run(&mut other, from, grid)
            };
            let Some(column) = difference(map, &branches, self.reach) else { return };
            exact.push(column);
        }
        let largest = exact.iter().flatten().fold(0.1f64, |m, x| m.max(x.abs()));
        let time = found[0].len() - 1;
        for (found, exact) in found.iter().zip(&exact) {
            for i in 0..2 * n {
                met.worst = met.worst.max((found[i] - exact[i]).abs() / largest);
            }
            met.worst = met.worst.max((found[time] - exact[2 * n]).abs() / largest);
        }
        met.runs += 1;
        met.cut += branches.iter().filter(|b| b.1).count();
        for (pushes, slips) in branches.iter().flat_map(|b| &b.0) {
            met.pushes += usize::from(*pushes);
            met.slips += usize::from(*slips);
            met.sticks += usize::from(*pushes && !slips);
        }
    }

    /// Compares runs from states drawn in turn until so many have kept their branches.
    fn runs(&self, count: usize, mut draw: impl FnMut() -> State) -> Met {
        let mut s = self.scene.step_sensitivity(self.parameters).unwrap();
        let mut met = Met::default();
        while met.runs < count {
            assert!(met.tried < 20 * count, "{met:?}");
            self.from(&mut s, &draw(), &mut met);
        }
        met
    }
}

const OSCILLATOR: &str = r#"
version = 1
name = "oscillator"
[parameters]
al = 0.05
om = 2.8
k = 1.0
e = 0.7
um = 0.0
[model]
kind = "linear"
coordinates = ["u"]
mass = [[1]]
damping = [["2*al"]]
stiffness = [["k"]]
force.u = "cos(om*t)"
[[contact]]
name = "wall"
gap = "u - um"
restitution = "e"
[initial]
u = 0.5
[simulation]
end = 1
step = 0.1
"#;

/// A cart with a pendulum between a wall that moves and one that the tip meets: mass, gaps and forces are nonlinear.
const CART: &str = r#"
version = 1
name = "cart and pendulum"
[parameters]
m = 0.7
L = 0.8
k = 3.0
om = 2.1
d = 0.35
e1 = 0.8
e2 = "e1 - 0.2"
[model]
kind = "lagrangian"
coordinates = ["x", "th"]
kinetic = "x'^2/2 + m/2*(x'^2 + 2*L*x'*th'*cos(th) + L^2*th'^2)"
potential = "k/2*x^2 + k/10*x^4 - 9.81*m*L*cos(th)"
force.x = "1.5*cos(om*t) - 0.2*x'"
force.th = "-0.05*th'*abs(th')"
[[contact]]
name = "cart"
gap = "x + d + 0.05*sin(3*t)"
restitution = "e1"
[[contact]]
name = "tip"
gap = "0.6 - x - L*sin(th)"
restitution = "e2"
[initial]
x = 0
[simulation]
end = 1
step = 0.1
"#;

/// Step of differences for the cart, whose drag has a kink in its slope at rest.
const REACH: f64 = 3e-6;

const MOREAU_JEAN: &str = r#"{ name = "moreau-jean", newton-tolerance = 1e-14 }"#;

#[test]
fn moreau_jean_with_impacts() {
    for theta in ["0.5", "1", "0.7"] {
        let scene = load(OSCILLATOR, &format!(r#"{{ name = "moreau-jean", theta = {theta} }}"#));
        let parameters = &["om", "k", "e", "al", "um"];
        let mut draw = Draw(1);
        let check = Check { scene: &scene, parameters, h: 0.05, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || State::new(draw.next(), &[0.5 + 0.4 * draw.next()], &[2.0 * draw.next()]));
        println!("oscillator {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 10, "{met:?}");
    }
    for options in ["", ", theta = 0.8, reaction = \"end\"", ", reaction = \"start\""] {
        let scene = load(CART, &MOREAU_JEAN.replace(" }", &format!("{options} }}")));
        let parameters = &["m", "L", "om", "d", "e1"];
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters, h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(10, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart{options}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 15, "{met:?}");
    }
}

/// A block on a curved floor under a force that makes it slide, stick and turn back, before a wall.
const BLOCK: &str = r#"
version = 1
name = "block"
[parameters]
mu = 0.3
a = 6.0
om = 3.0
e = 0.6
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y + x^2/2"
force.x = "a*sin(om*t) + 0.5*sin(x)"
force.y = "2*cos(om*t)"
[[contact]]
name = "floor"
gap = "y - 0.1*x^2"
slip = "x"
friction = "mu"
restitution = "e/2"
[[contact]]
name = "wall"
gap = "0.8 - x"
restitution = "e"
[initial]
"x'" = 1.5
[simulation]
end = 1
step = 0.1
"#;

#[test]
fn moreau_jean_with_friction_in_the_plane() {
    for options in ["", ", theta = 1", ", theta = 0.75, reaction = \"end\""] {
        let scene = load(BLOCK, &MOREAU_JEAN.replace(" }", &format!("{options} }}")));
        let mut draw = Draw(3);
        let check = Check { scene: &scene, parameters: &["mu", "a", "om", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || {
            let x = 0.5 * draw.next();
            // on the floor or just above it
            let y = 0.1 * x * x + 0.02 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[2.0 * draw.next(), 0.2 * draw.next()])
        });
        println!("block{options}: {met:?}");
        assert!(met.worst < 1e-8 && met.slips >= 50 && met.sticks >= 20, "{met:?}");
    }
}

/// A particle on a curved floor with spatial friction, in a well that bends its slip.
const PARTICLE: &str = r#"
version = 1
name = "particle"
[parameters]
mu = 0.25
e = 0.5
k = 5.0
[model]
kind = "lagrangian"
coordinates = ["x", "y", "z"]
kinetic = "(x'^2 + 2*y'^2 + z'^2)/2"
potential = "10*z + 2*x^2 + k*y^2"
[[contact]]
name = "floor"
gap = "z - 0.1*x*y"
slip = ["x", "y"]
friction = "mu"
restitution = "e"
[initial]
z = 0.3
[simulation]
end = 1
step = 0.1
"#;

#[test]
fn moreau_jean_with_friction_in_space() {
    let overrides = Overrides {
        scheme: Some(MOREAU_JEAN.into()),
        solver: Some(r#"{ name = "auto", tolerance = 1e-14 }"#.into()),
        ..Overrides::default()
    };
    let scene = from_str("test.toml", PARTICLE, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
    let mut draw = Draw(5);
    let check = Check { scene: &scene, parameters: &["mu", "e", "k"], h: 0.01, steps: 50, reach: 1e-5 };
    let met = check.runs(10, || {
        let q = [0.3 * draw.next(), 0.3 * draw.next()];
        let z = 0.1 * q[0] * q[1] + 0.02 * (1.0 + draw.next());
        State::new(0.0, &[q[0], q[1], z], &[2.0 * draw.next(), 3.0 * draw.next(), 0.5 * draw.next()])
    });
    println!("particle: {met:?}");
    assert!(met.worst < 1e-8 && met.slips >= 100, "{met:?}");
}

/// Slip that comes to an end, stick, and slip in another direction, on a floor that is pulled about, with a second contact that says the same.
#[test]
fn sticking_in_space_and_redundant_contacts() {
    let pulled = PARTICLE.replace("potential", "force.x = \"2.5*sin(3*t)\"\nforce.y = \"2*cos(2*t)\"\npotential");
    let contact = &pulled[pulled.find("[[contact]]").unwrap()..pulled.find("[initial]").unwrap()];
    let twice = pulled.replace(contact, &format!("{contact}{}", contact.replace("floor", "again")));
    for (name, text) in [("one", &pulled), ("two", &twice)] {
        let overrides = Overrides {
            scheme: Some(MOREAU_JEAN.into()),
            solver: Some(r#"{ name = "auto", tolerance = 1e-14 }"#.into()),
            ..Overrides::default()
        };
        let scene = from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
        let mut draw = Draw(13);
        let check = Check { scene: &scene, parameters: &["k"], h: 0.01, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || {
            let q = [0.15 * draw.next(), 0.1 * draw.next()];
            let z = 0.1 * q[0] * q[1] + 0.01 * (1.0 + draw.next());
            State::new(draw.next(), &[q[0], q[1], z], &[0.4 * draw.next(), 0.4 * draw.next(), 0.0])
        });
        println!("{name}: {met:?}");
        assert!(met.worst < 1e-8 && met.slips >= 100 && met.sticks >= 50, "{met:?}");
    }
}

/// A pendulum in Cartesian coordinates before a wall: a bilateral constraint and a contact.
const PENDULUM: &str = r#"
version = 1
name = "pendulum"
[parameters]
L = 1.0
g = 9.81
e = 0.7
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + 1.5*y'^2)/2"
potential = "g*y"
[[constraint]]
name = "rod"
value = "x^2 + y^2 - L^2"
[[contact]]
name = "wall"
gap = "x + 0.3"
restitution = "e"
[initial]
x = 1
[simulation]
end = 1
step = 0.1
"#;

fn hanging(draw: &mut Draw) -> State {
    let (angle, speed) = (0.5 * draw.next(), 3.0 * draw.next());
    State::new(0.0, &[angle.sin(), -angle.cos()], &[speed * angle.cos(), speed * angle.sin()])
}

#[test]
fn bilateral_constraints() {
    for scheme in [MOREAU_JEAN, r#"{ name = "moreau-jean", theta = 1, newton-tolerance = 1e-14 }"#, SCHATZMAN_PAOLI] {
        let scene = load(PENDULUM, scheme);
        let mut draw = Draw(11);
        let check = Check { scene: &scene, parameters: &["g", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || hanging(&mut draw));
        println!("pendulum {scheme}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes > 250, "{met:?}");
    }
    // a constraint that says the same: impulses are not unique, velocities are
    let twice = PENDULUM
        .replace("[[contact]]", "[[constraint]]\nname = \"rope\"\nvalue = \"2*x^2 + 2*y^2 - 2*L^2\"\n[[contact]]");
    let scene = load(&twice, MOREAU_JEAN);
    let mut draw = Draw(11);
    let met =
        Check { scene: &scene, parameters: &["g"], h: 0.02, steps: 50, reach: 1e-5 }.runs(5, || hanging(&mut draw));
    println!("pendulum twice: {met:?}");
    assert!(met.worst < 1e-8 && met.pushes > 250, "{met:?}");
    for variant in ["consistent", "printed"] {
        let scene = load(PENDULUM, &corrected(variant));
        let mut draw = Draw(11);
        let check = Check { scene: &scene, parameters: &["g", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || hanging(&mut draw));
        println!("pendulum {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes > 250 && met.cut >= 2, "{met:?}");
    }
}

const SCHATZMAN_PAOLI: &str = r#"{ name = "schatzman-paoli", newton-tolerance = 1e-14 }"#;

fn corrected(variant: &str) -> String {
    // the gap at an impact is met to a tenth of the activation, which differences would see
    format!(r#"{{ name = "corrected-paoli", variant = "{variant}", activation = 1e-13, newton-tolerance = 1e-14 }}"#)
}

#[test]
fn schatzman_paoli() {
    for velocity in ["centred", "backward"] {
        let scheme = SCHATZMAN_PAOLI.replace(" }", &format!(", velocity = \"{velocity}\" }}"));
        let scene = load(OSCILLATOR, &scheme);
        let mut draw = Draw(1);
        let parameters = &["om", "k", "e", "al", "um"];
        let check = Check { scene: &scene, parameters, h: 0.05, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || State::new(draw.next(), &[0.5 + 0.4 * draw.next()], &[2.0 * draw.next()]));
        println!("oscillator {velocity}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 10, "{met:?}");
        let scene = load(CART, &scheme);
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters: &["m", "L", "om", "d", "e1"], h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(10, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart {velocity}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 15, "{met:?}");
    }
}

#[test]
fn corrected_paoli() {
    for variant in ["consistent", "printed"] {
        let scene = load(OSCILLATOR, &corrected(variant));
        let mut draw = Draw(1);
        let parameters = &["om", "k", "e", "al", "um"];
        let check = Check { scene: &scene, parameters, h: 0.05, steps: 50, reach: 1e-5 };
        let met = check.runs(10, || State::new(draw.next(), &[0.5 + 0.4 * draw.next()], &[2.0 * draw.next()]));
        println!("oscillator {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.cut >= 10, "{met:?}");
        let scene = load(CART, &corrected(variant));
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters: &["m", "L", "om", "d", "e1"], h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(10, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.cut >= 15, "{met:?}");
        let scene = load(BLOCK, &corrected(variant));
        let mut draw = Draw(3);
        let check = Check { scene: &scene, parameters: &["mu", "a", "om", "e"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || {
            let x = 0.5 * draw.next();
            let y = 0.1 * x * x + 0.02 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[2.0 * draw.next(), 0.2 * draw.next()])
        });
        println!("block {variant}: {met:?}");
        assert!(met.worst < 1e-8 && met.cut >= 5 && met.slips >= 5, "{met:?}");
    }
}

#[test]
fn position_level() {
    let inelastic = |text: &str| {
        let lines = text.lines().filter(|line| !line.starts_with("restitution"));
        lines.collect::<Vec<_>>().join("\n")
    };
    for theta in ["1", "0.6"] {
        let scheme = format!(r#"{{ name = "position-level", theta = {theta}, newton-tolerance = 1e-14 }}"#);
        let scene = load(&inelastic(CART), &scheme);
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters: &["m", "L", "om", "d"], h: 0.04, steps: 50, reach: REACH };
        let met = check.runs(5, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 10, "{met:?}");
        let scene = load(&inelastic(BLOCK), &scheme);
        let mut draw = Draw(3);
        let check = Check { scene: &scene, parameters: &["mu", "a", "om"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || {
            let x = 0.5 * draw.next();
            let y = 0.1 * x * x + 0.02 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[2.0 * draw.next(), 0.2 * draw.next()])
        });
        println!("block {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.slips >= 20, "{met:?}");
        let scene = load(&inelastic(PENDULUM), &scheme);
        let mut draw = Draw(11);
        let check = Check { scene: &scene, parameters: &["g"], h: 0.02, steps: 50, reach: 1e-5 };
        let met = check.runs(5, || hanging(&mut draw));
        println!("pendulum {theta}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes > 250, "{met:?}");
    }
}

/// One step with the contact that it closes, or holds, for each scheme and each kind of law.
#[test]
fn single_steps() {
    let shaken = BLOCK.replace("restitution = \"e/2\"", "restitution = 0.3");
    let smooth = shaken.replace("slip = \"x\"\nfriction = \"mu\"\n", "");
    let cases = [
        (&shaken, MOREAU_JEAN.to_owned(), true),
        (&shaken, corrected("consistent"), true),
        (&shaken, corrected("printed"), true),
        (&smooth, SCHATZMAN_PAOLI.to_owned(), false),
    ];
    for (text, scheme, friction) in cases {
        let scene = load(text, &scheme);
        let mut draw = Draw(17);
        let check = Check { scene: &scene, parameters: &["a", "om"], h: 0.01, steps: 1, reach: 1e-5 };
        let met = check.runs(20, || {
            let (x, v) = (0.5 * draw.next(), 2.0 * draw.next());
            let y = 0.1 * x * x + 0.005 * (1.0 + draw.next());
            State::new(draw.next(), &[x, y], &[v, -0.6 + 0.4 * draw.next()])
        });
        println!("one step of {scheme}: {met:?}");
        assert!(met.worst < 1e-8 && met.pushes >= 20 && (!friction || met.slips >= 10), "{met:?}");
    }
}

/// The derivative at a given time: that of the corrected scheme tends to the derivative of the motion with the step, although its steps end at
/// impacts; that of Moreau-Jean does not, and has the determinant −e of a grid impact in place of e².
#[test]
fn discrete_maps_and_the_motion() {
    let end = 5.0;
    let columns = |s: &StepSensitivity| s.frame.states().map(|c| [c[0], c[1]]).collect::<Vec<_>>();
    let mut motion = load(OSCILLATOR, r#"{ name = "event-driven", flow = "rkf45", atol = 1e-12, rtol = 1e-12 }"#)
        .sensitivity(&["om", "e"])
        .unwrap();
    motion.advance(end).unwrap();
    assert!(motion.passage.impacts == 2, "{:?}", motion.passage);
    let exact: Vec<[f64; 2]> = motion.columns().map(|c| [c[0], c[1]]).collect();
    let error = |scheme: &str, h: f64| {
        let mut s = load(OSCILLATOR, scheme).step_sensitivity(&["om", "e"]).unwrap();
        s.advance(end, h).unwrap();
        assert_eq!((s.passage.impacts, s.state().t), (2, end), "{scheme} {h}");
        assert!(s.frame.states().all(|c| c[c.len() - 1].abs() < 1e-13), "{scheme}");
        let found = columns(&s);
        let miss = |(a, b): (&[f64; 2], &[f64; 2])| (a[0] - b[0]).abs().max((a[1] - b[1]).abs());
        (found.iter().zip(&exact).map(miss).fold(0.0, f64::max), found)
    };
    // where in a step an impact falls changes the error like a sawtooth: the worst of several steps
    let worst =
        |scheme: &str, h: f64| [1.0, 0.93, 0.87, 0.81].map(|x| error(scheme, x * h).0).into_iter().fold(0.0, f64::max);
    for variant in ["consistent", "printed"] {
        let [coarse, fine] = [0.04, 0.0025].map(|h| worst(&corrected(variant), h));
        println!("{variant} {coarse:e} {fine:e}");
        assert!(fine < 2.5e-3 && coarse > 8.0 * fine, "{variant} {coarse} {fine}");
    }
    let grid = [0.04, 0.01, 0.0025].map(|h| worst(MOREAU_JEAN, h));
    println!("moreau-jean {grid:?}");
    assert!(grid.iter().all(|error| *error > 1.0), "{grid:?}");
    let fine = error(MOREAU_JEAN, 0.005).1;
    // trapezoidal steps over free flight: ((1 − αh)/(1 + αh)) up to h² terms, and −e at each of the two impacts
    let det = |c: &[[f64; 2]]| c[0][0] * c[1][1] - c[0][1] * c[1][0];
    assert!((det(&fine) - (-0.1 * end).exp() * 0.49).abs() < 2e-3, "{}", det(&fine));
    assert!((det(&exact) - (-0.1 * end).exp() * 0.7f64.powi(4)).abs() < 1e-9);
}

#[test]
fn what_has_no_derivative_says_so() {
    let error =
        |text: &str, scheme: &str| load(text, scheme).step_sensitivity(&[]).map(|_| ()).unwrap_err().to_string();
    let message = error(OSCILLATOR, "higher-order");
    assert!(
        message.contains("`higher-order`") && message.contains("moreau-jean, schatzman-paoli, corrected-paoli"),
        "{message}"
    );
    // a perturbation of time cannot be carried by steps of one length
    let mut s = load(OSCILLATOR, SCHATZMAN_PAOLI).step_sensitivity(&[]).unwrap();
    s.frame.columns_mut().for_each(|c| *c.last_mut().unwrap() = 1.0);
    let message = s.step(0.01).unwrap_err().to_string();
    assert!(message.contains("no derivative"), "{message}");
}
