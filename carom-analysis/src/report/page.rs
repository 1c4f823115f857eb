//! The HTML page around the blocks.

use std::fmt::Write as _;

use super::encode::{escape, json};
use super::run::{Figure, RunData};
use super::store::Store;
use super::table::{minus, number};
use super::{Block, Callout, Layout, Report, RunPage, script, thin};

/// Digits of parameters.
const DIGITS: usize = 6;

/// No network at all, and no text that becomes a program: scripts are those of this file.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";

/// The whole page, thinned as far as its limit demands.
pub fn render(report: &Report) -> String {
    let mut figures = Figures::default();
    let mut body = String::new();
    match &report.run {
        Some(run) => run_page(&mut body, report, run, &mut figures),
        None => sections(&mut body, report, &mut figures),
    }
    let run = report.run.as_ref().map(|run| run.data(&mut figures.store));
    let page = |level| whole(report, &body, &figures, &run, level);
    let mut level = 0;
    let mut out = page(level);
    while out.len() > report.limit && level < thin::MOST {
        // blocks of fewer rows than they keep leave nothing out
        level = if level == 0 { 3 } else { level + 1 };
        let thinner = page(level);
        if level > 20 && thinner.len() == out.len() {
            break;
        }
        out = thinner;
    }
    out
}

fn whole(report: &Report, body: &str, figures: &Figures, run: &Option<RunData<'_>>, level: u32) -> String {
    let packed = figures.store.pack(level);
    let thinned = if level == 0 { &[][..] } else { &packed.thinned };
    // what the scripts read; `thinned` has the rows per block of each column where not all rows are there
    let meta = format!(
        "{{\"columns\":{},\"thinned\":{},\"charts\":[{}],\"run\":{}}}",
        json(&packed.codings),
        json(&thinned),
        figures.charts.join(","),
        json(run)
    );
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"generator\" content=\"carom {version}\">\n<title>{}</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n\
         <div id=\"errors\" role=\"alert\" hidden></div>\n{body}\
         <noscript><p class=\"callout warn\">Charts and motion need JavaScript.</p></noscript>\n\
         <script type=\"application/json\" id=\"meta\">{meta}</script>\n\
         <script type=\"application/octet-stream\" id=\"data\">{}</script>\n\
         <script>\n'use strict';\n{}{}</script>\n</body>\n</html>\n",
        escape(&report.title),
        script::STYLE,
        packed.base64,
        if report.run.as_ref().is_some_and(|run| run.space.is_some()) { script::SPACE } else { "" },
        script::SCRIPT,
    )
}

fn sections(out: &mut String, report: &Report, figures: &mut Figures) {
    let _ = writeln!(out, "<header id=\"head\"><div class=\"what\"><h1>{}</h1>", escape(&report.title));
    if !report.subtitle.is_empty() {
        let _ = writeln!(out, "<p>{}</p>", escape(&report.subtitle));
    }
    out.push_str("</div></header>\n");
    contents(out, report);
    out.push_str("<main class=\"study\">\n");
    for (index, section) in report.sections.iter().enumerate() {
        let class = if section.layout == Layout::Gallery { " class=\"gallery\"" } else { "" };
        let _ = writeln!(out, "<section id=\"section-{}\"{class}>\n<h2>{}</h2>", index + 1, escape(&section.title));
        section.blocks.iter().for_each(|block| figures.block(out, block));
        out.push_str("</section>\n");
    }
    out.push_str("</main>\n");
    footer(out, "");
}

fn contents(out: &mut String, report: &Report) {
    if report.sections.len() < 2 {
        return;
    }
    out.push_str("<nav id=\"contents\" aria-label=\"Contents\">\n");
    for (index, section) in report.sections.iter().enumerate() {
        let _ = writeln!(out, "<a href=\"#section-{}\">{}</a>", index + 1, escape(&section.title));
    }
    out.push_str("</nav>\n");
}

fn footer(out: &mut String, text: &str) {
    let _ =
        writeln!(out, "<footer id=\"tail\">{} Made with carom {}.</footer>", escape(text), env!("CARGO_PKG_VERSION"));
}

fn run_page(out: &mut String, report: &Report, run: &RunPage, figures: &mut Figures) {
    head(out, report, run);
    if !run.notices.is_empty() {
        out.push_str("<div id=\"notices\">\n");
        run.notices.iter().for_each(|(kind, text)| callout(out, *kind, text));
        out.push_str("</div>\n");
    }
    out.push_str("<nav id=\"bar\" aria-label=\"time\"></nav>\n<main class=\"run\">\n<div class=\"col\" id=\"left\">\n");
    if run.space.is_some() {
        out.push_str("<figure class=\"card\" id=\"space\"></figure>\n");
    }
    if run.motion.is_some() {
        out.push_str("<figure class=\"card\" id=\"motion\"></figure>\n");
    }
    tabs(out, run, figures);
    out.push_str("<div class=\"pair\" id=\"portraits\"></div>\n");
    parameters(out, run);
    out.push_str("</div>\n<div class=\"col\" id=\"charts\">\n");
    for chart in &run.charts {
        figures.chart(out, &chart.title, |store| json(&chart.data(store)));
    }
    out.push_str("<div id=\"choice\"></div>\n</div>\n</main>\n");
    footer(out, &run.footer);
}

