//! How a choice of model is resolved, and which key is sent.

use std::time::Duration;

use cobalt_core::redact::Secret;

use crate::evaluators::CheckErrorKind;
use crate::llm::client::Target;
use crate::llm::target::resolve_target;
use crate::llm::vendors::Role;
use crate::llm::{ModelChoice, ModelSettings};

fn choice(text: &str) -> ModelChoice {
    let mut choice = ModelChoice::default();
    for (name, value) in text.split_whitespace().map(|part| part.split_once('=').unwrap()) {
        let value = value.to_owned();
        match name {
            "model" => choice.model = Some(value),
            "provider" => choice.provider = Some(value.parse().unwrap()),
            "url" => choice.base_url = Some(value),
            "key" => choice.api_key = Some(Secret(value)),
            "key-env" => choice.api_key_env = Some(value),
            "temperature" => choice.temperature = value.parse().ok(),
            _ => panic!("{name}"),
        }
    }
    choice
}

/// Resolves an evaluator's choice, with this configuration and these variables.
fn led(role: Role, own: &str, configured: &str, variables: &str) -> Result<Target, CheckErrorKind> {
    let settings = ModelSettings {
        judge: if role == Role::Embedding { ModelChoice::default() } else { choice(configured) },
        embedding: if role == Role::Embedding { choice(configured) } else { ModelChoice::default() },
        timeout: Duration::from_secs(1),
        retries: 0,
        concurrency: 1,
        cache: None,
    };
    let variable = |name: &str| {
        let set = variables.split_whitespace().filter_map(|set| set.split_once('='));
        set.into_iter().find(|(set, _)| *set == name).map(|(_, value)| value.to_owned())
    };
    resolve_target(role, &choice(own), &settings, &variable).map_err(|error| error.0)
}

/// The same as one line: provider, model, base URL, key.
#[track_caller]
fn leads(role: Role, own: &str, configured: &str, variables: &str, expected: &str) {
    let Target { provider, model, base_url, api_key, .. } = led(role, own, configured, variables).unwrap();
    let key = api_key.map_or("none".to_owned(), |Secret(key)| key);
    assert_eq!(
        format!("{provider} {model} {base_url} {key}"),
        expected,
        "{own} | {configured} | {variables}"
    );
}

const KEYS: &str = "OPENAI_API_KEY=ko ANTHROPIC_API_KEY=ka GEMINI_API_KEY=kg CO_API_KEY=kc";
const OPENAI: &str = "https://api.openai.com/v1";
const ANTHROPIC: &str = "https://api.anthropic.com";
const GEMINI: &str = "https://generativelanguage.googleapis.com/v1beta/openai";
const GATEWAY: &str = "https://gateway.example/v1";

#[test]
fn without_a_word_the_vendor_with_a_key_judges_by_an_inexpensive_model() {
    for (variables, expected) in [
        (KEYS, format!("openai gpt-6-luna {OPENAI} ko")),
        ("ANTHROPIC_API_KEY=ka GEMINI_API_KEY=kg", format!("anthropic claude-haiku-5-5 {ANTHROPIC} ka")),
        (
            "OPENAI_API_KEY= ANTHROPIC_API_KEY= GOOGLE_API_KEY=kg",
            format!("gemini gemini-3.5-flash-lite {GEMINI} kg"),
        ),
    ] {
        leads(Role::Judge, "", "", variables, &expected);
    }
}

#[test]
fn a_missing_key_is_named_with_what_would_do_too() {
    let missing = |role, own: &str| match led(role, own, "", "OPENAI_API_KEY=") {
        Err(CheckErrorKind::MissingKey { variable, asked_for }) => (variable, asked_for),
        other => panic!("{other:?}"),
    };
    let (variable, asked_for) = missing(Role::Judge, "");
    assert_eq!(variable, "OPENAI_API_KEY");
    assert!(
        asked_for.contains("gpt-6-luna") && asked_for.contains("ANTHROPIC_API_KEY or GEMINI_API_KEY"),
        "{asked_for}"
    );
    assert_eq!(missing(Role::Judge, "model=claude-opus-5").0, "ANTHROPIC_API_KEY");
    assert_eq!(missing(Role::Judge, "model=m key-env=OUR_KEY").0, "OUR_KEY");
    let (variable, asked_for) = missing(Role::Embedding, "");
    assert!(variable == "OPENAI_API_KEY" && asked_for.contains("local"), "{asked_for}");
}

