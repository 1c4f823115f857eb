//! Derivatives of equation models against finite differences of order 6 at random points, and against published closed
//! forms.

use carom::{Coupling, Mechanical, Space, State};
use carom_scene::equations::{EquationError, Equations, Slip, Source, SourceLaw};
use carom_scene::expression::{Graph, Scope, Tape};
use carom_solve::Law;
use rand::{RngExt, SeedableRng};

/// A model as a user writes it.
struct Text {
    parameters: &'static [(&'static str, f64)],
    coordinates: &'static [&'static str],
    kinetic: &'static str,
    potential: &'static str,
    forces: &'static [(usize, &'static str)],
    /// Gap and slips.
    laws: &'static [&'static [&'static str]],
}

const BALL: Text = Text {
    parameters: &[("m", 1.0)],
    coordinates: &["x"],
    kinetic: "m/2*x'^2",
    potential: "2*x",
    forces: &[(0, "0.1*sin(3*t) - 0.2*x'^3")],
    laws: &[&["x - 0.1*sin(t)"]],
};

const BLOCK: Text = Text {
    parameters: &[("m", 1.0), ("l", 1.5), ("L", 1.0), ("g", 9.81), ("I", 3.25 / 12.0)],
    coordinates: &["x", "y", "theta"],
    kinetic: "m/2*(x'^2 + y'^2) + I/2*theta'^2",
    potential: "m*g*y",
    forces: &[],
    laws: &[
        &["y - l/2*cos(theta) + L/2*sin(theta)", "x + l/2*sin(theta) + L/2*cos(theta)"],
        &["y - l/2*cos(theta) - L/2*sin(theta)"],
    ],
};

/// Data of spec 6.2 with J2 = 5.9e-4.
const CRANK: Text = Text {
    parameters: &[
        ("l1", 0.153),
        ("l2", 0.306),
        ("a", 0.05),
        ("b", 0.025),
        ("d", 0.052),
        ("m1", 0.038),
        ("m2", 0.038),
        ("m3", 0.076),
        ("J1", 7.4e-5),
        ("J2", 5.9e-4),
        ("J3", 2.7e-6),
        ("g", 9.81),
    ],
    coordinates: &["th1", "th2", "th3"],
    kinetic: "(J1 + (m1/4 + m2 + m3)*l1^2)/2*th1'^2 + (J2 + (m2/4 + m3)*l2^2)/2*th2'^2 + J3/2*th3'^2 \
              + (m2/2 + m3)*l1*l2*cos(th1 - th2)*th1'*th2'",
    potential: "g*((m1/2 + m2 + m3)*l1*sin(th1) + (m2/2 + m3)*l2*sin(th2))",
    forces: &[],
    laws: &[&[
        "d/2 - (l1*sin(th1) + l2*sin(th2) - a*sin(th3) + b*cos(th3))",
        "l1*cos(th1) + l2*cos(th2) - a*cos(th3) - b*sin(th3)",
    ]],
};

const PENDULUM: Text = Text {
    parameters: &[("m", 0.7), ("n", 0.4), ("l", 1.1), ("k", 0.8), ("g", 9.81)],
    coordinates: &["a", "b"],
    kinetic: "m/2*(l*a')^2 + n/2*((l*cos(a)*a' + k*cos(b)*b')^2 + (l*sin(a)*a' + k*sin(b)*b')^2)",
    potential: "-m*g*l*cos(a) - n*g*(l*cos(a) + k*cos(b))",
    forces: &[(0, "-0.1*a' + 0.3*cos(2*t)*sin(a)"), (1, "-0.05*abs(b')*b'")],
    laws: &[&["1.5 - l*sin(a) - k*sin(b)", "l*cos(a) + k*cos(b)"], &["l*sin(a) + k*sin(b) + sqrt(4 + sin(t)*a^2)"]],
};

struct Compiled {
    model: Equations,
    /// Outputs: T, V, Q…, then every output of every law.
    functions: Tape,
    n: usize,
    rows: usize,
}

