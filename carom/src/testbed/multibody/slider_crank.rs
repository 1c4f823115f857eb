//! The slider-crank with play [acary2012]: crank, rod and a slider with play in its guide; the pin between crank and
//! rod is ideal or has play too.

use crate::multibody::pair::{Block, Bore, CornerWall, Cylinder, Rim, RimsBore};
use crate::multibody::{Body, Clearance, Contact, Joint, Multibody};

/// The mechanism at its start: stretched along x, the crank turning with 150 rad/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SliderCrank {
    /// Whether it is a planar model, with a rectangular slider; in space the slider is round.
    pub is_planar: bool,
    /// Radial play of the pin; none where it is ideal [m].
    pub play: Option<f64>,
    /// Angular velocity of the rod about y at the start, before velocities are made to fit to the joints [rad/s].
    pub kick: f64,
}

impl Default for SliderCrank {
    fn default() -> Self {
        SliderCrank { is_planar: true, play: None, kick: 0.0 }
    }
}

impl SliderCrank {
    /// Length of the crank [m].
    pub const CRANK: f64 = 0.153;
    /// Length of the rod [m].
    pub const ROD: f64 = 0.306;
    /// Masses of crank, rod and slider [kg].
    pub const MASSES: [f64; 3] = [0.038, 0.038, 0.076];
    /// Moments of inertia about z [kg m²].
    pub const INERTIAS: [f64; 3] = [7.4e-5, 5.9e-4, 2.7e-6];
    /// Half length and half height of the slider [m].
    pub const SLIDER: [f64; 2] = [0.05, 0.025];
    /// Play of the slider in its guide [m].
    pub const GUIDE: f64 = 0.001;
    /// Radius of the hole [m].
    pub const HOLE: f64 = 0.010;
    /// Length of the bearing in space [m].
    pub const BEARING: f64 = 0.020;

    /// The description.
    pub fn describe(&self) -> Multibody {
        let (l1, l2) = (Self::CRANK, Self::ROD);
        let system = if self.is_planar { Multibody::planar() } else { Multibody::spatial() };
        let ([m1, m2, m3], [j1, j2, j3]) = (Self::MASSES, Self::INERTIAS);
        let inertia = |j: f64| [1e-5, j, j];
        let body = |name, m, j, x: f64| Body::new(name, m, inertia(j)).at([x, 0.0]);
        let crank = body("crank", m1, j1, 0.5 * l1).velocity([0.0, 75.0 * l1]).turning(150.0);
        let mut rod = body("rod", m2, j2, l1 + 0.5 * l2).velocity([0.0, 150.0 * l1 - 37.5 * l2]).turning(-75.0);
        rod.spin[1] = self.kick;
        let hinge = |name, a, b, x: f64| Joint::revolute(name, a, b).at([x, 0.0]).axis([0.0, 0.0, 1.0]);
        let mut pin = hinge("pin", "crank", "rod", l1);
        if let Some(play) = self.play {
            let length = if self.is_planar { 0.0 } else { Self::BEARING };
            pin = pin.clearance(Clearance::new(play, Self::HOLE).length(length).friction(0.01));
        }
        // a kick does not fit to the joints: velocities are changed to do
        let system = if self.kick == 0.0 { system } else { system.assemble(1e-12) };
        system
            .gravity([0.0, -9.81])
            .body(crank)
            .body(rod)
            .body(body("slider", m3, j3, l1 + l2))
            .joint(hinge("support", "ground", "crank", 0.0))
            .joint(pin)
            .joint(hinge("wrist", "rod", "slider", l1 + l2))
            .contact(self.guide())
    }

    /// The slider in its guide.
    fn guide(&self) -> Contact {
        let [a, b] = Self::SLIDER;
        let half = b + Self::GUIDE;
        let (x, y) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
        let contact = if self.is_planar {
            let block = Block::new([a, b, 0.0]);
            let guide = CornerWall { centre: [0.0; 3], normal: y, along: x, half, block, axis: 1 };
            Contact::new("guide", "ground", "slider", guide)
        } else {
            let bore = Bore { centre: [0.0; 3], axis: x, radius: half };
            let pin = Cylinder { centre: [0.0; 3], axis: x, radius: b, half: a };
            Contact::new("guide", "ground", "slider", RimsBore { bore, pin, rim: Rim::Sphere })
        };
        contact.restitution(0.4).friction(0.01)
    }
}
