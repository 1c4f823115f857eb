//! Robot descriptions with random changes: an import ends with a model file or with errors that point into the text.

use super::judge::judge;
use carom_mutations::{Mutation, Random, mutate, vary};
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

#[test]
fn mutated_robots() {
    let mut random = Random::new(2);
    let (mut good, mut loaded) = (0, 0);
    for case in 0..4000 {
        let (name, text) = if case % 2 == 0 { ("arm.urdf", ARM) } else { ("cart.xml", CART) };
        let mut changed = text.to_owned();
        for _ in 0..1 + random.below(3) {
            changed = match random.below(2) {
                0 => mutate(&changed, random.below(usize::MAX), &Mutation::any(OWN, &mut random)),
                _ => vary(&changed, &[ARM, CART], &mut random).0,
            };
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
