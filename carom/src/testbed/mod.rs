//! Canonical problems whose trajectory is known in closed form: one file per problem, with its paper.
//!
//! Velocities have bounded variation: v is right-continuous with countably many jumps, q is continuous. A jump is
//! asked for by its time and both one-sided limits, so that the filled-in graph (jumps as vertical segments,
//! [moreau1978]) can be drawn without guessing.

mod bouncing_ball;
mod corner;
mod diode_bridge;
mod disc;
mod hoop;
mod impact_oscillator;
mod linear_flow;
mod listing;
pub mod multibody;
mod one_degree;
mod oscillator;
mod pendulum;
mod play;
mod preloaded_oscillator;
mod rectifier;
mod rigid_body;
mod sliding_mode;
mod spinning_ball;
mod takeoff;
mod third_degree;

pub use bouncing_ball::BouncingBall;
pub use corner::Corner;
pub use diode_bridge::DiodeBridge;
pub use disc::Disc;
pub use hoop::Hoop;
pub use impact_oscillator::{ImpactOscillator, Motion, Occurrence};
pub use linear_flow::LinearFlow;
pub use listing::{Listing, Turns};
pub use one_degree::OneDegree;
pub use oscillator::LinearOscillator;
pub use pendulum::Pendulum;
pub use play::Play;
pub use preloaded_oscillator::PreloadedOscillator;
pub use rectifier::Rectifier;
pub use rigid_body::{RigidBody, RigidBodyModel};
pub use sliding_mode::SlidingMode;
pub use spinning_ball::{SpinningBall, SpinningBallModel};
pub use takeoff::Takeoff;
pub use third_degree::{Sign, ThirdDegree};

use crate::FirstOrder;

/// Longest list of jumps that [`ExactSolution::jumps`] returns.
pub const MAX_JUMPS: usize = 1_000_000;

/// An impact of a one-degree-of-freedom problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Time of the impact [s].
    pub time: f64,
    /// Velocity just before, v⁻ <= 0 [m/s].
    pub before: f64,
    /// Velocity just after, v⁺ = -e v⁻ [m/s].
    pub after: f64,
}

impl Impact {
    /// Size of the jump, |v⁺ - v⁻| [m/s].
    pub fn amplitude(&self) -> f64 {
        (self.after - self.before).abs()
    }
}

/// Bounds of second derivatives between jumps. They control the error of a sampled curve: a chord of length dt is at
/// most dt² max|x''|/8 away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curvature {
    /// Bound of the norm of q'' [m/s²].
    pub position: f64,
    /// Bound of the norm of v'' [m/s³].
    pub velocity: f64,
}

/// A trajectory in closed form, with jumps of the velocity.
///
/// Slices have the lengths [`dimension`](Self::dimension) and [`velocities`](Self::velocities). Outside the range in
/// which the closed form holds, and for parameters outside the stated ranges, the values are NaN.
pub trait ExactSolution {
    /// Short name, as in registries and file names.
    fn name(&self) -> &'static str;

    /// Citation key of the paper that poses the problem, or that its schemes come from.
    fn citation(&self) -> &'static str;

    /// Number of coordinates.
    fn dimension(&self) -> usize;

    /// Number of velocities.
    fn velocities(&self) -> usize {
        self.dimension()
    }

    /// Writes q(t) and the right-continuous v(t).
    fn at(&self, t: f64, q: &mut [f64], v: &mut [f64]);

    /// Writes the left limit of v at t, which differs from v(t) only if t is one of the [`jumps`](Self::jumps).
    fn before(&self, t: f64, v: &mut [f64]);

    /// Lists the times in (from, to] at which v jumps by at least `amplitude` [m/s], in increasing order and at most
    /// [`MAX_JUMPS`] of them. Where smaller jumps accumulate, |v| < `amplitude` after the last one listed.
    fn jumps(&self, from: f64, to: f64, amplitude: f64) -> Vec<f64>;

    /// Returns the time at which infinitely many jumps accumulate, if there is one [s].
    fn accumulation(&self) -> Option<f64> {
        None
    }

    /// Why there is no exact solution with these parameters, where there is none.
    fn refusal(&self) -> Option<String> {
        None
    }

    /// Bounds the second derivatives on [from, to) between jumps, if such a bound is known.
    fn curvature(&self, from: f64, to: f64) -> Option<Curvature> {
        let _ = (from, to);
        None
    }
}

/// A trajectory of a first-order system in closed form, or by events in closed form. States may jump; they are
/// right-continuous.
pub trait ExactState {
    /// Short name, as in registries and file names.
    fn name(&self) -> &'static str;

    /// Citation key of the paper that poses the problem, or that its schemes come from.
    fn citation(&self) -> &'static str;

    /// Number of states.
    fn dimension(&self) -> usize;

    /// Writes x(t).
    fn at(&self, t: f64, x: &mut [f64]);

    /// Writes the left limit of x at t, which differs from x(t) only if t is one of the [`jumps`](Self::jumps).
    fn before(&self, t: f64, x: &mut [f64]) {
        self.at(t, x);
    }

    /// The times in (from, to] at which x jumps.
    fn jumps(&self, from: f64, to: f64) -> Vec<f64> {
        let _ = (from, to);
        Vec::new()
    }

    /// The same problem as a model, to be simulated.
    fn system(&self) -> Box<dyn FirstOrder>;

    /// A span over which schemes are measured [s].
    fn span(&self) -> f64;
}

/// Runge-Kutta of order 4 in equal steps: what closed forms of one degree of freedom are compared with.
#[cfg(test)]
fn runge_kutta(rate: impl Fn((f64, f64)) -> (f64, f64), start: (f64, f64), duration: f64, steps: u32) -> (f64, f64) {
    let step = |x: (f64, f64), k: (f64, f64), h: f64| (x.0 + h * k.0, x.1 + h * k.1);
    let h = duration / f64::from(steps);
    (0..steps).fold(start, |x, _| {
        let k1 = rate(x);
        let k2 = rate(step(x, k1, 0.5 * h));
        let k3 = rate(step(x, k2, 0.5 * h));
        let k4 = rate(step(x, k3, h));
        let slope = (k1.0 + 2.0 * (k2.0 + k3.0) + k4.0, k1.1 + 2.0 * (k2.1 + k3.1) + k4.1);
        step(x, slope, h / 6.0)
    })
}
