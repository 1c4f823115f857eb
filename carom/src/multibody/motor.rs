//! Motors: what drives a coordinate of a joint.

use super::JointCoordinate;
use super::function::Function;
use super::load::Signal;
use crate::ModelError;

/// What a motor prescribes.
#[derive(Clone, Debug)]
pub enum Drive {
    /// The coordinate, s(t): a bilateral law s − s(t) = 0.
    Position(Box<dyn Function>),
    /// Its rate, w(t): s − s₀ − ∫ w = 0.
    Velocity(Box<dyn Function>),
    /// A force or torque along the coordinate, of the inputs.
    Effort(Vec<Signal>, Box<dyn Function>),
}

/// A drive on a coordinate of a joint.
#[derive(Clone, Debug)]
pub struct Motor {
    /// Name in results and messages.
    pub name: String,
    /// What it drives.
    pub coordinate: JointCoordinate,
    /// How.
    pub drive: Drive,
}

impl Motor {
    /// Whether it prescribes a motion.
    pub fn is_prescribed(&self) -> bool {
        !matches!(self.drive, Drive::Effort(..))
    }

    /// The coordinate follows `s`, a function of the time alone (`x[0]`).
    pub fn position(name: &str, on: impl Into<JointCoordinate>, s: impl Function + 'static) -> Motor {
        Motor { name: name.into(), coordinate: on.into(), drive: Drive::Position(Box::new(s)) }
    }

    /// The rate of the coordinate is `w`, a function of the time alone (`x[0]`).
    pub fn velocity(name: &str, on: impl Into<JointCoordinate>, w: impl Function + 'static) -> Motor {
        Motor { name: name.into(), coordinate: on.into(), drive: Drive::Velocity(Box::new(w)) }
    }

    /// A force [N] or torque [N m] along the coordinate.
    pub fn effort(
        name: &str,
        on: impl Into<JointCoordinate>,
        inputs: Vec<Signal>,
        effort: impl Function + 'static,
    ) -> Motor {
        Motor { name: name.into(), coordinate: on.into(), drive: Drive::Effort(inputs, Box::new(effort)) }
    }
}

/// ∫ w from the start, by panels whose ends are remembered: the same number whenever it is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Integral {
    sums: Vec<f64>, // at the ends of the panels so far
}

/// Length of a panel [s], a power of two.
const PANEL: f64 = 1.0 / 64.0;

/// Nodes and weights of Gauss and Legendre on [−1, 1].
const NODES: [(f64, f64); 8] = [
    (-0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
    (-0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (-0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (-0.183_434_642_495_649_8, 0.362_683_783_378_361_96),
    (0.183_434_642_495_649_8, 0.362_683_783_378_361_96),
    (0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
];

/// Halvings of a part of a panel at most.
const DEEPEST: u32 = 12;

impl Integral {
    /// ∫₀ᵗ w.
    pub fn at(&mut self, w: &mut dyn Function, t: f64) -> Result<f64, ModelError> {
        if t < 0.0 {
            return adaptive(w, (0.0, t), 0);
        }
        let panels = (t / PANEL).floor();
        while (self.sums.len() as f64) < panels {
            let start = self.sums.len() as f64 * PANEL;
            let sum = self.sums.last().copied().unwrap_or(0.0) + adaptive(w, (start, start + PANEL), 0)?;
            self.sums.push(sum);
        }
        let before = if panels > 0.0 { self.sums[panels as usize - 1] } else { 0.0 };
        Ok(before + adaptive(w, (panels * PANEL, t), 0)?)
    }
}

/// One interval by Gauss and Legendre.
fn gauss(w: &mut dyn Function, (a, b): (f64, f64)) -> Result<f64, ModelError> {
    let (middle, half) = (0.5 * (a + b), 0.5 * (b - a));
    let mut sum = 0.0;
    for (node, weight) in NODES {
        let mut value = [0.0];
        w.value(&[middle + half * node], &mut value)?;
        sum += weight * value[0];
    }
    Ok(half * sum)
}

/// Halves the interval where the rule disagrees with itself.
fn adaptive(w: &mut dyn Function, (a, b): (f64, f64), depth: u32) -> Result<f64, ModelError> {
    if a == b {
        return Ok(0.0);
    }
    let middle = 0.5 * (a + b);
    let (whole, left, right) = (gauss(w, (a, b))?, gauss(w, (a, middle))?, gauss(w, (middle, b))?);
    let halves = left + right;
    if depth >= DEEPEST || (whole - halves).abs() <= 1e-14 * (left.abs() + right.abs()) {
        return Ok(halves);
    }
    Ok(adaptive(w, (a, middle), depth + 1)? + adaptive(w, (middle, b), depth + 1)?)
}
