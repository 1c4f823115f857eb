//! What the text says without a figure: energy over many impacts (2.4), and how well conditioned the one-step problems
//! are (3.4).

use super::{SPEC, System};
use crate::trace::{Change, scene};
use crate::{Check, Data, Effort, Figure, Trouble};
use carom::scheme::{EventDriven, Forecast, MoreauJean, Stepper};
use carom::simulation::{Observer, StepView};
use carom::testbed::{Sign, ThirdDegree};
use carom::{ModelError, State};
use carom_analysis::report::{Chart, Series, SeriesStyle};
use carom_scene::scene::Choice;
use std::ops::ControlFlow;

/// Weight of the ball, and its energy at the start.
const WEIGHT: f64 = 10.0;

/// Impacts and energy of an elastic ball of unit mass.
#[derive(Default)]
struct Account {
    impacts: u64,
    worst: f64,
    last: f64,
    /// Impacts and relative change of the energy, at every power of two of the former.
    course: Vec<[f64; 2]>,
}

impl Account {
    fn see(&mut self, state: &State) {
        self.last = 0.5 * state.v[0].powi(2) + WEIGHT * state.q[0];
        self.worst = self.worst.max((self.last / WEIGHT - 1.0).abs());
    }
}

impl Observer for Account {
    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        self.see(stepper.from());
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        self.see(view.to());
        if view.reactions().impulse[0] > 0.0 {
            self.impacts += 1;
            if self.impacts.is_power_of_two() {
                self.course.push([self.impacts as f64, self.worst]);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The elastic ball of section 2.4 until a time.
fn elastic(scheme: &Choice, step: f64, end: f64) -> Result<Account, Trouble> {
    let set = [("f", WEIGHT), ("e", 1.0), ("height", 1.0)];
    let change = Change { set: &set, step: Some(step), end: Some(end), ..Change::scheme(scheme) };
    let mut simulation = scene("bouncing-ball", &change)?.simulation().map_err(|e| Trouble(e.to_string()))?;
    let mut account = Account::default();
    simulation.run(&mut [&mut account]).map_err(|e| Trouble(e.to_string()))?;
    Ok(account)
}

/// Section 2.4: billions of cycles without gain or loss of energy.
pub fn energy(effort: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        contradicted: Some(
            "that the scheme introduces no errors holds to rounding, and for θ = 1/2 alone: with θ = 1, which the \
             paper admits, the ball loses energy. That an event-driven scheme cannot do the same is not so: it keeps \
             the energy to rounding over as many impacts. Billions of cycles are not run: the change per impact is \
             told",
        ),
        ..Figure::default()
    };
    let moreau = |theta: f64| {
        Choice::scheme(&MoreauJean { theta, forecast: Forecast::Explicit { gamma: 0.0 }, ..MoreauJean::default() })
    };
    let impacts = if effort == Effort::Quick { 1000.0 } else { 100_000.0 };
    // a flight lasts 2 √(2 height/g)
    let end = (impacts * 2.0 * 0.2f64.sqrt()).floor();
    let events = Choice::scheme(&EventDriven { atol: Some(1e-12), rtol: 0.0, ..EventDriven::default() });
    let (mut rows, mut chart) =
        (Vec::new(), Chart::new("relative change of the energy", "impacts", "|E/E0 − 1|").log_log());
    for (name, scheme, step, most, source) in [
        (
            "θ = 1/2, h = 1/256 s",
            moreau(0.5),
            1.0 / 256.0,
            0.0,
            "stated in the paper: no errors; closed form in dyadic numbers",
        ),
        ("θ = 1/2, h = 5e-3 s", moreau(0.5), 5e-3, 1e-14, "rounding, by an independent implementation 1.1e-15"),
        ("event-driven", events, 0.5, 1e-13, "stated in the paper: not possible; rounding"),
    ] {
        let account = elastic(&scheme, step, end)?;
        let count = account.impacts as f64;
        figure.check(Check::between(
            format!("{name}: impacts"),
            count,
            (0.97 * impacts, 1.01 * impacts),
            "flights of 2 √(2 height/g), up to two steps longer",
        ));
        let what = format!("{name}: largest relative change of the energy per impact");
        figure.check(Check::below(what, account.worst / count, most, source));
        rows.push((name.to_owned(), vec![count, account.worst, account.worst / count]));
        let (x, y) = account.course.iter().filter(|point| point[1] > 0.0).map(|point| (point[0], point[1])).unzip();
        chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, x, y));
    }
    let lossy = elastic(&moreau(1.0), 5e-3, 10.0)?;
    figure.check(Check::near("θ = 1, h = 5e-3 s: energy at 10 s [J]", lossy.last, (9.96125, 1e-9), SPEC));
    figure.chart(chart);
    figure.data.push(Data {
        name: "energy".into(),
        header: ["impacts", "largest change", "per impact"].map(str::to_owned).to_vec(),
        rows: rows.iter().map(|row| row.1.clone()).collect(),
    });
    figure.table("Energy of the elastic ball", &["", "impacts", "largest change", "per impact"], rows);
    Ok(figure)
}

