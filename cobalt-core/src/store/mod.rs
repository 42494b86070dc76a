//! Files on disk: the journal of a run in progress, and its result file. They are the source of truth.

mod by_item;
mod error;
mod journal;
mod layout;
mod namesake;
mod results;
mod runs;
mod unfinished;

pub use by_item::ReportText;
pub use error::{CREATE, StoreError, storage};
pub use journal::{
    CutOff, JOURNAL_VERSION, JournalContents, JournalEntry, JournalError, JournalHeader, JournalWriter,
    Resumed, read_journal,
};
pub use layout::{DOWNLOAD, GITIGNORE, Layout, REQUEST, create_folder, git_state, id_of, new_run_id};
pub use namesake::{Namesake, namesake};
pub use results::{
    DamagedReport, ResultFileName, check_report, keep_report, read_report, result_file_name, sync_folder,
    without_mark, write_report, write_whole,
};
pub use runs::{
    Earlier, StoredRun, experiment_of, latest_runs, read_measurements, result_files, runs, write_baseline,
};
pub use unfinished::{CutOffJournal, is_going_on};
