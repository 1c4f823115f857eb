//! The tangent of any model by central differences of fourth order: closures do not tell their derivatives.
//!
//! ```text
//!     f'(x) d ≈ [8 f(x + h d) − 8 f(x − h d) − f(x + 2h d) + f(x − 2h d)] / 12h                              (1)
//! ```
//!
//! Errors: about 1e-12 of the size of the function where the model's functions are exact (h⁴ against rounding/h, h =
//! 1e-3 of the sizes of what moves, less where the differences over h and 2h disagree, more where rounding hides them);
//! about 1e-8 where they are differences themselves, as the gradients of closures without one, and 1e-5 for γ, which
//! then is a difference of differences. Functions must be smooth over 2h on both sides of a point. Where that is not
//! good enough, write the model over dual numbers ([`DualLagrangian`](crate::model::DualLagrangian)) or as a file:
//! their tangents are exact.
//!
//! Parameters are those for which [`with_parameter`](DifferenceTangent::with_parameter) can make the model with another
//! value. A model that knows its derivatives by the state but not those by its parameters, as bodies from files, has
//! them together by [`with_state`](DifferenceTangent::with_state): only parameters are then differences.

use crate::model::differences::{Demand, ENTERS, ROUNDING, STEERS, Sizes, Told, settle, tell};
use crate::model::tangent::At;
use crate::model::{Along, CouplingTangent, Tangent};
use crate::phase::{Curvature, Magnitudes};
use crate::{Coupling, Key, Mechanical, ModelError, State};
use std::cell::Cell;

/// Offsets and weights of (1).
const STENCIL: [(f64, f64); 4] = [(1.0, 8.0 / 12.0), (-1.0, -8.0 / 12.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0)];

/// h, as a part of the size of a point or of a parameter.
const STEP: f64 = 1e-3;

/// h for γ that is a difference itself, and what may be asked of it then.
const LONG_STEP: f64 = 1e-2;
const ROUGH: Demand = Demand { agree: STEERS.agree, ..ENTERS };

/// The model at the four values of a parameter.
struct Varied {
    models: Vec<Box<dyn Mechanical>>,
    step: f64,
}

/// Derivatives of a model by (1).
pub struct DifferenceTangent {
    model: Box<dyn Mechanical>,
    initial: State,
    state: Option<Box<dyn Tangent>>,
    names: Vec<String>,
    varied: Vec<Varied>,
    sizes: (usize, usize), // laws and rows of the last coupling
    exact: CouplingTangent,
    list: Option<Vec<Key>>, // the contacts, once they are known
    coupling: Coupling,
    curvature: Curvature,
    q: Vec<f64>,
    way: Vec<f64>,
    v: Vec<f64>,
    part: Vec<f64>,
    sum: Vec<f64>, // one function at a time, all entries in a row
    far: Vec<f64>, // what its longer steps add
}

/// What is differentiated.
#[derive(Clone, Copy)]
enum Of<'a> {
    Force,
    Mass(&'a [f64]),
    Coupling,
    Curvature,
}

impl DifferenceTangent {
    /// The tangent of a model, without parameters so far.
    pub fn new(model: Box<dyn Mechanical>) -> DifferenceTangent {
        let (n, positions, initial) = (model.dim(), model.positions(), model.initial());
        DifferenceTangent {
            model,
            initial,
            state: None,
            names: Vec::new(),
            varied: Vec::new(),
            sizes: (0, 0),
            exact: CouplingTangent::default(),
            list: None,
            coupling: Coupling::default(),
            curvature: Curvature::default(),
            q: vec![0.0; positions],
            way: vec![0.0; n],
            v: vec![0.0; n],
            part: vec![0.0; n],
            sum: Vec::new(),
            far: Vec::new(),
        }
    }

    /// A parameter with its value; `make` is the model for another value of it, with the same laws in the same order.
    pub fn with_parameter(
        mut self,
        name: &str,
        value: f64,
        make: impl Fn(f64) -> Box<dyn Mechanical>,
    ) -> DifferenceTangent {
        let step = if value == 0.0 { STEP } else { STEP * value.abs() };
        let models = STENCIL.iter().map(|(offset, _)| make(value + offset * step)).collect();
        self.names.push(name.into());
        self.varied.push(Varied { models, step });
        self
    }

    /// Derivatives by time and state from a tangent of the same model, in place of differences.
    pub fn with_state(mut self, tangent: Box<dyn Tangent>) -> DifferenceTangent {
        self.state = Some(tangent);
        self
    }

