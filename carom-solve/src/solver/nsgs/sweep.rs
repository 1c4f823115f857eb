//! One pass over all laws.
//!
//! Two ways lead to what the other laws leave of `u`: through the [blocks] of `W`, or through the
//! [velocities](Velocity) that laws share, where that reads fewer numbers. The first sweeps use blocks: the second way
//! must be prepared, and many problems are solved before that pays. Coloured sweeps choose at once, because the order
//! depends on it.

use super::super::local::{Any, Contact2, Contact3, Local};
use super::alone::{Alone, Norms, relax};
use super::blocks::{self, Pass};
use super::colour::{Schedule, Threads};
use super::shared::{self, Shared};
use super::velocity::Velocity;
use crate::law::by_rows;
use crate::{Delassus, Law, OneStepProblem, Shape};
use std::sync::atomic::AtomicU64;

/// The sweep before which the way through velocities is prepared.
const PREPARED: usize = 8;

/// The local solvers of a problem in the order of the sweep, by the number of rows that all laws have.
#[derive(Default)]
pub(super) struct Sweeper {
    one: Vec<Local>, // laws of one row, or mixtures
    any: Vec<Any>,   // where one of them has no closed form
    two: Vec<Contact2>,
    three: Vec<Contact3>,
    velocity: Velocity,
    through_velocity: bool,
    sweeps: usize,                 // of this problem
    colours: Option<Box<Colours>>, // where sweeps are coloured
}

/// What coloured sweeps need besides.
pub(super) struct Colours {
    threads: Threads,
    schedule: Schedule,
    lambda: Vec<AtomicU64>, // (m)
    v: Vec<AtomicU64>,      // (n)
    partial: Vec<Norms>,
}

impl Colours {
    pub(super) fn new(threads: usize) -> Colours {
        Colours {
            threads: Threads::new(threads),
            schedule: Schedule::default(),
            lambda: Vec::new(),
            v: Vec::new(),
            partial: Vec::new(),
        }
    }
}

/// What every visit reads.
#[derive(Clone, Copy)]
struct Ground<'a> {
    w: &'a Delassus,
    laws: &'a [Law],
    offset: &'a [usize],
    b: &'a [f64],
    relaxation: f64,
}

impl Sweeper {
    pub(super) fn new(colours: Option<Colours>) -> Sweeper {
        Sweeper { colours: colours.map(Box::new), ..Sweeper::default() }
    }

    pub(super) fn prepare(&mut self, problem: &OneStepProblem<'_>, w: &Delassus) {
        (self.through_velocity, self.sweeps) = (false, 0);
        let laws = problem.laws();
        self.one.clear();
        self.any.clear();
        self.two.clear();
        self.three.clear();
        match self.colours.take() {
            None => self.prepare_local(laws, w, 0..laws.len()),
            Some(mut colours) => {
                self.through_velocity = self.velocity.find_runs(problem, w);
                if self.through_velocity {
                    colours.schedule.colour_runs(&self.velocity, laws.len(), problem.parts().lhs.dim());
                    self.velocity.load(problem, w, colours.schedule.order());
                } else {
                    colours.schedule.colour_blocks(w);
                }
                self.prepare_local(laws, w, colours.schedule.order());
                self.colours = Some(colours);
            }
        }
    }

    /// The local solvers in the order of the sweep.
    fn prepare_local(&mut self, laws: &[Law], w: &Delassus, order: impl Iterator<Item = usize>) {
        if laws.iter().any(|law| law.shape() == Shape::General) {
            self.any.extend(order.map(|i| Any::new(&laws[i], w.diagonal(i))));
            return;
        }
        let uniform = (w.uniform::<4>().is_some(), w.uniform::<9>().is_some());
        match uniform {
            (true, _) => self.two.reserve(laws.len()),
            (_, true) => self.three.reserve(laws.len()),
            _ => self.one.reserve(laws.len()),
        }
        for i in order {
            match laws[i].shape() {
                Shape::Cone1 { mu } if uniform.0 => self.two.push(Contact2::new(mu, w.diagonal(i))),
                Shape::Cone2 { mu } if uniform.1 => self.three.push(Contact3::new(mu, w.diagonal(i))),
                _ => self.one.extend(Local::new(&laws[i], w.diagonal(i))),
            }
        }
    }

    /// The reactions are not those of the last sweep.
    pub(super) fn forget(&mut self) {
        self.velocity.forget();
    }

    /// Goes on through velocities, if that pays.
    pub(super) fn enter_velocity(&mut self, problem: &OneStepProblem<'_>, w: &Delassus) {
        self.through_velocity = self.velocity.find_runs(problem, w);
        if self.through_velocity {
            self.velocity.load(problem, w, 0..problem.laws().len());
        }
    }

    /// What depends on the reactions linearly and must follow them where they are extrapolated.
    pub(super) fn companion(&mut self) -> &mut [f64] {
        if self.through_velocity { &mut self.velocity.v } else { &mut [] }
    }

