//! Loops whose rounds touch nothing in common, on all cores with the feature `rayon`.

/// Calls `work` with every item and with room that `new_room` makes; the room is used again, so it may be dirty.
#[cfg(not(feature = "rayon"))]
pub(crate) fn for_each<T, R>(items: &mut [T], new_room: impl Fn() -> R, work: impl Fn(&mut T, &mut R)) {
    if !items.is_empty() {
        let mut room = new_room();
        for item in items {
            work(item, &mut room);
        }
    }
}

/// Calls `work` with every item and with room that `new_room` makes; the room is used again, so it may be dirty.
#[cfg(feature = "rayon")]
pub(crate) fn for_each<T: Send, R>(
    items: &mut [T],
    new_room: impl Fn() -> R + Sync + Send,
    work: impl Fn(&mut T, &mut R) + Sync + Send,
) {
    use rayon::iter::{IntoParallelRefMutIterator, ParallelIterator};
    items.par_iter_mut().for_each_init(new_room, |room, item| work(item, room));
}
