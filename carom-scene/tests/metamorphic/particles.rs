//! Particles in a plane between walls with friction and restitution, on springs, pulled and shaken: model files of
//! equations.

use super::{SCHEMES, between, distance, end, shuffled};
use carom_mutations::Random;
use std::fmt::Write;

type Vector = [f64; 2];

struct Wall {
    normal: Vector,
    offset: f64,
    restitution: f64,
    friction: f64,
}

/// Particles with masses, places, velocities; springs between neighbours; walls for all; a shaking force on the first.
struct Particles {
    masses: Vec<f64>,
    places: Vec<Vector>,
    velocities: Vec<Vector>,
    stiffness: f64,
    damping: f64,
    pull: Vector,
    shake: (Vector, f64),
    walls: Vec<Wall>,
}

impl Particles {
    fn random(random: &mut Random) -> Particles {
        let n = 1 + random.below(3);
        let mut draw = |low, high| between(low, high, random);
        let masses = (0..n).map(|_| draw(0.5, 2.0)).collect();
        let places = (0..n).map(|i| [i as f64 + draw(-0.2, 0.2), draw(0.3, 1.0)]).collect();
        let velocities = (0..n).map(|_| [draw(-1.0, 1.0), draw(-1.0, 1.0)]).collect();
        let mut wall =
            |normal: Vector, offset| Wall { normal, offset, restitution: draw(0.0, 0.9), friction: draw(0.0, 0.6) };
        let walls = vec![wall([0.0, 1.0], 0.0), wall([1.0, 0.0], 0.75), wall([-0.8, 0.6], 3.0)];
        Particles {
            masses,
            places,
            velocities,
            stiffness: draw(1.0, 40.0),
            damping: draw(0.0, 1.0),
            pull: [draw(-1.0, 1.0), -9.75],
            shake: ([draw(-3.0, 3.0), draw(-3.0, 3.0)], draw(3.0, 20.0)),
            walls,
        }
    }

    /// All vectors by a linear map.
    fn mapped(&self, map: impl Fn(Vector) -> Vector) -> Particles {
        Particles {
            masses: self.masses.clone(),
            places: self.places.iter().map(|x| map(*x)).collect(),
            velocities: self.velocities.iter().map(|x| map(*x)).collect(),
            pull: map(self.pull),
            shake: (map(self.shake.0), self.shake.1),
            walls: self.walls.iter().map(|wall| Wall { normal: map(wall.normal), ..*wall }).collect(),
            ..*self
        }
    }

    /// The model file: in this order of particles and walls, with these first letters of names, from this time on.
    fn file(&self, order: (&[usize], &[usize]), word: &str, [start, time]: [f64; 2], simulation: &str) -> String {
        let name = |axis: usize, i: usize| format!("{}{word}{i}", ["x", "y"][axis]);
        let coordinates: Vec<String> =
            order.0.iter().flat_map(|&i| [0, 1].map(|axis| format!("\"{}\"", name(axis, i)))).collect();
        let (mut kinetic, mut potential, mut rest) = (vec![], vec![], String::new());
        for &i in order.0 {
            let ([x, y], m) = ([name(0, i), name(1, i)], self.masses[i]);
            kinetic.push(format!("{m:?}/2*({x}'^2 + {y}'^2)"));
            potential.push(format!("-{m:?}*(({:?})*{x} + ({:?})*{y})", self.pull[0], self.pull[1]));
            for axis in [0, 1] {
                let x = name(axis, i);
                let shake = if i == 0 { self.shake.0[axis] } else { 0.0 };
                let (omega, damping) = (self.shake.1, self.damping);
                writeln!(rest, "force.{x} = \"({shake:?})*sin({omega:?}*(t - ({start:?}))) - {damping:?}*{x}'\"")
                    .unwrap();
            }
        }
        for i in 1..self.masses.len() {
            let [a, b] = [i - 1, i].map(|i| [name(0, i), name(1, i)]);
            let k = self.stiffness;
            potential.push(format!("{k:?}/2*(sqrt(({} - {})^2 + ({} - {})^2) - 1)^2", a[0], b[0], a[1], b[1]));
        }
        for &w in order.1 {
            let Wall { normal: [a, b], offset, restitution, friction } = self.walls[w];
            for &i in order.0 {
                let [x, y] = [name(0, i), name(1, i)];
                write!(
                    rest,
                    "[[contact]]\nname = \"{word}wall{w}of{i}\"\ngap = \"({a:?})*{x} + ({b:?})*{y} + {offset:?}\"\n\
                     restitution = {restitution:?}\nfriction = {friction:?}\nslip = \"({b:?})*{x} - ({a:?})*{y}\"\n"
                )
                .unwrap();
            }
        }
        rest.push_str("[initial]\n");
        for &i in order.0 {
            for axis in [0, 1] {
                let (x, q, v) = (name(axis, i), self.places[i][axis], self.velocities[i][axis]);
                writeln!(rest, "{x} = {q:?}\n\"{x}'\" = {v:?}").unwrap();
            }
        }
        format!(
            "version = 1\nname = \"particles\"\n[model]\nkind = \"lagrangian\"\ncoordinates = [{}]\nkinetic = \"{}\"\n\
             potential = \"{}\"\n{rest}[simulation]\nstart = {start:?}\nend = {:?}\n{simulation}\n",
            coordinates.join(", "),
            kinetic.join(" + "),
            potential.join(" + "),
            start + time
        )
    }

