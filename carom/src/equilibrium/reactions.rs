//! The set of reactions that keep a system at rest, and extremes over it.
//!
//! ```text
//!     F + Cᵀ λ = 0,   λ_i ∈ K_i                                                                                 (1)
//!     λ̂ = x₀ + Z y  with  Ĉᵀ x₀ = −F̂,  Ĉᵀ Z = 0                in variables scaled by the mass and by rows       (2)
//!     max |λ_d| / (r + μ λ₀):  s x₀ + Z y  with  r s + μ λ₀ = 1,  s ≥ 0                                         (3)
//! ```
//!
//! (1) is convex: intervals and discs. Friction in the plane makes it a polyhedron, in space its cones are cut out by
//! planes. (3) is a program as well, since everything in (1) but the loads is homogeneous [charnes1962].

use super::EquilibriumError;
use super::program::{Best, HalfSpace, Program};
use carom_solve::Law;
use carom_solve::elementary::{cos, hypot, sin};
use nalgebra::{DMatrix, DVector};
use std::ops::Range;

/// Singular values below this part of the largest one are zero.
const RANK: f64 = 1e-10;

/// Rows of open directions above this are open.
const OPEN: f64 = 1e-9;

/// Round cones hold up to this part of the forces; programs hold their planes closer.
const ROUND: f64 = 1e-9;

/// Planes that a round cone has from the start.
const PLANES: usize = 8;

/// Planes of a round cone that are closer than this angle say the same [rad]: its square is below `ROUND`.
const APART: f64 = 1e-5;

/// Most planes of a round cone that are kept from program to program.
const KEPT: usize = 40;

/// Discs are at most so many times as narrow as in the middle of the set where parts of them are looked for.
const NARROW: f64 = 1e3;

/// Steps towards the farthest point of a round disc.
const CLIMBS: usize = 6;

/// A linear function of x: entries and a bound from above.
type Linear = (Vec<(usize, f64)>, f64);

/// A disc of a law: `|x_rows| ≤ radius + mu x_first`, scaled.
#[derive(Clone, Debug)]
pub(super) struct ScaledDisc {
    pub law: usize,
    pub rows: Range<usize>,
    pub first: usize,
    mu: f64,
    radius: f64,
}

impl ScaledDisc {
    /// Whether there is friction at all.
    pub fn acts(&self) -> bool {
        self.mu != 0.0 || self.radius != 0.0
    }
}

/// What is asked of the unknowns beside y.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// y alone.
    Plain,
    /// (y, s): every bound may be missed by s.
    Violation,
    /// (y, s, τ): s scales the loads, τ is one more bound.
    Homogeneous,
}

/// The set (1) of the laws that act.
pub(super) struct Reactions {
    /// Rows of each law here.
    pub offset: Vec<usize>,
    scale: Vec<f64>, // (rows)
    unit: f64,       // size of the forces
    x0: DVector<f64>,
    z: DMatrix<f64>,
    loose: DMatrix<f64>, // directions in which nothing is bounded: joints that strain each other
    linear: Vec<Linear>,
    pub discs: Vec<ScaledDisc>,
    planes: Vec<(usize, [f64; 2])>, // of round discs: number and direction
    cuts: Vec<(usize, [f64; 2])>,   // the same, of the program that is solved
    slack: f64,                     // by which bounds are missed
    /// By how much forces and reactions without their laws do not balance, as a part of the forces.
    pub residual: f64,
}

impl Reactions {
    /// The set of the laws with these rows (law by law) and the force, both scaled by the mass; `unit` is how large
    /// forces are.
    pub fn new(laws: &[Law], rows: &DMatrix<f64>, force: &DVector<f64>, unit: f64) -> Reactions {
        let (n, m) = (rows.ncols(), rows.nrows());
        let mut offset = vec![0];
        let mut scale = vec![1.0; m];
        let norm = |range: Range<usize>| {
            range.map(|i| rows.row(i).norm()).filter(|x| *x > 0.0).fold(0.0, f64::max).max(f64::MIN_POSITIVE)
        };
        for law in laws {
            let first = offset[offset.len() - 1];
            offset.push(first + law.size());
            scale[first] = norm(first..first + 1);
            for (disc, _) in law.discs() {
                // sliding is compared with the pressure
                let shares = law.role(disc.start) == "t1";
                let of = if shares { scale[first] } else { norm(first + disc.start..first + disc.end) };
                scale[first + disc.start..first + disc.end].fill(of);
            }
        }
        let a = DMatrix::from_fn(n, m, |j, i| rows[(i, j)] / scale[i]);
        let unit = unit.max(f64::MIN_POSITIVE);
        let (x0, _, range_m) = solve(&a, &(-force / unit));
        let residual = (&a * &x0 + force / unit).norm();
        let mut set = Reactions {
            offset,
            scale,
            unit,
            x0,
            z: complement(&range_m),
            loose: DMatrix::zeros(m, 0),
            linear: Vec::new(),
            discs: Vec::new(),
            planes: Vec::new(),
            cuts: Vec::new(),
            slack: 0.0,
            residual,
        };
        set.bound(laws);
        set.part();
        set
    }

