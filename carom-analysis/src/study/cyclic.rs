//! Coordinates in which a model repeats itself: states that differ by whole turns are the same.

use carom::Subject;

/// Lengths after which a model repeats itself, by coordinate; zero where nothing depends on the coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cyclic(Vec<(usize, f64)>);

impl Cyclic {
    /// Of coordinates by their numbers: the length of an angle, or zero for one that may drift.
    pub fn new(coordinates: &[(usize, f64)]) -> Cyclic {
        Cyclic(coordinates.to_vec())
    }

    /// Those of a model.
    pub fn of(subject: &dyn Subject) -> Cyclic {
        Cyclic::new(subject.cyclic())
    }

    /// Length of a coordinate; nothing where it is an ordinary one.
    pub fn length(&self, coordinate: usize) -> Option<f64> {
        self.0.iter().find(|(known, _)| *known == coordinate).map(|(_, length)| *length)
    }

    /// Whether nothing depends on a coordinate.
    pub fn drifts(&self, coordinate: usize) -> bool {
        self.length(coordinate) == Some(0.0)
    }

    /// Coordinates that nothing depends on.
    pub fn drifting(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().filter(|(_, length)| *length == 0.0).map(|(coordinate, _)| *coordinate)
    }

    /// All cyclic coordinates.
    pub fn coordinates(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|(coordinate, _)| *coordinate)
    }

    /// What is left of a difference of a coordinate without whole turns.
    pub fn rest(&self, coordinate: usize, difference: f64) -> f64 {
        match self.length(coordinate) {
            None => difference,
            Some(0.0) => 0.0,
            Some(length) => difference - length * (difference / length).round(),
        }
    }

    /// Takes whole turns from positions; those that nothing depends on become zero.
    pub fn reduce(&self, positions: &mut [f64]) {
        for &(coordinate, _) in &self.0 {
            if let Some(x) = positions.get_mut(coordinate) {
                *x = self.rest(coordinate, *x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_and_drift() {
        let cyclic = Cyclic::new(&[(0, 2.0), (2, 0.0)]);
        let mut positions = [7.25, 7.25, 7.25];
        cyclic.reduce(&mut positions);
        assert_eq!(positions, [-0.75, 7.25, 0.0]);
        assert_eq!(cyclic.rest(0, -3.9), -3.9 + 4.0);
        assert!(cyclic.drifts(2) && !cyclic.drifts(0) && !cyclic.drifts(1));
        assert_eq!(cyclic.coordinates().collect::<Vec<_>>(), [0, 2]);
        assert_eq!(cyclic.drifting().collect::<Vec<_>>(), [2]);
    }
}
