//! The equations of motion that a Lagrangian model derives, against their closed forms.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::super::{Graph, NodeId, Scope, Tape};

/// The parts of M v̇ = F, with K = −∂F/∂q and C = −∂F/∂v; matrices by rows.
struct Equations {
    mass: Vec<NodeId>,
    force: Vec<NodeId>,
    stiffness: Vec<NodeId>,
    damping: Vec<NodeId>,
}

/// Lagrange's equations: Fᵢ = −∂V/∂qᵢ + ∂T/∂qᵢ − Σⱼ ∂²T/∂vᵢ∂qⱼ vⱼ, M = ∂²T/∂v².
fn lagrange(graph: &mut Graph, kinetic: NodeId, potential: NodeId, (q, v): (Range<usize>, Range<usize>)) -> Equations {
    let mut equations = Equations { mass: vec![], force: vec![], stiffness: vec![], damping: vec![] };
    let velocity: Vec<(usize, NodeId)> = q.clone().zip(v.clone()).map(|(q, v)| (q, graph.input(v))).collect();
    for (i, j) in q.clone().zip(v.clone()) {
        let momentum = graph.derivative(kinetic, j);
        equations.mass.extend(graph.gradient(momentum, v.clone()));
        let lagrangian = graph.subtract(kinetic, potential);
        let slope = graph.derivative(lagrangian, i);
        let convection = graph.directional(momentum, &velocity);
        let force = graph.subtract(slope, convection);
        equations.force.push(force);
        for (matrix, slots) in [(&mut equations.stiffness, q.clone()), (&mut equations.damping, v.clone())] {
            for slope in graph.gradient(force, slots) {
                matrix.push(graph.negate(slope));
            }
        }
    }
    for &mass in &equations.mass {
        assert!(v.clone().all(|slot| !graph.depends_on(mass, slot)), "the mass matrix depends on a velocity");
    }
    equations
}

fn close(found: &[f64], expected: &[f64], what: &str) {
    assert_eq!(found.len(), expected.len());
    // a few hundred roundings of the largest entry at most
    let scale = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    for (k, (x, y)) in found.iter().zip(expected).enumerate() {
        assert!((x - y).abs() <= 1e-13 * scale, "{what}[{k}]: {x} instead of {y}");
    }
}

/// The slider-crank of spec 6.2, from its energies.
pub(super) fn slider_crank(graph: &mut Graph) -> (Vec<NodeId>, Vec<NodeId>) {
    let mut scope = Scope::new();
    let slots = scope.declare_coordinates(&["th1", "th2", "th3"]).unwrap();
    let values = [
        ("l1", 0.153),
        ("l2", 0.306),
        ("m1", 0.038),
        ("m2", 0.038),
        ("m3", 0.076),
        ("J1", 7.4e-5),
        ("J2", 5.9e-4),
        ("J3", 2.7e-6),
        ("g", 9.81),
    ];
    let parameters = values.map(|(name, value)| (scope.declare_parameter(name).unwrap(), value));
    // centres of the crank, of the rod, and of the slider
    let kinetic = "m1/2*(l1/2*th1')^2 + J1/2*th1'^2 \
        + m2/2*((l1*cos(th1)*th1' + l2/2*cos(th2)*th2')^2 + (l1*sin(th1)*th1' + l2/2*sin(th2)*th2')^2) + J2/2*th2'^2 \
        + m3/2*((l1*cos(th1)*th1' + l2*cos(th2)*th2')^2 + (l1*sin(th1)*th1' + l2*sin(th2)*th2')^2) + J3/2*th3'^2";
    let potential = "g*(m1*l1/2*sin(th1) + m2*(l1*sin(th1) + l2/2*sin(th2)) + m3*(l1*sin(th1) + l2*sin(th2)))";
    let energies = [kinetic, potential].map(|text| graph.expression(text, &scope).unwrap());
    let bound = graph.bind_all(&energies, &parameters);
    let equations = lagrange(graph, bound[0], bound[1], (slots.positions, slots.velocities));
    (equations.mass, equations.force)
}

#[test]
fn slider_crank_has_its_closed_form() {
    let mut graph = Graph::new();
    let (mass, force) = slider_crank(&mut graph);
    let tape = Tape::compile(&graph, &[mass, force].concat());
    let (mut registers, mut out) = (tape.registers(), [0.0; 12]);
    let mut random = Pcg64::seed_from_u64(2);
    for _ in 0..100 {
        let q: [f64; 3] = std::array::from_fn(|_| random.random_range(-3.0..3.0));
        let v: [f64; 3] = std::array::from_fn(|_| random.random_range(-150.0..150.0));
        tape.eval_parts(&[&q, &v], &mut registers, &mut out);
        let (l1, l2, m1, m2, m3, g) = (0.153, 0.306, 0.038, 0.038, 0.076, 9.81);
        let a = (m2 / 2.0 + m3) * l1 * l2;
        let m11 = 7.4e-5 + (m1 / 4.0 + m2 + m3) * l1 * l1;
        let m22 = 5.9e-4 + (m2 / 4.0 + m3) * l2 * l2;
        let m12 = a * (q[0] - q[1]).cos();
        close(&out[..9], &[m11, m12, 0.0, m12, m22, 0.0, 0.0, 0.0, 2.7e-6], "M");
        let sine = a * (q[0] - q[1]).sin();
        let f1 = -sine * v[1] * v[1] - (m1 / 2.0 + m2 + m3) * g * l1 * q[0].cos();
        let f2 = sine * v[0] * v[0] - (m2 / 2.0 + m3) * g * l2 * q[1].cos();
        close(&out[9..], &[f1, f2, 0.0], "F");
    }
}

