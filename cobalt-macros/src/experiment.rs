//! `#[cobalt::experiment]`: registers a definition that calls the public builder.

#[cfg(test)]
mod tests;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens as _, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, ItemFn, Lit, PatType, Type};

use crate::errors::Errors;
use crate::evaluators::{self, Evaluators};
use crate::function::{self, Role, generated_span};
use crate::library::Library;
use crate::literal::{self, Number};
use crate::settings::Settings;
use crate::source_hash::source_hash;
use crate::summaries::Summaries;
use crate::thresholds::{self, Threshold};
use crate::variants::Variants;

const KEYS: [&str; 20] = [
    "dataset",
    "evaluators",
    "name",
    "runs",
    "retries",
    "concurrency",
    "timeout",
    "tags",
    "thresholds",
    "summaries",
    "variants",
    "default_variant",
    "group_by",
    "strict",
    "record",
    "conversation",
    "ignore_without",
    "workspace",
    "faults",
    "crate",
];

/// The attribute and its function, after the checks that their syntax allows.
struct Experiment {
    library: Library,
    function: ItemFn,
    name: TokenStream,
    dataset: Expr,
    evaluators: Evaluators,
    thresholds: Vec<Threshold>,
    summaries: Summaries,
    /// Builder calls, each with its span: `.runs(3)`.
    calls: Vec<TokenStream>,
    form: AgentSignature,
    /// The folder of its recordings, if it has any; empty if only the expression tells.
    records: Option<String>,
}

/// The agent's signature.
struct AgentSignature {
    item: Option<Type>,
    /// The state type with `Chat` around it, if the function takes turns: `Chat<S>`.
    chat: Option<Type>,
    variant: Option<VariantParameter>,
    /// The type of the context parameter, and whether it is written as `Context`.
    context: Option<(Type, bool)>,
    /// The span of the return type.
    output: Span,
}

/// The parameter for the settings of the variant.
struct VariantParameter {
    /// The type without `&`.
    ty: Type,
    by_reference: bool,
}

