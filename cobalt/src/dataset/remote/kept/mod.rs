//! The copy of a data set that was fetched: one file, whose first line says what it is, then an item per line.

mod copy;
mod header;
mod list;
mod lock;

use std::fs::{self, File};
use std::io::{BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(super) use self::copy::{Copy, Found};
use self::header::Header;
pub use self::list::KeptDataset;
pub(super) use self::lock::Lock;
use crate::dataset::Dataset;
use crate::report::Fetch;
use crate::slug::slug;
use crate::store::{CREATE, Layout, REQUEST, StoreError, create_folder, storage, write_whole};

/// The longest slug of a label in a file's name, in bytes.
const LONGEST_SLUG: usize = 80;
/// What stands behind the name of a copy that is being written.
const DRAFT: &str = "draft";

/// Where the copy of a data set is.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) path: PathBuf,
    label: String,
    /// A hash of what is asked for.
    request: String,
}

impl Kept {
    pub(super) fn new(folder: &Path, label: &str, identity: &[String]) -> Self {
        let request = crate::hash::sha256_hex(identity);
        let slug = Some(slug(label, LONGEST_SLUG)).filter(|slug| !slug.is_empty());
        let name = format!("{}-{}.jsonl", slug.as_deref().unwrap_or("dataset"), &request[..REQUEST]);
        Self { path: folder.join(name), label: label.to_owned(), request }
    }

    /// Looks for the copy.
    pub(super) fn read(&self) -> Result<Found, StoreError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Found::Nothing),
            Err(source) => return Err(storage("read", &self.path, source)),
        };
        let mut reader = BufReader::new(file);
        let copy = Header::read(&mut reader).and_then(|header| match header.request == self.request {
            true => Copy::read(&header, reader),
            false => {
                Err(format!("it is of {}, of which another version or part was asked for", header.source))
            }
        });
        Ok(copy.map_or_else(Found::Damaged, Found::Copy))
    }

    /// Waits until no other process fetches this data set, and makes the folder of the copies.
    pub(super) fn lock(&self) -> Result<Lock, StoreError> {
        let folder = self.path.parent().unwrap_or(Path::new(""));
        let root = folder.parent().unwrap_or(folder);
        let is_new = !folder.exists();
        create_folder(root, folder).map_err(|source| storage(CREATE, folder, source))?;
        if is_new && !root.join(".gitignore").exists() {
            // `.cobalt` was there before, and has none.
            let ignored = folder.join(".gitignore");
            fs::write(&ignored, "*\n").map_err(|source| storage("write", &ignored, source))?;
        }
        let path = Layout::copy_lock(&self.path);
        Lock::take(&path).map_err(|source| storage("write", &path, source))
    }

    /// Keeps what was fetched.
    pub(super) fn write(&self, dataset: &Dataset, fetch: &Fetch, lock: &Lock) -> Result<(), StoreError> {
        if lock.is_exclusive {
            self.remove_drafts();
        }
        let header = Header::new(&self.label, &self.request, fetch, dataset.len(), &dataset.hash());
        let draft = self.path.with_extension(format!("{:016x}.{DRAFT}", fastrand::u64(..)));
        write_whole(&self.path, &draft, |file| {
            serde_json::to_writer(&mut *file, &header)?;
            file.write_all(b"\n")?;
            for item in dataset {
                serde_json::to_writer(&mut *file, item)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        })
    }

    /// Removes the drafts of processes that were killed: as one at a time writes, no other is being written.
    fn remove_drafts(&self) {
        let (Some(folder), Some(stem)) = (self.path.parent(), self.path.file_stem()) else { return };
        let is_draft = |path: &PathBuf| {
            let name = path.file_name().and_then(|name| name.to_str());
            let rest = name.and_then(|name| name.strip_prefix(stem.to_str()?));
            rest.is_some_and(|rest| rest.starts_with('.') && rest.ends_with(DRAFT))
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for draft in entries.map(|entry| entry.path()).filter(is_draft) {
            // One that cannot be removed is in nobody's way.
            let _ = fs::remove_file(draft);
        }
    }
}
