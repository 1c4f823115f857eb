//! What happened in a step, found once by the driver and read by every observer: contacts that acted, impacts, events.
//! Energies and the coupling at its end are worked out once by the [`Stepper`], when they are first asked for.

use super::{Observer, Occurrence, StepView};
use crate::scheme::{Event, EventKind, Reactions, Stepper};
use crate::{Key, Keyed, Matching, ModelError, State};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;

/// A relative velocity at most this part of the velocities that its row is made of is rest: the largest ones met so
/// far, and what the laws add to them in a step.
pub const REST: f64 = 1e-9;

/// An impulse below this part of the momenta and impulses that it acts among is rounding.
const ROUNDING: f64 = 16384.0 * f64::EPSILON;

/// A contact that acted in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acting {
    /// The contact.
    pub key: Key,
    /// Its place among the laws of the reactions.
    pub law: usize,
    /// Whether it did not act in the step before.
    pub is_new: bool,
    /// Time of its last impact in the step, from schemes that locate them [s].
    pub located: Option<f64>,
    /// Normal relative velocity before and after [m/s].
    pub before: f64,
    /// After.
    pub after: f64,
    /// Up to where these are rest [m/s].
    pub still: f64,
    /// Whether it rested in the step before as well.
    pub rested: bool,
}

carom_solve::persist!(Acting { key, law, is_new, located, before, after, still, rested });

impl Acting {
    /// Whether the contact closed in this step: it acts after a step in which it did not and has a relative velocity,
    /// or has an impact that the scheme has located. A body that lies there from the start has no impact.
    pub fn is_impact(&self) -> bool {
        self.is_new && !self.rests() || self.located.is_some()
    }

    /// Whether it acts although it opens at the start of the step: forces, or the impacts of other contacts, press it
    /// shut. Newton's law then lets it close with the part e of the velocity with which it opened.
    pub fn is_pressed(&self) -> bool {
        self.before > self.still
    }

    /// Whether it acts without relative velocity.
    pub fn rests(&self) -> bool {
        self.before.abs() <= self.still && self.after.abs() <= self.still
    }

    /// Whether it comes to rest in this step.
    pub fn comes_to_rest(&self) -> bool {
        self.rests() && !self.rested
    }
}

impl Keyed for Acting {
    fn key(&self) -> Key {
        self.key
    }
}

/// A contact that closes.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Impact {
    /// End of the step in which the contact acts [s].
    pub t: f64,
    /// Its name.
    pub contact: String,
    /// Relative velocity (normal, tangents) before [m/s].
    pub before: Vec<f64>,
    /// The same after.
    pub after: Vec<f64>,
    /// Impulse (normal, tangents) of this step [N s].
    pub impulse: Vec<f64>,
    /// Energy that the contact took from the system in this step [J]; none in first-order models.
    pub loss: Option<f64>,
    /// Whether it opened at the start of the step and was pressed shut ([`Acting::is_pressed`]).
    pub pressed: bool,
    /// Whether another contact approached as fast, and the motion depends on which went first.
    pub order_decides: bool,
}

carom_solve::persist!(Impact { t, contact, before, after, impulse, loss, pressed, order_decides });

/// The kind of events of the user in lists; the kinds of schemes are those of [`EventKind`].
pub const USER: &str = "user";

/// The kind of events at which the multiplier of a relay goes from a bound to the other, or begins or ends to lie
/// between
/// them; their time is the end of the step.
pub const SWITCH: &str = "switch";

/// An event of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// Time [s].
    pub t: f64,
    /// Name of a user event; kind and contact otherwise, as in `impact.floor`.
    pub name: String,
    /// Its kind.
    pub kind: &'static str,
    /// The contact, where the event belongs to one.
    pub contact: Option<String>,
    /// State just before.
    pub before: State,
    /// State just after.
    pub after: State,
}

carom_solve::persist!(RunEvent { t, name, kind, contact, before, after });

