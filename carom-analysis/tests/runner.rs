//! A study is a file and a row: what one that is defined here gets from the runner without any further line, in memory
//! and as files; fences, threads, interruptions and shards.

use carom::Subject;
use carom_analysis::report::Cell;
use carom_analysis::study::StudyError;
use carom_analysis::study::document::{Column, Document, Section, Table};
use carom_analysis::study::runner::{
    How, Outcome, Plan, Progress, Run, Share, Study, StudyInfo, StudyRow, Watch, run_study,
};
use carom_scene::{Overrides, Scene};
use carom_solve::Options;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Heights of a fall from 1 m under 2 m/s² after growing times, 1 − t²: a study of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
struct Fall {
    /// Number of times.
    times: usize,
    /// The number of a time at which the model panics.
    panic: Option<usize>,
}

impl Default for Fall {
    fn default() -> Self {
        Fall { times: 9, panic: None }
    }
}

impl Options for Fall {}

impl Study for Fall {
    const INFO: StudyInfo = StudyInfo {
        files: &["fall.csv", "fall.html"],
        ..StudyInfo::new("fall", "Heights of a fall after growing times", include_str!("runner.rs"))
    };
    type Plan = FallPlan;

    fn plan(&self, subject: Arc<dyn Subject>) -> Result<FallPlan, StudyError> {
        if self.times == 0 {
            return Err(StudyError::option("the number of times", 0, "nothing would be measured"));
        }
        Ok(FallPlan { subject, options: self.clone() })
    }
}

/// And its row.
const ROW: StudyRow = StudyRow::of::<Fall>();

struct FallPlan {
    subject: Arc<dyn Subject>,
    options: Fall,
}

impl FallPlan {
    fn time(&self, unit: usize) -> f64 {
        0.1 * (unit + 1) as f64
    }
}

impl Plan for FallPlan {
    type Part = f64;

    fn units(&self) -> usize {
        self.options.times
    }

    fn label(&self, unit: usize) -> String {
        format!("t = {:.1}", self.time(unit))
    }

    fn compute(&self, unit: usize, watch: &Watch<'_>) -> Result<f64, StudyError> {
        if (watch.stop)() {
            return Err(StudyError::Interrupted);
        }
        assert!(self.options.panic != Some(unit), "the floor is gone");
        let simulation = self.subject.with(&[("end", self.time(unit))])?.simulation(None);
        let solution = simulation?.record().map_err(|e| StudyError::Computation(e.to_string()))?;
        Ok(solution.q(solution.len() - 1)[0])
    }

    fn gather(&self, parts: &[Option<Outcome<f64>>]) -> Result<Document, StudyError> {
        let mut table = Table::new("Heights", ["t", "height", "reason"].map(Column::new)).to_file("fall.csv");
        for (unit, part) in parts.iter().enumerate().filter_map(|(unit, part)| Some((unit, part.as_ref()?))) {
            let (height, reason) = match part {
                Ok(height) => (Cell::from(*height), Cell::Empty),
                Err(failed) => (Cell::Empty, Cell::from(failed.message.as_str())),
            };
            table.row([Cell::from(self.time(unit)), height, reason]);
        }
        let section = Section { title: "Heights".into(), tables: vec![table], ..Section::default() };
        Ok(Document { title: "Fall".into(), sections: vec![section], ..Document::default() })
    }
}

const BALL: &str = r#"version = 1
name = "ball"
[parameters]
end = 0.5
[model]
kind = "lagrangian"
coordinates = ["y"]
kinetic = "y'^2/2"
potential = "2*y"
[initial]
y = 1
[simulation]
end = "end"
steps = 50
"#;

fn ball() -> Arc<dyn Subject> {
    let scene: Scene = carom_scene::from_str("ball.toml", BALL, &Overrides::default()).unwrap();
    Arc::new(scene)
}

/// An empty folder of a test.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("carom-runner-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&path);
    path
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| name != ".carom");
    names.sort();
    names
}

/// Bytes of all files of a folder.
fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    names(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(&name)).unwrap())).collect()
}

