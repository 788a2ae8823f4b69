//! A released stack, and the search for frequent keys.

use countsketch_dp::{PrefixHits, PrefixLayout, PrefixSearch, PrivatePrefixStack, QueryError, prefix_hash_id};
use dp_noise::DisjointParts;
use serde_json::{Value, json};
use sketch_hash::{AnyHash, HashId, KeyedHash};

use super::key::PrefixKeys;
use crate::error::{Error, ErrorKind};
use crate::frequency::query::{estimate_json, extend};
use crate::frequency::top::check_limit;
use crate::raw::RecordedHash;

/// A released prefix stack as a file holds it: everything but a search needs no key.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedPrefixStack(pub(super) PrivatePrefixStack<RecordedHash>);

impl RecordedPrefixStack {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ErrorKind::Damaged`] for anything that is no released stack, [`ErrorKind::Refused`] for one whose noise came from a
    /// test generator.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let hash = RecordedHash::new(prefix_hash_id(bytes)?);
        Ok(Self(PrivatePrefixStack::from_bytes(bytes, hash)?))
    }

    /// The bytes of a file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.to_bytes()
    }

    /// The levels.
    #[must_use]
    pub const fn layout(&self) -> &PrefixLayout {
        self.0.layout()
    }

    /// Which hash function and key made it.
    #[must_use]
    pub fn hash_id(&self) -> HashId {
        self.0.hash_id()
    }

    /// What one unit paid for all levels together, in zCDP; `None` where releases protect different units.
    #[must_use]
    pub fn rho_total(&self) -> Option<f64> {
        self.0.rho_total()
    }

    /// The releases of one level, which every release of the stack has; none for a level that does not exist.
    #[must_use]
    pub fn leaves(&self, level: usize) -> &[countsketch_dp::Leaf] {
        self.0.leaves(level)
    }

    /// The stack of both data sets.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] when levels, hashes or grids differ, or for a release in both.
    pub fn merge(&self, other: &Self, disjoint: Option<DisjointParts>) -> Result<Self, Error> {
        Ok(Self(match disjoint {
            None => self.0.merge(&other.0)?,
            Some(assumption) => self.0.merge_disjoint(&other.0, assumption)?,
        }))
    }

    /// The most frequent keys, of which at most `limit` are given.
    ///
    /// # Privacy
    /// Post-processing: nothing is spent.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] for another hash than the stack's; [`ErrorKind::Parameter`] for keys of another length, and as
    /// [`PrivatePrefixStack::search`].
    pub fn search(
        &self,
        hash: AnyHash,
        keys: PrefixKeys,
        search: &PrefixSearch,
        limit: usize,
    ) -> Result<FoundKeys, Error> {
        check_limit(limit)?;
        let hits = self.with_hash(hash, keys)?.search(search)?;
        Ok(FoundKeys { keys, hits, above: search.threshold, limit })
    }

    /// As [`search`](Self::search), with the threshold found on the way: it starts at a share of `1/limit` of the total weight,
    /// which no more than `limit` keys can have, and is halved until `limit` keys are estimated at or above it, or until
    /// a level would have more prefixes above it than it may keep. `search.threshold` is not looked at.
    ///
    /// By which amount the error of a level may pull a prefix down does not depend on the threshold, so the probability of a miss
    /// holds for the last one as for one chosen beforehand.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_largest(
        &self,
        hash: AnyHash,
        keys: PrefixKeys,
        search: &PrefixSearch,
        limit: usize,
    ) -> Result<FoundKeys, Error> {
        check_limit(limit)?;
        let stack = self.with_hash(hash, keys)?;
        let least = stack.granularity().step();
        let total = search.total.or_else(|| stack.total()).ok_or(QueryError::NoTotal)?.value();
        #[expect(clippy::cast_precision_loss, reason = "a limit; only its size matters")]
        let mut above = (total / limit as f64).max(least);
        let mut search = *search;
        let mut best: Option<(PrefixHits, f64)> = None;
        loop {
            search.threshold = above;
            let hits = match (stack.search(&search), best.take()) {
                (Ok(hits), Some(complete)) if hits.miss_probability.is_none() => {
                    best = Some(complete);
                    break;
                }
                (Ok(hits), _) => hits,
                (Err(QueryError::Frontier { .. }), Some(complete)) => {
                    best = Some(complete);
                    break;
                }
                (Err(error), _) => return Err(error.into()),
            };
            let enough = hits.found.iter().filter(|hit| hit.estimate.value() >= Some(above)).count() >= limit;
            let done = enough || hits.miss_probability.is_none() || above <= least;
            best = Some((hits, above));
            if done {
                break;
            }
            above = (above / 2.0).max(least);
        }
        let (hits, above) = best.ok_or(QueryError::NoTotal)?;
        Ok(FoundKeys { keys, hits, above, limit })
    }

    /// The stack with the hash itself, for keys of its length.
    fn with_hash(&self, hash: AnyHash, keys: PrefixKeys) -> Result<PrivatePrefixStack<AnyHash>, Error> {
        let (expected, found) = (self.hash_id(), hash.id());
        if expected != found {
            return Err(Error::new(
                ErrorKind::Incompatible,
                format!("hash key mismatch: expected {expected}, found {found}"),
            )
            .argument("--key-file")
            .value(found.to_string())
            .allowed(expected.to_string())
            .hint("search with the same --key-file and --hash that the stack was built with"));
        }
        if keys.bits() != self.layout().key_bits() {
            let message = format!("the stack has keys of {} bits, not {keys}", self.layout().key_bits());
            return Err(Error::new(ErrorKind::Parameter, message)
                .argument("--key-bits")
                .value(keys.bits().to_string()));
        }
        // The levels were checked when they were read.
        Ok(PrivatePrefixStack::from_bytes_allowing_insecure_noise(&self.to_bytes(), hash)?)
    }
}

/// Keys that a search found, the most frequent first.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundKeys {
    keys: PrefixKeys,
    hits: PrefixHits,
    above: f64,
    limit: usize,
}

impl FoundKeys {
    /// Everything that was found, beyond the limit, too.
    #[must_use]
    pub const fn hits(&self) -> &PrefixHits {
        &self.hits
    }

    /// The frequency that was searched for: keys of at least this one are found, but for the probability of a miss.
    #[must_use]
    pub const fn above(&self) -> f64 {
        self.above
    }

    /// Name and estimate of the first keys.
    pub fn items(&self) -> impl Iterator<Item = (String, &countsketch_dp::PrefixHit)> {
        self.hits.found.iter().take(self.limit).map(|hit| (self.keys.name(hit.key), hit))
    }

    /// Whether more keys than the limit were found.
    #[must_use]
    pub fn has_more(&self) -> bool {
        self.hits.found.len() > self.limit
    }

    /// One object: `visited` (prefixes looked at), `frontier` (how many a level could keep), `above`, `more, miss_probability` and a
    /// list
    /// `items` of `{rank, item, key, estimate, std_error, lower, upper, confidence, status, consistent}`.
    #[must_use]
    pub fn to_json(&self) -> Value {
        let ranked = (1_usize..).zip(self.items()).map(|(rank, (item, hit))| {
            let mut object = json!({ "rank": rank, "item": item, "key": hit.key });
            extend(&mut object, estimate_json(&hit.estimate));
            extend(&mut object, json!({ "consistent": hit.consistent }));
            object
        });
        json!({
            "visited": self.hits.visited,
            "frontier": self.hits.frontier,
            "above": self.above,
            "more": self.has_more(),
            "miss_probability": self.hits.miss_probability,
            "items": ranked.collect::<Vec<_>>(),
        })
    }
}
