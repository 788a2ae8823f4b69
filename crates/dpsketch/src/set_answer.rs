//! Answers about several named sketches: set formulas and similarity.

use cardinality_estimators::{Confidence, Estimate, Status};

use crate::answer::Answer;
use crate::any::AnySketch;
use crate::error::{Error, ErrorKind};
use crate::expr::{MAX_SETS, SetFormula, mentioned_names};
use crate::f0::{formula_f0, jaccard_f0};
use crate::joint::{family, formula_of, of_sketches, similarity_of};
use crate::merge::{Sort, check_compatible, f0_state, one_sort};
use crate::subsampled::{formula_samples, no_similarity};
use crate::union_answer::estimate;

/// How many distinct items are in a set formula over the data behind sketches with these names, such as `a & !b`.
///
/// A union is answered as [`estimate`] does. Other formulas of up to four bitmaps are read off one joint likelihood of all
/// regions of their sets. Of more bitmaps, those of which only the union matters are put into [groups](SetFormula::groups), each
/// of which is tallied: `(a | b | c) & !(d | e)` has two. Where that leaves more than four groups, inclusion and exclusion
/// answers, with more error. [`Answer::method`] says which it was. A [`tally`](crate::tally()) stands for one set, the union of
/// its releases.
///
/// The answer's privacy figures count the sketches that the formula depends on. The error of anything but a union is
/// about the error of the union of all sets, so a small overlap of large sets is not seen; the status says so.
///
/// Raw sketches are answered for formulas that are the union of some of them.
///
/// F0 sketches are answered by the joint likelihood of two of them, for any formula; more than two for the symmetric
/// difference of all (`a ^ b ^ c`), in mode `presampled` for the union of all, which are the sets that their XOR tells about. The same holds for
/// raw ones, without privacy.
///
/// # Errors
/// [`ErrorKind::Parameter`] for a formula that cannot be read, with the position, for names that are wrong, repeated or
/// not used, and for more than [`MAX_SETS`] of them; [`ErrorKind::Incompatible`] when the sketches cannot be put together;
/// [`ErrorKind::Refused`] for other formulas of raw sketches; [`ErrorKind::Incompatible`] for formulas of tallies that make
/// more than four groups, or with merged sketches beside tallies.
///
/// # Privacy
/// Costs nothing beyond the releases. Somebody in all of the data sets has paid the sum of their ε.
///
/// # Examples
/// ```
/// use dpsketch::{AnySketch, DistinctBuilder, RawSketch, TextRules, estimate_formula, parse_confidence, parse_epsilon};
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
/// let answer = estimate_formula(&parties, "a & !b", parse_confidence("0.95")?)?;
/// let found = answer.estimate().value().unwrap();
/// assert!((found - 20_000.0).abs() < 10_000.0);
/// assert_eq!(answer.to_json()["expr"], "a & !b");
/// # Ok::<(), dpsketch::Error>(())
/// ```
pub fn estimate_formula(sketches: &[(String, AnySketch)], expr: &str, confidence: Confidence) -> Result<Answer, Error> {
    let names: Vec<&str> = sketches.iter().map(|(name, _)| name.as_str()).collect();
    check_number(names.len())?;
    let formula = SetFormula::parse(expr, &names).map_err(|error| error.explain(expr).argument_or("--expr"))?;
    let used = used_names(&formula, expr, &names)?;
    check_compatible(sketches)?;
    let answer = match one_sort(sketches)? {
        Sort::F0 => formula_f0(f0_state(sketches)?, &formula, &used, confidence)?,
        Sort::Samples => formula_samples(&members_of(sketches, &used), &formula, confidence)?,
        _ => of_bitmaps(sketches, &formula, &used, confidence)?,
    };
    Ok(answer.with_expr(expr.to_owned()))
}

/// The sketches at some positions.
fn members_of(sketches: &[(String, AnySketch)], used: &[usize]) -> Vec<(String, AnySketch)> {
    used.iter().filter_map(|position| sketches.get(*position).cloned()).collect()
}

