//! Unpacks archives: only files and folders, only below the given folder, and no more than was announced.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use cobalt_core::hash::hex;
use sha2::{Digest, Sha256};
use tar::{Entry, EntryType};

use super::error::ArchiveError;
use super::frames::{Allowance, FrameReader};
use super::manifest::{MANIFEST, Manifest, PackedFile, inner_path};
use crate::error::Error;
use crate::interrupt;

/// The largest manifest, unpacked.
pub const MAX_MANIFEST: u64 = 64 << 20;
/// What headers and padding may add to a file.
pub const ENTRY_OVERHEAD: u64 = 8 << 10;
/// What may be read before an entry: its header and its name, which is kept in memory.
const MAX_HEADER: u64 = 1 << 20;
/// How much an archive without a manifest may unpack to: this for each of its bytes, and a bit.
const MAX_RATIO: u64 = 1_000;
const MIN_UNPACKED: u64 = 64 << 20;
/// The first bytes of a zstd stream.
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The folder of the metadata in an archive of `cargo nextest archive`.
pub const NEXTEST: &str = "target/nextest/";

/// What an archive is.
#[derive(Debug)]
pub enum Contents {
    Cobalt(Box<Manifest>),
    Nextest,
}

/// An archive that was opened and not unpacked yet.
#[derive(Debug)]
pub struct PackedArchive {
    pub path: PathBuf,
    pub contents: Contents,
    /// A hash that is the same for archives with the same content.
    pub identity: String,
}

impl PackedArchive {
    /// Reads the beginning of an archive.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let opened = |source| ArchiveError::Open { path: path.to_owned(), source };
        let mut start = [0; ZSTD.len()];
        let mut file = File::open(path).map_err(opened)?;
        if fs::metadata(path).map_err(opened)?.is_dir()
            || file.read_exact(&mut start).is_err()
            || start != ZSTD
        {
            return Err(ArchiveError::NotAnArchive(path.to_owned()));
        }
        let failed = |error: io::Error| read_error(path, MAX_MANIFEST, &error);
        let mut tar = reader(path, Allowance::new(MAX_MANIFEST))?;
        let mut first = tar.entries().map_err(failed)?.next().transpose().map_err(failed)?;
        let first = first.as_mut().ok_or_else(|| ArchiveError::NotAnArchive(path.to_owned()))?;
        let name = String::from_utf8_lossy(&first.path_bytes()).into_owned();
        let (contents, identity) = if name == MANIFEST {
            let mut bytes = Vec::new();
            first.read_to_end(&mut bytes).map_err(failed)?;
            let manifest = Manifest::parse(&bytes, path)?;
            (Contents::Cobalt(Box::new(manifest)), hex(&Sha256::digest(&bytes)))
        } else if name.starts_with(NEXTEST) {
            let mut hash = HashWriter::default();
            io::copy(&mut File::open(path).map_err(opened)?, &mut hash).map_err(opened)?;
            (Contents::Nextest, hash.hex())
        } else {
            return Err(ArchiveError::NotAnArchive(path.to_owned()));
        };
        Ok(Self { path: path.to_owned(), contents, identity })
    }

    /// Unpacks everything into an empty folder.
    pub fn unpack(&self, folder: &Path) -> Result<(), Error> {
        self.unpack_some(folder, &|_| true)
    }

    /// Unpacks the entries with these names into an empty folder. Those of an archive without a manifest are all unpacked.
    pub fn unpack_some(&self, folder: &Path, is_wanted: &dyn Fn(&str) -> bool) -> Result<(), Error> {
        match &self.contents {
            Contents::Cobalt(manifest) => self.unpack_listed(manifest, folder, is_wanted),
            Contents::Nextest => self.unpack_all(folder),
        }
    }

    /// Unpacks the wanted files that the manifest lists, and compares them with it.
    fn unpack_listed(
        &self,
        manifest: &Manifest,
        folder: &Path,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let overhead = (manifest.files.len() as u64 + 2) * ENTRY_OVERHEAD;
        let limit = (MAX_MANIFEST + overhead).saturating_add(manifest.unpacked());
        let mut missing: HashMap<_, _> = manifest.files.iter().map(|file| (&*file.path, file)).collect();
        self.each_entry(limit, |name, entry| {
            if name == MANIFEST {
                return Ok(());
            }
            let unsafe_entry = |reason| self.unsafe_entry(name, reason);
            if entry.header().entry_type() != EntryType::Regular {
                return Err(unsafe_entry("is neither a file nor listed in the manifest").into());
            }
            let file = missing.remove(name).ok_or_else(|| unsafe_entry("is not listed in the manifest"))?;
            if is_wanted(name) { self.unpack_file(file, entry, folder) } else { Ok(()) }
        })?;
        match missing.keys().min() {
            Some(name) => Err(ArchiveError::damaged(&self.path, format!("`{name}` is missing")).into()),
            None => Ok(()),
        }
    }

    fn unpack_file(
        &self,
        packed: &PackedFile,
        entry: &mut Entry<'_, impl Read>,
        folder: &Path,
    ) -> Result<(), Error> {
        let damaged = |what| {
            ArchiveError::damaged(
                &self.path,
                format!("the {what} of `{}` does not match the manifest", packed.path),
            )
        };
        if entry.size() != packed.size {
            return Err(damaged("size").into());
        }
        let inner = inner_path(&packed.path).ok_or_else(|| damaged("path"))?;
        let mut hash = HashWriter::default();
        self.write_file(&folder.join(inner), packed.executable, &mut HashReader { entry, hash: &mut hash })?;
        if hash.hex() == packed.sha256 { Ok(()) } else { Err(damaged("content").into()) }
    }

    /// Unpacks all entries of an archive without a list of them.
    fn unpack_all(&self, folder: &Path) -> Result<(), Error> {
        let packed = fs::metadata(&self.path);
        let packed = packed.map_err(|source| ArchiveError::Open { path: self.path.clone(), source })?.len();
        let limit = packed.saturating_mul(MAX_RATIO).saturating_add(MIN_UNPACKED);
        let mut left = limit;
        self.each_entry(limit, |name, entry| {
            let unsafe_entry = |reason| self.unsafe_entry(name, reason);
            // A sparse file is larger than what the stream has of it.
            let too_large = || ArchiveError::TooLarge { path: self.path.clone(), limit };
            left = left.checked_sub(entry.size()).ok_or_else(too_large)?;
            let inner = inner_path(name.trim_end_matches('/'));
            let path = folder.join(inner.ok_or_else(|| unsafe_entry("leads out of the archive"))?);
            match entry.header().entry_type() {
                EntryType::Directory => create_folder(&path),
                EntryType::Regular | EntryType::GNUSparse => {
                    let executable = entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0);
                    self.write_file(&path, executable, entry)
                }
                _ => Err(unsafe_entry("is a link or a special file").into()),
            }
        })
    }

    /// Calls `unpack` for each entry and its name.
    fn each_entry(
        &self,
        limit: u64,
        mut unpack: impl FnMut(&str, &mut Entry<'_, FrameReader<BufReader<File>>>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let failed = |error: io::Error| read_error(&self.path, limit, &error);
        let allowance = Allowance::new(limit);
        allowance.limit_part(MAX_HEADER);
        let mut tar = reader(&self.path, allowance.clone())?;
        for entry in tar.entries().map_err(failed)? {
            if interrupt::was_received() {
                return Err(Error::Interrupted);
            }
            let mut entry = entry.map_err(failed)?;
            allowance.limit_part(u64::MAX);
            let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
            unpack(&name, &mut entry).map_err(|error| match error.downcast::<ReadFailed>() {
                Some(ReadFailed(error)) => failed(io::Error::new(error.kind(), error.to_string())).into(),
                None => error,
            })?;
            // What is not wanted is skipped here, so that only a header follows.
            io::copy(&mut entry, &mut io::sink()).map_err(failed)?;
            allowance.limit_part(MAX_HEADER);
        }
        allowance.limit_part(u64::MAX);
        // The end of the stream can be damaged, too.
        io::copy(&mut tar.into_inner(), &mut io::sink()).map_err(failed)?;
        Ok(())
    }

    fn write_file(&self, path: &Path, executable: bool, content: &mut impl Read) -> Result<(), Error> {
        let written = |source| ArchiveError::Extract { path: path.to_owned(), source };
        path.parent().map_or(Ok(()), create_folder)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        set_mode(&mut options, executable);
        let mut file = options.open(path).map_err(written)?;
        let mut chunk = vec![0; 1 << 18];
        loop {
            match content.read(&mut chunk).map_err(ReadFailed)? {
                0 => return Ok(()),
                read => file.write_all(&chunk[..read]).map_err(written)?,
            }
        }
    }

    fn unsafe_entry(&self, entry: &str, reason: &'static str) -> ArchiveError {
        ArchiveError::Unsafe { path: self.path.clone(), entry: entry.to_owned(), reason }
    }
}

