//! Finds experiments in the source files of a target, without building it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::{fs, mem};

use cargo_metadata::Package;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Lit;

/// The package of the library that an experiment's package depends on.
pub const LIBRARY: &str = "cobalt-evals";
/// The library's crate: its name in code, unless a dependency renames it.
pub const LIBRARY_CRATE: &str = "cobalt";

/// What the source files of a target declare.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct DeclaredExperiments {
    /// The files and lines of experiments.
    pub places: Vec<SourcePlace>,
    /// Whether it calls `cobalt::main()`.
    pub calls_main: bool,
    /// The files that were read, without symlinks.
    pub files: BTreeSet<PathBuf>,
    /// The macros that it calls.
    macros: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    pub file: PathBuf,
    pub line: usize,
    /// Whether only tests have it.
    pub is_test_only: bool,
}

impl DeclaredExperiments {
    /// Reads the root file of a target, and the files of its modules. Of `known` files, only macros count. Files that cannot be parsed are
    /// left to the compiler.
    pub fn read(package: &Package, root: &Path, known: &BTreeSet<PathBuf>) -> Self {
        let mut scan = Scan {
            libraries: library_names(package),
            known,
            found: Self::default(),
            files: BTreeSet::new(),
            macros: Vec::new(),
        };
        let folder = root.parent().unwrap_or(root).to_owned();
        scan.file(root, &Module { children: folder, is_test_only: false });
        // Otherwise the thread would keep every parsed text in its source map.
        proc_macro2::extra::invalidate_current_thread_spans();
        let Scan { found, files, mut macros, .. } = scan;
        let mut found = Self { files, ..found };
        // A macro that is not called declares nothing.
        while let Some(place) = macros.iter().position(|(name, _)| found.macros.contains(name)) {
            let (_, body) = macros.remove(place);
            found.places.extend(body.places);
            found.calls_main |= body.calls_main;
            found.macros.extend(body.macros);
        }
        found
    }

    /// The first experiment, or the first that only tests have.
    pub fn first(&self, is_test_only: bool) -> Option<&SourcePlace> {
        self.places.iter().find(|place| place.is_test_only || !is_test_only)
    }
}

/// The names of the library in the code of a package.
fn library_names(package: &Package) -> Vec<String> {
    let dependencies = package.dependencies.iter().filter(|dependency| dependency.name == LIBRARY);
    dependencies
        .map(|dependency| dependency.rename.as_deref().unwrap_or(LIBRARY_CRATE).replace('-', "_"))
        .collect()
}

/// A module, whose items are in a file or in braces.
struct Module {
    /// The folder of its child modules' files.
    children: PathBuf,
    is_test_only: bool,
}

struct Scan<'a> {
    libraries: Vec<String>,
    /// Files whose own experiments do not count.
    known: &'a BTreeSet<PathBuf>,
    found: DeclaredExperiments,
    /// Files that were read: a file can include itself.
    files: BTreeSet<PathBuf>,
    /// What the macros of `macro_rules!` declare where they are called, by name.
    macros: Vec<(String, DeclaredExperiments)>,
}

