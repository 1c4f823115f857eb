//! Where `carom orbit` takes the states of an orbit, and how long its rounds are: what the options say.

use super::arguments::OrbitArguments;
use super::{evaluate, failed, sensitivity};
use crate::failure::Failure;
use crate::progress::interrupted;
use carom::simulation::Direction;
use carom::{Key, State};
use carom_analysis::study::StudyError;
use carom_analysis::study::orbit::{Case, Options, Period, Section};
use carom_scene::Scene;
use carom_scene::nearest::nearest;

/// The word of `--period` for orbits without forcing in a model that has a parameter `period`.
const FREE: &str = "free";

/// The section by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Strobe,
    Impact(usize),
    Position(usize),
    Velocity(usize),
    Event(usize),
}

/// What rounds of a model are.
pub struct Rounds {
    place: Place,
    /// The period of the forcing as an expression, and its value [s]; nothing without forcing.
    period: Option<(String, f64)>,
    /// A guess of the period where it is free [s].
    guess: f64,
}

impl Rounds {
    /// Reads `--section` and `--period`.
    pub fn read(scene: &Scene, arguments: &OrbitArguments) -> Result<Rounds, Failure> {
        let place = arguments.section.as_deref().map_or(Ok(Place::Strobe), |text| place(scene, text))?;
        let known = || scene.parameter("period").map(|_| "period".to_owned());
        let period = match arguments.period.as_deref() {
            Some(FREE) => None,
            Some(text) => Some(text.to_owned()),
            None => known(),
        };
        let option = if arguments.period.is_some() { "--period" } else { "the parameter" };
        let period = match period {
            Some(text) => Some((text.clone(), evaluate(scene, option, &text)?)),
            None => None,
        };
        if period.is_none() && place == Place::Strobe {
            return Err(Failure::usage(
                "the period is not known",
                "with a forcing give it, for example --period '2*pi/om', or give the model a parameter `period`; without one give \
                 --section impact, impact:CONTACT, an event of the file, or a velocity such as --section \"x'\"",
            ));
        }
        Ok(Rounds { place, period, guess: scene.span.end - scene.span.start })
    }

    pub fn is_forced(&self) -> bool {
        self.period.is_some()
    }

    /// Rounds of a scene, with derivatives by a parameter.
    pub fn case(&self, scene: &Scene, parameter: Option<&str>) -> Result<Case, StudyError> {
        let build = |e: carom_scene::BuildError| StudyError::Build(e.to_string());
        let names: Vec<&str> = parameter.into_iter().collect();
        let period = match (&self.period, parameter) {
            (None, _) => Period::Free(self.guess),
            (Some((text, _)), Some(name)) => {
                let (value, slope) = scene.slope(text, name).map_err(build)?;
                Period::Forced(value, slope)
            }
            (Some((_, value)), None) => Period::Forced(*value, 0.0),
        };
        Ok(Case { motion: scene.sensitivity(&names).map_err(build)?, period, section: self.section(scene) })
    }

    fn section(&self, scene: &Scene) -> Section {
        match self.place {
            Place::Strobe => Section::Strobe,
            Place::Impact(contact) => Section::Impact(Key::from(contact)),
            Place::Position(i) => Section::Zero(Box::new(move |_, q, _| q.get(i).copied().unwrap_or(f64::NAN))),
            Place::Velocity(i) => Section::Zero(Box::new(move |_, _, v| v.get(i).copied().unwrap_or(f64::NAN))),
            Place::Event(k) => {
                let event = &scene.events[k];
                let sign = if event.direction == Direction::Falling { -1.0 } else { 1.0 };
                let mut function = event.function();
                Section::Zero(Box::new(move |t, q, v| sign * function(t, q, v)))
            }
        }
    }

    /// The state at which the search starts; a free period and the number of impacts in a round are noted.
    pub fn guess(
        &mut self,
        scene: &Scene,
        arguments: &OrbitArguments,
        options: &mut Options,
    ) -> Result<State, Failure> {
        let initial = &scene.initial;
        let n = initial.q.len();
        let start = &arguments.start;
        if !start.is_empty() && (start.len() != 2 * n || start.iter().any(|x| !x.is_finite())) {
            let message =
                format!("--start has {} numbers, the model has {n} positions and {n} velocities", start.len());
            return Err(Failure::usage(message, "positions first, then velocities, separated by commas"));
        }
        // for its message
        sensitivity(scene, &[])?;
        let mut case = self.case(scene, None).map_err(failed)?;
        let mut transient = arguments.transient;
        if !start.is_empty() {
            case.motion.restart(&State::new(initial.t, &start[..n], &start[n..]));
            transient = 0;
        }
        let span = scene.span.end - scene.span.start;
        let limit = match case.period {
            Period::Forced(length, _) => (options.multiple as f64 + 10.0) * length,
            Period::Free(_) => 10.0 * span,
        };
        let guess = case.approach(transient, limit, options, &interrupted).map_err(failed)?;
        if let Period::Free(length) = case.period {
            self.guess = length;
        }
        Ok(guess)
    }

    /// The section in words.
    pub fn describe(&self, scene: &Scene) -> String {
        match self.place {
            Place::Strobe => "once per period".into(),
            Place::Impact(i) => format!("just after an impact at {}", scene.laws[i].name),
            Place::Position(i) => format!("{} = 0, rising", scene.coordinates[i]),
            Place::Velocity(i) => format!("{}' = 0, rising", scene.coordinates[i]),
            Place::Event(k) => format!("event {}", scene.events[k].name),
        }
    }
}

/// A section by its name.
fn place(scene: &Scene, text: &str) -> Result<Place, Failure> {
    let contacts: Vec<(usize, &str)> =
        scene.laws.iter().enumerate().filter(|l| !l.1.law.is_equality()).map(|l| (l.0, l.1.name.as_str())).collect();
    let names = || contacts.iter().map(|c| c.1).collect::<Vec<_>>().join(", ");
    match text {
        "strobe" => return Ok(Place::Strobe),
        "impact" => {
            return match contacts[..] {
                [(only, _)] => Ok(Place::Impact(only)),
                [] => Err(Failure::usage("--section impact: the model has no contact", "take a velocity or an event")),
                _ => Err(Failure::usage(
                    "--section impact: the model has several contacts",
                    format!("name one of {} as in impact:{}", names(), contacts[0].1),
                )),
            };
        }
        _ => {}
    }
    if let Some(name) = text.strip_prefix("impact:") {
        let found = contacts.iter().find(|c| c.1 == name).map(|c| Place::Impact(c.0));
        let hint = nearest(name, contacts.iter().map(|c| c.1));
        let hint = hint.map_or_else(|| format!("contacts: {}", names()), |near| format!("did you mean `{near}`?"));
        return found.ok_or_else(|| Failure::usage(format!("--section: there is no contact `{name}`"), hint));
    }
    let coordinate = |name: &str| scene.coordinates.iter().position(|known| known == name);
    let event = || scene.events.iter().position(|event| event.name == text).map(Place::Event);
    let found = match text.strip_suffix('\'') {
        Some(name) => coordinate(name).map(Place::Velocity),
        None => coordinate(text).map(Place::Position).or_else(event),
    };
    found.ok_or_else(|| {
        let known = ["strobe", "impact"].into_iter().chain(scene.coordinates.iter().map(String::as_str));
        let known = known.chain(scene.events.iter().map(|event| event.name.as_str()));
        let hint = match nearest(text, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "strobe, impact, impact:CONTACT, a coordinate x, a velocity x', or an event of the file".into(),
        };
        Failure::usage(format!("--section: unknown section `{text}`"), hint)
    })
}
