//! The example body, layout 1: what the golden files hold.

use serde::{Deserialize, Serialize};
use sketch_wire::{Family, WireBody};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ExampleV1 {
    pub(crate) tag: u8,
    pub(crate) short: u16,
    pub(crate) count: u32,
    pub(crate) total: u64,
    pub(crate) change: i64,
    pub(crate) ratio: f64,
    pub(crate) present: bool,
    pub(crate) id: [u8; 4],
    pub(crate) entries: Vec<Entry>,
    pub(crate) words: Vec<u64>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub(crate) key: u32,
    pub(crate) weight: u16,
}

impl WireBody for ExampleV1 {
    const FAMILY: Family = Family::EXAMPLE;
    const BODY_VERSION: u8 = 1;
    const MAX_BODY_LEN: u64 = 1 << 20;
}
