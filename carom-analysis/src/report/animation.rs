//! Animations of planar models: shapes with coordinates per frame, drawn on a canvas and interpolated linearly in time.
//!
//! Coordinates are flat numbers: a point `x, y`; a segment `x, y, x, y`; a circle `x, y, r`; polygons and polylines `x,
//! y, x, y, …`. A frame with a non-finite coordinate hides the shape.

use serde::{Serialize, Serializer};

use super::ReportError;
use super::encode::{gaps, single_gaps};

/// A planar motion.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Animation {
    /// Caption above the drawing.
    #[serde(skip)]
    pub title: String,
    /// Times of the frames, not decreasing [s]. With a frame at each impact its position is shown exactly.
    #[serde(serialize_with = "gaps")]
    pub times: Vec<f64>,
    /// Drawn in this order: the first is behind.
    pub shapes: Vec<Shape>,
    /// The part of the plane shown; by default all there is in any frame, with a margin.
    #[serde(skip)]
    pub bounds: Option<Bounds>,
    /// Contacts that light up while an impulse acts.
    pub contacts: Vec<Contact>,
}

/// A rectangle of the plane [m].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Bounds {
    /// Left and right end [m].
    pub x: [f64; 2],
    /// Lower and upper end [m].
    pub y: [f64; 2],
}

/// Something to draw.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shape {
    /// Shown in the legend unless empty.
    pub name: String,
    /// What its coordinates mean.
    pub geometry: Geometry,
    /// Where it is [m].
    pub coordinates: Coordinates,
    /// Outline; of a point, colour and size.
    pub stroke: Stroke,
    /// Colour of the inside, a light tone of it unless given in CSS; nothing is filled where there is none.
    pub fill: Option<Colour>,
    /// Draws the path of the first point (of a circle: the centre) up to the current time.
    pub trace: bool,
}

/// The kind of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Geometry {
    /// A dot: `x, y`.
    Point,
    /// A straight line between two points: `x, y, x, y`.
    Segment,
    /// Centre and radius: `x, y, r`.
    Circle,
    /// A closed line through corners: `x, y, x, y, …`.
    Polygon,
    /// An open line through corners: `x, y, x, y, …`.
    Polyline,
}

/// Coordinates of a shape [m].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Coordinates {
    /// The same in all frames: walls, ground.
    Fixed(#[serde(serialize_with = "single_gaps")] Vec<f64>),
    /// One frame after the other, all of the same length.
    Moving(#[serde(serialize_with = "single_gaps")] Vec<f64>),
}

/// How outlines are drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stroke {
    /// Colour of the line.
    pub colour: Colour,
    /// Width in pixels; the radius of points is twice that.
    pub width: f64,
    /// Whether the line has gaps.
    pub dashed: bool,
}

/// A colour that follows the light or dark theme, except if given in CSS.
#[derive(Debug, Clone, PartialEq)]
pub enum Colour {
    /// The colour of text.
    Ink,
    /// Grey, for walls and ground.
    Muted,
    /// The same palette as in charts.
    Palette(usize),
    /// As written in CSS, the same in both themes.
    Css(String),
}

/// A contact and when it acts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Contact {
    /// Shown in the legend.
    pub name: String,
    /// Times `[from, to]` during which an impulse acts, in order, not overlapping; an impact has `from = to` [s].
    pub intervals: Vec<[f64; 2]>,
    /// Where the flash is drawn (`x, y`); without it the contact lights up in the legend only.
    pub position: Option<Coordinates>,
}

impl Animation {
    /// An animation without shapes.
    pub fn new(title: impl Into<String>, times: Vec<f64>) -> Self {
        Self { title: title.into(), times, ..Self::default() }
    }

    /// Adds a shape in front of the others.
    pub fn with(mut self, shape: Shape) -> Self {
        self.shapes.push(shape);
        self
    }

    pub(super) fn check(&self) -> Result<(), ReportError> {
        let mut previous = f64::NEG_INFINITY;
        for (frame, &time) in self.times.iter().enumerate() {
            if !time.is_finite() || time < previous {
                return Err(ReportError::FrameTime { animation: self.title.clone(), frame, time });
            }
            previous = time;
        }
        for shape in &self.shapes {
            self.check_coordinates(&shape.name, shape.geometry, &shape.coordinates)?;
        }
        for contact in &self.contacts {
            if let Some(position) = &contact.position {
                self.check_coordinates(&contact.name, Geometry::Point, position)?;
            }
            if let Some(index) = contact.first_bad_interval() {
                let (animation, contact) = (self.title.clone(), contact.name.clone());
                return Err(ReportError::ContactInterval { animation, contact, index });
            }
        }
        Ok(())
    }

