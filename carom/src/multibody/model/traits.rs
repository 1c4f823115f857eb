//! What schemes ask of the model.

use super::*;
use crate::model::{AccelerationLevel, Bearing, Chart, Combination, Constancy, Energy, Mechanical, Space};
use crate::multibody::bend::{braces, turn_rows};
use crate::multibody::contact::Surface;
use crate::multibody::couple::{Receive, columns};
use crate::multibody::near::{NearPair, TUNNEL};
use crate::multibody::pair::Pair as _;
use crate::multibody::plan::Item;
use crate::{Coupling, Key, Pair};
use carom_solve::{Archive, ArchiveError, LinearSolve, Persist, Rows};
use std::ops::Range;

impl LinearSolve for MultibodyModel {
    fn dim(&self) -> usize {
        self.plan.dim()
    }

    fn solve(&self, rhs: &mut [f64]) {
        self.operator.solve(rhs);
    }

    fn block(&self, dof: usize) -> Range<usize> {
        self.operator.block(dof)
    }

    fn solve_block(&self, block: Range<usize>, rhs: &mut [f64]) {
        self.operator.solve_block(block, rhs);
    }

    fn matrix(&self, block: Range<usize>, out: &mut [f64]) -> bool {
        self.operator.matrix(block, out)
    }
}

/// Writes a coupling.
struct Writer<'a> {
    plan: &'a Plan,
    near: &'a Near,
    sleepers: Option<&'a Sleepers>,
    motion: &'a Motion<f64>,
    h: f64,
    out: &'a mut Coupling,
    rows: usize,     // rows written so far
    is_known: bool,  // whether the laws are there, with the numbers of another place
    has_rows: bool,  // whether their rows are
    is_finite: bool, // whether all numbers so far are
}

impl Receive<f64> for Writer<'_> {
    #[inline]
    fn law(&mut self, number: usize, gap: f64) {
        // a NaN would count as an open gap
        self.is_finite &= gap.is_finite();
        match self.plan.items.get(number) {
            Some((_, item)) => self.write(number, item, gap),
            None => self.near(number - self.plan.items.len(), gap),
        }
    }

    #[inline]
    fn held(&mut self, number: usize, gap: f64) {
        if self.has_rows {
            // of a joint nothing else changes
            self.is_finite &= gap.is_finite();
            self.out.pairs[number].gap = gap;
        } else {
            self.law(number, gap);
        }
    }

    #[inline]
    fn pair(&mut self, bodies: [usize; 2], lines: [Line; 2], drift: f64) {
        let first = usize::from(bodies[0] > bodies[1]);
        let ([a, b], (is_planar, size)) = ([first, 1 - first], (self.plan.is_planar, self.plan.sizes().1));
        if !self.has_rows || bodies[a] == 0 {
            let lines = [(bodies[a], lines[a]), (bodies[b], lines[b])];
            return self.row(&lines[usize::from(bodies[a] == 0)..], drift);
        }
        let (entries, mut sum) = (self.out.rows.row_mut(self.rows), drift);
        for (k, part) in [a, b].into_iter().zip(entries.chunks_exact_mut(size)) {
            sum += write_over((is_planar, &self.motion.frames[bodies[k]]), &lines[k], part);
        }
        self.out.drift[self.rows] = drift;
        self.is_finite &= sum.is_finite();
        self.rows += 1;
    }

    #[inline]
    fn row(&mut self, lines: &[(usize, Line)], drift: f64) {
        let (is_planar, size) = (self.plan.is_planar, self.plan.sizes().1);
        let mut sum = drift;
        if self.has_rows {
            let mut entries = self.out.rows.row_mut(self.rows);
            for (body, line) in lines {
                let Some((part, rest)) = entries.split_at_mut_checked(size) else { break };
                sum += write_over((is_planar, &self.motion.frames[*body]), line, part);
                entries = rest;
            }
            self.out.drift[self.rows] = drift;
        } else {
            for (body, line) in lines {
                let columns = columns(is_planar, &self.motion.frames[*body], line);
                let first = (body - 1) * size;
                let entries: [(usize, f64); 6] = std::array::from_fn(|j| (first + j, columns[j]));
                self.out.rows.extend_row(&entries, size);
                sum += columns.iter().sum::<f64>();
            }
            self.out.rows.end_row();
            self.out.drift.push(drift);
        }
        // a sum is finite only if all its parts are
        self.is_finite &= sum.is_finite();
        self.rows += 1;
    }
}

