//! The index-1 form of a smooth phase: accelerations and multipliers with the closed contacts held.
//!
//! ```text
//!     M v̇ = F(t, q, v) + B λ,    C v̇ + γ = 0 on the rows held                                        (1)
//!     W λ = −(C M⁻¹F + γ),   W = C M⁻¹B                                                              (2)
//! ```
//!
//! B is that of `held.rs`. W may be singular (redundant contacts): v̇ is unique all the same, unless the rows
//! contradict each other or redundant contacts slip, and λ is that of least norm (`admissible.rs`). Each evaluation
//! leaves monitors that tell how far each closed contact is from a change of mode; where λ is one of many, `admit`
//! looks for one with which none changes.

use super::admissible::{Admissible, Cone};
use super::curvature::Curvature;
use super::held::HeldRows;
use super::magnitudes::Magnitudes;
use super::mode::{Mode, Phase};
use super::ranked::RankedLu;
use super::rubbing::Rubbing;
use crate::coupling::Matching;
use crate::model::{Combination, Constancy};
use crate::{Coupling, Key, Mechanical, ModelError, State};
use carom_solve::Rows;
use carom_solve::elementary::hypot;

/// Monitors count as violated below this part of what cancels in them.
pub(crate) const ROUNDING: f64 = 1e-12;

/// Dependent rows that miss each other by more than this part of their terms contradict each other; the second where γ
/// comes from differences.
const CONTRADICTION: (f64, f64) = (1e-10, 1e-6);

/// Times as close as this are one instant, where regions have changed [-].
const INSTANT: f64 = 64.0 * f64::EPSILON;

/// The change of mode that a monitor announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeChange {
    /// The gap of an open contact closes.
    Closing,
    /// λ_N of a closed contact vanishes.
    TakeOff,
    /// |λ_T| of a sticking contact reaches μ λ_N.
    StickLimit,
    /// The slip velocity of a slipping contact vanishes.
    SlipEnd,
}

carom_solve::persist_enum!(ModeChange { 0 = Closing, 1 = TakeOff, 2 = StickLimit, 3 = SlipEnd });

/// A function that is positive as long as a law keeps its mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Monitor {
    pub law: usize,
    pub change: ModeChange,
    /// Raised by its rounding, so that noise around zero is positive.
    pub value: f64,
    /// Smooth functions (p₀, p₁, p₂) of time with the value p₀ − |(p₁, p₂)|; NaN where λ is one of many.
    pub parts: [f64; 3],
    /// Time derivative, where it is known; NaN otherwise.
    pub rate: f64,
    /// Whether the value is negative and counts.
    pub violated: bool,
}

carom_solve::persist!(Monitor { law, change, value, parts, rate, violated });

impl Monitor {
    pub(crate) fn new(law: usize, change: ModeChange, value: f64, noise: f64) -> Monitor {
        let value = value + noise;
        Monitor { law, change, value, parts: [value, 0.0, 0.0], rate: f64::NAN, violated: value < 0.0 }
    }
}

/// Evaluates (1) on buffers of its own.
#[derive(Default)]
pub struct Acceleration {
    constancy: Constancy,
    /// Friction that depends on the state.
    pub rubbing: Rubbing,
    at: State,
    mass_is_factored: bool,
    /// Laws and rows of the last evaluation in which a law acted.
    pub coupling: Coupling,
    /// γ of the last evaluation in which a law acted.
    pub curvature: Curvature,
    /// (n) v̇.
    pub value: Vec<f64>,
    /// (n) M⁻¹F: v̇ without reactions.
    pub free: Vec<f64>,
    /// (rows) λ [N].
    pub lambda: Vec<f64>,
    /// Distance of the closed contacts from a change of mode.
    pub monitors: Vec<Monitor>,
    /// Whether λ is one of many.
    pub is_deficient: bool,
    /// By how much the rows held contradict each other where they are dependent, relative to the terms of (2) [-].
    pub contradiction: f64,
    /// Calls of the model's forces so far.
    pub evaluations: u32,
    /// What tolerances are measured by.
    pub sizes: Magnitudes,
    held: HeldRows,
    diagonal: Vec<f64>, // (held) of W
    system: RankedLu,
    x: Vec<f64>,             // (held) λ of the rows held
    admissible: Admissible,  // for rows that are dependent
    prepared: Option<u64>,   // phase for which W holds, where it is constant
    frozen: Vec<(Key, f64)>, // regions at an instant at which some have changed
    matching: Matching,
    instant: Option<f64>,
}

