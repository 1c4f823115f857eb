//! The model: flat tapes behind the traits of mechanics. What is constant is evaluated once.

use super::{Derived, EquationError, Source, SourceLaw};
use crate::expression::{Evaluator, NodeId, Tape};
use carom::model::tangent::At;
use carom::model::{AccelerationLevel, Combination, Constancy, DenseOperator, Energy, Labels};
use carom::{Coupling, Key, Mechanical, ModelError, Pair, Space, State};
use carom_solve::{Archive, ArchiveError, Law, LinearSolve, Persist, Rows};

/// Where force and mass were last evaluated, and the force there.
struct LastPoint {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    force: Vec<f64>,
}

impl LastPoint {
    /// Nowhere: no state is equal to it.
    fn new(n: usize) -> LastPoint {
        LastPoint { t: f64::NAN, q: vec![f64::NAN; n], v: vec![f64::NAN; n], force: vec![f64::NAN; n] }
    }

    #[inline]
    fn is(&self, t: f64, q: &[f64], v: &[f64]) -> bool {
        self.t == t && self.q == q && self.v == v
    }

    #[inline]
    fn set(&mut self, (t, q, v): (f64, &[f64], &[f64]), force: &[f64]) {
        self.t = t;
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        self.force.copy_from_slice(force);
    }
}

/// The equations of a model, derived and compiled. With the values of parameters they make models, as often as wanted.
#[derive(Clone, Debug)]
pub struct EquationPlan {
    pub(super) coordinates: Vec<String>,
    pub(super) laws: Vec<SourceLaw>,
    pub(super) constancy: Constancy,
    length: Option<f64>,
    pub(super) mass: Tape,
    pub(super) force: Tape,
    balance: Tape,                 // force, and the mass where it varies: schemes need both at one place
    tangents: Option<Tape>,        // force, mass, damping, stiffness, unless they are too large
    gaps: Tape,                    // gaps, and drift where it varies
    pub(super) coupling: Tape,     // gaps, drift, rows: one tape, so that what they share is computed once
    entries: Vec<Vec<usize>>,      // (rows) columns that are not zero everywhere
    pub(super) regions: Tape,      // values of the regions
    pub(super) within: Vec<usize>, // laws that have one
    friction: Tape,                // coefficients while sliding and at rest, where they depend on the state
    rough: Vec<usize>,             // laws that have them
    pub(super) curvature: Tape,
    energy: Tape, // kinetic, potential
    power: Tape,  // of the forces without potential
}

impl EquationPlan {
    /// Number of operations that a model may have unless its file allows more.
    pub const OPERATIONS: usize = 2_000_000;

    /// Differentiates and compiles.
    ///
    /// # Errors
    /// As [`EquationPlan::within`].
    pub fn new(source: &mut Source) -> Result<EquationPlan, EquationError> {
        EquationPlan::within(source, EquationPlan::OPERATIONS)
    }

    /// Differentiates and compiles a model of at most so many operations.
    ///
    /// # Errors
    /// Fails where the expressions are not those of a mechanical model, or have too many operations.
    pub fn within(source: &mut Source, operations: usize) -> Result<EquationPlan, EquationError> {
        let derived = Derived::of(source, operations)?;
        Ok(EquationPlan::compile(source, &derived))
    }

    /// Compiles.
    pub(super) fn compile(source: &Source, d: &Derived) -> EquationPlan {
        let graph = &source.graph;
        let constant = |nodes: &[NodeId]| nodes.iter().all(|&node| graph.is_fixed(node));
        let constancy = Constancy {
            mass: constant(&d.mass),
            tangents: d.tangents.as_ref().is_some_and(|d| constant(&d.damping) && constant(&d.stiffness)),
            rows: constant(&d.rows),
            drift: constant(&d.drift),
            still: false,
        };
        let tape = |lists: &[&[NodeId]]| Tape::compile(graph, &lists.concat());
        let varying = if constancy.mass { &[] } else { &d.mass[..] };
        let n = source.coordinates.len();
        let entries = d.rows.chunks(n.max(1)).map(|row| {
            let columns: Vec<usize> = (0..n).filter(|&j| !graph.is_zero(row[j])).collect();
            // a gap that depends on nothing keeps its zeros
            if columns.is_empty() { (0..n).collect() } else { columns }
        });
        let entries = entries.collect();
        let regions = source.laws.iter().enumerate().filter_map(|(k, law)| Some((k, law.region?)));
        let (within, regions): (Vec<usize>, Vec<NodeId>) = regions.unzip();
        let friction = source.laws.iter().enumerate().filter_map(|(k, law)| Some((k, law.friction?)));
        let (rough, friction): (Vec<usize>, Vec<[NodeId; 2]>) = friction.unzip();
        let energy: Vec<NodeId> = d.energy.iter().flatten().copied().collect();
        let power: Vec<NodeId> = d.applied_power.into_iter().collect();
        EquationPlan {
            constancy,
            length: None,
            mass: tape(&[&d.mass]),
            force: tape(&[&d.force]),
            balance: tape(&[&d.force, varying]),
            tangents: d.tangents.as_ref().map(|of| tape(&[&d.force, &d.mass, &of.damping, &of.stiffness])),
            gaps: tape(&[&d.gaps, if constancy.drift { &[] } else { &d.drift }]),
            coupling: tape(&[&d.gaps, &d.drift, &d.rows]),
            entries,
            regions: tape(&[&regions]),
            within,
            friction: tape(&[&friction.concat()]),
            rough,
            curvature: tape(&[&d.curvature]),
            energy: tape(&[&energy]),
            power: tape(&[&power]),
            coordinates: source.coordinates.clone(),
            laws: source.laws.clone(),
        }
    }

