//! What is noted of a run: quantities in the words of `[[expect]]`.

use crate::failure::Failure;
use crate::study::column;
use carom_scene::Scene;
use carom_scene::nearest::nearest;
use carom_scene::scene::{Column, Expectation, Quantity, Watch};
use carom_scene::{Place, SourceText};

/// Final positions that are noted where nothing is asked for.
const POSITIONS: usize = 8;

/// A quantity with its name.
#[derive(Clone, Debug)]
pub struct Measure {
    pub text: String,
    quantity: Quantity,
}

/// The quantities asked for; where there are none, final positions, impacts and what the file expects.
pub fn all(scene: &Scene, asked: &[String]) -> Result<Vec<Measure>, Failure> {
    if !asked.is_empty() {
        return asked.iter().map(|text| read(scene, text)).collect();
    }
    let mut measures = vec![Measure { text: "impacts".into(), quantity: Quantity::Impacts }];
    for (i, name) in scene.coordinates.iter().enumerate().take(POSITIONS) {
        measures.push(Measure { text: format!("final q.{name}"), quantity: Quantity::Final(Column::Position(i)) });
    }
    for expectation in &scene.expectations {
        if measures.iter().all(|known| known.quantity != expectation.quantity) {
            measures.push(Measure { text: expectation.text.clone(), quantity: expectation.quantity.clone() });
        }
    }
    Ok(measures)
}

fn read(scene: &Scene, text: &str) -> Result<Measure, Failure> {
    let text = text.trim();
    if text == "impacts" {
        return Ok(Measure { text: text.into(), quantity: Quantity::Impacts });
    }
    let (word, name) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let make: fn(Column) -> Quantity = match word {
        "final" => Quantity::Final,
        "min" => Quantity::Min,
        "max" => Quantity::Max,
        "sum" => Quantity::Sum,
        _ => {
            let hint = match nearest(word, ["final", "min", "max", "sum", "impacts"]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "write \"final NAME\", \"min NAME\", \"max NAME\", \"sum NAME\" or \"impacts\"".into(),
            };
            return Err(Failure::usage(format!("--measure: unknown quantity {text:?}"), hint));
        }
    };
    Ok(Measure { text: text.into(), quantity: make(column(scene, "--measure", name.trim())?) })
}

/// An observer of a run that measures them.
pub fn watch(scene: &Scene, measures: &[Measure]) -> Watch {
    let place = Place { source: SourceText::new("--measure", String::new()), span: 0..0, field: "--measure".into() };
    let expectation = |measure: &Measure| Expectation {
        text: measure.text.clone(),
        quantity: measure.quantity.clone(),
        value: 0.0,
        tolerance: f64::INFINITY,
        source: None,
        place: place.clone(),
    };
    let mut scene = scene.clone();
    scene.expectations = measures.iter().map(expectation).collect();
    scene.watch()
}
