//! How an answer was found.

use core::fmt;

use cardinality_estimators::tally::TallyMethod;
use serde_json::{Value, json};

/// The method behind an [`Answer`](crate::Answer).
///
/// All of them draw no coins: asking twice gives the same answer.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// The likelihood of the cells of one sketch.
    Likelihood,
    /// The product statistic of several sketches; for formulas of sets, inclusion and exclusion over it.
    Product,
    /// One likelihood of all regions that a few sets cut the world into.
    Joint {
        /// The number of sets.
        sets: usize,
        /// Whether the sets were seen as tallies, of which only the numbers of ones in every cell are known.
        tallied: bool,
    },
    /// How many of the sketches have a one, cell by cell.
    Tally {
        /// The number of sketches.
        sketches: usize,
        /// Which law of the overlaps the answer is of.
        law: TallyMethod,
        /// The weight of the shared law, from 0 to 1.
        shared_weight: f64,
    },
}

impl Method {
    /// The word for it in JSON: `likelihood`, `product`, `joint` or `tally`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Likelihood => "likelihood",
            Self::Product => "product",
            Self::Joint { .. } => "joint",
            Self::Tally { .. } => "tally",
        }
    }

    /// One object: `name`, of the joint likelihood `sets` and `tallied`, of a tally `sketches`, `law` (`shared`, `mixed`,
    /// `free`) and `shared_weight`.
    ///
    /// # Examples
    /// ```
    /// use dpsketch::Method;
    ///
    /// let method = Method::Joint { sets: 3, tallied: false };
    /// assert_eq!(method.to_json()["name"], "joint");
    /// assert_eq!(method.to_string(), "joint likelihood of 3 sets");
    /// ```
    #[must_use]
    pub fn to_json(self) -> Value {
        let name = self.as_str();
        match self {
            Self::Likelihood | Self::Product => json!({ "name": name }),
            Self::Joint { sets, tallied } => json!({ "name": name, "sets": sets, "tallied": tallied }),
            Self::Tally { sketches, law, shared_weight } => json!({
                "name": name,
                "sketches": sketches,
                "law": law.as_str(),
                "shared_weight": shared_weight,
            }),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Likelihood => f.write_str("likelihood"),
            Self::Product => f.write_str("product statistic"),
            Self::Joint { sets, tallied } => {
                let of = if *tallied { ", from tallies" } else { "" };
                write!(f, "joint likelihood of {sets} set{}{of}", if *sets == 1 { "" } else { "s" })
            }
            Self::Tally { sketches, law, shared_weight } => {
                let of = if *sketches == 1 { "sketch" } else { "sketches" };
                write!(f, "tally of {sketches} {of} ({law} law")?;
                if *law == TallyMethod::Mixed {
                    // A mixture is of both laws.
                    write!(f, ", {} % shared", (100.0 * shared_weight).floor().clamp(1.0, 99.0))?;
                }
                f.write_str(")")
            }
        }
    }
}