carom_solve::persist!(Acceleration {
    rubbing, at, mass_is_factored, coupling, curvature, value, free, lambda, monitors, is_deficient, contradiction,
    evaluations, sizes, held, diagonal, system, x, admissible, prepared, frozen, matching, instant,
} skip { constancy });

impl Acceleration {
    pub fn new(model: &mut dyn Mechanical) -> Acceleration {
        let n = model.dim();
        Acceleration {
            constancy: model.constancy(),
            rubbing: Rubbing::new(model),
            at: model.initial(),
            sizes: Magnitudes::of(model),
            value: vec![0.0; n],
            free: vec![0.0; n],
            ..Acceleration::default()
        }
    }

    pub fn constancy(&self) -> Constancy {
        self.constancy
    }

    /// The model was factored by someone else.
    pub fn invalidate(&mut self) {
        self.mass_is_factored = false;
        self.prepared = None;
    }

    /// Factors the mass at `(t, q)`, once where it is constant.
    pub fn factor_mass(&mut self, model: &mut dyn Mechanical, at: (f64, &[f64], &[f64])) -> Result<(), ModelError> {
        if self.constancy.mass && self.mass_is_factored {
            return Ok(());
        }
        self.at.t = at.0;
        self.at.q.copy_from_slice(at.1);
        self.at.v.copy_from_slice(at.2);
        self.mass_is_factored = false;
        model.factor(&self.at, Combination::MASS)?;
        self.mass_is_factored = true;
        Ok(())
    }

    /// Fills the coupling at `(t, q, v)`: the laws are those of the phase. Friction that varies is that of the modes.
    pub fn couple(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        (t, q, v): (f64, &[f64], &[f64]),
    ) -> Result<(), ModelError> {
        self.coupling.fill(model, (t, q), self.constancy.rows, phase.keys())?;
        self.rubbing.in_phase(model, phase, (t, q, v), &mut self.coupling)?;
        match self.instant {
            Some(instant) if (t - instant).abs() <= INSTANT * t.abs().max(self.sizes.time) => {
                self.restore_regions(phase);
            }
            _ => {}
        }
        Ok(())
    }

    /// Tells the regions at the instant `t` of an event: a state at the end of a region is on the side to which it
    /// moves, whatever impacts and projections do to the last digit of it.
    pub fn freeze_regions(&mut self, t: f64, phase: &Phase, regions: impl Iterator<Item = f64>) {
        self.frozen.clear();
        self.frozen.extend(phase.keys().iter().copied().zip(regions).filter(|(_, region)| region.is_finite()));
        self.instant = (!self.frozen.is_empty()).then_some(t);
        self.restore_regions(phase);
    }

    /// Forgets regions of earlier events.
    pub fn release_regions(&mut self) {
        self.instant = None;
    }

    fn restore_regions(&mut self, phase: &Phase) {
        self.matching.begin();
        for &(key, region) in &self.frozen {
            // a step may begin at the instant and list other contacts
            if let Some(i) = self.matching.find(key, phase.keys()) {
                self.coupling.region[i] = region;
            }
        }
    }

    /// Whether not all rows held can be held.
    pub fn is_contradictory(&self) -> bool {
        self.contradiction > if self.curvature.is_exact { CONTRADICTION.0 } else { CONTRADICTION.1 }
    }

    /// (1) at a point, with `value`, `lambda` and `monitors` as results.
    pub fn evaluate(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        at: (f64, &[f64], &[f64]),
    ) -> Result<(), ModelError> {
        if !phase.is_free() {
            return self.with_monitors(model, phase, at);
        }
        self.monitors.clear();
        (self.is_deficient, self.contradiction) = (false, 0.0);
        self.lambda.fill(0.0);
        self.free_motion(model, at)
    }

    /// v̇ without reactions.
    pub(crate) fn free_motion(
        &mut self,
        model: &mut dyn Mechanical,
        at: (f64, &[f64], &[f64]),
    ) -> Result<(), ModelError> {
        self.evaluations += 1;
        self.factor_mass(model, at)?;
        model.force(at.0, at.1, at.2, &mut self.free)?;
        model.solve(&mut self.free);
        self.value.copy_from_slice(&self.free);
        Ok(())
    }

