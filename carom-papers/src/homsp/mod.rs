//! Moreau's sweeping process and its generalisation to higher relative degree [acary2008homsp].

mod ball;
mod claims;
mod examples;
mod system;

use crate::{Item, Paper, Trouble};
use carom::ModelError;
use carom::scheme::{EulerMoreau, Homsp, Stepper};
use carom::simulation::{Observer, StepView};
use carom_scene::Overrides;
use carom_scene::scene::Choice;
use std::ops::ControlFlow;

pub const PAPER: Paper = Paper {
    key: "homsp",
    title: "Numerical time integration of Moreau's sweeping process and of its extension to higher relative degree",
    reference: "V. Acary, B. Brogliato, 2005 (the copy at hand has no title; theory in acary2008homsp)",
    citation: "acary2005",
    numbered: (3, 0),
    items: &[
        Item {
            key: "figure-1",
            title: "Bouncing ball by the Moreau-Jean scheme",
            claim: "infinitely many rebounds in a finite time are integrated correctly (2.4)",
            run: ball::motion,
        },
        Item {
            key: "section-2.4",
            title: "Energy of the elastic ball over many impacts",
            claim: "billions of cycles without gain or loss, not possible with an event-driven scheme (2.4)",
            run: claims::energy,
        },
        Item {
            key: "example-1",
            title: "Relative degree 2: backward Euler against HOMSP",
            claim: "backward Euler is inconsistent, HOMSP gives (56) to (58) (3.4)",
            run: examples::second,
        },
        Item {
            key: "example-2",
            title: "Relative degree 3: backward Euler against HOMSP",
            claim: "backward Euler gives (60), (61), HOMSP gives (62) (3.4)",
            run: examples::third,
        },
        Item {
            key: "section-3.4",
            title: "Conditioning of the one-step problems",
            claim: "(51): Euler's matrix over h tends to 0; (64): in the canonical form it tends to a regular one \
                (3.4)",
            run: claims::conditioning,
        },
        Item {
            key: "figure-2",
            title: "System (65): trajectories, both readings of the sign",
            claim: "a sequence of intervals of contact, h = 0.1 (3.5)",
            run: system::trajectories,
        },
        Item {
            key: "figure-3",
            title: "System (65): empirical order, both readings of the sign",
            claim: "order close to 1 in the Hausdorff distance (3.5)",
            run: system::order,
        },
    ],
    absent: &[],
};

const SPEC: &str = "independent implementation";

/// A linear complementarity system with one row and no feedthrough.
struct System {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    initial: Vec<f64>,
}

/// Backward Euler also where it is inconsistent: that is what the tables show.
fn backward_euler() -> Choice {
    Choice::scheme(&EulerMoreau { theta: Some(1.0), any_degree: true, ..EulerMoreau::default() })
}

/// The higher-order sweeping process.
fn sweeping() -> Choice {
    Choice::scheme(&Homsp::default())
}

/// States and multipliers of a run.
#[derive(Default)]
struct Run {
    t: Vec<f64>,
    /// One state per time.
    x: Vec<Vec<f64>>,
    /// λ, or the measures μ of all levels, of each step.
    multipliers: Vec<Vec<f64>>,
}

impl Run {
    /// A component of all states.
    fn column(&self, i: usize) -> Vec<f64> {
        self.x.iter().map(|x| x[i]).collect()
    }

    /// Level `i` of the multipliers, zero at the start.
    fn level(&self, i: usize) -> Vec<f64> {
        let steps = self.multipliers.iter().map(|m| m.get(i).copied().unwrap_or(0.0));
        std::iter::once(0.0).chain(steps).collect()
    }

    /// The state and the multipliers of the step that ends nearest to `t`.
    fn at(&self, t: f64) -> (&[f64], &[f64]) {
        let distance = |k: &usize| (self.t[*k] - t).abs();
        let k = (0..self.t.len()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0);
        (&self.x[k], k.checked_sub(1).map_or(&[], |step| &self.multipliers[step]))
    }
}

impl Observer for Run {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.t.push(stepper.from().t);
        self.x.push(stepper.from().q.clone());
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.t.push(view.to().t);
        self.x.push(view.to().q.clone());
        let reactions = view.reactions();
        let levels = reactions.levels(0);
        self.multipliers.push(if levels.is_empty() { reactions.multiplier.clone() } else { levels.to_vec() });
        Ok(ControlFlow::Continue(()))
    }
}

impl System {
    /// The system as a model file.
    fn text(&self, h: f64, steps: usize) -> String {
        let n = self.initial.len();
        let rows: Vec<String> = self.a.chunks(n.max(1)).map(|row| format!("{row:?}")).collect();
        let column: Vec<String> = self.b.iter().map(|b| format!("[{b:?}]")).collect();
        let initial: Vec<String> = self.initial.iter().enumerate().map(|(i, x)| format!("x{i} = {x:?}")).collect();
        format!(
            "version = 1\nname = \"system\"\ninitial = {{ {} }}\nsimulation = {{ end = {:?}, step = {h:?} }}\n\
             [model]\nkind = \"lcs\"\nA = [{}]\nB = [{}]\nC = [{:?}]\n",
            initial.join(", "),
            h * steps as f64,
            rows.join(", "),
            column.join(", "),
            self.c
        )
    }

    /// Runs a scheme over `steps` steps of size `h`.
    fn run(&self, scheme: Choice, h: f64, steps: usize) -> Result<Run, Trouble> {
        let name = scheme.name.clone();
        let trouble = |e: &dyn std::fmt::Display| Trouble(format!("{name}, h = {h}: {e}"));
        let overrides = Overrides { scheme: Some(scheme.into()), ..Overrides::default() };
        let scene = carom_scene::from_str("system.toml", &self.text(h, steps), &overrides);
        let scene = scene.map_err(|all| Trouble(all.iter().map(ToString::to_string).collect()))?;
        let mut run = Run::default();
        let mut simulation = scene.simulation().map_err(|e| trouble(&e))?;
        simulation.run(&mut [&mut run]).map_err(|e| trouble(&e))?;
        Ok(run)
    }
}
