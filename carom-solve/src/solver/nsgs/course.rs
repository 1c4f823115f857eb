//! A long course of sweeps: thousands of them where problems are large, with the relaxation that pays best.
//!
//! First it is swept with the relaxation 1.6, which is best for most, as long as 200 sweeps take a fifth of the
//! residual away. Then sweeps are done in blocks of 200. A round tries each way of sweeping for one block: with the
//! relaxations 1.4, 1, 1.6 and 1.8, and with Anderson acceleration, whose sweeps count more because they cost more;
//! then the one with the best rate goes on while it keeps half of it, for up to eight blocks. A block with
//! over-relaxation ends with ten plain sweeps: it leaves short waves behind, which hide how far it came. A block that
//! ends at three times the best residual is taken back. A round that does not halve the residual makes the blocks twice
//! as long, up to 3200 sweeps: small rates take long to tell apart. What a round gained tells how many sweeps are left
//! to 1e-10: a course is slow where these cost more than what the caller would do instead. Without a gain for 3000
//! sweeps, and for a third of all, the sweeps are said to wander.
//!
//! Nothing of this depends on the tolerance, which is looked at after each block.

use super::super::deadline::Deadline;
use super::super::growth::{self, Trend};
use super::anderson::Anderson;
use super::colour::Threads;
use super::descent::Descent;
use super::pairs::{MANY, Plane, Space};
use super::sweep::Sweeper;
use super::{AIM, JUDGED, PLAIN as FIRST, Watch};
use crate::elementary::ln;
use crate::{Certificate, OneStepProblem, Reaction, SolveError};

/// Sweeps of a block at first, and at most.
const BLOCK: usize = 200;
const LONGEST: usize = 3200;

/// Plain sweeps at the end of a block with over-relaxation.
const SMOOTH: usize = 10;

/// Sweeps of a block before the first round, and the part of the residual that two of them leave at most.
const QUICK: usize = 100;
const QUICKLY: f64 = 0.8;

/// Blocks of the best way of a round at most.
const REPEATED: usize = 8;

/// A round that leaves more than this part of the residual needs longer blocks.
const SLOW: f64 = 0.5;

/// Sweeps without a gain that count as wandering, at least; and a third of all.
const PATIENCE: usize = 3000;

/// Part of the best residual that counts as a gain.
const GAIN: f64 = 0.97;

/// A block that ends above this many times the best residual is taken back.
const WORSE: f64 = 3.0;

/// Differences of the acceleration, and what a sweep with it costs.
const MEMORY: usize = 8;
const ACCELERATED: f64 = 2.5;

/// What a sweep over spheres and discs costs in nanoseconds per contact, what coupled blocks add, and what a product of
/// a descent costs in sweeps; all were measured.
const IN_SPACE: f64 = 19.0;
const IN_PLANE: f64 = 12.0;
const COUPLED: f64 = 11.0;
const PRODUCT: f64 = 1.6;

/// Sweeps from the end of a descent to the next one, those between two looks, and descents in a row without a gain.
const BETWEEN: usize = 10_000;
const LOOK: usize = 50;
const FRUITLESS: usize = 6;

/// First sweeps to the next certificate that have a look on the way.
const LONG: usize = 8;

/// One way to sweep.
#[derive(Clone, Copy)]
struct Way {
    relaxation: f64,
    accelerated: bool,
}

/// All of them. Where 1.6 no longer helps, less is likely to.
const WAYS: [Way; 5] = [
    Way { relaxation: 1.4, accelerated: false },
    Way { relaxation: 1.0, accelerated: false },
    Way { relaxation: 1.6, accelerated: false },
    Way { relaxation: 1.8, accelerated: false },
    Way { relaxation: 1.0, accelerated: true },
];

/// Where a course is.
#[derive(Clone)]
struct State {
    residual: f64, // of the present point
    trend: Trend,
    gained: usize, // sweeps at the last gain
}

impl State {
    fn new(residual: f64) -> State {
        State { residual, trend: Trend::default(), gained: 0 }
    }
}

/// How a problem is swept.
#[derive(Clone, Copy, Default, PartialEq)]
enum Kernel {
    Space,
    Plane,
    #[default]
    Any,
}

/// Why a course ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::solver) enum Finish {
    /// At the tolerance.
    Solved(Certificate),
    /// What is left would take longer than what the caller would do instead.
    Slow,
    /// The residual has not fallen for thousands of sweeps.
    Wandering,
    /// After as many sweeps as were allowed.
    Limit,
    /// By the clock.
    Late,
}

