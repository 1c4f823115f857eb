//! The derivative of an impulse balance on its active branch, for every scheme whose step is made of such balances.
//!
//! ```text
//!     M(q_m)(v⁺ − v) = h Σ w F(t_x, q_x, v_x) + B P                                                                (1)
//!     t_x = t + τ h,   q_x = q + h (α v + β v⁺),   v_x = γ v + δ v⁺          at each place x                       (2)
//!     U_N⁺ + e U_N = 0  or  g(t_x, q_x) = 0  for contacts with P_N > 0, U⁺ = 0 for rows that stick              (3)
//!     P_T = −μ P_N d,   d = U_T⁺/|U_T⁺|   for those that slip,   P = 0 for all others                              (4)
//! ```
//!
//! Unknowns are dv⁺ and dP along (dt, dh, dq, dv, dp). [`BalanceTangent::differential`] is the derivative of (1) and
//! (3) along any direction, dv⁺ included: along the n units of dv⁺ it gives the matrices J and G, along a perturbation
//! the right sides r and s.
//!
//! ```text
//!     J dv⁺ = B dP − r,   dU⁺ = G dv⁺ + s:     dU⁺ = (s − G J⁻¹ r) + W dP,   W = G J⁻¹ B                           (5)
//!     rows of (3): dU⁺ = 0;    rows of (4): dP_T + μ d dP_N + dμ P_N d + (μ P_N/|U_T|) (1 − d dᵀ) dU_T = 0         (6)
//! ```
//!
//! Where increments have a chart, + in (2) is a retraction, and dq of a place is a perturbation on the chart there.
//!
//! The branch is read off the natural map of each law (P − U/w against its set): rounded zeros of a solver do not
//! count.

mod choose;
mod probe;

use super::frame::Parts;
use super::words::{Acting, Balance, Level, Place};
use crate::model::tangent::At;
use crate::model::{Along, CouplingTangent, Tangent, Turning};
use crate::phase::RankedLu;
use crate::{Coupling, Key, Mechanical, ModelError, State};
use carom_solve::{DenseLu, LinearSolve};
use choose::slip;

/// Why a step has no derivative.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TangentError {
    /// The model could not tell.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Something happened behind which neighbours go another way.
    #[error("the motion has no derivative at t = {t:?}: {event}")]
    NotDifferentiable { t: f64, event: &'static str },
}

/// A direction in which (1) to (4) are differentiated: of time, of the length h, of positions, velocities and
/// parameters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Direction<'a> {
    pub t: f64,
    pub h: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub p: &'a [f64],
}

/// Rows at a configuration.
#[derive(Default)]
struct RowsAt {
    place: Place,
    slope: Option<(Place, usize)>, // how the place changes with the restitution of a law
    t: f64,
    q: Vec<f64>,
    coupling: Coupling,
    tangent: CouplingTangent,
}

/// What holds on a row.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// The velocity, or the gap, is zero.
    Zero,
    /// The impulse is zero.
    Idle,
    /// The impulse is −(μ P_N + r) d: normal line of the law, first line of the disc and how many it has, μ, μ P_N + r
    /// and |U_T|.
    Slip { normal: usize, first: usize, size: usize, mu: f64, bound: f64, speed: f64 },
}

/// One row of a law.
#[derive(Clone, Copy, Debug)]
struct RowState {
    acting: usize,
    component: usize, // row of the law
    law: usize,       // in the list
    row: usize,       // of the coupling
    kind: Kind,
    d: [f64; 2],
    w: f64, // size of W in this row
}

/// The linearised balance; buffers keep their capacity.
pub(crate) struct BalanceTangent {
    pub(crate) model: Box<dyn Mechanical>,
    pub(crate) tangent: Box<dyn Tangent>,
    pub(crate) n: usize,
    pub(crate) parameters: usize,
    list: Vec<Key>, // the laws of the step
    t: f64,
    h: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    after: Vec<f64>, // v⁺
    jump: Vec<f64>,  // v⁺ − v
    balance: Balance,
    values: [Vec<f64>; 2], // F at the start and at the place of the other force
    sites: Vec<RowsAt>,
    used: usize,
    acting: Vec<Acting>,
    at: Vec<[usize; 2]>, // (acting) sites of input and output
    lines: Vec<RowState>,
    j: DenseLu,
    g: Vec<f64>,        // (lines × n)
    response: Vec<f64>, // (lines × n) J⁻¹B
    delassus: Vec<f64>, // (lines × lines) W
    system: RankedLu,
    scale: Vec<f64>,
    // a direction, and what it gives
    dt: f64,
    dh: f64,
    dq: Vec<f64>,
    dv: Vec<f64>,
    dp: Vec<f64>,
    dafter: Vec<f64>,
    r: Vec<f64>,
    s: Vec<f64>,
    friction: Vec<f64>, // (lines) dμ of their discs
    x: Vec<f64>,
    place: (Vec<f64>, Vec<f64>, Vec<f64>), // q, dq and dv at a place
    way: Vec<f64>,                         // increment to the place
    change: Vec<f64>,                      // of the increment
    turning: Turning,
    vector: Vec<f64>,
    part: Vec<f64>,
    scratch: Scratch,
    probed: (Coupling, CouplingTangent),
}

