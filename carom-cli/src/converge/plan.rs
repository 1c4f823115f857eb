//! Which steps and tolerances a study takes, from the command line.

use crate::arguments::ConvergeArguments;
use crate::failure::Failure;
use carom_analysis::convergence::Plan;
use carom_scene::Scene;

/// Most steps of one run of a study: all states are kept in memory.
const MOST_STEPS: f64 = 2e7;

/// What `--work` takes where nothing else is asked for: parts of the span as steps, and tolerances.
const WORK_STEPS: (f64, f64) = (20.0, 20_000.0);
const WORK_TOLERANCES: (f64, f64, usize) = (1e-2, 1e-9, 8);

/// Steps, tolerances, or both.
pub struct Plans {
    pub steps: Option<Plan>,
    /// From coarse to fine.
    pub tolerances: Vec<f64>,
}

pub fn plans(arguments: &ConvergeArguments, scene: &Scene) -> Result<Plans, Failure> {
    let span = scene.span.end - scene.span.start;
    if arguments.steps.is_none() && arguments.tolerances.is_none() {
        if !arguments.work {
            let hint = "for example --steps 0.1:1e-4, --tolerances 1e-2:1e-8, or --work for both";
            return Err(Failure::usage("which steps, or which tolerances?", hint));
        }
        let (coarse, fine) = (span / WORK_STEPS.0, span / WORK_STEPS.1);
        let range = Range { option: "--work", coarse, fine, levels: None };
        let (from, to, levels) = WORK_TOLERANCES;
        let tolerances = Range { option: "--work", coarse: from, fine: to, levels: Some(levels) }.values(1);
        return Ok(Plans { steps: Some(steps(arguments, scene, &range)?), tolerances });
    }
    let plan = match &arguments.steps {
        Some(text) => {
            let hint =
                "write coarse and fine steps, for example --steps 0.1:1e-4, or with the number of levels 0.1:1e-4:7";
            Some(steps(arguments, scene, &Range::read("--steps", text, hint)?)?)
        }
        None => None,
    };
    let tolerances = match &arguments.tolerances {
        Some(text) => {
            let hint = "write coarse and fine tolerances, for example --tolerances 1e-2:1e-8, or with the number of levels 1e-2:1e-8:13";
            Range::read("--tolerances", text, hint)?.values(1)
        }
        None => Vec::new(),
    };
    Ok(Plans { steps: plan, tolerances })
}

/// The largest number of steps of a plan.
pub fn finest(plan: &Plan) -> usize {
    plan.counts.iter().max().copied().unwrap_or(1)
}

/// `COARSE:FINE[:LEVELS]`; two dots are understood as well.
struct Range {
    option: &'static str,
    coarse: f64,
    fine: f64,
    levels: Option<usize>,
}

impl Range {
    fn read(option: &'static str, text: &str, hint: &str) -> Result<Range, Failure> {
        let wrong = |why: &str| Failure::usage(format!("{option} {text}: {why}"), hint);
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
        let levels = match levels {
            Some(text) => {
                let levels = text.trim().parse::<usize>().ok().filter(|n| (2..=100).contains(n));
                Some(levels.ok_or_else(|| wrong("levels must be 2 to 100"))?)
            }
            None => None,
        };
        Ok(Range { option, coarse, fine, levels })
    }

    /// Number of levels, with so many per decade where it is not given.
    fn levels(&self, per_decade: u32) -> usize {
        let decades = (self.coarse / self.fine).log10();
        // 1e-2 to 1e-9 are 7 decades, whatever the rounding
        self.levels.unwrap_or_else(|| ((decades * f64::from(per_decade) - 1e-9).ceil() as usize + 1).clamp(2, 100))
    }

    /// The values, equally spaced in the logarithm.
    fn values(&self, per_decade: u32) -> Vec<f64> {
        let levels = self.levels(per_decade);
        let ratio = (self.fine / self.coarse).ln() / (levels - 1) as f64;
        let inner = (1..levels - 1).map(|k| self.coarse * (ratio * k as f64).exp());
        std::iter::once(self.coarse).chain(inner).chain([self.fine]).collect()
    }
}

fn steps(arguments: &ConvergeArguments, scene: &Scene, range: &Range) -> Result<Plan, Failure> {
    let Range { option, coarse, fine, .. } = *range;
    let hint = "write coarse and fine steps, for example --steps 0.1:1e-4, or with the number of levels 0.1:1e-4:7";
    let wrong = |why: String| Failure::usage(format!("{option} {coarse}:{fine}: {why}"), hint);
    let span = scene.span.end - scene.span.start;
    if coarse > span {
        return Err(wrong(format!("the coarse step must be at most the span of {span} s")));
    }
    if span / fine > MOST_STEPS {
        return Err(wrong(format!("{:.1e} steps do not fit into memory; the most is {MOST_STEPS:.0e}", span / fine)));
    }
    let levels = range.levels(3);
    let mut plan = Plan::between((scene.span.start, scene.span.end), coarse, fine, levels, arguments.grids as usize);
    plan.skip_multiples_of = arguments.skip_multiples.map(|n| n as usize);
    if plan.counts.len() < 2 {
        return Err(wrong("two different numbers of steps are needed for an order".into()));
    }
    let reference = finest(&plan) as f64 * arguments.refine as f64;
    if scene.reference.is_none() && reference > MOST_STEPS {
        let hint = format!("take a larger fine step, or a smaller --refine; the most is {MOST_STEPS:.0e} steps");
        return Err(Failure::usage(format!("{reference:.1e} steps of the reference run do not fit into memory"), hint));
    }
    Ok(plan)
}
