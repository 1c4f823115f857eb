//! Equations of many coordinates, which are derived by sweeps: against closed forms, and against those of few
//! coordinates, which are derived entry by entry.

use carom::model::Combination;
use carom::{Coupling, LinearSolve, Mechanical, Space, State};
use carom_scene::equations::{EquationPlan, Equations, Slip, Source, SourceLaw};
use carom_scene::expression::{Graph, NodeId, Scope};
use carom_scene::{Overrides, from_str};
use carom_solve::Law;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

struct Texts<'a> {
    kinetic: &'a str,
    potential: &'a str,
    forces: &'a [&'a str],
    outputs: &'a [&'a str],
    slip: Slip,
}

fn source(names: &[String], texts: &Texts) -> Source {
    let (mut graph, mut scope) = (Graph::new(), Scope::new());
    let n = names.len();
    scope.declare_time().unwrap();
    let words: Vec<&str> = names.iter().map(String::as_str).collect();
    scope.declare_coordinates(&words).unwrap();
    let mut read = |text: &str| graph.expression(text, &scope).unwrap();
    let (kinetic, potential) = (read(texts.kinetic), read(texts.potential));
    let forces: Vec<NodeId> = (0..n).map(|i| read(texts.forces.get(i).unwrap_or(&"0"))).collect();
    let outputs: Vec<NodeId> = texts.outputs.iter().map(|text| read(text)).collect();
    let law = SourceLaw {
        name: "floor".into(),
        law: Law::coulomb(0.3, 1),
        restitution: 0.0,
        tangential: 0.0,
        outputs,
        slip: texts.slip,
        friction: None,
        region: None,
    };
    let laws = if texts.outputs.is_empty() { vec![] } else { vec![law] };
    let initial = State::new(0.0, &vec![0.0; n], &vec![0.0; n]);
    Source { graph, coordinates: names.to_vec(), kinetic, potential, forces, laws, initial }
}

/// Everything that a model tells at a state: force, M x, what the inverse of M + .3 C + .2 K makes of x, gaps, drift,
/// rows, curvature.
fn everything(model: &mut Equations, t: f64, q: &[f64], v: &[f64], x: &[f64]) -> Vec<f64> {
    let mut all = vec![0.0; q.len()];
    model.force(t, q, v, &mut all).unwrap();
    let mut product = vec![0.0; q.len()];
    model.mass_mul(q, x, &mut product).unwrap();
    all.extend(&product);
    let combination = Combination { mass: 1.0, damping: 0.3, stiffness: 0.2 };
    model.factor(&State::new(t, q, v), combination).unwrap();
    product.copy_from_slice(x);
    model.solve(&mut product);
    all.extend(&product);
    let mut coupling = Coupling::default();
    model.couple(t, q, &mut coupling).unwrap();
    all.extend(coupling.pairs.iter().map(|pair| pair.gap));
    all.extend(&coupling.drift);
    for row in 0..coupling.rows.len() {
        product.fill(0.0);
        coupling.rows.row(row).iter().for_each(|(j, c)| product[*j] += c);
        all.extend(&product);
    }
    let mut curvature = Vec::new();
    model.acceleration_level().unwrap().curvature(t, q, v, &mut curvature).unwrap();
    all.extend(&curvature);
    all
}

