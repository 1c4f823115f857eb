//! One spatial contact alone, a million times: symmetric blocks of condition up to 1e16 in any units, slightly
//! asymmetric ones, coefficients of friction from zero to ten, reactions at the apex of the cone and at its edge,
//! guesses that slip the other way. Every one is solved, as judged by a residual of this file's own.

use carom_solve::{Identity, Law, OneStepProblem, Parts, ProblemWork, Reaction, Rows, StoredProblem, solver};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::json;

type Vector = [f64; 3];
type Block = [Vector; 3];

/// Contacts in all.
const CONTACTS: usize = 1_000_000;

/// What a solver claims by default.
const TOLERANCE: f64 = 1e-10;

fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

fn norm(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

fn mul(a: &Block, x: Vector) -> Vector {
    a.map(|row| dot(row, x))
}

fn random(rng: &mut Pcg64) -> Vector {
    std::array::from_fn(|_| rng.random_range(-1.0..1.0))
}

/// Orthonormal rows, by Gram and Schmidt, twice.
fn frame(rng: &mut Pcg64) -> Block {
    let mut q = [[0.0; 3]; 3];
    for k in 0..3 {
        while norm(q[k]) < 0.5 {
            let mut v = random(rng);
            for _ in 0..2 {
                for i in 0..k {
                    let along = dot(v, q[i]);
                    v = std::array::from_fn(|j| v[j] - along * q[i][j]);
                }
            }
            let size = norm(v);
            if size > 0.1 {
                q[k] = v.map(|x| x / size);
            }
        }
    }
    q
}

/// One contact and a guess.
struct Contact {
    decades: f64, // of the condition number
    a: Block,
    mu: f64,
    b: Vector,
    guess: Vector,
}

impl Contact {
    fn random(k: usize, rng: &mut Pcg64) -> Contact {
        let (a, inertia, decades) = block(k, rng);
        let mu = friction(k / 8, rng);
        let side: f64 = rng.random_range(0.0..std::f64::consts::TAU);
        let (s, c) = side.sin_cos();
        let normal = 10f64.powf(rng.random_range(-2.0..0.0)) / inertia;
        // from a reaction at the edge of the cone, a little inside or outside
        let edge = |miss: f64| mul(&a, [normal, mu * normal * (1.0 + miss) * c, mu * normal * (1.0 + miss) * s]);
        let tiny = 10f64.powf(rng.random_range(-16.0..-4.0));
        let mut b = match k / 64 % 8 {
            0..4 => random(rng),
            4 => edge(0.0).map(|x| -x),
            5 => edge(if k.is_multiple_of(2) { tiny } else { -tiny }).map(|x| -x),
            // apex: hardly any approach, or none at all
            6 => [-tiny, c, s],
            _ => [[0.0, c, s], [-tiny, 0.0, 0.0], [-1.0, tiny * c, tiny * s], [0.0; 3]][k / 512 % 4],
        };
        let speed = 10f64.powf(rng.random_range(-6.0..6.0));
        b = b.map(|x| speed * x);
        let size = norm(b) / inertia;
        let guess = match k / 3 % 4 {
            0 => [0.0; 3],
            // slip in the direction of the velocity: the contrary of what friction does
            1 => [size, mu * size * c * b[1].signum(), mu * size * s.abs() * b[2].signum()],
            2 => random(rng).map(|x| 1e3 * size * x),
            _ => random(rng).map(|x| size * x),
        };
        Contact { decades, a, mu, b, guess }
    }

    /// ‖F'‖ / max(‖b'‖, ‖r'‖, ‖u'‖) in the variables r' = √w r, u' = u/√w, b' = b/√w with w = tr A/3.
    fn residual(&self, r: Vector) -> f64 {
        let root = ((self.a[0][0] + self.a[1][1] + self.a[2][2]) / 3.0).sqrt();
        let au = mul(&self.a, r);
        let b = self.b.map(|x| x / root);
        let u: Vector = std::array::from_fn(|i| au[i] / root + b[i]);
        let r = r.map(|x| x * root);
        let slip = (u[1] * u[1] + u[2] * u[2]).sqrt();
        let x = [r[0] - u[0] - self.mu * slip, r[1] - u[1], r[2] - u[2]];
        let p = nearest(self.mu, x);
        let missed = norm([r[0] - p[0], r[1] - p[1], r[2] - p[2]]);
        let size = norm(b).max(norm(r)).max(norm(u));
        let residual = if size > 0.0 { missed / size } else { missed };
        // `max` forgets what is not a number
        if (norm(r) + norm(u) + residual).is_finite() { residual } else { f64::INFINITY }
    }
}

/// The nearest point of the cone: inside, the apex, or a point of the ray (1, μ d).
fn nearest(mu: f64, x: Vector) -> Vector {
    let size = (x[1] * x[1] + x[2] * x[2]).sqrt();
    if x[0] >= 0.0 && size <= mu * x[0] {
        return x;
    }
    if size == 0.0 {
        return [0.0; 3];
    }
    let ray = [1.0, mu * x[1] / size, mu * x[2] / size];
    let along = (dot(x, ray) / (1.0 + mu * mu)).max(0.0);
    ray.map(|a| a * along)
}

/// A block, the mean of its diagonal, and the decades of its condition number.
fn block(k: usize, rng: &mut Pcg64) -> (Block, f64, f64) {
    let decades = match k % 8 {
        0 => 0.0,
        1 | 2 => rng.random_range(0.0..4.0),
        3 => 16.0,
        _ => rng.random_range(0.0..16.0),
    };
    let middle = rng.random_range(0.0..1.0) * decades;
    let eigenvalue = [1.0, 10f64.powf(-middle), 10f64.powf(-decades)];
    let q = frame(rng);
    let unit = 10f64.powf(rng.random_range(-8.0..8.0));
    // asymmetric by a thousandth of its smallest mode: what is not symmetric stays below what is
    let skew = if k % 8 >= 6 { 1e-3 * eigenvalue[2] } else { 0.0 };
    let turn = random(rng).map(|x| skew * x);
    let cross = [[0.0, -turn[2], turn[1]], [turn[2], 0.0, -turn[0]], [-turn[1], turn[0], 0.0]];
    let mut a = [[0.0; 3]; 3];
    for i in 0..3 {
        for j in 0..3 {
            // the same sum on both sides of the diagonal
            let (low, high) = (i.min(j), i.max(j));
            let symmetric: f64 = (0..3).map(|m| eigenvalue[m] * q[m][low] * q[m][high]).sum();
            a[i][j] = unit * (symmetric + cross[i][j]);
        }
    }
    (a, (a[0][0] + a[1][1] + a[2][2]) / 3.0, decades)
}

fn friction(k: usize, rng: &mut Pcg64) -> f64 {
    match k % 8 {
        0..3 => rng.random_range(0.0..10.0),
        3 => rng.random_range(0.0..1.0),
        4 => 0.0,
        5 => 10f64.powf(rng.random_range(-12.0..-3.0)),
        6 => 10f64.powf(rng.random_range(-3.0..1.0)),
        _ => 10.0,
    }
}

/// Solves the contacts of one share; a line for each that failed, and the worst residual.
fn share(first: usize, step: usize) -> (Vec<String>, f64) {
    let mut solver = (solver::find("auto").unwrap().build)(&json!({})).unwrap();
    let (mut work, mut z) = (ProblemWork::default(), Reaction::default());
    let (mut w, mut none) = (Rows::new(3), Rows::new(0));
    (0..3).for_each(|_| none.push_sparse([]));
    let (mut failed, mut worst) = (Vec::new(), 0.0f64);
    for k in (first..CONTACTS).step_by(step) {
        let contact = Contact::random(k, &mut Pcg64::seed_from_u64(k as u64));
        w.clear(3);
        contact.a.iter().for_each(|row| w.push_dense(row));
        let laws = [Law::coulomb(contact.mu, 2)];
        let parts =
            Parts { lhs: &Identity(0), output: &none, input: &none, feedthrough: Some(&w), b: &contact.b, laws: &laws };
        z.lambda.clear();
        z.lambda.extend(contact.guess);
        let result = solver.solve(&OneStepProblem::new(parts, &mut work), &mut z);
        let residual = match z.lambda[..] {
            [x, y, z] => contact.residual([x, y, z]),
            _ => f64::INFINITY,
        };
        worst = worst.max(residual);
        // the last digits may differ between two ways to sum
        if result.is_err() || residual > 1.001 * TOLERANCE {
            let Contact { decades, a, mu, b, guess } = contact;
            let error = result.map_or_else(|error| error.to_string(), |_| "claimed to be solved".into());
            failed.push(format!(
                "{k}: {residual:.1e} condition 1e{decades:.1} mu {mu:e} a {a:?} b {b:?} from {guess:?}: {error}"
            ));
        }
    }
    (failed, worst)
}

#[test]
fn a_million_contacts_are_solved() {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let shares: Vec<(Vec<String>, f64)> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|first| scope.spawn(move || share(first, threads))).collect();
        handles.into_iter().map(|handle| handle.join().unwrap()).collect()
    });
    let worst = shares.iter().map(|share| share.1).fold(0.0, f64::max);
    let failed: Vec<String> = shares.into_iter().flat_map(|share| share.0).collect();
    println!("{CONTACTS} contacts, largest residual {worst:.1e}");
    let lines = failed.iter().take(40).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(failed.is_empty(), "{} of {CONTACTS} failed:\n{lines}", failed.len());
}

