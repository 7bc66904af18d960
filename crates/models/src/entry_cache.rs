//! Cache of encoded entries of conversations.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

/// Number of requests after which an unused entry is removed. Greater than one, because side
/// calls, and subagents with their own conversations, occur in between.
pub(crate) const KEPT_FOR_REQUESTS: u64 = 16;

/// Values that are encoded once and kept for as long as requests use them, so that a turn late in a
/// long conversation costs no more to encode than an early one.
#[derive(Debug)]
pub(crate) struct EntryCache<K, V> {
    requests: u64,
    /// Values, each with the number of the last request that used it.
    encoded: HashMap<K, (V, u64)>,
}

impl<K, V> Default for EntryCache<K, V> {
    fn default() -> Self {
        Self { requests: 0, encoded: HashMap::new() }
    }
}

impl<K: Eq + Hash, V> EntryCache<K, V> {
    /// Begins a request.
    pub(crate) fn begin_request(&mut self) {
        self.requests += 1;
    }

    /// Ends a request, and removes values that were not used for a while.
    pub(crate) fn end_request(&mut self) {
        self.encoded.retain(|_, (_, last)| self.requests - *last < KEPT_FOR_REQUESTS);
    }

    /// Returns the value of a key, which `encode` creates if it is missing.
    pub(crate) fn get<E>(
        &mut self,
        key: K,
        encode: impl FnOnce() -> Result<V, E>,
    ) -> Result<&V, E> {
        self.get_current(key, |_| true, encode)
    }

    /// Returns the value of a key, which `encode` creates if it is missing or outdated.
    pub(crate) fn get_current<E>(
        &mut self,
        key: K,
        is_current: impl FnOnce(&V) -> bool,
        encode: impl FnOnce() -> Result<V, E>,
    ) -> Result<&V, E> {
        let requests = self.requests;
        let (value, last) = match self.encoded.entry(key) {
            Entry::Occupied(slot) => {
                let known = slot.into_mut();
                if !is_current(&known.0) {
                    known.0 = encode()?;
                }
                known
            }
            Entry::Vacant(slot) => slot.insert((encode()?, requests)),
        };
        *last = requests;
        Ok(value)
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.encoded.len()
    }
}
