//! Which scheme fits a model: it follows from the family, the laws and the relative degree of each output.
//!
//! | model | scheme |
//! |---|---|
//! | mechanical | the first one of the registry |
//! | sweeping process | `catching-up` |
//! | linear, an output of relative degree 2 or more under complementarity or equality | `homsp` |
//! | other first-order systems | `euler-moreau` |

use super::{AnyModel, CatchingUp, EulerMoreau, Homsp, SCHEMES, Scheme};
use crate::{Coupling, FirstOrder, ModelError, zero_dynamics};
use carom_solve::Law;

/// Sums below this part of their terms have cancelled.
const CANCELLED: f64 = 1e-10;

/// An output on which multipliers act through two or more integrations.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Delayed {
    pub row: String,
    pub law: Law,
    /// The relative degree; of nonlinear systems it is known only that it is 2 or more.
    pub degree: Option<usize>,
}

/// The name of the scheme that fits a model.
pub fn fitting(model: &mut AnyModel) -> &'static str {
    let AnyModel::FirstOrder(model) = model else { return SCHEMES[0].info.name };
    if model.set().is_some() {
        return CatchingUp::INFO.name;
    }
    let delayed = if model.linear().is_some_and(|lcs| !lcs.is_switched()) { delayed(&mut **model) } else { Ok(vec![]) };
    let binds = |row: &Delayed| row.law.is_unilateral() || row.law.is_equality();
    if delayed.is_ok_and(|rows| rows.iter().any(binds)) { Homsp::INFO.name } else { EulerMoreau::INFO.name }
}

/// The outputs whose relative degree is 2 or more. Under a law without bounds λ is a distribution there.
pub(super) fn delayed(model: &mut dyn FirstOrder) -> Result<Vec<Delayed>, ModelError> {
    if model.set().is_some() {
        return Ok(Vec::new());
    }
    if let Some(lcs) = model.linear() {
        // with a singular E nothing is known
        let degrees = zero_dynamics::row_degrees(lcs).unwrap_or_default();
        let rows = lcs.laws().iter().zip(degrees).filter(|(_, degree)| degree.is_some_and(|degree| degree > 1));
        return Ok(rows.map(|((row, law), degree)| Delayed { row: row.clone(), law: *law, degree }).collect());
    }
    let labels = model.labels();
    let mut coupling = Coupling::default();
    let start = model.initial();
    model.couple(start.t, &start.q, &mut coupling)?;
    let mut held: Vec<usize> = (0..coupling.len()).filter(|&row| is_held(&coupling, row)).collect();
    // an input may vanish at one state: it must do so at others as well
    let size = start.q.iter().fold(0.0f64, |size, x| size.max(x.abs()));
    let size = if size > 0.0 { size } else { 1.0 };
    for k in 1..=2usize {
        let shift = |i: usize| 0.1 * size * ((((7 * i + 3) * k) % 11) as f64 / 5.0 - 1.0 + 0.01);
        let point: Vec<f64> = start.q.iter().enumerate().map(|(i, x)| x + shift(i)).collect();
        let rows = coupling.len();
        if model.couple(start.t, &point, &mut coupling).is_ok() && coupling.len() == rows {
            held.retain(|&row| is_held(&coupling, row));
        }
    }
    let named = held.iter().filter_map(|&row| coupling.pairs.get(row));
    Ok(named.map(|pair| Delayed { row: labels.contact(pair.key), law: pair.law, degree: None }).collect())
}

/// Whether no multiplier acts on the rate of this output, nor on the output itself, though its own acts on the state.
fn is_held(coupling: &Coupling, row: usize) -> bool {
    let direct = !coupling.feedthrough.is_empty() && coupling.feedthrough.row(row).iter().any(|(_, d)| *d != 0.0);
    let entering = if coupling.input.is_empty() { &coupling.rows } else { &coupling.input };
    if direct || entering.row(row).iter().all(|(_, b)| *b == 0.0) {
        return false;
    }
    entering.iter().all(|input| {
        let (mut sum, mut size) = (0.0, 0.0f64);
        for &(j, c) in coupling.rows.row(row) {
            for (_, b) in input.iter().filter(|(i, _)| *i == j) {
                sum += c * b;
                size += (c * b).abs();
            }
        }
        f64::abs(sum) <= CANCELLED * size
    })
}