fn of_bitmaps(
    sketches: &[(String, AnySketch)],
    formula: &SetFormula,
    used: &[usize],
    confidence: Confidence,
) -> Result<Answer, Error> {
    let members = members_of(sketches, used);
    if formula.is_empty() {
        return of_nothing(&members, confidence);
    }
    if formula.is_union() {
        return estimate(&members, confidence);
    }
    if first_is_raw(&members) {
        return Err(raw_refused("any formula but a union"));
    }
    formula_of(&members, formula, confidence)
}

/// The Jaccard similarity `|A ∩ B| / |A ∪ B|` of the data behind two named private sketches: a share from 0 to 1.
///
/// # Errors
/// [`ErrorKind::Parameter`] unless there are two; [`ErrorKind::Incompatible`] when they cannot be put together;
/// [`ErrorKind::Refused`] for raw ones.
///
/// # Privacy
/// Costs nothing beyond the releases.
pub fn estimate_jaccard(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    let [(first, _), (second, _)] = sketches else {
        return Err(Error::new(ErrorKind::Parameter, format!("similarity is of two sets, found {}", sketches.len()))
            .argument("--jaccard")
            .value(sketches.len().to_string())
            .allowed("--name twice")
            .hint("name two sketches: --name a=A.dps --name b=B.dps"));
    };
    // As a formula, for what it says about the names.
    SetFormula::parse(first, &[first, second])?;
    check_compatible(sketches)?;
    let answer = match one_sort(sketches)? {
        Sort::F0 => jaccard_f0(&f0_state(sketches)?, confidence)?,
        Sort::Samples => return Err(no_similarity()),
        _ if first_is_raw(sketches) => return Err(raw_refused("the similarity")),
        _ => similarity_of(sketches, confidence)?,
    };
    Ok(answer.with_expr(format!("jaccard({first}, {second})")))
}

/// Of sketches of one state.
fn first_is_raw(sketches: &[(String, AnySketch)]) -> bool {
    sketches.first().is_some_and(|(_, sketch)| sketch.is_raw())
}

fn check_number(found: usize) -> Result<(), Error> {
    if (1..=MAX_SETS).contains(&found) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::Parameter, format!("a formula takes 1 to {MAX_SETS} named sketches, found {found}"))
        .argument("--name")
        .value(found.to_string())
        .allowed(format!("1 to {MAX_SETS}"))
        .hint("put sketches of which only the union matters together: dpsketch merge --tally A B --out AB.dps"))
}

/// The positions of the sets that the value depends on; of those that are mentioned where it depends on none.
fn used_names(formula: &SetFormula, expr: &str, names: &[&str]) -> Result<Vec<usize>, Error> {
    let mentioned = |name: &str| mentioned_names(expr).any(|word| word == name);
    let idle =
        (0..names.len()).find(|&position| !formula.positions().contains(&position) && !mentioned(names[position]));
    if let Some(idle) = idle {
        return Err(Error::new(ErrorKind::Parameter, format!("the formula does not use {:?}", names[idle]))
            .argument("--name")
            .value(names[idle])
            .allowed("names that the formula uses")
            .hint(format!("leave out --name {}=…, or use it in --expr", names[idle])));
    }
    if formula.is_empty() {
        return Ok((0..names.len()).filter(|&position| mentioned(names[position])).collect());
    }
    Ok(formula.positions().to_vec())
}

/// The size of a formula like `a - a`.
pub(crate) fn nothing(confidence: Confidence) -> Result<Estimate, Error> {
    Ok(Estimate::new(Status::Empty, Some(0.0), Some(0.0), (Some(0.0), Some(0.0)), confidence)?)
}

/// A formula like `a - a` of these sketches.
fn of_nothing(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    let nothing = nothing(confidence)?;
    Ok(if first_is_raw(sketches) {
        Answer::of_raw(family(sketches), sketches.len(), nothing)
    } else {
        of_sketches(sketches, nothing)
    })
}

pub(crate) fn raw_refused(what: &str) -> Error {
    Error::new(ErrorKind::Refused, format!("{what} is not estimated from raw sketches"))
        .argument("--name")
        .allowed("private sketches")
        .hint("release each of them first, with `dpsketch release`")
}
