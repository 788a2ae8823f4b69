//! The shape of a simulated sketch: its options, its JSON and its layout.

use cardinality_estimators::{CellLayout, ParamError};
use serde_json::{Map, Value, json};
use sfm_pcsa::{BloomShape, LegionsShape, LinearShape, PcsaShape, SketchShape};

use crate::options::{OptionError, Options};

/// The words of `--sketch`, each with the options that give its shape.
const SKETCHES: [(&str, &[&str]); 4] = [
    ("pcsa", &["--buckets", "--levels"]),
    ("linear", &["--cells"]),
    ("bloom", &["--cells", "--hashes"]),
    ("legions", &["--cells", "--decay"]),
];

/// The options of all shapes.
pub(super) const OPTIONS: [&str; 6] = ["--sketch", "--buckets", "--levels", "--cells", "--hashes", "--decay"];

/// Reads the shape. An option of another sketch is refused.
pub(super) fn parse(options: &Options) -> Result<SketchShape, OptionError> {
    let word = options.text("--sketch").unwrap_or("pcsa");
    let Some((_, own)) = SKETCHES.iter().find(|(known, _)| *known == word) else {
        return Err(Options::refuse("--sketch", word, "pcsa, linear, bloom or legions"));
    };
    let foreign = |name: &&str| *name != "--sketch" && !own.contains(name) && options.text(name).is_some();
    if let Some(name) = OPTIONS.into_iter().find(|name| foreign(name)) {
        let value = options.text(name).unwrap_or_default();
        return Err(Options::refuse(name, value, &format!("no such option with --sketch {word}")));
    }
    let refuse = |error: sfm_pcsa::ParamError| {
        let values: Vec<&str> = own.iter().filter_map(|name| options.text(name)).collect();
        Options::refuse(&own.join("/"), &values.join("/"), &error.to_string())
    };
    let cells = || options.required("--cells", "a number of cells");
    match word {
        "linear" => LinearShape::new(cells()?).map(SketchShape::from).map_err(refuse),
        "bloom" => BloomShape::new(cells()?, options.required("--hashes", "a number of hashes from 1 to 64")?)
            .map(SketchShape::from)
            .map_err(refuse),
        "legions" => LegionsShape::new(cells()?, options.required("--decay", "a decay from 1/16 to 24")?)
            .map(SketchShape::from)
            .map_err(refuse),
        _ => {
            let buckets = options.required("--buckets", "a power of two from 2 to 2^20")?;
            let levels = options.required("--levels", "a number of levels from 1 to 63")?;
            PcsaShape::new(buckets, levels).map(SketchShape::from).map_err(refuse)
        }
    }
}

/// The word of a shape's family.
pub(super) const fn word(shape: SketchShape) -> &'static str {
    match shape {
        SketchShape::Pcsa(_) => "pcsa",
        SketchShape::Linear(_) => "linear",
        SketchShape::Bloom(_) => "bloom",
        SketchShape::Legions(_) => "legions",
        _ => "other",
    }
}

/// The shape as JSON keys.
pub(super) fn to_json(shape: SketchShape) -> Map<String, Value> {
    let fields = match shape {
        SketchShape::Pcsa(shape) => json!({ "buckets": shape.buckets(), "levels": shape.levels() }),
        SketchShape::Linear(shape) => json!({ "cells": shape.cells() }),
        SketchShape::Bloom(shape) => json!({ "cells": shape.cells(), "hashes": shape.hashes() }),
        SketchShape::Legions(shape) => json!({ "cells": shape.cells(), "decay": shape.decay() }),
        _ => json!({}),
    };
    let mut object = fields.as_object().cloned().unwrap_or_default();
    object.insert("sketch".to_owned(), json!(word(shape)));
    object
}

/// The groups of equally likely cells.
pub(crate) fn layout(shape: SketchShape) -> Result<CellLayout, ParamError> {
    match shape {
        SketchShape::Pcsa(shape) => CellLayout::pcsa(shape.buckets(), shape.levels()),
        SketchShape::Linear(shape) => CellLayout::linear(shape.cells() as u64),
        SketchShape::Bloom(shape) => CellLayout::bloom(shape.cells() as u64, u32::from(shape.hashes())),
        SketchShape::Legions(shape) => CellLayout::legions(shape.cells() as u64, shape.decay()),
        _ => Err(ParamError::Cells { expected: 1, found: 0 }),
    }
}
