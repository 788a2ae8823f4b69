//! Frequencies of items: what stands around a CountSketch.

mod any;
#[cfg(feature = "arrow")]
mod arrow;
mod builder;
mod convert;
mod describe;
mod error;
mod fields;
mod level;
mod merge;
mod moment;
mod parameter;
mod plan;
mod prefix;
mod query;
mod raw;
mod release;
mod release_file;
mod spend;
mod study;
mod terms;
mod top;
mod totals;
mod users;
mod weight;

pub use any::FrequencySketch;
pub use builder::{Excess, FrequencyBuilder, FrequencyCounts};
pub use convert::count_sketch_shape;
pub use error::FrequencyError;
pub use fields::{FieldType, ItemFields};
pub use level::{Calibration, FrequencyLevel, PricedRelease};
pub(crate) use merge::{FrequencyState, not_frequencies};
pub use moment::Moment;
pub use parameter::{parse_delta, parse_granularity, parse_rho};
pub use plan::{FrequencyPlan, FrequencyPlanError, FrequencyPurpose, PlannedUnit};
pub use prefix::{FoundKeys, PrefixBuilder, PrefixKeys, RawPrefixStack, RecordedPrefixStack};
pub use query::{FrequencyAnswer, FrequencyQuery};
pub use raw::RawCountSketch;
pub use release::Payment;
pub use release_file::{release_frequency_file, release_frequency_file_paid, release_prefix_file_paid};
pub use spend::FrequencySpend;
pub use study::FrequencyStudy;
pub use terms::{Clipping, CountSketchTerms, max_weight_units};
pub use top::{TopItems, TopRule};
pub use users::UserFrequencyBuilder;
pub use weight::weight_units;