    /// Parts the open directions into those that some law bounds and those that none does.
    fn part(&mut self) {
        let mut rows: Vec<usize> = self.linear.iter().flat_map(|(entries, _)| entries.iter().map(|e| e.0)).collect();
        rows.extend(self.discs.iter().flat_map(|disc| disc.rows.clone()));
        rows.sort_unstable();
        rows.dedup();
        let bounded = self.z.select_rows(&rows);
        let (_, _, kept) = solve(&bounded, &DVector::zeros(rows.len()));
        self.loose = &self.z * complement(&kept);
        self.z = &self.z * kept;
    }

    /// Half-spaces and discs of the laws.
    fn bound(&mut self, laws: &[Law]) {
        for (k, law) in laws.iter().enumerate() {
            let first = self.offset[k];
            let (lower, upper) = law.bounds();
            let to_scaled = self.scale[first] / self.unit;
            if lower.is_finite() {
                self.linear.push((vec![(first, -1.0)], -lower * to_scaled));
            }
            if upper.is_finite() {
                self.linear.push((vec![(first, 1.0)], upper * to_scaled));
            }
            for (rows, disc) in law.discs() {
                let rows = first + rows.start..first + rows.end;
                let scale = self.scale[rows.start];
                let (mu, radius) = (disc.mu * scale / self.scale[first], disc.radius * scale / self.unit);
                if rows.len() == 2 {
                    let turn = |j: usize| std::f64::consts::TAU * (j as f64 + 0.5) / PLANES as f64;
                    let planes = (0..PLANES).map(|j| (self.discs.len(), [cos(turn(j)), sin(turn(j))]));
                    self.planes.extend(planes);
                }
                self.discs.push(ScaledDisc { law: k, rows, first, mu, radius });
            }
        }
    }

    /// How many directions of the reactions the balance leaves open.
    pub fn freedom(&self) -> usize {
        self.z.ncols() + self.loose.ncols()
    }

    /// Unknowns of programs.
    fn open(&self) -> usize {
        self.z.ncols()
    }