/// Vectors of the dimension for whoever needs them.
pub(crate) type Scratch = [Vec<f64>; 4];

/// The site of the start, which is always there.
const AT_START: usize = 0;

impl BalanceTangent {
    pub fn new(model: Box<dyn Mechanical>, tangent: Box<dyn Tangent>) -> BalanceTangent {
        let (n, parameters) = (model.dim(), tangent.parameters().len());
        let positions = model.positions();
        let zeros = || vec![0.0; n];
        BalanceTangent {
            model,
            tangent,
            n,
            parameters,
            list: Vec::new(),
            t: 0.0,
            h: 0.0,
            q: vec![0.0; positions],
            v: zeros(),
            after: zeros(),
            jump: zeros(),
            balance: Balance::default(),
            values: [zeros(), zeros()],
            sites: Vec::new(),
            used: 0,
            acting: Vec::new(),
            at: Vec::new(),
            lines: Vec::new(),
            j: DenseLu::default(),
            g: Vec::new(),
            response: Vec::new(),
            delassus: Vec::new(),
            system: RankedLu::default(),
            scale: Vec::new(),
            dt: 0.0,
            dh: 0.0,
            dq: zeros(),
            dv: zeros(),
            dp: vec![0.0; parameters],
            dafter: zeros(),
            r: zeros(),
            s: Vec::new(),
            friction: Vec::new(),
            x: Vec::new(),
            place: (vec![0.0; positions], zeros(), zeros()),
            way: zeros(),
            change: zeros(),
            turning: Turning::default(),
            vector: zeros(),
            part: zeros(),
            scratch: Scratch::default(),
            probed: Default::default(),
        }
    }

    /// Starts a step from a state: its model has to choose the laws that the step has.
    pub fn list(&mut self, from: &State, reach: f64, of: &Coupling) -> Result<(), ModelError> {
        self.model.detect(from, reach)?;
        if !of.has_keys(&self.list) {
            self.list.clear();
            self.list.extend(of.pairs.iter().map(|pair| pair.key));
        }
        Ok(())
    }

    /// Takes a balance from a state to the velocity `after`, over the length `h`, with the laws that may act.
    pub fn set(
        &mut self,
        (t, q, v): At<'_>,
        after: &[f64],
        (h, balance): (f64, Balance),
        acting: impl IntoIterator<Item = Acting>,
    ) -> Result<(), ModelError> {
        (self.t, self.h, self.balance) = (t, h, balance);
        self.q.copy_from_slice(q);
        self.v.copy_from_slice(v);
        self.after.copy_from_slice(after);
        for ((d, a), b) in self.jump.iter_mut().zip(after).zip(v) {
            *d = a - b;
        }
        self.acting.clear();
        self.at.clear();
        self.used = 0;
        self.site(Place::START, None);
        for acting in acting {
            let slope = acting.slope.filter(|_| self.parameters > 0).map(|slope| (slope, acting.index));
            let output = self.site(acting.output, slope);
            let input = if acting.input == acting.output { output } else { self.site(acting.input, None) };
            self.acting.push(acting);
            self.at.push([input, output]);
        }
        self.factor()
    }

    /// A configuration at which rows are taken, by its number.
    fn site(&mut self, place: Place, slope: Option<(Place, usize)>) -> usize {
        let same = |site: &RowsAt| site.place == place && site.slope.is_none() && slope.is_none();
        if let Some(known) = self.sites[..self.used].iter().position(same) {
            return known;
        }
        if self.used == self.sites.len() {
            self.sites.push(RowsAt { q: vec![0.0; self.q.len()], ..RowsAt::default() });
        }
        let site = &mut self.sites[self.used];
        (site.place, site.slope) = (place, slope);
        self.used += 1;
        self.used - 1
    }

