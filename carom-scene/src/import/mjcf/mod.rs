//! MJCF, the format of MuJoCo: a tree of bodies with defaults by classes. Inertia follows from geoms unless it is
//! given.
//! Soft constraints become ideal ones: limits are stops, equalities are joints, contacts do not bounce.

mod body;
mod classes;
mod equality;
mod geom;
mod known;
mod tendon;

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::mass::{decompose, diagonal};
use super::robot::{Fluid, Form, Mass, Part, Pose, Robot, Solid, Tie};
use super::xml::{Attribute, Element};
use super::{Format, Notes, Options};
use crate::diagnostic::Place;
use classes::Classes;

pub(super) const FORMAT: Format = Format { name: "MJCF", about: "the format of MuJoCo", root: "mujoco", read };

/// Where inertia comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FromGeom {
    Never,
    Always,
    WhereMissing,
}

const YES: &[(&str, bool)] = &[("true", true), ("false", false)];

/// Settings of <compiler>.
#[derive(Clone, Debug)]
struct Compiler {
    /// One unit of angles [rad].
    angle: f64,
    from_geom: FromGeom,
    groups: [f64; 2],
    balance: bool,
    bound_mass: f64,
    bound_inertia: f64,
    total_mass: Option<f64>,
    auto_limits: bool,
    /// Axes of three rotations, and whether each is fixed in the space.
    euler: [(usize, bool); 3],
    fuse: bool,
    /// Folder of meshes.
    meshes: PathBuf,
}

/// What <flag> switches off.
#[derive(Clone, Copy, Debug, Default)]
struct Flags {
    contact: bool,
    equality: bool,
    limit: bool,
    friction: bool,
    spring: bool,
    damper: bool,
}

/// All that is known while bodies are read.
struct Model<'a> {
    compiler: Compiler,
    flags: Flags,
    classes: Classes<'a>,
    /// Meshes by name, and those that are left out.
    meshes: HashMap<&'a str, Form>,
    left: BTreeSet<&'a str>,
    parts: Vec<Part>,
    /// What the geoms of each part weigh.
    weights: Vec<Vec<Mass>>,
    /// Whether the mass of each part is given.
    given: Vec<bool>,
    ground: Vec<Solid>,
    /// Names of joints.
    joints: BTreeSet<String>,
    /// Sites by name, in axes of their part.
    sites: HashMap<String, (Option<usize>, [f64; 3])>,
    /// Parts by name; none: the world.
    bodies: HashMap<&'a str, Option<usize>>,
}

fn read(root: &Element, path: &Path, _: &Options, notes: &mut Notes) -> Option<Robot> {
    let compiler = compiler(root, notes)?;
    let (gravity, step, fluid, flags) = options(root, notes);
    let classes = Classes::read(root, notes);
    let mut model = Model {
        compiler,
        flags,
        classes,
        meshes: HashMap::new(),
        left: BTreeSet::new(),
        parts: Vec::new(),
        weights: Vec::new(),
        given: Vec::new(),
        ground: Vec::new(),
        joints: BTreeSet::new(),
        sites: HashMap::new(),
        bodies: HashMap::from([("world", None)]),
    };
    model.assets(root, path.parent().unwrap_or(Path::new("")), notes);
    let worlds: Vec<&Element> = root.all("worldbody").collect();
    if worlds.is_empty() {
        notes.out.error(&root.place, "there is no <worldbody>").hint("bodies and geoms are inside of it");
        return None;
    }
    for world in worlds {
        model.children(world, None, &Pose::HERE, 0, notes);
    }
    if notes.out.errors() > 0 {
        return None;
    }
    model.finish_masses();
    let (mut ties, mut cords) = (Vec::new(), Vec::new());
    let mut excluded = Vec::new();
    for section in &root.children {
        match section.name.as_str() {
            "compiler" | "option" | "default" | "asset" | "worldbody" => {}
            "equality" => ties.extend(model.ties(section, notes)),
            "tendon" => cords.extend(model.cords(section, notes)),
            "contact" => excluded.extend(model.contact(section, notes)),
            _ => known::strange(section, &["compiler", "option", "default", "asset", "worldbody", "equality"], notes),
        }
    }
    let name = root.get("model").map_or_else(String::new, |name| name.value.clone());
    let Model { parts, ground, flags, .. } = model;
    let ties = if flags.equality { Vec::new() } else { ties };
    Some(Robot { name, gravity, parts, ground, ties, cords, fluid, excluded, touches: !flags.contact, step })
}

