//! Opens reports in a real browser: everything is drawn, nothing fails, and zoom, tables, time and animation work
//! together.
//!
//! With `CAROM_KEEP_REPORT=file` the report is written there for looking at.

mod browser;

use browser::attribute;
use carom_analysis::report::{
    Animation, Bounds, Callout, Cell, Chart, Colour, Contact, Coordinates, Dash, Decimator, Geometry, Report, Series,
    SeriesStyle, Shape, Table,
};

const GRAVITY: f64 = 9.81;
const NASTY: &str =
    "</script><script>document.title='hacked'</script><img src=x onerror=\"throw 1\"> a<b & \"c\" %{y} $x$ <b>bold</b>";

/// A ball dropped from 1 m with restitution 0.8: positions, velocities and impacts in closed form.
struct Ball {
    /// Start, length and initial speed of each flight; the first is the second half of one from the ground.
    flights: Vec<(f64, f64, f64)>,
}

impl Ball {
    fn new() -> Self {
        let speed = (2.0 * GRAVITY).sqrt();
        let mut flights = vec![(-speed / GRAVITY, 2.0 * speed / GRAVITY, speed)];
        for _ in 0..40 {
            let &(start, length, speed) = flights.last().unwrap();
            flights.push((start + length, 0.8 * length, 0.8 * speed));
        }
        Self { flights }
    }

    fn state(&self, t: f64) -> (f64, f64) {
        match self.flights.iter().rev().find(|(start, ..)| *start <= t) {
            Some((start, length, speed)) if t < start + length => {
                let s = t - start;
                (speed * s - GRAVITY / 2.0 * s * s, speed - GRAVITY * s)
            }
            _ => (0.0, 0.0),
        }
    }

    fn impacts(&self) -> impl Iterator<Item = (f64, f64)> {
        self.flights.iter().map(|(start, length, speed)| (start + length, *speed))
    }
}

fn time_histories(ball: &Ball) -> (Chart, Chart) {
    let mut decimator = Decimator::new(2, 3000);
    for k in 0..50_000 {
        let t = f64::from(k) * 1e-4;
        let (q, v) = ball.state(t);
        decimator.push(t, &[q, v]);
    }
    let mut columns = decimator.finish().into_iter();
    let (t, q) = columns.next().unwrap();
    let position = Chart::over_time("Height of the ball", "q [m]").with(Series::lines("height", t, q));
    let (t, v) = columns.next().unwrap();
    let velocity = Chart::over_time("Velocity", "v [m/s]").with(Series::lines("velocity v", t, v)).with(
        Series::steps("impulse λ, summed", ball.impacts().map(|i| i.0).collect(), summed(ball)).dashed(Dash::Dot),
    );
    (position, velocity)
}

fn summed(ball: &Ball) -> Vec<f64> {
    let mut sum = 0.0;
    ball.impacts()
        .map(|(_, speed)| {
            sum += 0.2 * 1.8 * speed;
            sum
        })
        .collect()
}

fn animation(ball: &Ball) -> Animation {
    let times: Vec<f64> = (0..=250).map(|k| f64::from(k) * 0.02).collect();
    let path = |t: f64| (0.45 * t - 1.2, ball.state(t).0);
    let frames = times.iter().flat_map(|&t| [path(t).0, path(t).1 + 0.1, 0.1]).collect();
    let spoke = times.iter().flat_map(|&t| {
        let (x, y) = path(t);
        [x, y + 0.1, x + 0.1 * (4.5 * t).sin(), y + 0.1 + 0.1 * (4.5 * t).cos()]
    });
    let spoke = spoke.collect();
    let foot = times.iter().flat_map(|&t| [path(t).0, 0.0]).collect();
    let mut contact = Contact { position: Some(Coordinates::Moving(foot)), ..Contact::new("ball – ground") };
    for (t, _) in ball.impacts() {
        contact.act(t, t, 1e-3);
    }
    let ground = vec![-1.5, 0.0, 1.5, 0.0, 1.5, -0.08, -1.5, -0.08];
    let mut animation = Animation::new("Bouncing ball", times)
        .with(Shape::fixed("", Geometry::Polygon, ground).filled(Colour::Muted))
        .with(Shape::moving("ball", Geometry::Circle, frames).filled(Colour::Palette(0)).traced())
        .with(Shape::moving("", Geometry::Segment, spoke))
        .with(Shape::fixed("start", Geometry::Point, vec![-1.2, 1.1]).coloured(Colour::Palette(2)))
        .with(Shape::fixed("", Geometry::Polyline, vec![-1.5, 0.6, -1.5, 0.0, 1.5, 0.0, 1.5, 0.6]));
    animation.contacts = vec![contact, Contact::new("ball – wall")];
    animation.bounds = Some(Bounds { x: [-1.6, 1.6], y: [-0.15, 1.3] });
    animation
}

