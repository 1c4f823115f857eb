//! The normal tree of a circuit and its fundamental loops.
//!
//! ```text
//!     v_link = F v_tree,   i_tree = −Fᵀ i_link,   entries of F are 0, 1 and −1                             (1)
//! ```

use super::{CircuitError, ElementKind, Netlist};

/// A spanning forest with the matrix F of (1).
pub(super) struct Tree {
    /// Branches in the tree and those that are not.
    pub tree: Vec<usize>,
    pub links: Vec<usize>,
    /// (links) entries of F: places in `tree` with their signs.
    pub loops: Vec<Vec<(usize, f64)>>,
    /// (nodes) the potential as a sum of tree voltages, likewise.
    pub potentials: Vec<Vec<(usize, f64)>>,
}

/// How a node hangs in the forest: its parent, the place of the branch in the tree, and the sign of its voltage.
type Hold = Option<(usize, usize, f64)>;

impl Tree {
    pub fn of(netlist: &Netlist) -> Result<Tree, CircuitError> {
        let (tree, links) = grow(netlist);
        let holds = hang(netlist, &tree);
        let potentials: Vec<_> = (0..netlist.nodes).map(|node| climb(&holds, node)).collect();
        let loops: Vec<Vec<(usize, f64)>> = links
            .iter()
            .map(|&link| {
                let [a, b] = netlist.branches[link].nodes;
                difference(&potentials[a], &potentials[b])
            })
            .collect();
        let tree = Tree { tree, links, loops, potentials };
        tree.check(netlist)?;
        Ok(tree)
    }

    /// Sources that contradict each other.
    fn check(&self, netlist: &Netlist) -> Result<(), CircuitError> {
        for (&link, path) in self.links.iter().zip(&self.loops) {
            if matches!(netlist.branches[link].kind, ElementKind::Voltage(_)) {
                let others = path.iter().map(|(place, _)| netlist.name(self.tree[*place]));
                return Err(CircuitError::VoltageLoop(std::iter::once(netlist.name(link)).chain(others).collect()));
            }
        }
        for (place, &branch) in self.tree.iter().enumerate() {
            if matches!(netlist.branches[branch].kind, ElementKind::Current(_)) {
                let crosses = |path: &&Vec<(usize, f64)>| path.iter().any(|(other, _)| *other == place);
                let links = self.links.iter().zip(&self.loops).filter(|(_, path)| crosses(path));
                let others = links.map(|(link, _)| netlist.name(*link));
                return Err(CircuitError::CurrentCut(std::iter::once(netlist.name(branch)).chain(others).collect()));
            }
        }
        Ok(())
    }
}

/// Kruskal's forest in the order of the ranks; among resistors the small ones first, so that (3) of `reduce` is well
/// conditioned. Capacitors whose initial values are given come first, such inductors last: they are states.
fn grow(netlist: &Netlist) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..netlist.branches.len()).collect();
    let size = |branch: usize| match netlist.branches[branch].kind {
        ElementKind::Resistor(r) => r,
        ElementKind::Capacitor(_) => -f64::from(u8::from(netlist.set.contains(&branch))),
        ElementKind::Inductor(_) => f64::from(u8::from(netlist.set.contains(&branch))),
        _ => 0.0,
    };
    let rank = |branch: usize| netlist.branches[branch].kind.rank();
    order.sort_by(|&a, &b| rank(a).cmp(&rank(b)).then(size(a).total_cmp(&size(b))));
    let mut part: Vec<usize> = (0..netlist.nodes).collect();
    let (mut tree, mut links) = (Vec::new(), Vec::new());
    for branch in order {
        let [a, b] = netlist.branches[branch].nodes.map(|node| part[node]);
        if a == b {
            links.push(branch);
        } else {
            tree.push(branch);
            part.iter_mut().filter(|p| **p == b).for_each(|p| *p = a);
        }
    }
    (tree, links)
}

/// Hangs every node into the forest; roots are the ground and the first node of every part without it.
fn hang(netlist: &Netlist, tree: &[usize]) -> Vec<Hold> {
    let mut around: Vec<Vec<(usize, usize, f64)>> = vec![Vec::new(); netlist.nodes];
    for (place, &branch) in tree.iter().enumerate() {
        let [a, b] = netlist.branches[branch].nodes;
        // the potential of a is that of b plus the voltage
        around[b].push((a, place, 1.0));
        around[a].push((b, place, -1.0));
    }
    let mut holds: Vec<Hold> = vec![None; netlist.nodes];
    let mut seen = vec![false; netlist.nodes];
    for root in std::iter::once(netlist.ground).chain(0..netlist.nodes) {
        let mut waiting = if seen[root] { Vec::new() } else { vec![root] };
        seen[root] = true;
        while let Some(node) = waiting.pop() {
            for &(next, place, sign) in &around[node] {
                if !seen[next] {
                    seen[next] = true;
                    holds[next] = Some((node, place, sign));
                    waiting.push(next);
                }
            }
        }
    }
    holds
}

/// The potential of a node: tree voltages on the way to its root.
fn climb(holds: &[Hold], mut node: usize) -> Vec<(usize, f64)> {
    let mut path = Vec::new();
    while let Some((parent, place, sign)) = holds[node] {
        path.push((place, sign));
        node = parent;
    }
    path
}

/// `a − b`, without the part that both share.
fn difference(a: &[(usize, f64)], b: &[(usize, f64)]) -> Vec<(usize, f64)> {
    let shared = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    let minus = b[..b.len() - shared].iter().map(|(place, sign)| (*place, -sign));
    a[..a.len() - shared].iter().copied().chain(minus).collect()
}
