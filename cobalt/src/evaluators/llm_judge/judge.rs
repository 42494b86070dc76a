//! The judge itself: its settings, and how it is asked.

use std::pin::Pin;
use std::time::Duration;

use super::super::choices::{Aggregate, Scoring};
use super::super::model_setters::model_setters;
use super::super::remap::Remap;
use super::super::{
    CheckError, DEFAULT_PASS_MARK, EvalContext, EvalError, Evaluation, Evaluator, Score, Setup,
};
use super::answer::{Judgement, read};
use super::panel::{Vote, together};
use super::system::{schema, system};
use crate::evaluators::prompt::Prompt;
use crate::future::join_all;
use crate::llm::{Asking, ModelChoice, Question};

/// Lets a model judge the output by a prompt of yours.
///
/// `{{input}}` and the like are filled from the item, `{{output}}` is the agent's answer. The judge answers with a
/// verdict, unless [`scale`](Self::scale) asks for a score, and with its reason. See the [module](crate::judges) for
/// models, keys, panels and costs.
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
    name: String,
    prompt: Prompt,
    scoring: Scoring,
    chain_of_thought: Option<bool>,
    role: Option<String>,
    choice: ModelChoice,
    panel: Option<Vec<String>>,
    aggregate: Aggregate,
    remap: Option<Remap>,
    pass_mark: f64,
}

impl LlmJudge {
    /// A judge that says whether the output meets the criteria in `prompt`.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            prompt: Prompt::new(prompt.into()),
            scoring: Scoring::Boolean,
            chain_of_thought: None,
            role: None,
            choice: ModelChoice::default(),
            panel: None,
            aggregate: Aggregate::default(),
            remap: None,
            pass_mark: DEFAULT_PASS_MARK,
        }
    }

    /// Asks for a verdict, which scores 1 or 0. A judge does so by itself.
    #[must_use]
    pub fn boolean(mut self) -> Self {
        self.scoring = Scoring::Boolean;
        self
    }

    /// Asks for a score from 0 to 1.
    #[must_use]
    pub fn scale(mut self) -> Self {
        self.scoring = Scoring::Scale;
        self
    }

    /// Whether the judge reasons at length before it answers. The reasoning is kept beside the score. Without this, it
    /// does for a verdict, and does not for a score.
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

    /// Lets the prompt's `{{name}}` show what `path` leads to, such as `output.answer` or `context[0].text`.
    #[must_use]
    pub fn field(mut self, name: impl Into<String>, path: impl AsRef<str>) -> Self {
        self.prompt.set_field(name.into(), path.as_ref());
        self
    }

    /// Changes what the prompt is filled from, for example another output or item.
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

    /// From which score an output passes: 0.5 unless it is set.
    #[must_use]
    pub fn pass_mark(mut self, mark: f64) -> Self {
        self.pass_mark = mark;
        self
    }

    fn thinks(&self) -> bool {
        self.chain_of_thought.unwrap_or(self.scoring == Scoring::Boolean)
    }

    /// Each model to ask, and which time it is asked.
    fn choices(&self) -> Vec<(ModelChoice, u32)> {
        let Some(models) = &self.panel else { return vec![(self.choice.clone(), 0)] };
        let nth = |(index, model): (usize, &String)| {
            let which = models[..index].iter().filter(|earlier| *earlier == model).count();
            (ModelChoice { model: Some(model.clone()), ..self.choice.clone() }, which as u32)
        };
        models.iter().enumerate().map(nth).collect()
    }

    async fn judge(&self, cx: &EvalContext) -> Result<Score, EvalError> {
        let asking = cx.models()?;
        let remapped = self.remap.as_ref().map(|remap| remap.apply(cx));
        let prompt = self.prompt.fill(remapped.as_ref().unwrap_or(cx))?;
        let votes =
            self.choices().into_iter().map(|(choice, which)| -> Pin<Box<dyn Future<Output = _> + Send>> {
                Box::pin(self.ask(&asking, choice, which, &prompt))
            });
        let mut votes = join_all(votes.collect()).await.into_iter().collect::<Result<Vec<Vote>, _>>()?;
        if self.panel.is_some() {
            return Ok(together(votes, self.aggregate, self.scoring, self.pass_mark));
        }
        let (_, Judgement { score, reason, chain_of_thought }) = votes.swap_remove(0);
        let score = Score::new(score);
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
        let question = Question {
            system: system(self.role.as_deref(), self.scoring, self.thinks()),
            prompt: prompt.to_owned(),
            schema: schema(self.scoring, self.thinks()),
            which,
        };
        let Asking { models, meter } = asking;
        let model = models.judge_model(&choice);
        let answer = models.ask(&choice, &question, meter, |answer| read(answer, self.scoring)).await;
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
        self.prompt.check()?;
        if self.remap.is_none() {
            self.prompt.check_items(setup.items())?;
        }
        let choices = self.choices();
        if choices.is_empty() {
            return Err(CheckError::new("the panel has no model; name at least one"));
        }
        if let Some(temperature) = self.choice.temperature.filter(|value| !(0.0..=2.0).contains(value)) {
            return Err(CheckError::new(format!(
                "the temperature is {temperature}; it is a number from 0 to 2"
            )));
        }
        choices.iter().try_for_each(|(choice, _)| setup.models.check_judge(choice))
    }

    /// Every call to a model has a limit of its own, waiting for a free place left out: a busy run is no error.
    fn time_limit(&self, _: Duration) -> Option<Duration> {
        None
    }
}
