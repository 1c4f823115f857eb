//! The audit of a mechanical run: what its own figures say against it.
//!
//! | warning | raised where |
//! |---|---|
//! | `energy-gain` | the ledger leaves more than a tenth of the energies met open, as a gain, or contacts make it |
//! | `energy-loss` | the same, as a loss |
//! | `damped` | more than a hundredth of the largest kinetic energy is lost without a reason at once, and not evenly |
//! | `impact-gain` | contacts add more than a hundredth of the largest kinetic energy at once, and it stays |
//! | `penetration` | a gap is more negative than a tenth of the largest gap that opened |
//! | `push-apart` | a contact acts although its gap stays open by more than a tenth of the largest gap that opened |
//! | `passed` | a gap that is open at both ends of a step is negative in between, and the contact did not act |
//! | `listed-late` | a contact penetrates in the first step that lists it |
//! | `hand-overs` | an event-driven run was handed over more often than once in ten steps |
//!
//! Energies met are the largest kinetic energy, the span of the potential and the works of the ledger. Where contacts
//! gain energy again and again, what they made is among the energies met and hides itself. What is gained in all, and
//! kept for eight steps, is therefore measured by what there was as well: the energy of the start above the least
//! potential, with the works of forces and obstacles.
//!
//! What is rounding of a gap does not count: a part of the lengths behind it (`balance/lengths.rs`), with the ways that
//! contacts have held back in a step, for bodies at rest. All shares are judged at the end of a run, when the sizes of
//! the motion are known.
//!
//! A gap has opened where the run starts or lists it so (what is listed later has come from as far as it has moved), or
//! where its contact does not act and it is large beside its change in the step. Contacts that are held on bent
//! obstacles drift: their gaps open a little, as coarse as steps are, and close again. Where nothing opened by more
//! than 1e-5 of the motion along the contact, gaps are measured by that motion, Σ_j |C_ij| max |q_j − q_j(0)|, and the
//! ways held back in a step.

use super::passed::{Between, MOST, between, find_line, is_far, passed};
use super::{EnergyLedger, LedgerObserver, Observer, StepView};
use crate::scheme::{EventKind, Reactions, Stepper};
use crate::{Key, Matching, ModelError, State, Warnings};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;

mod figures;
mod kinds;
mod ways;

pub(super) use figures::rounding;
use figures::{Figure, Gap, Most, Near, is_beyond};
pub use kinds::{
    DAMPED, ENERGY_GAIN, ENERGY_LOSS, HAND_OVERS, IMPACT_GAIN, LISTED_LATE, PASSED, PENETRATION, PUSH_APART,
};
use ways::Ways;

/// Share of the energies met that may be gained without a reason, and of the motion that may be missed.
const SHARE: f64 = 0.1;

/// Share of the largest kinetic energy that the contacts of one step may add, or that it may lose.
const IMPACT_SHARE: f64 = 1e-2;

/// Places inside steps at which gaps may be looked at before the first step, and in each step more.
const LOOKS: (usize, usize) = (1024, 2);

/// Gaps below this share of the lengths behind them are rounding, and energies below this share of what forces do in a
/// step.
const ROUNDING: f64 = 1e-9;

/// Times the mean loss of as many steps from which on a loss is one at once.
const UNEVEN: f64 = 4.0;

/// Share of the largest gap met below which a passage inside a step is slight.
const SLIGHT: f64 = 1e-5;

/// Steps over which a scheme may share out an impact.
const SHARED: usize = 4;

/// Steps in each of which loads and ways are looked at; later ones are looked at more seldom.
const SAMPLED: u64 = 16;

/// Hand-overs that are never a storm.
const FEW: u64 = 10;

/// Watches a run and tells, at its end, what its figures say against it.
#[derive(Clone, Debug, Default)]
pub struct Audit {
    ledger: LedgerObserver,
    kinetic: f64,                  // the largest
    potential: Option<(f64, f64)>, // smallest and largest
    gap: f64,                      // the largest of all contacts
    opened: f64,                   // the largest that opened
    ways: Ways,                    // of the coordinates
    held: Vec<f64>,                // (n) the largest way that contacts have held back in a step; empty where none
    load: f64,                     // the largest energy that contacts have held back in a step
    speeds: Vec<f64>,              // (n) that they have held back
    gained: Figure,                // energy without a reason
    missing: Figure,               // likewise, as a loss
    damped: Figure,                // of it at once
    made: Figure,                  // energy that forces and obstacles have not brought, contacts included
    gains: [f64; 2 * SHARED],      // of it after each of the last steps
    brought: f64,                  // the largest energy with what they have brought
    residues: [f64; 2 * SHARED],   // that the ledger had after each of the last steps
    added: Figure,                 // energy by contacts
    lost: [f64; 2 * SHARED],       // what contacts had lost after each of the last steps
    depth: Figure,                 // of a negative gap
    apart: Figure,                 // the gap of a contact that acts
    found: Warnings,               // of single contacts
    keys: Vec<Key>,                // contacts of the last step
    gaps: Vec<f64>,                // at its end, in the same places where the list there is the same
    version: Option<u64>,          // of the list of contacts; none where it has to be looked at
    ended: f64,                    // when the last step did
    matching: Matching,
    near: Vec<Near>,      // contacts that may have been passed
    rates: Vec<[f64; 2]>, // bounds of the rates of gaps in the step
    line: Vec<f64>,       // (n) the way of the step, where it is a line
    looks: Option<usize>, // places that may still be looked at
    steps: u64,
    hand_overs: (u64, Option<f64>), // and when the first one was
}

