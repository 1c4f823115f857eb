//! How text and data enter the page: HTML escaping, JSON that is safe inside `<script>`, gzip + base64 for what is
//! large.

use std::fmt::Write as _;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, GzBuilder};
use serde::{Serialize, Serializer};

/// Number of bytes above which speed counts more than size.
const HURRY_ABOVE: usize = 1 << 20;

/// JSON longer than this is stored compressed [bytes].
const COMPRESS_ABOVE: usize = 4096;

/// Text for element content and for attributes in double quotes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // NUL is a parse error of HTML
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// JSON without any `<`, so that neither `</script>` nor `<!--` can occur in it.
pub fn json<T: Serialize>(value: &T) -> String {
    // the types of this module serialise without fail: string keys only, non-finite numbers are null
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()).replace('<', "\\u003c")
}

/// Gzip without time stamp or file name, in base64.
pub fn pack(bytes: &[u8]) -> String {
    // megabytes are packed in a hurry: a report of a short run must not cost more than the run
    let level = if bytes.len() > HURRY_ABOVE { 2 } else { 6 };
    // writing into a vector does not fail
    let mut encoder = GzBuilder::new().mtime(0).operating_system(255).write(Vec::new(), Compression::new(level));
    let packed = encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default();
    STANDARD.encode(packed)
}

/// A data element that `carom.payload(id)` of the page reads.
pub fn payload<T: Serialize>(out: &mut String, id: &str, value: &T) {
    let text = json(value);
    let _ = if text.len() > COMPRESS_ABOVE {
        writeln!(out, r#"<script type="text/plain" id="{id}" data-encoding="gzip">{}</script>"#, pack(text.as_bytes()))
    } else {
        writeln!(out, r#"<script type="application/json" id="{id}">{text}</script>"#)
    };
}

/// Serialises non-finite numbers as null: a gap of a curve.
pub fn gaps<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| value.is_finite().then_some(*value)))
}

/// The same in single precision, enough for drawing and half the size.
pub fn single_gaps<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| {
        let single = *value as f32;
        single.is_finite().then_some(single)
    }))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(
            escape(r#"<script>a && "b" 'c'</script>"#),
            "&lt;script&gt;a &amp;&amp; &quot;b&quot; &#39;c&#39;&lt;/script&gt;"
        );
        assert_eq!(escape("a\0b"), "a\u{fffd}b");
        assert_eq!(escape("θ → λ⁺"), "θ → λ⁺");
    }

    #[test]
    fn json_cannot_close_its_script_element() {
        let nasty = "</script><!--<script>alert(1)</script>";
        let text = json(&nasty);
        assert!(!text.contains('<'), "{text}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), nasty);
    }

    #[test]
    fn packing_round_trips_and_carries_no_time() {
        let bytes = b"0.1,0.2,0.3".repeat(1000);
        let packed = pack(&bytes);
        assert_eq!(packed, pack(&bytes));
        let gzip = STANDARD.decode(packed).unwrap();
        // bytes 4 to 7 of the gzip header are the modification time
        assert_eq!(&gzip[4..8], &[0, 0, 0, 0]);
        let mut back = Vec::new();
        flate2::read::GzDecoder::new(gzip.as_slice()).read_to_end(&mut back).unwrap();
        assert_eq!(back, bytes);
    }

    #[test]
    fn only_large_data_are_packed() {
        let (mut small, mut large) = (String::new(), String::new());
        payload(&mut small, "a", &vec![1.0; 3]);
        payload(&mut large, "b", &vec![1.0; 5000]);
        assert!(small.contains("[1.0,1.0,1.0]") && !small.contains("gzip"));
        assert!(large.contains(r#"data-encoding="gzip""#) && large.len() < 1000);
    }
}
