//! Equality constraints that have a counterpart among joints.

use super::super::Notes;
use super::super::robot::Tie;
use super::super::xml::Element;
use super::body::yes;
use super::{Model, Ties, known};
use crate::diagnostic::suggest;

impl Model<'_> {
    pub(super) fn ties(&self, section: &Element, notes: &mut Notes) -> Ties {
        let mut all = Ties::new();
        for (k, element) in section.children.iter().enumerate() {
            if !yes(element.get("active"), true, notes) {
                notes.leave("equality constraints that are not active", &element.place);
                continue;
            }
            let name = if element.name == "joint" { known::RELATION } else { &element.name };
            known::attributes_as(element, name, notes);
            let tie = match element.name.as_str() {
                "connect" => self.connect(element, notes),
                "weld" => self.weld(element, notes),
                "joint" => self.follow(element, notes),
                "tendon" | "flex" | "flexvert" | "flexstrain" => {
                    notes.leave("equality constraints of tendons and deformable bodies", &element.place);
                    None
                }
                _ => {
                    known::strange(element, &["connect", "weld", "joint", "tendon"], notes);
                    None
                }
            };
            let name = element.get("name").map_or_else(|| format!("equality{}", k + 1), |name| name.value.clone());
            all.extend(tie.map(|tie| (name, tie, element.place.clone())));
        }
        all
    }

    /// The two bodies of a constraint; the second one is the world unless it is named.
    fn pair(&self, element: &Element, notes: &mut Notes) -> Option<[Option<usize>; 2]> {
        if let Some(site) = element.get("site1") {
            notes.leave("equality constraints between sites", &site.place);
            return None;
        }
        let first = self.body(element, "body1", notes)?;
        let second = if element.get("body2").is_some() { self.body(element, "body2", notes)? } else { None };
        Some([first, second])
    }

    fn connect(&self, element: &Element, notes: &mut Notes) -> Option<Tie> {
        let pair = self.pair(element, notes)?;
        let anchor = element.need("anchor", &mut notes.out)?.vector(&mut notes.out)?;
        Some(Tie::Point(pair, anchor))
    }

    fn weld(&self, element: &Element, notes: &mut Notes) -> Option<Tie> {
        let pair = self.pair(element, notes)?;
        if let Some(attribute) = element.get("relpose") {
            let pose: [f64; 7] = attribute.vector(&mut notes.out)?;
            if pose[3..] != [0.0; 4] {
                notes.leave("welds at another pose than the drawn one", &attribute.place);
                return None;
            }
        }
        Some(Tie::Whole(pair))
    }

    fn follow(&self, element: &Element, notes: &mut Notes) -> Option<Tie> {
        let mut joint = |key: &str| -> Option<Option<String>> {
            let Some(attribute) = element.get(key) else { return Some(None) };
            if !self.joints.contains(&attribute.value) {
                let known = self.joints.iter().map(String::as_str);
                let hint = suggest(&attribute.value, known, true, || "it names a joint".into());
                notes.out.error(&attribute.place, format!("there is no joint {:?}", attribute.value)).hint(hint);
                return None;
            }
            Some(Some(attribute.value.clone()))
        };
        let (first, second) = (joint("joint1")?, joint("joint2")?);
        let Some(first) = first else {
            notes.out.error(&element.place, "`joint1` is missing");
            return None;
        };
        let mut terms = [0.0, 1.0, 0.0, 0.0, 0.0];
        if let Some(attribute) = element.get("polycoef") {
            let given = attribute.numbers(&mut notes.out)?;
            terms.iter_mut().zip(given).for_each(|(old, new)| *old = new);
            if terms[2..] != [0.0; 3] {
                notes.leave("relations of joints that are no straight line", &attribute.place);
                return None;
            }
        }
        // measured from where the joints are drawn
        let drawn = |name: &str| {
            let joints = self.parts.iter().flat_map(|part| &part.joints);
            joints.into_iter().find(|joint| joint.name == name).map_or(0.0, |joint| joint.reference)
        };
        let factor = if second.is_some() { terms[1] } else { 0.0 };
        let constant = drawn(&first) + terms[0] - factor * second.as_deref().map_or(0.0, drawn);
        Some(Tie::Follow { joint: first, other: second, factor, constant })
    }
}
