//! Text evaluators in the file.

use super::Project;
use super::errors::refused;
use crate::metrics::BleuTokenizer;
use crate::{Bleu, ChrF, Contains, Evaluator, ExactMatch, RegexMatch, Rouge, SquadExactMatch, TokenF1, Wer};

/// Checks that this table creates the expected evaluator.
#[track_caller]
fn makes(table: &str, expected: &dyn Evaluator) {
    let made = Project::with(&format!("[[evaluators]]\n{table}")).load().evaluators().unwrap();
    let parts = |evaluator: &dyn Evaluator| {
        (evaluator.name().to_owned(), evaluator.pass_mark(), evaluator.fingerprint())
    };
    assert_eq!(made.iter().map(|made| parts(made)).collect::<Vec<_>>(), [parts(expected)]);
}

#[test]
fn a_table_with_what_is_required_makes_what_is_usual() {
    makes("type = \"rouge\"\nfield = \"a\"\nvariant = \"1\"", &Rouge::one("rouge-1", "a"));
    makes("type = \"rouge\"\nfield = \"a\"\nvariant = \"2\"", &Rouge::two("rouge-2", "a"));
    makes("type = \"rouge\"\nfield = \"a\"\nvariant = \"l\"", &Rouge::l("rouge-l", "a"));
    makes("type = \"rouge\"\nfield = \"a\"\nvariant = \"lsum\"", &Rouge::lsum("rouge-lsum", "a"));
    makes("type = \"bleu\"\nfield = \"a\"", &Bleu::new("bleu", "a"));
    makes("type = \"chrf\"\nfield = \"a\"", &ChrF::new("chrf", "a"));
    makes("type = \"wer\"\nfield = \"a\"", &Wer::new("wer", "a"));
    makes("type = \"token-f1\"\nfield = \"a\"", &TokenF1::new("token-f1", "a"));
    makes("type = \"squad-exact-match\"\nfield = \"a\"", &SquadExactMatch::new("squad-exact-match", "a"));
    makes("type = \"contains\"\nfield = \"a\"", &Contains::new("contains", "a"));
    makes("type = \"contains\"\ntexts = [\" a\"]", &Contains::text("contains", " a"));
    makes("type = \"regex\"\nfield = \"a\"", &RegexMatch::new("regex", "a"));
    makes("type = \"regex\"\npattern = '\\d'", &RegexMatch::pattern("regex", r"\d"));
}

#[test]
fn a_table_has_every_setting_of_its_evaluator() {
    let common = "name = \"n\"\noutput = \"output.answer\"\npass-mark = 0.7\n";
    let with = |table: &str| format!("{table}\n{common}");
    makes(
        &with("type = \"rouge\"\nfield = \"a.b\"\nvariant = \"l\"\nmeasure = \"recall\"\nstemmer = true"),
        &Rouge::l("n", "a.b").recall().stemmer(true).output("output.answer").pass_mark(0.7),
    );
    makes(
        &with("type = \"bleu\"\nfield = \"a\"\ntokenizer = \"char\"\nmax-order = 2\ncase-sensitive = false"),
        &Bleu::new("n", "a")
            .tokenizer(BleuTokenizer::Char)
            .max_order(2)
            .case_sensitive(false)
            .output("output.answer")
            .pass_mark(0.7),
    );
    makes(
        &with(
            "type = \"chrf\"\nfield = \"a\"\nchar-order = 4\nword-order = 2\nbeta = 1\ncase-sensitive = false",
        ),
        &ChrF::new("n", "a")
            .char_order(4)
            .word_order(2)
            .beta(1.0)
            .case_sensitive(false)
            .output("output.answer")
            .pass_mark(0.7),
    );
    makes(
        &with("type = \"wer\"\nfield = \"a\"\ncharacters = true"),
        &Wer::new("n", "a").characters(true).output("output.answer").pass_mark(0.7),
    );
    makes(
        &with("type = \"token-f1\"\nfield = \"a\""),
        &TokenF1::new("n", "a").output("output.answer").pass_mark(0.7),
    );
    makes(
        &with("type = \"squad-exact-match\"\nfield = \"a\""),
        &SquadExactMatch::new("n", "a").output("output.answer").pass_mark(0.7),
    );
    makes(
        &with("type = \"contains\"\ntexts = [\"a\", \"b\"]\nrequire = \"any\"\ncase-sensitive = false"),
        &Contains::texts("n", ["a", "b"]).any().case_sensitive(false).output("output.answer").pass_mark(0.7),
    );
    makes(
        &with("type = \"regex\"\npattern = \"a|b\"\nwhole = true\nnot = true\ncase-sensitive = false"),
        &RegexMatch::pattern("n", "a|b")
            .whole(true)
            .not(true)
            .case_sensitive(false)
            .output("output.answer")
            .pass_mark(0.7),
    );
    makes(
        &with("type = \"exact-match\"\nfield = \"a\""),
        &ExactMatch::new("n", "a").output("output.answer").pass_mark(0.7),
    );
}

