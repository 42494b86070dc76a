//! `crate = path`: the path of the library in generated code.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens as _, quote};
use syn::{Expr, Path};

use crate::errors::Errors;
use crate::function::generated_span;
use crate::settings::Settings;

/// The library's path: `::cobalt`, unless the attribute sets another.
#[derive(Clone)]
pub struct Library(TokenStream);

impl Library {
    /// Parses the setting `crate`.
    pub fn parse(settings: &Settings, errors: &mut Errors) -> Self {
        match settings.get("crate") {
            None => Self::default(),
            Some((_, Expr::Path(path)))
                if path.attrs.is_empty() && path.qself.is_none() && is_plain(&path.path) =>
            {
                Self(path.path.to_token_stream())
            }
            Some((_, other)) => {
                let message = "`crate` must be the path of the library in this package: write `crate = my_name`, or \
                               `crate = agents::cobalt` for a re-export in a module";
                errors.at(other, message);
                Self::default()
            }
        }
    }

    /// The path with the given span: errors then point at the user's code.
    pub fn at(&self, span: Span) -> TokenStream {
        let placed = |mut token: TokenTree| {
            token.set_span(generated_span(span));
            token
        };
        self.0.clone().into_iter().map(placed).collect()
    }

    /// Whether the user's name for the library is this one: `cobalt`, or the last segment of the path.
    pub fn is_called(&self, name: &Ident) -> bool {
        let last = self.0.clone().into_iter().last();
        name == "cobalt" || matches!(last, Some(TokenTree::Ident(last)) if last == *name)
    }
}

impl Default for Library {
    fn default() -> Self {
        Self(quote!(::cobalt))
    }
}

fn is_plain(path: &Path) -> bool {
    path.segments.iter().all(|segment| segment.arguments.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(attribute: TokenStream) -> (String, Vec<String>) {
        let mut errors = Errors::default();
        let settings = Settings::parse(attribute, &["crate"], &mut errors);
        let library = Library::parse(&settings, &mut errors);
        (library.at(Span::call_site()).to_string().replace(' ', ""), errors.messages())
    }

    #[test]
    fn the_library_is_found_by_its_name_or_by_the_path_that_is_given() {
        assert_eq!(library(quote!()), ("::cobalt".to_owned(), vec![]));
        assert_eq!(library(quote!(crate = evals)), ("evals".to_owned(), vec![]));
        assert_eq!(library(quote!(crate = ::evals)), ("::evals".to_owned(), vec![]));
        assert_eq!(
            library(quote!(crate = crate::agents::cobalt)),
            ("crate::agents::cobalt".to_owned(), vec![])
        );
        for wrong in [quote!(crate = "evals"), quote!(crate = evals::<u8>), quote!(crate = evals())] {
            let (path, messages) = library(wrong);
            assert_eq!((path.as_str(), messages.len()), ("::cobalt", 1));
            assert!(messages[0].contains("write `crate = my_name`"), "{messages:?}");
        }
    }
}
