//! What an event does to perturbations: the saltation matrix, applied column by column [leine2004].
//!
//! ```text
//!     S = DR + (f⁺ − DR f⁻ − R_t) Dg / (Dg f⁻ + g_t)          jump x⁺ = R(t, x⁻) where the guard g(t, x) vanishes        (1)
//!     as computed:  δt = −Dg δx / ġ⁻,   δx⁺ = DR (δx + f⁻ δt) + R_t δt − f⁺ δt                                           (2)
//! ```
//!
//! | event | guard | jump |
//! |---|---|---|
//! | impact | the gap that closes | derivative of the impact map on its active branch |
//! | stick, reversal of a planar slip | the slip velocity | none; the accelerations differ |
//! | edge of a region | the function of the region | none; the accelerations differ |
//! | take-off, slip | not needed | none; accelerations are continuous there, S = 1 |
//!
//! Where contacts come to rest, δx⁺ obeys gap = 0 and U = 0 to first order: perturbations along them are lost
//! ("collapsed"). Impacts of one instant follow one another with the same δt.

use super::field::Field;
use super::jump::Jump;
use super::{ContactCounts, Impact, SensitivityError};
use crate::coupling::Matching;
use crate::model::{Along, CouplingTangent};
use crate::phase::{Mode, Phase, slip_direction};
use crate::scheme::{Event, EventKind};
use crate::{Coupling, ModelError, State};

/// An impact at less than this normal velocity grazes [m/s].
pub const GRAZING: f64 = 1e-9;

/// The function whose zero is the event.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Guard {
    None,
    Gap(usize),
    /// Slip velocity of a law along a direction.
    Slip(usize, [f64; 2]),
    Region(usize),
}

/// Buffers of (2).
#[derive(Default)]
pub(super) struct Saltation {
    coupling: Coupling,
    tangent: CouplingTangent,
    jump: Jump,
    before: Vec<f64>,         // (n) v̇⁻
    after: Vec<f64>,          // (n) v̇⁺
    curvature: Vec<f64>,      // (rows) γ before
    delays: Vec<f64>,         // (columns) δt
    struck: Vec<bool>,        // (laws)
    laws: Vec<Option<usize>>, // (events) of their contacts
    matching: Matching,
    zeros: Vec<f64>,
}

impl Saltation {
    /// Takes the columns (each of `size` entries) through the events of one instant, which lead from one phase to
    /// another and end at `to`.
    pub fn apply_events(
        &mut self,
        field: &mut Field,
        (begun, ended): (&Phase, &Phase),
        (events, to): (&[Event], &State),
        columns: &mut [f64],
        counts: &mut ContactCounts,
    ) -> Result<(), SensitivityError> {
        let Some(first) = events.first() else { return Ok(()) };
        if let Some(lost) = events.iter().find(|e| matches!(e.kind, EventKind::HandOver | EventKind::Inconsistency)) {
            return Err(SensitivityError::NotDifferentiable { t: lost.t, event: lost.kind.name() });
        }
        let (n, size, start) = (field.n, field.size(), &first.before);
        self.before.resize(n, 0.0);
        self.after.resize(n, 0.0);
        field.rate(begun, (start.t, &start.q, &start.v), &mut self.before)?;
        self.curvature.clone_from(&field.acceleration.curvature.value);
        field.rate(ended, (to.t, &to.q, &to.v), &mut self.after)?;
        self.coupling.fill(&mut *field.model, (start.t, &start.q), false, begun.keys())?;
        self.matching.begin();
        let law = |event: &Event| self.matching.find(event.contact?, begun.keys());
        self.laws.clear();
        self.laws.extend(events.iter().map(law));
        let guard = self.guard(begun, ended, events, counts);
        let rate = self.guard_rate(field, guard, start)?;
        self.delays.clear();
        for column in columns.chunks_exact_mut(size) {
            let delay = if guard == Guard::None { 0.0 } else { -self.guard_along(field, guard, start, column)? / rate };
            self.delays.push(delay);
            shift(column, (&start.v, &self.before), delay);
        }
        counts.delays.resize_with(counts.listed.len(), || self.delays.clone());
        self.impacts(field, events, columns, size)?;
        self.settle(field, (begun, ended), (guard, to), columns, counts)?;
        for (column, delay) in columns.chunks_exact_mut(size).zip(&self.delays) {
            shift(column, (&to.v, &self.after), -delay);
        }
        Ok(())
    }

