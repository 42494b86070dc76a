//! Files on disk: the journal of a run in progress, and its result file. They are the source of truth.

mod case_names;
mod checksum;
mod damaged_items;
mod error;
mod interrupted;
mod journal;
mod journal_items;
mod layout;
mod name_conflict;
mod parts;
mod payment;
mod report_file;
mod report_reader;
mod report_text;
mod results;
mod resumed;
mod runs;

pub use case_names::CaseNames;
pub use damaged_items::{DamagedReport, validate_report};
pub use error::{CREATE_FOLDER, StoreError, storage_error};
pub use interrupted::{InterruptedJournal, is_in_progress};
pub use journal::{
    JOURNAL_VERSION, JournalContents, JournalEntry, JournalError, JournalHeader, JournalWriter, read_journal,
};
pub use journal_items::{JournalIndex, JournalItems, LineUse};
pub use layout::{
    DOWNLOAD_PREFIX, GIT_STATE_VARIABLE, GITIGNORE, Layout, REQUEST_HASH_DIGITS, ci_branch, create_folder,
    derive_id, file_slug, git_state, git_state_of, new_run_id,
};
pub use name_conflict::{NameConflict, find_name_conflict};
pub use parts::{
    ItemRow, PARTS_FORMAT, Part, PartEntry, PartsIndex, PartsReader, PartsWriter, RowName, RowRest,
    RowTraffic, head_of_items_file, items_file,
};
pub use payment::{Payer, Payment, Payments};
pub use report_file::ReportFile;
pub use report_reader::ReportReader;
pub use report_text::{strip_bom, write_atomically};
pub use results::{ResultFileName, import_report, read_report, result_file_name, write_report};
pub use resumed::{InterruptedRun, LockedJournal, ResumedRun};
pub use runs::{
    EarlierRun, StoredRun, latest_runs, read_experiment_name, read_measurements, result_files, runs,
    write_baseline,
};
