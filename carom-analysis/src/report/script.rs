//! The scripts and the style sheet of the page, one thing per file.

/// The view of spatial models, before [`SCRIPT`] where there is one.
pub const SPACE: &str = concat!(
    include_str!("script/space/vector.js"),
    include_str!("script/space/solid.js"),
    include_str!("script/space/shader.js"),
    include_str!("script/space/canvas.js"),
    include_str!("script/space/camera.js"),
    include_str!("script/space/scene.js"),
    include_str!("script/space/arrow.js"),
    include_str!("script/space/painter.js"),
    include_str!("script/space/outline.js"),
    include_str!("script/space/words.js"),
    include_str!("script/space/view.js"),
);

/// Joined in this order; a file may use what those before it define.
pub const SCRIPT: &str = concat!(
    include_str!("script/base.js"),
    include_str!("script/numbers.js"),
    include_str!("script/decode.js"),
    include_str!("script/column.js"),
    include_str!("script/span.js"),
    include_str!("script/axis.js"),
    include_str!("script/curve.js"),
    include_str!("script/legend.js"),
    include_str!("script/overlay.js"),
    include_str!("script/chart.js"),
    include_str!("script/pointer.js"),
    include_str!("script/portrait.js"),
    include_str!("script/timebar.js"),
    include_str!("script/hatch.js"),
    include_str!("script/motion.js"),
    include_str!("script/lists.js"),
    include_str!("script/print.js"),
    include_str!("script/main.js"),
);

/// Light and dark, wide screens, phones and paper.
pub const STYLE: &str = concat!(
    include_str!("style/colours.css"),
    include_str!("style/page.css"),
    include_str!("style/chart.css"),
    include_str!("style/narrow.css"),
    include_str!("style/paper.css"),
);
