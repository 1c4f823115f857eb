//! Numbers of the tables in the units of the file: lengths, masses and angles are converted where they are read,
//! forces, torques, stiffnesses and gravity are in SI.

use crate::diagnostic::{Place, suggest};
use crate::file::{Formula, ModelFile, OneOrMore, Text};
use crate::scene::context::Context;

/// The units of the file in SI, and the number of dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measure {
    pub length: f64,
    pub mass: f64,
    pub angle: f64,
    pub planar: bool,
    /// Whether parameters of geometry are folded: only where the file is compiled.
    pub fold: bool,
}

/// Units that the file may have: keyword, name, value in SI.
const UNITS: &[(&str, &str, f64)] = &[
    ("length", "m", 1.0),
    ("length", "mm", 1e-3),
    ("length", "cm", 1e-2),
    ("length", "um", 1e-6),
    ("length", "in", 0.0254),
    ("mass", "kg", 1.0),
    ("mass", "g", 1e-3),
    ("mass", "mg", 1e-6),
    ("mass", "t", 1e3),
    ("angle", "rad", 1.0),
    ("angle", "deg", std::f64::consts::PI / 180.0),
];

/// Whether a key of `[units]` is one of the file as a whole.
pub(crate) fn is_base(key: &str) -> bool {
    UNITS.iter().any(|(quantity, ..)| *quantity == key)
}

/// One unit of the file.
fn unit(key: &str, text: &Text, context: &mut Context) -> Option<f64> {
    let known = || UNITS.iter().filter(|(quantity, ..)| *quantity == key).map(|(_, name, _)| *name);
    match UNITS.iter().find(|(quantity, name, _)| *quantity == key && *name == text.value) {
        Some((.., value)) => Some(*value),
        None => {
            let hint = suggest(&text.value, known(), true, || {
                format!("units of {key}: {}", known().collect::<Vec<_>>().join(", "))
            });
            context.out.error(&text.place, format!("{:?} is not a unit of {key}", text.value)).hint(hint);
            None
        }
    }
}

impl Measure {
    /// The units of a file.
    pub fn of(file: &ModelFile, planar: bool, fold: bool, context: &mut Context) -> Option<Measure> {
        let mut measure = Measure { length: 1.0, mass: 1.0, angle: 1.0, planar, fold };
        let before = context.out.errors();
        for (key, text) in file.units.iter().flat_map(|words| &words.items).filter(|(key, _)| is_base(&key.value)) {
            let out = match key.value.as_str() {
                "length" => &mut measure.length,
                "mass" => &mut measure.mass,
                _ => &mut measure.angle,
            };
            *out = unit(&key.value, text, context).unwrap_or(1.0);
        }
        (context.out.errors() == before).then_some(measure)
    }

    /// Number of components of a vector.
    pub fn components(&self) -> usize {
        if self.planar { 2 } else { 3 }
    }

    /// A number of geometry, times a unit.
    pub fn geometry(&self, formula: &Formula, unit: f64, context: &mut Context) -> Option<f64> {
        let value = if self.fold { context.structural(formula) } else { context.number(formula) };
        finite(value? * unit, formula, context)
    }

    /// A positive number, times a unit.
    pub fn positive(&self, formula: &Formula, unit: f64, what: &str, context: &mut Context) -> Option<f64> {
        let value = context.number(formula)?;
        if value <= 0.0 {
            context.out.error(&formula.place, format!("{what} is {value}, not positive"));
            return None;
        }
        finite(value * unit, formula, context)
    }

    /// A number of geometry that is positive.
    pub fn size(&self, formula: &Formula, what: &str, context: &mut Context) -> Option<f64> {
        let value = self.geometry(formula, self.length, context)?;
        if value > 0.0 {
            return Some(value);
        }
        context.out.error(&formula.place, format!("{what} is {}, not positive", value / self.length));
        None
    }

    /// A point or velocity in the plane or in space, times a unit; the third component is zero in the plane.
    pub fn vector(&self, list: &OneOrMore, unit: f64, what: &str, context: &mut Context) -> Option<[f64; 3]> {
        let (n, found) = (self.components(), list.items.len());
        if found != n {
            let (space, article) = if self.planar { ("in the plane", "two") } else { ("in space", "three") };
            let message = format!("{what} has {article} components {space}, found {found}");
            context.out.error(&list.place, message);
            return None;
        }
        let mut out = [0.0; 3];
        let mut good = true;
        for (out, formula) in out.iter_mut().zip(&list.items) {
            match self.geometry(formula, unit, context) {
                Some(value) => *out = value,
                None => good = false,
            }
        }
        good.then_some(out)
    }

    /// A direction, scaled to length 1.
    pub fn direction(&self, list: &OneOrMore, what: &str, context: &mut Context) -> Option<[f64; 3]> {
        let d = self.vector(list, 1.0, what, context)?;
        normalised(d).or_else(|| {
            let error = context.out.error(&list.place, format!("{what} has no length"));
            error.hint("give a direction, as in [0, 0, 1]");
            None
        })
    }

    /// Three angles about axes of space, or one in the plane, as the third.
    pub fn turning(&self, list: &OneOrMore, unit: f64, what: &str, context: &mut Context) -> Option<[f64; 3]> {
        if !self.planar {
            return self.vector(list, unit, what, context);
        }
        match &list.items[..] {
            [formula] => Some([0.0, 0.0, self.geometry(formula, unit, context)?]),
            items => {
                context.out.error(&list.place, format!("{what} is one number in the plane, found {}", items.len()));
                None
            }
        }
    }
}

/// A direction of length 1, if it has any.
pub(super) fn normalised(d: [f64; 3]) -> Option<[f64; 3]> {
    let largest = d.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    // scaled first: squares of tiny components would vanish
    let d = d.map(|x| x / largest);
    let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0).then(|| d.map(|x| x / length))
}

fn finite(value: f64, formula: &Formula, context: &mut Context) -> Option<f64> {
    if !value.is_finite() {
        context.out.error(&formula.place, format!("the number is {value} in SI units, not finite"));
        return None;
    }
    Some(value)
}

/// One of several words.
pub(super) fn word<T: Copy>(text: &Text, what: &str, known: &[(&str, T)], context: &mut Context) -> Option<T> {
    if let Some((_, value)) = known.iter().find(|(name, _)| *name == text.value) {
        return Some(*value);
    }
    let names = || known.iter().map(|(name, _)| *name);
    let hint = suggest(&text.value, names(), true, || {
        format!("write {}", names().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", "))
    });
    context.out.error(&text.place, format!("unknown {what} {:?}", text.value)).hint(hint);
    None
}

/// Reports a key that has no place here.
pub(super) fn refuse(place: Option<&Place>, message: impl Into<String>, hint: &str, context: &mut Context) {
    if let Some(place) = place {
        context.out.error(place, message).hint(hint);
    }
}
