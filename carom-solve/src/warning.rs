//! Kinds of warnings: what everyone who warns has in common.

use crate::{Archive, ArchiveError, Blank, Persist};

/// A kind of warning. To add one, write a constant where it is raised; nothing else has to know of it.
///
/// ```
/// use carom_solve::WarningKind;
/// const GRAZING: WarningKind = WarningKind {
///     name: "grazing",
///     message: "an impact is slower than its accuracy",
///     unit: "m/s",
///     hint: "a smaller `atol` tells whether it takes place",
/// };
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct WarningKind {
    /// One or two words for programs, as in `energy-gain`.
    pub name: &'static str,
    /// What happened, in a sentence without its figures.
    pub message: &'static str,
    /// Unit of the figure; the larger the figure, the worse.
    pub unit: &'static str,
    /// What may be done about it.
    pub hint: &'static str,
}

impl WarningKind {
    /// None of them.
    const NONE: WarningKind = WarningKind { name: "", message: "", unit: "", hint: "" };
}

/// Kinds are told apart by their words. One that is read lives as long as the process.
impl Persist for &'static WarningKind {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        let WarningKind { mut name, mut message, mut unit, mut hint } = **self;
        (&mut name, &mut message, &mut unit, &mut hint).persist(archive)?;
        let kind = WarningKind { name, message, unit, hint };
        if kind != **self {
            *self = Box::leak(Box::new(kind));
        }
        Ok(())
    }
}

impl Blank for &'static WarningKind {
    fn blank() -> Self {
        &WarningKind::NONE
    }
}
