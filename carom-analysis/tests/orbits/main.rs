//! Periodic orbits through impacts, against closed forms and independent methods.

mod cyclic;
mod free;
mod literature;
mod model;
mod special;
mod table;
