//! Which methods a solve took.

use std::fmt;

/// A method of the ladder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Method {
    AtRest,
    ActiveSet,
    ClosedForm,
    Lemke,
    NewtonMin,
    Nsgs,
    /// Sweeps of Gauss-Seidel, then Newton's method on the statuses of contacts.
    StatusNewton,
    InteriorPoint,
    Proximal,
    Enumeration,
    /// Groups of laws that do not see each other, each one by methods of its own.
    Islands,
    /// Equality rows eliminated along the tree of bodies.
    Equalities,
    /// Descent of the residual itself.
    Descent,
}

impl Method {
    const ALL: [Method; 13] = [
        Method::AtRest,
        Method::ActiveSet,
        Method::ClosedForm,
        Method::Lemke,
        Method::NewtonMin,
        Method::Nsgs,
        Method::StatusNewton,
        Method::InteriorPoint,
        Method::Proximal,
        Method::Enumeration,
        Method::Islands,
        Method::Equalities,
        Method::Descent,
    ];

    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Method::AtRest => "at rest",
            Method::ActiveSet => "active set",
            Method::ClosedForm => "closed form",
            Method::Lemke => "lemke",
            Method::NewtonMin => "newton-min",
            Method::Nsgs => "nsgs",
            Method::StatusNewton => "nsgs and newton on statuses",
            Method::InteriorPoint => "interior-point",
            Method::Proximal => "proximal",
            Method::Enumeration => "enumeration",
            Method::Islands => "islands",
            Method::Equalities => "equalities",
            Method::Descent => "descent",
        }
    }
}

/// Most methods that a path tells.
const MOST: u32 = 12;

/// The methods that a solve tried, in order. A solver that has but one method is its own path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    solver: &'static str,
    code: u64, // five bits per method, the first one lowest: its place in `Method::ALL`, from 1
    len: u32,
}

crate::persist!(Path { solver, code, len });

impl Path {
    /// The path of a solver that has tried nothing else than itself.
    #[inline]
    pub fn of(solver: &'static str) -> Path {
        Path { solver, code: 0, len: 0 }
    }

    /// One more method; one that is repeated counts once.
    #[inline]
    pub fn push(&mut self, method: Method) {
        let this = method as u64 + 1;
        let last = if self.len > 0 { self.code >> (5 * (self.len - 1)) } else { 0 };
        if last != this && self.len < MOST {
            self.code |= this << (5 * self.len);
            self.len += 1;
        }
    }

    /// Whether two solves of one solver took the same way.
    #[inline]
    pub fn is_same_way(&self, other: &Path) -> bool {
        self.code == other.code
    }

    /// The methods in the order in which they were tried; none where the solver has but one.
    pub fn methods(&self) -> impl Iterator<Item = Method> + use<> {
        let code = self.code;
        (0..self.len).map(move |k| Method::ALL[(code >> (5 * k) & 31) as usize - 1])
    }
}

/// The methods, or the solver that is its own method: `nsgs, interior-point`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut methods = self.methods();
        let Some(first) = methods.next() else { return f.write_str(self.solver) };
        f.write_str(first.name())?;
        methods.try_for_each(|method| write!(f, ", {}", method.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_told_as_it_was_pushed() {
        for (k, method) in Method::ALL.into_iter().enumerate() {
            assert_eq!(method as usize, k);
            let mut path = Path::of("auto");
            path.push(Method::ALL[(k + 1) % Method::ALL.len()]);
            path.push(method);
            assert!(path.methods().eq([Method::ALL[(k + 1) % Method::ALL.len()], method]));
        }
    }

    #[test]
    fn repeated_methods_count_once() {
        let mut path = Path::of("auto");
        assert_eq!(path.to_string(), "auto");
        for method in [Method::Nsgs, Method::Nsgs, Method::InteriorPoint, Method::Nsgs] {
            path.push(method);
        }
        assert_eq!(path.to_string(), "nsgs, interior-point, nsgs");
        (0..2 * MOST).for_each(|k| path.push(if k % 2 == 0 { Method::Lemke } else { Method::Nsgs }));
        assert_eq!(path.methods().count(), MOST as usize);
    }
}
