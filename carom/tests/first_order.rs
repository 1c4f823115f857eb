//! The waists carry the second family of models: a first-order system `ẋ = f(t, x) + B λ`, `y = h(t, x) + D λ`, and a
//! small explicit Euler scheme with an implicit law, both defined here, run through the same driver and solvers as
//! mechanics.
//!
//! ```text
//!     A (x⁺ − x) = h f(t, x) + h B λ,   A = E                                        (1)
//!     y⁺ = y(t⁺, x) + C (x⁺ − x) + D λ,   λ ∈ Law(y⁺)                                (2)
//! ```

use carom::scheme::{AnyModel, Bound, Order, Reactions, SchemeError, SchemeInfo, Step, StepError, System};
use carom::simulation::{FixedStep, Recorder};
use carom::{Coupling, FirstOrder, Key, ModelError, Pair, Scheme, Simulation, Solution, Space, State};
use carom_solve::{Law, LinearSolve, OneStepProblem, Parts, ProblemWork, Reaction, Rows};

/// Explicit Euler in the smooth part, implicit in the law.
struct ExplicitEuler;

#[derive(Default)]
struct Work {
    increment: Vec<f64>, // (n) x⁺ − x
    input: Rows,         // h Bᵀ
    laws: Vec<Law>,
    b: Vec<f64>,
    problem: ProblemWork,
    z: Reaction,
    reactions: Reactions, // coupling at (t⁺, x), then λ and the outputs
}

carom_solve::persist!(Work { increment, input, laws, b, problem, z, reactions });

impl Scheme for ExplicitEuler {
    type Model = dyn FirstOrder;
    type Work = Work;
    const INFO: SchemeInfo = SchemeInfo {
        name: "explicit-euler",
        title: "Explicit Euler with an implicit law",
        order: Order { position: 1.0, velocity: 1.0, smooth: 1.0 },
        level: "position",
        projects: false,
        claims: &[],
        citations: &[],
        source: "",
    };

    fn workspace(&self, model: &mut Self::Model) -> Result<Work, SchemeError> {
        Ok(Work { increment: vec![0.0; model.dim()], ..Work::default() })
    }

    fn step(
        &self,
        w: &mut Work,
        system: System<'_, Self::Model>,
        from: &State,
        h: f64,
        to: &mut State,
    ) -> Result<Step, StepError> {
        let System { model, solver } = system;
        to.t = from.t + h;

        // free motion
        model.factor(from, 0.0)?;
        model.rate(from.t, &from.q, &mut w.increment)?;
        for d in &mut w.increment {
            *d *= h;
        }
        model.solve(&mut w.increment);

        // problem: outputs after the free motion, and λ enters with h
        model.couple(to.t, &from.q, &mut w.reactions.coupling)?;
        w.reactions.start(&from.q);
        let c = &w.reactions.coupling;
        let entering = if c.input.is_empty() { &c.rows } else { &c.input };
        w.input.clear(model.dim());
        w.laws.clear();
        w.b.clear();
        for (i, pair) in c.pairs.iter().enumerate() {
            w.laws.push(pair.law);
            let row = c.range(i).start;
            // the outputs take the place of relative velocities
            w.reactions.before[row] = pair.gap;
            w.b.push(pair.gap + c.rows.dot(row, &w.increment));
            w.input.push_sparse(entering.row(row).iter().map(|(j, x)| (*j, h * x)));
        }

        // solve and update
        let feedthrough = if c.feedthrough.is_empty() { None } else { Some(&c.feedthrough) };
        let parts = Parts { lhs: model, output: &c.rows, input: &w.input, feedthrough, b: &w.b, laws: &w.laws };
        let problem = OneStepProblem::new(parts, &mut w.problem);
        let worst = solver
            .solve(&problem, &mut w.z)
            .map_err(|error| StepError::Solve { error: Box::new(error), contact: None })?;
        for (d, response) in w.increment.iter_mut().zip(&w.z.response) {
            *d += response;
        }
        model.retract(&from.q, &w.increment, &mut to.q);
        w.reactions.impulse.copy_from_slice(&w.z.lambda);
        w.reactions.after.copy_from_slice(&w.z.u);
        Ok(Step { advanced: h, worst, solves: 1, iterations: 1, ..Step::default() })
    }

    fn reactions<'w>(&self, work: &'w Work) -> &'w Reactions {
        &work.reactions
    }
}

/// `ẋ = a x + c + B λ`, `y = o + C x + D λ` with one state and one law.
#[derive(Clone, Copy)]
struct Scalar {
    initial: f64,
    rate: (f64, f64),
    input: f64,
    output: (f64, f64),
    feedthrough: f64,
    law: Law,
}

impl LinearSolve for Scalar {
    fn dim(&self) -> usize {
        1
    }
    fn solve(&self, _rhs: &mut [f64]) {}
}

impl Space for Scalar {
    fn initial(&self) -> State {
        State::new(0.0, &[self.initial], &[])
    }

