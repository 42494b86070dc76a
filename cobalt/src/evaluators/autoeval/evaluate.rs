//! Validation and evaluation of `Autoeval`, for all kinds.

use cobalt_core::wording::{self, truncate};
use serde_json::Value;

use super::classify::{self, Judge, Rubric};
use super::options::{SCHEMA, Setting};
use super::{Autoeval, AutoevalKind, Options, Task, correctness, ragas};
use crate::evaluators::context::Remap;
use crate::evaluators::judge_support::inputs::{Inputs, prompt, text_of};
use crate::evaluators::schema::{compile, validate};
use crate::evaluators::{CheckError, EvalContext, EvalError, LARGE_TEXT_BYTES, Score, Setup};
use crate::llm::ModelChoice;
use crate::metrics::{
    exact_match, json_diff, levenshtein, list_contains, numeric_diff, parse_container, valid_json,
};
use crate::thread_pool;

impl Autoeval {
    pub(super) async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let cx = Remap::apply(self.remap.as_ref(), cx);
        match &self.task {
            Task::Classifier { prompt, choices } => {
                let question = prompt.render(&cx)?;
                let chain_of_thought = self.options.chain_of_thought;
                classify::classify(&self.judge(&cx)?, &question, choices, chain_of_thought).await
            }
            Task::Kind(kind) => {
                let needed = self.required_inputs(*kind);
                let mut inputs =
                    Inputs::resolve(&self.sources, &needed, |input| kind.takes_null(input), &cx)?;
                if *kind == AutoevalKind::ValidJson
                    && let Some(schema) = self.sources.resolve(SCHEMA, &cx)
                {
                    inputs.add(SCHEMA, schema.into_owned());
                }
                if self.asks_models() {
                    self.evaluate_with_models(*kind, &inputs, &self.judge(&cx)?).await
                } else {
                    evaluate_locally(*kind, &self.options, inputs).await
                }
            }
        }
    }

    fn judge(&self, cx: &EvalContext) -> Result<Judge<'_>, EvalError> {
        Ok(Judge { asking: cx.llm()?, model: &self.options.model, embedding: self.embedding() })
    }

    async fn evaluate_with_models(
        &self,
        kind: AutoevalKind,
        inputs: &Inputs,
        judge: &Judge<'_>,
    ) -> Result<Score, EvalError> {
        let options = &self.options;
        match kind {
            AutoevalKind::ContextRecall => ragas::context_recall(judge, inputs).await,
            AutoevalKind::ContextPrecision => ragas::context_precision(judge, inputs).await,
            AutoevalKind::ContextRelevancy => ragas::context_relevancy(judge, inputs).await,
            AutoevalKind::ContextEntityRecall => {
                ragas::context_entity_recall(judge, inputs, options.expected_min()).await
            }
            AutoevalKind::AnswerRelevancy => {
                ragas::answer_relevancy(judge, inputs, options.strictness, options.expected_min()).await
            }
            AutoevalKind::AnswerCorrectness => {
                correctness::answer_correctness(judge, inputs, options.weights).await
            }
            AutoevalKind::Faithfulness => ragas::faithfulness(judge, inputs).await,
            AutoevalKind::Ragas => ragas::ragas(judge, inputs, options).await,
            AutoevalKind::Moderation => moderation(judge, inputs, options.threshold).await,
            AutoevalKind::ListContains => semantic_list(judge, inputs, options).await,
            AutoevalKind::EmbeddingSimilarity => similarity(judge, inputs, options.expected_min()).await,
            AutoevalKind::AnswerSimilarity => {
                similarity(judge, inputs, options.expected_min.unwrap_or(0.0)).await
            }
            kind => {
                let rubric = Rubric::for_kind(kind).ok_or_else(|| {
                    EvalError::new(format!("{kind} has no rubric; this is a bug in cobalt"))
                })?;
                let texts: Vec<_> =
                    kind.traits().inputs.iter().map(|input| (*input, inputs.text(input))).collect();
                let texts: Vec<_> = texts.iter().map(|(input, text)| (*input, text.as_str())).collect();
                let question = prompt(rubric.task, &texts);
                classify::classify(judge, &question, &rubric.choices(), options.chain_of_thought).await
            }
        }
    }
}

/// Computes a score, on a separate thread if the inputs are large.
async fn evaluate_locally(kind: AutoevalKind, options: &Options, inputs: Inputs) -> Result<Score, EvalError> {
    if inputs.size() <= LARGE_TEXT_BYTES {
        return local_score(kind, options, &inputs);
    }
    let options = options.clone();
    let score = thread_pool::run(move || local_score(kind, &options, &inputs)).await;
    score.map_err(|error| EvalError::new(error.to_string()))?
}