/// A block that is singular as its numbers stand, pressed where it does not yield: there is no solution, and none is
/// claimed.
#[test]
fn contacts_without_solution_are_refused() {
    let blocks: [(Block, f64); 3] = [
        // no inertia along the normal
        ([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 0.5),
        // u_N = r_N + r_1 − 1 = u_1 − 1 for all r: neither stick, nor slip with r_1 = −2 r_N, nor take-off
        ([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]], 2.0),
        // no inertia at all
        ([[0.0; 3]; 3], 1.0),
    ];
    for (a, mu) in blocks {
        let w = Rows::dense(3, &a.concat());
        let problem = StoredProblem::reduced("jam", w, vec![-1.0, 0.0, 0.0], vec![Law::coulomb(mu, 2)]).unwrap();
        for guess in [vec![], vec![1.0, -1.0, 0.0], vec![1e15, -1e15, 0.0]] {
            let mut z = Reaction { lambda: guess, ..Reaction::default() };
            let result = problem.solve(&mut *solver::default(), &mut z);
            assert!(result.is_err(), "{a:?}: {:?}", z.lambda);
            assert!(z.lambda.len() == 3 && z.lambda.iter().all(|x| x.is_finite()), "{:?}", z.lambda);
        }
    }
}

/// The residual of this file at points that are known by hand: the unit block with b = (−2, 3, 4) slips for μ < 5/2.
#[test]
fn the_residual_is_zero_at_solutions_only() {
    let a = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let contact = |mu| Contact { decades: 0.0, a, mu, b: [-2.0, 3.0, 4.0], guess: [0.0; 3] };
    assert!(contact(0.5).residual([2.0, -0.6, -0.8]) < 1e-15);
    assert!(contact(0.0).residual([2.0, 0.0, 0.0]) < 1e-15);
    assert!(contact(3.0).residual([2.0, -3.0, -4.0]) < 1e-15);
    for wrong in [[2.0, 0.6, 0.8], [2.0, -0.3, -0.4], [2.0, 0.0, 0.0], [0.0; 3], [2.1, -0.63, -0.84]] {
        assert!(contact(0.5).residual(wrong) > 1e-2, "{wrong:?}");
    }
    assert_eq!(contact(0.5).residual([f64::NAN, 0.0, 0.0]), f64::INFINITY);
}
