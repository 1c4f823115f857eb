//! What can be wrong with an expression; every error carries its byte range in the text.

use std::ops::Range;

use thiserror::Error;

use super::function::Arity;

/// A text that is not an expression.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{problem}")]
pub struct SyntaxError {
    /// What is wrong.
    pub problem: SyntaxProblem,
    /// Byte range in the text; empty at the end of the text if something is missing there.
    pub span: Range<usize>,
    /// What to write instead, where that can be told.
    pub hint: Option<String>,
}

/// The kinds of syntax errors.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum SyntaxProblem {
    /// Nothing but white space.
    #[error("the expression is empty")]
    Empty,
    /// A text that is longer than expressions may be.
    #[error("the expression is {length} bytes long, the limit is {limit}")]
    TooLong {
        /// Length of the text [bytes].
        length: usize,
        /// Largest length [bytes].
        limit: usize,
    },
    /// Too many operands inside each other, such as parentheses, signs or powers.
    #[error("the expression is nested deeper than {limit} levels")]
    TooDeep {
        /// Largest depth.
        limit: usize,
    },
    /// A character that begins no token.
    #[error("unexpected character `{character}`")]
    UnexpectedCharacter {
        /// The character as written.
        character: char,
    },
    /// A number beyond the range of 64-bit floats.
    #[error("the number {literal} is too large for a 64-bit float")]
    NumberOverflow {
        /// The number as written.
        literal: String,
    },
    /// Something else where a value should begin.
    #[error("expected a number, a name or `(`, found {found}")]
    ExpectedOperand {
        /// The token in backticks, or `the end`.
        found: String,
    },
    /// Two values next to each other.
    #[error("an operator is missing before {found}")]
    MissingOperator {
        /// The token in backticks that follows the first value.
        found: String,
    },
    /// `(` without `)`.
    #[error("this parenthesis is never closed")]
    UnclosedParenthesis,
    /// `)` without `(`.
    #[error("this parenthesis was never opened")]
    UnmatchedParenthesis,
    /// A comma outside the arguments of a function, such as a decimal comma.
    #[error("a comma may only separate the arguments of a function")]
    MisplacedComma,
    /// `**`, which other languages use for powers.
    #[error("`**` is not an operator")]
    DoubleStar,
    /// `<`, `=` and the like.
    #[error("the comparison `{operator}` may not appear in an expression")]
    Comparison {
        /// The operator as written.
        operator: String,
    },
    /// A name with two or more primes.
    #[error("accelerations may not appear: `{name}` has {primes} primes")]
    Acceleration {
        /// The name as written, with its primes.
        name: String,
        /// Number of primes.
        primes: usize,
    },
    /// A name before `(` that is no function.
    #[error("unknown function `{name}`")]
    UnknownFunction {
        /// The name as written.
        name: String,
        /// The most similar function, if one is similar.
        nearest: Option<String>,
    },
    /// The name of a function without `(` after it.
    #[error("`{name}` is a function and needs arguments in parentheses")]
    FunctionWithoutArguments {
        /// Name of the function.
        name: String,
    },
    /// A call with a wrong number of arguments.
    #[error("`{name}` takes {expected}, found {found}")]
    WrongArguments {
        /// Name of the function.
        name: String,
        /// Number of arguments that it takes.
        expected: Arity,
        /// Number of arguments in the call.
        found: usize,
    },
}

/// A name of an expression that the scope does not explain.
#[derive(Debug, Clone, PartialEq, Error)]
#[error("{}", match problem {
    NameProblem::Unknown => format!("unknown name `{name}`"),
    NameProblem::NoVelocity => format!("`{name}` does not exist: only coordinates have velocities"),
})]
pub struct NameError {
    /// The name as written, with its prime.
    pub name: String,
    /// What is wrong with it.
    pub problem: NameProblem,
    /// Byte range in the text.
    pub span: Range<usize>,
    /// The most similar name of the scope, if one is similar.
    pub nearest: Option<String>,
}

/// The kinds of name errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NameProblem {
    /// Nothing has this name.
    Unknown,
    /// The name is known but has no velocity, because it is not a coordinate.
    NoVelocity,
}

/// A name that may not be declared.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScopeError {
    /// A second declaration of a name.
    #[error("`{name}` is declared twice")]
    Duplicate {
        /// The name in question.
        name: String,
    },
    /// A text that is no identifier.
    #[error("`{name}` is not a name: letters, digits and `_`, not starting with a digit")]
    Invalid {
        /// The text in question.
        name: String,
    },
    /// The name of a function, which variables may not have.
    #[error("`{name}` is the name of a function")]
    Reserved {
        /// The name in question.
        name: String,
    },
}

/// Any error between a text and its graph.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ExpressionError {
    /// The text is not an expression.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// The expression uses a name that the scope does not explain.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl ExpressionError {
    /// Byte range in the text.
    pub fn span(&self) -> Range<usize> {
        match self {
            ExpressionError::Syntax(error) => error.span.clone(),
            ExpressionError::Name(error) => error.span.clone(),
        }
    }

    /// What to write instead, where that can be told.
    pub fn hint(&self) -> Option<String> {
        match self {
            ExpressionError::Syntax(error) => error.hint.clone(),
            ExpressionError::Name(error) => error.nearest.as_ref().map(|near| format!("did you mean `{near}`?")),
        }
    }
}