    /// Places and velocities at the end, in the order of the particles.
    fn run(&self, order: (&[usize], &[usize]), word: &str, start: f64, simulation: &str) -> (Vec<Vector>, Vec<Vector>) {
        let state = end(&self.file(order, word, [start, TIME], simulation));
        let mut at = (vec![[0.0; 2]; self.masses.len()], vec![[0.0; 2]; self.masses.len()]);
        for (k, &i) in order.0.iter().enumerate() {
            at.0[i] = [state.q[2 * k], state.q[2 * k + 1]];
            at.1[i] = [state.v[2 * k], state.v[2 * k + 1]];
        }
        at
    }

    fn plain(&self, simulation: &str) -> (Vec<Vector>, Vec<Vector>) {
        let all: Vec<usize> = (0..self.masses.len()).collect();
        self.run((&all, &[0, 1, 2]), "p", 0.0, simulation)
    }
}

/// Long enough for a fall and a few impacts.
const TIME: f64 = 0.75;

fn simulation(scheme: &str) -> String {
    format!("step = {}\nscheme = \"{scheme}\"", 1.0 / 512.0)
}

fn flat(all: &(Vec<Vector>, Vec<Vector>)) -> Vec<f64> {
    [all.0.concat(), all.1.concat()].concat()
}

/// What rounding may do in some hundred steps with impacts.
const ROUNDING: f64 = 1e-6;

#[test]
fn mirrored_and_rotated() {
    for case in 0..30 {
        let random = &mut Random::new(case);
        let model = Particles::random(random);
        let (sine, cosine) = between(-3.0, 3.0, random).sin_cos();
        let maps: [&dyn Fn(Vector) -> Vector; 2] =
            [&|[x, y]| [-x, y], &|[x, y]| [cosine * x - sine * y, sine * x + cosine * y]];
        let with = simulation(SCHEMES[case as usize % SCHEMES.len()]);
        let expected = model.plain(&with);
        for (which, map) in maps.iter().enumerate() {
            let found = model.mapped(map).plain(&with);
            let expected = (expected.0.iter().map(|x| map(*x)).collect(), expected.1.iter().map(|x| map(*x)).collect());
            let apart = distance(&flat(&expected), &flat(&found));
            assert!(apart < ROUNDING, "case {case}, map {which}: {apart:e}, {with}");
        }
    }
}

#[test]
fn renamed_and_reordered() {
    for case in 100..130 {
        let random = &mut Random::new(case);
        let model = Particles::random(random);
        let (bodies, walls) = (shuffled(model.masses.len(), random), shuffled(3, random));
        let with = simulation(SCHEMES[case as usize % SCHEMES.len()]);
        let (expected, found) = (model.plain(&with), model.run((&bodies, &walls), "other", 0.0, &with));
        let apart = distance(&flat(&expected), &flat(&found));
        assert!(apart < ROUNDING, "case {case}: {apart:e}, {bodies:?} {walls:?}, {with}");
    }
}