carom_solve::persist!(Audit {
    ledger,
    kinetic,
    potential,
    gap,
    opened,
    ways,
    held,
    load,
    speeds,
    gained,
    missing,
    damped,
    made,
    gains,
    brought,
    residues,
    added,
    lost,
    depth,
    apart,
    found,
    keys,
    gaps,
    version,
    ended,
    matching,
    near,
    rates,
    line,
    looks,
    steps,
    hand_overs,
});

impl Audit {
    /// The ledger up to the last step; `None` where the model does not know its energy.
    pub fn ledger(&self) -> Option<&EnergyLedger> {
        self.ledger.ledger()
    }

    /// What the figures of the run so far say against it.
    pub fn warnings(&self) -> Warnings {
        let mut out = self.found.clone();
        let rounding = ROUNDING * self.load;
        self.gained.judge(&ENERGY_GAIN, self.energies_met(), SHARE, rounding, &mut out);
        self.missing.judge(&ENERGY_LOSS, self.energies_met(), SHARE, rounding, &mut out);
        // what a scheme of first order loses evenly is no vibration
        let loss = self.ledger().map_or(0.0, |ledger| (-ledger.residue()).max(0.0));
        let even = loss * (2 * SHARED) as f64 / self.steps.max(1) as f64;
        if self.steps > 8 * SHARED as u64 {
            self.damped.judge(&DAMPED, self.kinetic, IMPACT_SHARE, rounding.max(UNEVEN * even), &mut out);
        }
        self.added.judge(&IMPACT_GAIN, self.kinetic, IMPACT_SHARE, rounding, &mut out);
        if !(out.has(&ENERGY_GAIN) || out.has(&IMPACT_GAIN)) {
            let least = self.potential.map_or(0.0, |(low, _)| low);
            self.made.judge(&ENERGY_GAIN, self.brought - least, SHARE, rounding, &mut out);
        }
        self.depth.judge_gap(&PENETRATION, self.opened, &mut out);
        self.apart.judge_gap(&PUSH_APART, self.opened, &mut out);
        let (count, first) = self.hand_overs;
        if count > FEW && count > self.steps / 10 {
            out.raise(&HAND_OVERS, first.unwrap_or(f64::NAN), None, count as f64 / self.steps as f64);
        }
        out
    }

    fn energies_met(&self) -> f64 {
        let span = self.potential.map_or(0.0, |(low, high)| high - low);
        let works = self.ledger().map_or(0.0, |l| {
            let works = [l.applied, l.obstacles, l.impact_loss, l.friction_loss, l.bilateral, l.sleep_loss];
            works.iter().map(|work| work.abs()).sum()
        });
        self.kinetic + span + works
    }

    fn see_energy(&mut self, t: f64) {
        let Some(ledger) = self.ledger().copied() else { return };
        let energy = ledger.last;
        self.kinetic = self.kinetic.max(energy.kinetic);
        let (low, high) = self.potential.unwrap_or((energy.potential, energy.potential));
        self.potential = Some((low.min(energy.potential), high.max(energy.potential)));
        let met = self.energies_met();
        let residue = ledger.residue();
        self.gained.see(t, residue, None, SHARE * met);
        self.missing.see(t, -residue, None, SHARE * met);
        self.damped.see(t, fallen(&mut self.residues, residue), None, IMPACT_SHARE * self.kinetic);
        let brought = ledger.initial.total() + ledger.applied + ledger.obstacles + ledger.bilateral;
        self.brought = self.brought.max(brought);
        self.gains.rotate_left(1);
        self.gains[2 * SHARED - 1] = energy.total() - brought;
        let held = self.gains.iter().copied().fold(f64::INFINITY, f64::min);
        self.made.see(t, held, None, SHARE * met);
        let added = fallen(&mut self.lost, ledger.impact_loss + ledger.friction_loss);
        self.added.see(t, added, None, IMPACT_SHARE * self.kinetic);
    }

