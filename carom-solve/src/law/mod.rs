//! The set-valued laws `λ ∈ Law(u)`, as data.
//!
//! A law bounds the reaction of its first row and holds up to three discs of rows behind it:
//!
//! ```text
//!     K = { λ : lower ≤ λ₀ ≤ upper,  ‖λ_d‖ ≤ radius_d + μ_d λ₀  for each disc d }                    (1)
//!     −(u + s(u)) ∈ N_K(λ),   s(u) = Σ_d μ_d ‖u_d‖ n                                                 (2)
//! ```
//!
//! with the shift s of De Saxcé [desaxce1998]. Written out, (2) says `−u₀ ∈ N_[lower, upper](λ₀)` and
//! `−u_d ∈ N_disc(λ_d)`: the first row has its own law, and each disc dissipates the most that `λ₀` lets it. Equality,
//! complementarity, relay, Coulomb friction, rolling and spinning friction, adhesion and Tresca friction are values of
//! the one struct [`Law`]. Solvers match on its [`Shape`]; what needs the set alone (certificate, projection, natural
//! map) asks the law, whatever it is.

mod cone;
mod discs;

/// Does something with the number of rows of a law as a constant, so that loops over rows unroll.
macro_rules! by_rows {
    ($size:expr, $n:ident => $work:expr) => {
        match $size {
            1 => by_rows!(@ $n = 1, $work),
            2 => by_rows!(@ $n = 2, $work),
            3 => by_rows!(@ $n = 3, $work),
            4 => by_rows!(@ $n = 4, $work),
            5 => by_rows!(@ $n = 5, $work),
            _ => by_rows!(@ $n = 6, $work),
        }
    };
    (@ $n:ident = $rows:literal, $work:expr) => {{
        const $n: usize = $rows;
        $work
    }};
}
pub(crate) use by_rows;

use std::ops::Range;

/// Most discs of a law: sliding, rolling, spinning.
const DISCS: usize = 3;

/// Rows of a disc at most, by its place.
const WIDTH: [u8; DISCS] = [2, 2, 1];

/// What the rows of each disc are called.
const ROLES: [[&str; 2]; DISCS] = [["t1", "t2"], ["r1", "r2"], ["spin", "spin"]];

/// Rows behind the first one whose reaction stays in a disc (an interval, where there is one row): `‖λ_d‖ ≤ radius + μ
/// λ₀`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Disc {
    /// Number of rows; zero where there is no disc.
    pub rows: u8,
    /// Slope: a coefficient of friction [-], or of rolling friction [m].
    pub mu: f64,
    /// What the disc has without pressure, in the unit of its reaction.
    pub radius: f64,
}

impl Disc {
    /// A disc whose radius is proportional to the first reaction.
    pub const fn cone(rows: u8, mu: f64) -> Disc {
        Disc { rows, mu, radius: 0.0 }
    }

    /// Whether rows of this disc may react at all.
    fn acts(&self) -> bool {
        self.mu != 0.0 || self.radius != 0.0
    }
}

/// One law over up to six rows of the problem; see the head of the module for its set. The normal row comes first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law {
    bounds: [f64; 2],
    mu: [f64; DISCS],
    radius: [f64; DISCS],
    rows: [u8; DISCS],
    form: Form, // this and the next follow from the others
    size: u8,
}

crate::persist!(Law { bounds, mu, radius, rows, form, size });

/// [`Shape`] without its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Interval,
    Cone1,
    Cone2,
    General,
}

crate::persist_enum!(Form { 0 = Interval, 1 = Cone1, 2 = Cone2, 3 = General });

/// What kind of set a law has: what solvers distinguish.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// One row with `lower ≤ λ ≤ upper`; the bounds may be infinite.
    Interval {
        /// Least reaction.
        lower: f64,
        /// Largest reaction.
        upper: f64,
    },
    /// Signorini and Coulomb in the plane: rows (normal, tangent).
    Cone1 {
        /// Coefficient of friction.
        mu: f64,
    },
    /// Signorini and Coulomb in space: rows (normal, two tangents).
    Cone2 {
        /// Coefficient of friction.
        mu: f64,
    },
    /// Everything else: several discs, discs of their own radius, other bounds.
    General,
}

