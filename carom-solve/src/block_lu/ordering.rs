//! Minimum-degree ordering of a graph: which law to eliminate next so that the factor stays sparse [amestoy1996].
//!
//! Quotient graph: an eliminated law becomes an element, the set of laws that it ties together; elements that lie
//! within a new one are absorbed. The degree of a law is bounded from above by the sizes of its elements,
//!
//! ```text
//!     dᵢ = |Aᵢ \ i| + |Lₚ \ i| + Σ_e |Lₑ \ Lₚ|                                             (1)
//! ```
//!
//! which costs a scan of the elements only. Laws with the same neighbours are merged and eliminated together.

const NONE: u32 = u32::MAX;

/// What is known of each node; indices are nodes, which are variables first and elements after their elimination.
struct Graph {
    neighbours: Vec<Vec<u32>>, // variables next to a variable, or the variables of an element
    elements: Vec<Vec<u32>>,   // elements next to a variable
    weight: Vec<u32>,          // laws merged in a variable; 0: merged into another, or absorbed
    eliminated: Vec<bool>,
    members: Vec<Vec<u32>>, // laws merged in a variable, besides itself
    degree: Vec<usize>,
}

/// Lists of variables by degree, doubly linked.
struct Buckets {
    head: Vec<u32>,
    next: Vec<u32>,
    before: Vec<u32>,
    least: usize,
}

impl Buckets {
    fn new(n: usize) -> Buckets {
        Buckets { head: vec![NONE; n + 1], next: vec![NONE; n], before: vec![NONE; n], least: 0 }
    }

    fn insert(&mut self, i: usize, degree: usize) {
        let first = self.head[degree];
        self.next[i] = first;
        self.before[i] = NONE;
        if first != NONE {
            self.before[first as usize] = i as u32;
        }
        self.head[degree] = i as u32;
        self.least = self.least.min(degree);
    }

    fn remove(&mut self, i: usize, degree: usize) {
        let (before, next) = (self.before[i], self.next[i]);
        match before {
            NONE => self.head[degree] = next,
            _ => self.next[before as usize] = next,
        }
        if next != NONE {
            self.before[next as usize] = before;
        }
    }

    fn pop(&mut self) -> Option<(usize, usize)> {
        while self.least < self.head.len() {
            let i = self.head[self.least];
            if i != NONE {
                self.remove(i as usize, self.least);
                return Some((i as usize, self.least));
            }
            self.least += 1;
        }
        None
    }
}

/// The order of elimination of a graph given by the neighbours of each node (symmetric, without the node itself).
pub(super) fn minimum_degree(neighbours: Vec<Vec<u32>>) -> Vec<u32> {
    let n = neighbours.len();
    let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    let mut graph = Graph {
        neighbours,
        elements: vec![Vec::new(); n],
        weight: vec![1; n],
        eliminated: vec![false; n],
        members: vec![Vec::new(); n],
        degree,
    };
    let mut buckets = Buckets::new(n);
    for i in (0..n).rev() {
        buckets.insert(i, graph.degree[i]);
    }
    let mut mark = vec![NONE; n]; // stamp of the last element that a node belongs to
    let mut outside = vec![(NONE, 0usize); n]; // (stamp, |Lₑ \ Lₚ|) of each element
    let mut order = Vec::with_capacity(n);
    while let Some((p, _)) = buckets.pop() {
        graph.eliminate(p, &mut mark);
        order.push(p as u32);
        order.append(&mut graph.members[p]);
        let left = n - order.len();
        graph.update_degrees(p, left, (&mut mark, &mut outside), &mut buckets);
        graph.merge_twins(p, &mut buckets);
    }
    order
}

impl Graph {
    /// Turns variable p into the element of all variables it is tied to.
    fn eliminate(&mut self, p: usize, mark: &mut [u32]) {
        let mut together = Vec::new();
        mark[p] = p as u32;
        let own = std::mem::take(&mut self.neighbours[p]);
        let elements = std::mem::take(&mut self.elements[p]);
        for &i in &own {
            self.join(i, p, mark, &mut together);
        }
        for &e in &elements {
            let variables = std::mem::take(&mut self.neighbours[e as usize]);
            for &i in &variables {
                self.join(i, p, mark, &mut together);
            }
            self.weight[e as usize] = 0;
        }
        self.neighbours[p] = together;
        self.eliminated[p] = true;
    }

    fn join(&self, i: u32, p: usize, mark: &mut [u32], together: &mut Vec<u32>) {
        if self.weight[i as usize] > 0 && mark[i as usize] != p as u32 {
            mark[i as usize] = p as u32;
            together.push(i);
        }
    }

    /// Weight of the variables in element e.
    fn size(&self, e: usize) -> usize {
        self.neighbours[e].iter().map(|&i| self.weight[i as usize] as usize).sum()
    }

