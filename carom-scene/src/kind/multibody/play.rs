//! Joints with play: columns that tell where the pin is in its hole, in parts of the play.

use carom::multibody::MultibodyModel;
use carom::multibody::joint::Play;

use super::node::{Frames, dot, subtract};
use super::repeat::{Copy, copies};
use super::tables::JointTable;
use super::{Mechanism, joint};
use crate::expression::NodeId;
use crate::file::ModelFile;
use crate::scene::PlayInfo;
use crate::scene::context::Context;

/// A joint with play, as the model has it.
#[derive(Clone, Debug)]
pub(super) struct PlacedPlay {
    joint: String,
    bodies: [usize; 2],
    play: Play,
    laws: Vec<usize>,
}

/// All joints with play.
pub(super) fn placed(model: &MultibodyModel) -> Vec<PlacedPlay> {
    let own = |found: carom::multibody::ModelPlay<'_>| PlacedPlay {
        joint: found.joint.to_owned(),
        bodies: found.bodies,
        play: found.play.clone(),
        laws: found.laws,
    };
    model.plays().map(own).collect()
}

impl PlacedPlay {
    /// Names of the columns: one list for each place that is measured.
    fn names(&self) -> Vec<Vec<String>> {
        let start = format!("joint.{}.play", self.joint);
        let all = |start: &str| self.play.across.iter().map(|(name, _)| format!("{start}.{name}")).collect();
        match self.play.ends {
            Some(_) => vec![all(&format!("{start}.1")), all(&format!("{start}.2"))],
            None => vec![all(&start)],
        }
    }

    /// What results tell of it.
    pub fn info(&self, mechanism: &Mechanism) -> Option<PlayInfo> {
        let found = mechanism.joints.iter().find(|info| info.joint.name == self.joint)?;
        let size = found.joint.clearance?.radial;
        let names = self.names();
        let orbits = match &names[..] {
            // a slider in the plane: one end over the other
            [first, second] if first.len() == 1 => vec![(first[0].clone(), second[0].clone())],
            places => places.iter().map(|place| (place[0].clone(), place[1].clone())).collect(),
        };
        let (joint, laws, is_square) = (self.joint.clone(), self.laws.clone(), self.play.is_square);
        Some(PlayInfo { joint, size, laws, orbits, is_square })
    }
}

/// The columns of all joints with play. Play and length may change without another plan.
pub(super) fn columns(
    plays: &[PlacedPlay],
    mechanism: &Mechanism,
    frames: &mut Frames,
    file: &ModelFile,
    context: &mut Context,
) -> Vec<(String, NodeId)> {
    let tables = copies(file.joint.as_ref(), |table: &JointTable| table.repeat.as_ref(), context);
    let mut columns = Vec::new();
    for placed in plays {
        let number = mechanism.joints.iter().position(|info| info.joint.name == placed.joint);
        let Some(Copy { table, index }) = number.and_then(|number| tables.get(number)) else { continue };
        let sizes = context.indexed(index, |context| joint::play_nodes(table, mechanism.measure.length, context));
        if let Some([size, length]) = sizes {
            place(placed, (size, length), frames, context, &mut columns);
        }
    }
    columns
}

/// Components of r, beside the play.
fn place(
    placed: &PlacedPlay,
    (size, length): (NodeId, NodeId),
    frames: &mut Frames,
    context: &mut Context,
    columns: &mut Vec<(String, NodeId)>,
) {
    let graph = &mut context.graph;
    let [a, b] = placed.bodies.map(|body| frames.frame(graph, body));
    let Play { points: [on_a, on_b], across, ends, .. } = &placed.play;
    let (from, to) = (a.point(graph, *on_a), b.point(graph, *on_b));
    let centre = subtract(graph, to, from);
    let along = ends.map(|axis| b.direction(graph, axis));
    for (place, names) in placed.names().into_iter().enumerate() {
        for (name, (_, direction)) in names.into_iter().zip(across) {
            let direction = a.direction(graph, *direction);
            let mut way = dot(graph, direction, centre);
            if let Some(along) = along {
                let half = graph.constant(if place == 0 { -0.5 } else { 0.5 });
                let (part, arm) = (dot(graph, direction, along), graph.multiply(half, length));
                let beside = graph.multiply(arm, part);
                way = graph.add(way, beside);
            }
            context.names.units.push((name.clone(), "1"));
            columns.push((name, graph.divide(way, size)));
        }
    }
}
