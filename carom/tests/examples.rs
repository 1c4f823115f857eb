//! The Cargo examples run, and what they assert holds.

#[path = "../examples/closures.rs"]
mod closures;
#[path = "../examples/energies.rs"]
mod energies;
#[path = "../examples/matrices.rs"]
mod matrices;
#[path = "../examples/own_type.rs"]
mod own_type;

#[test]
fn examples_run() {
    closures::main().unwrap();
    energies::main().unwrap();
    matrices::main().unwrap();
    own_type::main().unwrap();
    let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/examples")).unwrap().count();
    assert_eq!(files, 4, "an example is not run here");
}