#[test]
fn the_provider_follows_from_the_model() {
    for (own, expected) in [
        ("model=claude-opus-5", format!("anthropic claude-opus-5 {ANTHROPIC} ka")),
        ("model=gemini-2.5-pro", format!("gemini gemini-2.5-pro {GEMINI} kg")),
        ("model=o3", format!("openai o3 {OPENAI} ko")),
        ("model=openai/gpt-4o", format!("openai gpt-4o {OPENAI} ko")),
        ("model=llama3", format!("openai llama3 {OPENAI} ko")),
        ("provider=anthropic", format!("anthropic claude-haiku-5-5 {ANTHROPIC} ka")),
        ("key-env=ANTHROPIC_API_KEY", format!("anthropic claude-haiku-5-5 {ANTHROPIC} ka")),
    ] {
        leads(Role::Judge, own, "", KEYS, &expected);
    }
    leads(Role::Embedding, "model=embed-v4.0", "", KEYS, "cohere embed-v4.0 https://api.cohere.com kc");
    leads(Role::Embedding, "provider=gemini", "", KEYS, &format!("gemini gemini-embedding-001 {GEMINI} kg"));
    leads(Role::Embedding, "provider=local", "", "", "local local  none");
}

#[test]
fn an_evaluators_own_word_comes_before_what_is_configured() {
    let configured = "model=claude-opus-5 key=configured temperature=0.5";
    let anthropic = |model| format!("anthropic {model} {ANTHROPIC} configured");
    leads(Role::Judge, "", configured, KEYS, &anthropic("claude-opus-5"));
    leads(Role::Judge, "model=claude-haiku-4-5", configured, KEYS, &anthropic("claude-haiku-4-5"));
    leads(Role::Judge, "key=own", configured, KEYS, &format!("anthropic claude-opus-5 {ANTHROPIC} own"));
    assert_eq!(led(Role::Judge, "", configured, KEYS).unwrap().temperature, Some(0.5));
    assert_eq!(led(Role::Judge, "temperature=1", configured, KEYS).unwrap().temperature, Some(1.0));
}

#[test]
fn what_is_configured_for_one_vendor_goes_to_no_other() {
    let configured = format!("model=claude-opus-5 url={GATEWAY} key=configured");
    leads(Role::Judge, "model=gpt-4o", &configured, KEYS, &format!("openai gpt-4o {OPENAI} ko"));
    leads(
        Role::Judge,
        "provider=gemini",
        &configured,
        KEYS,
        &format!("gemini gemini-3.5-flash-lite {GEMINI} kg"),
    );
    let elsewhere = "url=https://other.example/v1 model=llama3";
    leads(Role::Judge, elsewhere, &configured, KEYS, "openai llama3 https://other.example/v1 none");
    let openai = format!("model=gpt-4o url={GATEWAY} key=configured");
    leads(Role::Judge, elsewhere, &openai, KEYS, "openai llama3 https://other.example/v1 none");
    leads(
        Role::Judge,
        "url=https://other.example",
        &openai,
        KEYS,
        "openai gpt-4o https://other.example none",
    );
}

#[test]
fn a_vendors_variable_is_for_the_vendors_own_address_alone() {
    let gateway = |key: &str| format!("openai gpt-4o {GATEWAY} {key}");
    let said = format!("model=gpt-4o url={GATEWAY}/");
    leads(Role::Judge, "", &said, KEYS, &gateway("none"));
    leads(
        Role::Judge,
        "",
        &format!("{said} key-env=OUR_KEY"),
        "OUR_KEY=ours OPENAI_API_KEY=ko",
        &gateway("ours"),
    );
    leads(Role::Judge, "model=gpt-4o", "", &format!("{KEYS} OPENAI_BASE_URL={GATEWAY}"), &gateway("ko"));
    leads(
        Role::Judge,
        "",
        &said,
        &format!("{KEYS} OPENAI_BASE_URL=https://gateway.example/other"),
        &gateway("ko"),
    );
    leads(
        Role::Judge,
        "",
        &format!("model=gpt-4o url={OPENAI}"),
        KEYS,
        &format!("openai gpt-4o {OPENAI} ko"),
    );
    leads(
        Role::Judge,
        "model=claude-opus-5",
        "",
        &format!("{KEYS} OPENAI_BASE_URL={GATEWAY}"),
        &format!("anthropic claude-opus-5 {ANTHROPIC} ka"),
    );
}

