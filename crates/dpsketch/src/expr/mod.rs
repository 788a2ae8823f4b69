//! Set formulas: from `a & !(b | c)` to the regions it names and to sums of unions.

mod error;
mod parse;
mod truth;

use std::collections::BTreeMap;

pub use error::ExprError;
use parse::Step;
use truth::{Truth, union_coefficients};

/// The most sets that the value of one formula may depend on.
pub const MAX_SETS: usize = 8;
/// The longest formula, in bytes.
pub(crate) const MAX_FORMULA_BYTES: usize = 4096;
/// How deep parentheses and negations may be nested.
pub(crate) const MAX_DEPTH: usize = 64;
/// The longest name of a set, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 64;

/// Whether `name` can be written in a formula: 1 to 64 letters, digits, dots and underscores.
///
/// # Examples
/// ```
/// assert!(dpsketch::is_set_name("site_7"));
/// assert!(!dpsketch::is_set_name("site-7")); // a difference
/// ```
#[must_use]
pub fn is_set_name(name: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&name.chars().count()) && name.chars().all(is_name_char)
}

/// The names that stand in a formula, known or not.
pub(crate) fn mentioned_names(formula: &str) -> impl Iterator<Item = &str> {
    formula.split(|character| !is_name_char(character)).filter(|name| !name.is_empty())
}

fn is_name_char(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || character == '.'
}

/// One term of a sum of unions: `coefficient · |union of members|`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnionTerm {
    /// Which sets are joined: bit `i` stands for the `i`-th of [`SetFormula::names`].
    pub members: u32,
    /// How often their union counts; never 0.
    pub coefficient: i64,
}

/// A set made from named sets by union, intersection, difference, symmetric difference and complement.
///
/// | sign | meaning | binds |
/// |---|---|---|
/// | `!e` | everything that is in some named set, but not in `e` | first |
/// | `e & f`, `e - f` | in both; in the first only (from left to right) | second |
/// | `e ^ f` | in exactly one | third |
/// | `e \| f` | in at least one | last |
///
/// The complement is taken within **all** sets that were given a name, also those that the formula does not mention.
///
/// The result is given in two ways. The sets cut the world into `2^k − 1` regions, each inside some of the sets and outside
/// the others; a formula is the union of some of them ([`contains`](Self::contains)). And its size is a sum of sizes of
/// unions with integer coefficients, `|formula| = Σ_S c_S |∪S|`, in one way only ([`union_terms`](Self::union_terms)).
/// Both use only the sets that the value really depends on, which are at most [`MAX_SETS`].
///
/// # Examples
/// ```
/// use dpsketch::SetFormula;
///
/// let formula = SetFormula::parse("a & !b", &["a", "b", "c"])?;
/// assert_eq!(formula.names(), ["a", "b"]);
/// // Only the region inside a (bit 0) and outside b (bit 1).
/// assert_eq!(formula.regions().collect::<Vec<_>>(), [0b01]);
/// // |a \ b| = |a ∪ b| − |b|
/// let terms: Vec<_> = formula.union_terms().iter().map(|term| (term.members, term.coefficient)).collect();
/// assert_eq!(terms, [(0b10, -1), (0b11, 1)]);
/// # Ok::<(), dpsketch::ExprError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetFormula {
    names: Vec<String>,
    positions: Vec<usize>,
    truth: Truth,
    terms: Vec<UnionTerm>,
}

impl SetFormula {
    /// Reads a formula over the sets with these names.
    ///
    /// # Errors
    /// [`ExprError`]: with the position where the text is no formula or names an unknown set; without one where a name
    /// cannot be used, the text is too long, or the value depends on more than [`MAX_SETS`] sets.
    pub fn parse(text: &str, names: &[&str]) -> Result<Self, ExprError> {
        let program = parse::parse(text, &numbered(names)?)?;
        let mentioned = mentioned_sets(&program);
        check_count(mentioned.len())?;
        let mut sets = mentioned;
        if evaluate(&program, &sets).contains(0) {
            // What lies in none of the mentioned sets belongs to the formula, if only it lies in some named set.
            check_count(names.len())?;
            sets = (0..names.len()).collect();
        }
        let all = evaluate(&program, &sets);
        let belongs = |region| region != 0 && all.contains(region);
        let relevant: Vec<usize> = (0..sets.len())
            .filter(|set| (0..1 << sets.len()).any(|region| belongs(region) != belongs(region ^ 1 << set)))
            .collect();
        // A region of the relevant sets, seen as a region of all of them; the others make no difference.
        let spread = |region: usize| relevant.iter().enumerate().map(|(bit, set)| (region >> bit & 1) << set).sum();
        let truth = Truth::from_regions(|region| region < 1 << relevant.len() && belongs(spread(region)));
        let positions: Vec<usize> = relevant.iter().map(|set| sets[*set]).collect();
        let terms = union_coefficients(relevant.len(), |region| truth.contains(region));
        let terms = (0_u32..).zip(terms).filter(|(_, coefficient)| *coefficient != 0);
        Ok(Self {
            names: positions.iter().map(|position| names[*position].to_owned()).collect(),
            terms: terms.map(|(members, coefficient)| UnionTerm { members, coefficient }).collect(),
            positions,
            truth,
        })
    }

