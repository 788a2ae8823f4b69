//! Tables that were made lately, so that a second release with the same noise need not wait.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::{Law, Table};
use crate::SampleError;

/// How many tables are kept, the latest used ones. The largest takes about two mebibytes, a common one 20 KiB.
pub(super) const CACHED_TABLES: usize = 16;

/// The latest used first. Laws are public, and so are their tables: nothing here is wiped.
static CACHE: Mutex<VecDeque<Arc<Table>>> = Mutex::new(VecDeque::new());

/// The table of a law, made or found.
pub(crate) fn table_for(law: Law) -> Result<Arc<Table>, SampleError> {
    if let Some(found) = find(law) {
        return Ok(found);
    }
    // Made without holding the lock: others go on meanwhile, and two threads may make the same table.
    let made = Arc::new(Table::new(law)?);
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    cache.truncate(CACHED_TABLES - 1);
    cache.push_front(Arc::clone(&made));
    Ok(made)
}

fn find(law: Law) -> Option<Arc<Table>> {
    // A panic elsewhere cannot leave the list half changed: every change is one call.
    let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = cache.iter().position(|table| table.law == law)?;
    let found = cache.remove(place)?;
    cache.push_front(Arc::clone(&found));
    Some(found)
}

/// How many tables are kept now.
#[cfg(test)]
pub(super) fn count() -> usize {
    CACHE.lock().unwrap_or_else(PoisonError::into_inner).len()
}
