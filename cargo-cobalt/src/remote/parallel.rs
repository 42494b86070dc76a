//! Runs blocking work on several threads.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// How many objects are sent or fetched at a time.
const THREADS: usize = 8;

/// The results of `work` on each element, in order.
pub fn map<T: Sync, R: Send>(elements: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take = || {
        let mut done = Vec::new();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            let Some(element) = elements.get(place) else { return done };
            done.push((place, work(element)));
        }
    };
    let mut done = thread::scope(|scope| {
        let helpers = THREADS.min(elements.len()).saturating_sub(1);
        let helpers: Vec<_> = (0..helpers).map(|_| scope.spawn(take)).collect();
        let mut done = take();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_elements() {
        let numbers: Vec<_> = (0..100).collect();
        assert_eq!(map(&numbers, |number| number * 2), (0..200).step_by(2).collect::<Vec<_>>());
        assert!(map(&[] as &[u8], |number| *number).is_empty());
    }
}
