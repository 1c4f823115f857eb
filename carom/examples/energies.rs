//! A model from energies in generic Rust: a pendulum of 1 m that swings against a wall. Mass, forces, the gradient of
//! the gap and all tangents are exact derivatives.
//!
//! `cargo run -p carom --example energies`

use carom::model::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::{Law, Span, State, scheme::MoreauJean, simulate};

struct Pendulum;

impl Functions for Pendulum {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        v[0] * v[0] * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        -q[0].cos() * 9.81
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], gaps: &mut [D]) {
        gaps[0] = q[0].sin();
    }
    fn laws(&self) -> Vec<NamedLaw> {
        vec![NamedLaw::new("wall", Law::UNILATERAL).restitution(0.8)]
    }
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let start = State::new(0.0, &[1.0], &[0.0]);
    let pendulum = DualLagrangian::new(Pendulum, start)?;

    let solution = simulate(pendulum, MoreauJean::default(), Span { end: 1.3, step: 1e-4 })?;

    // energy gives the speed at the wall, and the angle where the pendulum turns after the impact
    let speed = (2.0 * 9.81 * (1.0 - 1f64.cos())).sqrt();
    let turn = (1.0 - 0.64 * (1.0 - 1f64.cos())).acos();
    let impact = &solution.impacts[0];
    let after = (0..solution.len()).filter(|&k| solution.t[k] > impact.t);
    let highest = after.map(|k| solution.q(k)[0]).fold(0.0, f64::max);
    println!("{} m/s at the wall, back to {highest} rad", -impact.before[0]);
    assert!((impact.before[0] + speed).abs() < 2e-3 && (highest - turn).abs() < 2e-3);
    Ok(())
}
