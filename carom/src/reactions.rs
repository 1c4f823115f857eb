//! What each law of the model did in a step.

use crate::{Coupling, Key};
use carom_solve::Law;

/// What each law of the model did in a step. Rows are those of the coupling.
///
/// In first-order systems `before` and `after` are the outputs y without λ at the start and with λ where the law was
/// imposed, `impulse` is the integral of λ over the step, and the coupling is that of the time at which the law was
/// imposed.
#[derive(Clone, Debug, Default)]
pub struct Reactions {
    /// Laws, gaps and rows at the start of the step.
    pub coupling: Coupling,
    /// (rows) relative velocity before and after [m/s]; the same where the law did not act.
    pub before: Vec<f64>,
    /// (rows) relative velocity after [m/s].
    pub after: Vec<f64>,
    /// (rows) mean velocity over the step of the obstacle's own motion, contained in both [m/s].
    pub obstacle: Vec<f64>,
    /// (rows) impulse over the step [N s].
    pub impulse: Vec<f64>,
    /// (laws) multiplier τ of the projection of positions; empty in schemes that do not project.
    pub projection: Vec<f64>,
    /// (rows) work of the impulse [J], from schemes whose step has parts; empty where it is impulse times mean
    /// velocity.
    pub work: Vec<f64>,
    /// (rows) λ itself where it is a function of time: in first-order systems where the law was imposed, from
    /// event-driven steps at the end of the step, before the event that ends it [N]; empty elsewhere.
    pub multiplier: Vec<f64>,
    /// Measures μ of the higher-order sweeping process, all levels of one law after the other; empty elsewhere.
    pub levels: Vec<f64>,
    /// (laws + 1) first level of each law in `levels`; empty elsewhere.
    pub chains: Vec<usize>,
    /// Impacts of the step as its impact law has resolved them, in their order; empty with Newton's law.
    pub collisions: Vec<Collision>,
}

carom_solve::persist!(Reactions {
    coupling,
    before,
    after,
    obstacle,
    impulse,
    projection,
    work,
    multiplier,
    levels,
    chains,
    collisions,
});

/// An impact of one contact, alone in a sequence or together with others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Collision {
    /// Its place among the laws.
    pub law: usize,
    rows: usize,
    before: [f64; Law::MOST_ROWS],
    after: [f64; Law::MOST_ROWS],
    impulse: [f64; Law::MOST_ROWS],
    /// Whether another contact approached as fast, and the result depends on which went first.
    pub order_decides: bool,
}

carom_solve::persist!(Collision { law, rows, before, after, impulse, order_decides });

impl Collision {
    /// Of a law, with velocities before and after along its rows, and impulses.
    pub(crate) fn new(law: usize, [before, after, impulse]: [&[f64]; 3]) -> Collision {
        let rows = impulse.len();
        let filled = |values: &[f64]| {
            let mut all = [0.0; Law::MOST_ROWS];
            all[..rows].copy_from_slice(&values[..rows]);
            all
        };
        let [before, after, impulse] = [filled(before), filled(after), filled(impulse)];
        Collision { law, rows, before, after, impulse, order_decides: false }
    }

    /// Relative velocity before, along the rows of the law [m/s].
    pub fn before(&self) -> &[f64] {
        &self.before[..self.rows]
    }

    /// The same after.
    pub fn after(&self) -> &[f64] {
        &self.after[..self.rows]
    }

    /// Impulse along the rows [N s].
    pub fn impulse(&self) -> &[f64] {
        &self.impulse[..self.rows]
    }

    /// Energy that it took from the system [J].
    pub fn loss(&self) -> f64 {
        let ends = self.before.iter().zip(&self.after);
        -ends.zip(&self.impulse).map(|((before, after), p)| 0.5 * p * (before + after)).sum::<f64>()
    }
}

impl Reactions {
    /// Starts a step at velocity `v`, once the coupling is there: no law has acted yet.
    #[inline]
    pub fn start(&mut self, v: &[f64]) {
        let rows = self.coupling.drift.len();
        self.collisions.clear();
        let differs = |buffer: &[f64]| buffer.len() != rows;
        if differs(&self.before) | differs(&self.after) | differs(&self.obstacle) | differs(&self.impulse) {
            self.resize(rows);
        }
        let Reactions { coupling, before, after, obstacle, impulse, .. } = self;
        let (before, after) = (&mut before[..rows], &mut after[..rows]);
        let (obstacle, impulse, drift) = (&mut obstacle[..rows], &mut impulse[..rows], &coupling.drift[..rows]);
        for i in 0..rows {
            let u = coupling.rows.dot(i, v) + drift[i];
            (before[i], after[i], obstacle[i], impulse[i]) = (u, u, drift[i], 0.0);
        }
    }

