//! Cases: files and a command line, made from a seed, a part and a number.

use super::words::{
    GLTF, MESH_MODEL, OPERAND_OF, OPERANDS, ROBOTS, SCHEMES, SOLVERS, STL, STUDIED, VALUES, WORDS, binary,
};
use carom_mutations::{Mutation, Random, damage, mutate, vary};
use std::path::Path;
use std::process::Command;

/// What can be tried.
pub const PARTS: &[&str] = &["models", "bodies", "runs", "robots", "problems", "meshes", "commands", "studies"];

/// One try.
#[derive(Clone, Debug)]
pub struct Case {
    pub name: String,
    pub part: &'static str,
    /// Names and contents of the files in the folder.
    pub files: Vec<(String, Vec<u8>)>,
    pub arguments: Vec<String>,
    /// Whether changes respect what the text is made of.
    pub by_grammar: bool,
    /// Whether the command computes: it must listen to an interruption, while what only reads must end by itself.
    pub may_take_long: bool,
}

/// What cases are made of.
pub struct Material {
    /// Model files of bodies, and all others.
    bodies: Vec<String>,
    models: Vec<String>,
    robots: Vec<(String, String)>,
    problems: Vec<(String, Vec<u8>)>,
    meshes: Vec<(String, Vec<u8>)>,
    /// Every command with its options, and whether each takes a value.
    commands: Vec<(String, Vec<(String, bool)>)>,
}

impl Material {
    /// From the examples and from what the command says of itself.
    pub fn read(root: &Path, carom: &Path) -> Result<Material, String> {
        let examples = root.join("examples");
        let of = |folder: &str, ends: &[&str]| {
            let entries = std::fs::read_dir(examples.join(folder)).into_iter().flatten().flatten();
            let paths = entries.map(|entry| entry.path());
            let mut files: Vec<(String, Vec<u8>)> = paths
                .filter(|path| path.extension().is_some_and(|end| ends.iter().any(|known| end == *known)))
                .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), std::fs::read(&path).ok()?)))
                .collect();
            files.sort();
            files
        };
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let all: Vec<String> = of("", &["toml"]).into_iter().map(|(_, bytes)| text(bytes)).collect();
        let (bodies, models) = all.into_iter().partition(|text| text.contains("[[body]]"));
        let robots = of("robots", &["urdf", "xml"]).into_iter().map(|(name, bytes)| (name, text(bytes))).collect();
        let mut meshes = of("meshes", &["obj"]);
        meshes.extend([("a.stl".to_owned(), STL.into()), ("b.stl".into(), binary()), ("c.gltf".into(), GLTF.into())]);
        let names = [
            "run",
            "check",
            "solve",
            "import",
            "sweep",
            "bifurcation",
            "lyapunov",
            "orbit",
            "basin",
            "equilibrium",
            "converge",
            "generate",
            "compare",
            "show",
            "list",
            "docs",
            "schema",
            "new",
            "completions",
            "profile",
        ];
        let commands = names.iter().map(|name| Ok((name.to_string(), options(carom, name)?)));
        Ok(Material {
            bodies,
            models,
            robots,
            problems: of("problems", &["dat", "hdf5"]),
            meshes,
            commands: commands.collect::<Result<_, String>>()?,
        })
    }
}

