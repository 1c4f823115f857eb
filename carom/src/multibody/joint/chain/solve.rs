//! Undoes a chain of turns and ways: what each link has done, and what no link can do.
//!
//! ```text
//!     z ↦ Q (z − c₀) + c  is the motion of b in axes of a since it was drawn, T₁(s₁) T₂(s₂) ... where it fits      (1)
//!     one turn     Q d = d,  s about d from u to Q u                                                               (2)
//!     two turns    d₁ · Q d₂ = d₁ · d₂,  s₁ about d₁ from d₂ to Q d₂,  s₂ about d₂ from Qᵀ d₁ to d₁                (3)
//!     three turns  d₁ · Q d₃ = C + A cos s₂ + B sin s₂,  then s₁ and s₃ as in (3)                                  (4)
//!     ways         ρ = c − (turns alone of c₀) = Σ sⱼ eⱼ,  n · ρ = 0 for all n across the eⱼ                       (5)
//! ```
//!
//! (4) has two solutions; the one that is zero where the bodies are drawn is followed. They meet where the first and
//! the third axis are parallel, and there the angles of the chain have no derivative.

use super::Link;
use crate::elementary::dual::{atan2, sin_cos};
use crate::elementary::hypot;
use crate::model::Scalar;
use crate::multibody::coordinate::Coordinate;
use crate::multibody::{Frame, Line, Vector};
use num_dual::Dual;
use std::marker::PhantomData;

/// What the formulas are made of: numbers, dual numbers, or nodes of expressions.
pub trait Numbers {
    /// One of them.
    type N: Copy;
    /// A number that does not change.
    fn constant(&self, x: f64) -> Self::N;
    /// a + b
    fn add(&self, a: Self::N, b: Self::N) -> Self::N;
    /// a − b
    fn subtract(&self, a: Self::N, b: Self::N) -> Self::N;
    /// a b
    fn multiply(&self, a: Self::N, b: Self::N) -> Self::N;
    /// a/b
    fn divide(&self, a: Self::N, b: Self::N) -> Self::N;
    /// √a, of what is at least [`LEAST`](Self::LEAST).
    fn root(&self, a: Self::N) -> Self::N;
    /// (sin a, cos a)
    fn sine_cosine(&self, a: Self::N) -> [Self::N; 2];
    /// atan2(y, x)
    fn angle(&self, y: Self::N, x: Self::N) -> Self::N;

    /// The smallest number that has a root.
    const LEAST: f64 = 1e-24;
}

/// Scalars with their own operations.
struct Plain<T>(PhantomData<T>);

impl<T: Scalar> Numbers for Plain<T> {
    type N = T;
    fn constant(&self, x: f64) -> T {
        T::from(x)
    }
    fn add(&self, a: T, b: T) -> T {
        a + b
    }
    fn subtract(&self, a: T, b: T) -> T {
        a - b
    }
    fn multiply(&self, a: T, b: T) -> T {
        a * b
    }
    fn divide(&self, a: T, b: T) -> T {
        a / b
    }
    fn root(&self, a: T) -> T {
        if a.re() < Self::LEAST { T::from(Self::LEAST.sqrt()) } else { a.sqrt() }
    }
    fn sine_cosine(&self, a: T) -> [T; 2] {
        let (s, c) = sin_cos(a);
        [s, c]
    }
    fn angle(&self, y: T, x: T) -> T {
        atan2(y, x)
    }
}

/// The links between two bodies, in axes of a from its mass centre, where the bodies are drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    links: Vec<Link>,
    /// Mass centre of b.
    centre: [f64; 3],
    /// Axes of b.
    axes: [[f64; 3]; 3],
    /// Which links turn.
    turns: Vec<usize>,
    /// Which links slide.
    ways: Vec<usize>,
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    Vector(a).dot(Vector(b))
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    Vector(a).cross(Vector(b)).0
}

fn times(a: [f64; 3], factor: f64) -> [f64; 3] {
    a.map(|x| x * factor)
}

