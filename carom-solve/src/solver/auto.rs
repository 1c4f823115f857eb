//! The default: a ladder of methods, from the cheapest to the surest; the certificate decides when to stop.
//!
//! | problem | rungs |
//! |---|---|
//! | empty, or nothing approaches | no reaction |
//! | three equality rows or more, without feedthrough | these are eliminated, the others as below |
//! | no friction, up to 64 rows, `W` as before | the active set of the guess, then as below |
//! | one law, laws that do not see each other, or one that acts beside others at rest | closed forms, then as below |
//! | planar friction, up to 64 rows | active sets from that of the guess on, then as below |
//! | no friction, up to 400 rows | Lemke, Newton-min, Gauss-Seidel while it pays, interior point, enumeration |
//! | no friction, up to 1000 rows | Newton-min, Lemke, Gauss-Seidel while it pays, interior point |
//! | no friction, larger | Gauss-Seidel while it pays, interior point, Gauss-Seidel |
//! | planar friction, two laws | Lemke, Gauss-Seidel while it pays, interior point, enumeration |
//! | planar friction, up to 24 rows | two sweeps of Gauss-Seidel, Lemke, Gauss-Seidel while it pays, interior point, enumeration |
//! | planar friction, larger | Gauss-Seidel while it pays, interior point, Lemke up to 400 rows, Gauss-Seidel |
//! | spatial friction, up to 16 laws | three sweeps, Newton on the statuses, then as below |
//! | spatial friction | Gauss-Seidel while it pays, interior point, Gauss-Seidel |
//! | friction, 200 laws or more | Gauss-Seidel while it pays, a course of sweeps where that is cheaper than the path, a few Newton steps, interior-point path, a course of sweeps from its point, Newton steps, the path followed closely with its proximal finish, a course of sweeps, descent of the residual where these wander |
//! | friction of balls in space, 200 contacts or more | Gauss-Seidel over bodies, without `W`, for up to some thousand sweeps; then as above |
//! | other laws with discs (rolling friction, adhesion, ..) | Gauss-Seidel |
//!
//! Small planar problems go on to Lemke's method [lemke1965, cottle1992] where two sweeps do not solve them: a few
//! pivots cost less than the many sweeps that nearly singular `W` need. Gauss-Seidel [jourdan1998, acary2018] starts
//! from the guess, or from the best point so far. From sweep 28 on its rate of convergence predicts the sweeps that are
//! left; it goes on while these are fewer than 100 or cost less than 25 factorisations of `W`,
//!
//! ```text
//!     sweeps left · (0.45 N² blocks + 40 laws) ≤ 25 (0.25 multiplications + 400 laws)      [ns]      (1)
//! ```
//!
//! with the multiplications known from the symbolic analysis and the weights measured. Then the interior-point method
//! with its proximal finish [desaxce1998, rockafellar1976] follows, from its own start: points of Gauss-Seidel are
//! worse starts even where their residual is smaller.
//!
//! Work is limited: interior point and the last Gauss-Seidel may each take `budget · max(laws, 1000)` nanoseconds as
//! the weights of (1) estimate them, so that the same problem always ends at the same place, on any machine.
//!
//! Large problems with friction are decided by the non-associated term `μ‖u_T‖`, not by linear algebra: the path folds
//! where bodies move, and thousands of over-relaxed sweeps at some 20 ns per contact get further. A course of sweeps
//! chooses its relaxation by measured rates (see `nsgs/course.rs`) and is left on evidence only: after as many sweeps
//! as five factorisations cost, where those left to 1e-10 cost more than 25 of them or where the residual no longer
//! falls. The path is then a start for another course, whatever its residual: its points are central. Above 20 000 laws
//! nothing is factored unless bodies have few neighbours, as in walls and towers.
//!
//! Equality rows are eliminated along the tree of bodies, redundant ones included (see `equalities/mod.rs`): the cost
//! is linear in the bodies of chains, trees and stars, and what is left has contacts only. The whole problem certifies.
//!
//! A rung is tried only if the one before missed the tolerance; if all did, the error carries the best certificate. The
//! sequence is the same whatever the tolerance, which only decides where it stops: a loose one never takes longer.
//! Without friction a ray of Lemke's method outweighs it: for positive semidefinite `W` it proves that there is no
//! solution.
//!
//! A point whose residual falls only because its reactions grow is no solution, however small the residual: see
//! `growth.rs` for this trend.

