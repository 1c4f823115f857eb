//! Impact lists hold impacts, not the rounding of impulses.

use carom::model::{Contact, Lagrangian};
use carom::scheme::{EventDriven, HigherOrder, MoreauJean, Registered};
use carom::simulation::{Impact, Span, simulate};

/// Masses in a row that stick together when they meet (e = 0), without forces.
struct Row {
    masses: Vec<f64>,
    places: Vec<f64>,
    speeds: Vec<f64>,
}

impl Row {
    /// `scale` multiplies lengths and speeds.
    fn new(count: usize, scale: f64) -> Row {
        // a fixed sequence without pattern
        let mut seed = 7u64;
        let mut number = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        Row {
            masses: (0..count).map(|_| 0.5 + 1.5 * number()).collect(),
            places: (0..count).map(|k| scale * (k as f64 + 0.3 * number())).collect(),
            speeds: (0..count).map(|_| scale * (2.0 * number() - 1.0)).collect(),
        }
    }

    fn model(&self) -> Lagrangian {
        let n = self.masses.len();
        let mut mass = vec![0.0; n * n];
        self.masses.iter().enumerate().for_each(|(i, m)| mass[i * n + i] = *m);
        let mut model = Lagrangian::new(n)
            .constant_mass(&mass)
            .force(|_, _, _, f| f.fill(0.0))
            .tangents(|_, _, _, k, c| {
                k.fill(0.0);
                c.fill(0.0);
            })
            .potential(|_| 0.0);
        for k in 1..n {
            let contact = Contact::new(&format!("c{k}"), move |_, q| q[k] - q[k - 1]).gradient(move |_, _, row| {
                row.fill(0.0);
                (row[k], row[k - 1]) = (1.0, -1.0);
            });
            model = model.contact(contact);
        }
        model.initial(&self.places, &self.speeds).linear()
    }

    /// Meetings up to `end`, event by event: groups move with their common momentum.
    fn meetings(&self, end: f64) -> usize {
        let mut groups: Vec<(f64, f64, f64)> =
            (0..self.masses.len()).map(|i| (self.masses[i], self.places[i], self.speeds[i])).collect();
        let (mut t, mut count) = (0.0, 0);
        loop {
            let wait = |k: usize| {
                let (a, b) = (groups[k], groups[k + 1]);
                if a.2 > b.2 { (b.1 - a.1) / (a.2 - b.2) } else { f64::INFINITY }
            };
            let Some(k) = (0..groups.len() - 1).min_by(|a, b| wait(*a).total_cmp(&wait(*b))) else { break };
            let next = wait(k);
            if t + next > end {
                break;
            }
            t += next;
            groups.iter_mut().for_each(|g| g.1 += next * g.2);
            let (a, b) = (groups[k], groups.remove(k + 1));
            groups[k] = (a.0 + b.0, b.1, (a.0 * a.2 + b.0 * b.2) / (a.0 + b.0));
            count += 1;
        }
        count
    }
}

fn impacts<S: Registered>(row: &Row, scheme: S, end: f64) -> Vec<Impact> {
    simulate(row.model(), scheme, Span { end, step: 5e-3 }).unwrap().impacts
}

/// Meetings change momenta; beside them nothing is an impact, whatever the unit of length.
#[test]
fn masses_that_stick_together_meet_once() {
    let end = 2.0;
    for scale in [1.0, 1e-9, 1e9] {
        let row = Row::new(12, scale);
        let expected = row.meetings(end);
        assert!(expected >= 4, "{expected}");
        let lists = [
            ("moreau-jean", impacts(&row, MoreauJean::default(), end)),
            ("higher-order", impacts(&row, HigherOrder::default(), end)),
            ("event-driven", impacts(&row, EventDriven::default(), end)),
        ];
        for (name, list) in lists.iter().filter(|(name, _)| scale == 1.0 || *name == "moreau-jean") {
            let large = list.iter().filter(|impact| impact.impulse[0] > 1e-9 * scale).count();
            assert_eq!(list.len(), large, "{name}, scale {scale}: impacts of rounding are listed");
            assert!(large >= expected, "{name}, scale {scale}: {large} impacts, {expected} meetings");
        }
    }
}

/// A light ball beside a heavy one: its impacts are small, and no rounding.
#[test]
fn small_impacts_of_light_bodies_stay() {
    let model = Lagrangian::new(2)
        .constant_mass(&[1e12, 0.0, 0.0, 1e-9])
        .force(|_, _, _, f| (f[0], f[1]) = (-9.81e12, -9.81e-9))
        .tangents(|_, _, _, k, c| {
            k.fill(0.0);
            c.fill(0.0);
        })
        .potential(|q| 9.81e12 * q[0] + 9.81e-9 * q[1])
        .contact(Contact::new("heavy", |_, q| q[0]).gradient(|_, _, row| row.copy_from_slice(&[1.0, 0.0])))
        .contact(
            Contact::new("light", |_, q| q[1]).gradient(|_, _, row| row.copy_from_slice(&[0.0, 1.0])).restitution(0.5),
        )
        .initial(&[0.0, 0.1], &[0.0, 0.0])
        .linear();
    let solution = simulate(model, MoreauJean::default(), Span { end: 0.3, step: 1e-3 }).unwrap();
    let light: Vec<&Impact> = solution.impacts.iter().filter(|impact| impact.contact == "light").collect();
    // falls for sqrt(2 · 0.1/9.81) = 0.1428 s; the next impact is as much later
    assert_eq!(light.len(), 2, "{:?}, ends at {:?}", solution.impacts, solution.q(solution.len() - 1));
    assert!((light[0].t - 0.1428).abs() < 2e-3 && (light[1].t - 0.2856).abs() < 4e-3, "{light:?}");
}