fn compile(text: &Text) -> Compiled {
    let (mut scope, mut graph) = (Scope::new(), Graph::new());
    scope.declare_time().unwrap();
    scope.declare_coordinates(text.coordinates).unwrap();
    for (name, value) in text.parameters {
        let node = graph.constant(*value);
        scope.define(name, node).unwrap();
    }
    let n = text.coordinates.len();
    let mut read = |text: &str| graph.expression(text, &scope).unwrap();
    let (kinetic, potential) = (read(text.kinetic), read(text.potential));
    let mut forces = vec![read("0"); n];
    for (i, force) in text.forces {
        forces[*i] = read(force);
    }
    let laws: Vec<SourceLaw> = text
        .laws
        .iter()
        .enumerate()
        .map(|(k, outputs)| SourceLaw {
            name: format!("law{k}"),
            law: if outputs.len() == 1 { Law::UNILATERAL } else { Law::coulomb(0.3, 1) },
            restitution: 0.5,
            tangential: 0.0,
            outputs: outputs.iter().map(|y| read(y)).collect(),
            slip: Slip::Displacement,
            friction: None,
            region: None,
        })
        .collect();
    let mut outputs = vec![kinetic, potential];
    outputs.extend(&forces);
    outputs.extend(laws.iter().flat_map(|law| law.outputs.clone()));
    let functions = Tape::compile(&graph, &outputs);
    let rows = laws.iter().map(|law| law.outputs.len()).sum();
    let initial = State::new(0.0, &vec![0.0; n], &vec![0.0; n]);
    let coordinates = text.coordinates.iter().map(|s| s.to_string()).collect();
    let model = Equations::new(Source { graph, coordinates, kinetic, potential, forces, laws, initial }).unwrap();
    Compiled { model, functions, n, rows }
}

/// First derivative by central differences of order 6.
fn slope(mut f: impl FnMut(f64) -> f64, h: f64) -> f64 {
    let mut d = |k: f64| f(k * h) - f(-k * h);
    (45.0 * d(1.0) - 9.0 * d(2.0) + d(3.0)) / (60.0 * h)
}

/// With h = 1e-2 the truncation is h⁶ ~ 1e-12 of the seventh derivative, rounding 1e-14 of the value per level.
const H: f64 = 1e-2;

impl Compiled {
    /// All functions at x = [t | q | v].
    fn at(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.functions.outputs()];
        // an input that no expression uses may be missing from the tape, never the other way round
        self.functions.eval(x, &mut self.functions.registers(), &mut out);
        out
    }

    fn partial(&self, x: &[f64], output: usize, slot: usize) -> f64 {
        slope(
            |d| {
                let mut y = x.to_vec();
                y[slot] += d;
                self.at(&y)[output]
            },
            H,
        )
    }

    fn second(&self, x: &[f64], output: usize, a: usize, b: usize) -> f64 {
        slope(
            |d| {
                let mut y = x.to_vec();
                y[a] += d;
                self.partial(&y, output, b)
            },
            H,
        )
    }
}

/// The entry of a row in column `j`; rows leave zeros out.
fn entry(row: &[(usize, f64)], j: usize) -> f64 {
    row.iter().find(|entry| entry.0 == j).map_or(0.0, |entry| entry.1)
}

fn close(what: &str, actual: f64, expected: f64, scale: f64) {
    assert!((actual - expected).abs() <= 2e-9 * scale.max(1.0), "{what}: {actual} is not {expected}");
}

fn check(text: &Text, seed: u64) {
    let mut c = compile(text);
    let (n, mut rng) = (c.n, rand_pcg::Pcg64::seed_from_u64(seed));
    for _ in 0..20 {
        let x: Vec<f64> = (0..=2 * n).map(|_| rng.random_range(-1.5..1.5)).collect();
        let (t, q, v) = (x[0], &x[1..=n], &x[n + 1..]);
        // M and F by (1) from differences of the energies alone
        let mut force = vec![0.0; n];
        c.model.force(t, q, v, &mut force).unwrap();
        for i in 0..n {
            let mut column = vec![0.0; n];
            let unit: Vec<f64> = (0..n).map(|k| if k == i { 1.0 } else { 0.0 }).collect();
            c.model.mass_mul(q, &unit, &mut column).unwrap();
            for j in 0..n {
                close("mass", column[j], c.second(&x, 0, 1 + n + i, 1 + n + j), 1.0);
            }
            let mut expected =
                c.at(&x)[2 + i] - c.partial(&x, 1, 1 + i) + c.partial(&x, 0, 1 + i) - c.second(&x, 0, 1 + n + i, 0);
            for j in 0..n {
                expected -= c.second(&x, 0, 1 + n + i, 1 + j) * v[j];
            }
            close("force", force[i], expected, 10.0);
        }
        tangents(&mut c, &x);
        coupling(&mut c, &x);
    }
}

