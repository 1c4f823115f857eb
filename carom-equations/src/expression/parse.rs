//! Tokens to a syntax tree, by operator precedence (the method of Pratt).
//!
//! | binds | operators | groups |
//! |---|---|---|
//! | tightest | `^` | right: `2^3^2` = 2^(3^2) |
//! | | prefix `-`, `+` | `-x^2` = −(x²), `2^-3` = 2^(−3) |
//! | | `*` `/` | left |
//! | loosest | `+` `-` | left |
//!
//! The tree is an arena in which children precede their parents, so that every later pass is a loop. Only the parser
//! recurses, and its depth is limited.

use std::ops::Range;

use super::error::{SyntaxError, SyntaxProblem};
use super::function::{FUNCTIONS, Function};
use super::token::{Lexer, Token};
use crate::nearest::nearest;

/// Longest accepted text [bytes].
pub const LENGTH_LIMIT: usize = 65_536;
/// Deepest accepted nesting of parentheses, signs, powers and calls.
pub const DEPTH_LIMIT: usize = 200;

/// A syntax tree. It is never empty; the root is the last node.
#[derive(Debug, Clone, PartialEq)]
pub struct Ast {
    nodes: Vec<AstNode>,
}

/// Index of a node in its [`Ast`].
pub type AstId = usize;

/// A node of a syntax tree with its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct AstNode {
    /// What the node is.
    pub kind: AstKind,
    /// Byte range in the text; for an operator, of the operator with its operands.
    pub span: Range<usize>,
}

/// The kinds of nodes of a syntax tree.
#[derive(Debug, Clone, PartialEq)]
pub enum AstKind {
    /// A literal number; never negative, as a sign is a node of its own.
    Number(f64),
    /// A name without prime.
    Name(String),
    /// `x'`; the name is stored without the prime.
    Velocity(String),
    /// Minus its operand.
    Negate(AstId),
    /// Operator with its left and right operand.
    Binary(Operator, AstId, AstId),
    /// Function with its arguments.
    Call(Function, Vec<AstId>),
}

/// The operators between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `a + b`
    Add,
    /// `a - b`
    Subtract,
    /// `a * b`
    Multiply,
    /// `a / b`
    Divide,
    /// `a ^ b`, which groups from the right.
    Power,
}

impl Ast {
    /// All nodes, children before parents, the root last.
    pub fn nodes(&self) -> &[AstNode] {
        &self.nodes
    }

    /// The names that appear, without primes and in the order of the text; a name may be repeated.
    pub fn names(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        self.nodes.iter().filter_map(|node| match &node.kind {
            AstKind::Name(name) | AstKind::Velocity(name) => Some((name.as_str(), node.span.clone())),
            _ => None,
        })
    }

    /// The names that appear in exponents; a name may be repeated.
    pub fn exponents(&self) -> Vec<String> {
        let mut inside = vec![false; self.nodes.len()];
        let mut names = Vec::new();
        // parents come after their children
        for (id, node) in self.nodes.iter().enumerate().rev() {
            let within = inside[id];
            match &node.kind {
                AstKind::Name(name) if within => names.push(name.clone()),
                AstKind::Number(_) | AstKind::Name(_) | AstKind::Velocity(_) => {}
                AstKind::Negate(a) => inside[*a] = within,
                AstKind::Binary(operator, a, b) => {
                    inside[*a] = within;
                    inside[*b] = within || *operator == Operator::Power;
                }
                AstKind::Call(_, arguments) => arguments.iter().for_each(|&a| inside[a] = within),
            }
        }
        names
    }
}

/// Parses one expression.
///
/// # Errors
/// Returns the first syntax error with its place in the text.
pub fn parse(text: &str) -> Result<Ast, SyntaxError> {
    if text.len() > LENGTH_LIMIT {
        let problem = SyntaxProblem::TooLong { length: text.len(), limit: LENGTH_LIMIT };
        return Err(SyntaxError { problem, span: 0..text.len(), hint: None });
    }
    let mut lexer = Lexer::new(text);
    let (token, span) = lexer.next()?;
    if token == Token::End {
        return Err(SyntaxError { problem: SyntaxProblem::Empty, span: 0..text.len(), hint: None });
    }
    let mut parser = Parser { text, lexer, token, span, nodes: Vec::new() };
    parser.expression(0, 0)?;
    match parser.token {
        Token::End => Ok(Ast { nodes: parser.nodes }),
        Token::Close => Err(parser.fail(SyntaxProblem::UnmatchedParenthesis, None)),
        _ => Err(parser.comma()),
    }
}

/// Binding power of the prefix signs: above `*`, below `^`.
const PREFIX: u8 = 5;

/// Operator with its binding powers to the left and to the right.
fn infix(token: Token<'_>) -> Option<(Operator, u8, u8)> {
    match token {
        Token::Plus => Some((Operator::Add, 1, 2)),
        Token::Minus => Some((Operator::Subtract, 1, 2)),
        Token::Star => Some((Operator::Multiply, 3, 4)),
        Token::Slash => Some((Operator::Divide, 3, 4)),
        Token::Caret => Some((Operator::Power, 8, 7)),
        _ => None,
    }
}

struct Parser<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    token: Token<'a>,
    span: Range<usize>,
    nodes: Vec<AstNode>,
}

impl<'a> Parser<'a> {
    fn advance(&mut self) -> Result<(), SyntaxError> {
        (self.token, self.span) = self.lexer.next()?;
        Ok(())
    }

    fn push(&mut self, kind: AstKind, span: Range<usize>) -> AstId {
        self.nodes.push(AstNode { kind, span });
        self.nodes.len() - 1
    }

