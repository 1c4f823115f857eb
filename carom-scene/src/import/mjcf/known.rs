//! Which elements and attributes of MJCF are read, which are left out and under which heading, and which are unknown.

use super::super::Notes;
use super::super::xml::Element;
use crate::diagnostic::suggest;

/// Attributes of an element: those that are read, then those that are left out, by heading.
struct Known(&'static str, &'static [&'static str], &'static [(&'static str, &'static [&'static str])]);

/// A <joint> of <equality>.
pub(super) const RELATION: &str = "joint of equality";

const VISUALS: &str = "visuals";
const CONTACT: &str = "contact options";
const SOLVER: &str = "options of solvers";

const ATTRIBUTES: &[Known] = &[
    Known(
        "compiler",
        &[
            "angle",
            "coordinate",
            "inertiafromgeom",
            "inertiagrouprange",
            "balanceinertia",
            "boundmass",
            "boundinertia",
            "settotalmass",
            "autolimits",
            "eulerseq",
            "fusestatic",
            "meshdir",
            "assetdir",
            "strippath",
        ],
        &[
            (VISUALS, &["texturedir", "discardvisual", "fitaabb"]),
            (SOLVER, &["usethread", "alignfree", "saveinertial", "convexhull", "exactmeshinertia"]),
        ],
    ),
    Known(
        "option",
        &["gravity", "timestep", "density", "viscosity", "wind"],
        &[
            (
                SOLVER,
                &[
                    "integrator",
                    "cone",
                    "jacobian",
                    "solver",
                    "iterations",
                    "tolerance",
                    "ls_iterations",
                    "ls_tolerance",
                    "noslip_iterations",
                    "noslip_tolerance",
                    "ccd_iterations",
                    "ccd_tolerance",
                    "sdf_iterations",
                    "sdf_initpoints",
                    "impratio",
                    "apirate",
                    "actuatorgroupdisable",
                    "sleep_tolerance",
                ],
            ),
            (CONTACT, &["o_margin", "o_solref", "o_solimp", "o_friction"]),
            ("magnetic fields", &["magnetic"]),
        ],
    ),
    Known(
        "body",
        &["name", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "childclass"],
        &[
            ("motion capture of bodies", &["mocap"]),
            ("bodies that weigh less (gravcomp)", &["gravcomp"]),
            (VISUALS, &["user"]),
            (SOLVER, &["sleep"]),
        ],
    ),
    Known("frame", &["name", "pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "childclass"], &[]),
    Known(
        "inertial",
        &["pos", "quat", "axisangle", "euler", "xyaxes", "zaxis", "mass", "diaginertia", "fullinertia"],
        &[],
    ),
    Known("freejoint", &["name"], &[(VISUALS, &["group"]), (SOLVER, &["align"])]),
    Known(
        "joint",
        &[
            "name",
            "class",
            "type",
            "pos",
            "axis",
            "limited",
            "range",
            "ref",
            "springref",
            "stiffness",
            "damping",
            "frictionloss",
            "armature",
        ],
        &[
            ("options of limits", &["solreflimit", "solimplimit", "margin", "solreffriction", "solimpfriction"]),
            ("limits of actuators", &["actuatorfrclimited", "actuatorfrcrange", "actuatorgravcomp"]),
            ("springs by frequency (springdamper)", &["springdamper"]),
            (VISUALS, &["group", "user"]),
        ],
    ),
    Known(
        "geom",
        &[
            "name",
            "class",
            "type",
            "size",
            "fromto",
            "pos",
            "quat",
            "axisangle",
            "euler",
            "xyaxes",
            "zaxis",
            "mass",
            "density",
            "mesh",
            "contype",
            "conaffinity",
            "condim",
            "friction",
            "priority",
            "group",
            "shellinertia",
            "hfield",
            "fitscale",
        ],
        &[
            (CONTACT, &["solmix", "solref", "solimp", "margin", "gap"]),
            ("drag of fluids", &["fluidshape", "fluidcoef"]),
            (VISUALS, &["material", "rgba", "user"]),
        ],
    ),
    Known(
        "mesh",
        &["name", "class", "file", "vertex", "face", "scale", "refpos", "refquat", "inertia"],
        &[(
            VISUALS,
            &["normal", "texcoord", "smoothnormal", "content_type", "maxhullvert", "builtin", "params", "material"],
        )],
    ),
    Known(
        RELATION,
        &["name", "class", "joint1", "joint2", "polycoef", "active"],
        &[("options of equality constraints", &["solref", "solimp"])],
    ),
    Known(
        "connect",
        &["name", "class", "body1", "body2", "anchor", "active", "site1", "site2"],
        &[("options of equality constraints", &["solref", "solimp"])],
    ),
    Known(
        "weld",
        &["name", "class", "body1", "body2", "relpose", "anchor", "torquescale", "active", "site1", "site2"],
        &[("options of equality constraints", &["solref", "solimp"])],
    ),
    Known("spatial", TENDON, &[(LIMITS, LIMIT_OPTIONS), (EFFORT, EFFORTS), (VISUALS, &["width", "material", "rgba"])]),
    Known("fixed", TENDON, &[(LIMITS, LIMIT_OPTIONS), (EFFORT, EFFORTS)]),
];

const LIMITS: &str = "options of limits";
const LIMIT_OPTIONS: &[&str] = &["solreflimit", "solimplimit", "margin", "solreffriction", "solimpfriction"];
const EFFORT: &str = "limits of actuators";
const EFFORTS: &[&str] = &["actuatorfrclimited", "actuatorfrcrange"];
const TENDON: &[&str] = &[
    "name",
    "class",
    "group",
    "user",
    "limited",
    "range",
    "stiffness",
    "damping",
    "springlength",
    "frictionloss",
    "armature",
];

/// Sections and elements that have no counterpart, and what they are.
const LEFT: &[(&str, &str)] = &[
    ("size", SOLVER),
    ("visual", VISUALS),
    ("statistic", VISUALS),
    ("custom", VISUALS),
    ("sensor", "sensors"),
    ("actuator", "actuators"),
    ("tendon", "tendons"),
    ("keyframe", "keyframes"),
    ("extension", "plugins"),
    ("deformable", "deformable bodies"),
    ("site", VISUALS),
    ("camera", VISUALS),
    ("light", VISUALS),
    ("texture", VISUALS),
    ("material", VISUALS),
    ("skin", VISUALS),
    ("model", VISUALS),
    ("hfield", "height fields"),
    // of defaults
    ("pair", CONTACT),
    ("equality", "options of equality constraints"),
    ("general", "actuators"),
    ("motor", "actuators"),
    ("position", "actuators"),
    ("velocity", "actuators"),
    ("intvelocity", "actuators"),
    ("damper", "actuators"),
    ("cylinder", "actuators"),
    ("muscle", "actuators"),
    ("adhesion", "actuators"),
];

/// Elements that would change what moves.
const REFUSED: &[&str] = &["composite", "flexcomp", "replicate", "attach", "plugin"];

/// Lists an element that is left out, each of its children for sections; tells one that is not known.
pub(super) fn strange(element: &Element, known: &[&str], notes: &mut Notes) {
    if REFUSED.contains(&element.name.as_str()) {
        let error = notes.out.error(&element.place, format!("<{}> cannot be imported", element.name));
        error.hint("save the model from MuJoCo as one file, with everything written out");
        return;
    }
    let Some((_, what)) = LEFT.iter().find(|(name, _)| *name == element.name) else {
        let all = || format!("it has {}", known.join(", "));
        let hint = suggest(&element.name, known.iter().copied().chain(LEFT.iter().map(|(name, _)| *name)), false, all);
        notes.out.error(&element.place, format!("<{}> is not known here", element.name)).hint(hint);
        return;
    };
    if element.children.is_empty() {
        notes.leave(*what, &element.place);
    }
    element.children.iter().for_each(|child| notes.leave(*what, &child.place));
}

/// Lists attributes that are left out, and tells those that are not known.
pub(super) fn attributes(element: &Element, notes: &mut Notes) {
    attributes_as(element, &element.name, notes);
}

/// The same of an element that is called as another one is.
pub(super) fn attributes_as(element: &Element, name: &str, notes: &mut Notes) {
    let Some(Known(_, read, left)) = ATTRIBUTES.iter().find(|known| known.0 == name) else { return };
    for attribute in &element.attributes {
        let name = attribute.name.as_str();
        if read.contains(&name) {
            continue;
        }
        match left.iter().find(|(_, names)| names.contains(&name)) {
            Some((what, _)) => notes.leave(*what, &attribute.place),
            None => {
                let all = read.iter().chain(left.iter().flat_map(|(_, names)| *names)).copied();
                let hint = suggest(name, all.clone(), false, || format!("it has {}", read.join(", ")));
                notes.out.error(&attribute.place, format!("<{}> has no `{name}`", element.name)).hint(hint);
            }
        }
    }
}
