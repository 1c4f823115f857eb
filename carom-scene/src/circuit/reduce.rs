//! From a normal tree to the matrices of a complementarity system.
//!
//! Every voltage and current is a row over the columns `[x | λ | σ]`. Resistors in the tree (`t`) and among the links
//! (`l`) are solved from
//!
//! ```text
//!     [  R_l     −F_lt ] [ i_l ]   [  F v   ]
//!     [                ] [     ] = [        ]        with the other tree voltages v and link currents i,    (3)
//!     [ F_ltᵀ     G_t  ] [ v_t ]   [ −Fᵀ i  ]
//! ```
//!
//! scaled by the roots of resistances to `I` plus a skew matrix with entries of at most 1. States follow from
//!
//! ```text
//!     (C_t + Fᵀ C_l F) v' = i_C − Fᵀ C_l F σ',     (L_l + F L_t Fᵀ) i' = v_L − F L_t Fᵀ σ'                 (4)
//! ```
//!
//! where the second terms belong to capacitors and inductors that are no states.

use super::tree::Tree;
use super::{CircuitError, ElementKind, Netlist, Short};
use carom_solve::{DenseLu, LinearSolve};

/// A quantity over the columns `[x | λ | σ]`, where σ are the sources and then their derivatives.
pub type Row = Vec<f64>;

/// What a row of results stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Potential of a node against the ground [V].
    Potential(usize),
    /// Voltage of a branch [V].
    Voltage(usize),
    /// Current of a branch [A].
    Current(usize),
}

/// A circuit as a complementarity system.
#[derive(Clone, Debug, PartialEq)]
pub struct Reduced {
    /// Branches whose voltage (capacitors) or current (inductors) is a state.
    pub states: Vec<usize>,
    /// Diodes and switches; whether their voltage is the multiplier (in the tree), or their current.
    pub pairs: Vec<(usize, bool)>,
    /// Capacitors and inductors that are no states, each with those that fix them.
    pub dependent: Vec<(usize, Vec<usize>)>,
    /// Loops in which voltage sources may be shorted.
    pub shorts: Vec<Short>,
    /// Number of sources; σ has twice as many columns.
    pub sources: usize,
    /// (states) x'.
    pub rates: Vec<Row>,
    /// (pairs) y.
    pub outputs: Vec<Row>,
    /// Potentials of all nodes, voltages and currents of all branches.
    pub quantities: Vec<(Quantity, Row)>,
}

/// The work of a reduction.
struct Work<'a> {
    netlist: &'a Netlist,
    tree: &'a Tree,
    columns: usize,
    /// (tree) voltages and (links) currents that are known so far.
    voltage: Vec<Row>,
    current: Vec<Row>,
}

pub(super) fn reduce(netlist: &Netlist, tree: &Tree) -> Result<Reduced, CircuitError> {
    let in_tree = |branch: usize| tree.tree.contains(&branch);
    let pick = |wanted: &dyn Fn(usize) -> bool| (0..netlist.branches.len()).filter(|&b| wanted(b)).collect::<Vec<_>>();
    let kind = |branch: usize| netlist.branches[branch].kind;
    let capacitors = pick(&|b| matches!(kind(b), ElementKind::Capacitor(_)) && in_tree(b));
    let inductors = pick(&|b| matches!(kind(b), ElementKind::Inductor(_)) && !in_tree(b));
    let states = [capacitors, inductors].concat();
    let pairs: Vec<(usize, bool)> = pick(&|b| matches!(kind(b), ElementKind::Diode | ElementKind::Switch))
        .into_iter()
        .map(|b| (b, in_tree(b)))
        .collect();
    let columns = states.len() + pairs.len() + 2 * netlist.sources;
    let mut work = Work {
        netlist,
        tree,
        columns,
        voltage: vec![vec![0.0; columns]; tree.tree.len()],
        current: vec![vec![0.0; columns]; tree.links.len()],
    };
    work.start(&states, &pairs);
    work.resistors()?;
    let rates = work.rates(&states)?;
    let dependent = work.dependent(&states, &rates);
    let (voltages, currents) = work.branches();
    let outputs = pairs
        .iter()
        .map(|&(branch, in_tree)| {
            let sign = if !in_tree && kind(branch) == ElementKind::Diode { -1.0 } else { 1.0 };
            let row = if in_tree { &currents[branch] } else { &voltages[branch] };
            row.iter().map(|x| sign * x).collect()
        })
        .collect();
    let mut quantities = Vec::new();
    for (node, path) in tree.potentials.iter().enumerate() {
        quantities.push((Quantity::Potential(node), work.sum(path)));
    }
    quantities.extend(voltages.into_iter().enumerate().map(|(b, row)| (Quantity::Voltage(b), row)));
    quantities.extend(currents.into_iter().enumerate().map(|(b, row)| (Quantity::Current(b), row)));
    let shorts = Short::all(netlist, tree);
    Ok(Reduced { states, pairs, dependent, shorts, sources: netlist.sources, rates, outputs, quantities })
}

