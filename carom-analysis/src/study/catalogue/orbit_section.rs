//! Where orbits take their states, and how long their rounds are: what the options say.

use super::orbit::Orbits;
use super::time;
use crate::study::orbit::{Case, Options, Period, Section};
use crate::study::{Cyclic, Stop, StudyError};
use carom::subject::PERIOD;
use carom::{Key, State, Subject};

/// The word of `--period` for orbits without forcing in a model that has a parameter `period`.
const FREE: &str = "free";

/// The section by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionName {
    Strobe,
    Impact(Key),
    Position(usize),
    Velocity(usize),
    Event(usize),
}

/// What rounds of a model are.
#[derive(Clone, Debug)]
pub struct Rounds {
    place: SectionName,
    /// The period of the forcing as an expression, and its value [s]; nothing without forcing.
    period: Option<(String, f64)>,
    /// A guess of the period where it is free [s].
    guess: f64,
    /// The section in words.
    pub words: String,
}

impl Rounds {
    /// Reads `--section` and `--period`.
    pub fn read(subject: &dyn Subject, options: &Orbits) -> Result<Rounds, StudyError> {
        let (place, words) = match options.section.as_deref() {
            Some(text) => place(subject, text)?,
            None => (SectionName::Strobe, "once per period".to_owned()),
        };
        let period = match options.period.as_deref() {
            Some(FREE) => None,
            Some(text) => Some((text.to_owned(), time(subject, "--period", text)?)),
            None if subject.parameter(PERIOD).is_some() => {
                Some((PERIOD.to_owned(), time(subject, "the parameter", PERIOD)?))
            }
            None => None,
        };
        if period.is_none() && place == SectionName::Strobe {
            return Err(StudyError::usage(
                "the period is not known",
                "with a forcing give it, for example --period '2*pi/om', or give the model a parameter `period`; without one \
                 give --section impact, impact:CONTACT, an event of the file, or a velocity such as --section \"x'\"",
            ));
        }
        let (start, end, _) = subject.span();
        Ok(Rounds { place, period, guess: end - start, words })
    }

    /// Whether there is a forcing.
    pub fn is_forced(&self) -> bool {
        self.period.is_some()
    }

    /// Rounds of a subject, with derivatives by a parameter.
    pub fn case(&self, subject: &dyn Subject, parameter: Option<&str>) -> Result<Case, StudyError> {
        let names: Vec<&str> = parameter.into_iter().collect();
        let period = match (&self.period, parameter) {
            (None, _) => Period::Free(self.guess),
            (Some((text, _)), Some(name)) => {
                let (value, slope) = subject.slope(text, name)?;
                Period::Forced(value, slope)
            }
            (Some((_, value)), None) => Period::Forced(*value, 0.0),
        };
        let (motion, section) = (subject.sensitivity(&names)?, self.section(subject)?);
        Ok(Case { motion, period, section, cyclic: Cyclic::of(subject) })
    }

    fn section(&self, subject: &dyn Subject) -> Result<Section, StudyError> {
        Ok(match self.place {
            SectionName::Strobe => Section::Strobe,
            SectionName::Impact(contact) => Section::Impact(contact),
            SectionName::Position(i) if Cyclic::of(subject).length(i).is_some_and(|length| length > 0.0) => {
                Section::Turn(i, Cyclic::of(subject).length(i).unwrap_or(1.0))
            }
            SectionName::Position(i) => Section::Zero(Box::new(move |_, q, _| q.get(i).copied().unwrap_or(f64::NAN))),
            SectionName::Velocity(i) => Section::Zero(Box::new(move |_, _, v| v.get(i).copied().unwrap_or(f64::NAN))),
            SectionName::Event(k) => {
                let function = subject.event(k);
                Section::Zero(function.ok_or_else(|| StudyError::Build(format!("there is no event {k}")))?)
            }
        })
    }

    /// The state at which the search starts; a free period and the number of impacts in a round are noted.
    pub fn guess(
        &mut self,
        subject: &dyn Subject,
        orbits: &Orbits,
        options: &mut Options,
        stop: &Stop<'_>,
    ) -> Result<State, StudyError> {
        let initial = subject.initial();
        let start = &orbits.start;
        // for its message
        subject.sensitivity(&[]).map_err(|e| StudyError::usage(e.message, "see `carom docs studies`"))?;
        let mut case = self.case(subject, None)?;
        let mut transient = orbits.transient;
        if !start.is_empty() {
            let (q, v) = start.split_at(initial.q.len());
            case.motion.restart(&State::new(initial.t, q, v));
            transient = 0;
        }
        let (first, last, _) = subject.span();
        let limit = match case.period {
            Period::Forced(length, _) => (options.multiple as f64 + 10.0) * length,
            Period::Free(_) => 10.0 * (last - first),
        };
        let mut guess = case.approach(transient, limit, options, stop)?;
        if start.is_empty() {
            case.cyclic.reduce(&mut guess.q);
            case.cyclic.drifting().for_each(|i| guess.q[i] = initial.q[i]);
        }
        if let Period::Free(length) = case.period {
            self.guess = length;
        }
        Ok(guess)
    }
}

/// A section by its name, and in words.
fn place(subject: &dyn Subject, text: &str) -> Result<(SectionName, String), StudyError> {
    let laws = subject.laws();
    let contacts: Vec<(Key, &str)> =
        laws.iter().filter(|law| !law.law.is_equality()).map(|law| (law.key, law.name)).collect();
    let names = || contacts.iter().map(|c| c.1).collect::<Vec<_>>().join(", ");
    let impact = |(key, name): (Key, &str)| (SectionName::Impact(key), format!("just after an impact at {name}"));
    match (text, &contacts[..]) {
        ("strobe", _) => return Ok((SectionName::Strobe, "once per period".into())),
        ("impact", [only]) => return Ok(impact(*only)),
        ("impact", []) => {
            return Err(StudyError::usage("--section impact: the model has no contact", "take a velocity or an event"));
        }
        ("impact", [first, ..]) => {
            let hint = format!("name one of {} as in impact:{}", names(), first.1);
            return Err(StudyError::usage("--section impact: the model has several contacts", hint));
        }
        _ => {}
    }
    if let Some(name) = text.strip_prefix("impact:") {
        let known: Vec<&str> = contacts.iter().map(|c| c.1).collect();
        let hint = subject.hint(name, &known, || format!("contacts: {}", names()));
        let found = contacts.iter().find(|c| c.1 == name).map(|c| impact(*c));
        return found.ok_or_else(|| StudyError::usage(format!("--section: there is no contact `{name}`"), hint));
    }
    let coordinate = |name: &str| subject.coordinates().iter().position(|known| known == name);
    let velocity = |name: &str| subject.velocities().iter().position(|known| known == name);
    let event = || subject.events().iter().position(|name| *name == text).map(SectionName::Event);
    let found = match text.strip_suffix('\'') {
        Some(name) => velocity(name).map(SectionName::Velocity),
        None => coordinate(text).map(SectionName::Position).or_else(event),
    };
    match found {
        Some(SectionName::Event(k)) => Ok((SectionName::Event(k), format!("event {text}"))),
        Some(place) => Ok((place, format!("{text} = 0, rising"))),
        None => {
            let mut known = vec!["strobe", "impact"];
            known.extend(subject.coordinates().iter().map(String::as_str));
            known.extend(subject.events());
            let hint = subject.hint(text, &known, || {
                "strobe, impact, impact:CONTACT, a coordinate x, a velocity x', or an event of the file".into()
            });
            Err(StudyError::usage(format!("--section: unknown section `{text}`"), hint))
        }
    }
}
