//! The file that `carom new` writes: a bouncing ball with everything explained.

/// A commented example file with the given name.
pub fn new_example(name: &str) -> String {
    // the characters that TOML wants escaped in a text
    let escape = |character: char| match character {
        '"' | '\\' => format!("\\{character}"),
        character if character.is_control() => format!("\\u{:04X}", character as u32),
        character => character.to_string(),
    };
    let name: String = name.chars().map(escape).collect();
    include_str!("example.toml").replacen("NAME", &name, 1)
}
