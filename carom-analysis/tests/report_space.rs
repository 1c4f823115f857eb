//! Opens reports of spatial models in a real browser: the picture is there, is true, follows the time, and many bodies
//! and small windows are no harm.
//!
//! With `CAROM_KEEP_REPORT=folder` the reports are written there for looking at.

mod browser;
mod space;

use browser::{open_text, open_text_at, with_script};
use carom_analysis::report::{Colour, Part, Report, Solid, Space, SpaceBody};
use serde_json::Value;
use space::{balls, height, impacts, report, rows, zoo};

fn html(name: &str, report: &Report) -> String {
    let mut bytes = Vec::new();
    report.write(&mut bytes).unwrap();
    if let Some(folder) = std::env::var_os("CAROM_KEEP_REPORT") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.html")), &bytes).unwrap();
    }
    String::from_utf8(bytes).unwrap()
}

/// `pixels(t)`: the picture at a time as numbers; `colours(list)`: how many different ones.
const TOOLS: &str = "
    const view = report.space;
    const pixels = (t) => {
        if (t !== undefined) report.goto(t);
        report.drawNow();
        view.draw();
        const {width, height} = view.picture;
        const copy = document.createElement('canvas');
        [copy.width, copy.height] = [width, height];
        const g = copy.getContext('2d');
        g.drawImage(view.picture, 0, 0);
        return new Uint32Array(g.getImageData(0, 0, width, height).data.buffer);
    };
    const colours = (list) => new Set(list).size;
    const differ = (a, b) => a.reduce((sum, x, i) => sum + (x !== b[i]), 0);
    const at = (list, [x, y]) => {
        const k = view.picture.width / view.camera.w;
        const p = list[Math.round(y * k) * view.picture.width + Math.round(x * k)];
        return [p & 255, p >> 8 & 255, p >> 16 & 255];
    };
";

fn ask(page: &str, size: Option<[u32; 2]>, script: &str) -> Option<Value> {
    let page = open_text_at(&with_script(page, &format!("{TOOLS}{script}")), size)?;
    page.assert_drawn(1, 1);
    Some(page.answer())
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap_or_else(|| panic!("{value}")).iter().map(|x| x.as_f64().unwrap_or(f64::NAN)).collect()
}

/// Every solid is drawn by WebGL2, the picture changes with the time, and toggles change it.
#[test]
fn solids_are_drawn_and_move() {
    let script = "
        const [one, other] = [pixels(0.1), pixels(0.8)];
        const found = {webgl: view.plot.dataset.webgl, colours: colours(one), all: one.length};
        found.moved = differ(one, other);
        found.same = differ(pixels(0.1), one);
        found.time = Number(view.picture.dataset.time);
        for (const name of ['trails', 'shadow', 'joints']) {
            view.options[name] = false;
            found[name] = differ(pixels(0.1), one);
            view.options[name] = true;
        }
        const hit = report.time.marks[1];
        const with_arrows = pixels(hit);
        found.arrows = view.arrows().length;
        view.options.forces = false;
        found.forces = differ(pixels(hit), with_arrows);
        found.words = document.querySelector('#space .note:not(.warn)').textContent;
        return found;
    ";
    let Some(found) = ask(&html("zoo", &report(zoo(200))), None, script) else { return };
    assert_eq!((&found["webgl"], &found["same"], &found["time"]), (&"true".into(), &0.into(), &0.1.into()));
    let count = |name: &str| found[name].as_u64().unwrap();
    assert!(count("colours") > 500, "{found}");
    assert!(count("moved") > count("all") / 50, "{found}");
    for name in ["trails", "shadow", "joints", "forces"] {
        assert!(count(name) > 20, "{name} draws nothing: {found}");
    }
    // the latest impulse of each of three contacts; the force of the second one gives way to its impulse
    assert_eq!(found["arrows"], 3, "{found}");
    assert_eq!(found["words"], "");
}

/// Bodies are where the closed form has them, at rows, at impacts and between, and their pixels have their colours.
#[test]
fn bodies_are_where_they_should_be() {
    let times = [0.0, 0.123_456, impacts()[0], impacts()[2], 1.999];
    let script = format!(
        "return {}.map((t) => {{
            const list = pixels(t);
            const body = view.scene.bodies[1], pose = view.scene.pose(body, view.scene.frame(t));
            return [...pose.p, ...pose.q, ...at(list, view.camera.project(pose.p))];
        }});",
        serde_json::to_string(&times).unwrap()
    );
    let Some(found) = ask(&html("zoo", &report(zoo(2000))), None, &script) else { return };
    for (t, found) in times.iter().zip(found.as_array().unwrap()) {
        let found = numbers(found);
        // between rows, 1 ms apart, the page goes straight ahead: g h²/8
        let expected = [-0.9, -0.6, 0.2 + height(*t), t.cos(), t.sin(), 0.0, 0.0];
        for (k, expected) in expected.into_iter().enumerate() {
            assert!((found[k] - expected).abs() < 3e-6, "t = {t}: {found:?}");
        }
        // the first colour of the palette is blue
        let [r, _, b] = found[7..] else { panic!("{found:?}") };
        assert!(b > 1.3 * r, "t = {t}: {found:?}");
    }
}

