use quote::quote;

use super::*;
use crate::snapshot::{assert_expansion, assert_messages};

fn errors(attribute: TokenStream, function: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    Evaluator::parse(attribute, function, &mut errors);
    errors.messages()
}

/// The argument expressions, without spaces.
fn arguments(function: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    let function: ItemFn = syn::parse2(function).unwrap();
    let arguments = Argument::of_all(&function, &Library::default(), &mut errors);
    assert_eq!(errors.messages(), [""; 0]);
    let is_async = function::is_async(&function);
    arguments
        .iter()
        .map(|argument| argument.expand(is_async, &Library::default()).to_string().replace(' ', ""))
        .collect()
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
fn a_trace_is_known_by_its_name_and_its_type() {
    let found = arguments(quote!(
        fn f(trace: &Trace, output: &str) -> bool {
            g()
        }
    ));
    assert_eq!(found, ["__cobalt_context.trace()", "__cobalt_context.output_text()"]);
    let found = arguments(quote!(
        async fn f(_trace: cobalt::trace::Trace) -> bool {
            g()
        }
    ));
    assert_eq!(found, ["::core::clone::Clone::clone(__cobalt_context.trace())"]);
    for item in [quote!(trace: &Value), quote!(question: &Trace)] {
        let found = arguments(quote!(fn f(#item) -> bool { g() }));
        assert!(found[0].contains("item_ref"), "{found:?}");
    }
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
    let functions = [
        quote!(
            fn f(output: &str) {
                g()
            }
        ),
        quote!(
            fn f(question: &Question, answer: &str) -> bool {
                g()
            }
        ),
        quote!(
            fn f(answer: &str) -> bool {
                g()
            }
        ),
        quote!(
            fn f(question: &Question, outptu: &str) -> bool {
                g()
            }
        ),
        quote!(
            fn f<T>(output: T) -> bool {
                g()
            }
        ),
        quote!(
            fn f(chat: &mut Chat, output: &str) -> bool {
                g()
            }
        ),
        quote!(
            fn f(&self, output: &str) -> bool {
                g()
            }
        ),
        quote!(
            unsafe fn f(output: &str) -> bool {
                g()
            }
        ),
        quote!(
            mod f {}
        ),
    ];
    assert_messages!(functions.map(|function| (function.clone(), errors(quote!(), function))));
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let settings = [
        quote!(pass_mark = 70),
        quote!(pass_mark = "0.7"),
        quote!(pass_mrak = 0.7),
        quote!(name = " "),
        quote!(name = 7),
    ];
    assert_messages!(settings.map(|settings| {
        let function = quote!(
            fn f(output: &str) -> bool {
                g()
            }
        );
        (settings.clone(), errors(settings, function))
    }));
}

#[test]
fn a_type_of_the_same_name_stands_beside_the_function() {
    let function = quote!(
        pub(super) async fn concise(output: &str) -> Score {
            g()
        }
    );
    assert_expansion!(expand(quote!(name = "short", pass_mark = 1), function));
}

#[test]
fn a_plain_function_borrows_its_context_and_may_fail() {
    let function = quote!(
        fn correct(
            question: &Question,
            output: &Value,
            metadata: &Item,
            cx: &EvalContext,
        ) -> Result<f64, Error> {
            g()
        }
    );
    assert_expansion!(expand(quote!(), function));
}

#[test]
fn the_library_is_found_by_the_path_that_is_given() {
    let function = quote!(
        fn correct(question: Question, output: String, cx: &evals::EvalContext) -> bool {
            g()
        }
    );
    let expansion = expand(quote!(crate = evals), function);
    assert!(!expansion.to_string().contains(":: cobalt"));
    assert_expansion!(expansion);
}