impl Law {
    /// Most rows of a law.
    pub const MOST_ROWS: usize = 6;
    /// `u = 0`, `λ` free. One row.
    pub const EQUALITY: Law = Law::one_row(f64::NEG_INFINITY, f64::INFINITY);
    /// `0 ≤ u ⊥ λ ≥ 0`. One row [moreau1988].
    pub const UNILATERAL: Law = Law::one_row(0.0, f64::INFINITY);

    const fn one_row(lower: f64, upper: f64) -> Law {
        Law { bounds: [lower, upper], mu: [0.0; 3], radius: [0.0; 3], rows: [0; 3], form: Form::Interval, size: 1 }
    }

    /// The law of these bounds and discs: sliding (up to two rows), rolling (up to two) and spinning (one). A lower
    /// bound at which a disc would be empty is raised. [`is_valid`](Self::is_valid) tells whether the numbers make
    /// sense.
    pub fn new(lower: f64, upper: f64, discs: [Disc; DISCS]) -> Law {
        let mut place = WIDTH.into_iter();
        let discs = discs.map(|disc| match (disc.rows, place.next().unwrap_or(0)) {
            (0, _) => Disc::default(),
            // not a number: the law is refused
            (rows, most) if rows > most => Disc { rows: most, mu: f64::NAN, ..disc },
            _ => disc,
        });
        let apex = |disc: &Disc| 0.0 - disc.radius / disc.mu;
        let lower = discs.iter().filter(|disc| disc.mu > 0.0).map(apex).fold(lower, f64::max);
        let is_cone = lower == 0.0 && upper == f64::INFINITY && discs[0].radius == 0.0;
        let form = match discs.map(|disc| disc.rows) {
            [0, 0, 0] => Form::Interval,
            [1, 0, 0] if is_cone => Form::Cone1,
            [2, 0, 0] if is_cone => Form::Cone2,
            _ => Form::General,
        };
        Law {
            bounds: [lower, upper],
            mu: discs.map(|disc| disc.mu),
            radius: discs.map(|disc| disc.radius),
            rows: discs.map(|disc| disc.rows),
            form,
            size: 1 + discs.iter().map(|disc| disc.rows).sum::<u8>(),
        }
    }

    /// `−u ∈ N_[lower, upper](λ)`: a relay, or a bounded multiplier. One row; the bounds may be infinite.
    pub fn interval(lower: f64, upper: f64) -> Law {
        Law::one_row(lower, upper)
    }

    /// Signorini and Coulomb with one tangent in the plane, two in space.
    pub fn coulomb(mu: f64, tangents: usize) -> Law {
        Law::with_sliding(0.0, Disc::cone(if tangents == 1 { 1 } else { 2 }, mu))
    }

    /// Signorini and Tresca: friction up to `radius`, whatever the pressure, with one tangent or two.
    pub fn tresca(radius: f64, tangents: usize) -> Law {
        Law::with_sliding(0.0, Disc { rows: if tangents == 1 { 1 } else { 2 }, mu: 0.0, radius })
    }

    /// Coulomb friction of a contact that pulls with up to `cohesion`: `λ_N ≥ −cohesion`, `‖λ_T‖ ≤ μ (λ_N + cohesion)`.
    pub fn adhesion(cohesion: f64, mu: f64, tangents: usize) -> Law {
        let disc = Disc { rows: if tangents == 1 { 1 } else { 2 }, mu, radius: mu * cohesion };
        Law::with_sliding(-cohesion, disc)
    }

    /// Signorini, Coulomb, rolling and spinning friction in space: rows (normal, two tangents, two rolling, spin).
    /// `rolling` and `spinning` are lengths: the largest moments per normal force.
    pub fn rolling(mu: f64, rolling: f64, spinning: f64) -> Law {
        Law::new(0.0, f64::INFINITY, [Disc::cone(2, mu), Disc::cone(2, rolling), Disc::cone(1, spinning)])
    }

