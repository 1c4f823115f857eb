//! Opens an HTML file in headless Chromium and reads back the page it became.
//!
//! Include it in an integration test with `#[path = "..."] mod browser;`. The program is `chromium` on the path or the
//! one that the variable `CHROMIUM` names. Where there is none, tests say so and pass, unless
//! `CAROM_REQUIRE_BROWSER=1`.
#![allow(dead_code)] // not every test that includes this file uses all of it

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Time after which the browser is ended and the test fails.
const PATIENCE: Duration = Duration::from_secs(180);

const FLAGS: [&str; 14] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=8000",
    "--window-size=1400,2400",
    "--enable-logging=stderr",
    "--v=0",
];

/// A page after its scripts have run.
pub struct Page {
    /// The document, with the content of scripts removed.
    pub document: String,
    /// Messages of the console, one per line as the browser prints them.
    pub console: Vec<String>,
}

/// Opens a file. `None`: there is no browser, and the skipped test has been announced.
pub fn open(file: &Path) -> Option<Page> {
    open_at(file, None)
}

/// Opens a file in a window of this width and height, at least 500 wide.
pub fn open_at(file: &Path, size: Option<[u32; 2]>) -> Option<Page> {
    let work = WorkDirectory::new();
    let (standard, log) = (work.0.join("document"), work.0.join("log"));
    let file = file.canonicalize().expect("the HTML file exists");
    let mut command = Command::new(program()?);
    command.args(FLAGS).arg(format!("--user-data-dir={}", work.0.join("profile").display())).arg("--dump-dom");
    // of two sizes the last one counts
    command.args(size.map(|[w, h]| format!("--window-size={w},{h}")));
    command.arg(format!("file://{}", file.display()));
    command.stdout(File::create(&standard).unwrap()).stderr(File::create(&log).unwrap()).stdin(Stdio::null());
    wait(command);
    let read = |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let console = read(&log).lines().filter(|line| line.contains("CONSOLE")).map(str::to_owned).collect();
    let document = without_scripts(&read(&standard));
    assert!(document.contains("<html"), "the browser returned no document; its log:\n{}", read(&log));
    Some(Page { document, console })
}

/// Writes `html` to a file of its own and opens it.
pub fn open_text(html: &str) -> Option<Page> {
    open_text_at(html, None)
}

/// The same in a window of this size.
pub fn open_text_at(html: &str, size: Option<[u32; 2]>) -> Option<Page> {
    let work = WorkDirectory::new();
    let file = work.0.join("report.html");
    fs::write(&file, html).unwrap();
    open_at(&file, size)
}

impl Page {
    /// The start tags of all elements with this name.
    pub fn tags(&self, name: &str) -> Vec<&str> {
        let open = format!("<{name}");
        let starts = self.document.match_indices(&open).map(|(start, _)| &self.document[start..]);
        starts.filter(|text| !text[open.len()..].starts_with(|c: char| c.is_alphanumeric())).map(start_tag).collect()
    }

    /// An attribute of the root element, e.g. `data-ready`.
    pub fn root(&self, attribute_name: &str) -> Option<&str> {
        self.tags("html").first().and_then(|tag| attribute(tag, attribute_name))
    }

    /// Fails unless the report is drawn completely: this many charts and animations, no errors on the page or the
    /// console.
    pub fn assert_drawn(&self, charts: usize, animations: usize) {
        let banner = self.document.split("id=\"errors\"").nth(1).and_then(|text| text.split("</div>").next());
        assert_eq!(self.root("data-errors"), Some("0"), "errors on the page: {banner:?}, console: {:#?}", self.console);
        assert_eq!(
            self.root("data-ready"),
            Some("true"),
            "the page did not become ready; console: {:#?}",
            self.console
        );
        let drawn = |tag: &&&str| attribute(tag, "data-drawn") == Some("true");
        let figures = self.tags("figure");
        let plots: Vec<_> = figures.iter().filter(|tag| attribute(tag, "data-chart").is_some()).collect();
        let count = plots.iter().copied().filter(drawn).count();
        assert_eq!((plots.len(), count), (charts, charts), "charts, drawn charts");
        let motions: Vec<_> =
            figures.iter().filter(|tag| matches!(attribute(tag, "id"), Some("motion" | "space"))).collect();
        let count = motions.iter().copied().filter(drawn).count();
        assert_eq!((motions.len(), count), (animations, animations), "animations, drawn animations");
        self.assert_quiet();
    }

    /// What the script of [`with_script`] returned.
    pub fn answer(&self) -> serde_json::Value {
        let coded = self.root("data-answer").unwrap_or_else(|| panic!("no answer; console: {:#?}", self.console));
        let mut bytes = Vec::new();
        let mut rest = coded.as_bytes();
        while let [first, tail @ ..] = rest {
            let hex = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap();
            (rest, _) = match first {
                b'%' => (&tail[2..], bytes.push(hex(&tail[..2]))),
                other => (tail, bytes.push(*other)),
            };
        }
        serde_json::from_slice(&bytes).unwrap()
    }

    /// Fails if the console has a message: the log does not tell errors from others, and a report has nothing to say
    /// there.
    pub fn assert_quiet(&self) {
        let messages: Vec<_> = self.console.iter().filter(|line| !line.contains("GL Driver Message")).collect();
        assert!(messages.is_empty(), "messages on the console: {messages:#?}");
    }
}

/// Appends a script that runs when the report is drawn; what it returns becomes the JSON of [`Page::answer`].
///
/// Frames stand still in the virtual time of the browser, so that the script draws by `report.drawNow()`.
pub fn with_script(html: &str, script: &str) -> String {
    let runner = format!(
        "<script>(async () => {{ const root = document.documentElement;
        const pause = (ms) => new Promise((done) => setTimeout(done, ms));
        while (root.dataset.ready !== 'true') await pause(20);
        const answer = await (async () => {{ {script} }})();
        root.dataset.answer = encodeURIComponent(JSON.stringify(answer)); }})();</script></body>"
    );
    html.replace("</body>", &runner)
}

/// The value of an attribute of a start tag, as it is written there.
pub fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let (_, after) = tag.split_once(&format!(" {name}=\""))?;
    after.split('"').next()
}

fn start_tag(text: &str) -> &str {
    let mut quoted = false;
    for (at, character) in text.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '>' if !quoted => return &text[..=at],
            _ => {}
        }
    }
    text
}

fn without_scripts(document: &str) -> String {
    let mut out = String::new();
    for (index, part) in document.split("<script").enumerate() {
        let kept = if index == 0 { part } else { part.split_once("</script>").map_or("", |(_, after)| after) };
        out.push_str(kept);
    }
    out
}

fn program() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from).filter(|path| path.is_file());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named
        .or_else(|| std::env::split_paths(&path).map(|folder| folder.join("chromium")).find(|file| file.is_file()));
    if found.is_none() {
        let required = std::env::var_os("CAROM_REQUIRE_BROWSER").is_some_and(|value| value == "1");
        assert!(!required, "CAROM_REQUIRE_BROWSER=1, but chromium is not installed");
        println!("SKIPPED: chromium is not installed, the browser test did not run");
    }
    found
}

fn wait(mut command: Command) {
    let mut browser = command.spawn().expect("the browser starts");
    let started = Instant::now();
    while browser.try_wait().expect("the browser can be waited for").is_none() {
        if started.elapsed() > PATIENCE {
            let _ = browser.kill();
            let _ = browser.wait();
            panic!("the browser did not finish within {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A folder of its own, removed at the end.
struct WorkDirectory(PathBuf);

impl WorkDirectory {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("carom-browser-{}-{number}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for WorkDirectory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
