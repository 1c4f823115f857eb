//! The catalogue of columns: every quantity that a run has, by name. Result files, expectations, studies and reports
//! all read it.
//!
//! | name | what |
//! |---|---|
//! | `t` | time [s] |
//! | `q.NAME`, `v.NAME` | coordinate, velocity |
//! | `gap.CONTACT` | gap, or value of a bilateral constraint |
//! | `impulse.CONTACT`, `.ROLE` | impulse of the step: normal, and along the other rows of the law, as `.t1`, `.t2` [N s] |
//! | `force.CONTACT`, `.ROLE` | reaction along the same rows [N], see below |
//! | `tau.CONTACT` | multiplier τ of the projection of positions in the step, from schemes that project |
//! | `energy.kinetic`, `energy.potential`, `energy.total` | [J], where the model knows them |
//! | `loss.impact`, `loss.friction` | lost along normals and, with friction, along tangents and in joints [J] |
//! | `loss.CONTACT` | where there are several: lost at a contact since the start, both together [J] |
//! | `output.NAME` | column of `[output.columns]` |
//!
//! Forces are those at the end of the step, before the event that ends it, from schemes that know them as functions of
//! time (`event-driven`). Elsewhere they are means over the step, impulse / h, percussions of impacts included. There
//! are none before the first step.
//!
//! In first-order models there are, instead of coordinates, velocities, gaps, impulses and energies,
//!
//! | name | what |
//! |---|---|
//! | `x.NAME` | state |
//! | `y.ROW` | output with its multiplier, where the law was imposed; without it before the first step |
//! | `lambda.ROW` | multiplier; its mean over the step in schemes that know only its integral |
//! | `impulse.ROW` | integral of the multiplier over the step; in `homsp` the measure μ_r of relative degree r |
//! | `mu1.ROW`, ..., `mu(r-1).ROW` | the other measures of `homsp`: jumps of the output and of its derivatives |
//! | `v.NODE`, `v.ELEMENT`, `i.ELEMENT` | potentials, voltages and currents of a circuit |

use crate::Labels;
use crate::scheme::{Family, Motion};

/// Columns of all contacts together.
const IMPACT_LOSS: &str = "loss.impact";
const FRICTION_LOSS: &str = "loss.friction";

/// A quantity of a run. Contacts are numbered as in [`Labels::contacts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Time.
    Time,
    /// A coordinate, or a state of a first-order model.
    Position(usize),
    /// A velocity.
    Velocity(usize),
    /// Gap of a contact.
    Gap(usize),
    /// Impulse of a contact along one row of its law; row 0 is normal.
    #[allow(missing_docs)]
    Impulse { law: usize, row: usize },
    /// Reaction of a contact along one row of its law; row 0 is normal.
    #[allow(missing_docs)]
    Force { law: usize, row: usize },
    /// Multiplier of a contact in the projection of positions.
    Projection(usize),
    /// Measure of a row in the higher-order sweeping process, below its last one; level 0 is μ₁.
    #[allow(missing_docs)]
    Level { law: usize, level: usize },
    /// Output of a row, in first-order models.
    After(usize),
    /// Multiplier of a row, in first-order models.
    Multiplier(usize),
    /// Kinetic energy.
    Kinetic,
    /// Potential energy.
    Potential,
    /// Their sum.
    Total,
    /// Energy lost along normals since the start.
    ImpactLoss,
    /// Energy lost along tangents since the start.
    FrictionLoss,
    /// Energy lost at a contact since the start.
    Loss(usize),
    /// A quantity of the user, or one that the model itself has.
    Output(usize),
}

/// How values of a column are read between its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ColumnKind {
    /// The time itself.
    Time,
    /// Straight lines between rows; it jumps where two rows have the same time.
    Line,
    /// It has one value over each step, which stands in the row of its end and in rows inside it.
    Held,
    /// The same, of a mean over the step.
    Mean,
    /// A sum since the row before; rows inside a step have none of it.
    Sum,
    /// A word.
    Word,
}

impl Column {
    /// How it is read between rows. What the user computes from multipliers is held as well, which is not known here.
    pub fn kind(&self, motion: Motion) -> ColumnKind {
        match self {
            Column::Time => ColumnKind::Time,
            Column::Impulse { .. } | Column::Projection(_) | Column::Level { .. } => ColumnKind::Sum,
            Column::Force { .. } if motion != Motion::Dense => ColumnKind::Mean,
            Column::After(_) | Column::Multiplier(_) => ColumnKind::Held,
            _ => ColumnKind::Line,
        }
    }