use super::active_set::ActiveSet;
use super::deadline::Deadline;
use super::enumerative::{Enumerative, EnumerativeOptions, combinations};
use super::equalities::{self, Elimination};
use super::interior_point::{InteriorPoint, InteriorPointOptions};
use super::lemke::{Lemke, LemkeOptions};
use super::local::{Contact2, Contact3, General, Local};
use super::newton_min::{NewtonMin, NewtonMinOptions};
use super::nsgs::course::Course;
use super::nsgs::{Nsgs, NsgsOptions};
use super::planar_set::PlanarSet;
use super::proximal::{Proximal, ProximalOptions};
use super::status_newton::StatusNewton;
use super::{Accept, Configured, Path, SolveError, Solver, SolverInfo, SolverWarning, Unsupported, admission, growth};
use crate::options::{positive, within};
use crate::{Certificate, Law, Measure, OneStepProblem, OptionError, Options, Reaction};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Bound;

mod cost;
mod eliminated;
mod islands;
mod large;
mod record;
mod rung;
mod small;

pub use eliminated::CONTRADICTION;
use islands::Islands;
pub use record::Rungs;
use record::{End, Entry};
use rung::{BALLS, LARGE, Rung, ladder};

/// Largest number of combinations that are enumerated.
const COMBINATIONS: usize = 4096;

/// Sweeps that are tried before the pivots of small planar problems.
const FEW: usize = 2;

/// Residual of their result: that of the pivots.
const EXACT: f64 = 1e-14;

/// Sweeps before Newton's method on the statuses of few spatial contacts.
const FIRST: usize = 3;

/// How often a rung is repeated with a smaller tolerance because the full error asks for it.
const REPEATED: usize = 4;

/// Options of the default solver.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AutoOptions {
    /// Largest residual that is accepted, relative and scaled [-].
    pub tolerance: f64,
    /// Largest number of Gauss-Seidel sweeps over all laws [-].
    pub max_sweeps: usize,
    /// Estimated work that a costly rung may take, in nanoseconds of a usual core per law; problems count as having
    /// 1000 laws at least [-].
    pub budget: f64,
    /// What `tolerance` and `accept` mean: "residual", relative and scaled, or "full-error", that of the literature in
    /// the user's units [-].
    pub measure: Measure,
    /// Largest relative error of the literature (natural map with ρ = 1, in the user's units) that is accepted besides;
    /// none if it does not matter [-].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub full_error: Option<f64>,
    /// Largest error that is taken with a warning where the tolerance is not met; none if it is an error [-].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub accept: Option<f64>,
    /// Time after which a solve is given up, which is always an error; none if only work is counted. Unlike `budget` it
    /// makes results depend on the machine [s].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "f64")]
    pub seconds: Option<f64>,
}

impl Default for AutoOptions {
    fn default() -> Self {
        AutoOptions {
            tolerance: 1e-10,
            max_sweeps: 200_000,
            budget: 3e6,
            measure: Measure::Residual,
            full_error: None,
            accept: None,
            seconds: None,
        }
    }
}

impl AutoOptions {
    /// The largest full error, where it matters.
    fn full_limit(&self) -> Option<f64> {
        match self.measure {
            Measure::Residual => self.full_error,
            Measure::FullError => Some(self.full_error.map_or(self.tolerance, |limit| limit.min(self.tolerance))),
        }
    }

    fn sweeps(&self) -> NsgsOptions {
        let usual = NsgsOptions::default();
        NsgsOptions { tolerance: self.tolerance, max_sweeps: self.max_sweeps.min(usual.max_sweeps), ..usual }
    }
}

impl Options for AutoOptions {
    fn validate(&self) -> Result<(), OptionError> {
        positive("full-error", self.full_error.unwrap_or(1.0))?;
        positive("accept", self.accept.unwrap_or(1.0))?;
        positive("seconds", self.seconds.unwrap_or(1.0))?;
        // an infinite budget is none
        within("budget", self.budget, (Bound::Excluded(0.0), Bound::Unbounded))?;
        self.sweeps().validate()
    }
}

