//! Derivatives of every function against finite differences of sixth order, and at special points.

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::super::{Graph, Tape};
use super::{A, VX, X, Y, build, evaluate};

/// Expressions with the interval of x and y in which they are smooth.
const SMOOTH: [(&str, f64, f64); 36] = [
    ("sin(2*x + y)", -3.0, 3.0),
    ("cos(x*y)", -2.0, 2.0),
    ("tan(x/3)", -3.0, 3.0),
    ("asin(x)", -0.8, 0.8),
    ("acos(x*y)", 0.1, 0.8),
    ("atan(x^2)", -2.0, 2.0),
    ("atan2(x, y)", 0.5, 2.0),
    ("atan2(x*y, x - 3)", -2.0, 2.0),
    ("sinh(x)", -2.0, 2.0),
    ("cosh(x - y)", -2.0, 2.0),
    ("tanh(x*y)", -1.0, 1.0),
    ("exp(-x^2)", -2.0, 2.0),
    ("log(x + y^2)", 0.5, 3.0),
    ("sqrt(x^2 + 1)", -2.0, 2.0),
    ("abs(x)*y", 0.5, 2.0),
    ("abs(x)*x", -2.0, -0.5),
    ("sign(x)*x^2", -2.0, -0.5),
    ("min(x^2, x + 3)", -1.0, 1.0),
    ("min(x + 3, x^2)", -1.0, 1.0),
    ("max(x^3, x - 5, y - 9)", -1.0, 1.0),
    ("max(x - 5, x^3)", -1.0, 1.0),
    ("x^2", -2.0, 2.0),
    ("x^3*y", -2.0, 2.0),
    ("(x + y)^7", -0.5, 0.5),
    ("x^-3", 1.0, 3.0),
    ("x^2.5", 1.0, 3.0),
    ("x^-0.3", 1.0, 3.0),
    ("x^40", 0.9, 1.1),
    ("2^x", -2.0, 2.0),
    ("x^y", 0.8, 2.0),
    ("(x + 3)^sin(x)", -1.0, 1.0),
    ("x/y", 1.0, 3.0),
    ("1/(1 + x^2)", -1.0, 1.0),
    ("(x - y)/(x*y + 2)", 0.0, 2.0),
    ("x - 3*y - (-x)*2", -2.0, 2.0),
    ("-(x*sin(x) - cos(y)/x)", 0.8, 3.0),
];

/// Central difference of sixth order and the largest sample.
fn difference(f: &mut dyn FnMut(f64) -> f64, at: f64, h: f64) -> (f64, f64) {
    let samples = [-3.0, -2.0, -1.0, 1.0, 2.0, 3.0].map(|k| f(at + k * h));
    let weights = [-1.0, 9.0, -45.0, 45.0, -9.0, 1.0];
    let sum: f64 = samples.iter().zip(weights).map(|(sample, weight)| sample * weight).sum();
    (sum / (60.0 * h), samples.iter().fold(0.0, |largest, sample| sample.abs().max(largest)))
}

/// Compares a derivative with differences of two steps; the tolerance follows from the differences alone.
///
/// The truncation error falls by 2⁶ from h to h/2, so that |D(h) − D(h/2)| bounds that of D(h/2) generously. Rounding:
/// the weights sum to 1.83, and each sample is good to 8 units in the last place, arguments included.
fn check(text: &str, f: &mut dyn FnMut(f64) -> f64, (at, h): (f64, f64), derivative: f64) {
    let ((coarse, _), (fine, largest)) = (difference(f, at, h), difference(f, at, h / 2.0));
    let tolerance = (coarse - fine).abs() + 1.83 * 8.0 * f64::EPSILON * (largest + at.abs()) / (h / 2.0);
    // the test has teeth: it knows at least five digits
    assert!(tolerance < 1e-5 * (1.0 + fine.abs()), "{text}: no sharp reference at {at}");
    assert!((derivative - fine).abs() <= tolerance, "{text} at {at}: {derivative}, expected {fine} ± {tolerance:e}");
}

