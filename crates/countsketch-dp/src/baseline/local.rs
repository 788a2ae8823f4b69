//! The local Count-Mean sketch: every client adds its own noise.

use cardinality_estimators::{Confidence, Estimate};
use dp_noise::{Epsilon, NoiseSource, ParameterError, Permit, RandomizedResponse};
use sketch_hash::HashId;

use crate::answer::normal;
use crate::combiner::wide;
use crate::error::{MergeError, ReleaseError};
use crate::granularity::Granularity;
use crate::linear::check_alike;
use crate::query_error::QueryError;
use crate::rows::RowHashes;
use crate::shape::CountSketchShape;
use crate::theory::{CountMeanLocal, non_negative};

/// What clients and server of a local Count-Mean sketch agree on: rows, columns, hash and ε \[Apple17\].
///
/// A client picks a row at random, makes the vector of −1 with +1 in the column of its item, and flips each entry with
/// probability `1/(1+e^{ε/2})`, rounded up to a multiple of 2⁻⁶⁴. The server never sees an item, and nobody need be trusted;
/// the price is an error of order √n for n reports.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), Box<dyn core::error::Error>> {
/// # #[cfg(feature = "os-rng")] {
/// use countsketch_dp::{CountSketchShape, LocalCountMean, LocalShape};
/// use countsketch_dp::cardinality_estimators::Confidence;
/// use countsketch_dp::dp_noise::{Epsilon, NoiseRng, Permit};
/// use countsketch_dp::sketch_hash::{DefaultHash, Item, KeyedHash};
/// let hash = DefaultHash::default();
/// let epsilon = Epsilon::new(4.0)?;
/// let shape = LocalShape::new(CountSketchShape::new(5, 256)?, hash.id(), epsilon)?;
/// let (mut noise, mut server) = (NoiseRng::from_os()?, LocalCountMean::new(shape.clone()));
/// let key = Item::from(7_u64).hash64(&hash);
/// for _ in 0..1000 {
///     server.add(&shape.report(key, Permit::standalone(epsilon), &mut noise)?)?;
/// }
/// let answer = server.estimate(key, 1e6, Confidence::P95)?;
/// assert!((answer.value().ok_or("none")? - 1000.0).abs() < 200.0); // standard error about 14
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct LocalShape {
    shape: CountSketchShape,
    hash_id: HashId,
    rows: RowHashes,
    epsilon: Epsilon,
    /// What a permit for ε pays, at most ε.
    level: Epsilon,
    channel: RandomizedResponse,
}

/// One client's report: a row and a vector of flipped bits. It can be published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalReport {
    row: u8,
    width: u32,
    insecure_noise: bool,
    /// Bit 1 stands for +1; 64 a word, lowest first, and zeros beyond the last column.
    words: Vec<u64>,
}

/// The server: for every row the number of reports, and for every column the sum of their ±1 entries.
#[derive(Clone, Debug)]
pub struct LocalCountMean {
    shape: LocalShape,
    reports: Vec<u64>,
    /// Row after row.
    sums: Vec<i64>,
    /// Whether that of any report was.
    insecure_noise: bool,
}

impl LocalShape {
    /// Rows and columns, hash, and the ε of every report.
    ///
    /// # Errors
    /// [`ParameterError`] when half of ε is below the least one.
    pub fn new(shape: CountSketchShape, hash_id: HashId, epsilon: Epsilon) -> Result<Self, ParameterError> {
        // What a permit for this ε allows: a ledger books decimals.
        let level = Permit::standalone(epsilon).cost();
        let channel = RandomizedResponse::symmetric(level.divide(2)?);
        Ok(Self { shape, hash_id, rows: RowHashes::new(shape, hash_id), epsilon, level, channel })
    }

    /// The number of rows and of columns.
    #[must_use]
    pub const fn shape(&self) -> CountSketchShape {
        self.shape
    }

    /// Which hash function and key decide the columns.
    #[must_use]
    pub const fn hash_id(&self) -> HashId {
        self.hash_id
    }

    /// The level of every report.
    #[must_use]
    pub const fn epsilon(&self) -> Epsilon {
        self.epsilon
    }

    /// The probability with which an entry is really flipped.
    #[must_use]
    pub fn flip_probability(&self) -> f64 {
        self.channel.q().to_f64()
    }

    /// The report of a client with an item, named by its 64-bit hash.
    ///
    /// # Privacy
    /// ε-differentially private in the local model: the reports of two items differ in law by a factor of at most `e^ε`,
    /// as their vectors differ in two entries, each flipped at ε/2. A client that reports again pays again.
    ///
    /// # Errors
    /// [`ReleaseError::Entropy`] without random bytes, [`ReleaseError::UnderpaidEpsilon`] for a permit below ε.
    #[expect(clippy::needless_pass_by_value, reason = "a permit is spent by the release, however it ends")]
    pub fn report<R>(&self, key: u64, permit: Permit<Epsilon>, noise: &mut R) -> Result<LocalReport, ReleaseError>
    where
        R: NoiseSource + ?Sized,
    {
        if permit.cost() < self.level {
            return Err(ReleaseError::UnderpaidEpsilon { paid: permit.cost(), cost: self.epsilon });
        }
        noise.begin_release()?;
        let row = uniform_row(self.shape.rows(), noise);
        let (bucket, _) = self.rows.bucket_and_sign(usize::from(row), key);
        let mut words = vec![0; words_of(self.shape)];
        words[bucket / 64] |= 1 << (bucket % 64);
        self.channel.apply(noise, &mut words);
        if let Some(last) = words.last_mut() {
            *last &= last_mask(self.shape);
        }
        Ok(LocalReport { row, width: self.shape.width(), insecure_noise: noise.is_insecure(), words })
    }
}