/// The default solver and the workspaces of its methods.
pub struct Auto {
    options: AutoOptions,
    full_limit: Option<f64>, // largest full error, where it matters
    active_set: ActiveSet,
    planar_set: PlanarSet,
    lemke: Lemke,
    newton_min: NewtonMin,
    status_newton: StatusNewton,
    nsgs: Nsgs,
    course: Course,
    islands: Islands,
    interior: InteriorPoint,
    proximal: Proximal,
    enumerative: Enumerative,
    elimination: Elimination,
    reduced: Option<Box<Auto>>, // for what is left without equality rows
    record: Rungs,
    swept: bool,                // whether the sweeps before a Newton method were enough
    balls: bool,                // whether contacts are those of balls, whose W is not needed
    by_course: bool,            // whether the first sweeps were those of a course
    end: End,                   // why the last rung was left
    best: Vec<f64>,             // (m) reactions of the best certificate so far
    first: Vec<f64>,            // (m) those of the first elimination
    coursed: u32,               // courses of sweeps in this solve
    wandered: bool,             // whether the last course did
    factorisation: Option<f64>, // what one costs, where it is known
    deadline: Deadline,
    warning: Option<SolverWarning>,
}

impl Configured for Auto {
    type Options = AutoOptions;
    const INFO: SolverInfo = SolverInfo {
        name: "auto",
        title: "a ladder of methods, chosen by laws and size",
        laws: "all: equality, unilateral, box, planar and spatial friction, rolling friction, adhesion",
        accuracy: 1e-10,
        citations: &["lemke1965", "cottle1992", "jourdan1998", "desaxce1998", "rockafellar1976", "acary2018"],
        source: include_str!("auto.rs"),
    };

    const IS_COMPLETE: bool = true;

    fn configure(options: AutoOptions) -> Self {
        let tolerance = options.tolerance;
        Auto {
            full_limit: options.full_limit(),
            active_set: ActiveSet::default(),
            planar_set: PlanarSet::default(),
            lemke: Lemke::configure(LemkeOptions { tolerance, ..LemkeOptions::default() }),
            newton_min: NewtonMin::configure(NewtonMinOptions { tolerance, ..NewtonMinOptions::default() }),
            status_newton: StatusNewton::default(),
            nsgs: Nsgs::configure(options.sweeps()),
            course: Course::default(),
            islands: Islands::default(),
            interior: InteriorPoint::configure(InteriorPointOptions { tolerance, ..InteriorPointOptions::default() }),
            proximal: Proximal::configure(ProximalOptions { tolerance, ..ProximalOptions::default() }),
            enumerative: Enumerative::configure(EnumerativeOptions { tolerance, ..EnumerativeOptions::default() }),
            elimination: Elimination::default(),
            reduced: None,
            record: Rungs::default(),
            swept: false,
            balls: false,
            by_course: false,
            end: End::Own,
            best: Vec::new(),
            first: Vec::new(),
            coursed: 0,
            wandered: false,
            factorisation: None,
            deadline: Deadline::default(),
            warning: None,
            options,
        }
    }
}

impl Solver for Auto {
    fn info(&self) -> &'static SolverInfo {
        const { &Auto::INFO }
    }

    fn admits(&self, laws: &[Law]) -> Result<(), Unsupported> {
        admission::valid("auto", laws)
    }

    fn path(&self) -> Path {
        self.record.path()
    }

    fn log(&self) -> String {
        self.record.to_string()
    }

    fn warning(&self) -> Option<SolverWarning> {
        self.warning
    }

    fn accept(&self) -> Option<f64> {
        self.options.accept
    }

    fn solve(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        self.record.clear();
        self.warning = None;
        // one law is what most steps have: nothing but the closed form, and no detour
        if problem.laws().len() == 1 {
            let result = self.one_law(problem, z);
            if let Ok(certificate) = &result {
                self.record.push(Entry::new(Rung::ClosedForm, certificate.residual));
                if self.full_limit.is_none() {
                    return result;
                }
                if let Ok(certificate) = self.measured(problem, *certificate, z) {
                    return Ok(certificate);
                }
                self.record.refuse(End::FullError);
            }
        }
        self.admits(problem.laws())?;
        if equalities::pays(problem)
            && let Some(result) = self.eliminate_equalities(problem, z)
        {
            return result;
        }
        // many contacts of balls are swept without W
        self.balls = self.full_limit.is_none() && problem.laws().len() >= LARGE && self.course.takes_balls(problem);
        if self.balls {
            admission::finite_blocks(problem)?;
        } else {
            admission::finite(problem, &problem.delassus())?;
        }
        if admission::at_rest(problem) {
            z.reset(problem.size());
            // all laws hold exactly
            let result = problem.conclude(z, self.options.tolerance, 0);
            self.record.push(Entry::of(Rung::AtRest, &result));
            let certificate = result?;
            return Ok(self.measured(problem, certificate, z).unwrap_or(certificate));
        }
        if !self.balls {
            if let Some(certificate) = self.try_directly(problem, z) {
                return Ok(certificate);
            }
            self.course.forget();
        }
        self.climb(problem, z)
    }
}

