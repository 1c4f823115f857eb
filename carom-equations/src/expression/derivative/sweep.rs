//! Derivatives by one sweep over the graph, for expressions of many inputs: the cost is a few times that of the
//! expression itself, whatever the number of inputs is.
//!
//! ```text
//!     backward:  w̄(node) = 1,   w̄(operand) += w̄(operation) · ∂operation/∂operand                         (1)
//!     forward:   ẋ(operation) = Σ ∂operation/∂operand · ẋ(operand)                                        (2)
//! ```
//!
//! Both use the rules of single derivatives, which are linear in those of the operands; the values agree with them up
//! to rounding.

use super::{Graph, Node, NodeId, ZERO};
use std::ops::Range;

impl Graph {
    /// (1): the partial derivatives of `node` with respect to all of the slots.
    pub fn gradient_by_sweep(&mut self, node: NodeId, slots: Range<usize>) -> Vec<NodeId> {
        let end = node.0 as usize + 1;
        let place = |slot: u32| (slot as usize).checked_sub(slots.start).filter(|&at| at < slots.len());
        let mut moves = vec![false; end];
        for id in 0..end {
            let own = self.node(NodeId(id as u32));
            moves[id] = match own {
                Node::Input(slot) => place(slot).is_some(),
                _ => own.children().any(|child| moves[child.0 as usize]),
            };
        }
        let mut gradient = vec![ZERO; slots.len()];
        let mut weights = vec![ZERO; end];
        weights[end - 1] = self.constant(1.0);
        for at in (0..end).rev().filter(|&at| moves[at]) {
            let (id, weight) = (NodeId(at as u32), weights[at]);
            if weight == ZERO {
                continue;
            }
            if let Node::Input(slot) = self.node(id)
                && let Some(to) = place(slot)
            {
                gradient[to] = weight;
                continue;
            }
            for (k, child) in self.operands(id).into_iter().enumerate() {
                if moves[child.0 as usize] {
                    let mut parts = [ZERO; 3];
                    parts[k] = weight;
                    let part = self.differentiate(id, parts);
                    weights[child.0 as usize] = self.add(weights[child.0 as usize], part);
                }
            }
        }
        gradient
    }

    /// (2): the rates of the nodes where the input of each slot has the rate that `rate` tells.
    pub fn rates(&mut self, nodes: &[NodeId], rate: impl Fn(usize) -> NodeId) -> Vec<NodeId> {
        let end = nodes.iter().map(|node| node.0 as usize + 1).max().unwrap_or(0);
        let mut needed = vec![false; end];
        nodes.iter().for_each(|node| needed[node.0 as usize] = true);
        for at in (0..end).rev() {
            if needed[at] {
                self.node(NodeId(at as u32)).children().for_each(|child| needed[child.0 as usize] = true);
            }
        }
        let mut rates = vec![ZERO; end];
        for at in (0..end).filter(|&at| needed[at]) {
            let id = NodeId(at as u32);
            rates[at] = match self.node(id) {
                Node::Input(slot) => rate(slot as usize),
                _ => {
                    let parts = self.operands(id).map(|child| rates[child.0 as usize]);
                    if parts == [ZERO; 3] { ZERO } else { self.differentiate(id, parts) }
                }
            };
        }
        nodes.iter().map(|node| rates[node.0 as usize]).collect()
    }
}
