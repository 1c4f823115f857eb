//! What a netlist tells before its equations are made: parts that float, nodes that dangle, sources that may be
//! shorted.

use super::tree::Tree;
use super::{ElementKind, Netlist};

/// A loop of voltage sources, diodes and switches alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Short {
    /// Sources by number, with their signs in the voltage around the loop.
    pub sources: Vec<(usize, f64)>,
    /// Branches of the sources.
    pub voltages: Vec<usize>,
    /// Branches that are diodes or switches.
    pub path: Vec<usize>,
    /// Whether a positive and a negative voltage drives a current, once all switches are closed.
    pub drives: [bool; 2],
}

impl Short {
    /// The loops of a tree.
    pub(super) fn all(netlist: &Netlist, tree: &Tree) -> Vec<Short> {
        let loops = tree.links.iter().zip(&tree.loops);
        loops.filter_map(|(&link, path)| Short::of(netlist, tree, link, path)).collect()
    }

    fn of(netlist: &Netlist, tree: &Tree, link: usize, path: &[(usize, f64)]) -> Option<Short> {
        let kind = |branch: usize| netlist.branches[branch].kind;
        // the voltage of a diode is never positive, that of a closed switch is zero
        let drives = match kind(link) {
            ElementKind::Diode => [true, false],
            ElementKind::Switch => [true, true],
            _ => return None,
        };
        let mut short = Short { sources: Vec::new(), voltages: Vec::new(), path: vec![link], drives };
        for &(place, sign) in path {
            let branch = tree.tree[place];
            match kind(branch) {
                ElementKind::Voltage(source) => {
                    short.sources.push((source, sign));
                    short.voltages.push(branch);
                }
                ElementKind::Switch => short.path.push(branch),
                ElementKind::Diode => {
                    // it takes a voltage of one sign upon itself
                    short.drives[usize::from(sign < 0.0)] = false;
                    short.path.push(branch);
                }
                _ => return None,
            }
        }
        (!short.sources.is_empty() && short.drives.contains(&true)).then_some(short)
    }
}

impl Netlist {
    /// The part of each node that is connected, by the number of one of its nodes.
    fn parts(&self) -> Vec<usize> {
        let mut part: Vec<usize> = (0..self.nodes).collect();
        for branch in &self.branches {
            let [a, b] = branch.nodes.map(|node| part[node]);
            part.iter_mut().filter(|p| **p == b).for_each(|p| *p = a);
        }
        part
    }

    /// Nodes of each part that is not connected to the ground.
    pub fn floating(&self) -> Vec<Vec<usize>> {
        let part = self.parts();
        let mut found: Vec<Vec<usize>> = Vec::new();
        for node in (0..self.nodes).filter(|&node| part[node] != part[self.ground]) {
            match found.iter_mut().find(|nodes| part[nodes[0]] == part[node]) {
                Some(nodes) => nodes.push(node),
                None => found.push(vec![node]),
            }
        }
        found
    }

    /// Nodes at which a single branch ends, with the branch.
    pub fn dangling(&self) -> Vec<(usize, usize)> {
        let ends = |node: usize| self.branches.iter().enumerate().filter(move |(_, b)| b.nodes.contains(&node));
        let alone = |node: usize| ends(node).next().filter(|_| ends(node).count() == 1);
        (0..self.nodes).filter_map(|node| alone(node).map(|(branch, _)| (node, branch))).collect()
    }
}
