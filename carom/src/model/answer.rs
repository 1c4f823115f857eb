//! What a closure of a model may return.

use super::ModelError;

/// The value itself, or a `Result` where the closure may fail: `|_, q| q[0]` and `|t, q| lookup(t, q)?` are both gaps.
pub trait Answer<T> {
    /// The value or the failure.
    fn answer(self) -> Result<T, ModelError>;
}

impl<T> Answer<T> for T {
    #[inline]
    fn answer(self) -> Result<T, ModelError> {
        Ok(self)
    }
}

impl<T> Answer<T> for Result<T, ModelError> {
    #[inline]
    fn answer(self) -> Result<T, ModelError> {
        self
    }
}
