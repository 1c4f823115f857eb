//! Linear complementarity systems, relay systems and circuits [acary2008]:
//!
//! ```text
//!     E ẋ = A x + a(t) + B λ,    y = C x + c(t) + D λ,    λᵢ ∈ Lawᵢ(yᵢ)                                   (1)
//! ```
//!
//! Matrices are dense and row-major. E may be singular (algebraic equations), D of any rank. Laws may change in time:
//! an ideal switch is an equality while it conducts, and the box `[0, 0]` while it does not.

use super::{Constancy, FirstOrder, Labels, ModelError, Space};
use crate::{Coupling, Key, Pair, State};
use carom_solve::{Archive, ArchiveError, DenseLu, Law, LinearSolve, Persist, Rows};

/// Writes a(t) or c(t).
pub type Source = Box<dyn FnMut(f64, &mut [f64]) -> Result<(), ModelError> + Send>;

/// Puts the law of a row at a time in place of the one before; tells whether it is another one.
type TimedLaw = Box<dyn FnMut(f64, &mut Law) -> Result<bool, ModelError> + Send>;

/// Tells why the laws cannot hold at a time.
pub type Explanation = Box<dyn FnMut(f64) -> Option<String> + Send>;

/// The matrices of (1), row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrices {
    /// n × n; the unit matrix where there is none.
    pub e: Option<Vec<f64>>,
    /// n × n.
    pub a: Vec<f64>,
    /// n × m.
    pub b: Vec<f64>,
    /// m × n.
    pub c: Vec<f64>,
    /// m × m; zero where it is empty.
    pub d: Vec<f64>,
}

/// Why matrices do not make a system.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LcsError {
    /// A matrix or source has a wrong number of entries.
    #[error("the matrix `{matrix}` has {found} entries where {rows} rows of {columns} are needed")]
    Size {
        /// Name of the matrix or vector in (1).
        matrix: &'static str,
        /// Number of its entries.
        found: usize,
        /// Number of rows that it must have.
        rows: usize,
        /// Number of columns that it must have.
        columns: usize,
    },
    /// An entry is infinite or not a number.
    #[error("the matrix `{matrix}` is not finite in row {row}, column {column}")]
    NotFinite {
        /// Name of the matrix or vector in (1).
        matrix: &'static str,
        /// Row of the entry, from 0.
        row: usize,
        /// Column of the entry, from 0.
        column: usize,
    },
    /// A law of more than one row, such as friction.
    #[error("the row `{row}` has the law {law}: laws of one row are needed")]
    Law {
        /// Name of the row.
        row: String,
        /// Name of its law.
        law: &'static str,
    },
    /// The initial state has an entry that is infinite or not a number.
    #[error("the initial state is not finite")]
    Initial,
    /// A wrong number of names for the states.
    #[error("there are {found} names for {needed} states")]
    Names {
        /// Number of names given.
        found: usize,
        /// Number of states.
        needed: usize,
    },
    /// A timed law for a row that is not there.
    #[error("there is no row {row}, only {rows}")]
    Row {
        /// Number of the row asked for, from 0.
        row: usize,
        /// Number of rows of the system.
        rows: usize,
    },
}

/// A linear complementarity system (1).
pub struct Lcs {
    n: usize,
    matrices: Matrices,
    state_source: Option<Source>,
    output_source: Option<Source>,
    constant: bool, // sources do not depend on time
    laws: Vec<(String, Law)>,
    timed: Vec<(usize, TimedLaw)>,
    explanation: Option<Explanation>,
    names: Vec<String>,
    initial: State,
    algebraic: Vec<bool>,
    rows: [Rows; 3],    // C, Bᵀ, D without their zeros
    offset: Vec<f64>,   // (m) c(t)
    source: Vec<f64>,   // (n) a(t)
    switched: Vec<Law>, // laws that depend on time, at the time
    at: [f64; 3],       // times of these three
    lu: DenseLu,
}

