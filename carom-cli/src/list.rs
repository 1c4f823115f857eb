//! `carom list`.

use crate::arguments::Listing;
use crate::console::print_text;
use crate::failure::Failure;
use crate::table::Table;
use carom::scheme::Family;
use carom_scene::Overrides;
use carom_scene::examples::EXAMPLES;

pub fn list(what: Listing) -> Result<(), Failure> {
    let table = match what {
        Listing::Schemes => {
            let mut table = Table::new(["scheme", "models", "title", "order q, v (smooth)", "law at"]);
            for row in carom::SCHEMES {
                let info = row.info;
                let (models, order) = match row.family {
                    Family::Mechanical => (
                        "mechanical",
                        format!("{}, {} ({})", info.order.position, info.order.velocity, info.order.smooth),
                    ),
                    Family::FirstOrder => ("first-order", format!("{} ({})", info.order.position, info.order.smooth)),
                };
                table.row([info.name, models, info.title, &order, info.level]);
            }
            table
        }
        Listing::Solvers => {
            let mut table = Table::new(["solver", "title", "laws"]);
            for info in carom_solve::SOLVERS.iter().map(|row| row.info) {
                table.row([info.name, info.title, info.laws]);
            }
            table
        }
        Listing::Studies => {
            let mut table = Table::new(["study", "title"]);
            for info in carom_analysis::study::STUDIES.iter().map(|row| row.info) {
                table.row([info.name, info.title]);
            }
            table
        }
        Listing::Examples => {
            let mut table = Table::new(["example", "what it is"]);
            for (name, text) in EXAMPLES {
                let scene = carom_scene::from_str(name, text, &Overrides::default()).map_err(Failure::Model)?;
                table.row([*name, scene.description.as_deref().unwrap_or(&scene.name)]);
            }
            table
        }
        Listing::Models => {
            let mut table = Table::new(["kind", "what it is"]);
            for row in carom_scene::KINDS {
                table.row([row.name, row.about]);
            }
            table
        }
    };
    table.print()?;
    match what {
        Listing::Schemes | Listing::Solvers | Listing::Studies => {
            print_text("\n`carom show NAME` has equations, options with defaults, claims and citations")
        }
        Listing::Examples | Listing::Models => Ok(()),
    }
}
