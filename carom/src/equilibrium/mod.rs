//! Rest: where a mechanical system stays, what holds it, how far it is from moving, and how it vibrates.
//!
//! ```text
//!     F(t, q, 0) + Cᵀ λ = 0,   gaps of joints = 0,   gaps of contacts ≥ 0,   λ_i ∈ K_i (0 where a gap is open)     (1)
//!     Zᵀ M Z ÿ + Zᵀ K Z y = 0,   K = −∂F/∂q − Σ λ_r ∂C_rᵀ/∂q,   C Z = 0                                            (2)
//! ```
//!
//! - A position is one of rest where reactions with (1) exist. This is a convex program (`reactions`); friction is not
//!   associated, so that no reactions means that it moves, for certain, while reactions mean that it may rest.
//! - Where the start is none, one is searched (`search`): steps of the motion without inertia, with the contacts solved
//!   as in any other step, then Newton's method with the exact derivatives (2).
//! - Reactions need not be unique: friction and redundant joints leave them open. Ranges of each one, and of the part
//!   of its friction that a contact needs, are extremes over all reactions.
//! - Vibrations (2) count with the preload: K has the geometric stiffness of forces, joints and contacts. Contacts that
//!   carry stay closed, those that stick do not slide.

mod place;
mod program;
mod reactions;
mod search;
mod vibration;

use crate::model::Tangent;
use crate::{Mechanical, ModelError, State};
use carom_solve::Law;
use reactions::Reactions;
use serde::{Deserialize, Serialize};

pub use vibration::{Mode, Vibrations};

/// A balance holds up to this part of the forces.
const BALANCE: f64 = 1e-9;

/// A normal force above this part of the forces, scaled by the mass, carries.
const CARRIES: f64 = 1e-8;

/// Most velocities: the linear algebra here is dense.
const MOST: usize = 3000;

/// A system at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// Where it rests.
    pub state: State,
    /// Steps of the search; zero where it rests at the start.
    pub steps: usize,
    /// By how much forces and reactions do not balance, as a part of the forces.
    pub residual: f64,
    /// Directions of the reactions that the balance leaves open.
    pub freedom: usize,
    /// The laws, in the order of the model.
    pub laws: Vec<LawAtRest>,
    /// Part of all coefficients of friction with which it would still rest; nothing where there is no friction.
    pub reserve: Option<f64>,
    /// Small vibrations, or why there are none.
    pub vibrations: Result<Vibrations, String>,
}

/// What a law does at rest.
#[derive(Clone, Debug, PartialEq)]
pub struct LawAtRest {
    /// Its name.
    pub name: String,
    /// The law, of forces.
    pub law: Law,
    /// Its gap [m].
    pub gap: f64,
    /// Whether it acts.
    pub status: Status,
    /// (rows) reactions [N].
    pub reaction: Vec<Interval>,
    /// (discs) the part of the friction that is needed [-]; nothing where there is none.
    pub usage: Vec<Option<Interval>>,
}

/// How a law acts at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// A joint, or another law that always acts.
    Holds,
    /// A closed contact that presses with every reaction.
    Carries,
    /// A closed contact that presses with some of the reactions.
    MayCarry,
    /// A closed contact that does not press.
    Touches,
    /// An open contact.
    Open,
}

impl Status {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Status::Holds => "holds",
            Status::Carries => "carries",
            Status::MayCarry => "may carry",
            Status::Touches => "touches",
            Status::Open => "open",
        }
    }
}

/// A number that may be open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Nothing where there is no least value.
    pub least: Option<f64>,
    /// In one reaction, which is in the middle of those at the ends of all intervals.
    pub middle: f64,
    /// Nothing where there is no largest value.
    pub most: Option<f64>,
}

impl Interval {
    fn only(value: f64) -> Interval {
        Interval { least: Some(value), middle: value, most: Some(value) }
    }
}

/// Why no rest was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EquilibriumError {
    /// The model cannot be evaluated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// It moves whatever the reactions.
    #[error(
        "no rest was found in {steps} steps: `{moves}` moves most, and {residual:.3e} of the forces are not balanced"
    )]
    NotFound {
        /// Steps of the search.
        steps: usize,
        /// The coordinate with the largest share of the motion.
        moves: String,
        /// The part of the forces that reactions cannot balance where the search ended.
        residual: f64,
    },
    /// It does not rest where it is drawn.
    #[error("it does not rest here: `{moves}` moves most, and {residual:.3e} of the forces are not balanced")]
    NotHere {
        /// The coordinate with the largest share of the motion.
        moves: String,
        /// The part of the forces that reactions cannot balance.
        residual: f64,
    },
    /// Something is driven.
    #[error("`{law}` is driven with {rate:.3e} at t = {t:?}: what is driven does not rest")]
    Driven {
        /// The motor or moving obstacle.
        law: String,
        /// Its velocity [m/s].
        rate: f64,
        /// Time [s].
        t: f64,
    },
    /// Friction whose bounds are no constants.
    #[error(
        "the friction `{law}` follows the load of its joint: rest is searched for with constant friction of joints"
    )]
    Bearing {
        /// The friction.
        law: String,
    },
    /// Too many unknowns.
    #[error("the model has {velocities} velocities; rest is searched for up to {MOST}")]
    Large {
        /// How many.
        velocities: usize,
    },
    /// No range could be computed.
    #[error("the ranges of the reactions could not be computed: a program is missed by {0:.3e} of the forces")]
    Program(f64),
}