#[test]
fn sweeps_and_single_derivatives_agree() {
    let cases = [
        Texts {
            kinetic: "(x'*cos(x) + y'*sin(x*y) + z')^2*(2 + sin(x + z)) + x'^2 + 3*y'^2 + z'^2 + t*x'*exp(y)",
            potential: "x^2*y + sqrt(1 + z^2) + atan2(x, 2 + y)*min(x, z) + t*z",
            forces: &["-0.1*x'*abs(x')", "sin(t)*y'", "max(x', y')*z - z'/(1 + x^2)"],
            outputs: &["x*y + cos(t*z)", "log(2 + x^2) - y^3/3 + tanh(z)"],
            slip: Slip::Displacement,
        },
        Texts {
            kinetic: "x'^2*(1 + y^2) + y'^2/2*exp(-x) + (z' + x'*y)^2 + x'*sin(t)",
            potential: "-cos(x - y)*cosh(z) + (1 + x^2)^y",
            forces: &["step(x - 0.1)*y'", "0", "-z'^3"],
            outputs: &["x - z^2*t", "sin(x)*y' + 2*x' - 3*cos(t)"],
            slip: Slip::Velocity,
        },
    ];
    let few = 3;
    let many = few + 120;
    let names: Vec<String> =
        ["x", "y", "z"].map(String::from).into_iter().chain((few..many).map(|i| format!("q{i}"))).collect();
    let sum = |of: &dyn Fn(usize) -> String| (few..many).map(of).collect::<Vec<_>>().join("+");
    let beside = format!("{}+({})^2", sum(&|i| format!("q{i}'^2")), sum(&|i| format!("q{i}'*cos(q{i})")));
    let mut random = Pcg64::seed_from_u64(5);
    for texts in &cases {
        let mut small = source(&names[..few], texts);
        let mut small = EquationPlan::new(&mut small).unwrap().model(small.initial.clone());
        let kinetic = format!("{} + {beside}", texts.kinetic);
        let mut large = source(&names, &Texts { kinetic: &kinetic, ..*texts });
        let plan = EquationPlan::new(&mut large).unwrap();
        assert!(large.graph.derivatives() < 1000, "it was derived entry by entry");
        let mut large = plan.model(large.initial.clone());
        for _ in 0..10 {
            let mut draw = || (0..many).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
            let (q, v, x) = (draw(), draw(), draw());
            let t = 1.0 + q[many - 1];
            let one = everything(&mut small, t, &q[..few], &v[..few], &x[..few]);
            let other = everything(&mut large, t, &q, &v, &x);
            assert_eq!((one.len(), other.len()), (3 * few + 1 + 2 + 2 * few + 2, 3 * many + 1 + 2 + 2 * many + 2));
            // of each vector the first three
            let heads = [0, many, 2 * many, 3 * many + 3, 4 * many + 3].map(|at| at..at + few);
            let [force, mass, solved, normal, slip] = heads.map(|head| &other[head]);
            let rest = [&other[3 * many..3 * many + 3], &other[5 * many + 3..]];
            let other = [force, mass, solved, rest[0], normal, slip, rest[1]].concat();
            for (a, b) in one.iter().zip(&other) {
                assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs()), "{one:?} {other:?}");
            }
        }
    }
}

/// T = Σ vᵢ² + (Σ vᵢ cos qᵢ)²: M = 2 + 2 c cᵀ and F = 2 c Σ vⱼ² sin qⱼ. V = Σ qᵢ⁴/4 with damping −d Σ vⱼ of each: K
/// and C have closed forms where v = 0.
#[test]
fn dense_kinetic_energy_of_250_coordinates() {
    let n = 250;
    let names: Vec<String> = (0..n).map(|i| format!("q{i}")).collect();
    let sum = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join("+");
    let kinetic = format!("{}+({})^2", sum(&|i| format!("q{i}'^2")), sum(&|i| format!("q{i}'*cos(q{i})")));
    let potential = sum(&|i| format!("q{i}^4/4"));
    let friction = format!("-0.01*({})", sum(&|i| format!("q{i}'")));
    let forces = vec![friction.as_str(); n];
    let texts =
        Texts { kinetic: &kinetic, potential: &potential, forces: &forces, outputs: &[], slip: Slip::Displacement };
    let mut source = source(&names, &texts);
    let plan = EquationPlan::new(&mut source).unwrap();
    // n² entries of the mass, each a product or two
    assert!(source.graph.count() < 6 * n * n, "{} nodes", source.graph.count());
    let mut model = plan.model(source.initial.clone());
    let mut random = Pcg64::seed_from_u64(6);
    let mut draw = || (0..n).map(|_| random.random_range(-1.0..1.0)).collect::<Vec<f64>>();
    let (q, v, x) = (draw(), draw(), draw());
    let mut out = vec![0.0; n];
    let quadratic: f64 = (0..n).map(|j| v[j] * v[j] * q[j].sin()).sum();
    let drag: f64 = 0.01 * v.iter().sum::<f64>();
    model.force(0.0, &q, &v, &mut out).unwrap();
    for i in 0..n {
        let expected = 2.0 * q[i].cos() * quadratic - q[i].powi(3) - drag;
        assert!((out[i] - expected).abs() < 1e-11, "{i}: {} {expected}", out[i]);
    }
    let along = |x: &[f64]| (0..n).map(|j| q[j].cos() * x[j]).sum::<f64>();
    model.mass_mul(&q, &x, &mut out).unwrap();
    for i in 0..n {
        let expected = 2.0 * x[i] + 2.0 * q[i].cos() * along(&x);
        assert!((out[i] - expected).abs() < 1e-11, "{i}: {} {expected}", out[i]);
    }
    // (M + C + K) y = x at rest: C = .01 everywhere, K = 3 q²
    let combination = Combination { mass: 1.0, damping: 1.0, stiffness: 1.0 };
    model.factor(&State::new(0.0, &q, &vec![0.0; n]), combination).unwrap();
    let mut y = x.clone();
    model.solve(&mut y);
    let total: f64 = 0.01 * y.iter().sum::<f64>();
    for i in 0..n {
        let back = (2.0 + 3.0 * q[i] * q[i]) * y[i] + 2.0 * q[i].cos() * along(&y) + total;
        assert!((back - x[i]).abs() < 1e-10, "{i}: {back} {}", x[i]);
    }
}

