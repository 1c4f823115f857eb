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
    #[error("the expression is empty")]
    Empty,
    #[error("the expression is {length} bytes long, the limit is {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("the expression is nested deeper than {limit} levels")]
    TooDeep { limit: usize },
    #[error("unexpected character `{character}`")]
    UnexpectedCharacter { character: char },
    #[error("the number {literal} is too large for a 64-bit float")]
    NumberOverflow { literal: String },
    #[error("expected a number, a name or `(`, found {found}")]
    ExpectedOperand { found: String },
    #[error("an operator is missing before {found}")]
    MissingOperator { found: String },
    #[error("this parenthesis is never closed")]
    UnclosedParenthesis,
    #[error("this parenthesis was never opened")]
    UnmatchedParenthesis,
    #[error("a comma may only separate the arguments of a function")]
    MisplacedComma,
    #[error("`**` is not an operator")]
    DoubleStar,
    #[error("the comparison `{operator}` may not appear in an expression")]
    Comparison { operator: String },
    #[error("accelerations may not appear: `{name}` has {primes} primes")]
    Acceleration { name: String, primes: usize },
    #[error("unknown function `{name}`")]
    UnknownFunction { name: String, nearest: Option<String> },
    #[error("`{name}` is a function and needs arguments in parentheses")]
    FunctionWithoutArguments { name: String },
    #[error("`{name}` takes {expected}, found {found}")]
    WrongArguments { name: String, expected: Arity, found: usize },
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
    #[error("`{name}` is declared twice")]
    Duplicate { name: String },
    #[error("`{name}` is not a name: letters, digits and `_`, not starting with a digit")]
    Invalid { name: String },
    #[error("`{name}` is the name of a function")]
    Reserved { name: String },
}

/// Any error between a text and its graph.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ExpressionError {
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
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
