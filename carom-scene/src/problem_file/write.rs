//! Problems as files, each in the format that fits its laws.
//!
//! | laws | format |
//! |---|---|
//! | unilateral | LCP |
//! | unilateral and equality | MLCP |
//! | any without friction | relay; bounds are infinite where a law has none |
//! | friction, with unilateral laws and equalities | FCLIB |
//!
//! FCLIB holds contacts of one dimension, then equalities. Where laws come in another order they are sorted; a
//! unilateral law is written as a contact with `μ = 0`, and a planar one among spatial ones gets a third row. Such a
//! row is coupled with nothing, its offset is zero and so is its reaction: the other rows keep their solutions. Numbers
//! are written with all their digits.

use super::{FileError, FileFormat, Reason, fclib};
use carom_solve::{Law, OneStepProblem, Rows, StoredError, StoredProblem};
use std::fmt::Write;

/// Rows up to which a matrix is always written in full.
const DENSE: usize = 200;

/// A problem as the bytes of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// FileFormat of the bytes.
    pub kind: FileFormat,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl Encoded {
    /// What the name of the file should end with.
    pub fn extension(&self) -> &'static str {
        if self.kind == FileFormat::Fclib { "hdf5" } else { "dat" }
    }
}

/// The problem that a scheme hands to its solver, with all its numbers, in reduced form.
pub fn capture(name: &str, problem: &OneStepProblem<'_>) -> Result<StoredProblem, StoredError> {
    let blocks = problem.delassus();
    let mut w = Rows::new(problem.size());
    for i in 0..blocks.laws() {
        for k in 0..blocks.rows(i).len() {
            w.push_sparse(blocks.row(i).flat_map(|(j, block)| {
                let columns = blocks.rows(j);
                columns.clone().zip(block[k * columns.len()..].iter().copied())
            }));
        }
    }
    StoredProblem::reduced(name, w, problem.b().to_vec(), problem.laws().to_vec())
}

/// The file of a problem.
///
/// # Errors
/// No format holds friction together with boxes, nor with equalities where `W` is not symmetric.
pub fn encode(problem: &StoredProblem) -> Result<Encoded, FileError> {
    let laws = problem.laws();
    let count = |wanted: fn(&Law) -> bool| laws.iter().filter(|law| wanted(law)).count();
    let friction = count(Law::is_coulomb);
    let (equalities, unilateral) = (count(Law::is_equality), count(Law::is_unilateral));
    if friction > 0 {
        let fits = fclib::encode(problem.name(), problem);
        let bytes = match fits {
            Err(FileError { reason: Reason::Law { .. }, .. }) => {
                fclib::encode(problem.name(), &one_dimension(problem)?)?
            }
            other => other?,
        };
        return Ok(Encoded { kind: FileFormat::Fclib, bytes });
    }
    let reduced = problem.condensed();
    let none = Rows::default();
    let w = reduced.given_w().unwrap_or(&none);
    let mut text = String::new();
    let kind = if unilateral == laws.len() {
        _ = writeln!(text, "{}", laws.len());
        push_matrix(&mut text, w);
        push_numbers(&mut text, problem.b().iter().copied());
        FileFormat::Lcp
    } else if unilateral > 0 && unilateral + equalities == laws.len() {
        _ = writeln!(text, "1 0\n{equalities}\n{unilateral}");
        push_types(&mut text, laws);
        push_matrix(&mut text, w);
        push_numbers(&mut text, problem.b().iter().copied());
        FileFormat::Mlcp
    } else {
        _ = writeln!(text, "{}", laws.len());
        push_matrix(&mut text, w);
        push_numbers(&mut text, problem.b().iter().copied());
        let bounds = laws.iter().map(Law::bounds);
        push_numbers(&mut text, bounds.clone().map(|bound| bound.0));
        push_numbers(&mut text, bounds.map(|bound| bound.1));
        FileFormat::Relay
    };
    Ok(Encoded { kind, bytes: text.into_bytes() })
}

/// One number per line; seventeen digits where they are needed.
fn push_numbers(text: &mut String, numbers: impl Iterator<Item = f64>) {
    for x in numbers {
        _ = writeln!(text, "{x:?}");
    }
}

/// Starts of blocks of equal laws up to the number of rows, then their types: 0 equality, 1 complementarity.
fn push_types(text: &mut String, laws: &[Law]) {
    let mut types = String::new();
    for (row, law) in laws.iter().enumerate() {
        if row == 0 || *law != laws[row - 1] {
            _ = write!(text, "{row} ");
            _ = write!(types, "{} ", usize::from(law.is_unilateral()));
        }
    }
    _ = writeln!(text, "{}\n{types}", laws.len());
}