    /// The forces with their weights.
    fn forces(&self) -> [(f64, Place); 2] {
        [(self.balance.start, Place::START), self.balance.force]
    }

    /// J, G, W and the branch.
    fn factor(&mut self) -> Result<(), ModelError> {
        self.evaluate()?;
        self.lay_out();
        let (n, m) = (self.n, self.lines.len());
        self.g.resize(m * n, 0.0);
        (self.dt, self.dh) = (0.0, 0.0);
        self.dq.fill(0.0);
        self.dv.fill(0.0);
        self.dp.fill(0.0);
        self.j.matrix_mut(n);
        for k in 0..n {
            self.dafter.fill(0.0);
            self.dafter[k] = 1.0;
            self.differential()?;
            let matrix = self.j.matrix_mut(n);
            (0..n).for_each(|i| matrix[i * n + k] = self.r[i]);
            (0..m).for_each(|i| self.g[i * n + k] = self.s[i]);
        }
        self.j.factor().map_err(|source| ModelError::Singular { t: self.t, source })?;
        self.response.clear();
        self.response.resize(m * n, 0.0);
        for (line, response) in self.lines.iter().zip(self.response.chunks_exact_mut(n.max(1))) {
            let site = &self.sites[self.at[line.acting][0]];
            site.coupling.rows.add_row(line.row, 1.0, response);
            self.j.solve(response);
        }
        self.delassus.resize(m * m, 0.0);
        for (k, g) in self.g.chunks_exact(n.max(1)).enumerate() {
            for (l, response) in self.response.chunks_exact(n.max(1)).enumerate() {
                self.delassus[k * m + l] = dot(g, response);
            }
        }
        self.choose();
        self.assemble();
        Ok(())
    }

    /// Forces, and rows at the sites that are used.
    fn evaluate(&mut self) -> Result<(), ModelError> {
        for (k, (weight, place)) in self.forces().into_iter().enumerate() {
            if weight != 0.0 {
                let t = self.locate(place);
                self.model.force(t, &self.place.0, &self.place.2, &mut self.values[k])?;
            }
        }
        if self.acting.is_empty() {
            return Ok(());
        }
        for k in 0..self.used {
            let place = self.sites[k].place;
            let t = self.locate(place);
            let site = &mut self.sites[k];
            site.t = t;
            site.q.copy_from_slice(&self.place.0);
            site.coupling.fill(&mut *self.model, (t, &site.q), false, &self.list)?;
        }
        Ok(())
    }

    /// Time, and positions and velocities in `place`.
    fn locate(&mut self, x: Place) -> f64 {
        let (q, _, v) = &mut self.place;
        for i in 0..self.n {
            self.way[i] = self.h * (x.alpha * self.v[i] + x.beta * self.after[i]);
            v[i] = x.gamma * self.v[i] + x.delta * self.after[i];
        }
        self.model.retract(&self.q, &self.way, q);
        self.t + x.tau * self.h
    }

    /// The directions of positions and velocities at a place, in `place`; returns that of time.
    fn place_along(&mut self, x: Place) -> f64 {
        let (_, dq, dv) = &mut self.place;
        if let Some(chart) = self.model.chart() {
            for i in 0..self.n {
                self.way[i] = self.h * (x.alpha * self.v[i] + x.beta * self.after[i]);
                self.change[i] = self.dh * (x.alpha * self.v[i] + x.beta * self.after[i])
                    + self.h * (x.alpha * self.dv[i] + x.beta * self.dafter[i]);
                dv[i] = x.gamma * self.dv[i] + x.delta * self.dafter[i];
            }
            dq.copy_from_slice(&self.dq);
            self.turning.carry(chart, (&self.way, &self.change), dq);
            return self.dt + x.tau * self.dh;
        }
        for i in 0..self.n {
            dq[i] = self.dq[i]
                + self.dh * (x.alpha * self.v[i] + x.beta * self.after[i])
                + self.h * (x.alpha * self.dv[i] + x.beta * self.dafter[i]);
            dv[i] = x.gamma * self.dv[i] + x.delta * self.dafter[i];
        }
        self.dt + x.tau * self.dh
    }

