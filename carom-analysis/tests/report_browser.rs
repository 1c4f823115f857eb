//! Opens reports in a real browser: everything is drawn, nothing fails, curves are true at every zoom, and zoom, time,
//! lists and print work together.
//!
//! With `CAROM_KEEP_REPORT=folder` the reports are written there for looking at.

mod browser;

use browser::with_script;
use carom_analysis::report::{
    Animation, Bounds, Callout, Cell, Chart, Colour, Dash, Figure, Geometry, Image, Lane, Parameter, Place, Portrait,
    Report, RunPage, Series, SeriesStyle, Shape, Tab, Table, Values,
};
use serde_json::Value;

const GRAVITY: f64 = 9.81;
const NASTY: &str =
    "</script><script>document.title='hacked'</script><img src=x onerror=\"throw 1\"> a<b & \"c\" %{y} $x$ <b>bold</b>";
/// Step of the rows [s]; impacts have a row before and one after besides.
const STEP: f64 = 1e-4;

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

    /// Times and speeds.
    fn impacts(&self) -> impl Iterator<Item = (f64, f64)> {
        self.flights.iter().map(|(start, length, speed)| (start + length, *speed))
    }

    /// Times, heights and velocities: a row per step, and two at each impact.
    fn rows(&self) -> [Vec<f64>; 3] {
        let mut rows: Vec<(f64, f64, f64)> =
            (0..=50_000).map(|k| f64::from(k) * STEP).map(|t| (t, self.state(t).0, self.state(t).1)).collect();
        for (t, speed) in self.impacts() {
            let at = rows.partition_point(|row| row.0 < t);
            rows.splice(at..at, [(t, 0.0, -speed), (t, 0.0, 0.8 * speed)]);
        }
        [rows.iter().map(|r| r.0).collect(), rows.iter().map(|r| r.1).collect(), rows.iter().map(|r| r.2).collect()]
    }
}

fn animation(ball: &Ball) -> Animation {
    let times: Vec<f64> = (0..=250).map(|k| f64::from(k) * 0.02).collect();
    let path = |t: f64| (0.45 * t - 1.2, ball.state(t).0);
    let frames = times.iter().flat_map(|&t| [path(t).0, path(t).1 + 0.1, 0.1]).collect();
    let foot = times.iter().flat_map(|&t| [path(t).0, 0.0, 0.0, 1.0]).collect();
    let ground = vec![-1.5, 0.0, 1.5, 0.0, 1.5, -0.08, -1.5, -0.08];
    let mut animation = Animation::new("Bouncing ball", times)
        .with(Shape::fixed("", Geometry::Polygon, ground).filled(Colour::Muted))
        .with(Shape::moving("ball", Geometry::Circle, frames).filled(Colour::Palette(0)).traced())
        .with(Shape::fixed("start", Geometry::Point, vec![-1.2, 1.1]).coloured(Colour::Palette(2)))
        .with(Shape::fixed("", Geometry::Polyline, vec![-1.5, 0.6, -1.5, 0.0, 1.5, 0.0, 1.5, 0.6]));
    animation.places.push(Place { contact: 0, frames: foot });
    animation.bounds = Some(Bounds { x: [-1.6, 1.6], y: [-0.15, 1.3] });
    animation
}

fn impact_table(ball: &Ball) -> Table {
    let mut table = Table::new("", ["t [s]", "contact", "velocity before [m/s]", "impulse [N s]"]);
    for (t, speed) in ball.impacts() {
        table.row([t.into(), "ground".into(), (-speed).into(), (0.2 * 1.8 * speed).into()]);
    }
    (table.total, table.file, table.time_column) = (Some(12_345), Some("impacts.parquet".into()), Some(0));
    table
}

