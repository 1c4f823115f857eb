use carom_scene::*;
#[test]
fn timing() {
    let text = std::fs::read_to_string("../examples/rocking-block.toml").unwrap();
    let s = from_str("a", &text, &Default::default()).unwrap();
    let now = std::time::Instant::now();
    for i in 0..200 { s.with(&[("m", 1.0 + i as f64)]).unwrap(); }
    println!("with: {:?}", now.elapsed() / 200);
    let now = std::time::Instant::now();
    for _ in 0..200 { s.stepper().unwrap(); }
    println!("stepper: {:?}", now.elapsed() / 200);
    for n in [100_000, 1_000_000] {
    let text = format!("version = 1\nname = \"bar\"\n[model]\nkind = \"linear\"\n[model.chain]\nelements = {n}\nmass = [[2,1],[1,2]]\nstiffness = [[1,-1],[-1,1]]\n[[contact]]\nname = \"w\"\ngap = \"q0 + 1\"\n[simulation]\nend = 1\nstep = 0.1\n");
    let now = std::time::Instant::now();
    let s = from_str("a", &text, &Default::default()).unwrap();
    println!("{n}: {:?}", now.elapsed());
    let now = std::time::Instant::now();
    s.stepper().unwrap();
    println!("{n} stepper: {:?}", now.elapsed());
    }
    println!("{}", std::fs::read_to_string("/proc/self/status").unwrap().lines().filter(|l| l.starts_with("VmHWM")).collect::<String>());
}
