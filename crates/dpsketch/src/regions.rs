//! The regions that a few named sets cut the world into, all at once.

use cardinality_estimators::Confidence;

use crate::answer::Answer;
use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::expr::SetFormula;
use crate::joint::{Joint, of_sketches};
use crate::merge::{Sort, check_compatible, one_sort};
use crate::set_answer::estimate_formula;

/// The most sets whose regions are told: four have fifteen.
pub const MAX_REGION_SETS: usize = 4;

/// How many distinct items lie in each region of the sets behind some sketches: inside some of them and outside the others.
///
/// All of them come from one joint likelihood, so that they fit together, and add up to the union. One answer a region, in the order of its mask (bit `i` says that it is inside set `i`), whose
/// [`expr`](Answer::expr) is the region's name, such as `a & b & !c`. The figures of privacy are those of all the sketches.
///
/// # Errors
/// As [`estimate_formula`]; [`ErrorKind::Parameter`] unless there are 1 to [`MAX_REGION_SETS`] sketches.
///
/// # Privacy
/// Costs nothing beyond the releases. Somebody in all of the data sets has paid the sum of their ε.
///
/// # Examples
/// ```
/// use dpsketch::{AnySketch, DistinctBuilder, RawSketch, TextRules, estimate_regions, parse_confidence, parse_epsilon};
/// use dpsketch::sfm_pcsa::PcsaShape;
/// use dpsketch::sketch_hash::AnyHash;
///
/// let mut parties = Vec::new();
/// for (name, users) in [("a", 0..30_000), ("b", 20_000..50_000)] {
///     let mut builder = DistinctBuilder::new(PcsaShape::DEFAULT, AnyHash::default(), TextRules::default());
///     let users: Vec<String> = users.map(|user| user.to_string()).collect();
///     builder.push_texts(users.iter().map(String::as_str));
///     let private = RawSketch::try_from(builder)?.release(parse_epsilon("4")?)?;
///     parties.push((name.to_owned(), AnySketch::from(private)));
/// }
/// let regions = estimate_regions(&parties, parse_confidence("0.95")?)?;
/// for (region, (name, size)) in regions.iter().zip([("a & !b", 2e4), ("!a & b", 2e4), ("a & b", 1e4)]) {
///     assert_eq!(region.expr(), Some(name));
///     assert!((region.estimate().value().unwrap() - size).abs() < 1e4);
/// }
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn estimate_regions(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Vec<Answer>, Error> {
    let names: Vec<&str> = sketches.iter().map(|(name, _)| name.as_str()).collect();
    check_number(names.len())?;
    let masks = 1..1_u32 << names.len();
    check_compatible(sketches)?;
    if one_sort(sketches)? != Sort::Bitmaps {
        return masks.map(|region| estimate_formula(sketches, &region_name(&names, region), confidence)).collect();
    }
    // As a formula, for what it says about the names.
    SetFormula::parse(&region_name(&names, 1), &names)?;
    let joint = Joint::of_named(sketches)?;
    let answer = |mask: u32| {
        let estimate = joint.regions(|region| region == mask, confidence)?;
        Ok(of_sketches(sketches, estimate).found_by(joint.method()).with_expr(region_name(&names, mask)))
    };
    masks.map(answer).collect()
}

/// A region as a formula of the named sets.
fn region_name(names: &[&str], region: u32) -> String {
    let part =
        |(set, name): (usize, &&str)| if region >> set & 1 == 1 { (*name).to_owned() } else { format!("!{name}") };
    names.iter().enumerate().map(part).collect::<Vec<_>>().join(" & ")
}

fn check_number(found: usize) -> Result<(), Error> {
    if (1..=MAX_REGION_SETS).contains(&found) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Parameter, format!("regions are told of 1 to {MAX_REGION_SETS} sets, found {found}"))
        .argument("--regions")
        .value(found.to_string())
        .allowed(format!("1 to {MAX_REGION_SETS} sketches"))
        .hint("put sketches whose single regions do not matter together: dpsketch merge --tally A B --out AB.dps"))
}