/// Expands to the function and its registration, or to the errors.
///
/// `in_test_target` is whether cargo builds a test or bench target.
pub fn expand(attribute: TokenStream, function: TokenStream, in_test_target: bool) -> TokenStream {
    let mut errors = Errors::default();
    let hash = source_hash(attribute.clone(), function.clone());
    let experiment = Experiment::parse(attribute, function.clone(), &mut errors);
    if let Some(expansion) = errors.into_expansion(&function) {
        return expansion;
    }
    let registration = experiment.as_ref().map(|experiment| experiment.registration(hash, in_test_target));
    let libtest = experiment.filter(|_| in_test_target).map(|experiment| experiment.failure_under_libtest());
    quote!(#function #registration #libtest)
}

impl Experiment {
    /// `None` only if there are errors.
    fn parse(attribute: TokenStream, function: TokenStream, errors: &mut Errors) -> Option<Self> {
        let function = function::parse(function, Role::Experiment, errors);
        let settings = Settings::parse(attribute, &KEYS, errors);
        if !settings.missing(&["dataset"]).is_empty() {
            errors.push(syn::Error::new(Span::call_site(), "an experiment needs `dataset = …`"));
        }
        let library = Library::parse(&settings, errors);
        let evaluators = parse_evaluators(&settings, &library, errors);
        let variants = Variants::parse(&settings, &library, errors);
        let thresholds = match settings.get("thresholds") {
            Some((key, value)) => {
                let list = evaluators::elements(key, value, errors).unwrap_or_default();
                thresholds::parse(&list, &evaluators, &variants.known, errors)
            }
            None => Vec::new(),
        };
        let summaries = match settings.get("summaries") {
            Some((key, value)) => {
                Summaries::parse(&evaluators::elements(key, value, errors).unwrap_or_default(), errors)
            }
            None => Summaries::default(),
        };
        let mut calls = builder_calls(&settings, errors);
        calls.extend(variants.calls.iter().cloned());
        let name = settings.name("an experiment", errors);
        let function = function?;
        let form = AgentSignature::parse(&function, variants.are_declared, &library, errors);
        if let (Some((key, _)), None) = (settings.get("conversation"), &form.chat) {
            let message = "`conversation` is for functions that take turns: write `async fn turn(chat: &mut Chat<S>, message: &str)`";
            errors.at(key, message);
        }
        let name = name.unwrap_or_else(|| function::name(&function).to_token_stream());
        let dataset = settings.get("dataset")?.1.clone();
        let records = settings.get("record").map(|(_, value)| match value {
            Expr::Lit(ExprLit { lit: Lit::Str(folder), .. }) => folder.value(),
            _ => String::new(),
        });
        Some(Self {
            library,
            function,
            name,
            dataset,
            evaluators,
            thresholds,
            summaries,
            calls,
            form,
            records,
        })
    }

    fn registration(&self, hash: u64, in_test_target: bool) -> TokenStream {
        let name = &self.name;
        let name = quote_spanned!(generated_span(name.span())=> ::core::convert::Into::<::std::string::String>::into(#name));
        let dataset = &self.dataset;
        let span = generated_span(dataset.span());
        let library = self.library.at(span);
        let dataset = quote_spanned! {span=>
            #library::private::IntoDataset::into_dataset(#dataset)
        };
        let experiment = Ident::new("__cobalt_experiment", generated_span(Span::call_site()));
        let define = self.define(&experiment);
        let records = match &self.records {
            Some(folder) => quote!(::core::option::Option::Some(#folder)),
            None => quote!(::core::option::Option::None),
        };
        let library = self.library.at(Span::call_site());
        // The attribute's span, for `line!()`.
        let place = Span::call_site();
        let line = quote_spanned!(place=> ::core::line!());
        quote! {
            const _: () = {
                fn __cobalt_name() -> ::std::string::String {
                    #name
                }

                fn __cobalt_dataset() -> ::core::result::Result<#library::Dataset, #library::private::BoxError> {
                    #dataset
                }

                fn __cobalt_define(
                    #experiment: #library::Experiment,
                ) -> ::core::result::Result<#library::private::Prepared, #library::private::BoxError> {
                    #define
                }

                #library::private::inventory::submit! {
                    #library::private::ExperimentDefinition {
                        name: __cobalt_name,
                        file: ::core::file!(),
                        line: #line,
                        manifest_dir: ::core::env!("CARGO_MANIFEST_DIR"),
                        source_hash: #hash,
                        in_test_target: #in_test_target,
                        records: #records,
                        dataset: __cobalt_dataset,
                        define: __cobalt_define,
                    }
                }
            };
        }
    }

    /// A failing `#[test]`, which rustc drops in a target with `harness = false`. Without it, a target with libtest's harness
    /// would pass without running the experiment.
    fn failure_under_libtest(&self) -> TokenStream {
        let function = self.function.sig.ident.unraw();
        let name = Ident::new(
            &format!("__cobalt_{function}_needs_harness_false"),
            generated_span(Span::call_site()),
        );
        let function = function.to_string();
        let library = self.library.at(Span::call_site());
        quote! {
            #[::core::prelude::v1::test]
            fn #name() {
                ::core::panic!("{}", #library::private::run_by_libtest(#function, ::core::file!()));
            }
        }
    }

    /// The body of the function that configures the builder.
    fn define(&self, experiment: &Ident) -> TokenStream {
        let evaluators = self.evaluators.expand(experiment);
        let calls = &self.calls;
        let thresholds = self.thresholds.iter().map(|threshold| threshold.expand(&self.evaluators));
        let summaries = self.summaries.expand(experiment, &self.library);
        let variant_type = self.form.variant.as_ref().map(|VariantParameter { ty, .. }| {
            let place = generated_span(ty.span());
            let library = self.library.at(ty.span());
            quote_spanned!(place=> let #experiment = #library::private::with_variant_type::<#ty>(#experiment);)
        });
        let bind = self.bind(experiment);
        let library = self.library.at(Span::call_site());
        quote! {
            // For `.turn(1)` and the like in the list of evaluators.
            #[allow(unused_imports)]
            use #library::EvaluatorExt as _;
            #evaluators
            #summaries
            #variant_type
            #(let #experiment = #experiment #calls;)*
            #(let #experiment = #experiment.threshold(#thresholds);)*
            ::core::result::Result::Ok(#bind)
        }
    }

    /// Binds a function that takes turns to the builder.
    fn bind_turn(&self, chat: &Type, experiment: &Ident) -> TokenStream {
        let name = &self.function.sig.ident;
        let span = generated_span(name.span());
        let [turn, parameter, message] =
            ["__cobalt_turn", "__cobalt_chat", "__cobalt_message"].map(|name| Ident::new(name, span));
        let context = quote_spanned!(span=> #parameter.context());
        let (binding, variant) = self.variant_argument(&context);
        let output = generated_span(self.form.output);
        let result = Ident::new("__cobalt_result", output);
        let variant = variant.map(|variant| quote_spanned!(span=> , #variant));
        let with_causes = function::with_causes(&result, &self.library);
        let library = self.library.at(output);
        let reply = quote_spanned!(output=> #library::IntoReply::into_reply(#with_causes));
        let library = self.library.at(span);
        quote_spanned! {span=> {
            async fn #turn(
                #parameter: &mut #chat,
                #message: &str,
            ) -> ::core::result::Result<#library::Reply, #library::AgentError> {
                #binding
                let #result = #name(#parameter, #message #variant).await;
                #reply
            }
            #experiment.bind(#turn)
        }}
    }

    /// The settings of the variant as an argument, and the statement that it needs.
    fn variant_argument(&self, context: &TokenStream) -> (Option<TokenStream>, Option<TokenStream>) {
        let Some(VariantParameter { ty, by_reference }) = &self.form.variant else { return (None, None) };
        let place = generated_span(ty.span());
        let library = self.library.at(ty.span());
        let value = quote_spanned!(place=> #library::private::variant::<#ty>(#context)?);
        let name = Ident::new("__cobalt_variant", place);
        match by_reference {
            true => (Some(quote_spanned!(place=> let #name = #value;)), Some(quote_spanned!(place=> &#name))),
            false => (None, Some(value)),
        }
    }

    /// Binds the agent to the builder; each conversion has the span of its type.
    fn bind(&self, experiment: &Ident) -> TokenStream {
        if let Some(chat) = &self.form.chat {
            return self.bind_turn(chat, experiment);
        }
        let name = &self.function.sig.ident;
        let span = generated_span(name.span());
        let context = Ident::new("__cobalt_context", span);
        let item = self.form.item.as_ref().map(|ty| {
            let library = self.library.at(ty.span());
            quote_spanned!(generated_span(ty.span())=> #library::private::item::<#ty>(&#context)?)
        });
        let (variant_binding, variant) = self.variant_argument(&quote_spanned!(span=> &#context));
        let taken = self.form.context.as_ref().map(|(ty, is_named)| {
            let place = generated_span(ty.span());
            let context = Ident::new("__cobalt_context", place);
            let library = self.library.at(place);
            match is_named {
                true => context.to_token_stream(),
                false => quote_spanned!(place=> #library::private::context::<#ty>(#context)),
            }
        });
        let arguments = item.into_iter().chain(variant).chain(taken);
        let output = generated_span(self.form.output);
        let awaited = function::is_async(&self.function).then(|| quote_spanned!(span=> .await));
        let result = Ident::new("__cobalt_result", output);
        let body = quote_spanned! {span=>
            #variant_binding
            let #result = #name(#(#arguments),*)#awaited;
        };
        let result = function::with_causes(&result, &self.library);
        let library = self.library.at(output);
        let converted = quote_spanned!(output=> #library::private::IntoOutput::into_output(#result));
        let library = self.library.at(span);
        if awaited.is_some() {
            quote_spanned! {span=>
                #library::private::bind_async(#experiment, |#context: #library::Context| async move {
                    #body
                    #converted
                })
            }
        } else {
            quote_spanned! {span=>
                #library::private::bind_plain(#experiment, |#context: #library::Context| {
                    #body
                    #converted
                })
            }
        }
    }
}

impl AgentSignature {
    fn parse(function: &ItemFn, has_variants: bool, library: &Library, errors: &mut Errors) -> Self {
        let output =
            function::return_span(function, "return the agent's output, for example `-> String`", errors);
        let parameters: Vec<&PatType> = function::parameters(function).collect();
        if let Some(chat) = parameters.first().and_then(|first| function::chat_type(&first.ty)) {
            return Self::parse_turn(function, chat, has_variants, output, errors);
        }
        let is_context = |parameter: &PatType| function::is_named(&parameter.ty, "Context", library);
        let (item, variant, context) = match parameters[..] {
            [only] if is_context(only) => (None, None, Some(only)),
            [item] => {
                if has_variants {
                    let message = "the experiment has variants: take `(item, variant)`, or `(item, Context)` and call \
                                   `context.variant()`";
                    errors.at(&function.sig.ident, message);
                }
                (Some(item), None, None)
            }
            [context, item] if is_context(context) && !is_context(item) => {
                errors.at(&context.ty, "the item comes first: write `(item, Context)`");
                (Some(item), None, Some(context))
            }
            [item, variant] if has_variants && !is_context(variant) => (Some(item), Some(variant), None),
            [item, context] => (Some(item), None, Some(context)),
            [item, context, variant] if has_variants && is_context(context) => {
                errors.at(&context.ty, "the context comes last: write `(item, variant, Context)`");
                (Some(item), Some(variant), Some(context))
            }
            [item, variant, context] if has_variants => (Some(item), Some(variant), Some(context)),
            [_, _, third, ..] => {
                let forms = match has_variants {
                    true => {
                        "an experiment with variants takes `(item, variant)`, `(item, variant, Context)`, `(item, Context)` or \
                         `(Context)`"
                    }
                    false if parameters.len() == 3 && is_context(third) => {
                        "an experiment takes `(item)`, `(item, Context)` or `(Context)`; for `(item, variant, Context)`, declare \
                         `variants = […]`"
                    }
                    false => "an experiment takes `(item)`, `(item, Context)` or `(Context)`",
                };
                // With variants, the fourth is too much.
                let place = parameters.get(2 + usize::from(has_variants)).unwrap_or(&third);
                errors.at(place, forms);
                (None, None, None)
            }
            [] => {
                if function.sig.inputs.is_empty() {
                    let name = &function.sig.ident;
                    let message = format!(
                        "`{name}` takes no item: write `{name}(item: Item)`, or use your own item type"
                    );
                    errors.at(name, message);
                }
                (None, None, None)
            }
        };
        for parameter in &parameters {
            let is_variant = variant.is_some_and(|variant| std::ptr::eq(*parameter, variant));
            if !is_variant {
                check_owned(&parameter.ty, errors);
            }
        }
        Self {
            item: item.map(|item| (*item.ty).clone()),
            chat: None,
            variant: variant.map(|variant| VariantParameter::of(&variant.ty)),
            context: context.map(|context| ((*context.ty).clone(), is_context(context))),
            output,
        }
    }
}

impl AgentSignature {
    /// Parses a function that takes turns.
    fn parse_turn(
        function: &ItemFn,
        chat: &Type,
        has_variants: bool,
        output: Span,
        errors: &mut Errors,
    ) -> Self {
        let parameters: Vec<&PatType> = function::parameters(function).collect();
        let form = match has_variants {
            true => {
                "a turn takes `(chat: &mut Chat<S>, message: &str)`, and may take the settings of the variant after it"
            }
            false => "a turn takes `(chat: &mut Chat<S>, message: &str)`",
        };
        let is_text = |ty: &Type| matches!(ty, Type::Reference(reference) if reference.mutability.is_none() && function::ends_with(&reference.elem, "str"));
        let variant = match parameters[..] {
            [_, message] if is_text(&message.ty) => None,
            [_, message, variant] if has_variants && is_text(&message.ty) => Some(variant),
            [only] => {
                errors.at(&only.ty, form);
                None
            }
            [_, message, ..] if !is_text(&message.ty) => {
                errors.at(&message.ty, form);
                None
            }
            [.., last] => {
                errors.at(last, form);
                None
            }
            [] => None,
        };
        if !function::is_async(function) {
            errors.at(&function.sig.ident, "a turn is async: write `async fn`");
        }
        Self {
            item: None,
            chat: Some(chat.clone()),
            variant: variant.map(|variant| VariantParameter::of(&variant.ty)),
            context: None,
            output,
        }
    }
}

impl VariantParameter {
    fn of(ty: &Type) -> Self {
        let Type::Reference(reference) = ty else { return Self { ty: ty.clone(), by_reference: false } };
        let ty = match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => {
                syn::parse_quote_spanned!(path.span()=> ::std::string::String)
            }
            Type::Slice(slice) => {
                let elem = &slice.elem;
                syn::parse_quote_spanned!(slice.span()=> ::std::vec::Vec<#elem>)
            }
            elem => elem.clone(),
        };
        Self { ty, by_reference: true }
    }
}

fn check_owned(ty: &Type, errors: &mut Errors) {
    let Type::Reference(reference) = ty else { return };
    if reference.mutability.is_some() {
        return;
    }
    let elem = &reference.elem;
    let text = match &**elem {
        Type::Path(path) if path.path.is_ident("str") => "String".to_owned(),
        elem => elem.to_token_stream().to_string(),
    };
    errors.at(ty, format!("take the item by value: write `{text}`"));
}

fn parse_evaluators(settings: &Settings, library: &Library, errors: &mut Errors) -> Evaluators {
    let Some((key, value)) = settings.get("evaluators") else {
        return Evaluators::from_config(library);
    };
    let list = evaluators::elements(key, value, errors);
    if list.as_ref().is_some_and(Vec::is_empty) {
        let message =
            "an experiment needs at least one evaluator: leave out `evaluators` to use those of cobalt.toml";
        errors.at(value, message);
    }
    Evaluators::parse(&list.unwrap_or_default(), library, errors)
}

/// The settings that map to one builder call each.
fn builder_calls(settings: &Settings, errors: &mut Errors) -> Vec<TokenStream> {
    let mut calls = Vec::new();
    for key in ["runs", "concurrency"] {
        if let Some((key, value)) = settings.get(key) {
            if Number::of(value).is_some_and(|number| number.value == 0.0) {
                errors.at(value, format!("`{key}` must be at least 1"));
            }
            calls.push(builder_call(key, value, value.to_token_stream()));
        }
    }
    if let Some((key, value)) = settings.get("retries") {
        calls.push(builder_call(key, value, value.to_token_stream()));
    }
    if let Some((key, value)) = settings.get("timeout") {
        match literal::duration("timeout", value) {
            Ok(duration) => calls.push(builder_call(key, value, duration)),
            Err(message) => errors.at(value, message),
        }
    }
    if let Some((key, value)) = settings.get("tags") {
        let method = Ident::new("tag", key.span());
        let tags = evaluators::elements(key, value, errors).unwrap_or_default();
        calls.extend(tags.iter().map(|tag| builder_call(&method, tag, tag.to_token_stream())));
    }
    if let Some((key, value)) = settings.get("strict") {
        calls.push(builder_call(key, value, value.to_token_stream()));
    }
    if let Some((key, value)) = settings.get("record") {
        if matches!(value, Expr::Lit(ExprLit { lit: Lit::Bool(_) | Lit::Int(_) | Lit::Float(_), .. })) {
            errors.at(value, "`record` is the folder of recordings: write `record = \"cassettes\"`");
        }
        calls.push(builder_call(key, value, value.to_token_stream()));
    }
    if let Some((key, value)) = settings.get("conversation") {
        calls.push(builder_call(key, value, value.to_token_stream()));
    }
    for (key, advice) in [
        ("workspace", "`workspace` is a folder: write `workspace = \"fixtures/{{id}}\"`"),
        ("faults", "`faults` is a fault rule or a list: write `faults = \"search: timeout\"`"),
    ] {
        let Some((key, value)) = settings.get(key) else { continue };
        if matches!(value, Expr::Lit(ExprLit { lit: Lit::Bool(_) | Lit::Int(_) | Lit::Float(_), .. })) {
            errors.at(value, advice);
        }
        calls.push(builder_call(key, value, value.to_token_stream()));
    }
    if let Some((key, value)) = settings.get("ignore_without") {
        let variables = match value {
            Expr::Array(_) => evaluators::elements(key, value, errors).unwrap_or_default(),
            one => vec![one],
        };
        variables.iter().for_each(|variable| check_variable(variable, errors));
        calls
            .extend(variables.iter().map(|variable| builder_call(key, variable, variable.to_token_stream())));
    }
    if let Some((key, value)) = settings.get("group_by") {
        let fields = match value {
            Expr::Array(_) => evaluators::elements(key, value, errors).unwrap_or_default(),
            one => vec![one],
        };
        fields.iter().for_each(|field| check_field(field, errors));
        calls.extend(fields.iter().map(|field| builder_call(key, field, field.to_token_stream())));
    }
    calls
}

/// Rejects a literal that is not the name of a field.
fn check_field(value: &Expr, errors: &mut Errors) {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if name.value().trim().is_empty() => {
            errors.at(value, "the field's name cannot be empty");
        }
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {}
        Expr::Lit(_) => {
            errors.at(value, "`group_by` is a field of the items: write `group_by = \"category\"`");
        }
        _ => {}
    }
}

/// Rejects a literal that is not a valid variable name.
fn check_variable(value: &Expr, errors: &mut Errors) {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if name.value().trim().is_empty() => {
            errors.at(value, "the variable's name cannot be empty");
        }
        Expr::Lit(ExprLit { lit: Lit::Str(name), .. }) if !is_variable(&name.value()) => {
            errors.at(
                value,
                "a variable name has only letters, digits and `_`, as in `ignore_without = \"OPENAI_API_KEY\"`",
            );
        }
        Expr::Lit(ExprLit { lit: Lit::Str(_), .. }) => {}
        Expr::Lit(_) => {
            errors.at(
                value,
                "`ignore_without` must be a variable name: write `ignore_without = \"OPENAI_API_KEY\"`",
            );
        }
        _ => {}
    }
}

/// Whether a text is a valid shell variable name.
fn is_variable(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_ascii_digit())
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn builder_call(method: &Ident, value: &Expr, argument: TokenStream) -> TokenStream {
    let span = generated_span(value.span());
    let method = Ident::new(&method.to_string(), span);
    quote_spanned!(span=> .#method(#argument))
}
