//! A semaphore that bounds memory use.

use std::sync::{Condvar, Mutex, PoisonError};

use crate::sized_cache::lock;

/// A number of permits.
#[derive(Debug)]
pub struct Limiter {
    free: Mutex<usize>,
    freed: Condvar,
}

/// A permit, released on drop.
#[derive(Debug)]
pub struct Permit<'a>(&'a Limiter);

impl Limiter {
    /// With this number of permits.
    pub fn new(places: usize) -> Self {
        Self { free: Mutex::new(places), freed: Condvar::new() }
    }

    /// Waits for a permit.
    pub fn acquire(&self) -> Permit<'_> {
        let free = self.freed.wait_while(lock(&self.free), |free| *free == 0);
        *free.unwrap_or_else(PoisonError::into_inner) -= 1;
        Permit(self)
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        *lock(&self.0.free) += 1;
        self.0.freed.notify_one();
    }
}
