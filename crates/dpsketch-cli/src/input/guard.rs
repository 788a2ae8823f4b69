//! Keeps faults of other people's decoders from becoming ours.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};

use dpsketch::{Error, ErrorKind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoder of a foreign format. Should it panic over damaged bytes, that is an error like any other.
///
/// What the decoder was filling may be half done then; every caller gives up on an error.
pub(crate) fn guarded<T>(name: &str, decode: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    let before = GUARDED.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(decode));
    GUARDED.set(before);
    result.unwrap_or_else(|_| {
        Err(Error::new(ErrorKind::Damaged, format!("{name}: the decoder gave up on damaged content"))
            .argument("INPUT")
            .value(name)
            .hint("copy or write the file again"))
    })
}

/// Whether this thread is inside [`guarded`], where a panic is expected and reported as an error.
pub(crate) fn is_guarded() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_is_an_error() {
        let error = guarded::<()>("f", || panic!("expected in this test")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Damaged);
        assert!(!is_guarded());
    }
}
