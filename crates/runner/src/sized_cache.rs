//! An in-memory cache with a size limit in bytes. A value is never computed twice at the same time, nor while it is still in use.
//!
//! It holds a few dozen entries at most, so a list suffices. Cache crates limit the number of entries, or split their capacity
//! into shards, into which a large run would not fit.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Values by key, most recently used first.
pub struct SizedCache<K, V> {
    entries: Mutex<Vec<Entry<K, V>>>,
    /// Evicted values that may still be in use.
    in_use: Mutex<Vec<(K, Weak<V>)>>,
    /// Maximum total size in bytes; a single value can exceed it.
    room: usize,
}

struct Entry<K, V> {
    key: K,
    value: Slot<V>,
    /// In bytes; 0 while the value is being computed.
    size: usize,
}

/// Locked while the value is being computed.
type Slot<V> = Arc<Mutex<Option<Arc<V>>>>;

impl<K: Clone + PartialEq, V> SizedCache<K, V> {
    pub const fn new(room: usize) -> Self {
        Self { entries: Mutex::new(Vec::new()), in_use: Mutex::new(Vec::new()), room }
    }

    /// Returns the value of a key, computing it with `make` if missing. Concurrent calls for the same key wait. `size` returns
    /// the size of a value in bytes.
    pub fn get<E>(
        &self,
        key: &K,
        size: impl FnOnce(&V) -> usize,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        let slot = self.slot(key);
        let mut value = lock(&slot);
        if let Some(value) = &*value {
            return Ok(Arc::clone(value));
        }
        if let Some(used) = self.in_use_value(key) {
            *value = Some(Arc::clone(&used));
            self.evict(&slot, size(&used));
            return Ok(used);
        }
        let made = match make() {
            Ok(made) => Arc::new(made),
            Err(error) => {
                lock(&self.entries).retain(|entry| !Arc::ptr_eq(&entry.value, &slot));
                return Err(error);
            }
        };
        *value = Some(Arc::clone(&made));
        lock(&self.in_use).push((key.clone(), Arc::downgrade(&made)));
        self.evict(&slot, size(&made));
        Ok(made)
    }

    /// An evicted value that is still in use.
    fn in_use_value(&self, key: &K) -> Option<Arc<V>> {
        let mut in_use = lock(&self.in_use);
        in_use.retain(|(_, value)| value.strong_count() > 0);
        in_use.iter().find(|(known, _)| known == key).and_then(|(_, value)| value.upgrade())
    }

    fn slot(&self, key: &K) -> Slot<V> {
        let mut entries = lock(&self.entries);
        let entry = match entries.iter().position(|entry| entry.key == *key) {
            Some(place) => entries.remove(place),
            None => Entry { key: key.clone(), value: Slot::default(), size: 0 },
        };
        let slot = Arc::clone(&entry.value);
        entries.insert(0, entry);
        slot
    }

    /// Evicts the least recently used values.
    fn evict(&self, made: &Slot<V>, size: usize) {
        let mut entries = lock(&self.entries);
        let mut total = size;
        if let Some(entry) = entries.iter_mut().find(|entry| Arc::ptr_eq(&entry.value, made)) {
            // An empty value makes room for others, too.
            entry.size = size.max(1);
        }
        entries.retain(|entry| {
            // Size 0: being computed, and other calls wait for it.
            let stays = Arc::ptr_eq(&entry.value, made) || entry.size == 0;
            total += if stays { 0 } else { entry.size };
            stays || total <= self.room
        });
    }
}

impl<K, V> fmt::Debug for SizedCache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SizedCache").field("room", &self.room).finish_non_exhaustive()
    }
}

/// Locks a mutex and ignores poisoning: no value is left half-written.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    /// Gets the value of a key; returns whether it was computed.
    fn get(recent: &SizedCache<u32, usize>, key: u32, size: usize) -> bool {
        let mut is_made = false;
        let make = || {
            is_made = true;
            Ok::<_, ()>(size)
        };
        assert_eq!(*recent.get(&key, |size| *size, make).unwrap(), size);
        is_made
    }

    #[test]
    fn what_was_used_longest_ago_makes_room() {
        let recent = SizedCache::new(10);
        assert!(get(&recent, 1, 4) && get(&recent, 2, 4));
        assert!(!get(&recent, 1, 4), "it is kept");
        assert!(get(&recent, 3, 4), "there is room for two");
        assert!(!get(&recent, 1, 4) && !get(&recent, 3, 4) && get(&recent, 2, 4));
    }

    #[test]
    fn empty_values_do_not_stay_forever() {
        let recent = SizedCache::new(10);
        assert!((0..20).all(|key| get(&recent, key, 0)));
        assert!(get(&recent, 0, 0) && !get(&recent, 19, 0));
    }

    #[test]
    fn a_value_without_room_is_kept_until_the_next() {
        let recent = SizedCache::new(10);
        assert!(get(&recent, 1, 40) && !get(&recent, 1, 40));
        assert!(get(&recent, 2, 4) && get(&recent, 1, 40));
    }

    #[test]
    fn a_value_without_room_is_shared_as_long_as_someone_has_it() {
        let recent = SizedCache::<u32, usize>::new(10);
        let large = recent.get(&1, |_| 40, || Ok::<_, ()>(1)).unwrap();
        assert!(get(&recent, 2, 40), "there is room for one of them");
        let again = recent.get(&1, |_| 40, || Err("made once more")).unwrap();
        assert!(Arc::ptr_eq(&large, &again));
        drop((large, again));
        assert!(get(&recent, 2, 40) && get(&recent, 1, 40), "it is made once nobody has it");
    }

    #[test]
    fn what_is_being_made_is_waited_for_whatever_is_made_meanwhile() {
        let recent = SizedCache::<u32, usize>::new(10);
        let (begun, end) = (Barrier::new(2), Barrier::new(2));
        let slow = || {
            begun.wait();
            end.wait();
            Ok::<_, ()>(1)
        };
        thread::scope(|scope| {
            let first = scope.spawn(|| recent.get(&1, |_| 40, slow).unwrap());
            begun.wait();
            assert!(get(&recent, 2, 40), "it fills all of the room");
            let second = scope.spawn(|| recent.get(&1, |_| 40, || Err("made once more")).unwrap());
            thread::sleep(std::time::Duration::from_millis(50));
            end.wait();
            assert!(Arc::ptr_eq(&first.join().unwrap(), &second.join().unwrap()));
        });
    }

    #[test]
    fn a_failure_is_tried_again() {
        let recent = SizedCache::<u32, usize>::new(10);
        assert_eq!(recent.get(&1, |_| 1, || Err("no")).unwrap_err(), "no");
        assert!(get(&recent, 1, 4));
    }

    #[test]
    fn several_who_ask_at_once_get_one_value_that_is_made_once() {
        let (recent, made, start) = (SizedCache::new(10), AtomicUsize::new(0), Barrier::new(8));
        let ask = || {
            start.wait();
            let make = || {
                made.fetch_add(1, Ordering::SeqCst);
                thread::yield_now();
                Ok::<_, ()>(7)
            };
            *recent.get(&1, |_| 1, make).unwrap()
        };
        thread::scope(|scope| {
            let asking: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
            asking.into_iter().for_each(|it| assert_eq!(it.join().unwrap(), 7));
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
