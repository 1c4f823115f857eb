//! Kinds of warnings: what everyone who warns has in common.

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