async fn similarity(judge: &Judge<'_>, inputs: &Inputs, expected_min: f64) -> Result<Score, EvalError> {
    let (output, expected) = (inputs.text("output"), inputs.text("expected"));
    judge.similarity(&output, &expected, expected_min).await.map(Score::new)
}

async fn semantic_list(judge: &Judge<'_>, inputs: &Inputs, options: &Options) -> Result<Score, EvalError> {
    let output = elements("output", inputs.value("output"))?;
    let expected = elements("expected", inputs.value("expected"))?;
    let embeddings = judge.embed(output.iter().chain(&expected).map(String::as_str)).await?;
    let least = options.expected_min();
    let likeness = |a: &str, b: &str| embeddings.similarity(a, b, least);
    ragas::list_similarity(&output, &expected, options.allow_extra, likeness).map(Score::new)
}

async fn moderation(judge: &Judge<'_>, inputs: &Inputs, threshold: Option<f64>) -> Result<Score, EvalError> {
    let found = judge.moderate(&text_of(inputs.value("output"))).await?;
    let worst = found.category_scores.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let bad = match threshold {
        Some(threshold) => worst.is_some_and(|(_, score)| *score > threshold),
        None => found.flagged,
    };
    let score = Score::from(!bad);
    let score = match worst {
        Some((category, worst)) => score.reason(format!("highest category: {category}, {worst:.3}")),
        None => score,
    };
    Ok(score.metadata("categoryScores", serde_json::json!(found.category_scores)))
}

/// The maximum length of quoted values, in characters.
const QUOTED: usize = 80;

/// The score of a kind without model calls.
pub fn local_score(kind: AutoevalKind, options: &Options, inputs: &Inputs) -> Result<Score, EvalError> {
    let (output, expected) = (inputs.value("output"), inputs.value("expected"));
    let score = match kind {
        AutoevalKind::NumericDiff => {
            let (a, b) = (number("output", output)?, number("expected", expected)?);
            numeric_diff(a, b).into()
        }
        AutoevalKind::ExactMatch => exact_match(output, expected).into(),
        AutoevalKind::JsonDiff => json_diff(output, expected, options.preserve_strings).into(),
        AutoevalKind::ValidJson => return score_json(output, inputs.value("schema")),
        AutoevalKind::ListContains => {
            let (given, wanted) = (elements("output", output)?, elements("expected", expected)?);
            list_contains(&given, &wanted, options.allow_extra, |a, b| levenshtein(a, b)).into()
        }
        _ => levenshtein(&text_of(output), &text_of(expected)).into(),
    };
    Ok(score)
}

/// Reads a number, or text with one.
fn number(input: &str, value: &Value) -> Result<f64, EvalError> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.filter(|number: &f64| number.is_finite()).ok_or_else(|| {
        EvalError::new(format!("`{input}` is {}, not a number", truncate(&value.to_string(), QUOTED)))
    })
}

/// Reads the elements of a list, or of JSON text with a list, as texts.
pub fn elements(input: &str, value: &Value) -> Result<Vec<String>, EvalError> {
    let read = if let Value::String(text) = value { parse_container(text) } else { None };
    match read.as_ref().unwrap_or(value) {
        Value::Array(elements) => Ok(elements.iter().map(|element| text_of(element).into_owned()).collect()),
        _ => {
            Err(EvalError::new(format!("`{input}` is {}, not a list", truncate(&value.to_string(), QUOTED))))
        }
    }
}

/// Scores whether the output is JSON and valid for the schema, if any.
fn score_json(output: &Value, schema: &Value) -> Result<Score, EvalError> {
    if schema.is_null() {
        let valid = valid_json(output);
        return Ok(if valid { valid.into() } else { Score::from(valid).reason("not a JSON object or list") });
    }
    validate(output, &compile(schema).map_err(EvalError::new)?)
}

impl Autoeval {
    pub(super) fn check_all(&self, setup: &Setup) -> Result<(), CheckError> {
        let told = |problem: String| CheckError::new(format!("{}: {problem}", self.task.name()));
        if let Some(problem) = self.problem() {
            return Err(told(problem));
        }
        if let Task::Classifier { choices, .. } = &self.task
            && choices.len() == 1
        {
            return Err(told("a classifier needs at least two labels to choose from".to_owned()));
        }
        self.check_fields(setup).map_err(told)?;
        let schema = self.sources.fixed_value(SCHEMA).filter(|schema| !schema.is_null());
        schema.map_or(Ok(()), |schema| compile(schema).map(drop)).map_err(told)?;
        if matches!(self.task, Task::Kind(AutoevalKind::Moderation)) {
            return setup.models.check_moderation(&self.options.model);
        }
        if self.asks_judge() {
            setup.models.check_judge(&self.options.model)?;
        }
        if self.asks_embeddings() {
            setup.models.check_embedding(&self.embedding())?;
        }
        Ok(())
    }

