//! Reports: plain data in, one self-contained HTML file out that opens offline.
//!
//! A [`Report`] is a list of sections, a section a list of [`Block`]s; the report of a run has a [`RunPage`] besides.
//! Nothing here knows of models or schemes: runs, convergence studies, performance profiles, bifurcation diagrams and
//! galleries all fill the same few blocks.
//!
//! - All text is escaped where it enters the page (`encode.rs`): names from model files cannot become markup or script.
//! - The page asks nothing of the network, and its content security policy forbids it to, as well as `eval`.
//! - The same report gives the same bytes: no clock, no random identifiers, no hash order.
//! - Numbers are stored once each, packed (`store.rs` states how exactly). All rows are there; only where the file
//!   would exceed [`Report::limit`] are rows left out (`thin.rs`), and then the charts say so.
//! - The scripts are in `script/`, one thing per file; `script.rs` joins them.
//!
//! State of the page for tests, as attributes of `<html>`: `data-ready="true"` once everything is drawn, `data-errors`
//! the number of script errors; of each chart and drawing `data-drawn="true"`. `window.report` moves time and zoom.

mod animation;
mod chart;
mod encode;
mod image;
mod page;
mod run;
mod script;
mod space;
mod store;
mod svg;
mod table;
mod thin;

use std::io;

use thiserror::Error;

pub use animation::{Animation, Bounds, Colour, Coordinates, Geometry, Place, Shape, Stroke};
pub use chart::{Chart, Dash, Series, SeriesStyle, TIME_GROUP};
pub use image::Image;
pub use run::{Figure, Lane, Outline, Parameter, Portrait, RunPage, Tab, Tone};
pub use space::{Hinge, Mesh, POSE, Part, Push, Reactions, Solid, Space, SpaceBody, Spot, turn_to};
pub use store::Values;
pub use table::{Cell, Table, grouped, number, si};
pub use thin::{Thinned, Thinner};

/// Most bytes of a report, unless one says otherwise.
pub const LIMIT: usize = 8_000_000;

/// A report: one HTML file.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Heading of the page, and title of its window.
    pub title: String,
    /// One line below the title; may be empty.
    pub subtitle: String,
    /// The page of a run, above the sections.
    pub run: Option<RunPage>,
    /// Parts of the page, from the top.
    pub sections: Vec<Section>,
    /// Most bytes of the file: above it, rows of charts are thinned.
    pub limit: usize,
}

/// A titled part of a report, with an entry in the table of contents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Section {
    /// Heading, and its text in the table of contents.
    pub title: String,
    /// Content, from the top.
    pub blocks: Vec<Block>,
    /// Whether charts and animations stand side by side.
    pub layout: Layout,
}

/// How charts and animations of a section are laid out; other blocks always take the full width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Layout {
    /// One below the other.
    #[default]
    Column,
    /// Side by side where the window is wide enough: figure galleries.
    Gallery,
}

/// One piece of content.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// Running text; empty lines separate paragraphs.
    Paragraph(String),
    /// Names and values, e.g. the options of a run.
    Facts(Vec<(String, String)>),
    /// Rows of cells that can be sorted.
    Table(Table),
    /// Curves that can be zoomed.
    Chart(Chart),
    /// Coloured cells, one pixel each, between axes.
    Image(Image),
    /// Text shown as it is, e.g. the model file.
    Preformatted {
        /// Heading above the text; may be empty.
        caption: String,
        /// Shown with its spaces and line breaks.
        text: String,
    },
    /// A remark set off from the rest, with a label.
    Callout {
        /// Weight, which decides label and colour.
        kind: Callout,
        /// The remark, without the label.
        text: String,
    },
}

/// The weight of a callout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callout {
    /// Labelled "Note": nothing is wrong.
    Info,
    /// Labelled "Warning": the results are to be read with care.
    Warning,
    /// Labelled "Failure": something could not be computed.
    Failure,
}