fn head(out: &mut String, report: &Report, run: &RunPage) {
    let _ = writeln!(
        out,
        "<header id=\"head\"><div class=\"what\"><h1>{}</h1> <span class=\"state {}\">{}</span>",
        escape(&report.title),
        run.tone.class(),
        escape(&run.state)
    );
    for line in run.lines.iter().filter(|line| !line.is_empty()) {
        let _ = writeln!(out, "<p>{}</p>", escape(line));
    }
    out.push_str("</div>\n<dl id=\"strip\">\n");
    for figure in &run.headline {
        let Figure { name, value, unit, note, full, tone } = figure;
        let value = if value.parse::<f64>().is_ok() { minus(value) } else { value.clone() };
        let [name, value, unit, note, full] = [name, &value, unit, note, full].map(|text| escape(text));
        let _ = writeln!(
            out,
            "<div title=\"{full}\"><dt>{name}</dt><dd class=\"{}\">{value} <small>{unit}</small></dd>\
             <dd class=\"note\">{note}</dd></div>",
            tone.class()
        );
    }
    out.push_str("</dl></header>\n");
}

fn tabs(out: &mut String, run: &RunPage, figures: &mut Figures) {
    if run.tabs.is_empty() {
        return;
    }
    out.push_str("<section class=\"card\" id=\"tabs\">\n<div class=\"tabs\" role=\"tablist\">\n");
    for (index, tab) in run.tabs.iter().enumerate() {
        let count = tab.count.map(|count| format!(" <span class=\"n\">{count}</span>")).unwrap_or_default();
        let title = escape(&tab.title);
        let selected = index == 0;
        let _ = writeln!(
            out,
            "<button role=\"tab\" aria-selected=\"{selected}\" aria-controls=\"pane-{index}\">{title}{count}</button>",
        );
    }
    out.push_str("</div>\n");
    for (index, tab) in run.tabs.iter().enumerate() {
        let class = if index == 0 { "pane on" } else { "pane" };
        let title = escape(&tab.title);
        let _ = writeln!(out, "<div class=\"{class}\" id=\"pane-{index}\" role=\"tabpanel\"><h2>{title}</h2>");
        tab.blocks.iter().for_each(|block| figures.block(out, block));
        out.push_str("</div>\n");
    }
    out.push_str("</section>\n");
}

fn parameters(out: &mut String, run: &RunPage) {
    if run.parameters.is_empty() {
        return;
    }
    out.push_str(
        "<section class=\"card\" id=\"params\"><div class=\"cap\"><h2>Parameters</h2></div>\n<dl class=\"kv\">\n",
    );
    for parameter in &run.parameters {
        let (name, unit) = (escape(&parameter.name), escape(&parameter.unit));
        let (full, short) = (parameter.value, minus(&number(parameter.value, DIGITS)));
        let _ =
            writeln!(out, "<div title=\"{name} = {full} {unit}\"><dt>{name}</dt><dd>{short} <i>{unit}</i></dd></div>");
    }
    out.push_str("</dl></section>\n");
}

fn callout(out: &mut String, kind: Callout, text: &str) {
    let (class, label) = match kind {
        Callout::Info => ("ok", "Note"),
        Callout::Warning => ("warn", "Warning"),
        Callout::Failure => ("bad", "Failure"),
    };
    let _ = writeln!(out, "<p class=\"callout {class}\"><strong>{label}</strong> {}</p>", escape(text));
}

/// Numbers the charts, so that identifiers are the same each time, and collects their data.
#[derive(Default)]
struct Figures {
    store: Store,
    /// As JSON.
    charts: Vec<String>,
}

impl Figures {
    fn block(&mut self, out: &mut String, block: &Block) {
        match block {
            Block::Paragraph(text) => {
                for paragraph in text.split("\n\n").filter(|paragraph| !paragraph.trim().is_empty()) {
                    let _ = writeln!(out, "<p class=\"txt\">{}</p>", escape(paragraph));
                }
            }
            Block::Facts(facts) => {
                out.push_str("<dl class=\"facts\">\n");
                for (name, value) in facts {
                    let _ = writeln!(out, "<div><dt>{}</dt><dd>{}</dd></div>", escape(name), escape(value));
                }
                out.push_str("</dl>\n");
            }
            Block::Table(table) => table.render(out),
            Block::Chart(chart) => self.chart(out, &chart.title, |store| json(&chart.data(store))),
            Block::Image(image) => self.chart(out, &image.title, |_| json(&image.data())),
            Block::Preformatted { caption, text } => {
                out.push_str("<figure class=\"pre\">\n");
                if !caption.is_empty() {
                    let _ = writeln!(out, "<figcaption>{}</figcaption>", escape(caption));
                }
                // the parser drops a line break right after <pre>
                let _ = writeln!(out, "<pre tabindex=\"0\">\n{}</pre>\n</figure>", escape(text));
            }
            Block::Callout { kind, text } => callout(out, *kind, text),
        }
    }

    fn chart(&mut self, out: &mut String, title: &str, data: impl FnOnce(&mut Store) -> String) {
        let _ = writeln!(
            out,
            "<figure class=\"card chart\" data-chart=\"{}\" aria-label=\"{}\"></figure>",
            self.charts.len(),
            escape(title)
        );
        let data = data(&mut self.store);
        self.charts.push(data);
    }
}

#[cfg(test)]
mod tests;
