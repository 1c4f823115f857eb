//! What must be true of the errors that changed texts lead to.

use carom_scene::Diagnostic;

/// Errors say something, and point into the text.
pub fn judge(found: &[Diagnostic]) {
    assert!(!found.is_empty());
    for diagnostic in found {
        assert!(!diagnostic.message.is_empty() && diagnostic.line > 0 && diagnostic.column > 0, "{diagnostic}");
        if let Some(span) = &diagnostic.span {
            assert!(span.start <= span.end && span.end <= diagnostic.source.text.len(), "{diagnostic}");
        }
    }
}
