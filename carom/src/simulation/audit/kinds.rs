//! What the audit warns of.

use crate::WarningKind;

/// Energy out of nothing.
pub const ENERGY_GAIN: WarningKind = WarningKind {
    name: "energy-gain",
    message: "the scheme has added energy that no force and no obstacle accounts for",
    unit: "of the energies met",
    hint: "take a smaller step, or a scheme without this gain (moreau-jean with theta = 1/2, event-driven)",
};

/// Energy that is gone.
pub const ENERGY_LOSS: WarningKind = WarningKind {
    name: "energy-loss",
    message: "the scheme has lost energy that no force, no contact and no obstacle accounts for",
    unit: "of the energies met",
    hint: "take a smaller step, or a scheme that does not damp (moreau-jean with theta = 1/2, event-driven)",
};

/// Vibrations that die within a few steps.
pub const DAMPED: WarningKind = WarningKind {
    name: "damped",
    message: "the scheme has damped motion that its steps do not resolve, as vibrations that an impact leaves",
    unit: "of the largest kinetic energy",
    hint: "what follows is that of a body without them: take a smaller step, or `event-driven`, to keep them",
};

/// An impact that adds energy.
pub const IMPACT_GAIN: WarningKind = WarningKind {
    name: "impact-gain",
    message: "contacts have added energy at once, as impacts with friction and a coefficient of restitution may",
    unit: "of the largest kinetic energy",
    hint: "lower the restitution or the friction of the contacts that close together",
};

/// A gap that is far too negative.
pub const PENETRATION: WarningKind = WarningKind {
    name: "penetration",
    message: "bodies overlap",
    unit: "of the largest gap that opened, or of the motion where none did",
    hint: "take a smaller step, or a scheme that places the contacts (combined-projection, event-driven)",
};

/// A reaction at an open gap.
pub const PUSH_APART: WarningKind = WarningKind {
    name: "push-apart",
    message: "a contact pushes although its gap is open",
    unit: "of the largest gap that opened, or of the motion where none did",
    hint: "the step is too large for the forecast of this gap: take a smaller one",
};

/// A contact that was passed.
pub const PASSED: WarningKind = WarningKind {
    name: "passed",
    message: "a contact was passed inside a step: its gap is open at both ends and negative in between",
    unit: "m deep",
    hint: "take a smaller step, or `event-driven`, which looks into its steps",
};

/// A contact that a model has found too late.
pub const LISTED_LATE: WarningKind = WarningKind {
    name: "listed-late",
    message: "a contact was listed when its bodies overlapped already: nothing has kept them apart before",
    unit: "m deep",
    hint: "let the model list contacts from farther away, or take a smaller step",
};

/// An event-driven run that is none.
pub const HAND_OVERS: WarningKind = WarningKind {
    name: "hand-overs",
    message: "the event-driven run was handed over to a capturing scheme again and again",
    unit: "of the steps",
    hint: "its accuracy there is that of moreau-jean; look at the contacts of the events `hand-over`",
};
