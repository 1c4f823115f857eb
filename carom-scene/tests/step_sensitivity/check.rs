//! Derivatives of a run against differences of runs whose branches are the same.

use carom::State;
use carom::sensitivity::StepSensitivity;
use carom_scene::{Overrides, Scene, from_str};

pub fn load(text: &str, scheme: &str) -> Scene {
    let overrides = Overrides { scheme: Some(scheme.into()), ..Overrides::default() };
    from_str("test.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]))
}

/// A sequence of numbers in [-1, 1].
pub struct Draw(pub u64);
impl Draw {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// How the laws acted, step by step: pushes, which of its discs slip, cuts the step short.
type Branches = Vec<(Vec<(bool, [bool; 3])>, bool)>;

/// The state after so many steps, with time at the end, and the branches on the way.
pub fn run(s: &mut StepSensitivity, from: &State, (h, steps): (f64, usize)) -> (Vec<f64>, Branches) {
    s.restart(from);
    let mut all = Vec::new();
    for _ in 0..steps {
        let step = s.step(h).unwrap();
        let reactions = s.stepper().reactions();
        let law = |i: usize| {
            let rows = reactions.range(i);
            let pushes = reactions.impulse[rows.start].abs() > 1e-12;
            let mut slips = [false; 3];
            for (slips, (disc, _)) in slips.iter_mut().zip(reactions.coupling.pairs[i].law.discs()) {
                *slips = pushes && reactions.after[rows.clone()][disc].iter().any(|u| u.abs() > 1e-7);
            }
            (pushes, slips)
        };
        all.push(((0..reactions.len()).map(law).collect(), step.advanced < h));
    }
    let State { t, q, v } = s.state();
    (q.iter().chain(v).copied().chain([*t]).collect(), all)
}

pub fn moved(from: &State, k: usize, by: f64) -> State {
    let mut state = from.clone();
    let n = state.q.len();
    if k < n {
        state.q[k] += by;
    } else {
        state.v[k - n] += by;
    }
    state
}

/// Fourth-order central differences; nothing if the branches differ from those given.
pub fn difference(
    mut map: impl FnMut(f64) -> (Vec<f64>, Branches),
    branches: &Branches,
    step: f64,
) -> Option<Vec<f64>> {
    let points: Vec<(Vec<f64>, Branches)> = [-2.0, -1.0, 1.0, 2.0].iter().map(|k| map(k * step)).collect();
    if points.iter().any(|p| p.1 != *branches) {
        return None;
    }
    let weights = [1.0 / 12.0, -2.0 / 3.0, 2.0 / 3.0, -1.0 / 12.0];
    let entry = |i: usize| points.iter().zip(weights).map(|(p, w)| w * p.0[i]).sum::<f64>() / step;
    Some((0..points[0].0.len()).map(entry).collect())
}

/// What a comparison has met.
#[derive(Debug, Default)]
pub struct Met {
    pub worst: f64,
    pub pushes: usize,
    pub slips: usize,
    pub rolls: usize,
    pub sticks: usize,
    pub cut: usize,
    pub runs: usize,
    pub tried: usize,
}

pub struct Check<'a> {
    pub scene: &'a Scene,
    pub parameters: &'a [&'a str],
    pub h: f64,
    pub steps: usize,
    /// Step of the differences.
    pub reach: f64,
}

impl Check<'_> {
    /// Compares all derivatives of the run from a state; states without any contact are passed over, and those whose
    /// neighbours take other branches.
    pub fn from(&self, s: &mut StepSensitivity, from: &State, met: &mut Met) {
        let grid = (self.h, self.steps);
        met.tried += 1;
        s.restart(from);
        s.frame.reset();
        let (_, branches) = run(s, from, grid);
        if !branches.iter().flat_map(|b| &b.0).any(|law| law.0) {
            return;
        }
        let found: Vec<Vec<f64>> = s.frame.states().map(<[f64]>::to_vec).collect();
        s.frame.set_columns(0);
        let n = from.q.len();
        let mut exact = Vec::new();
        for k in 0..2 * n {
            let Some(column) = difference(|by| run(s, &moved(from, k, by), grid), &branches, self.reach) else {
                return;
            };
            exact.push(column);
        }
        for name in self.parameters {
            let value = self.scene.parameter(name).unwrap();
            let map = |by: f64| {
                let mut other = self.scene.with(&[(name, value + by)]).unwrap().step_sensitivity(&[]).unwrap();
                other.frame.set_columns(0);
                run(&mut other, from, grid)
            };
            let Some(column) = difference(map, &branches, self.reach) else { return };
            exact.push(column);
        }
        let largest = exact.iter().flatten().fold(0.1f64, |m, x| m.max(x.abs()));
        let time = found[0].len() - 1;
        for (found, exact) in found.iter().zip(&exact) {
            for i in 0..2 * n {
                met.worst = met.worst.max((found[i] - exact[i]).abs() / largest);
            }
            met.worst = met.worst.max((found[time] - exact[2 * n]).abs() / largest);
        }
        met.runs += 1;
        met.cut += branches.iter().filter(|b| b.1).count();
        for (pushes, slips) in branches.iter().flat_map(|b| &b.0) {
            met.pushes += usize::from(*pushes);
            met.slips += usize::from(slips[0]);
            met.rolls += usize::from(!slips[0] && slips[1]);
            met.sticks += usize::from(*pushes && *slips == [false; 3]);
        }
    }

    /// Compares runs from states drawn in turn until so many have kept their branches.
    pub fn runs(&self, count: usize, mut draw: impl FnMut() -> State) -> Met {
        let mut s = self.scene.step_sensitivity(self.parameters).unwrap();
        let mut met = Met::default();
        while met.runs < count {
            assert!(met.tried < 20 * count, "{met:?}");
            self.from(&mut s, &draw(), &mut met);
        }
        met
    }
}

/// The pendulum somewhere on its circle.
pub fn hanging(draw: &mut Draw) -> State {
    let (angle, speed) = (0.5 * draw.next(), 3.0 * draw.next());
    State::new(0.0, &[angle.sin(), -angle.cos()], &[speed * angle.cos(), speed * angle.sin()])
}