impl Auto {
    /// The ladder, rung by rung.
    #[inline(never)]
    fn climb(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Result<Certificate, SolveError> {
        if problem.laws().len() >= LARGE {
            self.choose_start(problem, z);
        }
        (self.coursed, self.wandered, self.factorisation, self.by_course) = (0, false, None, false);
        self.deadline = Deadline::after(self.options.seconds);
        self.interior.until(self.deadline);
        self.proximal.until(self.deadline);
        let mut failed = false;
        let mut ray: Option<SolveError> = None;
        let mut least = f64::INFINITY;
        let friction = problem.laws().iter().any(|law| law.size() > 1);
        let rungs = if self.balls { BALLS } else { ladder(problem.laws(), problem.size()) };
        for &rung in rungs {
            let error = match self.try_rung(rung, problem, z) {
                Ok(certificate) => return Ok(certificate),
                Err(error) => error,
            };
            if matches!(error, SolveError::Ray { .. }) && !friction {
                ray = Some(error.clone());
            }
            // nothing to compare: the rung does not fit
            let Some(certificate) = error.certificate() else {
                continue;
            };
            let late = self.deadline.is_over();
            // a start for what follows, however far off
            let is_start = rung == Rung::Path;
            // a point that was refused in spite of its residual is not the best one
            let refused = certificate.residual <= self.options.tolerance;
            let error = match self.options.measure {
                Measure::Residual if refused => f64::INFINITY,
                Measure::Residual => certificate.residual,
                Measure::FullError if self.record.is_growing() => f64::INFINITY,
                measure => {
                    z.lambda.resize(problem.size(), 0.0);
                    problem.certify_by(measure, z).error()
                }
            };
            if !failed || error < least {
                self.best.clear();
                self.best.extend_from_slice(&z.lambda);
                least = error;
                failed = true;
            } else if !is_start || late {
                z.lambda.copy_from_slice(&self.best);
            }
            if late {
                self.record.refuse(End::Late);
                break;
            }
        }
        if let Some(error) = ray {
            // Lemke's error is that of no reaction at all
            z.reset(problem.size());
            problem.certify(z);
            return Err(error);
        }
        self.exhausted(problem, z, least)
    }

    /// The end of a ladder that has not led to a solution; `least` is the error of its best point.
    fn exhausted(
        &mut self,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        least: f64,
    ) -> Result<Certificate, SolveError> {
        z.lambda.resize(problem.size(), 0.0);
        let certificate = problem.certify_by(self.options.measure, z);
        let error = SolveError::Exhausted { certificate, tolerance: self.options.tolerance, rungs: self.record };
        let accept = self.options.accept.filter(|_| least.is_finite());
        if let Some(certificate) = accept.and_then(|limit| problem.tolerate(&error, Accept::Error(limit), z)) {
            self.warning = Some(SolverWarning::loose(&certificate));
            return Ok(certificate);
        }
        Err(error)
    }

    /// The certificate with the full error where that matters; how many times its limit it is where that is missed.
    #[inline]
    fn measured(&self, problem: &OneStepProblem<'_>, known: Certificate, z: &Reaction) -> Result<Certificate, f64> {
        let Some(limit) = self.full_limit else { return Ok(known) };
        let full = problem.full_error(z);
        let certificate = known.with_full_error(full, self.options.measure);
        if full <= limit { Ok(certificate) } else { Err(full / limit) }
    }

    /// One rung, repeated with a smaller tolerance as long as the full error alone is too large.
    fn try_rung(
        &mut self,
        rung: Rung,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        let mut tolerance = self.options.tolerance;
        for _ in 0..REPEATED {
            (self.swept, self.end) = (false, End::Own);
            problem.climb(rung.name());
            let result = self.attempt(rung, tolerance, problem, z);
            if let Ok(certificate) = &result {
                problem.note_end(certificate);
            }
            let took = if self.swept { Rung::FewSweeps } else { rung };
            if self.end == End::Skipped {
                return result;
            }
            self.record.push(Entry { effort: self.effort(rung), end: self.end, ..Entry::of(took, &result) });
            if let Err(SolveError::NotConverged { certificate, .. }) = result
                && certificate.residual <= tolerance
            {
                self.record.refuse(End::Growing);
            }
            if let Err(SolveError::NotConverged { certificate, .. }) = result
                && self.options.measure == Measure::FullError
                && certificate.residual > tolerance
            {
                // the residual may be missed where it is not what is asked for
                let certificate = problem.certify(z);
                let certificate = self.measured(problem, certificate, z);
                return certificate.ok().filter(|c| !growth::is_growing(problem, *c)).map_or(result, Ok);
            }
            let certificate = result?;
            let error = SolveError::NotConverged { certificate, tolerance, iterations: self.nsgs.sweeps() };
            if !rung.is_iterative() && growth::is_growing(problem, certificate) {
                self.record.refuse(End::Growing);
                return Err(error);
            }
            let times = match self.measured(problem, certificate, z) {
                Ok(certificate) => return Ok(certificate),
                Err(times) => times,
            };
            self.record.refuse(End::FullError);
            let next = certificate.residual.min(tolerance) * (0.3 / times).min(0.5);
            if next < 1e-15 || !(rung.is_iterative() || rung == Rung::Islands) {
                return Err(error);
            }
            tolerance = next;
        }
        problem.conclude(z, 0.0, 0)
    }

    fn attempt(
        &mut self,
        rung: Rung,
        tolerance: f64,
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
    ) -> Result<Certificate, SolveError> {
        match rung {
            Rung::AtRest | Rung::ActiveSet | Rung::Equalities => problem.conclude(z, tolerance, 0),
            Rung::ClosedForm => self.one_law(problem, z),
            Rung::Lemke => self.lemke.solve(problem, z),
            Rung::NewtonMin => self.newton_min.solve(problem, z),
            // as accurate as the pivots that would follow
            Rung::FewSweeps => self.nsgs.sweep_at_most(FEW, tolerance.min(EXACT), problem, z),
            Rung::Statuses => {
                let swept = self.nsgs.first_sweeps(FIRST, tolerance, problem, z);
                self.swept = swept.is_some();
                match swept.or_else(|| self.status_newton.solve(problem, tolerance, z)) {
                    Some(certificate) => Ok(certificate),
                    None => {
                        let result = problem.conclude(z, 0.0, FIRST);
                        if let Err(SolveError::NotConverged { certificate, .. }) = &result {
                            problem.note("nsgs", FIRST, certificate.residual);
                        }
                        result
                    }
                }
            }
            Rung::Sweeps => {
                let (interior, known) = (&mut self.interior, &mut self.factorisation);
                let (mut pays, deadline) = (true, self.deadline);
                let (large, balls) = (problem.laws().len() >= LARGE, self.balls);
                let most = self.options.sweeps().max_sweeps;
                let mut worth = |_: usize, left: f64| {
                    // what a factorisation costs is not known without analysing it; for balls other sweeps come first
                    pays = left <= if balls { cost::BRIEF } else { cost::LEAST }
                        || !balls && {
                            let one = *known.get_or_insert_with(|| cost::factorisation(interior, problem));
                            let instead = cost::in_sweeps(one, problem);
                            // sweeps of a long course cost less
                            left <= if large { instead.min(cost::CHEAP) } else { instead }
                        };
                    pays && !deadline.is_over()
                };
                // many contacts of pairs of bodies are swept as a course sweeps them
                let begun = self.course.begin((tolerance, most), problem, z, &mut worth);
                self.by_course = begun.is_some();
                let result = begun.unwrap_or_else(|| self.nsgs.sweep_while(tolerance, problem, z, &mut worth));
                self.end = self.end_of_sweeps(pays, End::Slow);
                result
            }
            Rung::AllSweeps => {
                let most = cost::allowed(self.options.budget, problem) / cost::sweep(problem);
                let (mut allowed, deadline) = (true, self.deadline);
                let result = self.nsgs.sweep_while(tolerance, problem, z, &mut |done, _| {
                    allowed = done as f64 <= most.max(cost::LEAST);
                    allowed && !deadline.is_over()
                });
                self.end = self.end_of_sweeps(allowed, End::Budget);
                result
            }
            Rung::InteriorPoint => {
                let most = self.affordable_steps(problem)?;
                let result = if tolerance == self.options.tolerance {
                    self.interior.limit(most);
                    self.interior.solve(problem, z)
                } else {
                    // only the full error is missing: the point is nearly there
                    self.proximal.limit(tolerance, most);
                    self.proximal.solve(problem, z)
                };
                if matches!(result, Err(SolveError::NotConverged { iterations, .. }) if iterations >= most) {
                    self.end = End::Budget;
                }
                result
            }
            Rung::Islands => self.solve_islands(tolerance, problem, z),
            Rung::FirstCourse => self.first_course(tolerance, problem, z),
            Rung::EarlyCourse => self.early_course(tolerance, problem, z),
            Rung::Course => self.last_course(tolerance, problem, z),
            Rung::Finish => self.newton_steps(tolerance, problem, z),
            Rung::Descent => self.descend(tolerance, problem, z),
            Rung::Path | Rung::Persistence => self.follow_path(rung, tolerance, problem, z),
            Rung::Enumeration => {
                let size = combinations(problem.laws());
                if size > COMBINATIONS {
                    let what = "combinations of states";
                    return Err(SolveError::TooLarge { what, size, limit: COMBINATIONS });
                }
                self.enumerative.solve(problem, z)
            }
        }
    }

    /// What a factorisation of this problem costs.
    fn factorisation(&mut self, problem: &OneStepProblem<'_>) -> f64 {
        let interior = &mut self.interior;
        *self.factorisation.get_or_insert_with(|| cost::factorisation(interior, problem))
    }

    /// Factorisations that the budget allows, where it does.
    fn affordable_steps(&mut self, problem: &OneStepProblem<'_>) -> Result<usize, SolveError> {
        let (budget, one) = (self.options.budget, self.factorisation(problem));
        if !cost::is_affordable(budget, one, problem) {
            self.end = End::Unaffordable;
            let (size, limit) = (problem.laws().len(), cost::LARGEST);
            return Err(SolveError::TooLarge { what: "laws to be factored", size, limit });
        }
        Ok(cost::iterations(budget, one, problem))
    }

    /// Why sweeps ended: they were told to, or by their own limit.
    fn end_of_sweeps(&self, went_on: bool, told: End) -> End {
        match went_on {
            false => told,
            true if self.first_sweeps() >= self.options.max_sweeps => End::Sweeps,
            true => End::Own,
        }
    }

    /// Sweeps of the rung that begins with them.
    fn first_sweeps(&self) -> usize {
        if self.by_course { self.course.sweeps() } else { self.nsgs.sweeps() }
    }

    /// What the last attempt at a rung took, as its entry wants it.
    fn effort(&self, rung: Rung) -> [u32; 3] {
        let few = |x: usize| u32::try_from(x).unwrap_or(u32::MAX);
        match rung {
            Rung::Sweeps => [few(self.first_sweeps()), 0, 0],
            Rung::FewSweeps | Rung::Statuses | Rung::AllSweeps => [few(self.nsgs.sweeps()), 0, 0],
            Rung::Finish => [0, few(self.proximal.effort().proximal), few(self.proximal.effort().newton)],
            Rung::Islands => [few(self.islands.number()), 0, 0],
            Rung::FirstCourse | Rung::EarlyCourse | Rung::Course => [few(self.course.sweeps()), 0, 0],
            Rung::Descent => [few(self.course.steps()), 0, 0],
            Rung::InteriorPoint | Rung::Path | Rung::Persistence if self.end != End::Unaffordable => {
                let (steps, effort) = self.interior.effort();
                [few(steps), few(effort.proximal), few(effort.newton)]
            }
            _ => [0; 3],
        }
    }
}
