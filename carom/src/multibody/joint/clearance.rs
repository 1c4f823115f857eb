//! Play of a joint: radial rows, and tilts where the bearing has a length, give way to contacts. Hole, socket or guide
//! are on body a, pin, ball or slider on body b.
//!
//! | joint | contacts | gap | rows that stay |
//! |---|---|---|---|
//! | revolute in the plane, or without length | pin in a hole | r − \|c\| | axial, two tilts |
//! | revolute | two rims in a bore | r − \|cᵢ\| | axial |
//! | cylindrical | two rims in a bore, or a pin in a hole without length | the same | none, or two tilts |
//! | prismatic, round | two rims in a bore | the same | roll |
//! | prismatic, square, and in the plane | corners against their own walls | w − s d·(corner − o) | none |
//! | spherical | ball in a socket | r − \|c\| | none |
//!
//! With axial play a revolute joint has two thrust faces in place of its axial row: gaps a/2 ± d·r.

use super::{Clearance, Laid, Setting};
use crate::multibody::pair::{
    AnyPair, BallSocket, Block, Bore, CornerWall, Cylinder, PinHole, Plane, RimsBore, Socket, Sphere, SpherePlane,
};

/// Least play, as a part of the length of the model: less is lost in the rounding of positions.
const LEAST: f64 = 1e-12;

/// What a play is like across the axis of a prismatic joint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Section {
    /// A round slider in a bore; a key keeps it from rolling.
    #[default]
    Round,
    /// A square slider in a square guide. In the plane it is always this one.
    Square,
}

/// How the place of a pin, ball or slider in its hole is measured: r is the point of b less that of a, or the same of
/// the two ends of b, at ±length/2 along its axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Play {
    /// The point of a and that of b, in their axes.
    pub points: [[f64; 3]; 2],
    /// (u, w, d) of a along which r is taken, with their names.
    pub across: Vec<(&'static str, [f64; 3])>,
    /// The axis of b, where its two ends are measured.
    pub ends: Option<[f64; 3]>,
    /// Whether each component of r is bound by the play; else its length is.
    pub is_square: bool,
    /// Number of pairs that stand for it, before those of thrust faces.
    pub contacts: usize,
}

/// What is wrong with a play: the quantity, its value and what is allowed.
pub(crate) type Wrong = (&'static str, f64, &'static str);

impl Clearance {
    /// A play between hole and pin, both in m: their difference of radii, and the radius of the hole.
    pub fn new(radial: f64, radius: f64) -> Clearance {
        Clearance { radial, radius, ..Clearance::default() }
    }

    /// Length of the bearing [m].
    pub fn length(mut self, length: f64) -> Clearance {
        self.length = length;
        self
    }

    /// Play along the axis [m].
    pub fn axial(mut self, axial: f64) -> Clearance {
        self.axial = axial;
        self
    }

    /// Newton's coefficient of restitution of the contacts [-].
    pub fn restitution(mut self, e: f64) -> Clearance {
        self.surface.restitution = e;
        self
    }

    /// Coefficient of friction of the contacts [-].
    pub fn friction(mut self, mu: f64) -> Clearance {
        self.surface.friction = mu;
        self
    }

    /// A square slider in a square guide, in a prismatic joint.
    pub fn square(mut self) -> Clearance {
        self.section = Section::Square;
        self
    }

    /// Rims are the tilted circles that they are, not spheres.
    pub fn exact_rims(mut self) -> Clearance {
        self.rim = crate::multibody::pair::Rim::Exact;
        self
    }

    /// What is wrong with it on a joint of this kind, in a model of this length [m].
    fn check(&self, kind: &str, is_planar: bool, length: f64) -> Result<(), Wrong> {
        let finite = [
            ("the radial play", self.radial),
            ("the radius of the play", self.radius),
            ("the length of the play", self.length),
            ("the axial play", self.axial),
        ];
        if let Some((what, value)) = finite.into_iter().find(|(_, x)| !(x.is_finite() && *x >= 0.0)) {
            return Err((what, value, "it must be finite and not negative"));
        }
        let least = LEAST * length.max(self.radius);
        if self.radial < least {
            return Err(("the radial play", self.radial, "it is lost in rounding; use an ideal joint"));
        }
        if self.axial > 0.0 && self.axial < least {
            return Err(("the axial play", self.axial, "it is lost in rounding; give none"));
        }
        if self.radius <= self.radial {
            return Err(("the radius of the play", self.radius, "it is that of the hole, larger than the play"));
        }
        if self.axial > 0.0 && (is_planar || kind != "revolute") {
            return Err(("the axial play", self.axial, "only revolute joints in space have one"));
        }
        if kind == "prismatic" && self.length == 0.0 {
            return Err(("the length of the play", 0.0, "a slider needs a length, or nothing keeps it from tilting"));
        }
        Ok(())
    }
}

