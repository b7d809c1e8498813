//! Maps of a few dozen entries: settings, tunables, the keys of a table in a text.
//!
//! The standard library's map costs about 8 KB of the page's wasm for every pair of types. This one is a sorted list.

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Borrow;
use std::fmt;
use std::marker::PhantomData;

/// Entries in the order of their keys, each key once. Adding one takes time linear in their number.
#[derive(Clone, PartialEq, Eq)]
pub struct ShortMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K: Ord, V> ShortMap<K, V> {
    /// An empty map.
    #[must_use]
    pub const fn new() -> Self {
        Self { entries: Vec::new() }
    }

    /// Where a key is, or would be.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        self.entries.binary_search_by(|(known, _)| known.borrow().cmp(key))
    }

    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().and_then(|index| self.entries.get(index)).map(|(_, value)| value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().and_then(|index| self.entries.get_mut(index)).map(|(_, value)| value)
    }

    /// Whether a key is there.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    /// Sets the value of a key; the value it had.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(&key) {
            Ok(index) => self.entries.get_mut(index).map(|entry| std::mem::replace(&mut entry.1, value)),
            Err(index) => {
                self.entries.insert(index, (key, value));
                None
            }
        }
    }

    /// The value of a key, which is `make`'s if the key is not there yet.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        let index = match self.place(&key) {
            Ok(index) => index,
            Err(index) => {
                self.entries.insert(index, (key, make()));
                index
            }
        };
        &mut self.entries[index].1
    }

    /// Removes a key; the value it had.
    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.place(key).ok().map(|index| self.entries.remove(index).1)
    }

    /// Keeps the entries for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.entries.retain_mut(|(key, value)| keep(key, value));
    }

    /// Every key with its value, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &V)> + Clone {
        self.entries.iter().map(|(key, value)| (key, value))
    }

    /// Every key, in order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> + Clone {
        self.entries.iter().map(|(key, _)| key)
    }

    /// Every value, in the order of the keys.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> + Clone {
        self.entries.iter().map(|(_, value)| value)
    }

    /// How many entries there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl<K: Ord, V> Default for ShortMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: fmt::Debug, V: fmt::Debug> fmt::Debug for ShortMap<K, V> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.entries.iter().map(|(key, value)| (key, value))).finish()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for ShortMap<K, V> {
    /// Of a key that comes twice, the last value stays.
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}

impl<K: Ord, V> Extend<(K, V)> for ShortMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| {
            self.insert(key, value);
        });
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for ShortMap<K, V> {
    fn from(entries: [(K, V); N]) -> Self {
        entries.into_iter().collect()
    }
}

impl<K, V> IntoIterator for ShortMap<K, V> {
    type Item = (K, V);
    type IntoIter = std::vec::IntoIter<(K, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl<'m, K, V> IntoIterator for &'m ShortMap<K, V> {
    type Item = (&'m K, &'m V);
    type IntoIter = std::iter::Map<std::slice::Iter<'m, (K, V)>, fn(&'m (K, V)) -> (&'m K, &'m V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter().map(|(key, value)| (key, value))
    }
}

impl<K: Serialize + Ord, V: Serialize> Serialize for ShortMap<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self)
    }
}

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Deserialize<'de> for ShortMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries(PhantomData))
    }
}

/// Reads a map of any format.
struct Entries<K, V>(PhantomData<(K, V)>);

impl<'de, K: Deserialize<'de> + Ord, V: Deserialize<'de>> Visitor<'de> for Entries<K, V> {
    type Value = ShortMap<K, V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut map = ShortMap::new();
        while let Some((key, value)) = access.next_entry()? {
            map.insert(key, value);
        }
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// What can be done to a map.
    #[derive(Clone, Debug)]
    enum Change {
        Insert(u8, u32),
        Remove(u8),
        GetOrInsert(u8, u32),
    }

    fn changes() -> impl Strategy<Value = Vec<Change>> {
        let change = prop_oneof![
            (0u8..20, any::<u32>()).prop_map(|(key, value)| Change::Insert(key, value)),
            (0u8..20).prop_map(Change::Remove),
            (0u8..20, any::<u32>()).prop_map(|(key, value)| Change::GetOrInsert(key, value)),
        ];
        prop::collection::vec(change, 0..60)
    }

    proptest! {
        /// The standard library's map is the reference, in memory and in JSON.
        #[test]
        fn does_what_the_standard_map_does(changes in changes()) {
            let (mut ours, mut theirs) = (ShortMap::new(), BTreeMap::new());
            for change in changes {
                match change {
                    Change::Insert(key, value) => {
                        prop_assert_eq!(ours.insert(key, value), theirs.insert(key, value));
                    }
                    Change::Remove(key) => prop_assert_eq!(ours.remove(&key), theirs.remove(&key)),
                    Change::GetOrInsert(key, value) => {
                        let expected = theirs.entry(key).or_insert(value);
                        prop_assert_eq!(ours.get_or_insert_with(key, || value), expected);
                    }
                }
                prop_assert!(ours.iter().eq(theirs.iter()));
                prop_assert_eq!(ours.len(), theirs.len());
                prop_assert!((0..20).all(|key| ours.get(&key) == theirs.get(&key)));
            }
            let json = serde_json::to_string(&ours).expect("plain data");
            prop_assert_eq!(&json, &serde_json::to_string(&theirs).expect("plain data"));
            prop_assert_eq!(serde_json::from_str::<ShortMap<u8, u32>>(&json).expect("plain data"), ours);
        }
    }
}
