//! The derivation: from energies and gaps to the nodes of (1)-(4).
//!
//! Small models are derived entry by entry, which makes the shortest tapes. Where that would take too many derivatives,
//! gradients come from sweeps backward, rates along the motion from sweeps forward, and the matrices (2) stay out: the
//! model takes them from forward derivatives of the force's tape.

use std::cell::Cell;
use std::ops::Range;

use super::{Slip, Source};
use crate::expression::{Graph, NodeId, ZERO};

/// Why energies do not make a mechanical model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EquationError {
    /// A kinetic energy that is not quadratic in the velocities.
    #[error(
        "the kinetic energy must be quadratic in the velocities, but the mass entry ({a}, {b}) depends on {velocity}'"
    )]
    NotQuadratic {
        /// Coordinate of the row of the mass entry.
        a: String,
        /// Coordinate of its column.
        b: String,
        /// Coordinate on whose velocity the entry depends.
        velocity: String,
    },
    /// A mass that changes with time itself.
    #[error("the mass entry ({a}, {b}) depends on time; only terms linear in the velocities may")]
    MassOfTime {
        /// Coordinate of the row of the mass entry.
        a: String,
        /// Coordinate of its column.
        b: String,
    },
    /// A potential energy that depends on velocities.
    #[error("the potential energy depends on the velocity {velocity}'")]
    PotentialOfVelocity {
        /// Coordinate of the velocity.
        velocity: String,
    },
    /// A gap, or a slip given as displacement, that depends on velocities.
    #[error("{output} of `{law}` depends on the velocity {velocity}'")]
    OutputOfVelocity {
        /// Name of the law.
        law: String,
        /// `the gap` or `a slip`.
        output: &'static str,
        /// Coordinate of the velocity.
        velocity: String,
    },
    /// A slip given as velocity that is not affine in the velocities.
    #[error("the sliding velocity of `{law}` is not linear in the velocity {velocity}'")]
    SlidingNotLinear {
        /// Name of the law.
        law: String,
        /// Coordinate of the velocity.
        velocity: String,
    },
    /// A law with too few or too many expressions for its rows.
    #[error("`{law}` needs {expected} expressions, {found} are given")]
    Outputs {
        /// Name of the law.
        law: String,
        /// Number of rows of the law.
        expected: usize,
        /// Number of expressions.
        found: usize,
    },
    /// More operations than a model may have.
    #[error("the equations have more than {most} operations, with {coordinates} coordinates")]
    TooLarge {
        /// Number of coordinates.
        coordinates: usize,
        /// Number of operations that is allowed.
        most: usize,
    },
}

/// Every derivative of a model, as nodes of its graph. Matrices are row-major.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived {
    pub mass: Vec<NodeId>,
    pub force: Vec<NodeId>,
    /// (2), unless it is too large.
    pub tangents: Option<Tangents>,
    /// (laws) gaps and constraint values.
    pub gaps: Vec<NodeId>,
    /// (rows × n)
    pub rows: Vec<NodeId>,
    /// (rows)
    pub drift: Vec<NodeId>,
    /// (rows)
    pub curvature: Vec<NodeId>,
    pub energy: [Option<NodeId>; 2],
    /// Power of the forces without potential.
    pub applied_power: Option<NodeId>,
}

/// (2), row-major.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tangents {
    pub stiffness: Vec<NodeId>,
    pub damping: Vec<NodeId>,
}

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Number of models whose equations this thread has derived: a program that derives more often than it must is found by
/// it.
pub fn derivations() -> u64 {
    COUNT.with(Cell::get)
}

pub(super) fn count() {
    COUNT.with(|count| count.set(count.get() + 1));
}

/// Number of single derivatives beyond which equations are derived by sweeps.
pub(super) const SINGLE: usize = 1_000_000;

impl Derived {
    /// All derivatives; the graph may have `most` nodes.
    pub fn of(source: &mut Source, most: usize) -> Result<Derived, EquationError> {
        count();
        let graph = source.graph.clone();
        let mut derived = Derivation { source, by_sweeps: false, most: SINGLE }.derive();
        if matches!(derived, Err(EquationError::TooLarge { .. })) {
            source.graph = graph;
            derived = Derivation { source, by_sweeps: true, most }.derive();
        }
        let coordinates = source.coordinates.len();
        if source.graph.count() > most { Err(EquationError::TooLarge { coordinates, most }) } else { derived }
    }
}

/// A derivation on its way.
struct Derivation<'a> {
    source: &'a mut Source,
    by_sweeps: bool,
    // nodes with sweeps, single derivatives otherwise
    most: usize,
}