#[test]
fn first_and_second_derivatives() {
    let mut random = Pcg64::seed_from_u64(1);
    for (text, low, high) in SMOOTH {
        let h = 0.005 * (high - low);
        let mut graph = Graph::new();
        let f = build(&mut graph, text);
        for slot in [X, Y] {
            let slope = graph.derivative(f, slot);
            let second = [graph.derivative(slope, X), graph.derivative(slope, Y)];
            let tape = Tape::compile(&graph, &[f, slope, second[0], second[1]]);
            let mut registers = tape.registers();
            for _ in 0..20 {
                let mut inputs = [0.0; 9];
                inputs[X] = random.random_range(low..high);
                inputs[Y] = random.random_range(low..high);
                let mut out = [0.0; 4];
                tape.eval(&inputs, &mut registers, &mut out);
                let mut sample = |output: usize, along: usize, value: f64| {
                    let (mut moved, mut out) = (inputs, [0.0; 4]);
                    moved[along] = value;
                    tape.eval(&moved, &mut registers, &mut out);
                    out[output]
                };
                check(text, &mut |value| sample(0, slot, value), (inputs[slot], h), out[1]);
                check(text, &mut |value| sample(1, X, value), (inputs[X], h), out[2]);
                check(text, &mut |value| sample(1, Y, value), (inputs[Y], h), out[3]);
            }
        }
    }
}

#[test]
fn closed_forms() {
    let mut graph = Graph::new();
    for (text, slot, expected) in [
        ("3*x^2*y", X, "6*x*y"),
        ("x^1", X, "1"),
        ("sin(x)", X, "cos(x)"),
        ("cos(2*x)", X, "-2*sin(2*x)"),
        ("exp(3*x)", X, "3*exp(3*x)"),
        ("log(x)", X, "1/x"),
        ("abs(x)", X, "sign(x)"),
        ("sign(x)", X, "0"),
        ("floor(x)*x", X, "floor(x)"),
        ("mod(x, 2)", X, "1"),
        ("a/2*x'^2", VX, "a*x'"),
        ("y", X, "0"),
        ("x^2.5", X, "2.5*x^1.5"),
        ("x^a", X, "a*x^(a-1)"),
    ] {
        let f = build(&mut graph, text);
        let derivative = graph.derivative(f, slot);
        assert_eq!(derivative, build(&mut graph, expected), "({text})'");
    }
}

#[test]
fn special_points() {
    let mut graph = Graph::new();
    let mut slope = |text: &str, slot: usize, x: f64, y: f64| {
        let f = build(&mut graph, text);
        let derivative = graph.derivative(f, slot);
        let mut inputs = [0.0; 9];
        (inputs[X], inputs[Y], inputs[A]) = (x, y, 1.0);
        evaluate(&graph, derivative, &inputs)
    };
    // powers at zero
    assert_eq!(slope("x^2", X, 0.0, 0.0), 0.0);
    assert_eq!(slope("x^1", X, 0.0, 0.0), 1.0);
    assert_eq!(slope("x^0", X, 0.0, 0.0), 0.0);
    assert_eq!(slope("x^1.5", X, 0.0, 0.0), 0.0);
    assert_eq!(slope("x^a", X, 0.0, 0.0), 1.0);
    assert_eq!(slope("x^y", Y, 0.0, 2.0), 0.0);
    assert_eq!(slope("max(0, x)^1.5", X, -1.0, 0.0), 0.0);
    // negative bases of constant exponents need no logarithm
    assert_eq!(slope("x^3", X, -2.0, 0.0), 12.0);
    assert_eq!(slope("x^-1", X, -2.0, 0.0), -0.25);
    assert_eq!(slope("x^40", X, -1.0, 0.0), -40.0);
    // kinks: abs has slope 0, min and max that of the first argument
    assert_eq!(slope("abs(x)", X, 0.0, 0.0), 0.0);
    assert_eq!(slope("max(0, x)", X, 0.0, 0.0), 0.0);
    assert_eq!(slope("max(x, 0)", X, 0.0, 0.0), 1.0);
    assert_eq!(slope("min(2*x, 3*x)", X, 0.0, 0.0), 2.0);
    assert_eq!(slope("min(3*x, 2*x)", X, 0.0, 0.0), 3.0);
    // a branch that is not taken does no harm
    assert_eq!(slope("max(x, sqrt(y))", X, 1.0, -1.0).to_bits(), 0.0_f64.to_bits());
    assert_eq!(slope("min(x, 1/y)", X, 1.0, 0.0), 1.0);
}

#[test]
fn directional_derivative_is_the_rate() {
    let mut graph = Graph::new();
    let gap = build(&mut graph, "y - sin(x)");
    let direction = [(X, graph.input(VX)), (Y, graph.input(VX + 1))];
    let rate = graph.directional(gap, &direction);
    assert_eq!(rate, build(&mut graph, "y' - cos(x)*x'"));
    // the second directional derivative is G_qq(v, v): here v² sin x
    let curvature = graph.directional(rate, &direction);
    assert_eq!(curvature, build(&mut graph, "sin(x)*x'^2"));
}
