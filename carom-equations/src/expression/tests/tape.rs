//! What a tape contains and how it is evaluated.

use super::super::{Graph, Registers, Tape};
use super::{A, B, VX, X, Y, build};

#[test]
fn constants_inputs_and_repetitions_are_outputs() {
    let mut graph = Graph::new();
    let (two, x, y) = (build(&mut graph, "-2"), build(&mut graph, "x"), build(&mut graph, "y"));
    let tape = Tape::compile(&graph, &[two, y, x, two]);
    assert_eq!((tape.len(), tape.inputs(), tape.outputs()), (0, Y + 1, 4));
    let mut out = [0.0; 4];
    tape.eval(&[9.0, 5.0, 7.0], &mut tape.registers(), &mut out);
    assert_eq!(out, [-2.0, 7.0, 5.0, -2.0]);
    assert!(!tape.is_constant());

    let tape = Tape::compile(&graph, &[two]);
    assert!(tape.is_constant() && tape.is_empty());
    tape.eval(&[], &mut tape.registers(), &mut out[..1]);
    assert_eq!(out[0], -2.0);
    let tape = Tape::compile(&graph, &[]);
    tape.eval(&[], &mut tape.registers(), &mut []);
}

#[test]
fn only_needed_operations_are_kept() {
    let mut graph = Graph::new();
    let f = build(&mut graph, "sin(x)*y + exp(z)");
    let slope = graph.derivative(f, Y);
    let tape = Tape::compile(&graph, &[slope]);
    assert_eq!((tape.len(), tape.inputs()), (1, X + 1));
}

#[test]
fn function_and_gradient_share_their_operations() {
    let mut graph = Graph::new();
    let f = build(&mut graph, "exp(sin(x)*cos(y))*sqrt(x^2 + y^2 + z^2)");
    let mut outputs = vec![f];
    outputs.extend(graph.gradient(f, X..X + 3));
    let together = Tape::compile(&graph, &outputs).len();
    let apart: usize = outputs.iter().map(|&output| Tape::compile(&graph, &[output]).len()).sum();
    assert!(2 * together < apart + together, "{together} of {apart}");
    assert!(3 * together < 2 * apart, "{together} of {apart}");
}

#[test]
fn sums_of_products_and_angles_are_fused() {
    let mut graph = Graph::new();
    for (text, length) in [
        ("x*y + z", 1),
        ("z - x*y", 1),
        ("x*y - z", 1),
        ("x^2 + z", 1),
        ("x*y + y*z", 2),
        ("sin(x) + cos(x)", 2),
        ("x*y + sin(x*y)", 3),
        ("x^2", 1),
        ("x^3", 1),
        ("x^9", 1),
    ] {
        let node = build(&mut graph, text);
        let tape = Tape::compile(&graph, &[node]);
        assert_eq!(tape.len(), length, "{text}\n{tape}");
    }
    // an output is kept even if it is a product within a sum
    let (product, sum) = (build(&mut graph, "x*y"), build(&mut graph, "x*y + z"));
    let tape = Tape::compile(&graph, &[product, sum]);
    let mut out = [0.0; 2];
    tape.eval(&[0.0, 2.0, 3.0, 5.0], &mut tape.registers(), &mut out);
    assert_eq!(out, [6.0, 11.0]);
}

#[test]
fn every_form_of_operation_evaluates() {
    for (text, expected) in [
        ("x*y + z", 11.0),
        ("z - x*y", -1.0),
        ("x*y - z", 1.0),
        ("z*y + x*a", 49.0),
        ("z*y - x*a", -19.0),
        ("z^2 - x^2", 21.0),
        ("-x/y*y", -2.0),
        ("-(x + y)", -5.0),
        ("x^3 + x^5", 40.0),
        ("z^x", 25.0),
        ("sin(x)^2 + cos(x)^2", 1.0),
    ] {
        let found = super::value(text);
        assert!((found - expected).abs() <= 4.0 * f64::EPSILON * 50.0, "{text}: {found}");
    }
}