    /// One line for each row of the laws that may act.
    fn lay_out(&mut self) {
        self.lines.clear();
        for (k, acting) in self.acting.iter().enumerate() {
            let (law, first) = (acting.index, self.sites[AT_START].coupling.offset[acting.index]);
            for component in 0..acting.law.size() {
                let (kind, d, w) = (Kind::Idle, [0.0; 2], 1.0);
                self.lines.push(RowState { acting: k, component, law, row: first + component, kind, d, w });
            }
        }
    }

    /// The derivatives of (1) and (3) along the direction in `dt`, `dh`, `dq`, `dv`, `dp` and `dafter`, into `r` and
    /// `s`.
    fn differential(&mut self) -> Result<(), ModelError> {
        let n = self.n;
        // M (dv⁺ − dv) + dM (v⁺ − v)
        self.locate(self.balance.mass);
        for i in 0..n {
            self.vector[i] = self.dafter[i] - self.dv[i];
        }
        self.model.mass_mul(&self.place.0, &self.vector, &mut self.r)?;
        self.place_along(self.balance.mass);
        let at = (self.t, &self.place.0[..], &self.place.2[..]);
        let along = Along { t: 0.0, q: &self.place.1, v: &self.place.2, p: &self.dp };
        self.tangent.mass(at, &self.jump, along, &mut self.part)?;
        self.r.iter_mut().zip(&self.part).for_each(|(r, x)| *r += x);
        for (k, (weight, place)) in self.forces().into_iter().enumerate() {
            if weight == 0.0 {
                continue;
            }
            self.force_along(place)?;
            for i in 0..n {
                self.r[i] -= weight * (self.dh * self.values[k][i] + self.h * self.part[i]);
            }
        }
        if self.lines.is_empty() {
            return Ok(());
        }
        self.rows_along()?;
        for line in &self.lines {
            let acting = &self.acting[line.acting];
            let impulse = acting.impulse[line.component];
            self.sites[self.at[line.acting][0]].tangent.add_row(line.row, -impulse, &mut self.r);
        }
        self.s.clear();
        self.friction.clear();
        for line in &self.lines {
            let (value, change) = self.row_along(line);
            self.s.push(value);
            self.friction.push(change);
        }
        Ok(())
    }

    /// dF at a place, into `part`. A tangent that does not know the time gets that part from differences.
    fn force_along(&mut self, place: Place) -> Result<(), ModelError> {
        let t = self.locate(place);
        // the velocity of the place is needed beside its direction
        self.vector.copy_from_slice(&self.place.2);
        let dt = self.place_along(place);
        let known = self.tangent.knows_time();
        let along = Along { t: if known { dt } else { 0.0 }, q: &self.place.1, v: &self.place.2, p: &self.dp };
        self.tangent.force((t, &self.place.0, &self.vector), along, &mut self.part)?;
        if known || dt == 0.0 {
            return Ok(());
        }
        // fourth order, over a small part of the step
        let reach = 1e-2 * self.h.abs().max(1e-6);
        for (k, weight) in [(-2.0, 1.0 / 12.0), (-1.0, -2.0 / 3.0), (1.0, 2.0 / 3.0), (2.0, -1.0 / 12.0)] {
            self.model.force(t + k * reach, &self.place.0, &self.vector, &mut self.place.1)?;
            self.part.iter_mut().zip(&self.place.1).for_each(|(d, f)| *d += dt * weight / reach * f);
        }
        Ok(())
    }

    /// Derivatives of rows and gaps at the sites.
    fn rows_along(&mut self) -> Result<(), ModelError> {
        for k in 0..self.used {
            let (place, slope) = (self.sites[k].place, self.sites[k].slope);
            let mut dt = self.place_along(place);
            for again in [false, true] {
                let site = &mut self.sites[k];
                let along = Along { t: dt, q: &self.place.1, v: &self.place.2, p: &self.dp };
                self.tangent.coupling((site.t, &site.q, &self.v), along, &mut site.tangent)?;
                let Some((slope, law)) = slope.filter(|_| !again) else { break };
                let de = site.tangent.restitution[law];
                if de == 0.0 {
                    break;
                }
                dt += de * slope.tau * self.h;
                for i in 0..self.n {
                    self.change[i] = de * self.h * (slope.alpha * self.v[i] + slope.beta * self.after[i]);
                }
                if let Some(chart) = self.model.chart() {
                    chart.velocity(&self.way, &self.change, &mut self.vector);
                    self.change.copy_from_slice(&self.vector);
                }
                self.place.1.iter_mut().zip(&self.change).for_each(|(q, x)| *q += x);
            }
        }
        Ok(())
    }

