//! Shapes of a description that touch by themselves: numbers, filters, coefficients.

use super::{Multibody, bodies};
use crate::multibody::contact::Surface;
use crate::multibody::near::{PlacedSolid, Solids};
use crate::multibody::pair::{Pair as _, between};
use crate::multibody::plan::Plan;
use crate::multibody::{Frame, MultibodyError, Solid};
use std::collections::{BTreeMap, HashMap};

/// What a name in a filter means.
enum Side {
    Group(usize),
    Body(usize),
    Shape(u32),
}

/// Places the shapes, and contacts whose places are listed where they are near.
pub(super) fn place(description: &Multibody, plan: &mut Plan) -> Result<(), MultibodyError> {
    let mut solids = Solids::default();
    let mut groups: Vec<&str> = vec![""];
    let mut materials: Vec<Option<&str>> = Vec::new();
    let index: HashMap<&str, usize> = plan.names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    for solid in &description.solids {
        let body = match index.get(solid.body.as_str()) {
            Some(&body) => body,
            None => bodies::find(plan, &solid.body, "shape", &solid.name)?,
        };
        let group = numbered(&mut groups, solid.group.as_deref().unwrap_or(""));
        let material = numbered(&mut materials, solid.material.as_deref());
        solids.all.push(placed(solid, body, material, group)?);
        solids.names.push(solid.full_name());
    }
    solids.groups = groups.len();
    solids.parted = vec![false; groups.len() * groups.len()];
    part(description, (plan, &index), &groups, &mut solids)?;
    surfaces(description, plan.is_planar, &materials, &mut solids)?;
    check_pairs(&solids)?;
    for (i, contact) in plan.contacts.iter().enumerate().filter(|(_, contact)| contact.pair.comes_and_goes()) {
        solids.contacts.push(i);
        solids.surfaces.push((contact.surface, contact.law));
        solids.names.push(contact.name.clone());
    }
    plan.solids = solids;
    Ok(())
}

/// The place of an item in a list, at the end of which it is added where it is new.
fn numbered<T: PartialEq>(list: &mut Vec<T>, item: T) -> usize {
    list.iter().position(|known| *known == item).unwrap_or_else(|| {
        list.push(item);
        list.len() - 1
    })
}

fn placed(solid: &Solid, body: usize, material: usize, group: usize) -> Result<PlacedSolid, MultibodyError> {
    let name = solid.full_name();
    let shape = solid.shape.clone().checked().map_err(|source| MultibodyError::Shape { name: name.clone(), source })?;
    let Some((centre, radius)) = shape.ball() else {
        let reason = "only solid shapes touch by themselves; give it a contact of its own";
        return Err(MultibodyError::Misfit { what: "shape", name, reason });
    };
    let (reach, thickness) = (shape.reach(), shape.thickness());
    Ok(PlacedSolid { body, shape, centre, radius, reach, thickness, material, group })
}

/// What does not touch: bodies of one joint, and what the description says.
fn part(
    description: &Multibody,
    (plan, index): (&Plan, &HashMap<&str, usize>),
    groups: &[&str],
    solids: &mut Solids,
) -> Result<(), MultibodyError> {
    if !description.joined_touch {
        for joint in &description.joints {
            let [a, b] = &joint.bodies;
            if let (Some(&a), Some(&b)) = (index.get(a.as_str()), index.get(b.as_str())) {
                solids.bodies_apart.push([a.min(b), a.max(b)]);
            }
        }
    }
    let shapes: HashMap<String, u32> = solids.names.iter().cloned().zip(0..).collect();
    let side = |name: &String| match name {
        name if groups[1..].contains(&name.as_str()) => {
            Ok(Side::Group(groups.iter().position(|group| group == name).unwrap_or(0)))
        }
        name if shapes.contains_key(name) => Ok(Side::Shape(shapes[name])),
        name => match index.get(name.as_str()) {
            Some(&body) => Ok(Side::Body(body)),
            None => bodies::find(plan, name, "filter of contacts", name).map(Side::Body),
        },
    };
    for [a, b] in &description.apart {
        match [side(a)?, side(b)?] {
            [Side::Group(a), Side::Group(b)] => {
                for (a, b) in [(a, b), (b, a)] {
                    solids.parted[a * solids.groups + b] = true;
                }
            }
            [Side::Body(a), Side::Body(b)] => solids.bodies_apart.push([a.min(b), a.max(b)]),
            [a, b] => {
                let members = |side: &Side| -> Vec<u32> {
                    let is = |i: &u32| match side {
                        Side::Group(group) => solids.all[*i as usize].group == *group,
                        Side::Body(body) => solids.all[*i as usize].body == *body,
                        Side::Shape(shape) => i == shape,
                    };
                    (0..solids.all.len() as u32).filter(is).collect()
                };
                let (first, second) = (members(&a), members(&b));
                for &i in &first {
                    solids.shapes_apart.extend(second.iter().map(|&j| [i.min(j), i.max(j)]));
                }
            }
        }
    }
    solids.bodies_apart.sort_unstable();
    solids.bodies_apart.dedup();
    solids.shapes_apart.sort_unstable();
    solids.shapes_apart.dedup();
    Ok(())
}

