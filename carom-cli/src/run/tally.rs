//! Which methods a solver took, how often, and how well they did.

use carom_solve::{Certificate, SolveError, Solver};
use serde::Serialize;

/// One way through the methods of a solver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Path {
    /// Methods in the order in which they were tried.
    pub methods: String,
    pub problems: u64,
    /// Problems among them that were not solved.
    pub failed: u64,
    /// The largest residual of those that were solved [-].
    pub worst_residual: f64,
}

/// Counts by path.
#[derive(Debug, Default)]
pub struct Tally {
    paths: Vec<Path>,
}

/// Problems of one law: what most steps have, not worth the words of the solver.
const ALONE: &str = "one law alone";

impl Tally {
    /// Counts a solve. Words are asked for, and memory is taken, only where there are several laws.
    pub fn count(&mut self, solver: &dyn Solver, laws: usize, result: &Result<Certificate, SolveError>) {
        let path = if laws == 1 {
            self.path(ALONE)
        } else {
            let log = solver.log();
            if log.is_empty() { self.path(solver.info().name) } else { self.path(&methods(&log)) }
        };
        path.problems += 1;
        match result {
            Ok(certificate) => path.worst_residual = path.worst_residual.max(certificate.residual),
            Err(_) => path.failed += 1,
        }
    }

    fn path(&mut self, methods: &str) -> &mut Path {
        let known = self.paths.iter().position(|path| path.methods == methods);
        let at = known.unwrap_or_else(|| {
            self.paths.push(Path { methods: methods.into(), problems: 0, failed: 0, worst_residual: 0.0 });
            self.paths.len() - 1
        });
        &mut self.paths[at]
    }

    /// All paths, the most frequent first.
    pub fn into_paths(mut self) -> Vec<Path> {
        self.paths.sort_by(|a, b| b.problems.cmp(&a.problems).then_with(|| a.methods.cmp(&b.methods)));
        self.paths
    }
}

/// The methods of a log without their figures: `nsgs 31 (1.0e-3), lemke (0)` becomes `nsgs, lemke`.
fn methods(log: &str) -> String {
    let parts = log.split(',').map(|part| {
        let words = part.split_whitespace().filter(|word| word.starts_with(|c: char| c.is_alphabetic()));
        words.collect::<Vec<_>>().join(" ")
    });
    let mut list: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    // a method that is repeated with another tolerance is the same method
    list.dedup();
    list.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_left_out() {
        for (log, expected) in [
            ("lemke (1.2e-16)", "lemke"),
            ("closed form (0.0e0)", "closed form"),
            ("nsgs 31 (1.0e-3), interior-point 14, proximal 2/15 (4.0e-11)", "nsgs, interior-point, proximal"),
            ("nsgs 40 (1e-9), nsgs 80 (1e-11)", "nsgs"),
        ] {
            assert_eq!(methods(log), expected);
        }
    }

    #[test]
    fn paths_are_counted() {
        let solver = carom_solve::solver::default();
        let mut tally = Tally::default();
        for residual in [1e-12, 3e-11, 2e-13] {
            tally.count(&*solver, 1, &Ok(Certificate { residual, ..Certificate::default() }));
        }
        tally.count(&*solver, 2, &Err(SolveError::NotFinite("b")));
        let paths = tally.into_paths();
        let row = |k: usize| (paths[k].methods.as_str(), paths[k].problems, paths[k].failed, paths[k].worst_residual);
        assert_eq!((row(0), row(1)), ((ALONE, 3, 0, 3e-11), ("auto", 1, 1, 0.0)));
    }
}
