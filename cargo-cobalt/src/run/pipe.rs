//! The pipe through which a test binary tells its events.
//!
//! It has a name, as a binary can be told a path without unsafe code, and a descriptor only with it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

/// A named pipe in a folder of its own, which only this user may enter.
#[derive(Debug)]
pub(super) struct Pipe {
    folder: TempDir,
    path: PathBuf,
}

/// The two ends that this process holds.
#[derive(Debug)]
pub(super) struct Ends {
    /// Reads what the binary tells, to the end of whoever writes.
    pub(super) reader: File,
    /// Keeps the pipe open until the binary, which may never open it, has ended.
    pub(super) keeper: File,
}

impl Pipe {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("cobalt-events-").tempdir()?;
        let path = folder.path().join("events");
        make(&path)?;
        Ok(Self { folder, path })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn ends(&self) -> io::Result<Ends> {
        open(&self.path)
    }

    /// Removes the pipe.
    pub(super) fn close(self) -> io::Result<()> {
        self.folder.close()
    }
}

#[cfg(unix)]
fn make(path: &Path) -> io::Result<()> {
    use nix::sys::stat::Mode;
    nix::unistd::mkfifo(path, Mode::S_IRUSR | Mode::S_IWUSR).map_err(io::Error::from)
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<Ends> {
    use std::fs::OpenOptions;
    use std::os::unix::fs::OpenOptionsExt;

    use nix::fcntl::{FcntlArg, OFlag, fcntl};

    // A reader that waits is only opened when there is a writer, and a writer only when there is a reader.
    let reader = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(path)?;
    let keeper = OpenOptions::new().write(true).open(path)?;
    fcntl(&reader, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(Ends { reader, keeper })
}

/// Elsewhere a file stands in for the pipe, and is read when the binary has ended.
#[cfg(not(unix))]
fn make(path: &Path) -> io::Result<()> {
    File::create_new(path).map(drop)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<Ends> {
    Ok(Ends { reader: File::open(path)?, keeper: File::open(path)? })
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs::OpenOptions;
    use std::io::{Read, Write};

    use super::*;

    #[test]
    fn the_reader_ends_when_all_writers_are_gone_even_if_none_came() {
        for told in ["", "event\n"] {
            let pipe = Pipe::new().unwrap();
            let Ends { mut reader, keeper } = pipe.ends().unwrap();
            if !told.is_empty() {
                let mut writer = OpenOptions::new().append(true).open(pipe.path()).unwrap();
                writer.write_all(told.as_bytes()).unwrap();
            }
            drop(keeper);
            let mut heard = String::new();
            reader.read_to_string(&mut heard).unwrap();
            assert_eq!(heard, told);
            pipe.close().unwrap();
        }
    }
}
