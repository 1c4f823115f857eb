use super::*;
use crate::report::store::Store;

fn rotate([w, x, y, z]: [f64; 4], v: [f64; 3]) -> [f64; 3] {
    let cross =
        |a: [f64; 3], b: [f64; 3]| [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    let t = cross([x, y, z], v).map(|x| 2.0 * x);
    std::array::from_fn(|i| v[i] + w * t[i] + cross([x, y, z], t)[i])
}

fn near(a: [f64; 3], b: [f64; 3]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12)
}

#[test]
fn parts_are_turned_to_axes() {
    for d in [[0.0, 0.0, 2.0], [0.0, 0.0, -1.0], [3.0, 0.0, 0.0], [1.0, -2.0, 0.5], [1e-9, 0.0, -1.0]] {
        let length = d.iter().map(|x| x * x).sum::<f64>().sqrt();
        assert!(near(rotate(turn_to(d), [0.0, 0.0, 1.0]), d.map(|x| x / length)), "{d:?}");
    }
    let (s, c) = (0.6, 0.8);
    let turns = [
        [[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]],
        [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]],
        [[-1.0, 0.0, 0.0], [0.0, c, s], [0.0, s, -c]],
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]],
    ];
    for axes in turns {
        let turn = Part::new(Solid::Plane).axes(axes).turn;
        for (k, axis) in axes.into_iter().enumerate() {
            let unit = std::array::from_fn(|i| f64::from(u8::from(i == k)));
            assert!(near(rotate(turn, unit), axis), "{axes:?}");
        }
    }
}

/// Poses that are columns of the results are those columns: nothing is stored twice.
#[test]
fn poses_of_the_results_are_not_stored_again() {
    let times: Values = (0..100).map(f64::from).collect();
    let pose: [Values; 7] = std::array::from_fn(|k| times.iter().map(|t| t * (k + 2) as f64).collect());
    let mut store = Store::default();
    let (t, x) = store.curve(&times, &pose[0], (false, false));
    let body = || SpaceBody::new("b", Colour::Ink, true).with(Part::new(Solid::Sphere { radius: 1.0 }));
    let space = Space { bodies: vec![body()], times: times.clone(), poses: vec![pose.clone()], ..Space::default() };
    let data = serde_json::to_value(space.data(&mut store)).unwrap();
    assert_eq!((&data["times"], &data["poses"][0][0]), (&t.into(), &x.into()));
    // many bodies are seven columns, and equal parts are one
    let many = Space { bodies: vec![body(); 100], poses: vec![pose; 100], times, ..Space::default() };
    let data = serde_json::to_value(many.data(&mut store)).unwrap();
    assert_eq!((data["poses"].as_array().unwrap().len(), data["parts"].as_array().unwrap().len()), (1, 1));
    assert_eq!(data["stacked"], true);
}

#[test]
fn what_does_not_fit_is_refused() {
    let times: Values = [0.0, 1.0].into();
    let bodies = vec![SpaceBody::new("b", Colour::Ink, true)];
    let good =
        Space { bodies, times: times.clone(), poses: vec![std::array::from_fn(|_| times.clone())], ..Space::default() };
    assert_eq!(good.check(), Ok(()));
    let back = Space { times: [1.0, 0.0].into(), ..good.clone() };
    assert!(matches!(back.check(), Err(ReportError::FrameTime { frame: 1, .. })));
    let mut short = good.clone();
    short.poses[0][6] = [0.0].into();
    assert!(matches!(short.check(), Err(ReportError::PoseLength { found: 1, frames: 2, .. })));
    let spot = |body| Spot { body, at: [0.0; 3] };
    let link = Space { links: vec![[spot(0), spot(1)]], ..good };
    assert_eq!(link.check(), Err(ReportError::NoBody { body: 1, bodies: 1 }));
}
