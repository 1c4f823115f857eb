//! The numbers of a row that come from what laws did: sums of impulses, forces, multipliers, losses, gaps.

use super::column::{impulse_rows, is_first_order};
use super::table::Cell;
use super::trajectory::RowKind;
use carom::model::Energy;
use carom::scheme::{Motion, Reactions, Stepper};
use carom::simulation::Column as Quantity;
use carom::{Coupling, Pair, State};

/// What the laws did, and what is only known of whole steps.
pub(super) struct Values {
    /// First row of each contact in `impulse`.
    offset: Vec<usize>,
    impulse: Vec<f64>,
    /// (rows) of the last step; not numbers where there is none, or none of this length.
    force: Vec<f64>,
    /// Whether forces are functions of time, so that there is none inside a step.
    is_dense: bool,
    /// (contacts) multipliers of projections.
    tau: Vec<f64>,
    /// Measures of the higher-order sweeping process, all levels of one law after the other.
    levels: Vec<f64>,
    chains: Vec<usize>,
    /// (rows) outputs and multipliers of the last step of a first-order model; none before the first.
    after: Vec<f64>,
    pub lambda: Vec<f64>,
    /// Energy lost along normals, along tangents, and (contacts) at each, up to the last step that has ended.
    lost: (f64, f64),
    losses: Vec<f64>,
    /// Whether friction works inside the step, as far as that is known.
    rubs: bool,
    pub gaps: Gaps,
}

carom_solve::persist!(Values {
    impulse, force, tau, levels, after, lambda, lost, losses, rubs, gaps,
} skip { offset, is_dense, chains });

/// Gaps of the contacts of the labels, now and at their smallest.
#[derive(Clone, Debug, Default)]
pub(super) struct Gaps {
    /// `None` where the model does not list the contact.
    now: Vec<Option<f64>>,
    /// Unilateral contacts alone; `None` where it was never listed.
    pub smallest: Vec<Option<f64>>,
    /// Of all contacts, also of those without a label.
    pub overall: Option<f64>,
}

carom_solve::persist!(Gaps { now, smallest, overall });

impl Gaps {
    /// Looks at gaps inside a step.
    pub fn look(&mut self, coupling: &Coupling) {
        self.now.fill(None);
        for pair in present(coupling) {
            if let Some(now) = self.now.get_mut(usize::try_from(pair.key.0).unwrap_or(usize::MAX)) {
                *now = Some(pair.gap);
            }
        }
    }

    /// Looks at gaps at the end of a step, for the smallest ones.
    pub fn see(&mut self, coupling: &Coupling) {
        self.look(coupling);
        for pair in present(coupling) {
            let i = usize::try_from(pair.key.0).unwrap_or(usize::MAX);
            if !pair.law.is_contact() {
                continue;
            }
            let smaller = |other: Option<f64>| Some(other.map_or(pair.gap, |other| other.min(pair.gap)));
            if let Some(smallest) = self.smallest.get_mut(i) {
                *smallest = smaller(*smallest);
            }
            self.overall = smaller(self.overall);
        }
    }
}

/// Contacts that count: outside its region one has no gap.
fn present(coupling: &Coupling) -> impl Iterator<Item = &Pair> {
    coupling.pairs.iter().enumerate().filter(|(i, _)| coupling.is_present(*i)).map(|(_, pair)| pair)
}

impl Values {
    pub fn new(stepper: &dyn Stepper) -> Values {
        let labels = stepper.labels();
        let (offset, contacts) = (impulse_rows(labels), labels.contacts.len());
        let rows = offset.last().copied().unwrap_or(0);
        let multipliers = if is_first_order(stepper.from()) { contacts } else { 0 };
        Values {
            impulse: vec![0.0; rows],
            force: vec![f64::NAN; rows],
            is_dense: stepper.motion() == Motion::Dense,
            tau: vec![0.0; contacts],
            offset,
            levels: vec![0.0; stepper.reactions().levels.len()],
            chains: stepper.reactions().chains.clone(),
            after: vec![f64::NAN; multipliers],
            lambda: vec![f64::NAN; multipliers],
            lost: (0.0, 0.0),
            losses: vec![0.0; contacts],
            rubs: false,
            gaps: Gaps { now: vec![None; contacts], smallest: vec![None; contacts], overall: None },
        }
    }

    /// What holds over the whole step: forces, outputs and multipliers of a first-order model. Where a scheme knows
    /// only the integral of λ, it is its mean over the step.
    pub fn hold(&mut self, reactions: &Reactions, h: f64) {
        // a contact that is not listed does not act
        self.force.fill(if h > 0.0 { 0.0 } else { f64::NAN });
        self.rubs = false;
        for (i, key) in reactions.coupling.pairs.iter().map(|pair| &pair.key).enumerate() {
            let contact = usize::try_from(key.0).unwrap_or(usize::MAX);
            let Some((first, end)) = self.rows(contact) else { continue };
            for (force, row) in self.force[first..end].iter_mut().zip(reactions.range(i)) {
                *force = reactions.force(row, h).unwrap_or(f64::NAN);
            }
            let force = |row: usize| reactions.multiplier.get(row).unwrap_or(&reactions.impulse[row]);
            self.rubs |= reactions.range(i).skip(1).any(|row| *force(row) != 0.0);
            if let (Some(after), Some(lambda)) = (self.after.get_mut(contact), self.lambda.get_mut(contact)) {
                let row = reactions.range(i).start;
                *after = reactions.after[row];
                *lambda = reactions.multiplier.get(row).copied().unwrap_or(reactions.impulse[row] / h);
            }
        }
    }