/// Writes the columns of a line over those of another place; returns their sum.
#[inline]
fn write_over((is_planar, frame): (bool, &Frame), line: &Line, part: &mut [(usize, f64)]) -> f64 {
    let columns = columns(is_planar, frame, line);
    match part.first_chunk_mut::<6>() {
        Some(part) => (0..6).for_each(|j| part[j].1 = columns[j]),
        None => part.iter_mut().zip(columns).for_each(|(entry, c)| entry.1 = c),
    }
    (columns[0] + columns[1] + columns[2]) + (columns[3] + columns[4] + columns[5])
}

impl Writer<'_> {
    /// All of a law of the plan.
    #[inline(never)]
    fn write(&mut self, number: usize, item: &Item, gap: f64) {
        let (restitution, tangential) = match item {
            Item::Stop { restitution, .. } => (*restitution, 0.0),
            Item::Contact { contact, .. } => {
                let Surface { restitution, tangential, .. } = self.plan.contacts[*contact].surface;
                (restitution, tangential)
            }
            _ => (0.0, 0.0),
        };
        let pair = Pair { key: Key::from(number), law: self.plan.law(item, self.h), gap, restitution };
        let region = match item {
            Item::Contact { contact, place } => {
                let contact = &self.plan.contacts[*contact];
                contact.pair.region(*place, self.motion.pair(contact.bodies))
            }
            _ => f64::INFINITY,
        };
        if self.is_known {
            (self.out.pairs[number], self.out.region[number]) = (pair, region);
        } else {
            self.out.rebound(tangential);
            self.out.push_within(pair, region);
        }
    }

    /// A contact that comes and goes.
    #[inline]
    fn near(&mut self, listed: usize, gap: f64) {
        let (number, place) = self.near.listed[listed];
        let pair = &self.near.pairs[number as usize];
        let NearPair { bodies, surface, .. } = pair;
        let (surface, law) = &self.plan.solids.surfaces[*surface as usize];
        let region = self.near.shapes(pair).region(place as usize, self.motion.pair(*bodies));
        let (key, restitution) = (self.near.key(listed), surface.restitution);
        if self.sleepers.is_some_and(|sleepers| sleepers.slept(*bodies)) {
            self.out.heirs.push((self.out.len(), key));
        }
        self.out.rebound(surface.tangential);
        self.out.push_within(Pair { key, law: *law, gap, restitution }, region);
    }
}

/// Sums the derivatives of rows along the motion.
struct Bend<'a> {
    motion: &'a Motion<f64>,
    out: &'a mut Vec<f64>,
}

impl Receive<Dual64> for Bend<'_> {
    fn law(&mut self, _number: usize, _gap: Dual64) {}

    fn row(&mut self, lines: &[(usize, Line<Dual64>)], drift: Dual64) {
        let mut sum = drift.eps;
        for (body, line) in lines {
            let rate = Line { force: line.force.derivatives(), moment: line.moment.derivatives() };
            sum += self.motion.rate(*body, &rate);
        }
        self.out.push(sum);
    }
}

