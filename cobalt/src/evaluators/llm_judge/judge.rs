//! `LlmJudge`: settings, table in `cobalt.toml`, presets and evaluation.

use std::collections::BTreeMap;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use cobalt_core::wording;
use serde::{Deserialize, Serialize};

use super::response::{Judgement, ResponseForm};
use super::task::{Task, Vote, aggregate_votes, role, schema, system};
use crate::evaluators::choices::{Aggregate, Preset, PresetName};
use crate::evaluators::context::Remap;
use crate::evaluators::judge_support::model_setters::{
    JudgeOptions, impl_judge_evaluator, model_setters, temperature_setter,
};
use crate::evaluators::judge_support::prompt::Prompt;
use crate::evaluators::options::{Options, fingerprint, pass_mark_or_default};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluator, Score, Setup};
use crate::llm::{LlmHandle, ModelChoice, Question};
use crate::settings::{self, NamedChoice as _, NonEmptyString, named_choices, non_empty_list};
use crate::template::Template;
use crate::thread_pool::join_all;

/// Judges the output with a model and your prompt.
///
/// Variables such as `{{input}}` are fields of the item, `{{output}}` is the agent's output, and `{{trace}}` an outline of what it
/// did. The judge returns a verdict (or a
/// score, with [`scale`](Self::scale)) and a reason. See the [module](crate::judges) for models, keys, panels and costs. A
/// preset, such as [`LlmJudge::toxicity`], has a built-in prompt and otherwise works the same.
///
/// ```
/// use cobalt::LlmJudge;
///
/// let correct = LlmJudge::new(
///     "correct",
///     "Does the answer say the same as the reference?\n\
///      Question: {{input}}\nReference: {{expectedOutput}}\nAnswer: {{output}}",
/// );
/// let polite = LlmJudge::new("polite", "How polite is this answer?\n{{output}}")
///     .scale()
///     .model("claude-haiku-4-5")
///     .pass_mark(0.7);
/// ```
#[derive(Clone)]
pub struct LlmJudge {
    options: LlmJudgeOptions,
    judge: JudgeOptions,
    task: Task,
}

fingerprint! {
    LlmJudge as "LlmJudge", it: name = it.name(), task = it.task, scoring = it.scoring(),
    chain_of_thought = it.options.chain_of_thought, role = it.role(), choice = it.judge.choice(), panel = it.panel(),
    aggregate = it.aggregate_or_default(), remap = it.options.remap, pass_mark = pass_mark_or_default(it.options.pass_mark)
}

impl LlmJudge {
    /// Requests a verdict, which scores 1 or 0. This is the default for your own prompts.
    #[must_use]
    pub fn boolean(mut self) -> Self {
        self.options.scoring = Some(ScoringName(Scoring::Boolean));
        self
    }

    /// Requests a score from 0 to 1. Like [`boolean`](Self::boolean), only for your own prompts.
    #[must_use]
    pub fn scale(mut self) -> Self {
        self.options.scoring = Some(ScoringName(Scoring::Scale));
        self
    }

    /// Whether the judge reasons at length first. The reasoning is stored with the score. Default: `true` for verdicts, `false`
    /// for scores and presets.
    #[must_use]
    pub fn chain_of_thought(mut self, on: bool) -> Self {
        self.options.chain_of_thought = Some(on);
        self
    }

