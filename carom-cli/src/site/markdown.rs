//! Pages of markdown as HTML: headings, paragraphs, lists, tables, quotations, code, links, emphasis. That is what the
//! pages of the documentation use; anything else is text.

use super::escape;

/// A page as HTML; `link` tells where a link goes, or that it is none.
pub fn html(text: &str, link: &dyn Fn(&str) -> Option<String>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    blocks(&lines, &Inline { link }, &mut out);
    out
}

/// The name by which a heading is found: `A ball, in C` is `a-ball-in-c`.
pub fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// How many characters a mark of a list takes, and whether the list is numbered.
fn mark(line: &str) -> Option<(usize, bool)> {
    let start = line.len() - line.trim_start().len();
    let text = &line[start..];
    if text.starts_with("- ") || text.starts_with("* ") {
        return Some((start + 2, false));
    }
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (digits > 0 && digits < 3 && text[digits..].starts_with(". ")).then_some((start + digits + 2, true))
}

/// Whether a line is no continuation of the paragraph before it.
fn begins(line: &str) -> bool {
    let text = line.trim_start();
    text.is_empty() || mark(line).is_some() || ["#", "```", "|", ">"].iter().any(|start| text.starts_with(start))
}

/// Lines of an item of a list, without what they are indented by; how many they are.
fn item<'a>(lines: &[&'a str], width: usize) -> (Vec<&'a str>, usize) {
    let inside = |line: &str| line.len() - line.trim_start().len() >= width;
    let mut all = vec![&lines[0][width..]];
    let mut k = 1;
    while k < lines.len() {
        let line = lines[k];
        let goes_on = match line.trim().is_empty() {
            true => lines[k + 1..].iter().find(|next| !next.trim().is_empty()).is_some_and(|next| inside(next)),
            false => inside(line) || !(begins(line) || lines[k - 1].trim().is_empty()),
        };
        if !goes_on {
            break;
        }
        all.push(if inside(line) { &line[width..] } else { line.trim_start() });
        k += 1;
    }
    (all, k)
}

fn blocks(lines: &[&str], inline: &Inline<'_>, out: &mut String) {
    let mut k = 0;
    while k < lines.len() {
        let text = lines[k].trim_start();
        if text.is_empty() {
            k += 1;
        } else if let Some(language) = text.strip_prefix("```") {
            let indent = lines[k].len() - text.len();
            let end = lines[k + 1..].iter().position(|line| line.trim_start().starts_with("```"));
            let end = end.map_or(lines.len(), |n| k + 1 + n);
            let (language, file) = language.split_once(' ').unwrap_or((language, ""));
            if !file.is_empty() {
                *out += &format!("<p class=\"file\">{}</p>\n", escape(file));
            }
            *out += &format!("<pre class=\"{}\"><code>", escape(language));
            for line in &lines[k + 1..end] {
                *out += &escape(line.get(indent..).unwrap_or_default());
                out.push('\n');
            }
            *out += "</code></pre>\n";
            k = end + 1;
        } else if text.starts_with('#') {
            let level = text.bytes().take_while(|b| *b == b'#').count().min(6);
            let heading = text[level..].trim();
            let id = anchor(heading);
            *out += &format!("<h{level} id=\"{id}\">{}</h{level}>\n", inline.html(heading));
            k += 1;
        } else if text.starts_with('|') {
            let count = lines[k..].iter().take_while(|line| line.trim_start().starts_with('|')).count();
            table(&lines[k..k + count], inline, out);
            k += count;
        } else if text.starts_with('>') {
            let count = lines[k..].iter().take_while(|line| line.trim_start().starts_with('>')).count();
            let inner = |line: &&'_ str| -> String { line.trim_start()[1..].trim_start().to_owned() };
            let inner: Vec<String> = lines[k..k + count].iter().map(inner).collect();
            *out += "<blockquote>\n";
            blocks(&inner.iter().map(String::as_str).collect::<Vec<_>>(), inline, out);
            *out += "</blockquote>\n";
            k += count;
        } else if let Some((_, numbered)) = mark(lines[k]) {
            k += list(&lines[k..], numbered, inline, out);
        } else {
            let count = 1 + lines[k + 1..].iter().take_while(|line| !begins(line)).count();
            let joined: Vec<&str> = lines[k..k + count].iter().map(|line| line.trim()).collect();
            *out += &format!("<p>{}</p>\n", inline.html(&joined.join(" ")));
            k += count;
        }
    }
}

/// A list from its first item on; the lines that it takes.
fn list(lines: &[&str], numbered: bool, inline: &Inline<'_>, out: &mut String) -> usize {
    let tag = if numbered { "ol" } else { "ul" };
    *out += &format!("<{tag}>\n");
    let mut k = 0;
    while k < lines.len() {
        let Some((width, _)) = mark(lines[k]).filter(|(_, same)| *same == numbered) else { break };
        let (inner, count) = item(&lines[k..], width);
        let mut text = String::new();
        blocks(&inner, inline, &mut text);
        // an item of one paragraph is no paragraph
        let single = text.strip_prefix("<p>").and_then(|text| text.strip_suffix("</p>\n"));
        let text = single.filter(|text| !text.contains("<p>")).unwrap_or(&text);
        *out += &format!("<li>{text}</li>\n");
        k += count;
        let blank = lines[k.min(lines.len())..].iter().take_while(|line| line.trim().is_empty()).count();
        if lines.get(k + blank).is_some_and(|line| mark(line).is_some_and(|(_, same)| same == numbered)) {
            k += blank;
        }
    }
    *out += &format!("</{tag}>\n");
    k
}

