//! Evaluators in the file that call models.

use super::Project;
use super::errors::refused;
use crate::{
    Aggregate, Autoeval, AutoevalKind, Distance, Evaluator, GEval, LlmJudge, Pairwise, Provider, Similarity,
};

/// The fingerprint, name and pass mark of the only evaluator of a file.
fn made(text: &str) -> (String, String, f64) {
    let made = Project::with(text).load().evaluators().unwrap();
    assert_eq!(made.len(), 1);
    (made[0].fingerprint(), made[0].name().to_owned(), made[0].pass_mark())
}

#[track_caller]
fn makes(text: &str, expected: &dyn Evaluator) {
    let expected = (expected.fingerprint(), expected.name().to_owned(), expected.pass_mark());
    assert_eq!(made(text), expected);
}

#[test]
fn a_judge_has_every_setting_of_its_table() {
    makes(
        "[[evaluators]]\ntype = \"llm-judge\"\nprompt = \"{{output}}\"",
        &LlmJudge::new("llm-judge", "{{output}}"),
    );
    makes(
        r#"
        [[evaluators]]
        type = "llm-judge"
        name = "polite"
        prompt = "{{output}} {{answer}}"
        scoring = "scale"
        chain-of-thought = true
        model = "judge-a"
        provider = "openai"
        base-url = "http://localhost:1/v1"
        api-key-env = "OUR_KEY"
        temperature = 0
        pass-mark = 0.7
        system = "You judge manners."
        fields = { answer = "output.answer" }
        "#,
        &LlmJudge::new("polite", "{{output}} {{answer}}")
            .scale()
            .chain_of_thought(true)
            .model("judge-a")
            .provider(Provider::OpenAi)
            .base_url("http://localhost:1/v1")
            .api_key_env("OUR_KEY")
            .temperature(0.0)
            .pass_mark(0.7)
            .system("You judge manners.")
            .field("answer", "output.answer"),
    );
    makes(
        "[[evaluators]]\ntype = \"llm-judge\"\nprompt = \"{{output}}\"\nmodels = [\"a\", \"b\"]\naggregate = \"majority\"",
        &LlmJudge::new("llm-judge", "{{output}}").models(["a", "b"]).aggregate(Aggregate::Majority),
    );
}

#[test]
fn a_preset_takes_the_place_of_a_prompt_and_gives_its_name() {
    for (preset, judge) in [
        ("hallucination", LlmJudge::hallucination("hallucination")),
        ("toxicity", LlmJudge::toxicity("toxicity")),
        ("bias", LlmJudge::bias("bias")),
        ("task-completion", LlmJudge::task_completion("task-completion")),
        ("summarisation", LlmJudge::summarisation("summarisation")),
        ("goal-reached", LlmJudge::goal_reached("goal-reached")),
        ("stays-in-role", LlmJudge::stays_in_role("stays-in-role")),
        ("remembers", LlmJudge::remembers("remembers")),
        ("answers-each-turn", LlmJudge::answers_each_turn("answers-each-turn")),
        ("user-frustration", LlmJudge::user_frustration("user-frustration")),
    ] {
        makes(&format!("evaluators = [{{ type = \"llm-judge\", preset = \"{preset}\" }}]"), &judge);
    }
    makes(
        r#"
        [[evaluators]]
        type = "llm-judge"
        preset = "hallucination"
        name = "grounded"
        fields = { context = "docs" }
        models = ["a", "b"]
        aggregate = "majority"
        chain-of-thought = true
        system = "You judge geography."
        pass-mark = 0.9
        "#,
        &LlmJudge::hallucination("grounded")
            .field("context", "docs")
            .models(["a", "b"])
            .aggregate(Aggregate::Majority)
            .chain_of_thought(true)
            .system("You judge geography.")
            .pass_mark(0.9),
    );
}

#[test]
fn what_is_judged_is_said_once() {
    let judge = "[[evaluators]]\ntype = \"llm-judge\"\npreset = ";
    for (settings, problem) in [
        ("\"bias\"\nprompt = \"{{output}}\"", "1:1: `prompt` and `preset` are mutually exclusive"),
        (
            "\"bias\"\nscoring = \"scale\"",
            "1:1: `scoring` applies only to a prompt; the preset `bias` has its own",
        ),
        ("\"summarization\"", "3:10: unknown preset `summarization`; did you mean `summarisation`?"),
        ("\"politeness\"", "3:10: unknown preset `politeness`; valid presets: `hallucination`, `toxicity`,"),
        ("true", "3:10: invalid type: boolean `true`, expected the name of a preset in quotes"),
    ] {
        let error = refused(&format!("{judge}{settings}"));
        assert!(error.starts_with(problem), "{error}");
    }
}