    fn with_sliding(lower: f64, disc: Disc) -> Law {
        Law::new(lower, f64::INFINITY, [disc, Disc::default(), Disc::default()])
    }

    /// What kind of set this is.
    #[inline]
    pub fn shape(&self) -> Shape {
        match self.form {
            Form::Interval => Shape::Interval { lower: self.bounds[0], upper: self.bounds[1] },
            Form::Cone1 => Shape::Cone1 { mu: self.mu[0] },
            Form::Cone2 => Shape::Cone2 { mu: self.mu[0] },
            Form::General => Shape::General,
        }
    }

    /// Bounds of the first row's reaction; they may be infinite.
    #[inline]
    pub fn bounds(&self) -> (f64, f64) {
        (self.bounds[0], self.bounds[1])
    }

    /// The discs with their rows.
    #[inline]
    pub fn discs(&self) -> impl Iterator<Item = (Range<usize>, Disc)> {
        let mut first = 1;
        let discs = (0..DISCS).map(|d| Disc { rows: self.rows[d], mu: self.mu[d], radius: self.radius[d] });
        discs.filter(|disc| disc.rows > 0).map(move |disc| {
            let rows = first..first + disc.rows as usize;
            first = rows.end;
            (rows, disc)
        })
    }

    /// Coefficient of sliding friction; zero without tangents.
    #[inline]
    pub fn mu(&self) -> f64 {
        self.mu[0]
    }

    /// The same law with another coefficient of sliding friction.
    #[inline]
    #[must_use]
    pub fn with_mu(mut self, mu: f64) -> Law {
        self.mu[0] = mu;
        self
    }

    /// The law of what is added to a first reaction of `load`: each disc is as large as it has made it.
    #[must_use]
    pub fn loaded(&self, load: f64) -> Law {
        let disc = |d: usize| Disc { rows: self.rows[d], mu: self.mu[d], radius: self.radius[d] + self.mu[d] * load };
        Law::new(self.bounds[0], self.bounds[1], [disc(0), disc(1), disc(2)])
    }

    /// Whether this is `u = 0` with a free reaction.
    #[inline]
    pub fn is_equality(&self) -> bool {
        self.form == Form::Interval && self.bounds == [f64::NEG_INFINITY, f64::INFINITY]
    }

    /// Whether this is `0 ≤ u ⊥ λ ≥ 0`, without tangents.
    #[inline]
    pub fn is_unilateral(&self) -> bool {
        self.form == Form::Interval && self.bounds == [0.0, f64::INFINITY]
    }

    /// Whether there is a gap that opens and closes: the reaction of the first row is bounded from below alone.
    #[inline]
    pub fn is_contact(&self) -> bool {
        self.bounds[0] > f64::NEG_INFINITY && self.bounds[1] == f64::INFINITY
    }

    /// Whether the law acts on velocities alone and always: neither an equality nor a contact.
    #[inline]
    pub fn is_relay(&self) -> bool {
        !self.is_equality() && !self.is_contact()
    }

    /// Whether the first row resists what moves along it and never drives: reactions of either sign, none too large.
    #[inline]
    pub fn is_dry_friction(&self) -> bool {
        self.is_relay() && self.bounds[0] <= 0.0 && self.bounds[1] >= 0.0
    }

    /// Whether this is Signorini's condition with Coulomb's law, planar or spatial.
    #[inline]
    pub fn is_coulomb(&self) -> bool {
        matches!(self.form, Form::Cone1 | Form::Cone2)
    }

    /// Whether reactions behind the first row may differ from zero.
    pub fn has_friction(&self) -> bool {
        self.discs().any(|(_, disc)| disc.acts())
    }

    /// The law of the first row alone.
    #[inline]
    pub fn normal(&self) -> Law {
        Law::one_row(self.bounds[0], self.bounds[1])
    }

