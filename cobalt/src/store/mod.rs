//! What stays on disk: the journal of a run as it goes, and its result file. These files are the truth.
#![doc = include_str!("../../docs/files.md")]

mod baselines;
mod by_item;
mod checked;
mod checksum;
mod cut_off;
mod earlier;
mod error;
mod git;
mod id;
mod journal;
mod layout;
mod locking;
mod namesake;
mod results;
mod runs;
mod unfinished;

pub(crate) use baselines::experiment_of;
pub use baselines::{read_measurements, write_baseline};
pub use by_item::ReportText;
pub use checked::{DamagedReport, check_report};
pub use cut_off::{CutOffJournal, is_going_on};
pub(crate) use earlier::{Earlier, latest_runs, result_files};
pub use error::StoreError;
#[cfg(feature = "remote")]
pub(crate) use error::{CREATE, storage};
pub(crate) use git::git_state;
pub(crate) use id::{id_of, new_run_id};
pub(crate) use journal::{CutOff, JOURNAL_VERSION, JournalWriter, Resumed};
pub use journal::{JournalContents, JournalEntry, JournalError, JournalHeader, read_journal};
#[cfg(feature = "remote")]
pub(crate) use layout::{DOWNLOAD, REQUEST, create_folder};
pub use layout::{GITIGNORE, Layout};
#[doc(hidden)]
pub use namesake::{Namesake, namesake};
#[cfg(feature = "remote")]
pub(crate) use results::write_whole;
pub use results::{
    ResultFileName, keep_report, read_report, result_file_name, sync_folder, without_mark, write_report,
};
pub use runs::{StoredRun, runs};
