//! Study files: a model, what is changed of it, and a table of options for each study.
//!
//! Which studies there are, and their options, is told by the caller: as names and JSON Schemas.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toml::de::{DeTable, DeValue};

use super::method::json;
use super::reader::{Item, Read, Reader, ordered};
use super::value::{Content, Entries, Formula, Integer, Text, number};
use super::{Method, VERSION, read_text, syntax};
use crate::diagnostic::{Diagnostic, Diagnostics, Place, Severity, SourceText, suggest};
use crate::scene::{Amount, Choice, Overrides};

/// A commented study file to start from.
pub const STUDY_EXAMPLE: &str = include_str!("study.toml");

/// Keys besides the names of studies.
const KEYS: [&str; 8] = ["version", "model", "description", "set", "scheme", "solver", "step", "end"];

/// A study as its file knows it.
#[derive(Clone, Debug)]
pub struct StudyKind {
    /// Its name, which is that of its table.
    pub name: &'static str,
    /// JSON Schema of its options.
    pub schema: Value,
}

/// A study file.
#[derive(Clone, Debug)]
pub struct StudyFile {
    /// A model file, or the name of a built-in example.
    pub model: Text,
    /// What is changed of it.
    pub overrides: Overrides,
    /// Where each change stands: `--set NAME`, `--step`, ...
    changes: Vec<(String, Place)>,
    /// Options of each study.
    pub studies: Vec<StudyTable>,
}

/// The options of one study.
#[derive(Clone, Debug)]
pub struct StudyTable {
    /// Name of the study.
    pub name: &'static str,
    /// Options as its flags and keywords have them.
    pub options: Map<String, Value>,
    /// Where the value of each option stands.
    pub places: Vec<(String, Place)>,
    /// Where the table stands.
    pub place: Place,
}

impl StudyFile {
    /// Whether a text is meant as a study file: it names its model, or has a table of a study and no model.
    pub fn is_meant(text: &str, kinds: &[StudyKind]) -> bool {
        let (table, _) = DeTable::parse_recoverable(text);
        match table.get_ref().get("model") {
            Some(item) => matches!(item.get_ref(), DeValue::String(_)),
            None => kinds.iter().any(|kind| table.get_ref().contains_key(kind.name)),
        }
    }

    /// Reads a file where it is meant as a study file; nothing where it is not, or cannot be read.
    pub fn load(path: &Path, kinds: &[StudyKind]) -> Option<Result<StudyFile, Vec<Diagnostic>>> {
        let source = if path.is_file() { read_text(path).ok()? } else { return None };
        StudyFile::is_meant(&source.text, kinds).then(|| StudyFile::read(&source, kinds))
    }

    /// Reads a text; `name` stands for the file in messages.
    ///
    /// # Errors
    /// Fails with all mistakes of form.
    pub fn from_str(name: &str, text: &str, kinds: &[StudyKind]) -> Result<StudyFile, Vec<Diagnostic>> {
        StudyFile::read(&SourceText::new(name, text), kinds)
    }

    fn read(source: &Arc<SourceText>, kinds: &[StudyKind]) -> Result<StudyFile, Vec<Diagnostic>> {
        let mut out = Diagnostics::default();
        match StudyFile::collect(source, kinds, &mut out) {
            Some(file) if out.errors() == 0 => Ok(file),
            _ => Err(out.finish(source)),
        }
    }

    fn collect(source: &Arc<SourceText>, kinds: &[StudyKind], out: &mut Diagnostics) -> Option<StudyFile> {
        let root = syntax::document(source, out)?;
        let mut reader = Reader::new(source, "", out);
        let table = reader.table(&root)?;
        let place = reader.place(root.span());
        let version: Integer = reader.field(table, "version", &[], &place)?;
        if version.value != VERSION {
            let error = reader.out.error(&version.place, format!("version {} is not supported", version.value));
            error.hint(format!("this program reads version {VERSION}"));
            return None;
        }
        let known: Vec<&'static str> = KEYS.into_iter().chain(kinds.iter().map(|kind| kind.name)).collect();
        let meant = reader.unknown_keys(table, &known);
        let model: Option<Text> = reader.field(table, "model", &meant, &place);
        reader.field::<Option<Text>>(table, "description", &meant, &place);
        let mut file = StudyFile { model: model?, overrides: Overrides::default(), changes: vec![], studies: vec![] };
        file.read_changes(table, &meant, &place, &mut reader);
        for kind in kinds {
            let given = table.get(kind.name).or_else(|| meant.iter().find(|(k, _)| *k == kind.name).map(|(_, i)| *i));
            let read = given.and_then(|item| reader.inside(kind.name, |reader| study(item, kind, reader)));
            file.studies.extend(read);
        }
        if file.studies.is_empty() && reader.out.errors() == 0 {
            let names: Vec<String> = kinds.iter().map(|kind| format!("[{}]", kind.name)).collect();
            reader.error(root.span(), "there is no study").hint(format!("write one of {}", names.join(", ")));
        }
        Some(file)
    }