/// Two directions across a unit vector, right-handed.
pub(super) fn beside(d: [f64; 3]) -> [[f64; 3]; 2] {
    let least = (0..3).fold(0, |least, i| if d[i].abs() < d[least].abs() { i } else { least });
    let helper: [f64; 3] = std::array::from_fn(|i| f64::from(u8::from(i == least)));
    let u = cross(d, helper);
    let u = times(u, 1.0 / dot(u, u).sqrt());
    [u, cross(d, u)]
}

/// Vectors dᵢ with dᵢ · eⱼ = 1 for i = j and 0 otherwise, in the span of the e.
fn dual(e: &[[f64; 3]]) -> Vec<[f64; 3]> {
    match e {
        [a] => vec![times(*a, 1.0 / dot(*a, *a))],
        [a, b] => {
            let n = cross(*a, *b);
            let square = dot(n, n);
            vec![times(cross(*b, n), 1.0 / square), times(cross(n, *a), 1.0 / square)]
        }
        [a, b, c] => {
            let volume = dot(*a, cross(*b, *c));
            [cross(*b, *c), cross(*c, *a), cross(*a, *b)].map(|d| times(d, 1.0 / volume)).to_vec()
        }
        _ => Vec::new(),
    }
}

impl Chain {
    /// The links of a chain between two bodies that are drawn at these frames; says what is wrong with it.
    pub(in crate::multibody) fn new(links: &[Link], (a, b): (&Frame, &Frame)) -> Result<Chain, &'static str> {
        if links.is_empty() {
            return Err("a chain has at least one link");
        }
        let mut own = Vec::new();
        for link in links {
            let d = a.body_direction(Vector(link.axis)).0;
            let length = dot(d, d).sqrt();
            if !(length > 0.0 && length.is_finite()) {
                return Err("an axis of a link has no length");
            }
            let at = if link.turns { a.body_point(Vector(link.at)).0 } else { [0.0; 3] };
            own.push(Link { turns: link.turns, axis: times(d, 1.0 / length), at });
        }
        let turns: Vec<[f64; 3]> = own.iter().filter(|link| link.turns).map(|link| link.axis).collect();
        let ways: Vec<[f64; 3]> = own.iter().filter(|link| !link.turns).map(|link| link.axis).collect();
        if turns.len() > 3 || ways.len() > 3 {
            return Err("a chain has at most three links that turn and three that slide");
        }
        let apart = |a: &[f64; 3], b: &[f64; 3]| dot(cross(*a, *b), cross(*a, *b)).sqrt() > 1e-3;
        if turns.windows(2).any(|pair| !apart(&pair[0], &pair[1])) {
            return Err("two turns one after the other have parallel axes: a body with mass belongs between them");
        }
        if let [d, e, f] = turns[..] {
            let (sum, c) = (dot(d, cross(e, f)), dot(d, e) * dot(e, f));
            if sum.abs() < 1e-3 * hypot(sum, dot(d, f) - c) {
                return Err(
                    "its three axes of turns lie in a plane where it is drawn: it cannot turn about all of them",
                );
            }
        }
        let span = match ways[..] {
            [d, e] => dot(cross(d, e), cross(d, e)).sqrt(),
            [d, e, f] => dot(d, cross(e, f)).abs(),
            _ => 1.0,
        };
        if span < 1e-3 {
            return Err("the ways of its links are not independent");
        }
        let axes = b.axes.map(|axis| a.body_direction(axis).0);
        let which = |turns: bool| (0..own.len()).filter(|&i| own[i].turns == turns).collect();
        let (turns, ways) = (which(true), which(false));
        Ok(Chain { links: own, centre: a.body_point(b.centre).0, axes, turns, ways })
    }

    /// Which links turn.
    pub(super) fn turns(&self) -> &[usize] {
        &self.turns
    }

    /// The links, with axes of unit length.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// A direction of a in axes of b, where they are drawn.
    pub(super) fn in_b(&self, d: [f64; 3]) -> [f64; 3] {
        self.axes.map(|axis| dot(axis, d))
    }

    /// The point that all turns share, in axes of a and of b; the mass centre of b where there is none.
    pub(super) fn pivot(&self) -> [[f64; 3]; 2] {
        let at = self.links.iter().find(|link| link.turns).map_or(self.centre, |link| link.at);
        [at, self.in_b(std::array::from_fn(|k| at[k] - self.centre[k]))]
    }

    /// Directions of a along which no way goes.
    pub(super) fn across(&self) -> Vec<[f64; 3]> {
        match self.ways[..] {
            [] => vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            [i] => beside(self.links[i].axis).to_vec(),
            [i, j] => {
                let n = cross(self.links[i].axis, self.links[j].axis);
                vec![times(n, 1.0 / dot(n, n).sqrt())]
            }
            _ => Vec::new(),
        }
    }

    /// The angle of a link, where there are one or two turns about a point.
    pub(super) fn angle(&self, i: usize) -> Coordinate {
        let d = self.links[i].axis;
        match &self.turns[..] {
            [first, second] if i == *first => {
                let mark = self.links[*second].axis;
                Coordinate::Angle { axes: [mark, cross(d, mark), d], mark: self.in_b(mark), is_in_b: false }
            }
            [first, _] => {
                let mark = self.links[*first].axis;
                let axes = [mark, cross(d, mark), d].map(|axis| self.in_b(axis));
                Coordinate::Angle { axes, mark, is_in_b: true }
            }
            _ => {
                let [u, w] = beside(d);
                Coordinate::Angle { axes: [u, w, d], mark: self.in_b(u), is_in_b: false }
            }
        }
    }

    /// The way of a link, where ways come before turns.
    pub(super) fn way(&self, i: usize) -> Coordinate {
        let duals = dual(&self.ways.iter().map(|&k| self.links[k].axis).collect::<Vec<_>>());
        let place = self.ways.iter().position(|&k| k == i).unwrap_or(0);
        let [a, b] = self.pivot();
        Coordinate::Along { direction: duals[place], a, b }
    }

    /// Whether a value of [`values`](Self::values) is a length.
    pub(in crate::multibody) fn is_length(&self, index: usize) -> bool {
        match self.links.get(index) {
            Some(link) => !link.turns,
            None => index >= self.links.len() + 3 - self.turns.len(),
        }
    }

    /// A value at two frames.
    pub(in crate::multibody) fn value<T: Scalar>(&self, index: usize, (a, b): (&Frame<T>, &Frame<T>)) -> T {
        let axes = b.axes.map(|axis| a.body_direction(axis).0);
        self.values(&Plain(PhantomData), axes, a.body_point(b.centre).0)[index]
    }

    /// Along what a value moves with the bodies a and b.
    pub(in crate::multibody) fn lines<T: Scalar>(&self, index: usize, (a, b): (&Frame<T>, &Frame<T>)) -> [Line<T>; 2] {
        let (axes, centre) = (b.axes.map(|axis| a.body_direction(axis)), a.body_point(b.centre));
        let still = |x: Vector<T>| x.0.map(Dual::from_re);
        let along =
            |axes: [[Dual<T>; 3]; 3], centre: [Dual<T>; 3]| self.values(&Plain(PhantomData), axes, centre)[index].eps;
        let unit = |i: usize| Vector::<T>::constant(std::array::from_fn(|k| f64::from(u8::from(i == k))));
        let moving = |x: Vector<T>, rate: Vector<T>| std::array::from_fn(|k| Dual::new(x.0[k], rate.0[k]));
        let force = if self.is_length(index) {
            std::array::from_fn(|i| along(axes.map(still), moving(centre, unit(i))))
        } else {
            [T::zero(); 3]
        };
        let moment = std::array::from_fn(|i| along(axes.map(|axis| moving(axis, unit(i).cross(axis))), still(centre)));
        let on_b = Line { force: a.turn(Vector(force)), moment: a.turn(Vector(moment)) };
        // a motion of both as one changes nothing
        let arm = b.centre - a.centre;
        let on_a = Line { force: on_b.force, moment: on_b.moment + arm.cross(on_b.force) };
        [on_a.reversed(), on_b]
    }

    /// Coordinates of all links, then rows that are zero where the chain holds: first of turns, then of ways. `axes`
    /// are those of b in axes of a, `centre` its mass centre from that of a.
    pub fn values<M: Numbers>(&self, m: &M, axes: [[M::N; 3]; 3], centre: [M::N; 3]) -> [M::N; 6] {
        let v = Vectors(m);
        let mut out = [m.constant(0.0); 6];
        let mut row = self.links.len();
        let mut push = |value: M::N, out: &mut [M::N; 6]| {
            out[row] = value;
            row += 1;
        };
        self.turn_values(&v, axes, &mut out, &mut push);
        let trig: [[M::N; 2]; 6] = std::array::from_fn(|i| match self.links.get(i) {
            Some(link) if link.turns => m.sine_cosine(out[i]),
            _ => [m.constant(0.0), m.constant(1.0)],
        });
        let carried = |x: [f64; 3], before: usize| {
            let before = self.links[..before].iter().zip(trig).rev().filter(|(link, _)| link.turns);
            before.fold(v.constant(x), |x, (link, trig)| v.turned(link.axis, trig, x))
        };
        let turned = self.links.iter().zip(trig).rev().filter(|(link, _)| link.turns);
        let place = turned.fold(v.constant(self.centre), |x, (link, trig)| {
            let at = v.constant(link.at);
            v.add(at, v.turned(link.axis, trig, v.subtract(x, at)))
        });
        let rest = v.subtract(centre, place);
        let e = |i: usize| carried(self.links[i].axis, i);
        match self.ways[..] {
            [] => rest.into_iter().for_each(|x| push(x, &mut out)),
            [i] => {
                out[i] = v.dot(rest, e(i));
                beside(self.links[i].axis).into_iter().for_each(|n| push(v.dot(rest, carried(n, i)), &mut out));
            }
            [i, j] => {
                let n = v.cross(e(i), e(j));
                let square = v.dot(n, n);
                out[i] = m.divide(v.dot(rest, v.cross(e(j), n)), square);
                out[j] = m.divide(v.dot(rest, v.cross(n, e(i))), square);
                push(v.dot(rest, n), &mut out);
            }
            [i, j, k] => {
                let volume = v.dot(e(i), v.cross(e(j), e(k)));
                for (i, j, k) in [(i, j, k), (j, k, i), (k, i, j)] {
                    out[i] = m.divide(v.dot(rest, v.cross(e(j), e(k))), volume);
                }
            }
            _ => {}
        }
        out
    }

    /// Angles and rows of (2) to (4).
    fn turn_values<M: Numbers>(
        &self,
        v: &Vectors<'_, M>,
        axes: [[M::N; 3]; 3],
        out: &mut [M::N; 6],
        push: &mut impl FnMut(M::N, &mut [M::N; 6]),
    ) {
        let m = v.0;
        // Q z and Qᵀ z
        let image = |z: [f64; 3]| {
            let [x, y, w] = self.in_b(z);
            v.add(v.add(v.times(axes[0], x), v.times(axes[1], y)), v.times(axes[2], w))
        };
        let back = |z: [f64; 3]| {
            let z = v.constant(z);
            let part = |k: usize| self.axes[k].map(|x| m.multiply(m.constant(x), v.dot(axes[k], z)));
            v.add(v.add(part(0), part(1)), part(2))
        };
        let d = |i: usize| self.links[i].axis;
        match self.turns[..] {
            [] => {
                let unit = |i: usize| std::array::from_fn(|k| f64::from(u8::from(i == k)));
                (0..3).for_each(|i| push(v.dot(v.constant(unit(i)), image(unit((i + 1) % 3))), out));
            }
            [i] => {
                let [u, w] = beside(d(i));
                out[i] = v.about(d(i), v.constant(u), image(u));
                [u, w].into_iter().for_each(|n| push(v.dot(v.constant(n), image(d(i))), out));
            }
            [i, j] => {
                out[i] = v.about(d(i), v.constant(d(j)), image(d(j)));
                out[j] = v.about(d(j), back(d(i)), v.constant(d(i)));
                push(m.subtract(v.dot(v.constant(d(i)), image(d(j))), m.constant(dot(d(i), d(j)))), out);
            }
            [i, j, k] => {
                let c = dot(d(i), d(j)) * dot(d(j), d(k));
                let (along, across) = (dot(d(i), d(k)) - c, dot(d(i), cross(d(j), d(k))));
                let reach = hypot(across, along);
                let found = m.subtract(v.dot(v.constant(d(i)), image(d(k))), m.constant(c));
                let cosine = m.multiply(found, m.constant(1.0 / reach));
                let sine = m.root(m.subtract(m.constant(1.0), m.multiply(cosine, cosine)));
                let way = m.multiply(m.constant(-across.signum()), m.angle(sine, cosine));
                out[j] = m.add(m.constant(atan2(across, along)), way);
                let [s, co] = m.sine_cosine(out[j]);
                let reversed = m.subtract(m.constant(0.0), s);
                out[i] = v.about(d(i), v.turned(d(j), [s, co], v.constant(d(k))), image(d(k)));
                out[k] = v.about(d(k), back(d(i)), v.turned(d(j), [reversed, co], v.constant(d(i))));
            }
            _ => {}
        }
    }
}