    fn check_coordinates(&self, name: &str, geometry: Geometry, coordinates: &Coordinates) -> Result<(), ReportError> {
        let (frames, values) = match coordinates {
            Coordinates::Fixed(values) => (1, values),
            Coordinates::Moving(values) => (self.times.len(), values),
        };
        let width = values.len().checked_div(frames).unwrap_or(0);
        let fits = match geometry {
            Geometry::Point => width == 2,
            Geometry::Segment => width == 4,
            Geometry::Circle => width == 3,
            Geometry::Polygon | Geometry::Polyline => width >= 2 && width.is_multiple_of(2),
        };
        // without frames nothing is drawn of a moving shape, and nothing may be stored
        let fits = if frames == 0 { values.is_empty() } else { fits && width * frames == values.len() };
        if fits {
            return Ok(());
        }
        let (animation, shape, found) = (self.title.clone(), name.to_owned(), values.len());
        Err(ReportError::ShapeLength { animation, shape, geometry, frames, found })
    }

    /// The given bounds, or those of everything drawn with a margin of 6 %; never empty.
    fn shown(&self) -> Bounds {
        let mut bounds = self.bounds.unwrap_or_else(|| self.extent());
        for range in [&mut bounds.x, &mut bounds.y] {
            if !(range[0].is_finite() && range[1].is_finite() && range[0] <= range[1]) {
                *range = [-1.0, 1.0];
            }
        }
        let size = (bounds.x[1] - bounds.x[0]).max(bounds.y[1] - bounds.y[0]);
        let size = if size > 0.0 && size.is_finite() { size } else { 1.0 };
        let margin = if self.bounds.is_some() { 0.0 } else { 0.06 * size };
        for range in [&mut bounds.x, &mut bounds.y] {
            let flat = (0.1 * size - (range[1] - range[0]) / 2.0).max(0.0);
            *range = [range[0] - margin - flat, range[1] + margin + flat];
        }
        bounds
    }

    fn extent(&self) -> Bounds {
        let mut bounds = Bounds { x: [f64::INFINITY, f64::NEG_INFINITY], y: [f64::INFINITY, f64::NEG_INFINITY] };
        for shape in &self.shapes {
            let circle = shape.geometry == Geometry::Circle;
            for point in shape.coordinates.values().chunks_exact(if circle { 3 } else { 2 }) {
                let radius = if circle { point[2].abs() } else { 0.0 };
                if point.iter().all(|value| value.is_finite()) {
                    for (range, centre) in [(&mut bounds.x, point[0]), (&mut bounds.y, point[1])] {
                        *range = [range[0].min(centre - radius), range[1].max(centre + radius)];
                    }
                }
            }
        }
        bounds
    }

    pub(super) fn data(&self) -> AnimationData<'_> {
        AnimationData { motion: self, bounds: self.shown() }
    }
}

/// The form of an animation in the page.
#[derive(Serialize)]
pub(super) struct AnimationData<'a> {
    motion: &'a Animation,
    bounds: Bounds,
}

impl Shape {
    /// A moving shape in palette colour 0, without fill.
    pub fn moving(name: impl Into<String>, geometry: Geometry, frames: Vec<f64>) -> Self {
        Self::new(name, geometry, Coordinates::Moving(frames), Colour::Palette(0))
    }

    /// A fixed shape in grey, without fill.
    pub fn fixed(name: impl Into<String>, geometry: Geometry, coordinates: Vec<f64>) -> Self {
        Self::new(name, geometry, Coordinates::Fixed(coordinates), Colour::Muted)
    }

    fn new(name: impl Into<String>, geometry: Geometry, coordinates: Coordinates, colour: Colour) -> Self {
        let stroke = Stroke { colour, width: 2.0, dashed: false };
        Self { name: name.into(), geometry, coordinates, stroke, fill: None, trace: false }
    }

    /// Sets the colour of the outline.
    pub fn coloured(mut self, colour: Colour) -> Self {
        self.stroke.colour = colour;
        self
    }

    /// Fills the inside with a light tone of the colour.
    pub fn filled(mut self, colour: Colour) -> Self {
        self.fill = Some(colour);
        self
    }

    /// Draws the path of the first point.
    pub fn traced(mut self) -> Self {
        self.trace = true;
        self
    }
}

impl Coordinates {
    fn values(&self) -> &[f64] {
        match self {
            Self::Fixed(values) | Self::Moving(values) => values,
        }
    }
}

