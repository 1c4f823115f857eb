//! What a scheme claims about itself.

/// What a scheme claims; the conformance suite measures it.
#[derive(Debug)]
pub struct SchemeInfo {
    /// Name in model files and on the command line.
    pub name: &'static str,
    /// Name in words.
    pub title: &'static str,
    /// Orders of convergence through impacts.
    pub order: Order,
    /// The level at which the contact law is written: position, velocity, acceleration.
    pub level: &'static str,
    /// Whether positions are projected besides: then there are multipliers τ ([`Reactions::projection`]).
    ///
    /// [`Reactions::projection`]: super::Reactions::projection
    pub projects: bool,
    /// Further claims in words, each one a test of the suite.
    pub claims: &'static [Claim],
    /// Keys of the bibliography.
    pub citations: &'static [&'static str],
    /// Source of the file, whose head is the page.
    pub source: &'static str,
}

/// Claimed orders: l1 norm of positions and of velocities over a span with impacts, and of positions in smooth motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Order {
    /// Of positions, through impacts.
    pub position: f64,
    /// Of velocities, through impacts.
    pub velocity: f64,
    /// Of positions, in smooth motion.
    pub smooth: f64,
}

/// Properties that the conformance suite knows how to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// With restitution 1 and constant forces the energy of the ball stays at its value to round-off.
    ConservesEnergyElastic,
    /// Penetration of the ball is bounded by a multiple of `h |u|`.
    PenetrationFirstOrder,
    /// Gaps are never violated by more than the tolerance of the projection, whatever the step.
    NoPenetration,
    /// There is no impact law: contacts with restitution are refused, and all other claims hold without it.
    Inelastic,
    /// Coulomb friction, planar and spatial.
    Friction,
    /// Coefficients of friction that depend on the state, those that jump when a contact begins to slide among them.
    VaryingFriction,
    /// Friction of joints that follows their reactions.
    Bearings,
    /// Impacts of several contacts at once by Newton's law, Poisson's, or one after the other.
    ImpactLaws,
    /// Restitution along the tangents of a contact.
    Rebounds,
    /// Bilateral constraints.
    Bilateral,
    /// Bodies at rest that sleep.
    Sleep,
}

impl Claim {
    /// The claim in words.
    pub fn sentence(&self) -> &'static str {
        match self {
            Claim::ConservesEnergyElastic => "conserves energy with restitution 1 and constant forces",
            Claim::PenetrationFirstOrder => "penetration is at most of the order of the step",
            Claim::NoPenetration => "gaps are never violated",
            Claim::Inelastic => "impacts are inelastic: restitution is refused",
            Claim::Friction => "treats Coulomb friction, planar and spatial",
            Claim::VaryingFriction => "treats coefficients of friction that depend on the state",
            Claim::Bearings => "treats friction of joints that follows their load",
            Claim::ImpactLaws => "treats several impacts at once by Newton's law, Poisson's, or one after the other",
            Claim::Rebounds => "treats restitution along the tangents of a contact",
            Claim::Bilateral => "treats bilateral constraints",
            Claim::Sleep => "lets bodies at rest sleep",
        }
    }
}
