//! The verbs, one a file.

mod booking;
pub(crate) mod build;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod estimate;
mod estimate_sets;
mod group_estimates;
pub(crate) mod inspect;
pub(crate) mod key;
pub(crate) mod ledger;
pub(crate) mod man;
pub(crate) mod merge;
pub(crate) mod plan;
pub(crate) mod release;
pub(crate) mod study;
pub(crate) mod verify;
mod written;
