//! Precedence, literals, and every kind of error with its span.

use proptest::prelude::*;

use super::super::{
    Arity, DEPTH_LIMIT, ExpressionError, FUNCTIONS, Graph, LENGTH_LIMIT, NameProblem, SyntaxProblem, parse,
};
use super::{scope, value};

#[test]
fn precedence() {
    // x = 2, y = 3, z = 5, x' = 7
    for (text, expected) in [
        ("-x^2", -4.0),
        ("2^-3", 0.125),
        ("2^-x", 0.25),
        ("2^3^2", 512.0),
        ("(2^3)^2", 64.0),
        ("2^-3^x", 2.0_f64.powi(-9)),
        ("-2^2*3", -12.0),
        ("8/4/2", 1.0),
        ("z/x*4", 10.0),
        ("z-y-x", 0.0),
        ("z-(y-x)", 4.0),
        ("1+2*3", 7.0),
        ("(1+2)*3", 9.0),
        ("2*-x", -4.0),
        ("x--y", 5.0),
        ("---x", -2.0),
        ("+x", 2.0),
        ("x+-+y", -1.0),
        ("-x*y", -6.0),
        ("1-x^2*y", -11.0),
        ("x'*x", 14.0),
        ("x'^2", 49.0),
        ("-x'^2", -49.0),
        ("((((x))))", 2.0),
        ("  x\t+\n y ", 5.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn literals_and_constants() {
    for (text, expected) in [
        ("1", 1.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("1e-6", 1e-6),
        ("2.5E+3", 2500.0),
        ("1.e2", 100.0),
        (".5e1", 5.0),
        ("1e308", 1e308),
        ("pi", std::f64::consts::PI),
        ("e", std::f64::consts::E),
        ("log(e^2)", 2.0),
        ("007", 7.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_are_the_standard_ones() {
    type Named = (&'static str, fn(f64) -> f64);
    let one: [Named; 15] = [
        ("sin", f64::sin),
        ("cos", f64::cos),
        ("tan", f64::tan),
        ("asin", f64::asin),
        ("acos", f64::acos),
        ("atan", f64::atan),
        ("sinh", f64::sinh),
        ("cosh", f64::cosh),
        ("tanh", f64::tanh),
        ("exp", f64::exp),
        ("log", f64::ln),
        ("sqrt", f64::sqrt),
        ("abs", f64::abs),
        ("sign", f64::signum),
        ("floor", f64::floor),
    ];
    for (name, function) in one {
        assert_eq!(value(&format!("{name}(t)")), function(0.5), "{name}");
        // folded at build time
        assert_eq!(value(&format!("{name}(.5)")), function(0.5), "{name}");
    }
    assert_eq!(value("atan2(y, x)"), 3.0_f64.atan2(2.0));
    assert_eq!(value("min(y, x, z)"), 2.0);
    assert_eq!(value("max(y, x, z, 4)"), 5.0);
    assert_eq!(value("sign(x - 2)"), 0.0);
    // 1 from zero on, also where it is folded
    for (text, expected) in
        [("step(x - 2)", 1.0), ("step(x - 2.5)", 0.0), ("step(y)", 1.0), ("step(0) - step(-1)", 1.0)]
    {
        assert_eq!(value(text), expected, "{text}");
    }
    // of the sign of the second argument
    for (text, expected) in
        [("mod(7.5, x)", 1.5), ("mod(-7.5, x)", 0.5), ("mod(7.5, -x)", -0.5), ("mod(y, y)", 0.0), ("floor(-t)", -1.0)]
    {
        assert_eq!(value(text), expected, "{text}");
    }
    assert_eq!(one.len() + 5, FUNCTIONS.len());
}

/// Each text with what is wrong, where, and a word of the hint.
fn bad_texts() -> Vec<(&'static str, SyntaxProblem, std::ops::Range<usize>, &'static str)> {
    use SyntaxProblem::*;
    let operand = |found: &str| ExpectedOperand { found: found.into() };
    let missing = |found: &str| MissingOperator { found: found.into() };
    let unknown = |name: &str, near: Option<&str>| UnknownFunction { name: name.into(), nearest: near.map(Into::into) };
    let wrong = |name: &str, expected, found| WrongArguments { name: name.into(), expected, found };
    vec![
        ("", Empty, 0..0, ""),
        ("  ", Empty, 0..2, ""),
        ("1 + ", operand("the end"), 4..4, ""),
        ("1 + * 2", operand("`*`"), 4..5, ""),
        ("()", operand("`)`"), 1..2, ""),
        ("2x", missing("`x`"), 1..2, "*"),
        ("2(x)", missing("`(`"), 1..2, "*"),
        ("(a)(b)", missing("`(`"), 3..4, "*"),
        ("x y", missing("`y`"), 2..3, "*"),
        ("1.2.3", missing("`.3`"), 3..5, "*"),
        ("2e", missing("`e`"), 1..2, "*"),
        ("x 2", missing("`2`"), 2..3, "*"),
        ("1 + (x", UnclosedParenthesis, 4..5, ""),
        ("sin(x", UnclosedParenthesis, 3..4, ""),
        ("x)", UnmatchedParenthesis, 1..2, ""),
        ("1,5", MisplacedComma, 1..2, "point"),
        ("(1,5)", MisplacedComma, 2..3, "point"),
        ("x**2", DoubleStar, 1..3, "^"),
        ("x == y", Comparison { operator: "==".into() }, 2..4, "min"),
        ("x<y", Comparison { operator: "<".into() }, 1..2, "min"),
        ("x >= y", Comparison { operator: ">=".into() }, 2..4, "min"),
        ("x != y", Comparison { operator: "!=".into() }, 2..4, "min"),
        ("x'' + 1", Acceleration { name: "x''".into(), primes: 2 }, 0..3, "velocity"),
        ("1 + 1e999", NumberOverflow { literal: "1e999".into() }, 4..9, ""),
        ("x % y", UnexpectedCharacter { character: '%' }, 2..3, ""),
        ("x!", UnexpectedCharacter { character: '!' }, 1..2, ""),
        (".", UnexpectedCharacter { character: '.' }, 0..1, ""),
        ("(x)'", UnexpectedCharacter { character: '\'' }, 3..4, "prime"),
        ("x·y", UnexpectedCharacter { character: '·' }, 1..3, "*"),
        ("cos(θ)", UnexpectedCharacter { character: 'θ' }, 4..6, "letters"),
        ("sine(x)", unknown("sine", Some("sin")), 0..4, "`sin`"),
        ("1 + ln(x)", unknown("ln", Some("log")), 4..6, "`log`"),
        ("pow(x, 2)", unknown("pow", None), 0..3, "^"),
        ("x(y)", unknown("x", None), 0..1, "`x*(...)`"),
        ("sin + 1", FunctionWithoutArguments { name: "sin".into() }, 0..3, "sin("),
        ("sin()", wrong("sin", Arity::Exactly(1), 0), 0..5, ""),
        ("1 + sin(x, y)", wrong("sin", Arity::Exactly(1), 2), 4..13, ""),
        ("atan2(x)", wrong("atan2", Arity::Exactly(2), 1), 0..8, ""),
        ("min(x)", wrong("min", Arity::AtLeast(2), 1), 0..6, ""),
    ]
}

#[test]
fn errors_and_their_spans() {
    for (text, problem, span, hint) in bad_texts() {
        let error = parse(text).expect_err(text);
        assert_eq!((&error.problem, &error.span), (&problem, &span), "{text}");
        let found = error.hint.unwrap_or_default();
        assert!(found.contains(hint) && (hint.is_empty() == found.is_empty()), "{text}: {found}");
    }
}

#[test]
fn bombs_are_errors() {
    let n = 1_000_000;
    let long = SyntaxProblem::TooLong { length: 2 * n + 1, limit: LENGTH_LIMIT };
    assert_eq!(parse(&format!("{}x{}", "(".repeat(n), ")".repeat(n))).unwrap_err().problem, long);
    // below the limit of length the depth is limited
    let deep = SyntaxProblem::TooDeep { limit: DEPTH_LIMIT };
    for bomb in ["(", "-", "+", "x^", "sin(", "max(1,", "1+("] {
        let error = parse(&bomb.repeat(LENGTH_LIMIT / bomb.len())).unwrap_err();
        assert_eq!(error.problem, deep, "{bomb}");
    }
    let accepted = DEPTH_LIMIT;
    assert!(parse(&format!("{}x{}", "(".repeat(accepted), ")".repeat(accepted))).is_ok());
}

#[test]
fn long_chains_are_fine() {
    // left-nested trees as deep as the text is long pass through every stage
    for chain in ["+x", "-y", "*x", "/y", "+x*t", "*sin(t)", "-2*x'"] {
        let text = format!("a{}", chain.repeat((LENGTH_LIMIT - 1) / chain.len()));
        let mut graph = Graph::new();
        let node = graph.expression(&text, &scope()).unwrap();
        let slope = graph.derivative(node, super::X);
        let curvature = graph.derivative(slope, super::X);
        let bound = graph.bind(curvature, &[(super::A, 2.0)]);
        assert!(!super::evaluate(&graph, bound, &[0.5; 9]).is_nan(), "{chain}");
    }
}

#[test]
fn unknown_names() {
    let mut graph = Graph::new();
    for (text, name, span, nearest, problem) in [
        ("1 + mass", "mass", 4..8, None, NameProblem::Unknown),
        ("2*X", "X", 2..3, Some("x"), NameProblem::Unknown),
        ("Pi", "Pi", 0..2, Some("pi"), NameProblem::Unknown),
        ("X'^2", "X'", 0..2, Some("x'"), NameProblem::Unknown),
        ("w'", "w'", 0..2, None, NameProblem::Unknown),
        ("a'", "a'", 0..2, None, NameProblem::NoVelocity),
        ("1+t'", "t'", 2..4, None, NameProblem::NoVelocity),
    ] {
        match graph.expression(text, &scope()) {
            Err(ExpressionError::Name(error)) => {
                assert_eq!((error.name.as_str(), &error.span), (name, &span), "{text}");
                assert_eq!((error.nearest.as_deref(), error.problem), (nearest, problem), "{text}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn names_are_listed() {
    let ast = parse("m*x' + sin(phi)*m").unwrap();
    let names: Vec<_> = ast.names().collect();
    assert_eq!(names, [("m", 0..1), ("x", 2..4), ("phi", 11..14), ("m", 16..17)]);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        if let Err(error) = parse(&text) {
            prop_assert!(text.get(error.span.clone()).is_some(), "span {:?} splits {text:?}", error.span);
        }
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn arbitrary_tokens_never_panic(
        words in proptest::collection::vec(
            proptest::sample::select(vec![
                "x", "y'", "x''", "1", ".5", "1e9", "1e", "+", "-", "*", "/", "^", "**", "(", ")", ",", "sin(", "min(",
                "<", " ", "e", "pi", "0",
            ]),
            0..24,
        ),
    ) {
        let text = words.concat();
        let mut graph = Graph::new();
        match graph.expression(&text, &scope()) {
            Ok(node) => {
                let slope = graph.derivative(node, super::X);
                super::evaluate(&graph, slope, &[0.5; 9]);
            }
            Err(error) => prop_assert!(text.get(error.span()).is_some()),
        }
    }
}