    /// One pass; returns the relative change `‖Δλ'‖/‖λ'‖`.
    pub(super) fn sweep(
        &mut self,
        problem: &OneStepProblem<'_>,
        w: &Delassus,
        relaxation: f64,
        lambda: &mut [f64],
    ) -> f64 {
        self.sweeps += 1;
        if self.sweeps == PREPARED && self.colours.is_none() {
            self.enter_velocity(problem, w);
        }
        let (laws, b) = (problem.laws(), problem.b());
        let ground = Ground { w, laws, offset: problem.offsets(), b, relaxation };
        if self.through_velocity {
            self.velocity.refresh(problem, lambda);
        }
        let norms = if self.colours.is_some() {
            self.coloured(ground, lambda)
        } else if self.through_velocity || !self.any.is_empty() {
            self.sequential(ground, lambda)
        } else if let Some(blocks) = w.uniform::<9>() {
            let pass = Pass { blocks, alone: &self.three, laws, b: b.as_chunks().0, relaxation };
            pass.run(lambda.as_chunks_mut().0)
        } else if let Some(blocks) = w.uniform::<4>() {
            let pass = Pass { blocks, alone: &self.two, laws, b: b.as_chunks().0, relaxation };
            pass.run(lambda.as_chunks_mut().0)
        } else if let Some(blocks) = w.uniform::<1>() {
            let pass = Pass::<1, 1, _> { blocks, alone: &self.one, laws, b: b.as_chunks().0, relaxation };
            pass.run(lambda.as_chunks_mut().0)
        } else {
            self.sequential(ground, lambda)
        };
        norms.ratio()
    }

    fn sequential(&mut self, ground: Ground<'_>, lambda: &mut [f64]) -> Norms {
        let mut v = std::mem::take(&mut self.velocity.v);
        let mut norms = Norms::default();
        let (shared_lambda, shared_v) = (shared::cells(lambda), shared::cells(&mut v));
        for i in 0..ground.laws.len() {
            self.visit(ground, (i, i), shared_lambda, shared_v, &mut norms);
        }
        self.velocity.v = v;
        norms
    }

    fn coloured(&mut self, ground: Ground<'_>, lambda: &mut [f64]) -> Norms {
        let Some(mut colours) = self.colours.take() else { return Norms::default() };
        let Colours { threads, schedule, lambda: shared_lambda, v: shared_v, partial } = &mut *colours;
        shared::share(lambda, shared_lambda);
        shared::share(&self.velocity.v, shared_v);
        let this = &*self;
        let norms = schedule.run(threads, partial, |place, i, norms| {
            this.visit(ground, (place, i), &shared_lambda[..], &shared_v[..], norms);
        });
        shared::collect(shared_lambda, lambda);
        shared::collect(shared_v, &mut self.velocity.v);
        self.colours = Some(colours);
        norms
    }

    /// Solves one law, told by its place in the order and its number.
    #[inline]
    fn visit<S: Shared + ?Sized>(
        &self,
        ground: Ground<'_>,
        (place, i): (usize, usize),
        lambda: &S,
        v: &S,
        norms: &mut Norms,
    ) {
        if let Some(contact) = self.three.get(place) {
            self.settle::<3, _, S>(ground, i, contact, (lambda, v), norms);
        } else if let Some(contact) = self.two.get(place) {
            self.settle::<2, _, S>(ground, i, contact, (lambda, v), norms);
        } else if !self.any.is_empty() {
            self.visit_any(ground, (place, i), (lambda, v), norms);
        } else {
            match ground.laws[i].size() {
                1 => self.settle::<1, _, S>(ground, i, &self.one[place], (lambda, v), norms),
                2 => self.settle::<2, _, S>(ground, i, &self.one[place], (lambda, v), norms),
                _ => self.settle::<3, _, S>(ground, i, &self.one[place], (lambda, v), norms),
            }
        }
    }

    /// The same where laws have no closed form, out of line.
    #[inline(never)]
    fn visit_any<S: Shared + ?Sized>(
        &self,
        ground: Ground<'_>,
        (place, i): (usize, usize),
        shared: (&S, &S),
        norms: &mut Norms,
    ) {
        by_rows!(ground.laws[i].size(), N => self.settle::<N, _, S>(ground, i, &self.any[place], shared, norms));
    }

    #[inline]
    fn settle<const N: usize, A: Alone<N>, S: Shared + ?Sized>(
        &self,
        ground: Ground<'_>,
        i: usize,
        alone: &A,
        (lambda, v): (&S, &S),
        norms: &mut Norms,
    ) {
        let at = ground.offset[i];
        let old: [f64; N] = lambda.read(at);
        let b = &ground.b[at..at + N];
        let frozen: [f64; N] = if self.through_velocity {
            let (own, others) = (alone.own(old), self.velocity.pull::<N, S>(i, v));
            std::array::from_fn(|k| others[k] + (b[k] - own[k]))
        } else {
            let others = blocks::pull::<N, S>(ground.w, i, lambda);
            std::array::from_fn(|k| others[k] + b[k])
        };
        let mut next = alone.solve(frozen, old);
        relax(ground.relaxation, &ground.laws[i], &old, &mut next);
        norms.add(ground.w.scale(i), &old, &next);
        if next == old {
            return;
        }
        lambda.write(at, next);
        if self.through_velocity {
            self.velocity.push::<N, S>(i, std::array::from_fn(|k| next[k] - old[k]), v);
        }
    }
}
