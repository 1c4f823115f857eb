//! The HTML page around the blocks.

use std::fmt::Write as _;

use super::encode::{escape, payload};
use super::{Animation, Block, Callout, Chart, Layout, Report, ReportError, library};

const STYLE: &str = include_str!("style.css");
const REPORT_SCRIPT: &str = include_str!("report.js");
const ANIMATION_SCRIPT: &str = include_str!("animation.js");

/// No network at all; scripts are those of this file (the chart library compiles its shaders' drivers with `eval`).
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; \
                      img-src data: blob:; font-src data:; base-uri 'none'; form-action 'none'";

/// The whole page.
pub fn render(report: &Report) -> Result<String, ReportError> {
    let mut out = String::new();
    head(&mut out, &report.title);
    contents(&mut out, report);
    let _ = writeln!(out, "<main>\n<header>\n<h1>{}</h1>", escape(&report.title));
    if !report.subtitle.is_empty() {
        let _ = writeln!(out, "<p class=\"subtitle\">{}</p>", escape(&report.subtitle));
    }
    out.push_str(
        "</header>\n<noscript><p class=\"callout warning\">Charts and animations need JavaScript.</p></noscript>\n",
    );
    let mut figures = Figures::default();
    for (index, section) in report.sections.iter().enumerate() {
        let class = if section.layout == Layout::Gallery { " class=\"gallery\"" } else { "" };
        let _ = writeln!(out, "<section id=\"section-{}\"{class}>\n<h2>{}</h2>", index + 1, escape(&section.title));
        for block in &section.blocks {
            figures.block(&mut out, block);
        }
        out.push_str("</section>\n");
    }
    footer(&mut out, figures.charts > 0);
    if figures.charts > 0 {
        let library = library::packed()?;
        let _ =
            writeln!(out, "<script type=\"text/plain\" id=\"chart-library\" data-encoding=\"gzip\">{library}</script>");
    }
    let _ = writeln!(out, "<script>\n{REPORT_SCRIPT}</script>");
    if figures.animations > 0 {
        let _ = writeln!(out, "<script>\n{ANIMATION_SCRIPT}</script>");
    }
    out.push_str("<script>carom.start();</script>\n</body>\n</html>\n");
    Ok(out)
}

fn head(out: &mut String, title: &str) {
    let _ = write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"carom {}\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <div id=\"errors\" role=\"alert\" hidden></div>\n",
        env!("CARGO_PKG_VERSION"),
        escape(title),
    );
}

fn contents(out: &mut String, report: &Report) {
    if report.sections.len() < 2 {
        return;
    }
    out.push_str("<nav aria-label=\"Contents\">\n<p>Contents</p>\n<ol>\n");
    for (index, section) in report.sections.iter().enumerate() {
        let _ = writeln!(out, "<li><a href=\"#section-{}\">{}</a></li>", index + 1, escape(&section.title));
    }
    out.push_str("</ol>\n</nav>\n");
}

fn footer(out: &mut String, charts: bool) {
    let credit = if charts { " Charts are drawn by plotly.js (MIT licence), embedded in this file." } else { "" };
    let _ = writeln!(out, "<footer>Made with carom {}.{credit}</footer>\n</main>", env!("CARGO_PKG_VERSION"));
}

/// Numbers the figures, so that identifiers are the same each time.
#[derive(Default)]
struct Figures {
    charts: usize,
    animations: usize,
}

