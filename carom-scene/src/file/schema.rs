//! The JSON Schema of model files, from the tables themselves and from the options in the registries.

use carom::simulation::Adaptive;
use carom::{ImpactLaw, SCHEMES};
use carom_solve::{Options, SOLVERS};
use serde_json::{Map, Value, json};

use super::study::is_named;
use super::{ModelFile, StudyKind};
use crate::kind::KINDS;

/// The JSON Schema of a model file, for editors: completion, documentation and checks while typing.
pub fn schema() -> Value {
    let mut root = schemars::schema_for!(ModelFile).to_value();
    remove_null(&mut root);
    let mut definitions = Map::new();
    let schemes: Vec<_> = SCHEMES.iter().map(|row| (row.info.name, row.info.title, (row.schema)())).collect();
    let solvers: Vec<_> = SOLVERS.iter().map(|row| (row.info.name, row.info.title, (row.schema)())).collect();
    let scheme = method("scheme", schemes, &mut definitions);
    let solver = method("solver", solvers, &mut definitions);
    let adaptive = adaptive(&mut definitions);
    if let Some(defs) = root.get_mut("$defs").and_then(Value::as_object_mut) {
        defs.append(&mut definitions);
    }
    insert(&mut root, "/$defs/SimulationTable/properties/scheme", scheme);
    insert(&mut root, "/$defs/SimulationTable/properties/solver", solver);
    insert(&mut root, "/$defs/SimulationTable/properties/adaptive", adaptive);
    let laws = ImpactLaw::ALL.map(ImpactLaw::name);
    insert(&mut root, "/$defs/SimulationTable/properties/impacts", json!({ "enum": laws }));
    for row in KINDS {
        let pointer = format!("/$defs/{}/properties/kind", row.definition());
        insert(&mut root, &pointer, json!({ "const": row.name }));
    }
    insert(&mut root, "/$defs/EventTable/properties/direction", json!({ "enum": ["rising", "falling", "both"] }));
    insert(&mut root, "/$defs/EventTable/properties/action", json!({ "enum": ["record", "stop"] }));
    insert(&mut root, "/properties/version", json!({ "const": super::VERSION }));
    insert(&mut root, "", json!({ "title": "carom model file" }));
    root
}

/// The JSON Schema of a study file.
pub fn study_schema(kinds: &[StudyKind]) -> Value {
    let mut definitions = Map::new();
    let schemes: Vec<_> = SCHEMES.iter().map(|row| (row.info.name, row.info.title, (row.schema)())).collect();
    let solvers: Vec<_> = SOLVERS.iter().map(|row| (row.info.name, row.info.title, (row.schema)())).collect();
    let amount = json!({ "type": ["number", "string"] });
    let mut properties = json!({
        "version": { "const": super::VERSION },
        "model": { "type": "string", "description": "A model file, or the name of a built-in example." },
        "description": { "type": "string" },
        "set": { "type": "object", "additionalProperties": amount, "description": "Parameters of the model." },
        "scheme": method("scheme", schemes, &mut definitions),
        "solver": method("solver", solvers, &mut definitions),
        "step": { "type": ["number", "string"], "description": "Step size [s]." },
        "end": { "type": "number", "description": "End of the time span [s]." },
    });
    let range = json!({
        "type": "object",
        "properties": { "first": amount, "last": amount, "count": { "type": "integer", "minimum": 1 } },
        "required": ["first", "last"],
        "additionalProperties": false,
    });
    let values = json!({ "anyOf": [{ "type": ["number", "string"] }, { "type": "array" }, range] });
    for kind in kinds {
        let mut table = kind.schema.clone();
        settle(&mut table, kind.name, &mut definitions);
        remove_null(&mut table);
        for property in table["properties"].as_object_mut().into_iter().flat_map(|all| all.values_mut()) {
            if is_named(property) {
                let about = property["description"].clone();
                let names = json!({ "type": "object", "additionalProperties": values });
                *property = json!({ "description": about, "anyOf": [{ "type": ["string", "array"] }, names] });
            }
        }
        properties[kind.name] = table;
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "carom study file",
        "type": "object",
        "properties": properties,
        "required": ["version", "model"],
        "additionalProperties": false,
        "$defs": definitions,
    })
}

/// Replaces the entries of an object, and keeps its description.
fn insert(root: &mut Value, pointer: &str, entries: Value) {
    let (Some(object), Value::Object(entries)) = (root.pointer_mut(pointer).and_then(Value::as_object_mut), entries)
    else {
        return;
    };
    if entries.contains_key("const") || entries.contains_key("anyOf") {
        object.retain(|key, _| key == "description");
    }
    object.extend(entries);
}

/// A name, or one of the tables of the registry; the tables go to the definitions.
fn method(what: &str, rows: Vec<(&'static str, &'static str, Value)>, definitions: &mut Map<String, Value>) -> Value {
    let names: Vec<&str> = rows.iter().map(|(name, ..)| *name).collect();
    let mut choices = vec![json!({ "type": "string", "enum": names })];
    for (name, title, mut table) in rows {
        let prefix = format!("{what}.{name}");
        settle(&mut table, &prefix, definitions);
        remove_null(&mut table);
        if let Some(object) = table.as_object_mut() {
            object.insert("title".into(), json!(title));
            object.insert("required".into(), json!(["name"]));
            let properties = object.entry("properties").or_insert_with(|| json!({}));
            if let Some(properties) = properties.as_object_mut() {
                properties.insert("name".into(), json!({ "const": name }));
            }
        }
        choices.push(json!({ "$ref": format!("#/$defs/{prefix}") }));
        definitions.insert(prefix, table);
    }
    json!({ "anyOf": choices })
}

/// A tolerance, or the table of options.
fn adaptive(definitions: &mut Map<String, Value>) -> Value {
    let mut table = Adaptive::schema();
    settle(&mut table, "adaptive", definitions);
    remove_null(&mut table);
    definitions.insert("adaptive".into(), table);
    json!({ "anyOf": [{ "type": "number", "exclusiveMinimum": 0 }, { "$ref": "#/$defs/adaptive" }] })
}

/// Moves the definitions of one table to those of the whole, under new names.
fn settle(table: &mut Value, prefix: &str, definitions: &mut Map<String, Value>) {
    rename_references(table, prefix);
    let Some(object) = table.as_object_mut() else { return };
    object.remove("$schema");
    if let Some(Value::Object(inner)) = object.remove("$defs") {
        for (key, definition) in inner {
            definitions.insert(format!("{prefix}.{key}"), definition);
        }
    }
}

/// Points references to the definitions of one table to their new names.
fn rename_references(value: &mut Value, prefix: &str) {
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                if key == "$ref" {
                    if let Some(name) = value.as_str().and_then(|text| text.strip_prefix("#/$defs/")) {
                        *value = json!(format!("#/$defs/{prefix}.{name}"));
                    }
                } else {
                    rename_references(value, prefix);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_references(item, prefix)),
        _ => {}
    }
}

/// TOML has no null: a field that may be missing is simply not required.
fn remove_null(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [single] = &types[..] {
                    let single = single.clone();
                    object.insert("type".into(), single);
                }
            }
            if let Some(Value::Array(choices)) = object.get_mut("anyOf") {
                choices.retain(|choice| choice.get("type") != Some(&json!("null")));
                if choices.len() == 1
                    && let Some(Value::Object(single)) = choices.pop()
                {
                    object.remove("anyOf");
                    object.extend(single);
                }
            }
            object.values_mut().for_each(remove_null);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_null),
        _ => {}
    }
}
