use super::*;
use crate::testbed::BouncingBall;
use crate::{Key, Pair};
use carom_solve::Law;

/// A law of one row at a gap, with velocities before and after and an impulse.
fn reactions(before: f64, after: f64, impulse: f64) -> Reactions {
    let mut coupling = Coupling::default();
    coupling.clear(1);
    coupling.push(Pair { key: Key(7), law: Law::UNILATERAL, gap: 0.0, restitution: 0.5 });
    coupling.rows.push_dense(&[1.0]);
    coupling.drift.push(0.0);
    Reactions {
        coupling,
        before: vec![before],
        after: vec![after],
        obstacle: vec![0.0],
        impulse: vec![impulse],
        ..Reactions::default()
    }
}

fn together(first: &Reactions, second: &Reactions) -> Reactions {
    let mut both = Reactions::default();
    both.copy_from(first);
    both.append(second);
    both
}

#[test]
fn reactions_of_halves_keep_impulse_work_and_the_impact_law() {
    // an impact in the first half, then free flight; and the other way round
    let (impact, flight) = (reactions(-2.0, 1.0, 3.0), reactions(1.0, 1.0, 0.0));
    for both in [together(&impact, &flight), together(&reactions(-2.0, -2.0, 0.0), &impact)] {
        assert_eq!((both.before[0], both.after[0], both.impulse[0]), (-2.0, 1.0, 3.0));
        assert_eq!(both.work(0), -1.5);
    }
    // an impact, then a second one that is weaker: the work is that of both
    let both = together(&impact, &reactions(-0.5, 0.25, 0.75));
    assert_eq!((both.before[0], both.after[0], both.impulse[0]), (-2.0, 0.25, 3.75));
    assert_eq!(both.work(0), 3.0 * -0.5 + 0.75 * -0.125);
    assert_eq!(both.key(0), Key(7));
}

#[test]
fn a_doubled_step_is_two_half_steps() {
    use super::super::{Bound, MoreauJean, Stepper};
    let accuracy = Accuracy { tolerance: Some(1e-6), relative: 0.0, estimator: Estimator::default(), smallest: None };
    let solver = carom_solve::solver::default;
    let ball = || Box::new(BouncingBall::default().model());
    let mut plain = Bound::new(MoreauJean::default(), ball(), solver()).unwrap();
    let mut doubled = Bound::new(Doubled { base: MoreauJean::default(), accuracy }, ball(), solver()).unwrap();
    let h = 1.0 / 64.0;
    let mut impulses = (0.0, 0.0);
    for _ in 0..250 {
        let step = doubled.attempt(h).unwrap();
        impulses.0 += doubled.reactions().normal(0);
        doubled.accept();
        assert_eq!((step.iterations, step.evaluations, step.advanced), (3, 3, h));
        for _ in 0..2 {
            plain.attempt(0.5 * h).unwrap();
            impulses.1 += plain.reactions().normal(0);
            plain.accept();
        }
        assert_eq!(plain.from(), doubled.from());
    }
    assert!(impulses.1 > 3.0 && (impulses.0 - impulses.1).abs() < 1e-12, "{impulses:?}");
}