#[test]
fn a_rating_by_a_criterion_has_every_setting_of_its_table() {
    makes("evaluators = [{ type = \"g-eval\", criterion = \"c\" }]", &GEval::new("g-eval", "c"));
    makes(
        r#"
        [[evaluators]]
        type = "g-eval"
        name = "coherent"
        criterion = "It hangs together."
        steps = ["Read it.", "Rate it."]
        samples = 5
        inputs = ["output", "documents"]
        fields = { documents = "metadata.documents" }
        model = "m"
        provider = "openai"
        base-url = "http://localhost:1/v1"
        api-key-env = "OUR_KEY"
        temperature = 1
        pass-mark = 0.7
        "#,
        &GEval::new("coherent", "It hangs together.")
            .steps(["Read it.", "Rate it."])
            .samples(5)
            .inputs(["output", "documents"])
            .field("documents", "metadata.documents")
            .model("m")
            .provider(Provider::OpenAi)
            .base_url("http://localhost:1/v1")
            .api_key_env("OUR_KEY")
            .temperature(1.0)
            .pass_mark(0.7),
    );
    let table = "[[evaluators]]\ntype = \"g-eval\"\ncriterion = \"c\"\n";
    for (setting, problem) in [
        ("samples = 0", "4:11: invalid value: integer `0`, expected a whole number of at least 1"),
        ("steps = []", "4:9: the list is empty; add an entry or remove the key"),
        ("criteria = \"\"", "4:1: unknown key `criteria`; did you mean `criterion`?"),
    ] {
        assert_eq!(refused(&format!("{table}{setting}")), problem);
    }
}

#[test]
fn a_comparison_has_every_setting_of_its_table() {
    makes("evaluators = [{ type = \"pairwise\", field = \"f\" }]", &Pairwise::new("pairwise", "f"));
    makes(
        r#"
        [[evaluators]]
        type = "pairwise"
        name = "better"
        field = "answers[0]"
        criterion = "The shorter one."
        fields = { input = "question.text" }
        model = "m"
        provider = "anthropic"
        base-url = "http://localhost:1"
        api-key-env = "OUR_KEY"
        temperature = 0
        pass-mark = 1
        "#,
        &Pairwise::new("better", "answers[0]")
            .criterion("The shorter one.")
            .field("input", "question.text")
            .model("m")
            .provider(Provider::Anthropic)
            .base_url("http://localhost:1")
            .api_key_env("OUR_KEY")
            .temperature(0.0)
            .pass_mark(1.0),
    );
}

#[test]
fn similarity_has_every_setting_of_its_table() {
    makes("evaluators = [{ type = \"similarity\", field = \"a\" }]", &Similarity::new("similarity", "a"));
    makes(
        r#"
        [[evaluators]]
        type = "similarity"
        name = "close"
        field = "answers[0].text"
        distance = "dot"
        threshold = 0.8
        model = "m"
        provider = "voyage"
        base-url = "http://localhost:1"
        api-key-env = "OUR_KEY"
        pass-mark = 1
        "#,
        &Similarity::new("close", "answers[0].text")
            .distance(Distance::Dot)
            .threshold(0.8)
            .model("m")
            .provider(Provider::Voyage)
            .base_url("http://localhost:1")
            .api_key_env("OUR_KEY")
            .pass_mark(1.0),
    );
}

#[test]
fn autoevals_have_the_settings_of_their_table() {
    makes(
        "evaluators = [{ type = \"autoevals\", autoeval = \"JSONDiff\" }]",
        &Autoeval::new(AutoevalKind::JsonDiff, "JsonDiff"),
    );
    makes(
        r#"
        [[evaluators]]
        type = "autoevals"
        autoeval = "ClosedQA"
        name = "grounded"
        fields = { input = "question" }
        values = { criteria = "It is short.", limits = [1, 2] }
        expected = "answers[0]"
        model = "m"
        temperature = 0.5
        chain-of-thought = false
        pass-mark = 0.9
        "#,
        &Autoeval::closed_qa("grounded")
            .expected("answers[0]")
            .model("m")
            .temperature(0.5)
            .chain_of_thought(false)
            .pass_mark(0.9)
            .field("input", "question")
            .value("criteria", "It is short.")
            .value("limits", serde_json::json!([1, 2])),
    );
    makes(
        r#"
        [[evaluators]]
        type = "autoevals"
        autoeval = "AnswerCorrectness"
        embedding-model = "e"
        weights = { factuality = 1, similarity = 0.5 }
        "#,
        &Autoeval::answer_correctness("AnswerCorrectness").embedding_model("e").weights(1.0, 0.5),
    );
}

