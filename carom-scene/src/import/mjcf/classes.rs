//! Defaults by classes: what an element does not say itself is said by its class, or by one that it is nested in.

use std::collections::HashMap;

use super::super::Notes;
use super::super::xml::{Attribute, Element};
use super::known;
use crate::diagnostic::suggest;

/// A class and what it says of each element.
#[derive(Debug, Default)]
struct Class<'a> {
    parent: Option<usize>,
    says: HashMap<&'a str, Vec<&'a Attribute>>,
}

/// All classes; the first one is that of elements without a class.
#[derive(Debug)]
pub(super) struct Classes<'a> {
    all: Vec<Class<'a>>,
    index: HashMap<&'a str, usize>,
}

/// An element with the defaults of its class.
#[derive(Clone, Copy)]
pub(super) struct Styled<'a, 'b> {
    pub element: &'b Element,
    class: usize,
    classes: &'b Classes<'a>,
}

impl<'a> Classes<'a> {
    pub fn read(root: &'a Element, notes: &mut Notes) -> Classes<'a> {
        let mut classes = Classes { all: vec![Class::default()], index: HashMap::new() };
        for section in root.all("default") {
            if let Some(name) = section.get("class") {
                classes.index.insert(&name.value, 0);
            }
            classes.fill(0, section, notes);
        }
        classes
    }

    fn fill(&mut self, class: usize, section: &'a Element, notes: &mut Notes) {
        for element in &section.children {
            match element.name.as_str() {
                "default" => {
                    let Some(name) = element.need("class", &mut notes.out) else { continue };
                    if self.index.contains_key(name.value.as_str()) {
                        notes.out.error(&name.place, format!("two classes are called {:?}", name.value));
                        continue;
                    }
                    let number = self.all.len();
                    self.all.push(Class { parent: Some(class), says: HashMap::new() });
                    self.index.insert(&name.value, number);
                    self.fill(number, element, notes);
                }
                "joint" | "geom" | "mesh" => {
                    known::attributes(element, notes);
                    let says = self.all[class].says.entry(&element.name).or_default();
                    for attribute in &element.attributes {
                        says.retain(|known| known.name != attribute.name);
                        says.push(attribute);
                    }
                }
                _ => known::strange(element, &["default", "joint", "geom", "mesh"], notes),
            }
        }
    }

    /// The class that an attribute names.
    pub fn named(&self, attribute: &Attribute, notes: &mut Notes) -> Option<usize> {
        let found = self.index.get(attribute.value.as_str()).copied();
        if found.is_none() {
            let known = self.index.keys().copied();
            let hint = suggest(&attribute.value, known, true, || "classes are those of <default>".into());
            notes.out.error(&attribute.place, format!("there is no class {:?}", attribute.value)).hint(hint);
        }
        found
    }

    /// An element inside a body whose children have a class.
    pub fn styled<'b>(&'b self, element: &'b Element, inside: usize, notes: &mut Notes) -> Styled<'a, 'b> {
        let own = element.get("class").and_then(|class| self.named(class, notes));
        Styled { element, class: own.unwrap_or(inside), classes: self }
    }
}

impl<'b> Styled<'_, 'b> {
    /// An attribute of the element or of its classes.
    pub fn get(&self, name: &str) -> Option<&'b Attribute> {
        if let Some(own) = self.element.get(name) {
            return Some(own);
        }
        let mut class = Some(self.class);
        while let Some(number) = class {
            let Class { parent, says } = &self.classes.all[number];
            let all = says.get(self.element.name.as_str()).into_iter().flatten();
            if let Some(found) = all.into_iter().find(|attribute| attribute.name == name) {
                return Some(found);
            }
            class = *parent;
        }
        None
    }

    /// The first of some attributes, from the class that is nearest.
    pub fn first(&self, names: &[&str]) -> Option<&'b Attribute> {
        let own = self.element.attributes.iter().find(|attribute| names.contains(&attribute.name.as_str()));
        own.or_else(|| names.iter().find_map(|name| self.get(name)))
    }
}
