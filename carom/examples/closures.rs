//! A model from closures: a ball of 1 kg under 2 N, dropped from 1 m, that keeps half of its speed at each impact.
//!
//! `cargo run -p carom --example closures`

use carom::model::{Contact, Lagrangian};
use carom::{Span, scheme::MoreauJean, simulate};

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let floor = Contact::new("floor", |_t, q| q[0]).gradient(|_t, _q, row| row[0] = 1.0).restitution(0.5);
    let ball = Lagrangian::new(1)
        .constant_mass(&[1.0])
        .force(|_t, _q, _v, f| f[0] = -2.0)
        .contact(floor)
        .initial(&[1.0], &[0.0])
        .build()?;

    let solution = simulate(ball, MoreauJean::default(), Span { end: 1.5, step: 1e-3 })?;

    // it falls for 1 s to 2 m/s, leaves with 1 m/s, and is half a second later a quarter as high as it was
    let height = solution.q(solution.len() - 1)[0];
    println!("{} impact, height {height} m", solution.impacts.len());
    assert_eq!(solution.impacts.len(), 1);
    assert!((height - 0.25).abs() < 2e-3, "{height}");
    Ok(())
}
