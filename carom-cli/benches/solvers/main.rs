//! Solvers side by side with Siconos where it is installed: the public friction problems, Lemke's method, Gauss-Seidel.
//!
//! `cargo xtask bench solvers [friction|lemke|sweeps]... [--markdown]`. What was asked stands beside what was measured.
//! A speed claim is a ratio of two numbers of one run.

mod clock;
mod friction;
mod lemke;
#[path = "../peer/mod.rs"]
mod peer;
mod peer_file;
mod sweeps;
mod table;

use table::Claim;

type Section = (&'static str, fn(bool) -> Vec<Claim>);

const SECTIONS: [Section; 3] = [("friction", friction::run), ("lemke", lemke::run), ("sweeps", sweeps::run)];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let given = |word: &str| words.iter().any(|other| other == word);
    // `cargo test --benches` calls this with --test: nothing to measure then
    if given("--test") {
        return;
    }
    let markdown = given("--markdown");
    let all = !SECTIONS.iter().any(|(name, _)| given(name));
    let chosen = SECTIONS.iter().filter(|(name, _)| all || given(name));
    let claims: Vec<Claim> = chosen.flat_map(|(_, run)| run(markdown)).collect();
    Claim::print(&claims, markdown);
}