    /// The same equations with these parameters, and with the law of each contact and constraint and its restitution
    /// along the normal and the tangents.
    #[must_use]
    pub fn bind(&self, parameters: &[f64], laws: &[(Law, [f64; 2])]) -> EquationPlan {
        let known = self.laws.iter().zip(laws);
        let bound = |(known, &(law, [restitution, tangential])): (&SourceLaw, &(Law, [f64; 2]))| SourceLaw {
            law,
            restitution,
            tangential,
            ..known.clone()
        };
        let laws = known.map(bound).collect();
        EquationPlan {
            laws,
            coordinates: self.coordinates.clone(),
            constancy: self.constancy,
            length: self.length,
            mass: self.mass.bind(parameters),
            force: self.force.bind(parameters),
            balance: self.balance.bind(parameters),
            tangents: self.tangents.as_ref().map(|tape| tape.bind(parameters)),
            gaps: self.gaps.bind(parameters),
            coupling: self.coupling.bind(parameters),
            entries: self.entries.clone(),
            regions: self.regions.bind(parameters),
            within: self.within.clone(),
            friction: self.friction.bind(parameters),
            rough: self.rough.clone(),
            curvature: self.curvature.bind(parameters),
            energy: self.energy.bind(parameters),
            power: self.power.bind(parameters),
        }
    }

    /// The same equations in a model with this typical length [m].
    #[must_use]
    pub fn with_length(self, length: Option<f64>) -> EquationPlan {
        EquationPlan { length, ..self }
    }

    /// Numbers of operations of an evaluation: balance, mass, tangents, coupling, curvature, energy with power.
    pub fn operations(&self) -> [usize; 6] {
        let n = self.coordinates.len();
        let tangents = self.tangents.as_ref().map_or(2 * n * self.force.len(), Tape::len);
        let [balance, mass, coupling, curvature, energy, power] =
            [&self.balance, &self.mass, &self.coupling, &self.curvature, &self.energy, &self.power]
                .map(|tape| tape.len());
        [balance, mass, tangents, coupling, curvature, energy + power]
    }

    /// A model that starts at this state.
    pub fn model(&self, initial: State) -> Equations {
        let n = self.coordinates.len();
        let mut model = Equations {
            constancy: self.constancy,
            length: self.length,
            operator: DenseOperator::new(n),
            mass: Evaluator::new(&self.mass),
            balance: Evaluator::new(&self.balance),
            tangents: match &self.tangents {
                Some(tape) => Slopes::Tape(Evaluator::new(tape)),
                None => Slopes::Force(Evaluator::new(&self.force), vec![0.0; 2 * n]),
            },
            gaps: Evaluator::new(&self.gaps),
            coupling: Evaluator::new(&self.coupling),
            entries: self.entries.clone(),
            regions: Evaluator::new(&self.regions),
            within: self.within.clone(),
            friction: Evaluator::new(&self.friction),
            rough: self.rough.clone(),
            curvature: Evaluator::new(&self.curvature),
            energy: Evaluator::new(&self.energy),
            power: Evaluator::new(&self.power),
            place: LastPoint::new(n),
            still: vec![0.0; n],
            coordinates: self.coordinates.clone(),
            laws: self.laws.clone(),
            initial,
        };
        let State { t, q, v } = &model.initial;
        let coefficients = model.friction.eval(*t, q, v).chunks_exact(2);
        for (&law, mu) in self.rough.iter().zip(coefficients) {
            model.laws[law].law = model.laws[law].law.with_mu(mu[1]);
        }
        if self.constancy.mass {
            model.operator.mass.copy_from_slice(model.mass.values());
        }
        model
    }
}

