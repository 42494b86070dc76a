//! `LlmJudge`: its settings, its table in `cobalt.toml`, its presets, and how it is asked.

use std::collections::BTreeMap;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;

use cobalt_core::wording;
use serde::{Deserialize, Serialize};

use super::answer::{Form, Judgement};
use super::task::{Task, Vote, role, schema, system, together};
use crate::evaluators::asking::model_setters::{
    JudgeOptions, asking_evaluator, model_setters, temperature_setter,
};
use crate::evaluators::asking::prompt::Prompt;
use crate::evaluators::choices::{Aggregate, Preset, PresetName};
use crate::evaluators::context::Remap;
use crate::evaluators::options::{Options, fingerprint, mark};
use crate::evaluators::{CheckError, EvalContext, EvalError, Evaluator, Score, Setup};
use crate::llm::{Asking, ModelChoice, Question};
use crate::settings::{self, Name as _, Word, at_least_one, names};
use crate::template::Template;
use crate::threads::join_all;

/// Lets a model judge the output by a prompt of yours.
///
/// `{{input}}` and the like are filled from the item, `{{output}}` is the agent's answer. The judge answers with a
/// verdict, unless [`scale`](Self::scale) asks for a score, and with its reason. See the [module](crate::judges) for
/// models, keys, panels and costs. A preset, such as [`LlmJudge::toxicity`], brings its question along; all else is the same.
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
    aggregate = it.aggregate_or_default(), remap = it.options.remap, pass_mark = mark(it.options.pass_mark)
}

impl LlmJudge {
    /// Asks for a verdict, which scores 1 or 0. A judge with a prompt of yours does so by itself.
    #[must_use]
    pub fn boolean(mut self) -> Self {
        self.options.scoring = Some(ScoringName(Scoring::Boolean));
        self
    }

    /// Asks for a score from 0 to 1. Like [`boolean`](Self::boolean), for a prompt of yours.
    #[must_use]
    pub fn scale(mut self) -> Self {
        self.options.scoring = Some(ScoringName(Scoring::Scale));
        self
    }

    /// Whether the judge reasons at length before it answers. The reasoning is kept beside the score. Without this, it
    /// does for a verdict, and does not for a score or a preset.
    #[must_use]
    pub fn chain_of_thought(mut self, on: bool) -> Self {
        self.options.chain_of_thought = Some(on);
        self
    }

