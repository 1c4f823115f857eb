//! `carom list`.

use crate::arguments::Listing;
use crate::console::print_line;
use crate::failure::Failure;
use carom::scheme::Family;
use carom_scene::Overrides;
use carom_scene::examples::EXAMPLES;
use comfy_table::{ContentArrangement, Table, presets};

pub fn list(what: Listing) -> Result<(), Failure> {
    let mut table = plain_table();
    match what {
        Listing::Schemes => {
            table.set_header(["scheme", "models", "title", "order q, v (smooth)", "law at", "citations"]);
            for row in carom::SCHEMES {
                let info = row.info;
                let (models, order) = match row.family {
                    Family::Mechanical => (
                        "mechanical",
                        format!("{}, {} ({})", info.order.position, info.order.velocity, info.order.smooth),
                    ),
                    Family::FirstOrder => ("first-order", format!("{} ({})", info.order.position, info.order.smooth)),
                };
                table.add_row([info.name, models, info.title, &order, info.level, &info.citations.join(", ")]);
            }
        }
        Listing::Solvers => {
            table.set_header(["solver", "title", "laws", "citations"]);
            for info in carom_solve::SOLVERS.iter().map(|row| row.info) {
                table.add_row([info.name, info.title, info.laws, &info.citations.join(", ")]);
            }
        }
        Listing::Studies => {
            table.set_header(["study", "title", "citations"]);
            for info in carom_analysis::study::STUDIES.iter().map(|row| row.info) {
                table.add_row([info.name, info.title, &info.citations.join(", ")]);
            }
        }
        Listing::Examples => {
            table.set_header(["example", "what it is"]);
            for (name, text) in EXAMPLES {
                let scene = carom_scene::from_str(name, text, &Overrides::default()).map_err(Failure::Model)?;
                table.add_row([*name, scene.description.as_deref().unwrap_or(&scene.name)]);
            }
        }
        Listing::Models => {
            table.set_header(["kind", "what it is"]);
            for row in carom_scene::KINDS {
                table.add_row([row.name, row.about]);
            }
        }
    }
    print_line(table)
}

/// A table without borders that fits the terminal.
pub fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    table
}