/// A ball of a millimetre, a kilometre away from the origin and from another one, is round and in place near by.
#[test]
fn near_by_the_picture_is_as_exact_as_far_away() {
    let ball = |name: &str, radius| {
        SpaceBody::new(name, Colour::Css("#ff0000".into()), true).with(Part::new(Solid::Sphere { radius }))
    };
    let (mut small, mut space) = (zoo(4).poses, Space { up: [0.0, 0.0, 1.0], ..Space::default() });
    space.times = rows(4).into();
    space.bodies = vec![ball("small", 1e-3), ball("large", 100.0)];
    small.truncate(2);
    small[0][0] = space.times.iter().map(|_| 1000.0).collect();
    space.poses = small;
    let script = "
        view.pursue(0); report.goto(0); report.drawNow();
        view.camera.distance = 0.01;
        const list = pixels();
        const p = view.scene.pose(view.scene.bodies[0], view.scene.frame(0)).p;
        const {right} = view.camera.axes(), [, , depth] = view.camera.project(p);
        // just inside and just outside of the silhouette, all around
        const look = (part) => [0, 1, 2, 3, 4, 5, 6, 7].map((k) => {
            const [x, y] = view.camera.project(p), r = part * 1e-3 * view.camera.pixels(depth);
            const [red, green] = at(list, [x + r * Math.cos(k * Math.PI / 4), y + r * Math.sin(k * Math.PI / 4)]);
            return red > 1.5 * green;
        });
        return [look(0.95).filter((x) => x).length, look(1.06).filter((x) => x).length];
    ";
    let Some(found) = ask(&html("far", &report(space)), None, script) else { return };
    assert_eq!(numbers(&found), [8.0, 0.0]);
}

/// Mouse, keys and lists move eye and time; the chart and the picture share one time.
#[test]
fn the_eye_follows_the_mouse_and_time_is_shared() {
    let script = "
        const found = {};
        const {left, top, width, height} = view.plot.getBoundingClientRect();
        const event = (type, x, y, more) => view.plot.dispatchEvent(new PointerEvent(type,
            {clientX: left + x, clientY: top + y, pointerId: 1, buttons: 1, bubbles: true, ...more}));
        const before = pixels(0.5), {yaw, distance} = view.camera;
        event('pointerdown', 100, 100); event('pointermove', 200, 100); event('pointerup', 200, 100);
        found.turned = [view.camera.yaw - yaw, differ(pixels(), before)];
        view.plot.focus();
        view.plot.dispatchEvent(new WheelEvent('wheel', {deltaY: -200, cancelable: true}));
        found.zoomed = view.camera.distance / distance;
        const key = (name) => { dispatchEvent(new KeyboardEvent('keydown', {key: name})); report.drawNow(); };
        key('3');
        found.followed = view.follow;
        report.goto(1.1); report.drawNow();
        found.centred = view.camera.centre[2] - view.scene.pose(view.scene.bodies[3], view.scene.frame(1.1)).p[2];
        key('f');
        found.free = [view.follow, view.moved];
        document.activeElement.blur();
        key('ArrowRight');
        found.next = [report.time.t, Number(view.picture.dataset.time)];
        const [x, y] = view.camera.project(view.scene.pose(view.scene.bodies[5], view.scene.frame(report.time.t)).p);
        view.plot.dispatchEvent(new MouseEvent('dblclick', {clientX: left + x, clientY: top + y}));
        found.picked = view.follow;
        found.help = document.querySelector('#help').textContent.includes('follow a body');
        return found;
    ";
    let Some(found) = ask(&html("zoo", &report(zoo(200))), None, script) else { return };
    let turned = numbers(&found["turned"]);
    assert!((turned[0] + 0.7).abs() < 1e-9 && turned[1] > 1000.0, "{found}");
    assert!((found["zoomed"].as_f64().unwrap() - (-0.3f64).exp()).abs() < 1e-9, "{found}");
    assert_eq!((&found["followed"], &found["picked"], &found["help"]), (&3.into(), &5.into(), &true.into()));
    assert!(found["centred"].as_f64().unwrap().abs() < 1e-12);
    assert_eq!(found["free"], serde_json::json!([-1, false]));
    let next = impacts().into_iter().find(|t| *t > 1.1).unwrap();
    assert!(numbers(&found["next"]).iter().all(|t| (t - next).abs() < 1e-9), "{found}");
}