/// Puts contacts in the place of rows. `length` is that of the model [m].
pub(crate) fn give_way(
    kind: &str,
    clearance: &Clearance,
    setting: &Setting,
    length: f64,
    out: &mut Laid,
) -> Result<(), Wrong> {
    clearance.check(kind, setting.is_planar, length)?;
    let keeps: &[&str] = match kind {
        "revolute" if is_short(clearance, setting) => &["axial", "tilt-u", "tilt-w"],
        "revolute" if clearance.axial == 0.0 => &["axial"],
        "cylindrical" if is_short(clearance, setting) => &["tilt-u", "tilt-w"],
        "prismatic" if clearance.section == Section::Round && !setting.is_planar => &["roll"],
        _ => &[],
    };
    out.rows.retain(|(name, _)| keeps.contains(name) && !(*name == "axial" && clearance.axial > 0.0));
    for (name, pair) in contacts(kind, clearance, setting) {
        out.contacts.push((name.into(), pair, clearance.surface));
    }
    out.play = Some(play(kind, clearance, setting, out));
    Ok(())
}

fn play(kind: &str, clearance: &Clearance, setting: &Setting, laid: &Laid) -> Play {
    let slides = kind == "prismatic";
    let directions = match kind {
        "prismatic" if setting.is_planar => 1,
        "spherical" if !setting.is_planar => 3,
        _ => 2,
    };
    let names = ["u", "w", "d"].into_iter().zip(setting.axes[0]);
    let has_ends = slides || kind != "spherical" && !is_short(clearance, setting);
    Play {
        points: setting.points,
        across: names.take(directions).collect(),
        ends: has_ends.then_some(setting.axes[1][2]),
        is_square: slides && (setting.is_planar || clearance.section == Section::Square),
        contacts: laid.contacts.iter().filter(|(name, ..)| !name.starts_with("thrust")).count(),
    }
}

/// Whether one section of the pin stands for all of it.
fn is_short(clearance: &Clearance, setting: &Setting) -> bool {
    setting.is_planar || clearance.length == 0.0
}

fn contacts(kind: &str, clearance: &Clearance, setting: &Setting) -> Vec<(&'static str, AnyPair)> {
    let Setting { points: [on_a, on_b], axes: [[u_a, w_a, d_a], [u_b, w_b, d_b]], .. } = *setting;
    let Clearance { radial, radius, length, axial, section, rim, .. } = *clearance;
    let pin = radius - radial;
    if kind == "spherical" {
        let (socket, ball) = (Socket { centre: on_a, radius }, Sphere { centre: on_b, radius: pin });
        return vec![("ball", BallSocket { socket, ball }.into())];
    }
    if kind == "prismatic" && (setting.is_planar || section == Section::Square) {
        let depth = if setting.is_planar { 0.0 } else { pin };
        let block = Block { centre: on_b, axes: [d_b, u_b, w_b], half: [0.5 * length, pin, depth] };
        let wall = |normal, axis| CornerWall { centre: on_a, normal, along: d_a, half: radius, block, axis };
        let mut walls: Vec<(&'static str, AnyPair)> = vec![("guide", wall(u_a, 1).into())];
        if !setting.is_planar {
            walls = vec![("guide-u", wall(u_a, 1).into()), ("guide-w", wall(w_a, 2).into())];
        }
        return walls;
    }
    let bore = Bore { centre: on_a, axis: d_a, radius };
    if is_short(clearance, setting) {
        return with_thrust(
            ("pin", PinHole { hole: bore, pin: Sphere { centre: on_b, radius: pin } }.into()),
            (on_a, d_a, on_b),
            axial,
        );
    }
    let pin = Cylinder { centre: on_b, axis: d_b, radius: pin, half: 0.5 * length };
    with_thrust(("rim", RimsBore { bore, pin, rim }.into()), (on_a, d_a, on_b), axial)
}

/// With two thrust faces, where there is axial play.
fn with_thrust(
    radial: (&'static str, AnyPair),
    (on_a, d, on_b): ([f64; 3], [f64; 3], [f64; 3]),
    axial: f64,
) -> Vec<(&'static str, AnyPair)> {
    let mut contacts = vec![radial];
    if axial > 0.0 {
        for (name, side) in [("thrust-lower", 1.0), ("thrust-upper", -1.0)] {
            let normal = d.map(|x| side * x);
            let point = std::array::from_fn(|i| on_a[i] - 0.5 * axial * normal[i]);
            let pair = SpherePlane { plane: Plane { point, normal }, sphere: Sphere::point(on_b) };
            contacts.push((name, pair.into()));
        }
    }
    contacts
}
