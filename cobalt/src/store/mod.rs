//! What stays on disk: the journal of a run as it goes, and its result file. These files are the truth.

mod by_item;
mod error;
mod journal;
mod layout;
mod namesake;
mod results;
mod runs;
mod unfinished;

pub use by_item::ReportText;
pub use error::StoreError;
#[cfg(feature = "remote")]
pub(crate) use error::{CREATE, storage};
pub(crate) use journal::{CutOff, JOURNAL_VERSION, JournalWriter, Resumed};
pub use journal::{JournalContents, JournalEntry, JournalError, JournalHeader, read_journal};
#[cfg(feature = "remote")]
pub(crate) use layout::{DOWNLOAD, REQUEST, create_folder};
pub use layout::{GITIGNORE, Layout};
pub(crate) use layout::{git_state, id_of, new_run_id};
#[doc(hidden)]
pub use namesake::{Namesake, namesake};
#[cfg(feature = "remote")]
pub(crate) use results::write_whole;
pub use results::{
    DamagedReport, ResultFileName, check_report, keep_report, read_report, result_file_name, sync_folder,
    without_mark, write_report,
};
pub(crate) use runs::{Earlier, experiment_of, latest_runs, result_files};
pub use runs::{StoredRun, read_measurements, runs, write_baseline};
pub use unfinished::{CutOffJournal, is_going_on};
