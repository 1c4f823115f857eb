use super::super::{Animation, Cell, Chart, Colour, Geometry, Image, Lane, Parameter, Series, Shape, Tab, Table};
use super::*;

const NASTY: &str = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&<!--";

fn blocks() -> Vec<Block> {
    let mut table = Table::new(NASTY, [NASTY]);
    table.row([Cell::from(NASTY)]).row([Cell::Formatted { value: 1.0, text: NASTY.into() }]);
    table.shown = 1;
    table.file = Some(NASTY.into());
    let chart = Chart::new(NASTY, NASTY, NASTY).linked(NASTY).with(Series::lines(NASTY, vec![0.0], vec![f64::NAN]));
    let image = Image { title: NASTY.into(), labels: [NASTY.into(), NASTY.into()], ..Image::default() };
    vec![
        Block::Paragraph(NASTY.into()),
        Block::Facts(vec![(NASTY.into(), NASTY.into())]),
        Block::Preformatted { caption: NASTY.into(), text: NASTY.into() },
        Block::Callout { kind: Callout::Failure, text: NASTY.into() },
        table.into(),
        chart.into(),
        image.into(),
    ]
}

fn nasty_study() -> Report {
    let mut report = Report::new(NASTY);
    report.subtitle = NASTY.into();
    report.section(NASTY).blocks = blocks();
    report.section("second");
    report
}

fn nasty_run() -> Report {
    let mut report = Report::new(NASTY);
    let text = || NASTY.to_owned();
    let figure = Figure { name: text(), value: text(), unit: text(), note: text(), full: text(), ..Figure::default() };
    let shape = Shape::fixed(NASTY, Geometry::Point, vec![0.0, 0.0]).coloured(Colour::Css(text()));
    report.run = Some(RunPage {
        state: text(),
        lines: vec![text()],
        notices: vec![(Callout::Warning, text())],
        headline: vec![figure],
        signals: vec![Series::lines(NASTY, vec![0.0], vec![1.0]).in_unit(NASTY)],
        charts: vec![Chart::over_time(NASTY, NASTY)],
        lanes: vec![Lane { name: text(), ..Lane::default() }],
        motion: Some(Animation::new(NASTY, vec![0.0]).with(shape)),
        tabs: vec![Tab { title: text(), count: Some(3), blocks: blocks() }],
        parameters: vec![Parameter { name: text(), value: 1.0, unit: text() }],
        footer: text(),
        ..RunPage::default()
    });
    report
}

/// Removes what the page itself brings along.
fn own_text(html: &str) -> String {
    [script::STYLE, script::SCRIPT].iter().fold(html.to_owned(), |text, own| text.replace(own, ""))
}

#[test]
fn names_cannot_become_markup() {
    for report in [nasty_study(), nasty_run()] {
        let html = own_text(&render(&report));
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("<!--"));
        // names, data and the script
        assert_eq!(html.matches("<script").count(), 3);
        assert_eq!(html.matches("</script").count(), 3);
    }
}

#[test]
fn the_page_asks_nothing_of_the_network_and_evaluates_no_text() {
    let html = render(&nasty_run());
    for asking in ["http", "@import", "</script", "eval(", "new Function", "innerHTML", "insertAdjacentHTML"] {
        assert!(!script::STYLE.contains(asking) && !script::SCRIPT.contains(asking), "{asking}");
    }
    for asking in ["<link", "src=\"", "@import", "url("] {
        assert!(!html.contains(asking), "{asking}");
    }
    assert!(html.contains("default-src 'none'") && !html.contains("unsafe-eval"));
}

#[test]
fn bytes_are_the_same_each_time_and_not_too_many() {
    for report in [nasty_study, nasty_run] {
        let mut files = [Vec::new(), Vec::new()];
        for file in &mut files {
            report().write(file).unwrap();
        }
        assert!(files[0] == files[1]);
        assert!(files[0].len() < 150_000, "{} bytes", files[0].len());
    }
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

#[test]
fn a_report_beyond_its_limit_is_thinned() {
    let mut report = Report::new("r");
    let t: Vec<f64> = (0..50_000).map(f64::from).collect();
    // noise of a fixed rule, which cannot be packed well
    let noise =
        |k: &f64| f64::from((*k as u32 ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(13).wrapping_mul(5));
    let y: Vec<f64> = t.iter().map(noise).collect();
    let bare = render(&report).len();
    report.section("s").push(Chart::over_time("c", "y").with(Series::lines("s", t, y)));
    let all = render(&report);
    assert!(!all.contains("\"thinned\":[8"), "nothing is thinned below the limit");
    report.limit = (bare + all.len()) / 2;
    let thinned = render(&report);
    assert!(thinned.len() <= report.limit, "{} bytes", thinned.len());
    assert!(thinned.contains("\"thinned\":["));
}
