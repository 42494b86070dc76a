//! The name of a new package, out of the name of its folder.

use std::path::Path;

/// Names that a crate cannot have, or under which a test cannot refer to it.
const RESERVED: [&str; 58] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "cobalt",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
    "_",
];

/// A name that cargo accepts: small letters, digits, `-` and `_`, with a letter in front.
pub(super) fn package_name(folder: &Path) -> String {
    let folder = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let words = folder.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
    match name.chars().next() {
        None => "agent".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("agent-{name}"),
        Some(_) if RESERVED.contains(&crate_name(&name).as_str()) => format!("{name}-agent"),
        Some(_) => name,
    }
}

/// The name by which code refers to the library of a package.
pub(super) fn crate_name(package: &str) -> String {
    package.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_name_to_the_package_as_far_as_cargo_allows() {
        let names = [
            ("/w/desk", "desk"),
            ("/w/My Help.Desk (2)", "my-help-desk-2"),
            ("/w/snake_case", "snake_case"),
            ("/w/2048", "agent-2048"),
            ("/w/.hidden-", "hidden"),
            ("/w/質問", "agent"),
            ("/w/Ärger", "rger"),
            ("/w/async", "async-agent"),
            ("/w/Cobalt", "cobalt-agent"),
            ("/w/proc-macro", "proc-macro-agent"),
            ("/", "agent"),
        ];
        for (folder, name) in names {
            assert_eq!(package_name(Path::new(folder)), name, "{folder}");
        }
    }
}
