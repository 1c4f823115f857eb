//! Relative degree, zero-dynamics form and well-posedness of linear complementarity systems [acary2008homsp].
//!
//! ```text
//!     ẋ = A x + B λ,  w = C x (+ D λ);     rᵢ = first k with Cᵢ A^{k−1} B ≠ 0   (0 if Dᵢ ≠ 0)                 (1)
//!     leading matrix  Mᵢ = Cᵢ A^{rᵢ−1} B:   regular: a vector relative degree;   P-matrix: well posed            (2)
//!     z = W x:   żᵢ,ⱼ = zᵢ,ⱼ₊₁ (j < rᵢ),   żᵢ,ᵣ = Cᵢ A^{rᵢ} W⁻¹ z + Mᵢ λ,   ξ̇ = A_ξ ξ + B_ξ z_{.,1}             (3)
//! ```
//!
//! The eigenvalues of A_ξ are the invariant zeros of (A, B, C). `README.md` tells which file does what.

mod degree;
mod form;
mod p_matrix;
mod scaling;

pub use p_matrix::PMatrix;

use crate::model::Lcs;
use carom_solve::Law;
use nalgebra::DMatrix;
use scaling::Scaled;

/// Relative size below which a sum counts as cancelled, or a leading matrix as singular.
const TOLERANCE: f64 = 1e-10;

/// Why a system has no form (3), or why it is not well posed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ZeroDynamicsError {
    /// E has no inverse, so that (1) does not apply.
    #[error("E is singular: algebraic equations must be eliminated first")]
    SingularInertia,
    /// An output on which λ never acts.
    #[error("λ never acts on the output `{row}`: it has no relative degree")]
    Unreachable {
        /// Name of the row.
        row: String,
    },
    /// The leading matrix (2) is singular.
    #[error(
        "there is no vector relative degree: the leading Markov parameters of the rows {} depend on each other (their relative degrees are {degrees:?})",
        list(rows)
    )]
    Mixed {
        /// Names of the rows that depend on each other.
        rows: Vec<String>,
        /// (m) relative degrees of all rows.
        degrees: Vec<usize>,
    },
    /// Some outputs have degree 0, and others do not.
    #[error(
        "mixed relative degree: the rows {} see λ directly (degree 0), the rows {} only through the state",
        list(direct),
        list(delayed)
    )]
    Direct {
        /// Names of the rows of degree 0.
        direct: Vec<String>,
        /// Names of the other rows.
        delayed: Vec<String>,
    },
    /// The leading matrix (2) is no P-matrix.
    #[error(
        "not well posed: the leading matrix C A^(r-1) B is not a P-matrix, its principal minor of the rows {} is {minor:.3e} and must be positive (is a sign wrong?)",
        list(rows)
    )]
    NotP {
        /// Names of the rows of a principal minor that is not positive.
        rows: Vec<String>,
        /// Its value, after rows and columns are scaled to entries near 1 and equalities eliminated.
        minor: f64,
    },
    /// A computation breaks down, for the reason given.
    #[error("the transformation to the zero-dynamics form cannot be computed: {0}")]
    Numerical(&'static str),
}

fn list(rows: &[String]) -> String {
    rows.iter().map(|row| format!("`{row}`")).collect::<Vec<_>>().join(", ")
}

/// What `carom check` tells of a linear complementarity system.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// (m) relative degree of each output; `None` where λ never acts on it.
    pub degrees: Vec<Option<usize>>,
    /// (m × m) leading matrix M, row-major, where all degrees exist.
    pub leading: Option<Vec<f64>>,
    /// Whether M is a P-matrix, where it is regular.
    pub p_matrix: Option<PMatrix>,
    /// Invariant zeros (real part, imaginary part) [1/s], where the form (3) exists or all degrees are 0.
    pub zeros: Vec<(f64, f64)>,
    /// The first thing that is wrong for the higher-order sweeping process.
    pub problem: Option<ZeroDynamicsError>,
}

/// Analyses a system as far as it goes.
pub fn report(lcs: &Lcs) -> Report {
    let mut report = Report::default();
    report.problem = fill(lcs, &mut report).err();
    report
}

fn fill(lcs: &Lcs, report: &mut Report) -> Result<(), ZeroDynamicsError> {
    let names: Vec<String> = lcs.laws().iter().map(|(name, _)| name.clone()).collect();
    let scaled = Scaled::of(lcs)?;
    let found = degree::degrees(&scaled);
    report.degrees = found.iter().map(|d| d.as_ref().map(|d| d.degree)).collect();
    let leading = degree::leading(&scaled, &found, &names)?;
    report.leading = Some(scaled.plain_leading(&leading));
    degree::check_uniformly_delayed(&leading, &names)?;
    degree::check_regular(&leading, &names)?;
    report.p_matrix = Some(p_matrix::judge(&leading.matrix));
    let leading_is_direct = leading.degrees.iter().all(|r| *r == 0);
    if leading_is_direct {
        report.zeros = form::direct_zeros(&scaled)?;
    } else {
        let form = ZeroDynamics::build(scaled, leading)?;
        report.zeros = form.zeros()?;
    }
    match &report.p_matrix {
        // where λ is seen directly, passive systems are well posed without it
        _ if leading_is_direct => Ok(()),
        Some(PMatrix::No { rows, minor }) => {
            Err(ZeroDynamicsError::NotP { rows: rows.iter().map(|&i| names[i].clone()).collect(), minor: *minor })
        }
        _ => Ok(()),
    }
}