/// The facts of the step that was accepted last.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    acting: Vec<Acting>,
    earlier: Vec<Acting>, // of the step before
    matching: Matching,
    relays: Vec<(Key, i8)>, // whether λ is at a bound: −1, 0, 1
    switched: Vec<Key>,     // relays that have another place than in the step before
    sizes: Vec<f64>,        // (n) momenta and impulses by velocity, without signs
    fastest: Vec<f64>,      // (n) the largest velocities met
    events: Vec<RunEvent>,
    is_listed: bool, // whether `events` is that of this step
    is_seen: bool,   // whether there is something to forget
}

carom_solve::persist!(Facts {
    acting,
    earlier,
    matching,
    relays,
    switched,
    sizes,
    fastest,
    events,
    is_listed,
    is_seen,
});

impl Facts {
    /// Looks at a step that was accepted, and at its contacts where somebody asks for them.
    #[inline]
    pub fn record(&mut self, stepper: &mut dyn Stepper, asks: bool) -> Result<(), ModelError> {
        (self.is_listed, self.is_seen) = (false, true);
        if asks { self.find_acting(stepper) } else { Ok(()) }
    }

    fn find_acting(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        std::mem::swap(&mut self.acting, &mut self.earlier);
        self.acting.clear();
        self.fastest.resize(stepper.to().v.len(), 0.0);
        for (fastest, (a, b)) in self.fastest.iter_mut().zip(stepper.from().v.iter().zip(&stepper.to().v)) {
            *fastest = fastest.max(a.abs()).max(b.abs());
        }
        self.matching.begin();
        let (reactions, events) = (stepper.reactions(), stepper.events().as_slice());
        self.switched.clear();
        let mut relays = 0;
        for law in 0..reactions.len() {
            if reactions.normal(law) <= 0.0 || !reactions.law(law).is_contact() {
                if reactions.law(law).is_relay() {
                    self.switch(reactions, law, relays);
                    relays += 1;
                }
                continue;
            }
            let (key, row) = (reactions.key(law), reactions.range(law).start);
            let is_impact = |event: &&Event| event.kind == EventKind::Impact && event.contact == Some(key);
            let earlier = self.matching.find(key, &self.earlier).map(|place| self.earlier[place]);
            self.acting.push(Acting {
                key,
                law,
                is_new: earlier.is_none() && !reactions.coupling.heirs.contains(&(law, key)),
                located: events.iter().rfind(is_impact).map(|event| event.t),
                before: reactions.before[row],
                after: reactions.after[row],
                still: 0.0,
                rested: earlier.is_some_and(|earlier| earlier.rests()),
            });
        }
        if !self.acting.is_empty() && !self.fastest.is_empty() {
            self.find_still(stepper);
        }
        if self.acting.iter().any(Acting::is_impact) { self.drop_rounding(stepper) } else { Ok(()) }
    }

    /// Up to where velocities of the contacts that act are rest.
    fn find_still(&mut self, stepper: &dyn Stepper) {
        stepper.law_sizes(&mut self.sizes);
        let coupling = &stepper.reactions().coupling;
        for acting in &mut self.acting {
            let row = coupling.rows.row(coupling.offset[acting.law]).iter();
            acting.still = row.fold(0.0, |sum, &(j, c)| sum + REST * c.abs() * (self.fastest[j] + self.sizes[j]));
        }
    }

    /// Forgets impacts whose impulse does not stand above the rounding of what it is computed from: along its row, the
    /// momenta of the bodies and the impulses at them.
    fn drop_rounding(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        if !stepper.momenta(&mut self.sizes)? {
            return Ok(());
        }
        let (reactions, sizes) = (stepper.reactions(), &mut self.sizes);
        for (row, impulse) in reactions.coupling.rows.iter().zip(&reactions.impulse) {
            row.iter().for_each(|&(j, c)| sizes[j] += (c * impulse).abs());
        }
        self.acting.retain(|acting| {
            let row = reactions.coupling.rows.row(reactions.range(acting.law).start);
            let (among, square) = row.iter().fold((0.0, 0.0), |(a, b), &(j, c)| (a + c.abs() * sizes[j], b + c * c));
            !acting.is_impact() || reactions.normal(acting.law) * square > ROUNDING * among
        });
        Ok(())
    }