    /// What is changed of the model.
    fn read_changes(
        &mut self,
        table: &DeTable<'_>,
        meant: &[(&'static str, &Item<'_>)],
        place: &Place,
        reader: &mut Reader<'_>,
    ) {
        if let Some(Some(entries)) = reader.field::<Option<Entries>>(table, "set", meant, place) {
            for (name, formula) in entries.items {
                self.changes.push((format!("--set {}", name.value), formula.place.clone()));
                self.overrides.set.push((name.value, words(&formula)));
            }
        }
        for key in ["scheme", "solver"] {
            let Some(Some(method)) = reader.field::<Option<Method>>(table, key, meant, place) else { continue };
            self.changes.push((format!("--{key}"), method.name.place.clone()));
            let choice = Some(Choice { name: method.name.value, options: Value::Object(method.options) }.into());
            *(if key == "scheme" { &mut self.overrides.scheme } else { &mut self.overrides.solver }) = choice;
        }
        if let Some(Some(step)) = reader.field::<Option<Formula>>(table, "step", meant, place) {
            self.changes.push(("--step".into(), step.place.clone()));
            self.overrides.step = Some(match step.content {
                Content::Number(x) => Amount::Number(x),
                Content::Expression(text) => Amount::Text(text),
            });
        }
        if let Some(Some(end)) = reader.field::<Option<Formula>>(table, "end", meant, place) {
            self.changes.push(("--end".into(), end.place.clone()));
            match end.content {
                Content::Number(x) => self.overrides.end = Some(x),
                Content::Expression(_) => _ = reader.out.error(&end.place, "expected a number, found a text"),
            }
        }
    }

    /// The table of a study.
    ///
    /// # Errors
    /// Fails where there is none, and says which ones there are.
    pub fn study(&self, name: &str) -> Result<&StudyTable, Diagnostic> {
        self.studies.iter().find(|table| table.name == name).ok_or_else(|| {
            let there: Vec<String> = self.studies.iter().map(|table| format!("`carom {}`", table.name)).collect();
            let mut error =
                Diagnostic::new(Severity::Error, &self.model.place.at(0..0), format!("there is no table [{name}]"));
            error.field = name.to_owned();
            error.hint(format!("add it, or call {}", there.join(" or ")));
            error
        })
    }

    /// Finds the place in this file of what a model says of its changes; those of the command line stay as they are.
    pub fn placed(&self, mut findings: Vec<Diagnostic>, elsewhere: &Overrides) -> Vec<Diagnostic> {
        for finding in &mut findings {
            let option = match finding.source.name.as_str() {
                "--set" => {
                    let name = finding.source.text.split('=').next().unwrap_or_default();
                    let elsewhere = elsewhere.set.iter().any(|(set, _)| set.trim() == name);
                    if elsewhere { continue } else { format!("--set {name}") }
                }
                option => option.to_owned(),
            };
            let Some((_, place)) = self.changes.iter().find(|(change, _)| *change == option) else { continue };
            let mut moved = Diagnostic::new(finding.severity, place, finding.message.clone());
            moved.hint = finding.hint.take();
            *finding = moved;
        }
        findings
    }
}

/// A number or expression as text.
fn words(formula: &Formula) -> String {
    match &formula.content {
        Content::Number(x) => format!("{x:?}"),
        Content::Expression(text) => text.clone(),
    }
}

/// The options of a study.
fn study(item: &Item<'_>, kind: &StudyKind, reader: &mut Reader<'_>) -> Option<StudyTable> {
    let table = reader.table(item)?;
    let mut study =
        StudyTable { name: kind.name, options: Map::new(), places: Vec::new(), place: reader.place(item.span()) };
    let properties = kind.schema["properties"].as_object();
    let known = || properties.into_iter().flatten().map(|(name, _)| name.as_str());
    for (key, item) in ordered(table) {
        let name = key.get_ref().to_string();
        reader.inside(&name, |reader| {
            let Some(property) = properties.and_then(|all| all.get(&name)) else {
                let hint =
                    suggest(&name, known(), false, || format!("options: {}", known().collect::<Vec<_>>().join(", ")));
                reader.error(key.span(), format!("unknown option `{name}`")).hint(hint);
                return;
            };
            if let Some(value) = option(item, property, reader) {
                study.options.insert(name.clone(), value);
                study.places.push((name.clone(), reader.place(item.span())));
            }
        });
    }
    Some(study)
}

/// Whether a property of a schema may be of this type.
fn may_be(property: &Value, wanted: &str) -> bool {
    match &property["type"] {
        Value::Array(types) => types.iter().any(|known| known == wanted),
        one => one == wanted,
    }
}

/// Whether an option takes names with values: `NAME=...`.
pub(super) fn is_named(property: &Value) -> bool {
    property["x-value"].as_str().is_some_and(|words| words.starts_with("NAME="))
}

