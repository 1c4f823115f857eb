//! Figures and tables of the literature by command: each one is run anew, drawn as the paper draws it, and judged
//! against numbers that were verified independently.
//!
//! ```text
//! PAPERS ──▶ Paper ──▶ Item ── run ──▶ Figure { blocks for the report, data, checks } ──▶ Verdict
//! ```
//!
//! To add a figure: write a function `fn figure_n(effort: Effort) -> Result<Figure, Trouble>` in the file of its system
//! and a row in the list of its paper. To add a paper: a module with a `PAPER`, and a row in [`PAPERS`].

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod figure;
mod film;
mod hem5;
mod homsp;
mod nqi;
mod order;
mod picture;
mod rr7151;
mod rr8029;
mod trace;

pub use figure::{Check, Data, Figure, Outcome, Verdict};
pub use picture::drawing;

use carom_analysis::study::runner::fenced;
use std::fmt;

/// Every paper.
pub static PAPERS: &[Paper] = &[hem5::PAPER, homsp::PAPER, nqi::PAPER, rr7151::PAPER, rr8029::PAPER];

/// A paper with those of its figures and tables that can be computed.
pub struct Paper {
    /// Name on the command line.
    pub key: &'static str,
    /// What the paper is about, as a title.
    pub title: &'static str,
    /// Authors, title and year, where the copy at hand tells them.
    pub reference: &'static str,
    /// Key of the bibliography.
    pub citation: &'static str,
    /// How many numbered figures and tables it has.
    pub numbered: (u32, u32),
    /// Its figures and tables, in the order in which they are listed and run.
    pub items: &'static [Item],
    /// Figures and tables that are no items, and why.
    pub absent: &'static [(&'static str, &'static str)],
}

/// A figure or a table.
pub struct Item {
    /// Name on the command line: `figure-2`.
    pub key: &'static str,
    /// What it shows, in a few words.
    pub title: &'static str,
    /// What the paper says of it, and where.
    pub claim: &'static str,
    /// Computes it anew.
    pub run: fn(Effort) -> Result<Figure, Trouble>,
}

/// How much is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// Fewer and coarser runs; checks that need the fine ones are left out.
    Quick,
    /// All runs and checks.
    Full,
}

/// Why an item could not be computed.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble(pub String);

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Trouble {}

/// Runs one item; a panic is a failure like others.
pub fn reproduce(item: &Item, effort: Effort) -> Outcome {
    let failed = |reason| Outcome { verdict: Verdict::Failed(reason), figure: Figure::default() };
    match fenced(|| (item.run)(effort)) {
        Ok(Ok(figure)) => Outcome { verdict: figure.verdict(), figure },
        Ok(Err(trouble)) => failed(trouble.0),
        Err(panic) => failed(format!("a bug in carom: {panic}")),
    }
}
