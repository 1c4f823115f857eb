//! What can be told of a stored problem at a glance: kind, contacts, density, asymmetry.

use super::{Form, StoredProblem};
use crate::{Law, ProblemWork};

impl StoredProblem {
    /// The class of the problem in the words of the field.
    pub fn kind(&self) -> &'static str {
        let mut names: Vec<&str> = self.laws.iter().map(Law::name).collect();
        names.sort_unstable();
        names.dedup();
        let global = matches!(self.form, Form::Global(_));
        match names[..] {
            [] => "empty",
            ["equality"] => "linear equations",
            ["unilateral"] => "linear complementarity",
            ["equality", "unilateral"] => "mixed linear complementarity",
            ["box"] => "relay",
            ["planar friction"] if global => "global planar friction",
            ["spatial friction"] if global => "global spatial friction",
            [friction] => friction,
            _ => "mixture",
        }
    }

    /// Number of laws that are contacts: unilateral, or with friction.
    pub fn contacts(&self) -> usize {
        self.laws.iter().filter(|law| law.is_unilateral() || law.size() > 1).count()
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
