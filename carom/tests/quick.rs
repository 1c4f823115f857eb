use carom::model::*;
use carom::scheme::*;
use carom::simulate_first_order;
use carom_solve::Law;
fn bridge() -> Lcs {
    let (l, c, r) = (1e-2, 1e-6, 1e3);
    let m = Matrices { e: None, a: vec![0.0, -1.0/c, 1.0/l, 0.0], b: vec![0.0,0.0,-1.0/c,1.0/c, 0.0,0.0,0.0,0.0],
      c: vec![0.0,0.0, 0.0,0.0, -1.0,0.0, 1.0,0.0],
      d: vec![1.0/r,1.0/r,-1.0,0.0, 1.0/r,1.0/r,0.0,-1.0, 1.0,0.0,0.0,0.0, 0.0,1.0,0.0,0.0] };
    let laws = ["a","b","c","d"].map(|n| (n.to_string(), Law::Unilateral)).to_vec();
    Lcs::new(m, laws, &[10.0, 0.0]).unwrap()
}
#[test]
fn quick() {
    let s = simulate_first_order(bridge(), EulerMoreau { theta: 0.5, ..Default::default() }, 1e-4, 1e-6).unwrap();
    println!("{:?} {:?} {:?}", s.q(1), s.q(100), s.len());
    let wd = (1e8f64-2.5e5).sqrt();
    for (th, col) in [(1.0, Collocation::End), (0.5, Collocation::End), (0.5, Collocation::Midpoint)] { for h in [2e-6,1e-6,5e-7] {
    let s = simulate_first_order(bridge(), EulerMoreau { theta: th, collocation: col, ..Default::default() }, 5e-3, h).unwrap();
    let e = (0..s.len()).map(|k| { let t = s.t[k]; (s.q(k)[0] - 10.0*(-500.0*t).exp()*((wd*t).cos() - 500.0/wd*(wd*t).sin())).abs()}).fold(0.0, f64::max);
    println!("{th} {h} {e} {:?}", s.statistics.worst);
    }}
    let stepper = Bound::new(EulerMoreau { theta: 0.5, ..Default::default() }, Box::new(bridge()), carom_solve::solver::default()).unwrap();
    let mut sim = carom::Simulation::new(Box::new(stepper), Box::new(carom::simulation::FixedStep{h:1e-6}), 1.0).unwrap();
    for _ in 0..1000 { sim.advance().unwrap(); }
    let t = std::time::Instant::now();
    for _ in 0..100000 { sim.advance().unwrap(); }
    println!("per step {:?}", t.elapsed()/100000);
}
