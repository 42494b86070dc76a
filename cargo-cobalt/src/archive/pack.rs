//! `cargo cobalt archive`: builds the test binaries and packs what they need into one file.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use cargo_metadata::{Metadata, PackageId, TargetKind};
use cobalt::command::config::{ARCHIVED_BASELINES, Flags};
use cobalt_core::store::git_state_of;
use cobalt_core::wording::{count, group_thousands};

use super::error::ArchiveError;
use super::files::{Exclusions, WorkspaceFiles};
use super::frames::FrameWriter;
use super::libraries::needed;
use super::manifest::{
    FORMAT, MANIFEST, Manifest, NOMINAL_ROOT, PackedBinary, PackedFile, TARGET, WORKSPACE, rebase,
};
use super::unpack::{ENTRY_OVERHEAD, HashWriter, MAX_MANIFEST};
use crate::cli::{Archive, BuildOptions, Color, Selection};
use crate::config::settings_of;
use crate::error::Error;
use crate::interrupt;
use crate::project::{
    Binary, BinarySource as _, BuildOutput, CargoBuild, Inputs, LOCK, MANIFEST as CARGO_MANIFEST, Project,
    cargo,
};
use crate::terminal::{eprint_wrapped, one_line};

/// The folder of libraries that are not in the target folder.
const TOOLCHAIN: &str = "target/toolchain";
/// Files of the workspace root that every package needs.
const ROOT_FILES: [&str; 5] = [CARGO_MANIFEST, LOCK, "cobalt.toml", ".cargo/config.toml", ".cargo/config"];

pub fn archive(arguments: &Archive, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    interrupt::install_handler()?;
    let source = CargoBuild::read(&arguments.build, color)?;
    let project = source.project();
    let candidates = source.candidates(&Selection::default(), flags)?;
    if let Some(notice) = source.notice() {
        eprint_wrapped(&notice);
    }
    let built = source.binaries(&candidates);
    if interrupt::was_received() {
        return Err(Error::Interrupted);
    }
    let BuildOutput { binaries, skipped, not_built } = built?;
    if !not_built.is_empty() {
        return Err(Error::Multiple(not_built));
    }
    if binaries.is_empty() {
        return Err(Error::NothingMatched(format!("nothing to archive: {}", skipped.join("; "))));
    }
    if !skipped.is_empty() {
        eprint_wrapped(&format!("not packed: {}", skipped.join("; ")));
    }
    let output = std::path::absolute(&arguments.output)
        .map_err(|source| ArchiveError::Write { path: arguments.output.clone(), source })?;
    let WorkspaceFiles { files, warnings } = workspace_files(project, &binaries, arguments, flags, &output)?;
    for warning in &warnings {
        eprint_wrapped(&format!("warning: {}", one_line(warning)));
    }
    let mut entries = Entries::default();
    for (relative, path) in files {
        entries.add(format!("{WORKSPACE}/{}", slashed(&relative)), path);
    }
    let standard_library = standard_library(&arguments.build);
    let packed = binaries
        .iter()
        .map(|binary| pack_binary(binary, &source, flags, standard_library.as_deref(), &mut entries));
    let mut packed = packed.collect::<Result<Vec<_>, Error>>()?;
    packed.sort_by(|a, b| (&a.package, &a.target).cmp(&(&b.package, &b.target)));
    let git = git_state_of(project.root());
    let manifest = Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        platform: platform(&binaries[0].path, project.target_folder(), &arguments.build)?,
        git: git.map(|git| {
            let dirty = if git.dirty { "-dirty" } else { "" };
            let branch = git.branch.map(|branch| format!(" {branch}")).unwrap_or_default();
            format!("{}{dirty}{branch}", git.commit)
        }),
        metadata: packed_metadata(project, &binaries),
        binaries: packed,
        files: entries.describe()?,
    };
    let size = write(&output, &manifest, &entries)?;
    let summary = format!(
        "packed {} and {} into {} ({} bytes)",
        count(binaries.len(), "test target"),
        count(manifest.files.len() - binaries.len(), "file"),
        arguments.output.display(),
        group_thousands(size),
    );
    eprint_wrapped(&one_line(&summary));
    Ok(ExitCode::SUCCESS)
}

/// The files to pack, by the names of their entries.
#[derive(Debug, Default)]
struct Entries(BTreeMap<String, PathBuf>);

impl Entries {
    /// The first file of a name counts.
    fn add(&mut self, entry: String, file: PathBuf) {
        self.0.entry(entry).or_insert(file);
    }

    fn describe(&self) -> Result<Vec<PackedFile>, Error> {
        let describe = |(entry, path): (&String, &PathBuf)| {
            if interrupt::was_received() {
                return Err(Error::Interrupted);
            }
            let failed = |source| ArchiveError::Pack { path: path.clone(), source };
            let mut file = File::open(path).map_err(failed)?;
            let executable = is_executable(&file.metadata().map_err(failed)?);
            let mut hash = HashWriter::default();
            let size = io::copy(&mut file, &mut hash).map_err(failed)?;
            Ok(PackedFile { path: entry.clone(), size, sha256: hash.hex(), executable })
        };
        self.0.iter().map(describe).collect()
    }
}

