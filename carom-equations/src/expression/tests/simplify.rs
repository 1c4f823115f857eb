//! Simplification keeps the value; printing and parsing keep the expression.

use proptest::prelude::*;

use super::super::{Function, Graph, NodeId, Operator, Unary};
use super::{A, B, VX, X, Y, build, evaluate, scope};

#[test]
fn equal_expressions_are_one_node() {
    let mut graph = Graph::new();
    for (left, right) in [
        ("x + y", "y + x"),
        ("x*y", "y*x"),
        ("0*sin(x)", "0"),
        ("x + 0", "x"),
        ("1*x", "x"),
        ("x - x", "0"),
        ("x^0", "1"),
        ("x^1", "x"),
        ("--x", "x"),
        ("-(x - y)", "y - x"),
        ("x*x", "x^2"),
        ("x*x^2*x", "x^4"),
        ("(x^2)^3", "x^6"),
        ("2*x*3*y", "6*(x*y)"),
        ("x + x + x", "3*x"),
        ("2*x - 3*x", "-x"),
        ("x + y - x", "y"),
        ("x + 1 + 2", "x + 3"),
        ("a/2*x", "0.5*a*x"),
        ("(-x)*(-y)", "x*y"),
        ("x + -y", "x - y"),
        ("x - -2*y", "x + 2*y"),
        ("-x - y", "-(x + y)"),
        ("(-x)^2", "x^2"),
        ("(-x)^3", "-x^3"),
        ("abs(x)^2", "x^2"),
        ("sin(-x)", "-sin(x)"),
        ("cos(-2*x)", "cos(2*x)"),
        ("x^0.5", "sqrt(x)"),
        ("x^-2", "1/x^2"),
        ("e^x", "exp(x)"),
        ("min(x, x)", "x"),
        ("-(2 - x)", "x - 2"),
        ("2/(4*x)", "0.5/x"),
        ("3*(x/7)*7", "3*x"),
    ] {
        let (a, b) = (build(&mut graph, left), build(&mut graph, right));
        assert_eq!(a, b, "{left} and {right}");
    }
}

#[test]
fn poles_and_ranges_are_kept() {
    let mut graph = Graph::new();
    // x/x has no value at zero, and factors are not collected if that would over- or underflow
    let ratio = build(&mut graph, "x/x");
    assert!(evaluate(&graph, ratio, &[0.0; 9]).is_nan());
    let tiny = build(&mut graph, "1e-200*(1e-200*x)");
    assert!((evaluate(&graph, tiny, &[0.0, 1e250, 0.0]) / 1e-150 - 1.0).abs() < 1e-15);
    let huge = build(&mut graph, "1e200*(1e200*x)");
    assert!((evaluate(&graph, huge, &[0.0, 1e-250, 0.0]) / 1e150 - 1.0).abs() < 1e-15);
    // a quotient is as exact as written: 49/49 − 1 = 0
    let quotient = build(&mut graph, "x/49 - 1");
    assert_eq!(evaluate(&graph, quotient, &[0.0, 49.0]), 0.0);
}

#[test]
fn constants_fold() {
    let mut graph = Graph::new();
    let node = build(&mut graph, "2*sin(pi/2) + 3^2 - sqrt(16)");
    assert_eq!(graph.is_constant(node), Some(7.0));
    let node = build(&mut graph, "1/0");
    assert_eq!(graph.is_constant(node), Some(f64::INFINITY));
    let node = build(&mut graph, "x");
    assert_eq!(graph.is_constant(node), None);
}

#[test]
fn parameters_are_inputs_until_bound() {
    let mut graph = Graph::new();
    let node = build(&mut graph, "a*x^b + a");
    assert_eq!(evaluate(&graph, node, &[0.0, 3.0, 0., 0., 0., 0., 0., 2.0, 2.0]), 20.0);
    assert!(graph.depends_on(node, A) && graph.depends_on(node, B) && graph.depends_on(node, X));
    assert!(!graph.depends_on(node, Y) && !graph.depends_on(node, VX) && !graph.depends_on(node, 1000));
    assert_eq!(graph.slots(node), [X, A, B]);
    let bound = graph.bind(node, &[(A, 2.0), (B, 2.0)]);
    assert_eq!(bound, build(&mut graph, "2*x^2 + 2"));
    let constant = graph.bind(node, &[(A, 2.0), (B, 2.0), (X, 3.0)]);
    assert_eq!(graph.is_constant(constant), Some(20.0));
    let y = graph.input(Y);
    assert_eq!(graph.substitute(&[bound], &[(X, y)])[0], build(&mut graph, "2*y^2 + 2"));
}

#[test]
fn dependence_is_exact_for_many_slots() {
    let mut graph = Graph::new();
    let (p, q) = (graph.input(100), graph.input(200));
    let product = graph.multiply(p, q);
    for slot in [63, 64, 100, 150, 200] {
        assert_eq!(graph.depends_on(product, slot), slot == 100 || slot == 200, "{slot}");
    }
    assert_eq!(graph.derivative(product, 100), q);
    let other = graph.derivative(product, 150);
    assert_eq!(graph.is_constant(other), Some(0.0));
}

