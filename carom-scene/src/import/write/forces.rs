//! Springs, damping, rotors, loops and couplers.

use super::super::place::Stance;
use super::super::robot::{Freedom, Motion, Tie, times};
use super::super::{Feature, Notes};
use super::line::{Line, number};
use super::{Handle, Writer};

impl<'a> Writer<'a> {
    /// Springs, damping and rotors.
    pub(super) fn springs(&mut self, part: usize, joint: &'a Motion, stance: &Stance, notes: &mut Notes) {
        let has = |x: f64, feature: Feature| if self.options.has(feature) { x } else { 0.0 };
        let (stiffness, damping) = (has(joint.stiffness, Feature::Springs), has(joint.damping, Feature::Damping));
        let armature = has(joint.armature, Feature::Armature);
        let Some(handle) = self.handles.get(joint.name.as_str()).cloned() else {
            match joint.freedom {
                Freedom::Ball if damping > 0.0 => self.ball_damping(part, damping),
                Freedom::Free if stiffness + damping + armature > 0.0 => {
                    notes.leave("springs, damping and armature of free joints", &joint.place);
                }
                _ => {}
            }
            return;
        };
        if stiffness > 0.0 || damping > 0.0 {
            self.out.push(Line::Table("spring"));
            self.out.push(Line::text("kind", if handle.turns { "torsion" } else { "linear" }));
            self.out.push(Line::text("joint", &handle.name));
            let rest = joint.rest - stance.start;
            if stiffness > 0.0 {
                self.out.push(Line::number("stiffness", stiffness));
                if rest != 0.0 {
                    self.out.push(Line::number("rest", rest));
                }
            }
            if damping > 0.0 {
                self.out.push(Line::number("damping", damping));
            }
        }
        if armature > 0.0 {
            self.rotor(joint, &handle, stance, armature);
        }
    }

    /// Torques against the angular velocity of a part beside that of what carries it.
    fn ball_damping(&mut self, part: usize, damping: f64) {
        let of = |name: &str, axis: &str| format!("{}.w{axis}", name.replace('-', "_"));
        let (child, parent) = (self.bodies[part].clone(), self.robot.parts[part].parent);
        let parent = parent.map(|parent| self.bodies[parent].clone());
        for (body, sign) in [(Some(&child), "-"), (parent.as_ref(), "")] {
            let Some(body) = body else { continue };
            let terms = ["x", "y", "z"].map(|axis| {
                let rate = match &parent {
                    Some(parent) => format!("({} - {})", of(&child, axis), of(parent, axis)),
                    None => of(&child, axis),
                };
                format!("\"{sign}{}*{rate}\"", number(damping))
            });
            self.out.extend([Line::Table("load"), Line::text("body", body)]);
            self.out.push(Line::Value("torque", format!("[{}]", terms.join(", "))));
        }
    }

    /// A wheel on the ground that turns as a joint does: it has the inertia of the joint's rotor and no other effect.
    fn rotor(&mut self, joint: &Motion, handle: &Handle, stance: &Stance, armature: f64) {
        let name = self.names.make(&format!("{}-rotor", joint.name), "body");
        let rate = self.options.rates.iter().rfind(|(known, _)| *known == joint.name);
        let rate = rate.and_then(|(_, rate)| rate.first().copied()).unwrap_or(0.0);
        self.out.extend([
            Line::Table("body"),
            Line::Comment(format!("the rotor of {}", joint.name)),
            Line::text("name", &name),
            Line::number("mass", 1.0),
            Line::vector("inertia", [armature; 3]),
            Line::vector("position", stance.at),
        ]);
        if rate != 0.0 {
            self.out.push(Line::vector("spin_world", times(stance.axis, rate)));
        }
        let pivot = self.open("revolute", &format!("{}-shaft", joint.name), &format!("[\"ground\", \"{name}\"]"));
        self.out.extend([Line::vector("at", stance.at), Line::vector("axis", stance.axis)]);
        let gear = self.names.make(&format!("{}-gear", joint.name), "joint");
        self.out.extend([Line::Table("joint"), Line::text("name", &gear)]);
        let (kind, key) = if handle.turns { ("gear", "ratio") } else { ("rack", "radius") };
        self.out.push(Line::text("kind", kind));
        let pivot = pivot.unwrap_or_default();
        self.out.push(Line::Value("joints", format!("[\"{pivot}\", \"{}\"]", handle.name)));
        self.out.push(Line::number(key, 1.0));
    }

    /// Joints that close loops, and coordinates that follow others.
    pub(super) fn ties(&mut self, notes: &mut Notes) {
        for (wanted, tie, place) in &self.robot.ties {
            match tie {
                Tie::Point([a, b], at) => {
                    let world = a.map_or(*at, |part| self.placed[part].pose.point(*at));
                    if self.tie("spherical", wanted, [*a, *b]) {
                        self.out.push(Line::vector("at", world));
                    }
                }
                Tie::Whole([a, b]) => {
                    let world = a.or(*b).map_or([0.0; 3], |part| self.placed[part].pose.at);
                    if self.tie("fixed", wanted, [*a, *b]) {
                        self.out.push(Line::vector("at", world));
                    }
                }
                Tie::Follow { joint, other, factor, constant } => {
                    let found = (self.handles.get(joint.as_str()), other.as_ref());
                    let (Some(own), other) = found else {
                        notes.leave("relations of joints without a coordinate", place);
                        continue;
                    };
                    let other = match other {
                        Some(name) => match self.handles.get(name.as_str()) {
                            Some(other) => Some(other.clone()),
                            None => {
                                notes.leave("relations of joints without a coordinate", place);
                                continue;
                            }
                        },
                        None => None,
                    };
                    let expected = constant + factor * other.as_ref().map_or(0.0, |other| other.start);
                    if (own.start - expected).abs() > 1e-9 * (1.0 + expected.abs()) {
                        notes.leave("relations of joints that the start violates (see --position)", place);
                        continue;
                    }
                    let own = own.clone();
                    self.follow(wanted, &own, other.as_ref(), *factor);
                }
            }
        }
    }

    fn follow(&mut self, wanted: &str, own: &Handle, other: Option<&Handle>, factor: f64) {
        let Some(other) = other.filter(|_| factor != 0.0) else {
            self.out.extend([Line::Table("motor"), Line::text("joint", &own.name)]);
            self.out.push(Line::Value("position", "0".into()));
            return;
        };
        let name = self.names.make(wanted, "coupler");
        self.out.extend([Line::Table("joint"), Line::text("name", &name), Line::text("kind", "coupler")]);
        self.out.push(Line::Value("joints", format!("[\"{}\", \"{}\"]", own.name, other.name)));
        self.out.push(Line::Value("factors", format!("[1, {}]", number(-factor))));
        self.joints += 1;
    }

    /// A joint between parts that are not the same; whether it was written.
    fn tie(&mut self, kind: &str, wanted: &str, [a, b]: [Option<usize>; 2]) -> bool {
        if a == b {
            return false;
        }
        let pair = format!("[\"{}\", \"{}\"]", self.body_name(a), self.body_name(b));
        self.open(kind, wanted, &pair);
        self.joints += 1;
        true
    }
}
