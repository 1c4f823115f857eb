//! A hundred thousand contacts: what a run adds to a step grows with their number, no faster.

use carom::model::Combination;
use carom::scheme::{Bound, MoreauJean};
use carom::simulation::{Audit, FixedStep, Observer};
use carom::{Coupling, Key, LinearSolve, Mechanical, ModelError, Pair, Simulation, Space, State};
use carom_solve::Law;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Blocks that slide down and rest on the lowest of their steps; each of them lists a hundred.
struct Stairs {
    blocks: usize,
    each: usize,
    couplings: Arc<AtomicU64>, // that were asked for
}

impl LinearSolve for Stairs {
    fn dim(&self) -> usize {
        self.blocks
    }
    fn solve(&self, _rhs: &mut [f64]) {}
    fn block(&self, dof: usize) -> std::ops::Range<usize> {
        dof..dof + 1
    }
    fn solve_block(&self, _block: std::ops::Range<usize>, _rhs: &mut [f64]) {}
}

impl Space for Stairs {
    fn initial(&self) -> State {
        let heights: Vec<f64> = (0..self.blocks).map(|k| 0.01 + 1e-5 * k as f64).collect();
        State::new(0.0, &heights, &vec![0.0; self.blocks])
    }
    fn couple(&mut self, _t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        self.couplings.fetch_add(1, Ordering::Relaxed);
        out.clear(self.blocks);
        for (k, height) in q.iter().enumerate() {
            for step in 0..self.each {
                let key = Key::from(k * self.each + step);
                let gap = height + 0.01 * step as f64;
                out.push(Pair { key, law: Law::UNILATERAL, gap, restitution: 0.3 });
                out.rows.push_sparse([(k, 1.0)]);
                out.drift.push(0.0);
            }
        }
        Ok(())
    }
}

impl Mechanical for Stairs {
    fn force(&mut self, _t: f64, _q: &[f64], _v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(-9.81);
        Ok(())
    }
    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(v);
        Ok(())
    }
    fn factor(&mut self, _at: &State, _c: Combination) -> Result<(), ModelError> {
        Ok(())
    }
}

/// Seconds per step, the best of some runs, and couplings in a run, without and with the audit.
fn costs(blocks: usize) -> [(f64, u64); 2] {
    let mut best = [(f64::INFINITY, 0); 2];
    for _ in 0..3 {
        for (audits, best) in [false, true].into_iter().zip(&mut best) {
            let couplings = Arc::new(AtomicU64::new(0));
            let model = Stairs { blocks, each: 100, couplings: couplings.clone() };
            let stepper = Bound::new(MoreauJean::default(), Box::new(model), carom_solve::solver::default()).unwrap();
            let mut run = Simulation::new(Box::new(stepper), Box::new(FixedStep { h: 1e-3 }), 0.1).unwrap();
            let mut audit = Audit::default();
            let mut observers: Vec<&mut dyn Observer> = if audits { vec![&mut audit] } else { vec![] };
            let start = Instant::now();
            run.run(&mut observers).unwrap();
            *best = (best.0.min(start.elapsed().as_secs_f64() / 100.0), couplings.load(Ordering::Relaxed));
        }
    }
    best
}

/// The audit looks at every contact at the end of a step, once. The model is not asked for them again: they are the
/// start of the next step. Limits of times are those of a busy machine; a search through the list for each contact
/// would take a hundred times as long.
#[test]
fn the_audit_is_linear_in_the_contacts() {
    let (few, many) = (costs(100), costs(1000));
    let share = |[plain, audited]: [(f64, u64); 2]| (audited.0 - plain.0) / plain.0;
    println!("10⁴ contacts: {few:?} s and couplings, audit {:.0} %", 100.0 * share(few));
    println!("10⁵ contacts: {many:?} s and couplings, audit {:.0} %", 100.0 * share(many));
    // before the first of 100 steps, after the last, and where the grid of time moves an end by rounding
    assert!(many[1].1 < many[0].1 + 25, "{many:?}");
    assert!(many[1].0 < 40.0 * few[1].0, "{few:?} {many:?}");
    assert!(share(many) < 0.8, "{many:?}");
}