    /// What contacts have held back in the last step. Only bodies that hardly move need it: elsewhere the motion is the
    /// larger figure.
    fn see_load(&mut self, stepper: &dyn Stepper, h: f64) {
        if self.load > 0.0 && self.load < 10.0 * self.kinetic {
            return;
        }
        // what rests has the same load from step to step
        if self.steps > SAMPLED && !self.steps.is_power_of_two() {
            return;
        }
        stepper.law_sizes(&mut self.speeds);
        let Reactions { coupling, impulse, .. } = stepper.reactions();
        let speed = |row: usize| coupling.rows.row(row).iter().map(|&(j, c)| (c * self.speeds[j]).abs()).sum::<f64>();
        let acting = impulse.iter().enumerate().filter(|(_, p)| **p != 0.0);
        let load = acting.map(|(row, p)| p.abs() * speed(row));
        self.load = self.load.max(load.sum());
        self.held.resize(self.speeds.len(), 0.0);
        self.held.iter_mut().zip(&self.speeds).for_each(|(held, speed)| *held = held.max(h * speed));
    }

    /// The deepest gap that is no rounding, as a depth [m]; zero where there is none.
    pub fn deepest(&self) -> f64 {
        self.depth.largest
    }

    /// The list of the step, with contacts that are new in it. Nothing is new where the end of the last step had the
    /// same list and the model has not looked for others since.
    fn see_list(&mut self, view: &mut StepView<'_>) -> Result<(), ModelError> {
        let t = view.from().t;
        if self.version == Some(view.stepper.contact_version()) && self.ended == t {
            return Ok(());
        }
        let (Reactions { coupling, .. }, _, _, lengths) = view.stepper.end()?;
        self.gaps.clear();
        self.gaps.extend((0..coupling.len()).map(|i| coupling.gap(i)));
        if coupling.has_keys(&self.keys) {
            return Ok(());
        }
        self.matching.begin();
        for (i, pair) in coupling.pairs.iter().enumerate().filter(|(_, pair)| pair.law.is_contact()) {
            let inherits = || coupling.heirs.iter().any(|heir| heir.0 == i);
            if self.matching.find(pair.key, &self.keys).is_some() || inherits() {
                continue;
            }
            // it has come from farther than contacts are listed
            let way = self.ways.along((coupling, i), &[]);
            if way > self.opened && way < f64::INFINITY {
                self.opened = way;
            }
            if is_beyond(-coupling.gap(i), (coupling, i), (lengths, &self.held)) {
                self.found.raise(&LISTED_LATE, t, Some(pair.key), -coupling.gap(i));
            }
        }
        self.keys.clear();
        self.keys.extend(coupling.pairs.iter().map(|pair| pair.key));
        Ok(())
    }

    /// All contacts at the end of a step, each beside what it was at the start: one look.
    fn see_contacts(&mut self, view: &mut StepView<'_>) -> Result<(), ModelError> {
        let h = view.step.advanced;
        self.rates.clear();
        self.rates.extend_from_slice(view.stepper.rate_bounds([0.0, 1.0]));
        find_line(view.stepper, &mut self.line);
        let version = view.stepper.contact_version();
        let (reactions, to, end, lengths) = view.stepper.end()?;
        let mut most = self.most();
        let Audit { matching, keys, gaps, near, rates, held, line, ways, .. } = self;
        let (sizes, ways) = ((lengths, &held[..]), &*ways);
        matching.begin();
        near.clear();
        let aligned = end.has_keys(keys);
        for acting in view.facts.acting().iter().filter(|acting| acting.located.is_none()) {
            // a scheme that locates impacts flies on behind them
            let i = acting.law;
            if let Some(j) = if aligned { Some(i) } else { end.find(acting.key, i) } {
                most.see_acting(end.gap(j).min(gaps[i]), acting.key, (end, j), (sizes, ways));
            }
        }
        // gaps that are larger than what any one can change by need no look at rows
        let fastest = reactions.before.iter().fold(0.0f64, |most, u| most.max(u.abs()));
        let fall = if rates.is_empty() && line.is_empty() { h * fastest } else { f64::INFINITY };
        let mut is_same = end.len() == keys.len();
        for (j, pair) in end.pairs.iter().enumerate() {
            let gap = end.gap(j);
            let place = if aligned { Some(j) } else { matching.find(pair.key, keys) };
            is_same &= place == Some(j);
            let start = place.map(|i| std::mem::replace(&mut gaps[i], gap));
            if !pair.law.is_contact() {
                continue;
            }
            most.see(gap, pair.key, (end, j), (sizes, ways));
            let Some((i, start)) = place.zip(start) else {
                most.see_opened(gap);
                continue;
            };
            if reactions.normal(i) > 0.0 {
                continue;
            }
            if gap > most.opened && is_far([start, gap], h * reactions.before[reactions.range(i).start].abs()) {
                most.see_opened(gap);
            }
            if is_far([start, gap], fall) {
                continue;
            }
            match between((reactions, i), (to, end, j), [start, gap], (rates.get(i).copied(), h), line) {
                Between::Open => {}
                Between::Grazed(depth) => most.see(-depth, pair.key, (end, j), (sizes, ways)),
                Between::Unknown => {
                    near.push(Near { law: i, place: j, gaps: [start, gap], rounding: rounding((end, j), sizes) });
                }
            }
        }
        self.version = is_same.then_some(version);
        self.ended = to.t;
        self.take(most, to.t);
        Ok(())
    }