fn compiler(root: &Element, notes: &mut Notes) -> Option<Compiler> {
    let mut out = Compiler {
        angle: std::f64::consts::PI / 180.0,
        from_geom: FromGeom::WhereMissing,
        groups: [0.0, 5.0],
        balance: false,
        bound_mass: 0.0,
        bound_inertia: 0.0,
        total_mass: None,
        auto_limits: true,
        euler: [(0, false), (1, false), (2, false)],
        fuse: false,
        meshes: PathBuf::new(),
    };
    let froms = [("false", FromGeom::Never), ("true", FromGeom::Always), ("auto", FromGeom::WhereMissing)];
    for element in root.all("compiler") {
        known::attributes(element, notes);
        for attribute in &element.attributes {
            let log = &mut notes.out;
            match attribute.name.as_str() {
                "angle" => {
                    let units = [("degree", std::f64::consts::PI / 180.0), ("radian", 1.0)];
                    out.angle = attribute.word(&units, log)?;
                }
                "coordinate" => {
                    let is_local = attribute.word(&[("local", true), ("global", false)], log)?;
                    if !is_local {
                        let error = log.error(&attribute.place, "global coordinates cannot be imported");
                        error.hint("MuJoCo 2.3 saves such a model in local coordinates");
                        return None;
                    }
                }
                "inertiafromgeom" => out.from_geom = attribute.word(&froms, log)?,
                "inertiagrouprange" => out.groups = attribute.vector(log)?,
                "balanceinertia" => out.balance = attribute.word(YES, log)?,
                "boundmass" => out.bound_mass = attribute.size(log)?,
                "boundinertia" => out.bound_inertia = attribute.size(log)?,
                "settotalmass" => out.total_mass = Some(attribute.number(log)?).filter(|mass| *mass > 0.0),
                "autolimits" => out.auto_limits = attribute.word(YES, log)?,
                // the folder of meshes counts before that of all files
                "meshdir" => out.meshes = attribute.value.clone().into(),
                "assetdir" if element.get("meshdir").is_none() => out.meshes = attribute.value.clone().into(),
                "fusestatic" => out.fuse = attribute.word(YES, log)?,
                "eulerseq" => out.euler = sequence(attribute, notes)?,
                _ => {}
            }
        }
    }
    Some(out)
}

/// Axes of three rotations: small letters turn with the body, capitals stay.
fn sequence(attribute: &Attribute, notes: &mut Notes) -> Option<[(usize, bool); 3]> {
    let axis = |c: char| Some(("xyz".find(c.to_ascii_lowercase())?, c.is_ascii_uppercase()));
    let axes: Option<Vec<(usize, bool)>> = attribute.value.chars().map(axis).collect();
    let sequence = axes.and_then(|axes| <[(usize, bool); 3]>::try_from(axes).ok());
    if sequence.is_none() {
        let message = format!("{:?} is no sequence of three axes", attribute.value);
        notes.out.error(&attribute.place, message).hint("as in xyz, or XYZ for axes that stay");
    }
    sequence
}

/// Gravity, step, fluid and flags.
fn options(root: &Element, notes: &mut Notes) -> ([f64; 3], Option<f64>, Option<Fluid>, Flags) {
    let (mut gravity, mut step, mut flags) = ([0.0, 0.0, -9.81], None, Flags::default());
    let mut fluid = Fluid { density: 0.0, viscosity: 0.0, wind: [0.0; 3] };
    for element in root.all("option") {
        known::attributes(element, notes);
        if let Some(given) = element.get("gravity").and_then(|a| a.vector(&mut notes.out)) {
            gravity = given;
        }
        if let Some(attribute) = element.get("timestep") {
            match attribute.number(&mut notes.out) {
                Some(h) if h > 0.0 => step = Some(h),
                Some(h) => {
                    notes.out.error(&attribute.place, format!("the step {h} is not positive"));
                }
                None => {}
            }
        }
        for (name, out) in [("density", &mut fluid.density), ("viscosity", &mut fluid.viscosity)] {
            if let Some(given) = element.get(name).and_then(|a| a.size(&mut notes.out)) {
                *out = given;
            }
        }
        if let Some(given) = element.get("wind").and_then(|a| a.vector(&mut notes.out)) {
            fluid.wind = given;
        }
        for flag in &element.children {
            if flag.name == "flag" {
                self::flags(flag, &mut gravity, &mut flags, notes);
            } else {
                known::strange(flag, &["flag"], notes);
            }
        }
    }
    let fluid = Some(fluid).filter(|fluid| fluid.density > 0.0 || fluid.viscosity > 0.0);
    (gravity, step, fluid, flags)
}

