//! `carom show`: the page of a scheme, solver or study.

use crate::console::print_text;
use crate::failure::Failure;
use carom_analysis::study;
use carom_scene::suggest;
use carom_solve::{OptionDoc, page};

pub fn show(name: &str) -> Result<(), Failure> {
    if let Some(row) = carom::scheme::find(name) {
        let info = row.info;
        print_text(format_args!("{} — scheme `{}`\n\n{}", info.title, info.name, page(info.source)))?;
        options(&(row.options)())?;
        let order = info.order;
        print_text("Claims (measured by the conformance suite)")?;
        print_text(format_args!(
            "  order {} in positions and {} in velocities (l1, through impacts), {} in smooth motion",
            order.position, order.velocity, order.smooth
        ))?;
        for claim in info.claims {
            print_text(format_args!("  {}", claim.sentence()))?;
        }
        print_text(format_args!("\nCitations: {} (`carom docs references`)", info.citations.join(", ")))?;
    } else if let Some(row) = carom_solve::solver::find(name) {
        let info = row.info;
        print_text(format_args!("{} — solver `{}`\n\n{}", info.title, info.name, page(info.source)))?;
        options(&(row.options)())?;
        print_text(format_args!(
            "Claims (measured by the tests)\n  laws: {}\n  residual {:.0e} on well-conditioned problems",
            info.laws, info.accuracy
        ))?;
        print_text(format_args!("\nCitations: {} (`carom docs references`)", info.citations.join(", ")))?;
    } else if let Some(row) = study::find(name) {
        let info = row.info;
        print_text(format_args!("{} — study `{}`\n\n{}", info.title, info.name, page(info.source)))?;
        options(&(row.options)())?;
        if !info.citations.is_empty() {
            print_text(format_args!("Citations: {} (`carom docs references`)", info.citations.join(", ")))?;
        }
    } else {
        let schemes = || carom::SCHEMES.iter().map(|row| row.info.name);
        let solvers = || carom_solve::SOLVERS.iter().map(|row| row.info.name);
        let names = || schemes().chain(solvers()).chain(study::STUDIES.iter().map(|row| row.info.name));
        let hint = suggest(name, names(), false, || format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        return Err(Failure::usage(format!("no scheme, solver or study is named `{name}`"), hint));
    }
    Ok(())
}

fn options(options: &[OptionDoc]) -> Result<(), Failure> {
    print_text("Options")?;
    for option in options {
        let default = if option.default == "null" { "none" } else { &option.default };
        print_text(format_args!("  {} = {default}\n      {}", option.name, option.meaning))?;
    }
    print_text("")
}
