//! `carom new` and `carom schema`.

use crate::arguments::NewArguments;
use crate::arguments::SchemaOf;
use crate::console::print_line;
use crate::failure::Failure;
use crate::study::file::kinds;
use carom_analysis::folder::{Replace, write_file};
use carom_scene::examples::{EXAMPLES, find};
use carom_scene::{KINDS, STUDY_EXAMPLE, suggest};

/// What `--kind` calls a study file.
const STUDY: &str = "study";

pub fn new(arguments: &NewArguments) -> Result<(), Failure> {
    let stem = arguments.name.strip_suffix(".toml").unwrap_or(&arguments.name);
    let path = std::path::PathBuf::from(format!("{stem}.toml"));
    let name = stem.rsplit(std::path::is_separator).next().unwrap_or(stem);
    if name.is_empty() {
        return Err(Failure::usage("the model needs a name", "for example: carom new ball"));
    }
    let text = match &arguments.from {
        None if arguments.kind.as_deref() == Some(STUDY) => STUDY_EXAMPLE.to_owned(),
        None => {
            let names = || KINDS.iter().map(|row| row.name).chain([STUDY]);
            let kind = arguments.kind.as_deref().unwrap_or(KINDS[0].name);
            let row = KINDS.iter().find(|row| row.name == kind).ok_or_else(|| {
                let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
                Failure::usage(format!("no kind of model is named `{kind}`"), suggest(kind, names(), false, all))
            })?;
            row.example(name)
        }
        Some(name) => find(name).map(str::to_owned).ok_or_else(|| {
            let names = || EXAMPLES.iter().map(|(name, _)| *name);
            let all = || format!("there are {}", names().collect::<Vec<_>>().join(", "));
            Failure::usage(format!("no example is named `{name}`"), suggest(name, names(), false, all))
        })?,
    };
    let replace = if arguments.force { Replace::Always } else { Replace::Never };
    write_file(&path, replace, &[], |out| out.write_all(text.as_bytes()))?;
    let command = if arguments.kind.as_deref() == Some(STUDY) { "sweep" } else { "run" };
    print_line(format_args!("wrote {}\nnext: carom {command} {}", path.display(), path.display()))
}

pub fn schema(what: SchemaOf) -> Result<(), Failure> {
    let schema = match what {
        SchemaOf::Model => carom_scene::schema(),
        SchemaOf::Study => carom_scene::study_schema(&kinds()),
    };
    let text = serde_json::to_string_pretty(&schema).map_err(|e| Failure::Environment(e.to_string()))?;
    print_line(text)
}
