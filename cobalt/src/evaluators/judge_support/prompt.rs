//! The prompt of a judge: validated before a run, rendered for each output.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cobalt_core::item::Item;
use cobalt_core::wording;
use serde_json::{Map, Value};

use super::inputs::{self, MESSAGES, NO_CONVERSATION, TRACE, is_conversation, is_traced};
use crate::evaluators::field_path::{METADATA, OUTPUT, field_names};
use crate::evaluators::trace_check::NO_SPANS;
use crate::evaluators::{CheckError, EvalContext, EvalError};
use crate::template::{Template, Variable};

/// A prompt with `{{variables}}`. `output` takes precedence over an item field. `metadata` is the agent's; if it reports none,
/// the item's field. `trace` and `messages` are the item's fields; if there are none, the outline of what the agent did, and its conversation.
#[derive(Clone, Debug)]
pub(in crate::evaluators) struct Prompt {
    template: Template,
    /// Variables that are mapped to another path.
    fields: BTreeMap<String, Variable>,
}

impl Prompt {
    pub(in crate::evaluators) fn new(text: String) -> Self {
        Self { template: Template::parse(text), fields: BTreeMap::new() }
    }

    /// Maps the variable `name`, and paths that start with it, to `path`.
    pub(in crate::evaluators) fn set_field(&mut self, name: String, path: &str) {
        self.fields.insert(name, Variable::new(path));
    }

    /// Renders the prompt for an output. A variable without a value is an error.
    pub(in crate::evaluators) fn render(&self, cx: &EvalContext) -> Result<String, EvalError> {
        let shows_trace = self.template.variables().iter().any(|it| self.is_whole_trace(it.name()));
        if shows_trace && is_traced(cx.item()) {
            cx.whole_trace()?;
        }
        let given = |name: &str| match name {
            OUTPUT => Some(cx.output().clone()),
            METADATA if !cx.metadata().is_empty() => Some(Value::Object(cx.metadata().clone())),
            TRACE if is_traced(cx.item()) => inputs::outline(cx.trace()),
            MESSAGES if is_conversation(cx.item()) => inputs::conversation(cx),
            path if Variable::new(path).root() == MESSAGES && is_conversation(cx.item()) => {
                Variable::new(path).resolve_in(&inputs::conversation_messages(cx)?).cloned()
            }
            name => cx.item().get(name).cloned(),
        };
        let values = self.values(given);
        match self.template.unresolved(&values)[..] {
            [] => Ok(self.template.render(&values)),
            [name, ..] if self.root(name) == OUTPUT && cx.output().is_null() => {
                Err(EvalError::new("the agent's output is null; there is nothing to judge"))
            }
            [name, ..] if self.is_whole_trace(name) && is_traced(cx.item()) => {
                Err(EvalError::new(format!("the prompt's `{{{{{name}}}}}` is empty: {NO_SPANS}")))
            }
            [name, ..]
                if self.root(name) == MESSAGES && is_conversation(cx.item()) && cx.transcript().is_none() =>
            {
                Err(EvalError::new(format!("the prompt's `{{{{{name}}}}}` is empty: {NO_CONVERSATION}")))
            }
            [name, ..] => {
                let from = self
                    .mapped_path(name)
                    .map_or_else(String::new, |path| format!(" (from `{}`)", path.name()));
                let fields = wording::join_quoted(cx.item().keys().map(String::as_str));
                Err(EvalError::new(format!(
                    "the prompt's `{{{{{name}}}}}`{from} is missing or null in this item; the item has {fields}"
                )))
            }
        }
    }

    /// Checks that there are variables, and that every mapped name is used.
    pub(in crate::evaluators) fn check(&self) -> Result<(), CheckError> {
        let variables = self.template.variables();
        if variables.is_empty() {
            return Err(CheckError::new(
                "the prompt has no variables; include what is to be judged, such as `{{output}}`",
            ));
        }
        let roots = || variables.iter().map(|variable| variable.root());
        let is_used = |field: &&String| {
            !roots().any(|root| root == *field) && !self.lookup_names().contains(field.as_str())
        };
        match self.fields.keys().find(is_used) {
            Some(field) => Err(CheckError::new(format!(
                "the prompt has no variable `{{{{{field}}}}}`; {}",
                wording::suggest_or_list(field, roots().collect::<BTreeSet<_>>())
            ))),
            None => Ok(()),
        }
    }