    /// The sets that the value depends on, in the order they were given. None if the formula is empty whatever the sets are.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Where each of [`names`](Self::names) stands in the list given to [`parse`](Self::parse), from 0.
    #[must_use]
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Whether the formula contains the region that lies inside exactly the sets whose bit in `region` is one.
    ///
    /// Bit `i` stands for the `i`-th of [`names`](Self::names). Region 0 and numbers that are no region are not contained.
    #[must_use]
    pub fn contains(&self, region: u32) -> bool {
        usize::try_from(region).is_ok_and(|region| region < 1 << self.names.len() && self.truth.contains(region))
    }

    /// The regions the formula consists of, in rising order.
    pub fn regions(&self) -> impl Iterator<Item = u32> + '_ {
        (1..1 << self.names.len()).filter(|region| self.contains(*region))
    }

    /// The size of the formula as a sum over unions, by rising [`UnionTerm::members`]. No term if it is always empty.
    #[must_use]
    pub fn union_terms(&self) -> &[UnionTerm] {
        &self.terms
    }

    /// The sets, as numbers of [`names`](Self::names), put into groups that only matter as the union of their members: `i` and `j`
    /// are in one group if the formula is the same whether an item is in `i`, in `j` or in both, wherever else it is.
    ///
    /// A group is answered by the tally of its members, without a sketch of each region within it. Every set is in one group.
    ///
    /// # Examples
    /// ```
    /// use dpsketch::SetFormula;
    ///
    /// let formula = SetFormula::parse("(a | b | c) & !(d | e)", &["a", "b", "c", "d", "e"])?;
    /// assert_eq!(formula.groups(), [vec![0, 1, 2], vec![3, 4]]);
    /// assert_eq!(SetFormula::parse("a & b", &["a", "b"])?.groups(), [vec![0], vec![1]]);
    /// # Ok::<(), dpsketch::ExprError>(())
    /// ```
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for set in 0..self.names.len() {
            // Being replaceable is an equivalence, so that one member stands for its group.
            let own = groups.iter_mut().find(|group| group.first().is_some_and(|first| self.replace(*first, set)));
            match own {
                Some(group) => group.push(set),
                None => groups.push(vec![set]),
            }
        }
        groups
    }

    /// Whether only the union of two sets matters.
    fn replace(&self, first: usize, second: usize) -> bool {
        let (first, second): (u32, u32) = (1 << first, 1 << second);
        (0..1_u32 << self.names.len()).filter(|region| region & (first | second) == 0).all(|others| {
            let in_first = self.contains(others | first);
            in_first == self.contains(others | second) && in_first == self.contains(others | first | second)
        })
    }

    /// Whether the formula contains what lies inside exactly the groups whose bit is one; groups as by [`groups`](Self::groups).
    pub(crate) fn contains_groups(&self, groups: &[Vec<usize>], region: u32) -> bool {
        let inside = groups.iter().enumerate().filter(|(bit, _)| region >> bit & 1 == 1);
        self.contains(inside.filter_map(|(_, group)| group.first()).map(|set| 1_u32 << set).sum())
    }

    /// Whether the formula is the union of all sets that it depends on.
    pub(crate) fn is_union(&self) -> bool {
        matches!(self.terms.as_slice(), [term] if term.coefficient == 1)
    }

    /// Whether nothing can be in the set, as in `a - a`.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Positions by name.
fn numbered<'a>(names: &[&'a str]) -> Result<BTreeMap<&'a str, usize>, ExprError> {
    let mut positions = BTreeMap::new();
    for (position, name) in names.iter().copied().enumerate() {
        if !is_set_name(name) {
            return Err(ExprError::InvalidName { name: error::quoted_name(name), number: position + 1 });
        }
        if positions.insert(name, position).is_some() {
            return Err(ExprError::RepeatedName { name: name.to_owned() });
        }
    }
    Ok(positions)
}

fn check_count(found: usize) -> Result<(), ExprError> {
    if found > MAX_SETS { Err(ExprError::TooManySets { found }) } else { Ok(()) }
}

/// The sets of a program, in the order they were given.
fn mentioned_sets(program: &[Step]) -> Vec<usize> {
    let mut sets: Vec<usize> =
        program.iter().filter_map(|step| if let Step::Set(set) = step { Some(*set) } else { None }).collect();
    sets.sort_unstable();
    sets.dedup();
    sets
}

/// Runs a program; bit `i` of a region stands for `sets[i]`.
fn evaluate(program: &[Step], sets: &[usize]) -> Truth {
    let mut stack: Vec<Truth> = Vec::new();
    let pop = |stack: &mut Vec<Truth>| stack.pop().unwrap_or(Truth::NONE);
    for step in program {
        let top = match step {
            Step::Set(set) => sets.binary_search(set).map_or(Truth::NONE, Truth::of_set),
            Step::Not => pop(&mut stack).not(),
            binary => {
                let right = pop(&mut stack);
                let rule = match binary {
                    Step::And => |left: u64, right: u64| left & right,
                    Step::Minus => |left, right: u64| left & !right,
                    Step::Xor => |left, right| left ^ right,
                    _ => |left, right| left | right,
                };
                pop(&mut stack).join(right, rule)
            }
        };
        stack.push(top);
    }
    pop(&mut stack)
}
