//! Released sketches that are kept together instead of merged.

use dp_noise::NoiseRng;
use sfm_pcsa::{SfmTally, TallyError};

use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::merge::check_compatible;
use crate::sketch_file::MAX_FILE_LEN;

/// Keeps released sketches of kind `sfm` together: how many of them have a one in each cell, and which releases they are.
///
/// The inputs are single releases and tallies of such, in any order. A tally draws no coins and keeps all that [`estimate`](crate::estimate)
/// looks at of more than three releases, so that it is answered with less error than a merged sketch, at the length of one sketch for every
/// doubling of their number. Two or three releases are answered a little better by themselves: their joint likelihood also
/// sees which of them has a one. Equal inputs give equal bytes, whatever their order.
///
/// # Errors
/// [`ErrorKind::Incompatible`] for sketches of another kind, raw ones, those that differ in shape, hash or key, a release that is there
/// twice, and merged sketches, whose single bits are gone: tally their inputs.
///
/// # Privacy
/// Costs nothing. A tally tells what its releases told, and somebody in all of their data sets has paid the sum of their ε.
///
/// # Examples
/// ```
/// use dpsketch::{AnySketch, DistinctBuilder, RawSketch, TextRules, estimate, parse_confidence, parse_epsilon, tally};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::AnyHash;
///
/// let mut sites = Vec::new();
/// for site in 0..8 {
///     let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
///     let users: Vec<String> = (site * 5_000..site * 5_000 + 10_000).map(|user| user.to_string()).collect();
///     builder.push_texts(users.iter().map(String::as_str));
///     let private = RawSketch::try_from(builder)?.release(parse_epsilon("2")?)?;
///     sites.push((format!("site{site}"), AnySketch::from(private)));
/// }
/// // Two regions make a tally each, and the centre one of both.
/// let (north, south) = (tally(&sites[..4])?, tally(&sites[4..])?);
/// let all = tally(&[("north".to_owned(), north), ("south".to_owned(), south)])?;
/// let answer = estimate(&[("all".to_owned(), all)], parse_confidence("0.95")?)?.to_json();
/// assert!((answer["estimate"].as_f64().unwrap() - 45_000.0).abs() < 10_000.0);
/// assert_eq!((&answer["method"]["name"], &answer["sketches"]), (&"tally".into(), &8.into()));
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn tally(sketches: &[(String, AnySketch)]) -> Result<AnySketch, Error> {
    if let Some((name, other)) =
        sketches.iter().find(|(_, sketch)| !matches!(sketch, AnySketch::Sfm(_) | AnySketch::SfmTally(_)))
    {
        return Err(not_tallied(name, other));
    }
    check_compatible(sketches)?;
    let tally = tally_of_all(sketches)?;
    check_length(&tally)?;
    Ok(tally.into())
}

/// Brings all releases of a tally to one noise level, by fresh noise on those that have less, and leaves other sketches as they are.
///
/// A tally is estimated if its releases have at most two noise levels. This makes one of any number of them, for the price of
/// the noise of the noisiest release in all of them, which a tally of few releases may not be worth.
///
/// # Errors
/// [`ErrorKind::Entropy`] without randomness; [`ErrorKind::Incompatible`] where no noise level can be reached from all.
///
/// # Privacy
/// Costs nothing. The releases keep the ε that they were made at.
pub fn thin_tally(sketch: AnySketch) -> Result<AnySketch, Error> {
    match sketch {
        AnySketch::SfmTally(tally) => Ok(AnySketch::SfmTally(tally.thin(&mut NoiseRng::from_os()?)?)),
        other => Ok(other),
    }
}

/// Whether some sketch is a tally.
pub(crate) fn has_tally(sketches: &[(String, AnySketch)]) -> bool {
    sketches.iter().any(|(_, sketch)| matches!(sketch, AnySketch::SfmTally(_)))
}

/// One tally of all named sketches.
pub(crate) fn tally_of_all(sketches: &[(String, AnySketch)]) -> Result<SfmTally, Error> {
    let mut all: Option<SfmTally> = None;
    for (name, sketch) in sketches {
        let told = |error: TallyError| Error::from(error).prefixed(name).argument("FILE").value(name);
        match (&mut all, sketch) {
            (None, AnySketch::Sfm(sketch)) => all = Some(SfmTally::new(sketch).map_err(told)?),
            (None, AnySketch::SfmTally(tally)) => all = Some(tally.clone()),
            (Some(all), AnySketch::Sfm(sketch)) => all.add(sketch).map_err(told)?,
            (Some(all), AnySketch::SfmTally(tally)) => all.merge(tally).map_err(told)?,
            (_, other) => return Err(not_tallied(name, other)),
        }
    }
    all.ok_or_else(|| Error::new(ErrorKind::Parameter, "no sketch was named").argument("FILE"))
}

fn not_tallied(name: &str, sketch: &AnySketch) -> Error {
    let (state, hint) = if sketch.is_raw() { ("a raw", "release it first") } else { ("a", "merge it without --tally") };
    Error::new(ErrorKind::Incompatible, format!("{name} is {state} sketch of kind {}", sketch.kind()))
        .argument("FILE")
        .value(name)
        .allowed("released sketches of kind sfm, and tallies of such")
        .hint(hint)
}

/// Checks that a tally can be read again from a file.
fn check_length(tally: &SfmTally) -> Result<(), Error> {
    let digits = |sketches: usize| u64::from((sketches + 1).next_power_of_two().ilog2());
    let planes: u64 = tally.classes().iter().map(|class| digits(class.sketches)).sum();
    let shape = tally.shape();
    let cells = u64::from(shape.buckets()) * u64::from(shape.levels());
    let bytes = planes * cells.div_ceil(8);
    // Names and counts of releases take a share that does not grow with the buckets.
    if bytes < MAX_FILE_LEN * 15 / 16 {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Incompatible,
        format!("a tally of {} sketches of {shape} takes {bytes} bytes", tally.sketches()),
    )
    .argument("FILE")
    .allowed(format!("at most {MAX_FILE_LEN} bytes"))
    .hint("make tallies of fewer releases, or estimate the files without one"))
}