#[test]
fn declared_e_wins_over_euler() {
    let (mut graph, mut names) = (Graph::new(), scope());
    let slot = names.declare_parameter("e").unwrap();
    let node = graph.expression("-e*x'", &names).unwrap();
    assert!(graph.depends_on(node, slot));
}

#[test]
fn definitions_are_shared() {
    let (mut graph, mut names) = (Graph::new(), scope());
    let reach = graph.expression("a*sin(x)", &names).unwrap();
    names.define("reach", reach).unwrap();
    let direct = graph.expression("2*(a*sin(x)) + y", &names).unwrap();
    assert_eq!(graph.expression("2*reach + y", &names).unwrap(), direct);
}

/// A random expression.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Name(&'static str, usize),
    Negate(Box<Tree>),
    Binary(Operator, Box<Tree>, Box<Tree>),
    Call(Function, Vec<Tree>),
}

const OPERATORS: [(Operator, &str, u8, u8, u8); 5] = [
    // level of the result, lowest level of the left and of the right operand
    (Operator::Add, " + ", 1, 1, 2),
    (Operator::Subtract, "-", 1, 1, 2),
    (Operator::Multiply, "*", 2, 2, 3),
    (Operator::Divide, " / ", 2, 2, 3),
    (Operator::Power, "^", 4, 5, 3),
];

impl Tree {
    /// Text with only the parentheses that the rules of precedence need, or with all of them, and its level.
    fn print(&self, all: bool) -> (String, u8) {
        let enclose = |tree: &Tree, level: u8| {
            let (text, own) = tree.print(all);
            if all || own < level { format!("({text})") } else { text }
        };
        match self {
            Tree::Number(value) => (format!("{value:?}"), 5),
            Tree::Name(name, _) => ((*name).into(), 5),
            Tree::Negate(a) => (format!("-{}", enclose(a, 3)), 3),
            Tree::Binary(operator, a, b) => {
                let row = OPERATORS.iter().find(|row| row.0 == *operator).unwrap();
                (format!("{}{}{}", enclose(a, row.3), row.1, enclose(b, row.4)), row.2)
            }
            Tree::Call(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|argument| argument.print(all).0).collect();
                (format!("{}({})", function.name(), arguments.join(", ")), 5)
            }
        }
    }

    fn build(&self, graph: &mut Graph) -> NodeId {
        match self {
            Tree::Number(value) => graph.constant(*value),
            Tree::Name(_, slot) => graph.input(*slot),
            Tree::Negate(a) => {
                let a = a.build(graph);
                graph.negate(a)
            }
            Tree::Binary(operator, a, b) => {
                let (a, b) = (a.build(graph), b.build(graph));
                match operator {
                    Operator::Add => graph.add(a, b),
                    Operator::Subtract => graph.subtract(a, b),
                    Operator::Multiply => graph.multiply(a, b),
                    Operator::Divide => graph.divide(a, b),
                    Operator::Power => graph.power(a, b),
                }
            }
            Tree::Call(function, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|argument| argument.build(graph)).collect();
                graph.call(*function, &arguments)
            }
        }
    }

    /// The value and a bound of what rounding can do to it, in any order of the operations.
    ///
    /// Every term, factor and result is charged with one rounding of its own size. Only operations whose errors are
    /// bounded by the formulas below may appear; the others give NaN.
    fn bounded(&self, inputs: &[f64]) -> (f64, f64) {
        let unit = f64::EPSILON;
        let (value, inherited) = match self {
            Tree::Number(value) => (*value, 0.0),
            Tree::Name(_, slot) => (inputs[*slot], 0.0),
            Tree::Negate(a) => {
                let (a, ea) = a.bounded(inputs);
                (-a, ea)
            }
            Tree::Binary(operator, a, b) => {
                let ((a, ea), (b, eb)) = (a.bounded(inputs), b.bounded(inputs));
                match operator {
                    Operator::Add => (a + b, ea + eb + unit * (a.abs() + b.abs())),
                    Operator::Subtract => (a - b, ea + eb + unit * (a.abs() + b.abs())),
                    Operator::Multiply => (a * b, a.abs() * eb + b.abs() * ea + ea * eb),
                    _ => (f64::NAN, f64::NAN),
                }
            }
            Tree::Call(function, arguments) => {
                let (a, ea) = arguments[0].bounded(inputs);
                match (function, arguments.get(1).map(|b| b.bounded(inputs))) {
                    // all of these have slopes of at most one
                    (Function::Unary(Unary::Sin), _) => (a.sin(), ea),
                    (Function::Unary(Unary::Cos), _) => (a.cos(), ea),
                    (Function::Unary(Unary::Tanh), _) => (a.tanh(), ea),
                    (Function::Unary(Unary::Abs), _) => (a.abs(), ea),
                    (Function::Minimum, Some((b, eb))) => (a.min(b), ea + eb),
                    (Function::Maximum, Some((b, eb))) => (a.max(b), ea + eb),
                    _ => (f64::NAN, f64::NAN),
                }
            }
        };
        (value, inherited + unit * value.abs())
    }
}

