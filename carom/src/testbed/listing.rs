//! A model whose list of contacts changes: any other model, with contacts that come and go or change places.
//!
//! What a broad phase does to a list, without its geometry. The motion must be that of the model inside.

use crate::model::{Chart, Combination, Constancy, Energy, Labels};
use crate::{Coupling, FirstOrder, Key, Mechanical, ModelError, Pair, Space, State};
use carom_solve::{Archive, ArchiveError, LinearSolve, Persist};

/// When the list turns round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turns {
    /// Never.
    #[default]
    Never,
    /// From step to step.
    EveryStep,
    /// From one `couple` to the next, against what [`Space::couple`] asks for.
    EveryCall,
}

/// A model that lists only some of the contacts of another one, or lists them in another order. Keys stay.
pub struct Listing<M> {
    model: M,
    radius: f64,
    ahead: [f64; 2], // steps at the velocity, and acceleration [m/s²]
    turns: Turns,
    turned: bool,
    listed: Vec<Key>,
    renames: Option<bool>, // and tells whose impulse is inherited
    age: u128,
    full: Coupling,
    velocity: Vec<f64>, // (rows) of `full` at the start of a step
}

impl<M: Space> Listing<M> {
    /// Lists what the model lists.
    pub fn new(model: M) -> Listing<M> {
        Listing {
            model,
            radius: f64::INFINITY,
            ahead: [0.0; 2],
            turns: Turns::Never,
            turned: false,
            listed: Vec::new(),
            renames: None,
            age: 0,
            full: Coupling::default(),
            velocity: Vec::new(),
        }
    }

    /// Lists contacts whose gap is below `radius`. A contact may close in a step that does not list it.
    /// Mechanical models only: the rows of first-order systems stay the same for ever.
    pub fn near(mut self, radius: f64) -> Self {
        self.radius = radius;
        self
    }

    /// Lists contacts as well that come near within two steps, at their velocity and at most this acceleration [m/s²].
    pub fn looking_ahead(mut self, acceleration: f64) -> Self {
        self.ahead = [2.0, acceleration];
        self
    }

    /// Turns the list round.
    pub fn turning(mut self, turns: Turns) -> Self {
        self.turns = turns;
        self
    }

    /// Gives all contacts new keys in each step; with `heirs` they inherit what was known under the last ones.
    pub fn renaming(mut self, heirs: bool) -> Self {
        self.renames = Some(heirs);
        self
    }

    /// The key of a contact at some age.
    fn key(&self, key: Key, age: u128) -> Key {
        Key(key.0 + if self.renames.is_some() { age << 64 } else { 0 })
    }

    /// The laws of `full` that are listed, by place.
    fn places(&self) -> Vec<usize> {
        let mut places: Vec<usize> =
            (0..self.full.len()).filter(|&i| self.listed.contains(&self.full.pairs[i].key)).collect();
        if self.turned {
            places.reverse();
        }
        places
    }

    /// Copies the laws that are listed.
    fn select(&self, out: &mut Coupling) {
        let (places, full) = (self.places(), &self.full);
        out.clear(full.rows.columns());
        let rows: Vec<usize> = places.iter().flat_map(|&i| full.range(i)).collect();
        for &i in &places {
            let pair = full.pairs[i];
            if self.renames == Some(true) && self.age > 0 {
                out.heirs.push((out.len(), self.key(pair.key, self.age - 1)));
            }
            out.push_within(Pair { key: self.key(pair.key, self.age), ..pair }, full.region[i]);
        }
        out.drift.extend(rows.iter().map(|&row| full.drift[row]));
        rows.iter().for_each(|&row| out.rows.push_row_of(&full.rows, row));
        if !full.input.is_empty() {
            rows.iter().for_each(|&row| out.input.push_row_of(&full.input, row));
        }
        if !full.feedthrough.is_empty() {
            out.feedthrough.clear(rows.len());
            let entry = |row: usize, column: usize| {
                full.feedthrough.row(row).iter().find(|entry| entry.0 == column).map_or(0.0, |entry| entry.1)
            };
            for &row in &rows {
                let entries: Vec<f64> = rows.iter().map(|&column| entry(row, column)).collect();
                out.feedthrough.push_dense(&entries);
            }
        }
    }
}

