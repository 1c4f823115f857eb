//! An oscillating circuit with a resistor behind a bridge of four ideal diodes [acary2008].
//!
//! ```text
//!     C v̇ = −i − λ₃ + λ₄,   L i̇ = v,   y = C x + D λ,   0 ≤ y ⊥ λ ≥ 0                              (1)
//!     a bridge loaded by R is a linear resistor R:   C v̇ = −i − v/R,   L i̇ = v                       (2)
//! ```

use super::ExactState;
use crate::FirstOrder;
use crate::model::{Lcs, Matrices};
use carom_solve::Law;
use carom_solve::elementary::{exp, sin_cos};

/// The circuit (1); underdamped, L < 4 R² C.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiodeBridge {
    /// Inductance [H].
    pub inductance: f64,
    /// Capacitance [F].
    pub capacitance: f64,
    /// Load [Ω].
    pub resistance: f64,
    /// Initial voltage of the capacitor [V].
    pub voltage: f64,
}

impl Default for DiodeBridge {
    fn default() -> Self {
        DiodeBridge { inductance: 1e-2, capacitance: 1e-6, resistance: 1e3, voltage: 10.0 }
    }
}

impl DiodeBridge {
    /// The circuit as a complementarity system: states (v, i), λ = (voltage of diode 1, of diode 2, current of diode 3,
    /// of diode 4).
    pub fn model(&self) -> Lcs {
        let (c, l, g) = (1.0 / self.capacitance, 1.0 / self.inductance, 1.0 / self.resistance);
        let matrices = Matrices {
            e: None,
            a: vec![0.0, -c, l, 0.0],
            b: vec![0.0, 0.0, -c, c, 0.0, 0.0, 0.0, 0.0],
            c: vec![0.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0],
            d: vec![g, g, -1.0, 0.0, g, g, 0.0, -1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0],
        };
        let laws = (1..=4).map(|k| (format!("diode{k}"), Law::UNILATERAL)).collect();
        Lcs::assemble(matrices, laws, &[self.voltage, 0.0])
    }
}

impl ExactState for DiodeBridge {
    fn name(&self) -> &'static str {
        "diode-bridge"
    }
    fn citation(&self) -> &'static str {
        "acary2008"
    }
    fn dimension(&self) -> usize {
        2
    }
    fn at(&self, t: f64, x: &mut [f64]) {
        let decay = 0.5 / (self.resistance * self.capacitance);
        let frequency = (1.0 / (self.inductance * self.capacitance) - decay * decay).sqrt();
        let (sine, cosine) = sin_cos(frequency * t);
        let amplitude = self.voltage * exp(-decay * t);
        x[0] = amplitude * (cosine - decay / frequency * sine);
        x[1] = amplitude / (self.inductance * frequency) * sine;
    }
    fn system(&self) -> Box<dyn FirstOrder> {
        Box::new(self.model())
    }
    fn span(&self) -> f64 {
        5e-3
    }
}