#[test]
fn sine_and_cosine_agree_with_the_separate_functions() {
    let mut graph = Graph::new();
    let (sin, cos) = (build(&mut graph, "sin(x)"), build(&mut graph, "cos(x)"));
    for order in [[sin, cos], [cos, sin]] {
        let tape = Tape::compile(&graph, &order);
        let mut out = [0.0; 2];
        for x in [0.3, -2.0, 50.0] {
            tape.eval(&[0.0, x], &mut tape.registers(), &mut out);
            let expected = if order[0] == sin { [x.sin(), x.cos()] } else { [x.cos(), x.sin()] };
            for k in 0..2 {
                assert!((out[k] - expected[k]).abs() <= f64::EPSILON, "{out:?} {expected:?}");
            }
        }
    }
}

#[test]
fn parts_are_the_inputs_in_pieces() {
    let mut graph = Graph::new();
    let node = build(&mut graph, "t + 10*x + 100*z + 1000*x'");
    let tape = Tape::compile(&graph, &[node]);
    let (mut whole, mut pieces, mut registers) = ([0.0], [0.0], tape.registers());
    tape.eval(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], &mut registers, &mut whole);
    tape.eval_parts(&[&[1.0], &[2.0, 3.0, 4.0], &[5.0, 6.0, 7.0]], &mut registers, &mut pieces);
    assert_eq!((whole, pieces), ([5421.0], [5421.0]));
    assert_eq!(tape.inputs(), VX + 1);
}

#[test]
fn registers_follow_the_tape() {
    let mut graph = Graph::new();
    let (f, g) = (build(&mut graph, "3*x + 5"), build(&mut graph, "7*x*y - 11"));
    let (first, second) = (Tape::compile(&graph, &[f]), Tape::compile(&graph, &[g]));
    let mut registers = Registers::default();
    let mut out = [0.0];
    for _ in 0..2 {
        first.eval(&[0.0, 1.0], &mut registers, &mut out);
        assert_eq!(out, [8.0]);
        second.eval(&[0.0, 1.0, 2.0], &mut registers, &mut out);
        assert_eq!(out, [3.0]);
    }
}

#[test]
fn the_listing_names_every_operation() {
    let mut graph = Graph::new();
    let node = build(&mut graph, "sin(x) + 2*cos(x)");
    let listing = Tape::compile(&graph, &[node]).to_string();
    assert_eq!(listing, "r2 = 2.0\nr3, r4 = SinCos(r1)\nr5 = MultiplyAdd(r2, r4, r3)\nout = [r5]\n");
}

const FORMULAS: [&str; 14] = [
    "a/2*cos(x)*b",
    "a*x + b*x - 3*x",
    "(a*x)*(b*y)/(2*a)",
    "x + a - y + b",
    "-(a - b)*x - a*(-x)",
    "a*x/3 - x/a + a/(b*x)",
    "sin(-a*x) + (a*x)^2*b",
    "a/(x*y) - 2*(x/a)*b",
    "sqrt(a^2 + b^2)*x + a*b + exp(a)*x'",
    "(a*x)/(b*y) + 3*(a/x)",
    "max(a, b)*x + min(a*x, b*y)",
    "(x + a)*(y - b)*(a - 17)",
    "-a*x*y - b*x*y",
    "a*(b*(x + y)/3) - (x - y)*b/a",
];

#[test]
fn parameters_have_the_values_that_they_are_bound_to() {
    let state = [0.5, 2.0, 3.0, 5.0, 7.0, 11.0, 13.0];
    let mut graph = Graph::new();
    graph.declare_parameters(A);
    let mut nodes: Vec<_> = FORMULAS.iter().map(|text| build(&mut graph, text)).collect();
    for k in 0..FORMULAS.len() {
        nodes.extend([graph.derivative(nodes[k], X), graph.derivative(nodes[k], Y)]);
    }
    let tape = Tape::compile(&graph, &nodes);
    assert_eq!(tape.inputs(), VX + 1);
    for [a, b] in [[17.0, 19.0], [-0.3, 1e-3], [1.0, -2.0]] {
        let bound = tape.bind(&[a, b]);
        let mut found = vec![0.0; nodes.len()];
        bound.eval(&state, &mut bound.registers(), &mut found);
        // the same with numbers in place of parameters, in a graph that knows none
        let mut plain = Graph::new();
        for (k, text) in FORMULAS.iter().enumerate() {
            let node = build(&mut plain, text);
            let node = plain.bind(node, &[(A, a), (B, b)]);
            let slopes = [plain.derivative(node, X), plain.derivative(node, Y)];
            for (node, at) in
                [node, slopes[0], slopes[1]].into_iter().zip([k, FORMULAS.len() + 2 * k, FORMULAS.len() + 2 * k + 1])
            {
                let expected = super::evaluate(&plain, node, &state);
                assert!(
                    (found[at] - expected).abs() <= 1e-12 * (1.0 + expected.abs()),
                    "{text}: {} {expected}",
                    found[at]
                );
            }
        }
        // derivatives along a parameter are those of the graph
        let (mut registers, mut work, mut along) = (bound.registers(), Vec::new(), vec![0.0; nodes.len()]);
        bound.eval(&state, &mut registers, &mut found);
        bound.differential(&registers, &[], &[1.0, 0.0], &mut work, &mut along);
        for (k, text) in FORMULAS.iter().enumerate() {
            let node = build(&mut plain, text);
            let slope = plain.derivative(node, A);
            let slope = plain.bind(slope, &[(A, a), (B, b)]);
            let expected = super::evaluate(&plain, slope, &state);
            assert!((along[k] - expected).abs() <= 1e-12 * (1.0 + expected.abs()), "{text}: {} {expected}", along[k]);
        }
    }
}