/// Coefficients of all pairs of materials that may meet.
fn surfaces(
    description: &Multibody,
    is_planar: bool,
    materials: &[Option<&str>],
    solids: &mut Solids,
) -> Result<(), MultibodyError> {
    let none = Surface::default();
    solids.materials = materials.len();
    solids.surfaces = vec![(none, none.law(is_planar)); materials.len() * materials.len()];
    let met = meeting(solids, |solid| solid.material);
    for ((a, b), [i, j]) in met {
        let names = [materials[a], materials[b]];
        let surface = match names {
            [None, None] => none,
            [Some(a), Some(b)] => match description.materials.between(a, b) {
                Some(surface) => surface,
                None => {
                    let names = names.map(|name| name.unwrap_or_default().to_owned());
                    return Err(MultibodyError::Materials { names, shapes: [i, j].map(|i| solids.names[i].clone()) });
                }
            },
            [one, _] => {
                let name = solids.names[if one.is_none() { i } else { j }].clone();
                return Err(MultibodyError::Misfit { what: "shape", name, reason: "it has no material, others do" });
            }
        };
        let law = surface.law(is_planar);
        solids.surfaces[a * materials.len() + b] = (surface, law);
        solids.surfaces[b * materials.len() + a] = (surface, law);
    }
    Ok(())
}

/// Each two shapes that may touch must make a pair.
fn check_pairs(solids: &Solids) -> Result<(), MultibodyError> {
    let ground = Frame::ground();
    for (_, [i, j]) in meeting(solids, |solid| solid.shape.kind()) {
        if let Err(source) = between(&solids.all[i].shape, &solids.all[j].shape, (&ground, &ground)) {
            let shapes = [i.min(j), i.max(j)].map(|i| solids.names[i].clone());
            return Err(MultibodyError::Pair { shapes, source });
        }
    }
    Ok(())
}

/// Two kinds of shapes that may touch, with an example each. Filters are asked body by body: the work is that of the
/// shapes and of what filters leave out.
fn meeting(solids: &Solids, kind: impl Fn(&PlacedSolid) -> usize) -> Vec<((usize, usize), [usize; 2])> {
    // shapes of each kind, group and side of the ground
    let mut classes: BTreeMap<(usize, usize, bool), Vec<usize>> = BTreeMap::new();
    for (i, solid) in solids.all.iter().enumerate() {
        classes.entry((kind(solid), solid.group, solid.body == 0)).or_default().push(i);
    }
    classes.values_mut().for_each(|list| list.sort_by_key(|i| solids.all[*i].body));
    let mut met = BTreeMap::new();
    for (one, list) in &classes {
        for (other, others) in classes.range(*one..) {
            if !met.contains_key(&(one.0, other.0))
                && let Some(two) = example(solids, list, others)
            {
                met.insert((one.0, other.0), two);
            }
        }
    }
    met.into_iter().collect()
}

/// Two shapes that may touch, one of each list; each list has one group, and is in order of bodies.
fn example(solids: &Solids, one: &[usize], other: &[usize]) -> Option<[usize; 2]> {
    let [a, b] = [one, other].map(|list| solids.all[list[0]].group);
    if solids.parted[a * solids.groups + b] {
        return None;
    }
    let body = |i: &usize| solids.all[*i].body;
    for list in one.chunk_by(|i, j| body(i) == body(j)) {
        for others in other.chunk_by(|i, j| body(i) == body(j)) {
            let bodies = [body(&list[0]).min(body(&others[0])), body(&list[0]).max(body(&others[0]))];
            if bodies[0] == bodies[1] || solids.bodies_apart.binary_search(&bodies).is_ok() {
                continue;
            }
            let mut all = list.iter().flat_map(|&i| others.iter().map(move |&j| [i, j]));
            if let Some(two) = all.find(|[i, j]| solids.may_touch(*i as u32, *j as u32)) {
                return Some(two);
            }
        }
    }
    None
}