impl Derivation<'_> {
    fn derive(mut self) -> Result<Derived, EquationError> {
        let n = self.source.coordinates.len();
        let mut d = Derived::default();
        if let Some(velocity) = self.velocity_in(&[self.source.potential]) {
            return Err(EquationError::PotentialOfVelocity { velocity });
        }
        let (positions, velocities) = (self.source.position(0), self.source.velocity(0));
        let slopes = if self.by_sweeps { positions..velocities + n } else { velocities..velocities + n };
        let mut slopes = self.gradient(self.source.kinetic, slopes)?;
        let momenta = slopes.split_off(slopes.len() - n);
        d.mass = self.mass(&momenta)?;
        d.force = if self.by_sweeps { self.forces(&slopes, &momenta)? } else { self.forces_singly(&momenta)? };
        d.tangents = if self.by_sweeps { None } else { Some(self.tangents(&d.force)?) };
        self.couple(&mut d)?;
        d.energy = [Some(self.source.kinetic), Some(self.source.potential)];
        let powers: Vec<NodeId> = (0..n)
            .map(|i| {
                let v = self.source.graph.input(self.source.velocity(i));
                self.source.graph.multiply(self.source.forces[i], v)
            })
            .collect();
        d.applied_power = Some(self.source.graph.sum(powers));
        Ok(d)
    }

    /// The partial derivatives by each of the slots.
    fn gradient(&mut self, node: NodeId, slots: Range<usize>) -> Result<Vec<NodeId>, EquationError> {
        let graph = &mut self.source.graph;
        let gradient = if self.by_sweeps { graph.gradient_by_sweep(node, slots) } else { graph.gradient(node, slots) };
        self.within_budget().map(|()| gradient)
    }

    fn within_budget(&self) -> Result<(), EquationError> {
        let graph = &self.source.graph;
        let used = if self.by_sweeps { graph.count() } else { graph.derivatives() };
        let (coordinates, most) = (self.source.coordinates.len(), self.most);
        if used > most { Err(EquationError::TooLarge { coordinates, most }) } else { Ok(()) }
    }

    /// The first velocity that one of the nodes reads.
    fn velocity_in(&self, nodes: &[NodeId]) -> Option<String> {
        let (first, names) = (self.source.velocity(0), &self.source.coordinates);
        let slot = self.source.graph.first_input(nodes, first..first + names.len())?;
        Some(names[slot - first].clone())
    }

    /// M, which must depend on coordinates alone.
    fn mass(&mut self, momenta: &[NodeId]) -> Result<Vec<NodeId>, EquationError> {
        let (n, first) = (momenta.len(), self.source.velocity(0));
        let mut mass = vec![ZERO; n * n];
        for (i, &momentum) in momenta.iter().enumerate() {
            // sweeps make one triangle
            let columns = if self.by_sweeps { i + 1 } else { n };
            for (j, entry) in self.gradient(momentum, first..first + columns)?.into_iter().enumerate() {
                mass[n * i + j] = entry;
                if self.by_sweeps {
                    mass[n * j + i] = entry;
                }
            }
        }
        let moving = self.velocity_in(&mass).is_some();
        if moving || self.source.graph.first_input(&mass, Source::TIME..Source::TIME + 1).is_some() {
            for (k, &entry) in mass.iter().enumerate() {
                let [a, b] = [k / n, k % n].map(|x| self.source.coordinates[x].clone());
                if let Some(velocity) = self.velocity_in(&[entry]) {
                    return Err(EquationError::NotQuadratic { a, b, velocity });
                }
                if self.source.graph.depends_on(entry, Source::TIME) {
                    return Err(EquationError::MassOfTime { a, b });
                }
            }
        }
        Ok(mass)
    }

    /// F of (1) entry by entry.
    fn forces_singly(&mut self, momenta: &[NodeId]) -> Result<Vec<NodeId>, EquationError> {
        let mut forces = Vec::new();
        for (i, &momentum) in momenta.iter().enumerate() {
            forces.push(force(self.source, i, momentum));
            self.within_budget()?;
        }
        Ok(forces)
    }

    /// F of (1), with the slopes of the kinetic energy along the coordinates.
    fn forces(&mut self, slopes: &[NodeId], momenta: &[NodeId]) -> Result<Vec<NodeId>, EquationError> {
        let first = self.source.position(0);
        let potential = self.gradient(self.source.potential, first..first + momenta.len())?;
        let rates = rates(self.source, momenta);
        let graph = &mut self.source.graph;
        let rows = potential.into_iter().zip(rates).zip(slopes).zip(&self.source.forces);
        let forces = rows.map(|(((potential, rate), &slope), &force)| {
            let terms = [force, graph.negate(potential), slope, graph.negate(rate)];
            graph.sum(terms)
        });
        let forces = forces.collect();
        self.within_budget().map(|()| forces)
    }

    /// (2)
    fn tangents(&mut self, force: &[NodeId]) -> Result<Tangents, EquationError> {
        let mut tangents = Tangents::default();
        for &force in force {
            for j in 0..self.source.coordinates.len() {
                let (q, v) = (self.source.position(j), self.source.velocity(j));
                tangents.stiffness.push(minus_derivative(&mut self.source.graph, force, q));
                tangents.damping.push(minus_derivative(&mut self.source.graph, force, v));
            }
            self.within_budget()?;
        }
        Ok(tangents)
    }

    /// (3) for every output of every law.
    fn couple(&mut self, d: &mut Derived) -> Result<(), EquationError> {
        for k in 0..self.source.laws.len() {
            let law = self.source.laws[k].clone();
            if law.outputs.len() != law.law.size() {
                return Err(EquationError::Outputs {
                    law: law.name,
                    expected: law.law.size(),
                    found: law.outputs.len(),
                });
            }
            d.gaps.push(law.outputs[0]);
            for (which, &y) in law.outputs.iter().enumerate() {
                if which > 0 && law.slip == Slip::Velocity {
                    self.velocity_output(d, &law.name, y)?;
                } else {
                    self.displacement_output(d, &law.name, (which, y))?;
                }
            }
        }
        Ok(())
    }

    /// (3) of the gap (`which` = 0) or of a slip.
    fn displacement_output(
        &mut self,
        d: &mut Derived,
        law: &str,
        (which, y): (usize, NodeId),
    ) -> Result<(), EquationError> {
        if let Some(velocity) = self.velocity_in(&[y]) {
            let output = if which == 0 { "the gap" } else { "a slip" };
            return Err(EquationError::OutputOfVelocity { law: law.to_owned(), output, velocity });
        }
        let (n, first) = (self.source.coordinates.len(), self.source.position(0));
        let u = self.rate(y);
        d.rows.extend(self.gradient(y, first..first + n)?);
        d.drift.push(self.source.graph.derivative(y, Source::TIME));
        d.curvature.push(self.rate(u));
        self.within_budget()
    }

    /// (4) of a slip that is given as a velocity.
    fn velocity_output(&mut self, d: &mut Derived, law: &str, u: NodeId) -> Result<(), EquationError> {
        let (n, first) = (self.source.coordinates.len(), self.source.velocity(0));
        let mut terms = vec![u];
        let rows = self.gradient(u, first..first + n)?;
        if let Some(velocity) = rows.iter().find_map(|&row| self.velocity_in(&[row])) {
            return Err(EquationError::SlidingNotLinear { law: law.to_owned(), velocity });
        }
        for (j, &row) in rows.iter().enumerate() {
            let v = self.source.graph.input(first + j);
            let part = self.source.graph.multiply(row, v);
            terms.push(self.source.graph.negate(part));
        }
        d.rows.extend(rows);
        // what is left of u at zero velocity; the coupling evaluates it there, so that cancelling need not be symbolic
        let drift = self.source.graph.sum(terms);
        d.drift.push(drift);
        d.curvature.push(self.rate(u));
        self.within_budget()
    }

    /// The rate of x along the motion, without accelerations.
    fn rate(&mut self, x: NodeId) -> NodeId {
        if self.by_sweeps { rates(self.source, &[x])[0] } else { total_derivative(self.source, x) }
    }
}

