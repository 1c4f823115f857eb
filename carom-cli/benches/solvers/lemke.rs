//! Lemke's method on dense random problems, the same numbers on both sides.

use crate::clock::best;
use crate::peer::Peer;
use crate::peer_file::{lines, temporary, write_complementarity};
use crate::table::{Claim, Table, duration};
use carom_solve::solver::Configured;
use carom_solve::solver::lemke::{Lemke, LemkeOptions};
use carom_solve::{ProblemWork, Reaction, StoredProblem, family};
use std::time::Duration;

/// Sizes, and the ratio that is asked for.
const SIZES: [(usize, f64); 2] = [(100, 4.0), (1000, 8.0)];

pub fn run(markdown: bool) -> Vec<Claim> {
    println!("Lemke's method, dense random problems; the residual is max |min(z, M z + q)|");
    println!("in the clock: ours with a new solver from the stored problem to the certificate, Siconos' driver alone");
    let peer = Peer::build("lemke");
    let mut table = Table::new(&["family", "n", "ours", "residual", "Siconos", "residual", "ratio"]);
    let mut claims = Vec::new();
    for (n, asked) in SIZES {
        for name in ["pd", "aat", "pns"] {
            let Some(Ok(problem)) = family::find(name).map(|family| family.build(n, 1)) else { continue };
            let (seconds, residual) = ours(&problem);
            let theirs = peer.as_ref().and_then(|peer| theirs(peer, &problem));
            let ratio = theirs.map(|(theirs, _)| theirs / seconds);
            table.add(vec![
                name.into(),
                n.to_string(),
                duration(seconds),
                format!("{residual:.1e}"),
                theirs.map_or("-".into(), |(seconds, _)| duration(seconds)),
                theirs.map_or("-".into(), |(_, error)| format!("{error:.1e}")),
                ratio.map_or("-".into(), |ratio| format!("{ratio:.1}")),
            ]);
            claims.push(Claim::at_least(format!("Lemke, {name}, n = {n}: times faster"), asked, ratio));
        }
    }
    table.print(markdown);
    claims
}

/// Seconds of a call and its residual.
fn ours(problem: &StoredProblem) -> (f64, f64) {
    let mut z = Reaction::default();
    let prepare = |z: &mut Reaction| {
        z.reset(problem.size());
        Lemke::configure(LemkeOptions::default())
    };
    // a failure shows in the residual
    let seconds = best(&mut z, prepare, |z, mut solver| drop(problem.solve(&mut solver, z)));
    problem.with(&mut ProblemWork::default(), |p| p.evaluate(&mut z));
    let residual = z.lambda.iter().zip(&z.u).map(|(z, w)| z.min(*w).abs()).fold(0.0, f64::max);
    (seconds, residual)
}

fn theirs(peer: &Peer, problem: &StoredProblem) -> Option<(f64, f64)> {
    let path = temporary("lemke.bin");
    write_complementarity(problem, &path).ok()?;
    let output = peer.run(&[format!("file={}", path.display()), "limit=20".into()], Duration::from_secs(60));
    let least = lines(&output).into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds))?;
    Some((least.seconds, least.error))
}
