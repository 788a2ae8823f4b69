//! Drives the built program as a person would.

mod build;
mod demo;
mod estimate;
mod failures;
mod families;
mod formats;
mod groups;
mod help;
mod inputs;
mod keys;
mod ledger;
mod merge;
mod outputs;
mod plan;
mod presto;
mod release;
mod sets;
mod streams;
mod study;
mod support;
mod text;
mod users;
mod verify;
