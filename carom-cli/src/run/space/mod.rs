//! The motion in space for the report and for glTF files: poses, reactions of contacts, shapes.

mod shape;

use super::Run;
use super::film::Film;
use carom::multibody::MultibodyModel;
use carom::scheme::Stepper;
use carom::simulation::{Observer, StepView};
use carom::{ModelError, State};
use carom_analysis::report::{Push, Reactions, Values};
use carom_analysis::results::ColumnInfo;
use carom_scene::Scene;
use carom_scene::scene::Space;
use carom_solve::{Archive, ArchiveError, Persist};
use std::ops::ControlFlow;

pub use shape::build;

/// Most regular frames where poses are kept beside the results, and where results have them.
const MOST: usize = 4000;
const MOST_STORED: usize = 20_000;
/// Numbers of a report per byte of it.
const PART: usize = 4;
/// Numbers of a reaction.
const NUMBERS: usize = 7;

/// Collects what results do not have: places of contacts, and poses of models that have too many for a table.
pub struct SpaceFilm {
    space: Space,
    model: MultibodyModel,
    /// Coordinates of poses; nothing where the results have them.
    poses: usize,
    film: Film<Shot>,
    impacts: Vec<Push>,
    most_impacts: usize,
    /// A state inside a step.
    state: State,
}

#[derive(Clone)]
struct Shot {
    poses: Vec<f64>,
    pushes: Vec<Push>,
}

carom_solve::persist!(Shot { poses, pushes });

impl SpaceFilm {
    /// `None` where the model is not one of bodies in space.
    pub fn new(scene: &Scene, columns: &[ColumnInfo], bytes: usize, most_impacts: usize) -> Option<SpaceFilm> {
        let (space, model) = (scene.space()?, scene.multibody()?);
        let stored = space
            .bodies
            .iter()
            .skip(1)
            .all(|body| names(&body.name).iter().all(|name| columns.iter().any(|info| info.name == *name)));
        let poses = if stored { 0 } else { names("").len() * (space.bodies.len() - 1) };
        let most = if stored { MOST_STORED } else { MOST };
        Some(SpaceFilm {
            space,
            model,
            poses,
            film: Film::new(most, bytes / PART, scene.span.end - scene.span.start),
            impacts: Vec::new(),
            most_impacts,
            state: State::default(),
        })
    }

    /// What a law did, at the place where its contact is with positions q; on the second body, or the one that moves.
    fn push(&self, law: usize, t: f64, q: &[f64], rows: &[f64]) -> Option<Push> {
        let (bodies, touch) = self.model.touch(law, q)?;
        let tangents = [touch.tangent, touch.normal.cross(touch.tangent)];
        let mut vector = touch.normal * *rows.first()?;
        // rows behind the two of friction are moments
        for (axis, row) in tangents.into_iter().zip(rows.get(1..3).unwrap_or_default()) {
            vector = vector + axis * *row;
        }
        let (at, vector) = if bodies[1] == 0 { (touch.on_a, -vector) } else { (touch.on_b, vector) };
        Some(Push { t, contact: law, at: at.0, vector: vector.0 })
    }

    /// Contacts that last, with their forces over the step: law and rows.
    fn lasting(view: &StepView<'_>) -> Vec<(usize, Vec<f64>)> {
        let reactions = view.reactions();
        let lasting = view.acting().iter().filter(|acting| !acting.is_impact());
        let force = |law: usize| -> Vec<f64> {
            let rows = reactions.range(law);
            match reactions.multiplier.get(rows.clone()) {
                Some(forces) => forces.to_vec(),
                None => reactions.impulse[rows].iter().map(|impulse| impulse / view.step.advanced).collect(),
            }
        };
        lasting.map(|acting| (number(acting.key), force(acting.law))).collect()
    }

    fn shot(&self, t: f64, q: &[f64], lasting: &[(usize, Vec<f64>)]) -> (Shot, usize) {
        let pushes: Vec<Push> = lasting.iter().filter_map(|(law, rows)| self.push(*law, t, q, rows)).collect();
        let size = self.poses + NUMBERS * pushes.len() + 1;
        (Shot { poses: q[..self.poses].to_vec(), pushes }, size)
    }

    /// Times and reactions of contacts that last; impacts.
    fn reactions(&self) -> Vec<Reactions> {
        self.film.frames().into_iter().map(|(t, shot)| Reactions { t, pushes: shot.pushes }).collect()
    }

    /// Times and poses of the bodies: those of the results where they are there.
    fn poses(&self, run: &Run) -> (Values, Vec<[Values; 7]>) {
        let bodies = self.space.bodies.iter().skip(1);
        let history = &run.recorded.history;
        if self.poses == 0 {
            let column = |name: &String| history.column(name).cloned().unwrap_or_default();
            return (history.t.clone(), bodies.map(|body| names(&body.name).each_ref().map(column)).collect());
        }
        let frames = self.film.frames();
        let column = |k: usize| frames.iter().map(|(_, shot)| shot.poses[k]).collect::<Values>();
        let poses = bodies.enumerate().map(|(i, _)| std::array::from_fn(|k| column(7 * i + k)));
        (frames.iter().map(|(t, _)| *t).collect(), poses.collect())
    }
}

/// The number of a law by its key.
fn number(key: carom::Key) -> usize {
    usize::try_from(key.0).unwrap_or(usize::MAX)
}

/// Names of the columns of a pose.
fn names(body: &str) -> [String; 7] {
    ["x", "y", "z", "e0", "e1", "e2", "e3"].map(|part| format!("q.{body}.{part}"))
}

impl Observer for SpaceFilm {
    fn persist(&mut self, archive: &mut Archive) -> Result<(), ArchiveError> {
        (&mut self.film, &mut self.impacts).persist(archive)
    }

    fn start(&mut self, stepper: &mut dyn Stepper) -> Result<(), ModelError> {
        let (shot, size) = self.shot(stepper.from().t, &stepper.from().q, &[]);
        self.film.push(stepper.from().t, shot, size, false);
        Ok(())
    }

    fn observe(&mut self, view: &mut StepView<'_>) -> Result<ControlFlow<()>, ModelError> {
        let room = self.most_impacts - self.impacts.len();
        let impulse = |law: usize| &view.reactions().impulse[view.reactions().range(law)];
        let State { t, q, .. } = view.to();
        let impacts = view.impacts().take(room);
        let found: Vec<Push> =
            impacts.filter_map(|acting| self.push(number(acting.key), *t, q, impulse(acting.law))).collect();
        self.impacts.extend(found);
        let (wanted, parts) = (self.film.wants(view), self.film.inside(view));
        let lasting = Self::lasting(view);
        for part in parts {
            let mut state = std::mem::take(&mut self.state);
            view.stepper.interpolate(part, &mut state);
            let (shot, size) = self.shot(state.t, &state.q, &lasting);
            self.film.push(state.t, shot, size, false);
            self.state = state;
        }
        if let Some(impact) = wanted {
            let (shot, size) = self.shot(view.to().t, &view.to().q, &lasting);
            self.film.end(view.to().t, shot, size, impact);
        }
        Ok(ControlFlow::Continue(()))
    }
}