    /// The same where all velocities along rows are known.
    pub fn start_from(&mut self, u: &[f64]) {
        self.collisions.clear();
        if self.impulse.len() != u.len() || self.before.len() != u.len() {
            self.resize(u.len());
        }
        self.before.copy_from_slice(u);
        self.after.copy_from_slice(u);
        self.obstacle.copy_from_slice(&self.coupling.drift);
        self.impulse.fill(0.0);
    }

    #[cold]
    fn resize(&mut self, rows: usize) {
        for buffer in [&mut self.before, &mut self.after, &mut self.obstacle, &mut self.impulse] {
            buffer.resize(rows, 0.0);
        }
    }

    /// Number of laws, whether they acted or not.
    pub fn len(&self) -> usize {
        self.coupling.len()
    }

    /// Whether there are no laws.
    pub fn is_empty(&self) -> bool {
        self.coupling.is_empty()
    }

    /// Key of law `i`.
    pub fn key(&self, i: usize) -> Key {
        self.coupling.pairs[i].key
    }

    /// Law `i` with its parameters.
    pub fn law(&self, i: usize) -> Law {
        self.coupling.pairs[i].law
    }

    /// The law with this key; `near` is tried first, because contacts seldom change places.
    pub fn find(&self, key: Key, near: usize) -> Option<usize> {
        self.coupling.find(key, near)
    }

    /// Impulses along the rows of law `i`, if there is such a law.
    #[inline]
    pub fn impulse_of(&self, i: usize) -> Option<&[f64]> {
        let (start, end) = (self.coupling.offset.get(i)?, self.coupling.offset.get(i + 1)?);
        self.impulse.get(*start..*end)
    }

    /// Rows of law `i`.
    pub fn range(&self, i: usize) -> std::ops::Range<usize> {
        self.coupling.range(i)
    }

    /// Work of the impulse along a row [J].
    pub fn work(&self, row: usize) -> f64 {
        let mean = 0.5 * (self.before[row] + self.after[row]);
        self.work.get(row).copied().unwrap_or(self.impulse[row] * mean)
    }

    /// Energy that law `i` took from the system in the step, along its normal and by friction: along its other rows,
    /// and along the first one where that is [dry friction](Law::is_dry_friction) [J]; nothing of the normal work of
    /// bilateral laws and other relays.
    pub fn losses(&self, i: usize) -> (f64, f64) {
        let (law, mut losses) = (self.law(i), (0.0, 0.0));
        for (k, row) in self.range(i).enumerate().filter(|(_, row)| self.impulse[*row] != 0.0) {
            if k > 0 || law.is_dry_friction() {
                losses.1 -= self.work(row);
            } else if law.is_contact() {
                losses.0 -= self.work(row);
            }
        }
        losses
    }

    /// Measures μ₁, ..., μᵣ of law `i` in the higher-order sweeping process; none in other schemes.
    pub fn levels(&self, i: usize) -> &[f64] {
        match (self.chains.get(i), self.chains.get(i + 1)) {
            (Some(&start), Some(&end)) => self.levels.get(start..end).unwrap_or(&[]),
            _ => &[],
        }
    }

    /// Numbers of measures of each law in the higher-order sweeping process; none in other schemes.
    pub fn level_counts(&self) -> Vec<usize> {
        self.chains.windows(2).map(|chain| chain[1] - chain[0]).collect()
    }

    /// Force along a row at the end of a step of length `h` [N]: λ where the scheme knows it as a function of time,
    /// else its mean over the step, percussions of impacts included. None for steps without a length.
    pub fn force(&self, row: usize, h: f64) -> Option<f64> {
        let mean = || self.impulse.get(row).filter(|_| h > 0.0).map(|impulse| impulse / h);
        self.multiplier.get(row).copied().or_else(mean)
    }

    /// Impulse along the normal (first) row of law `i`.
    pub fn normal(&self, i: usize) -> f64 {
        self.impulse[self.coupling.offset[i]]
    }
}
