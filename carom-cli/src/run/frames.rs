//! Frames of the animation, thinned out while the run goes on; frames at impacts stay.

use carom::ModelError;
use carom::scheme::{Family, Stepper};
use carom::simulation::{Observer, StepView};
use carom_analysis::report::{Animation, Colour, Geometry, Place, Shape};
use carom_scene::Scene;
use carom_scene::scene::{ContactPlace, Drawing, Evaluator, ShapeKind, multipliers};
use std::ops::ControlFlow;

/// Most regular frames, and most frames that are kept for their impacts.
const MOST: usize = 1200;
const MOST_IMPACTS: usize = 400;
/// Numbers that a report may hold for its animation.
const BUDGET: usize = 2_000_000;

pub struct Frames {
    drawing: Drawing,
    evaluator: Evaluator,
    most: usize,
    stride: u64,
    /// Time, numbers of all shapes, kept for an impact.
    frames: Vec<(f64, Vec<f64>, bool)>,
    impacts: usize,
    /// Multipliers of a first-order model, in the place of velocities.
    rows: usize,
    lambda: Vec<f64>,
    last: Option<(f64, Vec<f64>)>,
}

impl Frames {
    pub fn new(drawing: &Drawing, scene: &Scene) -> Frames {
        let numbers = drawing.shapes.iter().map(|shape| shape.numbers.len()).sum::<usize>().max(1);
        Frames {
            evaluator: drawing.evaluator(),
            drawing: drawing.clone(),
            most: MOST.min(BUDGET / numbers).max(2),
            stride: 1,
            frames: Vec::new(),
            impacts: 0,
            rows: if scene.family == Family::FirstOrder { scene.laws.len() } else { 0 },
            lambda: Vec::new(),
            last: None,
        }
    }

    fn push(&mut self, t: f64, numbers: Vec<f64>, impact: bool) {
        self.frames.push((t, numbers, impact));
        if self.frames.len() - self.impacts > self.most {
            // every other regular frame goes
            let mut keep = false;
            self.frames.retain(|(_, _, impact)| {
                keep = *impact || !keep;
                keep
            });
            self.stride *= 2;
        }
    }

    /// The numbers of all shapes at the end of the last step.
    fn numbers(&mut self, stepper: &dyn Stepper) -> Vec<f64> {
        let state = stepper.to();
        if self.rows == 0 {
            return self.evaluator.eval(state.t, &state.q, &state.v).to_vec();
        }
        multipliers(stepper, self.rows, &mut self.lambda);
        self.evaluator.eval(state.t, &state.q, &self.lambda).to_vec()
    }

    /// The animation, ready for the report.
    pub fn animation(&self, title: &str) -> Animation {
        let mut frames = self.frames.clone();
        if let Some((t, numbers)) = &self.last
            && frames.last().is_none_or(|frame| frame.0 < *t)
        {
            frames.push((*t, numbers.clone(), false));
        }
        let mut animation = Animation::new(title, frames.iter().map(|frame| frame.0).collect());
        for (k, shape) in self.drawing.shapes.iter().enumerate() {
            let geometry = match shape.kind {
                ShapeKind::Point => Geometry::Point,
                ShapeKind::Segment => Geometry::Segment,
                ShapeKind::Circle => Geometry::Circle,
                ShapeKind::Polygon => Geometry::Polygon,
                ShapeKind::Polyline => Geometry::Polyline,
            };
            let name = shape.name.clone().unwrap_or_default();
            let numbers = |frame: &(f64, Vec<f64>, bool)| frame.1[shape.numbers.clone()].to_vec();
            let mut drawn = match frames.first().filter(|_| !shape.moves) {
                Some(first) => Shape::fixed(name, geometry, numbers(first)),
                None => Shape::moving(name, geometry, frames.iter().flat_map(numbers).collect()),
            };
            drawn.stroke.colour = match &shape.color {
                Some(color) => Colour::Css(color.clone()),
                None if shape.fill.is_some() => Colour::Ink,
                None if shape.moves => Colour::Palette(k),
                None => Colour::Ink,
            };
            if let Some(width) = shape.width {
                drawn.stroke.width = width;
            }
            drawn.fill = shape.fill.clone().map(Colour::Css);
            drawn.trace = shape.trace;
            animation = animation.with(drawn);
        }
        animation.places = self.drawing.places.iter().map(|place| self.place(place, &frames)).collect();
        animation
    }

    /// Where a contact acts and how it pushes; a direction of zero length where the file does not tell.
    fn place(&self, place: &ContactPlace, frames: &[(f64, Vec<f64>, bool)]) -> Place {
        let numbers = |frame: &(f64, Vec<f64>, bool)| {
            let normal =
                place.normal.clone().map_or([0.0, 0.0], |range| [frame.1[range.start], frame.1[range.start + 1]]);
            [frame.1[place.at.start], frame.1[place.at.start + 1], normal[0], normal[1]]
        };
        Place { contact: place.law, frames: frames.iter().flat_map(numbers).collect() }
    }
}

impl Observer for Frames {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let numbers = self.numbers(stepper);
        self.push(stepper.from().t, numbers, false);
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let closed = view.acting().iter().any(|acting| acting.is_new);
        let impact = closed && self.impacts < MOST_IMPACTS;
        let end = view.end - view.to().t < 0.5 * view.step.advanced;
        if impact || end || view.index.is_multiple_of(self.stride) {
            let (t, numbers) = (view.to().t, self.numbers(view.stepper));
            self.last = Some((t, numbers.clone()));
            self.impacts += usize::from(impact);
            self.push(t, numbers, impact);
        }
        Ok(ControlFlow::Continue(()))
    }
}
