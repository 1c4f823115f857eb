//! The words in which a scheme describes an impulse balance; equation numbers are those of [`branch`](super::branch).

use carom_solve::Law;

/// Coefficients of (2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Place {
    pub tau: f64,
    pub alpha: f64,
    pub beta: f64,
    pub gamma: f64,
    pub delta: f64,
}

impl Place {
    /// Where the balance starts.
    pub const START: Place = Place { tau: 0.0, alpha: 0.0, beta: 0.0, gamma: 1.0, delta: 0.0 };

    /// Positions and velocities with the weight θ of the end, as in the θ-scheme.
    pub fn theta(theta: f64) -> Place {
        let rest = 1.0 - theta;
        Place { tau: theta, alpha: theta * rest, beta: theta * theta, gamma: rest, delta: theta }
    }

    /// The end of a step whose mean velocity has the weight θ of the end.
    pub fn end(theta: f64) -> Place {
        Place { tau: 1.0, alpha: 1.0 - theta, beta: theta, gamma: 0.0, delta: 1.0 }
    }
}

/// A direction in which (1) to (4) are differentiated: of time, of the length h, of positions, velocities and parameters.
#[derive(Clone, Copy, Debug)]
pub struct Direction<'a> {
    pub t: f64,
    pub h: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub p: &'a [f64],
}

/// What is zero on the normal row of a law that acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// U⁺ + e U; nothing of U where there is no e.
    Velocity(Option<f64>),
    /// The gap.
    Gap,
}

/// A law that may act, with its impulse.
#[derive(Clone, Copy, Debug)]
pub struct Acting {
    /// Its place in the list of the step.
    pub index: usize,
    pub law: Law,
    pub impulse: [f64; Law::MOST_ROWS],
    pub level: Level,
    /// Where its rows are taken as directions of impulses, and where as velocities or gaps: numbers of [`Branch::site`].
    pub input: usize,
    pub output: usize,
}