#[test]
fn at_another_time() {
    for case in 200..230 {
        let random = &mut Random::new(case);
        let model = Particles::random(random);
        let all: Vec<usize> = (0..model.masses.len()).collect();
        let with = simulation(SCHEMES[case as usize % SCHEMES.len()]);
        let found = model.run((&all, &[0, 1, 2]), "p", between(-40.0, 40.0, random), &with);
        let apart = distance(&flat(&model.plain(&with)), &flat(&found));
        assert!(apart < ROUNDING, "case {case}: {apart:e}, {with}");
    }
}

/// Lengths 2^k, masses 2^l and times 2^m times as large are exact numbers: motions are equal up to tolerances.
#[test]
fn in_other_units() {
    for case in 300..330 {
        let random = &mut Random::new(case);
        let model = Particles::random(random);
        let [length, mass, time] = [(); 3].map(|()| 2f64.powi(2 * (random.below(11) as i32 - 5)));
        let scale = |x: Vector, by: f64| x.map(|x| x * by);
        let (speed, force) = (length / time, mass * length / time / time);
        let scaled = Particles {
            masses: model.masses.iter().map(|m| m * mass).collect(),
            places: model.places.iter().map(|x| scale(*x, length)).collect(),
            velocities: model.velocities.iter().map(|x| scale(*x, speed)).collect(),
            stiffness: model.stiffness * force / length,
            damping: model.damping * force / speed,
            pull: scale(model.pull, length / time / time),
            shake: (scale(model.shake.0, force), model.shake.1 / time),
            walls: model.walls.iter().map(|wall| Wall { offset: wall.offset * length, ..*wall }).collect(),
        };
        let scheme = SCHEMES[case as usize % SCHEMES.len()];
        let all: Vec<usize> = (0..model.masses.len()).collect();
        let with = format!("step = {:?}\nscheme = \"{scheme}\"", time / 512.0);
        let text = scaled.file((&all, &[0, 1, 2]), "p", [0.0, TIME * time], &with);
        // the rest length of the springs is one metre
        let text = text.replace(" - 1)^2", &format!(" - {length:?})^2"));
        let state = end(&text);
        let found =
            [state.q.iter().map(|x| x / length).collect::<Vec<_>>(), state.v.iter().map(|v| v / speed).collect()];
        let apart = distance(&flat(&model.plain(&simulation(scheme))), &found.concat());
        assert!(apart < ROUNDING, "case {case}: {apart:e}, {length} {mass} {time}, {scheme}");
    }
}

/// All schemes against event-driven integration: without friction and chattering, at times that no impact is near, the
/// places differ by a few steps' worth, and by less with smaller steps.
#[test]
fn schemes_agree_as_steps_shrink() {
    let (mut coarse, mut fine) = (vec![vec![]; SCHEMES.len()], vec![vec![]; SCHEMES.len()]);
    for case in 500..512 {
        let mut model = Particles::random(&mut Random::new(case));
        model.walls.iter_mut().for_each(|wall| wall.friction = 0.0);
        model.walls.iter_mut().for_each(|wall| wall.restitution = 0.5 + 0.5 * wall.restitution);
        let exact = model.plain("step = 1e-3\nscheme = \"event-driven\"").0.concat();
        for (which, scheme) in SCHEMES.iter().enumerate() {
            for (all, h) in [(&mut coarse, 1.0 / 256.0), (&mut fine, 1.0 / 4096.0)] {
                let found = model.plain(&format!("step = {h}\nscheme = \"{scheme}\"")).0.concat();
                all[which].push(distance(&exact, &found));
            }
        }
    }
    for (which, scheme) in SCHEMES.iter().enumerate() {
        let median = |all: &[Vec<f64>]| {
            let mut sorted = all[which].clone();
            sorted.sort_by(f64::total_cmp);
            sorted[sorted.len() / 2]
        };
        let (coarse, fine) = (median(&coarse), median(&fine));
        println!("{scheme}: {coarse:.1e} with 1/256 s, {fine:.1e} with 1/4096 s");
        assert!(fine < 2e-3 && (fine < 0.2 * coarse || coarse < 1e-6), "{scheme}: {coarse:e} {fine:e}");
    }
}