/// The relative degree of each output by itself; `None` where λ never acts on it.
pub fn row_degrees(lcs: &Lcs) -> Result<Vec<Option<usize>>, ZeroDynamicsError> {
    let found = degree::degrees(&Scaled::of(lcs)?);
    Ok(found.into_iter().map(|degree| degree.map(|degree| degree.degree)).collect())
}

/// Relative degrees of all outputs, where they have a vector relative degree.
pub fn degrees(lcs: &Lcs) -> Result<Vec<usize>, ZeroDynamicsError> {
    let names: Vec<String> = lcs.laws().iter().map(|(name, _)| name.clone()).collect();
    let scaled = Scaled::of(lcs)?;
    let leading = degree::leading(&scaled, &degree::degrees(&scaled), &names)?;
    degree::check_uniformly_delayed(&leading, &names)?;
    degree::check_regular(&leading, &names)?;
    Ok(leading.degrees)
}

/// The form (3) of a system whose relative degrees are at least 1, in scaled variables: states, outputs, inputs and
/// time are scaled by powers of two, so that nothing is rounded and systems with widely different units are treated
/// alike.
#[derive(Clone, Debug)]
pub struct ZeroDynamics {
    degrees: Vec<usize>,
    chains: Vec<usize>, // (m + 1) first place of each chain in z
    scaled: Scaled,
    w: DMatrix<f64>,
    inverse: DMatrix<f64>,
    a_bar: DMatrix<f64>,
    leading: DMatrix<f64>,
}

impl ZeroDynamics {
    /// Computes the form, and checks that the unilateral rows are well posed.
    pub fn of(lcs: &Lcs) -> Result<Self, ZeroDynamicsError> {
        let names: Vec<String> = lcs.laws().iter().map(|(name, _)| name.clone()).collect();
        let scaled = Scaled::of(lcs)?;
        let found = degree::degrees(&scaled);
        let leading = degree::leading(&scaled, &found, &names)?;
        degree::check_uniformly_delayed(&leading, &names)?;
        degree::check_regular(&leading, &names)?;
        let laws: Vec<Law> = lcs.laws().iter().map(|(_, law)| *law).collect();
        if let PMatrix::No { rows, minor } = p_matrix::judge_with_equalities(&leading.matrix, &laws) {
            return Err(ZeroDynamicsError::NotP { rows: rows.iter().map(|&i| names[i].clone()).collect(), minor });
        }
        ZeroDynamics::build(scaled, leading)
    }

    fn build(mut scaled: Scaled, leading: degree::Leading) -> Result<Self, ZeroDynamicsError> {
        let degrees = leading.degrees;
        if degrees.contains(&0) {
            return Err(ZeroDynamicsError::Numerical("outputs see λ directly"));
        }
        scaled.choose_time(&degrees);
        let form = form::Form::of(&scaled, &degrees)?;
        let mut chains = vec![0];
        degrees.iter().for_each(|r| chains.push(chains[chains.len() - 1] + r));
        let form::Form { w, inverse, a_bar, leading } = form;
        Ok(ZeroDynamics { degrees, chains, scaled, w, inverse, a_bar, leading })
    }

    /// (m) relative degrees.
    pub fn degrees(&self) -> &[usize] {
        &self.degrees
    }

    /// (m + 1) first place of each chain in z, and the first place of ξ.
    pub fn chains(&self) -> &[usize] {
        &self.chains
    }

    /// Number of states.
    pub fn size(&self) -> usize {
        self.w.nrows()
    }

    /// W of (3) in the units of the system, row-major.
    pub fn transformation(&self) -> Vec<f64> {
        let n = self.size();
        let mut out = Vec::with_capacity(n * n);
        for k in 0..n {
            let row = self.unit(k);
            out.extend((0..n).map(|j| self.w[(k, j)] * row / self.scaled.state[j]));
        }
        out
    }

    /// The leading matrix M in the units of the system, row-major.
    pub fn leading(&self) -> Vec<f64> {
        let m = self.degrees.len();
        let mut out = Vec::with_capacity(m * m);
        for i in 0..m {
            let power = self.scaled.time.powi(self.degrees[i] as i32);
            out.extend((0..m).map(|j| self.leading[(i, j)] * power / (self.scaled.output[i] * self.scaled.input[j])));
        }
        out
    }

    /// Invariant zeros (real part, imaginary part) [1/s].
    pub fn zeros(&self) -> Result<Vec<(f64, f64)>, ZeroDynamicsError> {
        let (n, start) = (self.size(), self.chains[self.degrees.len()]);
        let a_xi = self.a_bar.view((start, start), (n - start, n - start)).into_owned();
        let omega = self.scaled.time;
        Ok(form::eigenvalues(a_xi)?.into_iter().map(|(re, im)| (re * omega, im * omega)).collect())
    }

    /// Plain z over scaled z at place k.
    pub(crate) fn unit(&self, k: usize) -> f64 {
        match self.chains.windows(2).position(|c| c[0] <= k && k < c[1]) {
            Some(i) => self.scaled.time.powi((k - self.chains[i]) as i32) / self.scaled.output[i],
            None => 1.0,
        }
    }

    /// Plain μᵣ of row i over the scaled one.
    pub(crate) fn impulse_unit(&self, i: usize) -> f64 {
        self.scaled.input[i] / self.scaled.time
    }

    pub(crate) fn scaled(&self) -> &Scaled {
        &self.scaled
    }

    /// W, W⁻¹, Ā and M in scaled variables.
    pub(crate) fn matrices(&self) -> [&DMatrix<f64>; 4] {
        [&self.w, &self.inverse, &self.a_bar, &self.leading]
    }
}