#[test]
fn a_row_has_files_json_flags_and_the_right_numbers() {
    let folder = folder("row");
    let ran = ROW.run(&json!({ "times": 4 }), ball(), &Run { folder: Some(&folder), ..Run::default() }).unwrap();
    assert_eq!(names(&folder), ["fall.csv", "fall.html"]);
    let csv = fs::read_to_string(folder.join("fall.csv")).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows.len(), &rows[0][..]), (5, &["t", "height", "reason"][..]));
    for row in &rows[1..] {
        // a constant force: the θ-scheme with θ = 1/2 is exact
        let [t, height] = [row[0], row[1]].map(|x| x.parse::<f64>().unwrap());
        assert!((height - (1.0 - t * t)).abs() < 1e-12, "{row:?}");
    }
    let document = ran.document.unwrap();
    assert_eq!(document.json()["tables"][0]["rows"][0]["t"], 0.1);
    assert!(fs::read_to_string(folder.join("fall.html")).unwrap().contains("Heights"));
    // its flags: names, defaults and meanings of the options
    let options = (ROW.options)();
    assert_eq!((options[1].name.as_str(), options[1].meaning.as_str()), ("times", "Number of times."));
    for wrong in [json!({ "tims": 4 }), json!({ "times": 0 }), json!({ "times": -1 })] {
        let error = ROW.run(&wrong, ball(), &Run::default()).unwrap_err();
        assert!(error.is_usage(), "{wrong}: {error}");
    }
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_panic_is_a_failed_row_with_model_and_parameters() {
    let study = Fall { panic: Some(2), ..Fall::default() };
    let document = run_study(&study, ball(), &Run::default()).unwrap().document.unwrap();
    let rows = &document.sections[0].tables[0].rows;
    assert_eq!(rows.len(), 9);
    for (unit, row) in rows.iter().enumerate() {
        match &row[2] {
            Cell::Text(reason) => {
                assert_eq!(unit, 2);
                for word in ["ball", "t = 0.3", "the floor is gone"] {
                    assert!(reason.contains(word), "{word} is not in {reason}");
                }
            }
            _ => assert_ne!(unit, 2),
        }
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let one = |threads: usize| {
        let folder = folder(&format!("threads-{threads}"));
        let run = Run { folder: Some(&folder), threads: Some(threads), ..Run::default() };
        run_study(&Fall { panic: Some(4), ..Fall::default() }, ball(), &run).unwrap();
        let bytes = bytes(&folder);
        fs::remove_dir_all(&folder).unwrap();
        bytes
    };
    let first = one(1);
    assert_eq!(first.len(), 2);
    for threads in [2, 5] {
        assert!(one(threads) == first, "{threads} threads");
    }
}

#[test]
fn an_interrupted_study_goes_on_to_equal_bytes() {
    let (whole, cut) = (folder("whole"), folder("cut"));
    run_study(&Fall::default(), ball(), &Run { folder: Some(&whole), ..Run::default() }).unwrap();
    // the user stops after four units
    let done = AtomicUsize::new(0);
    let stop = || done.load(Ordering::Relaxed) >= 4;
    let progress = |progress: Progress| {
        if let Progress::Done(n) = progress {
            done.fetch_add(n, Ordering::Relaxed);
        }
    };
    let run = Run { folder: Some(&cut), threads: Some(1), stop: &stop, progress: &progress, ..Run::default() };
    let ran = run_study(&Fall::default(), ball(), &run).unwrap();
    assert!(ran.interrupted && names(&cut) == ["fall.csv", "fall.html", "fall.jsonl"]);
    let table = fs::read_to_string(cut.join("fall.csv")).unwrap();
    assert_eq!(table.lines().filter(|line| !line.starts_with('#')).count(), 5);
    assert!(table.lines().last().unwrap().starts_with("# partial: interrupted after 4 of "), "{table}");
    // a kill in the middle of a line loses this line alone
    let lines = fs::read_to_string(cut.join("fall.jsonl")).unwrap();
    assert_eq!(lines.lines().count(), 5);
    fs::write(cut.join("fall.jsonl"), &lines[..lines.len() - 3]).unwrap();
    // other options are not mixed with it
    let other = Fall { times: 8, ..Fall::default() };
    let error = run_study(&other, ball(), &Run { folder: Some(&cut), ..Run::default() }).unwrap_err();
    assert!(error.is_usage() && error.to_string().contains("holds another fall"), "{error}");
    let kept = AtomicUsize::new(usize::MAX);
    let progress = |progress: Progress| {
        if let Progress::Begin { kept: found, .. } = progress {
            kept.store(found, Ordering::Relaxed);
        }
    };
    let run = Run { folder: Some(&cut), threads: Some(3), progress: &progress, ..Run::default() };
    assert!(!run_study(&Fall::default(), ball(), &run).unwrap().interrupted);
    assert_eq!(kept.load(Ordering::Relaxed), 3);
    assert!(bytes(&cut) == bytes(&whole));
    for path in [whole, cut] {
        fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn shards_give_the_same_as_one_run() {
    let (whole, parts) = (folder("unsharded"), folder("shards"));
    run_study(&Fall::default(), ball(), &Run { folder: Some(&whole), ..Run::default() }).unwrap();
    for k in 1..=3 {
        let run = Run { folder: Some(&parts), share: Share::Shard(k, 3), ..Run::default() };
        assert!(run_study(&Fall::default(), ball(), &run).unwrap().document.is_none());
    }
    assert_eq!(names(&parts), ["fall.1-of-3.jsonl", "fall.2-of-3.jsonl", "fall.3-of-3.jsonl"]);
    let computed = AtomicUsize::new(0);
    let progress = |progress: Progress| {
        if let Progress::Done(n) = progress {
            computed.fetch_add(n, Ordering::Relaxed);
        }
    };
    run_study(&Fall::default(), ball(), &Run { folder: Some(&parts), progress: &progress, ..Run::default() }).unwrap();
    assert_eq!(computed.load(Ordering::Relaxed), 0);
    assert!(bytes(&parts) == bytes(&whole));
    for path in [whole, parts] {
        fs::remove_dir_all(path).unwrap();
    }
}

/// Units that others compute, in any order and some of them twice, make the bytes of one run.
#[test]
fn rows_of_others_make_the_same_document() {
    let (whole, parts) = (folder("own"), folder("others"));
    run_study(&Fall::default(), ball(), &Run { folder: Some(&whole), ..Run::default() }).unwrap();
    let open = |run: &Run<'_>| (ROW.open)(&json!({}), ball(), run).unwrap();
    let (mut job, worker) = (open(&Run { folder: Some(&parts), ..Run::default() }), open(&Run::default()));
    let rows = |units: &[usize]| worker.rows(units, &|| false).unwrap();
    for (units, new) in [([8, 0, 3], 3), ([3, 1, 2], 2), ([6, 5, 4], 3)] {
        assert_eq!(job.take(&rows(&units)).unwrap(), new);
    }
    assert_eq!((job.missing(), job.units()), (vec![7], 9));
    let last = rows(&[7]);
    // a row without its end is none, and one that contradicts is refused
    assert_eq!(job.take(&last[..last.len() - 1]).unwrap(), 0);
    assert!(job.take(&rows(&[2]).replace("\"part\":", "\"part\":-1")).unwrap_err().is_usage());
    assert_eq!(job.take(&last).unwrap(), 1);
    assert!(job.finish(false).unwrap().document.is_some());
    assert!(bytes(&parts) == bytes(&whole));
    for path in [whole, parts] {
        fs::remove_dir_all(path).unwrap();
    }
}

/// Shards that are none are refused.
#[test]
fn shards_count_from_one() {
    for shard in [(0, 0), (0, 3), (4, 3)] {
        let refused =
            run_study(&Fall::default(), ball(), &Run { share: Share::Shard(shard.0, shard.1), ..Run::default() }).err();
        assert!(refused.is_some_and(|error| error.is_usage()), "{shard:?}");
    }
}

/// Failures of a sweep keep their kind over an interruption.
#[test]
fn failed_parts_are_kept() {
    let folder = folder("failed");
    let row = carom_analysis::study::find("sweep").unwrap();
    let options = json!({ "vary": ["end=0.5,-1,0.7"], "measure": ["final y"] });
    let run = Run { folder: Some(&folder), ..Run::default() };
    let first = row.run(&options, ball(), &run).unwrap().document.unwrap();
    let text = fs::read_to_string(folder.join("sweep.jsonl")).unwrap();
    assert!(text.contains(&serde_json::to_string(&How::Refused).unwrap()), "{text}");
    let again = row.run(&options, ball(), &run).unwrap().document.unwrap();
    assert_eq!(first.json(), again.json());
    assert_eq!(first.json()[1]["status"], "refused");
    fs::remove_dir_all(&folder).unwrap();
}
