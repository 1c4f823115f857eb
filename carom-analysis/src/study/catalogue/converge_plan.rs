//! Which steps and tolerances a convergence study takes, by the words of its options.

use crate::convergence::Plan;
use crate::study::StudyError;
use carom::Subject;
use carom::elementary::{exp, ln, log10};

/// Most steps of one run of a study: all states are kept in memory.
const MOST_STEPS: f64 = 2e7;

/// What `--work` takes where nothing else is asked for: parts of the span as steps.
pub const WORK_STEPS: (f64, f64) = (20.0, 20_000.0);

/// And tolerances, with their number.
pub const WORK_TOLERANCES: (f64, f64, usize) = (1e-2, 1e-9, 8);

/// The largest number of steps of a plan.
pub fn finest(plan: &Plan) -> usize {
    plan.counts.iter().max().copied().unwrap_or(1)
}

/// `COARSE:FINE[:LEVELS]`; two dots are understood as well.
pub struct Range {
    /// The option that gives it.
    pub option: &'static str,
    /// The largest value.
    pub coarse: f64,
    /// The smallest value.
    pub fine: f64,
    /// How many.
    pub levels: Option<usize>,
}

impl Range {
    /// Reads the value of an option.
    pub fn read(option: &'static str, text: &str) -> Result<Range, StudyError> {
        let wrong = |why: &str| StudyError::usage(format!("{option} {text}: {why}"), hint(option));
        let text = text.replace("..", ":");
        let parts: Vec<&str> = text.split(':').collect();
        let (coarse, fine, levels) = match parts.as_slice() {
            [coarse, fine] => (coarse, fine, None),
            [coarse, fine, levels] => (coarse, fine, Some(*levels)),
            _ => return Err(wrong("two or three parts are needed")),
        };
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|x| x.is_finite() && *x > 0.0);
        let (Some(coarse), Some(fine)) = (number(coarse), number(fine)) else {
            return Err(wrong("positive numbers are needed"));
        };
        if fine >= coarse {
            return Err(wrong("the fine one must be below the coarse one"));
        }
        let read = |text: &str| text.trim().parse::<usize>().ok().filter(|n| (2..=100).contains(n));
        let levels = levels.map(|text| read(text).ok_or_else(|| wrong("levels must be 2 to 100"))).transpose()?;
        Ok(Range { option, coarse, fine, levels })
    }

    /// Number of levels, with so many per decade where it is not given.
    fn levels(&self, per_decade: u32) -> usize {
        let decades = log10(self.coarse / self.fine);
        // 1e-2 to 1e-9 are 7 decades, whatever the rounding
        self.levels.unwrap_or_else(|| ((decades * f64::from(per_decade) - 1e-9).ceil() as usize + 1).clamp(2, 100))
    }

    /// The values, equally spaced in the logarithm.
    pub fn values(&self, per_decade: u32) -> Vec<f64> {
        let levels = self.levels(per_decade);
        let ratio = ln(self.fine / self.coarse) / (levels - 1) as f64;
        let inner = (1..levels - 1).map(|k| self.coarse * exp(ratio * k as f64));
        std::iter::once(self.coarse).chain(inner).chain([self.fine]).collect()
    }
}

fn hint(option: &str) -> &'static str {
    match option {
        "--tolerances" => {
            "write coarse and fine tolerances, for example --tolerances 1e-2:1e-8, or with the number of levels 1e-2:1e-8:13"
        }
        _ => "write coarse and fine steps, for example --steps 0.1:1e-4, or with the number of levels 0.1:1e-4:7",
    }
}

/// The numbers of steps of a range, with neighbouring grids, multiples that are skipped, and steps of the reference run
/// per finest step.
pub fn steps_of(
    subject: &dyn Subject,
    range: &Range,
    (grids, skip_multiples, refine): (u64, Option<u64>, usize),
) -> Result<Plan, StudyError> {
    let Range { option, coarse, fine, .. } = *range;
    let wrong = |why: String| StudyError::usage(format!("{option} {coarse}:{fine}: {why}"), hint(option));
    let (start, end, _) = subject.span();
    let span = end - start;
    if coarse > span {
        return Err(wrong(format!("the coarse step must be at most the span of {span} s")));
    }
    if span / fine > MOST_STEPS {
        return Err(wrong(format!("{:.1e} steps do not fit into memory; the most is {MOST_STEPS:.0e}", span / fine)));
    }
    let mut plan = Plan::between((start, end), coarse, fine, range.levels(3), grids as usize);
    plan.skip_multiples_of = skip_multiples.map(|n| n as usize);
    if plan.counts.len() < 2 {
        return Err(wrong("two different numbers of steps are needed for an order".into()));
    }
    let reference = finest(&plan) as f64 * refine as f64;
    if subject.exact().is_none() && reference > MOST_STEPS {
        let hint = format!("take a larger fine step, or a smaller --refine; the most is {MOST_STEPS:.0e} steps");
        return Err(StudyError::usage(
            format!("{reference:.1e} steps of the reference run do not fit into memory"),
            hint,
        ));
    }
    Ok(plan)
}
