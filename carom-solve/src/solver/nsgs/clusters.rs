//! Contacts in clusters of neighbours, which threads share.
//!
//! A cluster is grown from body to body until it has 128 contacts. Clusters without a common degree of freedom get the
//! same colour, and the sweep goes colour by colour. Threads take clusters when those before them in this order that
//! share a degree of freedom with them are done, so that the result is that of one thread, to the last bit. The numbers
//! of a cluster's bodies are copied once for all of its contacts, and contacts that follow each other have no common
//! body where that is possible. Colours are given greedily; what finds none of 64 free is swept at the end, in order.

use super::colour::{COLOURS, Threads};
use super::shared::load;
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Contacts of a cluster.
const SIZE: usize = 128;

/// Threads that share a sweep at most: a colour has no work for more.
const MOST: usize = 8;

/// Clusters of a part that are looked at for one that is ready.
const AHEAD: usize = 16;

/// Looks in vain after which a thread takes from the parts of others, and after which it leaves the processor to them.
const LOYAL: u32 = 50;
const SPINS: u32 = 500;

/// The order of a sweep over clusters.
#[derive(Default)]
pub(super) struct Clusters {
    /// (contacts) the contact at each place.
    pub order: Vec<u32>,
    /// First place of each cluster, and the end; what has no colour is one cluster.
    pub first: Vec<usize>,
    before: Vec<usize>, // (clusters) contacts of clusters that were grown before: near ones follow each other
    runs: Vec<Vec<Run>>, // (clusters) degrees of freedom that it touches, rising
    neighbours: Vec<Vec<u32>>, // (clusters) those that touch one of them, rising
}

/// Degrees of freedom that follow each other.
#[derive(Clone)]
struct Run {
    dofs: Range<usize>,
    at: usize, // their place in the copy of a cluster
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
        let mut members: Vec<Vec<(usize, &[u32])>> = vec![Vec::new(); COLOURS + 1];
        for (k, cluster) in grown.iter().enumerate() {
            let touched = || cluster.iter().flat_map(|&i| ranges(i as usize)).flatten();
            let colour = touched().fold(0, |taken, dof| taken | used[dof]).trailing_ones() as usize;
            if colour < COLOURS {
                touched().for_each(|dof| used[dof] |= 1 << colour);
            }
            members[colour].push((k, cluster));
        }
        let mut out = Clusters { order: Vec::with_capacity(contacts), first: vec![0], ..Clusters::default() };
        let rest = members.pop().unwrap_or_default();
        let mut at = Vec::new();
        for &(k, cluster) in members.iter().flatten() {
            out.order.extend_from_slice(cluster);
            out.first.push(out.order.len());
            at.push(k);
        }
        if let Some(&(k, _)) = rest.first() {
            out.order.extend(rest.into_iter().flat_map(|(_, cluster)| cluster));
            out.first.push(out.order.len());
            at.push(k);
        }
        out.before = out.grown_before(&at);
        out.connect(ranges, dofs);
        out
    }

    /// The contacts of clusters that were grown before each one, which was the `at`-th.
    fn grown_before(&self, at: &[usize]) -> Vec<usize> {
        let mut sorted: Vec<usize> = (0..at.len()).collect();
        sorted.sort_unstable_by_key(|&cluster| at[cluster]);
        let (mut before, mut sum) = (vec![0; at.len()], 0);
        for cluster in sorted {
            before[cluster] = sum;
            sum += self.first[cluster + 1] - self.first[cluster];
        }
        before
    }

    /// What each cluster touches, and which others do.
    fn connect<I: Iterator<Item = Range<usize>>>(&mut self, ranges: impl Fn(usize) -> I, dofs: usize) {
        let mut of = vec![Vec::new(); dofs];
        for (cluster, places) in self.first.windows(2).enumerate() {
            let mut all: Vec<_> = self.order[places[0]..places[1]].iter().flat_map(|&i| ranges(i as usize)).collect();
            all.sort_unstable_by_key(|range| (range.start, range.end));
            let mut runs: Vec<Run> = Vec::new();
            for range in all {
                match runs.last_mut() {
                    Some(run) if range.start <= run.dofs.end => run.dofs.end = run.dofs.end.max(range.end),
                    last => {
                        let at = last.map_or(0, |run| run.at + run.dofs.len());
                        runs.push(Run { dofs: range, at });
                    }
                }
            }
            runs.iter().flat_map(|run| run.dofs.clone()).for_each(|dof| of[dof].push(cluster as u32));
            self.runs.push(runs);
        }
        for (cluster, runs) in self.runs.iter().enumerate() {
            let mut near: Vec<u32> =
                runs.iter().flat_map(|run| of[run.dofs.clone()].iter().flatten()).copied().collect();
            near.sort_unstable();
            near.dedup();
            near.retain(|&other| other as usize != cluster);
            self.neighbours.push(near);
        }
    }

    /// Where a degree of freedom is in the copy of a cluster that touches it.
    pub(super) fn copied_to(&self, cluster: usize, dof: usize) -> usize {
        let runs = &self.runs[cluster];
        let run = &runs[runs.partition_point(|run| run.dofs.end <= dof)];
        run.at + dof - run.dofs.start
    }

    /// Visits all clusters in rounds with a copy of what is theirs of `shared`. Those that share nothing go side by
    /// side.
    pub(super) fn visit(
        &self,
        rounds: usize,
        threads: &Threads,
        shared: &[AtomicU64],
        visit: impl Fn(usize, Numbers<'_>) + Sync,
    ) {
        let with_copy =
            |cluster: usize, copy: &mut Vec<f64>| visit(cluster, Numbers { runs: &self.runs[cluster], shared, copy });
        if matches!(threads, Threads::One) {
            return Relay::new(self, rounds, 1).work(0, &with_copy);
        }
        threads.run(|| {
            let threads = rayon::current_num_threads().min(MOST);
            let relay = &Relay::new(self, rounds, threads);
            let with_copy = &with_copy;
            rayon::scope(|scope| {
                for own in 1..threads {
                    scope.spawn(move |_| relay.work(own, with_copy));
                }
                relay.work(0, with_copy);
            });
        });
    }
}