    /// Derivative of a velocity or a gap, and of the coefficient of friction.
    fn row_along(&self, line: &RowState) -> (f64, f64) {
        let acting = &self.acting[line.acting];
        let RowsAt { coupling, tangent, place, .. } = &self.sites[self.at[line.acting][1]];
        let (row, change, normal) = (line.row, tangent.friction[line.row], line.component == 0);
        if normal && acting.level == Level::Gap {
            return (tangent.gap[line.law] / (self.h * place.beta), change);
        }
        let own = tangent.row_dot(row, &self.after) + tangent.drift[row] + coupling.rows.dot(row, &self.dafter);
        let Level::Velocity(Some(e)) = acting.level else { return (own, change) };
        if !normal {
            return (own, change);
        }
        let RowsAt { coupling, tangent, .. } = &self.sites[AT_START];
        let before = tangent.row_dot(row, &self.v) + tangent.drift[row] + coupling.rows.dot(row, &self.dv);
        let approach = coupling.rows.dot(row, &self.v) + coupling.drift[row];
        (own + e * before + tangent.restitution[line.law] * approach, change)
    }

    /// dv⁺ along a direction.
    pub fn apply(&mut self, along: Direction<'_>) -> Result<&[f64], ModelError> {
        let (n, m) = (self.n, self.lines.len());
        (self.dt, self.dh) = (along.t, along.h);
        self.dq.copy_from_slice(along.q);
        self.dv.copy_from_slice(along.v);
        self.dp.copy_from_slice(along.p);
        self.dafter.fill(0.0);
        self.differential()?;
        self.j.solve(&mut self.r);
        for i in 0..n {
            self.dafter[i] = -self.r[i];
        }
        if m == 0 {
            return Ok(&self.dafter);
        }
        for (s, g) in self.s.iter_mut().zip(self.g.chunks_exact(n.max(1))) {
            *s += dot(g, &self.dafter);
        }
        self.x.clear();
        for (k, line) in self.lines.iter().enumerate() {
            self.x.push(match line.kind {
                Kind::Idle => 0.0,
                Kind::Zero => -self.s[k],
                Kind::Slip { first, size, bound, speed, .. } => {
                    let (turn, share) = slip(line.w, bound, speed);
                    let along: f64 = (0..size).map(|b| line.d[b] * self.s[first + b]).sum();
                    let d = line.d[k - first];
                    let change = self.friction[k] * self.acting[line.acting].impulse[0] * d;
                    -share * (line.w * change + turn * (self.s[k] - d * along))
                }
            });
        }
        self.x.iter_mut().zip(&self.scale).for_each(|(x, scale)| *x *= scale);
        self.system.solve(&mut self.x);
        for (k, response) in self.response.chunks_exact(n.max(1)).enumerate() {
            let x = self.x[k] * self.scale[k];
            self.dafter.iter_mut().zip(response).for_each(|(d, b)| *d += x * b);
        }
        Ok(&self.dafter)
    }
}

impl BalanceTangent {
    /// A column (δq, δv, δp, δt) over a balance that is a whole step, whose length changes by `dh`.
    pub fn advance_columns(&mut self, Parts { q, v, p, t }: Parts<'_>, dh: f64) -> Result<(), ModelError> {
        self.apply(Direction { t: *t, h: dh, q, v, p })?;
        let Place { alpha, beta, .. } = self.balance.end;
        for i in 0..q.len() {
            let along = self.h * (alpha * v[i] + beta * self.dafter[i]);
            self.way[i] = self.h * (alpha * self.v[i] + beta * self.after[i]);
            self.change[i] = dh * (alpha * self.v[i] + beta * self.after[i]) + along;
        }
        self.move_along(q);
        v.copy_from_slice(&self.dafter);
        *t += dh;
        Ok(())
    }

    /// A perturbation of the position becomes that of the position an increment `way` ahead, which changes by `change`.
    pub fn carry(&mut self, q: &mut [f64], way: impl Iterator<Item = f64>, change: impl Iterator<Item = f64>) {
        self.way.iter_mut().zip(way).for_each(|(out, x)| *out = x);
        self.change.iter_mut().zip(change).for_each(|(out, x)| *out = x);
        self.move_along(q);
    }

    /// The same with `way` and `change` as they are.
    fn move_along(&mut self, q: &mut [f64]) {
        match self.model.chart() {
            Some(chart) => self.turning.carry(chart, (&self.way, &self.change), q),
            None => q.iter_mut().zip(&self.change).for_each(|(q, x)| *q += x),
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
