//! The page of a run: headline, time bar, motion and charts side by side, lists, portraits, parameters.

use serde::Serialize;

use super::animation::AnimationData;
use super::chart::SeriesData;
use super::space::SpaceData;
use super::store::{Store, Values};
use super::{Animation, Block, Callout, Chart, ReportError, Series, SeriesStyle, Space};

/// What a run is shown as. All curves are over the same times.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunPage {
    /// How the run ended, e.g. `finished`.
    pub state: String,
    /// Weight of that word.
    pub tone: Tone,
    /// Lines below the name: what the model is, how it was run.
    pub lines: Vec<String>,
    /// What must not be overlooked: failures and warnings.
    pub notices: Vec<(Callout, String)>,
    /// What matters, from the left.
    pub headline: Vec<Figure>,
    /// Every column over time; charts by choice and portraits pick from them.
    pub signals: Vec<Series>,
    /// Charts over time, from the top.
    pub charts: Vec<Chart>,
    /// Contacts, or rows of a first-order model.
    pub lanes: Vec<Lane>,
    /// Times of impacts and events, for the arrow keys [s].
    pub marks: Vec<f64>,
    /// The motion, where the model has a drawing.
    pub motion: Option<Animation>,
    /// The motion of a spatial model.
    pub space: Option<Space>,
    /// Signals over one another.
    pub portraits: Vec<Portrait>,
    /// Lists and details.
    pub tabs: Vec<Tab>,
    /// Parameters of the model.
    pub parameters: Vec<Parameter>,
    /// A line at the end: files, fingerprint.
    pub footer: String,
}

/// A signal over another one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Portrait {
    /// The signal of the abscissa.
    pub x: usize,
    /// The signal of the ordinate.
    pub y: usize,
    /// What binds the two, drawn where they are in parts of it; both axes have one scale then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bound: Option<Outline>,
}

/// What binds two signals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outline {
    /// The circle of radius 1 about 0.
    Circle,
    /// The square from −1 to 1.
    Square,
}

/// A number of the headline.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// What it is.
    pub name: String,
    /// The number, rounded for people.
    pub value: String,
    /// Its unit; may be empty.
    pub unit: String,
    /// A word about it; may be empty.
    pub note: String,
    /// The whole number, shown on hover; may be empty.
    pub full: String,
    /// Whether it is good or bad news.
    pub tone: Tone,
}

/// Good or bad news.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Neither.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// To be read with care.
    Warning,
    /// Something failed.
    Bad,
}

impl Tone {
    /// Its class in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Good => "ok",
            Self::Warning => "warn",
            Self::Bad => "bad",
        }
    }
}

/// When a contact acts: a lane of the time bar. It keeps its colour in charts, lists and arrows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lane {
    /// Name of the contact.
    pub name: String,
    /// Times of its impacts [s].
    pub times: Values,
    /// Their impulses, as many as times.
    pub impulses: Values,
    /// The signal that is positive while the contact is kept.
    pub acts: Option<usize>,
    /// The signal of its gap.
    pub gap: Option<usize>,
}

/// A pane with a tab.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tab {
    /// Word on the tab.
    pub title: String,
    /// Number beside it, e.g. of impacts.
    pub count: Option<u64>,
    /// Content, from the top.
    pub blocks: Vec<Block>,
}

/// A parameter of the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit; may be empty.
    pub unit: String,
}

impl Parameter {
    /// A parameter without unit.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, unit: String::new() }
    }
}

impl RunPage {
    pub(super) fn check(&self) -> Result<(), ReportError> {
        let curve = |lane: &Lane| {
            let (times, impulses) = (lane.times.clone(), lane.impulses.clone());
            Series::shared(&lane.name, SeriesStyle::Stems, times, impulses)
        };
        let lanes = self.lanes.iter().map(curve);
        let all = Chart { series: self.signals.iter().cloned().chain(lanes).collect(), ..Chart::default() };
        all.check()?;
        self.charts.iter().try_for_each(Chart::check)?;
        self.motion.iter().try_for_each(Animation::check)?;
        self.space.iter().try_for_each(Space::check)
    }

    /// What the page draws; charts come with those of the blocks.
    pub(super) fn data<'a>(&'a self, store: &mut Store) -> RunData<'a> {
        let signals = self.signals.iter().map(|signal| signal.data(store, (false, false), "")).collect();
        let lanes = self.lanes.iter().map(|lane| {
            let (t, p) = store.curve(&lane.times, &lane.impulses, (false, true));
            LaneData { name: &lane.name, t, p, acts: lane.acts, gap: lane.gap }
        });
        let lanes = lanes.collect();
        let marks = store.column(&self.marks.as_slice().into());
        let motion = self.motion.as_ref().map(|motion| motion.data(store));
        let space = self.space.as_ref().map(|space| space.data(store));
        RunData { signals, lanes, marks, motion, space, portraits: &self.portraits }
    }
}

/// The form of a run in the page.
#[derive(Serialize)]
pub(super) struct RunData<'a> {
    signals: Vec<SeriesData<'a>>,
    lanes: Vec<LaneData<'a>>,
    marks: usize,
    motion: Option<AnimationData<'a>>,
    space: Option<SpaceData<'a>>,
    portraits: &'a [Portrait],
}

#[derive(Serialize)]
struct LaneData<'a> {
    name: &'a str,
    t: usize,
    p: usize,
    acts: Option<usize>,
    gap: Option<usize>,
}