/// The archive cannot be read, while an entry is written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct ReadFailed(io::Error);

impl crate::error::CommandError for ReadFailed {}

fn reader(
    path: &Path,
    allowance: Allowance,
) -> Result<tar::Archive<FrameReader<BufReader<File>>>, ArchiveError> {
    let file = File::open(path).map_err(|source| ArchiveError::Open { path: path.to_owned(), source })?;
    Ok(tar::Archive::new(FrameReader::new(BufReader::with_capacity(1 << 18, file), allowance)))
}

fn read_error(path: &Path, limit: u64, error: &io::Error) -> ArchiveError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => ArchiveError::TooLarge { path: path.to_owned(), limit },
        _ => ArchiveError::damaged(path, error),
    }
}

fn create_folder(folder: &Path) -> Result<(), Error> {
    let failed = |source| ArchiveError::Extract { path: folder.to_owned(), source };
    Ok(fs::create_dir_all(folder).map_err(failed)?)
}

#[cfg(unix)]
fn set_mode(options: &mut OpenOptions, executable: bool) {
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(if executable { 0o777 } else { 0o666 });
}

#[cfg(not(unix))]
fn set_mode(_: &mut OpenOptions, _: bool) {}

/// Hashes what is read through it.
struct HashReader<'a, R> {
    entry: &'a mut R,
    hash: &'a mut HashWriter,
}

impl<R: Read> Read for HashReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.entry.read(buffer)?;
        self.hash.write_all(&buffer[..read])?;
        Ok(read)
    }
}

/// The SHA-256 hash of what is written to it.
#[derive(Default)]
pub struct HashWriter(Sha256);

impl HashWriter {
    pub fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

impl Write for HashWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
