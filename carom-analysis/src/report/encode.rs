//! How text enters the page: HTML escaping, and JSON that is safe inside `<script>`.

use serde::Serialize;

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

#[cfg(test)]
mod tests {
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
}