    /// As [`evaluate`](Self::evaluate), with coupling and γ in any case.
    pub fn with_monitors(
        &mut self,
        model: &mut dyn Mechanical,
        phase: &Phase,
        at: (f64, &[f64], &[f64]),
    ) -> Result<(), ModelError> {
        let v = at.2;
        self.monitors.clear();
        (self.is_deficient, self.contradiction) = (false, 0.0);
        self.free_motion(model, at)?;
        self.couple(model, phase, at)?;
        let list = (phase.keys(), self.coupling.drift.len());
        self.curvature.evaluate(model, (self.constancy, &self.sizes), at, list)?;
        self.factor_held(model, phase, v);
        self.x.clear();
        for held in &self.held.rows {
            self.x.push(-(self.coupling.rows.dot(held.row, &self.free) + self.curvature.value[held.row]));
        }
        if self.is_deficient {
            let terms = self.held.rows.iter().map(|held| self.terms(held.row));
            let size = terms.fold(f64::MIN_POSITIVE, f64::max);
            self.contradiction = self.system.solve_checked(&mut self.x) / size;
            let normals = self.held.normals(&self.coupling);
            self.admissible.least_norm(&self.system, &self.held.response, normals, &mut self.x);
        } else {
            self.system.solve(&mut self.x);
        }
        self.held.add(&self.x, &mut self.value);
        self.spread(phase);
        self.monitor(phase, v);
        Ok(())
    }

    /// Where λ of the last evaluation in `phase`, at the velocity `v`, is one of many and outside a cone: takes one
    /// that is inside, if there is one. Monitors follow.
    pub fn admit(&mut self, phase: &Phase, v: &[f64]) {
        let is_outside = || self.monitors.iter().any(|m| m.violated && m.change != ModeChange::SlipEnd);
        if !self.is_deficient || self.is_contradictory() || !is_outside() {
            return;
        }
        let cones = &mut self.admissible.cones;
        cones.clear();
        for (first, held) in self.held.rows.iter().enumerate() {
            let pair = self.coupling.pairs[held.law];
            let range = self.coupling.range(held.law);
            if !pair.law.is_equality() && held.row == range.start {
                let size = if phase.mode(held.law) == Mode::Stick { range.len() } else { 1 };
                cones.push(Cone { first, size, mu: pair.law.mu() });
            }
        }
        self.admissible.search(phase.version(), &mut self.x);
        self.spread(phase);
        self.monitors.clear();
        self.monitor(phase, v);
    }

    /// The rows held at the last evaluation, each with its inverse mass.
    pub fn held_masses(&self) -> impl Iterator<Item = (usize, f64)> {
        self.held.rows.iter().zip(&self.diagonal).map(|(held, w)| (held.row, *w))
    }

    /// Slip velocities of the laws in space at the velocity `v`, into row `i` of a list.
    pub fn slips(&self, v: &[f64], out: &mut Vec<[f64; 2]>, i: usize) {
        let laws = self.coupling.len();
        out.resize(out.len().max((i + 1) * laws), [0.0; 2]);
        for law in (0..laws).filter(|law| self.coupling.range(*law).len() == 3) {
            let first = self.coupling.offset[law] + 1;
            out[i * laws + law] =
                [first, first + 1].map(|row| self.coupling.rows.dot(row, v) + self.coupling.drift[row]);
        }
    }

    /// The direction in which law `i` slipped at the last evaluation.
    pub fn direction(&self, i: usize) -> [f64; 2] {
        self.held.direction[i]
    }

    /// What cancels in the acceleration along a row.
    fn terms(&self, row: usize) -> f64 {
        size_of(self.coupling.rows.row(row), &self.free) + self.curvature.value[row].abs()
    }

    /// The rows held and W of (2); kept where nothing in it can change within the phase.
    fn factor_held(&mut self, model: &dyn Mechanical, phase: &Phase, v: &[f64]) {
        if self.prepared == Some(phase.version()) {
            return;
        }
        self.held.fill(model, &self.coupling, phase, v);
        let m = self.held.rows.len();
        let w = self.system.matrix_mut(m);
        self.held.delassus(&self.coupling, w);
        self.diagonal.clear();
        self.diagonal.extend((0..m).map(|k| w[k * m + k]));
        self.is_deficient = !self.system.factor();
        let constant = self.constancy.mass && self.constancy.rows && !self.rubbing.varies;
        let kept = constant && !self.held.is_turning && !self.is_deficient;
        self.prepared = kept.then_some(phase.version());
    }