    /// As [`with_parameter`](Self::with_parameter), with a step that is checked: where differences over it and over its
    /// double disagree at a state, or a model cannot be made, it is shortened.
    ///
    /// # Errors
    /// Fails where no model can be made for values next to this one.
    pub fn with_checked_parameter<E>(
        mut self,
        name: &str,
        value: f64,
        at: &State,
        make: impl Fn(f64) -> Result<Box<dyn Mechanical>, E>,
    ) -> Result<DifferenceTangent, E> {
        let first = if value == 0.0 { STEP } else { STEP * value.abs() };
        self.names.push(name.into());
        self.varied.push(Varied { models: Vec::new(), step: first });
        settle([first; 2], ENTERS, |step| {
            let models = STENCIL.iter().map(|(offset, _)| make(value + offset * step)).collect::<Result<_, E>>()?;
            self.varied.pop();
            self.varied.push(Varied { models, step });
            // what cannot be evaluated does not agree
            Ok(Told { missed: self.parameter_disagreement(at).unwrap_or(f64::INFINITY), lost: 0.0 })
        })?;
        Ok(self)
    }

    /// By how much differences along the last parameter over the step and over its double disagree.
    fn parameter_disagreement(&mut self, at: &State) -> Result<f64, ModelError> {
        let at = (at.t, &at.q[..], &at.v[..]);
        let mut worst = 0.0f64;
        for of in [Of::Force, Of::Mass(at.2), Of::Coupling, Of::Curvature] {
            let DifferenceTangent { varied, list, coupling, curvature, part, sum, far, .. } = self;
            let Some(varied) = varied.last_mut() else { return Ok(0.0) };
            let mut values = |model: &mut Box<dyn Mechanical>, weight: f64, out: &mut Vec<f64>| {
                add(of, (&mut **model, list), at, weight, (coupling, curvature, part, out))
            };
            sum.clear();
            values(&mut varied.models[0], 1.0, sum)?;
            let rounding = ROUNDING * sum.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            sum.clear();
            far.clear();
            for (model, (offset, _)) in varied.models.iter_mut().zip(STENCIL) {
                let (out, weight) = if offset.abs() > 1.0 { (&mut *far, 0.25) } else { (&mut *sum, 0.5) };
                values(model, weight * offset.signum(), out)?;
            }
            worst = worst.max(tell(sum.iter().copied().zip(far.iter().copied()), rounding).missed);
        }
        Ok(worst)
    }

    /// Derivatives along time and state by the tangent that knows them, into `sum`.
    fn along_state(&mut self, of: Of<'_>, at: At<'_>, along: Along<'_>) -> Result<(), ModelError> {
        let DifferenceTangent { state: Some(state), sum, exact, sizes, .. } = self else { return Ok(()) };
        let along = Along { p: &[], ..along };
        match of {
            Of::Curvature => state.curvature(at, along, sum)?,
            Of::Coupling => {
                state.coupling(at, along, exact)?;
                *sizes = (exact.gap.len(), exact.drift.len());
                let CouplingTangent { gap, region, restitution, friction, drift, rows } = exact;
                [gap, region, restitution, friction, drift, rows].iter().for_each(|part| sum.extend_from_slice(part));
            }
            Of::Force | Of::Mass(_) => {
                sum.resize(at.2.len(), 0.0);
                match of {
                    Of::Mass(x) => state.mass(at, x, along, sum)?,
                    _ => state.force(at, along, sum)?,
                }
            }
        }
        Ok(())
    }