/// K and C through the iteration matrix that the model factors: A x = b must hold with A = M + cC + kK from differences
/// of F.
fn tangents(c: &mut Compiled, x: &[f64]) {
    let n = c.n;
    let at = State::new(x[0], &x[1..=n], &x[n + 1..]);
    let weights = carom::model::Combination { mass: 1.0, damping: 0.3, stiffness: 0.2 };
    let mut force = |x: &[f64], i: usize| {
        let mut out = vec![0.0; n];
        c.model.force(x[0], &x[1..=n], &x[n + 1..], &mut out).unwrap();
        out[i]
    };
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            let mut d = |slot: usize| {
                slope(
                    |d| {
                        let mut y = x.to_vec();
                        y[slot] += d;
                        force(&y, i)
                    },
                    H,
                )
            };
            a[i * n + j] = -0.3 * d(1 + n + j) - 0.2 * d(1 + j);
        }
    }
    for j in 0..n {
        let mut column = vec![0.0; n];
        let unit: Vec<f64> = (0..n).map(|k| if k == j { 1.0 } else { 0.0 }).collect();
        c.model.mass_mul(&x[1..=n], &unit, &mut column).unwrap();
        for i in 0..n {
            a[i * n + j] += column[i];
        }
    }
    c.model.factor(&at, weights).unwrap();
    use carom_solve::LinearSolve;
    for j in 0..n {
        let mut b: Vec<f64> = (0..n).map(|i| a[i * n + j]).collect();
        let size = b.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        c.model.solve(&mut b);
        for (i, b) in b.iter().enumerate() {
            // A⁻¹ of its own column is a unit vector; the crank's smallest inertia is 2.7e-6
            assert!((b - if i == j { 1.0 } else { 0.0 }).abs() < 1e-8 * (1.0 + size / 1e-5), "A⁻¹A ({i}, {j}): {b}");
        }
    }
}

fn coupling(c: &mut Compiled, x: &[f64]) {
    let (n, mut out) = (c.n, Coupling::default());
    let (t, q, v) = (x[0], &x[1..=n], &x[n + 1..]);
    c.model.couple(t, q, &mut out).unwrap();
    let mut curvature = Vec::new();
    c.model.acceleration_level().unwrap().curvature(t, q, v, &mut curvature).unwrap();
    assert_eq!((out.rows.len(), curvature.len()), (c.rows, c.rows));
    for row in 0..c.rows {
        let output = 2 + n + row;
        for j in 0..n {
            close("row", entry(out.rows.row(row), j), c.partial(x, output, 1 + j), 1.0);
        }
        close("drift", out.drift[row], c.partial(x, output, 0), 1.0);
        // second derivative of y along (t + s, q + s v)
        let along = |s: f64| {
            let mut y = x.to_vec();
            y[0] += s;
            for j in 0..n {
                y[1 + j] += s * v[j];
            }
            c.at(&y)[output]
        };
        close("curvature", curvature[row], slope(|s| slope(|r| along(s + r), H), H), 10.0);
    }
    for (k, pair) in out.pairs.iter().enumerate() {
        assert_eq!(pair.gap, c.at(x)[2 + n + out.offset[k]]);
    }
}

#[test]
fn ball() {
    check(&BALL, 1);
}

#[test]
fn block() {
    check(&BLOCK, 2);
}

#[test]
fn slider_crank() {
    check(&CRANK, 3);
}

#[test]
fn double_pendulum() {
    check(&PENDULUM, 4);
}

