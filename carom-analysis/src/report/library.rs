//! The chart library: the script of the `plotly` crate, packed once per process and embedded once per report.

use std::sync::OnceLock;

use super::ReportError;
use super::encode::pack;

/// The script in gzip + base64; the page inflates it.
pub fn packed() -> Result<&'static str, ReportError> {
    static PACKED: OnceLock<Option<String>> = OnceLock::new();
    PACKED
        .get_or_init(|| {
            let sources = plotly::Plot::offline_js_sources();
            first_script(&sources).map(|script| pack(script.as_bytes()))
        })
        .as_deref()
        .ok_or(ReportError::ChartLibrary)
}

/// The crate returns `<script ...>plotly</script> <script ...>MathJax</script>`; formulas are not used here.
fn first_script(sources: &str) -> Option<&str> {
    let (_, after) = sources.split_once("<script")?;
    let (_, body) = after.split_once('>')?;
    let (script, _) = body.split_once("</script>")?;
    script.contains("plotly.js v").then_some(script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_whole() {
        let sources = plotly::Plot::offline_js_sources();
        let script = first_script(&sources).unwrap();
        assert!((1_000_000..6_000_000).contains(&script.len()), "{} bytes", script.len());
        assert!(script.contains("Licensed under the MIT license"));
        assert!(sources.len() > script.len() + 1_000_000, "the formula library stays out");
        assert!(packed().unwrap().len() < 2_200_000);
    }

    #[test]
    fn another_form_of_the_sources_is_an_error_not_a_broken_page() {
        assert_eq!(first_script("<script>something else</script>"), None);
        assert_eq!(first_script("no script"), None);
    }
}