/// A square matrix: in full and column by column, or in blocks of one number where few of them are not zero.
fn push_matrix(text: &mut String, w: &Rows) {
    let n = w.len();
    let entries: usize = w.iter().map(<[_]>::len).sum();
    if n > DENSE && entries < n * n / 4 {
        return push_blocks(text, w, entries);
    }
    let mut full = vec![0.0; n * n];
    for (i, row) in w.iter().enumerate() {
        for &(j, value) in row {
            full[j * n + i] += value;
        }
    }
    _ = writeln!(text, "0\n{n}\n{n}\n{n} {n}");
    push_numbers(text, full.into_iter());
}

fn push_blocks(text: &mut String, w: &Rows, entries: usize) {
    let n = w.len();
    _ = writeln!(text, "1\n{n}\n{n}\n{entries}\n{n}\n{n}");
    let ends: String = (1..=n).map(|end| format!("{end} ")).collect();
    _ = writeln!(text, "{ends}\n{ends}\n{}\n{entries}", n + 1);
    let mut start = 0;
    for row in w.iter() {
        _ = write!(text, "{start} ");
        start += row.len();
    }
    _ = writeln!(text, "{start}");
    for (j, _) in w.iter().flatten() {
        _ = write!(text, "{j} ");
    }
    text.push('\n');
    for (k, (_, value)) in w.iter().flatten().enumerate() {
        _ = writeln!(text, "{k} {value:?}");
    }
}