fn table(lines: &[&str], inline: &Inline<'_>, out: &mut String) {
    let cells = |line: &str| -> Vec<String> {
        let inner = line.trim().trim_start_matches('|').trim_end_matches('|');
        inner.replace("\\|", "\u{1}").split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    };
    *out += "<div class=\"wide\"><table>\n";
    let rows = lines.iter().enumerate().filter(|(_, line)| !line.trim().trim_start_matches('|').starts_with("--"));
    for (k, line) in rows {
        let tag = if k == 0 { "th" } else { "td" };
        let row: Vec<String> = cells(line).iter().map(|cell| format!("<{tag}>{}</{tag}>", inline.html(cell))).collect();
        *out += &format!("<tr>{}</tr>\n", row.join(""));
    }
    *out += "</table></div>\n";
}

/// Text with links and emphasis.
struct Inline<'a> {
    link: &'a dyn Fn(&str) -> Option<String>,
}

impl Inline<'_> {
    fn html(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        let mut before = ' ';
        while let Some(first) = rest.chars().next() {
            let taken = self.code(rest, &mut out).or_else(|| self.target(rest, &mut out));
            let taken = taken.or_else(|| self.emphasis(rest, before, &mut out)).unwrap_or_else(|| {
                out += &escape(&first.to_string());
                first.len_utf8()
            });
            before = rest[..taken].chars().next_back().unwrap_or(' ');
            rest = &rest[taken..];
        }
        out
    }

    /// A span of code at the start; how much it takes.
    fn code(&self, text: &str, out: &mut String) -> Option<usize> {
        let ticks = text.bytes().take_while(|b| *b == b'`').count();
        let fence = &text[..ticks];
        let end = (ticks > 0).then(|| text[ticks..].find(fence)).flatten()?;
        *out += &format!("<code>{}</code>", escape(text[ticks..ticks + end].trim()));
        Some(2 * ticks + end)
    }

    /// A link or a picture at the start.
    fn target(&self, text: &str, out: &mut String) -> Option<usize> {
        let is_picture = text.starts_with("![");
        let words = text.strip_prefix(if is_picture { "![" } else { "[" })?;
        let middle = words.find("](")?;
        let (name, target) = (&words[..middle], &words[middle + 2..]);
        let end = target.find(')')?;
        // a bracket of the text itself, before a link
        if name.contains('[') || name.contains('`') && name.matches('`').count() % 2 == 1 {
            return None;
        }
        let place = (self.link)(&target[..end]).map(|place| escape(&place));
        match (place, is_picture) {
            (Some(place), true) => *out += &format!("<img src=\"{place}\" alt=\"{}\">", escape(name)),
            (Some(place), false) => *out += &format!("<a href=\"{place}\">{}</a>", self.html(name)),
            (None, _) => *out += &self.html(name),
        }
        Some(text.len() - words.len() + middle + 2 + end + 1)
    }

    /// Bold or slanted text at the start, after a character.
    fn emphasis(&self, text: &str, before: char, out: &mut String) -> Option<usize> {
        let (mark, tag) = [("**", "strong"), ("*", "em")].into_iter().find(|(mark, _)| text.starts_with(mark))?;
        let inner = &text[mark.len()..];
        let opens = !before.is_alphanumeric() && inner.starts_with(|c: char| !c.is_whitespace() && c != '*');
        let end = opens.then(|| inner.find(mark)).flatten().filter(|end| *end > 0)?;
        if inner[..end].ends_with(char::is_whitespace) {
            return None;
        }
        *out += &format!("<{tag}>{}</{tag}>", self.html(&inner[..end]));
        Some(end + 2 * mark.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        html(text, &|target| (!target.starts_with("../")).then(|| target.replace(".md", ".html")))
    }

    #[test]
    fn blocks_become_elements() {
        let text =
            "# A *ball*\n\nOne\ntwo.\n\n- a\n- b\n  goes on\n\n  ```sh\n  carom run x\n  ```\n\n1. first\n2. second\n";
        let out = shown(text);
        assert!(
            out.starts_with("<h1 id=\"a-ball\">A <em>ball</em></h1>\n<p>One two.</p>\n<ul>\n<li>a</li>\n"),
            "{out}"
        );
        assert!(out.contains("<p>b goes on</p>\n<pre class=\"sh\"><code>carom run x\n</code></pre>\n</li>"), "{out}");
        assert!(out.ends_with("<ol>\n<li>first</li>\n<li>second</li>\n</ol>\n"), "{out}");
    }

    /// A block with the name of a file shows it.
    #[test]
    fn files_have_their_names() {
        let out = shown("```toml a.toml\nx = 1\n```\n");
        assert_eq!(out, "<p class=\"file\">a.toml</p>\n<pre class=\"toml\"><code>x = 1\n</code></pre>\n");
    }

    #[test]
    fn tables_and_quotations() {
        let out = shown("| a | b |\n|---|---|\n| `x \\| y` | 2 * 3 * 4 |\n\n> told\n> twice\n");
        assert!(out.contains("<tr><th>a</th><th>b</th></tr>\n<tr><td><code>x | y</code></td><td>2 * 3 * 4</td></tr>"));
        assert!(out.contains("<blockquote>\n<p>told twice</p>\n</blockquote>"), "{out}");
    }

    #[test]
    fn spans_of_text() {
        let out = shown("**bold**, `a < b`, [page](model-files.md#x), [code `c`](../src.rs), a*b*c, [nqi2016], [0, 1]");
        let expected = "<p><strong>bold</strong>, <code>a &lt; b</code>, <a href=\"model-files.html#x\">page</a>, code \
                        <code>c</code>, a*b*c, [nqi2016], [0, 1]</p>\n";
        assert_eq!(out, expected);
    }
}
