//! Schemes whose step has a derivative.

use super::{Registered, Scheme};
use crate::balance::{BalanceTangent, Frame, TangentError};
use crate::{Mechanical, State};

/// A step that was done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Done<'a> {
    pub from: &'a State,
    pub to: &'a State,
}

/// A scheme whose step can be differentiated on its active branch: it tells the balances of its last step.
pub(crate) trait Differentiable: Registered + Scheme<Model = dyn Mechanical> {
    /// Makes a work keep what the derivative needs besides the states.
    fn record(&self, _work: &mut Self::Work) {}

    /// Carries each column of a frame, which has some, over the step that `work` has done last.
    fn advance_columns(
        &self,
        work: &Self::Work,
        done: Done<'_>,
        tangent: &mut BalanceTangent,
        frame: &mut Frame,
    ) -> Result<(), TangentError>;
}