fn study() -> (Chart, Table) {
    let steps: Vec<f64> = (0..8).map(|k| 0.1 / f64::from(1 << k)).collect();
    let errors = |order: i32, factor: f64| steps.iter().map(|h| factor * h.powi(order)).collect::<Vec<_>>();
    let mut chart = Chart::new("Error over step size", "h [s]", "error [m]").log_log();
    let mut table = Table::new("Measured errors", ["scheme", "h [s]", "error [m]", "order"]);
    for (index, (name, order, factor)) in [("moreau-jean", 1, 0.8), ("radau-iia", 3, 2.0)].into_iter().enumerate() {
        let mut measured = errors(order, factor);
        for (k, (h, error)) in steps.iter().zip(&measured).enumerate() {
            let rate = (k > 0).then(|| f64::from(order));
            table.row([name.into(), (*h).into(), (*error).into(), rate.into()]);
        }
        if index == 1 {
            measured[3] = f64::NAN;
        }
        chart =
            chart.with(Series::new(name, SeriesStyle::LinesAndMarkers, steps.clone(), measured).coloured(index)).with(
                Series::lines(format!("slope {order}"), steps.clone(), errors(order, 0.6 * factor))
                    .dashed(Dash::Dash)
                    .coloured(index),
            );
    }
    (chart, table)
}

fn bifurcation() -> Chart {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for k in 0..600 {
        let rate = 2.8 + 1.2 * f64::from(k) / 600.0;
        let mut state = 0.3;
        for iteration in 0..300 {
            state = rate * state * (1.0 - state);
            if iteration >= 270 {
                x.push(rate);
                y.push(state);
            }
        }
    }
    Chart::new("Logistic map", "rate r [-]", "x [-]").with(Series::markers("attractor", x, y))
}