/// A Lagrangian model made of equations.
pub struct Equations {
    coordinates: Vec<String>,
    laws: Vec<SourceLaw>,
    initial: State,
    constancy: Constancy,
    length: Option<f64>,
    operator: DenseOperator,
    mass: Evaluator,
    balance: Evaluator,
    tangents: Slopes,
    place: LastPoint, // where the last two were evaluated
    gaps: Evaluator,
    coupling: Evaluator,
    entries: Vec<Vec<usize>>, // (rows) columns that are not zero everywhere
    regions: Evaluator,
    within: Vec<usize>,
    friction: Evaluator,
    rough: Vec<usize>, // laws whose friction depends on the state
    curvature: Evaluator,
    energy: Evaluator,
    power: Evaluator,
    still: Vec<f64>, // (n) zero velocities, where none are needed
}

/// Where the matrices K and C come from.
enum Slopes {
    /// Force, mass, damping and stiffness.
    Tape(Evaluator),
    /// The force, derived along one coordinate and velocity after the other, and the direction.
    Force(Evaluator, Vec<f64>),
}

impl Equations {
    /// Differentiates and compiles.
    ///
    /// # Errors
    /// As [`EquationPlan::new`].
    pub fn new(mut source: Source) -> Result<Equations, EquationError> {
        Ok(EquationPlan::new(&mut source)?.model(source.initial))
    }

    /// Where each contact counts.
    fn evaluate_regions(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let values = self.regions.eval(t, q, &self.still);
        for (&law, &value) in self.within.iter().zip(values) {
            out.region[law] = value;
        }
        match values.iter().position(|x| x.is_nan()) {
            Some(k) => Err(ModelError::Gap { contact: law_name(&self.laws, self.within.get(k).copied()), t }),
            None => Ok(()),
        }
    }

    #[inline]
    fn evaluate_mass(&mut self, q: &[f64]) {
        if !self.constancy.mass && self.place.q != q {
            // the derivation has made sure that the mass depends on q alone
            self.operator.mass.copy_from_slice(self.mass.eval(0.0, q, &self.still));
            self.place.t = f64::NAN;
            self.place.q.copy_from_slice(q);
        }
    }

    /// Force and mass, unless they are there.
    #[inline]
    fn evaluate_balance(&mut self, t: f64, q: &[f64], v: &[f64]) {
        if !self.place.is(t, q, v) {
            let (force, mass) = self.balance.eval(t, q, v).split_at(q.len());
            self.place.set((t, q, v), force);
            if !self.constancy.mass {
                self.operator.mass.copy_from_slice(mass);
            }
        }
    }