impl MultibodyModel {
    /// Tells which number of a coupling is not finite, if any.
    #[cold]
    fn not_finite(&self, t: f64, out: &Coupling) -> Result<(), ModelError> {
        let contact = |i: usize| self.contact_name(out.pairs[i].key).into();
        if let Some(i) = out.pairs.iter().position(|pair| !pair.gap.is_finite()) {
            return Err(ModelError::Gap { contact: contact(i), t });
        }
        if out.rows.is_finite() && out.drift.iter().all(|x| x.is_finite()) {
            return Ok(());
        }
        let bad = |i: &usize| out.range(*i).any(|row| out.rows.row(row).iter().any(|(_, x)| !x.is_finite()));
        Err(ModelError::Gradient { contact: contact((0..out.len()).find(bad).unwrap_or(0)), t })
    }
}

impl Space for MultibodyModel {
    fn persist(&mut self, archive: &mut Archive, last: &State) -> Result<bool, ArchiveError> {
        (&mut self.h, &mut self.warnings).persist(archive)?;
        if let Some(watch) = &mut self.watch {
            watch.persist(archive)?;
        }
        if archive.is_reading() {
            self.motion.set(&self.plan, &last.q, &last.v);
        }
        if let Some(sleepers) = &mut self.sleepers {
            sleepers.persist(archive)?;
        }
        // matrices are made anew: rows are none that are kept from step to step
        self.near.persist(&self.plan, &self.motion, archive).map(|()| false)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn positions(&self) -> usize {
        self.plan.positions()
    }

    fn moves(&self, j: usize) -> Option<usize> {
        if self.plan.is_planar {
            return Some(j);
        }
        let (body, part) = (j / 6, j % 6);
        (part < 3).then_some(7 * body + part)
    }

    fn axis(&self, row: &[(usize, f64)]) -> Option<[f64; 3]> {
        let line = &row[row.len().saturating_sub(self.plan.sizes().1)..];
        let pushes = if self.plan.is_planar { 2 } else { 3 };
        Some(std::array::from_fn(|k| line.get(k).filter(|_| k < pushes).map_or(0.0, |entry| entry.1)))
    }

    fn has_rebounds(&self) -> bool {
        let named = self.plan.contacts.iter().map(|contact| &contact.surface);
        named
            .chain(self.plan.solids.surfaces.iter().map(|(surface, _)| surface))
            .any(|surface| surface.tangential > 0.0)
    }

    fn bearings(&self) -> &[Bearing] {
        &self.plan.bearings
    }

    fn detect(&mut self, from: &State, h: f64) -> Result<bool, ModelError> {
        self.watch_rank(from)?;
        self.h = h;
        if self.plan.solids.is_empty() {
            return Ok(false);
        }
        self.motion.set(&self.plan, &from.q, &from.v);
        let MultibodyModel { near, motion, warnings, .. } = self;
        // another try of the same step has not moved
        near.tunnels(motion, |key, gap| warnings.raise(&TUNNEL, from.t, Some(key), gap));
        let Some(sleepers) = &mut self.sleepers else { return Ok(near.find(&self.plan, motion, h, &[])) };
        let plan = &self.plan;
        sleepers.look(plan, motion, from);
        let mut changed = near.find(plan, motion, h, sleepers.still());
        while sleepers.wake_touched(near) {
            changed |= near.find(plan, motion, h, sleepers.still());
        }
        if sleepers.settle(plan, near, &from.q) {
            near.find(plan, motion, h, sleepers.still());
            changed = true;
        }
        Ok(changed)
    }

    fn sleeps(&self) -> bool {
        self.sleepers.is_some()
    }

    fn rest(&mut self, from: &mut State) -> Option<f64> {
        self.sleepers.as_mut()?.rest(&self.plan, from)
    }

    fn passing(&mut self, ends: (&State, &State), h: [f64; 2], acted: (&Coupling, &[f64], &[f64])) -> Option<f64> {
        if self.plan.solids.all.is_empty() {
            return None;
        }
        let mut added = std::mem::take(&mut self.added);
        added.resize(self.plan.dim(), 0.0);
        if self.near.early(acted, h[0], &mut added) {
            self.solve(&mut added);
        }
        let part = self.near.passing(&self.plan, (ends, h), acted, &added);
        self.added = added;
        part
    }

    fn begin_step(&mut self, h: f64) {
        self.h = h;
    }

    fn couple(&mut self, t: f64, q: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        self.motion.place(&self.plan, q);
        self.drive(t, false)?;
        let MultibodyModel { plan, near, sleepers, motion, drives, sum, h, number, entries, .. } = self;
        let sleepers = sleepers.as_ref();
        // laws and columns are the same everywhere, unless contacts come and go
        let is_known = plan.solids.is_empty() && out.of == *number && out.len() == plan.items.len();
        let has_rows = is_known && (out.rows.len(), out.rows.entries()) == (out.drift.len(), *entries);
        if !is_known {
            out.clear(plan.dim());
        } else if !has_rows {
            out.rows.clear(plan.dim());
            out.drift.clear();
        }
        let h = *h;
        let mut writer = Writer { plan, near, sleepers, motion, h, out, rows: 0, is_known, has_rows, is_finite: true };
        outputs((plan, near), (t, motion), drives, sum, &mut writer);
        let is_finite = writer.is_finite;
        (out.of, *entries) = (*number, out.rows.entries());
        if is_finite { Ok(()) } else { self.not_finite(t, out) }
    }

    fn retract(&self, q: &[f64], dq: &[f64], out: &mut [f64]) {
        let plan = &self.plan;
        let poses = plan.poses();
        if plan.is_planar {
            out.iter_mut().zip(q).zip(dq).for_each(|((o, q), d)| *o = q + d);
            return;
        }
        for ((out, q), d) in out[..poses].chunks_exact_mut(7).zip(q.chunks_exact(7)).zip(dq.chunks_exact(6)) {
            (0..3).for_each(|i| out[i] = q[i] + d[i]);
            let moved = plan.retraction.retract([q[3], q[4], q[5], q[6]], [d[3], d[4], d[5]]);
            out[3..].copy_from_slice(&moved);
        }
        for (place, &i) in plan.counted.iter().enumerate() {
            let placed = &plan.coordinates[i];
            let [a, b] = placed.bodies;
            let frame = |q: &[f64], body: usize| match body {
                0 => Frame::ground(),
                _ => crate::multibody::motion::frame_of(false, &q[7 * (body - 1)..7 * body]),
            };
            let (before, after) = ((frame(q, a), frame(q, b)), (frame(out, a), frame(out, b)));
            let lines = placed.coordinate.lines((&before.0, &before.1));
            let way = |body: usize, frame: &Frame, line: &Line| match body {
                0 => 0.0,
                _ => columns(false, frame, line).iter().zip(&dq[6 * (body - 1)..]).map(|(c, d)| c * d).sum(),
            };
            let near = q[poses + place] + way(a, &before.0, &lines[0]) + way(b, &before.1, &lines[1]);
            out[poses + place] = placed.coordinate.value_near((&after.0, &after.1), near);
        }
    }

    fn difference(&self, a: &[f64], b: &[f64], out: &mut [f64]) {
        if self.plan.is_planar {
            out.iter_mut().zip(a).zip(b).for_each(|((o, a), b)| *o = b - a);
            return;
        }
        for ((out, a), b) in out.chunks_exact_mut(6).zip(a.chunks_exact(7)).zip(b.chunks_exact(7)) {
            (0..3).for_each(|i| out[i] = b[i] - a[i]);
            let turn = self.plan.retraction.difference([a[3], a[4], a[5], a[6]], [b[3], b[4], b[5], b[6]]);
            out[3..].copy_from_slice(&turn);
        }
    }

    fn chart(&self) -> Option<&dyn Chart> {
        if self.plan.is_planar { None } else { Some(self) }
    }

    fn labels(&self) -> Labels {
        self.names()
    }

    fn least_sizes(&self, out: &mut [f64]) {
        let (size, turn) = (self.plan.sizes().1, if self.plan.is_planar { 2 } else { 3 });
        let length = self.plan.length.unwrap_or(0.0);
        out.iter_mut().enumerate().for_each(|(i, out)| *out = if i % size < turn { length } else { 1.0 });
    }

    fn warnings(&self) -> Option<&Warnings> {
        Some(&self.warnings)
    }

    fn round_together(&self, q: &[f64], out: &mut [f64]) {
        let (positions, size) = self.plan.sizes();
        let way = if self.plan.is_planar { 2 } else { 3 };
        let most = |x: &[f64]| x.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        for (q, out) in q.chunks_exact(positions).zip(out.chunks_exact_mut(size)) {
            let (force, moment) = out.split_at_mut(way);
            let size = most(force);
            force.fill(size);
            moment.fill(most(moment) + most(&q[..way]) * size);
        }
    }

    fn nearly_singular(&mut self, at: &State) -> Option<String> {
        self.nearly_dependent(at)
    }

    fn energy(&mut self, at: &State) -> Option<Energy> {
        self.motion.place(&self.plan, &at.q);
        let (plan, size) = (&self.plan, self.plan.sizes().1);
        let (mut kinetic, mut potential) = (0.0, 0.0);
        for (body, v) in plan.bodies.iter().zip(at.v.chunks_exact(size)) {
            let mut momentum = [0.0; 6];
            body.momentum(plan.is_planar, v, &mut momentum);
            kinetic += 0.5 * v.iter().zip(momentum).map(|(v, p)| v * p).sum::<f64>();
        }
        for (body, frame) in plan.bodies.iter().zip(&self.motion.frames[1..]) {
            let height: f64 = plan.gravity.iter().zip(frame.centre.0).map(|(g, x)| g * x).sum();
            potential -= body.mass * height;
        }
        for spring in &plan.springs {
            potential += force::spring_potential(plan, spring, &self.motion);
        }
        Some(Energy { kinetic, potential })
    }

    fn has_applied_power(&self) -> bool {
        !self.loads.is_empty() || !self.plan.springs.is_empty()
    }

    fn applied_power(&mut self, at: &State) -> f64 {
        self.motion.set(&self.plan, &at.q, &at.v);
        let MultibodyModel { plan, motion, loads, .. } = self;
        let mut power: f64 = plan.springs.iter().map(|spring| force::damper_power(plan, spring, motion)).sum();
        for load in loads {
            let told = force::load(plan, load, (at.t, &at.q), motion, |body, line| power += motion.rate(body, &line));
            // the same error stops the step
            if told.is_err() {
                return f64::NAN;
            }
        }
        power
    }
}

/// Increments of attitudes in space.
impl Chart for MultibodyModel {
    fn rate(&self, dq: &[f64], v: &[f64], out: &mut [f64]) {
        by_body(dq, v, out, |theta, omega| self.plan.retraction.rate(theta, omega));
    }