    /// Validates the settings alone, without items.
    pub(super) fn problem(&self) -> Option<String> {
        if let Some(setting) = self.options.unsupported_setting(self.supported_settings()) {
            return Some(format!("unknown setting `{setting}`; available: {}", self.settings_in_words()));
        }
        let inputs = self.inputs();
        if let Some(input) = self.sources.mapped_names().find(|input| !inputs.contains(input)) {
            return Some(format!("unknown input `{input}`; {}", input_hint(input, inputs)));
        }
        let is_null = |input: &&str| {
            let kind = if let Task::Kind(kind) = &self.task { Some(kind) } else { None };
            let takes_null = kind.is_none_or(|kind| kind.takes_null(input) || *input == SCHEMA);
            !takes_null && self.sources.fixed_value(input).is_some_and(Value::is_null)
        };
        if let Some(input) = inputs.iter().copied().find(is_null) {
            return Some(format!("the value of the input `{input}` is null; set a value, or remove it"));
        }
        match &self.task {
            Task::Classifier { prompt, choices } => classify::choices_problem(choices)
                .or_else(|| prompt.check().err().map(|error| error.to_string())),
            Task::Kind(AutoevalKind::ListContains) if !self.options.semantic => {
                let mut set =
                    self.options.set.iter().filter(|set| !["semantic", "allow_extra"].contains(set));
                set.next()
                    .map(|set| format!("`{set}` applies to embeddings, which are used only with `semantic`"))
            }
            Task::Kind(_) => None,
        }
        .or_else(|| self.options.problem())
    }

    /// The settings that the task supports.
    fn supported_settings(&self) -> &'static [Setting] {
        match &self.task {
            Task::Kind(kind) => kind.traits().settings,
            Task::Classifier { .. } => &[Setting::ChainOfThought, Setting::Model],
        }
    }

    fn settings_in_words(&self) -> String {
        let names: Vec<_> = self.supported_settings().iter().map(|setting| setting.name()).collect();
        if names.is_empty() { "only `pass_mark`".to_owned() } else { wording::join_quoted(names) }
    }

    /// The inputs of the task.
    fn inputs(&self) -> &'static [&'static str] {
        match &self.task {
            Task::Kind(AutoevalKind::ValidJson) => &["output", SCHEMA],
            Task::Kind(kind) => kind.traits().inputs,
            // Its prompt has its own variables.
            Task::Classifier { .. } => &[],
        }
    }

    /// The required inputs of a kind, including a schema that is mapped to a path.
    pub(super) fn required_inputs(&self, kind: AutoevalKind) -> Vec<&'static str> {
        let schema = self.sources.is_path(SCHEMA).then_some(SCHEMA);
        kind.traits().inputs.iter().copied().chain(schema).collect()
    }

    /// Fails if no item has a required input.
    fn check_fields(&self, setup: &Setup) -> Result<(), String> {
        if self.remap.is_some() {
            return Ok(());
        }
        let kind = match self.task {
            Task::Kind(kind) => kind,
            Task::Classifier { ref prompt, .. } => {
                return prompt.check_items(setup.items()).map_err(|error| error.to_string());
            }
        };
        let advice = "map the input with `field`, or set it for all items with `value` (in `cobalt.toml` `fields` and `values`)";
        let takes_null = |input: &str| kind.takes_null(input);
        self.sources
            .missing_in_all_items(&self.required_inputs(kind), takes_null, setup.items(), advice)
            .map_or(Ok(()), Err)
    }

    pub(super) fn asks_models(&self) -> bool {
        self.asks_judge()
            || self.asks_embeddings()
            || matches!(self.task, Task::Kind(AutoevalKind::Moderation))
    }

    /// The embedding model.
    pub(super) fn embedding(&self) -> ModelChoice {
        self.options.embedding(self.asks_judge())
    }

    fn asks_judge(&self) -> bool {
        match self.task {
            Task::Classifier { .. } => true,
            Task::Kind(AutoevalKind::Moderation) => false,
            Task::Kind(kind) => {
                Rubric::for_kind(kind).is_some() || kind.traits().settings.contains(&Setting::Model)
            }
        }
    }

    fn asks_embeddings(&self) -> bool {
        match self.task {
            Task::Classifier { .. } => false,
            Task::Kind(AutoevalKind::ListContains) => self.options.semantic,
            Task::Kind(AutoevalKind::AnswerCorrectness) => self.options.weights.similarity > 0.0,
            Task::Kind(kind) => kind.traits().settings.contains(&Setting::Embedding),
        }
    }
}

fn input_hint(input: &str, inputs: &[&str]) -> String {
    if inputs.is_empty() {
        "a classifier takes all inputs from its prompt".to_owned()
    } else {
        wording::suggest_or_list(input, inputs.iter().copied())
    }
}
