//! Colours as glTF wants them: linear light.

use crate::report::Colour;
use carom::elementary::powf;

/// What a surface looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paint {
    /// Linear red, green and blue, from 0 to 1.
    pub rgb: [f32; 3],
    /// Whether its back is seen as well.
    pub two_sided: bool,
}

/// The light theme of reports: ink, walls, and the palette.
const INK: &str = "#14181d";
const WALL: &str = "#7b858f";
const PALETTE: [&str; 6] = ["#1a68bd", "#f04a12", "#0a9660", "#7b2c84", "#22262c", "#94992a"];

/// Words that are often written for a colour; others become the colour of the body.
const WORDS: [(&str, &str); 20] = [
    ("black", "#000000"),
    ("white", "#ffffff"),
    ("gray", "#808080"),
    ("grey", "#808080"),
    ("silver", "#c0c0c0"),
    ("red", "#ff0000"),
    ("green", "#008000"),
    ("blue", "#0000ff"),
    ("yellow", "#ffff00"),
    ("orange", "#ffa500"),
    ("purple", "#800080"),
    ("brown", "#a52a2a"),
    ("pink", "#ffc0cb"),
    ("gold", "#ffd700"),
    ("navy", "#000080"),
    ("teal", "#008080"),
    ("tomato", "#ff6347"),
    ("steelblue", "#4682b4"),
    ("firebrick", "#b22222"),
    ("lightgray", "#d3d3d3"),
];

/// The paint of a colour, or of another one where it is a word that is not known.
pub fn paint(colour: &Colour, otherwise: &Colour) -> Paint {
    let rgb = code(colour).or_else(|| code(otherwise)).unwrap_or([0.5; 3]);
    Paint { rgb: rgb.map(linear), two_sided: false }
}

fn code(colour: &Colour) -> Option<[f32; 3]> {
    match colour {
        Colour::Ink => hexadecimal(INK),
        Colour::Muted => hexadecimal(WALL),
        Colour::Palette(number) => hexadecimal(PALETTE[number % PALETTE.len()]),
        Colour::Css(text) => {
            let word = text.to_ascii_lowercase();
            let known = WORDS.iter().find(|(name, _)| *name == word).map(|(_, code)| *code);
            hexadecimal(known.unwrap_or(&word))
        }
    }
}

/// `#rgb`, `#rgba`, `#rrggbb` or `#rrggbbaa`, without its transparency.
fn hexadecimal(text: &str) -> Option<[f32; 3]> {
    let digits: Vec<u32> = text.strip_prefix('#')?.chars().map(|c| c.to_digit(16)).collect::<Option<_>>()?;
    let of = |k: usize| match digits.len() {
        3 | 4 => Some(17 * digits[k]),
        6 | 8 => Some(16 * digits[2 * k] + digits[2 * k + 1]),
        _ => None,
    };
    Some([of(0)?, of(1)?, of(2)?].map(|x| x as f32 / 255.0))
}

/// The light of a number of a colour code (sRGB).
fn linear(x: f32) -> f32 {
    if x <= 0.04045 { x / 12.92 } else { powf(f64::from((x + 0.055) / 1.055), 2.4) as f32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_words_become_light() {
        let css = |text: &str| paint(&Colour::Css(text.into()), &Colour::Css("#00f".into())).rgb;
        assert_eq!((css("#fff"), css("black"), css("#ff000080")), ([1.0; 3], [0.0; 3], [1.0, 0.0, 0.0]));
        assert_eq!(css("nosuchcolour"), [0.0, 0.0, 1.0]);
        // half of the scale is 21.4 % of the light
        assert!((css("#808080")[0] - 0.2159).abs() < 1e-4);
    }
}
