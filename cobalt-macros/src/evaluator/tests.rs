use quote::quote;

use super::*;

fn errors(attribute: TokenStream, function: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    Evaluator::parse(attribute, function, &mut errors);
    errors.messages()
}

/// How each parameter is filled, without spaces.
fn arguments(function: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    let function: ItemFn = syn::parse2(function).unwrap();
    let arguments = Argument::of_all(&function, &mut errors);
    assert_eq!(errors.messages(), [""; 0]);
    let is_async = function::is_async(&function);
    arguments.iter().map(|argument| argument.expand(is_async).to_string().replace(' ', "")).collect()
}

#[test]
fn parameters_are_known_by_name_or_by_type() {
    let found = arguments(quote!(
        fn f(q: &Question, output: &str, metadata: &Item, cx: &EvalContext) -> bool {
            g()
        }
    ));
    let expected = [
        "&*::cobalt::private::item_ref::<Question>(__cobalt_context)?",
        "__cobalt_context.output_text()",
        "__cobalt_context.metadata()",
        "__cobalt_context",
    ];
    assert_eq!(found, expected);
}

#[test]
fn an_output_is_read_as_the_type_asks() {
    let found = arguments(quote!(
        fn f(output: &Value) -> bool {
            g()
        }
    ));
    assert_eq!(found, ["&*::cobalt::private::output_ref::<Value>(__cobalt_context)?"]);
    let found = arguments(quote!(
        fn f(_output: Answer) -> bool {
            g()
        }
    ));
    assert_eq!(found, ["::cobalt::private::output_owned::<Answer>(__cobalt_context)?"]);
}

#[test]
fn an_async_evaluator_owns_its_context() {
    let found = arguments(quote!(
        async fn f(item: Item, cx: EvalContext) -> bool {
            g()
        }
    ));
    let expected = [
        "::cobalt::private::item_owned::<Item>(&__cobalt_context)?",
        "::core::clone::Clone::clone(&__cobalt_context)",
    ];
    assert_eq!(found, expected);
}

#[test]
fn a_function_of_another_form_is_refused_once() {
    for (function, expected) in [
        (
            quote!(
                fn f(output: &str) {
                    g()
                }
            ),
            "return a `bool`",
        ),
        (
            quote!(
                fn f(question: &Question, answer: &str) -> bool {
                    g()
                }
            ),
            "name a parameter `output`",
        ),
        (
            quote!(
                fn f(answer: &str) -> bool {
                    g()
                }
            ),
            "name the parameter `output`",
        ),
        (
            quote!(
                fn f(question: &Question, outptu: &str) -> bool {
                    g()
                }
            ),
            "name a parameter `output`",
        ),
        (
            quote!(
                fn f<T>(output: T) -> bool {
                    g()
                }
            ),
            "cannot be generic",
        ),
        (
            quote!(
                fn f(&self, output: &str) -> bool {
                    g()
                }
            ),
            "not a method",
        ),
        (
            quote!(
                unsafe fn f(output: &str) -> bool {
                    g()
                }
            ),
            "`unsafe fn`",
        ),
        (
            quote!(
                mod f {}
            ),
            "made of a function",
        ),
    ] {
        let found = errors(quote!(), function.clone());
        assert_eq!(found.len(), 1, "{function}: {found:?}");
        assert!(found[0].contains(expected), "{function}: {found:?}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    for (settings, expected) in [
        (quote!(pass_mark = 70), "for 70 percent write `0.7`"),
        (quote!(pass_mark = "0.7"), "a number from 0 to 1"),
        (quote!(pass_mrak = 0.7), "did you mean `pass_mark`?"),
        (quote!(name = " "), "cannot be empty"),
        (quote!(name = 7), "is text"),
    ] {
        let found = errors(
            settings.clone(),
            quote!(
                fn f(output: &str) -> bool {
                    g()
                }
            ),
        );
        assert_eq!(found.len(), 1, "{settings}: {found:?}");
        assert!(found[0].contains(expected), "{settings}: {found:?}");
    }
}

#[test]
fn a_type_of_the_same_name_stands_beside_the_function() {
    let function = quote!(
        pub(super) async fn concise(output: &str) -> Score {
            g()
        }
    );
    let expansion = expand(quote!(name = "short", pass_mark = 1), function);
    let file = syn::parse2::<syn::File>(expansion).unwrap();
    let [syn::Item::Fn(function), syn::Item::Struct(ty), syn::Item::Impl(_), syn::Item::Const(_)] =
        &file.items[..]
    else {
        panic!("{:?}", file.items.len());
    };
    assert_eq!(ty.ident, function.sig.ident);
    assert_eq!(ty.vis.to_token_stream().to_string(), "pub (super)");
}