/// A chain of n point masses on massless links, with the energies as a user would write them.
pub(super) fn pendulum(graph: &mut Graph, n: usize) -> (Scope, Vec<NodeId>) {
    let mut scope = Scope::new();
    let names: Vec<String> = (1..=n).map(|i| format!("q{i}")).collect();
    let slots = scope.declare_coordinates(&names).unwrap();
    let parameters = [("m", 0.7), ("l", 0.4), ("g", 9.81)].map(|(name, value)| {
        let slot = scope.declare_parameter(name).unwrap();
        (slot, value)
    });
    let sum = |i: usize, term: &dyn Fn(&str) -> String| {
        let terms: Vec<String> = names[..=i].iter().map(|name| term(name)).collect();
        terms.join(" + ")
    };
    let kinetic: Vec<String> = (0..n)
        .map(|i| {
            let x = sum(i, &|q| format!("l*cos({q})*{q}'"));
            let y = sum(i, &|q| format!("l*sin({q})*{q}'"));
            format!("m/2*(({x})^2 + ({y})^2)")
        })
        .collect();
    let potential: Vec<String> = (0..n).map(|i| format!("m*g*({})", sum(i, &|q| format!("-l*cos({q})")))).collect();
    let energies = [kinetic, potential].map(|terms| graph.expression(&terms.join(" + "), &scope).unwrap());
    let bound = graph.bind_all(&energies, &parameters);
    let equations = lagrange(graph, bound[0], bound[1], (slots.positions, slots.velocities));
    let Equations { mass, force, stiffness, damping } = equations;
    (scope, [mass, force, stiffness, damping].concat())
}

/// M, F, K, C of the chain: Mⱼₖ = aⱼₖ cos(qⱼ − qₖ), Fⱼ = −Σₖ aⱼₖ sin(qⱼ − qₖ) vₖ² − bⱼ sin qⱼ.
fn pendulum_closed_form(q: &[f64], v: &[f64]) -> [Vec<f64>; 4] {
    let (n, m, l, g) = (q.len(), 0.7, 0.4, 9.81);
    let a = |j: usize, k: usize| m * l * l * (n - j.max(k)) as f64;
    let b = |j: usize| m * g * l * (n - j) as f64;
    let mut parts = [vec![0.0; n * n], vec![0.0; n], vec![0.0; n * n], vec![0.0; n * n]];
    for j in 0..n {
        parts[1][j] -= b(j) * q[j].sin();
        parts[2][j * n + j] += b(j) * q[j].cos();
        for k in 0..n {
            let (sin, cos) = (q[j] - q[k]).sin_cos();
            parts[0][j * n + k] = a(j, k) * cos;
            parts[1][j] -= a(j, k) * sin * v[k] * v[k];
            parts[2][j * n + k] -= a(j, k) * cos * v[k] * v[k];
            parts[2][j * n + j] += a(j, k) * cos * v[k] * v[k];
            parts[3][j * n + k] = 2.0 * a(j, k) * sin * v[k];
        }
    }
    parts
}

#[test]
fn ten_link_pendulum_has_its_closed_form() {
    let (mut graph, n) = (Graph::new(), 10);
    let (scope, outputs) = pendulum(&mut graph, n);
    let tape = Tape::compile(&graph, &outputs);
    // tangents of a chain are O(n²) numbers; sharing must keep the tape at that order
    assert!(graph.count() < 100_000 && tape.len() < 100 * n * n, "{} nodes, {} operations", graph.count(), tape.len());
    assert_eq!(scope.slots(), 2 * n + 3);
    let (mut registers, mut out) = (tape.registers(), vec![0.0; outputs.len()]);
    let mut random = Pcg64::seed_from_u64(3);
    for _ in 0..20 {
        let q: Vec<f64> = (0..n).map(|_| random.random_range(-3.0..3.0)).collect();
        let v: Vec<f64> = (0..n).map(|_| random.random_range(-2.0..2.0)).collect();
        tape.eval_parts(&[&q, &v], &mut registers, &mut out);
        let mut rest = &out[..];
        for (expected, name) in pendulum_closed_form(&q, &v).iter().zip(["M", "F", "K", "C"]) {
            let (part, tail) = rest.split_at(expected.len());
            close(part, expected, name);
            rest = tail;
        }
    }
}
