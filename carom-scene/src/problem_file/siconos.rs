//! The token streams of Siconos: linear complementarity, mixed, relay, friction, global friction.

use super::matrix::{self, Entries};
use super::token::Tokens;
use super::{FileError, FileFormat, ProblemFile, Reason, stem};
use carom_solve::{GlobalParts, Law, Rows, StoredError, StoredProblem};

/// What a reader returns, before the text that follows is looked at.
struct Found {
    problem: StoredProblem,
    notes: Vec<String>,
}

/// Reads a text of a given kind, or of the kind that fits.
pub(super) fn parse(name: &str, bytes: &[u8], kind: Option<FileFormat>) -> Result<ProblemFile, FileError> {
    let tokens = Tokens::new(name, bytes)?;
    if let Some(kind) = kind {
        return read(name, tokens, kind, true);
    }
    let hint = hint(stem(name));
    let mut furthest: Option<FileError> = None;
    let order =
        [FileFormat::Mlcp, FileFormat::GlobalFriction, FileFormat::Friction, FileFormat::Relay, FileFormat::Lcp];
    for kind in hint.into_iter().chain(order.into_iter().filter(|kind| Some(*kind) != hint)) {
        // a relay that lost its bounds is not a complementarity problem
        if hint == Some(FileFormat::Relay) && kind == FileFormat::Lcp {
            continue;
        }
        match read(name, tokens.clone(), kind, hint == Some(kind)) {
            Ok(found) => return Ok(found),
            Err(error) if furthest.as_ref().is_none_or(|best| error.reached() > best.reached()) => {
                furthest = Some(error);
            }
            Err(_) => {}
        }
    }
    let start = tokens.clone().start();
    let unknown = FileError::new(name, Reason::Unknown { start })
        .hint("known are LCP, MLCP, relay, friction and global friction; give the kind to see where it fails");
    // the first four numbers tell the kinds apart: an error beyond them is about the content
    Err(furthest
        .filter(|error| error.reached() > 4 || matches!(error.reason, Reason::End { .. } | Reason::Rolling { .. }))
        .unwrap_or(unknown))
}

/// The kind that a name suggests.
fn hint(stem: &str) -> Option<FileFormat> {
    let stem = stem.to_ascii_lowercase();
    let has = |word: &str| stem.contains(word);
    if has("mlcp") {
        Some(FileFormat::Mlcp)
    } else if has("lcp") {
        Some(FileFormat::Lcp)
    } else if stem.starts_with("relay") || stem.starts_with("step_") {
        Some(FileFormat::Relay)
    } else if stem.starts_with("gfc") || has("global") {
        Some(FileFormat::GlobalFriction)
    } else if stem.starts_with("fc2d") || stem.starts_with("fc3d") || has("friction") {
        Some(FileFormat::Friction)
    } else {
        None
    }
}

/// Reads one kind. A `sure` kind may be followed by anything, a guessed one must leave little unexplained.
fn read(name: &str, mut tokens: Tokens<'_>, kind: FileFormat, sure: bool) -> Result<ProblemFile, FileError> {
    let found = match kind {
        FileFormat::Lcp => lcp(name, &mut tokens)?,
        FileFormat::Mlcp => mlcp(name, &mut tokens)?,
        FileFormat::Relay => relay(name, &mut tokens)?,
        FileFormat::Friction => friction(name, &mut tokens)?,
        FileFormat::GlobalFriction => global_friction(name, &mut tokens)?,
        FileFormat::Fclib => return Err(FileError::new(name, Reason::NotHdf5)),
    };
    let trailing = tokens.clone().trailing();
    let limit = match kind {
        FileFormat::Mlcp => usize::MAX,
        // friction files may end with one flag
        _ => 1,
    };
    if !sure && trailing.len() > limit {
        tokens.next();
        let what = "the number of numbers after the problem";
        let error = tokens.error(Reason::TooLarge { what, found: trailing.len(), limit });
        return Err(error.hint("give the kind of the file if these can be ignored"));
    }
    Ok(ProblemFile { problem: found.problem, kind, trailing, notes: found.notes })
}

/// The problem, or what is wrong with its numbers.
fn stored(tokens: &Tokens<'_>, problem: Result<StoredProblem, StoredError>) -> Result<Found, FileError> {
    let problem = problem.map_err(|error| tokens.error(Reason::Problem(error)))?;
    Ok(Found { problem, notes: Vec::new() })
}