impl<M: LinearSolve> LinearSolve for Listing<M> {
    fn dim(&self) -> usize {
        self.model.dim()
    }
    fn solve(&self, rhs: &mut [f64]) {
        self.model.solve(rhs);
    }
}

impl<M: Space> Space for Listing<M> {
    fn persist(&mut self, archive: &mut Archive, last: &State) -> Result<bool, ArchiveError> {
        (&mut self.listed, &mut self.turned, &mut self.age).persist(archive)?;
        self.model.persist(archive, last)
    }

    fn initial(&self) -> State {
        self.model.initial()
    }

    fn check(&self) -> Result<(), ModelError> {
        self.model.check()
    }

    fn positions(&self) -> usize {
        self.model.positions()
    }

    fn moves(&self, j: usize) -> Option<usize> {
        self.model.moves(j)
    }

    fn detect(&mut self, from: &State, h: f64) -> Result<bool, ModelError> {
        self.model.detect(from, h)?;
        self.model.couple(from.t, &from.q, &mut self.full)?;
        let full = &self.full;
        if from.v.is_empty() {
            self.velocity.clear();
            self.velocity.resize(full.rows.len(), 0.0);
        } else {
            full.velocity(&from.v, &mut self.velocity);
        }
        let velocity = &self.velocity;
        let is_near = |i: &usize| {
            let ahead = (self.ahead[0] * h * velocity[full.offset[*i]]).min(0.0) - self.ahead[1] * h * h;
            !full.pairs[*i].law.is_contact() || full.pairs[*i].gap + ahead < self.radius
        };
        let listed: Vec<Key> = (0..full.len()).filter(is_near).map(|i| full.pairs[i].key).collect();
        let turned = self.turned != (self.turns == Turns::EveryStep);
        let changed = listed != self.listed || turned != self.turned || self.renames.is_some();
        self.age += u128::from(self.renames.is_some());
        (self.listed, self.turned) = (listed, turned);
        Ok(changed)
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        self.model.couple(t, q, &mut self.full)?;
        self.turned = self.turned != (self.turns == Turns::EveryCall);
        self.select(out);
        Ok(())
    }

    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        self.model.retract(q, dq, out);
    }

    fn difference(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        self.model.difference(a, b, out);
    }

    fn chart(&self) -> Option<&dyn Chart> {
        self.model.chart()
    }

    fn length(&self) -> Option<f64> {
        self.model.length()
    }

    fn labels(&self) -> Labels {
        self.model.labels()
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        self.model.energy(at)
    }

    fn has_applied_power(&self) -> bool {
        self.model.has_applied_power()
    }

    fn applied_power(&mut self, at: &State) -> f64 {
        self.model.applied_power(at)
    }
}

impl<M: Mechanical> Mechanical for Listing<M> {
    fn constancy(&self) -> Constancy {
        self.model.constancy()
    }

    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.model.force(t, q, v, out)
    }

    fn mass_mul(&mut self, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.model.mass_mul(q, v, out)
    }

    fn mass_diagonal(&mut self, q: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.model.mass_diagonal(q, out)
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        self.model.factor(at, c)
    }
}

impl<M: FirstOrder> FirstOrder for Listing<M> {
    fn constancy(&self) -> Constancy {
        // other calls, other lists
        Constancy { still: false, ..self.model.constancy() }
    }

    fn rate(&mut self, t: f64, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.model.rate(t, x, out)
    }

    fn inertia_mul(&self, x: &[f64], out: &mut [f64]) {
        self.model.inertia_mul(x, out);
    }

    fn is_algebraic(&self, i: usize) -> bool {
        self.model.is_algebraic(i)
    }

    fn factor(&mut self, at: &State, c: f64) -> Result<(), ModelError> {
        self.model.factor(at, c)
    }
}
