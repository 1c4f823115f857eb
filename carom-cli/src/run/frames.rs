//! Frames of the planar animation.

use super::film::Film;
use carom::scheme::{Family, Stepper};
use carom::simulation::{Observer, StepView};
use carom::{ModelError, State};
use carom_analysis::report::{Animation, Colour, Geometry, Place, Shape};
use carom_scene::Scene;
use carom_scene::scene::{ContactPlace, Drawing, Evaluator, ShapeKind, multipliers};
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;

/// Most regular frames.
const MOST: usize = 1200;
/// Numbers that a report may hold for its animation.
const BUDGET: usize = 2_000_000;

pub struct Frames {
    drawing: Drawing,
    evaluator: Evaluator,
    /// A state inside a step.
    state: State,
    /// Numbers of all shapes.
    film: Film<Vec<f64>>,
    /// Multipliers of a first-order model, in the place of velocities.
    rows: usize,
    lambda: Vec<f64>,
}

impl Frames {
    pub fn new(drawing: &Drawing, scene: &Scene) -> Frames {
        Frames {
            evaluator: drawing.evaluator(),
            drawing: drawing.clone(),
            state: State::default(),
            film: Film::new(MOST, BUDGET, scene.span.end - scene.span.start),
            rows: if scene.family == Family::FirstOrder { scene.laws.len() } else { 0 },
            lambda: Vec::new(),
        }
    }

    /// Frames inside a step that is longer than the distance of frames.
    fn inside(&mut self, view: &mut StepView<'_>) {
        if self.rows > 0 {
            return;
        }
        for part in self.film.inside(view) {
            view.stepper.interpolate(part, &mut self.state);
            let State { t, q, v } = &self.state;
            let numbers = self.evaluator.eval(*t, q, v).to_vec();
            let size = numbers.len();
            self.film.push(*t, numbers, size, false);
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
        let frames = self.film.frames();
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
            let numbers = |frame: &(f64, Vec<f64>)| frame.1[shape.numbers.clone()].to_vec();
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
    fn place(&self, place: &ContactPlace, frames: &[(f64, Vec<f64>)]) -> Place {
        let numbers = |frame: &(f64, Vec<f64>)| {
            let normal =
                place.normal.clone().map_or([0.0, 0.0], |range| [frame.1[range.start], frame.1[range.start + 1]]);
            [frame.1[place.at.start], frame.1[place.at.start + 1], normal[0], normal[1]]
        };
        Place { contact: place.law, frames: frames.iter().flat_map(numbers).collect() }
    }
}

impl Observer for Frames {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        self.film.persist(archive)
    }

    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let numbers = self.numbers(stepper);
        let size = numbers.len();
        self.film.push(stepper.from().t, numbers, size, false);
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.inside(view);
        if let Some(impact) = self.film.wants(view) {
            let (t, numbers) = (view.to().t, self.numbers(view.stepper));
            let size = numbers.len();
            self.film.end(t, numbers, size, impact);
        }
        Ok(ControlFlow::Continue(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom_analysis::report::Coordinates;
    use carom_scene::Overrides;

    /// Two or three steps are a flight; between frames the page draws straight lines.
    #[test]
    fn a_flight_in_one_step_is_drawn_as_a_parabola() {
        let scene = carom_scene::examples::load("bouncing-ball-events", &Overrides::default()).unwrap().unwrap();
        let mut frames = Frames::new(scene.drawing.as_ref().unwrap(), &scene);
        scene.simulation().unwrap().run(&mut [&mut frames]).unwrap();
        let animation = frames.animation("ball");
        let circle = animation.shapes.iter().find(|shape| shape.geometry == Geometry::Circle).unwrap();
        let Coordinates::Moving(numbers) = &circle.coordinates else { panic!("the ball moves") };
        // the centre is 0.06 above y = 1 - t², before the first impact at t = 1
        let flight: Vec<(f64, f64)> =
            animation.times.iter().copied().zip(numbers.chunks(3).map(|c| c[1] - 0.06)).collect();
        let first: Vec<&(f64, f64)> = flight.iter().filter(|(t, _)| *t < 0.99).collect();
        assert!(first.len() > 50, "{} frames", first.len());
        for pair in first.windows(2) {
            let (a, b) = (pair[0], pair[1]);
            let (t, chord) = ((a.0 + b.0) / 2.0, (a.1 + b.1) / 2.0);
            assert!((chord - (1.0 - t * t)).abs() < 1e-3, "t = {t}: {chord}");
        }
    }
}
