use quote::quote;

use super::*;
use crate::snapshot::{assert_expansion, assert_messages};

/// The error messages of an expansion.
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
            pub async fn f(Question { input, .. }: Question, ctx: Context) -> Value {
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
    let functions = [
        quote!(
            fn f() -> String {
                g()
            }
        ),
        quote!(
            fn f(item: Item) {
                g()
            }
        ),
        quote!(
            fn f(a: A, b: Context, c: C) -> String {
                g()
            }
        ),
        quote!(
            fn f(ctx: Context, item: Item) -> String {
                g()
            }
        ),
        quote!(
            fn f(item: &Item) -> String {
                g()
            }
        ),
        quote!(
            fn f(item: &str) -> String {
                g()
            }
        ),
        quote!(
            fn f(item: &mut Item) -> String {
                g()
            }
        ),
        quote!(
            fn f(item: Item, chat: &mut Chat) -> String {
                g()
            }
        ),
        quote!(
            fn f<T>(item: T) -> String {
                g()
            }
        ),
        quote!(
            fn f(item: impl Into<Item>) -> String {
                g()
            }
        ),
        quote!(
            fn f(&self) -> String {
                g()
            }
        ),
        quote!(
            unsafe fn f(item: Item) -> String {
                g()
            }
        ),
        quote!(
            const fn f(item: Item) -> String {
                g()
            }
        ),
        quote!(
            extern "C" fn f(item: Item) -> String {
                g()
            }
        ),
        quote!(
            struct F;
        ),
        quote!(
            fn f(item: Item) -> String;
        ),
    ];
    assert_messages!(functions.map(|function| (function.clone(), of_function(function))));
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
    assert_eq!(errors(threshold, function.clone()), [""; 0], "evaluator names are unknown in this case");
    let misspelt = quote!(dataset = "x", thresholds = [latncy.p95 <= 5s]);
    assert_messages!([(misspelt.clone(), errors(misspelt, function))]);
}

#[test]
fn values_that_cannot_work_are_refused() {
    let settings = [
        quote!(runs = 0),
        quote!(concurrency = 0usize),
        quote!(timeout = 30),
        quote!(timeout = 0s),
        quote!(timeout = 5days),
        quote!(tags = "v1"),
        quote!(thresholds = score.avg >= 0.8),
        quote!(summaries = f1),
        quote!(summaries = ["f1"]),
        quote!(summaries = [f1, f1]),
        quote!(name = ""),
        quote!(name = 5),
        quote!(ignore_without = 5),
        quote!(ignore_without = ["KEY", true]),
        quote!(ignore_without = " "),
        quote!(ignore_without = "OPENAI-API-KEY"),
        quote!(ignore_without = "$OPENAI_API_KEY"),
        quote!(ignore_without = ["KEY", "OPENAI_API_KEY=1"]),
        quote!(group_by = 5),
        quote!(group_by = ["category", ""]),
        quote!(workspace = true),
        quote!(faults = 5),
    ];
    assert_messages!(settings.map(|settings| (settings.clone(), of_settings(settings))));
}