/// The rates of the nodes along the motion, without accelerations, by one sweep.
fn rates(source: &mut Source, nodes: &[NodeId]) -> Vec<NodeId> {
    let (first, n) = (source.position(0), source.coordinates.len());
    let velocities: Vec<NodeId> = (0..n).map(|i| source.graph.input(source.velocity(i))).collect();
    let one = source.graph.constant(1.0);
    source.graph.rates(nodes, |slot| match slot {
        Source::TIME => one,
        slot => slot.checked_sub(first).and_then(|i| velocities.get(i)).copied().unwrap_or(ZERO),
    })
}

/// Row i of (1).
fn force(source: &mut Source, i: usize, momentum: NodeId) -> NodeId {
    let (q, n) = (source.position(i), source.coordinates.len());
    let mut terms = vec![source.forces[i]];
    terms.push(minus_derivative(&mut source.graph, source.potential, q));
    terms.push(source.graph.derivative(source.kinetic, q));
    for j in 0..n {
        let (qj, vj) = (source.position(j), source.velocity(j));
        let mixed = minus_derivative(&mut source.graph, momentum, qj);
        let v = source.graph.input(vj);
        terms.push(source.graph.multiply(mixed, v));
    }
    terms.push(minus_derivative(&mut source.graph, momentum, Source::TIME));
    source.graph.sum(terms)
}

/// `x_q v + x_t`: the rate of x along the motion, without accelerations.
fn total_derivative(source: &mut Source, x: NodeId) -> NodeId {
    let mut terms = vec![source.graph.derivative(x, Source::TIME)];
    for j in 0..source.coordinates.len() {
        let (qj, vj) = (source.position(j), source.velocity(j));
        let d = source.graph.derivative(x, qj);
        let v = source.graph.input(vj);
        terms.push(source.graph.multiply(d, v));
    }
    source.graph.sum(terms)
}

fn minus_derivative(graph: &mut Graph, node: NodeId, slot: usize) -> NodeId {
    let d = graph.derivative(node, slot);
    graph.negate(d)
}