    /// Checks that the prompt includes something of the agent's result, and that at least one item has all variables.
    pub(in crate::evaluators) fn check_items(
        &self,
        items: impl Iterator<Item = Arc<Item>> + Clone,
    ) -> Result<(), CheckError> {
        let is_of_run = |name: &str| items.clone().all(|item| self.is_of_run(name, &item));
        let is_from_item = |name: &str| self.is_from_item(name) && !is_of_run(name);
        if self.template.variables().iter().all(|variable| is_from_item(variable.name())) {
            return Err(CheckError::new(
                "the prompt includes nothing of the agent's result, so every output would be judged the same; add `{{output}}`",
            ));
        }
        let mut lacking: Option<Vec<&str>> = None;
        for item in items.clone() {
            let values = self.values(|name| item.get(name).cloned());
            let unresolved = self.template.unresolved(&values);
            let is_missing = |name: &&str| self.is_from_item(name) && !self.is_of_run(name, &item);
            let unresolved: Vec<_> = unresolved.into_iter().filter(is_missing).collect();
            if unresolved.is_empty() {
                return Ok(());
            }
            let before = lacking.take().unwrap_or_else(|| unresolved.clone());
            lacking = Some(before.into_iter().filter(|name| unresolved.contains(name)).collect());
        }
        // There are no items.
        let Some(lacking) = lacking else { return Ok(()) };
        let Some(name) = lacking.first().copied() else {
            let names = self.template.variables().into_iter().map(Variable::name);
            return Err(CheckError::new(format!(
                "no item has all of the prompt's variables; each lacks at least one of {}",
                wording::join_quoted(names.filter(|name| is_from_item(name)))
            )));
        };
        let path = self.mapped_path(name).map_or(name, Variable::name);
        let names = field_names(items);
        let known: BTreeSet<_> = names.iter().map(String::as_str).chain([OUTPUT, METADATA]).collect();
        Err(CheckError::new(format!(
            "the prompt's `{{{{{name}}}}}` would be empty: no item has `{path}`; {}",
            wording::suggest_or_list(path, known.iter().copied())
        )))
    }

    /// The values of the template's root variables.
    fn values(&self, given: impl Fn(&str) -> Option<Value>) -> Map<String, Value> {
        let value = |name: &&str| match self.fields.get(*name) {
            Some(path) => {
                let starts = [path.root(), path.name()].into_iter();
                let from = starts.filter_map(|start| Some((start.to_owned(), given(start)?))).collect();
                path.resolve(&from).cloned()
            }
            None => given(name),
        };
        self.lookup_names().into_iter().filter_map(|name| Some((name.to_owned(), value(&name)?))).collect()
    }

    /// The names to look up for the template's variables: a field with the full name takes precedence over the path.
    fn lookup_names(&self) -> BTreeSet<&str> {
        self.template
            .variables()
            .into_iter()
            .flat_map(|variable| [variable.name(), variable.root()])
            .collect()
    }

    /// The path that a variable is mapped to.
    fn mapped_path(&self, name: &str) -> Option<&Variable> {
        self.fields.get(name).or_else(|| self.fields.get(Variable::new(name).root()))
    }

    /// Whether a variable comes from the item, not from the agent's result.
    fn is_from_item(&self, name: &str) -> bool {
        let root = self.root(name);
        root != OUTPUT && root != METADATA
    }

    /// Whether a variable is the trace or the conversation of the run, of which the item has no field.
    fn is_of_run(&self, name: &str, item: &Item) -> bool {
        (self.is_whole_trace(name) && is_traced(item))
            || (self.root(name) == MESSAGES && is_conversation(item))
    }

    /// Whether a variable is `trace`, and not a path into it.
    fn is_whole_trace(&self, name: &str) -> bool {
        self.fields.get(name).map_or(name, Variable::name) == TRACE
    }