/// What a cluster touches of the numbers that threads share.
pub(super) struct Numbers<'a> {
    runs: &'a [Run],
    shared: &'a [AtomicU64],
    copy: &'a mut Vec<f64>,
}

impl Numbers<'_> {
    /// Works on a copy of them.
    pub(super) fn with(self, task: impl FnOnce(&[Cell<f64>])) {
        let Numbers { runs, shared, copy } = self;
        copy.clear();
        for run in runs {
            copy.extend(shared[run.dofs.clone()].iter().map(load));
        }
        task(Cell::from_mut(&mut copy[..]).as_slice_of_cells());
        for run in runs {
            let (atoms, copy) = (&shared[run.dofs.clone()], &copy[run.at..]);
            atoms.iter().zip(copy).for_each(|(x, y)| x.store(y.to_bits(), Ordering::Relaxed));
        }
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
        spread(&begins, &mut cluster);
        out.push(cluster);
    }
    out
}

/// Puts contacts apart that share a body, where others can be put between: a visit does not wait for the one before.
fn spread<I: Iterator<Item = usize>>(begins: &impl Fn(usize) -> I, cluster: &mut [u32]) {
    let share = |a: u32, b: u32| begins(a as usize).any(|x| begins(b as usize).any(|y| x == y));
    for k in 1..cluster.len() {
        let last = cluster[k - 1];
        if let Some(next) = cluster[k..].iter().position(|&j| !share(last, j)) {
            cluster[k..=k + next].rotate_right(1);
        }
    }
}

/// Clusters that threads take round after round. A cluster is ready when those before it in the order that touch what
/// it touches have had this round, and those after it the round before: whoever takes it then finds the numbers of one
/// thread. Each thread has a part of its own, so that what it works on stays in its caches, and takes the first cluster
/// of it that is ready, of the next few; where none is for a while, or none is left, it takes from the parts of others.
/// Nothing that is taken waits, so that a thread that never comes is missed by none.
struct Relay<'a> {
    clusters: &'a Clusters,
    rounds: usize,
    part: Vec<Part>,       // (threads)
    home: Vec<(u32, u32)>, // (clusters) part of each, and its place there
}

