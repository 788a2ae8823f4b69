//! The smallest shape that will do.

use sfm_pcsa::PcsaShape;

use super::{Plan, PlanError, PlannedAnswer, Purpose, released_bytes};

/// Buckets of the largest shape, as a power of two.
const MOST_BUCKETS: u32 = 20;

/// Bits of a hash, which bucket and level share.
const HASH_BITS: u32 = 64;

impl Purpose {
    /// The levels to use with so many buckets: those of [`PcsaShape::DEFAULT`], or more where the count needs them.
    #[must_use]
    pub fn levels(&self, buckets: u32) -> u8 {
        let most = u8::try_from(HASH_BITS.saturating_sub(buckets.max(1).ilog2())).unwrap_or(u8::MAX);
        let usual = PcsaShape::DEFAULT.levels().min(most);
        let reaches = |levels: &u8| f64::from(buckets) * f64::from(levels - 1).exp2() >= self.distinct;
        (usual..most).find(reaches).unwrap_or(most)
    }

    /// The shape with the fewest buckets whose predicted relative error of `answer` is at most `target`.
    ///
    /// Every power of two is looked at: for small counts more buckets are not always better, because each brings its own
    /// noise.
    ///
    /// # Errors
    /// [`PlanError::Target`] unless `0 < target < 1`; [`PlanError::OutOfReach`] when no shape of at most `max_bytes`
    /// reaches it, and [`PlanError::TooLong`] when none is that short.
    ///
    /// # Examples
    /// ```
    /// use dp_noise::Epsilon;
    /// use dpsketch::Purpose;
    ///
    /// let purpose = Purpose::new(1e6, Epsilon::new(1.0)?)?;
    /// let plan = purpose.smallest(0.03, purpose.main_answer(), None, None)?;
    /// assert_eq!(plan.shape().buckets(), 4096);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn smallest(
        self,
        target: f64,
        answer: PlannedAnswer,
        levels: Option<u8>,
        max_bytes: Option<u64>,
    ) -> Result<Plan, PlanError> {
        if !(target > 0.0 && target < 1.0) {
            return Err(PlanError::Target { found: target });
        }
        let plans = self.shapes(levels, max_bytes)?;
        let error = |plan: &Plan| plan.prediction(answer).relative_error();
        if let Some(plan) = plans.iter().find(|plan| error(plan) <= target) {
            return Ok(*plan);
        }
        let best = plans.iter().min_by(|a, b| error(a).total_cmp(&error(b)));
        let (best, buckets) = best.map_or((f64::INFINITY, 0), |plan| (error(plan), plan.shape().buckets()));
        Err(PlanError::OutOfReach { target, best, buckets })
    }

    /// The most accurate shape whose file has at most `max_bytes`.
    ///
    /// # Errors
    /// [`PlanError::TooLong`] when there is none.
    pub fn best_within(self, max_bytes: u64, answer: PlannedAnswer, levels: Option<u8>) -> Result<Plan, PlanError> {
        let plans = self.shapes(levels, Some(max_bytes))?;
        let error = |plan: &Plan| plan.prediction(answer).relative_error();
        let best = plans.into_iter().min_by(|a, b| error(a).total_cmp(&error(b)));
        best.ok_or(PlanError::TooLong { max: max_bytes, found: u64::MAX })
    }

    /// All shapes with files of at most so many bytes, the smallest first. There is at least one.
    fn shapes(self, levels: Option<u8>, max_bytes: Option<u64>) -> Result<Vec<Plan>, PlanError> {
        let shape = |bits: u32| PcsaShape::new(1 << bits, levels.unwrap_or_else(|| self.levels(1 << bits)));
        let smallest = shape(1)?;
        let shapes = (1..=MOST_BUCKETS).map_while(|bits| shape(bits).ok());
        let fits = |shape: &PcsaShape| max_bytes.is_none_or(|max| released_bytes(*shape, 1) <= max);
        let plans: Vec<Plan> = shapes.filter(fits).map(|shape| self.plan(shape)).collect();
        match max_bytes {
            Some(max) if plans.is_empty() => Err(PlanError::TooLong { max, found: released_bytes(smallest, 1) }),
            _ => Ok(plans),
        }
    }
}