fn report() -> Report {
    let ball = Ball::new();
    let (position, velocity) = time_histories(&ball);
    let mut impacts = Table::new("Impacts", ["#", "t [s]", "contact", "velocity before [m/s]", "impulse [N s]"]);
    for (k, (t, speed)) in ball.impacts().enumerate() {
        impacts.row([k.into(), t.into(), "ball – ground".into(), (-speed).into(), (0.2 * 1.8 * speed).into()]);
    }
    (impacts.shown, impacts.total, impacts.file, impacts.time_column) =
        (30, Some(12_345), Some("impacts.csv".into()), Some(1));

    let mut report = Report::new("Bouncing ball");
    report.subtitle = "Moreau-Jean, θ = 1/2, h = 1e-4 s, 50 000 steps".into();
    let summary = report.section("Summary");
    summary
        .paragraph("A ball of 0.2 kg is dropped from a height of 1 m on rigid ground with restitution 0.8. Its impacts accumulate.")
        .facts([("scheme", "moreau-jean"), ("solver", "nsgs"), ("steps", "50 000"), ("impacts", "41"), ("worst residual", "3.1e-13"), ("largest penetration [m]", "2.2e-5"), ("wall time [s]", "0.18")])
        .callout(Callout::Info, "All steps were certified below the tolerance 1e-10.")
        .callout(Callout::Warning, "Impacts after t = 4.06 s are closer together than the step.");
    report.section("Animation").push(animation(&ball));
    report.section("Time histories").push(position).push(velocity);
    report.section("Impacts").push(impacts);
    let (chart, table) = study();
    report.section("Convergence").push(chart).push(table);
    let phase = Chart::new("Trajectory", "x [m]", "y [m]");
    let circle: Vec<f64> = (0..=100).map(|k| f64::from(k) * 0.0628).collect();
    let phase = phase.with(Series::lines(
        "circle",
        circle.iter().map(|a| a.cos()).collect(),
        circle.iter().map(|a| a.sin()).collect(),
    ));
    report.section("Gallery").gallery().push(bifurcation()).push(Chart { equal_axes: true, ..phase });
    let gaps = Series::new(
        NASTY,
        SeriesStyle::LinesAndMarkers,
        vec![0.0, 1.0, 2.0, 3.0],
        vec![1.0, f64::NAN, f64::INFINITY, 2.0],
    );
    let many = (0..10)
        .map(|k| Series::lines(format!("curve {k}"), vec![0.0, 3.0], vec![0.1 * f64::from(k), 0.2 * f64::from(k)]));
    let mut nasty = Chart::new(NASTY, NASTY, NASTY).linked(NASTY).with(gaps);
    nasty.series.extend(many);
    let mut nasty_table = Table::new(NASTY, [NASTY, "value"]);
    nasty_table
        .row([NASTY.into(), Cell::Number(f64::NAN)])
        .row(["b".into(), 10.0.into()])
        .row(["a".into(), 9.0.into()]);
    let mut empty = Animation::new(NASTY, vec![]);
    empty.contacts.push(Contact::new(NASTY));
    report
        .section(format!("Nasty names {NASTY}"))
        .callout(Callout::Failure, NASTY)
        .paragraph(NASTY)
        .facts([(NASTY, NASTY)])
        .push(nasty)
        .push(nasty_table)
        .push(Chart::new("Without data", "x", "y"))
        .push(empty);
    report.section("Model file").preformatted(
        "ball.toml",
        "version = 1\nname = \"bouncing ball\"\n\n[model]\nkind = \"lagrangian\"\n# 1 < 2 && \"a\"\n",
    );
    report
}

fn html() -> String {
    let mut bytes = Vec::new();
    report().write(&mut bytes).unwrap();
    if let Some(file) = std::env::var_os("CAROM_KEEP_REPORT") {
        std::fs::write(file, &bytes).unwrap();
    }
    String::from_utf8(bytes).unwrap()
}

/// Appends a script that runs when the report is drawn and leaves its findings in attributes of the root element.
fn with_script(html: &str, script: &str) -> String {
    let runner = format!(
        "<script>(async () => {{ const root = document.documentElement, pause = (ms) => new Promise((done) => setTimeout(done, ms));
        while (root.dataset.ready !== 'true') await pause(20);
        {script}
        root.dataset.done = 'true'; }})();</script></body>"
    );
    html.replace("</body>", &runner)
}

#[test]
fn everything_is_drawn_without_errors() {
    let html = html();
    println!("report of {} bytes", html.len());
    let Some(page) = browser::open_text(&html) else { return };
    page.assert_drawn(7, 2);
    let canvases = page.tags("canvas");
    let frames: Vec<_> = canvases.iter().filter_map(|tag| attribute(tag, "data-frames")).collect();
    assert_eq!(frames, ["251", "0"]);
    assert!(page.document.contains("<title>Bouncing ball</title>"));
    assert!(page.tags("img").is_empty(), "a name became markup");
    assert!(!page.document.contains("<b>"), "a name became markup");
    // one curve per series: height, velocity and impulse, two schemes with slopes, circle, one with gaps and ten lines
    assert_eq!(page.document.matches("class=\"trace scatter").count(), 3 + 4 + 1 + 11);
}

