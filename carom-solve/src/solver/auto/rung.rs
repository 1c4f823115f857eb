//! The methods of the ladder, and which of them a problem gets.

use crate::{Law, Shape};

/// Laws from which on problems with friction are large.
pub(super) const LARGE: usize = 200;

/// One method of the ladder.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Rung {
    #[default]
    AtRest,
    /// Equality rows are eliminated; what is left goes to a ladder of its own.
    Equalities,
    ActiveSet,
    ClosedForm,
    Lemke,
    NewtonMin,
    /// Gauss-Seidel as long as it costs next to nothing.
    FewSweeps,
    /// Gauss-Seidel until the statuses of contacts are likely to be right, then Newton's method on these.
    Statuses,
    /// Gauss-Seidel while it pays.
    Sweeps,
    InteriorPoint,
    /// Gauss-Seidel to the end.
    AllSweeps,
    Enumeration,
    /// Groups of laws that do not see each other, each one by a ladder of its own.
    Islands,
    /// Some thousand sweeps before anything is factored.
    FirstCourse,
    /// A course of sweeps where it costs less than the path that follows.
    EarlyCourse,
    /// A few proximal Newton steps from a point that is near already.
    Finish,
    /// The interior-point path, as a start for what follows where it does not lead to a solution.
    Path,
    /// A course of sweeps to the end.
    Course,
    /// The path followed closely, and proximal Newton steps.
    Persistence,
    /// Descent of the residual itself where sweeps wander.
    Descent,
}

impl Rung {
    /// Its name in histories.
    pub(super) fn name(self) -> &'static str {
        match self {
            Rung::AtRest => "at rest",
            Rung::Equalities => "equalities",
            Rung::ActiveSet => "active set",
            Rung::ClosedForm => "closed form",
            Rung::Lemke => "lemke",
            Rung::NewtonMin => "newton-min",
            Rung::FewSweeps => "few sweeps",
            Rung::Statuses => "statuses",
            Rung::Sweeps => "sweeps",
            Rung::InteriorPoint => "interior point",
            Rung::AllSweeps => "all sweeps",
            Rung::Enumeration => "enumeration",
            Rung::Islands => "islands",
            Rung::FirstCourse => "first course",
            Rung::EarlyCourse => "early course",
            Rung::Finish => "finish",
            Rung::Path => "path",
            Rung::Course => "course",
            Rung::Persistence => "persistence",
            Rung::Descent => "descent",
        }
    }

    /// Whether a smaller tolerance makes it go on.
    pub(super) fn is_iterative(self) -> bool {
        use Rung::*;
        matches!(
            self,
            Statuses
                | Sweeps
                | AllSweeps
                | InteriorPoint
                | FirstCourse
                | EarlyCourse
                | Finish
                | Path
                | Course
                | Persistence
                | Descent
        )
    }
}

/// The rungs of large problems with friction.
const LARGE_RUNGS: &[Rung] = {
    use Rung::*;
    &[Islands, Sweeps, EarlyCourse, Finish, Path, Course, Finish, Persistence, Course, Descent]
};

/// The same for contacts of balls: what needs no `W` comes first.
pub(super) const BALLS: &[Rung] = {
    use Rung::*;
    &[Sweeps, FirstCourse, Islands, EarlyCourse, Finish, Path, Course, Finish, Persistence, Course, Descent]
};

/// The rungs for a problem.
pub(super) fn ladder(laws: &[Law], rows: usize) -> &'static [Rung] {
    use Rung::*;
    let (mut general, mut spatial, mut planar) = (false, false, false);
    for law in laws {
        match law.shape() {
            Shape::Interval { .. } => {}
            Shape::Cone1 { .. } => planar = true,
            Shape::Cone2 { .. } => spatial = true,
            Shape::General => general = true,
        }
    }
    match (laws.len(), spatial, planar, rows) {
        (1, ..) if general => &[ClosedForm, AllSweeps],
        _ if general => &[AllSweeps],
        (1, true, ..) => &[ClosedForm, Sweeps, InteriorPoint],
        (1, ..) => &[ClosedForm, Lemke, Enumeration],
        (..=16, true, ..) => &[Statuses, Sweeps, InteriorPoint, AllSweeps],
        (LARGE.., true, ..) => LARGE_RUNGS,
        (_, true, ..) => &[Sweeps, InteriorPoint, AllSweeps],
        (_, _, false, ..=400) => &[Lemke, NewtonMin, Sweeps, InteriorPoint, Enumeration],
        (_, _, false, ..=1000) => &[NewtonMin, Lemke, Sweeps, InteriorPoint],
        (_, _, false, _) => &[Sweeps, InteriorPoint, AllSweeps],
        (..=2, _, true, _) => &[Lemke, Sweeps, InteriorPoint, Enumeration],
        (_, _, true, ..=24) => &[FewSweeps, Lemke, Sweeps, InteriorPoint, Enumeration],
        (LARGE.., _, true, _) => LARGE_RUNGS,
        (_, _, true, ..=400) => &[Sweeps, InteriorPoint, Lemke, AllSweeps],
        (_, _, true, _) => &[Sweeps, InteriorPoint, AllSweeps],
    }
}
