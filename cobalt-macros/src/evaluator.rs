//! `#[cobalt::evaluator]`: registers a function as an evaluator without changing the function.

use cobalt_thresholds as rules;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, ItemFn, Lit, PatType, Type};

use crate::errors::Errors;
use crate::function::{self, Role, generated_span};
use crate::library::Library;
use crate::literal::{Number, is_literal};
use crate::settings::Settings;
use crate::source_hash::source_hash;

const KEYS: [&str; 4] = ["name", "pass_mark", "live", "crate"];

/// The attribute and its function, after the checks that their syntax allows.
struct Evaluator {
    library: Library,
    function: ItemFn,
    name: TokenStream,
    pass_mark: Option<TokenStream>,
    live: Option<TokenStream>,
    arguments: Vec<Argument>,
    /// The span of the return type.
    output: Span,
}

/// The argument for a parameter.
struct Argument {
    source: ArgumentSource,
    /// The parameter's type, without `&`.
    ty: Type,
    by_reference: bool,
}

#[derive(PartialEq)]
enum ArgumentSource {
    Context,
    Output,
    Metadata,
    Trace,
    Item,
}

/// Expands to the function, a type of the same name and the registration, or to the errors.
pub fn expand(attribute: TokenStream, function: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let hash = source_hash(attribute.clone(), function.clone());
    let evaluator = Evaluator::parse(attribute, function.clone(), &mut errors);
    if let Some(expansion) = errors.into_expansion(&function) {
        return expansion;
    }
    let registration = evaluator.map(|evaluator| evaluator.registration(hash));
    quote!(#function #registration)
}

impl Evaluator {
    /// `None` only if there are errors.
    fn parse(attribute: TokenStream, function: TokenStream, errors: &mut Errors) -> Option<Self> {
        let function = function::parse(function, Role::Evaluator, errors);
        let settings = Settings::parse(attribute, &KEYS, errors);
        let library = Library::parse(&settings, errors);
        let name = settings.name("an evaluator", errors);
        let pass_mark = settings.get("pass_mark").map(|(_, value)| check_pass_mark(value, errors));
        let live = settings.get("live").map(|(_, value)| check_live(value, errors));
        let function = function?;
        let name = name.unwrap_or_else(|| function::name(&function).to_token_stream());
        let advice = "return a `bool`, a number from 0 to 1, or a `Score`";
        let output = function::return_span(&function, advice, errors);
        let arguments = Argument::of_all(&function, &library, errors);
        Some(Self { library, function, name, pass_mark, live, arguments, output })
    }

    fn registration(&self, hash: u64) -> TokenStream {
        let (ty, definition) = function::listed_type(&self.function);
        let name = &self.name;
        let make = self.make(hash);
        let line = quote_spanned!(Span::call_site()=> ::core::line!());
        let library = self.library.at(Span::call_site());
        quote! {
            #definition

            #[automatically_derived]
            impl #library::private::ListedEvaluator for #ty {
                const NAME: &'static str = #name;

                fn evaluator() -> #library::FnEvaluator {
                    #make
                }
            }

            const _: () = {
                #library::private::inventory::submit! {
                    #library::private::EvaluatorDefinition {
                        name: <#ty as #library::private::ListedEvaluator>::NAME,
                        module: ::core::module_path!(),
                        file: ::core::file!(),
                        line: #line,
                        make: #library::private::listed::<#ty>,
                    }
                }
            };
        }
    }

    /// An expression of type `cobalt::FnEvaluator`.
    fn make(&self, hash: u64) -> TokenStream {
        let function = &self.function.sig.ident;
        let span = generated_span(function.span());
        let context = Ident::new("__cobalt_context", span);
        let output = generated_span(self.output);
        let result = Ident::new("__cobalt_result", output);
        let is_async = function::is_async(&self.function);
        let arguments = self.arguments.iter().map(|argument| argument.expand(is_async, &self.library));
        let awaited = is_async.then(|| quote_spanned!(span=> .await));
        let body = quote_spanned!(span=> let #result = #function(#(#arguments),*)#awaited;);
        let result = function::with_causes(&result, &self.library);
        let library = self.library.at(output);
        let converted = quote_spanned!(output=> #library::IntoScore::into_score(#result)?);
        let library = self.library.at(span);
        let name = quote_spanned!(span=> <Self as #library::private::ListedEvaluator>::NAME);
        let settings = [&self.pass_mark, &self.live];
        let settings = quote!(#(#settings)*);
        if is_async {
            quote_spanned! {span=>
                #library::private::async_evaluator(#name, #hash, |#context: #library::EvalContext| async move {
                    #body
                    ::core::result::Result::Ok(#converted)
                })#settings
            }
        } else {
            quote_spanned! {span=>
                #library::private::plain_evaluator(#name, #hash, |#context: &#library::EvalContext| {
                    #body
                    ::core::result::Result::Ok(#converted)
                })#settings
            }
        }
    }
}

impl Argument {
    fn of_all(function: &ItemFn, library: &Library, errors: &mut Errors) -> Vec<Self> {
        let mut arguments: Vec<Self> = Vec::new();
        for parameter in function::parameters(function) {
            let argument = Self::of(parameter, library);
            argument.check(parameter, &arguments, errors);
            arguments.push(argument);
        }
        arguments
    }

    fn of(parameter: &PatType, library: &Library) -> Self {
        let (ty, by_reference) = match &*parameter.ty {
            Type::Reference(reference) => (&*reference.elem, true),
            ty => (ty, false),
        };
        let source = match function::parameter_name(parameter).as_deref() {
            _ if function::is_named(ty, "EvalContext", library) => ArgumentSource::Context,
            Some("output") => ArgumentSource::Output,
            Some("metadata") => ArgumentSource::Metadata,
            // An item may have a parameter of this name, but hardly a type of that name too.
            Some("trace") if function::ends_with(ty, "Trace") => ArgumentSource::Trace,
            _ => ArgumentSource::Item,
        };
        Self { source, ty: ty.clone(), by_reference }
    }

    fn is_str(&self) -> bool {
        matches!(&self.ty, Type::Path(path) if path.path.is_ident("str"))
    }

    fn check(&self, parameter: &PatType, others: &[Self], errors: &mut Errors) {
        if self.source != ArgumentSource::Item {
            return;
        }
        let pattern = &parameter.pat;
        let names_output = function::parameter_name(parameter)
            .is_some_and(|name| rules::closest(&name, &["output", "metadata"]).is_some());
        if others.iter().any(|other| other.source == ArgumentSource::Item) || names_output {
            let message = "an evaluator takes one item: name a parameter `output` to receive the agent's output, \
                           `metadata` to receive its metadata";
            errors.at(pattern, message);
        } else if self.is_str() {
            errors.at(
                pattern,
                "an item cannot be a `&str`: name the parameter `output` to receive the agent's output",
            );
        }
    }

    /// The expression to pass to the function.
    fn expand(&self, is_async: bool, library: &Library) -> TokenStream {
        let ty = &self.ty;
        let span = generated_span(ty.span());
        let library = library.at(span);
        let context = Ident::new("__cobalt_context", span);
        // An async evaluator owns its context, a plain one borrows it.
        let borrowed = if is_async { quote_spanned!(span=> &#context) } else { context.to_token_stream() };
        match (&self.source, self.by_reference) {
            (ArgumentSource::Context, true) => borrowed,
            (ArgumentSource::Context, false) => quote_spanned!(span=> ::core::clone::Clone::clone(#borrowed)),
            (ArgumentSource::Metadata, true) => quote_spanned!(span=> #context.metadata()),
            (ArgumentSource::Metadata, false) => {
                quote_spanned!(span=> ::core::clone::Clone::clone(#context.metadata()))
            }
            (ArgumentSource::Trace, true) => quote_spanned!(span=> #context.trace()),
            (ArgumentSource::Trace, false) => {
                quote_spanned!(span=> ::core::clone::Clone::clone(#context.trace()))
            }
            (ArgumentSource::Output, true) if self.is_str() => quote_spanned!(span=> #context.output_text()),
            (ArgumentSource::Output, true) => {
                quote_spanned!(span=> &*#library::private::output_ref::<#ty>(#borrowed)?)
            }
            (ArgumentSource::Output, false) => {
                quote_spanned!(span=> #library::private::output_owned::<#ty>(#borrowed)?)
            }
            (ArgumentSource::Item, true) => {
                quote_spanned!(span=> &*#library::private::item_ref::<#ty>(#borrowed)?)
            }
            (ArgumentSource::Item, false) => {
                quote_spanned!(span=> #library::private::item_owned::<#ty>(#borrowed)?)
            }
        }
    }
}

fn check_pass_mark(value: &Expr, errors: &mut Errors) -> TokenStream {
    let span = generated_span(value.span());
    match Number::of(value) {
        Some(number) if !number.has_unit() => {
            let mark = number.value;
            if !(0.0..=1.0).contains(&mark) {
                errors.at(value, format!("pass marks {}", rules::out_of_range_message(mark)));
            }
            quote_spanned!(span=> .pass_mark(#mark))
        }
        None if !is_literal(value) => quote_spanned!(span=> .pass_mark(#value)),
        _ => {
            errors.at(value, "a pass mark is a number from 0 to 1");
            TokenStream::new()
        }
    }
}

/// Why the evaluator needs the agent.
fn check_live(value: &Expr, errors: &mut Errors) -> TokenStream {
    let span = generated_span(value.span());
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(why), .. }) if !why.value().trim().is_empty() => {
            quote_spanned!(span=> .needs_live_agent(#why))
        }
        _ => {
            let message = "`live` is a text that says why the evaluator cannot score stored outputs, such as \
                           `live = \"reads the folder that the agent changed\"`";
            errors.at(value, message);
            TokenStream::new()
        }
    }
}

#[cfg(test)]
mod tests;
