//! Linear models, sparse: `M v̇ = f(t) − C v − K q + Hᵀλ` with affine gaps [acary2016].
//!
//! Mass, damping and stiffness share one sparsity pattern, so that each iteration matrix `aM + bC + cK` is one pass
//! over the values and its symbolic analysis is done once.

use super::check::{check_law, distinct, require};
use super::{
    Answer, Combination, Constancy, Energy, Labels, Mechanical, ModelError, Space, SparseMatrix, sparse::SparseFactor,
};
use crate::{Coupling, Key, Pair, State};
use carom_solve::{Archive, ArchiveError, Law, LinearSolve, Persist, Rows};

/// Affine gap `offset + rate·t + row·q`, with optional affine slips for friction.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearContact {
    /// Name in results and messages.
    pub name: String,
    /// The law, which says how many rows there are.
    pub law: Law,
    /// Newton's coefficient of restitution, in [0, 1] [-].
    pub restitution: f64,
    /// Coefficient of restitution along the tangents, in [0, 1] [-].
    pub tangential: f64,
    /// One per row of the law, normal first.
    pub rows: Vec<AffineRow>,
}

/// `constant + rate·t + Σ coefficient·q`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AffineRow {
    /// `(coordinate, coefficient)` in rising order.
    pub entries: Vec<(usize, f64)>,
    /// [m]
    pub constant: f64,
    /// [m/s]
    pub rate: f64,
}

impl AffineRow {
    fn at(&self, t: f64, q: &[f64]) -> f64 {
        self.constant + self.rate * t + self.entries.iter().map(|&(j, c)| c * q[j]).sum::<f64>()
    }
}

type TimeForce = Box<dyn FnMut(f64, &mut [f64]) -> Result<(), ModelError> + Send>;

/// A linear mechanical model.
pub struct Linear {
    mass: SparseMatrix,
    damping: SparseMatrix,
    stiffness: SparseMatrix,
    combined: SparseMatrix,
    rows: [Rows; 3], // mass, damping, stiffness row by row, for products
    factor: SparseFactor,
    symmetric: bool,
    damped: bool,
    force: Option<TimeForce>,
    contacts: Vec<LinearContact>,
    initial: State,
    length: Option<f64>,
    labels: Vec<String>,
    buffer: Vec<f64>,
}

impl Linear {
    /// From the three matrices and an initial state, all of one size.
    pub fn new(
        mass: &SparseMatrix,
        damping: &SparseMatrix,
        stiffness: &SparseMatrix,
        initial: State,
    ) -> Result<Linear, ModelError> {
        let n = mass.dim();
        require("the rows of the damping matrix", damping.dim(), n)?;
        require("the rows of the stiffness matrix", stiffness.dim(), n)?;
        require("the initial positions", initial.q.len(), n)?;
        require("the initial velocities", initial.v.len(), n)?;
        // the union of the three patterns, then each matrix on it
        let zeros: Vec<_> = mass
            .triplets()
            .chain(damping.triplets())
            .chain(stiffness.triplets())
            .map(|(i, j, _)| (i, j, 0.0))
            .collect();
        let spread = |a: &SparseMatrix| {
            let entries: Vec<_> = zeros.iter().copied().chain(a.triplets()).collect();
            SparseMatrix::from_triplets(n, &entries)
        };
        let symmetric = mass.is_symmetric() && damping.is_symmetric() && stiffness.is_symmetric();
        Ok(Linear {
            rows: [mass.to_rows(), damping.to_rows(), stiffness.to_rows()],
            mass: spread(mass)?,
            damping: spread(damping)?,
            stiffness: spread(stiffness)?,
            combined: spread(mass)?,
            factor: SparseFactor::default(),
            symmetric,
            damped: damping.triplets().any(|(.., x)| x != 0.0),
            force: None,
            contacts: Vec::new(),
            labels: (0..n).map(|i| format!("q{i}")).collect(),
            buffer: vec![0.0; n],
            initial,
            length: None,
        })
    }

    /// An external force that depends on time alone [N]; `out` arrives as zeros. The closure may fail ([`Answer`]).
    pub fn with_force<A: Answer<()>>(mut self, force: impl FnMut(f64, &mut [f64]) -> A + Send + 'static) -> Self {
        let mut force = force;
        self.force = Some(Box::new(move |t, out| force(t, out).answer()));
        self
    }

    /// One more contact or constraint, with a name of its own.
    pub fn with_contact(mut self, contact: LinearContact) -> Self {
        self.contacts.push(contact);
        self
    }

    /// Names of the coordinates, in order.
    pub fn with_labels(mut self, labels: Vec<String>) -> Self {
        self.labels = labels;
        self
    }

    /// A length that is typical of the model [m], see [`Space::length`].
    pub fn with_length(mut self, length: Option<f64>) -> Self {
        self.length = length;
        self
    }

    /// `out ← f(t)`.
    fn applied_force(&mut self, t: f64, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        let Some(force) = &mut self.force else { return Ok(()) };
        force(t, out)?;
        match out.iter().position(|f| !f.is_finite()) {
            Some(i) => Err(ModelError::Force { coordinate: self.labels[i].as_str().into(), t }),
            None => Ok(()),
        }
    }

