//! Sweeping processes [moreau1977]: a point in a moving convex set,
//!
//! ```text
//!     u̇ − f(t, u) ∈ −N_{K(t)}(u),     K(t) = intersection of intervals, half-spaces and balls                (1)
//! ```
//!
//! For schemes that impose laws instead of projecting, each piece is a row with `0 ≤ y ⊥ λ ≥ 0` and B = Cᵀ: the slack
//! `a·u − b` of a half-space, `R − |u − c|` of a ball, and one row for either end of an interval.

use super::differences::jacobian;
use super::{Constancy, FirstOrder, Labels, ModelError, Space};
use crate::{Coupling, Key, Pair, State};
use carom_solve::{Archive, ArchiveError, DenseLu, Law, LinearSolve, Persist};

/// Writes the numbers of a piece at a time, see [`Shape`].
pub type PieceData = Box<dyn FnMut(f64, &mut [f64]) -> Result<(), ModelError> + Send>;

/// Writes f(t, u).
pub type Drift = Box<dyn FnMut(f64, &[f64], &mut [f64]) -> Result<(), ModelError> + Send>;

/// What a piece of the set is, and which numbers describe it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `lower ≤ u_i ≤ upper` for one coordinate: the numbers are (lower, upper), which may be infinite.
    Interval {
        /// Number i of the coordinate, from 0.
        coordinate: usize,
    },
    /// `a·u ≥ b`: the numbers are (a₁, ..., aₙ, b).
    HalfSpace,
    /// `|u − c| ≤ R`: the numbers are (c₁, ..., cₙ, R).
    Ball,
}

impl Shape {
    /// How many numbers describe it in n dimensions.
    pub fn numbers(&self, n: usize) -> usize {
        match self {
            Shape::Interval { .. } => 2,
            Shape::HalfSpace | Shape::Ball => n + 1,
        }
    }

    /// How many rows it has.
    pub fn rows(&self) -> usize {
        match self {
            Shape::Interval { .. } => 2,
            Shape::HalfSpace | Shape::Ball => 1,
        }
    }
}

/// A named piece of a moving set.
pub struct Piece {
    /// Name in results and messages.
    pub name: String,
    /// What it is.
    pub shape: Shape,
    /// Its numbers at a time, as many as [`Shape::numbers`] tells.
    pub data: PieceData,
}

impl Piece {
    /// A piece of any shape, with `data` for its numbers at a time.
    pub fn new(
        name: &str,
        shape: Shape,
        data: impl FnMut(f64, &mut [f64]) -> Result<(), ModelError> + Send + 'static,
    ) -> Self {
        Piece { name: name.into(), shape, data: Box::new(data) }
    }

    /// `lower(t) ≤ u_i ≤ upper(t)`.
    pub fn interval(name: &str, coordinate: usize, ends: impl FnMut(f64) -> (f64, f64) + Send + 'static) -> Self {
        let mut ends = ends;
        Piece::new(name, Shape::Interval { coordinate }, move |t, out| {
            (out[0], out[1]) = ends(t);
            Ok(())
        })
    }

    /// `a·u ≥ b(t)`.
    pub fn half_space(name: &str, a: &[f64], b: impl FnMut(f64) -> f64 + Send + 'static) -> Self {
        let (a, mut b, piece) = (a.to_vec(), b, Box::<str>::from(name));
        Piece::new(name, Shape::HalfSpace, move |t, out| {
            if out.len() != a.len() + 1 {
                let reason = "its normal has another number of entries than the state";
                return Err(ModelError::Piece { piece: piece.clone(), t, reason });
            }
            out[..a.len()].copy_from_slice(&a);
            out[a.len()] = b(t);
            Ok(())
        })
    }

    /// `|u − c(t)| ≤ R`.
    pub fn ball(name: &str, radius: f64, centre: impl FnMut(f64, &mut [f64]) + Send + 'static) -> Self {
        let mut centre = centre;
        Piece::new(name, Shape::Ball, move |t, out| {
            let n = out.len() - 1;
            centre(t, &mut out[..n]);
            out[n] = radius;
            Ok(())
        })
    }
}

/// A convex set that moves, as an intersection of pieces.
pub trait MovingSet {
    /// Fills in the pieces at `t`; buffers keep their capacity.
    fn pieces(&mut self, t: f64, out: &mut Pieces) -> Result<(), ModelError>;
}

/// The pieces of a set at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pieces {
    /// Shape of each piece and the place of its first number.
    pub shapes: Vec<(Shape, usize)>,
    /// Numbers of all pieces, one piece after the other.
    pub numbers: Vec<f64>,
}

