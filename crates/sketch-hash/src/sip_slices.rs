//! SipHash-1-3 of many byte strings, side by side.

use crate::sip::{SipState, last_block};
use crate::sip_batch::{CHUNK, Messages, has_wide_registers, hash64_messages, hash128_messages};

/// Strings of at most this many whole blocks are hashed side by side, that is, those of up to 71 bytes. Longer ones
/// gain little and would make all their neighbours wait.
const MAX_BLOCKS: usize = 8;

/// One width of output.
trait Output: Sized {
    fn single(state: SipState, item: &[u8]) -> Self;

    /// As many messages as `out` has places, all of at most `N` whole blocks.
    fn messages<const N: usize>(state: SipState, messages: &Messages, out: &mut [Self]);
}

impl Output for u64 {
    fn single(state: SipState, item: &[u8]) -> Self {
        state.hash64(item)
    }

    fn messages<const N: usize>(state: SipState, messages: &Messages, out: &mut [Self]) {
        hash64_messages::<N>(state, messages, out);
    }
}

impl Output for [u64; 2] {
    fn single(state: SipState, item: &[u8]) -> Self {
        state.hash128(item)
    }

    fn messages<const N: usize>(state: SipState, messages: &Messages, out: &mut [Self]) {
        hash128_messages::<N>(state, messages, out);
    }
}

/// SipHash-1-3 of every byte string. `items` and `out` have one length.
pub(crate) fn hash64_slices(state: SipState, items: &[&[u8]], out: &mut [u64]) {
    hash_slices(state, items, out);
}

/// The same with 128-bit output.
pub(crate) fn hash128_slices(state: SipState, items: &[&[u8]], out: &mut [[u64; 2]]) {
    hash_slices(state, items, out);
}

fn hash_slices<O: Output>(state: SipState, items: &[&[u8]], out: &mut [O]) {
    if has_wide_registers() {
        hash_chunks(state, items, out);
    } else {
        for (item, out) in items.iter().zip(out) {
            *out = O::single(state, item);
        }
    }
}

/// SipHash-1-3 of every byte string, a chunk at a time.
fn hash_chunks<O: Output>(state: SipState, items: &[&[u8]], out: &mut [O]) {
    let mut messages = Messages::new();
    for (items, out) in items.chunks(CHUNK).zip(out.chunks_mut(CHUNK)) {
        let short = items.iter().map(|item| item.len() / 8).filter(|blocks| *blocks <= MAX_BLOCKS);
        match short.max().unwrap_or(0) {
            0 => side_by_side::<0, O>(state, &mut messages, items, out),
            1 => side_by_side::<1, O>(state, &mut messages, items, out),
            2 => side_by_side::<2, O>(state, &mut messages, items, out),
            3 => side_by_side::<3, O>(state, &mut messages, items, out),
            4 => side_by_side::<4, O>(state, &mut messages, items, out),
            5 | 6 => side_by_side::<6, O>(state, &mut messages, items, out),
            _ => side_by_side::<MAX_BLOCKS, O>(state, &mut messages, items, out),
        }
        for (item, out) in items.iter().zip(out) {
            if item.len() / 8 > MAX_BLOCKS {
                *out = O::single(state, item);
            }
        }
    }
}

/// Hashes a chunk of strings. Those with more than `N` whole blocks get a wrong hash.
fn side_by_side<const N: usize, O: Output>(state: SipState, messages: &mut Messages, items: &[&[u8]], out: &mut [O]) {
    for (slot, item) in items.iter().enumerate().take(CHUNK) {
        messages.whole[slot] = (item.len() / 8) as u64;
        messages.last[slot] = last_block(item);
        if let Some(last_start) = item.len().checked_sub(8) {
            for index in 0..N {
                // Blocks that the string does not have are read from its end, without a branch, and not used.
                let start = (8 * index).min(last_start);
                messages.blocks[index][slot] = word_at(item, start);
            }
        }
    }
    O::messages::<N>(state, messages, out);
}

/// Eight bytes as a little-endian word. Zero if the string ends before.
#[inline]
fn word_at(bytes: &[u8], start: usize) -> u64 {
    bytes.get(start..).and_then(|rest| rest.first_chunk()).map_or(0, |word| u64::from_le_bytes(*word))
}
