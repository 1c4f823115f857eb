//! Whether the rank of joints changes on the way: a mechanism that passes a singular position can go on in two ways.
//!
//! ```text
//!     r⊥ = r − (its part in the span of the other rows of its loops),   for the rows r of joints that close loops      (1)
//! ```
//!
//! Rows change smoothly with the positions, so that r⊥ turns round where it passes zero: the sign of its product with
//! an earlier one tells, if bodies have turned little between the two looks. Rows that depend on others at the start
//! are left out until they do no longer. Loops of many rows are not watched: the work is that of a dense factorisation.

use super::*;
use crate::model::Space;
use crate::{Coupling, Key, WarningKind};
use carom_solve::{Archive, ArchiveError, Persist};

/// Most rows of joints that hang together and are watched.
const MOST: usize = 64;

/// How far bodies move from one look to the next, as an angle or as a part of the length of the model, and beyond what
/// two looks have nothing to do with each other: r⊥ turns with the bodies.
const LOOK: f64 = 0.05;
const LOST: f64 = 0.7;

/// A row of which no more than this part is left depends on the others: at a look, and at the start.
const GONE: f64 = 1e-9;
const DEPENDENT: f64 = 1e-6;

/// One of which no more than this part is left where a step fails is the likely cause.
const NEAR: f64 = 0.2;

/// One that depended on others does no longer if so much is left: less may be what joints are open by.
const REGAINED: f64 = 1e-2;

/// Rows with at least this part of the largest weight share a direction.
const SHARES: f64 = 1e-2;

/// A rank that changes.
pub const SINGULAR: WarningKind = WarningKind {
    name: "singular-position",
    message: "the rank of joints changes: the mechanism passes a position from which it can go on in two ways",
    unit: "rows",
    hint: "the motion beyond is one of several; start past the position, or keep the mechanism from it by stops",
};

/// Rows of joints that hang together by bodies, those that close loops last, and those of their motors.
struct Loops {
    rows: Vec<usize>,
    closing: usize,      // the first of those that close
    columns: Vec<usize>, // entries of v
    known: Vec<f64>,     // (closing × columns) r⊥ at the last look
    kept: Vec<bool>,     // of all rows
}

/// What is looked at.
#[derive(Default)]
pub(super) struct Watch {
    loops: Vec<Loops>,
    last: f64,  // time of the last look
    now: f64,   // time of the last call
    moved: f64, // how far bodies may have moved since the last look
    coupling: Coupling,
    parts: Parts,
    weights: Vec<f64>, // (rows)
    changed: Vec<(usize, f64)>,
}

/// The rows of loops, one made orthogonal to the others after the other.
#[derive(Default)]
struct Parts {
    basis: Vec<f64>,   // (rows × columns) orthonormal
    factors: Vec<f64>, // (rows × rows) rows in the basis
    rest: Vec<f64>,    // (columns) r⊥
    left: f64,         // |r⊥|
    share: f64,        // what that is of |r|
}

impl Parts {
    fn begin(&mut self, rows: usize, columns: usize) {
        self.basis.clear();
        self.basis.resize(rows * columns, 0.0);
        self.factors.clear();
        self.factors.resize(rows * rows, 0.0);
    }

    /// r⊥ of row k beside those before it that are kept; lengths count by that of the model.
    fn take(&mut self, plan: &Plan, coupling: &Coupling, (loops, k): (&Loops, usize)) {
        let Loops { rows, columns, kept, .. } = loops;
        let Parts { basis, factors, rest, .. } = self;
        let (m, n) = (rows.len(), columns.len());
        let (size, turn) = (plan.sizes().1, if plan.is_planar { 2 } else { 3 });
        let length = plan.length.filter(|length| *length > 0.0).unwrap_or(1.0);
        rest.clear();
        rest.resize(n, 0.0);
        for &(column, value) in coupling.rows.row(coupling.offset[rows[k]]) {
            let scale = if column % size < turn { 1.0 } else { length.recip() };
            columns.binary_search(&column).into_iter().for_each(|place| rest[place] = scale * value);
        }
        let whole = norm(rest);
        // twice is enough
        for _ in 0..2 {
            for j in (0..k).filter(|j| kept[*j]) {
                let q = &basis[j * n..(j + 1) * n];
                let c = dot(q, rest);
                factors[j * m + k] += c;
                rest.iter_mut().zip(q).for_each(|(x, q)| *x -= c * q);
            }
        }
        self.left = norm(rest);
        self.share = if whole > 0.0 { self.left / whole } else { 0.0 };
    }

