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
fn difference(
    mut map: impl FnMut(f64) -> (Vec<f64>, Branches),
    branches: &Branches,
    step: f64,
) -> Option<Vec<f64>> {
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
    /// Compares all derivatives of the run from a state; a state whose neighbours take other branches is passed over.
    fn from(&self, s: &mut StepSensitivity, from: &State, met: &mut Met) {
        let grid = (self.h, self.steps);
        met.tried += 1;
        s.restart(from);
        s.frame.reset();
        let (_, branches) = run(s, from, grid);
        let found: Vec<Vec<f64>> = s.frame.states().map(<[f64]>::to_vec).collect();
        s.frame.set_columns(0);
        let n = from.q.len();
        let mut exact = Vec::new();
        for k in 0..2 * n {
            let Some(column) = difference(|by| run(s, &moved(from, k, by), grid), &branches, self.reach) else { return };
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
        let largest = exact.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
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
        assert!(met.worst < 1e-8 && met.pushes >= 8, "{met:?}");
    }
    for options in ["", ", theta = 0.8, reaction = \"end\"", ", reaction = \"start\""] {
        let scene = load(CART, &MOREAU_JEAN.replace(" }", &format!("{options} }}")));
        let parameters = &["m", "L", "om", "d", "e1"];
        let mut draw = Draw(7);
        let check = Check { scene: &scene, parameters, h: 0.02, steps: 50, reach: 1e-4 };
        let met = check.runs(10, || {
            let q = [0.2 * draw.next(), 0.4 * draw.next()];
            State::new(0.3 * draw.next(), &q, &[2.0 * draw.next(), 3.0 * draw.next()])
        });
        println!("cart{options}: {met:?}");
        assert!(met.worst < 1e-6 && met.pushes >= 15, "{met:?}");
    }
}
