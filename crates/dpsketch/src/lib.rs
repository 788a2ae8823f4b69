#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod answer;
mod any;
mod any_from;
mod any_shape;
mod bounded_builder;
mod builder;
#[cfg(feature = "arrow")]
mod column;
mod convert;
mod description;
mod error;
mod error_parts;
mod expr;
mod f0;
mod file_lock;
mod frequency;
#[cfg(feature = "arrow")]
mod groups;
#[cfg(feature = "arrow")]
mod ingest_arrow;
mod joint;
mod key_file;
mod ledger;
mod merge;
mod method;
mod number;
mod output_check;
mod output_file;
mod parameter;
mod part_file;
mod plan;
mod presto;
mod raw;
mod raw_file;
mod regions;
mod row_hasher;
mod secret;
mod set_answer;
mod sketch_file;
mod study;
mod subsampled;
mod tally;
mod text;
mod text_file;
mod union_answer;
mod user_bound;

pub use cardinality_estimators;
pub use countsketch_dp;
pub use dp_noise;
pub use f0_sketch;
pub use sfm_pcsa;
pub use sketch_hash;

pub use answer::Answer;
pub use any::AnySketch;
pub use any_shape::AnyShape;
pub use bounded_builder::BoundedBuilder;
pub use builder::{DistinctBuilder, RowCounts};
#[cfg(feature = "arrow")]
pub use column::{HASHABLE_TYPES, is_hashable};
pub use description::Description;
pub use error::{Error, ErrorKind};
pub use error_parts::ErrorParts;
pub use expr::{ExprError, MAX_SETS, SetFormula, UnionTerm, is_set_name};
pub use f0::{
    AnyF0Sketch, F0Builder, F0Counts, F0Error, F0Plan, F0PlanError, F0Purpose, F0Study, F0Terms, F0UserBuilder,
    F0Whole, Operation, RawF0Sketch, ReleasedF0Sketch, WeightConflict, equal_raw_sets, f0_shape, parse_max_weight,
    release_f0_file, release_f0_file_paid,
};
pub use frequency::{
    Calibration, Clipping, CountSketchTerms, DecodedItems, Excess, FieldType, FoundKeys, FrequencyAnswer,
    FrequencyBuilder, FrequencyCounts, FrequencyError, FrequencyLevel, FrequencyPlan, FrequencyPlanError,
    FrequencyPurpose, FrequencyQuery, FrequencySketch, FrequencySpend, FrequencyStudy, ItemFields, Moment, Payment,
    PlannedUnit, PrefixBuilder, PrefixKeys, PricedRelease, RawCountSketch, RawPrefixStack, RecordedPrefixStack,
    TopItems, TopRule, UserFrequencyBuilder, count_sketch_shape, max_weight_units, parse_delta, parse_granularity,
    parse_rho, release_frequency_file, release_frequency_file_paid, release_prefix_file_paid, weight_units,
};
#[cfg(feature = "arrow")]
pub use groups::{
    GroupCheck, GroupContainer, GroupCounts, GroupError, GroupedBuilder, GroupedSketches, ReleasedGroups, group_value,
};
#[cfg(feature = "arrow")]
pub use ingest_arrow::visit_rows;
pub use key_file::{create_key_file, read_key_file};
pub use ledger::{Currency, Ledger, LedgerError, LedgerRecord, LedgerTerms, Spend, SpendReceipt, SpendRecord};
pub use merge::{check_compatible, check_mergeable, merge, merge_disjoint};
pub use method::Method;
pub use number::{parse_count, parse_real, parse_size};
pub use output_check::{OutputIsInput, check_output};
pub use output_file::{OutputFile, Readers};
pub use parameter::{parse_confidence, parse_epsilon, parse_total, pcsa_shape};
pub use plan::{Plan, PlanError, PlannedAnswer, Prediction, Purpose};
pub use presto::{PrestoBytes, to_presto};
pub use raw::{RawSketch, RecordedSketch};
pub use raw_file::{release_raw_file, release_raw_file_paid};
pub use regions::{MAX_REGION_SETS, estimate_regions};
pub use secret::SketchBytes;
pub use set_answer::{estimate_formula, estimate_jaccard};
pub use sketch_file::{
    FORMAT_VERSION, FileFormat, MAX_FILE_LEN, SketchFile, check_sketch_name, read_sketch, read_sketch_file,
    read_sketch_file_from, read_sketch_from,
};
pub use study::{Study, StudyDifference, StudyError, StudyFacts, StudyShape};
pub use subsampled::{
    AnySubsampled, RawSubsampled, SampleBuilder, SampleRelease, create_subsample_key_file, read_subsample_key_file,
    release_subsampled_file, release_subsampled_file_paid,
};
pub use tally::{tally, thin_tally};
pub use text::TextRules;
pub use text_file::TextFileError;
pub use union_answer::{estimate, estimate_with};
pub use user_bound::{MaxItems, PrivacyUnit, SpillSettings, UserBound, UserBoundError, UserCounts, WeightedUserBound};