    /// Reactions [N] of scaled ones.
    pub fn lambda(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.scale).map(|(x, scale)| self.unit * x / scale).collect()
    }

    /// Whether the balance leaves this row open.
    pub fn is_open(&self, row: usize) -> bool {
        self.is_loose(row) || self.z.row(row).norm() > OPEN
    }

    /// Whether nothing bounds this row.
    fn is_loose(&self, row: usize) -> bool {
        self.loose.row(row).norm() > OPEN
    }

    /// x of y, with the loads s-fold.
    fn point(&self, y: &[f64], s: f64) -> Vec<f64> {
        let (m, k) = (self.x0.len(), self.open());
        (0..m).map(|i| s * self.x0[i] + (0..k).map(|j| self.z[(i, j)] * y[j]).sum::<f64>()).collect()
    }

    /// A linear function of x as a half-space of the unknowns.
    fn half_space(&self, form: Form, (entries, bound): &Linear) -> HalfSpace {
        let k = self.open();
        let mut a: Vec<f64> = (0..k).map(|j| entries.iter().map(|&(i, g)| g * self.z[(i, j)]).sum()).collect();
        let constant: f64 = entries.iter().map(|&(i, g)| g * self.x0[i]).sum();
        match form {
            Form::Plain => (a, bound + self.slack - constant),
            Form::Violation => {
                a.push(-1.0);
                (a, bound - constant)
            }
            Form::Homogeneous => {
                a.extend([constant - bound - self.slack, 0.0]);
                (a, 0.0)
            }
        }
    }

    /// The plane that holds a disc in a direction, with its friction `share`-fold.
    fn plane(&self, disc: &ScaledDisc, direction: &[f64], share: f64) -> Linear {
        let along = disc.rows.clone().zip(direction).map(|(i, d)| (i, *d));
        (along.chain([(disc.first, -share * disc.mu)]).collect(), share * disc.radius)
    }

    /// The half-spaces that are known.
    fn spaces(&self, form: Form, share: f64) -> Vec<HalfSpace> {
        let mut all: Vec<HalfSpace> = self.linear.iter().map(|linear| self.half_space(form, linear)).collect();
        for disc in self.discs.iter().filter(|disc| disc.rows.len() == 1) {
            for sign in [1.0, -1.0] {
                all.push(self.half_space(form, &self.plane(disc, &[sign], share)));
            }
        }
        for (disc, direction) in &self.planes {
            all.push(self.half_space(form, &self.plane(&self.discs[*disc], direction, share)));
        }
        all
    }

    /// Planes of round discs that a point is outside of; they are kept.
    fn cut(&mut self, form: Form, share: f64, w: &[f64]) -> Vec<HalfSpace> {
        let k = self.open();
        let (s, missed) = match form {
            Form::Plain => (1.0, self.slack),
            Form::Violation => (1.0, w[k]),
            Form::Homogeneous => (w[k], self.slack * w[k]),
        };
        let x = self.point(&w[..k], s);
        let mut more = Vec::new();
        for (number, disc) in self.discs.iter().enumerate().filter(|(_, disc)| disc.rows.len() == 2) {
            let t = [x[disc.rows.start], x[disc.rows.start + 1]];
            let length = hypot(t[0], t[1]);
            let bound = share * (disc.radius * s + disc.mu * x[disc.first]) + missed;
            if length - bound > ROUND * (1.0 + length) {
                let direction = [t[0] / length, t[1] / length];
                let same =
                    |(d, [a, b]): &(usize, [f64; 2])| *d == number && hypot(a - direction[0], b - direction[1]) < APART;
                if !self.planes.iter().chain(&self.cuts).any(same) {
                    more.push((number, direction));
                }
            }
        }
        let planes = |(disc, d): &(usize, [f64; 2])| self.half_space(form, &self.plane(&self.discs[*disc], d, share));
        let spaces = more.iter().map(planes).collect();
        self.cuts.extend(more);
        spaces
    }

    /// A program is over: of its planes some are kept for the next one.
    fn keep(&mut self) {
        for (disc, direction) in std::mem::take(&mut self.cuts) {
            if self.planes.iter().filter(|plane| plane.0 == disc).count() < KEPT {
                self.planes.push((disc, direction));
            }
        }
    }

    /// The best point of a program of this form.
    fn solve(&mut self, form: Form, share: f64, spaces: Vec<HalfSpace>, c: &[f64]) -> Best {
        let best = Program::new(c.len(), spaces).maximise(c, &mut |w| self.cut(form, share, w));
        self.keep();
        best
    }

    /// The least part of the forces by which all laws together must be missed, with the friction of all discs
    /// `share`-fold: zero where reactions of (1) exist.
    pub fn violation(&mut self, share: f64) -> f64 {
        let k = self.open();
        let mut spaces = self.spaces(Form::Violation, share);
        let mut least = vec![0.0; k + 1];
        least[k] = -1.0;
        spaces.push((least.clone(), 0.0));
        match self.solve(Form::Violation, share, spaces, &least) {
            Best::At(value, _) => -value,
            Best::Stalled(missed) => missed.max(1.0),
            Best::Infinite | Best::Empty => f64::INFINITY,
        }
    }

    /// By how much all laws together may be missed by rounding, as a part of the forces.
    pub fn rounding(&self) -> f64 {
        self.slack.max(1e-12)
    }

    /// Lets all bounds be missed by a part of the forces: what rounding has left of a thin set, and round cones that
    /// are known up to planes.
    pub fn set_slack(&mut self, violation: f64) {
        let round = self.discs.iter().any(|disc| disc.rows.len() == 2);
        self.slack = violation * (1.0 + 1e-3) + if round { 3.0 * ROUND } else { 0.0 };
    }

    /// The force that is 1 for the first row of a law, scaled [N].
    pub fn size(&self, law: usize) -> f64 {
        self.unit / self.scale[self.offset[law]]
    }

    /// The reaction of a row where `sign` times it is largest over the set, with a point; nothing where it is infinite.
    pub fn extreme(&mut self, row: usize, sign: f64) -> Result<Option<(f64, Vec<f64>)>, EquilibriumError> {
        if self.is_loose(row) {
            return Ok(None);
        }
        let k = self.open();
        let c: Vec<f64> = (0..k).map(|j| sign * self.z[(row, j)]).collect();
        let spaces = self.spaces(Form::Plain, 1.0);
        match self.solve(Form::Plain, 1.0, spaces, &c) {
            Best::At(_, y) => {
                let x = self.point(&y, 1.0);
                Ok(Some((self.unit * x[row] / self.scale[row], x)))
            }
            Best::Infinite => Ok(None),
            Best::Empty => Err(EquilibriumError::Program(f64::INFINITY)),
            Best::Stalled(missed) => Err(EquilibriumError::Program(missed)),
        }
    }

    /// A point of the set where nothing is open.
    pub fn only(&self) -> Vec<f64> {
        self.point(&vec![0.0; self.open()], 1.0)
    }

    /// How much of a disc a reaction uses; nothing where there is none to use.
    pub fn used(&self, disc: &ScaledDisc, x: &[f64]) -> Option<f64> {
        let bound = disc.radius + disc.mu * x[disc.first];
        let size = x[disc.rows.clone()].iter().map(|x| x * x).sum::<f64>().sqrt();
        (bound > 1e-9).then(|| size / bound)
    }

    /// Least and largest part of a disc that is used, over the reactions that leave it a thousandth of its width in the
    /// point `middle`. The largest part of a round disc is looked for from several directions.
    pub fn usage(&mut self, disc: usize, middle: &[f64]) -> Option<[f64; 2]> {
        let disc = self.discs[disc].clone();
        let width = disc.radius + disc.mu * middle[disc.first];
        if !disc.acts() || width <= 0.0 {
            return None;
        }
        let least = self.least_use(&disc, width)?;
        let starts = if disc.rows.len() == 1 { 2 } else { PLANES };
        let (mut most, mut direction) = (least, [1.0, 0.0]);
        let mut look = |this: &mut Reactions, towards: [f64; 2], most: &mut f64| {
            let [x, y] = this.farthest(&disc, width, towards).unwrap_or_default();
            let (length, before) = (hypot(x, y), *most);
            if length > before {
                (*most, direction) = (length, [x / length, y / length]);
            }
            (length > before * (1.0 + 1e-7)).then_some(direction)
        };
        let mut best = None;
        for j in 0..starts {
            let turn = std::f64::consts::TAU * j as f64 / starts as f64;
            best = look(self, [cos(turn), sin(turn)], &mut most).or(best);
        }
        // the distance from the middle is convex: it grows in the direction that was found
        for _ in 0..if disc.rows.len() == 1 { 0 } else { CLIMBS } {
            let Some(towards) = best else { break };
            best = look(self, towards, &mut most);
        }
        // where the pressure vanishes, slack beside it is more than all of the disc
        Some([least.min(1.0), most.min(1.0)])
    }

    /// Half-spaces of (3), for (y, s, τ): the disc is as wide as in a known point, where s = 1.
    fn normalised(&self, disc: &ScaledDisc, wide: f64) -> Vec<HalfSpace> {
        let k = self.open();
        let mut spaces = self.spaces(Form::Homogeneous, 1.0);
        let mut width: Vec<f64> = (0..k).map(|j| disc.mu * self.z[(disc.first, j)]).collect();
        width.extend([disc.radius + disc.mu * self.x0[disc.first], 0.0]);
        spaces.push((width.iter().map(|a| -a).collect(), -wide));
        spaces.push((width, wide));
        let unit = |at: usize| (0..k + 2).map(|j| if j == at { -1.0 } else { 0.0 }).collect::<Vec<f64>>();
        spaces.push((unit(k), 0.0));
        spaces.push((unit(k).iter().map(|a| -a).collect(), NARROW));
        spaces.push((unit(k + 1), 0.0));
        spaces
    }

    fn least_use(&mut self, disc: &ScaledDisc, width: f64) -> Option<f64> {
        let k = self.open();
        let mut spaces = self.normalised(disc, width);
        let bounded = |this: &Reactions, direction: &[f64]| {
            let free = ScaledDisc { mu: 0.0, radius: 0.0, ..disc.clone() };
            let mut a = this.half_space(Form::Homogeneous, &this.plane(&free, direction, 1.0)).0;
            a[k] += this.slack;
            a[k + 1] = -1.0;
            (a, 0.0)
        };
        for sign in [1.0, -1.0] {
            for axis in 0..disc.rows.len() {
                let direction: Vec<f64> = (0..disc.rows.len()).map(|i| if i == axis { sign } else { 0.0 }).collect();
                spaces.push(bounded(self, &direction));
            }
        }
        let mut least = vec![0.0; k + 2];
        least[k + 1] = -1.0;
        let mut tried: Vec<Vec<f64>> = Vec::new();
        let best = Program::new(k + 2, spaces).maximise(&least, &mut |w| {
            let mut more = self.cut(Form::Homogeneous, 1.0, w);
            let x = self.point(&w[..k], w[k]);
            let t = &x[disc.rows.clone()];
            let length = t.iter().map(|x| x * x).sum::<f64>().sqrt();
            let direction: Vec<f64> = t.iter().map(|x| x / length).collect();
            let far = |other: &Vec<f64>| other.iter().zip(&direction).any(|(a, b)| (a - b).abs() > 0.5 * APART);
            if length > w[k + 1] + ROUND * (1.0 + length) && tried.iter().all(far) {
                more.push(bounded(self, &direction));
                tried.push(direction);
            }
            more
        });
        self.keep();
        match best {
            Best::At(value, _) => Some((-value).max(0.0) / width),
            _ => None,
        }
    }

    /// The point of a disc, as a part of its width, farthest in a direction.
    fn farthest(&mut self, disc: &ScaledDisc, width: f64, direction: [f64; 2]) -> Option<[f64; 2]> {
        let k = self.open();
        let mut c: Vec<f64> = vec![0.0; k + 2];
        for (i, d) in disc.rows.clone().zip(direction) {
            (0..k).for_each(|j| c[j] += d * self.z[(i, j)]);
            c[k] += d * self.x0[i];
        }
        let spaces = self.normalised(disc, width);
        match self.solve(Form::Homogeneous, 1.0, spaces, &c) {
            Best::At(_, w) => {
                let x = self.point(&w[..k], w[k]);
                let t = &x[disc.rows.clone()];
                Some([t[0] / width, t.get(1).copied().unwrap_or(0.0) / width])
            }
            _ => None,
        }
    }
}

