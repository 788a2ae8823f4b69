//! Arguments that several verbs share for sketches of kind `countsketch`, and flags that belong to another kind.

use clap::{Args, ValueEnum};
use dpsketch::countsketch_dp::{CountSketchShape, Granularity};
use dpsketch::dp_noise::{Delta, Epsilon, Neighbouring, Rho};
use dpsketch::{
    Error, ErrorKind, FrequencyLevel, count_sketch_shape, max_weight_units, parse_count, parse_delta,
    parse_granularity, parse_real, parse_rho,
};

/// Rows if none are asked for.
const ROWS: u64 = 15;
/// The width if none is asked for.
const WIDTH: u64 = 16_384;

/// Shape, grid and the largest weight.
#[derive(Debug, Args)]
#[command(next_help_heading = "Frequencies (--kind countsketch)")]
pub(crate) struct FrequencyArgs {
    /// Rows, an odd number: more rows make large errors rarer. 15 if left out; few, such as 5, are best with --pure.
    #[arg(long, value_name = "R", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) rows: Option<u64>,
    /// Cells of a row: four times as many halve what other items add to an answer. 16384 if left out.
    #[arg(long, value_name = "W", value_parser = parse_count, allow_negative_numbers = true)]
    pub(crate) width: Option<u64>,
    /// The grid that weights are rounded to, a power of two such as 1, 0.25 or 2^-7. 1, whole numbers, if left out.
    #[arg(long, value_name = "G", value_parser = parse_granularity, allow_hyphen_values = true)]
    pub(crate) granularity: Option<Granularity>,
    /// The most that one row may weigh, or one item of a user, plus or minus: noise is in proportion to it. 1 if left out.
    /// With `build --kind f0`, the most that an item may weigh; heavier ones are brought down to it.
    #[arg(long, value_name = "C", value_parser = amount, allow_hyphen_values = true)]
    pub(crate) max_weight: Option<f64>,
}

impl FrequencyArgs {
    /// The flags, and whether they were given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 4] {
        [
            ("--rows", self.rows.is_some()),
            ("--width", self.width.is_some()),
            ("--granularity", self.granularity.is_some()),
            ("--max-weight", self.max_weight.is_some()),
        ]
    }

    /// Rows and width as asked for, where not those of another shape, or the usual ones.
    pub(crate) fn shape_or(&self, other: Option<CountSketchShape>) -> Result<CountSketchShape, Error> {
        let rows = self.rows.unwrap_or(other.map_or(ROWS, |shape| u64::from(shape.rows())));
        let width = self.width.unwrap_or(other.map_or(WIDTH, |shape| u64::from(shape.width())));
        count_sketch_shape(rows, width)
    }

    /// The largest weight, in units of the grid.
    pub(crate) fn max_units(&self) -> Result<u64, Error> {
        max_weight_units(self.max_weight.unwrap_or(1.0), self.granularity.unwrap_or_default())
    }
}

/// How private a release of frequencies is to be, beside `--epsilon`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Noise of frequencies (--kind countsketch)")]
pub(crate) struct LevelArgs {
    /// Gaussian noise of this cost in zero-concentrated differential privacy.
    #[arg(long, value_name = "R", value_parser = parse_rho, allow_hyphen_values = true)]
    pub(crate) rho: Option<Rho>,
    /// With --epsilon: Gaussian noise for (epsilon, delta)-differential privacy. Far below one over the number of people.
    #[arg(long, value_name = "D", value_parser = parse_delta, allow_hyphen_values = true)]
    pub(crate) delta: Option<Delta>,
    /// With --epsilon: Laplace noise, and no delta at all. It grows with the number of rows.
    #[arg(long)]
    pub(crate) pure: bool,
    /// Which data sets are neighbours: those that differ in one unit more or less, if left out.
    #[arg(long, value_name = "RELATION", value_enum)]
    pub(crate) relation: Option<Relation>,
}

/// Which data sets a release must not tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Relation {
    /// One unit of privacy is added or removed.
    AddRemove,
    /// One unit is replaced by another, so that their number is public: up to twice the noise.
    Substitute,
}

impl From<Relation> for Neighbouring {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::AddRemove => Self::AddRemove,
            Relation::Substitute => Self::Substitute,
        }
    }
}

impl LevelArgs {
    /// The flags, and whether they were given.
    pub(crate) fn given(&self) -> [(&'static str, bool); 4] {
        [
            ("--rho", self.rho.is_some()),
            ("--delta", self.delta.is_some()),
            ("--pure", self.pure),
            ("--relation", self.relation.is_some()),
        ]
    }

    /// The level that was asked for, if any.
    pub(crate) fn level(&self, epsilon: Option<Epsilon>) -> Result<Option<FrequencyLevel>, Error> {
        FrequencyLevel::from_flags(epsilon, self.delta, self.rho, self.pure)
    }

    /// The level, which has to be there.
    pub(crate) fn required(&self, epsilon: Option<Epsilon>) -> Result<FrequencyLevel, Error> {
        self.level(epsilon)?.ok_or_else(|| {
            Error::new(ErrorKind::Parameter, "how private is it to be?")
                .argument("--rho")
                .allowed("--rho R, or --epsilon E --delta D, or --epsilon E --pure")
                .hint("say one of the three")
        })
    }

    /// Which data sets are neighbours.
    pub(crate) fn relation(&self) -> Neighbouring {
        self.relation.map_or(Neighbouring::AddRemove, Neighbouring::from)
    }
}

/// An amount of weight. Which amounts make sense is for whoever uses it to say.
pub(super) fn amount(text: &str) -> Result<f64, Error> {
    parse_real(text).map_err(|error| error.value(text).allowed("a number above 0, such as 0.5 or 1e6"))
}

/// Refuses the first flag that was given although it is for another kind of sketch.
pub(crate) fn refuse_for(kind: &str, flags: impl IntoIterator<Item = (&'static str, bool)>) -> Result<(), Error> {
    match flags.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((flag, _)) => Err(Error::new(ErrorKind::Parameter, format!("{flag} is not for sketches of kind {kind}"))
            .argument(flag)
            .allowed(format!("flags of kind {kind}"))
            .hint(format!("leave {flag} out, or say another --kind"))),
    }
}

/// Epsilon where a kind cannot do without.
pub(crate) fn required_epsilon(epsilon: Option<Epsilon>) -> Result<Epsilon, Error> {
    epsilon.ok_or_else(|| {
        Error::new(ErrorKind::Parameter, "the privacy loss is missing")
            .argument("--epsilon")
            .allowed("2^-30 (about 9.3e-10) to 256")
            .hint("say --epsilon E; smaller is more private")
    })
}
