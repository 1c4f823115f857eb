//! Contacts: a pair of shapes with the coefficients of its law.

use super::AnyPair;
use carom_solve::{Disc, Law};

/// A pair of shapes that may touch.
#[derive(Clone, Debug)]
pub struct Contact {
    /// Name in results and messages; pairs with several places number them.
    pub name: String,
    /// The bodies that have the shapes, in the order of the pair.
    pub bodies: [String; 2],
    /// The shapes.
    pub pair: AnyPair,
    /// The coefficients.
    pub surface: Surface,
}

/// Coefficients of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// Newton's coefficient of restitution, in [0, 1] [-].
    pub restitution: f64,
    /// Coefficient of restitution along the tangents, in [0, 1]: of the sliding velocity before an impact this part is
    /// turned back, as far as friction can [-].
    pub tangential: f64,
    /// Coefficient of friction, not negative [-].
    pub friction: f64,
    /// Rolling friction: largest moment per normal force [m].
    pub rolling: f64,
    /// Spinning friction: largest moment per normal force [m]. In the plane there is none.
    pub spinning: f64,
}

impl Surface {
    /// The law of a contact with these coefficients.
    pub fn law(&self, is_planar: bool) -> Law {
        let Surface { friction, rolling, spinning, .. } = *self;
        let rows = |mu: f64, rows: u8| if mu == 0.0 { Disc::default() } else { Disc::cone(rows, mu) };
        if (friction, rolling, spinning) == (0.0, 0.0, 0.0) {
            return Law::UNILATERAL;
        }
        let discs = match is_planar {
            true => [Disc::cone(1, friction), rows(rolling, 1), Disc::default()],
            false => [Disc::cone(2, friction), rows(rolling, 2), rows(spinning, 1)],
        };
        Law::new(0.0, f64::INFINITY, discs)
    }
}

impl Contact {
    /// A contact without friction and restitution.
    pub fn new(name: &str, a: &str, b: &str, pair: impl Into<AnyPair>) -> Contact {
        Contact { name: name.into(), bodies: [a.into(), b.into()], pair: pair.into(), surface: Surface::default() }
    }

    /// Newton's coefficient of restitution, in [0, 1] [-].
    pub fn restitution(mut self, e: f64) -> Contact {
        self.surface.restitution = e;
        self
    }

    /// Coefficient of restitution along the tangents, in [0, 1] [-].
    pub fn tangential(mut self, e: f64) -> Contact {
        self.surface.tangential = e;
        self
    }

    /// Coefficient of friction [-].
    pub fn friction(mut self, mu: f64) -> Contact {
        self.surface.friction = mu;
        self
    }

    /// Rolling friction [m].
    pub fn rolling(mut self, mu: f64) -> Contact {
        self.surface.rolling = mu;
        self
    }

    /// Spinning friction [m].
    pub fn spinning(mut self, mu: f64) -> Contact {
        self.surface.spinning = mu;
        self
    }
}