fn run_report() -> Report {
    let ball = Ball::new();
    let [t, q, v] = ball.rows().map(Values::from);
    let signal = |name: &str, y: &Values, unit: &str| {
        Series::shared(name, SeriesStyle::Lines, t.clone(), y.clone()).in_unit(unit).jumping()
    };
    let signals = vec![signal("q.y", &q, "m"), signal("v.y", &v, "m/s")];
    let (times, impulses): (Vec<f64>, Vec<f64>) = ball.impacts().map(|(t, speed)| (t, 0.36 * speed)).unzip();
    let lane = Lane {
        name: "ground".into(),
        times: times.clone().into(),
        impulses: impulses.clone().into(),
        gap: Some(0),
        ..Lane::default()
    };
    let chart = |title: &str, series: Series| Chart::over_time(title, "").with(series);
    let stems = Series::new("ground", SeriesStyle::Stems, times.clone(), impulses).in_unit("N s");
    let many = (0..10).map(|k| Series::lines(format!("curve {k}"), vec![0.0, 5.0], vec![0.1 * f64::from(k); 2]));
    let mut folded = Chart::over_time("Many curves", "[m]");
    folded.series = many.collect();
    let mut report = Report::new("bouncing ball");
    report.run = Some(RunPage {
        state: "finished".into(),
        headline: vec![Figure { name: "steps".into(), value: "50000".into(), ..Figure::default() }],
        charts: vec![
            chart("Height", signals[0].clone()),
            chart("Velocity", signals[1].clone()),
            Chart { log_y: true, ..chart("Impulses", stems) },
            folded,
            Chart::over_time("Both", "").with(signals[0].clone()).with(signals[1].clone()),
        ],
        signals,
        lanes: vec![lane],
        marks: times,
        motion: Some(animation(&ball)),
        portraits: vec![Portrait { x: 0, y: 1, bound: None }],
        tabs: vec![
            Tab { title: "Impacts".into(), count: Some(41), blocks: vec![impact_table(&ball).into()] },
            Tab { title: NASTY.into(), ..Tab::default() },
        ],
        parameters: vec![Parameter::new("e", 0.8)],
        ..RunPage::default()
    });
    report
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
        let slope = Series::lines(format!("slope {order}"), steps.clone(), errors(order, 0.6 * factor));
        chart = chart
            .with(Series::new(name, SeriesStyle::LinesAndMarkers, steps.clone(), measured).coloured(index))
            .with(slope.dashed(Dash::Dash).coloured(index));
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

fn study_report() -> Report {
    let mut report = Report::new("Studies");
    report.subtitle = NASTY.into();
    let (chart, table) = study();
    report.section("Convergence").callout(Callout::Warning, "one of two").push(chart).push(table);
    let angle: Vec<f64> = (0..=100).map(|k| f64::from(k) * 0.0628).collect();
    let (x, y) = angle.iter().map(|a| (a.cos(), a.sin())).unzip();
    let circle = Chart::new("Trajectory", "x [m]", "y [m]").with(Series::lines("circle", x, y));
    report.section("Gallery").gallery().push(bifurcation()).push(Chart { equal_axes: true, ..circle });
    let image = Image {
        title: "Basins".into(),
        labels: ["x [m]".into(), "v [m/s]".into()],
        ranges: [[-1.0, 1.0], [-2.0, 2.0]],
        swatches: vec![([26, 104, 189], "attractor 1".into())],
        width: 20,
        cells: (0..400).map(|k| if k % 3 == 0 { [26, 104, 189] } else { [240, 74, 18] }).collect(),
        ..Image::default()
    };
    report.section("Image").push(image);
    let gaps = vec![1.0, f64::NAN, f64::INFINITY, 2.0];
    let gaps = Series::new(NASTY, SeriesStyle::LinesAndMarkers, vec![0.0, 1.0, 2.0, 3.0], gaps);
    let mut nasty_table = Table::new(NASTY, [NASTY, "value"]);
    nasty_table
        .row([NASTY.into(), Cell::Number(f64::NAN)])
        .row(["b".into(), 10.0.into()])
        .row(["a".into(), 9.0.into()]);
    report
        .section(format!("Nasty names {NASTY}"))
        .callout(Callout::Failure, NASTY)
        .paragraph(NASTY)
        .facts([(NASTY, NASTY)])
        .push(Chart::new(NASTY, NASTY, NASTY).linked(NASTY).with(gaps))
        .push(nasty_table)
        .push(Chart::new("Without data", "x", "y"));
    report.section("Model file").preformatted("ball.toml", "version = 1\n# 1 < 2 && \"a\"\n");
    report
}

fn html(name: &str, report: &Report) -> String {
    let mut bytes = Vec::new();
    report.write(&mut bytes).unwrap();
    if let Some(folder) = std::env::var_os("CAROM_KEEP_REPORT") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), &bytes).unwrap();
    }
    String::from_utf8(bytes).unwrap()
}

