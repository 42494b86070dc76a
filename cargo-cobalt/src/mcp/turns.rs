//! One run at a time in a project: a second one would build anew what the first one still has to start.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

/// Whose turn it is, by the folders of projects.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Arc<Mutex<HashMap<PathBuf, Arc<Turn<()>>>>>);

impl Turns {
    /// Waits for a turn in a project, in the order of the calls; says first that it has to. It lasts until it is dropped.
    pub(super) async fn wait(
        &self,
        project: PathBuf,
        has_to: impl Future<Output = ()>,
    ) -> OwnedMutexGuard<()> {
        let turn =
            Arc::clone(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(project).or_default());
        match Arc::clone(&turn).try_lock_owned() {
            Ok(turn) => turn,
            Err(_) => {
                has_to.await;
                turn.lock_owned().await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_turn_comes_when_the_one_before_is_over_and_other_projects_do_not_wait() {
        let turns = Turns::default();
        let first = turns.wait("a".into(), async { panic!("it is free") }).await;
        drop(turns.wait("b".into(), async { panic!("it is free") }).await);
        let mut first = Some(first);
        turns.wait("a".into(), async { drop(first.take()) }).await;
        assert!(first.is_none());
    }
}
