//! The judge itself: its settings, and how it is asked.

use std::pin::Pin;
use std::time::Duration;

use super::super::choices::{Aggregate, Scoring};
use super::super::remap::Remap;
use super::super::{CheckError, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup};
use super::answer::Judgement;
use super::form::Form;
use super::panel::{Vote, together};
use super::system::{role, schema, system};
use super::task::Task;
use crate::evaluators::asking::model_setters::model_setters;
use crate::future::join_all;
use crate::llm::{Asking, ModelChoice, Question};
use crate::template::Template;

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
#[derive(Clone, Debug)]
pub struct LlmJudge {
    pub(super) name: String,
    pub(super) task: Task,
    pub(super) scoring: Option<Scoring>,
    pub(super) chain_of_thought: Option<bool>,
    pub(super) role: Option<String>,
    pub(super) choice: ModelChoice,
    pub(super) panel: Option<Vec<String>>,
    pub(super) aggregate: Aggregate,
    pub(super) remap: Option<Remap>,
    pub(super) pass_mark: f64,
}

impl LlmJudge {
    /// Asks for a verdict, which scores 1 or 0. A judge with a prompt of yours does so by itself.
    #[must_use]
    pub fn boolean(mut self) -> Self {
        self.scoring = Some(Scoring::Boolean);
        self
    }

    /// Asks for a score from 0 to 1. Like [`boolean`](Self::boolean), for a prompt of yours.
    #[must_use]
    pub fn scale(mut self) -> Self {
        self.scoring = Some(Scoring::Scale);
        self
    }

    /// Whether the judge reasons at length before it answers. The reasoning is kept beside the score. Without this, it
    /// does for a verdict, and does not for a score or a preset.
    #[must_use]
    pub fn chain_of_thought(mut self, on: bool) -> Self {
        self.chain_of_thought = Some(on);
        self
    }

    /// The model to ask, instead of the configuration's. It takes the place of a panel.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.choice.model = Some(model.into());
        self.panel = None;
        self
    }

    /// A panel: all these models are asked, a model that is named twice twice. [`aggregate`](Self::aggregate) says what
    /// becomes of their scores. What each found is in the score's metadata, as `judges`, with `min`, `max` and `stddev`,
    /// the standard deviation of the scores as a whole population. Where one model cannot answer there is no score.
    #[must_use]
    pub fn models<M: Into<String>>(mut self, models: impl IntoIterator<Item = M>) -> Self {
        self.choice.model = None;
        self.panel = Some(models.into_iter().map(Into::into).collect());
        self
    }

    /// How the scores of a panel become one: by their mean unless it is set.
    #[must_use]
    pub fn aggregate(mut self, aggregate: Aggregate) -> Self {
        self.aggregate = aggregate;
        self
    }

    model_setters!();

    /// How much chance is in the answers, from 0 to 2. It is sent only to models that take it.
    #[must_use]
    pub fn temperature(mut self, temperature: f64) -> Self {
        self.choice.temperature = Some(temperature);
        self
    }

    /// Says who the judge is and by which rules it judges, in place of our words for it. How it has to answer is said
    /// after that in any case.
    #[must_use]
    pub fn system(mut self, role: impl Into<String>) -> Self {
        self.role = Some(role.into());
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
        self.remap = Some(Remap::new(remap));
        self
    }

    /// From which score an output passes: 0.5 unless it is set, and 1 for [`toxicity`](Self::toxicity) and
    /// [`bias`](Self::bias).
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    fn thinks(&self) -> bool {
        self.chain_of_thought.unwrap_or(self.form().thinks())
    }

    fn form(&self) -> Form {
        self.task.form(self.scoring)
    }

    /// Each model to ask.
    fn choices(&self) -> Vec<ModelChoice> {
        let Some(models) = &self.panel else { return vec![self.choice.clone()] };
        let choice = |model: &String| ModelChoice { model: Some(model.clone()), ..self.choice.clone() };
        models.iter().map(choice).collect()
    }

    /// What is wrong with the settings by themselves.
    fn problem(&self) -> Option<String> {
        if let Some(problem) = self.task.problem(self.scoring) {
            return Some(problem);
        }
        let choices = self.choices();
        if choices.is_empty() {
            return Some("the panel has no model; name at least one".to_owned());
        }
        if let Some(problem) = self.choice.problem() {
            return Some(problem);
        }
        let vendors = choices.iter().map(ModelChoice::vendor);
        if self.choice.api_key_env.is_some() && self.choice.base_url.is_none() && !all_same(vendors) {
            return Some(
                "the models of the panel are of several vendors, and `api_key_env` names one key, which is for one of them; \
                 leave it out, or set the `base_url` of the gateway that takes it"
                    .to_owned(),
            );
        }
        let role = Template::parse(self.role.as_deref().unwrap_or_default());
        role.variables().first().map(|variable| {
            let name = variable.name();
            format!("nothing is filled into `system`; put its `{{{{{name}}}}}` into the prompt")
        })
    }

    async fn judge(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        if let Some(problem) = self.problem() {
            return Err(EvalError::new(problem));
        }
        let asking = cx.models()?;
        let remapped = self.remap.as_ref().map(|remap| remap.apply(cx));
        let prompt = self.task.fill(remapped.as_ref().unwrap_or(cx))?;
        // By the name that the vendor knows it by: `m` and `openai/m` are one model, asked twice.
        let names: Vec<_> = self.choices().iter().map(|choice| asking.models.judge_model(choice)).collect();
        let nth = |index: usize| names[..index].iter().filter(|name| **name == names[index]).count() as u32;
        let votes = self.choices().into_iter().enumerate().map(
            |(index, choice)| -> Pin<Box<dyn Future<Output = _> + Send>> {
                Box::pin(self.ask(&asking, choice, nth(index), &prompt))
            },
        );
        let mut votes = join_all(votes.collect()).await.into_iter().collect::<Result<Vec<Vote>, _>>()?;
        if self.panel.is_some() {
            return Ok(together(votes, self.aggregate, self.form(), self.pass_mark));
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
            system: system(&role(self.role.as_deref(), self.task.is_preset()), &fields),
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
            Err(error) if self.panel.is_some() => {
                Err(EvalError::new(format!("`{model}` of the panel gave no judgement: {error}")))
            }
            Err(error) => Err(error.into()),
        }
    }
}

fn all_same<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.all(|value| Some(value) == first)
}

impl Evaluator for LlmJudge {
    fn name(&self) -> &str {
        &self.name
    }

    fn evaluate<'a>(&'a self, cx: &'a EvalContext) -> Evaluation<'a> {
        Box::pin(self.judge(cx))
    }

    fn pass_mark(&self) -> f64 {
        self.pass_mark
    }

    fn check(&self, setup: &Setup) -> Result<(), CheckError> {
        if let Some(problem) = self.problem() {
            return Err(CheckError::new(problem));
        }
        self.task.check(setup, self.remap.is_some())?;
        self.choices().iter().try_for_each(|choice| setup.models.check_judge(choice))
    }

    /// Every call to a model has a limit of its own, waiting for a free place left out: a busy run is no error.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }
}