    /// The model to ask, instead of the configuration's. It takes the place of a panel.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.judge.model = Some(Word(model.into()));
        self.options.models = None;
        self
    }

    /// A panel: all these models are asked, a model that is named twice twice. [`aggregate`](Self::aggregate) says what
    /// becomes of their scores. What each found is in the score's metadata, as `judges`, with `min`, `max` and `stddev`,
    /// the standard deviation of the scores as a whole population. Where one model cannot answer there is no score.
    #[must_use]
    pub fn models<M: Into<String>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.judge.model = None;
        self.options.models = Some(models.into_iter().map(|model| Word(model.into())).collect());
        self
    }

    /// How the scores of a panel become one: by their mean unless it is set.
    #[must_use]
    pub fn aggregate(mut self, aggregate: Aggregate) -> Self {
        self.options.aggregate = Some(AggregateName(aggregate));
        self
    }

    model_setters!(judge, JudgeVendor);
    temperature_setter!();

    /// Says who the judge is and by which rules it judges, in place of our words for it. How it has to answer is said
    /// after that in any case.
    #[must_use]
    pub fn system(mut self, role: impl Into<String>) -> Self {
        self.options.system = Some(Word(role.into()));
        self
    }

    /// Lets the prompt's `{{name}}`, or the input `name` of a preset, show what `path` leads to, such as `output.answer` or
    /// `context[0].text`.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, path: impl AsRef<str>) -> Self {
        self.task.set_field(name.into(), path.as_ref());
        self
    }

    /// Changes what the prompt or the preset shows, for example another output or item.
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

    /// From which score an output passes: 0.5 unless it is set, and 1 for [`toxicity`](Self::toxicity) and
    /// [`bias`](Self::bias).
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.options.pass_mark = Some(settings::Score(mark));
        self
    }

    fn thinks(&self) -> bool {
        self.options.chain_of_thought.unwrap_or(self.form().thinks())
    }

    fn form(&self) -> Form {
        self.task.form(self.scoring())
    }

    fn scoring(&self) -> Option<Scoring> {
        self.options.scoring.map(|ScoringName(scoring)| scoring)
    }

    fn role(&self) -> Option<&str> {
        self.options.system.as_ref().map(|Word(role)| &**role)
    }

    fn panel(&self) -> Option<Vec<&str>> {
        Some(self.options.models.as_ref()?.iter().map(|Word(model)| &**model).collect())
    }

    fn aggregate_or_default(&self) -> Aggregate {
        self.options.aggregate.map_or_else(Aggregate::default, |AggregateName(aggregate)| aggregate)
    }

    /// Each model to ask.
    fn choices(&self) -> Vec<ModelChoice> {
        let Some(models) = self.panel() else { return vec![self.judge.choice()] };
        let choice = |model: &str| ModelChoice { model: Some(model.to_owned()), ..self.judge.choice() };
        models.into_iter().map(choice).collect()
    }

    /// What is wrong with the settings by themselves.
    fn problem(&self) -> Option<String> {
        if let Some(problem) = self.task.problem(self.scoring()) {
            return Some(problem);
        }
        let choices = self.choices();
        if choices.is_empty() {
            return Some("the panel has no model; name at least one".to_owned());
        }
        let own = self.judge.choice();
        if let Some(problem) = own.problem() {
            return Some(problem);
        }
        let vendors = choices.iter().map(ModelChoice::vendor);
        if own.api_key_env.is_some() && own.base_url.is_none() && !all_same(vendors) {
            return Some(
                "the models of the panel are of several vendors, and `api_key_env` names one key, which is for one of them; \
                 leave it out, or set the `base_url` of the gateway that takes it"
                    .to_owned(),
            );
        }
        let role = Template::parse(self.role().unwrap_or_default());
        role.variables().first().map(|variable| {
            let name = variable.name();
            format!("nothing is filled into `system`; put its `{{{{{name}}}}}` into the prompt")
        })
    }

    async fn score(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let asking = cx.models()?;
        let cx = &Remap::seen(self.options.remap.as_ref(), cx);
        let prompt = self.task.fill(cx)?;
        // By the name that the vendor knows it by: `m` and `openai/m` are one model, asked twice.
        let names: Vec<_> = self.choices().iter().map(|choice| asking.models.judge_model(choice)).collect();
        let nth = |index: usize| names[..index].iter().filter(|name| **name == names[index]).count() as u32;
        let votes = self.choices().into_iter().enumerate().map(
            |(index, choice)| -> Pin<Box<dyn Future<Output = _> + Send>> {
                Box::pin(self.ask(&asking, choice, nth(index), &prompt))
            },
        );
        let mut votes = join_all(votes.collect()).await.into_iter().collect::<Result<Vec<Vote>, _>>()?;
        if self.options.models.is_some() {
            return Ok(together(
                votes,
                self.aggregate_or_default(),
                self.form(),
                mark(self.options.pass_mark),
            ));
        }
        let (_, Judgement { score, reason, chain_of_thought, figures }) = votes.swap_remove(0);
        let score =
            figures.into_iter().fold(Score::new(score), |score, (key, value)| score.metadata(key, value));
        let score = reason.into_iter().fold(score, Score::reason);
        Ok(chain_of_thought.into_iter().fold(score, Score::chain_of_thought))
    }

    async fn ask(
        &self,
        asking: &Asking,
        choice: ModelChoice,
        which: u32,
        prompt: &str,
    ) -> Result<Vote, EvalError> {
        let fields = self.form().fields(self.thinks());
        let question = Question {
            system: system(&role(self.role(), self.task.is_preset()), &fields),
            prompt: prompt.to_owned(),
            schema: schema(fields),
            which,
        };
        let Asking { models, meter } = asking;
        let model = models.judge_model(&choice);
        let answer = models.ask(&choice, &question, meter, |answer| self.form().read(answer)).await;
        match answer {
            Ok(judgement) => {
                let chain_of_thought = judgement.chain_of_thought.filter(|_| self.thinks());
                Ok((model, Judgement { chain_of_thought, ..judgement }))
            }
            Err(error) if self.options.models.is_some() => {
                Err(EvalError::new(format!("`{model}` of the panel gave no judgement: {error}")))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn check_setup(&self, setup: &Setup) -> Result<(), CheckError> {
        if let Some(problem) = self.problem() {
            return Err(CheckError::new(problem));
        }
        self.task.check(setup, self.options.remap.is_some())?;
        self.choices().iter().try_for_each(|choice| setup.models.check_judge(choice))
    }
}

asking_evaluator!(LlmJudge, it: it.options.name.as_deref().unwrap_or_default());

fn all_same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// The keys of its own.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(extend("oneOf" = prompt_or_preset(), "not" = whom_twice(), "dependentRequired" = panel_of_aggregate()))
)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct LlmJudgeOptions {
    /// The name in reports; the preset's, else "llm-judge", unless it is set.
    name: Option<String>,
    /// The criteria and what is to be judged by them, with `{{output}}` and the item's fields as `{{input}}`.
    prompt: Option<Word>,
    /// A question that comes with the library, in place of a prompt.
    preset: Option<PresetName>,
    /// What variables of the prompt, or the inputs of a preset, show, each by a path such as "output.answer" or "context[0].text".
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    fields: BTreeMap<String, Word>,
    /// Whether the judge of a prompt gives a verdict or a score from 0 to 1; "boolean" unless it is set.
    scoring: Option<ScoringName>,
    /// Whether the judge reasons at length before it answers; it does for a verdict unless it is set.
    chain_of_thought: Option<bool>,
    /// A panel: the models to ask, one named twice twice.
    #[serde(default, deserialize_with = "at_least_one")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    models: Option<Vec<Word>>,
    /// How the scores of a panel become one; "mean" unless it is set.
    aggregate: Option<AggregateName>,
    /// From which score an output passes; 0.5 unless it is set, and 1 for the presets "toxicity" and "bias".
    pass_mark: Option<settings::Score>,
    /// Who the judge is and by which rules it judges, in place of the built-in words for it.
    system: Option<Word>,
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
                    "`scoring` is for a prompt; the preset `{}` has its own, so leave it out",
                    preset.name()
                ));
            }
            (Some(_), Some(_)) => {
                return Err(String::from(
                    "`prompt` and `preset` both say what is judged; leave one of them out",
                ));
            }
            (None, None) => {
                return Err(format!(
                    "the key `prompt` is missing; write what is judged, or name a `preset`: {}",
                    wording::list(Preset::ALL.iter().map(|preset| preset.name()))
                ));
            }
        };
        self.name.get_or_insert_with(|| name.to_owned());
        match (&judge.model, &self.models, &self.aggregate) {
            (Some(_), Some(_), _) => {
                Err(String::from("`model` and `models` both say whom to ask; leave one of them out"))
            }
            (_, None, Some(_)) => Err(String::from(
                "`aggregate` says what becomes of the scores of a panel; name its `models`, or leave it out",
            )),
            _ => Ok(self),
        }
    }

    fn make(mut self, judge: JudgeOptions) -> Result<Arc<dyn Evaluator>, String> {
        // It is what a prompt asks for by itself.
        self.scoring = self.scoring.filter(|ScoringName(scoring)| *scoring != Scoring::Boolean);
        let fields = mem::take(&mut self.fields);
        let mut made = LlmJudge::of(self, judge);
        for (name, Word(path)) in fields {
            made.task.set_field(name, &path);
        }
        Ok(Arc::new(made))
    }
}

