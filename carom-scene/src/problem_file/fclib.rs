//! FCLIB: friction problems in HDF5 [acary2018].
//!
//! ```text
//!     fclib_local    W r + V λ + q = u,   Vᵀ r + R λ + s = 0             W, V, R, vectors/{q, s, mu}, spacedim
//!     fclib_global   M v = H r + G λ + f,   u = Hᵀ v + w,   Gᵀ v + b = 0   M, H, G, vectors/{f, w, b, mu}, spacedim
//! ```
//!
//! `V`, `R`, `G` are optional: their multipliers become equality laws after the contacts. A matrix is a group `m, n,
//! nz, nzmax, p, i, x`: `nz ≥ 0` triplets (row `i`, column `p`), −1 compressed columns, −2 compressed rows.

use super::hierarchical::{self, Data, Group, Hdf5, Tree};
use super::matrix::Entries;
use super::{FileError, FileFormat, Position, ProblemFile, Reason, stem};
use carom_solve::{GlobalParts, Law, Rows, StoredProblem};

pub(super) fn parse(name: &str, bytes: &[u8]) -> Result<ProblemFile, FileError> {
    let tree = Hdf5::open(name, bytes)?;
    let reader = Reader { name, tree: &tree, length: bytes.len() };
    let problem = if tree.has_group("fclib_local") {
        reader.local()?
    } else if tree.has_group("fclib_global") {
        reader.global()?
    } else if ["fclib_local_rolling", "fclib_global_rolling"].iter().any(|group| tree.has_group(group)) {
        return Err(FileError::new(name, Reason::Rolling { dimension: 5 }));
    } else {
        return Err(FileError::new(name, Reason::NoProblem).hint("is this an FCLIB file?"));
    };
    let trailing =
        if tree.has_dataset("solution/r") { tree.numbers("solution/r").unwrap_or_default() } else { Vec::new() };
    Ok(ProblemFile { problem, kind: FileFormat::Fclib, trailing, notes: Vec::new() })
}

struct Reader<'a> {
    name: &'a str,
    tree: &'a dyn Tree,
    length: usize,
}