#[cfg(feature = "json-schema")]
#[test]
fn a_schema_is_a_table_or_text_or_in_a_file_or_in_the_item() {
    use crate::JsonSchema;

    // In the key order of the TOML parser.
    let schema = serde_json::json!({"required": ["price"], "type": "object"});
    makes(
        "type = \"json-schema\"\nschema = { type = \"object\", required = [\"price\"] }",
        &JsonSchema::schema("json-schema", schema.clone()),
    );
    makes(
        &format!("type = \"json-schema\"\nschema = '{schema}'"),
        &JsonSchema::schema("json-schema", schema.to_string().into()),
    );
    makes(
        "type = \"json-schema\"\nfield = \"form\"\noutput = \"output.a\"\nname = \"n\"",
        &JsonSchema::new("n", "form").output("output.a"),
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("form.json");
    std::fs::write(&path, schema.to_string()).unwrap();
    makes(&format!("type = \"json-schema\"\nfile = {path:?}"), &JsonSchema::schema("json-schema", schema));
}

#[cfg(all(feature = "judge", not(feature = "json-schema")))]
#[test]
fn without_its_feature_a_schema_is_refused_before_anything_runs() {
    let project = Project::with("\n[[evaluators]]\ntype = \"json-schema\"\nschema = { type = \"object\" }\n");
    let made = project.load().evaluators().unwrap();
    let error = crate::evaluators::tests::without_models(&made[0], &[]).unwrap_err().to_string();
    assert!(error.contains("cobalt.toml:2:1: ") && error.contains("feature `json-schema`"), "{error}");
}

#[cfg(feature = "json-schema")]
#[test]
fn a_broken_schema_is_told_with_its_place_before_anything_runs() {
    for (schema, problem) in [
        ("file = \"no/such.json\"", "the schema in `no/such.json`: "),
        ("schema = { type = \"order\" }", "invalid JSON schema: "),
    ] {
        let project = Project::with(&format!("\n[[evaluators]]\ntype = \"json-schema\"\n{schema}\n"));
        let made = project.load().evaluators().unwrap();
        let error = crate::evaluators::tests::without_models(&made[0], &[]).unwrap_err().to_string();
        assert!(error.contains(&format!("cobalt.toml:2:1: {problem}")), "{error}");
    }
}

#[test]
fn a_value_that_cannot_be_is_told_what_may() {
    for (table, problem) in [
        ("type = \"rouge\"\nfield = \"a\"", "1:1: the key `variant` is missing"),
        ("type = \"rouge\"\nvariant = \"l\"", "1:1: the key `field` is missing"),
        (
            "type = \"rouge\"\nfield = \"a\"\nvariant = 1",
            "4:11: invalid type: integer `1`, expected a ROUGE variant in quotes",
        ),
        (
            "type = \"rouge\"\nfield = \"a\"\nvariant = \"n\"",
            "4:11: unknown ROUGE variant `n`; valid variants: `1`, `2`, `l`, `lsum`",
        ),
        (
            "type = \"rouge\"\nfield = \"a\"\nvariant = \"l\"\nmeasure = \"f-1\"",
            "5:11: unknown measure `f-1`; did you mean `f1`?",
        ),
        (
            "type = \"bleu\"\nfield = \"a\"\ntokenizer = \"ja-mecab\"",
            "4:13: unknown tokenizer `ja-mecab`; valid tokenizers: `13a`, `none`, `char`, `intl`, `zh`",
        ),
        (
            "type = \"bleu\"\nfield = \"a\"\nmax-order = 0",
            "4:13: invalid value: integer `0`, expected a whole number of at least 1",
        ),
        (
            "type = \"chrf\"\nfield = \"a\"\nbeta = -1",
            "4:8: invalid value: integer `-1`, expected a number of at least 0",
        ),
        ("type = \"chrf\"\nfield = \"\"", "3:9: the string is empty; remove the key to use the default"),
        (
            "type = \"wer\"\nfield = \"a\"\ncharacter = true",
            "4:1: unknown key `character`; did you mean `characters`?",
        ),
        (
            "type = \"token-f1\"\nfield = \"a\"\npass-mark = 70",
            "4:13: invalid value: integer `70`, expected a number from 0 to 1",
        ),
        (
            "type = \"contains\"\ntexts = [\"a\"]\nrequire = \"some\"",
            "4:11: unknown quantity `some`; valid quantities: `all`, `any`, `none`",
        ),
        ("type = \"contains\"\ntexts = \"a\"", "3:9: invalid type: string \"a\", expected a list"),
        ("type = \"contains\"\ntexts = []", "3:9: the list is empty; add an entry or remove the key"),
        (
            "type = \"contains\"\ntexts = [\"a\", \"\"]",
            "3:15: the text is empty, which matches every output; remove it",
        ),
        ("type = \"regex\"\npattern = \"(a\"", "3:11: invalid regular expression `(a`: unclosed group"),
    ] {
        assert_eq!(refused(&format!("[[evaluators]]\n{table}\n")), problem, "{table}");
    }
}

#[test]
fn what_is_asked_for_is_said_once() {
    for (table, problem) in [
        ("type = \"contains\"", "missing texts to look for; set one of the keys `field`, `texts`"),
        (
            "type = \"contains\"\nfield = \"a\"\ntexts = [\"b\"]",
            "`field` and `texts` both set the texts to look for; remove one",
        ),
        ("type = \"regex\"", "missing pattern; set one of the keys `field`, `pattern`"),
        (
            "type = \"regex\"\nfield = \"a\"\npattern = \"b\"",
            "`field` and `pattern` both set the pattern; remove one",
        ),
        #[cfg(feature = "judge")]
        ("type = \"json-schema\"", "missing schema; set one of the keys `field`, `schema`, `file`"),
        #[cfg(feature = "judge")]
        (
            "type = \"json-schema\"\nfile = \"a\"\nschema = {}",
            "`schema` and `file` both set the schema; remove one",
        ),
    ] {
        assert_eq!(refused(&format!("[[evaluators]]\n{table}\n")), format!("1:1: {problem}"));
    }
}

#[test]
fn the_time_to_read_a_file_grows_with_its_keys() {
    let lines = |keys| (0..keys).map(|n| format!("NAME_{n} = \"value\"\n")).collect::<String>();
    let in_lines = |keys| format!("[env]\n{}", lines(keys));
    let in_one_line = |keys| format!("env = {{ {} }}", lines(keys).trim_end().replace('\n', ", "));
    for text in [&in_lines as &dyn Fn(usize) -> String, &in_one_line] {
        let projects = [2_000, 8_000].map(|keys| (keys, Project::with(&text(keys))));
        let took = || {
            projects.each_ref().map(|(keys, project)| {
                let started = std::time::Instant::now();
                assert_eq!(project.load().env().len(), *keys);
                started.elapsed()
            })
        };
        // Other programs may slow down some rounds.
        let is_in_proportion = |[few, many]: [std::time::Duration; 2]| many < few * 8;
        assert!((0..5).any(|_| is_in_proportion(took())), "4 times the keys take more than 8 times as long");
    }
}
