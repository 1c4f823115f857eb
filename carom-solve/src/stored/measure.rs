//! What can be told of a stored problem at a glance: kind, contacts, density, asymmetry.

use super::{Form, StoredProblem};
use crate::{Law, ProblemWork};

impl StoredProblem {
    /// The class of the problem in the words of the field.
    pub fn kind(&self) -> &'static str {
        let (mut equality, mut unilateral, mut boxed, mut planar, mut spatial) = (false, false, false, false, false);
        for law in &self.laws {
            match law {
                Law::Equality => equality = true,
                Law::Unilateral => unilateral = true,
                Law::Box { .. } => boxed = true,
                Law::Coulomb2 { .. } => planar = true,
                Law::Coulomb3 { .. } => spatial = true,
            }
        }
        let global = matches!(self.form, Form::Global(_));
        match (equality, unilateral, boxed, planar, spatial) {
            (false, false, false, false, false) => "empty",
            (true, false, false, false, false) => "linear equations",
            (false, true, false, false, false) => "linear complementarity",
            (true, true, false, false, false) => "mixed linear complementarity",
            (false, false, true, false, false) => "relay",
            (false, false, false, true, false) if global => "global planar friction",
            (false, false, false, true, false) => "planar friction",
            (false, false, false, false, true) if global => "global spatial friction",
            (false, false, false, false, true) => "spatial friction",
            _ => "mixture",
        }
    }

    /// Number of laws that are contacts: unilateral, or with friction.
    pub fn contacts(&self) -> usize {
        let contact = |law: &&Law| matches!(law, Law::Unilateral | Law::Coulomb2 { .. } | Law::Coulomb3 { .. });
        self.laws.iter().filter(contact).count()
    }

    /// Share of the entries of `W` that lie in its blocks [-].
    pub fn density(&self) -> f64 {
        self.with(&mut ProblemWork::default(), |problem| {
            let w = problem.delassus();
            let stored: usize = (0..w.laws()).flat_map(|i| w.row(i)).map(|(_, block)| block.len()).sum();
            let all = (w.size() as f64).powi(2);
            if all > 0.0 { stored as f64 / all } else { 0.0 }
        })
    }

    /// Largest entry of `|W − Wᵀ|` over that of `|W|` [-].
    pub fn asymmetry(&self) -> f64 {
        self.with(&mut ProblemWork::default(), |problem| {
            let w = problem.delassus();
            let rows: Vec<Vec<(usize, &[f64])>> = (0..w.laws()).map(|i| w.row(i).collect()).collect();
            let (mut difference, mut size) = (0.0f64, 0.0f64);
            for (i, row) in rows.iter().enumerate() {
                for &(j, block) in row {
                    let (height, width) = (w.rows(i).len(), w.rows(j).len());
                    let other = rows[j].binary_search_by_key(&i, |entry| entry.0).ok().map(|k| rows[j][k].1);
                    for (k, &x) in block.iter().enumerate() {
                        let mirrored = other.map_or(0.0, |other| other[(k % width) * height + k / width]);
                        difference = difference.max((x - mirrored).abs());
                        size = size.max(x.abs());
                    }
                }
            }
            if size > 0.0 { difference / size } else { 0.0 }
        })
    }
}
