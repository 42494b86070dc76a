//! The constructors of `LlmJudge`: for a prompt of one's own, and for each preset.

use super::super::DEFAULT_PASS_MARK;
use super::super::choices::{Aggregate, Preset};
use super::LlmJudge;
use super::task::Task;
use crate::evaluators::asking::prompt::Prompt;
use crate::llm::ModelChoice;

impl LlmJudge {
    /// A judge that says whether the output meets the criteria in `prompt`.
    pub fn new(name: impl Into<String>, prompt: impl Into<String>) -> Self {
        Self::of(name.into(), Task::Prompt(Prompt::new(prompt.into())), DEFAULT_PASS_MARK)
    }

    pub(crate) fn preset(name: impl Into<String>, preset: Preset) -> Self {
        Self::of(name.into(), Task::Preset(preset, preset.texts()), preset.pass_mark())
    }

    fn of(name: String, task: Task, pass_mark: f64) -> Self {
        Self {
            name,
            task,
            scoring: None,
            chain_of_thought: None,
            role: None,
            choice: ModelChoice::default(),
            panel: None,
            aggregate: Aggregate::default(),
            remap: None,
            pass_mark,
        }
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