/// The files of the packages and of their path dependencies, and the data and the settings of the workspace.
fn workspace_files(
    project: &Project,
    binaries: &[Binary],
    arguments: &Archive,
    flags: &Flags,
    output: &Path,
) -> Result<WorkspaceFiles, Error> {
    let root = project.root();
    let (mut packages, mut outside) = (BTreeSet::new(), BTreeSet::new());
    for binary in binaries {
        for folder in project.local_folders(&binary.package)? {
            if folder.starts_with(root) {
                packages.insert(folder)
            } else {
                outside.insert(folder)
            };
        }
    }
    let mut generated =
        vec![project.target_folder().to_owned(), project.build_folder().to_owned(), output.to_owned()];
    let mut baselines = WorkspaceFiles::default();
    let mut datasets = BTreeSet::new();
    for binary in binaries {
        let settings = settings_of(&binary.root, flags)?;
        let layout = settings.layout();
        generated.extend([layout.results(), layout.history(), layout.cache()].map(Path::to_owned));
        generated.extend([
            layout.journals(),
            layout.reports(),
            layout.datasets(),
            layout.workspaces(),
            layout.limits(),
        ]);
        // What else is stored, unless the folder is that of a package.
        if !packages.iter().any(|package| package.starts_with(layout.root())) {
            generated.push(layout.root().to_owned());
        }
        let entries = fs::read_dir(layout.baselines()).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.path().is_file()) {
            let file = Path::new(ARCHIVED_BASELINES).join(entry.file_name());
            baselines.files.entry(file).or_insert_with(|| entry.path());
        }
        datasets
            .extend(settings.datasets().filter_map(|name| settings.dataset_path(name)).map(Path::to_owned));
    }
    let without = Exclusions { generated, packages };
    let mut found = WorkspaceFiles::default();
    for package in &without.packages {
        found.add_folder(package, root, &without)?;
    }
    found.add_named(&ROOT_FILES, root);
    found.files.extend(baselines.files);
    if !outside.is_empty() {
        let folders: Vec<_> = outside.iter().map(|folder| format!("`{}`", folder.display())).collect();
        found.warnings.push(format!(
            "skipped the files of {}: path dependencies outside of the workspace; agents will not find these files",
            folders.join(", ")
        ));
    }
    for dataset in &datasets {
        let name = dataset.to_string_lossy();
        if dataset.is_absolute() {
            found.warnings.push(format!(
                "skipped the dataset `{name}`: its path is absolute; make it relative, or put the file there on each machine"
            ));
        } else if found.include(&name, root).is_err() {
            found.warnings.push(format!("skipped the dataset `{name}`: no such file in the workspace"));
        }
    }
    for pattern in &arguments.include {
        found.include(pattern, root)?;
    }
    Ok(found)
}

/// Adds a binary, its libraries and its programs.
fn pack_binary(
    binary: &Binary,
    source: &CargoBuild<'_>,
    flags: &Flags,
    standard_library: Option<&Path>,
    entries: &mut Entries,
) -> Result<PackedBinary, Error> {
    let target = source.project().target_folder();
    let in_target = |path: &Path| {
        path.strip_prefix(target).ok().map(|relative| format!("{TARGET}/{}", slashed(relative)))
    };
    let outside =
        |path: &Path| ArchiveError::OutsideTarget { path: path.to_owned(), target: target.to_owned() };
    let entry = in_target(&binary.path).ok_or_else(|| outside(&binary.path))?;
    entries.add(entry.clone(), binary.path.clone());
    let mut programs = BTreeMap::new();
    for (name, path) in &binary.parts.programs {
        let entry = in_target(path).ok_or_else(|| outside(path))?;
        entries.add(entry.clone(), path.clone());
        programs.insert(name.clone(), entry);
    }
    let mut libraries = Vec::new();
    let mut folders = binary.library_folders();
    folders.extend(standard_library.map(Path::to_owned));
    // The programs inherit the search path of the binary that starts them.
    let programs_of_package = binary.parts.programs.iter().map(|(_, path)| path);
    for started in std::iter::once(&binary.path).chain(programs_of_package) {
        for (name, path) in needed(started, &folders)? {
            let entry = in_target(&path).unwrap_or_else(|| format!("{TOOLCHAIN}/{name}"));
            libraries.extend(entry.rsplit_once('/').map(|(folder, _)| folder.to_owned()));
            entries.add(entry, path);
        }
    }
    libraries.sort();
    libraries.dedup();
    let sources = source.sources(binary, flags)?;
    let Inputs { files, variables: read_variables } = sources.inputs.unwrap_or_default();
    Ok(PackedBinary {
        package: packed_id(&binary.package),
        target: binary.target.clone(),
        path: entry,
        libraries,
        programs,
        variables: binary.parts.script.iter().cloned().collect(),
        sources: [sources.code, files].join("+"),
        read_variables,
    })
}