    /// The jumps of the impacts, one after the other.
    fn impacts(
        &mut self,
        field: &mut Field,
        events: &[Event],
        columns: &mut [f64],
        size: usize,
    ) -> Result<(), ModelError> {
        let mut next = 0;
        while let Some(first) = events[next..].iter().position(|e| e.kind == EventKind::Impact) {
            let first = next + first;
            let (before, after) = (&events[first].before, &events[first].after);
            let same = |e: &&Event| e.kind == EventKind::Impact && e.before == *before && e.after == *after;
            next = first + events[first..].iter().take_while(same).count();
            self.struck.clear();
            self.struck.resize(self.coupling.len(), false);
            self.laws[first..next].iter().flatten().for_each(|law| self.struck[*law] = true);
            self.jump.impact(field, &self.coupling, (before, after), &self.struck)?;
            for (column, delay) in columns.chunks_exact_mut(size).zip(&self.delays) {
                self.jump.apply(field, &self.coupling, *delay, column)?;
            }
        }
        Ok(())
    }

    /// Contacts that are closed from here on lose the perturbations along them.
    fn settle(
        &mut self,
        field: &mut Field,
        (begun, ended): (&Phase, &Phase),
        (guard, to): (Guard, &State),
        columns: &mut [f64],
        counts: &mut ContactCounts,
    ) -> Result<(), ModelError> {
        let (mut closes, mut sticks) = (false, false);
        for (i, pair) in self.coupling.pairs.iter().enumerate() {
            match (begun.mode(i), ended.mode(i)) {
                (Mode::Open, now) if now.is_closed() => {
                    closes = true;
                    counts.rest(pair.key);
                }
                (Mode::Slip(_), Mode::Stick) => {
                    sticks = true;
                    counts.sticks += 1;
                }
                _ => {}
            }
        }
        if !(closes || sticks) {
            return Ok(());
        }
        self.jump.rest(field, &self.coupling, to, ended)?;
        let size = field.size();
        for (column, delay) in columns.chunks_exact_mut(size).zip(&self.delays) {
            if closes && guard == Guard::None {
                self.jump.close(field, &self.coupling, column)?;
            }
            self.jump.apply(field, &self.coupling, *delay, column)?;
        }
        Ok(())
    }

    /// Columns along the constraints of a phase, at a state of it.
    pub fn project_columns(
        &mut self,
        field: &mut Field,
        phase: &Phase,
        state: &State,
        columns: &mut [f64],
    ) -> Result<(), ModelError> {
        if phase.is_free() {
            return Ok(());
        }
        self.coupling.fill(&mut *field.model, (state.t, &state.q), false, phase.keys())?;
        self.jump.rest(field, &self.coupling, state, phase)?;
        for column in columns.chunks_exact_mut(field.size()) {
            self.jump.close(field, &self.coupling, column)?;
            self.jump.apply(field, &self.coupling, 0.0, column)?;
        }
        Ok(())
    }