/// The options of a command, from its own help.
fn options(carom: &Path, name: &str) -> Result<Vec<(String, bool)>, String> {
    let output = Command::new(carom).args([name, "--help"]).output().map_err(|error| error.to_string())?;
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let options = help.lines().filter_map(|line| {
        let line = line.trim_start();
        let at = line.starts_with('-').then(|| line.find("--"))??;
        let word: String = line[at..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        // what opens a browser or runs for the sake of the clock is left out
        let known = !matches!(word.as_str(), "--help" | "--open" | "--" | "--threads" | "--checkpoint");
        known.then(|| (word.clone(), line[at + word.len()..].trim_start_matches(' ').starts_with(['<', '['])))
    });
    Ok(options.collect())
}

impl Case {
    /// The case of this number.
    pub fn make(part: &'static str, seed: u64, number: u64, material: &Material) -> Case {
        let mut random = Random::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number));
        let random = &mut random;
        let mut case = Case {
            name: format!("{part}-{seed}-{number}"),
            part,
            files: vec![],
            arguments: vec![],
            by_grammar: random.below(3) != 0,
            may_take_long: matches!(part, "runs" | "problems" | "commands" | "studies"),
        };
        match part {
            "models" => case.model(&material.models, random),
            "bodies" => case.model(&material.bodies, random),
            "runs" => case.run(material, random),
            "robots" => case.robot(material, random),
            "problems" => case.problem(material, random),
            "meshes" => case.mesh(material, random),
            "studies" => case.study(material, random),
            _ => case.command(material, random),
        }
        case
    }

    /// One to three changes of a text.
    fn change(&self, text: &str, donors: &[&str], own: &[&str], random: &mut Random) -> String {
        let mut text = text.to_owned();
        for _ in 0..1 + random.below(4) / 2 {
            text = match self.by_grammar {
                true => vary(&text, donors, random).0,
                false => mutate(&text, random.below(usize::MAX), &Mutation::any(own, random)),
            };
        }
        text
    }

    fn model(&mut self, models: &[String], random: &mut Random) {
        let text = self.changed_model(models, random);
        self.files.push(("model.toml".into(), text.into_bytes()));
        self.words(&["check", "model.toml"]);
    }

    fn changed_model(&self, models: &[String], random: &mut Random) -> String {
        let donors: Vec<&str> = (0..3).map(|_| models[random.below(models.len())].as_str()).collect();
        self.change(&random.pick(models), &donors, &["[[contact]]\n", "\"x\"", "1e300", "{ }", "[model]\n"], random)
    }

    fn words(&mut self, words: &[&str]) {
        self.arguments.extend(words.iter().map(|word| word.to_string()));
    }

    fn run(&mut self, material: &Material, random: &mut Random) {
        let models = if random.below(2) == 0 { &material.models } else { &material.bodies };
        let text = short(&self.changed_model(models, random), random);
        self.files.push(("model.toml".into(), text.into_bytes()));
        self.words(&["run", "model.toml", "--csv", "--no-report", "--quiet", "--out", "out"]);
        if random.below(6) == 0 {
            self.words(&["--scheme", random.pick(SCHEMES)]);
        }
    }

    fn robot(&mut self, material: &Material, random: &mut Random) {
        let (name, text) = random.pick(&material.robots).clone();
        let donors: Vec<&str> = material.robots.iter().map(|(_, text)| text.as_str()).collect();
        let text = self.change(&text, &donors, ROBOTS, random);
        self.files.push((name.clone(), text.into_bytes()));
        self.words(&["import", &name, "-o", "model.toml"]);
    }

    fn problem(&mut self, material: &Material, random: &mut Random) {
        let (name, bytes) = random.pick(&material.problems).clone();
        let bytes = match std::str::from_utf8(&bytes) {
            Ok(text) => self.change(text, &[text], &[" 1", " -1", " 1e999", " x"], random).into_bytes(),
            Err(_) => damage(&bytes, random),
        };
        self.files.push((name.clone(), bytes));
        self.words(&["solve", &name, "--out", "out"]);
        if random.below(2) == 0 {
            self.words(&["--solver", random.pick(SOLVERS)]);
        }
    }

    fn mesh(&mut self, material: &Material, random: &mut Random) {
        let (name, bytes) = random.pick(&material.meshes).clone();
        let bytes = match std::str::from_utf8(&bytes) {
            Ok(text) => self.change(text, &[text], &["f 1 2 3\n", "v 0 0 0\n", "vertex", "\"uri\":"], random).into(),
            Err(_) => damage(&bytes, random),
        };
        let model = MESH_MODEL.replace("FILE", &name);
        self.files = vec![("model.toml".into(), model.into_bytes()), (name, bytes)];
        self.words(&["check", "model.toml"]);
    }

    fn study(&mut self, material: &Material, random: &mut Random) {
        let model = random.pick(STUDIED);
        let all = ["sweep", "bifurcation", "lyapunov", "orbit", "basin", "equilibrium", "converge"];
        let study = random.pick(&all);
        self.words(&[study, model.0, "--quiet", "--out", "out", "--threads", "1"]);
        let (parameter, column) = (model.1, model.2);
        let range = |name: &str, random: &mut Random| {
            let [first, last] = [(); 2].map(|()| random.pick(VALUES).to_string());
            format!("{name}={first}:{last}:{}", random.pick(&["2", "3", "1", "0", "-1", "5", "1e3"]))
        };
        match study {
            "sweep" => self.words(&["--end", "2", "--vary", &range(parameter, random)]),
            "bifurcation" => {
                self.words(&["--parameter", &range(parameter, random), "--periods", "3", "--transient", "3"]);
            }
            "lyapunov" => self.words(&["--intervals", "20", "--transient", "3", "--batches", "4"]),
            "basin" => {
                let rate = format!("{column}'");
                let (x, y) = (range(column, random), range(&rate, random));
                self.words(&["--x", &x, "--y", &y, "--transient", "3"]);
            }
            "converge" => self.words(&["--end", "0.5", "--steps", random.pick(&["0.1:1e-2", "0.1:0.01:2", "1:2"])]),
            _ => {}
        }
        for _ in 0..random.below(6) / 3 {
            self.option(study, material, random);
        }
        if random.below(2) == 0 {
            let set = format!("{parameter}={}", random.pick(VALUES));
            self.words(&["--set", &set]);
        }
    }

    fn command(&mut self, material: &Material, random: &mut Random) {
        let name = random.pick(&material.commands).0.clone();
        self.words(&[&name]);
        // most commands want a file, a name or a word
        let fitting = OPERAND_OF.iter().find(|(known, _)| *known == name).map_or("bouncing-ball", |(_, word)| word);
        match random.below(4) {
            0 => (0..random.below(3)).for_each(|_| self.words(&[random.pick(OPERANDS)])),
            _ => fitting.split(' ').filter(|word| !word.is_empty()).for_each(|word| self.words(&[word])),
        }
        for _ in 0..random.below(4) {
            self.option(&name, material, random);
        }
        if matches!(name.as_str(), "run") {
            self.words(&["--end", "0.05", "--quiet"]);
        }
        let model = random.pick(&material.models).clone();
        self.files.push(("model.toml".into(), short(&model, random).into_bytes()));
        if let Some((name, bytes)) = material.problems.first() {
            self.files.push((name.clone(), bytes.clone()));
        }
    }

    /// An option that the command has, with a value that may fit.
    fn option(&mut self, command: &str, material: &Material, random: &mut Random) {
        let known = material.commands.iter().find(|(name, _)| name == command);
        let Some((option, value)) = known.filter(|(_, all)| !all.is_empty()).map(|(_, all)| random.pick(all)) else {
            return;
        };
        self.words(&[&option]);
        if value && random.below(20) != 0 {
            let any = if random.below(2) == 0 { VALUES } else { WORDS };
            let value = match option.as_str() {
                "--scheme" => random.pick(SCHEMES),
                "--solver" => random.pick(SOLVERS),
                "--out" | "--figures" | "--output" | "--dump-problems" => {
                    random.pick(&["out", "new/deep", "model.toml"])
                }
                _ => random.pick(any),
            };
            self.words(&[value]);
        }
    }
}

/// A table `[simulation]` ends soon and has few steps; an inline one stays as it is.
fn short(text: &str, random: &mut Random) -> String {
    let steps = random.pick(&["30", "100", "200"]);
    let (mut lines, mut inside) = (Vec::new(), false);
    for line in text.lines() {
        if line.starts_with('[') {
            inside = line.starts_with("[simulation]");
        }
        let key = line.split_once('=').map(|(key, _)| key.trim());
        if !inside || !matches!(key, Some("end" | "step" | "steps")) {
            lines.push(line.to_owned());
        }
        if line.starts_with("[simulation]") {
            lines.push(format!("end = 0.2\nsteps = {steps}"));
        }
    }
    lines.join("\n") + "\n"
}