    /// Row k goes into the basis.
    fn keep(&mut self, (loops, k): (&Loops, usize)) {
        let (m, n, left) = (loops.rows.len(), loops.columns.len(), self.left);
        if loops.kept[k] && left > 0.0 {
            self.factors[k * m + k] = left;
            self.basis[k * n..(k + 1) * n].iter_mut().zip(&self.rest).for_each(|(q, x)| *q = x / left);
        }
    }

    /// The laws whose rows have a share in row k, itself included.
    fn sharing(&self, (loops, k): (&Loops, usize), weights: &mut Vec<f64>) -> impl Iterator<Item = usize> {
        shares(&self.factors, (loops.rows.len(), k), &loops.kept, weights);
        let most = weights.iter().fold(1.0f64, |most, w| most.max(w.abs()));
        let sharing = (0..k).filter(move |j| weights[*j].abs() >= SHARES * most);
        sharing.chain([k]).map(|j| loops.rows[j])
    }
}

impl Persist for Watch {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        for Loops { known, kept, .. } in &mut self.loops {
            (known, kept).persist(archive)?;
        }
        (&mut self.last, &mut self.now, &mut self.moved).persist(archive)
    }
}

impl Watch {
    /// The loops of a model, from the rows of its joints; `None` where there are none.
    pub fn of(plan: &Plan, coupling: &Coupling) -> Option<Watch> {
        let (size, bodies) = (plan.sizes().1, plan.bodies.len());
        let joint = |law: usize| match plan.items[law].1 {
            Item::Row(i) => Some(plan.rows[i].joint),
            Item::Motor(i) => Some(plan.joints.len() + i),
            _ => None,
        };
        let is_motor = |law: &usize| matches!(plan.items[*law].1, Item::Motor(_));
        let laws: Vec<usize> = (0..coupling.len()).take_while(|law| joint(*law).is_some()).collect();
        // with the ground loops are closed, without it they hang together
        let (mut all, mut apart): (Vec<usize>, Vec<usize>) = ((0..=bodies).collect(), (0..=bodies).collect());
        let (mut closes, mut start) = (vec![false; coupling.len()], 0);
        while start < laws.len() {
            let end = (start..laws.len()).find(|law| joint(*law) != joint(start)).unwrap_or(laws.len());
            let entries = (start..end).flat_map(|law| coupling.rows.row(coupling.offset[law]));
            let mut touched: Vec<usize> = entries.map(|entry| entry.0 / size + 1).collect();
            touched.sort_unstable();
            touched.dedup();
            for pair in touched.windows(2) {
                unite(&mut apart, pair[0], pair[1]);
            }
            // a joint of one body holds it to the ground
            let first = if touched.len() < 2 { 0 } else { touched[0] };
            let joined = touched.iter().filter(|body| unite(&mut all, first, **body)).count();
            closes[start..end].fill(joined == 0);
            start = end;
        }
        let never = f64::NEG_INFINITY;
        let mut watch = Watch { last: never, now: never, ..Watch::default() };
        let part = |law: usize| coupling.rows.row(coupling.offset[law]).first().map(|entry| entry.0 / size + 1);
        for root in (1..=bodies).filter(|body| apart[*body] == *body) {
            let own = |law: &&usize| part(**law).is_some_and(|body| find(&apart, body) == root);
            let (last, mut rows): (Vec<usize>, Vec<usize>) = laws.iter().filter(own).partition(|law| closes[**law]);
            let closing = rows.len();
            rows.extend(&last);
            // motors of an open chain depend on nothing
            if last.iter().all(is_motor) || rows.len() > MOST {
                continue;
            }
            let inside = (1..=bodies).filter(|body| find(&apart, *body) == root);
            let columns: Vec<usize> = inside.flat_map(|body| (body - 1) * size..body * size).collect();
            let known = vec![0.0; last.len() * columns.len()];
            watch.loops.push(Loops { closing, columns, known, kept: vec![true; rows.len()], rows });
        }
        (!watch.loops.is_empty()).then_some(watch)
    }

    /// (1) of all loops at a time; laws whose joints share a direction that comes or goes are noted with the time.
    fn look(&mut self, plan: &Plan, t: f64) {
        let Watch { loops, last, moved, coupling, parts, weights, changed, .. } = self;
        let (begins, lost) = (*last == f64::NEG_INFINITY, *moved > LOST);
        for loops in loops {
            let n = loops.columns.len();
            parts.begin(loops.rows.len(), n);
            for k in 0..loops.rows.len() {
                parts.take(plan, coupling, (loops, k));
                let Parts { rest, left, share, .. } = &*parts;
                let mut changes = None;
                if k >= loops.closing {
                    let Loops { known, kept, closing, .. } = &mut *loops;
                    let known = &mut known[(k - *closing) * n..][..n];
                    if begins {
                        kept[k] = *share > DEPENDENT;
                    } else if !kept[k] && *share > REGAINED {
                        kept[k] = true;
                        changes = Some(t);
                    } else if kept[k] && (*share <= GONE || !lost && dot(known, rest) < 0.0) {
                        // where r⊥ passes zero on a straight way
                        let before = norm(known);
                        changes = Some(*last + (t - *last) * before / (before + left));
                    }
                    // what is gone tells no direction
                    if *share > GONE {
                        known.copy_from_slice(rest);
                    }
                }
                parts.keep((loops, k));
                if let Some(t) = changes {
                    changed.extend(parts.sharing((loops, k), weights).map(|law| (law, t)));
                }
            }
        }
        (*last, *moved) = (t, 0.0);
    }

