//! Drag of a fluid: each part is a box with its mass and inertia, of edges b along its principal axes.
//!
//! ```text
//!     b_i = √(6 (J_j + J_k − J_i)/m),    d = (b₁ + b₂ + b₃)/3,    u, ω: beside the fluid, along axis i            (1)
//!     F_i = −ρ b_j b_k |u_i| u_i/2 − 3π η d u_i
//!     M_i = −ρ b_i (b_j⁴ + b_k⁴) |ω_i| ω_i/64 − π η d³ ω_i
//! ```

use std::f64::consts::PI;
use std::fmt::Write as _;

use super::super::Feature;
use super::super::mass::decompose;
use super::super::robot::{Fluid, Mass};
use super::Writer;
use super::line::{Line, number};

impl Writer<'_> {
    /// A load on each body that moves.
    pub(super) fn drag(&mut self) {
        let Some(fluid) = self.robot.fluid.filter(|_| self.options.has(Feature::Drag)) else { return };
        for (part, name) in self.robot.parts.iter().zip(&self.bodies) {
            let Some(mass) = part.mass else { continue };
            let [force, torque] = of_body(&fluid, &mass, &name.replace('-', "_"));
            self.out.extend([Line::Table("load"), Line::text("body", name), Line::text("frame", "body")]);
            self.out.push(Line::Value("force", force));
            self.out.push(Line::Value("torque", torque));
        }
    }
}

/// (1) as lists of three expressions in axes of the body.
fn of_body(fluid: &Fluid, mass: &Mass, name: &str) -> [String; 2] {
    let off = [mass.inertia[0][1], mass.inertia[0][2], mass.inertia[1][2]];
    let (values, columns) = match off {
        // as they stand
        [0.0, 0.0, 0.0] => (
            std::array::from_fn(|i| mass.inertia[i][i]),
            std::array::from_fn(|i| std::array::from_fn(|k| f64::from(u8::from(i == k)))),
        ),
        _ => decompose(&mass.inertia),
    };
    let others = |i: usize| [(i + 1) % 3, (i + 2) % 3];
    let edges: [f64; 3] = std::array::from_fn(|i| {
        let [j, k] = others(i);
        (6.0 * (values[j] + values[k] - values[i]).max(0.0) / mass.mass).sqrt()
    });
    let width = edges.iter().sum::<f64>() / 3.0;
    let Fluid { density, viscosity, wind } = *fluid;
    let mut sums = [[const { String::new() }; 3], [const { String::new() }; 3]];
    for i in 0..3 {
        let axis: [f64; 3] = std::array::from_fn(|k| columns[k][i]);
        let [j, k] = others(i);
        let factors = [
            (0.5 * density * edges[j] * edges[k], 3.0 * PI * viscosity * width),
            (density * edges[i] * (edges[j].powi(4) + edges[k].powi(4)) / 64.0, PI * viscosity * width.powi(3)),
        ];
        let rates = [along(name, axis, ["x'", "y'", "z'"], wind), along(name, axis, ["wx", "wy", "wz"], [0.0; 3])];
        for ((sums, (square, linear)), rate) in sums.iter_mut().zip(factors).zip(rates) {
            let mut terms = String::new();
            if square > 0.0 {
                let _ = write!(terms, "{}*abs({rate})", number(square));
            }
            if linear > 0.0 {
                let _ = write!(terms, "{}{}", if square > 0.0 { " + " } else { "" }, number(linear));
            }
            if terms.is_empty() {
                continue;
            }
            for (sum, part) in sums.iter_mut().zip(axis).filter(|(_, part)| *part != 0.0) {
                let factor = if part == 1.0 { String::new() } else { format!("{}*", number(part)) };
                let _ = write!(sum, " - {factor}({terms})*({rate})");
            }
        }
    }
    sums.map(|sums| {
        let quoted = sums.map(|sum| if sum.is_empty() { "0".into() } else { format!("\"{}\"", sum.trim_start()) });
        format!("[{}]", quoted.join(", "))
    })
}

/// The rate of a body along an axis of its own.
fn along(name: &str, axis: [f64; 3], rates: [&str; 3], wind: [f64; 3]) -> String {
    // column by column of the rotation of the quaternion e
    let e = |a: usize, b: usize| format!("{name}.e{a}*{name}.e{b}");
    let rows = [
        [format!("1 - 2*({} + {})", e(2, 2), e(3, 3)), plus(&e(1, 2), &e(0, 3), "-"), plus(&e(1, 3), &e(0, 2), "+")],
        [plus(&e(1, 2), &e(0, 3), "+"), format!("1 - 2*({} + {})", e(1, 1), e(3, 3)), plus(&e(2, 3), &e(0, 1), "-")],
        [plus(&e(1, 3), &e(0, 2), "-"), plus(&e(2, 3), &e(0, 1), "+"), format!("1 - 2*({} + {})", e(1, 1), e(2, 2))],
    ];
    let mut terms = Vec::new();
    for ((row, rate), wind) in rows.iter().zip(rates).zip(wind) {
        let rate = match wind {
            0.0 => format!("{name}.{rate}"),
            wind => format!("({name}.{rate} - {})", number(wind)),
        };
        let parts = row.iter().zip(axis).filter(|(_, x)| *x != 0.0);
        let parts =
            parts.map(|(entry, x)| if x == 1.0 { format!("({entry})") } else { format!("{}*({entry})", number(x)) });
        let sum = parts.collect::<Vec<_>>().join(" + ");
        terms.push(format!("({sum})*{rate}"));
    }
    terms.join(" + ")
}

fn plus(a: &str, b: &str, sign: &str) -> String {
    format!("2*({a} {sign} {b})")
}
