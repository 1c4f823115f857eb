//! Contacts in clusters of neighbours, which threads share.
//!
//! A cluster is grown from body to body until it has 64 contacts. Clusters without a common degree of freedom get the
//! same colour: within a colour their order does not matter, so that threads may share them and the result is that of
//! one thread, to the last bit. Most contacts of a body are in one cluster: its numbers stay in the cache of one core.
//! Colours are given greedily; what finds none of 64 free is swept at the end, in order.

use super::colour::{COLOURS, Threads};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Contacts of a cluster.
const SIZE: usize = 64;

/// Threads that share a sweep at most: a colour has no work for more.
const MOST: usize = 8;

/// Looks at what is waited for before the processor is left to others.
const SPINS: u32 = 2000;

/// The order of a sweep over clusters.
#[derive(Default)]
pub(super) struct Clusters {
    /// (contacts) the contact at each place.
    pub order: Vec<u32>,
    /// First place of each cluster, and the end; what has no colour is one cluster.
    pub first: Vec<usize>,
    colour: Vec<usize>, // first cluster of each colour, and the end
}

impl Clusters {
    pub(super) fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Forgets all of them.
    pub(super) fn clear(&mut self) {
        self.order.clear();
    }

    /// Clusters of contacts that touch these ranges of degrees of freedom.
    pub(super) fn of<I: Iterator<Item = Range<usize>>>(
        ranges: impl Fn(usize) -> I,
        contacts: usize,
        dofs: usize,
    ) -> Clusters {
        let grown = grow(&ranges, contacts, dofs);
        let mut used = vec![0u64; dofs];
        let mut members: Vec<Vec<&[u32]>> = vec![Vec::new(); COLOURS + 1];
        for cluster in &grown {
            let touched = || cluster.iter().flat_map(|&i| ranges(i as usize)).flatten();
            let colour = touched().fold(0, |taken, dof| taken | used[dof]).trailing_ones() as usize;
            if colour < COLOURS {
                touched().for_each(|dof| used[dof] |= 1 << colour);
            }
            members[colour].push(cluster);
        }
        let mut out = Clusters { order: Vec::with_capacity(contacts), first: vec![0], colour: vec![0] };
        for (colour, clusters) in members.iter().enumerate().filter(|(_, clusters)| !clusters.is_empty()) {
            for cluster in clusters {
                out.order.extend_from_slice(cluster);
                if colour < COLOURS {
                    out.first.push(out.order.len());
                }
            }
            if colour == COLOURS {
                out.first.push(out.order.len());
            }
            out.colour.push(out.first.len() - 1);
        }
        out
    }

    /// Visits all clusters in rounds, those of one colour side by side.
    pub(super) fn visit(&self, rounds: usize, threads: &Threads, visit: impl Fn(usize) + Sync) {
        let relay = Relay {
            rounds,
            colour: &self.colour,
            taken: (1..self.first.len()).map(|_| AtomicUsize::new(0)).collect(),
            done: AtomicUsize::new(0),
        };
        threads.run(|| {
            let threads = rayon::current_num_threads().min(MOST);
            rayon::scope(|scope| {
                for me in 1..threads {
                    let (relay, visit) = (&relay, &visit);
                    scope.spawn(move |_| relay.work(me, threads, visit));
                }
                relay.work(0, threads, &visit);
            });
        });
    }
}

/// Contacts cluster by cluster, in their order within each.
fn grow<I: Iterator<Item = Range<usize>>>(ranges: &impl Fn(usize) -> I, contacts: usize, dofs: usize) -> Vec<Vec<u32>> {
    // the contacts of each degree of freedom with which a range begins
    let mut start = vec![0usize; dofs + 1];
    let begins = |i: usize| ranges(i).map(|range| range.start);
    (0..contacts).flat_map(begins).for_each(|dof| start[dof + 1] += 1);
    (0..dofs).for_each(|dof| start[dof + 1] += start[dof]);
    let mut next = start.clone();
    let mut of = vec![0u32; start[dofs]];
    for i in 0..contacts {
        for dof in begins(i) {
            of[next[dof]] = i as u32;
            next[dof] += 1;
        }
    }
    let mut is_taken = vec![false; contacts];
    let mut out = Vec::new();
    for seed in 0..contacts {
        if is_taken[seed] {
            continue;
        }
        is_taken[seed] = true;
        let mut cluster = vec![seed as u32];
        let mut looked = 0;
        while looked < cluster.len() && cluster.len() < SIZE {
            for dof in begins(cluster[looked] as usize) {
                for &j in &of[start[dof]..start[dof + 1]] {
                    if cluster.len() < SIZE && !is_taken[j as usize] {
                        is_taken[j as usize] = true;
                        cluster.push(j);
                    }
                }
            }
            looked += 1;
        }
        cluster.sort_unstable();
        out.push(cluster);
    }
    out
}

/// Clusters that threads take, each first those of its own part of a colour. A colour begins when the one before it is
/// done; who has taken a cluster waits for nobody, so that a thread that never comes is missed by none. Waiting is
/// short and threads do not sleep over it: waking them would take longer than a colour.
struct Relay<'a> {
    rounds: usize,
    colour: &'a [usize],
    taken: Vec<AtomicUsize>, // rounds in which a cluster was taken
    done: AtomicUsize,       // clusters, over all rounds
}

impl Relay<'_> {
    fn work(&self, me: usize, threads: usize, visit: &impl Fn(usize)) {
        for round in 0..self.rounds {
            for colour in self.colour.windows(2) {
                let (first, number) = (colour[0], colour[1] - colour[0]);
                for k in 0..number {
                    let cluster = first + (me * number / threads + k) % number;
                    let taken = &self.taken[cluster];
                    let is_mine = taken.load(Ordering::Relaxed) == round
                        && taken.compare_exchange(round, round + 1, Ordering::Relaxed, Ordering::Relaxed).is_ok();
                    if is_mine {
                        // what fails here must not be waited for
                        let _done = Done(&self.done);
                        visit(cluster);
                    }
                }
                let mut spins = 0;
                while self.done.load(Ordering::Acquire) < round * self.taken.len() + colour[1] {
                    spins += 1;
                    if spins < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
                }
            }
        }
    }
}

/// Counts a cluster as done when it is dropped.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
