//! Recordings and cached model responses that a team shares: packs of small files. A file that exists is never overwritten.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use cobalt::command::config::Config;
use cobalt_core::atomic_write::write_atomically;
use cobalt_core::hash::sha256;
use cobalt_core::recordings::ADDITIONS_ENDING;
use cobalt_core::store::{Layout, new_run_id};
use walkdir::{DirEntry, WalkDir};

use super::error::RemoteError;
use super::fetch::compress;
use super::layout;
use super::local_index::RemoteIndex;
use super::store::Remote;

/// The ending of a pack of files.
const PACK_ENDING: &str = ".tar.zst";
/// The size of the files in a pack.
const PACK_BYTES: usize = 32 << 20;
/// The folder of recordings, unless the settings name another one.
const DEFAULT_RECORDINGS: &str = "cassettes";
/// Folders without recordings.
const NOT_SEARCHED: [&str; 2] = ["target", "node_modules"];
/// The folder of long texts and images, which are named by their hash.
const BLOBS: &str = "blobs";
const GIT_ATTRIBUTES: &str = ".gitattributes";

/// What is shared.
#[derive(Clone, Debug)]
pub enum Shared {
    /// The recordings below a project's root, in folders of this name.
    Recordings { root: PathBuf, folder: PathBuf },
    /// Cached model responses.
    Responses(Layout),
}

/// What was sent, or fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedCount {
    /// New files.
    pub files: usize,
    /// Files that exist with another content, and were left alone.
    pub different: usize,
}

impl Shared {
    /// The recordings of a project.
    pub fn recordings(settings: &Config) -> Self {
        let setting = settings.settings().iter().find(|setting| setting.key == "recordings.dir");
        let folder = setting.and_then(|setting| setting.value.as_str()).unwrap_or(DEFAULT_RECORDINGS);
        Self::Recordings { root: settings.workspace_root().to_owned(), folder: folder.into() }
    }

    pub fn responses(settings: &Config) -> Self {
        Self::Responses(settings.layout().clone())
    }

    /// The noun for messages.
    pub fn noun(&self) -> &'static str {
        match self {
            Self::Recordings { .. } => "recording file",
            Self::Responses(_) => "cached response",
        }
    }

    /// The folder of its packs in the store.
    fn store_folder(&self) -> &'static str {
        match self {
            Self::Recordings { .. } => layout::RECORDINGS,
            Self::Responses(_) => layout::RESPONSES,
        }
    }

    /// The folder that names are relative to.
    fn root(&self) -> &Path {
        match self {
            Self::Recordings { root, .. } => root,
            Self::Responses(layout) => layout.cache(),
        }
    }

    /// The files of this machine by name: paths below the root, with slashes.
    fn local_files(&self) -> BTreeMap<String, PathBuf> {
        let is_searched = |entry: &DirEntry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0
                || !(name.starts_with('.') && name != GIT_ATTRIBUTES || NOT_SEARCHED.contains(&&*name))
        };
        let entries = WalkDir::new(self.root()).into_iter().filter_entry(is_searched).flatten();
        let files = entries.filter(|entry| entry.file_type().is_file());
        let named = files.filter_map(|entry| {
            let name = slashed(entry.path().strip_prefix(self.root()).ok()?)?;
            self.accepts(&name).then(|| (name, entry.into_path()))
        });
        named.collect()
    }

    /// Whether a name can be that of a shared file. Names come from the store, too.
    fn accepts(&self, name: &str) -> bool {
        let path = Path::new(name);
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain || name.contains(['\\', ':']) || slashed(path).as_deref() != Some(name) {
            return false;
        }
        match self {
            Self::Recordings { folder, .. } => {
                let Some((above, file)) = name.rsplit_once('/') else { return false };
                let is_below = Path::new(above).ancestors().any(|above| above.ends_with(folder));
                let is_hidden = above.split('/').any(|part| part.starts_with('.'));
                let is_hash = file.len() == 64 && file.bytes().all(|byte| byte.is_ascii_hexdigit());
                let is_blob = above.rsplit('/').next() == Some(BLOBS) && (is_hash || file == GIT_ATTRIBUTES);
                let is_recording = file.ends_with(".json") || file.ends_with(ADDITIONS_ENDING);
                is_below && !is_hidden && (is_blob || is_recording && !file.starts_with('.'))
            }
            Self::Responses(_) => name.split_once('/').is_some_and(|(folder, file)| {
                // An incomplete response has a further ending.
                Layout::is_cache_folder(folder) && Layout::is_cached_response(file) && !file.contains('.')
            }),
        }
    }

    /// Writes a file of the store; one that exists is left alone.
    fn write(&self, name: &str, content: &[u8], count: &mut SharedCount) -> io::Result<()> {
        let path = self.root().join(name);
        if path.exists() {
            let is_same = matches!(self, Self::Responses(_)) || fs::read(&path)? == content;
            count.different += usize::from(!is_same);
            return Ok(());
        }
        let folder = path.parent().unwrap_or(&path);
        fs::create_dir_all(folder)?;
        // A link must not lead out of the project.
        if !folder.canonicalize()?.starts_with(self.root().canonicalize()?) {
            return Err(io::Error::other("its folder is a link to another place"));
        }
        let draft = folder.join(format!(".{}.tmp", new_run_id()));
        write_atomically(&path, &draft, |file| file.write_all(content))?;
        count.files += 1;
        Ok(())
    }
}