    fn couple(&mut self, _t: f64, x: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        out.clear(1);
        let gap = self.output.0 + self.output.1 * x[0];
        out.push(Pair { key: Key(0), law: self.law, gap, restitution: 0.0 });
        out.rows.push_dense(&[self.output.1]);
        out.drift.push(0.0);
        out.input.push_dense(&[self.input]);
        out.feedthrough.clear(1);
        out.feedthrough.push_dense(&[self.feedthrough]);
        Ok(())
    }
}

impl FirstOrder for Scalar {
    fn rate(&mut self, _t: f64, x: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out[0] = self.rate.0 * x[0] + self.rate.1;
        Ok(())
    }

    /// E = 1, and the scheme is explicit.
    fn factor(&mut self, _at: &State, c: f64) -> Result<(), ModelError> {
        assert_eq!(c, 0.0);
        Ok(())
    }
}

/// The trajectory and λ of the last step.
fn run(model: Scalar, end: f64, h: f64) -> (Solution, f64) {
    let stepper = Bound::new(ExplicitEuler, Box::new(model), carom_solve::solver::default()).unwrap();
    let mut simulation = Simulation::new(Box::new(stepper), Box::new(FixedStep { h }), end).unwrap();
    let mut recorder = Recorder::default();
    assert!(simulation.run(&mut [&mut recorder]).unwrap());
    assert!(simulation.statistics().worst.residual < 1e-12);
    let lambda = simulation.stepper().reactions().normal(0);
    (recorder.into_solution(), lambda)
}

/// Largest error against `exact` at the grid points.
fn error(s: &Solution, exact: impl Fn(f64) -> f64) -> f64 {
    (0..s.len()).map(|k| (s.q(k)[0] - exact(s.t[k])).abs()).fold(0.0, f64::max)
}

/// ẋ = −λ, λ ∈ sgn(x): x = sgn(x₀) max(|x₀| − t, 0), exact at every grid point up to the last step, and then at rest
/// with λ = 0 instead of chattering.
#[test]
fn relay() {
    for initial in [1.003, -0.75] {
        let model = Scalar {
            initial,
            rate: (0.0, 0.0),
            input: -1.0,
            output: (0.0, -1.0),
            feedthrough: 0.0,
            law: Law::interval(-1.0, 1.0),
        };
        let (s, lambda) = run(model, 2.0, 1e-2);
        assert!(error(&s, |t| f64::signum(initial) * (initial.abs() - t).max(0.0)) < 1e-13);
        assert_eq!(s.q(s.len() - 1)[0], 0.0);
        assert_eq!(lambda, 0.0);
    }
}

/// ẋ = −x − 1 + λ, 0 ≤ x ⊥ λ ≥ 0: x = (x₀ + 1) e⁻ᵗ − 1 until ln(x₀ + 1), then x = 0 and λ = 1.
#[test]
fn complementarity() {
    let model = Scalar {
        initial: 2.0,
        rate: (-1.0, -1.0),
        input: 1.0,
        output: (0.0, 1.0),
        feedthrough: 0.0,
        law: Law::UNILATERAL,
    };
    let errors = [1e-2, 1e-3].map(|h| {
        let (s, lambda) = run(model, 3.0, h);
        assert!((0..s.len()).all(|k| s.q(k)[0] > -1e-15));
        assert!((lambda - 1.0).abs() < 1e-12);
        error(&s, |t| (3.0 * (-t).exp() - 1.0).max(0.0))
    });
    let order = (errors[0] / errors[1]).log10();
    assert!((order - 1.0).abs() < 0.1, "order {order}");
}

/// ẋ = −x + 2λ, 0 ≤ x − 1 + λ ⊥ λ ≥ 0: free until t₁ = ln x₀, then λ = 1 − x and x = 2/3 + e^{−3(t − t₁)}/3. Here B ≠
/// Cᵀ and D ≠ 0.
#[test]
fn feedthrough() {
    let model = Scalar {
        initial: 2.0,
        rate: (-1.0, 0.0),
        input: 2.0,
        output: (-1.0, 1.0),
        feedthrough: 1.0,
        law: Law::UNILATERAL,
    };
    let errors = [1e-2, 1e-3].map(|h| {
        let (s, lambda) = run(model, 4.0, h);
        assert!((lambda - 1.0 / 3.0).abs() < 1e-3);
        let first = 2.0f64.ln();
        error(&s, |t| if t < first { 2.0 * (-t).exp() } else { (2.0 + (-3.0 * (t - first)).exp()) / 3.0 })
    });
    let order = (errors[0] / errors[1]).log10();
    assert!((order - 1.0).abs() < 0.1, "order {order}");
}

/// The registry tells which family a scheme works on.
#[test]
fn mechanical_schemes_refuse_first_order_models() {
    let model = Scalar {
        initial: 1.0,
        rate: (0.0, 0.0),
        input: 1.0,
        output: (0.0, 1.0),
        feedthrough: 0.0,
        law: Law::UNILATERAL,
    };
    let row = carom::scheme::find("moreau-jean").unwrap();
    let bound =
        (row.bind)(&serde_json::json!({}), AnyModel::FirstOrder(Box::new(model)), carom_solve::solver::default());
    let message = bound.err().unwrap().to_string();
    assert!(message.contains("first-order"), "{message}");
}
