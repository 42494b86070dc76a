//! The string literals of Rust sources: an agent's variables and files are usually named by one.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Lit;

/// The longest text that can name a file or a variable, in bytes.
const LONGEST: usize = 300;
/// The largest file that is read, in bytes: larger files are not written by hand.
const LARGEST: u64 = 4 << 20;
/// Settings and methods whose value names data that is compared for each item.
const PER_ITEM: [&str; 4] = ["dataset", "record", "recordings", "workspace"];
/// Types whose functions take the path of such data.
const PER_ITEM_TYPES: [&str; 3] = ["Dataset", "Recordings", "Workspace"];

/// The string literals of some sources.
#[derive(Debug, Default)]
pub struct SourceTexts {
    /// Those that do not name data of items.
    pub texts: BTreeSet<String>,
    /// Paths and patterns of data that is compared for each item: datasets, recordings, fixtures.
    pub per_item: BTreeSet<String>,
}

impl SourceTexts {
    /// Adds the literals of a file. Files that cannot be parsed are left to the compiler.
    pub fn add(&mut self, file: &Path) {
        let is_small = fs::metadata(file).is_ok_and(|known| known.len() <= LARGEST);
        let Some(text) = is_small.then(|| fs::read_to_string(file).ok()).flatten() else { return };
        self.add_source(&text);
    }

    fn add_source(&mut self, text: &str) {
        if let Ok(tokens) = text.trim_start_matches('\u{feff}').parse::<TokenStream>() {
            let mut scan = Scan::default();
            scan.tokens(tokens);
            for name in scan.names {
                scan.per_item.extend(scan.constants.get(&name).cloned());
            }
            self.texts.extend(scan.texts.into_iter().filter(|text| !scan.per_item.contains(text)));
            self.per_item.extend(scan.per_item);
        }
        // Otherwise the thread would keep every parsed text in its source map.
        proc_macro2::extra::invalidate_current_thread_spans();
    }
}

#[derive(Default)]
struct Scan {
    texts: BTreeSet<String>,
    per_item: BTreeSet<String>,
    /// The values of constants.
    constants: BTreeMap<String, String>,
    /// The constants that name data of items.
    names: Vec<String>,
}

impl Scan {
    fn tokens(&mut self, tokens: TokenStream) {
        let tokens: Vec<_> = tokens.into_iter().collect();
        for (at, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Literal(_) => self.texts.extend(text(token)),
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(name) => self.name(&name.to_string(), &tokens[at + 1..]),
                TokenTree::Punct(_) => {}
            }
        }
    }

    /// Looks at what follows a name.
    fn name(&mut self, name: &str, after: &[TokenTree]) {
        let is = |at: usize, wanted: char| matches!(after.get(at), Some(TokenTree::Punct(it)) if it.as_char() == wanted);
        if name == "const" || name == "static" {
            let value = after
                .iter()
                .take_while(|token| !matches!(token, TokenTree::Punct(it) if it.as_char() == ';'));
            if let (Some(TokenTree::Ident(constant)), Some(text)) =
                (after.first(), value.filter_map(text).next())
            {
                self.constants.insert(constant.to_string(), text);
            }
        } else if PER_ITEM.contains(&name) && is(0, '=') && !is(1, '=') {
            self.value(after.get(1));
        } else if PER_ITEM.contains(&name) || PER_ITEM_TYPES.contains(&name) {
            // `.workspace("…")`, or `Dataset::from_jsonl("…")`.
            let arguments = if is(0, ':') && is(1, ':') { after.get(3) } else { after.first() };
            if let Some(TokenTree::Group(group)) = arguments
                && group.delimiter() == Delimiter::Parenthesis
                && (PER_ITEM_TYPES.contains(&name) || takes_one_argument(group))
            {
                group.stream().into_iter().for_each(|token| self.value(Some(&token)));
            }
        }
    }

    fn value(&mut self, token: Option<&TokenTree>) {
        match token {
            Some(TokenTree::Ident(constant)) => self.names.push(constant.to_string()),
            Some(token) => self.per_item.extend(text(token)),
            None => {}
        }
    }
}

/// `Span::record("field", value)` of tracing has two arguments.
fn takes_one_argument(group: &Group) -> bool {
    !group.stream().into_iter().any(|token| matches!(token, TokenTree::Punct(it) if it.as_char() == ','))
}

/// The value of a short string literal.
fn text(token: &TokenTree) -> Option<String> {
    let TokenTree::Literal(literal) = token else { return None };
    match Lit::new(literal.clone()) {
        Lit::Str(text) => Some(text.value())
            .filter(|text| !text.is_empty() && text.len() <= LONGEST && !text.contains(['\n', '\0'])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_data_is_told_apart() {
        let source = "const DATA: &str = \"data/a.jsonl\";\nconst MODEL: &str = \"AGENT_MODEL\";\n\
            #[cobalt::experiment(dataset = DATA, record = \"tapes\", workspace = Workspace::folder(\"fixtures/{{id}}\"))]\n\
            fn agent() { std::env::var(MODEL); std::fs::read(\"prompts/system.txt\"); Dataset::from_jsonl(\"data/b.jsonl\"); }\n";
        let mut texts = SourceTexts::default();
        texts.add_source(source);
        let per_item = ["data/a.jsonl", "data/b.jsonl", "fixtures/{{id}}", "tapes"];
        assert_eq!(texts.per_item.iter().collect::<Vec<_>>(), per_item.iter().collect::<Vec<_>>());
        let others = ["AGENT_MODEL", "prompts/system.txt"];
        assert_eq!(texts.texts.iter().collect::<Vec<_>>(), others.iter().collect::<Vec<_>>());
    }
}