/// Data that does not fit together. [`Report::write`] wraps it in an [`io::Error`] of kind `InvalidInput`.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReportError {
    /// A curve with different numbers of abscissae and ordinates.
    #[error("chart `{chart}`, series `{series}`: {x} abscissae but {y} ordinates")]
    SeriesLength {
        /// Title of the chart.
        chart: String,
        /// Name of the curve.
        series: String,
        /// Number of abscissae.
        x: usize,
        /// Number of ordinates.
        y: usize,
    },
    /// A frame whose time is not finite or goes back.
    #[error("animation `{animation}`: time {time} of frame {frame} is not finite or before its predecessor")]
    FrameTime {
        /// Title of the animation.
        animation: String,
        /// Number of the frame, from 0.
        frame: usize,
        /// Its time [s].
        time: f64,
    },
    /// Coordinates that do not make whole frames.
    #[error(
        "animation `{animation}`, shape `{shape}`: {found} coordinates do not fill {frames} frames of a {geometry:?}"
    )]
    ShapeLength {
        /// Title of the animation.
        animation: String,
        /// Name of the shape, or of the contact whose position it is.
        shape: String,
        /// Kind of the shape, which tells the coordinates per frame.
        geometry: Geometry,
        /// Frames to fill; one where the coordinates are fixed.
        frames: usize,
        /// Number of coordinates given.
        found: usize,
    },
    /// Poses for another number of bodies than move.
    #[error("{moving} bodies move, but there are poses of {found}")]
    Poses {
        /// Bodies that move.
        moving: usize,
        /// Bodies that have poses.
        found: usize,
    },
    /// A pose that has no number for each frame.
    #[error("body `{body}`: {found} numbers of a pose for {frames} frames")]
    PoseLength {
        /// Name of the body.
        body: String,
        /// Numbers given.
        found: usize,
        /// Frames to fill.
        frames: usize,
    },
    /// A joint or link at a body that does not exist.
    #[error("body {body} of a joint or link does not exist: there are {bodies}")]
    NoBody {
        /// Number of the body, from 0.
        body: usize,
        /// How many there are.
        bodies: usize,
    },
}

impl Report {
    /// An empty report.
    pub fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), subtitle: String::new(), run: None, sections: Vec::new(), limit: LIMIT }
    }

    /// Appends an empty section and returns it for filling.
    pub fn section(&mut self, title: impl Into<String>) -> &mut Section {
        self.sections.push(Section { title: title.into(), ..Section::default() });
        let last = self.sections.len() - 1;
        &mut self.sections[last]
    }

    /// Checks that lengths and times of charts and animations fit together.
    pub fn check(&self) -> Result<(), ReportError> {
        for block in self.blocks() {
            if let Block::Chart(chart) = block {
                chart.check()?;
            }
        }
        self.run.iter().try_for_each(RunPage::check)
    }

    /// Writes the HTML file. Nothing is written when the data do not fit together ([`ReportError`]).
    pub fn write(&self, mut writer: impl io::Write) -> io::Result<()> {
        let invalid = |error: ReportError| io::Error::new(io::ErrorKind::InvalidInput, error);
        self.check().map_err(invalid)?;
        writer.write_all(page::render(self).as_bytes())?;
        writer.flush()
    }

    fn blocks(&self) -> impl Iterator<Item = &Block> {
        let tabs = self.run.iter().flat_map(|run| &run.tabs).flat_map(|tab| &tab.blocks);
        tabs.chain(self.sections.iter().flat_map(|section| &section.blocks))
    }
}

impl Section {
    /// Appends a block.
    pub fn push(&mut self, block: impl Into<Block>) -> &mut Self {
        self.blocks.push(block.into());
        self
    }

    /// Appends a paragraph; empty lines in `text` separate paragraphs.
    pub fn paragraph(&mut self, text: impl Into<String>) -> &mut Self {
        self.push(Block::Paragraph(text.into()))
    }

    /// Appends names and values.
    pub fn facts<N: Into<String>, V: Into<String>>(&mut self, facts: impl IntoIterator<Item = (N, V)>) -> &mut Self {
        self.push(Block::Facts(facts.into_iter().map(|(name, value)| (name.into(), value.into())).collect()))
    }

    /// Appends text shown as it is.
    pub fn preformatted(&mut self, caption: impl Into<String>, text: impl Into<String>) -> &mut Self {
        self.push(Block::Preformatted { caption: caption.into(), text: text.into() })
    }

    /// Appends a callout.
    pub fn callout(&mut self, kind: Callout, text: impl Into<String>) -> &mut Self {
        self.push(Block::Callout { kind, text: text.into() })
    }

    /// Lays charts and animations out side by side.
    pub fn gallery(&mut self) -> &mut Self {
        self.layout = Layout::Gallery;
        self
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Self::Table(table)
    }
}

impl From<Chart> for Block {
    fn from(chart: Chart) -> Self {
        Self::Chart(chart)
    }
}

impl From<Image> for Block {
    fn from(image: Image) -> Self {
        Self::Image(image)
    }
}