    /// An error at the present token.
    fn fail(&self, problem: SyntaxProblem, hint: Option<String>) -> SyntaxError {
        SyntaxError { problem, span: self.span.clone(), hint }
    }

    /// The present token as the user wrote it.
    fn found(&self) -> String {
        match self.token {
            Token::End => "the end".into(),
            _ => format!("`{}`", self.text.get(self.span.clone()).unwrap_or_default()),
        }
    }

    fn comma(&self) -> SyntaxError {
        self.fail(SyntaxProblem::MisplacedComma, Some("the decimal sign is a point".into()))
    }

    /// Parses operands joined by operators that bind at least as tightly as `minimum`.
    fn expression(&mut self, minimum: u8, depth: usize) -> Result<AstId, SyntaxError> {
        if depth > DEPTH_LIMIT {
            return Err(self.fail(SyntaxProblem::TooDeep { limit: DEPTH_LIMIT }, None));
        }
        let start = self.span.start;
        let mut left = self.operand(depth)?;
        loop {
            let Some((operator, to_left, to_right)) = infix(self.token) else {
                return self.check_follower().map(|()| left);
            };
            if to_left < minimum {
                return Ok(left);
            }
            self.advance()?;
            let right = self.expression(to_right, depth + 1)?;
            let span = start..self.nodes[right].span.end;
            left = self.push(AstKind::Binary(operator, left, right), span);
        }
    }

    /// After an operand there must be an operator or an end of some kind.
    fn check_follower(&self) -> Result<(), SyntaxError> {
        match self.token {
            Token::End | Token::Close | Token::Comma => Ok(()),
            _ => {
                let hint = Some("write `*` for a product".into());
                Err(self.fail(SyntaxProblem::MissingOperator { found: self.found() }, hint))
            }
        }
    }

    fn operand(&mut self, depth: usize) -> Result<AstId, SyntaxError> {
        let span = self.span.clone();
        match self.token {
            Token::Number(value) => {
                self.advance()?;
                Ok(self.push(AstKind::Number(value), span))
            }
            Token::Velocity(name) => {
                self.advance()?;
                Ok(self.push(AstKind::Velocity(name.into()), span))
            }
            Token::Name(name) => self.name(name, span, depth),
            Token::Plus => {
                self.advance()?;
                self.expression(PREFIX, depth + 1)
            }
            Token::Minus => {
                self.advance()?;
                let operand = self.expression(PREFIX, depth + 1)?;
                let span = span.start..self.nodes[operand].span.end;
                Ok(self.push(AstKind::Negate(operand), span))
            }
            Token::Open => {
                self.advance()?;
                let inner = self.expression(0, depth + 1)?;
                let end = self.close(&span)?;
                // the span of a parenthesised operand includes its parentheses
                self.nodes[inner].span = span.start..end;
                Ok(inner)
            }
            _ => Err(self.fail(SyntaxProblem::ExpectedOperand { found: self.found() }, None)),
        }
    }

    /// Consumes the parenthesis that closes the one at `open` and returns its end.
    fn close(&mut self, open: &Range<usize>) -> Result<usize, SyntaxError> {
        match self.token {
            Token::Close => {
                let end = self.span.end;
                self.advance()?;
                Ok(end)
            }
            Token::Comma => Err(self.comma()),
            _ => Err(SyntaxError { problem: SyntaxProblem::UnclosedParenthesis, span: open.clone(), hint: None }),
        }
    }

    fn name(&mut self, name: &'a str, span: Range<usize>, depth: usize) -> Result<AstId, SyntaxError> {
        self.advance()?;
        match (Function::find(name), self.token) {
            (Some(function), Token::Open) => self.call(function, span, depth),
            (None, Token::Open) => Err(unknown_function(name, span)),
            (Some(function), _) if !function.is_also_a_name() => Err(SyntaxError {
                problem: SyntaxProblem::FunctionWithoutArguments { name: name.into() },
                span,
                hint: Some(format!("write `{name}(...)`")),
            }),
            _ => Ok(self.push(AstKind::Name(name.into()), span)),
        }
    }

    fn call(&mut self, function: Function, name: Range<usize>, depth: usize) -> Result<AstId, SyntaxError> {
        let open = self.span.clone();
        self.advance()?;
        let mut arguments = Vec::new();
        if self.token != Token::Close {
            arguments.push(self.expression(0, depth + 1)?);
            while self.token == Token::Comma {
                self.advance()?;
                arguments.push(self.expression(0, depth + 1)?);
            }
        }
        let span = name.start..self.close(&open)?;
        let (expected, found) = (function.arity(), arguments.len());
        if !expected.admits(found) {
            let problem = SyntaxProblem::WrongArguments { name: function.name().into(), expected, found };
            return Err(SyntaxError { problem, span, hint: None });
        }
        Ok(self.push(AstKind::Call(function, arguments), span))
    }
}

fn unknown_function(name: &str, span: Range<usize>) -> SyntaxError {
    // names that other languages use for what we have
    let foreign = match name.to_ascii_lowercase().as_str() {
        "ln" => Some("log"),
        "arcsin" => Some("asin"),
        "arccos" => Some("acos"),
        "arctan" => Some("atan"),
        "arctan2" => Some("atan2"),
        "sgn" | "signum" => Some("sign"),
        "fabs" => Some("abs"),
        _ => None,
    };
    let near = foreign.or_else(|| nearest(name, FUNCTIONS.iter().map(|(known, _)| *known)));
    let hint = match near {
        _ if name.eq_ignore_ascii_case("pow") => "write `a^b` for a power".into(),
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("if `{name}` is a factor, write `{name}*(...)`"),
    };
    let problem = SyntaxProblem::UnknownFunction { name: name.into(), nearest: near.map(Into::into) };
    SyntaxError { problem, span, hint: Some(hint) }
}
