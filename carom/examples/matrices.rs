//! A model from matrices: two masses of 1 kg in a row, with springs of 2 N/m between them and to a wall, and a stop for
//! the outer one. Matrices are sparse: a row of 100 000 masses is written alike.
//!
//! `cargo run -p carom --example matrices`

use carom::model::{AffineRow, Linear, LinearContact, SparseMatrix};
use carom::{Law, Span, State, scheme::MoreauJean, simulate};
use std::f64::consts::PI;

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(2, entries);
    let mass = matrix(&[(0, 0, 1.0), (1, 1, 1.0)])?;
    let stiffness = matrix(&[(0, 0, 4.0), (0, 1, -2.0), (1, 0, -2.0), (1, 1, 2.0)])?;

    // the slow mode alone: both masses pass the equilibrium at the same time
    let (shape, omega) = (0.5 * (1.0 + 5f64.sqrt()), (3.0 - 5f64.sqrt()).sqrt());
    let start = State::new(0.0, &[1.0, shape], &[0.0, 0.0]);
    let stop = AffineRow { entries: vec![(1, 1.0)], ..AffineRow::default() };
    let chain = Linear::new(&mass, &matrix(&[])?, &stiffness, start)?.with_contact(LinearContact {
        name: "stop".into(),
        law: Law::UNILATERAL,
        restitution: 1.0,
        tangential: 0.0,
        rows: vec![stop],
    });

    let solution = simulate(chain, MoreauJean::default(), Span { end: 0.6 * PI / omega, step: 1e-4 })?;

    // a quarter of a period later the outer mass meets the stop with the speed of the mode, and comes back with it
    let impact = &solution.impacts[0];
    println!("stop met after {} s with {} m/s", impact.t, -impact.before[0]);
    assert!((impact.t - 0.5 * PI / omega).abs() < 2e-4);
    assert!((impact.before[0] + shape * omega).abs() < 1e-3 && (impact.after[0] - shape * omega).abs() < 1e-3);
    Ok(())
}