    /// (1) of a function into `sum`, along time and state together and along each parameter.
    fn along(&mut self, of: Of<'_>, (t, q, v): At<'_>, along: Along<'_>) -> Result<(), ModelError> {
        self.sum.clear();
        let size = |x: &[f64]| x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
        let direction = size(along.q).max(size(along.v)).max(along.t.abs());
        if self.state.is_some() {
            self.along_state(of, (t, q, v), along)?;
        }
        let DifferenceTangent {
            model,
            initial,
            state,
            sizes,
            varied,
            list,
            coupling,
            curvature,
            q: moved,
            way,
            v: pushed,
            part,
            sum,
            far,
            ..
        } = self;
        if direction > 0.0 && state.is_none() {
            let rough = matches!(of, Of::Curvature) && model.acceleration_level().is_none();
            let (part_of, demand) = if rough { (LONG_STEP, ROUGH) } else { (STEP, ENTERS) };
            let steps = steps((&**model, initial), part_of, (t, q, v), along);
            settle(steps, demand, |step| {
                sum.clear();
                far.clear();
                let mut largest = 0.0f64;
                for (offset, weight) in STENCIL {
                    let h = offset * step;
                    way.iter_mut().zip(along.q).for_each(|(w, d)| *w = h * d);
                    model.retract(q, way, moved);
                    pushed.iter_mut().zip(v.iter().zip(along.v)).for_each(|(o, (x, d))| *o = x + h * d);
                    let at = (t + h * along.t, &moved[..], &pushed[..]);
                    let out = if offset.abs() > 1.0 { &mut *far } else { &mut *sum };
                    let size = add(of, (&mut **model, list), at, weight / step, (coupling, curvature, part, out))?;
                    largest = largest.max(size);
                }
                // rates of obstacles may be differences in time, with a rounding of their own
                let (laws, rows) = match of {
                    Of::Coupling => (coupling.len(), coupling.drift.len()),
                    _ => (0, 0),
                };
                let drift = 3 * laws + rows..3 * laws + 2 * rows;
                let both = sum.iter().zip(far.iter()).enumerate().filter(|(k, _)| !drift.contains(k));
                // near: 2/3 (f₊ − f₋)/h, far: −1/12 (f₊₊ − f₋₋)/h
                let quotients = both.map(|(_, (near, far))| (0.75 * near, -3.0 * far));
                let told = tell(quotients, ROUNDING * largest);
                sum.iter_mut().zip(far.iter()).for_each(|(sum, far)| *sum += far);
                Ok::<Told, ModelError>(told)
            })?;
        }
        for (varied, p) in varied.iter_mut().zip(along.p).filter(|(_, p)| **p != 0.0) {
            for (model, (_, weight)) in varied.models.iter_mut().zip(STENCIL) {
                let weight = p * weight / varied.step;
                add(of, (&mut **model, list), (t, q, v), weight, (coupling, curvature, part, sum))?;
            }
        }
        if sum.is_empty() {
            // no direction at all: zeros of the right number
            add(of, (&mut **model, list), (t, q, v), 0.0, (coupling, curvature, part, sum))?;
        }
        if matches!(of, Of::Coupling) && state.is_none() {
            *sizes = (coupling.len(), coupling.drift.len());
        }
        match self.sum.iter().all(|x| x.is_finite()) {
            true => Ok(()),
            false => Err(ModelError::NotFinite { what: "a derivative of the model", t }),
        }
    }
}

type Buffers<'a> = (&'a mut Coupling, &'a mut Curvature, &'a mut Vec<f64>, &'a mut Vec<f64>);

/// The first and the longest step along a direction that are this part of the sizes of what it moves. Times have the
/// size of the time, or of a second.
fn steps((model, initial): (&dyn Mechanical, &State), part: f64, (t, q, v): At<'_>, along: Along<'_>) -> [f64; 2] {
    let sizes = Sizes::of(q.iter().chain(v).chain(&initial.q).chain(&initial.v).copied().chain(model.length()));
    let (mut first, mut most) = (f64::INFINITY, f64::INFINITY);
    let mut see = |[one, all]: [f64; 2], d: f64| {
        if d != 0.0 {
            (first, most) = (first.min(one / d.abs()), most.min(all / d.abs()));
        }
    };
    let own = |x: &[f64], initial: &[f64], j: usize| [x, initial].map(|x| x.get(j).copied().unwrap_or(0.0));
    let same = q.len() == along.q.len();
    for (j, d) in along.q.iter().enumerate() {
        // where there are more coordinates than velocities some are rotations, in radians
        let place = if same { Some(j) } else { model.moves(j) };
        let [x, from] = place.map_or([1.0; 2], |place| own(q, &initial.q, place));
        see(sizes.steps(part, x, from), *d);
    }
    for (j, d) in along.v.iter().enumerate() {
        let [x, from] = own(v, &initial.v, j);
        see(sizes.steps(part, x, from), *d);
    }
    see([part * t.abs().max(1.0); 2], along.t);
    [first, most.max(first)]
}