impl Reader<'_> {
    fn error(&self, path: &str, reason: Reason) -> FileError {
        FileError::new(self.name, reason).at(Position::Dataset(path.to_string()))
    }

    fn local(&self) -> Result<StoredProblem, FileError> {
        let mut laws = self.contacts("fclib_local")?;
        let mut w = self.matrix("fclib_local/W")?;
        let mut b = self.tree.numbers("fclib_local/vectors/q")?;
        if self.tree.has_group("fclib_local/V") {
            let v = self.matrix("fclib_local/V")?;
            self.same("fclib_local/V/m", "the number of rows of V", v.rows, w.rows)?;
            let first = w.rows;
            w.list.extend(v.list.iter().flat_map(|&(i, j, x)| [(i, first + j, x), (first + j, i, x)]));
            if self.tree.has_group("fclib_local/R") {
                let r = self.matrix("fclib_local/R")?;
                self.same("fclib_local/R/m", "the number of rows of R", r.rows.max(r.columns), v.columns)?;
                w.list.extend(r.list.iter().map(|&(i, j, x)| (first + i, first + j, x)));
            }
            (w.rows, w.columns) = (first + v.columns, w.columns + v.columns);
            b.extend(self.tree.numbers("fclib_local/vectors/s")?);
            laws.resize(laws.len() + v.columns, Law::EQUALITY);
        }
        let problem = StoredProblem::reduced(stem(self.name), w.to_rows(), b, laws);
        problem.map_err(|error| FileError::new(self.name, Reason::Problem(error)))
    }

    fn global(&self) -> Result<StoredProblem, FileError> {
        let mut laws = self.contacts("fclib_global")?;
        let mass = self.matrix("fclib_global/M")?;
        let mut h = self.matrix("fclib_global/H")?;
        let q = self.tree.numbers("fclib_global/vectors/f")?;
        let mut b = self.tree.numbers("fclib_global/vectors/w")?;
        if self.tree.has_group("fclib_global/G") {
            let g = self.matrix("fclib_global/G")?;
            self.same("fclib_global/G/m", "the number of rows of G", g.rows, h.rows)?;
            h.list.extend(g.list.iter().map(|&(i, j, x)| (i, h.columns + j, x)));
            h.columns += g.columns;
            b.extend(self.tree.numbers("fclib_global/vectors/b")?);
            laws.resize(laws.len() + g.columns, Law::EQUALITY);
        }
        let parts = GlobalParts { mass: mass.to_rows(), jacobian: h.to_columns(), q, b };
        let problem = StoredProblem::global(stem(self.name), parts, laws);
        problem.map_err(|error| FileError::new(self.name, Reason::Problem(error)))
    }

    /// The friction laws of a problem.
    fn contacts(&self, group: &str) -> Result<Vec<Law>, FileError> {
        let path = format!("{group}/spacedim");
        let dimension = self.one(&path)?;
        let mu = self.tree.numbers(&format!("{group}/vectors/mu"))?;
        match dimension {
            2 | 3 => Ok(mu.into_iter().map(|mu| Law::coulomb(mu, dimension as usize - 1)).collect()),
            found => {
                let reason = Reason::Unexpected { expected: "the dimension (2 or 3)", found: found.to_string() };
                Err(self.error(&path, reason))
            }
        }
    }

    fn same(&self, path: &str, what: &'static str, found: usize, expected: usize) -> Result<(), FileError> {
        if found == expected { Ok(()) } else { Err(self.error(path, Reason::Mismatch { what, found, expected })) }
    }

    /// A dataset of one integer.
    fn one(&self, path: &str) -> Result<i64, FileError> {
        let list = self.tree.integers(path)?;
        match list[..] {
            [x] => Ok(x),
            _ => {
                Err(self
                    .error(path, Reason::Mismatch { what: "the number of entries", found: list.len(), expected: 1 }))
            }
        }
    }

    /// A size; no larger than the file is long, since each row has an offset that is stored.
    fn size(&self, path: &str) -> Result<usize, FileError> {
        let found = self.one(path)?;
        match usize::try_from(found) {
            Ok(found) if found <= self.length => Ok(found),
            Ok(found) => Err(self.error(path, Reason::TooLarge { what: "a size", found, limit: self.length })),
            Err(_) => {
                let reason = Reason::Unexpected { expected: "a size", found: found.to_string() };
                Err(self.error(path, reason))
            }
        }
    }

    fn matrix(&self, group: &str) -> Result<Entries, FileError> {
        let path = |name: &str| format!("{group}/{name}");
        let (rows, columns) = (self.size(&path("m"))?, self.size(&path("n"))?);
        let nz = self.one(&path("nz"))?;
        let mut values = self.tree.numbers(&path("x"))?;
        let (i, p) = (self.tree.integers(&path("i"))?, self.tree.integers(&path("p"))?);
        let mut list = Vec::with_capacity(values.len());
        match nz {
            0.. => {
                let entries = usize::try_from(nz).unwrap_or(usize::MAX);
                for (name, length) in [("i", i.len()), ("p", p.len()), ("x", values.len())] {
                    if length < entries {
                        let what = "the number of entries";
                        return Err(
                            self.error(&path(name), Reason::Mismatch { what, found: length, expected: entries })
                        );
                    }
                }
                values.truncate(entries);
                for ((&x, &i), &p) in values.iter().zip(&i).zip(&p) {
                    list.push((self.index(&path("i"), i, rows)?, self.index(&path("p"), p, columns)?, x));
                }
            }
            -2 | -1 => {
                let (groups, others) = if nz == -1 { (columns, rows) } else { (rows, columns) };
                self.same(&path("p"), "the number of entries", p.len(), groups + 1)?;
                let most = values.len().min(i.len());
                for k in 0..groups {
                    let start = self.index(&path("p"), p[k], most + 1)?;
                    let end = self.index(&path("p"), p[k + 1], most + 1)?;
                    if end < start {
                        return Err(self.error(&path("p"), Reason::NotRising { what: "the list of starts" }));
                    }
                    for at in start..end {
                        let other = self.index(&path("i"), i[at], others)?;
                        list.push(if nz == -1 { (other, k, values[at]) } else { (k, other, values[at]) });
                    }
                }
            }
            _ => {
                let expected = "a storage: −2, −1, or the number of triplets";
                return Err(self.error(&path("nz"), Reason::Unexpected { expected, found: nz.to_string() }));
            }
        }
        if list.iter().any(|entry| !entry.2.is_finite()) {
            return Err(self.error(&path("x"), Reason::NotFinite { what: "an entry of the matrix" }));
        }
        Ok(Entries { rows, columns, list })
    }

    fn index(&self, path: &str, index: i64, size: usize) -> Result<usize, FileError> {
        match usize::try_from(index) {
            Ok(found) if found < size => Ok(found),
            Ok(found) => {
                let limit = size.saturating_sub(1);
                Err(self.error(path, Reason::TooLarge { what: "an index", found, limit }))
            }
            Err(_) => {
                let reason = Reason::Unexpected { expected: "an index", found: index.to_string() };
                Err(self.error(path, reason))
            }
        }
    }
}

