//! Exact derivatives of an equation model along directions of its state and of parameters, by forward derivatives of its tapes.
//!
//! Parameters are further inputs of the graph, after `[t | q | v]`: the derivatives by them are as exact as the others.

use super::{Derived, EquationError, Source};
use crate::expression::{Graph, NodeId, Registers, Tape};
use carom::ModelError;
use carom::model::tangent::At;
use carom::model::{Along, CouplingTangent, Tangent};

/// Parameters as inputs: their names and values, in the order of their slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Live {
    pub names: Vec<String>,
    pub values: Vec<f64>,
}

/// A tape with what it was evaluated at last.
struct Linearised {
    tape: Tape,
    registers: Registers,
    values: Vec<f64>,
    at: Vec<f64>, // t, q, v
    work: Vec<f64>,
    out: Vec<f64>,
}

impl Linearised {
    fn new(graph: &Graph, nodes: &[NodeId], n: usize) -> Linearised {
        let tape = Tape::compile(graph, nodes);
        Linearised {
            registers: tape.registers(),
            values: vec![0.0; nodes.len()],
            at: vec![f64::NAN; 1 + 2 * n],
            work: Vec::new(),
            out: vec![0.0; nodes.len()],
            tape,
        }
    }

    /// Derivatives of all outputs.
    fn along(&mut self, (t, q, v): At<'_>, p: &[f64], along: Along<'_>) -> &[f64] {
        if self.tape.is_constant() {
            return &self.out;
        }
        let n = q.len();
        if !(self.at[0] == t && self.at[1..=n] == *q && self.at[1 + n..] == *v) {
            self.at[0] = t;
            self.at[1..=n].copy_from_slice(q);
            self.at[1 + n..].copy_from_slice(v);
            self.tape.eval_parts(&[&self.at, p], &mut self.registers, &mut self.values);
        }
        let parts = [&[along.t][..], along.q, along.v, along.p];
        self.tape.differential(&self.registers, &parts, &mut self.work, &mut self.out);
        &self.out
    }
}

/// The tangent of an equation model.
pub struct EquationTangent {
    live: Live,
    laws: usize,
    rows: usize,
    within: Vec<usize>, // laws that have a region
    still: Vec<f64>,
    force: Linearised,
    mass: Linearised,
    coupling: Linearised, // gaps, restitution, friction, regions, drift, rows
    curvature: Linearised,
}

impl EquationTangent {
    /// From the expressions of a model whose parameters `live` are inputs; `coefficients` are restitution and friction of each law.
    pub fn new(mut source: Source, live: Live, coefficients: &[[NodeId; 2]]) -> Result<EquationTangent, EquationError> {
        let d = Derived::of(&mut source)?;
        let (n, graph) = (source.coordinates.len(), &source.graph);
        let regions = source.laws.iter().enumerate().filter_map(|(k, law)| Some((k, law.region?)));
        let (within, regions): (Vec<usize>, Vec<NodeId>) = regions.unzip();
        let mut nodes = d.gaps.clone();
        nodes.extend(coefficients.iter().map(|c| c[0]));
        nodes.extend(coefficients.iter().map(|c| c[1]));
        nodes.extend(&regions);
        nodes.extend(&d.drift);
        nodes.extend(&d.rows);
        Ok(EquationTangent {
            live,
            laws: source.laws.len(),
            rows: d.drift.len(),
            within,
            still: vec![0.0; n],
            force: Linearised::new(graph, &d.force, n),
            mass: Linearised::new(graph, &d.mass, n),
            coupling: Linearised::new(graph, &nodes, n),
            curvature: Linearised::new(graph, &d.curvature, n),
        })
    }
}

fn finite(values: &[f64], what: &'static str, t: f64) -> Result<(), ModelError> {
    if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ModelError::NotFinite { what, t }) }
}

impl Tangent for EquationTangent {
    fn parameters(&self) -> &[String] {
        &self.live.names
    }

    fn knows_time(&self) -> bool {
        true
    }

    fn force(&mut self, at: At<'_>, along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        out.copy_from_slice(self.force.along(at, &self.live.values, along));
        finite(out, "a derivative of the force", at.0)
    }

    fn mass(&mut self, at: At<'_>, x: &[f64], along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        if self.mass.tape.is_constant() {
            return Ok(());
        }
        let still = Along { t: 0.0, v: &self.still, ..along };
        let rows = self.mass.along((0.0, at.1, &self.still), &self.live.values, still);
        for (o, row) in out.iter_mut().zip(rows.chunks_exact(x.len())) {
            *o = row.iter().zip(x).map(|(m, x)| m * x).sum();
        }
        finite(out, "a derivative of the mass", at.0)
    }

    fn coupling(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) -> Result<(), ModelError> {
        let still = Along { v: &self.still, ..along };
        let all = self.coupling.along((at.0, at.1, &self.still), &self.live.values, still);
        let copy = |to: &mut Vec<f64>, from: &[f64]| {
            to.clear();
            to.extend_from_slice(from);
        };
        let (gap, all) = all.split_at(self.laws);
        let (restitution, all) = all.split_at(self.laws);
        let (friction, all) = all.split_at(self.laws);
        let (regions, all) = all.split_at(self.within.len());
        let (drift, rows) = all.split_at(self.rows);
        copy(&mut out.gap, gap);
        copy(&mut out.restitution, restitution);
        copy(&mut out.friction, friction);
        copy(&mut out.drift, drift);
        copy(&mut out.rows, rows);
        out.region.clear();
        out.region.resize(self.laws, 0.0);
        for (&law, &value) in self.within.iter().zip(regions) {
            out.region[law] = value;
        }
        finite(gap, "a derivative of a gap", at.0)?;
        finite(rows, "a derivative of the gradient of a gap", at.0)
    }

    fn curvature(&mut self, at: At<'_>, along: Along<'_>, out: &mut Vec<f64>) -> Result<(), ModelError> {
        out.clear();
        out.extend_from_slice(self.curvature.along(at, &self.live.values, along));
        finite(out, "a derivative of the curvature of a gap", at.0)
    }
}