    /// λ row by row.
    fn spread(&mut self, phase: &Phase) {
        self.lambda.clear();
        self.lambda.resize(self.coupling.drift.len(), 0.0);
        for (held, x) in self.held.rows.iter().zip(&self.x) {
            self.lambda[held.row] = *x;
            let pair = self.coupling.pairs[held.law];
            if let Mode::Slip(_) = phase.mode(held.law) {
                let tangents = self.coupling.range(held.law).skip(1);
                for (row, d) in tangents.zip(self.held.direction[held.law]) {
                    self.lambda[row] = -pair.law.mu() * d * x;
                }
            }
        }
    }

    /// Monitors of the closed contacts.
    fn monitor(&mut self, phase: &Phase, v: &[f64]) {
        for (k, held) in self.held.rows.iter().enumerate() {
            let pair = self.coupling.pairs[held.law];
            let range = self.coupling.range(held.law);
            if pair.law.is_equality() || held.row != range.start {
                continue;
            }
            let (normal, tangents) = (self.lambda[range.start], &self.lambda[range.start + 1..range.end]);
            let noise = ROUNDING * self.terms(range.start) / self.diagonal[k].abs().max(f64::MIN_POSITIVE);
            self.monitors.push(Monitor::new(held.law, ModeChange::TakeOff, normal, noise));
            match phase.mode(held.law) {
                Mode::Open | Mode::Held => {}
                Mode::Stick => {
                    let limit = pair.law.mu() * normal;
                    let tangent = tangents.iter().map(|x| x * x).sum::<f64>().sqrt();
                    let noise = noise + ROUNDING * (limit.abs() + tangent);
                    let along = |k: usize| tangents.get(k).copied().unwrap_or(0.0);
                    let parts = [limit + noise, along(0), along(1)];
                    let monitor = Monitor::new(held.law, ModeChange::StickLimit, limit - tangent, noise);
                    self.monitors.push(Monitor { parts, ..monitor });
                }
                Mode::Slip(d) => {
                    let (mut slip, mut noise) = (0.0, 0.0);
                    for (row, d) in range.skip(1).zip(d) {
                        slip += d * (self.coupling.rows.dot(row, v) + self.coupling.drift[row]);
                        noise += ROUNDING * (size_of(self.coupling.rows.row(row), v) + self.coupling.drift[row].abs());
                    }
                    let still = if self.coupling.range(held.law).len() == 3 { phase.still } else { 0.0 };
                    self.monitors.push(Monitor::new(held.law, ModeChange::SlipEnd, slip, still.max(1e-3 * noise)));
                }
            }
        }
        if self.is_deficient {
            self.monitors.iter_mut().for_each(|monitor| monitor.parts = [f64::NAN; 3]);
        }
    }
}

/// Σ |c x|: what cancels in a product.
pub(crate) fn size_of(row: &[(usize, f64)], x: &[f64]) -> f64 {
    row.iter().map(|&(j, c)| (c * x[j]).abs()).sum()
}

/// The direction of slip: that of the velocity, or the one the phase remembers where the velocity does not tell it, up
/// to the speed `still`. A velocity that has turned by more than 135 degrees has passed zero: friction stays as it was
/// until that is seen. Up to there the direction goes on smoothly, beyond the right angle too, where the phase ends:
/// stages of a step that ends there may lie on either side of it.
pub(crate) fn slip_direction(
    coupling: &Coupling,
    law: usize,
    v: &[f64],
    (remembered, still): ([f64; 2], f64),
) -> [f64; 2] {
    let range = coupling.range(law);
    if range.len() < 3 {
        return remembered;
    }
    let u = |row: usize| Rows::product(coupling.rows.row(row), v) + coupling.drift[row];
    let slip = [u(range.start + 1), u(range.start + 2)];
    let speed = hypot(slip[0], slip[1]);
    let along = slip[0] * remembered[0] + slip[1] * remembered[1];
    let mut across = slip[1] * remembered[0] - slip[0] * remembered[1];
    if along <= -across.abs() || speed <= still.max(f64::MIN_POSITIVE) {
        return remembered;
    }
    // friction across a slow slip is stiff, μ λ_N/|u|: it is not to answer to rounding
    across *= across * across / (across * across + still * still).max(f64::MIN_POSITIVE);
    let (c, s) = (along / hypot(along, across), across / hypot(along, across));
    [c * remembered[0] - s * remembered[1], s * remembered[0] + c * remembered[1]]
}