/// A square matrix of known size.
fn square(tokens: &mut Tokens<'_>, size: usize) -> Result<Entries, FileError> {
    let matrix = matrix::read(tokens)?;
    tokens.same("the number of rows", matrix.rows, size)?;
    tokens.same("the number of columns", matrix.columns, size)?;
    Ok(matrix)
}

fn lcp(name: &str, tokens: &mut Tokens<'_>) -> Result<Found, FileError> {
    let n = tokens.count("the size")?;
    let w = square(tokens, n)?.to_rows();
    let q = tokens.numbers(n, "an entry of q")?;
    stored(tokens, StoredProblem::reduced(stem(name), w, q, vec![Law::UNILATERAL; n]))
}

fn relay(name: &str, tokens: &mut Tokens<'_>) -> Result<Found, FileError> {
    let n = tokens.count("the size")?;
    let w = square(tokens, n)?.to_rows();
    let q = tokens.numbers(n, "an entry of q")?;
    let mut bound = [Vec::with_capacity(n), Vec::with_capacity(n)];
    for (bound, what) in bound.iter_mut().zip(["a lower bound", "an upper bound"]) {
        for _ in 0..n {
            bound.push(tokens.bound(what)?);
        }
    }
    let [lower, upper] = bound;
    let laws = lower.into_iter().zip(upper).map(|(lower, upper)| Law::interval(lower, upper)).collect();
    stored(tokens, StoredProblem::reduced(stem(name), w, q, laws))
}

/// Dimension and number of contacts.
fn head(tokens: &mut Tokens<'_>) -> Result<(usize, usize), FileError> {
    let dimension = tokens.integer("the dimension (2 or 3)")?;
    if dimension == 5 {
        // only if the rest looks like a problem: `5` may as well be the size of something else
        let mut rest = tokens.clone();
        if rest.count("contacts").is_ok() && matches!(rest.peek(), Some("0" | "1" | "2")) {
            tokens.count("the number of contacts")?;
        }
        return Err(tokens.error(Reason::Rolling { dimension }));
    }
    if !(2..=3).contains(&dimension) {
        return Err(tokens.unexpected("the dimension (2 or 3)", &dimension.to_string()));
    }
    Ok((dimension, tokens.count("the number of contacts")?))
}

/// Friction laws with the coefficients that follow.
fn coulomb(tokens: &mut Tokens<'_>, dimension: usize, contacts: usize) -> Result<Vec<Law>, FileError> {
    let mu = tokens.numbers(contacts, "a coefficient of friction")?;
    let law = |mu| Law::coulomb(mu, dimension - 1);
    Ok(mu.into_iter().map(law).collect())
}

fn friction(name: &str, tokens: &mut Tokens<'_>) -> Result<Found, FileError> {
    let (dimension, contacts) = head(tokens)?;
    let w = square(tokens, dimension * contacts)?.to_rows();
    let q = tokens.numbers(dimension * contacts, "an entry of q")?;
    let laws = coulomb(tokens, dimension, contacts)?;
    stored(tokens, StoredProblem::reduced(stem(name), w, q, laws))
}

fn global_friction(name: &str, tokens: &mut Tokens<'_>) -> Result<Found, FileError> {
    let (dimension, contacts) = head(tokens)?;
    let m = dimension * contacts;
    let mass = matrix::read(tokens)?;
    tokens.same("the number of columns of M", mass.columns, mass.rows)?;
    let h = matrix::read(tokens)?;
    tokens.same("the number of rows of H", h.rows, mass.rows)?;
    tokens.same("the number of columns of H", h.columns, m)?;
    let q = tokens.numbers(mass.rows, "an entry of q")?;
    let b = tokens.numbers(m, "an entry of b")?;
    let laws = coulomb(tokens, dimension, contacts)?;
    let parts = GlobalParts { mass: mass.to_rows(), jacobian: h.to_columns(), q, b };
    stored(tokens, StoredProblem::global(stem(name), parts, laws))
}

