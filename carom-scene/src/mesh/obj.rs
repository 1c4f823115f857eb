//! OBJ: corners and faces of a text. Faces with more than three corners are fans around the first one. Normals,
//! textures, groups and materials are not looked at; curves and free-form surfaces are refused.

use super::{MeshFileError, Spot, Surface, clipped, number, wrong};
use std::path::Path;

/// Words that say nothing of the surface.
const LEFT: &[&str] =
    &["vn", "vt", "vp", "o", "g", "s", "mg", "mtllib", "usemtl", "l", "p", "lod", "shadow_obj", "trace_obj", "bevel"];

pub(super) fn parse(bytes: &[u8], _: &Path) -> Result<Surface, MeshFileError> {
    let text = String::from_utf8_lossy(bytes);
    let mut out = Surface::default();
    let mut lines = text.lines().enumerate();
    let mut joined = String::new();
    while let Some((line, first)) = lines.next() {
        let (line, mut words) = (line + 1, first);
        // a line goes on behind a backslash
        if words.trim_end().ends_with('\\') {
            joined.clear();
            joined.push_str(words.trim_end().trim_end_matches('\\'));
            for (_, next) in lines.by_ref() {
                joined.push(' ');
                joined.push_str(next.trim_end().trim_end_matches('\\'));
                if !next.trim_end().ends_with('\\') {
                    break;
                }
            }
            words = &joined;
        }
        let mut words = words.split('#').next().unwrap_or_default().split_ascii_whitespace();
        match words.next() {
            None => {}
            Some("v") => {
                out.points.push([
                    number(words.next(), line)?,
                    number(words.next(), line)?,
                    number(words.next(), line)?,
                ]);
            }
            Some("f") => face(words, line, &mut out)?,
            Some(word) if LEFT.contains(&word) => {}
            Some(word) => return Err(wrong(Spot::Line(line), format!("{:?} is not known", clipped(word)))),
        }
    }
    Ok(out)
}

fn face<'a>(words: impl Iterator<Item = &'a str>, line: usize, out: &mut Surface) -> Result<(), MeshFileError> {
    let count = out.points.len() as i64;
    let corner = |word: &str| {
        let index = word.split('/').next().unwrap_or_default();
        let index: i64 =
            index.parse().map_err(|_| wrong(Spot::Line(line), format!("{:?} is no corner", clipped(word))))?;
        // negative numbers count from the last point
        let at = if index < 0 { count.checked_add(index).unwrap_or(-1) } else { index - 1 };
        match u32::try_from(at) {
            Ok(at) if i64::from(at) < count => Ok(at),
            _ => Err(wrong(Spot::Line(line), format!("there is no point {index}: there are {count} so far"))),
        }
    };
    let corners = words.map(corner).collect::<Result<Vec<u32>, MeshFileError>>()?;
    if corners.len() < 3 {
        return Err(wrong(Spot::Line(line), format!("a face with {} corners", corners.len())));
    }
    out.triangles.extend(corners[1..].windows(2).map(|pair| [corners[0], pair[0], pair[1]]));
    Ok(())
}
