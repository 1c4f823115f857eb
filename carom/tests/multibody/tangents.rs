//! Tangents of contacts: the axes in which friction is written are not seen in the motion.

use super::{moreau, run};
use carom::multibody::pair::{Sphere, SphereSphere};
use carom::multibody::{Body, Contact, Multibody};
use carom::scheme::ReactionDirection::{self, End, Mid};

/// A ball slides down a sphere, past the heights where the first tangent of such a normal is chosen by another rule;
/// and the same with the axes named in another order, where it stays away from them.
#[test]
fn motions_do_not_depend_on_the_choice_of_tangents() {
    // the height is passed in the first half of a step, and in the second one
    for (reaction, height) in [(Mid, 0.7094), (Mid, 0.7091), (End, 0.7091)] {
        let (one, other) = (end(reaction, height, 0), end(reaction, height, 1));
        assert!(one.0[2] < 0.7 * 1.1, "the ball has passed the height: {one:?}");
        // tangents turn a little within each step: that is seen, but no more than that
        for k in 0..3 {
            assert!((one.0[k] - other.0[k]).abs() < 1e-6, "{one:?} {other:?}");
            assert!((one.1[k] - other.1[k]).abs() < 1e-5, "{one:?} {other:?}");
        }
    }
}

/// Position and velocity at the end, with the axes shifted by so many.
fn end(reaction: ReactionDirection, height: f64, shift: usize) -> ([f64; 3], [f64; 3]) {
    let n = [0.5, (0.75 - height * height).sqrt(), height];
    let turned = |x: [f64; 3]| std::array::from_fn::<f64, 3, _>(|k| x[(k + shift) % 3]);
    // along the sphere: downhill and to the side
    let v: [f64; 3] = std::array::from_fn(|k| [1.0, 0.3, 0.0][k] - n[k] * (n[0] + 0.3 * n[1]));
    let ball = Body::new("ball", 2.0, [0.4 * 2.0 * 0.01; 3]).at(turned(n.map(|x| 1.1 * x))).velocity(turned(v));
    let pair = SphereSphere {
        first: Sphere { centre: [0.0; 3], radius: 1.0 },
        second: Sphere { centre: [0.0; 3], radius: 0.1 },
    };
    let model = Multibody::spatial()
        .gravity(turned([0.0, 0.0, -9.81]))
        .body(ball)
        .contact(Contact::new("touch", "ground", "ball", pair).friction(0.1))
        .build()
        .unwrap();
    let end = run(model, moreau(reaction), 0.1, 1e-3);
    let back = |x: &[f64]| std::array::from_fn::<f64, 3, _>(|k| x[(k + 3 - shift) % 3]);
    (back(&end.q), back(&end.v))
}