    /// Adds what a step has done that ends.
    pub fn add(&mut self, reactions: &Reactions) {
        self.levels.iter_mut().zip(&reactions.levels).for_each(|(sum, mu)| *sum += mu);
        for (i, key) in reactions.coupling.pairs.iter().map(|pair| &pair.key).enumerate() {
            if reactions.impulse[reactions.range(i)].iter().any(|p| *p != 0.0) {
                let (normal, friction) = reactions.losses(i);
                self.lost = (self.lost.0 + normal, self.lost.1 + friction);
                if let Some(lost) = usize::try_from(key.0).ok().and_then(|at| self.losses.get_mut(at)) {
                    *lost += normal + friction;
                }
            }
            let contact = usize::try_from(key.0).unwrap_or(usize::MAX);
            let Some((first, end)) = self.rows(contact) else { continue };
            for (sum, impulse) in self.impulse[first..end].iter_mut().zip(&reactions.impulse[reactions.range(i)]) {
                *sum += impulse;
            }
            if let Some(tau) = reactions.projection.get(i) {
                self.tau[contact] += tau;
            }
        }
    }

    /// Rows of a contact of the labels.
    fn rows(&self, contact: usize) -> Option<(usize, usize)> {
        Some((*self.offset.get(contact)?, *self.offset.get(contact.checked_add(1)?)?))
    }

    /// The sums begin again.
    pub fn clear_sums(&mut self) {
        self.impulse.fill(0.0);
        self.tau.fill(0.0);
        self.levels.fill(0.0);
    }

    /// The cell of a column in a row inside a step, or at its end; outputs are not evaluated.
    pub fn cell(&self, source: Quantity, state: &State, energy: Option<Energy>, kind: RowKind) -> Cell<'static> {
        let real = |x: Option<f64>| x.map_or(Cell::Missing, Cell::Real);
        let known = |x: Option<&f64>| real(x.copied().filter(|x| !x.is_nan()));
        // work of friction is known of whole steps; that of a captured impact is put to the end of its step
        let rubs = self.rubs && (kind == RowKind::Output || kind == RowKind::Before && self.is_dense);
        match source {
            Quantity::Time => Cell::Real(state.t),
            Quantity::Position(i) => real(state.q.get(i).copied()),
            Quantity::Velocity(i) => real(state.v.get(i).copied()),
            Quantity::Gap(i) => real(self.gaps.now.get(i).copied().flatten()),
            Quantity::Impulse { law, row } => real(self.impulse.get(self.offset[law] + row).copied()),
            Quantity::Force { .. } if self.is_dense && kind == RowKind::Output => Cell::Missing,
            Quantity::Force { law, row } => known(self.force.get(self.offset[law] + row)),
            Quantity::Projection(i) => real(self.tau.get(i).copied()),
            Quantity::Level { law, level } => real(self.levels.get(self.chains[law] + level).copied()),
            Quantity::After(row) => known(self.after.get(row)),
            Quantity::Multiplier(row) => known(self.lambda.get(row)),
            Quantity::Kinetic => real(energy.map(|energy| energy.kinetic)),
            Quantity::Potential => real(energy.map(|energy| energy.potential)),
            Quantity::Total => real(energy.map(|energy| energy.total())),
            Quantity::ImpactLoss => Cell::Real(self.lost.0),
            Quantity::FrictionLoss | Quantity::Loss(_) if rubs => Cell::Missing,
            Quantity::FrictionLoss => Cell::Real(self.lost.1),
            Quantity::Loss(i) => real(self.losses.get(i).copied()),
            // not yet evaluated
            Quantity::Output(_) => Cell::Real(0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom::Key;
    use carom_solve::Law;

    #[test]
    fn gaps_follow_the_keys() {
        let mut gaps = Gaps { now: vec![None; 3], smallest: vec![None; 3], overall: None };
        let pair = |key, law, gap| Pair { key: Key(key), law, gap, restitution: 0.0 };
        let mut coupling = Coupling::default();
        coupling.push(pair(2, Law::UNILATERAL, 0.3));
        coupling.push(pair(0, Law::EQUALITY, -5.0));
        coupling.push(pair(u128::MAX, Law::UNILATERAL, 0.2));
        gaps.see(&coupling);
        assert_eq!(gaps.now, [Some(-5.0), None, Some(0.3)]);
        coupling.pairs.clear();
        coupling.push(pair(2, Law::coulomb(0.1, 1), 0.4));
        gaps.see(&coupling);
        assert_eq!(gaps.now, [None, None, Some(0.4)]);
        assert_eq!((gaps.smallest, gaps.overall), (vec![None, None, Some(0.3)], Some(0.2)));
    }
}