    /// Where λ of the relay number `place` is, and whether it was elsewhere in the step before.
    fn switch(&mut self, reactions: &Reactions, law: usize, place: usize) {
        let (key, row) = (reactions.key(law), reactions.range(law).start);
        let (lower, upper) = reactions.law(law).bounds();
        // λ itself, where the scheme knows it
        let Some(&lambda) = reactions.multiplier.get(row).filter(|_| lower < upper) else { return };
        let near = 1e-9 * (upper - lower);
        let side = i8::from(lambda >= upper - near) - i8::from(lambda <= lower + near);
        match self.relays.get_mut(place) {
            Some(known) => {
                if known.0 == key && known.1 != side {
                    self.switched.push(key);
                }
                *known = (key, side);
            }
            None => self.relays.push((key, side)),
        }
    }

    /// Contacts that acted, in the order of the model.
    pub fn acting(&self) -> &[Acting] {
        &self.acting
    }

    /// Forgets the steps so far.
    #[inline]
    pub fn clear(&mut self) {
        if std::mem::take(&mut self.is_seen) {
            self.forget();
        }
    }

    #[cold]
    fn forget(&mut self) {
        self.acting.clear();
        self.earlier.clear();
        self.fastest.clear();
        self.relays.clear();
        self.switched.clear();
        self.events.clear();
        self.is_listed = false;
    }

    /// What the scheme has located and what the user watches for, in the order of time; listed when it is first asked
    /// for.
    pub fn events(&mut self, stepper: &dyn Stepper, occurrences: &[Occurrence]) -> &[RunEvent] {
        if !self.is_listed {
            self.is_listed = true;
            self.events.clear();
            let mut watched = occurrences.iter().peekable();
            for event in stepper.events().iter() {
                while let Some(found) = watched.next_if(|found| found.after.t <= event.t) {
                    self.events.push(found.into());
                }
                self.events.push(located(event, stepper));
            }
            self.events.extend(watched.map(RunEvent::from));
            self.events.extend(self.switched.iter().map(|&key| switch(key, stepper)));
        }
        &self.events
    }
}

fn located(event: &Event, stepper: &dyn Stepper) -> RunEvent {
    let contact = event.contact.map(|key| stepper.labels().contact(key));
    let kind = event.kind.name();
    let name = contact.as_ref().map_or_else(|| kind.to_owned(), |contact| format!("{kind}.{contact}"));
    RunEvent { t: event.t, name, kind, contact, before: event.before.clone(), after: event.after.clone() }
}

fn switch(key: Key, stepper: &dyn Stepper) -> RunEvent {
    let (contact, to) = (stepper.labels().contact(key), stepper.to());
    let name = format!("{SWITCH}.{contact}");
    RunEvent { t: to.t, name, kind: SWITCH, contact: Some(contact), before: stepper.from().clone(), after: to.clone() }
}

impl From<&Occurrence> for RunEvent {
    fn from(found: &Occurrence) -> RunEvent {
        RunEvent {
            t: found.after.t,
            name: found.name.clone(),
            kind: USER,
            contact: None,
            before: found.before.clone(),
            after: found.after.clone(),
        }
    }
}

/// The first impacts and events of a run; later ones are counted alone.
#[derive(Clone, Debug, Default)]
pub struct Lists {
    most: usize,
    /// The first impacts.
    pub impacts: Vec<Impact>,
    /// The first events.
    pub events: Vec<RunEvent>,
}

carom_solve::persist!(Lists { impacts, events } skip { most });

impl Lists {
    /// Keeps at most so many of each.
    pub fn new(most: usize) -> Lists {
        Lists { most, ..Lists::default() }
    }
}

impl Observer for Lists {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        Persist::persist(self, archive)
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let left = self.most - self.impacts.len();
        self.impacts.extend(view.listed_impacts().take(left).map(|(impact, _)| impact));
        let left = self.most - self.events.len();
        self.events.extend(view.events().iter().take(left).cloned());
        Ok(ControlFlow::Continue(()))
    }
}
