//! The derivation: from energies and gaps to the nodes of (1)-(4).

use std::cell::Cell;

use super::{Slip, Source};
use crate::expression::{Graph, NodeId};

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
}

/// Every derivative of a model, as nodes of its graph. Matrices are row-major.
#[derive(Clone, Debug, Default)]
pub(crate) struct Derived {
    pub mass: Vec<NodeId>,
    pub force: Vec<NodeId>,
    pub stiffness: Vec<NodeId>,
    pub damping: Vec<NodeId>,
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

impl Derived {
    pub fn of(source: &mut Source) -> Result<Derived, EquationError> {
        count();
        let n = source.coordinates.len();
        let mut d = Derived::default();
        for i in 0..n {
            if source.graph.depends_on(source.potential, source.velocity(i)) {
                return Err(EquationError::PotentialOfVelocity { velocity: source.coordinates[i].clone() });
            }
        }
        let momenta: Vec<NodeId> =
            (0..n).map(|i| source.graph.derivative(source.kinetic, source.velocity(i))).collect();
        for i in 0..n {
            for j in 0..n {
                let entry = source.graph.derivative(momenta[i], source.velocity(j));
                if let Some(k) = (0..n).find(|&k| source.graph.depends_on(entry, source.velocity(k))) {
                    let [a, b, velocity] = [i, j, k].map(|x| source.coordinates[x].clone());
                    return Err(EquationError::NotQuadratic { a, b, velocity });
                }
                if source.graph.depends_on(entry, Source::TIME) {
                    let [a, b] = [i, j].map(|x| source.coordinates[x].clone());
                    return Err(EquationError::MassOfTime { a, b });
                }
                d.mass.push(entry);
            }
        }
        for i in 0..n {
            d.force.push(force(source, i, momenta[i]));
        }
        for i in 0..n {
            for j in 0..n {
                let (q, v) = (source.position(j), source.velocity(j));
                d.stiffness.push(minus_derivative(&mut source.graph, d.force[i], q));
                d.damping.push(minus_derivative(&mut source.graph, d.force[i], v));
            }
        }
        d.couple(source)?;
        d.energy = [Some(source.kinetic), Some(source.potential)];
        let powers: Vec<NodeId> = (0..n)
            .map(|i| {
                let v = source.graph.input(source.velocity(i));
                source.graph.multiply(source.forces[i], v)
            })
            .collect();
        d.applied_power = Some(source.graph.sum(powers));
        Ok(d)
    }

    /// (3) for every output of every law.
    fn couple(&mut self, source: &mut Source) -> Result<(), EquationError> {
        for k in 0..source.laws.len() {
            let law = source.laws[k].clone();
            if law.outputs.len() != law.law.size() {
                return Err(EquationError::Outputs {
                    law: law.name,
                    expected: law.law.size(),
                    found: law.outputs.len(),
                });
            }
            self.gaps.push(law.outputs[0]);
            for (which, &y) in law.outputs.iter().enumerate() {
                if which > 0 && law.slip == Slip::Velocity {
                    self.velocity_output(source, &law.name, y)?;
                } else {
                    self.displacement_output(source, &law.name, (which, y))?;
                }
            }
        }
        Ok(())
    }

    /// (3) of the gap (`which` = 0) or of a slip.
    fn displacement_output(
        &mut self,
        source: &mut Source,
        law: &str,
        (which, y): (usize, NodeId),
    ) -> Result<(), EquationError> {
        let n = source.coordinates.len();
        if let Some(i) = (0..n).find(|&i| source.graph.depends_on(y, source.velocity(i))) {
            let output = if which == 0 { "the gap" } else { "a slip" };
            let (law, velocity) = (law.to_owned(), source.coordinates[i].clone());
            return Err(EquationError::OutputOfVelocity { law, output, velocity });
        }
        let u = total_derivative(source, y);
        for j in 0..n {
            let slot = source.position(j);
            self.rows.push(source.graph.derivative(y, slot));
        }
        self.drift.push(source.graph.derivative(y, Source::TIME));
        self.curvature.push(total_derivative(source, u));
        Ok(())
    }

    /// (4) of a slip that is given as a velocity.
    fn velocity_output(&mut self, source: &mut Source, law: &str, u: NodeId) -> Result<(), EquationError> {
        let n = source.coordinates.len();
        let mut terms = vec![u];
        for j in 0..n {
            let row = source.graph.derivative(u, source.velocity(j));
            if let Some(k) = (0..n).find(|&k| source.graph.depends_on(row, source.velocity(k))) {
                let (law, velocity) = (law.to_owned(), source.coordinates[k].clone());
                return Err(EquationError::SlidingNotLinear { law, velocity });
            }
            let v = source.graph.input(source.velocity(j));
            let part = source.graph.multiply(row, v);
            terms.push(source.graph.negate(part));
            self.rows.push(row);
        }
        // what is left of u at zero velocity; the coupling evaluates it there, so that cancelling need not be symbolic
        let drift = source.graph.sum(terms);
        self.drift.push(drift);
        self.curvature.push(total_derivative(source, u));
        Ok(())
    }
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
