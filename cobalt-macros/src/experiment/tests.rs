use quote::quote;

use super::*;

/// The messages of the errors in an expansion, and whether the function is still there.
fn errors(attribute: TokenStream, function: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    Experiment::parse(attribute, function, &mut errors);
    errors.messages()
}

fn of_function(function: TokenStream) -> Vec<String> {
    errors(quote!(dataset = "x.jsonl", evaluators = [concise]), function)
}

fn of_settings(settings: TokenStream) -> Vec<String> {
    errors(
        quote!(dataset = "x.jsonl", evaluators = [concise], #settings),
        quote!(
            fn f(item: Item) -> String {
                g()
            }
        ),
    )
}

#[test]
fn every_form_of_function_is_taken() {
    for function in [
        quote!(
            fn f(item: Item) -> String {
                g()
            }
        ),
        quote!(
            async fn f(item: Question) -> Result<Output, Error> {
                g()
            }
        ),
        quote!(
            pub(crate) async fn f(Question { input, .. }: Question, ctx: Context) -> Value {
                g()
            }
        ),
        quote!(
            async fn f(ctx: cobalt::Context) -> String {
                g()
            }
        ),
        quote!(
            fn f(item: Item) -> impl Future<Output = String> {
                g()
            }
        ),
    ] {
        assert_eq!(of_function(function.clone()), [""; 0], "{function}");
    }
}

#[test]
fn the_function_itself_is_left_as_it_is() {
    let function = quote!(
        #[inline]
        async fn f(mut item: Item) -> String {
            g(&mut item)
        }
    );
    let settings = quote!(dataset = "x.jsonl", evaluators = [concise]);
    assert!(expand(settings, function.clone(), false).to_string().starts_with(&function.to_string()));
    let mistaken =
        expand(quote!(datset = "x.jsonl", evaluators = [concise]), function.clone(), false).to_string();
    assert!(mistaken.contains(&function.to_string()));
    assert_eq!(mistaken.matches("compile_error").count(), 1);
}

#[test]
fn a_function_of_another_form_is_refused_once() {
    for (function, expected) in [
        (
            quote!(
                fn f() -> String {
                    g()
                }
            ),
            "takes no item",
        ),
        (
            quote!(
                fn f(item: Item) {
                    g()
                }
            ),
            "returns nothing",
        ),
        (
            quote!(
                fn f(a: A, b: Context, c: C) -> String {
                    g()
                }
            ),
            "`(item, Context)`",
        ),
        (
            quote!(
                fn f(ctx: Context, item: Item) -> String {
                    g()
                }
            ),
            "the item comes first",
        ),
        (
            quote!(
                fn f(item: &Item) -> String {
                    g()
                }
            ),
            "write `Item`",
        ),
        (
            quote!(
                fn f(item: &str) -> String {
                    g()
                }
            ),
            "write `String`",
        ),
        (
            quote!(
                fn f(item: &mut Item) -> String {
                    g()
                }
            ),
            "drop the `mut`",
        ),
        (
            quote!(
                fn f<T>(item: T) -> String {
                    g()
                }
            ),
            "cannot be generic",
        ),
        (
            quote!(
                fn f(item: impl Into<Item>) -> String {
                    g()
                }
            ),
            "cannot be generic",
        ),
        (
            quote!(
                fn f(&self) -> String {
                    g()
                }
            ),
            "not a method",
        ),
        (
            quote!(
                unsafe fn f(item: Item) -> String {
                    g()
                }
            ),
            "`unsafe fn`",
        ),
        (
            quote!(
                const fn f(item: Item) -> String {
                    g()
                }
            ),
            "`const fn`",
        ),
        (
            quote!(
                extern "C" fn f(item: Item) -> String {
                    g()
                }
            ),
            "`extern` function",
        ),
        (
            quote!(
                struct F;
            ),
            "made of a function",
        ),
        (
            quote!(
                fn f(item: Item) -> String;
            ),
            "expected",
        ),
    ] {
        let found = of_function(function.clone());
        assert_eq!(found.len(), 1, "{function}: {found:?}");
        assert!(found[0].contains(expected), "{function}: {found:?}");
    }
}

#[test]
fn only_the_data_set_is_required() {
    let function = quote!(
        fn f(item: Item) -> String {
            g()
        }
    );
    assert_eq!(errors(quote!(), function.clone()), ["an experiment needs `dataset = …`"]);
    assert_eq!(errors(quote!(dataset = "x"), function.clone()), [""; 0]);
    let threshold = quote!(dataset = "x", thresholds = [of_cobalt_toml.avg >= 0.5]);
    assert_eq!(errors(threshold, function.clone()), [""; 0], "the names of evaluators are not known then");
    let misspelt = quote!(dataset = "x", thresholds = [latncy.p95 <= 5s]);
    assert!(errors(misspelt, function)[0].contains("did you mean `latency`?"));
}

#[test]
fn values_that_cannot_work_are_refused() {
    for (settings, expected) in [
        (quote!(runs = 0), "`runs` is at least 1"),
        (quote!(concurrency = 0usize), "`concurrency` is at least 1"),
        (quote!(timeout = 30), "write `30s`"),
        (quote!(timeout = 0s), "longer than nothing"),
        (quote!(timeout = 5days), "no unit of time `days`"),
        (quote!(tags = "v1"), "`tags` is a list: write `tags = […]`"),
        (quote!(thresholds = score.avg >= 0.8), "`thresholds` is a list"),
        (quote!(name = ""), "cannot be empty"),
        (quote!(name = 5), "is text"),
        (quote!(ignore_without = 5), "is a variable's name"),
        (quote!(ignore_without = ["KEY", true]), "is a variable's name"),
        (quote!(ignore_without = " "), "cannot be empty"),
        (quote!(ignore_without = "OPENAI-API-KEY"), "letters, digits and `_` only"),
        (quote!(ignore_without = "$OPENAI_API_KEY"), "letters, digits and `_` only"),
        (quote!(ignore_without = ["KEY", "OPENAI_API_KEY=1"]), "letters, digits and `_` only"),
    ] {
        let found = of_settings(settings.clone());
        assert_eq!(found.len(), 1, "{settings}: {found:?}");
        assert!(found[0].contains(expected), "{settings}: {found:?}");
    }
}

#[test]
fn evaluators_that_cannot_work_are_refused() {
    for (evaluators, expected) in [
        (quote!([]), "at least one"),
        (quote!(concise), "is a list"),
        (quote!([concise, concise]), "listed twice"),
        (quote!(["concise"]), "without quotes: write `concise`"),
        (quote!([5]), "not an evaluator"),
    ] {
        let attribute = quote!(dataset = "x.jsonl", evaluators = #evaluators);
        let found = errors(
            attribute,
            quote!(
                fn f(item: Item) -> String {
                    g()
                }
            ),
        );
        assert_eq!(found.len(), 1, "{evaluators}: {found:?}");
        assert!(found[0].contains(expected), "{evaluators}: {found:?}");
    }
}

#[test]
fn mistakes_in_several_places_are_all_reported() {
    let attribute =
        quote!(datset = "x", evaluators = [], runs = 0, thresholds = [score.avg == 1, tokens.max <= 1]);
    assert_eq!(
        errors(
            attribute,
            quote!(
                fn f() -> String {
                    g()
                }
            )
        )
        .len(),
        6
    );
}

#[test]
fn the_expansion_is_made_of_items() {
    let settings = quote!(
        dataset = Dataset::from_file("x.jsonl")?.slice(0..4),
        evaluators = [concise, evals::correct, ExactMatch::new("exact", "answer")],
        name = "help-desk",
        runs = 3,
        concurrency = 2,
        timeout = 30s,
        tags = ["v1", tag()],
        thresholds = [score.avg >= 0.8, concise.pass_rate(0.6) >= 0.9, latency.p95 <= LIMIT],
        strict = true,
        ignore_without = ["OPENAI_API_KEY", other_key()],
    );
    let expansion = expand(
        settings,
        quote!(
            async fn f(item: Question, ctx: Context) -> String {
                g()
            }
        ),
        false,
    );
    let file = syn::parse2::<syn::File>(expansion).unwrap();
    assert_eq!(file.items.len(), 2);
}

#[test]
fn a_variable_without_which_it_is_ignored_is_named_alone_or_in_a_list() {
    for (value, calls) in [(quote!("KEY"), 1), (quote!(KEY), 1), (quote!(["KEY", OTHER]), 2), (quote!([]), 0)]
    {
        let attribute = quote!(dataset = "x.jsonl", ignore_without = #value);
        let expansion = expand(
            attribute,
            quote!(
                fn f(item: Item) -> String {
                    g()
                }
            ),
            false,
        );
        assert_eq!(expansion.to_string().matches(". ignore_without (").count(), calls, "{value}");
    }
}

#[test]
fn only_an_experiment_of_a_test_target_fails_where_libtest_would_leave_it_out() {
    let settings = quote!(dataset = "x.jsonl", evaluators = [concise]);
    let function = quote!(
        fn r#try(item: Item) -> String {
            g()
        }
    );
    for (in_test_target, tests) in [(true, 1), (false, 0)] {
        let file =
            syn::parse2::<syn::File>(expand(settings.clone(), function.clone(), in_test_target)).unwrap();
        let text = file.to_token_stream().to_string();
        assert_eq!(text.matches("__cobalt_try_needs_harness_false").count(), tests, "{text}");
        assert!(text.contains(&format!("in_test_target : {in_test_target}")), "{text}");
    }
}
