//! Drives the built program as a person would.

mod build;
mod demo;
mod estimate;
mod failures;
mod formats;
mod help;
mod inputs;
mod keys;
mod ledger;
mod merge;
mod plan;
mod presto;
mod release;
mod sets;
mod streams;
mod support;
mod verify;
