//! The numbers of a convergence study, for the terminal and as CSV.

use super::Studies;
use crate::console::say;
use crate::failure::Failure;
use crate::list::plain_table;
use carom_analysis::convergence::{Level, NORMS};
use std::fmt::Write;

pub fn print(studies: &Studies<'_>) -> Result<(), Failure> {
    say(format_args!("{}: errors against {}", studies.scene.name, studies.reference))?;
    for study in &studies.studies {
        say(format_args!("\n{}", study.scheme))?;
        let mut table = plain_table();
        let sides = studies.sides();
        let norms = sides.iter().flat_map(|(_, name, _)| NORMS.map(|norm| format!("{name} {norm}")));
        let level = if study.is_adaptive() { "tolerance" } else { "h [s]" };
        let header =
            [level.into(), "solves".into(), "evaluations".into()].into_iter().chain(norms).chain(["time [s]".into()]);
        table.set_header(header);
        for level in &study.levels {
            let errors = sides.iter().flat_map(|(of, ..)| NORMS.map(|n| error(level, *of, n)));
            let numbers = errors.map(|x| format!("{x:.2e}"));
            let size = format!("{:.3e}", level.tolerance.unwrap_or(level.step));
            let first = [size, format!("{:.0}", level.solves), format!("{:.0}", level.evaluations)];
            table.add_row(first.into_iter().chain(numbers).chain([format!("{:.1e}", level.seconds)]));
        }
        let orders = sides.iter().flat_map(|(of, ..)| NORMS.map(|norm| order(study, *of, norm)));
        table.add_row(
            ["order".to_owned(), String::new(), String::new()].into_iter().chain(orders).chain([String::new()]),
        );
        say(table)?;
    }
    Ok(())
}

/// An error of positions or states (`'q'`), or of velocities.
pub fn error(level: &Level, of: char, norm: &str) -> f64 {
    if of == 'q' { level.q } else { level.v }.get(norm)
}

/// A fitted order as text.
pub fn order(study: &carom_analysis::convergence::Study, of: char, norm: &str) -> String {
    match study.order(of, norm) {
        Ok(slope) => match slope.standard_error {
            Some(error) => format!("{:.2} ± {error:.2}", slope.slope),
            None => format!("{:.2}", slope.slope),
        },
        Err(_) => "-".into(),
    }
}

/// One line per scheme and level. Errors that are not known are left empty.
pub fn csv(studies: &Studies<'_>) -> String {
    let mut text = String::from("scheme,h,tolerance,grids,solves,iterations,evaluations,seconds,failed");
    for (_, name, _) in studies.sides() {
        for norm in NORMS {
            let _ = write!(text, ",{name}_{norm}");
        }
    }
    text.push('\n');
    for study in &studies.studies {
        for level in &study.levels {
            let failed = level.failed.as_ref().map_or(0, |f| f.0);
            let name = study.scheme.replace('"', "\"\"");
            let number = |x: f64| if x.is_finite() { format!("{x:?}") } else { String::new() };
            let (step, tolerance) = (number(level.step), level.tolerance.map(number).unwrap_or_default());
            let _ = write!(text, "\"{name}\",{step},{tolerance},{}", level.grids.len());
            let _ = write!(text, ",{:?},{:?},{:?}", level.solves, level.iterations, level.evaluations);
            let _ = write!(text, ",{:?},{failed}", level.seconds);
            for x in studies.sides().iter().flat_map(|(of, ..)| NORMS.map(|n| error(level, *of, n))) {
                let _ = if x.is_finite() { write!(text, ",{x:?}") } else { write!(text, ",") };
            }
            text.push('\n');
        }
    }
    text
}