fn trees(operators: &'static [Operator], functions: &'static [Function]) -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (0..5_u8).prop_map(|n| Tree::Number(f64::from(n))),
        prop_oneof![0.1..10.0, 1e-9..1e9_f64].prop_map(Tree::Number),
        proptest::sample::select(vec![("x", X), ("y", Y), ("x'", VX), ("a", A)])
            .prop_map(|(name, slot)| Tree::Name(name, slot)),
    ];
    leaf.prop_recursive(6, 64, 3, move |inner| {
        let pair = (inner.clone(), inner.clone());
        let call = (proptest::sample::select(functions), pair.clone()).prop_map(|(function, (a, b))| match function {
            Function::Unary(_) => Tree::Call(function, vec![a]),
            _ => Tree::Call(function, vec![a, b]),
        });
        prop_oneof![
            1 => inner.prop_map(|a| Tree::Negate(Box::new(a))),
            4 => (proptest::sample::select(operators), pair)
                .prop_map(|(operator, (a, b))| Tree::Binary(operator, Box::new(a), Box::new(b))),
            1 => call,
        ]
    })
}

const ALL_OPERATORS: &[Operator] =
    &[Operator::Add, Operator::Subtract, Operator::Multiply, Operator::Divide, Operator::Power];
const RING: &[Operator] = &[Operator::Add, Operator::Subtract, Operator::Multiply];
const SOME_FUNCTIONS: &[Function] = &[
    Function::Unary(Unary::Exp),
    Function::Unary(Unary::Sqrt),
    Function::Unary(Unary::Sign),
    Function::Atan2,
    Function::Minimum,
];
const GENTLE_FUNCTIONS: &[Function] = &[
    Function::Unary(Unary::Sin),
    Function::Unary(Unary::Cos),
    Function::Unary(Unary::Tanh),
    Function::Unary(Unary::Abs),
    Function::Minimum,
    Function::Maximum,
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn printed_and_parsed_is_the_same(tree in trees(ALL_OPERATORS, SOME_FUNCTIONS)) {
        let mut graph = Graph::new();
        let direct = tree.build(&mut graph);
        for all in [false, true] {
            let text = tree.print(all).0;
            prop_assert_eq!(build(&mut graph, &text), direct, "{}", text);
        }
    }

    #[test]
    fn simplification_keeps_the_value(
        tree in trees(RING, GENTLE_FUNCTIONS),
        inputs in proptest::collection::vec(-3.0..3.0_f64, 9),
    ) {
        let (expected, bound) = tree.bounded(&inputs);
        prop_assume!(expected.is_finite() && bound.is_finite());
        let mut graph = Graph::new();
        let node = tree.build(&mut graph);
        let found = evaluate(&graph, node, &inputs);
        // both ways may be off by the bound, and the functions of the library by a few roundings
        prop_assert!((found - expected).abs() <= 8.0 * bound, "{found} {expected} {bound} {}", tree.print(false).0);
        // binding all inputs folds to the same value, up to the same bound
        let values: Vec<_> = inputs.iter().copied().enumerate().collect();
        let folded = graph.bind(node, &values);
        let folded = graph.is_constant(folded).unwrap();
        prop_assert!((folded - expected).abs() <= 8.0 * bound, "{folded} {expected} {bound}");
    }

    #[test]
    fn integer_polynomials_are_exact(
        tree in trees(RING, &[Function::Unary(Unary::Abs), Function::Maximum]),
        inputs in proptest::collection::vec(-3..4_i32, 9),
    ) {
        // numbers that are not integers are made so; the bound keeps all intermediate values exact
        let tree = rounded(tree);
        let inputs: Vec<f64> = inputs.into_iter().map(f64::from).collect();
        let (expected, bound) = tree.bounded(&inputs);
        prop_assume!(bound < 0.25);
        let mut graph = Graph::new();
        let node = tree.build(&mut graph);
        prop_assert_eq!(evaluate(&graph, node, &inputs), expected + 0.0);
    }
}

fn rounded(tree: Tree) -> Tree {
    match tree {
        Tree::Number(value) => Tree::Number(value.round() % 10.0),
        Tree::Negate(a) => Tree::Negate(Box::new(rounded(*a))),
        Tree::Binary(operator, a, b) => Tree::Binary(operator, Box::new(rounded(*a)), Box::new(rounded(*b))),
        Tree::Call(function, arguments) => Tree::Call(function, arguments.into_iter().map(rounded).collect()),
        name => name,
    }
}
