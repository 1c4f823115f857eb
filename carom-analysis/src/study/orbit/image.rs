//! What a round makes of a state: the equations of an orbit, their derivatives and those of the return map. Numbers of
//! equations are those of `section.rs`.

use super::super::{Cyclic, StudyError};
use nalgebra::{DMatrix, DVector};

/// s with its derivatives by x, by time and by the parameter.
pub(super) struct Guard {
    pub value: f64,
    pub dx: DVector<f64>,
    pub dt: f64,
    pub dp: f64,
}

/// What a round makes of y.
pub(super) struct Image {
    /// State at its start and at its end.
    pub from: DVector<f64>,
    pub to: DVector<f64>,
    /// The direction between them.
    pub way: DVector<f64>,
    /// Φ of (4).
    pub flow: DMatrix<f64>,
    /// f at the end.
    pub rate: DVector<f64>,
    /// Derivative of the end by the parameter, the one of L included.
    pub dp: DVector<f64>,
    pub guard: Option<Guard>,
    pub forced: bool,
    /// Cyclic coordinates, by their directions.
    pub cyclic: Cyclic,
    /// When it starts, and how long it lasts [s].
    pub start: f64,
    pub length: f64,
}

impl Image {
    /// G of (4).
    pub fn residual(&self) -> DVector<f64> {
        let size = self.way.len() + usize::from(self.guard.is_some());
        let mut g = DVector::zeros(size);
        g.rows_mut(0, self.way.len()).copy_from(&self.way);
        for i in self.cyclic.coordinates() {
            g[i] = self.cyclic.rest(i, g[i]);
        }
        if let Some(guard) = &self.guard {
            g[size - 1] = guard.value;
        }
        g
    }

    /// G by y. At the end of an orbit f is what it is at the start.
    pub fn matrix(&self) -> DMatrix<f64> {
        let m = self.way.len();
        let mut square = &self.flow - DMatrix::identity(m, m);
        for i in self.cyclic.drifting() {
            // any value of it does
            square.row_mut(i).fill(0.0);
            square[(i, i)] = 1.0;
        }
        let Some(guard) = &self.guard else { return square };
        let mut matrix = DMatrix::zeros(m + 1, m + 1);
        matrix.view_mut((0, 0), (m, m)).copy_from(&square);
        let mut column = if self.forced { &self.rate - &self.flow * &self.rate } else { self.rate.clone() };
        self.cyclic.drifting().for_each(|i| column[i] = 0.0);
        matrix.view_mut((0, m), (m, 1)).copy_from(&column);
        matrix.view_mut((m, 0), (1, m)).copy_from(&guard.dx.transpose());
        matrix[(m, m)] = if self.forced { guard.dt } else { 0.0 };
        matrix
    }

    /// G by the parameter.
    pub fn by_parameter(&self) -> DVector<f64> {
        let mut column = DVector::zeros(self.way.len() + usize::from(self.guard.is_some()));
        column.rows_mut(0, self.way.len()).copy_from(&self.dp);
        self.cyclic.drifting().for_each(|i| column[i] = 0.0);
        if let Some(guard) = &self.guard {
            column[self.way.len()] = guard.dp;
        }
        column
    }

    /// A basis of the plane in which returns are looked at: all directions but those of coordinates that drift, or
    /// those along the section in (3).
    fn basis(&self) -> DMatrix<f64> {
        let m = self.way.len();
        let kept: Vec<usize> = (0..m).filter(|i| !self.cyclic.drifts(*i)).collect();
        let all = DMatrix::from_fn(m, kept.len(), |i, j| f64::from(u8::from(kept[j] == i)));
        match self.guard.as_ref().filter(|_| !self.forced) {
            None => all,
            Some(guard) => {
                // columns of a reflection that takes s_x to an axis, without the one along it
                let mut w = all.transpose() * &guard.dx;
                let axis = w.iamax();
                w[axis] += w.norm().copysign(w[axis]);
                let square = w.norm_squared();
                let reflection = DMatrix::identity(w.len(), w.len()) - (&w * w.transpose()) * (2.0 / square);
                all * reflection.remove_column(axis)
            }
        }
    }

    /// Derivative of the return map: Φ, or (5) without forcing.
    pub fn returns(&self) -> Result<DMatrix<f64>, StudyError> {
        let Some(guard) = self.guard.as_ref().filter(|_| !self.forced) else {
            let basis = self.basis();
            return Ok(basis.transpose() * &self.flow * basis);
        };
        let speed = guard.dx.dot(&self.rate);
        if speed.is_nan() || speed.abs() <= 1e-12 * guard.dx.norm() * self.rate.norm() {
            let reason = "the orbit does not cross it, take another one";
            return Err(StudyError::option("the speed across the section", speed, reason));
        }
        let basis = self.basis();
        let mut image = &self.flow * &basis;
        let along = guard.dx.transpose() * &image / speed;
        image -= &self.rate * along;
        Ok(basis.transpose() * image)
    }

    /// The direction of y in which a perturbation comes back with the factor −1.
    pub fn flipped(&self) -> Result<DVector<f64>, StudyError> {
        let returns = self.returns()?;
        let m = returns.nrows();
        let svd = (returns + DMatrix::identity(m, m)).svd(false, true);
        let lost = || StudyError::NoOrbit { residual: f64::NAN };
        let vector = svd.v_t.ok_or_else(lost)?.row(svd.singular_values.imin()).transpose();
        let mut x = self.basis() * vector;
        let mut y = DVector::zeros(x.len() + usize::from(self.guard.is_some()));
        if let Some(guard) = self.guard.as_ref().filter(|_| self.forced) {
            // along the motion to the section, at another phase
            let delay = -guard.dx.dot(&x) / (guard.dx.dot(&self.rate) + guard.dt);
            x.axpy(delay, &self.rate, 1.0);
            y[x.len()] = delay;
        }
        y.rows_mut(0, x.len()).copy_from(&x);
        let norm = y.norm();
        Ok(y / norm)
    }
}
