//! Contacts in clusters of neighbours, which threads share.
//!
//! A cluster is grown from body to body until it has 64 contacts. Clusters without a common degree of freedom get the
//! same colour, and the sweep goes colour by colour. Threads take the clusters in this order; one that shares a degree
//! of freedom with clusters before it waits for these and for nothing else, so that the result is that of one thread,
//! to the last bit. The numbers of a cluster's bodies are copied once for all of its contacts. Colours are given
//! greedily; what finds none of 64 free is swept at the end, in order.

use super::colour::{COLOURS, Threads};
use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

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
    grown: Vec<u32>,           // (clusters) when it was grown: near ones follow each other
    runs: Vec<Vec<Run>>,       // (clusters) degrees of freedom that it touches, rising
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
        out.grown = ranks(&at);
        out.connect(ranges, dofs);
        out
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
        visit: impl Fn(usize, &[Cell<f64>]) + Sync,
    ) {
        let with_copy = |cluster: usize, copy: &mut Vec<f64>| {
            let own = || self.runs[cluster].iter().flat_map(|run| &shared[run.dofs.clone()]);
            copy.clear();
            copy.extend(own().map(|x| f64::from_bits(x.load(Ordering::Relaxed))));
            visit(cluster, Cell::from_mut(&mut copy[..]).as_slice_of_cells());
            own().zip(copy).for_each(|(x, y)| x.store(y.to_bits(), Ordering::Relaxed));
        };
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

/// The rank of each number.
fn ranks(of: &[usize]) -> Vec<u32> {
    let mut sorted: Vec<u32> = (0..of.len() as u32).collect();
    sorted.sort_unstable_by_key(|&k| of[k as usize]);
    let mut rank = vec![0; of.len()];
    (0..).zip(sorted).for_each(|(r, k)| rank[k as usize] = r);
    rank
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

/// Clusters that threads take in their order, round after round. Each thread has a part of its own, so that what it
/// works on stays in its caches; one that waits for long or has nothing left takes from the parts of others. Who has
/// taken a cluster waits only for those before it in the order, so that a thread that never comes is missed by none.
/// Waiting is short and threads do not sleep over it: waking them would take longer than a cluster.
struct Relay<'a> {
    clusters: &'a Clusters,
    rounds: usize,
    part: Vec<Part>,       // (threads)
    home: Vec<(u32, u32)>, // (clusters) part of each, and its place there
}

/// What one thread writes, in cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Part {
    cluster: Vec<u32>,      // rising
    next: AtomicUsize,      // the next one to be taken, over all rounds
    done: Vec<AtomicUsize>, // rounds of each
}

impl Relay<'_> {
    fn new(clusters: &Clusters, rounds: usize, threads: usize) -> Relay<'_> {
        let number = clusters.runs.len();
        let mut part: Vec<Part> = (0..threads).map(|_| Part::default()).collect();
        let mut home = Vec::with_capacity(number);
        for (cluster, &grown) in (0..).zip(&clusters.grown) {
            let own = grown as usize * threads / number;
            home.push((own as u32, part[own].cluster.len() as u32));
            part[own].cluster.push(cluster);
            part[own].done.push(AtomicUsize::new(0));
        }
        Relay { clusters, rounds, part, home }
    }

    fn work(&self, own: usize, visit: &impl Fn(usize, &mut Vec<f64>)) {
        let mut copy = Vec::new();
        let threads = self.part.len();
        for part in (0..threads).map(|k| &self.part[(own + k) % threads]) {
            let most = self.rounds * part.cluster.len();
            loop {
                let taken = part.next.fetch_add(1, Ordering::Relaxed);
                if taken >= most {
                    break;
                }
                self.perform(part, taken, &mut copy, visit);
            }
        }
    }

    /// Visits what was taken from a part, after those that it must wait for.
    fn perform(&self, part: &Part, taken: usize, copy: &mut Vec<f64>, visit: &impl Fn(usize, &mut Vec<f64>)) {
        let (round, place) = (taken / part.cluster.len(), taken % part.cluster.len());
        let cluster = part.cluster[place];
        for &other in &self.clusters.neighbours[cluster as usize] {
            self.wait(other as usize, round + usize::from(other < cluster), copy, visit);
        }
        // what fails here must not be waited for
        let _done = Done(&part.done[place]);
        visit(cluster as usize, copy);
    }

    /// Waits until a cluster has had so many rounds.
    fn wait(&self, cluster: usize, rounds: usize, copy: &mut Vec<f64>, visit: &impl Fn(usize, &mut Vec<f64>)) {
        let (part, place) = (&self.part[self.home[cluster].0 as usize], self.home[cluster].1 as usize);
        let mut spins = 0;
        while part.done[place].load(Ordering::Acquire) < rounds {
            spins += 1;
            if spins < SPINS {
                std::hint::spin_loop();
                continue;
            }
            // what nobody has begun is begun here, from the first one of its part on
            let (last, next) = ((rounds - 1) * part.cluster.len() + place, part.next.load(Ordering::Relaxed));
            let take = || part.next.compare_exchange(next, next + 1, Ordering::Relaxed, Ordering::Relaxed);
            if next <= last && take().is_ok() {
                self.perform(part, next, copy, visit);
            } else {
                std::thread::yield_now();
            }
        }
    }
}

/// Counts a round of a cluster as done when it is dropped.
struct Done<'a>(&'a AtomicUsize);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Release);
    }
}
