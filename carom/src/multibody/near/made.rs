//! Pairs of shapes in little room: there are many of them where shapes are spheres, and these are small.

use crate::model::Scalar;
use crate::multibody::pair::{AnyPair, Pair, SpherePlane, SphereSphere, Touch};
use crate::multibody::{Frame, Vector};

/// A pair, or where it is in a list of large ones.
#[derive(Clone, Debug)]
pub(super) enum Made {
    Spheres(SphereSphere),
    Plane(SpherePlane),
    Other(u32),
}

impl Made {
    /// Keeps a pair; large ones go to the end of a list.
    #[inline]
    pub fn new(pair: AnyPair, others: &mut Vec<AnyPair>) -> Made {
        match pair {
            AnyPair::SphereSphere(pair) => Made::Spheres(pair),
            AnyPair::SpherePlane(pair) => Made::Plane(pair),
            pair => {
                others.push(pair);
                Made::Other(others.len() as u32 - 1)
            }
        }
    }

    /// Takes the last pair out of the list, if this is it.
    #[inline]
    pub fn drop_from(&self, others: &mut Vec<AnyPair>) {
        if let Made::Other(_) = self {
            others.pop();
        }
    }

    /// The pair.
    #[inline]
    pub fn of<'a>(&'a self, others: &'a [AnyPair]) -> PairOf<'a> {
        match self {
            Made::Spheres(pair) => PairOf::Spheres(pair),
            Made::Plane(pair) => PairOf::Plane(pair),
            Made::Other(place) => PairOf::Other(&others[*place as usize]),
        }
    }
}

/// A pair that was kept.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PairOf<'a> {
    Spheres(&'a SphereSphere),
    Plane(&'a SpherePlane),
    Other(&'a AnyPair),
}

macro_rules! each {
    ($of:expr, $pair:ident => $do:expr) => {
        match $of {
            PairOf::Spheres($pair) => $do,
            PairOf::Plane($pair) => $do,
            PairOf::Other($pair) => $do,
        }
    };
}

impl Pair for PairOf<'_> {
    fn places(&self) -> usize {
        each!(self, pair => pair.places())
    }

    #[inline]
    fn touch<T: Scalar>(&self, place: usize, frames: (&Frame<T>, &Frame<T>)) -> Touch<T> {
        each!(self, pair => pair.touch(place, frames))
    }

    #[inline]
    fn features(&self, place: usize) -> [u32; 2] {
        each!(self, pair => pair.features(place))
    }

    #[inline]
    fn region(&self, place: usize, frames: (&Frame, &Frame)) -> f64 {
        each!(self, pair => pair.region(place, frames))
    }

    fn reach(&self) -> f64 {
        each!(self, pair => pair.reach())
    }

    fn comes_and_goes(&self) -> bool {
        each!(self, pair => pair.comes_and_goes())
    }

    fn apart(&self, frames: (&Frame, &Frame)) -> (f64, Vector) {
        each!(self, pair => pair.apart(frames))
    }

    #[inline]
    fn near(&self, frames: (&Frame, &Frame), margin: f64, out: &mut Vec<u32>) {
        each!(self, pair => pair.near(frames, margin, out))
    }
}