/// A⁻¹ of a small matrix, by Gauss and Jordan with pivots.
fn inverse(n: usize, a: &[f64]) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = (0..n)
        .map(|i| a[i * n..(i + 1) * n].iter().copied().chain((0..n).map(|j| f64::from(u8::from(i == j)))).collect())
        .collect();
    for k in 0..n {
        let best = (k..n).max_by(|i, j| rows[*i][k].abs().total_cmp(&rows[*j][k].abs())).unwrap_or(k);
        rows.swap(k, best);
        let pivot = rows[k].clone();
        rows[k].iter_mut().for_each(|x| *x /= pivot[k]);
        let pivot = rows[k].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = row[k];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
    rows.iter().flat_map(|row| row[n..].to_vec()).collect()
}

/// (I − h A)⁻¹.
fn resolvent(n: usize, a: &[f64], h: f64) -> Vec<f64> {
    let shifted: Vec<f64> = (0..n * n).map(|k| f64::from(u8::from(k % (n + 1) == 0)) - h * a[k]).collect();
    inverse(n, &shifted)
}

/// Condition number in the norm of the largest sum of a column.
fn condition(n: usize, a: &[f64]) -> f64 {
    let norm = |a: &[f64]| (0..n).map(|j| (0..n).map(|i| a[i * n + j].abs()).sum()).fold(0.0, f64::max);
    norm(a) * norm(&inverse(n, a))
}

/// Section 3.4: the matrices of the one-step problems, (48) of backward Euler and (45) of HOMSP.
pub fn conditioning(_: Effort) -> Result<Figure, Trouble> {
    let mut figure = Figure {
        trend: Some(
            "what (51) and (64) are there for holds: backward Euler's matrix vanishes with h to the power of the \
             relative degree, that of HOMSP tends to a regular one. (64) is printed with the factor 1/h^r where h^r \
             belongs",
        ),
        ..Figure::default()
    };
    let shift = vec![0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let system =
        |b: [f64; 3]| System { a: shift.clone(), b: b.to_vec(), c: vec![1.0, 0.0, 0.0], initial: vec![0.0; 3] };
    let exact = ThirdDegree::new(Sign::Plus, 1.0).matrices();
    let third = System { a: exact.a, b: exact.b, c: exact.c, initial: vec![0.0; 5] };
    let cases = [
        ("example 1", system([0.0, 1.0, 0.0]), 2),
        ("example 2", system([0.0, 0.0, 1.0]), 3),
        ("system (65)", third, 3),
    ];
    let steps = [1e-1, 1e-2, 1e-3, 1e-4];
    let mut chart = Chart::new("matrix of backward Euler over h", "h [s]", "M/h").log_log();
    let mut growth = Chart::new("condition of HOMSP's matrix", "h [s]", "condition number");
    growth.log_x = true;
    for (name, system, degree) in cases {
        let n = system.initial.len();
        let (mut scalars, mut conditions, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        for h in steps {
            let x = resolvent(n, &system.a, h);
            // h C (I − h A)⁻¹ B
            let xb: Vec<f64> = (0..n).map(|i| (0..n).map(|j| x[i * n + j] * system.b[j]).sum()).collect();
            let m = h * system.c.iter().zip(&xb).map(|(c, x)| c * x).sum::<f64>();
            let degree = degree as usize;
            // all measures act: the first rows and columns, with CA^{r−1}B = 1
            let block: Vec<f64> = (0..degree * degree).map(|k| x[k / degree * n + k % degree]).collect();
            let own = condition(degree, &block);
            scalars.push(m / h);
            conditions.push(own);
            rows.push((format!("h = {h:e}"), vec![m, m / h.powi(degree as i32), own]));
        }
        let off = |k: usize| (scalars[k] * steps[k] / steps[k].powi(degree) - 1.0).abs();
        let what = format!("{name}: M/h^{degree}, least distance from 1, at h = 1e-4");
        figure.check(Check::below(what, off(3), 1e-3, "closed form: CA^{r−1}B + O(h)"));
        let what = format!("{name}: M/h at h = 1e-4");
        figure.check(Check::below(what, scalars[3], 2e-4, "(51) of the paper: it tends to 0"));
        let what = format!("{name}: condition of HOMSP's matrix at h = 1e-4, less 1, over h");
        figure.check(Check::below(what, (conditions[3] - 1.0) / steps[3], 10.0, "closed form: I + O(h)"));
        figure.table(name, &["", "M of backward Euler", "M/h^r", "condition of HOMSP's matrix"], rows);
        chart = chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, steps.to_vec(), scalars));
        growth = growth.with(Series::new(name, SeriesStyle::LinesAndMarkers, steps.to_vec(), conditions));
    }
    figure.chart(chart);
    figure.chart(growth);
    Ok(figure)
}