/// Opens the report of the run with a script and returns what the script does; nothing where there is no browser.
fn ask(script: &str) -> Option<Value> {
    let page = browser::open_text(&with_script(&html("run", &run_report()), script))?;
    page.assert_drawn(5, 1);
    Some(page.answer())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

#[test]
fn studies_are_drawn_without_errors_and_names_are_no_markup() {
    let Some(page) = browser::open_text(&html("study", &study_report())) else { return };
    page.assert_drawn(6, 0);
    assert!(page.document.contains("<title>Studies</title>"));
    assert!(page.tags("img").is_empty() && !page.document.contains("<b>"), "a name became markup");
}

#[test]
fn an_error_is_counted_and_shown() {
    let broken = html("run", &run_report()).replacen("\"title\":\"Velocity\"", "\"heading\":\"Velocity\"", 1);
    let broken = broken.replacen("\"series\":[{\"name\":\"v.y\"", "\"lost\":[{\"name\":\"v.y\"", 1);
    let Some(page) = browser::open_text(&broken) else { return };
    assert_eq!(page.root("data-errors"), Some("1"));
    assert_eq!(page.root("data-ready"), Some("true"), "the other charts are drawn all the same");
    assert!(page.document.contains("Part of this report could not be shown."));
}

/// What the browser decodes is the closed form, as exactly as `store.rs` says.
#[test]
fn columns_come_through_as_exact_as_stated() {
    let script = "const [x, y] = [0, 1].map((k) => report.charts[k].curves[0]);
        return {t: Array.from(x.X.v), q: Array.from(x.Y.v), v: Array.from(y.Y.v)};";
    let Some(found) = ask(script) else { return };
    let worst = |name: &str, exact: &[f64]| {
        let found = numbers(&found[name]);
        assert_eq!(found.len(), exact.len());
        found.iter().zip(exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let [t, q, v] = Ball::new().rows();
    assert!(worst("t", &t) <= 5.0 * 1e-12, "{:e}", worst("t", &t));
    assert!(worst("q", &q) <= 6e-8, "{:e}", worst("q", &q));
    assert!(worst("v", &v) <= 8.0 * 6e-8, "{:e}", worst("v", &v));
}

/// At every zoom the drawn line has the extremes of the rows in the window, and near by every row itself.
#[test]
fn curves_are_true_at_every_zoom() {
    let windows = [(0.0, 5.0), (0.4, 1.4), (0.44, 0.46), (2.0, 2.004)];
    let script = format!(
        "const look = ([a, b]) => {{
            report.zoom(a, b);
            report.drawNow();
            return [0, 1].map((k) => report.trace(k, 0));
         }};
         return {}.map(look);",
        serde_json::to_string(&windows).unwrap()
    );
    let Some(found) = ask(&script) else { return };
    let [t, q, v] = Ball::new().rows();
    for (window, &(a, b)) in windows.iter().enumerate() {
        let rows: Vec<usize> = (0..t.len()).filter(|k| (a..=b).contains(&t[*k])).collect();
        for (chart, exact) in [&q, &v].into_iter().enumerate() {
            let drawn: Vec<Vec<f64>> = found[window][chart].as_array().unwrap().iter().map(numbers).collect();
            let extreme = |values: &mut dyn Iterator<Item = f64>| {
                values.fold((f64::MAX, f64::MIN), |(low, high), y| (low.min(y), high.max(y)))
            };
            // lines that leave the window have one row more at each side; dense ones are drawn in the middle of pixels
            let pixel = (b - a) / 300.0;
            let inside = drawn.iter().filter(|p| (a - pixel..=b + pixel).contains(&p[0]));
            let (low, high) = extreme(&mut inside.map(|p| p[1]));
            let (least, most) = extreme(&mut rows.iter().map(|k| exact[*k]));
            let slack = 1e-6 * (most - least) + 1e-6;
            assert!(
                (low - least).abs() <= slack && (high - most).abs() <= slack,
                "window {a} to {b}: {low} to {high} drawn, {least} to {most} in the rows"
            );
            if rows.len() < 300 {
                for k in &rows {
                    let near = drawn.iter().any(|p| (p[0] - t[*k]).abs() < 1e-9 && (p[1] - exact[*k]).abs() < slack);
                    assert!(near, "row at t = {} is not drawn between {a} and {b}", t[*k]);
                }
            }
        }
    }
}

/// A jump has both values in the read-out, and the line does not join them.
#[test]
fn jumps_are_shown_as_jumps() {
    let script =
        "report.goto(report.time.marks[0]); report.zoom(report.time.marks[0] - 1e-3, report.time.marks[0] + 1e-3);
        report.drawNow(); return report.charts[1].figure.querySelector('.v').textContent;";
    let Some(found) = ask(script) else { return };
    // sqrt(2 g) = 4.4294, and 0.8 of it
    assert_eq!(found, "−4.429 → 3.544");
    // with a hundred rows per pixel the lines still do not join both sides: dotted pieces do
    let script = "const dashes = []; let dash = '';
        const chart = report.charts[1], [curve] = chart.curves;
        const known = {setLineDash: (list) => { dash = list.join(); }, stroke: () => dashes.push(dash)};
        const recorder = new Proxy(known, {get: (known, name) => known[name] ?? (() => {}), set: () => true});
        drawCurve(recorder, curve, chart.xAxis, chart.axes[0], chart.frame);
        return [dashes.filter((list) => list === '2,2').length, curve.jumpRows().length, curve.X.v.length];";
    let found = numbers(&ask(script).unwrap());
    assert_eq!(found[..2], [1.0, Ball::new().impacts().count() as f64]);
    assert!(found[2] > 50_000.0, "{found:?}");
}

/// A band of many turns per pixel has no dashes, which would be a pattern of their own, and others are seen through it.
#[test]
fn bands_are_solid_and_let_others_shine_through() {
    let t: Vec<f64> = (0..100_000).map(|k| f64::from(k) * 1e-5).collect();
    let wave = |phase: f64| t.iter().map(|t| (3e4 * t + phase).sin()).collect::<Vec<_>>();
    let mut report = Report::new("r");
    let chart = Chart::over_time("waves", "[V]")
        .with(Series::lines("a", t.clone(), wave(0.0)))
        .with(Series::lines("b", t.clone(), wave(1.0)).dashed(Dash::Dash))
        .with(Series::lines("slow", t.clone(), t.clone()).dashed(Dash::Dash));
    report.section("s").push(chart);
    let script = "const chart = report.charts[0];
        return chart.curves.map((curve) => {
            const told = {};
            const stroke = () => { told.drawn = {...told}; };
            const known = {setLineDash: (list) => { told.dash = list.length; }, stroke};
            const set = (known, name, value) => { told[name] = value; return true; };
            drawCurve(new Proxy(known, {get: (known, name) => known[name] ?? (() => {}), set}),
                curve, chart.xAxis, chart.axes[0], chart.frame);
            return [told.drawn.dash, told.drawn.globalAlpha ?? 1];
        });";
    let Some(page) = browser::open_text(&with_script(&html("bands", &report), script)) else { return };
    assert_eq!(page.answer(), serde_json::json!([[0, 0.6], [0, 0.6], [2, 1]]));
}

#[test]
fn zoom_time_lists_and_motion_work_together() {
    let script = "
        const [q, v, , many, both] = report.charts;
        const drag = (chart, from, to) => {
            const {left, top} = chart.plot.getBoundingClientRect();
            const at = (x, y) => ({clientX: left + x, clientY: top + y, button: 0, pointerId: 1, bubbles: true});
            chart.plot.dispatchEvent(new PointerEvent('pointerdown', at(...from)));
            chart.plot.dispatchEvent(new PointerEvent('pointermove', at(...to)));
            chart.plot.dispatchEvent(new PointerEvent('pointerup', at(...to)));
            report.drawNow();
        };
        const found = {};
        const middle = (q.frame.y0 + q.frame.y1) / 2;
        drag(q, [q.xAxis.at(1), middle], [q.xAxis.at(2), middle + 3]);
        found.zoomed = [v.span.x0, v.span.x1];
        q.plot.dispatchEvent(new MouseEvent('dblclick')); report.drawNow();
        found.whole = [q.span.x0, q.span.x1];
        drag(v, [v.xAxis.at(3), 40], [v.xAxis.at(3), 40]);
        found.clicked = report.time.t;
        document.querySelectorAll('tr[data-time]')[3].click(); report.drawNow();
        found.seek = [report.time.t, Number(document.querySelector('#scene canvas').dataset.time)];
        found.marked = document.querySelectorAll('tr.at').length;
        found.note = document.querySelector('#clock-note').textContent;
        found.tile = document.querySelector('tr.at .tile').style.background;
        report.goto(report.time.t + 1e-10); found.caught = report.time.t;
        const key = (name, more) => {
            dispatchEvent(new KeyboardEvent('keydown', {key: name, ...more}));
            report.drawNow();
        };
        key('ArrowRight'); found.next = report.time.t;
        key('Home'); found.home = report.time.t;
        key('ArrowRight', {shiftKey: true}); found.row = report.time.t;
        key('End'); found.end = report.time.t;
        key('Home');
        window.requestAnimationFrame = (draw) => setTimeout(() => draw(performance.now()), 16);
        report.play(true); await pause(400); report.play(false);
        found.played = report.time.t;
        found.shown = many.curves.filter((curve) => curve.on).length;
        found.more = many.figure.querySelector('.more').textContent;
        found.units = both.axes.map((axis) => axis.shown);
        return found;
    ";
    let Some(found) = ask(script) else { return };
    let zoomed = numbers(&found["zoomed"]);
    assert!((zoomed[0] - 1.0).abs() < 1e-6 && (zoomed[1] - 2.0).abs() < 1e-6, "{zoomed:?}");
    assert_eq!(numbers(&found["whole"]), [0.0, 5.0]);
    assert!((found["clicked"].as_f64().unwrap() - 3.0).abs() < 1e-6);
    // the fourth and the fifth impact in closed form: t = t₀ (1 + 2·(0.8 + 0.8² + ...)), t₀ = sqrt(2/g)
    let impact = |terms: i32| (2.0 / GRAVITY).sqrt() * (1.0 + 2.0 * (1..terms).map(|k| 0.8f64.powi(k)).sum::<f64>());
    let seek = numbers(&found["seek"]);
    assert!(seek.iter().all(|t| (t - impact(4)).abs() < 1e-9), "{seek:?} {}", impact(4));
    assert_eq!(found["marked"], 1);
    assert_eq!((&found["note"], &found["tile"]), (&"impact at ground".into(), &"var(--c0)".into()));
    assert!((found["caught"].as_f64().unwrap() - impact(4)).abs() < 1e-11, "the time is that of the impact");
    assert!((found["next"].as_f64().unwrap() - impact(5)).abs() < 1e-9);
    assert_eq!(found["home"], 0.0);
    assert!((found["row"].as_f64().unwrap() - STEP).abs() < 1e-11);
    assert_eq!(found["end"], 5.0);
    let played = found["played"].as_f64().unwrap();
    assert!((0.02..1.5).contains(&played), "{played} s after 0.4 s");
    assert_eq!((&found["shown"], &found["more"]), (&8.into(), &"2 more…".into()));
    assert_eq!(found["units"], serde_json::json!(["m", "m/s"]));
}

/// Walls and ground are hatched on the side where nothing moves: left is 1, right is -1 of their direction.
#[test]
fn walls_are_hatched_on_their_solid_side() {
    let script = "
        const line = (geometry, fixed, more) =>
            ({geometry, fixed, fill: null, stroke: {dashed: false}, ...more});
        const solid = (wall, ...moving) => {
            findSolid({shapes: [wall, ...moving], bounds: {x: [-1, 1], y: [-1, 1]}});
            return wall.solid ?? null;
        };
        const ball = (xs, ys, r) => ({geometry: 'circle', columns: [xs, ys, xs.map(() => r)]});
        const [above, below] = [ball([0, 0.2], [0.5, 0.1], 0.1), ball([0, 0.2], [-0.5, -0.1], 0.1)];
        const ground = () => line('segment', [-1, 0, 1, 0]);
        const found = {};
        found.ground = [solid(ground(), above), solid(line('segment', [1, 0, -1, 0]), above), solid(ground(), below)];
        found.none = [
            solid(ground(), above, below), solid(ground(), ball([0, 0], [0.9, 0.5], 0.1)), solid(ground()),
            solid(ground(), ball([0, 0], [0.9, -0.9], 0.1)), solid(line('segment', [0.5, 0, 1, 0]), above),
            solid(line('segment', [-1, 0, 1, 0], {stroke: {dashed: true}}), above),
            solid(line('circle', [0, 0, 0.05]), ball([0, 0.5], [0, 0.5], 0.01)),
        ];
        found.through = solid(ground(), above, ball([0, 0], [0.9, -0.9], 0.1));
        // stairs: a step down to the right, walls to the right of the way
        const stairs = line('polyline', [-1, 0.5, 0, 0.5, 0, 0, 1, 0]);
        found.stairs = solid(stairs, ball([-0.5, -0.5, 0.5, 0.5], [0.9, 0.6, 0.6, 0.1], 0.1));
        found.ring = solid(line('circle', [0, 0, 1]), ball([0, 0.5], [0, 0], 0.5));
        const strokes = [];
        const nothing = () => {};
        const recorder = new Proxy({canvas: {width: 400, height: 400}, lineTo: (x, y) => strokes.push([x, y])}, {
            get: (known, name) => known[name] ?? nothing,
            set: () => true,
        });
        hatch(recorder, stairs, stairs.fixed, {k: 200, X: (x) => 200 + 200 * x, Y: (y) => 200 - 200 * y});
        found.count = strokes.length;
        found.inside = strokes.filter(([x, y]) => x < 201 ? y > 100 : y > 200).length;
        return found;
    ";
    let Some(found) = ask(script) else { return };
    assert_eq!(found["ground"], serde_json::json!([-1, 1, 1]));
    let none = found["none"].as_array().unwrap();
    assert!(none.iter().all(|solid| solid.as_f64().unwrap_or(0.0) == 0.0), "{none:?}");
    assert_eq!(found["through"], -1, "what goes through does not count");
    assert_eq!((&found["stairs"], &found["ring"]), (&(-1).into(), &(-1).into()));
    // 500 pixels of line with a stroke each seven
    assert!((60..=75).contains(&found["count"].as_u64().unwrap()), "{}", found["count"]);
    assert_eq!(found["inside"], found["count"], "all strokes are in the solid");
}

/// Before print everything is drawn light, at three pixels per point, and long tables are cut with a count.
#[test]
fn paper_is_light_sharp_and_whole() {
    let script = "
        const plot = () => report.charts[0];
        const before = plot().base.width / plot().size.w;
        dispatchEvent(new Event('beforeprint'));
        const found = {
            sharp: plot().base.width / plot().size.w, before,
            paper: getComputedStyle(document.body).backgroundColor,
            hidden: getComputedStyle(document.querySelector('#bar')).display,
            cut: getComputedStyle(document.querySelector('tr.cut')).display,
            // a button in a head is not repeated on the next sheet
            buttons: document.querySelectorAll('th button').length,
            heads: document.querySelectorAll('th [role=button]').length,
            panes: Array.from(document.querySelectorAll('.pane'), (pane) => getComputedStyle(pane).display),
        };
        dispatchEvent(new Event('afterprint'));
        found.after = plot().base.width / plot().size.w;
        return found;
    ";
    let Some(found) = ask(script) else { return };
    let ratio = |name: &str| found[name].as_f64().unwrap().round();
    assert_eq!((ratio("before"), ratio("sharp"), ratio("after")), (1.0, 3.0, 1.0));
    assert_eq!(found["paper"], "rgb(255, 255, 255)");
    assert_eq!((&found["hidden"], &found["cut"]), (&"none".into(), &"none".into()));
    assert_eq!(found["panes"], serde_json::json!(["block", "block"]));
    assert_eq!((&found["buttons"], &found["heads"]), (&0.into(), &4.into()));
}

/// Over the limit the chart says so, and its peak is that of the data.
#[test]
fn a_thinned_chart_says_so_and_keeps_its_peak() {
    let n = 60_000;
    let t: Vec<f64> = (0..n).map(f64::from).collect();
    // noise of a fixed rule, which cannot be packed well
    let noise = |k: u32| f64::from((k ^ 0x9e37_79b9).wrapping_mul(0x85eb_ca6b).rotate_left(13).wrapping_mul(5)) / 4.3e9;
    let mut y: Vec<f64> = (0..n).map(noise).collect();
    y[44_444] = 25.0;
    let mut report = Report::new("r");
    let mut chart = Chart::over_time("noise", "y [N]").with(Series::lines("s", t, y));
    chart.file = Some("<all>.parquet".into());
    report.section("s").push(chart);
    report.limit = 250_000;
    let script = "const [curve] = report.charts[0].curves; const row = curve.Y.v.indexOf(Math.max(...curve.Y.v));
        return [curve.X.v[row], curve.Y.v[row], curve.X.v.length];";
    let Some(page) = browser::open_text(&with_script(&html("thinned", &report), script)) else { return };
    page.assert_drawn(1, 0);
    assert!(page.document.contains("Thinned, extremes kept") && page.document.contains("&lt;all&gt;.parquet"));
    let found = numbers(&page.answer());
    assert!((found[0] - 44_444.0).abs() < 1e-6 && (found[1] - 25.0).abs() < 2e-6 && found[2] < 50_000.0, "{found:?}");
}