    fn velocity(&self, dq: &[f64], rate: &[f64], out: &mut [f64]) {
        by_body(dq, rate, out, |theta, rate| self.plan.retraction.velocity(theta, rate));
    }

    fn bend(&self, dq: &[f64], v: &[f64], out: &mut [f64]) {
        by_body(dq, v, out, |theta, omega| self.plan.retraction.bend(theta, omega));
        out.chunks_exact_mut(6).for_each(|out| out[..3].fill(0.0));
    }
}

/// Translations as they are, rotations by a function.
fn by_body(dq: &[f64], v: &[f64], out: &mut [f64], turn: impl Fn([f64; 3], [f64; 3]) -> [f64; 3]) {
    for ((out, d), v) in out.chunks_exact_mut(6).zip(dq.chunks_exact(6)).zip(v.chunks_exact(6)) {
        out[..3].copy_from_slice(&v[..3]);
        out[3..].copy_from_slice(&turn([d[3], d[4], d[5]], [v[3], v[4], v[5]]));
    }
}

impl Mechanical for MultibodyModel {
    fn constancy(&self) -> Constancy {
        let plan = &self.plan;
        let inputs = self.loads.iter().flat_map(|load| &load.inputs);
        let timed = inputs.clone().all(|input| matches!(input, crate::multibody::plan::PlacedSignal::Time));
        let pushed = self.loads.iter().any(|load| !load.is_constant(plan.is_planar));
        let gyroscopic = plan.bodies.iter().any(|body| !body.is_isotropic);
        Constancy {
            mass: true,
            tangents: plan.springs.is_empty() && timed && !pushed && !gyroscopic && self.pins.is_empty(),
            rows: plan.items.is_empty() && plan.solids.is_empty(),
            drift: self.motors.is_empty(),
            still: false,
        }
    }

