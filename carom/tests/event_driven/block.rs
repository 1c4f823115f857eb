//! The rocking block: one corner sliding, and impacts of both corners down to rest.

use crate::run;
use carom::model::dual::{DualLagrangian, Functions, NamedLaw, Scalar};
use carom::scheme::EventDriven;
use carom::{EventKind, Key, State};
use carom_solve::Law;

const WIDTH: f64 = 1.0;
const HEIGHT: f64 = 1.5;
const G: f64 = 9.81;

/// A block of 1 kg over a plane, corners A and B.
#[derive(Clone, Copy)]
pub struct Block {
    pub restitution: f64,
}

impl Functions for Block {
    fn kinetic<D: Scalar>(&self, _t: D, _q: &[D], v: &[D]) -> D {
        let inertia = (HEIGHT * HEIGHT + WIDTH * WIDTH) / 12.0;
        (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] * inertia) * 0.5
    }
    fn potential<D: Scalar>(&self, _t: D, q: &[D]) -> D {
        q[1] * G
    }
    fn outputs<D: Scalar>(&self, _t: D, q: &[D], out: &mut [D]) {
        let (up, side) = (q[2].cos() * (0.5 * HEIGHT), q[2].sin() * (0.5 * WIDTH));
        out[0] = q[1] - up + side;
        out[1] = q[1] - up - side;
    }
    fn laws(&self) -> Vec<NamedLaw> {
        ["A", "B"].map(|name| NamedLaw::new(name, Law::UNILATERAL).restitution(self.restitution)).to_vec()
    }
}

pub fn block(restitution: f64, q: [f64; 3], v: [f64; 3]) -> DualLagrangian<Block> {
    DualLagrangian::new(Block { restitution }, State::new(0.0, &q, &v)).unwrap()
}

fn dropped(restitution: f64) -> DualLagrangian<Block> {
    block(restitution, [0.0, 1.0, 0.2], [0.0, 0.0, 0.2])
}

const A: Option<Key> = Some(Key(0));
const B: Option<Key> = Some(Key(1));

/// O13: the first impacts.
#[test]
fn impacts_of_both_corners() {
    let scheme = EventDriven { atol: Some(1e-12), rtol: 0.0, ..EventDriven::default() };
    let log = run(dropped(0.5), scheme, 0.65, 0.1);
    let expected = [
        (0.177221937678, B, 0.2354443875, 0.2509966995, -2.0864379840),
        (0.320976527162, A, -0.0644906483, 0.6405155480, 0.9080789461),
        (0.455950725818, B, 0.0580765797, 0.2481976209, -0.6594567400),
        (0.555587370174, A, -0.0076294769, 0.1029180453, 0.8592049347),
        (0.573909846610, B, 0.0081132852, 0.3187045262, 0.1379062793),
        (0.625074009602, B, 0.0151691446, 0.0165820833, -0.2225165578),
    ];
    let impacts = log.of(EventKind::Impact);
    assert_eq!(impacts.len(), expected.len());
    for (event, (t, contact, theta, up, spin)) in impacts.iter().zip(expected) {
        assert!((event.t - t).abs() < 1e-11, "{t}: {:e}", event.t - t);
        assert_eq!(event.contact, contact);
        assert!((event.after.q[2] - theta).abs() < 1e-9 && (event.after.v[1] - up).abs() < 1e-9, "{t}");
        assert!((event.after.v[2] - spin).abs() < 1e-9, "{t}");
    }
}

/// O14 and its table: rest after nested accumulations.
#[test]
fn nested_accumulations_come_to_rest() {
    for (veps, count, rest) in [
        (1e-3, 38, 0.7859468833),
        (1e-4, 67, 0.7861336736),
        (1e-5, 103, 0.7861566878),
        (1e-6, 149, 0.7861595234),
        (1e-7, 222, 0.7861598974),
    ] {
        let scheme =
            EventDriven { atol: Some(1e-12), rtol: 0.0, veps: Some(veps), geps: Some(1e-11), ..EventDriven::default() };
        let log = run(dropped(0.5), scheme, 2.0, 0.1);
        let instants = log.instants();
        let last = instants[instants.len() - 1];
        assert!((last - rest).abs() < 1e-9, "{veps}: {last}");
        assert_eq!(instants.len(), count, "{veps}");
        let end = log.last();
        assert!((end.q[1] - 0.75).abs() < 1e-9 && end.q[2].abs() < 1e-9 && end.v.iter().all(|v| v.abs() < 1e-14));
        assert!(log.lowest > -1e-10, "{:e}", log.lowest);
        let gain = log.energy.windows(2).map(|w| w[1] - w[0]).fold(0.0, f64::max);
        assert!(gain < 1e-12, "{gain:e}");
        assert!(log.impulse.iter().all(|x| (x - 0.5 * G).abs() < 1e-9), "{:?}", log.impulse);
    }
}

/// O15: without restitution every rocking impact divides the opening speed by 25.
#[test]
fn plastic_rocking_divides_by_25() {
    let scheme = EventDriven { atol: Some(1e-12), rtol: 0.0, veps: Some(1e-8), ..EventDriven::default() };
    let log = run(dropped(0.0), scheme, 0.5, 0.1);
    let impacts = log.of(EventKind::Impact);
    assert!((impacts[0].t - 0.177221937678).abs() < 1e-11 && impacts[0].contact == B);
    assert!((impacts[0].after.v[1] + 0.4121846032).abs() < 1e-9 && (impacts[0].after.v[2] + 1.3242919893).abs() < 1e-9);
    assert!((impacts[1].t - 0.309755822368).abs() < 1e-11 && impacts[1].contact == A);
    assert!((impacts[1].after.v[2] + 0.0881132103).abs() < 1e-9);
    for pair in impacts[1..6].windows(2) {
        let ratio = (pair[1].after.v[2] / pair[0].after.v[2]).abs();
        assert!((ratio - 0.04).abs() < 1e-8, "{ratio}");
    }
    assert_eq!(log.instants().len(), 7);
    assert!((log.instants()[6] - 0.3292519766).abs() < 1e-9);
}