    /// What a look at gaps begins with: only what is more than was seen so far tells anything new.
    fn most(&self) -> Most {
        let figure = |figure: &Figure| Gap { value: figure.largest, ..Gap::default() };
        Most { gap: self.gap, opened: self.opened, depth: figure(&self.depth), apart: figure(&self.apart) }
    }

    fn take(&mut self, Most { gap, opened, depth, apart }: Most, t: f64) {
        (self.gap, self.opened) = (gap, opened);
        for (figure, found) in [(&mut self.depth, depth), (&mut self.apart, apart)] {
            if found.contact.is_some() {
                figure.see_gap(t, found, opened);
            }
        }
    }

    fn see_gaps(&mut self, view: &mut StepView<'_>) -> Result<(), ModelError> {
        let h = view.step.advanced;
        self.see_load(view.stepper, h);
        self.ways.see(view.stepper, self.steps);
        self.see_list(view)?;
        self.see_contacts(view)?;
        let mut looks = self.looks.unwrap_or(LOOKS.0);
        for &Near { law, place, gaps, rounding } in &self.near {
            let (key, rate) = (view.reactions().key(law), self.rates.get(law).copied());
            let most = if rate.is_some() { looks.min(MOST) } else { MOST };
            let (depth, looked) = passed(view.stepper, (key, law, place), gaps, (rate, h), most)?;
            looks = looks.saturating_sub(if rate.is_some() { looked } else { 0 });
            // bodies that slide along a bent obstacle pass it by what their way is not as bent
            let least = if rate.is_some() { rounding.max(SLIGHT * self.gap) } else { rounding };
            if let Some((depth, _)) = depth
                && depth > least
            {
                self.found.raise(&PASSED, view.to().t, Some(key), depth);
            }
        }
        self.looks = Some((looks + LOOKS.1).min(LOOKS.0));
        Ok(())
    }
}

/// By how much a figure has fallen for good: the level of the last steps below that of the steps before them. A scheme
/// of two steps shares out an impact.
fn fallen(last: &mut [f64; 2 * SHARED], value: f64) -> f64 {
    last.rotate_left(1);
    last[2 * SHARED - 1] = value;
    let (before, after) = last.split_at(SHARED);
    let (least, most) = (before.iter().copied().reduce(f64::min), after.iter().copied().reduce(f64::max));
    least.zip(most).map_or(0.0, |(least, most)| least - most)
}

impl Observer for Audit {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        Persist::persist(self, archive)
    }

    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.ledger.start(stepper)?;
        self.see_energy(stepper.from().t);
        if !stepper.from().v.is_empty() {
            self.ways.begin(stepper);
            let mut most = self.most();
            let (_, &State { t, .. }, coupling, lengths) = stepper.end()?;
            for (i, pair) in coupling.pairs.iter().enumerate().filter(|(_, pair)| pair.law.is_contact()) {
                most.see(coupling.gap(i), pair.key, (coupling, i), ((lengths, &[]), &self.ways));
                most.see_opened(coupling.gap(i));
            }
            self.keys.clear();
            self.keys.extend(coupling.pairs.iter().map(|pair| pair.key));
            self.take(most, t);
        }
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let t = view.to().t;
        _ = self.ledger.observe(view)?;
        self.see_energy(t);
        self.steps += 1;
        let hand_overs = view.stepper.events().iter().filter(|event| event.kind == EventKind::HandOver).count();
        if hand_overs > 0 {
            self.hand_overs.0 += hand_overs as u64;
            self.hand_overs.1.get_or_insert(t);
        }
        // the outputs of first-order systems are no gaps
        if !view.to().v.is_empty() {
            self.see_gaps(view)?;
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hand_overs_are_a_storm_where_they_are_many() {
        let kinds = |count: u64, steps: u64| -> Vec<&str> {
            let audit = Audit { steps, hand_overs: (count, Some(1.0)), ..Audit::default() };
            audit.warnings().sorted().iter().map(|warning| warning.kind.name).collect()
        };
        assert_eq!(kinds(50, 100), ["hand-overs"]);
        assert!(kinds(50, 10_000).is_empty() && kinds(5, 10).is_empty());
    }
}