/// When a course ends.
#[derive(Clone, Copy)]
pub(in crate::solver) struct Plan {
    pub tolerance: f64,
    /// Sweeps at most.
    pub most: usize,
    /// Sweeps before it may be left for being slow or for wandering.
    pub patient: usize,
    /// Sweeps left to 1e-10 beyond which it is slow.
    pub worth: f64,
    pub deadline: Deadline,
}

/// Long courses and their workspace.
#[derive(Default)]
pub(in crate::solver) struct Course {
    is_loaded: bool,
    kernel: Kernel,
    space: Space,
    plane: Plane,
    sweeper: Sweeper,
    threads: Threads,
    anderson: Anderson,
    in_space: Descent<3>,
    in_plane: Descent<2>,
    lambda: Vec<f64>, // (m) where the sweeper works
    best: Vec<f64>,   // (m) the best reactions so far
    least: f64,       // their residual
    sweeps: usize,
    steps: usize, // of descents
}

impl Course {
    /// Sweeps of the last course.
    pub(in crate::solver) fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// What a sweep costs in nanoseconds per contact, where contacts are those of pairs of bodies.
    pub(in crate::solver) fn per_law(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> Option<f64> {
        z.lambda.resize(problem.size(), 0.0);
        if !self.is_loaded {
            self.load(problem, &z.lambda);
        }
        match self.kernel {
            Kernel::Space => Some(IN_SPACE + COUPLED * self.space.coupled()),
            Kernel::Plane => Some(IN_PLANE + COUPLED * self.plane.coupled()),
            Kernel::Any => None,
        }
    }

    /// Sweeps from the guess in `z`, and leaves the best point there.
    pub(in crate::solver) fn run(&mut self, problem: &OneStepProblem<'_>, plan: Plan, z: &mut Reaction) -> Finish {
        z.lambda.resize(problem.size(), 0.0);
        self.load(problem, &z.lambda);
        self.best.clear();
        self.best.extend_from_slice(&z.lambda);
        self.least = f64::INFINITY;
        let finish = self.blocks(problem, plan, z);
        if !matches!(finish, Finish::Solved(_)) {
            z.lambda.copy_from_slice(&self.best);
        }
        finish
    }

    /// The first sweeps of many contacts, accelerated, up to `most`: `worth` is told the sweeps done and those that the
    /// rate of convergence predicts. Leaves the best point in `z`. None where contacts are few or not those of pairs of
    /// bodies.
    pub(in crate::solver) fn begin(
        &mut self,
        (tolerance, most): (f64, usize),
        problem: &OneStepProblem<'_>,
        z: &mut Reaction,
        worth: &mut dyn FnMut(usize, f64) -> bool,
    ) -> Option<Result<Certificate, SolveError>> {
        // those of balls are there already
        if problem.laws().len() < MANY && !self.is_loaded {
            return None;
        }
        z.lambda.resize(problem.size(), 0.0);
        self.load(problem, &z.lambda);
        if self.kernel == Kernel::Any {
            return None;
        }
        self.best.clear();
        self.best.extend_from_slice(&z.lambda);
        self.least = f64::INFINITY;
        let (mut watch, mut state) = (Watch::new(tolerance), State::new(f64::INFINITY));
        let plan = Plan { tolerance, most, patient: 0, worth: 0.0, deadline: Deadline::default() };
        while self.sweeps < most {
            let (due, left) = (watch.next, watch.next - self.sweeps);
            // a look on a long way leaves nothing behind
            let halfway = (left >= LONG).then_some(due - left / 2);
            for next in halfway.into_iter().chain([due]) {
                self.first_sweeps(problem, next.min(most) - self.sweeps);
                let judged = self.judge(problem, z);
                let mut seen = state.clone();
                if let Some(Finish::Solved(certificate)) =
                    self.look(problem, plan, ("nsgs", self.sweeps), judged, (&mut seen, z))
                {
                    return Some(Ok(certificate));
                }
                if next == due {
                    state = seen;
                }
            }
            watch.is_due(self.sweeps);
            watch.sees_cycle(self.sweeps, state.residual);
            if self.sweeps >= JUDGED && !worth(self.sweeps, watch.remaining()) {
                break;
            }
        }
        z.lambda.copy_from_slice(&self.best);
        Some(problem.conclude(z, 0.0, self.sweeps))
    }

    /// Plain sweeps at first, which find who is open, sticks or slips; then accelerated ones.
    fn first_sweeps(&mut self, problem: &OneStepProblem<'_>, sweeps: usize) {
        let plain = sweeps.min(FIRST.saturating_sub(self.sweeps));
        self.plain(problem, 1.0, plain);
        self.sweeps += plain;
        let rest = sweeps - plain;
        if rest > 0 {
            let goes_on = self.sweeps > FIRST;
            if !goes_on {
                self.prepare_acceleration(problem);
            }
            self.accelerate(problem, (rest, goes_on));
            self.sweeps += rest;
        }
    }

    /// Steps of the last descents.
    pub(in crate::solver) fn steps(&self) -> usize {
        self.steps
    }

    /// Descents of the residual itself from the guess in `z`, with sweeps in between; leaves the best point there. None
    /// where contacts are not those of pairs of bodies.
    pub(in crate::solver) fn descend(
        &mut self,
        problem: &OneStepProblem<'_>,
        plan: Plan,
        z: &mut Reaction,
    ) -> Option<Finish> {
        self.load(problem, &z.lambda);
        if self.kernel == Kernel::Any {
            return None;
        }
        self.best.clear();
        self.best.extend_from_slice(&z.lambda);
        self.steps = 0;
        let finish = self.descents(problem, plan, z);
        if !matches!(finish, Finish::Solved(_)) {
            z.lambda.copy_from_slice(&self.best);
        }
        Some(finish)
    }

    fn descents(&mut self, problem: &OneStepProblem<'_>, plan: Plan, z: &mut Reaction) -> Finish {
        let mut state = State::new(self.judge(problem, z).0);
        self.least = state.residual;
        let (mut work, mut fruitless) = (0.0, 0);
        loop {
            let begin = self.least;
            self.begin_descent();
            loop {
                let (over, products) = self.step();
                self.steps += 1;
                let judged = self.judge(problem, z);
                if let Some(finish) = self.look(problem, plan, ("descent", self.steps), judged, (&mut state, z)) {
                    return finish;
                }
                if work + PRODUCT * products as f64 > plan.most as f64 {
                    return Finish::Limit;
                }
                if plan.deadline.is_over() {
                    return Finish::Late;
                }
                if over {
                    work += PRODUCT * products as f64;
                    break;
                }
            }
            // one that has gained goes on from where it is, with kinks rounded by what is missed now
            if self.least < GAIN * begin {
                fruitless = 0;
                continue;
            }
            fruitless += 1;
            if fruitless >= FRUITLESS {
                return Finish::Wandering;
            }
            work += BETWEEN as f64;
            if !self.wander(problem, plan.deadline, z) {
                return Finish::Late;
            }
        }
    }

    /// Sweeps that wander, and back to the lowest of their points; false where the clock ends them.
    fn wander(&mut self, problem: &OneStepProblem<'_>, deadline: Deadline, z: &mut Reaction) -> bool {
        let mut low = f64::INFINITY;
        for _ in (0..BETWEEN).step_by(LOOK) {
            self.plain(problem, 1.0, LOOK);
            let residual = self.judge(problem, z).0;
            if residual < low {
                low = residual;
                self.export(&mut z.lambda);
            }
            if deadline.is_over() {
                return false;
            }
        }
        self.import(&z.lambda);
        true
    }

    fn begin_descent(&mut self) {
        match self.kernel {
            Kernel::Space => self.space.begin_descent(&mut self.in_space),
            Kernel::Plane => self.plane.begin_descent(&mut self.in_plane),
            Kernel::Any => {}
        }
    }

    /// One step of a descent; whether it is over, and its products so far.
    fn step(&mut self) -> (bool, usize) {
        match self.kernel {
            Kernel::Space => {
                self.space.descend(&mut self.in_space);
                (self.in_space.is_over(), self.in_space.products())
            }
            Kernel::Plane => {
                self.plane.descend(&mut self.in_plane);
                (self.in_plane.is_over(), self.in_plane.products())
            }
            Kernel::Any => (true, 0),
        }
    }

    /// Rounds of blocks: each way once, then the best one as long as it pays.
    fn blocks(&mut self, problem: &OneStepProblem<'_>, plan: Plan, z: &mut Reaction) -> Finish {
        let mut state = State::new(self.judge(problem, z).0);
        self.least = state.residual;
        // what is quick is found out quickly, and goes on as long as it is
        let quick = Way { relaxation: 1.6, accelerated: false };
        let mut before = [f64::INFINITY; 2];
        for sweeps in [10, 10, 20, 60].into_iter().chain(std::iter::repeat(QUICK)) {
            if let Some(finish) = self.block(problem, plan, quick, sweeps, (&mut state, z)) {
                return finish;
            }
            if self.least > QUICKLY * before[0] {
                break;
            }
            if sweeps == QUICK {
                before = [before[1], self.least];
            }
        }
        self.take_back(&mut state);
        let mut length = BLOCK;
        loop {
            let (begin, done) = (self.least, self.sweeps);
            let mut best = (f64::NEG_INFINITY, WAYS[0]);
            for way in WAYS {
                let before = state.residual;
                if let Some(finish) = self.block(problem, plan, way, length, (&mut state, z)) {
                    return finish;
                }
                let cost = if way.accelerated { ACCELERATED } else { 1.0 };
                let rate = ln(before / state.residual) / cost;
                if rate > best.0 {
                    best = (rate, way);
                }
                self.take_back(&mut state);
            }
            for _ in 0..REPEATED {
                let before = state.residual;
                if let Some(finish) = self.block(problem, plan, best.1, length, (&mut state, z)) {
                    return finish;
                }
                let cost = if best.1.accelerated { ACCELERATED } else { 1.0 };
                let slower = ln(before / state.residual) / cost < 0.5 * best.0;
                self.take_back(&mut state);
                if slower {
                    break;
                }
            }
            // what a round gained, with all that it tried, tells how many sweeps are left
            let rate = ln(begin / self.least) / (self.sweeps - done) as f64;
            let left = if rate > 0.0 { ln(self.least / AIM) / rate } else { f64::INFINITY };
            if self.sweeps >= plan.patient && left > plan.worth {
                return Finish::Slow;
            }
            // rates that are too small to be told apart need longer blocks
            if self.least > SLOW * begin {
                length = (2 * length).min(LONGEST);
            }
        }
    }

    /// One block; why the course ends with it, if it does.
    fn block(
        &mut self,
        problem: &OneStepProblem<'_>,
        plan: Plan,
        way: Way,
        sweeps: usize,
        (state, z): (&mut State, &mut Reaction),
    ) -> Option<Finish> {
        // over-relaxation leaves short waves behind, which hide how far it came
        let smooth = if way.relaxation > 1.0 { SMOOTH.min(sweeps / 4) } else { 0 };
        for first in (0..sweeps - smooth).step_by(BLOCK) {
            self.sweep(problem, way, BLOCK.min(sweeps - smooth - first));
            if plan.deadline.is_over() {
                return Some(Finish::Late);
            }
        }
        self.sweep(problem, Way { relaxation: 1.0, accelerated: false }, smooth);
        let judged = self.judge(problem, z);
        if let Some(finish) = self.look(problem, plan, ("nsgs", self.sweeps), judged, (&mut *state, z)) {
            return Some(finish);
        }
        if self.sweeps >= plan.most {
            return Some(Finish::Limit);
        }
        if self.sweeps >= plan.patient && self.sweeps - state.gained > PATIENCE.max(self.sweeps / 3) {
            return Some(Finish::Wandering);
        }
        None
    }

    /// Notes the present point, whose residual and size are given; the end, if it is a solution.
    fn look(
        &mut self,
        problem: &OneStepProblem<'_>,
        plan: Plan,
        (method, iteration): (&'static str, usize),
        (residual, size): (f64, f64),
        (state, z): (&mut State, &mut Reaction),
    ) -> Option<Finish> {
        problem.note(method, iteration, residual);
        let diverging = state.trend.note(residual, size);
        state.residual = residual;
        if residual < GAIN * self.least {
            state.gained = self.sweeps;
        }
        if residual < self.least {
            self.least = residual;
            let mut best = std::mem::take(&mut self.best);
            self.export(&mut best);
            self.best = best;
        }
        if residual <= plan.tolerance {
            self.export(&mut z.lambda);
            let certificate = problem.certify(z);
            if growth::accepts(problem, certificate, plan.tolerance, diverging) {
                return Some(Finish::Solved(certificate));
            }
        }
        None
    }

    /// Goes back to the best point where the last block has led far from it.
    fn take_back(&mut self, state: &mut State) {
        if state.residual > WORSE * self.least {
            let best = std::mem::take(&mut self.best);
            self.import(&best);
            self.best = best;
            state.residual = self.least;
        }
    }

    /// Another problem follows.
    pub(in crate::solver) fn forget(&mut self) {
        self.is_loaded = false;
    }

    /// Takes over a problem of contacts in space between bodies that are nearly round; false where it is another one.
    /// Then `W` is not needed: certificates judge by the blocks that are found here.
    pub(in crate::solver) fn takes_balls(&mut self, problem: &OneStepProblem<'_>) -> bool {
        self.is_loaded = self.space.load(problem, None);
        if self.is_loaded {
            self.kernel = Kernel::Space;
            self.space.measure(problem);
        }
        self.is_loaded
    }

    fn load(&mut self, problem: &OneStepProblem<'_>, lambda: &[f64]) {
        self.sweeps = 0;
        if !self.is_loaded {
            let w = problem.delassus();
            self.kernel = if self.space.load(problem, Some(&w)) {
                Kernel::Space
            } else if self.plane.load(problem, Some(&w)) {
                Kernel::Plane
            } else {
                Kernel::Any
            };
            self.is_loaded = true;
        }
        if self.kernel == Kernel::Any {
            self.sweeper.prepare(problem, &problem.delassus());
        }
        self.import(lambda);
    }

    fn import(&mut self, lambda: &[f64]) {
        match self.kernel {
            Kernel::Space => self.space.set(lambda, &self.threads),
            Kernel::Plane => self.plane.set(lambda, &self.threads),
            Kernel::Any => {
                self.lambda.clear();
                self.lambda.extend_from_slice(lambda);
                self.sweeper.forget();
            }
        }
    }

    fn export(&self, lambda: &mut [f64]) {
        match self.kernel {
            Kernel::Space => self.space.get(lambda),
            Kernel::Plane => self.plane.get(lambda),
            Kernel::Any => lambda.copy_from_slice(&self.lambda),
        }
    }

    fn sweep(&mut self, problem: &OneStepProblem<'_>, way: Way, sweeps: usize) {
        self.sweeps += sweeps;
        if way.accelerated {
            return self.accelerated(problem, sweeps);
        }
        self.plain(problem, way.relaxation, sweeps);
    }

    fn plain(&mut self, problem: &OneStepProblem<'_>, relaxation: f64, sweeps: usize) {
        let laws = problem.laws();
        match self.kernel {
            Kernel::Space => self.space.sweep(sweeps, laws, relaxation, &self.threads),
            Kernel::Plane => self.plane.sweep(sweeps, laws, relaxation, &self.threads),
            Kernel::Any => {
                let w = problem.delassus();
                for _ in 0..sweeps {
                    self.sweeper.sweep(problem, &w, relaxation, &mut self.lambda);
                }
            }
        }
    }

    fn accelerated(&mut self, problem: &OneStepProblem<'_>, sweeps: usize) {
        self.prepare_acceleration(problem);
        self.accelerate(problem, (sweeps, false));
    }

    fn prepare_acceleration(&mut self, problem: &OneStepProblem<'_>) {
        let dofs = problem.parts().lhs.dim();
        match self.kernel {
            Kernel::Space => self.anderson.prepare(MEMORY, self.space.roots(), dofs),
            Kernel::Plane => self.anderson.prepare(MEMORY, self.plane.roots(), dofs),
            Kernel::Any => {
                let w = problem.delassus();
                let roots = problem.laws().iter().zip(w.scales());
                let roots = roots.flat_map(|(law, scale)| std::iter::repeat_n(scale.sqrt(), law.size()));
                self.anderson.prepare(MEMORY, roots, self.sweeper.companion().len());
            }
        }
    }

    /// Accelerated sweeps; whether they go on after earlier ones. The last point is one of a sweep.
    fn accelerate(&mut self, problem: &OneStepProblem<'_>, (sweeps, goes_on): (usize, bool)) {
        let laws = problem.laws();
        match self.kernel {
            Kernel::Space => self.space.accelerate((sweeps, goes_on), laws, &mut self.anderson, &self.threads),
            Kernel::Plane => self.plane.accelerate((sweeps, goes_on), laws, &mut self.anderson, &self.threads),
            Kernel::Any => {
                for sweep in 0..sweeps {
                    if sweep > 0 || goes_on {
                        self.anderson.after(&mut self.lambda, self.sweeper.companion());
                    }
                    self.anderson.before(&self.lambda);
                    self.plain(problem, 1.0, 1);
                }
            }
        }
    }

    /// Residual and size of the present point.
    fn judge(&mut self, problem: &OneStepProblem<'_>, z: &mut Reaction) -> (f64, f64) {
        match self.kernel {
            Kernel::Space => {
                self.space.refresh(&self.threads);
                self.space.residual(problem.laws(), &self.threads)
            }
            Kernel::Plane => {
                self.plane.refresh(&self.threads);
                self.plane.residual(problem.laws(), &self.threads)
            }
            Kernel::Any => {
                z.lambda.copy_from_slice(&self.lambda);
                let certificate = problem.certify(z);
                (certificate.residual, certificate.size())
            }
        }
    }
}
