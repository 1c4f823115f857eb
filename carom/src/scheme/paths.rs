//! The solver of a run, counted: which methods it took, how often, and how well they did.

use crate::{Key, Warnings};
use carom_solve::solver::{Accept, Path};
use carom_solve::{
    Certificate, Law, OneStepProblem, Reaction, SolveError, Solver, SolverInfo, SolverWarning, Unsupported,
};

/// Problems that took one way through the methods of a solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverPath {
    /// Methods in the order in which they were tried.
    pub path: Path,
    /// How many problems.
    pub problems: u64,
    /// Problems among them that were not solved.
    pub failed: u64,
    /// The largest residual of those that were solved [-].
    pub worst_residual: f64,
}

carom_solve::persist!(SolverPath { path, problems, failed, worst_residual });

/// A solver that forwards to another one and counts. What misses the tolerance by little is taken with a warning.
pub(super) struct Counted {
    inner: Box<dyn Solver>,
    accept: Option<Accept>, // none where the options of the solver say it
    pub paths: Vec<SolverPath>,
    last: usize, // the path taken last: mostly it is the next one
    /// Time at the start of the step [s].
    pub t: f64,
    pub warnings: Warnings,
}

carom_solve::persist!(Counted { paths, last, t, warnings } skip { inner, accept });

impl Counted {
    pub fn new(inner: Box<dyn Solver>, accept: Accept) -> Counted {
        let accept = inner.accept().is_none().then_some(accept);
        Counted { inner, accept, paths: Vec::new(), last: 0, t: 0.0, warnings: Warnings::default() }
    }

    /// Counts a problem with its residual, none where it was not solved. Memory is taken only where a path is new.
    #[inline]
    fn count(&mut self, path: Path, residual: Option<f64>) {
        if self.paths.get(self.last).is_none_or(|known| !known.path.is_same_way(&path)) {
            self.switch_to(path);
        }
        let known = &mut self.paths[self.last];
        known.problems += 1;
        match residual {
            Some(residual) if residual <= known.worst_residual => {}
            Some(residual) => known.worst_residual = residual,
            None => known.failed += 1,
        }
    }

    /// Takes what misses the tolerance by no more than is accepted, and tells of it.
    #[cold]
    fn tolerate(
        &mut self,
        problem: &OneStepProblem<'_>,
        error: SolveError,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let accepted = self.accept.and_then(|accept| problem.tolerate(&error, accept, z));
        self.count(self.inner.path(), accepted.map(|certificate| certificate.residual));
        let warning = accepted.map(|certificate| SolverWarning::loose(&certificate));
        warning.or_else(|| self.inner.warning()).into_iter().for_each(|warning| self.warn(problem, warning));
        accepted.ok_or(error)
    }

    #[cold]
    fn warn(&mut self, problem: &OneStepProblem<'_>, warning: SolverWarning) {
        let contact = warning.law.and_then(|law| problem.name(law)).map(Key);
        self.warnings.raise_worst(warning.kind, self.t, contact, warning.value);
    }

    /// Another path than the last one.
    #[cold]
    fn switch_to(&mut self, path: Path) {
        let known = self.paths.iter().position(|known| known.path.is_same_way(&path));
        self.last = known.unwrap_or_else(|| {
            self.paths.push(SolverPath { path, problems: 0, failed: 0, worst_residual: 0.0 });
            self.paths.len() - 1
        });
    }
}

impl Solver for Counted {
    fn info(&self) -> &'static SolverInfo {
        self.inner.info()
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        self.inner.admits(laws)
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        let result = self.inner.solve(problem, z);
        let residual = match result {
            Ok(Certificate { residual, .. }) => residual,
            Err(error) => return self.tolerate(problem, error, z),
        };
        self.count(self.inner.path(), Some(residual));
        if let Some(warning) = self.inner.warning() {
            self.warn(problem, warning);
        }
        result
    }

    fn path(&self) -> Path {
        self.inner.path()
    }

    fn accept(&self) -> Option<f64> {
        self.inner.accept()
    }

    fn log(&self) -> String {
        self.inner.log()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_solve::solver::Method;

    #[test]
    fn paths_are_counted() {
        let mut counted = Counted::new(carom_solve::solver::default(), Accept::default());
        let path = |methods: &[Method]| {
            let mut path = Path::of("auto");
            methods.iter().for_each(|method| path.push(*method));
            path
        };
        let (one, two) = (path(&[Method::ClosedForm]), path(&[Method::Nsgs, Method::InteriorPoint]));
        for residual in [1e-12, 3e-11] {
            counted.count(one, Some(residual));
        }
        counted.count(two, None);
        counted.count(one, Some(2e-13));
        let expected = [
            SolverPath { path: one, problems: 3, failed: 0, worst_residual: 3e-11 },
            SolverPath { path: two, problems: 1, failed: 1, worst_residual: 0.0 },
        ];
        assert_eq!(counted.paths, expected);
    }
}