impl Contact {
    /// A contact that has not acted yet.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Records that an impulse acts from `from` to `to`; joins the last interval if less than `resolution` lies between
    /// [s].
    pub fn act(&mut self, from: f64, to: f64, resolution: f64) {
        match self.intervals.last_mut() {
            Some(last) if from - last[1] <= resolution => last[1] = last[1].max(to),
            _ => self.intervals.push([from, to]),
        }
    }

    fn first_bad_interval(&self) -> Option<usize> {
        let mut previous = f64::NEG_INFINITY;
        self.intervals.iter().position(|[from, to]| {
            let good = from.is_finite() && to.is_finite() && previous <= *from && from <= to;
            previous = *to;
            !good
        })
    }
}

impl Serialize for Colour {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Ink => serializer.serialize_str("ink"),
            Self::Muted => serializer.serialize_str("muted"),
            Self::Palette(number) => serializer.serialize_u64(*number as u64),
            Self::Css(text) => serializer.serialize_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn disc() -> Animation {
        let disc = Shape::moving("disc", Geometry::Circle, vec![0.0, 1.0, 0.5, 2.0, 3.0, 0.5]);
        Animation::new("a", vec![0.0, 1.0]).with(disc)
    }

    #[test]
    fn bounds_hold_everything_drawn() {
        let mut animation = disc().with(Shape::fixed("", Geometry::Segment, vec![-2.0, 0.0, 3.0, f64::NAN]));
        assert_eq!(animation.extent(), Bounds { x: [-2.0, 2.5], y: [0.0, 3.5] });
        let shown = animation.shown();
        assert!(shown.x[0] < -2.0 && shown.x[1] > 2.5 && shown.y[0] < 0.0 && shown.y[1] > 3.5);
        animation.bounds = Some(Bounds { x: [0.0, 4.0], y: [0.0, 2.0] });
        assert_eq!(animation.shown(), Bounds { x: [0.0, 4.0], y: [0.0, 2.0] });
    }

    #[test]
    fn bounds_are_never_empty() {
        let point = Shape::fixed("p", Geometry::Point, vec![5.0, 5.0]);
        for animation in [Animation::new("", vec![]), Animation::new("", vec![0.0]).with(point)] {
            let shown = animation.shown();
            assert!(shown.x[1] > shown.x[0] && shown.y[1] > shown.y[0], "{shown:?}");
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        assert_eq!(disc().check(), Ok(()));
        assert_eq!(Animation::new("", vec![]).with(Shape::moving("", Geometry::Point, vec![])).check(), Ok(()));
        let mut short = disc();
        short.times.push(2.0);
        assert!(matches!(short.check(), Err(ReportError::ShapeLength { frames: 3, found: 6, .. })));
        let mut backwards = disc();
        backwards.times[1] = -1.0;
        assert!(matches!(backwards.check(), Err(ReportError::FrameTime { frame: 1, .. })));
        let mut contact = disc();
        contact.contacts.push(Contact { intervals: vec![[0.0, 0.1], [0.05, 0.2]], ..Contact::new("c") });
        assert!(matches!(contact.check(), Err(ReportError::ContactInterval { index: 1, .. })));
        for (geometry, count) in
            [(Geometry::Point, 3), (Geometry::Segment, 2), (Geometry::Circle, 4), (Geometry::Polygon, 5)]
        {
            let shape = Shape::fixed("", geometry, vec![0.0; count]);
            assert!(Animation::new("", vec![0.0]).with(shape).check().is_err(), "{geometry:?}");
        }
    }

    #[test]
    fn close_impulses_join() {
        let mut contact = Contact::new("c");
        for k in 0..5 {
            contact.act(f64::from(k) * 0.01, f64::from(k) * 0.01, 0.011);
        }
        contact.act(1.0, 1.0, 0.011);
        assert_eq!(contact.intervals, [[0.0, 0.04], [1.0, 1.0]]);
    }

    #[test]
    fn the_page_gets_short_numbers_and_gaps() {
        let shape = Shape::fixed("", Geometry::Point, vec![0.1, f64::NAN]).coloured(Colour::Palette(3));
        let json: serde_json::Value =
            serde_json::from_str(&super::super::encode::json(&Animation::new("", vec![0.0]).with(shape).data()))
                .unwrap();
        let shape = &json["motion"]["shapes"][0];
        assert_eq!(shape["coordinates"]["fixed"].to_string(), "[0.1,null]");
        assert_eq!((&shape["geometry"], &shape["stroke"]["colour"]), (&"point".into(), &3.into()));
    }
}
