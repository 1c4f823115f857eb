use super::super::{Chart, Image, Report, Series, SeriesStyle};

/// Points of the first path of a curve, by pixels.
fn points(svg: &str) -> Vec<(f64, f64)> {
    let (_, body) = svg.split_once("clip-path=\"url(#frame)\"").unwrap();
    let (_, path) = body.split_once("<path d=\"M").unwrap();
    let (path, _) = path.split_once('"').unwrap();
    let pair = |text: &str| {
        let (x, y) = text.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    };
    path.split(['L', 'M']).map(pair).collect()
}

fn parabola(n: usize) -> Chart {
    let x: Vec<f64> = (0..=n).map(|k| k as f64 / n as f64).collect();
    let y = x.iter().map(|x| 4.0 * x * (1.0 - x)).collect();
    Chart::over_time("Flight", "y [m]").with(Series::lines("y", x, y))
}

#[test]
fn points_are_where_the_ticks_say() {
    let svg = parabola(10).svg();
    let drawn = points(&svg);
    assert_eq!(drawn.len(), 11);
    // the grid line and the number of a tick stand at the same pixel: y = 0 and y = 1
    let tick = |number: &str| {
        let at = svg.find(&format!("text-anchor=\"end\" fill=\"#59636e\">{number}<")).unwrap();
        let (_, y) = svg[..at].rsplit_once("y=\"").unwrap();
        y.split('"').next().unwrap().parse::<f64>().unwrap() - 4.0
    };
    let (zero, one) = (tick("0.0"), tick("1.0"));
    for (k, (_, y)) in drawn.iter().enumerate() {
        let x = k as f64 / 10.0;
        let expected = zero + (one - zero) * 4.0 * x * (1.0 - x);
        assert!((y - expected).abs() < 0.11, "{k}: {y} for {expected}");
    }
}

#[test]
fn names_cannot_become_markup() {
    let nasty = "</title><script>alert(1)</script>";
    let chart = Chart::new(nasty, nasty, nasty).with(Series::lines(nasty, vec![0.0, 1.0], vec![1.0, 2.0]));
    let image = Image { title: nasty.into(), labels: [nasty.into(), nasty.into()], ..Image::default() };
    for svg in [chart.svg(), image.svg()] {
        assert!(!svg.contains("<script") && !svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}

#[test]
fn gaps_jumps_and_styles_are_drawn_as_in_the_page() {
    let (x, y) = (vec![0.0, 1.0, 1.0, 2.0, 3.0, 4.0], vec![0.0, 1.0, -1.0, f64::NAN, 0.5, 0.0]);
    let jumping = Chart::new("a", "t", "v").with(Series::lines("v", x.clone(), y.clone()).jumping()).svg();
    assert_eq!(jumping.matches("stroke-dasharray=\"2 2\"").count(), 1);
    assert_eq!(jumping.matches("r=\"2.4\"").count(), 2);
    // one line up to the jump, one after it, one after the gap
    let (_, path) = jumping.split_once("<g stroke=\"#1a68bd\"").unwrap();
    let (path, _) = path.split_once("\" fill=\"none\"/>").unwrap();
    assert_eq!(path.matches('M').count(), 3);
    let held = Chart::new("a", "t", "v").with(Series::steps("v", vec![0.0, 1.0, 2.0], vec![0.0, 1.0, 2.0])).svg();
    assert_eq!(points(&held).len(), 5);
    let stems = Series::new("p", SeriesStyle::Stems, vec![0.0, 1.0], vec![2.0, 3.0]);
    let stems = Chart::new("a", "t", "v").with(stems).svg();
    assert!(stems.contains('V') && stems.matches("<circle").count() >= 2);
}

#[test]
fn units_have_axes_and_too_many_rows_are_told() {
    let n = 100_000;
    let x: Vec<f64> = (0..n).map(f64::from).collect();
    let spike = |k: &f64| if *k == 77_777.0 { 9.0 } else { (k * 0.01).sin() };
    let mut chart =
        Chart::new("a", "t [s]", "v [V]").with(Series::lines("v", x.clone(), x.iter().map(spike).collect()));
    chart.file = Some("trajectory.parquet".into());
    let chart = chart.with(Series::lines("i", x.clone(), x).in_unit("A"));
    let svg = chart.svg();
    assert!(svg.contains(">[V]<") && svg.contains(">[kA]<") && svg.contains(">t [ks]<"));
    assert!(svg.contains("thinned, extremes of each") && svg.contains("trajectory.parquet"));
    let drawn = points(&svg);
    assert!(drawn.len() < 40_000);
    let highest = drawn.iter().map(|point| point.1).fold(f64::INFINITY, f64::min);
    let next = drawn.iter().map(|point| point.1).filter(|y| *y > highest).fold(f64::INFINITY, f64::min);
    assert!(next - highest > 50.0, "the spike is alone at the top: {highest}, {next}");
}

#[test]
fn a_report_has_a_file_for_each_chart() {
    let mut report = Report::new("r");
    report.section("s").push(parabola(3)).push(parabola(4)).push(Image { title: "(!)".into(), ..Image::default() });
    let names: Vec<String> = report.figures().into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["flight", "flight-2", "figure"]);
}

/// A curve that covers an earlier one is dashed over it; a band is neither dashed nor opaque.
#[test]
fn curves_that_cover_others_let_them_be_seen() {
    let t: Vec<f64> = (0..1000).map(|k| f64::from(k) * 1e-3).collect();
    let line = |name: &str, f: &dyn Fn(f64) -> f64| Series::lines(name, t.clone(), t.iter().map(|t| f(*t)).collect());
    let curves = |name: &str, second: &dyn Fn(f64) -> f64| {
        let chart = Chart::new("c", "t [s]", "y [m]").with(line("a", &|t| t)).with(line(name, second)).svg();
        let (_, drawn) = chart.split_once("clip-path=\"url(#frame)\"").unwrap();
        (drawn.matches("stroke-dasharray=\"7 5\"").count(), drawn.matches("stroke-opacity=\".6\"").count())
    };
    assert_eq!(curves("equal", &|t| t + 1e-3), (1, 0));
    assert_eq!(curves("apart", &|t| 2.0 * t), (0, 0));
    assert_eq!(curves("band", &|t| (3000.0 * t).sin()), (0, 1));
}
