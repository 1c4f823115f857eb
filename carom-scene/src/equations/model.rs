//! The model: flat tapes behind the traits of mechanics. What is constant is evaluated once.

use super::{Derived, EquationError, Source, SourceLaw};
use crate::expression::{Graph, NodeId, Registers, Tape};
use carom::model::{AccelerationLevel, Combination, Constancy, DenseOperator, Energy, Labels};
use carom::{Coupling, Key, Mechanical, ModelError, Pair, Space, State};
use carom_solve::{LinearSolve, Rows};

/// A tape with its registers and its last output.
pub(crate) struct Program {
    tape: Tape,
    registers: Registers,
    out: Vec<f64>,
}

impl Program {
    pub fn new(graph: &Graph, nodes: &[NodeId]) -> Program {
        Program::of(Tape::compile(graph, nodes))
    }

    pub fn of(tape: Tape) -> Program {
        let mut program = Program { registers: tape.registers(), out: vec![0.0; tape.outputs()], tape };
        if program.tape.is_constant() {
            program.tape.eval_parts(&[], &mut program.registers, &mut program.out);
        }
        program
    }

    #[inline]
    pub fn eval(&mut self, t: f64, q: &[f64], v: &[f64]) -> &[f64] {
        if !self.tape.is_constant() {
            self.tape.eval_state((t, q, v), &mut self.registers, &mut self.out);
        }
        &self.out
    }
}

/// A Lagrangian model made of equations.
pub struct Equations {
    coordinates: Vec<String>,
    laws: Vec<SourceLaw>,
    initial: State,
    constancy: Constancy,
    operator: DenseOperator,
    mass: Program,
    force: Program,
    tangents: Program,  // mass, damping, stiffness
    gaps: Program,      // gaps, drift
    coupling: Program,  // gaps, drift, rows: one tape, so that what they share is computed once
    curvature: Program, // curvature
    energy: Program,    // kinetic, potential, applied power
    still: Vec<f64>,    // (n) zero velocities, where none are needed
}

impl Equations {
    /// Differentiates and compiles.
    pub fn new(mut source: Source) -> Result<Equations, EquationError> {
        let d = Derived::of(&mut source)?;
        let n = source.coordinates.len();
        let graph = &source.graph;
        let constant = |nodes: &[NodeId]| nodes.iter().all(|&node| graph.is_constant(node).is_some());
        let constancy = Constancy {
            mass: constant(&d.mass),
            tangents: constant(&d.damping) && constant(&d.stiffness),
            rows: constant(&d.rows),
            drift: constant(&d.drift),
        };
        let tangents: Vec<NodeId> = d.mass.iter().chain(&d.damping).chain(&d.stiffness).copied().collect();
        let gaps: Vec<NodeId> = d.gaps.iter().chain(&d.drift).copied().collect();
        let coupling: Vec<NodeId> = gaps.iter().chain(&d.rows).copied().collect();
        let energy: Vec<NodeId> = d.energy.iter().flatten().chain(&d.applied_power).copied().collect();
        let mut model = Equations {
            constancy,
            operator: DenseOperator::new(n),
            mass: Program::new(graph, &d.mass),
            force: Program::new(graph, &d.force),
            tangents: Program::new(graph, &tangents),
            gaps: Program::new(graph, &gaps),
            coupling: Program::new(graph, &coupling),
            curvature: Program::new(graph, &d.curvature),
            energy: Program::new(graph, &energy),
            still: vec![0.0; n],
            coordinates: source.coordinates,
            laws: source.laws,
            initial: source.initial,
        };
        if constancy.mass {
            model.operator.mass.copy_from_slice(&model.mass.out);
        }
        Ok(model)
    }

    #[inline]
    fn evaluate_mass(&mut self, q: &[f64]) {
        if !self.constancy.mass {
            // the derivation has made sure that the mass depends on q alone
            self.operator.mass.copy_from_slice(self.mass.eval(0.0, q, &self.still));
        }
    }

    /// Refuses a mass that is not positive definite, if it is not the same everywhere.
    #[inline]
    fn check_mass(&mut self) -> Result<(), ModelError> {
        if self.constancy.mass {
            return Ok(());
        }
        let checked = self.operator.check_mass();
        checked.map_err(|bad| ModelError::Mass {
            coordinate: self.coordinates[bad.column].as_str().into(),
            pivot: bad.pivot,
        })
    }
}

