//! Projected schemes against the reference numbers of their specification, closed forms and each other.

mod bar;
mod block;
mod one_degree;
mod ring;
mod robustness;
mod slider_crank;

use carom::scheme::{CombinedProjection, DirectProjection};
use carom::scheme::{Forecast, Metric, MoreauJean, ReactionDirection, Scheme, System};
use carom::{Coupling, Mechanical, State, Step, StepError};

/// What happened in each step.
struct Trace {
    h: f64,
    states: Vec<State>,
    /// Normal impulses and multipliers of all laws, after each step.
    impulses: Vec<Vec<f64>>,
    tau: Vec<Vec<f64>>,
    /// Gaps of all laws, at the start and after each step.
    gaps: Vec<Vec<f64>>,
    energy: Vec<f64>,
    steps: Vec<Step>,
}

impl Trace {
    fn largest_tau(&self) -> f64 {
        self.tau.iter().flatten().fold(0.0, |m, t| m.max(t.abs()))
    }

    fn least_gap(&self) -> f64 {
        self.gaps.iter().flatten().copied().fold(f64::INFINITY, f64::min)
    }

    fn last(&self) -> &State {
        self.states.last().unwrap()
    }

    /// Largest |v_i| over states from time `t` on.
    fn speed_after(&self, t: f64, i: usize) -> f64 {
        self.states.iter().filter(|s| s.t >= t).fold(0.0, |m, s| m.max(s.v[i].abs()))
    }

    fn impulse(&self) -> f64 {
        self.impulses.iter().flatten().sum()
    }

    /// Mean and largest number of Newton iterations in a step.
    fn iterations(&self) -> (f64, u32) {
        let counts = self.steps.iter().map(|s| s.iterations);
        (counts.clone().sum::<u32>() as f64 / self.steps.len() as f64, counts.max().unwrap_or(0))
    }
}

/// Steps of size `h`, as many as asked for, or until the first failure.
fn attempt<S>(scheme: &S, model: impl Mechanical + 'static, h: f64, steps: usize) -> Result<Trace, StepError>
where
    S: Scheme<Model = dyn Mechanical>,
{
    watch(scheme, model, h, steps, |_, _| {})
}

/// As [`attempt`], with a look at the work after each step.
fn watch<S>(
    scheme: &S,
    model: impl Mechanical + 'static,
    h: f64,
    steps: usize,
    mut look: impl FnMut(&S::Work, &State),
) -> Result<Trace, StepError>
where
    S: Scheme<Model = dyn Mechanical>,
{
    let mut model: Box<dyn Mechanical> = Box::new(model);
    let mut solver = carom_solve::solver::default();
    let mut work = scheme.workspace(&mut *model).unwrap();
    let mut from = model.initial();
    let mut to = from.clone();
    let mut coupling = Coupling::default();
    let mut gaps = |model: &mut dyn Mechanical, at: &State| -> Result<Vec<f64>, StepError> {
        model.couple(at.t, &at.q, &mut coupling)?;
        Ok(coupling.pairs.iter().map(|p| p.gap).collect())
    };
    let mut trace = Trace {
        h,
        states: vec![from.clone()],
        impulses: Vec::new(),
        tau: Vec::new(),
        gaps: vec![gaps(&mut *model, &from)?],
        energy: model.energy(&from).iter().map(|e| e.total()).collect(),
        steps: Vec::new(),
    };
    for k in 0..steps {
        let system = System { model: &mut *model, solver: &mut *solver };
        let step = scheme.step(&mut work, system, &from, h, &mut to)?;
        to.t = (k + 1) as f64 * h;
        look(&work, &to);
        let reactions = scheme.reactions(&work);
        trace.impulses.push((0..reactions.len()).map(|i| reactions.normal(i)).collect());
        trace.tau.push(reactions.projection.clone());
        trace.gaps.push(gaps(&mut *model, &to)?);
        trace.energy.extend(model.energy(&to).map(|e| e.total()));
        trace.steps.push(step);
        trace.states.push(to.clone());
        std::mem::swap(&mut from, &mut to);
    }
    Ok(trace)
}

fn run<S>(scheme: &S, model: impl Mechanical + 'static, h: f64, steps: usize) -> Trace
where
    S: Scheme<Model = dyn Mechanical>,
{
    attempt(scheme, model, h, steps).unwrap()
}

fn gamma(gamma: f64) -> Forecast {
    Forecast::Explicit { gamma }
}

/// Moreau-Jean as in the specification: reactions at the end of the step.
fn plain(forecast: Forecast) -> MoreauJean {
    MoreauJean { forecast, reaction: ReactionDirection::End, ..MoreauJean::default() }
}

fn direct(forecast: Forecast) -> DirectProjection {
    let (reaction, metric) = (ReactionDirection::End, Metric::Identity);
    DirectProjection { forecast, reaction, metric, ..DirectProjection::default() }
}

fn combined() -> CombinedProjection {
    let (reaction, metric) = (ReactionDirection::End, Metric::Identity);
    CombinedProjection { reaction, metric, ..CombinedProjection::default() }
}

#[track_caller]
fn close(actual: f64, expected: f64, relative: f64) {
    assert!((actual - expected).abs() <= relative * expected.abs(), "{actual} instead of {expected}");
}

#[track_caller]
fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual - expected).abs() <= tolerance, "{actual} instead of {expected} ± {tolerance}");
}