/// Processor time of this thread [s]; not a number where the system does not tell.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|word| word.parse::<f64>().ok());
    1e-9 * nanoseconds.unwrap_or(f64::NAN)
}

/// A model file of `n` coordinates with velocities at the start.
fn file(n: usize, kinetic: &str, potential: &str, more: &str) -> String {
    let names: Vec<String> = (0..n).map(|i| format!("\"q{i}\"")).collect();
    let starts: Vec<String> =
        (0..n).map(|i| format!("q{i} = {}\n\"q{i}'\" = {}\n", 0.01 * i as f64, 1 + i % 3)).collect();
    format!(
        "version = 1\nname = \"large\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [{}]\nkinetic = \"{kinetic}\"\n\
         potential = \"{potential}\"\n{more}[initial]\n{}[simulation]\nend = 1e-3\nstep = 1e-4\n",
        names.join(","),
        starts.concat()
    )
}

/// Nested products, squares of sums and products of many terms: their energy stays, in ten steps of θ = 1/2 up to terms
/// of second order.
#[test]
fn large_energies_load_and_keep_their_sum() {
    let sum = |n: usize, of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join("+");
    let squares = |n| sum(n, &|i| format!("q{i}'^2"));
    let along = |n| sum(n, &|i| format!("q{i}'*cos(q{i})"));
    let product = |n: usize| (0..n).map(|i| format!("cos(q{i}/9)")).collect::<Vec<_>>().join("*");
    let nested = format!("({})*(2+{})", squares(120), product(120));
    let scaled = format!("{}+({})^2*(2+sin({}))", squares(60), along(60), sum(60, &|i| format!("q{i}")));
    let cases = [
        file(120, &nested, &product(120), ""),
        file(120, &format!("{}+({})^2", squares(120), along(120)), &product(120), ""),
        file(60, &scaled, "0", ""),
    ];
    for text in &cases {
        let before = seconds();
        let scene = from_str("large.toml", text, &Overrides::default()).unwrap_or_else(|all| panic!("{}", all[0]));
        println!("{} coordinates load in {:.2} s", scene.coordinates.len(), seconds() - before);
        let mut model = scene.mechanical().unwrap();
        let mut simulation = scene.simulation().unwrap();
        let mut energy = |state: &State| model.energy(state).map(|e| [e.kinetic, e.potential]).unwrap();
        let start = energy(simulation.state());
        assert!(simulation.run(&mut []).unwrap());
        let end = energy(simulation.state());
        let change = end[0] + end[1] - start[0] - start[1];
        assert!(change.abs() < 1e-6 * start[0], "{start:?} {end:?}");
        println!("  and make ten steps, {:.2} s in all", seconds() - before);
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    println!("{:?}", status.lines().find(|line| line.starts_with("VmHWM")));
}

#[test]
fn what_is_too_large_is_said_with_its_limit() {
    let squares: Vec<String> = (0..20).map(|i| format!("q{i}'^2/2")).collect();
    let text = file(20, &squares.join("+"), "0", "operations = 50\n");
    let found = from_str("large.toml", &text, &Overrides::default()).err().unwrap();
    assert!(found[0].message.contains("more than 50 operations, with 20 coordinates"), "{}", found[0]);
    assert!(found[0].hint.as_ref().unwrap().contains("operations"), "{}", found[0]);
    assert_eq!(found[0].line, 8);
}
