//! A position with everything that its balance needs, in variables scaled by the mass: M = L Lᵀ, w = Lᵀ δq.

use super::EquilibriumError;
use super::reactions::Reactions;
use crate::balance::lengths::Lengths;
use crate::model::{Along, CouplingTangent, Tangent};
use crate::{Coupling, Law, Mechanical, ModelError, State};
use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

/// A contact whose gap is below this part of the lengths behind it is closed, and a joint that misses by no more holds.
const CLOSED: f64 = 1e-9;

/// A velocity above this part of the length per second is a drive.
const DRIVEN: f64 = 1e-9;

/// A position at a time.
#[derive(Clone)]
pub(super) struct Place {
    pub t: f64,
    pub q: Vec<f64>,
    pub coupling: Coupling,
    /// Laws that act: those without a gap, and contacts that are closed.
    pub active: Vec<usize>,
    /// F.
    pub force: Vec<f64>,
    /// L⁻¹F.
    pub scaled_force: DVector<f64>,
    pub mass: Cholesky<f64, Dyn>,
    /// By how much a joint or a closed contact is missed at most, as a part of the lengths behind it.
    pub missed: f64,
}

impl Place {
    /// A position.
    pub fn new(model: &mut dyn Mechanical, t: f64, q: &[f64], lengths: &Lengths) -> Result<Place, EquilibriumError> {
        let n = model.dim();
        let still = State::new(t, q, &vec![0.0; n]);
        model.detect(&still, 1.0)?;
        model.begin_step(1.0);
        let mut coupling = Coupling::default();
        model.couple(t, q, &mut coupling)?;
        let sticks = vec![true; coupling.len()];
        model.rub((t, q, &still.v), &sticks, &mut coupling)?;
        let mut force = vec![0.0; n];
        model.force(t, q, &still.v, &mut force)?;
        let mut mass = DMatrix::zeros(n, n);
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            unit[j] = 1.0;
            model.mass_mul(q, &unit, &mut column)?;
            mass.column_mut(j).copy_from_slice(&column);
            unit[j] = 0.0;
        }
        let mass = mass.cholesky().ok_or(ModelError::from("the mass matrix is not positive definite"))?;
        let mut scaled_force = DVector::from_column_slice(&force);
        mass.l_dirty().solve_lower_triangular_mut(&mut scaled_force);
        let mut place =
            Place { t, q: q.to_vec(), coupling, active: Vec::new(), force, scaled_force, mass, missed: 0.0 };
        place.choose(model, lengths)?;
        Ok(place)
    }

    /// The laws that act, and by how much they are missed.
    fn choose(&mut self, model: &mut dyn Mechanical, lengths: &Lengths) -> Result<(), EquilibriumError> {
        for (i, pair) in self.coupling.pairs.iter().enumerate() {
            let length = lengths.met(&self.coupling, i).max(f64::MIN_POSITIVE);
            let gap = self.coupling.gap(i);
            let rates = self.coupling.range(i).map(|row| self.coupling.drift[row]);
            let rate = rates.fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most });
            let acts = !pair.law.is_contact() || gap <= CLOSED * length;
            if acts {
                if rate.abs() > DRIVEN * length {
                    return Err(EquilibriumError::Driven { law: model.contact_name(pair.key), rate, t: self.t });
                }
                self.active.push(i);
                self.missed = if pair.law.is_relay() { self.missed } else { self.missed.max(gap.abs() / length) };
            }
        }
        Ok(())
    }

    /// Whether joints hold and no contact is penetrated.
    pub fn is_admissible(&self) -> bool {
        self.missed <= CLOSED
    }

    /// Laws that act.
    pub fn laws(&self) -> Vec<Law> {
        self.active.iter().map(|&i| self.coupling.pairs[i].law).collect()
    }

    /// Rows of some laws, scaled by the mass: C L⁻ᵀ.
    pub fn rows(&self, rows: &[usize]) -> DMatrix<f64> {
        let n = self.force.len();
        let mut transposed = DMatrix::zeros(n, rows.len());
        for (k, &row) in rows.iter().enumerate() {
            self.coupling.rows.row(row).iter().for_each(|&(j, c)| transposed[(j, k)] += c);
        }
        self.mass.l_dirty().solve_lower_triangular_mut(&mut transposed);
        transposed.transpose()
    }

    /// The reactions that keep it here; `unit` is how large forces are.
    pub fn reactions(&self, unit: f64) -> Reactions {
        let rows: Vec<usize> = self.active.iter().flat_map(|&i| self.coupling.range(i)).collect();
        Reactions::new(&self.laws(), &self.rows(&rows), &self.scaled_force, unit)
    }

    /// K of (2) and the damping −∂F/∂v, scaled by the mass, with reactions by the rows of the coupling.
    pub fn stiffness(
        &self,
        tangent: &mut dyn Tangent,
        list: &[crate::Key],
        lambda: &[f64],
    ) -> Result<[DMatrix<f64>; 2], ModelError> {
        let n = self.force.len();
        let zero = vec![0.0; n];
        let still = State::new(self.t, &self.q, &zero);
        tangent.detect(&still, 1.0, list)?;
        let parameters = vec![0.0; tangent.parameters().len()];
        let at = (self.t, &self.q[..], &zero[..]);
        let (mut matrices, mut coupling) = ([DMatrix::zeros(n, n), DMatrix::zeros(n, n)], CouplingTangent::default());
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        for j in 0..n {
            unit[j] = 1.0;
            let along = Along { t: 0.0, q: &unit, v: &zero, p: &parameters };
            tangent.force(at, along, &mut column)?;
            tangent.coupling(at, along, &mut coupling)?;
            for (row, force) in lambda.iter().enumerate().filter(|(_, force)| **force != 0.0) {
                coupling.add_row(row, *force, &mut column);
            }
            matrices[0].column_mut(j).copy_from_slice(&column);
            tangent.force(at, Along { t: 0.0, q: &zero, v: &unit, p: &parameters }, &mut column)?;
            matrices[1].column_mut(j).copy_from_slice(&column);
            unit[j] = 0.0;
        }
        let l = self.mass.l_dirty();
        Ok(matrices.map(|matrix| {
            let mut scaled = -matrix;
            l.solve_lower_triangular_mut(&mut scaled);
            let mut transposed = scaled.transpose();
            l.solve_lower_triangular_mut(&mut transposed);
            transposed.transpose()
        }))
    }

    /// An increment of the position of a scaled one: L⁻ᵀ w.
    pub fn increment(&self, w: &DVector<f64>) -> Vec<f64> {
        let mut way = w.clone();
        self.mass.l_dirty().tr_solve_lower_triangular_mut(&mut way);
        way.as_slice().to_vec()
    }

    /// Reactions by the rows of the coupling, of those of the laws that act.
    pub fn spread(&self, lambda: &[f64]) -> Vec<f64> {
        let mut all = vec![0.0; self.coupling.drift.len()];
        let rows = self.active.iter().flat_map(|&i| self.coupling.range(i));
        rows.zip(lambda).for_each(|(row, x)| all[row] = *x);
        all
    }
}