#[test]
fn an_error_is_counted_and_shown() {
    let broken = html().replace("id=\"chart-2-data\"", "id=\"chart-2-lost\"");
    let Some(page) = browser::open_text(&broken) else { return };
    assert_eq!(page.root("data-errors"), Some("1"));
    assert_eq!(page.root("data-ready"), Some("true"), "the other charts are drawn all the same");
    assert!(page.document.contains("Part of this report could not be shown."));
}

#[test]
fn zoom_tables_time_and_animation_work_together() {
    let script = "
        const chart = (k) => document.getElementById('chart-' + k);
        await Plotly.relayout(chart(1), {'xaxis.range[0]': 1, 'xaxis.range[1]': 2});
        await pause(50);
        root.dataset.linked = JSON.stringify(chart(2).layout.xaxis.range);
        root.dataset.free = String(chart(3).layout.xaxis.autorange);
        await Plotly.relayout(chart(2), {'xaxis.autorange': true});
        await pause(50);
        root.dataset.reset = String(chart(1).layout.xaxis.autorange);

        const row = document.querySelectorAll('tr[data-time]')[3];
        row.click();
        await pause(50);
        const canvas = document.querySelector('canvas[data-frames]');
        root.dataset.seek = canvas.dataset.time;
        root.dataset.cursors = String(document.querySelectorAll('.cursor:not([hidden])').length);

        const table = Array.from(document.querySelectorAll('table')).pop();
        const column = () => Array.from(table.tBodies[0].rows, (row) => row.cells[1].textContent).join(' ');
        const button = table.tHead.rows[0].cells[1].firstElementChild;
        button.click(); root.dataset.ascending = column();
        button.click(); root.dataset.descending = column();

        const key = (name) => canvas.dispatchEvent(new KeyboardEvent('keydown', {key: name}));
        key('Home'); root.dataset.home = canvas.dataset.time;
        key('ArrowRight'); root.dataset.step = canvas.dataset.time;
        key('End'); root.dataset.end = canvas.dataset.time;
        // frames stand still in the virtual time of the test
        window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
        key('Home'); key(' ');
        await pause(400);
        root.dataset.played = canvas.dataset.time;
        key(' ');
        const stopped = canvas.dataset.time;
        await pause(100);
        root.dataset.paused = String(stopped === canvas.dataset.time);
    ";
    let Some(page) = browser::open_text(&with_script(&html(), script)) else { return };
    page.assert_drawn(7, 2);
    assert_eq!(page.root("data-done"), Some("true"), "console: {:#?}", page.console);
    assert_eq!(page.root("data-linked"), Some("[1,2]"));
    assert_eq!(page.root("data-free"), Some("true"));
    assert_eq!(page.root("data-reset"), Some("true"));
    // the fourth impact in closed form: t = t₀ (1 + 2·(0.8 + 0.8² + 0.8³)), t₀ = sqrt(2/g)
    let fourth = (2.0 / GRAVITY).sqrt() * (1.0 + 2.0 * (0.8 + 0.64 + 0.512));
    let seek: f64 = page.root("data-seek").unwrap().parse().unwrap();
    assert!((seek - fourth).abs() < 1e-12, "{seek} {fourth}");
    assert_eq!(page.root("data-cursors"), Some("2"));
    assert_eq!(page.root("data-ascending"), Some("9 10 NaN"));
    assert_eq!(page.root("data-descending"), Some("NaN 10 9"));
    assert_eq!(page.root("data-home"), Some("0"));
    assert_eq!(page.root("data-step"), Some("0.025"));
    assert_eq!(page.root("data-end"), Some("5"));
    let played: f64 = page.root("data-played").unwrap().parse().unwrap();
    assert!((0.1..1.5).contains(&played), "{played} s after 0.4 s");
    assert_eq!(page.root("data-paused"), Some("true"));
}