/// Words of a report.
fn words_of(shape: CountSketchShape) -> usize {
    shape.row_range(0).len().div_ceil(64)
}

/// The bits of the last word that are columns.
fn last_mask(shape: CountSketchShape) -> u64 {
    u64::MAX >> ((64 - shape.row_range(0).len() % 64) % 64)
}

/// A row, each with the same probability: words beyond the last whole multiple of the rows are drawn again.
fn uniform_row<R: NoiseSource + ?Sized>(rows: u8, noise: &mut R) -> u8 {
    let rows = u64::from(rows);
    loop {
        let mut word = [0];
        noise.fill_words(&mut word);
        let row = word[0] % rows;
        // Compares without overflow: the multiple that the word belongs to must be complete.
        if word[0] - row <= u64::MAX - (rows - 1) {
            return u8::try_from(row).unwrap_or(0);
        }
    }
}

impl LocalReport {
    /// A report from its parts, as they were sent; with them goes whether its noise came from the test generator.
    ///
    /// # Errors
    /// [`QueryError::Report`] unless the row exists, there are as many words as the columns need, and no bit is beyond them.
    pub fn from_parts(
        shape: CountSketchShape,
        row: u8,
        words: Vec<u64>,
        insecure_noise: bool,
    ) -> Result<Self, QueryError> {
        let fits = row < shape.rows()
            && words.len() == words_of(shape)
            && words.last().is_some_and(|last| last & !last_mask(shape) == 0);
        if fits {
            Ok(Self { row, width: shape.width(), insecure_noise, words })
        } else {
            Err(QueryError::Report { shape })
        }
    }

    /// Its row.
    #[must_use]
    pub const fn row(&self) -> u8 {
        self.row
    }

    /// Its vector: bit 1 stands for +1; 64 a word, lowest first.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Whether the noise came from the test generator.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }
}

impl LocalCountMean {
    /// A server without reports.
    #[must_use]
    pub fn new(shape: LocalShape) -> Self {
        let (rows, cells) = (usize::from(shape.shape.rows()), shape.shape.cells());
        Self { shape, reports: vec![0; rows], sums: vec![0; cells], insecure_noise: false }
    }

    /// Adds a report.
    ///
    /// # Errors
    /// [`QueryError::Report`] for a report of another shape. Nothing is changed then.
    pub fn add(&mut self, report: &LocalReport) -> Result<(), QueryError> {
        let shape = self.shape.shape;
        if report.width != shape.width() || report.row >= shape.rows() {
            return Err(QueryError::Report { shape });
        }
        let row = usize::from(report.row);
        self.reports[row] += 1;
        self.insecure_noise |= report.insecure_noise;
        for (column, sum) in self.sums[shape.row_range(row)].iter_mut().enumerate() {
            *sum += if report.words[column / 64] >> (column % 64) & 1 == 1 { 1 } else { -1 };
        }
        Ok(())
    }

    /// Adds the reports of another server.
    ///
    /// # Errors
    /// [`MergeError`] for another shape, hash or ε. Nothing is changed then.
    pub fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        let grid = Granularity::ONE;
        check_alike((self.shape.hash_id, self.shape.shape, grid), (other.shape.hash_id, other.shape.shape, grid))?;
        if self.shape.channel != other.shape.channel {
            let (expected, found) = (self.shape.epsilon, other.shape.epsilon);
            return Err(MergeError::Epsilon { expected, found });
        }
        self.reports.iter_mut().zip(&other.reports).for_each(|(mine, theirs)| *mine += theirs);
        self.sums.iter_mut().zip(&other.sums).for_each(|(mine, theirs)| *mine += theirs);
        self.insecure_noise |= other.insecure_noise;
        Ok(())
    }

    /// Whether the noise of any report came from the test generator, so that its client is not protected.
    #[must_use]
    pub const fn insecure_noise(&self) -> bool {
        self.insecure_noise
    }

    /// The number of reports.
    #[must_use]
    pub fn reports(&self) -> u64 {
        self.reports.iter().sum()
    }

    /// How many clients have an item, named by its 64-bit hash: `m/(m−1)·(Σ_l M[l][h_l]/k − n/m)` \[Apple17\].
    ///
    /// Sums are integers; only this last step is in floating point, with the probability that was really used. The
    /// variance is `(m/(m−1))²·(n·(c²−1)/4 + ‖x‖²/(k·m) + n/m)`: flips, collisions of heavy items and the choice of rows,
    /// with `squared_norm` for `‖x‖²`, the squares of all counts, which the server must know or bound (at most `n²`). The
    /// interval is normal.
    ///
    /// # Errors
    /// [`QueryError::Domain`] for a norm that is negative or not finite.
    pub fn estimate(&self, key: u64, squared_norm: f64, confidence: Confidence) -> Result<Estimate, QueryError> {
        let shape = self.shape.shape;
        let law = CountMeanLocal::from_flip_probability(self.shape.flip_probability())?;
        let places = self.shape.rows.places(key).enumerate();
        let entries: i128 = places.map(|(row, (bucket, _))| i128::from(self.sums[shape.row_range(row)][bucket])).sum();
        let reports = wide(i128::from(self.reports()));
        let value = law.estimate(shape.width(), reports, wide(entries))?;
        let (k, m) = (f64::from(shape.rows()), f64::from(shape.width()));
        let collisions = non_negative("squared norm", squared_norm)? / (k * m) + reports / m;
        let variance = (m / (m - 1.0)).powi(2) * (reports * law.report_variance() + collisions);
        Ok(normal(value, variance.sqrt(), confidence)?)
    }
}