/// The bytes of an FCLIB file. Contacts must have one dimension; equality laws must come last.
pub(super) fn encode(file: &str, problem: &StoredProblem) -> Result<Vec<u8>, FileError> {
    let refuse = |index: usize, law: &Law| {
        let error = FileError::new(file, Reason::Law { law: law.name(), index });
        error.hint("FCLIB holds contacts with friction of one dimension, then equalities")
    };
    let (mu, dimension, equalities) =
        sort_laws(problem.laws()).map_err(|index| refuse(index, &problem.laws()[index]))?;
    let contacts = mu.len() * dimension;
    let mut root = Group::default();
    let mut group = Group::default();
    let mut vectors = Group::default();
    let name = if let Some(parts) = problem.global_parts() {
        group.groups.push(("M", matrix(file, &parts.mass, 0..parts.mass.len(), 0..parts.mass.len(), -2)?));
        let n = parts.mass.len();
        group.groups.push(("H", matrix(file, &parts.jacobian, 0..contacts, 0..n, -1)?));
        vectors.datasets.push(("f", Data::Numbers(parts.q)));
        vectors.datasets.push(("w", Data::Numbers(parts.b[..contacts].to_vec())));
        if equalities > 0 {
            group.groups.push(("G", matrix(file, &parts.jacobian, contacts..contacts + equalities, 0..n, -1)?));
            vectors.datasets.push(("b", Data::Numbers(parts.b[contacts..].to_vec())));
        }
        "fclib_global"
    } else {
        let none = Rows::default();
        let w = problem.given_w().unwrap_or(&none);
        let (first, last) = (0..contacts, contacts..contacts + equalities);
        group.groups.push(("W", matrix(file, w, first.clone(), first.clone(), -2)?));
        vectors.datasets.push(("q", Data::Numbers(problem.b()[..contacts].to_vec())));
        if equalities > 0 {
            if !mirrored(w, contacts) {
                let index = mu.len();
                return Err(refuse(index, &Law::EQUALITY).hint("FCLIB asks for [W V; Vᵀ R] with the same V twice"));
            }
            group.groups.push(("V", matrix(file, w, first, last.clone(), -2)?));
            group.groups.push(("R", matrix(file, w, last.clone(), last, -2)?));
            vectors.datasets.push(("s", Data::Numbers(problem.b()[contacts..].to_vec())));
        }
        "fclib_local"
    };
    vectors.datasets.push(("mu", Data::Numbers(mu)));
    group.groups.push(("vectors", vectors));
    let text = |text: &str| Data::Text(text.to_string());
    let info = [("title", text(problem.name())), ("description", text(problem.kind())), ("math_info", text(""))];
    group.groups.push(("info", Group { datasets: info.into(), ..Group::default() }));
    group.datasets.push(("spacedim", Data::Integers(vec![dimension as i32])));
    root.groups.push((name, group));
    hierarchical::encode(file, root)
}

/// Coefficients of friction, dimension, and number of equalities; or the first law that does not fit.
fn sort_laws(laws: &[Law]) -> Result<(Vec<f64>, usize, usize), usize> {
    let (mut list, mut dimension, mut equalities) = (Vec::new(), 3, 0);
    for (index, law) in laws.iter().enumerate() {
        if law.is_equality() {
            equalities += 1;
        } else if law.is_coulomb() && equalities == 0 && (list.is_empty() || dimension == law.size()) {
            dimension = law.size();
            list.push(law.mu());
        } else {
            return Err(index);
        }
    }
    Ok((list, dimension, equalities))
}

/// Whether the two couplings of contacts and equalities are transposes of each other, up to rounding.
fn mirrored(w: &Rows, contacts: usize) -> bool {
    let mut pairs = std::collections::BTreeMap::new();
    let mut largest = 0.0f64;
    for (i, row) in w.iter().enumerate() {
        for &(j, value) in row {
            if (i < contacts) != (j < contacts) {
                let sign = if i < contacts { 1.0 } else { -1.0 };
                *pairs.entry((i.min(j), i.max(j))).or_insert(0.0) += sign * value;
            }
            largest = largest.max(value.abs());
        }
    }
    pairs.values().all(|difference: &f64| difference.abs() <= 1e-14 * largest)
}

/// A part of a matrix: as rows (`nz` −2), or its transpose as columns (−1).
fn matrix(
    file: &str,
    a: &Rows,
    rows: std::ops::Range<usize>,
    columns: std::ops::Range<usize>,
    nz: i32,
) -> Result<Group, FileError> {
    let (mut p, mut index, mut x) = (vec![0], Vec::new(), Vec::new());
    for i in rows.clone() {
        for &(j, value) in a.row(i).iter().filter(|entry| columns.contains(&entry.0)) {
            index.push(j - columns.start);
            x.push(value);
        }
        p.push(x.len());
    }
    let narrow = |list: &[usize]| -> Result<Data, FileError> {
        let narrow: Result<Vec<i32>, _> = list.iter().map(|&k| i32::try_from(k)).collect();
        let (found, limit) = (list.iter().copied().max().unwrap_or(0), i32::MAX as usize);
        let too_large = FileError::new(file, Reason::TooLarge { what: "an index", found, limit });
        narrow.map(Data::Integers).map_err(|_| too_large)
    };
    let (m, n) = if nz == -1 { (columns.len(), rows.len()) } else { (rows.len(), columns.len()) };
    let datasets = vec![
        ("m", narrow(&[m])?),
        ("n", narrow(&[n])?),
        ("nz", Data::Integers(vec![nz])),
        ("nzmax", narrow(&[x.len()])?),
        ("p", narrow(&p)?),
        ("i", narrow(&index)?),
        ("x", Data::Numbers(x)),
    ];
    Ok(Group { datasets, ..Group::default() })
}