/// Without WebGL2 the page says so and draws outlines that move.
#[test]
fn outlines_stand_in_where_there_is_no_webgl() {
    let page = html("zoo", &report(zoo(200)));
    let head = "<script>HTMLCanvasElement.prototype.getContext = ((plain) => function (kind, ...more) {
        return kind === 'webgl2' ? null : plain.call(this, kind, ...more); })(HTMLCanvasElement.prototype.getContext);
        </script></head>";
    let script = "
        const [one, other] = [pixels(0.1), pixels(0.8)];
        return {webgl: view.plot.dataset.webgl, drawn: one.filter((x) => x !== 0).length, moved: differ(one, other),
            told: document.querySelector('#space .note.warn').textContent};
    ";
    let Some(found) = ask(&page.replacen("</head>", head, 1), None, script) else { return };
    assert_eq!(found["webgl"], "false");
    assert!(found["told"].as_str().unwrap().starts_with("Outlines only: this browser draws no solids"), "{found}");
    assert!(found["drawn"].as_u64().unwrap() > 3000 && found["moved"].as_u64().unwrap() > 1000, "{found}");
}

/// In a narrow window nothing is cut off; on paper the picture is light, sharp and under its words.
#[test]
fn narrow_windows_and_paper_have_the_whole_picture() {
    let script = "
        const found = {window: innerWidth, page: document.documentElement.scrollWidth};
        const {left, right} = view.plot.getBoundingClientRect();
        found.plot = [left, right];
        found.colours = colours(pixels(0.3));
        const box = view.caption.getBoundingClientRect();
        found.buttons = [...view.caption.querySelectorAll('button, select')].every((b) => {
            const {left, right} = b.getBoundingClientRect();
            return left >= box.left && right <= box.right;
        });
        dispatchEvent(new Event('beforeprint'));
        const g = view.over.getContext('2d');
        const {data} = g.getImageData(0, 0, view.over.width, view.over.height);
        found.sharp = view.picture.width / view.camera.w;
        found.paper = colours(new Uint32Array(data.buffer));
        found.corner = [...data.slice(0, 3)];
        dispatchEvent(new Event('afterprint'));
        return found;
    ";
    let Some(found) = ask(&html("zoo", &report(zoo(200))), Some([500, 900]), script) else { return };
    assert!(found["page"].as_u64() <= found["window"].as_u64(), "{found}");
    let plot = numbers(&found["plot"]);
    assert!(plot[0] >= 0.0 && plot[1] <= 500.0 && plot[1] - plot[0] > 400.0, "{found}");
    assert!(found["colours"].as_u64().unwrap() > 300 && found["paper"].as_u64().unwrap() > 300, "{found}");
    assert_eq!((&found["buttons"], &found["sharp"]), (&true.into(), &3.into()), "{found}");
    assert!(numbers(&found["corner"]).iter().all(|x| *x > 240.0), "paper is light: {found}");
}

/// Twenty bodies and 2000 frames are a small file; ten thousand balls still open and are drawn.
#[test]
fn many_bodies_open() {
    let page = html("twenty", &report(balls(20, 2000)));
    assert!(page.len() < 1_500_000, "{} bytes", page.len());
    let script = "return [colours(pixels(0.5)), view.scene.bodies.length, view.scene.times.length];";
    let Some(found) = ask(&page, None, script) else { return };
    assert!(numbers(&found)[0] > 300.0 && numbers(&found)[1..] == [20.0, 2001.0], "{found}");
    let page = html("many", &report(balls(10_000, 28)));
    let script = "
        const [one, other] = [pixels(0.5), pixels(1)];
        const height = (t) => view.scene.pose(view.scene.bodies[9999], view.scene.frame(t)).p[2];
        return [colours(one), differ(one, other), height(1) - height(0)];
    ";
    let found = numbers(&ask(&page, None, script).expect("the browser was there a moment ago"));
    assert!(found[0] > 300.0 && found[1] > 10_000.0, "{found:?}");
    // frame 14 of 28 is at 1 s
    let speed = 5.0 + (9999.0 * 0.618f64).fract();
    assert!((found[2] - (speed - 9.81 / 2.0)).abs() < 1e-5, "{found:?}");
    assert!(page.len() < 8_000_000, "{} bytes", page.len());
}

/// A page without a model in space does not carry the scripts for it.
#[test]
fn other_reports_do_not_carry_the_view() {
    let mut plain = report(zoo(4));
    plain.run.as_mut().unwrap().space = None;
    let (with, without) = (html("zoo", &report(zoo(4))).len(), html("plain", &plain));
    assert!(!without.contains("class SpaceView") && without.len() + 40_000 < with);
    let Some(page) = open_text(&without) else { return };
    page.assert_drawn(1, 0);
}