fn add(to: &mut [f64], factor: f64, row: &[f64]) {
    to.iter_mut().zip(row).for_each(|(to, x)| *to += factor * x);
}

impl Work<'_> {
    fn kind(&self, branch: usize) -> ElementKind {
        self.netlist.branches[branch].kind
    }

    /// A sum of tree voltages.
    fn sum(&self, path: &[(usize, f64)]) -> Row {
        let mut row = vec![0.0; self.columns];
        path.iter().for_each(|&(place, sign)| add(&mut row, sign, &self.voltage[place]));
        row
    }

    /// Entry of F.
    fn entry(&self, link: usize, place: usize) -> f64 {
        self.tree.loops[link].iter().find(|(other, _)| *other == place).map_or(0.0, |(_, sign)| *sign)
    }

    /// Places in the tree, or among the links, of branches of a kind.
    fn places(&self, of: &[usize], wanted: fn(ElementKind) -> bool) -> Vec<usize> {
        (0..of.len()).filter(|&place| wanted(self.kind(of[place]))).collect()
    }

    /// States, multipliers and sources are columns of their own.
    fn start(&mut self, states: &[usize], pairs: &[(usize, bool)]) {
        let (n, m) = (states.len(), pairs.len());
        let column = |branch: usize, kind: ElementKind| match kind {
            ElementKind::Voltage(source) | ElementKind::Current(source) => Some((n + m + source, 1.0)),
            // in the tree λ = −v of a diode
            ElementKind::Diode | ElementKind::Switch => pairs
                .iter()
                .position(|pair| pair.0 == branch)
                .map(|k| (n + k, if pairs[k].1 && kind == ElementKind::Diode { -1.0 } else { 1.0 })),
            ElementKind::Capacitor(_) | ElementKind::Inductor(_) => {
                states.iter().position(|s| *s == branch).map(|k| (k, 1.0))
            }
            ElementKind::Resistor(_) => None,
        };
        for (rows, branches) in [(&mut self.voltage, &self.tree.tree), (&mut self.current, &self.tree.links)] {
            for (row, &branch) in rows.iter_mut().zip(branches) {
                if let Some((at, value)) = column(branch, self.netlist.branches[branch].kind) {
                    row[at] = value;
                }
            }
        }
    }

    /// Equation (3).
    fn resistors(&mut self) -> Result<(), CircuitError> {
        let resistor = |kind| matches!(kind, ElementKind::Resistor(_));
        let (links, tree) = (self.places(&self.tree.links, resistor), self.places(&self.tree.tree, resistor));
        let (p, size) = (links.len(), links.len() + tree.len());
        if size == 0 {
            return Ok(());
        }
        let resistance = |branch: usize| if let ElementKind::Resistor(r) = self.kind(branch) { r } else { 1.0 };
        // unknowns are i √R and v / √R
        let scale: Vec<f64> = links
            .iter()
            .map(|&l| resistance(self.tree.links[l]).sqrt())
            .chain(tree.iter().map(|&t| 1.0 / resistance(self.tree.tree[t]).sqrt()))
            .collect();
        let mut matrix = vec![0.0; size * size];
        for i in 0..size {
            matrix[i * size + i] = 1.0;
        }
        for (i, &link) in links.iter().enumerate() {
            for (j, &place) in tree.iter().enumerate() {
                let k = self.entry(link, place) / (scale[i] * scale[p + j]);
                matrix[i * size + p + j] = -k;
                matrix[(p + j) * size + i] = k;
            }
        }
        let mut right = Vec::with_capacity(size);
        for (i, &link) in links.iter().enumerate() {
            // tree resistors are still zero
            right.push(self.sum(&self.tree.loops[link]).iter().map(|x| x / scale[i]).collect::<Row>());
        }
        for (j, &place) in tree.iter().enumerate() {
            right.push(self.cut(place).iter().map(|x| x / scale[p + j]).collect());
        }
        let name = |k: usize| match links.get(k) {
            Some(&link) => self.netlist.name(self.tree.links[link]),
            None => self.netlist.name(self.tree.tree[tree[k - p]]),
        };
        let solved = solve(size, &matrix, &right).map_err(|k| CircuitError::Singular(name(k)))?;
        for (i, row) in solved.into_iter().enumerate() {
            let row = row.into_iter().map(|x| x / scale[i]).collect();
            match links.get(i) {
                Some(&link) => self.current[link] = row,
                None => self.voltage[tree[i - p]] = row,
            }
        }
        Ok(())
    }

    /// The current of a tree branch by (1) of `tree`, from link currents known so far.
    fn cut(&self, place: usize) -> Row {
        let mut row = vec![0.0; self.columns];
        for link in 0..self.tree.links.len() {
            let sign = self.entry(link, place);
            if sign != 0.0 {
                add(&mut row, -sign, &self.current[link]);
            }
        }
        row
    }

    /// Column of the derivative of a source.
    fn derivative(&self, source: usize) -> usize {
        self.columns - self.netlist.sources + source
    }

    /// Equation (4). Capacitors among the links and inductors in the tree are still zero rows.
    fn rates(&self, states: &[usize]) -> Result<Vec<Row>, CircuitError> {
        let n = states.len();
        let mut matrix = vec![0.0; n * n];
        let mut right = Vec::with_capacity(n);
        let place_of = |branches: &[usize], branch: usize| branches.iter().position(|b| *b == branch).unwrap_or(0);
        for (i, &branch) in states.iter().enumerate() {
            if let ElementKind::Capacitor(own) = self.kind(branch) {
                let place = place_of(&self.tree.tree, branch);
                let mut row = self.cut(place);
                matrix[i * n + i] += own;
                for (link, path) in self.tree.loops.iter().enumerate() {
                    let ElementKind::Capacitor(c) = self.kind(self.tree.links[link]) else { continue };
                    let sign = self.entry(link, place);
                    for &(other, factor) in path.iter().filter(|_| sign != 0.0) {
                        let other = self.tree.tree[other];
                        match self.kind(other) {
                            ElementKind::Voltage(source) => row[self.derivative(source)] -= sign * c * factor,
                            _ => matrix[i * n + place_of(states, other)] += sign * c * factor,
                        }
                    }
                }
                right.push(row);
            } else if let ElementKind::Inductor(own) = self.kind(branch) {
                let link = place_of(&self.tree.links, branch);
                let mut row = self.sum(&self.tree.loops[link]);
                matrix[i * n + i] += own;
                for &(place, sign) in &self.tree.loops[link] {
                    let ElementKind::Inductor(l) = self.kind(self.tree.tree[place]) else { continue };
                    for (other, &other_branch) in self.tree.links.iter().enumerate() {
                        let factor = sign * l * self.entry(other, place);
                        match self.kind(other_branch) {
                            ElementKind::Current(source) => row[self.derivative(source)] -= factor,
                            ElementKind::Inductor(_) => matrix[i * n + place_of(states, other_branch)] += factor,
                            _ => {}
                        }
                    }
                }
                right.push(row);
            }
        }
        // the matrix is symmetric and positive definite: scaled to a unit diagonal
        let scale: Vec<f64> = (0..n).map(|i| matrix[i * n + i].sqrt()).collect();
        for i in 0..n {
            right[i].iter_mut().for_each(|x| *x /= scale[i]);
            for j in 0..n {
                matrix[i * n + j] /= scale[i] * scale[j];
            }
        }
        let mut rates = solve(n, &matrix, &right).map_err(|k| CircuitError::Singular(self.netlist.name(states[k])))?;
        for (row, scale) in rates.iter_mut().zip(&scale) {
            row.iter_mut().for_each(|x| *x /= scale);
        }
        Ok(rates)
    }

    /// Currents of capacitors and voltages of inductors that are no states, and what fixes them.
    fn dependent(&mut self, states: &[usize], rates: &[Row]) -> Vec<(usize, Vec<usize>)> {
        let mut list = Vec::new();
        let rate = |branch: usize| states.iter().position(|s| *s == branch).map(|k| &rates[k]);
        for link in 0..self.tree.links.len() {
            let branch = self.tree.links[link];
            let ElementKind::Capacitor(c) = self.kind(branch) else { continue };
            let mut row = vec![0.0; self.columns];
            for &(place, sign) in &self.tree.loops[link] {
                let other = self.tree.tree[place];
                match self.kind(other) {
                    ElementKind::Voltage(source) => row[self.derivative(source)] += sign * c,
                    _ => add(&mut row, sign * c, rate(other).map_or(&[], |row| row)),
                }
            }
            self.current[link] = row;
            list.push((branch, self.tree.loops[link].iter().map(|(place, _)| self.tree.tree[*place]).collect()));
        }
        for place in 0..self.tree.tree.len() {
            let branch = self.tree.tree[place];
            let ElementKind::Inductor(l) = self.kind(branch) else { continue };
            let (mut row, mut fixing) = (vec![0.0; self.columns], Vec::new());
            for link in 0..self.tree.links.len() {
                let (other, factor) = (self.tree.links[link], -l * self.entry(link, place));
                if factor == 0.0 {
                    continue;
                }
                fixing.push(other);
                match self.kind(other) {
                    ElementKind::Current(source) => row[self.derivative(source)] += factor,
                    _ => add(&mut row, factor, rate(other).map_or(&[], |row| row)),
                }
            }
            self.voltage[place] = row;
            list.push((branch, fixing));
        }
        list
    }

    /// (branches) voltages and currents of all branches.
    fn branches(&self) -> (Vec<Row>, Vec<Row>) {
        let empty = || vec![vec![0.0; self.columns]; self.netlist.branches.len()];
        let (mut voltages, mut currents) = (empty(), empty());
        for (place, &branch) in self.tree.tree.iter().enumerate() {
            voltages[branch].clone_from(&self.voltage[place]);
            currents[branch] = self.cut(place);
        }
        for (link, &branch) in self.tree.links.iter().enumerate() {
            voltages[branch] = self.sum(&self.tree.loops[link]);
            currents[branch].clone_from(&self.current[link]);
        }
        (voltages, currents)
    }
}

