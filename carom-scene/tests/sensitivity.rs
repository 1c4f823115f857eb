//! Derivatives through impacts, rests and changes of phase, against differences of the whole map and against closed
//! forms.

#[allow(dead_code, reason = "the models of steps are more than these tests need")]
#[path = "step_sensitivity/models.rs"]
mod models;

use carom::State;
use carom::sensitivity::Sensitivity;
use carom_scene::{Overrides, Scene, from_str};
use models::{BLOCK, CART};

/// The scheme with one of its flows.
fn accurate(flow: &str) -> String {
    format!(r#"{{ name = "event-driven", flow = "{flow}", atol = 1e-13, rtol = 1e-13 }}"#)
}

fn load(text: &str) -> Scene {
    load_with(text, "rkf45")
}

fn load_with(text: &str, flow: &str) -> Scene {
    let overrides = Overrides { scheme: Some(accurate(flow).into()), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// As `flow`, with the number of contacts that came to rest or to stick in place of the impacts: what lands on a floor
/// may do so twice.
fn rough_flow(s: &mut Sensitivity, from: &State, end: f64) -> (Vec<f64>, u64) {
    let (x, _) = flow(s, from, end);
    (x, s.counts.rests + 100 * s.counts.sticks)
}

/// The state after the time T, and how many impacts there were.
fn flow(s: &mut Sensitivity, from: &State, end: f64) -> (Vec<f64>, u64) {
    s.set_columns(0);
    s.counts.clear();
    s.restart(from);
    s.advance(end).unwrap();
    (s.state().q.iter().chain(&s.state().v).copied().collect(), s.counts.impacts)
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

/// Fourth-order central differences of a map; nothing if the impacts differ among the points.
fn difference(mut map: impl FnMut(f64) -> (Vec<f64>, u64), step: f64) -> Option<Vec<f64>> {
    let points: Vec<(Vec<f64>, u64)> = [-2.0, -1.0, 1.0, 2.0].iter().map(|k| map(k * step)).collect();
    if points.iter().any(|p| p.1 != points[0].1) {
        return None;
    }
    let weights = [1.0 / 12.0, -2.0 / 3.0, 2.0 / 3.0, -1.0 / 12.0];
    let entry = |i: usize| points.iter().zip(weights).map(|(p, w)| w * p.0[i]).sum::<f64>() / step;
    Some((0..points[0].0.len()).map(entry).collect())
}

/// A sequence of numbers in [-1, 1].
struct Draw(u64);
impl Draw {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

fn relative(found: &[Vec<f64>], exact: &[Vec<f64>]) -> f64 {
    let largest = |all: &[Vec<f64>]| all.iter().flatten().fold(0.0f64, |m, x| m.max(x.abs()));
    let miss =
        found.iter().zip(exact).flat_map(|(a, b)| a.iter().zip(b)).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    miss / largest(exact)
}

#[test]
fn ten_random_segments_of_two_degrees_with_two_contacts() {
    ["rkf45", "dop853"].into_iter().for_each(ten_random_segments);
}

fn ten_random_segments(with: &str) {
    let scene = load_with(CART, with);
    let mut s = scene.sensitivity(&[]).unwrap();
    let mut draw = Draw(7);
    let (mut done, mut impacts, mut both) = (0, 0, 0);
    let mut worst = 0.0f64;
    while done < 10 {
        let from = State::new(
            0.3 * draw.next(),
            &[0.2 * draw.next(), 0.4 * draw.next()],
            &[2.0 * draw.next(), 3.0 * draw.next()],
        );
        let end = from.t + 2.2 + 0.5 * draw.next();
        let exact: Option<Vec<Vec<f64>>> =
            (0..4).map(|k| difference(|by| flow(&mut s, &moved(&from, k, by), end), 1e-4)).collect();
        let Some(exact) = exact else { continue };
        s.reset();
        s.counts.clear();
        s.restart(&from);
        s.advance(end).unwrap();
        // differences tell nothing next to a grazing impact
        if s.counts.impacts < 2 || s.counts.slowest < 0.1 {
            continue;
        }
        let found: Vec<Vec<f64>> = s.columns().map(<[f64]>::to_vec).collect();
        let miss = relative(&found, &exact);
        worst = worst.max(miss);
        impacts += s.counts.impacts;
        both += u64::from(s.counts.by_contact.len() == 2);
        done += 1;
    }
    assert!(worst < 1e-6, "{worst:e}");
    assert!(impacts >= 20 && both >= 3, "{impacts} {both}");
}

#[test]
fn derivatives_by_parameters() {
    ["rkf45", "dop853"].into_iter().for_each(parameters);
}

fn parameters(with: &str) {
    let scene = load_with(CART, with);
    let names = ["m", "L", "om", "d", "w", "e1"];
    let from = State::new(0.1, &[0.05, 0.3], &[2.0, 2.5]);
    let end = 2.6;
    let mut s = scene.sensitivity(&names).unwrap();
    s.restart(&from);
    s.advance(end).unwrap();
    assert!(s.counts.by_contact.len() == 2 && s.counts.slowest > 0.1, "{:?}", s.counts);
    let found: Vec<Vec<f64>> = s.columns().skip(4).map(|c| c[..4].to_vec()).collect();
    let exact: Vec<Vec<f64>> = names
        .iter()
        .map(|name| {
            let value = scene.parameter(name).unwrap();
            let map =
                |by: f64| flow(&mut scene.with(&[(name, value + by)]).unwrap().sensitivity(&[]).unwrap(), &from, end);
            difference(map, 1e-4).unwrap()
        })
        .collect();
    for (name, (found, exact)) in names.iter().zip(found.iter().zip(&exact)) {
        let miss = relative(std::slice::from_ref(found), std::slice::from_ref(exact));
        assert!(miss < 1e-6, "{name}: {found:?} {exact:?}");
    }
}

/// The impact oscillator of the examples: case P1.
const OSCILLATOR: &str = include_str!("../../examples/impact-oscillator.toml");

/// Φ₂ S Φ₁ with the closed forms of the flow and of S = (−e 0; (1+e)F₀/v⁻ −e), at the first impact of the run from u =
/// 1/2.
#[test]
fn oscillator_against_the_closed_form() {
    ["rkf45", "dop853"].into_iter().for_each(oscillator);
}

fn oscillator(with: &str) {
    let mut s = load_with(OSCILLATOR, with).sensitivity(&[]).unwrap();
    let (al, om, um, e) = (0.05f64, 2.5f64, -0.1, 0.7);
    let (t, v) = (1.799909078097, -1.078796454786);
    let wd = (1.0 - al * al).sqrt();
    let phi = |time: f64| {
        let (c, d, decay) = ((wd * time).cos(), (wd * time).sin(), (-al * time).exp());
        [[decay * (c + al / wd * d), decay * d / wd], [-decay * d / wd, decay * (c - al / wd * d)]]
    };
    let product =
        |a: [[f64; 2]; 2], b: [[f64; 2]; 2]| [0, 1].map(|i| [0, 1].map(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]));
    let saltation = [[-e, 0.0], [(1.0 + e) * ((om * t).cos() - um) / v, -e]];
    let exact = product(phi(3.0 - t), product(saltation, phi(t)));
    s.advance(3.0).unwrap();
    assert_eq!(s.counts.impacts, 1);
    assert!((s.counts.slowest + v).abs() < 1e-10);
    for (j, column) in s.columns().enumerate() {
        for i in 0..2 {
            assert!((column[i] - exact[i][j]).abs() < 1e-10, "{i} {j} {column:?} {exact:?}");
        }
    }
    assert!((s.counts.divergence + 2.0 * al * 3.0).abs() < 1e-13);
}

/// Rests: with e = 1/2 and a force that presses, the mass comes to rest and forgets where it came from.
#[test]
fn rest_collapses_the_tangent() {
    let text = OSCILLATOR.replace("a*cos(om*t)", "a*cos(om*t) - 3");
    let mut s = load(&text).sensitivity(&[]).unwrap();
    s.advance(12.0).unwrap();
    assert!(s.counts.rests == 1 && s.counts.rested.len() == 1 && s.counts.impacts > 20);
    assert!(s.columns().flatten().all(|x| x.abs() < 1e-7), "{:?}", s.columns().collect::<Vec<_>>());
}

/// The block without rebounds from its floor: it slides, sticks, slips again and hits a wall, with friction, take-off
/// and impacts with closed contacts.
fn block() -> String {
    BLOCK.replace("restitution = \"e/2\"\n", "")
}

#[test]
fn friction_with_a_closed_contact() {
    let scene = load(&block());
    let mut s = scene.sensitivity(&["mu", "a", "e"]).unwrap();
    let start = |x: f64, v: f64| State::new(0.0, &[x, 0.1 * x * x], &[v, 0.2 * x * v]);
    let mut changes = 0;
    for end in [0.5, 1.4, 3.0] {
        let from = start(0.0, 1.5);
        s.reset();
        s.counts.clear();
        s.restart(&from);
        s.advance(end).unwrap();
        changes += s.counts.sticks + s.counts.rests + s.counts.impacts;
        // along the constraint: dy = 0.2 x dx, dy' = 0.2 v dx + 0.2 x dv
        let all: Vec<Vec<f64>> = s.columns().map(<[f64]>::to_vec).collect();
        let along = |d: [f64; 4]| (0..4).map(|i| (0..4).map(|j| all[j][i] * d[j]).sum()).collect::<Vec<f64>>();
        let mut found = vec![along([1.0, 0.0, 0.0, 0.3]), along([0.0, 0.0, 1.0, 0.0])];
        found.extend(all[4..].iter().map(|c| c[..4].to_vec()));
        let mut exact = vec![
            difference(|by| rough_flow(&mut s, &start(by, 1.5), end), 1e-4).unwrap(),
            difference(|by| rough_flow(&mut s, &start(0.0, 1.5 + by), end), 1e-4).unwrap(),
        ];
        for name in ["mu", "a", "e"] {
            let value = scene.parameter(name).unwrap();
            let map = |by: f64| {
                rough_flow(&mut scene.with(&[(name, value + by)]).unwrap().sensitivity(&[]).unwrap(), &from, end)
            };
            exact.push(difference(map, 1e-4).unwrap());
        }
        let miss = relative(&found, &exact);
        assert!(miss < 1e-6, "{end}: {miss:e}");
    }
    assert!(changes > 6, "{changes}");
}

/// A particle that lands on a floor with spatial friction and slides on it along a curve.
const PARTICLE: &str = r#"
version = 1
name = "particle"
[parameters]
mu = 0.25
e = 0.5
[model]
kind = "lagrangian"
coordinates = ["x", "y", "z"]
kinetic = "(x'^2 + y'^2 + z'^2)/2"
potential = "10*z + 2*x^2 + 5*y^2"
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
fn spatial_friction_at_impacts_and_in_slip() {
    ["hem5", "rkf45", "dop853"].into_iter().for_each(spatial_friction);
}

fn spatial_friction(with: &str) {
    let from = State::new(0.0, &[0.1, 0.05, 0.3], &[1.5, -2.5, 0.2]);
    // two impacts with slip; then a landing without restitution that goes on as a slip
    for (e, end, rests) in [(0.5, 0.7, 0), (0.0, 0.65, 1)] {
        let scene = load_with(PARTICLE, with).with(&[("e", e)]).unwrap();
        let mut s = scene.sensitivity(&["mu"]).unwrap();
        s.restart(&from);
        s.advance(end).unwrap();
        assert!(s.counts.rests == rests && s.counts.impacts >= 1 && s.counts.sticks == 0, "{:?}", s.counts);
        let found: Vec<Vec<f64>> = s.columns().map(|c| c[..6].to_vec()).collect();
        let mut exact: Vec<Vec<f64>> =
            (0..6).map(|k| difference(|by| rough_flow(&mut s, &moved(&from, k, by), end), 1e-4).unwrap()).collect();
        let map = |by: f64| {
            let scene = scene.with(&[("mu", 0.25 + by)]).unwrap();
            rough_flow(&mut scene.sensitivity(&[]).unwrap(), &from, end)
        };
        exact.push(difference(map, 1e-4).unwrap());
        let miss = relative(&found, &exact);
        assert!(miss < 1e-6, "{with}, e = {e}: {miss:e}\n{found:?}\n{exact:?}");
    }
}

/// A table that ends, moves and is curved; what slides off it falls on a floor that counts beyond the table alone.
const TABLE: &str = r#"
version = 1
name = "table"
[parameters]
edge = 1.0
mu = 0.1
e = 0.6
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y + 0.2*x^2"
[[contact]]
name = "table"
gap = "y - 0.1*x^2"
slip = "x"
friction = "mu"
where = "x < edge + 0.1*sin(2*t)"
[[contact]]
name = "floor"
gap = "y + 0.4"
restitution = "e"
where = "x > 0.5"
[initial]
"x'" = 2.0
[simulation]
end = 1
step = 0.1
"#;

/// Whole map by differences: sliding to an edge that moves, the fall, and impacts behind it.
#[test]
fn sliding_over_the_edge_of_a_region() {
    let scene = load(TABLE);
    let names = ["edge", "mu", "e"];
    let start = |x: f64, v: f64| State::new(0.0, &[x, 0.1 * x * x], &[v, 0.2 * x * v]);
    for end in [0.2, 0.6, 1.2] {
        let mut s = scene.sensitivity(&names).unwrap();
        let from = start(0.1, 3.0);
        s.restart(&from);
        s.advance(end).unwrap();
        let (fell, hits) = (s.state().q[0] > 1.0, s.counts.impacts);
        assert!(end < 0.5 || fell && (end < 1.0 || hits > 0), "{end}: {:?} {:?}", s.state(), s.counts);
        let all: Vec<Vec<f64>> = s.columns().map(<[f64]>::to_vec).collect();
        // along the table: dy = 0.2 x dx, dy' = 0.2 v dx + 0.2 x dv
        let along = |d: [f64; 4]| (0..4).map(|i| (0..4).map(|j| all[j][i] * d[j]).sum()).collect::<Vec<f64>>();
        let mut found = vec![along([1.0, 0.02, 0.0, 0.6]), along([0.0, 0.0, 1.0, 0.02])];
        found.extend(all[4..].iter().map(|c| c[..4].to_vec()));
        let mut exact = vec![
            difference(|by| rough_flow(&mut s, &start(0.1 + by, 3.0), end), 1e-4).unwrap(),
            difference(|by| rough_flow(&mut s, &start(0.1, 3.0 + by), end), 1e-4).unwrap(),
        ];
        for name in names {
            let value = scene.parameter(name).unwrap();
            let map = |by: f64| {
                rough_flow(&mut scene.with(&[(name, value + by)]).unwrap().sensitivity(&[]).unwrap(), &from, end)
            };
            exact.push(difference(map, 1e-4).unwrap());
        }
        let miss = relative(&found, &exact);
        assert!(miss < 1e-6, "{end}: {miss:e}\n{found:?}\n{exact:?}");
    }
}

/// Two surfaces that meet with the same slope and another curvature: from one held contact to another.
const KINK: &str = r#"
version = 1
name = "two surfaces"
[parameters]
k = 0.5
[model]
kind = "lagrangian"
coordinates = ["x", "y"]
kinetic = "(x'^2 + y'^2)/2"
potential = "10*y"
force.x = "-0.3*x'"
[[contact]]
name = "flat"
gap = "y - 0.2*x"
where = "x < 0"
[[contact]]
name = "bowl"
gap = "y - 0.2*x - k*x^2"
where = "x > 0"
[initial]
x = -1
y = -0.2
[simulation]
end = 1
step = 0.1
"#;

#[test]
fn from_one_surface_to_another() {
    let scene = load(KINK);
    let mut s = scene.sensitivity(&["k"]).unwrap();
    let start = |x: f64, v: f64| State::new(0.0, &[x, 0.2 * x], &[v, 0.2 * v]);
    for end in [0.3, 0.6, 0.9] {
        let from = start(-1.0, 3.0);
        s.reset();
        s.counts.clear();
        s.restart(&from);
        s.advance(end).unwrap();
        assert_eq!(s.state().q[0] > 0.0, end > 0.5, "{:?}", s.state());
        let all: Vec<Vec<f64>> = s.columns().map(<[f64]>::to_vec).collect();
        let along = |d: [f64; 4]| (0..4).map(|i| (0..4).map(|j| all[j][i] * d[j]).sum()).collect::<Vec<f64>>();
        let found = vec![along([1.0, 0.2, 0.0, 0.0]), along([0.0, 0.0, 1.0, 0.2]), all[4][..4].to_vec()];
        let map =
            |by: f64| rough_flow(&mut scene.with(&[("k", 0.5 + by)]).unwrap().sensitivity(&[]).unwrap(), &from, end);
        let exact = vec![
            difference(|by| rough_flow(&mut s, &start(-1.0 + by, 3.0), end), 1e-4).unwrap(),
            difference(|by| rough_flow(&mut s, &start(-1.0, 3.0 + by), end), 1e-4).unwrap(),
            difference(map, 1e-4).unwrap(),
        ];
        let miss = relative(&found, &exact);
        assert!(miss < 1e-6, "{end}: {miss:e}\n{found:?}\n{exact:?}");
    }
}

#[test]
fn what_has_no_tangent_says_so() {
    let scene = load(CART);
    let unknown = scene.sensitivity(&["omega"]).map(|_| ()).unwrap_err().to_string();
    assert!(unknown.contains("unknown parameter `omega`"), "{unknown}");
    let twice = scene.sensitivity(&["om", "om"]).map(|_| ()).unwrap_err().to_string();
    assert!(twice.contains("twice"), "{twice}");
}
