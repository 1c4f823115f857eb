//! A model as a type of your own: a stone thrown over a floor. It holds what it needs in the form that suits it, here
//! one number for the mass and one for its factor.
//!
//! `cargo run -p carom --example own_type`

use carom::model::Combination;
use carom::{Constancy, Coupling, Key, Law, LinearSolve, Mechanical, ModelError, Pair, Space, State};
use carom::{Span, scheme::MoreauJean, simulate};

struct Stone {
    mass: f64,
    /// What `factor` factored last: this number times the identity.
    factor: f64,
}

impl LinearSolve for Stone {
    fn dim(&self) -> usize {
        2
    }
    fn solve(&self, rhs: &mut [f64]) {
        rhs.iter_mut().for_each(|x| *x /= self.factor);
    }
}

impl Space for Stone {
    fn initial(&self) -> State {
        State::new(0.0, &[0.0, 1.25], &[3.0, 0.0])
    }
    fn couple(&mut self, _t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(2);
        out.push(Pair { key: Key(0), law: Law::UNILATERAL, gap: q[1], restitution: 0.5 });
        out.rows.push_dense(&[0.0, 1.0]);
        out.drift.push(0.0);
        Ok(())
    }
}

impl Mechanical for Stone {
    fn constancy(&self) -> Constancy {
        Constancy::LINEAR
    }
    fn force(&mut self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(&[0.0, -10.0 * self.mass]);
        Ok(())
    }
    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(&[self.mass * v[0], self.mass * v[1]]);
        Ok(())
    }
    fn factor(&mut self, _at: &State, c: Combination) -> Result<(), ModelError> {
        self.factor = c.mass * self.mass;
        Ok(())
    }
}

pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let solution = simulate(Stone { mass: 0.2, factor: 0.0 }, MoreauJean::default(), Span { end: 0.75, step: 1e-4 })?;

    // half a second down to 5 m/s, then a quarter of a second up from 2.5 m/s; sideways nothing happens
    let end = solution.q(solution.len() - 1);
    println!("impulse {} N s, then at {end:?} m", solution.impacts[0].impulse[0]);
    assert!((solution.impacts[0].impulse[0] - 0.2 * 7.5).abs() < 1e-3);
    assert!((end[0] - 2.25).abs() < 1e-12 && (end[1] - 0.3125).abs() < 1e-3, "{end:?}");
    Ok(())
}
