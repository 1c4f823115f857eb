//! Tendons: a cord between two sites. Those over joints serve actuators, and others have no counterpart.

use super::super::Notes;
use super::super::robot::Cord;
use super::super::xml::Element;
use super::{Model, known};
use crate::diagnostic::suggest;

impl Model<'_> {
    /// Remembers where a site is.
    pub(super) fn site(&mut self, name: &str, part: Option<usize>, at: [f64; 3]) {
        self.sites.insert(name.to_owned(), (part, at));
    }

    pub(super) fn cords(&self, section: &Element, notes: &mut Notes) -> Vec<Cord> {
        let mut all = Vec::new();
        for (k, element) in section.children.iter().enumerate() {
            match element.name.as_str() {
                "spatial" => all.extend(self.spatial(element, k + 1, notes)),
                "fixed" => {
                    let alone = self.effects(element, notes);
                    if alone.is_some_and(|effects| effects.acts()) {
                        notes.leave("limits, springs and friction of tendons over joints", &element.place);
                    }
                }
                _ => known::strange(element, &["spatial", "fixed"], notes),
            }
        }
        all
    }

    fn spatial(&self, element: &Element, number: usize, notes: &mut Notes) -> Option<Cord> {
        let effects = self.effects(element, notes)?;
        // what does nothing by itself is there for actuators and sensors
        if !effects.acts() {
            return None;
        }
        let Effects { longest, stiffness, damping, rest } = effects;
        let sites: Vec<&Element> = element.children.iter().filter(|child| child.name == "site").collect();
        let (&[a, b], true) = (&sites[..], sites.len() == element.children.len()) else {
            notes.leave("tendons that are no cord between two sites", &element.place);
            return None;
        };
        let mut end = |site: &Element| {
            let name = site.need("site", &mut notes.out)?;
            let found = self.sites.get(&name.value).copied();
            if found.is_none() {
                let known = self.sites.keys().map(String::as_str);
                let hint = suggest(&name.value, known, true, || "it names a site".into());
                notes.out.error(&name.place, format!("there is no site {:?}", name.value)).hint(hint);
            }
            found
        };
        let ends = [end(a)?, end(b)?];
        let name = element.get("name").map_or_else(|| format!("tendon{number}"), |name| name.value.clone());
        Some(Cord { name, place: element.place.clone(), ends, longest, stiffness, damping, rest })
    }

    /// What a tendon does by itself.
    fn effects(&self, element: &Element, notes: &mut Notes) -> Option<Effects> {
        known::attributes(element, notes);
        let words = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
        let limited = match element.get("limited") {
            Some(attribute) => attribute.word(&words, &mut notes.out)?,
            None => None,
        };
        let range = element.get("range");
        let longest = match range.filter(|_| limited.unwrap_or(true) && !self.flags.limit) {
            Some(range) => {
                let [least, most] = range.vector::<2>(&mut notes.out)?;
                if least >= most || most <= 0.0 {
                    notes.out.error(&range.place, format!("the range ends at {most}, not above its start {least}"));
                    return None;
                }
                if least > 0.0 {
                    notes.leave("least lengths of tendons", &range.place);
                }
                Some(most)
            }
            None => None,
        };
        let mut size = |name: &str, off: bool| match element.get(name) {
            Some(attribute) => attribute.size(&mut notes.out).map(|x| if off { 0.0 } else { x }),
            None => Some(0.0),
        };
        let (stiffness, damping) = (size("stiffness", self.flags.spring)?, size("damping", self.flags.damper)?);
        let others =
            [("frictionloss", size("frictionloss", self.flags.friction)?), ("armature", size("armature", false)?)];
        for (name, _) in others.iter().filter(|(_, x)| *x > 0.0) {
            notes.leave("friction and inertia of tendons", &element.get(name)?.place);
        }
        let mut rest = None;
        if let Some(attribute) = element.get("springlength").filter(|_| stiffness > 0.0) {
            let numbers = attribute.numbers(&mut notes.out)?;
            // −1 asks for the length at the start
            rest = numbers.first().copied().filter(|rest| *rest >= 0.0);
            if numbers.get(1).is_some_and(|end| Some(*end) != rest) {
                notes.leave("springs of tendons that are slack over a range", &attribute.place);
                return Some(Effects { longest, stiffness: 0.0, damping, rest: None });
            }
        }
        Some(Effects { longest, stiffness, damping, rest })
    }
}

/// What a tendon does by itself.
struct Effects {
    longest: Option<f64>,
    stiffness: f64,
    damping: f64,
    rest: Option<f64>,
}

impl Effects {
    fn acts(&self) -> bool {
        self.longest.is_some() || self.stiffness > 0.0 || self.damping > 0.0
    }
}