/// A relative path with slashes; `None` if it is not UTF-8.
fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<_>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    parts.map(|parts| parts.join("/"))
}

impl Remote {
    /// Sends the files of this machine that the store does not have.
    pub fn push_shared(&self, shared: &Shared, index: &mut RemoteIndex) -> Result<SharedCount, RemoteError> {
        for pack in self.unread_packs(shared, index)? {
            match self.read_shared_pack(&pack, index, |_, _| Ok(())) {
                // Its files are pushed again.
                Err(error @ RemoteError::Damaged { .. }) => self.warn(error.to_string()),
                outcome => outcome?,
            }
        }
        let known = index.shared(shared.store_folder())?;
        let mut packs = vec![(tar::Builder::new(Vec::new()), Vec::new())];
        let mut count = SharedCount::default();
        for (name, path) in shared.local_files() {
            let failed = |source| RemoteError::File { action: "read", path: path.clone(), source };
            let content = fs::read(&path).map_err(failed)?;
            let id = identity(&name, &content);
            if known.contains(&id) {
                continue;
            }
            if packs.last().is_some_and(|(pack, _)| pack.get_ref().len() > PACK_BYTES) {
                packs.push((tar::Builder::new(Vec::new()), Vec::new()));
            }
            let Some((pack, ids)) = packs.last_mut() else { continue };
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_mode(0o644);
            pack.append_data(&mut header, &name, &*content).map_err(failed)?;
            ids.push(id);
            count.files += 1;
        }
        for (pack, ids) in packs.into_iter().filter(|(_, ids)| !ids.is_empty()) {
            let tar = pack.into_inner().map_err(RemoteError::Runtime)?;
            let name = format!("{}/{}{PACK_ENDING}", shared.store_folder(), layout::short(&sha256(&tar)));
            self.upload(&name, compress(&tar).into())?;
            index.add_shared(&name, &ids)?;
        }
        Ok(count)
    }