impl Scan<'_> {
    fn file(&mut self, file: &Path, module: &Module) {
        let Ok(place) = file.canonicalize() else { return };
        let is_known = self.known.contains(&place);
        let text = self.files.insert(place).then(|| fs::read_to_string(file).ok()).flatten();
        let Some(Ok(tokens)) = text.map(|text| text.trim_start_matches('\u{feff}').parse::<TokenStream>())
        else {
            return;
        };
        if is_known {
            // Its macros may be called in other files.
            let found = mem::take(&mut self.found);
            self.tokens(file, module, tokens);
            self.found = found;
        } else {
            self.tokens(file, module, tokens);
        }
    }

    /// Scans items, statements, or the input of a macro.
    fn tokens(&mut self, file: &Path, module: &Module, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        // The attributes of the item that is being read.
        let (mut is_test, mut path) = (false, None);
        let mut rest = &tokens[..];
        while let [first, after @ ..] = rest {
            rest = after;
            match (first, after) {
                (TokenTree::Punct(hash), [TokenTree::Group(attribute), ..])
                    if hash.as_char() == '#' && attribute.delimiter() == Delimiter::Bracket =>
                {
                    let words: Vec<_> = attribute.stream().into_iter().collect();
                    is_test |= is_cfg_test(&words);
                    path = path.or_else(|| path_value(&words));
                    let is_test_only = module.is_test_only || is_test;
                    if is_experiment(&words) {
                        let line = attribute.span_open().start().line;
                        self.found.places.push(SourcePlace { file: file.to_owned(), line, is_test_only });
                    }
                    rest = &after[1..];
                    continue;
                }
                (TokenTree::Ident(word), [TokenTree::Ident(name), TokenTree::Punct(end), ..])
                    if word == "mod" && end.as_char() == ';' =>
                {
                    let name = name.to_string().trim_start_matches("r#").to_owned();
                    let is_test_only = module.is_test_only || is_test;
                    self.module_file(file, &module.children, &name, path.take(), is_test_only);
                }
                (TokenTree::Ident(word), [TokenTree::Ident(name), TokenTree::Group(body), ..])
                    if word == "mod" =>
                {
                    let children = module.children.join(name.to_string().trim_start_matches("r#"));
                    let is_test_only = module.is_test_only || is_test;
                    self.tokens(file, &Module { children, is_test_only }, body.stream());
                    rest = &after[2..];
                    (is_test, path) = (false, None);
                }
                (TokenTree::Ident(word), [TokenTree::Punct(bang), TokenTree::Group(argument), ..])
                    if word == "include" && bang.as_char() == '!' =>
                {
                    if let (Some(included), Some(folder)) = (text_of(argument), file.parent()) {
                        let is_test_only = module.is_test_only || is_test;
                        let children = module.children.clone();
                        self.file(&folder.join(included), &Module { children, is_test_only });
                    }
                }
                (
                    TokenTree::Ident(word),
                    [TokenTree::Punct(_), TokenTree::Ident(name), TokenTree::Group(body), ..],
                ) if word == "macro_rules" => {
                    let is_test_only = module.is_test_only || is_test;
                    let inner = Module { children: module.children.clone(), is_test_only };
                    let outside = mem::take(&mut self.found);
                    self.tokens(file, &inner, body.stream());
                    let declared = mem::replace(&mut self.found, outside);
                    self.macros.push((name.to_string(), declared));
                    rest = &after[3..];
                    (is_test, path) = (false, None);
                }
                (TokenTree::Ident(name), [TokenTree::Punct(bang), TokenTree::Group(_), ..])
                    if bang.as_char() == '!' =>
                {
                    self.found.macros.insert(name.to_string());
                }
                (TokenTree::Ident(library), after) if self.libraries.iter().any(|name| library == name) => {
                    self.found.calls_main |= begins_with(after, "::main");
                }
                (TokenTree::Group(group), _) => {
                    let is_test_only = module.is_test_only || is_test;
                    let inner = Module { children: module.children.clone(), is_test_only };
                    self.tokens(file, &inner, group.stream());
                }
                _ => {}
            }
            // An item ends.
            let is_end = match first {
                TokenTree::Punct(end) => end.as_char() == ';',
                TokenTree::Group(body) => body.delimiter() == Delimiter::Brace,
                _ => false,
            };
            if is_end {
                (is_test, path) = (false, None);
            }
        }
    }

    /// Scans the file of a module that is declared in another file.
    fn module_file(
        &mut self,
        declared_in: &Path,
        folder: &Path,
        name: &str,
        path: Option<String>,
        is_test_only: bool,
    ) {
        let beside = declared_in.parent().unwrap_or(declared_in);
        let places = match path {
            Some(path) => vec![beside.join(path)],
            None => vec![folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")],
        };
        let has_own_folder = places.len() == 1;
        let Some(file) = places.into_iter().find(|file| file.is_file()) else { return };
        let children = match file.parent() {
            Some(parent) if has_own_folder => parent.to_owned(),
            _ => folder.join(name),
        };
        self.file(&file, &Module { children, is_test_only });
    }
}

