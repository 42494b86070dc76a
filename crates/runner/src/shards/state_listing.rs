//! The small objects of a group in the remote store, and the time by the store's clock: this machine's may differ.

use std::time::{Duration, SystemTime};

use super::layout;
use crate::remote::{Remote, RemoteError, RemoteObject};

/// The objects in the folder of the states.
#[derive(Debug)]
pub struct StateListing {
    pub objects: Vec<RemoteObject>,
    now: Option<SystemTime>,
}

impl StateListing {
    /// Lists the objects. The token must be unique: it names the object by which this process reads the clock.
    pub fn read(remote: &Remote, group: &str, token: &str) -> Result<Self, RemoteError> {
        let clock = layout::clock(group, token);
        remote.put(&clock, "")?;
        let objects = remote.list(&layout::states(group))?;
        let now = objects.iter().find(|object| object.name == clock).map(|object| object.modified);
        Ok(Self { objects, now })
    }

    /// How long ago something was written.
    pub fn age(&self, written: SystemTime) -> Duration {
        self.now.and_then(|now| now.duration_since(written).ok()).unwrap_or_default()
    }

    /// How long ago this object was written, if it exists.
    pub fn age_of(&self, name: &str) -> Option<Duration> {
        let object = self.objects.iter().find(|object| object.name == name)?;
        Some(self.age(object.modified))
    }
}

/// Removes the object by which a process reads the clock.
pub fn delete_clock(remote: &Remote, group: &str, token: &str) {
    // If it stays, `clean --remote` deletes it.
    let _ = remote.delete(&layout::clock(group, token));
}