impl Lcs {
    /// A system without sources that starts from `initial`; one law per row of C.
    pub fn new(matrices: Matrices, laws: Vec<(String, Law)>, initial: &[f64]) -> Result<Self, LcsError> {
        let (n, m) = (initial.len(), laws.len());
        let mut matrices = matrices;
        if matrices.d.is_empty() {
            matrices.d.resize(m * m, 0.0);
        }
        let sizes = [
            ("E", matrices.e.as_deref(), n, n),
            ("A", Some(&matrices.a[..]), n, n),
            ("B", Some(&matrices.b[..]), n, m),
            ("C", Some(&matrices.c[..]), m, n),
            ("D", Some(&matrices.d[..]), m, m),
        ];
        for (matrix, values, rows, columns) in sizes {
            values.map_or(Ok(()), |values| check_matrix(matrix, values, (rows, columns)))?;
        }
        if let Some((row, law)) = laws.iter().find(|(_, law)| law.size() != 1) {
            return Err(LcsError::Law { row: row.clone(), law: law.name() });
        }
        if !initial.iter().all(|x| x.is_finite()) {
            return Err(LcsError::Initial);
        }
        Ok(Lcs::assemble(matrices, laws, initial))
    }

    /// The system of matrices whose sizes are known to be right.
    pub(crate) fn assemble(matrices: Matrices, laws: Vec<(String, Law)>, initial: &[f64]) -> Self {
        let (n, m) = (initial.len(), laws.len());
        let zero = |row: &[f64]| row.iter().all(|x| *x == 0.0);
        let algebraic = match &matrices.e {
            Some(e) => e.chunks_exact(n.max(1)).map(zero).collect(),
            None => vec![false; n],
        };
        let rows = [sparse(&matrices.c, m, n), sparse(&transpose(&matrices.b, n, m), m, n), sparse(&matrices.d, m, m)];
        Lcs {
            n,
            matrices,
            state_source: None,
            output_source: None,
            constant: true,
            timed: Vec::new(),
            explanation: None,
            names: (0..n).map(|i| format!("x{i}")).collect(),
            initial: State::new(0.0, initial, &[]),
            algebraic,
            rows,
            offset: vec![0.0; m],
            source: vec![0.0; n],
            switched: Vec::new(),
            at: [f64::NAN; 3],
            lu: DenseLu::default(),
            laws,
        }
    }

    /// a(t).
    pub fn with_state_source(
        mut self,
        a: impl FnMut(f64, &mut [f64]) -> Result<(), ModelError> + Send + 'static,
    ) -> Self {
        self.state_source = Some(Box::new(a));
        self.constant = false;
        self
    }

    /// c(t).
    pub fn with_output_source(
        mut self,
        c: impl FnMut(f64, &mut [f64]) -> Result<(), ModelError> + Send + 'static,
    ) -> Self {
        self.output_source = Some(Box::new(c));
        self.constant = false;
        self
    }

    /// Constant a.
    pub fn with_constant_state_source(self, a: &[f64]) -> Result<Self, LcsError> {
        check_matrix("a", a, (self.n, 1))?;
        let (a, constant) = (a.to_vec(), self.constant);
        let source = move |_, out: &mut [f64]| {
            out.copy_from_slice(&a);
            Ok(())
        };
        Ok(Lcs { constant, ..self.with_state_source(source) })
    }

    /// Constant c.
    pub fn with_constant_output_source(self, c: &[f64]) -> Result<Self, LcsError> {
        check_matrix("c", c, (self.laws.len(), 1))?;
        let (c, constant) = (c.to_vec(), self.constant);
        let source = move |_, out: &mut [f64]| {
            out.copy_from_slice(&c);
            Ok(())
        };
        Ok(Lcs { constant, ..self.with_output_source(source) })
    }

    /// A law that depends on time: schemes ask for it at the time at which they impose it. It must have one row.
    pub fn with_timed_law(
        mut self,
        row: usize,
        mut law: impl FnMut(f64) -> Result<Law, ModelError> + Send + 'static,
    ) -> Result<Self, LcsError> {
        let rows = self.laws.len();
        if row >= rows {
            return Err(LcsError::Row { row, rows });
        }
        let timed = move |t, now: &mut Law| {
            let next = law(t)?;
            let differs = next != *now;
            if differs {
                *now = next;
            }
            Ok(differs)
        };
        self.timed.push((row, Box::new(timed)));
        self.switched.push(self.laws[row].1);
        Ok(self)
    }