/// Vectors of numbers.
struct Vectors<'a, M>(&'a M);

impl<M: Numbers> Vectors<'_, M> {
    fn constant(&self, x: [f64; 3]) -> [M::N; 3] {
        x.map(|x| self.0.constant(x))
    }

    fn add(&self, a: [M::N; 3], b: [M::N; 3]) -> [M::N; 3] {
        std::array::from_fn(|i| self.0.add(a[i], b[i]))
    }

    fn subtract(&self, a: [M::N; 3], b: [M::N; 3]) -> [M::N; 3] {
        std::array::from_fn(|i| self.0.subtract(a[i], b[i]))
    }

    fn times(&self, a: [M::N; 3], x: f64) -> [M::N; 3] {
        self.scaled(a, self.0.constant(x))
    }

    fn scaled(&self, a: [M::N; 3], x: M::N) -> [M::N; 3] {
        a.map(|a| self.0.multiply(a, x))
    }

    fn dot(&self, a: [M::N; 3], b: [M::N; 3]) -> M::N {
        let part = |i: usize| self.0.multiply(a[i], b[i]);
        self.0.add(self.0.add(part(0), part(1)), part(2))
    }

    fn cross(&self, a: [M::N; 3], b: [M::N; 3]) -> [M::N; 3] {
        std::array::from_fn(|i| {
            let (j, k) = ((i + 1) % 3, (i + 2) % 3);
            self.0.subtract(self.0.multiply(a[j], b[k]), self.0.multiply(a[k], b[j]))
        })
    }

    /// x turned about a unit vector by an angle of which sine and cosine are known.
    fn turned(&self, d: [f64; 3], [sine, cosine]: [M::N; 2], x: [M::N; 3]) -> [M::N; 3] {
        let d = self.constant(d);
        let along = self.scaled(d, self.dot(d, x));
        let across = self.subtract(x, along);
        let turned = self.add(self.scaled(across, cosine), self.scaled(self.cross(d, x), sine));
        self.add(along, turned)
    }

    /// The angle about a unit vector from e to f.
    fn about(&self, d: [f64; 3], e: [M::N; 3], f: [M::N; 3]) -> M::N {
        let d = self.constant(d);
        let sine = self.dot(d, self.cross(e, f));
        let along = self.0.multiply(self.dot(d, e), self.dot(d, f));
        self.0.angle(sine, self.0.subtract(self.dot(e, f), along))
    }
}