/// Least squares of A x = b, with orthonormal bases of the ranges of A and Aᵀ.
pub(super) fn solve(a: &DMatrix<f64>, b: &DVector<f64>) -> (DVector<f64>, DMatrix<f64>, DMatrix<f64>) {
    let (n, m) = a.shape();
    if n == 0 || m == 0 {
        return (DVector::zeros(m), DMatrix::zeros(n, 0), DMatrix::zeros(m, 0));
    }
    let svd = a.clone().svd(true, true);
    let (Some(u), Some(v)) = (svd.u, svd.v_t) else {
        return (DVector::zeros(m), DMatrix::zeros(n, 0), DMatrix::zeros(m, 0));
    };
    let largest = svd.singular_values.max();
    let kept: Vec<usize> =
        (0..svd.singular_values.len()).filter(|&i| svd.singular_values[i] > RANK * largest).collect();
    let mut x = DVector::zeros(m);
    for &i in &kept {
        let part = u.column(i).dot(b) / svd.singular_values[i];
        x += v.row(i).transpose() * part;
    }
    (x, u.select_columns(&kept), v.transpose().select_columns(&kept))
}

/// Orthonormal basis of what is orthogonal to orthonormal columns: Gram and Schmidt with pivots, twice.
pub(super) fn complement(q: &DMatrix<f64>) -> DMatrix<f64> {
    let (n, r) = q.shape();
    let mut rest = DMatrix::identity(n, n) - q * q.transpose();
    let mut basis = DMatrix::zeros(n, n - r);
    for k in 0..n - r {
        let size = |j: &usize| rest.column(*j).norm_squared();
        let Some(pivot) = (0..n).max_by(|i, j| size(i).total_cmp(&size(j)).then(j.cmp(i))) else { break };
        let mut new: DVector<f64> = rest.column(pivot).into_owned();
        for _ in 0..2 {
            new -= q * (q.transpose() * &new);
            let so_far = basis.columns(0, k);
            new -= so_far * (so_far.transpose() * &new);
            new.normalize_mut();
        }
        let parts = rest.transpose() * &new;
        rest -= &new * parts.transpose();
        basis.set_column(k, &new);
    }
    basis
}