    fn force(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        self.motion.set(&self.plan, q, v);
        force::force(&self.plan, &mut self.loads, (t, q, v), &self.motion, out)?;
        if let Some(sleepers) = &self.sleepers {
            sleepers.hold(self.plan.sizes().1, out);
        }
        match out.iter().position(|f| !f.is_finite()) {
            Some(i) => {
                let (positions, size) = self.plan.sizes();
                let body = &self.bodies()[i / size];
                let part = self.names().coordinates[i / size * positions + i % size].clone();
                let coordinate = if part.is_empty() { body.clone() } else { part };
                Err(ModelError::Force { coordinate: coordinate.into(), t })
            }
            None => Ok(()),
        }
    }

    fn mass_mul(&mut self, _q: &[f64], v: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let size = self.plan.sizes().1;
        for ((body, v), out) in self.plan.bodies.iter().zip(v.chunks_exact(size)).zip(out.chunks_exact_mut(size)) {
            body.momentum(self.plan.is_planar, v, out);
        }
        Ok(())
    }

    fn mass_diagonal(&mut self, _q: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        let size = self.plan.sizes().1;
        for (body, out) in self.plan.bodies.iter().zip(out.chunks_exact_mut(size)) {
            out.fill(body.mass);
            let rotation = if self.plan.is_planar { 2..3 } else { 3..6 };
            for (k, i) in rotation.enumerate() {
                let k = if self.plan.is_planar { 2 } else { k };
                out[i] = body.inertia[k][k];
            }
        }
        Ok(())
    }