impl Pieces {
    /// Shapes with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Shape, &[f64])> {
        let ends = self.shapes.iter().skip(1).map(|s| s.1).chain(std::iter::once(self.numbers.len()));
        self.shapes.iter().zip(ends).map(|(&(shape, start), end)| (shape, &self.numbers[start..end]))
    }
}

/// Why pieces do not make a sweeping process.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SweepingError {
    /// An interval for a coordinate that is not there.
    #[error("the piece `{piece}` speaks of coordinate {coordinate}, there are only {n}")]
    Coordinate {
        /// Name of the piece.
        piece: String,
        /// Number of the coordinate asked for, from 0.
        coordinate: usize,
        /// Number of coordinates.
        n: usize,
    },
    /// The initial state has an entry that is infinite or not a number.
    #[error("the initial state is not finite")]
    Initial,
    /// A wrong number of names for the states.
    #[error("there are {found} names for {needed} states")]
    Names {
        /// Number of names given.
        found: usize,
        /// Number of states.
        needed: usize,
    },
}

/// A sweeping process (1).
pub struct Sweeping {
    initial: State,
    pieces: Vec<Piece>,
    drift: Option<Drift>,
    names: Vec<String>,
    at: Pieces,        // of `couple`
    row: Vec<f64>,     // (n)
    point: Vec<f64>,   // (n)
    plus: Vec<f64>,    // (n) drift beside a point
    far: Vec<f64>,     // (n) difference with a longer step
    tangent: Vec<f64>, // (n × n) ∂f/∂u by differences
    lu: DenseLu,
}

impl Sweeping {
    /// The process in the intersection of `pieces` from `initial`.
    pub fn new(pieces: Vec<Piece>, initial: &[f64]) -> Result<Self, SweepingError> {
        let n = initial.len();
        if !initial.iter().all(|x| x.is_finite()) {
            return Err(SweepingError::Initial);
        }
        for piece in &pieces {
            if let Shape::Interval { coordinate } = piece.shape
                && coordinate >= n
            {
                return Err(SweepingError::Coordinate { piece: piece.name.clone(), coordinate, n });
            }
        }
        Ok(Sweeping::assemble(pieces, initial))
    }

    /// The process of pieces that are known to be right.
    pub(crate) fn assemble(pieces: Vec<Piece>, initial: &[f64]) -> Self {
        let n = initial.len();
        Sweeping {
            initial: State::new(0.0, initial, &[]),
            pieces,
            drift: None,
            names: (0..n).map(|i| format!("u{i}")).collect(),
            at: Pieces::default(),
            row: vec![0.0; n],
            point: vec![0.0; n],
            plus: vec![0.0; n],
            far: vec![0.0; n],
            tangent: Vec::new(),
            lu: DenseLu::default(),
        }
    }

    /// f(t, u), with u̇ = f inside the set.
    pub fn with_drift(
        mut self,
        drift: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), ModelError> + Send + 'static,
    ) -> Self {
        self.drift = Some(Box::new(drift));
        self
    }

    /// Names of the states.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, SweepingError> {
        let needed = self.initial.q.len();
        if names.len() != needed {
            return Err(SweepingError::Names { found: names.len(), needed });
        }
        self.names = names;
        Ok(self)
    }

    /// Time of the initial state [s].
    pub fn starting_at(mut self, t: f64) -> Self {
        self.initial.t = t;
        self
    }

    /// ∂f/∂u by central differences.
    fn differentiate(&mut self, at: &State) -> Result<(), ModelError> {
        let n = self.initial.q.len();
        self.tangent.resize(n * n, 0.0);
        self.point.copy_from_slice(&at.q);
        let Sweeping { drift, point, initial, plus, row, far, tangent, .. } = self;
        let Some(drift) = drift else { return Ok(()) };
        jacobian((point, &initial.q), [plus, row, far], tangent, |x, out| drift(at.t, x, out))
    }
}

impl LinearSolve for Sweeping {
    fn dim(&self) -> usize {
        self.initial.q.len()
    }
    fn solve(&self, rhs: &mut [f64]) {
        if self.drift.is_some() {
            self.lu.solve(rhs);
        }
    }
}