/// Equality rows and complementarity rows, as M and q with types of blocks, or as A, B, C, D, a, b, or both.
fn mlcp(name: &str, tokens: &mut Tokens<'_>) -> Result<Found, FileError> {
    let mut flag = [false; 2];
    for flag in &mut flag {
        let word = tokens.integer("a flag (0 or 1)")?;
        if word > 1 {
            return Err(tokens.unexpected("a flag (0 or 1)", &word.to_string()));
        }
        *flag = word == 1;
    }
    if flag == [false; 2] {
        return Err(tokens.unexpected("at least one flag that is 1", "0"));
    }
    let n = tokens.count("the number of equalities")?;
    let m = tokens.count("the number of complementarity conditions")?;
    let whole = if flag[0] { Some(mlcp_whole(tokens, n + m)?) } else { None };
    let parted = if flag[1] { Some(mlcp_parted(tokens, n, m)?) } else { None };
    let mut notes = Vec::new();
    let (w, q, laws) = match (whole, parted) {
        (Some(whole), None) => whole.square(tokens, n + m)?,
        (None, Some(parted)) => parted,
        (Some(whole), Some(parted)) => {
            if whole.matrix.rows == n + m && whole.matrix.columns == n + m {
                let whole = whole.square(tokens, n + m)?;
                if whole.2 == parted.2 && (&whole.0, &whole.1) != (&parted.0, &parted.1) {
                    notes.push("A, B, C, D, a, b differ from M, q; M and q were taken".to_string());
                }
                whole
            } else {
                let (rows, columns) = (whole.matrix.rows, whole.matrix.columns);
                notes.push(format!("M is {rows}×{columns} and q has {} entries; A, B, C, D, a, b were taken", n + m));
                parted
            }
        }
        (None, None) => return Err(tokens.unexpected("at least one flag that is 1", "0")),
    };
    let found = stored(tokens, StoredProblem::reduced(stem(name), w, q, laws))?;
    Ok(Found { notes, ..found })
}

/// M and q with the types of their rows.
struct Whole {
    matrix: Entries,
    q: Vec<f64>,
    laws: Vec<Law>,
}

type Square = (Rows, Vec<f64>, Vec<Law>);

impl Whole {
    fn square(self, tokens: &Tokens<'_>, size: usize) -> Result<Square, FileError> {
        tokens.same("the number of rows of M", self.matrix.rows, size)?;
        tokens.same("the number of columns of M", self.matrix.columns, size)?;
        Ok((self.matrix.to_rows(), self.q, self.laws))
    }
}

fn mlcp_whole(tokens: &mut Tokens<'_>, size: usize) -> Result<Whole, FileError> {
    let mut starts = vec![tokens.integer("a start of a block of rows")?];
    tokens.same("the first start of a block of rows", starts[0], 0)?;
    while let Some(&last) = starts.last().filter(|&&last| last < size) {
        let next = tokens.integer("a start of a block of rows")?;
        if next <= last || next > size {
            return Err(tokens.error(Reason::NotRising { what: "the list of starts of blocks of rows" }));
        }
        starts.push(next);
    }
    let mut laws = Vec::with_capacity(size);
    for block in starts.windows(2) {
        let law = match tokens.integer("the type of a block (0 or 1)")? {
            0 => Law::EQUALITY,
            1 => Law::UNILATERAL,
            other => return Err(tokens.unexpected("the type of a block (0 or 1)", &other.to_string())),
        };
        laws.resize(block[1], law);
    }
    let matrix = matrix::read(tokens)?;
    let q = tokens.numbers(size, "an entry of q")?;
    Ok(Whole { matrix, q, laws })
}

fn mlcp_parted(tokens: &mut Tokens<'_>, n: usize, m: usize) -> Result<Square, FileError> {
    let mut list = Vec::new();
    let (equality, complementarity) = ((0, n), (n, m));
    // A, B, C, D: rows and columns of [A C; D B]
    let parts = [
        (equality, equality, "an entry of A"),
        (complementarity, complementarity, "an entry of B"),
        (equality, complementarity, "an entry of C"),
        (complementarity, equality, "an entry of D"),
    ];
    for ((row, rows), (column, columns), what) in parts {
        for i in row..row + rows {
            for j in column..column + columns {
                list.push((i, j, tokens.number(what)?));
            }
        }
    }
    let q = tokens.numbers(n + m, "an entry of a or b")?;
    let mut laws = vec![Law::EQUALITY; n];
    laws.resize(n + m, Law::UNILATERAL);
    Ok((Entries { rows: n + m, columns: n + m, list }.to_rows(), q, laws))
}