    fn factor(&mut self, at: &State, c: Combination) -> Result<(), ModelError> {
        if !self.plan.springs.is_empty() {
            self.motion.set(&self.plan, &at.q, &at.v);
        }
        let factored = self.operator.factor(&self.plan, (at.t, &at.v), &self.motion, c);
        self.operator.braces.clear();
        factored
    }

    fn turn_rows(&mut self, (q, v): (&[f64], &[f64]), reach: f64, rows: &mut Rows, along: &mut [f64]) {
        self.motion.set(&self.plan, q, v);
        turn_rows(&self.plan, &self.motion, reach, rows, along);
    }

    fn brace(&mut self, q: &[f64], reach: f64, impulse: &[f64]) {
        if !self.pins.is_empty() {
            self.motion.place(&self.plan, q);
            let out = &mut self.operator.braces;
            braces(&self.plan, (&self.pins, &self.motion), (reach, impulse), out);
        }
    }

    fn acceleration_level(&mut self) -> Option<&mut dyn AccelerationLevel> {
        Some(self)
    }
}

impl AccelerationLevel for MultibodyModel {
    fn curvature(&mut self, t: f64, q: &[f64], v: &[f64], out: &mut Vec<f64>) -> Result<(), ModelError> {
        self.motion.set(&self.plan, q, v);
        self.drive(t, true)?;
        let MultibodyModel { plan, near, motion, moving, drives, moving_sum, .. } = self;
        motion.moving(moving);
        out.clear();
        outputs((plan, near), (Dual64::new(t, 1.0), moving), drives, moving_sum, &mut Bend { motion, out });
        Ok(())
    }
}
