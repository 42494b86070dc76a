//! Archives with entries that lead out of the folder, are too large, damaged, or not listed.

use cobalt_core::hash::sha256;
use serde_json::{Value, json};
use tar::{Builder, Header};
use tempfile::TempDir;

use super::super::frames::FrameWriter;
use super::*;

/// An entry: its name, its type, its content.
type Packed<'a> = (&'a str, EntryType, &'a [u8]);

fn write(folder: &TempDir, entries: &[Packed<'_>]) -> PathBuf {
    let path = folder.path().join("archive.tar.zst");
    let mut tar = Builder::new(FrameWriter::new(File::create(&path).unwrap()));
    for (name, kind, content) in entries {
        let mut header = Header::new_gnu();
        // `set_path` refuses what a hostile archive has.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(if *kind == EntryType::Regular { content.len() as u64 } else { 0 });
        if *kind != EntryType::Regular {
            header.set_link_name_literal(content).unwrap();
        }
        header.set_mode(0o755);
        header.set_entry_type(*kind);
        header.set_cksum();
        tar.append(&header, if *kind == EntryType::Regular { *content } else { &[] }).unwrap();
    }
    tar.into_inner().unwrap().finish().unwrap();
    path
}

/// A manifest of these files.
fn manifest(files: &[(&str, &[u8])]) -> Vec<u8> {
    let file = |(path, content): &(&str, &[u8])| -> Value {
        json!({ "path": path, "size": content.len(), "sha256": sha256(content), "executable": true })
    };
    let manifest = json!({
        "format": 1, "version": "0.1.0", "platform": "x86_64-unknown-linux-gnu", "binaries": [],
        "metadata": {
            "packages": [], "workspace_members": [], "version": 1, "workspace_root": "/workspace",
            "target_directory": "/target", "resolve": null,
        },
        "files": files.iter().map(file).collect::<Vec<_>>(),
    });
    manifest.to_string().into_bytes()
}

/// Unpacks an archive of these entries; the files below the folder, or the error.
fn unpacked(entries: &[Packed<'_>]) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = write(&folder, entries);
    let target = folder.path().join("inside");
    fs::create_dir(&target).unwrap();
    let archive = PackedArchive::open(&path).map_err(|error| error.to_string())?;
    let unpacked = archive.unpack(&target).map_err(|error| error.to_string());
    let outside = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(outside, 2, "only the archive and the folder");
    let files = walkdir::WalkDir::new(&target).sort_by_file_name().into_iter().flatten();
    let files = files.filter(|entry| entry.file_type().is_file());
    let names = files.map(|entry| entry.path().strip_prefix(&target).unwrap().to_str().unwrap().to_owned());
    unpacked.map(|()| names.collect())
}

const FILE: EntryType = EntryType::Regular;

#[test]
fn listed_files_are_unpacked_and_others_refused() {
    let manifest = manifest(&[("workspace/a", b"one"), ("target/b", b"two")]);
    let list = (MANIFEST, FILE, &*manifest);
    let (a, b) = (("workspace/a", FILE, &b"one"[..]), ("target/b", FILE, &b"two"[..]));
    assert_eq!(unpacked(&[list, a, b]).unwrap(), ["target/b", "workspace/a"]);
    for (entries, expected) in [
        (vec![list, a], "`target/b` is missing"),
        (vec![list, a, a, b], "entry `workspace/a` is not listed in the manifest"),
        (vec![list, a, b, ("workspace/c", FILE, b"")], "entry `workspace/c` is not listed in the manifest"),
        (vec![list, a, ("target/b", FILE, b"tow")], "the content of `target/b` does not match the manifest"),
        (vec![list, a, ("target/b", FILE, b"three")], "the size of `target/b` does not match the manifest"),
        (
            vec![list, a, ("target/b", EntryType::Symlink, b"/etc/passwd")],
            "entry `target/b` is neither a file",
        ),
        (vec![list, a, ("target/b", EntryType::Link, b"workspace/a")], "entry `target/b` is neither a file"),
        (vec![list, a, ("../b", FILE, b"two")], "entry `../b` is not listed in the manifest"),
        (vec![a, b, list], "is not an archive of `cargo cobalt archive`"),
    ] {
        let error = unpacked(&entries).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn entries_of_nextest_stay_in_the_folder_and_are_no_links() {
    let metadata = ("target/nextest/binaries-metadata.json", FILE, &b"{}"[..]);
    assert_eq!(unpacked(&[metadata, ("target/debug", EntryType::Directory, b"")]).unwrap().len(), 1);
    for (entry, expected) in [
        (("target/../../b", FILE, &b""[..]), "leads out of the archive"),
        (("/tmp/cobalt-outside", FILE, b""), "leads out of the archive"),
        (("target/link", EntryType::Symlink, b"/tmp"), "is a link or a special file"),
        (("target/link", EntryType::Link, b"/etc/passwd"), "is a link or a special file"),
        (("target/pipe", EntryType::Fifo, b""), "is a link or a special file"),
    ] {
        let error = unpacked(&[metadata, entry]).unwrap_err();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_stream_that_unpacks_to_more_than_it_says_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let manifest = manifest(&[]);
    let path = write(&folder, &[(MANIFEST, FILE, &manifest)]);
    // Long names are read before the entry that they are for.
    let mut bomb = Header::new_gnu();
    bomb.set_entry_type(EntryType::GNULongName);
    let size = MAX_HEADER + (8 << 20);
    bomb.set_size(size);
    bomb.set_cksum();
    let mut frames = FrameWriter::new(File::create(&path).unwrap());
    let mut start = Builder::new(&mut frames);
    let mut header = Header::new_gnu();
    header.set_size(manifest.len() as u64);
    start.append_data(&mut header, MANIFEST, &*manifest).unwrap();
    start.get_mut().write_all(bomb.as_bytes()).unwrap();
    io::copy(&mut io::repeat(b'x').take(size), start.get_mut()).unwrap();
    drop(start);
    frames.finish().unwrap();
    let archive = PackedArchive::open(&path).unwrap();
    let error = archive.unpack(folder.path()).unwrap_err().to_string();
    assert!(error.contains("it exceeds the size limit of"), "{error}");
}

#[test]
fn what_is_no_archive_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let open = |path: &Path| PackedArchive::open(path).map(drop).unwrap_err().to_string();
    let file = folder.path().join("notes.txt");
    fs::write(&file, "These are notes.").unwrap();
    assert!(open(&file).ends_with("is not an archive of `cargo cobalt archive` or `cargo nextest archive`"));
    assert!(open(folder.path()).contains("is not an archive"));
    assert!(open(&folder.path().join("none")).starts_with("failed to read the archive"));
    let path = write(&folder, &[(MANIFEST, FILE, b"{\"format\":1}")]);
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(open(&path).contains("is damaged or incomplete"), "{}", open(&path));
}