    /// Force, mass, damping and stiffness.
    fn evaluate_tangents(&mut self, at: &State) {
        let n = self.coordinates.len();
        if let Slopes::Force(..) = self.tangents {
            self.evaluate_balance(at.t, &at.q, &at.v);
        }
        let operator = &mut self.operator;
        match &mut self.tangents {
            Slopes::Tape(tape) => {
                let (force, matrices) = tape.eval(at.t, &at.q, &at.v).split_at(n);
                self.place.set((at.t, &at.q, &at.v), force);
                let (mass, tangents) = matrices.split_at(n * n);
                let (damping, stiffness) = tangents.split_at(n * n);
                operator.mass.copy_from_slice(mass);
                operator.damping.copy_from_slice(damping);
                operator.stiffness.copy_from_slice(stiffness);
            }
            Slopes::Force(force, direction) => {
                for k in 0..2 * n {
                    direction[k] = 1.0;
                    let slopes = force.along((at.t, &at.q, &at.v), [&[0.0], direction, &[]], &[]);
                    direction[k] = 0.0;
                    let matrix = if k < n { &mut operator.stiffness } else { &mut operator.damping };
                    matrix.iter_mut().skip(k % n).step_by(n).zip(slopes).for_each(|(to, slope)| *to = -slope);
                }
            }
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

/// The first law whose gap is not finite, or whose outputs move at a speed that is not: gaps stand first, then the
/// drift of each row.
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
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        self.operator.persist(archive).map(|()| true)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn length(&self) -> Option<f64> {
        self.length
    }

    fn has_rebounds(&self) -> bool {
        self.laws.iter().any(|law| law.tangential > 0.0)
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let n = self.coordinates.len();
        out.clear(n);
        let values = self.laws.len() + self.entries.len();
        let (values, rows) = self.coupling.eval(t, q, &self.still).split_at(values);
        if !values.iter().all(|x| x.is_finite()) {
            return Err(undefined_gap(&self.laws, values, t));
        }
        let (gaps, drift) = values.split_at(self.laws.len());
        out.drift.extend_from_slice(drift);
        for (k, (law, &gap)) in self.laws.iter().zip(gaps).enumerate() {
            out.rebound(law.tangential);
            out.push(Pair { key: Key::from(k), law: law.law, gap, restitution: law.restitution });
        }
        for (row, columns) in rows.chunks_exact(n).zip(&self.entries) {
            out.rows.push_sparse(columns.iter().map(|&j| (j, row[j])));
        }
        if !out.rows.is_finite() {
            return Err(undefined_gradient(&self.laws, &out.rows, t));
        }
        if self.within.is_empty() { Ok(()) } else { self.evaluate_regions(t, q, out) }
    }

    fn refresh(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let values = self.gaps.eval(t, q, &self.still);
        let (gaps, drift) = values.split_at(self.laws.len());
        let mut is_finite = true;
        for (pair, &gap) in out.pairs.iter_mut().zip(gaps) {
            pair.gap = gap;
            is_finite &= gap.is_finite();
        }
        if !drift.is_empty() {
            out.drift.copy_from_slice(drift);
            is_finite &= drift.iter().fold(true, |finite, x| finite & x.is_finite());
        }
        if !is_finite {
            return Err(undefined_gap(&self.laws, values, t));
        }
        if self.within.is_empty() { Ok(()) } else { self.evaluate_regions(t, q, out) }
    }

    fn friction_varies(&self) -> bool {
        !self.rough.is_empty()
    }

    fn rub(&mut self, (t, q, v): At<'_>, sticks: &[bool], out: &mut Coupling) -> Result<(), ModelError> {
        let coefficients = self.friction.eval(t, q, v).chunks_exact(2);
        for (&law, mu) in self.rough.iter().zip(coefficients) {
            let value = mu[usize::from(sticks[law])];
            if !(value >= 0.0 && value.is_finite()) {
                return Err(ModelError::Friction { contact: law_name(&self.laws, Some(law)), value, t });
            }
            out.pairs[law].law = out.pairs[law].law.with_mu(value);
        }
        Ok(())
    }

    fn labels(&self) -> Labels {
        Labels {
            coordinates: self.coordinates.clone(),
            contacts: self.laws.iter().map(|law| (law.name.clone(), law.law)).collect(),
            ..Labels::default()
        }
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        let values = self.energy.eval(at.t, &at.q, &at.v);
        Some(Energy { kinetic: values[0], potential: values[1] })
    }

    fn has_applied_power(&self) -> bool {
        !self.power.is_constant()
    }

    fn applied_power(&mut self, at: &State) -> f64 {
        self.power.eval(at.t, &at.q, &at.v)[0]
    }
}

impl Mechanical for Equations {
    fn constancy(&self) -> Constancy {
        self.constancy
    }

    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let force = if self.constancy.matrix() {
            self.balance.eval(t, q, v)
        } else {
            self.evaluate_balance(t, q, v);
            &self.place.force
        };
        let mut is_finite = true;
        for (out, force) in out.iter_mut().zip(force) {
            *out = *force;
            is_finite &= force.is_finite();
        }
        if is_finite {
            return Ok(());
        }
        let i = out.iter().position(|x| !x.is_finite()).unwrap_or_default();
        Err(ModelError::Force { coordinate: self.coordinates[i].as_str().into(), t })
    }

    fn mass_mul(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.evaluate_mass(q);
        self.operator.mass_mul(v, out);
        self.check_mass()
    }

    fn mass_diagonal(&mut self, q: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.evaluate_mass(q);
        self.operator.mass_diagonal(out);
        Ok(())
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        if c.damping == 0.0 && c.stiffness == 0.0 {
            self.evaluate_balance(at.t, &at.q, &at.v);
            self.check_mass()?;
        } else {
            self.evaluate_tangents(at);
        }
        self.operator.factor(c, at.t)
    }

    fn bound_rates(&mut self, t: [f64; 2], q: &[[f64; 2]], v: &[[f64; 2]], out: &mut Vec<[f64; 2]>) -> bool {
        let (n, laws) = (self.coordinates.len(), self.laws.len());
        let (drift, rows) = self.coupling.bounds(t, q)[laws..].split_at(self.entries.len());
        out.clear();
        let mut row = 0;
        for law in &self.laws {
            let [mut low, mut high] = drift[row];
            for ([a, b], [c, d]) in rows[n * row..n * (row + 1)].iter().zip(v) {
                let products = [a * c, a * d, b * c, b * d];
                low += products.iter().copied().fold(f64::INFINITY, f64::min);
                high += products.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            }
            out.push(if low <= high { [low, high] } else { [f64::NEG_INFINITY, f64::INFINITY] });
            row += law.law.size();
        }
        true
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
