//! How far off a run is: the same run again with half the step and a quarter of it (or a tenth and a hundredth of the
//! tolerance), compared.
//!
//! ```text
//!     difference  d₁ = |x_h − x_{h/2}|,  d₂ = |x_{h/2} − x_{h/4}|,      observed order  log₂(d₁/d₂)                (1)
//! ```
//!
//! With the order p the error of the run is d₁ / (1 − 2⁻ᵖ); the difference itself is what is told, for it needs no
//! assumption. Where a motion is chaotic the differences do not fall, and the order says so. Differences that are no
//! more than the rounding of the sizes met, step by step, have no order.

use crate::metric::Metric;
use crate::study::Cyclic;
use carom::elementary::log2;
use carom::scheme::Stepper;
use carom::simulation::{Observer, StepView};
use carom::{Key, ModelError, State};
use carom_solve::{Archive, ArchiveError, Persist};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Times at which positions are compared, at most.
const SAMPLES: u64 = 2000;

/// Impacts of a contact that are compared, at most.
const IMPACTS: usize = 10_000;

/// What is remembered of a run, to compare it with others.
#[derive(Clone, Debug, Default)]
pub struct Probe {
    every: Option<u64>,    // steps per sample; none where times of two runs do not meet
    states: Vec<Vec<f64>>, // positions, then velocities
    last: Vec<f64>,
    sizes: (f64, f64, f64), // the largest position, velocity and time
    steps: u64,
    impacts: BTreeMap<Key, Vec<f64>>,
    /// Other figures of the run by name: expected numbers.
    pub figures: Vec<(String, f64)>,
}

carom_solve::persist!(Probe { states, last, sizes, steps, impacts, figures } skip { every });

impl Probe {
    /// Of a run of adaptive steps, or of a scheme that chooses them: its end and its impacts.
    pub fn at_the_end() -> Probe {
        Probe::default()
    }

    /// Of a run of `steps` equal steps, each of which the finest run divides by `finer`.
    pub fn on_a_grid(steps: u64, finer: u64) -> Probe {
        Probe { every: Some(steps.div_ceil(SAMPLES).max(1) * finer), ..Probe::default() }
    }
}

fn list(state: &State) -> Vec<f64> {
    state.q.iter().chain(&state.v).copied().collect()
}

impl Observer for Probe {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        Persist::persist(self, archive)
    }

    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.last = list(stepper.from());
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let to = view.to();
        self.last.clear();
        self.last.extend(to.q.iter().chain(&to.v));
        let most = |most: f64, x: &f64| most.max(x.abs());
        self.sizes.0 = to.q.iter().fold(self.sizes.0, most);
        self.sizes.1 = to.v.iter().fold(self.sizes.1, most);
        self.sizes.2 = self.sizes.2.max(to.t.abs());
        self.steps += 1;
        if self.every.is_some_and(|every| view.index.is_multiple_of(every)) {
            self.states.push(self.last.clone());
        }
        for acting in view.impacts() {
            let times = self.impacts.entry(acting.key).or_default();
            if times.len() < IMPACTS {
                times.push(acting.located.unwrap_or(to.t));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// A figure of a run and how it changes with the step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The figure.
    pub what: String,
    /// Between the run and the next finer one; `null` where the two cannot be compared.
    pub difference: Option<f64>,
    /// Between the next finer run and the one after it.
    pub finer: Option<f64>,
    /// Observed order: the logarithm of their ratio to the base 2; none where steps are not halved, or where a
    /// difference is rounding.
    pub order: Option<f64>,
}

/// How far off a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// What was made finer, in words.
    pub refined: String,
    /// Final positions, final velocities, positions on the way, impact times, expected numbers.
    pub differences: Vec<Difference>,
}

impl Estimate {
    /// Compares a run with two finer ones, by distances as the model of `stepper` has them. `halved` tells whether
    /// steps were halved: then there is an order.
    pub fn of(refined: &str, runs: [&Probe; 3], halved: bool, stepper: &dyn Stepper) -> Estimate {
        let pairs = [(runs[0], runs[1]), (runs[1], runs[2])];
        let mut differences = Vec::new();
        // a sum has the rounding of its terms
        let rounding = f64::EPSILON * runs.iter().map(|run| run.steps + 4).max().unwrap_or(0) as f64;
        let sizes = runs.iter().fold((0.0f64, 0.0f64, 0.0f64), |most, run| {
            (most.0.max(run.sizes.0), most.1.max(run.sizes.1), most.2.max(run.sizes.2))
        });
        let mut add = |what: &str, size: f64, [difference, finer]: [Option<f64>; 2]| {
            let least = rounding * size;
            let both = difference.zip(finer).filter(|(a, b)| halved && *a > least && *b > least);
            let order = both.map(|(a, b)| log2(a / b));
            differences.push(Difference { what: what.into(), difference, finer, order });
        };
        let mut metric = Metric::new(stepper);
        let ends = pairs.map(|(a, b)| apart(&mut metric, &a.last, &b.last));
        add("positions", sizes.0, ends.map(|end| end[0]));
        if metric.positions() < stepper.dimension() {
            add("velocities", sizes.1, ends.map(|end| end[1]));
        }
        if runs[0].every.is_some() {
            let mut farthest = |(a, b): (&Probe, &Probe)| {
                let mut all = a.states.iter().zip(&b.states).map(|(a, b)| apart(&mut metric, a, b)[0]);
                all.try_fold(0.0f64, |most, d| Some(most.max(d?)))
            };
            add("positions on the way", sizes.0, [farthest(pairs[0]), farthest(pairs[1])]);
        }
        if runs.iter().any(|run| !run.impacts.is_empty()) {
            add("impact times", sizes.2, pairs.map(|(a, b)| impact_times(a, b)));
        }
        for (k, (name, _)) in runs[0].figures.iter().enumerate() {
            let figure = |run: &Probe| run.figures.get(k).map(|figure| figure.1);
            let size = runs.iter().filter_map(|run| figure(run)).fold(0.0f64, |most, x| most.max(x.abs()));
            add(name, size, pairs.map(|(a, b)| Some((figure(a)? - figure(b)?).abs()).filter(|d| d.is_finite())));
        }
        Estimate { refined: refined.into(), differences }
    }

