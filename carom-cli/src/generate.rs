//! `carom generate`: problems of the generated families as files.

use crate::arguments::GenerateArguments;
use crate::console::print_line;
use crate::failure::Failure;
use crate::progress::Bar;
use carom_analysis::folder::{Replace, check_file, write_file};
use carom_scene::nearest::nearest;
use carom_scene::problem_file;
use carom_solve::StoredProblem;
use carom_solve::family::{self, FAMILIES, Family, Recipe};

pub fn generate(arguments: &GenerateArguments) -> Result<(), Failure> {
    let recipe = Recipe { size: arguments.contacts, seed: arguments.seed, mu: arguments.mu, kick: arguments.kick };
    let path = &arguments.output;
    let replace = if arguments.force { Replace::Always } else { Replace::Same };
    check_file(path, replace, &[])?;
    let bar = Bar::new("problems", 1, false);
    bar.note(&arguments.family);
    let problem = make(find(&arguments.family)?, recipe)?;
    drop(bar);
    let file = problem_file::encode(&problem).map_err(|error| Failure::Environment(error.to_string()))?;
    write_file(path, replace, &[], |out| out.write_all(&file.bytes))?;
    let bodies = problem.dofs().map_or(String::new(), |(dofs, _)| format!(", {dofs} degrees of freedom"));
    print_line(format_args!(
        "wrote {}: {} ({}), {} contacts{bodies}",
        path.display(),
        problem.name(),
        file.kind.name(),
        problem.contacts()
    ))
}

/// A family by name.
pub fn find(name: &str) -> Result<&'static Family, Failure> {
    family::find(name).ok_or_else(|| {
        let names = || FAMILIES.iter().map(|family| family.name);
        let hint = match nearest(name, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
        };
        Failure::usage(format!("no family is named `{name}`"), hint)
    })
}

/// A problem of a family; bodies are not kicked unless it is asked for.
pub fn make(family: &Family, recipe: Recipe) -> Result<StoredProblem, Failure> {
    let recipe = Recipe { kick: recipe.kick.or(family.bodies.then_some(0.0)), ..recipe };
    family.generate(&recipe).map_err(|error| Failure::usage(error.to_string(), "see `carom generate --help`"))
}