/// `sum ← sum + weight f` at a point; returns the largest number that was added, but for rates of obstacles.
fn add(
    of: Of<'_>,
    (model, list): (&mut dyn Mechanical, &mut Option<Vec<Key>>),
    (t, q, v): At<'_>,
    weight: f64,
    (coupling, curvature, part, sum): Buffers<'_>,
) -> Result<f64, ModelError> {
    let n = model.dim();
    match of {
        Of::Force => model.force(t, q, v, part)?,
        Of::Mass(x) => model.mass_mul(q, x, part)?,
        Of::Curvature => {
            let list = couple(model, (t, q), list, coupling)?;
            let (constancy, rows) = (model.constancy(), coupling.drift.len());
            curvature.evaluate(model, (constancy, &Magnitudes::default()), (t, q, v), (list, rows))?;
        }
        Of::Coupling => {
            couple(model, (t, q), list, coupling)?;
        }
    }
    let (mut place, largest) = (0, Cell::new(0.0f64));
    let mut push = |x: f64| {
        if place == sum.len() {
            sum.push(0.0);
        }
        let term = if weight == 0.0 { 0.0 } else { weight * x };
        sum[place] += term;
        largest.set(largest.get().max(term.abs()));
        place += 1;
    };
    match of {
        Of::Force | Of::Mass(_) => part.iter().for_each(|x| push(*x)),
        Of::Curvature => curvature.value.iter().for_each(|x| push(*x)),
        Of::Coupling => {
            coupling.pairs.iter().for_each(|pair| push(pair.gap));
            // a contact without region counts everywhere
            coupling.region.iter().for_each(|x| push(if x.is_finite() { *x } else { 0.0 }));
            coupling.pairs.iter().for_each(|pair| push(pair.restitution));
            for pair in &coupling.pairs {
                push(0.0);
                pair.law.discs().for_each(|(rows, disc)| rows.for_each(|_| push(disc.mu)));
            }
            let others = largest.get();
            coupling.drift.iter().for_each(|x| push(*x));
            largest.set(others);
            for row in 0..coupling.rows.len() {
                part.clear();
                part.resize(n, 0.0);
                coupling.rows.add_row(row, 1.0, part);
                part.iter().for_each(|x| push(*x));
            }
        }
    }
    Ok(largest.get())
}

/// Fills a coupling; its contacts are those of the list, which the first one tells where nobody has.
fn couple<'a>(
    model: &mut dyn Mechanical,
    at: (f64, &[f64]),
    list: &'a mut Option<Vec<Key>>,
    coupling: &mut Coupling,
) -> Result<&'a [Key], ModelError> {
    match list {
        Some(list) => coupling.fill(model, at, false, list)?,
        None => {
            model.couple(at.0, at.1, coupling)?;
            list.get_or_insert_default().extend(coupling.pairs.iter().map(|pair| pair.key));
        }
    }
    Ok(list.as_deref().unwrap_or_default())
}

impl Tangent for DifferenceTangent {
    fn parameters(&self) -> &[String] {
        &self.names
    }

    fn detect(&mut self, from: &State, h: f64, list: &[Key]) -> Result<(), ModelError> {
        let varied = self.varied.iter_mut().flat_map(|varied| &mut varied.models);
        for model in std::iter::once(&mut self.model).chain(varied) {
            model.detect(from, h)?;
        }
        let known = self.list.get_or_insert_default();
        known.clear();
        known.extend_from_slice(list);
        match &mut self.state {
            Some(state) => state.detect(from, h, list),
            None => Ok(()),
        }
    }

    fn force(&mut self, at: At<'_>, along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        self.along(Of::Force, at, along)?;
        out.copy_from_slice(&self.sum);
        Ok(())
    }

    fn mass(&mut self, at: At<'_>, x: &[f64], along: Along<'_>, out: &mut [f64]) -> Result<(), ModelError> {
        if self.varied.is_empty() && self.model.constancy().mass {
            out.fill(0.0);
            return Ok(());
        }
        self.along(Of::Mass(x), at, along)?;
        out.copy_from_slice(&self.sum);
        Ok(())
    }

    fn coupling(&mut self, at: At<'_>, along: Along<'_>, out: &mut CouplingTangent) -> Result<(), ModelError> {
        self.along(Of::Coupling, at, along)?;
        let (laws, rows) = self.sizes;
        let mut rest = &self.sum[..];
        let of_laws = [&mut out.gap, &mut out.region, &mut out.restitution].map(|part| (part, laws));
        let of_rows = [&mut out.friction, &mut out.drift].map(|part| (part, rows));
        for (part, count) in of_laws.into_iter().chain(of_rows) {
            let (first, more) = rest.split_at(count);
            part.clear();
            part.extend_from_slice(first);
            rest = more;
        }
        out.rows.clear();
        out.rows.extend_from_slice(rest);
        Ok(())
    }

    fn curvature(&mut self, at: At<'_>, along: Along<'_>, out: &mut Vec<f64>) -> Result<(), ModelError> {
        self.along(Of::Curvature, at, along)?;
        out.clear();
        out.extend_from_slice(&self.sum);
        Ok(())
    }
}