/// The first law whose gap is not finite, or whose outputs move at a speed that is not: gaps stand first, then the drift of each row.
#[cold]
fn undefined_gap(laws: &[SourceLaw], values: &[f64], t: f64) -> ModelError {
    let (gaps, drift) = values.split_at(laws.len());
    let of_gap = gaps.iter().position(|x| !x.is_finite());
    let found = of_gap.or_else(|| law_of_row(laws, drift.iter().position(|x| !x.is_finite())?));
    ModelError::Gap { contact: law_name(laws, found), t }
}

#[cold]
fn undefined_gradient(laws: &[SourceLaw], rows: &Rows, t: f64) -> ModelError {
    let row = (0..rows.len()).position(|i| rows.row(i).iter().any(|(_, x)| !x.is_finite()));
    ModelError::Gradient { contact: law_name(laws, row.and_then(|row| law_of_row(laws, row))), t }
}

/// The law to which a row belongs.
fn law_of_row(laws: &[SourceLaw], row: usize) -> Option<usize> {
    let mut end = 0;
    laws.iter().position(|law| {
        end += law.law.size();
        row < end
    })
}

fn law_name(laws: &[SourceLaw], index: Option<usize>) -> Box<str> {
    index.and_then(|i| laws.get(i)).map_or_else(|| "?".into(), |law| law.name.as_str().into())
}

impl LinearSolve for Equations {
    fn dim(&self) -> usize {
        self.coordinates.len()
    }
    #[inline]
    fn solve(&self, rhs: &mut [f64]) {
        self.operator.solve(rhs);
    }
}

impl Space for Equations {
    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let n = self.coordinates.len();
        out.clear(n);
        let (values, rows) = self.coupling.eval(t, q, &self.still).split_at(self.gaps.out.len());
        if !values.iter().all(|x| x.is_finite()) {
            return Err(undefined_gap(&self.laws, values, t));
        }
        let (gaps, drift) = values.split_at(self.laws.len());
        out.drift.extend_from_slice(drift);
        for (k, (law, &gap)) in self.laws.iter().zip(gaps).enumerate() {
            out.push(Pair { key: Key(k as u64), law: law.law, gap, restitution: law.restitution });
        }
        for row in rows.chunks_exact(n) {
            out.rows.push_dense(row);
        }
        if !out.rows.is_finite() {
            return Err(undefined_gradient(&self.laws, &out.rows, t));
        }
        Ok(())
    }

    fn refresh(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let values = self.gaps.eval(t, q, &self.still);
        let (gaps, drift) = values.split_at(self.laws.len());
        for (pair, &gap) in out.pairs.iter_mut().zip(gaps) {
            pair.gap = gap;
        }
        for (out, &drift) in out.drift.iter_mut().zip(drift) {
            *out = drift;
        }
        if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(undefined_gap(&self.laws, values, t)) }
    }

    fn labels(&self) -> Labels {
        Labels {
            coordinates: self.coordinates.clone(),
            contacts: self.laws.iter().map(|law| (law.name.clone(), law.law)).collect(),
        }
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        let values = self.energy.eval(at.t, &at.q, &at.v);
        Some(Energy { kinetic: values[0], potential: values[1] })
    }

    fn applied_power(&mut self, at: &State) -> f64 {
        self.energy.eval(at.t, &at.q, &at.v)[2]
    }
}

impl Mechanical for Equations {
    fn constancy(&self) -> Constancy {
        self.constancy
    }

    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(self.force.eval(t, q, v));
        match out.iter().position(|x| !x.is_finite()) {
            Some(i) => Err(ModelError::Force { coordinate: self.coordinates[i].as_str().into(), t }),
            None => Ok(()),
        }
    }

    fn mass_mul(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.evaluate_mass(q);
        self.operator.mass_mul(v, out);
        self.check_mass()
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        let n2 = self.coordinates.len() * self.coordinates.len();
        let values = self.tangents.eval(at.t, &at.q, &at.v);
        self.operator.mass.copy_from_slice(&values[..n2]);
        self.operator.damping.copy_from_slice(&values[n2..2 * n2]);
        self.operator.stiffness.copy_from_slice(&values[2 * n2..]);
        if c.damping == 0.0 && c.stiffness == 0.0 {
            self.check_mass()?;
        }
        self.operator.factor(c, at.t)
    }

    fn acceleration_level(&mut self) -> Option<&mut dyn AccelerationLevel> {
        Some(self)
    }
}

impl AccelerationLevel for Equations {
    fn curvature(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut Vec<f64>) -> Result<(), ModelError> {
        out.clear();
        out.extend_from_slice(self.curvature.eval(t, q, v));
        if out.iter().all(|x| x.is_finite()) {
            Ok(())
        } else {
            Err(ModelError::NotFinite { what: "the curvature of a gap", t })
        }
    }
}