    /// The function that decides when the event happens.
    fn guard(&mut self, begun: &Phase, ended: &Phase, events: &[Event], counts: &mut ContactCounts) -> Guard {
        let coupling = &self.coupling;
        let with_laws = || events.iter().zip(&self.laws).filter_map(|(event, law)| Some((event, (*law)?)));
        let mut guard = (Guard::None, 0.0);
        let mut approaching = 0;
        for (event, i) in with_laws().filter(|(event, _)| event.kind == EventKind::Impact) {
            let row = coupling.offset[i];
            let u = coupling.rows.dot(row, &event.before.v) + coupling.drift[row];
            let plain = events.iter().filter(|e| e.kind == EventKind::Impact).count() == 1;
            counts.impact(
                Impact { t: event.t, contact: coupling.pairs[i].key, before: u },
                plain && begun.is_free() && coupling.pairs[i].law.is_unilateral(),
            );
            if begun.mode(i) == Mode::Open && event.before == events[0].before && u < 0.0 {
                approaching += 1;
                if u < guard.1 {
                    guard = (Guard::Gap(i), u);
                }
            }
        }
        counts.simultaneous += u64::from(approaching > 1);
        if guard.0 != Guard::None || events.iter().any(|e| e.kind == EventKind::Impact) {
            return guard.0;
        }
        for (event, i) in with_laws() {
            let planar = coupling.range(i).len() == 2;
            match (event.kind, begun.mode(i)) {
                // a spatial slip that has turned by more than a right angle goes on smoothly
                (EventKind::SlipReversal, Mode::Slip(d)) if planar => return Guard::Slip(i, d),
                (EventKind::Stick, Mode::Slip(d)) => {
                    return Guard::Slip(i, slip_direction(coupling, i, &event.before.v, (d, begun.still)));
                }
                (EventKind::Edge, now) if now != ended.mode(i) => return Guard::Region(i),
                _ => {}
            }
        }
        Guard::None
    }

    /// ġ⁻.
    fn guard_rate(&mut self, field: &mut Field, guard: Guard, start: &State) -> Result<f64, ModelError> {
        let coupling = &self.coupling;
        Ok(match guard {
            Guard::None => 1.0,
            Guard::Gap(i) => {
                let row = coupling.offset[i];
                coupling.rows.dot(row, &start.v) + coupling.drift[row]
            }
            Guard::Slip(i, d) => {
                let rows = coupling.range(i).skip(1).zip(d);
                rows.map(|(row, d)| d * (coupling.rows.dot(row, &self.before) + self.curvature[row])).sum()
            }
            Guard::Region(i) => {
                self.zeros.clear();
                self.zeros.resize(field.size(), 0.0);
                let (v, p) = self.zeros.split_at(field.n);
                let along = Along { t: 1.0, q: &start.v, v, p: &p[..field.parameters] };
                field.tangent.coupling((start.t, &start.q, &start.v), along, &mut self.tangent)?;
                self.tangent.region[i]
            }
        })
    }

    /// Dg δx.
    fn guard_along(
        &mut self,
        field: &mut Field,
        guard: Guard,
        start: &State,
        column: &[f64],
    ) -> Result<f64, ModelError> {
        let n = field.n;
        let (dq, dv) = (&column[..n], &column[n..2 * n]);
        let along = Along { t: 0.0, q: dq, v: dv, p: &column[2 * n..] };
        field.tangent.coupling((start.t, &start.q, &start.v), along, &mut self.tangent)?;
        Ok(match guard {
            Guard::None => 0.0,
            Guard::Gap(i) => self.tangent.gap[i],
            Guard::Region(i) => self.tangent.region[i],
            Guard::Slip(i, d) => {
                let along = |row: usize| {
                    self.coupling.rows.dot(row, dv) + self.tangent.row_dot(row, &start.v) + self.tangent.drift[row]
                };
                self.coupling.range(i).skip(1).zip(d).map(|(row, d)| d * along(row)).sum()
            }
        })
    }
}

/// `(dq, dv) ← (dq, dv) + dt (v, a)`.
fn shift(column: &mut [f64], (v, a): (&[f64], &[f64]), dt: f64) {
    if dt != 0.0 {
        column.iter_mut().zip(v.iter().chain(a)).for_each(|(x, rate)| *x += dt * rate);
    }
}