#[test]
fn evaluators_that_cannot_work_are_refused() {
    let lists = [
        quote!([]),
        quote!(concise),
        quote!([concise, concise]),
        quote!([concise, concise.turn(1)]),
        quote!(["concise"]),
        quote!([5]),
    ];
    assert_messages!(lists.map(|evaluators| {
        let function = quote!(
            fn f(item: Item) -> String {
                g()
            }
        );
        let attribute = quote!(dataset = "x.jsonl", evaluators = #evaluators);
        (quote!(evaluators = #evaluators), errors(attribute, function))
    }));
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
fn an_experiment_with_all_settings_calls_the_builder() {
    let settings = quote!(
        dataset = Dataset::from_file("x.jsonl")?.slice(0..4),
        evaluators = [concise, evals::correct, ExactMatch::new("exact", "answer")],
        name = "help-desk",
        runs = 3,
        retries = 2,
        concurrency = 2,
        timeout = 30s,
        tags = ["v1", tag()],
        thresholds = [
            score.avg >= 0.8,
            concise.pass_rate(0.6) >= 0.9,
            latency.p95 <= LIMIT,
            metrics["f1"].value >= 0.8
        ],
        summaries = [f1, evals::confusion, FnSummary::new("outputs", |items| items.len())],
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
    assert_expansion!(expansion);
}

#[test]
fn methods_of_a_listed_function_are_called_on_its_evaluator() {
    let settings = quote!(
        dataset = "x.jsonl",
        evaluators = [
            concise.last_turn(),
            evals::correct.pass_mark(0.5).each_turn(CombineTurns::Min),
            evals::make().turn(1)
        ],
        thresholds = [concise.avg >= 0.8],
    );
    let function = quote!(
        fn f(item: Item) -> String {
            g()
        }
    );
    assert_expansion!(expand(settings, function, false));
}

#[test]
fn the_least_that_an_experiment_needs_is_its_data_set() {
    let function = quote!(
        /// Says hello.
        fn f(item: Item) -> Result<String, Error> {
            g()
        }
    );
    assert_expansion!(expand(quote!(dataset = "x.jsonl"), function, true));
}

#[test]
fn the_library_is_found_by_the_path_that_is_given() {
    let settings = quote!(
        dataset = "x.jsonl",
        evaluators = [concise],
        thresholds = [score.avg >= 0.8, concise.pass_rate(mark()) >= share(), cost.total <= LIMIT],
        crate = crate::agents::library,
    );
    let function = quote!(
        async fn f(item: Question, ctx: library::Context) -> String {
            g()
        }
    );
    let expansion = expand(settings, function, true);
    assert!(!expansion.to_string().contains(":: cobalt"));
    assert_expansion!(expansion);
}

#[test]
fn mistakes_leave_the_function_and_say_each_in_its_place() {
    let function = quote!(
        async fn f(item: &Item) -> String {
            g()
        }
    );
    assert_expansion!(expand(quote!(datset = "x.jsonl", runs = 0), function, true));
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

/// The expansion with variants, without the dataset.
fn with_variants(function: TokenStream) -> TokenStream {
    let settings = quote!(
        dataset = "x.jsonl",
        evaluators = [concise],
        variants = [mini: Config { model: "a" }, "gpt-4o": Config::default()],
        default_variant = mini,
        group_by = ["category", "language"],
        workspace = "fixtures/{{id}}",
        faults = ["search: timeout", "*: slow 2s"],
        thresholds = [
            variants.mini.concise.drop_from("gpt-4o") <= 0.02,
            score.by("category").min_pass_rate(0.6) >= 0.8,
        ],
    );
    expand(settings, function, false)
}

#[test]
fn an_experiment_with_variants_passes_the_settings_after_the_item() {
    assert_expansion!(with_variants(quote!(
        async fn f(item: Question, config: &Config, ctx: Context) -> String {
            g()
        }
    )));
    let body = |function| {
        let text = with_variants(function).to_string();
        let (_, from) = text.split_once("let __cobalt_result = f").unwrap();
        from.split_once(';').unwrap().0.to_owned()
    };
    let owned = body(quote!(
        fn f(item: Item, config: Config) -> String {
            g()
        }
    ));
    assert!(owned.contains("variant :: < Config > (& __cobalt_context) ?"), "{owned}");
    let text = with_variants(quote!(
        fn f(item: Item, model: &str) -> String {
            g()
        }
    ));
    assert!(text.to_string().contains("variant :: < :: std :: string :: String >"), "{text}");
    for function in [
        quote!(
            fn f(item: Item, context: Context) -> String {
                g()
            }
        ),
        quote!(
            fn f(context: Context) -> String {
                g()
            }
        ),
    ] {
        assert!(!body(function).contains("variant"));
    }
}

#[test]
fn a_function_that_takes_turns_is_bound_as_a_turn() {
    let settings = quote!(
        dataset = "x.jsonl",
        evaluators = [concise],
        variants = [mini: A],
        conversation = Conversation::new().max_turns(4),
    );
    let function = quote!(
        async fn f(chat: &mut Chat<Desk>, message: &str, config: &Config) -> Result<Reply, Error> {
            g()
        }
    );
    assert_expansion!(expand(settings, function, false));
}

#[test]
fn a_function_of_a_turn_has_a_chat_and_a_message() {
    let functions = [
        quote!(
            async fn f(chat: &mut Chat<Desk>) -> String {
                g()
            }
        ),
        quote!(
            async fn f(chat: &mut Chat, message: String) -> String {
                g()
            }
        ),
        quote!(
            async fn f(chat: &mut cobalt::Chat, message: &str, more: u8) -> String {
                g()
            }
        ),
        quote!(
            fn f(chat: &mut Chat, message: &str) -> String {
                g()
            }
        ),
    ];
    assert_messages!(functions.map(|function| (function.clone(), of_function(function))));
    let misplaced = quote!(conversation = Conversation::new());
    assert_messages!([(misplaced.clone(), of_settings(misplaced))]);
}

#[test]
fn a_function_that_does_not_fit_the_variants_is_refused_once() {
    let with = quote!(dataset = "x", evaluators = [concise], variants = [mini: A]);
    let without = quote!(dataset = "x", evaluators = [concise]);
    let mistakes = [
        (
            with.clone(),
            quote!(
                fn f(item: Item) -> String {
                    g()
                }
            ),
        ),
        (
            with.clone(),
            quote!(
                fn f(item: Item, context: Context, config: Config) -> String {
                    g()
                }
            ),
        ),
        (
            with.clone(),
            quote!(
                fn f(item: Item, config: Config, context: Context, more: u8) -> String {
                    g()
                }
            ),
        ),
        (
            with,
            quote!(
                fn f(item: &Item, config: &Config) -> String {
                    g()
                }
            ),
        ),
        (
            without,
            quote!(
                fn f(item: Item, config: Config, context: Context) -> String {
                    g()
                }
            ),
        ),
    ];
    assert_messages!(mistakes.map(|(attribute, function)| (function.clone(), errors(attribute, function))));
}
