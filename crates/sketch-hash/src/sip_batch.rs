//! SipHash-1-3 over batches, compiled for several instruction sets and chosen at run time.

use multiversion::multiversion;
use multiversion::target::match_target;

use crate::sip::SipState;

/// Messages put side by side at once.
pub(crate) const CHUNK: usize = 128;

/// SipHash-1-3 of every word. `words` and `out` have one length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn hash64_words(state: SipState, words: &[u64], out: &mut [u64]) {
    for (word, hash) in words.iter().zip(out) {
        *hash = state.hash64_word(*word);
    }
}

/// SipHash-1-3 with 128-bit output of every word. `words` and `out` have one length.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn hash128_words(state: SipState, words: &[u64], out: &mut [[u64; 2]]) {
    for (word, hash) in words.iter().zip(out) {
        *hash = state.hash128_word(*word);
    }
}

/// Words hashed at once by [`hash128_words_each`]: enough for two vectors of the widest registers.
const FEW: usize = 8;

/// Passes what `prepare` makes of the SipHash-1-3 with 128-bit output of every word on to `each`.
///
/// Both are compiled into the loop: `prepare` works on vectors, and what `each` does with integers goes on beside the hashing
/// of the next words.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl+bmi1+bmi2+lzcnt", "x86_64+avx2+bmi1+bmi2+lzcnt"))]
pub(crate) fn hash128_words_each<P, F>(state: SipState, words: &[u64], prepare: P, mut each: F)
where
    P: Fn([u64; 2]) -> [u64; 2],
    F: FnMut([u64; 2]),
{
    let (chunks, rest) = words.as_chunks::<FEW>();
    for chunk in chunks {
        let (mut first, mut second) = ([0; FEW], [0; FEW]);
        for ((word, first), second) in chunk.iter().zip(&mut first).zip(&mut second) {
            [*first, *second] = prepare(state.hash128_word(*word));
        }
        for (first, second) in first.into_iter().zip(second) {
            each([first, second]);
        }
    }
    for word in rest {
        each(prepare(state.hash128_word(*word)));
    }
}

/// Whether this machine hashes at least four messages at once, so that laying them side by side pays.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn has_wide_registers() -> bool {
    match_target! {
        "x86_64+avx512f+avx512dq+avx512vl" | "x86_64+avx2" => true,
        _ => false,
    }
}

/// Messages side by side, each of up to 8 whole blocks and a last one.
pub(crate) struct Messages {
    /// Whole block `b` of message `i` is `blocks[b][i]`; what stands behind the last whole one is not read.
    pub(crate) blocks: [[u64; CHUNK]; 8],
    /// How many whole blocks each message has.
    pub(crate) whole: [u64; CHUNK],
    /// The last block of each message.
    pub(crate) last: [u64; CHUNK],
}

impl Messages {
    /// Empty messages.
    pub(crate) fn new() -> Self {
        Self { blocks: [[0; CHUNK]; 8], whole: [0; CHUNK], last: [0; CHUNK] }
    }
}

/// SipHash-1-3 of as many messages as `out` has places (at most `CHUNK`), all of at most `N` whole blocks.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn hash64_messages<const N: usize>(state: SipState, messages: &Messages, out: &mut [u64]) {
    for (slot, hash) in out.iter_mut().enumerate().take(CHUNK) {
        let mut state = state;
        for index in 0..N {
            let absorbed = state.absorb(messages.blocks[index][slot]);
            state = state.or_if(messages.whole[slot] > index as u64, absorbed);
        }
        *hash = state.absorb(messages.last[slot]).finish64();
    }
}

/// The same with 128-bit output.
#[multiversion(targets("x86_64+avx512f+avx512dq+avx512vl", "x86_64+avx2"))]
pub(crate) fn hash128_messages<const N: usize>(state: SipState, messages: &Messages, out: &mut [[u64; 2]]) {
    for (slot, hash) in out.iter_mut().enumerate().take(CHUNK) {
        let mut state = state.wide();
        for index in 0..N {
            let absorbed = state.absorb(messages.blocks[index][slot]);
            state = state.or_if(messages.whole[slot] > index as u64, absorbed);
        }
        *hash = state.absorb(messages.last[slot]).finish128();
    }
}