/// A sum that is smaller than this part of its terms has cancelled: the quantity does not depend on that column.
const ROUND_OFF: f64 = 1e-14;

/// Solves for all columns of the right-hand side; fails with the row whose pivot vanishes. The matrices here are
/// scaled, so that their inverses are of size 1.
fn solve(n: usize, matrix: &[f64], right: &[Row]) -> Result<Vec<Row>, usize> {
    let columns = right.first().map_or(0, Vec::len);
    let mut lu = DenseLu::default();
    lu.matrix_mut(n).copy_from_slice(matrix);
    lu.factor().map_err(|singular| singular.column)?;
    // by the inverse, whose terms tell what cancels
    let mut solution = vec![vec![0.0; columns]; n];
    let mut sizes = solution.clone();
    let mut column = vec![0.0; n];
    for k in 0..n {
        column.fill(0.0);
        column[k] = 1.0;
        lu.solve(&mut column);
        for (i, factor) in column.iter().enumerate().filter(|(_, x)| x.abs() > f64::EPSILON) {
            for (j, x) in right[k].iter().enumerate().filter(|(_, x)| **x != 0.0) {
                solution[i][j] += factor * x;
                sizes[i][j] += (factor * x).abs();
            }
        }
    }
    for (row, sizes) in solution.iter_mut().zip(&sizes) {
        row.iter_mut().zip(sizes).filter(|(x, size)| x.abs() <= ROUND_OFF * **size).for_each(|(x, _)| *x = 0.0);
    }
    Ok(solution)
}