/// Whether an attribute is `#[cobalt::experiment(…)]`, by any path.
fn is_experiment(attribute: &[TokenTree]) -> bool {
    match attribute {
        [before @ .., TokenTree::Ident(name), TokenTree::Group(arguments)] => {
            let is_path = before.iter().all(|token| match token {
                TokenTree::Ident(_) => true,
                TokenTree::Punct(colon) => colon.as_char() == ':',
                _ => false,
            });
            is_path && name == "experiment" && arguments.delimiter() == Delimiter::Parenthesis
        }
        _ => false,
    }
}

/// Whether an attribute is `#[cfg(test)]`, or another `cfg` that requires it.
fn is_cfg_test(attribute: &[TokenTree]) -> bool {
    fn requires_test(condition: &[TokenTree]) -> bool {
        match condition {
            [TokenTree::Ident(name)] => name == "test",
            [TokenTree::Ident(all), TokenTree::Group(group)] if all == "all" => {
                let tokens: Vec<_> = group.stream().into_iter().collect();
                let is_comma =
                    |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
                tokens.split(is_comma).any(requires_test)
            }
            _ => false,
        }
    }
    match attribute {
        [TokenTree::Ident(cfg), TokenTree::Group(condition)] if cfg == "cfg" => {
            requires_test(&condition.stream().into_iter().collect::<Vec<_>>())
        }
        _ => false,
    }
}

/// The value of an attribute `path = "…"`.
fn path_value(attribute: &[TokenTree]) -> Option<String> {
    match attribute {
        [TokenTree::Ident(path), TokenTree::Punct(_), value] if path == "path" => text(value),
        _ => None,
    }
}

/// The string literal that is the only argument of a macro.
fn text_of(argument: &Group) -> Option<String> {
    text(&argument.stream().into_iter().next()?)
}

fn text(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    match Lit::new(literal.clone()) {
        Lit::Str(text) => Some(text.value()),
        _ => None,
    }
}

