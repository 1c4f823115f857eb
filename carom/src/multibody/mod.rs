//! Rigid bodies with joints, play and contacts, in the plane and in space.

pub mod frame;
pub mod line;
pub mod pair;
pub mod vector;

pub use frame::Frame;
pub use line::Line;
pub use pair::Touch;
pub use vector::Vector;