    /// Sets the model. Default: the configured one. Replaces a panel.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.judge.model = Some(NonEmptyString(model.into()));
        self.options.models = None;
        self
    }

    /// Sets a panel of models. A model that is listed twice is called twice. [`aggregate`](Self::aggregate) defines how their
    /// scores are combined. The score's metadata has the individual results as `judges`, and `min`, `max` and `stddev`
    /// (population standard deviation). If one model fails, there is no score.
    #[must_use]
    pub fn models<M: Into<String>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.judge.model = None;
        self.options.models = Some(models.into_iter().map(|model| NonEmptyString(model.into())).collect());
        self
    }

    /// Sets how the scores of a panel are combined. Default: mean.
    #[must_use]
    pub fn aggregate(mut self, aggregate: Aggregate) -> Self {
        self.options.aggregate = Some(AggregateName(aggregate));
        self
    }

    model_setters!(judge, JudgeProvider);
    temperature_setter!();

    /// Replaces the built-in instructions on the judge's role and rules. The response format is always appended.
    #[must_use]
    pub fn system(mut self, role: impl Into<String>) -> Self {
        self.options.system = Some(NonEmptyString(role.into()));
        self
    }

    /// Maps the prompt's `{{name}}`, or the input `name` of a preset, to `path`, such as `output.answer` or `context[0].text`.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, path: impl AsRef<str>) -> Self {
        self.task.set_field(name.into(), path.as_ref());
        self
    }

    /// Changes the context that the judge sees, for example its output or item.
    ///
    /// ```
    /// use cobalt::{LlmJudge, Output};
    ///
    /// let clear = LlmJudge::new("clear", "Is this clear?\n{{output}}")
    ///     .context(|cx| cx.with_output(Output::new(cx.output()["answer"].clone())));
    /// ```
    #[must_use]
    pub fn context(mut self, remap: impl Fn(&EvalContext) -> EvalContext + Send + Sync + 'static) -> Self {
        self.options.remap = Some(Remap::new(remap));
        self
    }

    /// Sets the minimum score for an output to pass. Default: 0.5, and 1 for [`toxicity`](Self::toxicity) and
    /// [`bias`](Self::bias).
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.options.pass_mark = Some(settings::ScoreValue(mark));
        self
    }

    fn uses_chain_of_thought(&self) -> bool {
        self.options.chain_of_thought.unwrap_or(self.form().reasons_by_default())
    }

    fn form(&self) -> ResponseForm {
        self.task.form(self.scoring())
    }

    fn scoring(&self) -> Option<Scoring> {
        self.options.scoring.map(|ScoringName(scoring)| scoring)
    }

    fn role(&self) -> Option<&str> {
        self.options.system.as_ref().map(|NonEmptyString(role)| &**role)
    }

    fn panel(&self) -> Option<Vec<&str>> {
        Some(self.options.models.as_ref()?.iter().map(|NonEmptyString(model)| &**model).collect())
    }

    fn aggregate_or_default(&self) -> Aggregate {
        self.options.aggregate.map_or_else(Aggregate::default, |AggregateName(aggregate)| aggregate)
    }

    /// The models to call.
    fn model_choices(&self) -> Vec<ModelChoice> {
        let Some(models) = self.panel() else { return vec![self.judge.choice()] };
        let choice = |model: &str| ModelChoice { model: Some(model.to_owned()), ..self.judge.choice() };
        models.into_iter().map(choice).collect()
    }

    /// Validates the settings alone, without items.
    fn problem(&self) -> Option<String> {
        if let Some(problem) = self.task.problem(self.scoring()) {
            return Some(problem);
        }
        let choices = self.model_choices();
        if choices.is_empty() {
            return Some("the panel has no models; add at least one".to_owned());
        }
        let own = self.judge.choice();
        if let Some(problem) = own.validation_error() {
            return Some(problem);
        }
        let vendors = choices.iter().map(ModelChoice::vendor);
        if own.api_key_env.is_some() && own.base_url.is_none() && !all_same(vendors) {
            return Some(
                "the panel's models are from several providers, but `api_key_env` names a single key; remove it, or set the \
                 `base_url` of the gateway that accepts it"
                    .to_owned(),
            );
        }
        let role = Template::parse(self.role().unwrap_or_default());
        role.variables().first().map(|variable| {
            let name = variable.name();
            format!("`system` is not a template; move `{{{{{name}}}}}` to the prompt")
        })
    }

    async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let asking = cx.llm()?;
        let cx = &Remap::apply(self.options.remap.as_ref(), cx);
        let prompt = self.task.render(cx)?;
        // By the vendor's name for it: `m` and `openai/m` are the same model, called twice.
        let names: Vec<_> =
            self.model_choices().iter().map(|choice| asking.models.judge_model(choice)).collect();
        let nth = |index: usize| names[..index].iter().filter(|name| **name == names[index]).count() as u32;
        let votes = self.model_choices().into_iter().enumerate().map(
            |(index, choice)| -> Pin<Box<dyn Future<Output = _> + Send>> {
                Box::pin(self.ask(&asking, choice, nth(index), &prompt))
            },
        );
        let mut votes = join_all(votes.collect()).await.into_iter().collect::<Result<Vec<Vote>, _>>()?;
        if self.options.models.is_some() {
            return Ok(aggregate_votes(
                votes,
                self.aggregate_or_default(),
                self.form(),
                pass_mark_or_default(self.options.pass_mark),
            ));
        }
        let (_, Judgement { score, reason, chain_of_thought, metadata: figures }) = votes.swap_remove(0);
        let score =
            figures.into_iter().fold(Score::new(score), |score, (key, value)| score.metadata(key, value));
        let score = reason.into_iter().fold(score, Score::reason);
        Ok(chain_of_thought.into_iter().fold(score, Score::chain_of_thought))
    }

    async fn ask(
        &self,
        asking: &LlmHandle,
        choice: ModelChoice,
        which: u32,
        prompt: &str,
    ) -> Result<Vote, EvalError> {
        let fields = self.form().fields(self.uses_chain_of_thought());
        let question = Question {
            system: system(&role(self.role(), self.task.is_preset()), &fields),
            prompt: prompt.to_owned(),
            schema: schema(fields),
            repetition: which,
            is_shared: false,
        };
        let LlmHandle { models, meter } = asking;
        let model = models.judge_model(&choice);
        let answer = models.ask(&choice, &question, meter, |answer| self.form().read(answer)).await;
        match answer {
            Ok(judgement) => {
                let chain_of_thought = judgement.chain_of_thought.filter(|_| self.uses_chain_of_thought());
                Ok((model, Judgement { chain_of_thought, ..judgement }))
            }
            Err(error) if self.options.models.is_some() => {
                Err(EvalError::new(format!("the panel's `{model}` gave no judgement: {error}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn check_setup(&self, setup: &Setup) -> Result<(), CheckError> {
        if let Some(problem) = self.problem() {
            return Err(CheckError::new(problem));
        }
        self.task.check(setup, self.options.remap.is_some())?;
        self.model_choices().iter().try_for_each(|choice| setup.models.check_judge(choice))
    }
}

impl_judge_evaluator!(LlmJudge, it: it.options.name.as_deref().unwrap_or_default());

fn all_same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// The keys of `type = "llm-judge"`, without those of the model.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("oneOf" = prompt_or_preset_schema(), "not" = exclusive_models_schema(), "dependentRequired" = aggregate_requires_models_schema()))
)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LlmJudgeOptions {
    /// Name in reports. Default: the preset's name, else "llm-judge".
    name: Option<String>,
    /// The prompt with the criteria. Variables are `{{output}}` and the item's fields, such as `{{input}}`.
    prompt: Option<NonEmptyString>,
    /// A judge with a built-in prompt, instead of `prompt`.
    preset: Option<PresetName>,
    /// The sources of the prompt's variables or the preset's inputs, each a path such as "output.answer" or "context[0].text".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, NonEmptyString>,
    /// Whether the judge of a prompt returns a verdict or a score from 0 to 1. Default: "boolean".
    scoring: Option<ScoringName>,
    /// Whether the judge reasons at length first. Default: true for verdicts, false otherwise.
    chain_of_thought: Option<bool>,
    /// The models of a panel. A model that is listed twice is called twice.
    #[serde(default, deserialize_with = "non_empty_list")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    models: Option<Vec<NonEmptyString>>,
    /// How the scores of a panel are combined. Default: "mean".
    aggregate: Option<AggregateName>,
    /// Minimum score for an output to pass. Default: 0.5, and 1 for the presets "toxicity" and "bias".
    pass_mark: Option<settings::ScoreValue>,
    /// Replaces the built-in instructions on the judge's role and rules.
    system: Option<NonEmptyString>,
    #[serde(skip)]
    remap: Option<Remap>,
}

impl Options for LlmJudgeOptions {
    type Shared = JudgeOptions;

    fn checked(mut self, judge: &JudgeOptions) -> Result<Self, String> {
        let name = match (&self.prompt, &self.preset) {
            (Some(_), None) => "llm-judge",
            (None, Some(PresetName(preset))) if self.scoring.is_none() => preset.name(),
            (None, Some(PresetName(preset))) => {
                return Err(format!(
                    "`scoring` applies only to a prompt; the preset `{}` has its own scoring; remove `scoring`",
                    preset.name()
                ));
            }
            (Some(_), Some(_)) => {
                return Err(String::from("`prompt` and `preset` are mutually exclusive; remove one"));
            }
            (None, None) => {
                return Err(format!(
                    "the key `prompt` is missing; write a prompt, or set a `preset`: {}",
                    wording::join_quoted(Preset::ALL.iter().map(|preset| preset.name()))
                ));
            }
        };
        self.name.get_or_insert_with(|| name.to_owned());
        match (&judge.model, &self.models, &self.aggregate) {
            (Some(_), Some(_), _) => {
                Err(String::from("`model` and `models` are mutually exclusive; remove one"))
            }
            (_, None, Some(_)) => {
                Err(String::from("`aggregate` applies only to a panel; set `models`, or remove it"))
            }
            _ => Ok(self),
        }
    }

    fn make(mut self, judge: JudgeOptions) -> Result<Arc<dyn Evaluator>, String> {
        // "boolean" is the default.
        self.scoring = self.scoring.filter(|ScoringName(scoring)| *scoring != Scoring::Boolean);
        let fields = mem::take(&mut self.fields);
        let mut made = LlmJudge::from_options(self, judge);
        for (name, NonEmptyString(path)) in fields {
            made.task.set_field(name, &path);
        }
        Ok(Arc::new(made))
    }
}

/// What a judge returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scoring {
    /// Whether the criteria are met.
    Boolean,
    /// How far they are met, from 0 to 1.
    Scale,
}

named_choices! {
    /// What a judge returns.
    ScoringName(Scoring), "scoring mode", "modes": "boolean" => Boolean, "scale" => Scale;
    /// How the scores of a panel are combined.
    AggregateName(Aggregate), "panel aggregate", "aggregates": "mean" => Mean, "majority" => Majority;
}

/// The rules of `checked` for the JSON schema: exactly one of `prompt` and `preset`.
#[cfg(feature = "schema")]
fn prompt_or_preset_schema() -> serde_json::Value {
    serde_json::json!([
        { "required": ["prompt"] },
        { "required": ["preset"], "not": { "required": ["scoring"] } },
    ])
}

/// The same for `model` and `models`.
#[cfg(feature = "schema")]
fn exclusive_models_schema() -> serde_json::Value {
    serde_json::json!({ "required": ["model", "models"] })
}

/// The same for an aggregate without a panel.
#[cfg(feature = "schema")]
fn aggregate_requires_models_schema() -> serde_json::Value {
    serde_json::json!({ "aggregate": ["models"] })
}

impl LlmJudge {
    /// Creates a judge that decides whether the output meets the criteria in `prompt`.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        let (name, prompt) = (Some(name.into()), Some(NonEmptyString(prompt.into())));
        Self::from_options(
            LlmJudgeOptions { name, prompt, ..LlmJudgeOptions::default() },
            JudgeOptions::default(),
        )
    }

    pub(crate) fn preset(name: impl Into<String>, preset: Preset) -> Self {
        let (name, preset) = (Some(name.into()), Some(PresetName(preset)));
        Self::from_options(
            LlmJudgeOptions { name, preset, ..LlmJudgeOptions::default() },
            JudgeOptions::default(),
        )
    }

    fn from_options(mut options: LlmJudgeOptions, judge: JudgeOptions) -> Self {
        let task = match (options.preset.take(), options.prompt.take()) {
            (Some(PresetName(preset)), _) => {
                options.pass_mark.get_or_insert(settings::ScoreValue(preset.pass_mark()));
                Task::Preset(preset, preset.texts())
            }
            (None, prompt) => {
                Task::Prompt(Prompt::new(prompt.map_or_else(String::new, |NonEmptyString(prompt)| prompt)))
            }
        };
        Self { options, judge, task }
    }
}

/// Presets: judges with a built-in prompt. Their inputs are the item's fields of these names and the agent's `output`, unless
/// [`field`](Self::field) maps them. As for every score, 1 is good. The [module](crate::judges#presets) lists their
/// limitations.
impl LlmJudge {
    /// The share of the output's claims that the item's `context` supports: 1 if nothing is made up, or the output makes no
    /// claims. The other claims contradict the context, or are not in it. The metadata has all claims with their verdicts as
    /// `claims`. The judge also sees the item's `input`, if any.
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let grounded = LlmJudge::hallucination("grounded").field("context", "docs").pass_mark(0.9);
    /// ```
    #[doc(alias("faithfulness", "groundedness"))]
    pub fn hallucination(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::Hallucination)
    }

    /// The share of the output's passages that are not toxic: 1 if none insults, threatens, demeans or harasses anyone. Bare
    /// facts do not count, and an output without any other passage scores 1. The metadata has the passages as `passages`. The
    /// default [`pass_mark`](Self::pass_mark) is 1.
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let toxicity = LlmJudge::toxicity("toxicity").models(["gpt-4.1-mini", "claude-haiku-4-5"]);
    /// ```
    pub fn toxicity(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::Toxicity)
    }

    /// The share of the output's passages that are free of bias against people for what they are. Counting, metadata and pass
    /// mark are as for [`toxicity`](Self::toxicity).
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let bias = LlmJudge::bias("bias").model("claude-haiku-4-5");
    /// ```
    pub fn bias(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::Bias)
    }

    /// How far the output completes the task in the item's `input`, from 0 to 1. The judge also sees the `trace`, if any: the
    /// first of the [default places of calls](crate::calls#where-the-calls-are), or a [`field`](Self::field) of that name. A
    /// trace that is part of the output is not shown twice. `field("trace", "trace")` shows the [spans](crate::trace#judges).
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let done = LlmJudge::task_completion("done").field("trace", "metadata.log").pass_mark(0.8);
    /// ```
    pub fn task_completion(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::TaskCompletion)
    }

    /// How well the output summarises the item's `input`: the lower of its faithfulness, the share of its claims that the input
    /// supports (1 without claims), and its coverage, the share of the input's main points that it contains. The metadata has
    /// both, with the `points` and the `summaryClaims`.
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let summary = LlmJudge::summarisation("summary").field("input", "article.text");
    /// ```
    #[doc(alias = "summarization")]
    pub fn summarisation(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::Summarisation)
    }

    /// How far a [conversation](crate::conversations) reaches the item's `goal`, from 0 to 1.
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let reached = LlmJudge::goal_reached("reached").pass_mark(0.8);
    /// ```
    pub fn goal_reached(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::GoalReached)
    }

    /// The share of replies in which the agent keeps to its role: the item's `role`, or a [`field`](Self::field) of that name; without
    /// one, the role that its first replies show.
    pub fn stays_in_role(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::StaysInRole)
    }

    /// The share of what the user said, and what matters later in the conversation, that the agent uses. The metadata has all as `facts`.
    pub fn remembers(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::Remembers)
    }

    /// The share of the user's messages that the agent's replies deal with. The metadata has them as `messages`.
    pub fn answers_each_turn(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::AnswersEachTurn)
    }

    /// The share of the user's messages without frustration with the agent. The default [`pass_mark`](Self::pass_mark) is 1.
    pub fn user_frustration(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::UserFrustration)
    }
}
