//! What friction tells about a step: a reversal of slip is lost in a step that comes to rest on the way.
//!
//! Friction turns round where slip passes zero. A step that passes it brings slip to rest, or to the other side with
//! the friction of that side all the while: the velocity after it is wrong by the acceleration times a part of the
//! step, and stays wrong. Positions of this step do not show it. With u, u₁ and u₂ the slip at the start and after
//! each half, and u₃ after another half, which is tried where the second one stops:
//!
//! ```text
//!     through zero in a half, u_k·u_{k+1} < 0:    δ = min(|u_k|, 2 |P_T| Σ C²/M)                                 (1)
//!     at rest after a half, slipping after the next one:    δ = |u₂| or |u₃|                                     (2)
//!     error = (δ − 10 J) τ,    τ = Q/V                                                                          (3)
//! ```
//!
//! where J is the largest jump of a normal velocity in that half, for impacts turn slip round as well, and τ the time
//! in
//! which the contact goes as far as its coordinates have been, at the speeds that they have had. δ is of first order,
//! so that (3) is an error of order 0.

use super::super::Reactions;
use super::extents::Extents;
use std::ops::Range;

/// Slip below this part of the speeds behind it is rest.
const REST: f64 = 1e-9;

/// Part of the slip after an impact that is no reversal, in units of the jump.
const SHARED: f64 = 10.0;

/// Looks at the rows of law `i` in which slip has a direction: those of each disc, and the only one of a relay.
fn each_disc(half: &Reactions, i: usize, mut look: impl FnMut(Range<usize>)) {
    let (law, first) = (half.law(i), half.coupling.offset[i]);
    if law.is_relay() && law.size() == 1 {
        look(first..first + 1);
    }
    law.discs().for_each(|(rows, _)| look(first + rows.start..first + rows.end));
}

fn norm(u: &[f64]) -> f64 {
    u.iter().map(|u| u * u).sum::<f64>().sqrt()
}

/// Whether slip that there was comes to rest in a half step.
fn rests(half: &Reactions, rows: Range<usize>, extents: &Extents) -> bool {
    let rest = REST * extents.speed(half, rows.clone());
    norm(&half.before[rows.clone()]) > rest && norm(&half.after[rows]) <= rest
}

/// Whether a slip ends with a half step: what comes next tells whether it is a reversal.
pub(super) fn ends_at_rest(half: &Reactions, extents: &Extents) -> bool {
    let mut found = false;
    for i in 0..half.len() {
        each_disc(half, i, |rows| found |= rests(half, rows, extents));
    }
    found
}

/// J of a half step.
fn jump(half: &Reactions) -> f64 {
    let of = |i: usize| {
        let row = half.coupling.offset[i];
        let strikes = half.law(i).is_contact() && half.impulse[row] > 0.0 && half.before[row] < 0.0;
        if strikes { half.after[row] - half.before[row] } else { 0.0 }
    };
    (0..half.len()).map(of).fold(0.0, f64::max)
}

/// The largest error (3), divided by what `tolerance` makes of the lengths behind a slip, of the halves of a step and
/// of the one after them.
pub(super) fn reversals(parts: [Option<&Reactions>; 3], extents: &Extents, tolerance: impl Fn(f64) -> f64) -> f64 {
    let mut worst = 0.0;
    for k in 0..2 {
        let Some(half) = parts[k] else { continue };
        let (passed, jumps) = (SHARED * jump(half), parts[k + 1].map_or(0.0, |next| SHARED * jump(next)));
        for i in 0..half.len() {
            each_disc(half, i, |rows| {
                let (before, after) = (&half.before[rows.clone()], &half.after[rows.clone()]);
                let turns = before.iter().zip(after).map(|(a, b)| a * b).sum::<f64>() < 0.0;
                let lost = if rests(half, rows.clone(), extents) {
                    parts[k + 1].map_or(0.0, |next| norm(&next.after[rows.clone()]) - jumps)
                } else if turns {
                    let friction = 2.0 * norm(&half.impulse[rows.clone()]) * extents.mobility(half, rows.clone());
                    norm(before).min(friction) - passed
                } else {
                    0.0
                };
                if lost > 0.0 {
                    let (length, speed) = (extents.length(half, rows.clone()), extents.speed(half, rows));
                    worst = f64::max(worst, lost * length / (speed * tolerance(length)));
                }
            });
        }
    }
    worst
}