    /// Fetches the files of the store that this machine does not have.
    pub fn pull_shared(&self, shared: &Shared, index: &mut RemoteIndex) -> Result<SharedCount, RemoteError> {
        let mut packs = self.unread_packs(shared, index)?;
        // Files of packs that were read before may be gone on this machine.
        let is_gone = |id: &String| {
            let name = id.rsplit_once('#').map_or(&**id, |(name, _)| name);
            !shared.root().join(name).exists()
        };
        packs.extend(index.shared_packs(shared.store_folder(), is_gone)?);
        packs.sort();
        packs.dedup();
        let mut count = SharedCount::default();
        let mut damaged = None;
        for pack in packs {
            let read = self.read_shared_pack(&pack, index, |name, content| match shared.accepts(name) {
                true => shared.write(name, content, &mut count).map_err(|source| RemoteError::File {
                    action: "write",
                    path: shared.root().join(name),
                    source,
                }),
                false => Ok(()),
            });
            match read {
                // The other packs are whole.
                Err(error @ RemoteError::Damaged { .. }) => damaged = damaged.or(Some(error)),
                outcome => outcome?,
            }
        }
        damaged.map_or(Ok(count), Err)
    }

    fn unread_packs(&self, shared: &Shared, index: &RemoteIndex) -> Result<Vec<String>, RemoteError> {
        let known = index.shared_packs(shared.store_folder(), |_| true)?;
        let packs = self.list(shared.store_folder())?.into_iter().map(|object| object.name);
        Ok(packs.filter(|pack| pack.ends_with(PACK_ENDING) && !known.contains(pack)).collect())
    }

    /// Calls `use_file` with each file of a pack, and notes what it has.
    fn read_shared_pack(
        &self,
        pack: &str,
        index: &mut RemoteIndex,
        mut use_file: impl FnMut(&str, &[u8]) -> Result<(), RemoteError>,
    ) -> Result<(), RemoteError> {
        let damaged = |problem: String| self.damaged(pack, &problem);
        let Some(bytes) = self.get(pack)? else { return Ok(()) };
        let name = pack.rsplit_once('/').map_or(pack, |(_, name)| name);
        let hash = name.strip_suffix(PACK_ENDING).unwrap_or(name);
        let (tar, _) = self.decompressed_by_name(pack, &bytes, hash)?;
        let mut ids = Vec::new();
        let mut archive = tar::Archive::new(&tar[..]);
        for file in archive.entries().map_err(|error| damaged(error.to_string()))? {
            let mut file = file.map_err(|error| damaged(error.to_string()))?;
            let path = file.path().map_err(|error| damaged(error.to_string()))?.into_owned();
            let (Some(name), true) = (slashed(&path), file.header().entry_type().is_file()) else { continue };
            let mut content = Vec::new();
            file.read_to_end(&mut content).map_err(|error| damaged(error.to_string()))?;
            use_file(&name, &content)?;
            ids.push(identity(&name, &content));
        }
        index.add_shared(pack, &ids)?;
        Ok(())
    }
}

/// Identifies a file and its content.
fn identity(name: &str, content: &[u8]) -> String {
    format!("{name}#{}", layout::short(&sha256(content)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_shared_files_are_accepted() {
        let root = PathBuf::from("/project");
        let recordings = Shared::Recordings { root: root.clone(), folder: "tests/cassettes".into() };
        let hash = "0".repeat(64);
        for (name, accepted) in [
            ("desk/tests/cassettes/desk/refund.json", true),
            (&*format!("desk/tests/cassettes/desk/blobs/{hash}"), true),
            ("desk/tests/cassettes/desk/blobs/.gitattributes", true),
            ("tests/cassettes/unattributed.json", true),
            ("tests/other/refund.json", false),
            ("tests/cassettes/desk/build.rs", false),
            ("tests/cassettes/../../refund.json", false),
            ("/etc/tests/cassettes/refund.json", false),
            ("tests/cassettes/.git/refund.json", false),
            ("tests/cassettes/desk/.hidden.json", false),
        ] {
            assert_eq!(recordings.accepts(name), accepted, "{name}");
        }
        let at = |name: &str| root.join(name);
        let responses =
            Shared::Responses(Layout::new(root.clone(), at("results"), at("history.db"), at("cache")));
        assert!(responses.accepts(&format!("ab/{}", "0".repeat(62))));
        for name in ["ab/../../x", "notes.txt", &format!("ab/{}.0a", "0".repeat(62))] {
            assert!(!responses.accepts(name), "{name}");
        }
    }
}