#[test]
fn what_depends_on_parameters_alone_is_not_evaluated_again() {
    let mut graph = Graph::new();
    graph.declare_parameters(A);
    for (text, length) in [
        ("a/2*cos(x)*b", 2),
        ("a*x + b*x - 3*x", 1),
        ("(a*x)*(b*y)", 2),
        ("a + x + b", 1),
        ("sin(a)*exp(b)/3", 0),
        ("(a*cos(x))/2/b", 2),
        ("a*x/3", 1),
    ] {
        let node = build(&mut graph, text);
        let tape = Tape::compile(&graph, &[node]);
        assert_eq!(tape.len(), length, "{text}\n{tape}");
        assert_eq!(graph.is_fixed(node), length == 0);
    }
    let node = build(&mut graph, "a*x + b");
    assert_eq!(graph.slots(node), [X]);
    assert!(graph.depends_on(node, A) && graph.depends_on(node, B) && !graph.depends_on(node, Y));
}

/// Values inside a box are within the bounds of the box, and bounds of a small box are close.
#[test]
fn bounds_hold_in_a_box() {
    use rand::{RngExt, SeedableRng};
    let texts = [
        "x*y - x/(2 + y^2)",
        "sin(x)*cos(3*y) + tan(y/9)",
        "exp(-(x - y)^2) + x^3 - y^4",
        "abs(x) + sign(y) + max(x, y) - min(x, 2*y)",
        "floor(3*x) - mod(y, 0.5)",
        "sqrt(4 + x) + log(5 + y) + atan(x) + atan2(y, x)",
        "(5 + x)^(y/3) + sinh(x) + cosh(y) + tanh(x*y) + asin(x/4) + acos(y/4)",
    ];
    let mut rng = rand_pcg::Pcg64::seed_from_u64(7);
    let (mut work, mut out) = (Vec::new(), Vec::new());
    for text in texts {
        let mut graph = Graph::new();
        let f = build(&mut graph, text);
        let outputs = [f, graph.derivative(f, X), graph.derivative(f, Y)];
        let tape = Tape::compile(&graph, &outputs);
        let (mut registers, mut values) = (tape.registers(), [0.0; 3]);
        for _ in 0..200 {
            let width = [3.0, 0.3, 1e-6][rng.random_range(0..3)];
            let place: [f64; 3] = std::array::from_fn(|_| rng.random_range(-3.0..3.0 - width));
            tape.bounds(&place.map(|x| [x, x + width]), &mut work, &mut out);
            for _ in 0..20 {
                let inside = place.map(|x| x + width * rng.random_range(0.0..1.0));
                tape.eval(&inside, &mut registers, &mut values);
                for (value, [low, high]) in values.iter().zip(&out) {
                    let slack = 1e-12 * (1.0 + value.abs());
                    assert!(value - slack <= *high && value + slack >= *low, "{text} {inside:?}: {value} {low} {high}");
                }
            }
            let close = out[0][1] - out[0][0] < 1e-3;
            assert!(
                width > 1e-3 || close || text.contains("sign") || text.contains("floor") || text.contains("atan2"),
                "{text} {place:?} {out:?}"
            );
        }
    }
}