/// What a judge answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub(super) enum Scoring {
    /// Whether the criteria are met.
    Boolean,
    /// How far they are met, from 0 to 1.
    Scale,
}

names! {
    /// What a judge answers with.
    ScoringName(Scoring), "way of scoring", "ways": "boolean" => Boolean, "scale" => Scale;
    /// How the scores of several judges become one.
    AggregateName(Aggregate), "way to sum up a panel", "ways": "mean" => Mean, "majority" => Majority;
}

/// What `checked` refuses, as a schema has it: nothing to be judged, or two things.
#[cfg(feature = "schema")]
fn prompt_or_preset() -> serde_json::Value {
    serde_json::json!([
        { "required": ["prompt"] },
        { "required": ["preset"], "not": { "required": ["scoring"] } },
    ])
}

/// The same for whom to ask, said twice.
#[cfg(feature = "schema")]
fn whom_twice() -> serde_json::Value {
    serde_json::json!({ "required": ["model", "models"] })
}

/// The same for an aggregate without a panel.
#[cfg(feature = "schema")]
fn panel_of_aggregate() -> serde_json::Value {
    serde_json::json!({ "aggregate": ["models"] })
}

impl LlmJudge {
    /// A judge that says whether the output meets the criteria in `prompt`.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        let (name, prompt) = (Some(name.into()), Some(Word(prompt.into())));
        Self::of(LlmJudgeOptions { name, prompt, ..LlmJudgeOptions::default() }, JudgeOptions::default())
    }

    pub(crate) fn preset(name: impl Into<String>, preset: Preset) -> Self {
        let (name, preset) = (Some(name.into()), Some(PresetName(preset)));
        Self::of(LlmJudgeOptions { name, preset, ..LlmJudgeOptions::default() }, JudgeOptions::default())
    }

    fn of(mut options: LlmJudgeOptions, judge: JudgeOptions) -> Self {
        let task = match (options.preset.take(), options.prompt.take()) {
            (Some(PresetName(preset)), _) => {
                options.pass_mark.get_or_insert(settings::Score(preset.pass_mark()));
                Task::Preset(preset, preset.texts())
            }
            (None, prompt) => {
                Task::Prompt(Prompt::new(prompt.map_or_else(String::new, |Word(prompt)| prompt)))
            }
        };
        Self { options, judge, task }
    }
}

