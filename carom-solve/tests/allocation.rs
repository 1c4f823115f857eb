//! No solver allocates when it solves problems of sizes that it has seen: assembly, sweeps, acceleration, the ladder.

mod counting;

use carom_solve::{ProblemWork, Reaction, SOLVERS, family};
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