    /// What a row means: `normal`, the tangents `t1` and `t2`, the axes of rolling `r1` and `r2`, or `spin`.
    pub fn role(&self, row: usize) -> &'static str {
        let roles = (0..DISCS).flat_map(|d| &ROLES[d][..self.rows[d] as usize]);
        std::iter::once(&"normal").chain(roles).nth(row).copied().unwrap_or("none")
    }

    /// Number of rows.
    #[inline]
    pub fn size(&self) -> usize {
        usize::from(self.size)
    }

    /// The word of the field for this law.
    pub fn name(&self) -> &'static str {
        match self.form {
            Form::Interval if self.is_equality() => "equality",
            Form::Interval if self.is_unilateral() => "unilateral",
            Form::Interval => "box",
            Form::Cone1 => "planar friction",
            Form::Cone2 => "spatial friction",
            Form::General if self.rows[1] + self.rows[2] > 0 => "rolling friction",
            Form::General if self.bounds[0] < 0.0 => "adhesive friction",
            Form::General => "general friction",
        }
    }

    /// Whether the law's data make sense: bounds ordered, discs of known places, their numbers finite and not negative.
    #[inline]
    pub fn is_valid(&self) -> bool {
        let [lower, upper] = self.bounds;
        let fits = |x: f64| x >= 0.0 && x.is_finite();
        let ordered = lower <= upper && lower < f64::INFINITY && upper > f64::NEG_INFINITY;
        match self.form {
            Form::Interval => ordered,
            Form::Cone1 | Form::Cone2 => fits(self.mu[0]),
            Form::General => ordered && self.discs().all(|(_, disc)| fits(disc.mu) && fits(disc.radius)),
        }
    }

    /// The same law for reactions in other units: row k is `unit(k)` times as large, with one unit for the rows of a
    /// disc.
    pub(crate) fn scaled(&self, unit: impl Fn(usize) -> f64) -> Law {
        let mut law = *self;
        law.bounds = self.bounds.map(|x| x * unit(0));
        let mut row = 1;
        for d in (0..DISCS).filter(|&d| self.rows[d] > 0) {
            law.mu[d] *= unit(row) / unit(0);
            law.radius[d] *= unit(row);
            row += self.rows[d] as usize;
        }
        law
    }

    /// Whether there are discs of rolling or spinning, whose reactions are moments.
    #[inline]
    pub(crate) fn has_moments(&self) -> bool {
        self.rows[1] | self.rows[2] != 0
    }

    /// √ of the mean diagonal of `block`, the law's own block of W, over the rows of each disc: in the variables `unit
    /// λ` and `u / unit` forces and moments are comparable.
    pub(crate) fn units(&self, block: &[f64]) -> [f64; Law::MOST_ROWS] {
        let (rows, mut unit) = (self.size(), [1.0; Law::MOST_ROWS]);
        for disc in std::iter::once(0..1).chain(self.discs().map(|(disc, _)| disc)) {
            let mean = disc.clone().map(|k| block[k * rows + k]).sum::<f64>() / disc.len() as f64;
            unit[disc].fill(if mean > 0.0 && mean.is_finite() { mean.sqrt() } else { 1.0 });
        }
        unit
    }

    /// Sum of the squares of the finite bounds and radii: what the law itself brings into a problem.
    #[inline]
    pub(crate) fn driving(&self) -> f64 {
        if self.is_coulomb() {
            return 0.0;
        }
        let finite = |x: &&f64| x.is_finite();
        self.bounds.iter().chain(&self.radius).filter(finite).map(|x| x * x).sum()
    }

    /// The nearest reaction of the first row; NaN stays NaN.
    #[inline]
    fn clamp(&self, x: f64) -> f64 {
        let [lower, upper] = self.bounds;
        let x = if x < lower { lower } else { x };
        if x > upper { upper } else { x }
    }

    /// Whether no reaction at all answers the velocity `b`: nothing approaches, and the law asks for no more.
    #[inline]
    pub(crate) fn is_at_rest(&self, b: &[f64]) -> bool {
        let [lower, upper] = self.bounds;
        lower <= 0.0
            && upper >= 0.0
            && (b[0] == 0.0 || (b[0] > 0.0 && lower == 0.0) || (b[0] < 0.0 && upper == 0.0))
            && (self.form != Form::General
                || self.discs().all(|(rows, disc)| disc.radius == 0.0 || b[rows].iter().all(|b| *b == 0.0)))
    }

    /// Euclidean projection of `x` onto the admissible set `K` of reactions, in place.
    #[inline]
    pub fn project(&self, x: &mut [f64]) {
        // one row is an interval: where the length is a constant, nothing else is left
        if let [x] = x {
            *x = self.clamp(*x);
            return;
        }
        match self.form {
            Form::Interval | Form::Cone1 | Form::Cone2 => cone::project(self.mu[0], x),
            Form::General => {
                // a copy, so that `x` may stay in registers on the other ways
                let mut copy = [0.0; Law::MOST_ROWS];
                copy[..x.len()].copy_from_slice(x);
                x.copy_from_slice(&discs::project(self, copy)[..x.len()]);
            }
        }
    }

    /// De Saxcé's shift `Σ_d μ_d ‖u_d‖` of the first row.
    #[inline]
    pub fn shift(&self, u: &[f64]) -> f64 {
        match self.form {
            Form::Interval => 0.0,
            Form::Cone1 => self.mu[0] * u[1].abs(),
            Form::Cone2 => self.mu[0] * cone::norm(&u[1..3]),
            Form::General => discs::shift(self, u),
        }
    }

    /// The natural map `λ − P_K(λ − ρ (u + s(u)))`: zero exactly where the law holds.
    #[inline(always)]
    pub fn natural_map(&self, lambda: &[f64], u: &[f64], rho: f64, out: &mut [f64]) {
        for ((o, l), u) in out.iter_mut().zip(lambda).zip(u) {
            *o = l - rho * u;
        }
        if lambda.len() > 1 {
            out[0] -= rho * self.shift(u);
        }
        self.project(out);
        for (o, l) in out.iter_mut().zip(lambda) {
            *o = l - *o;
        }
    }

    /// Distance of `λ` to its admissible set, in the unit of `λ`.
    #[inline]
    pub fn cone_violation(&self, lambda: &[f64]) -> f64 {
        if let [x] = lambda {
            return (x - self.clamp(*x)).abs();
        }
        let mut p = [0.0; Law::MOST_ROWS];
        let p = &mut p[..lambda.len()];
        p.copy_from_slice(lambda);
        self.project(p);
        p.iter().zip(lambda).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    }

    /// How far `u` is from what the law allows for some `λ`, in the unit of `u` (a negative gap velocity, a residual of
    /// an equality). Any `u` is allowed towards a finite bound.
    #[inline]
    pub fn velocity_violation(&self, u: &[f64]) -> f64 {
        let [lower, upper] = self.bounds;
        match u[0] < 0.0 {
            true if upper == f64::INFINITY => -u[0],
            false if lower == f64::NEG_INFINITY => u[0],
            _ => 0.0,
        }
    }

    /// `|λ·(u + s(u))|`, with `λ₀` counted from the bound that `u₀` pushes to and discs with their radius: the energy
    /// by which the law is missed.
    #[inline]
    pub fn complementarity(&self, lambda: &[f64], u: &[f64]) -> f64 {
        // u > 0 asks for the lower bound, u < 0 for the upper one
        let bound = self.bounds[usize::from(u[0] <= 0.0)];
        let distance = if bound.abs() < f64::INFINITY { lambda[0] - bound } else { lambda[0] };
        let first = distance * u[0];
        if lambda.len() == 1 {
            return first.abs();
        }
        let behind = match self.form {
            Form::Interval | Form::Cone1 | Form::Cone2 => {
                cone::missed_power(&lambda[1..], &u[1..], self.mu[0] * lambda[0])
            }
            Form::General => discs::missed_power(self, lambda, u),
        };
        (first + behind).abs()
    }
}

#[cfg(test)]
mod tests;
