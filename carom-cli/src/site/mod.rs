//! Static pages of plain HTML: the frame that book and galleries share, and cards with pictures.

pub mod markdown;

/// The style of all pages.
const STYLE: &str = include_str!("style.css");

/// Text inside of HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            _ => out.push(c),
        }
    }
    out
}

/// A page: what is beside it, and what is in it. Nothing is asked of the network.
pub fn page(title: &str, side: &str, body: &str) -> String {
    let wide = if side.is_empty() { " class=\"wide-page\"" } else { "" };
    let (side, to_side) = match side {
        "" => (String::new(), ""),
        // beside the text where there is room for it, and below it elsewhere
        side => (
            format!("<nav class=\"side\" id=\"side\">\n{side}</nav>\n"),
            "<a class=\"to-side\" href=\"#side\">Contents</a>\n",
        ),
    };
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src 'self' file: data:; \
         style-src 'unsafe-inline'\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body{wide}>\n{side}\
         <main>\n{to_side}{body}</main>\n</body>\n</html>\n",
        escape(title)
    )
}

/// One thing of a gallery.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Card {
    /// Its name.
    pub title: String,
    /// A word about how it went, and whether it went well: `good`, `fair` or `bad`.
    pub word: (String, &'static str),
    /// What it is, and what is to be said of it; one paragraph each.
    pub lines: Vec<String>,
    /// Where its picture is.
    pub picture: Option<String>,
    /// Names and values.
    pub numbers: Vec<(String, String)>,
    /// Words and places of links.
    pub links: Vec<(String, String)>,
}

impl Card {
    /// The card as HTML.
    pub fn html(&self) -> String {
        let title = escape(&self.title);
        let (word, tone) = (escape(&self.word.0), self.word.1);
        let mut out = format!("<article class=\"card\">\n<h3>{title} <span class=\"word {tone}\">{word}</span></h3>\n");
        if let Some(picture) = &self.picture {
            let place = escape(picture);
            let target = self.links.first().map_or(place.as_str(), |(_, target)| target.as_str());
            out +=
                &format!("<a href=\"{}\"><img src=\"{place}\" alt=\"{title}\" loading=\"lazy\"></a>\n", escape(target));
        }
        self.lines.iter().for_each(|line| out += &format!("<p>{}</p>\n", escape(line)));
        if !self.numbers.is_empty() {
            out += "<dl>\n";
            for (name, value) in &self.numbers {
                out += &format!("<dt>{}</dt><dd>{}</dd>\n", escape(name), escape(value));
            }
            out += "</dl>\n";
        }
        let link = |(word, place): &(String, String)| format!("<a href=\"{}\">{}</a>", escape(place), escape(word));
        let links: Vec<String> = self.links.iter().map(link).collect();
        out += &format!("<p class=\"links\">{}</p>\n</article>\n", links.join(" · "));
        out
    }
}

/// A part of a gallery.
pub fn section(title: &str, text: &[String], cards: &[Card]) -> String {
    let mut out = format!("<h2>{}</h2>\n", escape(title));
    text.iter().for_each(|line| out += &markdown::html(line, &|_| None));
    out += "<div class=\"cards\">\n";
    cards.iter().for_each(|card| out += &card.html());
    out + "</div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_become_markup() {
        let card = Card { title: "<b>\"a\" & b".into(), lines: vec!["<script>".into()], ..Card::default() };
        let html = card.html();
        assert!(!html.contains("<b>") && !html.contains("<script>"), "{html}");
        assert!(html.contains("&lt;b&gt;&quot;a&quot; &amp; b"));
        assert!(page("<i>", "", &html).contains("<title>&lt;i&gt;</title>"));
    }
}
