//! STL: triangles with corners of their own, as text or in binary form. Normals are not looked at.

use super::{MeshFileError, Spot, Surface, clipped, number, wrong};
use std::path::Path;

/// Bytes before the triangles, and of a triangle.
const HEAD: usize = 84;
const FACET: usize = 50;

pub(super) fn parse(bytes: &[u8], _: &Path) -> Result<Surface, MeshFileError> {
    let declared = bytes.get(80..HEAD).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let size = declared.map(|count| HEAD + FACET * count);
    // texts begin with "solid", and so do some binary files
    let is_text = bytes.trim_ascii_start().starts_with(b"solid") && !bytes.iter().take(1000).any(|byte| *byte == 0);
    match (size, declared) {
        (Some(size), Some(count)) if size == bytes.len() => binary(bytes, count),
        _ if is_text => text(&String::from_utf8_lossy(bytes)),
        (Some(size), Some(count)) => {
            let what = format!("{count} triangles have {size} bytes, the file has {}", bytes.len());
            Err(wrong(Spot::Byte(80), what))
        }
        _ => Err(wrong(Spot::Byte(0), "neither a text that begins with \"solid\" nor a binary file of 84 bytes")),
    }
}

fn binary(bytes: &[u8], count: usize) -> Result<Surface, MeshFileError> {
    let mut out = Surface { points: Vec::with_capacity(3 * count), triangles: Vec::with_capacity(count) };
    for (k, facet) in bytes[HEAD..].chunks_exact(FACET).enumerate() {
        // the normal first
        let float = |i: usize| f32::from_le_bytes([0, 1, 2, 3].map(|b| facet[12 + 4 * i + b]));
        if let Some(i) = (0..9).find(|i| !float(*i).is_finite()) {
            let what = format!("a coordinate of triangle {} is not finite", k + 1);
            return Err(wrong(Spot::Byte(HEAD + FACET * k + 12 + 4 * i), what));
        }
        out.push([0, 1, 2].map(|corner| [0, 1, 2].map(|i| f64::from(float(3 * corner + i)))));
    }
    Ok(out)
}

fn text(text: &str) -> Result<Surface, MeshFileError> {
    let mut out = Surface::default();
    let (mut corners, mut ended): (Option<Vec<[f64; 3]>>, bool) = (None, false);
    for (line, words) in text.lines().enumerate() {
        let (line, mut words) = (line + 1, words.split_ascii_whitespace());
        let Some(first) = words.next() else { continue };
        match (first.to_ascii_lowercase().as_str(), &mut corners) {
            ("facet" | "endfacet", None) => {}
            (word @ ("solid" | "endsolid"), None) => ended = word == "endsolid",
            ("outer", None) => corners = Some(Vec::with_capacity(3)),
            ("vertex", Some(corners)) if corners.len() < 3 => {
                let point = [number(words.next(), line)?, number(words.next(), line)?, number(words.next(), line)?];
                corners.push(point);
            }
            ("endloop", Some(three)) => {
                let [a, b, c] = three[..] else {
                    return Err(wrong(Spot::Line(line), format!("a triangle with {} corners", three.len())));
                };
                out.push([a, b, c]);
                corners = None;
            }
            _ => return Err(wrong(Spot::Line(line), format!("{:?} is not expected here", clipped(first)))),
        }
    }
    if corners.is_some() || !ended {
        return Err(wrong(Spot::Line(text.lines().count()), "the text ends without \"endsolid\""));
    }
    Ok(out)
}
