//! The order of the book: parts, and the chapters in them.

/// A chapter.
pub struct Chapter {
    /// Name of its page.
    pub name: &'static str,
    /// Its text, in markdown; that of the bibliography in BibTeX.
    pub text: &'static str,
}

/// A part with its chapters.
pub struct Part {
    /// What it is called.
    pub title: &'static str,
    /// Its chapters in their order.
    pub chapters: &'static [Chapter],
}

/// A page of the folder `docs`.
macro_rules! chapter {
    ($name:literal) => {
        Chapter { name: $name, text: include_str!(concat!("../../../docs/", $name, ".md")) }
    };
}

/// The book.
pub const BOOK: &[Part] = &[
    Part {
        title: "Begin",
        chapters: &[
            Chapter { name: "readme", text: include_str!("../../../README.md") },
            chapter!("first-hour"),
            chapter!("three-tasks"),
            chapter!("models-by-example"),
            chapter!("reading-the-report"),
        ],
    },
    Part {
        title: "Models",
        chapters: &[
            chapter!("friction-and-impacts"),
            chapter!("bodies-and-play"),
            chapter!("contact-scenes"),
            chapter!("circuits"),
            chapter!("import"),
            chapter!("model-files"),
        ],
    },
    Part {
        title: "Methods",
        chapters: &[chapter!("which-scheme"), chapter!("problems"), chapter!("theory"), chapter!("comparison")],
    },
    Part { title: "Many runs", chapters: &[chapter!("studies"), chapter!("python"), chapter!("rust")] },
    Part {
        title: "To look up",
        chapters: &[
            chapter!("glossary"),
            chapter!("notation"),
            Chapter { name: "references", text: include_str!("../../../docs/references.bib") },
            Chapter { name: "changelog", text: include_str!("../../../CHANGELOG.md") },
        ],
    },
    Part {
        title: "To take part",
        chapters: &[
            Chapter { name: "contributing", text: include_str!("../../../CONTRIBUTING.md") },
            chapter!("architecture"),
            chapter!("adding-a-model"),
            chapter!("adding-a-scheme"),
            chapter!("adding-a-solver"),
            chapter!("adding-a-study"),
            chapter!("adding-a-figure"),
        ],
    },
];

/// All chapters in their order.
pub fn chapters() -> impl Iterator<Item = &'static Chapter> {
    BOOK.iter().flat_map(|part| part.chapters)
}