/// The same problem with contacts of one dimension first and equalities last.
fn one_dimension(problem: &StoredProblem) -> Result<StoredProblem, FileError> {
    let reduced = problem.condensed();
    let (laws, none) = (problem.laws(), Rows::default());
    let w = reduced.given_w().unwrap_or(&none);
    if let Some(index) = laws.iter().position(Law::is_relay) {
        let error = FileError::new(problem.name(), Reason::Law { law: laws[index].name(), index });
        return Err(error.hint("no file format holds boxes together with friction"));
    }
    let dimension = laws.iter().map(Law::size).max().unwrap_or(1);
    let offset: Vec<usize> = laws.iter().scan(0, |at, law| Some(std::mem::replace(at, *at + law.size()))).collect();
    let (contacts, equalities): (Vec<usize>, Vec<usize>) = (0..laws.len()).partition(|&i| !laws[i].is_equality());
    // new row of each old one, and the old row of each new one
    let (mut place, mut source, mut sorted) = (vec![0; w.len()], Vec::new(), Vec::new());
    for &i in contacts.iter().chain(&equalities) {
        let height = if laws[i].is_equality() { 1 } else { dimension };
        sorted.push(if height == 1 { laws[i] } else { Law::coulomb(laws[i].mu(), height - 1) });
        for k in 0..height {
            if k < laws[i].size() {
                place[offset[i] + k] = source.len();
            }
            source.push((offset[i], (k < laws[i].size()).then_some(offset[i] + k)));
        }
    }
    let mut moved = Rows::new(source.len());
    for (row, &(first, old)) in source.iter().enumerate() {
        let mut entries: Vec<(usize, f64)> = match old {
            Some(old) => w.row(old).iter().map(|&(j, value)| (place[j], value)).collect(),
            // as heavy as the normal row
            None => vec![(
                row,
                w.row(first).iter().find(|entry| entry.0 == first && entry.1 > 0.0).map_or(1.0, |entry| entry.1),
            )],
        };
        entries.sort_by_key(|entry| entry.0);
        moved.push_sparse(entries);
    }
    let b = source.iter().map(|&(_, old)| old.map_or(0.0, |old| problem.b()[old])).collect();
    let stored = StoredProblem::reduced(problem.name(), moved, b, sorted);
    stored.map_err(|error| FileError::new(problem.name(), Reason::Problem(error)))
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;
    use carom_solve::{ProblemWork, Reaction, family, solver};

    /// Writes and reads again.
    fn again(problem: &StoredProblem) -> (FileFormat, StoredProblem) {
        let file = encode(problem).unwrap();
        let read = parse(&format!("{}-1.{}", file.kind.name(), file.extension()), &file.bytes, None).unwrap();
        assert_eq!(read.kind, file.kind);
        (file.kind, read.problem)
    }

    /// A band matrix with entries that need all their digits.
    fn band(n: usize) -> Rows {
        let mut w = Rows::new(n);
        for i in 0..n {
            let entries = i.saturating_sub(1)..n.min(i + 2);
            w.push_sparse(entries.map(|j| (j, if i == j { 2.0 + 1.0 / 3.0 } else { -0.1 - 1e-3 * j as f64 })));
        }
        w
    }

    #[test]
    fn problems_without_friction_keep_every_bit() {
        let boxed = Law::interval(-0.1, f64::INFINITY);
        for (n, pattern, kind) in [
            (5, [Law::UNILATERAL, Law::UNILATERAL], FileFormat::Lcp),
            (300, [Law::UNILATERAL, Law::UNILATERAL], FileFormat::Lcp),
            (5, [Law::UNILATERAL, Law::EQUALITY], FileFormat::Mlcp),
            (301, [Law::EQUALITY, Law::UNILATERAL], FileFormat::Mlcp),
            (6, [boxed, Law::EQUALITY], FileFormat::Relay),
            (6, [boxed, Law::UNILATERAL], FileFormat::Relay),
            (4, [Law::EQUALITY, Law::EQUALITY], FileFormat::Relay),
        ] {
            let laws: Vec<Law> = (0..n).map(|i| pattern[i % 2]).collect();
            let b: Vec<f64> = (0..n).map(|i| (i as f64).sin() / 3.0).collect();
            let problem = StoredProblem::reduced("p", band(n), b, laws.clone()).unwrap();
            let (found, read) = again(&problem);
            assert_eq!((found, read.b(), read.given_w()), (kind, problem.b(), problem.given_w()), "{kind:?} {n}");
            assert!(read.laws().iter().map(Law::bounds).eq(laws.iter().map(Law::bounds)), "{kind:?} {n}");
        }
    }

    #[test]
    fn mixtures_with_friction_keep_their_solutions() {
        // an equality, a frictionless contact, a planar and a spatial one; W = 2 I + coupling, symmetric
        let laws = vec![Law::EQUALITY, Law::UNILATERAL, Law::coulomb(0.3, 1), Law::coulomb(0.5, 2)];
        let n = 7;
        let full: Vec<f64> =
            (0..n * n).map(|k| if k / n == k % n { 2.0 } else { 0.1 / (1.0 + (k / n + k % n) as f64) }).collect();
        let b = vec![-1.0, -2.0, -1.5, 1.0, -1.0, 0.7, -0.4];
        let problem = StoredProblem::reduced("mixture", Rows::dense(n, &full), b, laws).unwrap();
        let (kind, read) = again(&problem);
        // three contacts of three rows, one equality
        assert_eq!((kind, read.size(), read.laws().len()), (FileFormat::Fclib, 10, 4));
        let mut z = Reaction::default();
        read.solve(&mut *solver::default(), &mut z).unwrap();
        // back in the old order: equality last, dummy rows out
        let lambda = [9, 0, 3, 4, 6, 7, 8].map(|k| z.lambda[k]);
        assert!([1, 2, 5].iter().all(|&k| z.lambda[k].abs() < 1e-12), "{:?}", z.lambda);
        let mut old = Reaction { lambda: lambda.to_vec(), ..Reaction::default() };
        let residual = problem.with(&mut ProblemWork::default(), |p| p.certify(&mut old).residual);
        assert!(residual < 1e-9, "{residual}");
    }

    #[test]
    fn what_a_solver_is_given_is_what_is_captured() {
        let problem = family::find("bridge").unwrap().build(20, 1).unwrap();
        let captured = problem.with(&mut ProblemWork::default(), |p| capture("b", p)).unwrap();
        assert!(captured.given_w() == problem.condensed().given_w() && captured.b() == problem.b());
        let (kind, read) = again(&captured);
        assert_eq!((kind, read.laws()), (FileFormat::Fclib, captured.laws()));
        // zeros are no entries in files
        let entries = |problem: &StoredProblem| -> Vec<(usize, usize, f64)> {
            let rows = problem.given_w().unwrap().iter().enumerate();
            rows.flat_map(|(i, row)| row.iter().map(move |x| (i, x.0, x.1))).filter(|x| x.2 != 0.0).collect()
        };
        assert!(entries(&read) == entries(&captured) && read.b() == captured.b());
        let boxed = vec![Law::coulomb(0.1, 1), Law::interval(0.0, 1.0)];
        let error = encode(&StoredProblem::reduced("r", band(3), vec![0.0; 3], boxed).unwrap()).unwrap_err();
        assert!(matches!(error.reason, Reason::Law { index: 1, .. }), "{error}");
    }
}
