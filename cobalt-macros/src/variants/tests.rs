use quote::quote;

use super::*;
use crate::snapshot::assert_messages;

fn objections(settings: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    let settings = Settings::parse(settings, &["variants", "default_variant", "runs"], &mut errors);
    Variants::parse(&settings, &Library::default(), &mut errors);
    errors.messages()
}

fn calls(settings: TokenStream) -> String {
    let mut errors = Errors::default();
    let settings = Settings::parse(settings, &["variants", "default_variant"], &mut errors);
    let calls = Variants::parse(&settings, &Library::default(), &mut errors).calls;
    assert_eq!(errors.messages(), [""; 0]);
    calls.into_iter().collect::<TokenStream>().to_string()
}

#[test]
fn each_form_of_variants_calls_the_builder() {
    let config =
        quote!(variants = [mini: Config { model: "a" }, "gpt-4o": config()?,], default_variant = mini);
    assert_eq!(
        calls(config),
        r#". variant ("mini" , Config { model : "a" }) . variant ("gpt-4o" , config () ?) . default_variant ("mini")"#
    );
    let axes = quote!(variants = { model: ["a", "b"], temperature: temperatures() });
    assert_eq!(
        calls(axes),
        r#". variants (:: cobalt :: Variants :: axes () . axis ("model" , ["a" , "b"]) . axis ("temperature" , temperatures ()))"#
    );
    assert_eq!(calls(quote!(variants = from_file()?)), ". variants (from_file () ?)");
    assert_eq!(calls(quote!(variants = [("a", 1), ("b", 2)])), r#". variants ([("a" , 1) , ("b" , 2)])"#);
    let block = quote!(variants = { load()? }, default_variant = default_name());
    assert_eq!(calls(block), ". variants ({ load () ? }) . default_variant (default_name ())");
}

#[test]
fn variants_that_cannot_work_are_refused() {
    let settings = [
        quote!(variants = []),
        quote!(variants = {}),
        quote!(variants = [mini: A, mini: B]),
        quote!(variants = [mini: A, large]),
        quote!(variants = [mini: A large: B]),
        quote!(variants = [mini: A, 4: B]),
        quote!(variants = [mini: ]),
        quote!(variants = ["": A]),
        quote!(variants = [mini, large]),
        quote!(variants = "mini"),
        quote!(variants = { model: [] }),
        quote!(variants = { model: "a" }),
        quote!(variants = { model: ["a"], model: ["b"] }),
        quote!(variants = { model: ["a"], shots }),
        quote!(default_variant = mini),
        quote!(variants = [mini: A, large: B], default_variant = minni),
        quote!(variants = [mini: A, large: B], default_variant = "gpt-4o"),
        quote!(variants = [mini: A], default_variant = 5),
    ];
    assert_messages!(settings.map(|settings| (settings.clone(), objections(settings))));
}

#[test]
fn a_mistake_in_the_list_does_not_hide_the_next_setting() {
    assert_eq!(objections(quote!(variants = [mini], rnus = 1)).len(), 2);
    assert_eq!(objections(quote!(variants = [mini: , large: A], rnus = 1)).len(), 2);
    assert_eq!(objections(quote!(variants = [mini: ], default_variant = other)).len(), 1);
}