fn flags(element: &Element, gravity: &mut [f64; 3], flags: &mut Flags, notes: &mut Notes) {
    for attribute in &element.attributes {
        let Some(on) = attribute.word(&[("enable", true), ("disable", false)], &mut notes.out) else { continue };
        match attribute.name.as_str() {
            "gravity" if !on => *gravity = [0.0; 3],
            "contact" => flags.contact = !on,
            "equality" => flags.equality = !on,
            "limit" => flags.limit = !on,
            "frictionloss" => flags.friction = !on,
            "spring" => flags.spring = !on,
            "damper" => flags.damper = !on,
            "passive" => (flags.spring, flags.damper) = (!on, !on),
            "constraint" if !on => {
                (flags.contact, flags.equality, flags.limit, flags.friction) = (true, true, true, true);
            }
            "gravity" | "constraint" => {}
            _ => notes.leave("options of solvers", &attribute.place),
        }
    }
}

impl<'a> Model<'a> {
    /// Meshes of files, and those that are given by their corners.
    fn assets(&mut self, root: &'a Element, folder: &Path, notes: &mut Notes) {
        let folder = folder.join(&self.compiler.meshes);
        for asset in root.all("asset").flat_map(|section| &section.children) {
            if asset.name != "mesh" {
                known::strange(asset, &["mesh"], notes);
                continue;
            }
            known::attributes(asset, notes);
            let file = asset.get("file").and_then(|file| Path::new(&file.value).file_stem()?.to_str());
            let name = asset.get("name").map(|name| name.value.as_str()).or(file);
            match (name, geom::mesh(asset, &self.classes, &folder, notes)) {
                (Some(name), Some(form)) => {
                    self.meshes.insert(name, form);
                }
                (Some(name), None) => {
                    self.left.insert(name);
                }
                (None, _) => {}
            }
        }
    }

    /// Bounds of masses, balance, and the total that is asked for.
    fn finish_masses(&mut self) {
        let compiler = &self.compiler;
        let bounded = compiler.bound_mass > 0.0 || compiler.bound_inertia > 0.0;
        for part in &mut self.parts {
            if bounded && part.mass.is_none() {
                part.mass = Some(Mass { mass: 0.0, centre: [0.0; 3], inertia: [[0.0; 3]; 3] });
            }
            let Some(mass) = &mut part.mass else { continue };
            mass.mass = mass.mass.max(compiler.bound_mass);
            let (mut values, columns) = decompose(&mass.inertia);
            let unbalanced = compiler.balance && values[0] + values[1] < values[2];
            if values.iter().any(|x| *x < compiler.bound_inertia) || unbalanced {
                values = values.map(|x| x.max(compiler.bound_inertia));
                if compiler.balance && values[0] + values[1] < values[2] {
                    values = [values.iter().sum::<f64>() / 3.0; 3];
                }
                let diagonal = diagonal(values);
                mass.inertia = std::array::from_fn(|i| {
                    std::array::from_fn(|j| (0..3).map(|k| columns[i][k] * diagonal[k][k] * columns[j][k]).sum())
                });
            }
        }
        let total: f64 = self.parts.iter().filter_map(|part| part.mass).map(|mass| mass.mass).sum();
        if let Some(wanted) = compiler.total_mass.filter(|_| total > 0.0) {
            for mass in self.parts.iter_mut().filter_map(|part| part.mass.as_mut()) {
                mass.mass *= wanted / total;
                mass.inertia = mass.inertia.map(|row| row.map(|x| x * wanted / total));
            }
        }
    }

    /// Pairs of bodies that do not touch.
    fn contact(&self, section: &Element, notes: &mut Notes) -> Vec<[Option<usize>; 2]> {
        let mut all = Vec::new();
        for element in &section.children {
            match element.name.as_str() {
                "exclude" => {
                    let pair = ["body1", "body2"].map(|key| self.body(element, key, notes));
                    if let [Some(a), Some(b)] = pair {
                        all.push([a, b]);
                    }
                }
                _ => known::strange(element, &["exclude", "pair"], notes),
            }
        }
        all
    }

    /// A body that an attribute names.
    fn body(&self, element: &Element, key: &str, notes: &mut Notes) -> Option<Option<usize>> {
        let attribute = element.need(key, &mut notes.out)?;
        let found = self.bodies.get(attribute.value.as_str()).copied();
        if found.is_none() {
            let known = self.bodies.keys().copied();
            let hint = crate::diagnostic::suggest(&attribute.value, known, true, || "it names a body".into());
            notes.out.error(&attribute.place, format!("there is no body {:?}", attribute.value)).hint(hint);
        }
        found
    }
}

type Ties = Vec<(String, Tie, Place)>;
