//! Model files: equations in TOML become carom models.

pub mod equations;
pub mod expression;
pub mod nearest;
