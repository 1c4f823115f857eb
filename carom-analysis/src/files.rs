//! The one way to write comma-separated values.

use std::borrow::Cow;

/// The last line of a table that is not whole, and why: readers that do not know comments stumble over it.
pub fn csv_partial(reason: &str) -> String {
    format!("# partial: {}\n", reason.replace(['\n', '\r'], " "))
}

/// A text of a CSV file: quoted where it must be or `always`, on one line.
pub fn csv_text(text: &str, always: bool) -> Cow<'_, str> {
    if !always && !text.contains([',', '"', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"").replace(['\n', '\r'], " ")))
}

/// A number of a CSV file with the digits that read back as the same; nothing where it is not finite.
pub fn csv_number(x: f64) -> String {
    if x.is_finite() { format!("{x:?}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_one_line_each() {
        assert_eq!((csv_text("plain", false).as_ref(), csv_text("plain", true).as_ref()), ("plain", "\"plain\""));
        assert_eq!(csv_text("a \"b\", c\nd", false), "\"a \"\"b\"\", c d\"");
        assert_eq!(
            (csv_number(0.1).as_str(), csv_number(2.0).as_str(), csv_number(f64::NAN).as_str()),
            ("0.1", "2.0", "")
        );
    }
}