/// Where rest is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Where {
    /// At a position alone.
    Here,
    /// There, if it is one of rest, or where the system comes to from there without inertia.
    #[default]
    FromHere,
}

/// Finds rest from a position, at its time.
///
/// # Errors
/// Fails where none is found, with what moves.
pub fn equilibrium(
    model: &mut dyn Mechanical,
    tangent: &mut dyn Tangent,
    from: &State,
    place: Where,
) -> Result<Equilibrium, EquilibriumError> {
    if model.dim() > MOST {
        return Err(EquilibriumError::Large { velocities: model.dim() });
    }
    if let [bearing, ..] = model.bearings() {
        let law = model.labels().contacts.get(bearing.law).map(|(name, _)| name.clone()).unwrap_or_default();
        return Err(EquilibriumError::Bearing { law });
    }
    let found = search::search(model, tangent, from, place)?;
    describe(model, tangent, found)
}

/// Ranges, margins and vibrations at rest.
fn describe(
    model: &mut dyn Mechanical,
    tangent: &mut dyn Tangent,
    search::Found { place, mut reactions, steps, violation }: search::Found,
) -> Result<Equilibrium, EquilibriumError> {
    reactions.set_slack(violation);
    let ranges = Ranges::of(&mut reactions)?;
    let reserve = reserve(&mut reactions);
    let lambda = reactions.lambda(&ranges.middle);
    let mut laws = Vec::new();
    for (i, pair) in place.coupling.pairs.iter().enumerate() {
        let Some(k) = place.active.iter().position(|&law| law == i) else {
            let (reaction, usage) = (vec![Interval::only(0.0); pair.law.size()], vec![None; pair.law.discs().count()]);
            let (name, law, status) = (model.contact_name(pair.key), pair.law, Status::Open);
            laws.push(LawAtRest { name, law, gap: place.coupling.gap(i), status, reaction, usage });
            continue;
        };
        let rows = reactions.offset[k]..reactions.offset[k + 1];
        let mut reaction: Vec<Interval> =
            rows.map(|row| Interval { middle: lambda[row], ..ranges.rows[row] }).collect();
        // what slack has taken away from the bound itself
        reaction[0].least = reaction[0].least.map(|least| least.max(pair.law.bounds().0));
        let size = CARRIES * reactions.size(k);
        let status = match (&reaction[0], pair.law.is_contact()) {
            (_, false) => Status::Holds,
            (normal, _) if normal.least.is_some_and(|x| x > size) => Status::Carries,
            (normal, _) if normal.most.is_none_or(|x| x > size) => Status::MayCarry,
            _ => Status::Touches,
        };
        let discs = reactions.discs.iter().enumerate().filter(|(_, disc)| disc.law == k);
        let usage = discs.map(|(d, _)| ranges.discs[d]).collect();
        let (name, gap) = (model.contact_name(pair.key), place.coupling.gap(i));
        laws.push(LawAtRest { name, law: pair.law, gap, status, reaction, usage });
    }
    let vibrations = vibration::vibrations(model, tangent, &place, (&reactions, &lambda), &laws)?;
    Ok(Equilibrium {
        state: State::new(place.t, &place.q, &vec![0.0; model.dim()]),
        steps,
        residual: reactions.residual.max(violation),
        freedom: reactions.freedom(),
        laws,
        reserve,
        vibrations,
    })
}

/// Extremes over all reactions.
struct Ranges {
    rows: Vec<Interval>,
    discs: Vec<Option<Interval>>,
    middle: Vec<f64>, // scaled
}

impl Ranges {
    fn of(reactions: &mut Reactions) -> Result<Ranges, EquilibriumError> {
        let count = reactions.offset[reactions.offset.len() - 1];
        let (mut rows, mut points) = (Vec::with_capacity(count), Vec::new());
        for row in 0..count {
            if !reactions.is_open(row) {
                rows.push(Interval::only(reactions.lambda(&reactions.only())[row]));
                continue;
            }
            let mut ends = [None, None];
            for (end, sign) in ends.iter_mut().zip([-1.0, 1.0]) {
                *end = reactions.extreme(row, sign)?.map(|(value, x)| {
                    points.push(x);
                    value
                });
            }
            rows.push(Interval { least: ends[0], middle: 0.0, most: ends[1] });
        }
        let only = reactions.only();
        let middle = match points.len() {
            0 => only,
            n => (0..count).map(|i| points.iter().map(|x| x[i]).sum::<f64>() / n as f64).collect(),
        };
        let discs = (0..reactions.discs.len()).map(|d| {
            let point = &middle;
            let middle = reactions.used(&reactions.discs[d], point)?;
            let open = reactions.discs[d].rows.clone().chain([reactions.discs[d].first]).any(|i| reactions.is_open(i));
            let [least, most] = if open { reactions.usage(d, point)? } else { [middle; 2] };
            Some(Interval { least: Some(least), middle, most: Some(most) })
        });
        let discs = discs.collect();
        Ok(Ranges { rows, discs, middle })
    }
}

/// The least part of all friction with which reactions exist.
fn reserve(reactions: &mut Reactions) -> Option<f64> {
    if !reactions.discs.iter().any(|disc| disc.acts()) {
        return None;
    }
    let missed = reactions.rounding();
    let rests = |reactions: &mut Reactions, share: f64| reactions.violation(share) <= missed;
    if rests(reactions, 0.0) {
        return Some(0.0);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while high - low > 1e-10 {
        let middle = 0.5 * (low + high);
        if rests(reactions, middle) { high = middle } else { low = middle }
    }
    Some(high)
}
