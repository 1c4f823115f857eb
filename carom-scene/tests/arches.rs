//! Arches just above and just below their limit of thickness, by steps of time.

use carom_scene::{Overrides, examples, from_str};

/// The largest change of a coordinate after a time.
fn moved(end: f64, t: f64, mu: f64) -> f64 {
    let set = vec![("thick".to_owned(), t.to_string()), ("mu".to_owned(), mu.to_string())];
    let overrides = Overrides { set, end: Some(end), ..Overrides::default() };
    let text = examples::find("masonry-arch").unwrap();
    let scene = from_str("masonry-arch.toml", text, &overrides).unwrap_or_else(|all| panic!("{}", all[0]));
    let mut simulation = scene.simulation().unwrap();
    simulation.run(&mut []).unwrap();
    let pairs = simulation.state().q.iter().zip(&scene.initial.q);
    pairs.fold(0.0f64, |most, (now, then)| most.max((now - then).abs()))
}

/// Another program, with Moreau and Jean's scheme and the same step: 2e-12 and 1.6e-3 after 0.2 s with friction 0.6,
/// and 6.5e-4 with 0.35, growing.
#[test]
fn arches_of_eleven_stones_stand_and_fall() {
    for (mu, stands, falls, far) in [(0.6, 0.1051, 0.1041, 1.6e-3), (0.35, 0.15, 0.1476, 6.5e-4)] {
        assert!(moved(0.2, stands, mu) < 1e-9, "friction {mu}");
        let (half, whole) = (moved(0.1, falls, mu), moved(0.2, falls, mu));
        println!("friction {mu}: {half:e} {whole:e}, expected {far:e}");
        assert!(whole > 2.0 * half && (whole / far - 1.0).abs() < 0.1, "friction {mu}: {half} {whole}");
    }
}
