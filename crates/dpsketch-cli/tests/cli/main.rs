//! Drives the built program as a person would.

mod build;
mod demo;
mod estimate;
mod failures;
mod families;
mod formats;
mod frequencies;
mod frequency_levels;
mod groups;
mod help;
mod inputs;
mod keys;
mod ledger;
mod merge;
mod outputs;
mod plan;
mod prefix_tree;
mod presto;
mod release;
mod sets;
mod streams;
mod study;
mod support;
mod text;
mod users;
mod verify;