/// What is mostly written by one thread, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Part {
    cluster: Vec<u32>,       // rising
    first: AtomicUsize,      // all before it are taken, over all rounds
    taken: Vec<AtomicUsize>, // rounds of each that have begun
    done: Vec<AtomicUsize>,  // and ended
}

impl Relay<'_> {
    fn new(clusters: &Clusters, rounds: usize, threads: usize) -> Relay<'_> {
        let number = clusters.runs.len();
        let mut part: Vec<Part> = (0..threads).map(|_| Part::default()).collect();
        let mut home = Vec::with_capacity(number);
        let all = clusters.order.len();
        for (cluster, &before) in (0..).zip(&clusters.before) {
            let own = before * threads / all;
            home.push((own as u32, part[own].cluster.len() as u32));
            part[own].cluster.push(cluster);
            part[own].taken.push(AtomicUsize::new(0));
            part[own].done.push(AtomicUsize::new(0));
        }
        Relay { clusters, rounds, part, home }
    }

    fn work(&self, own: usize, visit: &impl Fn(usize, &mut Vec<f64>)) {
        let (mut copy, threads, mut idle) = (Vec::new(), self.part.len(), 0);
        let mut seen = vec![0; self.home.len()];
        loop {
            let reach = if idle < LOYAL { 1 } else { threads };
            let mut parts = (0..reach).map(|k| &self.part[(own + k) % threads]);
            if let Some((part, (place, round))) = parts.find_map(|part| Some((part, self.take(part, &mut seen)?))) {
                // what fails here must not be waited for
                let _done = Done(&part.done[place], round + 1);
                visit(part.cluster[place] as usize, &mut copy);
                idle = 0;
            } else if self.part.iter().all(|part| self.is_taken(part)) {
                return;
            } else {
                idle += 1;
                // waking a thread would take longer than a cluster
                if idle < SPINS { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
        }
    }

    fn is_taken(&self, part: &Part) -> bool {
        part.first.load(Ordering::Relaxed) >= self.rounds * part.cluster.len()
    }

    /// Takes the first of the next clusters of a part that is ready; its place there and the round.
    fn take(&self, part: &Part, seen: &mut [usize]) -> Option<(usize, usize)> {
        let length = part.cluster.len();
        let begin = part.first.load(Ordering::Relaxed);
        let mut first = begin;
        for at in begin..(self.rounds * length).min(begin + AHEAD) {
            let (round, place) = (at / length, at % length);
            let begun = &part.taken[place];
            match begun.load(Ordering::Relaxed).checked_sub(round) {
                Some(0) if self.is_ready(part, place, round, seen) => {
                    let take = begun.compare_exchange(round, round + 1, Ordering::Relaxed, Ordering::Relaxed);
                    if take.is_ok() {
                        return Some((place, round));
                    }
                }
                Some(1..) if at == first => {
                    first += 1;
                    part.first.fetch_max(first, Ordering::Relaxed);
                }
                _ => {}
            }
        }
        None
    }

    /// Whether nothing is in the way of a cluster's next round. `seen` are the rounds that this thread has seen others
    /// end: what another thread writes is read only where it must be, for reading takes it from that one's caches.
    fn is_ready(&self, part: &Part, place: usize, round: usize, seen: &mut [usize]) -> bool {
        let cluster = part.cluster[place];
        let mut had = |other: u32, rounds: usize| {
            let known = &mut seen[other as usize];
            if *known < rounds {
                let (home, place) = self.home[other as usize];
                *known = self.part[home as usize].done[place as usize].load(Ordering::Acquire);
            }
            *known >= rounds
        };
        let near = &self.clusters.neighbours[cluster as usize];
        had(cluster, round) && near.iter().all(|&other| had(other, round + usize::from(other < cluster)))
    }
}

/// Tells that a cluster has had so many rounds when it is dropped.
struct Done<'a>(&'a AtomicUsize, usize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(self.1, Ordering::Release);
    }
}