    /// What is asked where the laws have no solution.
    pub fn with_explanation(mut self, explain: impl FnMut(f64) -> Option<String> + Send + 'static) -> Self {
        self.explanation = Some(Box::new(explain));
        self
    }

    /// Names of the states.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, LcsError> {
        if names.len() != self.n {
            return Err(LcsError::Names { found: names.len(), needed: self.n });
        }
        self.names = names;
        Ok(self)
    }

    /// Time of the initial state [s].
    pub fn starting_at(mut self, t: f64) -> Self {
        self.initial.t = t;
        self
    }

    /// Number of states and of rows.
    pub fn sizes(&self) -> (usize, usize) {
        (self.n, self.laws.len())
    }

    pub(crate) fn matrices(&self) -> &Matrices {
        &self.matrices
    }

    /// Names and laws of the rows; of laws that depend on time the one given first.
    pub fn laws(&self) -> &[(String, Law)] {
        &self.laws
    }

    /// Whether laws depend on time.
    pub fn is_switched(&self) -> bool {
        !self.timed.is_empty()
    }

    /// Whether a and c are constant.
    pub fn has_constant_sources(&self) -> bool {
        self.constant
    }

    /// `out ← a(t)`.
    pub fn state_source(&mut self, t: f64, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        if let Some(source) = &mut self.state_source {
            source(t, out)?;
        }
        if out.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ModelError::NotFinite { what: "a(t)", t }) }
    }

    /// `out ← c(t)`.
    pub fn output_source(&mut self, t: f64, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        if let Some(source) = &mut self.output_source {
            source(t, out)?;
        }
        match out.iter().position(|x| !x.is_finite()) {
            Some(row) => Err(ModelError::Gap { contact: self.laws[row].0.as_str().into(), t }),
            None => Ok(()),
        }
    }

    /// `offset ← c(t)`.
    fn take_offset(&mut self, t: f64) -> Result<(), ModelError> {
        if self.output_source.is_none() || self.at[0] == t {
            return Ok(());
        }
        let mut offset = std::mem::take(&mut self.offset);
        let result = self.output_source(t, &mut offset);
        self.offset = offset;
        result?;
        self.at[0] = t;
        Ok(())
    }

    /// `source ← a(t)`.
    fn take_source(&mut self, t: f64) -> Result<(), ModelError> {
        if let Some(source) = &mut self.state_source
            && self.at[1] != t
        {
            self.at[1] = f64::NAN;
            self.source.fill(0.0);
            source(t, &mut self.source)?;
            self.at[1] = t;
        }
        Ok(())
    }

    /// `switched ←` the laws at `t` that depend on it.
    fn take_switched(&mut self, t: f64) -> Result<(), ModelError> {
        if self.timed.is_empty() || self.at[2] == t {
            return Ok(());
        }
        self.at[2] = f64::NAN;
        for ((row, law), now) in self.timed.iter_mut().zip(&mut self.switched) {
            if law(t, now)? && (now.size() != 1 || !now.is_valid()) {
                *now = self.laws[*row].1;
                let name = &self.laws[*row].0;
                return Err(ModelError::Callback(format!("the law of the row `{name}` is not usable at t = {t:?}")));
            }
        }
        self.at[2] = t;
        Ok(())
    }

    /// Outputs at λ = 0 and laws at `t`.
    fn fill(&mut self, t: f64, x: &[f64], pairs: &mut [Pair]) -> Result<(), ModelError> {
        self.take_offset(t)?;
        self.take_switched(t)?;
        for ((row, _), law) in self.timed.iter().zip(&self.switched) {
            pairs[*row].law = *law;
        }
        for ((pair, row), offset) in pairs.iter_mut().zip(self.rows[0].iter()).zip(&self.offset) {
            pair.gap = Rows::product(row, x) + offset;
        }
        Ok(())
    }
}

