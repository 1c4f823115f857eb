//! The functions that may be called in expressions: one table for the parser, the graph and the tape.

use carom::elementary::{acos, asin, atan, cos, cosh, exp, ln, sin, sinh, tan, tanh};
/// A function of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unary {
    /// Sine of an angle [rad].
    Sin,
    /// Cosine of an angle [rad].
    Cos,
    /// Tangent of an angle [rad].
    Tan,
    /// Inverse sine [rad], from −π/2 to π/2.
    Asin,
    /// Inverse cosine [rad], from 0 to π.
    Acos,
    /// Inverse tangent [rad], from −π/2 to π/2.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Exponential function.
    Exp,
    /// Natural logarithm.
    Log,
    /// Square root; not a number for negative arguments.
    Sqrt,
    /// Absolute value.
    Abs,
    /// −1, 0 or 1; zero at zero.
    Sign,
    /// The largest whole number that is not larger.
    Floor,
}

impl Unary {
    /// Evaluates the function; constant folding and the tape both come here, so that they agree bit by bit.
    #[inline]
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Unary::Sin => sin(x),
            Unary::Cos => cos(x),
            Unary::Tan => tan(x),
            Unary::Asin => asin(x),
            Unary::Acos => acos(x),
            Unary::Atan => atan(x),
            Unary::Sinh => sinh(x),
            Unary::Cosh => cosh(x),
            Unary::Tanh => tanh(x),
            Unary::Exp => exp(x),
            Unary::Log => ln(x),
            Unary::Sqrt => x.sqrt(),
            Unary::Abs => x.abs(),
            Unary::Sign => sign(x),
            Unary::Floor => x.floor(),
        }
    }

    /// Whether f(−x) = −f(x).
    pub(super) fn is_odd(self) -> bool {
        use Unary::*;
        matches!(self, Sin | Tan | Asin | Atan | Sinh | Tanh | Sign)
    }

    /// Whether f(−x) = f(x).
    pub(super) fn is_even(self) -> bool {
        matches!(self, Unary::Cos | Unary::Cosh | Unary::Abs)
    }
}

/// The sign with sign(0) = 0, unlike `f64::signum`; NaN stays NaN.
#[inline]
fn sign(x: f64) -> f64 {
    if x > 0.0 {
        1.0
    } else if x < 0.0 {
        -1.0
    } else if x == 0.0 {
        0.0
    } else {
        x
    }
}

/// Minimum that passes NaN on, unlike `f64::min`.
#[inline]
pub(super) fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a <= b { a } else { b }
}

/// Maximum that passes NaN on, unlike `f64::max`.
#[inline]
pub(super) fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || a >= b { a } else { b }
}

/// xⁿ for n ≥ 1 by multiplications alone; the order of the products depends on n only.
#[inline]
pub(super) fn integer_power(x: f64, n: u32) -> f64 {
    let (mut square, mut rest) = (x, n);
    let mut product = 1.0;
    while rest > 1 {
        if rest & 1 == 1 {
            product *= square;
        }
        square *= square;
        rest >>= 1;
    }
    product * square
}

/// A function of the expression language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// A function of one argument.
    Unary(Unary),
    /// `atan2(y, x)`, the angle of the point (x, y).
    Atan2,
    /// `min(a, b, ...)` of two or more arguments.
    Minimum,
    /// `max(a, b, ...)` of two or more arguments.
    Maximum,
    /// `step(x)`: 1 from x = 0 on, 0 before.
    Step,
    /// `mod(x, y)`: x − y floor(x/y), of the sign of y.
    Modulo,
}

/// Every function with its name in expressions.
pub const FUNCTIONS: [(&str, Function); 20] = [
    ("sin", Function::Unary(Unary::Sin)),
    ("cos", Function::Unary(Unary::Cos)),
    ("tan", Function::Unary(Unary::Tan)),
    ("asin", Function::Unary(Unary::Asin)),
    ("acos", Function::Unary(Unary::Acos)),
    ("atan", Function::Unary(Unary::Atan)),
    ("atan2", Function::Atan2),
    ("sinh", Function::Unary(Unary::Sinh)),
    ("cosh", Function::Unary(Unary::Cosh)),
    ("tanh", Function::Unary(Unary::Tanh)),
    ("exp", Function::Unary(Unary::Exp)),
    ("log", Function::Unary(Unary::Log)),
    ("sqrt", Function::Unary(Unary::Sqrt)),
    ("abs", Function::Unary(Unary::Abs)),
    ("sign", Function::Unary(Unary::Sign)),
    ("floor", Function::Unary(Unary::Floor)),
    ("mod", Function::Modulo),
    ("min", Function::Minimum),
    ("max", Function::Maximum),
    ("step", Function::Step),
];

impl Function {
    /// Finds a function by its name.
    pub fn find(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| *function)
    }

    /// The name in expressions.
    pub fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }

    /// Whether its name without parentheses may be that of something else, as of a coefficient of a floor.
    pub fn is_also_a_name(self) -> bool {
        matches!(self, Function::Unary(Unary::Floor) | Function::Modulo)
    }

    /// How many arguments the function takes.
    pub fn arity(self) -> Arity {
        match self {
            Function::Unary(_) | Function::Step => Arity::Exactly(1),
            Function::Atan2 | Function::Modulo => Arity::Exactly(2),
            Function::Minimum | Function::Maximum => Arity::AtLeast(2),
        }
    }
}

/// Number of arguments of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// This number and no other.
    Exactly(usize),
    /// This number or more.
    AtLeast(usize),
}

impl Arity {
    /// Whether `count` arguments are right.
    pub fn admits(self, count: usize) -> bool {
        match self {
            Arity::Exactly(n) => count == n,
            Arity::AtLeast(n) => count >= n,
        }
    }
}

impl std::fmt::Display for Arity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Arity::Exactly(1) => write!(f, "1 argument"),
            Arity::Exactly(n) => write!(f, "{n} arguments"),
            Arity::AtLeast(n) => write!(f, "{n} or more arguments"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_unique() {
        for (name, function) in FUNCTIONS {
            assert_eq!(Function::find(name), Some(function));
            assert_eq!(function.name(), name);
        }
        assert_eq!(Function::find("Sin"), None);
    }

    #[test]
    fn integer_powers_are_exact_on_integers() {
        for n in 1..=20_u32 {
            for x in [-5_i64, -3, -1, 0, 1, 2, 3, 5] {
                assert_eq!(integer_power(x as f64, n), x.pow(n) as f64, "{x}^{n}");
            }
        }
    }

    #[test]
    fn sign_and_extrema_at_the_edges() {
        assert_eq!([3.0, -2.0, 0.0, -0.0].map(|x| Unary::Sign.apply(x)), [1.0, -1.0, 0.0, 0.0]);
        assert!(Unary::Sign.apply(f64::NAN).is_nan());
        for extremum in [minimum, maximum] {
            assert!(extremum(f64::NAN, 1.0).is_nan() && extremum(1.0, f64::NAN).is_nan());
        }
        assert_eq!((minimum(1.0, 2.0), minimum(2.0, 1.0)), (1.0, 1.0));
        assert_eq!((maximum(1.0, 2.0), maximum(2.0, 1.0)), (2.0, 2.0));
    }
}
