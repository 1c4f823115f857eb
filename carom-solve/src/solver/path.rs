//! Which methods a solve took.

use std::fmt;

/// A method of the ladder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Method {
    #[default]
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
}

impl Method {
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
        }
    }
}

/// Most methods that a path tells.
const MOST: usize = 12;

/// The methods that a solve tried, in order. A solver that has but one method is its own path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    solver: &'static str,
    methods: [Method; MOST],
    len: u8,
}

impl Path {
    /// The path of a solver that has tried nothing else than itself.
    pub fn of(solver: &'static str) -> Path {
        Path { solver, methods: [Method::AtRest; MOST], len: 0 }
    }

    /// One more method; one that is repeated counts once.
    pub fn push(&mut self, method: Method) {
        let len = usize::from(self.len);
        if self.methods().last() != Some(&method) && len < MOST {
            self.methods[len] = method;
            self.len += 1;
        }
    }

    /// The methods in the order in which they were tried; none where the solver has but one.
    pub fn methods(&self) -> &[Method] {
        &self.methods[..usize::from(self.len)]
    }
}

/// The methods, or the solver that is its own method: `nsgs, interior-point`.
impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((first, others)) = self.methods().split_first() else { return f.write_str(self.solver) };
        f.write_str(first.name())?;
        others.iter().try_for_each(|method| write!(f, ", {}", method.name()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_methods_count_once() {
        let mut path = Path::of("auto");
        assert_eq!(path.to_string(), "auto");
        for method in [Method::Nsgs, Method::Nsgs, Method::InteriorPoint, Method::Nsgs] {
            path.push(method);
        }
        assert_eq!(path.to_string(), "nsgs, interior-point, nsgs");
        (0..2 * MOST).for_each(|k| path.push(if k % 2 == 0 { Method::Lemke } else { Method::Nsgs }));
        assert_eq!(path.methods().len(), MOST);
    }
}
