//! One likelihood of all regions that a few sets cut the world into, and what is answered by it.

use cardinality_estimators::venn::{self, VennFit};
use cardinality_estimators::{Confidence, Estimate, SetFormula as Regions};
use sfm_pcsa::{Leaf, PrivateBitmap, SfmTally, group_counts, pattern_counts, set_estimate, sketch_group_counts};

use crate::answer::Answer;
use crate::any::{AnySketch, Family, for_family};
use crate::error::{Error, ErrorKind};
use crate::expr::SetFormula;
use crate::merge::{OfOneState, of_one_state};
use crate::method::Method;
use crate::set_answer::raw_refused;
use crate::tally::{has_tally, tally_of_all};

/// The joint fit of some sets.
pub(crate) struct Joint {
    fit: VennFit,
    tallied: bool,
}

impl Joint {
    /// The most sets.
    pub(crate) const MAX_SETS: usize = venn::MAX_SETS;

    /// Of named private bitmaps of any family, tallies among them, each of which is one set.
    pub(crate) fn of_named(sketches: &[(String, AnySketch)]) -> Result<Self, Error> {
        if has_tally(sketches) {
            let each: Vec<Vec<usize>> = (0..sketches.len()).map(|set| vec![set]).collect();
            return Self::of_tallies(sketches, &each);
        }
        for_family!(sketches, of_family(sketches))
    }

    /// Of sketches, each of which is one set.
    pub(crate) fn of<S: Family>(sketches: &[&PrivateBitmap<S>]) -> Result<Self, Error> {
        Ok(Self { fit: venn::fit(&pattern_counts(sketches)?)?, tallied: false })
    }

    /// Of groups of sketches, given by their positions; each group is one set, the union of its members.
    fn of_groups(sketches: &[(String, AnySketch)], groups: &[Vec<usize>]) -> Result<Self, Error> {
        if has_tally(sketches) {
            return Self::of_tallies(sketches, groups);
        }
        for_family!(sketches, groups_of_family(sketches, groups))
    }

    /// The same of releases and tallies.
    fn of_tallies(sketches: &[(String, AnySketch)], groups: &[Vec<usize>]) -> Result<Self, Error> {
        let tally = |group: &Vec<usize>| {
            let members: Vec<_> = group.iter().filter_map(|member| sketches.get(*member).cloned()).collect();
            tally_of_all(&members)
        };
        let tallies: Vec<SfmTally> = groups.iter().map(tally).collect::<Result<_, Error>>()?;
        let counts = group_counts(&tallies.iter().collect::<Vec<_>>())?;
        Ok(Self { fit: venn::fit_groups(&counts)?, tallied: true })
    }

    pub(crate) fn method(&self) -> Method {
        Method::Joint { sets: self.fit.sets(), tallied: self.tallied }
    }

    pub(crate) fn union(&self, confidence: Confidence) -> Estimate {
        self.fit.union(confidence)
    }

    /// What lies in the regions that belong; bit `i` of a region says that it is inside set `i`.
    pub(crate) fn regions(&self, belongs: impl Fn(u32) -> bool, confidence: Confidence) -> Result<Estimate, Error> {
        let belongs = |region| u32::try_from(region).is_ok_and(&belongs);
        let formula = Regions::from_membership(self.fit.sets(), belongs)?;
        Ok(self.fit.formula(&formula, confidence)?)
    }

    /// The share of the items of all sets that is in each of them.
    pub(crate) fn jaccard(&self, confidence: Confidence) -> Estimate {
        self.fit.jaccard(confidence)
    }
}

fn of_family<S: Family>(sketches: &[(String, AnySketch)]) -> Result<Joint, Error> {
    match of_one_state::<S>(sketches)? {
        OfOneState::Private(private) => Joint::of(&private),
        OfOneState::Raw(_) => Err(raw_refused("a region")),
    }
}

fn groups_of_family<S: Family>(sketches: &[(String, AnySketch)], groups: &[Vec<usize>]) -> Result<Joint, Error> {
    let OfOneState::Private(private) = of_one_state::<S>(sketches)? else { return Err(raw_refused("a formula")) };
    let members = |group: &Vec<usize>| group.iter().filter_map(|member| private.get(*member).copied()).collect();
    let groups: Vec<Vec<&PrivateBitmap<S>>> = groups.iter().map(members).collect();
    let counts = sketch_group_counts(&groups.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
    Ok(Joint { fit: venn::fit_groups(&counts)?, tallied: true })
}

/// The size of a formula of these private bitmaps, on all of which it depends.
pub(crate) fn formula_of(
    sketches: &[(String, AnySketch)],
    formula: &SetFormula,
    confidence: Confidence,
) -> Result<Answer, Error> {
    if sketches.len() <= Joint::MAX_SETS {
        let joint = Joint::of_named(sketches)?;
        let estimate = joint.regions(|region| formula.contains(region), confidence)?;
        return Ok(of_sketches(sketches, estimate).found_by(joint.method()));
    }
    let groups = formula.groups();
    if groups.len() <= Joint::MAX_SETS {
        let joint = Joint::of_groups(sketches, &groups)?;
        let estimate = joint.regions(|region| formula.contains_groups(&groups, region), confidence)?;
        return Ok(of_sketches(sketches, estimate).found_by(joint.method()));
    }
    if has_tally(sketches) {
        return Err(too_many_groups(groups.len()));
    }
    for_family!(sketches, by_unions(sketches, formula, confidence))
}

/// The share of the items of two private bitmaps that is in both.
pub(crate) fn similarity_of(sketches: &[(String, AnySketch)], confidence: Confidence) -> Result<Answer, Error> {
    let joint = Joint::of_named(sketches)?;
    Ok(of_sketches(sketches, joint.jaccard(confidence)).found_by(joint.method()))
}

/// By inclusion and exclusion over unions.
fn by_unions<S: Family>(
    sketches: &[(String, AnySketch)],
    formula: &SetFormula,
    confidence: Confidence,
) -> Result<Answer, Error> {
    let OfOneState::Private(private) = of_one_state::<S>(sketches)? else { return Err(raw_refused("a formula")) };
    let belongs = |region| u32::try_from(region).is_ok_and(|region| formula.contains(region));
    let regions = Regions::from_membership(private.len(), belongs)?;
    let estimate = set_estimate(&private, &regions, confidence)?;
    Ok(of_sketches(sketches, estimate).found_by(Method::Product))
}

/// An answer from these private bitmaps.
pub(crate) fn of_sketches(sketches: &[(String, AnySketch)], estimate: Estimate) -> Answer {
    let releases: Vec<&Leaf> = sketches.iter().flat_map(|(_, sketch)| sketch.releases()).collect();
    Answer::of_releases(family(sketches), &releases, estimate)
}

/// The kind of sketches of one family.
pub(crate) fn family(sketches: &[(String, AnySketch)]) -> &'static str {
    sketches.first().map_or("sfm", |(_, sketch)| sketch.family())
}

fn too_many_groups(found: usize) -> Error {
    let max = Joint::MAX_SETS;
    Error::new(ErrorKind::Incompatible, format!("the formula has {found} groups of which more than the union matters"))
        .argument("--expr")
        .value(found.to_string())
        .allowed(format!("at most {max} where tallies are among the files"))
        .hint("ask for fewer sets at a time, or put those that only matter as their union together: dpsketch merge --tally A B --out AB.dps")
}