/// The folder of the standard library's shared libraries, which cargo names only if it started this program.
fn standard_library(build: &BuildOptions) -> Option<PathBuf> {
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(compiler);
    command.args(["--print", "target-libdir"]);
    command.args(build.target.iter().flat_map(|triple| ["--target", triple]));
    let output = command.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim_end().into())
}

/// The ID of a package in the archive. Cargo's own has the path of the workspace.
fn packed_id(package: &cargo_metadata::Package) -> String {
    format!("{}@{}", package.name, package.version)
}

/// The metadata of the packed packages, each with the test targets that are packed.
fn packed_metadata(project: &Project, binaries: &[Binary]) -> Metadata {
    let mut metadata = project.metadata().clone();
    let is_packed = |package: &cargo_metadata::Package, target: &str| {
        binaries.iter().any(|binary| binary.package.id == package.id && binary.target == target)
    };
    metadata.packages.retain(|package| binaries.iter().any(|binary| binary.package.id == package.id));
    for package in &mut metadata.packages {
        let all = std::mem::take(&mut package.targets);
        let kept = all
            .into_iter()
            .filter(|target| !target.kind.contains(&TargetKind::Test) || is_packed(package, &target.name));
        package.targets = kept.collect();
    }
    for package in &mut metadata.packages {
        package.id = PackageId { repr: packed_id(package) };
    }
    metadata.workspace_members = metadata.packages.iter().map(|package| package.id.clone()).collect();
    metadata.workspace_default_members = Default::default();
    metadata.resolve = None;
    metadata.workspace_metadata = serde_json::Value::Null;
    let (root, target) = (project.root().to_owned(), project.target_folder().to_owned());
    rebase(&mut metadata, &target, &Path::new(NOMINAL_ROOT).join(TARGET));
    rebase(&mut metadata, &root, Path::new(NOMINAL_ROOT));
    metadata
}

/// The target triple of a binary: that of the folder in the target folder, or of the host.
fn platform(binary: &Path, target: &Path, build: &BuildOptions) -> Result<String, ArchiveError> {
    let first = binary.strip_prefix(target).ok().and_then(|relative| relative.iter().next()?.to_str());
    let triple = first.filter(|name| cfg_expr::targets::get_builtin_target_by_triple(name).is_some());
    if let Some(triple) = triple.or(build.target.as_deref()) {
        return Ok(triple.to_owned());
    }
    let failed = |reason: String| ArchiveError::Platform(reason);
    let output = Command::new(cargo()).arg("-vV").output().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or_else(|| failed("`cargo -vV` does not name the host".to_owned()))
}

/// Writes the archive under another name, and renames it. Returns its size.
fn write(output: &Path, manifest: &Manifest, entries: &Entries) -> Result<u64, Error> {
    let failed = |source| ArchiveError::Write { path: output.to_owned(), source };
    let folder = output.parent().unwrap_or(output);
    fs::create_dir_all(folder).map_err(failed)?;
    let draft = draft_file(folder).map_err(failed)?;
    let mut tar = tar::Builder::new(FrameWriter::new(io::BufWriter::new(draft.as_file())));
    let json = serde_json::to_vec(manifest).map_err(Error::Json)?;
    let (bytes, limit) = (json.len() as u64, MAX_MANIFEST - ENTRY_OVERHEAD);
    if bytes > limit {
        return Err(ArchiveError::TooManyFiles { bytes, limit }.into());
    }
    append(&mut tar, MANIFEST, json.len() as u64, false, &*json).map_err(failed)?;
    for (file, path) in manifest.files.iter().zip(entries.0.values()) {
        if interrupt::was_received() {
            return Err(Error::Interrupted);
        }
        let opened = |source| ArchiveError::Pack { path: path.clone(), source };
        let content = File::open(path).map_err(opened)?;
        if content.metadata().map_err(opened)?.len() != file.size {
            return Err(ArchiveError::Changed(path.clone()).into());
        }
        let mut content = content.take(file.size);
        append(&mut tar, &file.path, file.size, file.executable, &mut content).map_err(failed)?;
        // It became shorter while it was read.
        if content.limit() > 0 {
            return Err(ArchiveError::Changed(path.clone()).into());
        }
    }
    let frames = tar.into_inner().map_err(failed)?;
    frames.finish().and_then(|writer| writer.into_inner()?.sync_all()).map_err(failed)?;
    let size = draft.as_file().metadata().map_err(failed)?.len();
    draft.persist(output).map_err(|error| failed(error.error))?;
    Ok(size)
}

/// Adds an entry that is the same on every machine and at any time.
fn append(
    tar: &mut tar::Builder<impl Write>,
    entry: &str,
    size: u64,
    executable: bool,
    content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(size);
    header.set_mode(if executable { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_uid(0);
    header.set_gid(0);
    header.set_entry_type(tar::EntryType::Regular);
    tar.append_data(&mut header, entry, content)
}

/// A relative path with slashes.
fn slashed(path: &Path) -> String {
    path.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    false
}

/// A file beside the archive. Temporary files are private; this one has the permissions of any file that the user creates.
fn draft_file(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".cobalt-archive-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}
