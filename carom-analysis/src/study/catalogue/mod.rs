//! The studies, one file each, and what several of them share.

mod basin;
mod bifurcation;
mod converge;
mod converge_plan;
mod equilibrium;
mod lyapunov;
mod orbit;
mod orbit_section;
mod sweep;

use super::StudyError;
use super::document::Document;
use super::range::Varied;
use super::runner::StudyRow;
use carom::Subject;
use carom::subject::{PERIOD, StateColumn};

/// Every study: a row each.
pub static STUDIES: &[StudyRow] = &[
    StudyRow::of::<converge::Converge>(),
    StudyRow::of::<sweep::Sweep>(),
    StudyRow::of::<bifurcation::Bifurcation>(),
    StudyRow::of::<lyapunov::Lyapunov>(),
    StudyRow::of::<orbit::Orbits>(),
    StudyRow::of::<basin::Basin>(),
    StudyRow::of::<equilibrium::Equilibrium>(),
];

/// The study of a name.
pub fn find(name: &str) -> Option<&'static StudyRow> {
    STUDIES.iter().find(|row| row.info.name == name)
}

/// An empty document of a subject.
fn document(what: &str, subject: &dyn Subject) -> Document {
    Document {
        title: format!("{what}: {}", subject.name()),
        subtitle: subject.description().to_owned(),
        source: Some((subject.name().to_owned(), subject.text().to_owned())),
        ..Document::default()
    }
}

/// Part of the run below which a time is none that it could resolve.
const SHORTEST: f64 = 1e-9;

/// A positive time that an option gives as an expression.
fn time(subject: &dyn Subject, option: &str, text: &str) -> Result<f64, StudyError> {
    let (start, end, _) = subject.span();
    let shortest = SHORTEST * (end - start);
    match subject.value(text) {
        Ok(value) if value.is_finite() && value > 0.0 && value < shortest => Err(StudyError::usage(
            format!("{option} {text:?} is {value:e} s, which is nothing beside the run of {} s", end - start),
            format!("it must be at least {shortest:e} s; is it in seconds?"),
        )),
        Ok(value) if value.is_finite() && value > 0.0 => Ok(value),
        Ok(value) => {
            Err(StudyError::usage(format!("{option} {text:?} is {value}"), "it must be a positive time in seconds"))
        }
        Err(error) => Err(StudyError::usage(format!("{option} {text:?}: {error}"), error.hint)),
    }
}

/// The period that an option gives, or the parameter `period`.
fn period(subject: &dyn Subject, option: Option<&str>) -> Result<f64, StudyError> {
    match option {
        Some(text) => time(subject, "--period", text),
        None if subject.parameter(PERIOD).is_some() => time(subject, "the parameter", PERIOD),
        None => Err(StudyError::usage(
            "the period is not known",
            "give it, for example --period '2*pi/om', or give the model a parameter `period`",
        )),
    }
}

fn varied(option: &str, text: &str) -> Result<Varied, StudyError> {
    Varied::parse(text)
        .map_err(|error| StudyError::usage(format!("{option}: {error}"), "for example e=0.1:0.9:9 or e=0.1,0.5"))
}

/// A list of values, of a parameter of the model.
fn varied_parameter(subject: &dyn Subject, option: &str, text: &str) -> Result<Varied, StudyError> {
    let varied = varied(option, text)?;
    if subject.parameter(&varied.name).is_none() {
        let known: Vec<&str> = subject.parameters().iter().map(|(name, _)| name.as_str()).collect();
        let hint = subject.hint(&varied.name, &known, || match known.is_empty() {
            true => "the file has no parameters".into(),
            false => format!("parameters of the file: {}", known.join(", ")),
        });
        return Err(StudyError::usage(format!("{option}: unknown parameter `{}`", varied.name), hint));
    }
    Ok(varied)
}

/// The label of an axis: a quantity with its unit, or words about one.
fn label(subject: &dyn Subject, words: &str, quantity: &str) -> String {
    subject.unit(quantity).map_or_else(|| words.to_owned(), |unit| format!("{words} [{unit}]"))
}

/// A column by its name.
fn column(subject: &dyn Subject, option: &str, name: &str) -> Result<StateColumn, StudyError> {
    subject.column(name).map_err(|error| StudyError::usage(format!("{option}: {error}"), error.hint))
}