#[test]
fn a_gateway_may_name_models_with_their_vendors() {
    let gateway = |model: &str| format!("openai {model} {GATEWAY} configured");
    let configured = format!("model=anthropic/claude-opus-5 url={GATEWAY} key=configured");
    leads(Role::Judge, "", &configured, KEYS, &gateway("anthropic/claude-opus-5"));
    leads(Role::Judge, "model=google/gemini-2.5-pro", &configured, KEYS, &gateway("google/gemini-2.5-pro"));
    leads(Role::Judge, "model=meta/llama", &configured, KEYS, &gateway("meta/llama"));
}

#[test]
fn azure_needs_an_address_and_the_name_of_a_deployment() {
    let variables = "AZURE_OPENAI_ENDPOINT=https://desk.openai.azure.com/ AZURE_OPENAI_API_KEY=kz";
    let azure = |model: &str| format!("azure {model} https://desk.openai.azure.com/openai/v1 kz");
    leads(Role::Judge, "provider=azure model=ours", "", variables, &azure("ours"));
    leads(Role::Judge, "model=gpt-4o", "provider=azure model=ours", variables, &azure("gpt-4o"));
    leads(Role::Embedding, "", "provider=azure model=ours", variables, &azure("ours"));
    let problem = |own, variables| led(Role::Judge, own, "", variables).unwrap_err().to_string();
    assert!(problem("provider=azure", variables).contains("the name of the deployment"));
    assert!(problem("provider=azure model=ours", "").contains("AZURE_OPENAI_ENDPOINT"));
}

#[test]
fn a_provider_that_cannot_do_it_is_refused_with_those_that_can() {
    let problem = |role, own: &str| led(role, own, "", KEYS).unwrap_err().to_string();
    for provider in ["cohere", "voyage", "local"] {
        let problem = problem(Role::Judge, &format!("provider={provider}"));
        assert!(problem.starts_with(&format!("{provider} has no judge models")), "{problem}");
        assert!(problem.contains("`anthropic`"), "{problem}");
    }
    assert!(problem(Role::Embedding, "provider=anthropic").starts_with("anthropic has no embeddings"));
    assert!(problem(Role::Embedding, "model=claude-opus-5").contains("`local`"));
    assert!(problem(Role::Moderation, "provider=gemini").starts_with("gemini has no moderation"));
}

#[test]
fn moderation_is_openais_whoever_judges() {
    let expected = format!("openai omni-moderation-latest {OPENAI} ko");
    leads(Role::Moderation, "", "", KEYS, &expected);
    leads(
        Role::Moderation,
        "",
        &format!("model=claude-opus-5 url={GATEWAY} key=configured"),
        KEYS,
        &expected,
    );
    leads(Role::Moderation, "", "model=gpt-4o key=configured", KEYS, &expected.replace(" ko", " configured"));
}

#[test]
fn a_key_that_is_known_to_be_another_vendors_is_not_sent() {
    let refused = |own: &str| led(Role::Judge, own, "", KEYS).unwrap_err().to_string();
    let error = refused("model=gpt-6-luna key-env=ANTHROPIC_API_KEY");
    let expected =
        "ANTHROPIC_API_KEY is the key for anthropic, but `gpt-6-luna` is from openai; name a variable";
    assert!(error.starts_with(expected), "{error}");
    // A gateway may accept any vendor's key.
    let own = format!("model=gpt-6-luna url={GATEWAY} key-env=ANTHROPIC_API_KEY");
    leads(Role::Judge, &own, "", KEYS, &format!("openai gpt-6-luna {GATEWAY} ka"));
}

#[test]
fn nobody_is_led_to_believe_that_a_model_compares_the_letters() {
    for (own, configured) in [
        ("provider=local model=text-embedding-3-small", ""),
        ("provider=local url=http://localhost:1/v1", ""),
        ("", "provider=local model=nomic-embed-text"),
        ("", "provider=local url=http://localhost:1/v1"),
    ] {
        let error = led(Role::Embedding, own, configured, "").unwrap_err().to_string();
        assert!(error.contains("`local` uses no model; remove `model` and `base-url`"), "{own}: {error}");
    }
    leads(
        Role::Embedding,
        "provider=local",
        "provider=openai model=text-embedding-3-small",
        "",
        "local local  none",
    );
}