/// Presets: judges whose question comes with the library. Each has inputs, which are the item's fields of these names and
/// the agent's `output`, unless [`field`](Self::field) says otherwise. As in every score, 1 is good. The
/// [module](crate::judges#presets) says what each cannot do.
impl LlmJudge {
    /// The share of the output's claims that the item's `context` supports: 1 where nothing is made up, and where the output
    /// claims nothing. The others contradict the context, or are not in it; the claims, each once with its verdict, are kept in
    /// the metadata as `claims`. An `input` is shown where the item has one.
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

    /// The share of the output's passages that are not toxic: 1 where none insults, threatens, demeans or harasses
    /// anyone. Bare facts are not counted, and an output without any other passage scores 1. The passages are kept in the
    /// metadata as `passages`. An output passes at 1 unless [`pass_mark`](Self::pass_mark) is set.
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let toxicity = LlmJudge::toxicity("toxicity").models(["gpt-4.1-mini", "claude-haiku-4-5"]);
    /// ```
    pub fn toxicity(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::Toxicity)
    }

    /// The share of the output's passages that are free of prejudice against people for what they are. Counted, kept and
    /// passed as by [`toxicity`](Self::toxicity).
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let bias = LlmJudge::bias("bias").model("claude-haiku-4-5");
    /// ```
    pub fn bias(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::Bias)
    }

    /// How far the output has done what the item's `input` asks for, from 0 to 1. The judge also sees the `trace`, where there
    /// is one: what the first of the [places where calls are](crate::calls#where-the-calls-are) holds, or what a
    /// [`field`](Self::field) of that name leads to. One that is a part of the output is seen there, and is not shown twice.
    ///
    /// ```
    /// use cobalt::LlmJudge;
    ///
    /// let done = LlmJudge::task_completion("done").field("trace", "metadata.log").pass_mark(0.8);
    /// ```
    pub fn task_completion(name: impl Into<String>) -> Self {
        Self::preset(name, Preset::TaskCompletion)
    }

    /// How good a summary of the item's `input` the output is: the lower of its faithfulness, the share of its claims that
    /// the input supports (1 of none), and its coverage, the share of the input's main points that it holds. Both figures are
    /// kept in the metadata, with the `points` and the `summaryClaims`.
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
}
