//! The `carom` command as a user calls it: files in, files, text and exit codes out.

mod adaptive;
mod converge;
mod dump;
mod events;
mod everyday;
mod examples;
mod failures;
mod first_order;
mod forces;
mod loose;
mod manual;
mod mistakes;
mod options;
mod orbits;
mod pages;
mod report;
mod session;
mod signals;
mod step_tangents;
mod stored;
mod studies;
mod table;
mod terminal;
mod units;
mod warnings;
mod wrong_use;
