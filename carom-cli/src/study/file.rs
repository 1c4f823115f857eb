//! What a study runs on: a model file with options, or a study file that names both.

use crate::examples;
use crate::failure::Failure;
use carom_analysis::study::runner::{Run, StudyRow};
use carom_analysis::study::{STUDIES, StudyError};
use carom_scene::examples::{EXAMPLES, find};
use carom_scene::nearest::nearest;
use carom_scene::{Diagnostic, Overrides, Scene, Severity, StudyFile, StudyKind, scene::Chosen};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::Arc;

/// A model with the options of a study.
#[derive(Debug)]
pub struct StudyInput {
    /// The model.
    pub scene: Arc<Scene>,
    /// Options of the study, as its flags have them.
    pub options: Value,
    /// The study file, and the options that were given besides.
    file: Option<(StudyFile, Map<String, Value>)>,
}

/// The studies as study files know them.
pub fn kinds() -> Vec<StudyKind> {
    STUDIES.iter().map(|row| StudyKind { name: row.info.name, schema: (row.schema)() }).collect()
}

impl StudyInput {
    /// Loads a model file, or a study file with its model. What is given besides comes before what the file says.
    ///
    /// # Errors
    /// Fails with what is wrong with the files.
    pub fn load(
        row: &StudyRow,
        path: &Path,
        overrides: &Overrides,
        given: Map<String, Value>,
    ) -> Result<StudyInput, Failure> {
        match StudyFile::load(path, &kinds()) {
            Some(file) => StudyInput::of(row, file.map_err(Failure::Model)?, path, overrides, given),
            None => {
                let scene = Arc::new(examples::load(path, overrides)?);
                Ok(StudyInput { scene, options: Value::Object(given), file: None })
            }
        }
    }

    /// The text of a study file, whose model is seen from a folder; nothing where it is meant as another file.
    ///
    /// # Errors
    /// Fails with what is wrong with the text and its model.
    pub fn from_text(
        row: &StudyRow,
        (name, text): (&str, &str),
        overrides: &Overrides,
        given: Map<String, Value>,
    ) -> Option<Result<StudyInput, Failure>> {
        let kinds = kinds();
        StudyFile::is_meant(text, &kinds).then(|| {
            let file = StudyFile::from_str(name, text, &kinds).map_err(Failure::Model)?;
            StudyInput::of(row, file, Path::new(""), overrides, given)
        })
    }

    fn of(
        row: &StudyRow,
        file: StudyFile,
        path: &Path,
        overrides: &Overrides,
        given: Map<String, Value>,
    ) -> Result<StudyInput, Failure> {
        let study = file.study(row.info.name).map_err(|error| Failure::Model(vec![error]))?;
        let mut options = study.options.clone();
        options.extend(given.clone());
        let scene = Arc::new(model(&file, path, overrides)?);
        Ok(StudyInput { scene, options: Value::Object(options), file: Some((file, given)) })
    }

    /// Whether it is a study file.
    pub fn is_file(&self) -> bool {
        self.file.is_some()
    }

    /// Checks that nothing is missing and that the options fit the model.
    ///
    /// # Errors
    /// Fails with what is wrong, and where it stands.
    pub fn check(&self, row: &StudyRow) -> Result<usize, Failure> {
        for (name, property) in (row.schema)()["properties"].as_object().into_iter().flatten() {
            if property["x-required"] == true && self.options.get(name).is_none() {
                let value = property["x-value"].as_str().unwrap_or("VALUE");
                let hint = format!("give it, or a study file: `carom new NAME --kind study` writes one with --{name}");
                let missing = Failure::usage(format!("--{name} {value} is missing"), hint);
                return Err(self.placed(row.info.name, missing));
            }
        }
        let opened = (row.open)(&self.options, self.scene.clone(), &Run::default());
        opened.map(|job| job.units()).map_err(|error| self.failed(row.info.name, error))
    }

    /// What a study could not do, with the place of the option in the study file where one is to blame.
    pub fn failed(&self, study: &str, error: StudyError) -> Failure {
        let failure = match error {
            StudyError::Interrupted => Failure::Interrupted("no results were written".into()),
            StudyError::Environment(message) => Failure::Environment(message),
            error if error.is_usage() => Failure::usage(error.to_string(), error.hint()),
            error if error.hint().is_empty() => Failure::Computation(error.to_string()),
            error => Failure::Computation(format!("{error}; {}", error.hint())),
        };
        self.placed(study, failure)
    }

    fn placed(&self, study: &str, failure: Failure) -> Failure {
        let (Failure::Usage { message, hint }, Some((file, given))) = (&failure, &self.file) else { return failure };
        let Ok(table) = file.study(study) else { return failure };
        // the first option that the message names
        let mut words = message.split(|c: char| c.is_whitespace() || c == ':');
        let there = words.find_map(|word| {
            let option = word.strip_prefix("--").filter(|option| !given.contains_key(*option))?;
            table.places.iter().find(|(name, _)| name == option)
        });
        let missing = || message.ends_with("is missing").then_some(&table.place);
        let Some(place) = there.map(|(_, place)| place).or_else(missing) else { return failure };
        let mut finding = Diagnostic::new(Severity::Error, place, message.clone());
        if !hint.is_empty() {
            finding.hint(hint.clone());
        }
        Failure::Model(vec![finding])
    }
}

/// Loads the model of a study file.
fn model(file: &StudyFile, path: &Path, given: &Overrides) -> Result<Scene, Failure> {
    let name = &file.model.value;
    let beside = path.parent().unwrap_or(Path::new("")).join(name);
    if !beside.is_file() && find(name).is_none() {
        let mut finding = Diagnostic::new(
            Severity::Error,
            &file.model.place,
            format!("there is no model file `{}`, and no built-in example of this name", beside.display()),
        );
        finding.hint(match nearest(name, EXAMPLES.iter().map(|(known, _)| *known)) {
            Some(near) => format!("did you mean the example `{near}`?"),
            None => "its path is seen from the folder of the study file".into(),
        });
        return Err(Failure::Model(vec![finding]));
    }
    let mut overrides = file.overrides.clone();
    overrides.set.extend(given.set.iter().cloned());
    let chosen = |mine: &mut Option<Chosen>, given: &Option<Chosen>| {
        if given.is_some() {
            mine.clone_from(given);
        }
    };
    chosen(&mut overrides.scheme, &given.scheme);
    chosen(&mut overrides.solver, &given.solver);
    if given.step.is_some() || given.steps.is_some() {
        (overrides.step, overrides.steps) = (given.step.clone(), given.steps);
    }
    overrides.end = given.end.or(overrides.end);
    overrides.output = given.output.clone();
    overrides.adaptive = given.adaptive.clone();
    let model = if beside.is_file() { beside.as_path() } else { Path::new(name) };
    examples::load(model, &overrides).map_err(|failure| match failure {
        Failure::Model(findings) => Failure::Model(file.placed(findings, given)),
        other => other,
    })
}