    /// The difference of a figure by its name.
    pub fn difference(&self, what: &str) -> Option<f64> {
        self.differences.iter().find(|row| row.what == what)?.difference
    }
}

/// The largest difference of two vectors; nothing where they cannot be compared.
fn largest(a: &[f64], b: &[f64]) -> Option<f64> {
    let difference = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    (a.len() == b.len() && difference.is_finite()).then_some(difference)
}

/// The largest differences of positions and of velocities of two states, likewise.
fn apart(metric: &mut Metric<'_>, a: &[f64], b: &[f64]) -> [Option<f64>; 2] {
    let positions = metric.positions();
    let difference = metric.difference(a, b, &Cyclic::default());
    let most =
        |part: &[f64]| part.iter().all(|d| d.is_finite()).then(|| part.iter().fold(0.0, |m: f64, d| m.max(d.abs())));
    [most(&difference[..positions]), most(&difference[positions..])]
}

/// The largest difference of impact times, contact by contact; nothing where the runs differ in their impacts. What
/// follows an accumulation is beyond that.
fn impact_times(a: &Probe, b: &Probe) -> Option<f64> {
    let equal = a.impacts.len() == b.impacts.len() && a.impacts.iter().zip(&b.impacts).all(|(a, b)| a.0 == b.0);
    let pairs = a.impacts.values().zip(b.impacts.values());
    let times = pairs.map(|(a, b)| largest(a, b)).try_fold(0.0f64, |most, d| Some(most.max(d?)));
    times.filter(|_| equal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use carom::model::Lagrangian;
    use carom::scheme::{Bound, MoreauJean};

    /// A run that ends at `q` with impacts at these times.
    fn run(q: f64, times: &[f64]) -> Probe {
        let impacts = BTreeMap::from([(Key(0), times.to_vec())]);
        Probe { last: vec![q, 0.0], impacts, ..Probe::default() }
    }

    fn estimate(runs: [&Probe; 3]) -> Estimate {
        let (model, solver) = (Lagrangian::new(1).initial(&[0.0], &[0.0]), carom_solve::solver::default());
        let stepper = Bound::new(MoreauJean::default(), Box::new(model), solver).unwrap();
        Estimate::of("step", runs, true, &stepper)
    }

    #[test]
    fn orders_follow_from_three_runs() {
        // an error of 3 h²
        let runs = [0.4f64, 0.2, 0.1].map(|h| run(1.0 + 3.0 * h * h, &[h]));
        let estimate = estimate([&runs[0], &runs[1], &runs[2]]);
        let [positions, _, impacts] = &estimate.differences[..] else { panic!("{estimate:?}") };
        assert!((positions.difference.unwrap() - 0.36).abs() < 1e-15 && (positions.order.unwrap() - 2.0).abs() < 1e-12);
        assert!((impacts.difference.unwrap() - 0.2).abs() < 1e-15 && (impacts.order.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn rounding_has_no_order() {
        let energies = |e: f64| Probe { figures: vec![("final energy.total".into(), e)], steps: 1000, ..run(1.0, &[]) };
        // last digits, and a difference of second order beside them
        let of = |runs: [Probe; 3]| estimate([&runs[0], &runs[1], &runs[2]]);
        let order = |estimate: &Estimate| estimate.differences.iter().find(|row| row.what.starts_with("final"))?.order;
        assert_eq!(order(&of([2.0 + 9e-15, 2.0 + 4e-15, 2.0 - 7e-15].map(energies))), None);
        let order = order(&of([2.0 + 1.6e-9, 2.0 + 4e-10, 2.0 + 1e-10].map(energies)));
        assert!((order.unwrap() - 2.0).abs() < 1e-4, "{order:?}");
    }

    #[test]
    fn runs_with_other_impacts_are_not_compared() {
        let (a, b) = (run(1.0, &[1.0, 2.0]), run(1.0, &[1.0]));
        let estimate = estimate([&a, &b, &b]);
        assert_eq!((estimate.difference("impact times"), estimate.difference("positions")), (None, Some(0.0)));
        assert_eq!(estimate.differences.iter().filter_map(|row| row.order).count(), 0);
    }
}