#[test]
fn a_name_that_is_none_is_told_the_nearest() {
    let judge = "[[evaluators]]\ntype = \"llm-judge\"\nprompt = \"{{output}}\"\n";
    for (setting, problem) in [
        ("scoring = \"bool\"", "4:11: unknown scoring mode `bool`; did you mean `boolean`?"),
        ("scoring = \"scales\"", "4:11: unknown scoring mode `scales`; did you mean `scale`?"),
        ("models = []", "4:10: the list is empty; add an entry or remove the key"),
        ("model = \"a\"\nmodels = [\"b\"]", "1:1: `model` and `models` are mutually exclusive; remove one"),
        ("aggregate = \"mean\"", "1:1: `aggregate` applies only to a panel; set `models`, or remove it"),
        ("temperature = 3", "4:15: invalid value: integer `3`, expected a number from 0 to 2"),
        ("models = \"a\"", "4:10: invalid type: string \"a\", expected a list"),
        ("promt = \"\"", "4:1: unknown key `promt`; did you mean `prompt`?"),
        (
            "context = { answer = \"output.answer\" }",
            "4:1: unknown key `context`; valid keys: `name`, `prompt`, `preset`, `fields`, `scoring`, \
             `chain-of-thought`, `models`, `aggregate`, `pass-mark`, `system`, `model`, `provider` and 3 more",
        ),
    ] {
        assert_eq!(refused(&format!("{judge}{setting}")), problem);
    }
    assert_eq!(
        refused("evaluators = [{ type = \"similarity\", field = \"a\", distance = \"cosinus\" }]"),
        "1:62: unknown distance `cosinus`; did you mean `cosine`?"
    );
    let error = refused("evaluators = [{ type = \"autoevals\", autoeval = \"Factualty\" }]");
    assert!(
        error.starts_with("1:48: unknown autoeval kind `Factualty`; did you mean `Factuality`?"),
        "{error}"
    );
}

#[test]
fn what_is_required_is_named() {
    assert_eq!(
        refused("evaluators = [{ type = \"llm-judge\" }]"),
        "1:15: the key `prompt` is missing; write a prompt, or set a `preset`: `hallucination`, `toxicity`, `bias`, \
         `task-completion`, `summarisation`, `goal-reached`, `stays-in-role`, `remembers`, `answers-each-turn`, `user-frustration`"
    );
    assert_eq!(refused("evaluators = [{ type = \"g-eval\" }]"), "1:15: the key `criterion` is missing");
    assert_eq!(refused("evaluators = [{ type = \"pairwise\" }]"), "1:15: the key `field` is missing");
    assert_eq!(refused("evaluators = [{ type = \"similarity\" }]"), "1:15: the key `field` is missing");
    assert_eq!(refused("evaluators = [{ type = \"autoevals\" }]"), "1:15: the key `autoeval` is missing");
}

#[test]
fn a_provider_that_has_not_what_is_asked_of_it_is_told_where_it_stands() {
    for (text, problem) in [
        (
            "[judge]\nprovider = \"local\"",
            "2:12: local has no judge models; set another `provider`: `openai`",
        ),
        (
            "[embedding]\nprovider = \"anthropic\"",
            "2:12: anthropic has no embeddings; set another `provider`: `openai`",
        ),
        (
            "[[evaluators]]\ntype = \"llm-judge\"\nprompt = \"{{output}}\"\nprovider = \"voyage\"",
            "4:12: voyage has no judge models",
        ),
    ] {
        let error = refused(text);
        assert!(error.starts_with(problem), "{error}");
    }
}

#[test]
fn an_input_cannot_come_from_two_places() {
    let table = "[[evaluators]]\ntype = \"autoevals\"\nautoeval = \"ClosedQA\"\n";
    for (settings, problem) in [
        (
            "fields = { criteria = \"a\" }\nvalues = { criteria = \"b\" }",
            "`fields` and `values` both set the input `criteria`",
        ),
        ("expected = \"a\"\nfields = { expected = \"b\" }", "`expected` and `fields` both set"),
        ("expected = \"a\"\nvalues = { expected = \"b\" }", "`expected` and `values` both set"),
    ] {
        let error = refused(&format!("{table}{settings}"));
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn what_an_evaluator_of_the_file_objects_to_says_where_it_stands() {
    let project =
        Project::with("concurrency = 2\n\n[[evaluators]]\ntype = \"llm-judge\"\nprompt = \"Good?\"\n");
    let made = project.load().evaluators().unwrap();
    let error = crate::evaluators::tests::without_models(&made[0], &[]).unwrap_err().to_string();
    assert!(error.contains("cobalt.toml:3:1: the prompt has no variables"), "{error}");
}
