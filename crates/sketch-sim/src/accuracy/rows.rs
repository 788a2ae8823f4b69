//! The settings of the three tables.

use dp_noise::Epsilon;
use sfm_pcsa::{BloomShape, LegionsShape, LinearShape, PcsaShape, SketchShape};

use super::{AccuracyError, Plan, Which};
use crate::simulate::{Merge, Overlap, Sampling, Settings};

/// A setting with the cells of its row that say which it is.
pub(super) struct Row {
    pub(super) title: Vec<String>,
    pub(super) settings: Settings,
}

/// The heads of the columns that say which setting a row is.
pub(super) const fn heads(which: Which) -> &'static [&'static str] {
    match which {
        Which::Single => &["distinct items", "ε"],
        Which::Families => &["sketch", "distinct items", "ε"],
        Which::Merged => &["releases", "ε of each", "merge", "buckets", "distinct items"],
        // Rows of its own.
        _ => &[],
    }
}

/// All rows of a table, each with its own seed.
pub(super) fn rows(plan: &Plan) -> Result<Vec<Row>, AccuracyError> {
    let mut rows = match plan.which {
        Which::Single => single()?,
        Which::Families => families()?,
        Which::Merged => merged()?,
        _ => Vec::new(),
    };
    for (seed, row) in (plan.seed..).zip(&mut rows) {
        row.settings.seed = seed;
        row.settings.trials = plan.trials;
    }
    Ok(rows)
}

/// One release of one sketch.
fn one(shape: SketchShape, n: u64, epsilon: f64) -> Result<Settings, AccuracyError> {
    Ok(Settings {
        shape,
        epsilon: Some(Epsilon::new(epsilon).map_err(AccuracyError::parameter)?),
        n,
        parties: 1,
        overlap: Overlap::Disjoint,
        merge: Merge::None,
        sampling: Sampling::Cells,
        trials: 1,
        seed: 0,
    })
}

fn single() -> Result<Vec<Row>, AccuracyError> {
    let settings = [10_000, 100_000, 1_000_000].into_iter().flat_map(|n| [1.0, 2.0, 4.0].map(|epsilon| (n, epsilon)));
    settings
        .map(|(n, epsilon)| {
            let settings = one(PcsaShape::DEFAULT.into(), n, epsilon)?;
            Ok(Row { title: vec![n.to_string(), epsilon.to_string()], settings })
        })
        .collect()
}

/// Every family where it is good, near its noise floor, and near the end of its range.
fn families() -> Result<Vec<Row>, AccuracyError> {
    let pcsa = SketchShape::from(PcsaShape::new(1024, 24).map_err(AccuracyError::parameter)?);
    let linear = SketchShape::from(LinearShape::new(16_384).map_err(AccuracyError::parameter)?);
    let legions = SketchShape::from(LegionsShape::new(16_384, 8.0).map_err(AccuracyError::parameter)?);
    let bloom = |hashes| BloomShape::new(16_384, hashes).map(SketchShape::from).map_err(AccuracyError::parameter);
    let (two, four) = (bloom(2)?, bloom(4)?);
    let settings = [
        (pcsa, 1000, 2.0),
        (pcsa, 1000, 4.0),
        (pcsa, 100_000, 0.5),
        (pcsa, 100_000, 1.0),
        (pcsa, 100_000, 2.0),
        (pcsa, 100_000, 4.0),
        (linear, 1000, 1.0),
        (linear, 1000, 4.0),
        (linear, 10_000, 1.0),
        (linear, 10_000, 4.0),
        (linear, 50_000, 1.0),
        (linear, 50_000, 4.0),
        (two, 1000, 2.0),
        (two, 5000, 2.0),
        (two, 5000, 8.0),
        (two, 20_000, 4.0),
        (four, 3000, 4.0),
        (four, 8000, 8.0),
        (legions, 1000, 1.0),
        (legions, 1000, 4.0),
        (legions, 10_000, 2.0),
        (legions, 100_000, 1.0),
        (legions, 100_000, 2.0),
        (legions, 100_000, 4.0),
    ];
    settings
        .into_iter()
        .map(|(shape, n, epsilon)| {
            Ok(Row { title: vec![name(shape), n.to_string(), epsilon.to_string()], settings: one(shape, n, epsilon)? })
        })
        .collect()
}

fn name(shape: SketchShape) -> String {
    let family = match shape {
        SketchShape::Pcsa(_) => "PCSA",
        SketchShape::Linear(_) => "linear counting",
        SketchShape::Bloom(_) => "Bloom filter",
        SketchShape::Legions(_) => "Liquid Legions",
        _ => "another sketch",
    };
    format!("{family}, {shape}")
}

/// Merges of 2, 8 and 32 releases; of so noisy ones that 4096 buckets say nothing also in sketches large enough for them.
fn merged() -> Result<Vec<Row>, AccuracyError> {
    let forms = [Merge::Extremal, Merge::Symmetric];
    let common = [2, 8, 32].into_iter().flat_map(|parties| [2.0, 4.0].map(|epsilon| (parties, epsilon)));
    let default = common.flat_map(|(parties, epsilon)| forms.map(|merge| (parties, epsilon, 12, merge)));
    let large = [(32, 2.0, 18, Merge::Extremal), (32, 2.0, 20, Merge::Symmetric)];
    default
        .chain(large)
        .map(|(parties, epsilon, index_bits, merge)| merge_of(parties, epsilon, index_bits, merge))
        .collect()
}

fn merge_of(parties: u32, epsilon: f64, index_bits: u8, merge: Merge) -> Result<Row, AccuracyError> {
    let shape = PcsaShape::from_index_bits(index_bits, 24).map_err(AccuracyError::parameter)?;
    // Four items a bucket are enough for the full accuracy of a large sketch, and fewer to draw.
    let n = if index_bits > 12 { 4 << index_bits } else { 1_000_000 };
    let settings = Settings { parties, merge, sampling: Sampling::Counts, ..one(shape.into(), n, epsilon)? };
    let title =
        vec![parties.to_string(), epsilon.to_string(), merge.to_string(), shape.buckets().to_string(), n.to_string()];
    Ok(Row { title, settings })
}