    /// The bound (1) for the variables of the new element p.
    fn update_degrees(
        &mut self,
        p: usize,
        left: usize,
        stamps: (&mut [u32], &mut [(u32, usize)]),
        buckets: &mut Buckets,
    ) {
        let (mark, outside) = stamps;
        let together = std::mem::take(&mut self.neighbours[p]);
        let total: usize = together.iter().map(|&i| self.weight[i as usize] as usize).sum();
        for &i in &together {
            let weight = self.weight[i as usize] as usize;
            for &e in &self.elements[i as usize] {
                let e = e as usize;
                if self.weight[e] > 0 {
                    if outside[e].0 != p as u32 {
                        outside[e] = (p as u32, self.size(e));
                    }
                    outside[e].1 -= weight;
                }
            }
        }
        for &i in &together {
            let i = i as usize;
            let mut degree = total - self.weight[i] as usize;
            let mut elements = std::mem::take(&mut self.elements[i]);
            // absorbed elements, and those that lie within p, are forgotten
            elements.retain(|&e| self.weight[e as usize] > 0 && outside[e as usize].1 > 0);
            degree += elements.iter().map(|&e| outside[e as usize].1).sum::<usize>();
            elements.push(p as u32);
            self.elements[i] = elements;
            let mut own = std::mem::take(&mut self.neighbours[i]);
            own.retain(|&j| {
                self.weight[j as usize] > 0 && !self.eliminated[j as usize] && mark[j as usize] != p as u32
            });
            degree += own.iter().map(|&j| self.weight[j as usize] as usize).sum::<usize>();
            self.neighbours[i] = own;
            buckets.remove(i, self.degree[i]);
            self.degree[i] = degree.min(left.saturating_sub(self.weight[i] as usize));
            buckets.insert(i, self.degree[i]);
        }
        self.neighbours[p] = together;
    }

    /// Merges variables of element p that have the same neighbours.
    fn merge_twins(&mut self, p: usize, buckets: &mut Buckets) {
        let together = std::mem::take(&mut self.neighbours[p]);
        let mut keyed: Vec<(u64, u32)> = Vec::with_capacity(together.len());
        for &i in &together {
            let (e, a) = (&mut self.elements[i as usize], &mut self.neighbours[i as usize]);
            e.sort_unstable();
            a.sort_unstable();
            let sum =
                e.iter().map(|&x| u64::from(x) + 1).sum::<u64>() * 3 + a.iter().map(|&x| u64::from(x) + 7).sum::<u64>();
            keyed.push((sum, i));
        }
        keyed.sort_unstable();
        for first in 0..keyed.len() {
            let i = keyed[first].1 as usize;
            if self.weight[i] == 0 {
                continue;
            }
            for &(_, j) in keyed[first + 1..].iter().take_while(|x| x.0 == keyed[first].0) {
                let j = j as usize;
                if self.weight[j] == 0
                    || self.elements[i] != self.elements[j]
                    || self.neighbours[i] != self.neighbours[j]
                {
                    continue;
                }
                buckets.remove(j, self.degree[j]);
                buckets.remove(i, self.degree[i]);
                self.degree[i] -= (self.weight[j] as usize).min(self.degree[i]);
                self.weight[i] += self.weight[j];
                self.weight[j] = 0;
                let mut moved = std::mem::take(&mut self.members[j]);
                self.members[i].push(j as u32);
                self.members[i].append(&mut moved);
                buckets.insert(i, self.degree[i]);
            }
        }
        self.neighbours[p] = together.into_iter().filter(|&i| self.weight[i as usize] > 0).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::minimum_degree;

    /// Fill of an order by elimination of sets, the plain way.
    fn fill(neighbours: &[Vec<u32>], order: &[u32]) -> usize {
        let mut sets: Vec<std::collections::BTreeSet<u32>> =
            neighbours.iter().map(|a| a.iter().copied().collect()).collect();
        let mut total = 0;
        for &p in order {
            let around = std::mem::take(&mut sets[p as usize]);
            total += around.len();
            for &i in &around {
                sets[i as usize].remove(&p);
                sets[i as usize].extend(around.iter().filter(|&&j| j != i));
            }
        }
        total
    }

    #[test]
    fn orders_are_permutations_with_little_fill() {
        // a path, a star and a square grid
        let path: Vec<Vec<u32>> = (0..20u32).map(|i| (0..20).filter(|&j| i.abs_diff(j) == 1).collect()).collect();
        let star: Vec<Vec<u32>> = (0..20u32).map(|i| if i == 0 { (1..20).collect() } else { vec![0] }).collect();
        let at = |i: u32| (i / 12, i % 12);
        let grid: Vec<Vec<u32>> = (0..144u32)
            .map(|i| (0..144).filter(|&j| at(i).0.abs_diff(at(j).0) + at(i).1.abs_diff(at(j).1) == 1).collect())
            .collect();
        for (graph, limit) in [(path, 19), (star, 19), (grid, 900)] {
            let order = minimum_degree(graph.clone());
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..graph.len() as u32));
            // trees have no fill; the grid in natural order has 144 · 12 entries
            assert!(fill(&graph, &order) <= limit, "{}", fill(&graph, &order));
        }
    }
}