    /// The root of a variable.
    fn root(&self, name: &str) -> String {
        let variable = Variable::new(name);
        self.mapped_path(name).unwrap_or(&variable).root().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use cobalt_core::item::Output;
    use cobalt_core::trace::Trace;

    use super::*;

    fn prompt(text: &str, fields: &[(&str, &str)]) -> Prompt {
        let mut prompt = Prompt::new(text.to_owned());
        for (name, path) in fields {
            prompt.set_field((*name).to_owned(), path);
        }
        prompt
    }

    fn filled(prompt: &Prompt, item: Value, output: Output) -> Result<String, String> {
        let item = item.as_object().unwrap().clone();
        prompt.render(&EvalContext::new(item, output)).map_err(|error| error.to_string())
    }

    fn checked(text: &str, items: &[Value]) -> Result<(), String> {
        let items: Vec<_> = items.iter().map(|item| item.as_object().unwrap().clone()).collect();
        prompt(text, &[]).check_items(items.iter().cloned().map(Arc::new)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_output_of_the_agent_wins_over_a_field_of_the_item() {
        let text = filled(
            &prompt("{{output}} {{ id }}", &[]),
            json!({ "output": "old", "id": 7 }),
            Output::new("new"),
        );
        assert_eq!(text.as_deref(), Ok("new 7"));
    }

    #[test]
    fn metadata_is_the_agents_and_else_the_items() {
        let prompt = prompt("{{metadata.from}}", &[]);
        let item = json!({ "metadata": { "from": "item" } });
        assert_eq!(filled(&prompt, item.clone(), Output::new("")).as_deref(), Ok("item"));
        let output = Output::new("").metadata("from", "agent");
        assert_eq!(filled(&prompt, item, output).as_deref(), Ok("agent"));
    }

    #[test]
    fn a_field_shows_what_its_path_leads_to() {
        let prompt = prompt(
            "{{answer}} {{source[1]}} {{a.b}}",
            &[("answer", "output.text"), ("source", "context[0].pages"), ("a.b", "id")],
        );
        assert!(prompt.check().is_ok());
        let item = json!({ "context": [{ "pages": ["p", "q"] }], "id": 7 });
        assert_eq!(filled(&prompt, item, Output::new(json!({ "text": "yes" }))).as_deref(), Ok("yes q 7"));
    }

    #[test]
    fn a_value_that_an_item_lacks_is_an_error_that_names_it() {
        let prompt = prompt("{{output}} {{fact.text}} {{x}}", &[("x", "y")]);
        for (item, problem) in [
            (
                json!({ "id": 1, "fact": {}, "y": 1 }),
                "the prompt's `{{fact.text}}` is missing or null in this item; the item has `id`, `fact`, `y`",
            ),
            (
                json!({ "fact": { "text": "t" }, "y": null }),
                "the prompt's `{{x}}` (from `y`) is missing or null in this item; the item has `fact`, `y`",
            ),
        ] {
            let error = filled(&prompt, item.clone(), Output::new("o")).unwrap_err();
            // The order of an item's fields depends on features of `serde_json` that other crates enable.
            assert_eq!(error.split(", which").next(), problem.split(", which").next(), "{item}");
        }
    }

    #[test]
    fn a_variable_that_no_item_has_is_told_the_nearest() {
        let items = [json!({ "input": "q", "expectedOutput": "a" }), json!({ "note": { "text": null } })];
        assert_eq!(checked("{{input}} {{output.any}} {{metadata.model}}", &items), Ok(()));
        assert_eq!(
            checked("{{output}} {{input}} {{expected_output}}", &items).unwrap_err(),
            "the prompt's `{{expected_output}}` would be empty: no item has `expected_output`; did you mean \
             `expectedOutput`? available: `expectedOutput`, `input`, `metadata`, `note`, `output`"
        );
        assert!(checked("{{output}} {{note.text}}", &items).unwrap_err().contains("no item has `note.text`"));
    }

    #[test]
    fn an_item_that_has_all_is_enough() {
        assert_eq!(
            checked("{{output}} {{a}} {{b}}", &[json!({ "a": 1 }), json!({ "a": 1, "b": 1 })]),
            Ok(())
        );
        assert_eq!(checked("{{a}} {{output}}", &[]), Ok(()));
        assert_eq!(
            checked("{{a}} {{b}} {{output}}", &[json!({ "a": 1 }), json!({ "b": 1 })]).unwrap_err(),
            "no item has all of the prompt's variables; each lacks at least one of `a`, `b`"
        );
    }

    #[test]
    fn a_prompt_shows_something_of_the_agent() {
        let items = [json!({ "a": 1 })];
        assert!(checked("Is {output} right for {{a}}?", &items).unwrap_err().contains("add `{{output}}`"));
        assert_eq!(checked("Did it call {{metadata.tool}}?", &items), Ok(()));
    }

    #[test]
    fn an_output_of_null_is_not_blamed_on_the_item() {
        let error =
            filled(&prompt("{{output}}", &[]), json!({ "a": 1 }), Output::new(Value::Null)).unwrap_err();
        assert_eq!(error, "the agent's output is null; there is nothing to judge");
    }

    #[test]
    fn a_prompt_must_show_something() {
        for text in ["", "Is it good?", "{{}}"] {
            let error = prompt(text, &[]).check().unwrap_err().to_string();
            assert!(error.contains("`{{output}}`"), "{error}");
        }
        let error = prompt("{{answer}}", &[("anwser", "output")]).check().unwrap_err().to_string();
        assert_eq!(
            error,
            "the prompt has no variable `{{anwser}}`; did you mean `answer`? available: `answer`"
        );
    }

    fn traced(prompt: &Prompt, item: Value, spans: Value) -> Result<String, String> {
        let trace: Trace = serde_json::from_value(spans).unwrap();
        let item = item.as_object().unwrap().clone();
        let cx = EvalContext::new(item, Output::new("Done.")).with_trace(trace);
        prompt.render(&cx).map_err(|error| error.to_string())
    }

    #[test]
    fn a_prompt_shows_what_the_agent_did_as_text() {
        let spans = json!([
            { "id": "1", "name": "plan", "kind": "agent", "durationMs": 7 },
            { "id": "2", "parent": "1", "kind": "tool", "tool": { "name": "search", "arguments": { "q": "rust" } } },
        ]);
        let outline = "agent plan\n  tool search({\"q\":\"rust\"})";
        assert_eq!(traced(&prompt("{{trace}}", &[]), json!({}), spans.clone()).as_deref(), Ok(outline));
        assert_eq!(
            traced(&prompt("{{steps}}", &[("steps", "trace")]), json!({}), spans.clone()).as_deref(),
            Ok(outline)
        );
        let long: Vec<_> = (0..10_000).map(|id| json!({ "id": id.to_string(), "name": "a step" })).collect();
        let text = traced(&prompt("{{trace}}", &[]), json!({}), long.into()).unwrap();
        assert!(text.chars().count() <= 8000 && text.contains(" more spans …"), "{text}");
        let error = traced(&prompt("{{trace}}", &[]), json!({}), json!([])).unwrap_err();
        assert!(
            error.starts_with("the prompt's `{{trace}}` is empty: the execution has no trace"),
            "{error}"
        );
        let error = traced(&prompt("{{trace[0].name}}", &[]), json!({}), spans).unwrap_err();
        assert!(
            error.starts_with("the prompt's `{{trace[0].name}}` is missing or null in this item"),
            "{error}"
        );
    }

    #[test]
    fn a_field_of_the_item_wins_over_the_trace() {
        let spans = json!([{ "id": "1", "name": "plan" }]);
        let item = json!({ "trace": ["step"] });
        assert_eq!(traced(&prompt("{{trace[0]}}", &[]), item, spans.clone()).as_deref(), Ok("step"));
        let error = traced(&prompt("{{trace}}", &[]), json!({ "trace": null }), spans).unwrap_err();
        assert_eq!(error, "the prompt's `{{trace}}` is missing or null in this item; the item has `trace`");
    }

    #[test]
    fn the_trace_is_part_of_the_agents_result_unless_items_have_the_field() {
        assert_eq!(checked("{{trace}}", &[]), Ok(()));
        assert_eq!(checked("{{trace}} {{input}}", &[json!({ "input": "q" })]), Ok(()));
        let fields = [json!({ "trace": "t" }), json!({ "input": "q" })];
        assert!(checked("{{trace}}", &fields).unwrap_err().contains("add `{{output}}`"));
        assert_eq!(checked("{{output}} {{trace}}", &fields), Ok(()));
        let error = checked("{{output}} {{trace.steps}}", &[json!({ "input": "q" })]).unwrap_err();
        assert!(error.contains("no item has `trace.steps`"), "{error}");
    }
}
