//! The rungs of large problems with friction.

use super::super::interior_point::is_nearly_at_rest;
use super::super::nsgs::course::{Finish, Plan};
use super::record::End;
use super::rung::Rung;
use super::{Auto, cost};
use crate::{Certificate, OneStepProblem, Reaction, SolveError, Solver};

/// Sweeps before the last course may be left for wandering.
const PATIENT: usize = 10_000;

/// Residual from which on Newton's method is tried after sweeps that have become slow, and its steps.
const NEAR: f64 = 1e-5;
const FEW_STEPS: usize = 20;

/// Steps of a path that is a start only.
const STEPS: usize = 40;

/// Sweeps before the first course may be left.
const FIRST: f64 = 3000.0;

/// The same after a first one.
const AGAIN: f64 = 1000.0;

/// Paths of bodies at rest are short: their factorisations may cost so many times more sweeps.
const AT_REST: f64 = 4.0;

/// The path is followed closely where its factorisations cost no more than this many sweeps.
const CLOSELY: f64 = 20_000.0;

impl Auto {
    /// Takes the guess or no reaction at all, whichever misses less: impulses of an impact are a bad start for what
    /// follows it.
    pub(super) fn choose_start(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) {
        if z.lambda.len() != problem.size() || z.lambda.iter().all(|x| *x == 0.0) {
            return;
        }
        // not relative to the reactions: large ones would excuse themselves
        let missed = |c: Certificate| c.residual * c.size();
        let warm = missed(problem.certify(z));
        self.best.clear();
        self.best.extend_from_slice(&z.lambda);
        z.reset(problem.size());
        if warm <= missed(problem.certify(z)) {
            z.lambda.copy_from_slice(&self.best);
        }
    }

    /// A long course of sweeps, which may be left after `patient` ones where those left are more than `worth`.
    fn sweep_long(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        patient: usize,
        worth: f64,
    ) -> Result<Certificate, SolveError> {
        let plan = self.plan(tolerance, problem, z, (patient, worth));
        self.coursed += 1;
        let finish = self.course.run(problem, plan, z);
        self.wandered = finish == Finish::Wandering;
        self.finish(finish, plan.most, self.course.sweeps(), problem, z)
    }

    /// When a course ends that may be left after `patient` sweeps where those left are more than `worth`.
    fn plan(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        (patient, worth): (usize, f64),
    ) -> Plan {
        let per_law = self.course.per_law(problem, z);
        let most = cost::sweeps(self.options.budget, per_law, problem).min(self.options.max_sweeps as f64) as usize;
        Plan { tolerance, most, patient, worth, deadline: self.deadline }
    }

    /// The result of a course that ended like this, within so many sweeps.
    fn finish(
        &mut self,
        finish: Finish,
        most: usize,
        done: usize,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        self.end = match finish {
            Finish::Solved(certificate) => return Ok(certificate),
            Finish::Slow => End::Slow,
            Finish::Wandering => End::Wandering,
            Finish::Limit if most >= self.options.max_sweeps => End::Sweeps,
            Finish::Late => End::Late,
            Finish::Limit => End::Budget,
        };
        problem.conclude(z, 0.0, done)
    }

    /// Descent of the residual itself, where the last course of sweeps wandered.
    pub(super) fn descend(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        z.lambda.resize(problem.size(), 0.0);
        let plan = self.plan(tolerance, problem, z, (0, f64::INFINITY));
        let finish = if self.wandered { self.course.descend(problem, plan, z) } else { None };
        match finish {
            Some(finish) => self.finish(finish, plan.most, self.course.steps(), problem, z),
            None => self.skip(),
        }
    }

    /// Some thousand sweeps, to the end of which nothing else is looked at.
    pub(super) fn first_course(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let plan = self.plan(tolerance, problem, z, (usize::MAX, f64::INFINITY));
        let most = plan.most.min(FIRST as usize);
        self.coursed += 1;
        let finish = self.course.run(problem, Plan { most, ..plan }, z);
        let result = self.finish(finish, plan.most, self.course.sweeps(), problem, z);
        if self.end == End::Budget && most < plan.most {
            self.end = End::Slow;
        }
        result
    }

    /// A course of sweeps where the path would cost more, left for it on evidence.
    pub(super) fn early_course(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let instead = cost::in_sweeps(self.factorisation(problem), problem);
        let few = if is_nearly_at_rest(problem, z) { AT_REST * cost::CHEAP } else { cost::CHEAP };
        if instead <= few {
            return self.skip();
        }
        // sweeps of the first course have been patient already
        let least = if self.balls { AGAIN } else { FIRST };
        let patient = (0.2 * instead).max(least) as usize;
        self.sweep_long(tolerance, problem, z, patient, instead)
    }

    /// A course of sweeps to the end, from the point of the path.
    pub(super) fn last_course(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let one = self.factorisation(problem);
        // where there was no path the first course was the last
        if cost::in_sweeps(one, problem) > cost::CHEAP && !cost::is_affordable(self.options.budget, one, problem) {
            return self.skip();
        }
        self.sweep_long(tolerance, problem, z, PATIENT, f64::INFINITY)
    }

    /// A few proximal Newton steps from a point that is near.
    pub(super) fn newton_steps(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        z.lambda.resize(problem.size(), 0.0);
        let one = self.factorisation(problem);
        // without a course before it the path is what follows
        if self.coursed == 0
            || problem.certify(z).residual > NEAR
            || !cost::is_affordable(self.options.budget, one, problem)
        {
            return self.skip();
        }
        self.proximal.limit(tolerance, FEW_STEPS);
        self.proximal.solve(problem, z)
    }

    /// The interior-point path: quickly as a start, or closely and with all that follows it.
    pub(super) fn follow_path(
        &mut self,
        rung: Rung,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let instead = cost::in_sweeps(self.factorisation(problem), problem);
        if rung == Rung::Persistence && instead > CLOSELY {
            return self.skip();
        }
        let most = self.affordable_steps(problem)?;
        let cheap = instead <= cost::CHEAP;
        let most = if rung == Rung::Path && !cheap { most.min(STEPS) } else { most };
        let result = match rung {
            Rung::Path => self.interior.start(tolerance, (most, cheap), problem, z),
            _ => self.interior.persist(tolerance, most, problem, z),
        };
        if matches!(result, Err(SolveError::NotConverged { iterations, .. }) if iterations >= most) {
            self.end = End::Budget;
        }
        result
    }

    /// Groups of laws that do not see each other, apart.
    pub(super) fn solve_islands(
        &mut self,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        z.lambda.resize(problem.size(), 0.0);
        if !self.islands.find(&problem.delassus()) {
            return self.skip();
        }
        self.islands.solve(&self.options, tolerance, problem, &mut z.lambda);
        problem.conclude(z, tolerance, 0)
    }

    /// Leaves a rung that does not fit.
    fn skip(&mut self) -> Result<Certificate, SolveError> {
        self.end = End::Skipped;
        Err(SolveError::TooLarge { what: "laws for this rung", size: 0, limit: 0 })
    }
}