    /// The unit that it has in every model with these laws, where there is one. Coordinates have none by themselves,
    /// nor do states and rows of first-order models; gaps and reactions of contacts are lengths and forces.
    pub fn unit(&self, family: Family, labels: &Labels) -> Option<&'static str> {
        let law = |i: usize| labels.contacts.get(i).map(|(_, law)| law).filter(|law| law.is_contact());
        let is_turning = |i: usize, row: usize| law(i).map(|law| matches!(law.role(row), "r1" | "r2" | "spin"));
        match *self {
            Column::Time => Some("s"),
            _ if family == Family::FirstOrder => None,
            Column::Gap(i) => law(i).map(|_| "m"),
            Column::Impulse { law, row } => is_turning(law, row).map(|turns| if turns { "N m s" } else { "N s" }),
            Column::Force { law, row } => is_turning(law, row).map(|turns| if turns { "N m" } else { "N" }),
            Column::Kinetic | Column::Potential | Column::Total => Some("J"),
            Column::ImpactLoss | Column::FrictionLoss | Column::Loss(_) => Some("J"),
            _ => None,
        }
    }
}

/// What a run consists of, as far as its columns go.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue<'a> {
    /// Mechanical or of first order.
    pub family: Family,
    /// Names of coordinates and contacts.
    pub labels: &'a Labels,
    /// Number of coordinates, and of velocities.
    pub dofs: (usize, usize),
    /// Whether the model knows its energy.
    pub has_energy: bool,
    /// Whether the scheme projects positions.
    pub projects: bool,
    /// Numbers of measures of each law in the higher-order sweeping process, its relative degrees; none elsewhere.
    pub levels: &'a [usize],
    /// Full names of the other quantities.
    pub outputs: &'a [String],
}

impl Catalogue<'_> {
    /// All columns with their names, in the order of result files.
    pub fn columns(&self) -> Vec<(String, Column)> {
        let Catalogue { family, labels, dofs: (positions, velocities), .. } = *self;
        let mut all = vec![("t".to_string(), Column::Time)];
        let letter = if family == Family::FirstOrder { 'x' } else { 'q' };
        let name = |letter: char, i: usize, name: Option<&String>| match name {
            Some(name) => format!("{letter}.{name}"),
            None => format!("{letter}.{i}"),
        };
        let of_position = |i: usize| labels.coordinates.get(i);
        all.extend((0..positions).map(|i| (name(letter, i, of_position(i)), Column::Position(i))));
        // velocities have the names of the coordinates only where they are their rates
        let of_velocity =
            |i: usize| labels.velocities.get(i).or_else(|| of_position(i).filter(|_| velocities == positions));
        all.extend((0..velocities).map(|i| (name('v', i, of_velocity(i)), Column::Velocity(i))));
        let contacts = || labels.contacts.iter().enumerate();
        if family == Family::FirstOrder {
            all.extend(contacts().map(|(i, (name, _))| (format!("y.{name}"), Column::After(i))));
            all.extend(contacts().map(|(i, (name, _))| (format!("lambda.{name}"), Column::Multiplier(i))));
        } else {
            all.extend(contacts().map(|(i, (name, _))| (format!("gap.{name}"), Column::Gap(i))));
        }
        let mut rows = |what: &str, column: fn(usize, usize) -> Column| {
            for (law, (name, kind)) in contacts() {
                all.extend((0..kind.size()).map(|row| match row {
                    0 => (format!("{what}.{name}"), column(law, row)),
                    _ => (format!("{what}.{name}.{}", kind.role(row)), column(law, row)),
                }));
            }
        };
        rows("impulse", |law, row| Column::Impulse { law, row });
        if family == Family::Mechanical {
            rows("force", |law, row| Column::Force { law, row });
        }
        if self.projects {
            all.extend(contacts().map(|(i, (name, _))| (format!("tau.{name}"), Column::Projection(i))));
        }
        for ((law, (name, _)), &levels) in contacts().zip(self.levels) {
            let measures = (1..levels).map(|k| (format!("mu{k}.{name}"), Column::Level { law, level: k - 1 }));
            all.extend(measures);
        }
        if family == Family::Mechanical {
            self.losses(&mut all);
        }
        if self.has_energy {
            all.push(("energy.kinetic".into(), Column::Kinetic));
            all.push(("energy.potential".into(), Column::Potential));
            all.push(("energy.total".into(), Column::Total));
        }
        all.extend(self.outputs.iter().enumerate().map(|(i, name)| (name.clone(), Column::Output(i))));
        all
    }

    /// Losses that can differ from each other: those of tangents where there are any, those of contacts where there are
    /// several.
    fn losses(&self, all: &mut Vec<(String, Column)>) {
        let contacts = self.labels.contacts.iter().enumerate().filter(|(_, (_, law))| law.is_contact());
        let contacts: Vec<(usize, &str, usize)> =
            contacts.map(|(i, (name, law))| (i, name.as_str(), law.size())).collect();
        if !contacts.is_empty() {
            all.push((IMPACT_LOSS.into(), Column::ImpactLoss));
        }
        let rubs = self.labels.contacts.iter().any(|(_, law)| law.is_dry_friction());
        if rubs || contacts.iter().any(|(_, _, rows)| *rows > 1) {
            all.push((FRICTION_LOSS.into(), Column::FrictionLoss));
        }
        if contacts.len() > 1 {
            // a contact may have the name of a sum
            let own = contacts.iter().map(|(i, name, _)| (format!("loss.{name}"), Column::Loss(*i)));
            all.extend(own.filter(|(name, _)| name != IMPACT_LOSS && name != FRICTION_LOSS));
        }
    }
}
