//! Sorting short lists: causes, columns, problems, files.
//!
//! The standard library's sorts are made for long lists, and cost about 5 KB of the page's wasm for every type that is
//! sorted. Here an insertion sort does: what is sorted for words and tables has a few dozen entries.

use std::cmp::Ordering;

/// Sorts a short list; equal items keep their order. Quadratic in its length.
pub fn sort_by<T>(items: &mut [T], mut compare: impl FnMut(&T, &T) -> Ordering) {
    for end in 1..items.len() {
        let mut at = end;
        while at > 0 && compare(&items[at], &items[at - 1]) == Ordering::Less {
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Sorts a short list by a key; equal items keep their order. Quadratic in its length.
pub fn sort_by_key<T, K: Ord>(items: &mut [T], mut key: impl FnMut(&T) -> K) {
    sort_by(items, |one, other| key(one).cmp(&key(other)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The standard library's stable sort is the reference.
        #[test]
        fn sorts_as_the_standard_library_does(items in prop::collection::vec((0u8..8, any::<u8>()), 0..40)) {
            let (mut ours, mut theirs) = (items.clone(), items);
            sort_by_key(&mut ours, |item| item.0);
            theirs.sort_by_key(|item| item.0);
            prop_assert_eq!(ours, theirs);
        }
    }
}
