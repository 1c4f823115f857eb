//! Tables on standard output, plain or as Markdown, and what was asked beside what was measured.

/// Rows of words under a header.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[&str]) -> Table {
        Table { rows: vec![header.iter().map(|&word| word.into()).collect()] }
    }

    pub fn add(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub fn print(&self, markdown: bool) {
        let columns = self.rows[0].len();
        let length = |row: &Vec<String>, k: usize| row.get(k).map_or(0, |word| word.chars().count());
        let width: Vec<usize> =
            (0..columns).map(|k| self.rows.iter().map(|row| length(row, k)).max().unwrap_or(0)).collect();
        for (i, row) in self.rows.iter().enumerate() {
            let words: Vec<String> = row.iter().zip(&width).map(|(word, &width)| format!("{word:width$}")).collect();
            if markdown {
                println!("| {} |", words.join(" | "));
            } else {
                println!("{}", words.join("  ").trim_end());
            }
            if markdown && i == 0 {
                println!("|{}", "---|".repeat(columns));
            }
        }
        println!();
    }
}

/// What was asked and what was measured.
pub struct Claim {
    pub what: String,
    pub asked: String,
    pub measured: String,
    /// None where it could not be measured.
    pub holds: Option<bool>,
}

impl Claim {
    /// A ratio that must reach a bound; none where the peer is missing.
    pub fn at_least(what: impl Into<String>, asked: f64, measured: Option<f64>) -> Claim {
        Claim {
            what: what.into(),
            asked: format!("at least {asked}"),
            measured: measured.map_or("not measured".into(), |x| format!("{x:.2}")),
            holds: measured.map(|x| x >= asked),
        }
    }

    pub fn print(claims: &[Claim], markdown: bool) {
        let mut table = Table::new(&["what", "asked", "measured", "verdict"]);
        for claim in claims {
            let verdict = match claim.holds {
                Some(true) => "met",
                Some(false) => "MISSED",
                None => "unknown",
            };
            table.add(vec![claim.what.clone(), claim.asked.clone(), claim.measured.clone(), verdict.into()]);
        }
        table.print(markdown);
    }
}

/// A time in a unit that suits it.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.2} µs", 1e6 * s),
        s if s < 1.0 => format!("{:.2} ms", 1e3 * s),
        s => format!("{s:.2} s"),
    }
}