/// Refuses a matrix of another size, or with entries that are not finite.
fn check_matrix(matrix: &'static str, values: &[f64], (rows, columns): (usize, usize)) -> Result<(), LcsError> {
    if values.len() != rows * columns {
        return Err(LcsError::Size { matrix, found: values.len(), rows, columns });
    }
    match values.iter().position(|x| !x.is_finite()) {
        Some(k) => Err(LcsError::NotFinite { matrix, row: k / columns, column: k % columns }),
        None => Ok(()),
    }
}

/// Rows of a full matrix without its zeros.
fn sparse(values: &[f64], rows: usize, columns: usize) -> Rows {
    let mut out = Rows::new(columns);
    for i in 0..rows {
        let row = &values[i * columns..(i + 1) * columns];
        out.push_sparse(row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0));
    }
    out
}

fn transpose(values: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    (0..columns).flat_map(|j| (0..rows).map(move |i| values[i * columns + j])).collect()
}

impl LinearSolve for Lcs {
    fn dim(&self) -> usize {
        self.n
    }
    #[inline]
    fn solve(&self, rhs: &mut [f64]) {
        self.lu.solve(rhs);
    }
}

impl Space for Lcs {
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        self.lu.persist(archive).map(|()| true)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn couple(&mut self, t: f64, x: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(self.n);
        for (k, (_, law)) in self.laws.iter().enumerate() {
            out.push(Pair { key: Key::from(k), law: *law, gap: 0.0, restitution: 0.0 });
            out.rows.push_row_of(&self.rows[0], k);
            out.input.push_row_of(&self.rows[1], k);
            out.drift.push(0.0);
        }
        if self.matrices.d.iter().any(|d| *d != 0.0) {
            out.feedthrough.clear(self.laws.len());
            (0..self.laws.len()).for_each(|k| out.feedthrough.push_row_of(&self.rows[2], k));
        }
        self.fill(t, x, &mut out.pairs)
    }

    fn refresh(&mut self, t: f64, x: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        self.fill(t, x, &mut out.pairs)
    }

    fn labels(&self) -> Labels {
        Labels { coordinates: self.names.clone(), contacts: self.laws.clone(), ..Labels::default() }
    }
}

impl FirstOrder for Lcs {
    fn constancy(&self) -> Constancy {
        let still = (self.constant || self.output_source.is_none()) && self.timed.is_empty();
        Constancy { still, ..Constancy::LINEAR }
    }

    fn rate(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.take_source(t)?;
        let mut rest = &self.matrices.a[..];
        let mut is_finite = true;
        for (o, source) in out.iter_mut().zip(&self.source) {
            let (row, after) = rest.split_at(self.n);
            rest = after;
            *o = source + row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            is_finite &= o.is_finite();
        }
        if is_finite {
            return Ok(());
        }
        let i = out.iter().position(|x| !x.is_finite()).unwrap_or(0);
        Err(ModelError::Rate { state: self.names[i].as_str().into(), t })
    }

    fn inertia_mul(&self, x: &[f64], out: &mut [f64]) {
        match &self.matrices.e {
            None => out.copy_from_slice(x),
            Some(e) => {
                for (o, row) in out.iter_mut().zip(e.chunks_exact(self.n.max(1))) {
                    *o = row.iter().zip(x).map(|(e, x)| e * x).sum();
                }
            }
        }
    }

    fn is_algebraic(&self, i: usize) -> bool {
        self.algebraic.get(i).copied().unwrap_or(false)
    }

    fn factor(&mut self, at: &State, c: f64) -> Result<(), ModelError> {
        let n = self.n;
        let matrix = self.lu.matrix_mut(n);
        for (k, (x, a)) in matrix.iter_mut().zip(&self.matrices.a).enumerate() {
            let e = match &self.matrices.e {
                Some(e) => e[k],
                None => f64::from(u8::from(k / n == k % n)),
            };
            *x = e - c * a;
        }
        self.lu.factor().map_err(|source| ModelError::Singular { t: at.t, source })
    }

    fn linear(&mut self) -> Option<&mut Lcs> {
        Some(self)
    }

    fn explain(&mut self, t: f64) -> Option<String> {
        self.explanation.as_mut().and_then(|explain| explain(t))
    }
}
