//! The test targets that were asked for on the command line.

use std::path::{Path, PathBuf};
use std::{io, mem};

use cobalt::suggest;

use super::discover::Candidate;
use crate::cli::{Build, Selection};
use crate::error::Error;

/// Which targets were asked for; without any, all are meant.
#[derive(Debug)]
pub(super) struct Wanted {
    /// Names, or else folders.
    words: Vec<String>,
    names: Vec<String>,
    places: Vec<Place>,
}

/// A file, or a folder of such files.
#[derive(Debug)]
struct Place {
    typed: PathBuf,
    found: io::Result<PathBuf>,
}

impl Wanted {
    pub(super) fn new(selection: &Selection, build: &Build) -> Self {
        let looks_like_a_path = |target: &String| target.contains(['/', '\\']) || target.ends_with(".rs");
        let (paths, words): (Vec<_>, Vec<_>) = selection.targets.iter().cloned().partition(looks_like_a_path);
        let paths = paths.into_iter().map(PathBuf::from).chain(selection.file.iter().cloned());
        Self { words, names: build.test.clone(), places: paths.map(Place::new).collect() }
    }

    /// Whether nothing was asked for.
    pub(super) fn is_all(&self) -> bool {
        self.words.is_empty() && self.names.is_empty() && self.places.is_empty()
    }

    /// Those of the candidates that are wanted; each name and each path must bring something in.
    pub(super) fn choose(mut self, all: Vec<Candidate>) -> Result<Vec<Candidate>, Error> {
        self.tell_names_from_folders(&all);
        for name in &self.names {
            if !all.iter().any(|candidate| candidate.target == *name) {
                return Err(Error::NothingMatched(unknown_name(name, &all)));
            }
        }
        for place in &self.places {
            if !all.iter().any(|candidate| place.holds(candidate)) {
                return Err(Error::NothingMatched(place.unknown(&all)));
            }
        }
        let includes = |candidate: &Candidate| {
            self.is_all()
                || self.names.contains(&candidate.target)
                || self.places.iter().any(|place| place.holds(candidate))
        };
        let mut chosen: Vec<_> = all.into_iter().filter(includes).collect();
        for candidate in &mut chosen {
            if self.asks_for(candidate) {
                // Cargo says what it lacks.
                candidate.missing_features.clear();
                candidate.is_named = true;
            }
        }
        Ok(chosen)
    }

    /// A word is a folder only where no target has it for a name.
    fn tell_names_from_folders(&mut self, all: &[Candidate]) {
        let is_name = |word: &String| {
            all.iter().any(|candidate| candidate.target == *word) || !Path::new(word).is_dir()
        };
        let (names, folders): (Vec<_>, Vec<_>) = mem::take(&mut self.words).into_iter().partition(is_name);
        self.names.extend(names);
        self.places.extend(folders.into_iter().map(PathBuf::from).map(Place::new));
    }

    /// Whether this very target was asked for, and not merely a folder that it is in.
    fn asks_for(&self, candidate: &Candidate) -> bool {
        let is_its_file = |place: &Place| place.typed.is_file() && place.holds(candidate);
        self.names.contains(&candidate.target) || self.places.iter().any(is_its_file)
    }
}

impl Place {
    fn new(typed: PathBuf) -> Self {
        Self { found: typed.canonicalize(), typed }
    }

    /// Whether a target's file is this file, or lies in this folder.
    fn holds(&self, candidate: &Candidate) -> bool {
        let Ok(place) = &self.found else { return false };
        candidate.file.canonicalize().is_ok_and(|file| file.starts_with(place))
    }

    fn unknown(&self, all: &[Candidate]) -> String {
        let typed = self.typed.display();
        let problem = match &self.found {
            Ok(_) => format!("`{typed}` is no test target with `harness = false`, and holds none"),
            Err(error) => format!("failed to find `{typed}`: {error}"),
        };
        let here = std::env::current_dir().unwrap_or_default();
        let base = if self.typed.is_absolute() { Path::new("") } else { &*here };
        let file =
            |candidate: &Candidate| Some(candidate.file.strip_prefix(base).ok()?.display().to_string());
        let files: Vec<_> = all.iter().filter_map(file).collect();
        let meant = suggest::closest(&typed.to_string(), files.iter().map(String::as_str));
        format!("{problem}; {}", instead(meant, all))
    }
}

fn unknown_name(name: &str, all: &[Candidate]) -> String {
    let meant = suggest::closest(name, all.iter().map(|candidate| &*candidate.target));
    format!("no test target with `harness = false` is named `{name}`; {}", instead(meant, all))
}

/// What was probably meant, and what there is.
fn instead(meant: Option<&str>, all: &[Candidate]) -> String {
    let question = meant.map(|meant| format!("did you mean `{meant}`? ")).unwrap_or_default();
    format!("{question}there are {}", names(all))
}

/// The targets as `package/target`.
pub(super) fn names(candidates: &[Candidate]) -> String {
    let names: Vec<_> = candidates.iter().map(ToString::to_string).collect();
    suggest::list(names.iter().map(String::as_str))
}
