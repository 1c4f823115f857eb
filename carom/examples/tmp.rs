use carom::model::*; use carom::scheme::*; use carom::*; use carom::simulation::*;
fn main(){
  let which = std::env::args().nth(1).unwrap_or_default();
  for _ in 0..3 {
   if which != "bar" {
    let ball = Lagrangian::new(1).constant_mass(&[1.0]).force(|_,_,_,f| f[0]=-2.0).contact(Contact::new("f",|_,q|q[0]).gradient(|_,_,r|r[0]=1.0).restitution(0.5)).initial(&[1.0],&[0.0]).linear();
    let st = Bound::new(MoreauJean::default(), Box::new(ball), carom_solve::solver::default()).unwrap();
    let mut sim = Simulation::new(Box::new(st), Box::new(FixedStep{h:1e-4}), 5.0).unwrap();
    let mut rec = Recorder::default();
    let c = std::time::Instant::now();
    sim.run(&mut [&mut rec]).unwrap();
    let e=c.elapsed().as_secs_f64();
    println!("{} steps {} solves {:.1} ns/step", sim.statistics().steps, sim.statistics().solves, e*1e9/sim.statistics().steps as f64);
   }
   if which != "ball" {
    let elements=1000; let (e_, rho, s) = (210e9, 7800.0, std::f64::consts::PI * 1e-4);
    let (length, n) = (1.0 / elements as f64, elements + 1);
    let (mut mass, mut stiffness) = (Vec::new(), Vec::new());
    let (cm, ck) = (rho * s * length / 6.0, e_ * s / length);
    for k in 0..elements { for (i, j, m, c) in [(k, k, 2.0, 1.0), (k, k + 1, 1.0, -1.0), (k + 1, k, 1.0, -1.0), (k + 1, k + 1, 2.0, 1.0)] { mass.push((i, j, m * cm)); stiffness.push((i, j, c * ck)); } }
    let matrix = |entries: &[_]| SparseMatrix::from_triplets(n, entries).unwrap();
    let initial = State::new(0.0, &vec![4.9265e-5; n], &vec![-0.1; n]);
    let bar = Linear::new(&matrix(&mass), &matrix(&[]), &matrix(&stiffness), initial).unwrap().with_contact(LinearContact { name: "wall".into(), law: carom_solve::Law::Unilateral, restitution: 0.0, rows: vec![AffineRow { entries: vec![(0, 1.0)], constant: 0.0, rate: 0.0 }] });
    let st = Bound::new(MoreauJean::default(), Box::new(bar), carom_solve::solver::default()).unwrap();
    let mut sim = Simulation::new(Box::new(st), Box::new(FixedStep{h:2e-6}), 2e-3).unwrap();
    let c = std::time::Instant::now();
    sim.run(&mut []).unwrap();
    let e=c.elapsed().as_secs_f64();
    println!("bar {} steps {} solves {:.2} us/step", sim.statistics().steps, sim.statistics().solves, e*1e6/sim.statistics().steps as f64);
   }
  }
}