/// The closed forms of the slider-crank in spec 6.2.
#[test]
fn slider_crank_closed_form() {
    let mut c = compile(&CRANK);
    let mut rng = rand_pcg::Pcg64::seed_from_u64(5);
    let [l1, l2, m1, m2, m3, g] = [0.153, 0.306, 0.038, 0.038, 0.076, 9.81];
    let a = (m2 / 2.0 + m3) * l1 * l2;
    for _ in 0..50 {
        let q: [f64; 3] = std::array::from_fn(|_| rng.random_range(-3.0..3.0));
        let v: [f64; 3] = std::array::from_fn(|_| rng.random_range(-150.0..150.0));
        let mut f = [0.0; 3];
        c.model.force(0.0, &q, &v, &mut f).unwrap();
        let (s, cos) = (q[0] - q[1]).sin_cos();
        let expected = [
            -a * s * v[1] * v[1] - (m1 / 2.0 + m2 + m3) * g * l1 * q[0].cos(),
            a * s * v[0] * v[0] - (m2 / 2.0 + m3) * g * l2 * q[1].cos(),
            0.0,
        ];
        let mut momentum = [0.0; 3];
        c.model.mass_mul(&q, &v, &mut momentum).unwrap();
        let m11 = 7.4e-5 + (m1 / 4.0 + m2 + m3) * l1 * l1;
        let m22 = 5.9e-4 + (m2 / 4.0 + m3) * l2 * l2;
        let products = [m11 * v[0] + a * cos * v[1], m22 * v[1] + a * cos * v[0], 2.7e-6 * v[2]];
        for i in 0..3 {
            assert!((f[i] - expected[i]).abs() < 1e-12 * 150.0, "{f:?} {expected:?}");
            assert!((momentum[i] - products[i]).abs() < 1e-13);
        }
        let mut out = Coupling::default();
        c.model.couple(0.0, &q, &mut out).unwrap();
        // corner 1: (sx, sy) = (−, +)
        let (aa, b) = (0.05, 0.025);
        let normal = [-l1 * q[0].cos(), -l2 * q[1].cos(), aa * q[2].cos() + b * q[2].sin()];
        let tangent = [-l1 * q[0].sin(), -l2 * q[1].sin(), aa * q[2].sin() - b * q[2].cos()];
        for j in 0..3 {
            assert!((entry(out.rows.row(0), j) - normal[j]).abs() < 1e-15);
            assert!((entry(out.rows.row(1), j) - tangent[j]).abs() < 1e-15);
        }
    }
}

/// A wheel of radius R whose contact point slides on a floor that moves with w cos t: the velocity is given instead of
/// a displacement.
#[test]
fn slips_given_as_velocities() {
    let build = |sliding: &str| {
        let (mut graph, mut scope) = (Graph::new(), Scope::new());
        scope.declare_time().unwrap();
        scope.declare_coordinates(&["x", "phi"]).unwrap();
        let mut read = |text: &str| graph.expression(text, &scope).unwrap();
        let (kinetic, potential) = (read("x'^2/2 + phi'^2/2"), read("0"));
        let (forces, outputs) = (vec![read("0"), read("0")], vec![read("x^2"), read(sliding)]);
        let laws = vec![SourceLaw {
            name: "floor".into(),
            law: Law::coulomb(0.3, 1),
            restitution: 0.0,
            tangential: 0.0,
            outputs,
            slip: Slip::Velocity,
            friction: None,
            region: None,
        }];
        let initial = State::new(0.0, &[0.0; 2], &[0.0; 2]);
        let coordinates = vec!["x".into(), "phi".into()];
        Equations::new(Source { graph, coordinates, kinetic, potential, forces, laws, initial })
    };
    let mut model = build("sin(x)*phi' + 2*x' - 3*cos(t)").unwrap();
    let (t, q, v) = (0.4, [0.7, -0.2], [1.1, 0.3]);
    let mut out = Coupling::default();
    model.couple(t, &q, &mut out).unwrap();
    assert_eq!((out.rows.dot(1, &[1.0, 0.0]), out.rows.dot(1, &[0.0, 1.0])), (2.0, q[0].sin()));
    assert!((out.drift[1] + 3.0 * t.cos()).abs() < 1e-15);
    let mut curvature = Vec::new();
    model.acceleration_level().unwrap().curvature(t, &q, &v, &mut curvature).unwrap();
    // d/dt of u without accelerations: cos(x) x' phi' + 3 sin t
    assert!((curvature[1] - (q[0].cos() * v[0] * v[1] + 3.0 * t.sin())).abs() < 1e-14);
    // d/dt of x² twice
    assert!((curvature[0] - 2.0 * v[0] * v[0]).abs() < 1e-14);
    let error = build("x'*phi'").err().unwrap();
    assert_eq!(error, EquationError::SlidingNotLinear { law: "floor".into(), velocity: "phi".into() });
}
