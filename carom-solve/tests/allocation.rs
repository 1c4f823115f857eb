//! No solver allocates when it solves problems of sizes that it has seen: assembly, sweeps, acceleration, the ladder.

mod counting;
mod mechanism;

use carom_solve::{OneStepProblem, Parts, ProblemWork, Reaction, SOLVERS, family, solver};
use counting::allocations;
use serde_json::json;

#[test]
fn repeated_solves_do_not_allocate() {
    for (name, size) in [("wall", 40), ("chain", 30), ("bridge", 30), ("box-stack", 40), ("pns", 20), ("pd", 60)] {
        let problem = family::find(name).unwrap().build(size, 1).unwrap();
        for row in SOLVERS {
            let mut solver = (row.build)(&json!({"tolerance": 1e-8})).unwrap();
            if solver.admits(problem.laws()).is_err() {
                continue;
            }
            let (mut work, mut z) = (ProblemWork::default(), Reaction::default());
            let mut count = 0;
            for _ in 0..3 {
                z.reset(problem.size());
                let before = allocations();
                // whether it is solved is asked elsewhere
                _ = problem.with(&mut work, |p| solver.solve(p, &mut z));
                count = allocations() - before;
            }
            assert_eq!(count, 0, "{} on {name}", row.info.name);
        }
    }
}

/// Neither with joints, closed loops and contacts beside them.
#[test]
fn mechanisms_do_not_allocate() {
    let mut m = mechanism::Mechanism::space();
    let at = |k: usize| [(k as f64 * 1.1).cos(), (k as f64 * 1.1).sin(), 0.2 * (k % 3) as f64];
    for k in 0..6 {
        m.rod(at(k), at(k + 1), 1.0 + k as f64, 0.1);
        m.hinge(k.checked_sub(1), k, at(k), [0.0, 0.0, 1.0]);
    }
    m.hinge(None, 5, at(6), [0.0, 0.0, 1.0]);
    m.contact(None, 3, at(3), [0.0, 0.1, 1.0], 0.3);
    m.contact(Some(1), 4, at(4), [1.0, 0.1, 0.0], 0.3);
    let (lhs, output, b) = (m.bodies(), m.rows(|_, x| x), m.free());
    let parts = Parts { lhs: &lhs, output: &output, input: &output, feedthrough: None, b: &b, laws: &m.laws };
    let (mut work, mut z, mut solver) = (ProblemWork::default(), Reaction::default(), solver::default());
    let mut count = 0;
    for _ in 0..3 {
        z.reset(b.len());
        let before = allocations();
        solver.solve(&OneStepProblem::new(parts, &mut work), &mut z).unwrap();
        count = allocations() - before;
    }
    assert_eq!(count, 0, "{}", solver.log());
}
