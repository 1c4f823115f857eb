//! Robot descriptions with random changes: an import ends with a model file or with errors that point into the text.

use super::bodies::Random;
use super::mutation::{Mutation, PIECES, judge, mutate};
use carom_scene::import::{Options, import_text};
use carom_scene::{Overrides, from_str};
use std::path::Path;

const ARM: &str = include_str!("../../../examples/robots/arm.urdf");
const CART: &str = include_str!("../../../examples/robots/cart.xml");

/// What is put into robot descriptions besides.
const OWN: &[&str] = &[
    "<",
    ">",
    "/>",
    "<!--",
    "-->",
    "&amp;",
    "&x;",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "<![CDATA[",
    "<include file='x'/>",
    "<joint/>",
    "<geom/>",
    "<body>",
    "</body>",
    "<link name='a'/>",
    "type=\"ball\"",
    "type=\"free\"",
    "axis=\"0 0 0\"",
    "size=\"0\"",
    "mass=\"-1\"",
    " 1e300",
    " 1e-300",
    " inf",
    " -1",
    " 0 0 1",
    "<freejoint/>",
    "class=\"pole\"",
    "ref=\"1\"",
    "fixed",
    "planar",
    "floating",
    "spherical",
    "<mimic joint=\"grip\"/>",
    "1e59 1e59 1e59",
    "<asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1'/></asset>",
    "<geom type='mesh' mesh='m'/>",
    "<mesh filename='a.stl'/>",
    "<inertial mass='0'/>",
];

fn change(text: &str, random: &mut Random) -> String {
    let piece = PIECES.iter().chain(OWN).nth(random.below(PIECES.len() + OWN.len()));
    let piece = piece.map_or(String::new(), |piece| piece.to_string());
    let [at, other] = [(); 2].map(|()| random.below(usize::MAX));
    let mutation = match random.below(6) {
        0 | 1 => Mutation::Insert(piece),
        2 => Mutation::Delete(1 + random.below(6)),
        3 => Mutation::Copy(other, 1 + random.below(60)),
        4 => Mutation::Line(other, Some(random.below(usize::MAX))),
        _ => Mutation::Line(other, None),
    };
    mutate(text, at, &mutation)
}

#[test]
fn mutated_robots() {
    let mut random = Random(0x0001_9e37_79b9_7f4b);
    let (mut good, mut loaded) = (0, 0);
    for case in 0..4000 {
        let (name, text) = if case % 2 == 0 { ("arm.urdf", ARM) } else { ("cart.xml", CART) };
        let mut changed = text.to_owned();
        for _ in 0..1 + random.below(3) {
            changed = change(&changed, &mut random);
        }
        let imported = match import_text(Path::new(name), &changed, &Options::default()) {
            Ok(imported) => imported,
            Err(found) => {
                judge(&found);
                continue;
            }
        };
        good += 1;
        assert!(!imported.text.contains("NaN") && !imported.text.contains("= inf"), "{}", imported.text);
        // every fourth one is read back and makes a step
        if good % 4 == 0 {
            let overrides = Overrides { end: Some(1e-3), step: Some(1e-3.into()), ..Overrides::default() };
            match from_str("robot.toml", &imported.text, &overrides) {
                Ok(scene) => {
                    loaded += 1;
                    if let Ok(mut simulation) = scene.simulation()
                        && simulation.run(&mut []).is_ok()
                    {
                        assert!(simulation.state().q.iter().all(|x| x.is_finite()));
                    }
                }
                Err(found) => judge(&found),
            }
        }
    }
    println!("{good} of 4000 were imported, {loaded} of {} read back", good / 4);
    assert!(good > 400 && loaded > good / 8, "{good} {loaded}");
}