impl MovingSet for Sweeping {
    fn pieces(&mut self, t: f64, out: &mut Pieces) -> Result<(), ModelError> {
        let n = self.initial.q.len();
        out.shapes.clear();
        out.numbers.clear();
        for piece in &mut self.pieces {
            let start = out.numbers.len();
            out.shapes.push((piece.shape, start));
            out.numbers.resize(start + piece.shape.numbers(n), 0.0);
            let numbers = &mut out.numbers[start..];
            (piece.data)(t, numbers)?;
            let finite = numbers.iter().all(|x| x.is_finite());
            let reason = match piece.shape {
                Shape::Interval { .. } if numbers.iter().any(|x| x.is_nan()) => "its ends are not numbers",
                Shape::Interval { .. } if numbers[0] > numbers[1] => "its lower end is above the upper one",
                Shape::Interval { .. } if numbers[0] == f64::INFINITY || numbers[1] == f64::NEG_INFINITY => {
                    "it is empty"
                }
                Shape::HalfSpace | Shape::Ball if !finite => "its numbers are not finite",
                Shape::HalfSpace if numbers[..n].iter().all(|x| *x == 0.0) => "its normal is zero",
                Shape::Ball if numbers[n] <= 0.0 => "its radius is not positive",
                _ => continue,
            };
            return Err(ModelError::Piece { piece: piece.name.as_str().into(), t, reason });
        }
        Ok(())
    }
}

impl Space for Sweeping {
    fn persist(&mut self, archive: &mut Archive, _last: &State) -> Result<bool, ArchiveError> {
        self.lu.persist(archive).map(|()| true)
    }

    fn initial(&self) -> State {
        self.initial.clone()
    }

    fn couple(&mut self, t: f64, u: &[f64], out: &mut Coupling) -> Result<(), ModelError> {
        let n = u.len();
        let mut at = std::mem::take(&mut self.at);
        let filled = self.pieces(t, &mut at);
        self.at = at;
        filled?;
        out.clear(n);
        let mut push = |gap: f64, row: &[f64]| {
            // an end at infinity never acts
            let (law, gap) = if gap.is_finite() { (Law::UNILATERAL, gap) } else { (Law::interval(0.0, 0.0), 0.0) };
            out.push(Pair { key: Key::from(out.pairs.len()), law, gap, restitution: 0.0 });
            out.rows.push_dense(row);
            out.drift.push(0.0);
        };
        for (shape, numbers) in self.at.iter() {
            match shape {
                Shape::Interval { coordinate } => {
                    self.row.fill(0.0);
                    self.row[coordinate] = 1.0;
                    push(u[coordinate] - numbers[0], &self.row);
                    self.row[coordinate] = -1.0;
                    push(numbers[1] - u[coordinate], &self.row);
                }
                Shape::HalfSpace => {
                    let product: f64 = numbers[..n].iter().zip(u).map(|(a, u)| a * u).sum();
                    push(product - numbers[n], &numbers[..n]);
                }
                Shape::Ball => {
                    let distance = numbers[..n].iter().zip(u).map(|(c, u)| (u - c) * (u - c)).sum::<f64>().sqrt();
                    for ((r, u), c) in self.row.iter_mut().zip(u).zip(numbers) {
                        *r = if distance > 0.0 { (c - u) / distance } else { 0.0 };
                    }
                    push(numbers[n] - distance, &self.row);
                }
            }
        }
        Ok(())
    }

    fn labels(&self) -> Labels {
        let mut contacts = Vec::new();
        for piece in &self.pieces {
            match piece.shape {
                Shape::Interval { .. } => {
                    contacts.push((format!("{}.lower", piece.name), Law::UNILATERAL));
                    contacts.push((format!("{}.upper", piece.name), Law::UNILATERAL));
                }
                Shape::HalfSpace | Shape::Ball => contacts.push((piece.name.clone(), Law::UNILATERAL)),
            }
        }
        Labels { coordinates: self.names.clone(), contacts, ..Labels::default() }
    }
}

impl FirstOrder for Sweeping {
    fn constancy(&self) -> Constancy {
        Constancy { mass: true, tangents: self.drift.is_none(), rows: false, ..Constancy::default() }
    }

    fn rate(&mut self, t: f64, u: &[f64], out: &mut [f64]) -> Result<(), ModelError> {
        out.fill(0.0);
        if let Some(drift) = &mut self.drift {
            drift(t, u, out)?;
        }
        match out.iter().position(|x| !x.is_finite()) {
            Some(i) => Err(ModelError::Rate { state: self.names[i].as_str().into(), t }),
            None => Ok(()),
        }
    }

    fn factor(&mut self, at: &State, c: f64) -> Result<(), ModelError> {
        if self.drift.is_none() {
            return Ok(());
        }
        if c == 0.0 {
            self.tangent.clear();
            self.tangent.resize(at.q.len() * at.q.len(), 0.0);
        } else {
            self.differentiate(at)?;
        }
        let n = at.q.len();
        let matrix = self.lu.matrix_mut(n);
        for (k, (x, d)) in matrix.iter_mut().zip(&self.tangent).enumerate() {
            *x = f64::from(u8::from(k / n == k % n)) - c * d;
        }
        self.lu.factor().map_err(|source| ModelError::Singular { t: at.t, source })
    }

    fn set(&mut self) -> Option<&mut dyn MovingSet> {
        Some(self)
    }
}
