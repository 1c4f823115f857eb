//! Cords: a point that stays inside of a hollow sphere about another one, and springs between both.

use super::super::robot::{Cord, length, minus};
use super::super::{Feature, Notes};
use super::Writer;
use super::line::{Line, number, vector};

/// Starts that are longer than a cord by this part of its length are rounding.
const TAUT: f64 = 1e-9;

impl<'a> Writer<'a> {
    /// The length of a cord that is written, if it has one.
    fn longest(&self, cord: &Cord) -> Option<f64> {
        let longest = cord.longest.filter(|_| self.options.has(Feature::Stops))?;
        (cord.ends[0].0 != cord.ends[1].0 && self.drawn(cord) <= longest * (1.0 + TAUT)).then_some(longest)
    }

    /// How long it is at the start.
    fn drawn(&self, cord: &Cord) -> f64 {
        let [a, b] = self.points(cord);
        length(minus(a, b))
    }

    /// Its ends at the start, in axes of the space.
    fn points(&self, cord: &Cord) -> [[f64; 3]; 2] {
        cord.ends.map(|(part, at)| part.map_or(at, |part| self.placed[part].pose.point(at)))
    }

    /// Whether a cord hangs on a part; none: the ground.
    pub(super) fn is_tied(&self, part: Option<usize>) -> bool {
        let tied = |cord: &&Cord| cord.ends.iter().any(|end| end.0 == part);
        self.robot.cords.iter().filter(tied).any(|cord| self.longest(cord).is_some())
    }

    /// The shapes of a body by which cords hold it, from a point of its part.
    pub(super) fn cord_shapes(&mut self, part: Option<usize>, offset: [f64; 3]) {
        let robot = self.robot;
        for (k, cord) in robot.cords.iter().enumerate() {
            let Some(longest) = self.longest(cord) else { continue };
            let kinds = [("socket", Some(longest)), ("point", None)];
            for (&(_, at), (kind, radius)) in cord.ends.iter().zip(kinds).filter(|(end, _)| end.0 == part) {
                self.out.extend([
                    Line::Table("body.shape"),
                    Line::text("name", &format!("cord{}", k + 1)),
                    Line::text("kind", kind),
                    Line::vector("at", minus(at, offset)),
                ]);
                self.out.extend(radius.map(|radius| Line::number("radius", radius)));
            }
        }
    }

    /// Contacts and springs.
    pub(super) fn cords(&mut self, notes: &mut Notes) {
        let robot: &'a _ = self.robot;
        for (k, cord) in robot.cords.iter().enumerate() {
            let names = cord.ends.map(|(part, _)| self.body_name(part).to_owned());
            if self.longest(cord).is_some() {
                let name = self.names.make(&cord.name, "cord");
                self.out.extend([Line::Table("contact"), Line::Comment("a cord, taut where the gap is zero".into())]);
                self.out.push(Line::text("name", &name));
                for (key, body) in ["a", "b"].into_iter().zip(&names) {
                    self.out.push(Line::text(key, &format!("{body}/cord{}", k + 1)));
                }
            } else if cord.longest.is_some() && self.options.has(Feature::Stops) {
                notes.leave("limits that the start violates (see --position)", &cord.place);
            }
            let has = |x: f64, feature: Feature| if self.options.has(feature) { x } else { 0.0 };
            let (stiffness, damping) = (has(cord.stiffness, Feature::Springs), has(cord.damping, Feature::Damping));
            if stiffness > 0.0 || damping > 0.0 {
                let [a, b] = self.points(cord).map(vector);
                self.out.extend([Line::Table("spring"), Line::text("kind", "linear")]);
                self.out.push(Line::Value("between", format!("[\"{}\", \"{}\"]", names[0], names[1])));
                self.out.push(Line::Value("ends", format!("[{a}, {b}]")));
                if stiffness > 0.0 {
                    self.out.push(Line::number("stiffness", stiffness));
                    self.out.extend(cord.rest.map(|rest| Line::Value("rest", number(rest))));
                }
                if damping > 0.0 {
                    self.out.push(Line::number("damping", damping));
                }
            }
        }
    }
}
