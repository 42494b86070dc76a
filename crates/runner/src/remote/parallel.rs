//! Runs blocking work on several threads.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// How many objects are sent or fetched at a time.
const THREADS: usize = 8;

/// The results of `work` on each element, in order.
pub fn map<T: Sync, R: Send>(elements: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let mut done = Vec::with_capacity(elements.len());
    for_each(elements, work, |place, result| {
        done.push((place, result));
        ControlFlow::Continue(())
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Does `work` on each element, and passes each result on when it is there, with the element's place. After a `Break`, no work is
/// begun; what was begun before still ends and is passed on.
pub fn for_each<T: Sync, R: Send>(
    elements: &[T],
    work: impl Fn(&T) -> R + Sync,
    mut on_result: impl FnMut(usize, R) -> ControlFlow<()>,
) {
    let next = AtomicUsize::new(0);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        let (next, work) = (&next, &work);
        for _ in 0..THREADS.min(elements.len()) {
            let sender = sender.clone();
            scope.spawn(move || {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(element) = elements.get(place) else { return };
                    if sender.send((place, work(element))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (place, result) in results {
            if on_result(place, result).is_break() {
                next.store(elements.len(), Ordering::Relaxed);
            }
        }
    });
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
    #[test]
    fn after_a_break_nothing_is_begun() {
        let numbers: Vec<_> = (0..1000).collect();
        let begun = AtomicUsize::new(0);
        let slow = |_: &usize| {
            begun.fetch_add(1, Ordering::Relaxed);
            thread::sleep(std::time::Duration::from_millis(20));
        };
        for_each(&numbers, slow, |_, ()| ControlFlow::Break(()));
        assert!(begun.load(Ordering::Relaxed) <= 3 * THREADS, "{begun:?}");
    }
}
