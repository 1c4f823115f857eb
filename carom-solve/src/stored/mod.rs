//! Problems that own their numbers, as files and generators make them, in one of two forms:
//!
//! ```text
//!     reduced     u = W λ + b                          λᵢ ∈ Lawᵢ(uᵢ)                        (1)
//!     global      M v = q + H λ,   u = Hᵀ v + b        λᵢ ∈ Lawᵢ(uᵢ)                        (2)
//! ```
//!
//! Form (2) becomes a one-step problem with `A = M`, `B = H`, `C = Hᵀ` and the offset `Hᵀ M⁻¹ q + b`; form (1) is all
//! feedthrough, `D = W` with no unknowns in between, so that `W` is taken exactly as it was given.
//! The degrees of freedom of (2) are renumbered where this makes the independent blocks of `M` contiguous.

mod mass;
mod measure;

use crate::{
    Certificate, Identity, Law, LinearSolve, OneStepProblem, Parts, ProblemWork, Reaction, Reference, Rows, SolveError,
    Solver,
};
pub use mass::BlockFactor;

/// Why a set of numbers is no problem.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say it")]
pub enum StoredError {
    #[error("{what} has {found} entries, the laws ask for {expected}")]
    Length { what: &'static str, found: usize, expected: usize },
    #[error("{what} is {rows}×{columns}, expected {expected_rows}×{expected_columns}")]
    Shape { what: &'static str, rows: usize, columns: usize, expected_rows: usize, expected_columns: usize },
    #[error("{what}: column {column} of row {row} is beyond the last one")]
    Column { what: &'static str, row: usize, column: usize },
    #[error("{what} has an entry that is not finite in row {row}")]
    NotFinite { what: &'static str, row: usize },
    #[error("law {law} ({name}) has bounds that are not ordered, or a coefficient that is negative or not finite")]
    Law { law: usize, name: &'static str },
    #[error("the mass matrix is singular at degree of freedom {dof}")]
    SingularMass { dof: usize },
    #[error("{dofs} degrees of freedom of the mass matrix are coupled with each other, at most {limit} are treated")]
    CoupledMass { dofs: usize, limit: usize },
}

/// The ingredients of the global form (2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GlobalParts {
    /// (n × n) M.
    pub mass: Rows,
    /// (m × n) Hᵀ: one row per row of the laws.
    pub jacobian: Rows,
    /// (n) q, the right-hand side without reactions.
    pub q: Vec<f64>,
    /// (m) b, the offset of u.
    pub b: Vec<f64>,
}

#[derive(Clone, Debug)]
enum Form {
    Reduced { w: Rows, none: Rows },
    Global(Box<Global>),
}

#[derive(Clone, Debug)]
struct Global {
    parts: GlobalParts, // in the internal order of degrees of freedom
    factor: BlockFactor,
    free: Vec<f64>,    // (n) M⁻¹ q
    order: Vec<usize>, // (n) number in the given order of each internal degree of freedom
}

/// A problem with a name and all its numbers.
#[derive(Clone, Debug)]
pub struct StoredProblem {
    name: String,
    laws: Vec<Law>,
    b: Vec<f64>, // (m) offset of the reduced form
    form: Form,
}

impl StoredProblem {
    /// The reduced form (1).
    pub fn reduced(
        name: impl Into<String>,
        w: Rows,
        b: Vec<f64>,
        laws: Vec<Law>,
    ) -> Result<StoredProblem, StoredError> {
        let m = check_laws(&laws)?;
        check_matrix("W", &w, m, m)?;
        check_vector("b", &b, m)?;
        Ok(StoredProblem { name: name.into(), laws, b, form: Form::Reduced { w, none: no_columns(m) } })
    }

    /// The global form (2). `M` is factored here.
    pub fn global(name: impl Into<String>, parts: GlobalParts, laws: Vec<Law>) -> Result<StoredProblem, StoredError> {
        let m = check_laws(&laws)?;
        let n = parts.mass.len();
        check_matrix("M", &parts.mass, n, n)?;
        check_matrix("Hᵀ", &parts.jacobian, m, n)?;
        check_vector("q", &parts.q, n)?;
        check_vector("b", &parts.b, m)?;
        let (order, start) = mass::components(&parts.mass);
        let parts = renumber(parts, &order);
        let factor = BlockFactor::of(&parts.mass, start).map_err(|error| match error {
            // the user counts in the given order
            StoredError::SingularMass { dof } => StoredError::SingularMass { dof: order[dof] },
            error => error,
        })?;
        let mut free = parts.q.clone();
        factor.solve(&mut free);
        let mut b = vec![0.0; m];
        parts.jacobian.mul(&free, &mut b);
        for (b, offset) in b.iter_mut().zip(&parts.b) {
            *b += offset;
        }
        check_vector("Hᵀ M⁻¹ q + b", &b, m)?;
        let form = Form::Global(Box::new(Global { parts, factor, free, order }));
        Ok(StoredProblem { name: name.into(), laws, b, form })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The same problem under another name.
    pub fn named(self, name: impl Into<String>) -> StoredProblem {
        StoredProblem { name: name.into(), ..self }
    }

    /// The laws, in the order of their rows.
    pub fn laws(&self) -> &[Law] {
        &self.laws
    }

    /// Offset of the reduced form: `b`, or `Hᵀ M⁻¹ q + b` in the global form.
    pub fn b(&self) -> &[f64] {
        &self.b
    }

    /// Number of rows.
    pub fn size(&self) -> usize {
        self.b.len()
    }

    /// `W` as it was given, in the reduced form.
    pub fn given_w(&self) -> Option<&Rows> {
        match &self.form {
            Form::Reduced { w, .. } => Some(w),
            Form::Global(_) => None,
        }
    }

    /// `M`, `Hᵀ`, `q` and `b` in the given order of degrees of freedom, in the global form.
    pub fn global_parts(&self) -> Option<GlobalParts> {
        let Form::Global(global) = &self.form else { return None };
        let mut back = vec![0; global.order.len()];
        for (internal, &given) in global.order.iter().enumerate() {
            back[given] = internal;
        }
        Some(renumber(global.parts.clone(), &back))
    }

    /// Number of degrees of freedom of the global form, and of its independent blocks.
    pub fn dofs(&self) -> Option<(usize, usize)> {
        match &self.form {
            Form::Reduced { .. } => None,
            Form::Global(global) => Some((global.order.len(), global.factor.starts().len() - 1)),
        }
    }

    /// The velocity `v = M⁻¹ (q + H λ)` in the given order of degrees of freedom, after `z` was evaluated.
    pub fn velocity(&self, z: &Reaction) -> Option<Vec<f64>> {
        let Form::Global(global) = &self.form else { return None };
        let mut v = vec![0.0; global.order.len()];
        for ((&given, free), change) in global.order.iter().zip(&global.free).zip(&z.response) {
            v[given] = free + change;
        }
        Some(v)
    }

    /// Runs `task` with the one-step problem.
    pub fn with<T>(&self, work: &mut ProblemWork, task: impl FnOnce(&OneStepProblem<'_>) -> T) -> T {
        let (b, laws) = (&self.b[..], &self.laws[..]);
        let parts = match &self.form {
            Form::Reduced { w, none } => {
                Parts { lhs: &Identity(0), output: none, input: none, feedthrough: Some(w), b, laws }
            }
            Form::Global(global) => {
                let rows = &global.parts.jacobian;
                Parts { lhs: &global.factor, output: rows, input: rows, feedthrough: None, b, laws }
            }
        };
        let reference = match self.form {
            Form::Reduced { .. } => Reference::FreeVelocity,
            Form::Global(_) => Reference::None,
        };
        task(&OneStepProblem::new(parts, work).relative_to(reference))
    }

    /// Solves from the guess in `z`, with buffers of its own.
    pub fn solve(&self, solver: &mut dyn Solver, z: &mut Reaction) -> Result<Certificate, SolveError> {
        self.with(&mut ProblemWork::default(), |problem| solver.solve(problem, z))
    }

    /// The relative error of the literature in the form that was given, after `z` was evaluated: that of
    /// [`OneStepProblem::full_error`] in the reduced form, and in the global form [acary2018]
    ///
    /// ```text
    ///     ‖M v − H λ − q‖ / max(‖q‖, ‖M v‖, ‖H λ‖)  +  ‖F(λ, u)‖ / max(‖u‖, ‖λ‖)           (3)
    /// ```
    ///
    /// with `F` the natural map for `ρ = 1`; a denominator below the machine epsilon counts as one.
    pub fn full_error(&self, problem: &OneStepProblem<'_>, z: &Reaction) -> f64 {
        let Form::Global(global) = &self.form else { return problem.full_error(z) };
        let parts = &global.parts;
        let n = global.order.len();
        if z.response.len() != n {
            return f64::INFINITY;
        }
        let v: Vec<f64> = global.free.iter().zip(&z.response).map(|(free, change)| free + change).collect();
        let (mut moved, mut pushed) = (vec![0.0; n], vec![0.0; n]);
        parts.mass.mul(&v, &mut moved);
        parts.jacobian.add_transpose_mul(&z.lambda, &mut pushed);
        let missed = (0..n).map(|i| (moved[i] - pushed[i] - parts.q[i]).powi(2)).sum::<f64>().sqrt();
        let size = norm(&parts.q).max(norm(&moved)).max(norm(&pushed));
        let dynamics = if size > 0.0 { missed / size } else { missed };
        let error = dynamics + problem.full_error(z);
        if error.is_finite() { error } else { f64::INFINITY }
    }

    /// The reduced form of a global problem, with `W = Hᵀ M⁻¹ H` multiplied out; a copy of a reduced one.
    pub fn condensed(&self) -> StoredProblem {
        let Form::Global(_) = &self.form else { return self.clone() };
        let w = self.with(&mut ProblemWork::default(), |problem| {
            let blocks = problem.delassus();
            let mut w = Rows::new(self.size());
            for i in 0..blocks.laws() {
                for k in 0..blocks.rows(i).len() {
                    w.push_sparse(blocks.row(i).flat_map(|(j, block)| {
                        let columns = blocks.rows(j);
                        columns.clone().zip(block[k * columns.len()..].iter().copied())
                    }));
                }
            }
            w
        });
        let form = Form::Reduced { w, none: no_columns(self.size()) };
        StoredProblem { name: self.name.clone(), laws: self.laws.clone(), b: self.b.clone(), form }
    }
}

/// Rows without entries: the reduced form has nothing between reactions and outputs.
fn no_columns(rows: usize) -> Rows {
    let mut none = Rows::new(0);
    for _ in 0..rows {
        none.push_sparse([]);
    }
    none
}

/// Checks the data of laws; returns their number of rows.
fn check_laws(laws: &[Law]) -> Result<usize, StoredError> {
    match laws.iter().position(|law| !law.is_valid()) {
        Some(i) => Err(StoredError::Law { law: i, name: laws[i].name() }),
        None => Ok(laws.iter().map(Law::size).sum()),
    }
}

fn check_vector(what: &'static str, x: &[f64], expected: usize) -> Result<(), StoredError> {
    if x.len() != expected {
        return Err(StoredError::Length { what, found: x.len(), expected });
    }
    match x.iter().position(|x| !x.is_finite()) {
        Some(row) => Err(StoredError::NotFinite { what, row }),
        None => Ok(()),
    }
}

fn check_matrix(what: &'static str, a: &Rows, rows: usize, columns: usize) -> Result<(), StoredError> {
    if (a.len(), a.columns()) != (rows, columns) {
        return Err(StoredError::Shape {
            what,
            rows: a.len(),
            columns: a.columns(),
            expected_rows: rows,
            expected_columns: columns,
        });
    }
    for (row, entries) in a.iter().enumerate() {
        for &(column, value) in entries {
            if column >= columns {
                return Err(StoredError::Column { what, row, column });
            }
            if !value.is_finite() {
                return Err(StoredError::NotFinite { what, row });
            }
        }
    }
    Ok(())
}

/// Takes unknown `order[k]` to place `k`.
fn renumber(parts: GlobalParts, order: &[usize]) -> GlobalParts {
    if order.iter().enumerate().all(|(k, &i)| k == i) {
        return parts;
    }
    let mut place = vec![0; order.len()];
    for (k, &i) in order.iter().enumerate() {
        place[i] = k;
    }
    let moved = |row: &[(usize, f64)]| {
        let mut row: Vec<(usize, f64)> = row.iter().map(|&(j, value)| (place[j], value)).collect();
        row.sort_by_key(|entry| entry.0);
        row
    };
    let (mut mass, mut jacobian) = (Rows::new(order.len()), Rows::new(order.len()));
    for &i in order {
        mass.push_sparse(moved(parts.mass.row(i)));
    }
    for row in parts.jacobian.iter() {
        jacobian.push_sparse(moved(row));
    }
    GlobalParts { mass, jacobian, q: order.iter().map(|&i| parts.q[i]).collect(), b: parts.b }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests;