/// Words of an enum.
fn choices(property: &Value) -> Vec<&str> {
    let mut found: Vec<&str> = property["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    found.extend(property["const"].as_str());
    for part in ["oneOf", "anyOf"].iter().flat_map(|key| property[*key].as_array().into_iter().flatten()) {
        found.extend(choices(part));
    }
    found
}

/// The value of an option, checked against its schema.
fn option(item: &Item<'_>, property: &Value, reader: &mut Reader<'_>) -> Option<Value> {
    let many = may_be(property, "array");
    if is_named(property) {
        return named_values(item, many, reader);
    }
    let value = json(item, reader)?;
    let choices = choices(property);
    if !choices.is_empty() {
        if value.as_str().is_some_and(|word| choices.contains(&word)) {
            return Some(value);
        }
        let all = || format!("one of {}", choices.join(", "));
        let hint = suggest(value.as_str().unwrap_or_default(), choices.iter().copied(), true, all);
        reader.error(item.span(), format!("{value} is none of the words")).hint(hint);
        return None;
    }
    let numbers = may_be(&property["items"], "number");
    let expected = match (&value, many) {
        (Value::Array(items), true) if items.iter().all(|x| if numbers { x.is_number() } else { x.is_string() }) => {
            return Some(value);
        }
        (Value::String(_), true) if !numbers => return Some(json!([value])),
        (_, true) => {
            if numbers {
                "a list of numbers"
            } else {
                "a list of texts"
            }
        }
        _ if property["anyOf"].is_array() => match &value {
            Value::Bool(_) | Value::Number(_) => return Some(value),
            _ => "true, false or a number",
        },
        (Value::Bool(_), _) if may_be(property, "boolean") => return Some(value),
        (Value::Number(x), _) if may_be(property, "integer") => {
            let (least, most) = (property["minimum"].as_f64().unwrap_or(0.0), property["maximum"].as_f64());
            match x.as_u64() {
                Some(whole) if whole as f64 >= least && most.is_none_or(|most| whole as f64 <= most) => {
                    return Some(value);
                }
                _ => {
                    let most = most.map_or_else(String::new, |most| format!(" to {most}"));
                    reader.error(item.span(), format!("{x} is no whole number from {least}{most}"));
                    return None;
                }
            }
        }
        (Value::Number(_), _) if may_be(property, "number") => return Some(value),
        (Value::String(_), _) if may_be(property, "string") => return Some(value),
        (Value::Number(x), _) if may_be(property, "string") => return Some(json!(x.to_string())),
        _ if may_be(property, "boolean") => "true or false",
        _ if may_be(property, "integer") => "a whole number",
        _ if may_be(property, "number") => "a number",
        _ => "a text in quotes",
    };
    reader.wrong_type(item, expected);
    None
}

/// Names with values: the words of the command, or a table with an entry for each name.
fn named_values(item: &Item<'_>, many: bool, reader: &mut Reader<'_>) -> Option<Value> {
    match item.get_ref() {
        DeValue::String(text) => Some(if many { json!([text.as_ref()]) } else { json!(text.as_ref()) }),
        DeValue::Array(_) if many => {
            Vec::<Text>::read(item, reader).map(|all| all.into_iter().map(|text| text.value).collect())
        }
        DeValue::Table(table) if !table.is_empty() && (many || table.len() == 1) => {
            let pairs = super::entries(item, reader, |name, item, reader| {
                Some(format!("{}={}", name.value, values(item, reader)?))
            })?;
            Some(if many { json!(pairs) } else { json!(pairs[0]) })
        }
        _ => {
            let example = if many { "a table of names with values" } else { "a table of one name with values" };
            let error = reader.wrong_type(item, example);
            error.hint(
                "for example { e = \"0.1:0.9:9\" }, { e = [0.1, 0.5] }, or { e = { first = 0.1, last = 0.9, count = 9 } }",
            );
            None
        }
    }
}

/// The values of a name in the words of the command.
fn values(item: &Item<'_>, reader: &mut Reader<'_>) -> Option<String> {
    let one = |item: &Item<'_>, reader: &mut Reader<'_>| match number(item.get_ref()).filter(|x| x.is_finite()) {
        Some(x) => Some(format!("{x:?}")),
        None => {
            reader.wrong_type(item, "a finite number");
            None
        }
    };
    match item.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Array(items) if !items.is_empty() => {
            let all: Option<Vec<String>> = items.iter().map(|item| one(item, reader)).collect();
            Some(all?.join(","))
        }
        DeValue::Table(table) => {
            reader.unknown_keys(table, &["first", "last", "count"]);
            let place = reader.place(item.span());
            let first: Formula = reader.field(table, "first", &[], &place)?;
            let last: Formula = reader.field(table, "last", &[], &place)?;
            let count: Option<Integer> = reader.field(table, "count", &[], &place)?;
            let count = count.map_or_else(String::new, |count| format!(":{}", count.value));
            Some(format!("{}:{}{count}", words(&first), words(&last)))
        }
        _ => one(item, reader),
    }
}
