//! The motion of planar models: shapes with coordinates per frame, drawn on a canvas and interpolated linearly in time.
//!
//! Coordinates are flat numbers: a point `x, y`; a segment `x, y, x, y`; a circle `x, y, r`; polygons and polylines `x,
//! y, x, y, …`. A frame with a non-finite coordinate hides the shape.

use serde::{Serialize, Serializer};

use super::ReportError;
use super::store::{Store, Values};

/// A planar motion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Animation {
    /// Caption above the drawing.
    pub title: String,
    /// Times of the frames, not decreasing [s]. With a frame at each impact its position is shown exactly.
    pub times: Vec<f64>,
    /// Drawn in this order: the first is behind.
    pub shapes: Vec<Shape>,
    /// The part of the plane shown; by default all there is in any frame, with a margin.
    pub bounds: Option<Bounds>,
    /// Places of contacts, for arrows and loupes.
    pub places: Vec<Place>,
}

/// Where a contact acts.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    /// Number of the contact among the lanes of the page.
    pub contact: usize,
    /// `x, y` of the contact and `x, y` of the direction in which its impulse acts on the body, frame by frame.
    pub frames: Vec<f64>,
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
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, PartialEq)]
pub enum Coordinates {
    /// The same in all frames: walls, ground.
    Fixed(Vec<f64>),
    /// One frame after the other, all of the same length.
    Moving(Vec<f64>),
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
        for place in &self.places {
            let frames = Coordinates::Moving(place.frames.clone());
            self.check_coordinates("place of a contact", Geometry::Segment, &frames)?;
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

    /// What the page draws; the numbers of moving shapes go to the store.
    pub(super) fn data<'a>(&'a self, store: &mut Store) -> AnimationData<'a> {
        let times: Values = self.times.as_slice().into();
        let columns = |store: &mut Store, frames: &[f64]| -> Vec<usize> {
            let width = frames.len().checked_div(times.len()).unwrap_or(0);
            let column = |k: usize| frames.iter().skip(k).step_by(width).copied().collect::<Vec<f64>>();
            (0..width).map(|k| store.curve(&times, &column(k).into(), (false, false)).1).collect()
        };
        let mut shape = |shape: &'a Shape| {
            let (fixed, moving) = match &shape.coordinates {
                Coordinates::Fixed(values) => {
                    (Some(values.iter().map(|x| Some(*x).filter(|x| x.is_finite())).collect()), None)
                }
                Coordinates::Moving(values) => (None, Some(columns(store, values))),
            };
            let Shape { name, geometry, stroke, fill, trace, .. } = shape;
            ShapeData { name, geometry: *geometry, fixed, moving, stroke, fill, trace: *trace }
        };
        let shapes = self.shapes.iter().map(&mut shape).collect();
        let places = self.places.iter().map(|place| (place.contact, columns(store, &place.frames))).collect();
        AnimationData { times: store.column(&times), bounds: self.shown(), shapes, places }
    }
}

/// The form of an animation in the page.
#[derive(Serialize)]
pub(super) struct AnimationData<'a> {
    times: usize,
    bounds: Bounds,
    shapes: Vec<ShapeData<'a>>,
    places: Vec<(usize, Vec<usize>)>,
}

#[derive(Serialize)]
struct ShapeData<'a> {
    name: &'a str,
    geometry: Geometry,
    fixed: Option<Vec<Option<f64>>>,
    /// A column of the store for each coordinate.
    moving: Option<Vec<usize>>,
    stroke: &'a Stroke,
    fill: &'a Option<Colour>,
    trace: bool,
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
        for (geometry, count) in
            [(Geometry::Point, 3), (Geometry::Segment, 2), (Geometry::Circle, 4), (Geometry::Polygon, 5)]
        {
            let shape = Shape::fixed("", geometry, vec![0.0; count]);
            assert!(Animation::new("", vec![0.0]).with(shape).check().is_err(), "{geometry:?}");
        }
    }

    #[test]
    fn the_page_gets_columns_of_the_store_and_gaps() {
        let shape = Shape::fixed("", Geometry::Point, vec![0.1, f64::NAN]).coloured(Colour::Palette(3));
        let mut animation = disc().with(shape);
        animation.places.push(Place { contact: 0, frames: vec![0.0, 0.5, 0.0, 1.0, 2.0, 2.5, 0.0, 1.0] });
        let json = serde_json::to_value(animation.data(&mut Store::default())).unwrap();
        let [disc, point] = [0, 1].map(|k| &json["shapes"][k]);
        // the times are column 0; the radius does not change, so that it is the same as no other column
        assert_eq!((&json["times"], disc["moving"].to_string()), (&0.into(), "[1,2,3]".to_owned()));
        assert_eq!(point["fixed"].to_string(), "[0.1,null]");
        assert_eq!((&point["geometry"], &point["stroke"]["colour"]), (&"point".into(), &3.into()));
        assert_eq!(json["places"][0][0], 0);
        let mut short = animation;
        short.places[0].frames.pop();
        assert!(matches!(short.check(), Err(ReportError::ShapeLength { .. })));
    }
}