    /// The laws of the rows that nearly depend on each other, by the first direction found.
    fn nearly(&mut self, plan: &Plan) -> Option<Vec<usize>> {
        let Watch { loops, coupling, parts, weights, .. } = self;
        for loops in loops {
            parts.begin(loops.rows.len(), loops.columns.len());
            for k in 0..loops.rows.len() {
                parts.take(plan, coupling, (loops, k));
                parts.keep((loops, k));
                if k >= loops.closing && loops.kept[k] && parts.share < NEAR {
                    return Some(parts.sharing((loops, k), weights).collect());
                }
            }
        }
        None
    }

    /// Whether it is time to look.
    fn is_due(&mut self, plan: &Plan, from: &State) -> bool {
        if from.t < self.now {
            // another motion: where it comes from is not known
            (self.last, self.moved) = (f64::NEG_INFINITY, 0.0);
        } else if from.t > self.now && self.now > f64::NEG_INFINITY {
            let (size, turn) = (plan.sizes().1, if plan.is_planar { 2 } else { 3 });
            let length = plan.length.filter(|length| *length > 0.0).unwrap_or(1.0);
            let part = |i: usize, v: f64| if i % size < turn { v.abs() / length } else { v.abs() };
            let fastest = from.v.iter().enumerate().fold(0.0f64, |most, (i, v)| most.max(part(i, *v)));
            self.moved += (from.t - self.now) * fastest;
        }
        self.now = from.t;
        self.last == f64::NEG_INFINITY || self.moved > LOOK
    }
}

/// `weights ←` those of the rows before k whose sum is row k, but for what is left of it.
fn shares(factors: &[f64], (m, k): (usize, usize), kept: &[bool], weights: &mut Vec<f64>) {
    weights.clear();
    weights.resize(k, 0.0);
    for i in (0..k).rev().filter(|i| kept[*i] && factors[i * m + i] > 0.0) {
        let later: f64 = (i + 1..k).map(|j| factors[i * m + j] * weights[j]).sum();
        weights[i] = (factors[i * m + k] - later) / factors[i * m + i];
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// The first of those that hang together with one.
fn find(parents: &[usize], mut of: usize) -> usize {
    while parents[of] != of {
        of = parents[of];
    }
    of
}

/// Whether two did not hang together before.
fn unite(parents: &mut [usize], a: usize, b: usize) -> bool {
    let (a, b) = (find(parents, a), find(parents, b));
    parents[a.max(b)] = a.min(b);
    a != b
}

impl MultibodyModel {
    /// Names of the joints and motors that nearly hold a direction together at a place, where steps may fail.
    pub(super) fn nearly_dependent(&mut self, at: &State) -> Option<String> {
        let mut watch = self.watch.take()?;
        let coupled = self.couple(at.t, &at.q, &mut watch.coupling);
        let laws = coupled.ok().and_then(|()| watch.nearly(&self.plan));
        self.watch = Some(watch);
        let mut names: Vec<String> = laws?.into_iter().map(|law| self.holder(law)).collect();
        names.dedup();
        let (last, others) = names.split_last()?;
        Some(if others.is_empty() { format!("rows of {last}") } else { format!("{} and {last}", others.join(", ")) })
    }

    /// Looks now and then, where a step begins, whether the rank of joints changes.
    pub(super) fn watch_rank(&mut self, from: &State) -> Result<(), ModelError> {
        let Some(mut watch) = self.watch.take() else { return Ok(()) };
        let due = watch.is_due(&self.plan, from);
        let coupled = if due { self.couple(from.t, &from.q, &mut watch.coupling) } else { Ok(()) };
        if due && coupled.is_ok() {
            watch.look(&self.plan, from.t);
            for k in 0..watch.changed.len() {
                let (law, t) = watch.changed[k];
                // each joint is named once, by its first row
                let same = |other: &(usize, f64)| self.holder(other.0) == self.holder(law);
                if !watch.changed[..k].iter().any(same) {
                    self.warnings.raise(&SINGULAR, t, Some(Key::from(law)), 1.0);
                }
            }
            watch.changed.clear();
        }
        self.watch = Some(watch);
        coupled
    }
}
