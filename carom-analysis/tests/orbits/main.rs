//! Periodic orbits through impacts, against closed forms and independent methods.

mod free;
mod literature;
mod model;
mod special;
