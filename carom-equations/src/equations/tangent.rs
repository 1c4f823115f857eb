//! Exact derivatives of an equation model along directions of its state and of parameters, by forward derivatives of
//! its tapes.

use super::EquationPlan;
use crate::expression::Evaluator;
use carom::ModelError;
use carom::model::tangent::At;
use carom::model::{Along, CouplingTangent, Tangent};

/// A parameter by which derivatives are taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Name of the parameter in the file.
    pub name: String,
    /// Derivatives of all parameters by it: of its own 1, of those that follow from it what their definitions say.
    pub direction: Vec<f64>,
    /// (laws) derivatives of restitution.
    pub restitution: Vec<f64>,
    /// (rows) derivatives of friction: each row has that of its disc.
    pub friction: Vec<f64>,
}

/// The tangent of an equation model.
pub struct EquationTangent {
    names: Vec<String>,
    live: Vec<Live>,
    laws: usize,
    within: Vec<usize>, // laws that have a region
    still: Vec<f64>,
    direction: Vec<f64>, // of all parameters
    force: Evaluator,
    mass: Evaluator,
    coupling: Evaluator, // gaps, drift, rows
    regions: Evaluator,
    curvature: Evaluator,
}

impl EquationTangent {
    /// The tangent of a model whose parameters have their values.
    pub fn new(plan: &EquationPlan, live: Vec<Live>) -> EquationTangent {
        EquationTangent {
            names: live.iter().map(|live| live.name.clone()).collect(),
            direction: vec![0.0; live.first().map_or(0, |live| live.direction.len())],
            live,
            laws: plan.laws.len(),
            within: plan.within.clone(),
            still: vec![0.0; plan.coordinates.len()],
            force: Evaluator::new(&plan.force),
            mass: Evaluator::new(&plan.mass),
            coupling: Evaluator::new(&plan.coupling),
            regions: Evaluator::new(&plan.regions),
            curvature: Evaluator::new(&plan.curvature),
        }
    }

    /// The direction of all parameters for one of those by which derivatives are taken.
    fn set_direction(&mut self, along: &[f64]) {
        self.direction.fill(0.0);
        for (live, by) in self.live.iter().zip(along).filter(|(_, by)| **by != 0.0) {
            self.direction.iter_mut().zip(&live.direction).for_each(|(d, x)| *d += by * x);
        }
    }
}

fn finite(values: &[f64], what: &'static str, t: f64) -> Result<(), ModelError> {
    if values.iter().all(|x| x.is_finite()) { Ok(()) } else { Err(ModelError::NotFinite { what, t }) }
}

impl Tangent for EquationTangent {
    fn parameters(&self) -> &[String] {
        &self.names
    }

    fn knows_time(&self) -> bool {
        true
    }

    fn force(&mut self, at: At<'_>, along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        self.set_direction(along.p);
        let slopes = self.force.along(at, [&[along.t], along.q, along.v], &self.direction);
        out.copy_from_slice(slopes);
        finite(out, "a derivative of the force", at.0)
    }

    fn mass(&mut self, at: At<'_>, x: &[f64], along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        self.set_direction(along.p);
        let (at_q, still) = ((0.0, at.1, &self.still[..]), &self.still[..]);
        let rows = self.mass.along(at_q, [&[0.0], along.q, still], &self.direction);
        for (o, row) in out.iter_mut().zip(rows.chunks_exact(x.len())) {
            *o = row.iter().zip(x).map(|(m, x)| m * x).sum();
        }
        finite(out, "a derivative of the mass", at.0)
    }

    fn coupling(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) -> Result<(), ModelError> {
        self.set_direction(along.p);
        let (place, parts) = ((at.0, at.1, &self.still[..]), [&[along.t][..], along.q, &self.still[..]]);
        let all = self.coupling.along(place, parts, &self.direction);
        let copy = |to: &mut Vec<f64>, from: &[f64]| {
            to.clear();
            to.extend_from_slice(from);
        };
        let (gap, all) = all.split_at(self.laws);
        let (drift, rows) = all.split_at(all.len() / (1 + at.1.len()));
        copy(&mut out.gap, gap);
        copy(&mut out.drift, drift);
        copy(&mut out.rows, rows);
        out.restitution.clear();
        out.restitution.resize(self.laws, 0.0);
        out.friction.clear();
        out.friction.resize(out.drift.len(), 0.0);
        for (live, by) in self.live.iter().zip(along.p) {
            let coefficients = live.restitution.iter().chain(&live.friction);
            let all = out.restitution.iter_mut().chain(&mut out.friction);
            all.zip(coefficients).for_each(|(to, slope)| *to += by * slope);
        }
        out.region.clear();
        out.region.resize(self.laws, 0.0);
        let regions = self.regions.along(place, parts, &self.direction);
        for (&law, &value) in self.within.iter().zip(regions) {
            out.region[law] = value;
        }
        finite(&out.gap, "a derivative of a gap", at.0)?;
        finite(&out.rows, "a derivative of the gradient of a gap", at.0)
    }

    fn curvature(&mut self, at: At<'_>, along: Along<'_>, out: &mut Vec<f64>) -> Result<(), ModelError> {
        self.set_direction(along.p);
        let slopes = self.curvature.along(at, [&[along.t], along.q, along.v], &self.direction);
        out.clear();
        out.extend_from_slice(slopes);
        finite(out, "a derivative of the curvature of a gap", at.0)
    }
}
