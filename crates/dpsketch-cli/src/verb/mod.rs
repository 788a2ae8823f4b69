//! The verbs, one a file.

mod booking;
pub(crate) mod build;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
mod demo_frequent;
pub(crate) mod estimate;
mod estimate_sets;
mod frequency_args;
mod frequency_plan;
mod frequency_study;
mod group_estimates;
pub(crate) mod inspect;
pub(crate) mod key;
pub(crate) mod ledger;
pub(crate) mod man;
pub(crate) mod merge;
mod moment;
pub(crate) mod plan;
mod prefix_search;
mod private_frequencies;
pub(crate) mod query;
pub(crate) mod release;
pub(crate) mod study;
pub(crate) mod topk;
pub(crate) mod verify;
mod written;
