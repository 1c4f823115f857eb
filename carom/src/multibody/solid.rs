//! Shapes that touch by themselves: a description lists them, and a model finds which of them are near each other.

use super::pair::Shape;

/// A shape of a body that touches those of other bodies.
#[derive(Clone, Debug)]
pub struct Solid {
    /// The body.
    pub body: String,
    /// Its own name: contacts are called `body/name - body/name`.
    pub name: String,
    /// In axes of the body, from its mass centre.
    pub shape: Shape,
    /// What it is made of; without materials contacts have neither friction nor restitution.
    pub material: Option<String>,
    /// A group that it belongs to, by which contacts can be left out.
    pub group: Option<String>,
}

impl Solid {
    /// A shape without material and group.
    pub fn new(body: &str, name: &str, shape: Shape) -> Solid {
        Solid { body: body.into(), name: name.into(), shape, material: None, group: None }
    }

    /// What it is made of.
    pub fn material(mut self, name: &str) -> Solid {
        self.material = Some(name.into());
        self
    }

    /// A group that it belongs to.
    pub fn group(mut self, name: &str) -> Solid {
        self.group = Some(name.into());
        self
    }

    /// `body/name`
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.body, self.name)
    }
}