impl Figures {
    fn block(&mut self, out: &mut String, block: &Block) {
        match block {
            Block::Paragraph(text) => {
                for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
                    let _ = writeln!(out, "<p>{}</p>", escape(paragraph));
                }
            }
            Block::Facts(facts) => {
                out.push_str("<dl>\n");
                for (name, value) in facts {
                    let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
                }
                out.push_str("</dl>\n");
            }
            Block::Table(table) => table.render(out),
            Block::Chart(chart) => self.chart(out, chart),
            Block::Animation(animation) => self.animation(out, animation),
            Block::Image(image) => image.render(out),
            Block::Preformatted { caption, text } => {
                out.push_str("<figure class=\"preformatted\">\n");
                if !caption.is_empty() {
                    let _ = writeln!(out, "<figcaption>{}</figcaption>", escape(caption));
                }
                // the parser drops a line break right after <pre>
                let _ = writeln!(out, "<pre tabindex=\"0\">\n{}</pre>\n</figure>", escape(text));
            }
            Block::Callout { kind, text } => {
                let (class, label) = match kind {
                    Callout::Info => ("info", "Note"),
                    Callout::Warning => ("warning", "Warning"),
                    Callout::Failure => ("failure", "Failure"),
                };
                let _ = writeln!(out, "<p class=\"callout {class}\"><strong>{label}</strong> {}</p>", escape(text));
            }
        }
    }

    fn chart(&mut self, out: &mut String, chart: &Chart) {
        self.charts += 1;
        let id = format!("chart-{}", self.charts);
        let _ = writeln!(
            out,
            "<figure class=\"chart\">\n<figcaption>{title}</figcaption>\n\
             <div class=\"plot\" id=\"{id}\" role=\"img\" aria-label=\"{title}\" data-payload=\"{id}-data\"></div>",
            title = escape(&chart.title),
        );
        payload(out, &format!("{id}-data"), &chart.data());
        out.push_str("</figure>\n");
    }

    fn animation(&mut self, out: &mut String, animation: &Animation) {
        self.animations += 1;
        let id = format!("animation-{}", self.animations);
        let _ = writeln!(
            out,
            "<figure class=\"animation\" id=\"{id}\" data-payload=\"{id}-data\">\n<figcaption>{title}</figcaption>\n\
             <canvas tabindex=\"0\" role=\"img\" aria-label=\"{title}\" data-frames=\"{}\"></canvas>",
            animation.times.len(),
            title = escape(&animation.title),
        );
        payload(out, &format!("{id}-data"), &animation.data());
        out.push_str("</figure>\n");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Geometry, Series, Shape, Table};
    use super::*;

    const NASTY: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&<!--";

    fn nasty_report() -> Report {
        let mut report = Report::new(NASTY);
        report.subtitle = NASTY.into();
        let mut table = Table::new(NASTY, [NASTY]);
        table.row([Cell::from(NASTY)]).row([Cell::Formatted { value: 1.0, text: NASTY.into() }]);
        table.shown = 1;
        table.file = Some(NASTY.into());
        let chart = Chart::new(NASTY, NASTY, NASTY).linked(NASTY).with(Series::lines(NASTY, vec![0.0], vec![f64::NAN]));
        let shape =
            Shape::fixed(NASTY, Geometry::Point, vec![0.0, 0.0]).coloured(super::super::Colour::Css(NASTY.into()));
        report
            .section(NASTY)
            .paragraph(NASTY)
            .facts([(NASTY, NASTY)])
            .preformatted(NASTY, NASTY)
            .callout(Callout::Failure, NASTY)
            .push(table)
            .push(chart)
            .push(Animation::new(NASTY, vec![0.0]).with(shape));
        report.section("second");
        report
    }

    /// Removes what the page itself brings along.
    fn own_text(html: &str) -> String {
        [STYLE, REPORT_SCRIPT, ANIMATION_SCRIPT].iter().fold(html.to_owned(), |text, own| text.replace(own, ""))
    }

    #[test]
    fn names_cannot_become_markup() {
        let html = own_text(&render(&nasty_report()).unwrap());
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("<!--"));
        // chart, animation, library, two scripts and the start
        assert_eq!(html.matches("<script").count(), 6);
        assert_eq!(html.matches("</script").count(), 6);
    }

    #[test]
    fn the_page_asks_nothing_of_the_network() {
        let html = render(&nasty_report()).unwrap();
        for own in [STYLE, REPORT_SCRIPT, ANIMATION_SCRIPT] {
            assert!(!own.contains("http") && !own.contains("@import") && !own.contains("</script"));
        }
        for asking in ["<link", "src=\"", "@import", "url("] {
            assert!(!html.contains(asking), "{asking}");
        }
        assert!(html.contains("default-src 'none'"));
    }

    #[test]
    fn bytes_are_the_same_each_time_and_not_too_many() {
        let mut files = [Vec::new(), Vec::new()];
        for file in &mut files {
            nasty_report().write(file).unwrap();
        }
        assert!(files[0] == files[1]);
        assert!((1_000_000..2_500_000).contains(&files[0].len()), "{} bytes", files[0].len());
    }

    #[test]
    fn without_charts_the_library_stays_out() {
        let mut report = Report::new("facts only");
        report.section("one").facts([("steps", "100")]).paragraph("first\n\nsecond");
        let mut html = Vec::new();
        report.write(&mut html).unwrap();
        assert!(html.len() < 60_000, "{} bytes", html.len());
        let html = String::from_utf8(html).unwrap();
        assert!(html.contains("<p>first</p>\n<p>second</p>") && !html.contains("chart-library\" data"));
    }

    #[test]
    fn data_that_do_not_fit_are_an_error_and_write_nothing() {
        let mut report = Report::new("r");
        report.section("s").push(Chart::new("c", "x", "y").with(Series::lines("s", vec![1.0], vec![])));
        let mut html = Vec::new();
        let error = report.write(&mut html).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput);
        assert!(error.to_string().contains("1 abscissae but 0 ordinates"));
        assert!(html.is_empty());
    }
}