    /// Damping and stiffness, row by row.
    pub(crate) fn matrices(&self) -> (&Rows, &Rows) {
        (&self.rows[1], &self.rows[2])
    }

    /// Whether the mass is symmetric and positive definite: a Cholesky factorisation of it exists.
    pub fn mass_is_positive_definite(&self) -> bool {
        let mut factor = SparseFactor::default();
        self.mass.is_symmetric() && factor.factor(&self.mass, true).is_some() && factor.is_definite()
    }
}

/// `xᵀ A x`.
fn quadratic(a: &Rows, x: &[f64]) -> f64 {
    x.iter().enumerate().map(|(i, xi)| xi * a.dot(i, x)).sum()
}

impl LinearSolve for Linear {
    fn dim(&self) -> usize {
        self.initial.v.len()
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.factor.solve(rhs);
    }
}

impl Space for Linear {
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        let Linear { combined, factor, symmetric, .. } = self;
        combined.values_mut().persist(archive)?;
        let (mut is_factored, mut is_definite) = (factor.is_made(), factor.is_definite());
        (&mut is_factored, &mut is_definite).persist(archive)?;
        if archive.is_reading() && is_factored {
            // the same matrix has the same factors
            return Ok(factor.factor(combined, *symmetric && is_definite).is_some());
        }
        Ok(is_factored)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn length(&self) -> Option<f64> {
        self.length
    }

    fn has_rebounds(&self) -> bool {
        self.contacts.iter().any(|contact| contact.tangential > 0.0)
    }

    fn check(&self) -> Result<(), ModelError> {
        let n = self.dim();
        require("the names of coordinates", self.labels.len(), n)?;
        for LinearContact { name, law, restitution, tangential, rows } in &self.contacts {
            check_law(name, *law, [*restitution, *tangential])?;
            require("the rows of a contact", rows.len(), law.size())?;
            let refuse = |reason| Err(ModelError::Contact { contact: name.as_str().into(), reason });
            for row in rows {
                if row.entries.iter().any(|entry| entry.0 >= n) {
                    return refuse("a row speaks of a coordinate that the model does not have");
                }
                if row.entries.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                    return refuse("the coordinates of a row must rise");
                }
                if !row.entries.iter().map(|entry| entry.1).chain([row.constant, row.rate]).all(f64::is_finite) {
                    return refuse("a row has a coefficient that is not finite");
                }
            }
        }
        distinct("contacts", self.contacts.iter().map(|contact| contact.name.as_str()))
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(self.dim());
        for (k, contact) in self.contacts.iter().enumerate() {
            let gap = contact.rows.first().map_or(0.0, |row| row.at(t, q));
            out.rebound(contact.tangential);
            out.push(Pair { key: Key::from(k), law: contact.law, gap, restitution: contact.restitution });
            for row in &contact.rows {
                out.rows.push_sparse(row.entries.iter().copied());
                out.drift.push(row.rate);
            }
        }
        Ok(())
    }

    fn refresh(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        for (pair, contact) in out.pairs.iter_mut().zip(&self.contacts) {
            pair.gap = contact.rows.first().map_or(0.0, |row| row.at(t, q));
        }
        Ok(())
    }

    fn labels(&self) -> Labels {
        Labels {
            coordinates: self.labels.clone(),
            contacts: self.contacts.iter().map(|c| (c.name.clone(), c.law)).collect(),
            ..Labels::default()
        }
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        let [mass, _, stiffness] = &self.rows;
        Some(Energy { kinetic: 0.5 * quadratic(mass, &at.v), potential: 0.5 * quadratic(stiffness, &at.q) })
    }

    fn applied_power(&mut self, at: &State) -> f64 {
        let mut force = std::mem::take(&mut self.buffer);
        // a force that fails here fails in the next step, too, and is told there
        let known = self.applied_force(at.t, &mut force).is_ok();
        if self.damped {
            self.rows[1].subtract_mul(&at.v, &mut force);
        }
        let power = force.iter().zip(&at.v).map(|(f, v)| f * v).sum();
        self.buffer = force;
        if known { power } else { f64::NAN }
    }
}

impl Mechanical for Linear {
    fn constancy(&self) -> Constancy {
        Constancy::LINEAR
    }

    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        if self.force.is_none() {
            self.rows[2].zero_minus_mul(q, out);
        } else {
            self.applied_force(t, out)?;
            self.rows[2].subtract_mul(q, out);
        }
        if self.damped {
            self.rows[1].subtract_mul(v, out);
        }
        Ok(())
    }

    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.rows[0].mul(v, out);
        Ok(())
    }

    fn mass_diagonal(&mut self, _q: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.iter_mut().enumerate().for_each(|(j, m)| *m = self.mass.get(j, j));
        Ok(())
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        let (damping, stiffness) = (self.damping.values(), self.stiffness.values());
        for (k, (a, m)) in self.combined.values_mut().iter_mut().zip(self.mass.values()).enumerate() {
            *a = c.mass * m + c.damping * damping[k] + c.stiffness * stiffness[k];
        }
        self.factor.factor(&self.combined, self.symmetric).ok_or(ModelError::SparseSingular { t: at.t })
    }
}