/// Whether tokens begin with this text.
fn begins_with(tokens: &[TokenTree], text: &str) -> bool {
    tokens.iter().take(3).map(ToString::to_string).collect::<String>() == text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The places of experiments in a library with these files, as `file:line`, with `*` if only tests have them.
    fn places(files: &[(&str, &str)]) -> (Vec<String>, bool) {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let package = serde_json::from_value(serde_json::json!({
            "name": "desk", "version": "1.2.3", "id": "desk", "targets": [], "features": {}, "edition": "2024",
            "manifest_path": "/w/Cargo.toml",
            "dependencies": [{
                "name": "cobalt-evals", "rename": "eval-lib", "path": "/w/cobalt", "req": "*", "kind": "dev", "optional": false,
                "uses_default_features": false, "features": [], "target": null, "registry": null, "source": null,
            }],
        }));
        let root = folder.path().join(files[0].0);
        let found = DeclaredExperiments::read(&package.unwrap(), &root, &BTreeSet::new());
        let place = |SourcePlace { file, line, is_test_only }: &SourcePlace| {
            let file = file.strip_prefix(folder.path()).unwrap().display();
            format!("{file}:{line}{}", if *is_test_only { "*" } else { "" })
        };
        (found.places.iter().map(place).collect(), found.calls_main)
    }

    #[test]
    fn the_library_has_its_crates_name_unless_renamed() {
        for (package, rename, expected) in [
            ("cobalt-evals", Some("cobalt"), &["cobalt"][..]),
            ("cobalt-evals", Some("eval-lib"), &["eval_lib"]),
            ("cobalt-evals", None, &["cobalt"]),
            ("cobalt", None, &[]),
        ] {
            let package = serde_json::from_value(serde_json::json!({
                "name": "desk", "version": "1.2.3", "id": "desk", "targets": [], "features": {},
                "manifest_path": "/w/Cargo.toml",
                "dependencies": [{
                    "name": package, "rename": rename, "req": "*", "kind": "dev", "optional": false,
                    "uses_default_features": true, "features": [],
                }],
            }));
            assert_eq!(library_names(&package.unwrap()), expected);
        }
    }

    #[test]
    fn experiments_are_found_in_modules() {
        let one = "#[eval_lib::experiment(dataset = \"a\")]\nfn one() {}\n";
        let files = [
            (
                "tests/evals.rs",
                "mod deep;\n#[path = \"other.rs\"]\nmod named;\nmod inner {\n    mod far;\n}\ninclude!(\"part.rs\");\n",
            ),
            ("tests/deep/mod.rs", "mod deeper;\n"),
            ("tests/deep/deeper.rs", one),
            ("tests/other.rs", one),
            ("tests/inner/far.rs", one),
            ("tests/part.rs", one),
        ];
        let expected =
            ["tests/deep/deeper.rs:1", "tests/other.rs:1", "tests/inner/far.rs:1", "tests/part.rs:1"];
        assert_eq!(places(&files), (expected.map(str::to_owned).into(), false));
    }

    #[test]
    fn experiments_are_found_in_any_form() {
        for (text, expected) in [
            ("use eval_lib::experiment;\n#[experiment(dataset = \"a\")]\nfn one() {}", "a.rs:2"),
            ("#[::eval_lib::experiment(dataset = \"a\")]\nfn one() {}", "a.rs:1"),
            ("mod evals {\n    #[evals::cobalt::experiment(name = \"b\")]\n    fn one() {}\n}", "a.rs:2"),
            (
                "macro_rules! one {\n    ($n:ident) => {\n        #[eval_lib::experiment(dataset = \"a\")]\n        fn $n() {}\n    };\n}\nself::one!(a);",
                "a.rs:3",
            ),
            (
                "#[cfg(test)]\nmod tests {\n    #[eval_lib::experiment(dataset = \"a\")]\n    fn one() {}\n}",
                "a.rs:3*",
            ),
            ("#[cfg(all(test, unix))]\n#[eval_lib::experiment(dataset = \"a\")]\nfn one() {}", "a.rs:2*"),
            (
                "#[cfg(test)]\nuse eval_lib::Item;\n#[eval_lib::experiment(dataset = \"a\")]\nfn one() {}",
                "a.rs:3",
            ),
        ] {
            assert_eq!(places(&[("a.rs", text)]).0, [expected], "{text}");
        }
        for text in [
            "// #[eval_lib::experiment(a)]\n",
            "const A: &str = \"#[eval_lib::experiment(a)]\";",
            "#[derive(Debug)]\nstruct A;",
            "macro_rules! one { () => { #[eval_lib::experiment(a)] fn one() {} } }\nuse one;",
            "macro_rules! one { () => { #[eval_lib::experiment(a)] fn one() {} } }\nmacro_rules! two { () => { one!(); } }",
            "macro_rules! run { () => { fn main() { eval_lib::main(); } } }",
            "fn (",
        ] {
            assert_eq!(places(&[("a.rs", text)]), (Vec::new(), false), "{text}");
        }
        assert!(places(&[("a.rs", "fn main() {\n    eval_lib::main();\n}")]).1);
        assert!(places(&[("a.rs", "use eval_lib::main;")]).1);
        assert!(
            places(&[("a.rs", "macro_rules! run { () => { eval_lib::main(); } } fn main() { run!() }")]).1
        );
        assert!(!places(&[("a.rs", "fn main() {\n    other::main();\n}")]).1);
    }
}
