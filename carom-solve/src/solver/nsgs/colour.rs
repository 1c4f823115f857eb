//! Which laws may be solved side by side.
//!
//! Laws that do not see each other get the same colour: within a colour their order does not matter, so that threads
//! may share them and the result is that of one thread, to the last bit. Consecutive laws with the same degrees of
//! freedom (the contacts between two bodies) stay together as a clump, one after the other: there are fewer colours,
//! and each of them is longer. Colours are given greedily, in the order of the laws; what finds none of 64 free is left
//! for the end, in order.

use super::alone::Norms;
use super::velocity::Velocity;
use crate::Delassus;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Most colours.
pub(super) const COLOURS: usize = 64;

/// Clumps that a thread takes at a time; norms are summed over them first, whatever the number of threads.
const PORTION: usize = 64;

/// Laws below which threads cost more than they bring.
const FEW: usize = 1000;

/// The threads that sweep.
#[derive(Default)]
pub(super) enum Threads {
    One,
    /// Those that rayon has for everyone.
    #[default]
    All,
    Own(ThreadPool),
}

impl Threads {
    /// Runs a task where its parallel parts find the threads.
    pub(super) fn run<T: Send>(&self, task: impl FnOnce() -> T + Send) -> T {
        match self {
            Threads::One => task(),
            Threads::All => rayon::scope(|_| task()),
            Threads::Own(pool) => pool.install(task),
        }
    }

    /// So many threads; zero means all.
    pub(super) fn new(number: usize) -> Threads {
        match number {
            0 => Threads::All,
            1 => Threads::One,
            // a machine that has no threads to give computes the same with one
            _ => ThreadPoolBuilder::new().num_threads(number).build().map_or(Threads::One, Threads::Own),
        }
    }
}

/// The order of a coloured sweep.
#[derive(Default)]
pub(super) struct Schedule {
    order: Vec<u32>,   // (laws) the law at each place
    clump: Vec<usize>, // (clumps + 1) first place of each clump
    class: Vec<usize>, // (colours + 1) first clump of each colour; the clumps after the last one have none
    first: Vec<u32>,   // (clumps + 1) first law of each clump, in the order of the laws
    colour: Vec<u8>,   // (clumps)
    used: Vec<u64>,    // colours that touch a degree of freedom, or that see a law
}

impl Schedule {
    /// Laws in the order of the sweep.
    pub(super) fn order(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|&i| i as usize)
    }

    /// Colour and clump of each law, and the number of colours; laws without a colour have one of their own each.
    #[cfg(test)]
    pub(super) fn teams(&self) -> (Vec<(usize, usize)>, usize) {
        let colours = self.class.len() - 1;
        let mut team = vec![(0, 0); self.order.len()];
        for k in 0..self.clump.len() - 1 {
            let colour = if k < self.class[colours] { self.class.partition_point(|&c| c <= k) } else { COLOURS + k };
            for place in self.clump[k]..self.clump[k + 1] {
                team[self.order[place] as usize] = (colour, k);
            }
        }
        (team, colours)
    }

    /// Colours laws by the degrees of freedom that they touch.
    pub(super) fn colour_runs(&mut self, velocity: &Velocity, laws: usize, dofs: usize) {
        self.used.clear();
        self.used.resize(dofs, 0);
        self.first.clear();
        self.colour.clear();
        for i in 0..laws {
            let runs = velocity.runs(i);
            if i > 0 && runs == velocity.runs(i - 1) {
                continue;
            }
            let touched = || runs.iter().flat_map(|run| run.range());
            let taken = touched().fold(0, |taken, dof| taken | self.used[dof]);
            let colour = taken.trailing_ones() as usize;
            if colour < COLOURS {
                touched().for_each(|dof| self.used[dof] |= 1 << colour);
            }
            self.first.push(i as u32);
            self.colour.push(colour as u8);
        }
        self.sort(laws);
    }

    /// Colours laws by the blocks of `W`; its pattern need not be symmetric.
    pub(super) fn colour_blocks(&mut self, w: &Delassus) {
        let laws = w.laws();
        self.used.clear();
        self.used.resize(laws, 0);
        self.first.clear();
        self.colour.clear();
        for i in 0..laws {
            let seen = w.row(i).filter(|&(j, _)| j < i && (self.colour[j] as usize) < COLOURS);
            let taken = seen.fold(self.used[i], |taken, (j, _)| taken | 1 << self.colour[j]);
            let colour = taken.trailing_ones() as usize;
            if colour < COLOURS {
                w.row(i).for_each(|(j, _)| self.used[j] |= 1 << colour);
            }
            self.first.push(i as u32);
            self.colour.push(colour as u8);
        }
        self.sort(laws);
    }

    /// Clumps by colour (a stable counting sort).
    fn sort(&mut self, laws: usize) {
        let clumps = self.first.len();
        self.first.push(laws as u32);
        let last = self.colour.iter().copied().filter(|&c| (c as usize) < COLOURS).max();
        let colours = last.map_or(0, |c| c as usize + 1);
        self.order.clear();
        self.clump.clear();
        self.class.clear();
        // a pass per colour costs less than it seems: the list of colours is short against the laws' numbers
        for colour in (0..colours).chain([COLOURS]) {
            self.class.push(self.clump.len());
            for k in (0..clumps).filter(|&k| self.colour[k] as usize == colour) {
                self.clump.push(self.order.len());
                self.order.extend(self.first[k]..self.first[k + 1]);
            }
        }
        self.clump.push(laws);
    }

    /// Visits all laws, told by their place in the order and their number: colour after colour, the clumps of a colour
    /// side by side.
    pub(super) fn run(
        &self,
        threads: &Threads,
        partial: &mut Vec<Norms>,
        visit: impl Fn(usize, usize, &mut Norms) + Sync,
    ) -> Norms {
        match threads {
            _ if self.order.len() < FEW => self.pass(false, partial, &visit),
            Threads::One => self.pass(false, partial, &visit),
            Threads::All => rayon::scope(|_| self.pass(true, partial, &visit)),
            Threads::Own(pool) => pool.install(|| self.pass(true, partial, &visit)),
        }
    }

    fn pass(
        &self,
        parallel: bool,
        partial: &mut Vec<Norms>,
        visit: &(impl Fn(usize, usize, &mut Norms) + Sync),
    ) -> Norms {
        let mut norms = Norms::default();
        for class in self.class.windows(2) {
            let portions = (class[1] - class[0]).div_ceil(PORTION);
            partial.clear();
            partial.resize(portions, Norms::default());
            let portion = |(k, norms): (usize, &mut Norms)| {
                let first = class[0] + k * PORTION;
                let end = class[1].min(first + PORTION);
                for place in self.clump[first]..self.clump[end] {
                    visit(place, self.order[place] as usize, norms);
                }
            };
            if parallel && portions > 1 {
                partial.par_iter_mut().enumerate().for_each(portion);
            } else {
                partial.iter_mut().enumerate().for_each(portion);
            }
            partial.iter().for_each(|part| norms.join(*part));
        }
        let rest = self.class.last().map_or(0, |&clump| self.clump[clump]);
        for (place, &i) in self.order.iter().enumerate().skip(rest) {
            visit(place, i as usize, &mut norms);
        }
        norms
    }
}
