//! Scoring the stored outputs of a run instead of calling the agent.

mod items;
mod scored_run;

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

use cobalt_core::redact::has_mark;
use cobalt_core::report::{
    DatasetSummary, Evaluations, Execution, GitState, ItemResult, Rescored, RunVariant, ScoredEvaluation,
    Transcript,
};
use cobalt_core::store::{derive_id, new_run_id};
use cobalt_core::wording::{count, suggest_or_list};
use serde_json::Value;

use crate::dataset::Dataset;
use crate::evaluators::Evaluator;
use crate::experiment::ResolvedDefinition;
use crate::recording::RecordMode;
use items::{AgentInput, MatchedItems};
pub use scored_run::ScoredRun;

/// The stored outputs of a run, and which evaluators score them.
#[derive(Debug)]
pub struct Rescoring {
    pub origin: Rescored,
    pub variant: Option<Box<RunVariant>>,
    pub git: Option<GitState>,
    pub sources: Option<String>,
    pub dataset: DatasetSummary,
    /// The indexes of the items, if the original run is partial.
    pub selection: Option<Vec<usize>>,
    /// The trials of the items, by index.
    trials: Vec<Vec<Execution>>,
    /// What happens to the evaluators of the experiment, in its order.
    uses: Vec<EvaluatorUse>,
    /// The hashes of the evaluators' settings in the stored run, by name.
    hashes: BTreeMap<String, String>,
}

/// What happens to an evaluator of the experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
enum EvaluatorUse {
    /// It scores the stored outputs.
    Run,
    /// Its stored scores are copied; it runs if there is none.
    Copy,
    /// Its stored scores are copied; an output without one has an error, for this reason.
    Unavailable(String),
}

impl Rescoring {
    /// Resolves what to score. Returns the items that evaluators see and their keys, too.
    ///
    /// The definition gets the number of trials of the stored run, and records nothing.
    pub fn new(
        run: ScoredRun,
        definition: &mut ResolvedDefinition,
        current: &Dataset,
    ) -> Result<(Self, Dataset, Vec<String>), String> {
        let ScoredRun { mut report, evaluators: chosen } = run;
        if report.items.is_empty() {
            return Err(format!("run `{}` has no items to score", report.id));
        }
        definition.runs = report.config.runs;
        if definition.recording.mode.records() {
            definition.recording.mode = RecordMode::Off;
        }
        definition.recording.records_missing = false;
        let input = if definition.conversation.is_some() { AgentInput::User } else { AgentInput::Field };
        let items = MatchedItems::new(&report, current, input);
        let mut notes = items.notes();
        notes.extend(content_notes(&report.items, report.schema == 0));
        let names = report.config.evaluators.iter().cloned();
        let hashes = names.zip(report.config.evaluator_hashes.iter().cloned()).collect();
        let uses = evaluator_uses(definition, &report.config.evaluators, &chosen, &report.id, &mut notes)?;
        let run_names =
            definition.evaluators.iter().zip(&uses).filter(|(_, used)| **used == EvaluatorUse::Run);
        let evaluators = run_names.map(|(evaluator, _)| evaluator.name().to_owned()).collect();
        let (run, timestamp, scores_of) = match report.rescored.take() {
            Some(earlier) => (earlier.run, earlier.timestamp, Some(report.id.clone())),
            None => (report.id.clone(), report.timestamp, None),
        };
        let MatchedItems { dataset, keys, summary, .. } = items;
        let mut trials = vec![Vec::new(); dataset.len()];
        let selection = report.selected_indexes();
        for item in report.items {
            trials[item.index] = item.runs.into_iter().map(without_spending).collect();
        }
        let rescoring = Self {
            origin: Rescored { run, timestamp, scores_of, evaluators, notes },
            variant: report.variant.map(|variant| Box::new(in_new_group(*variant))),
            git: report.git,
            sources: report.sources,
            dataset: summary,
            selection,
            trials,
            uses,
            hashes,
        };
        Ok((rescoring, dataset, keys))
    }

    /// The trials of an item.
    pub fn trials(&self, index: usize) -> &[Execution] {
        &self.trials[index]
    }

    /// The hash of the settings that gave the scores of an evaluator that does not run.
    pub fn copied_hash(&self, place: usize, name: &str) -> Option<String> {
        if self.runs(place) { None } else { self.hashes.get(name).cloned() }
    }

    /// Whether an evaluator runs on every output, by its place in the experiment.
    pub fn runs(&self, place: usize) -> bool {
        self.uses[place] == EvaluatorUse::Run
    }

    /// The result of an evaluator that does not run on an output. The judge was paid for by the original run.
    pub fn copied(&self, place: usize, name: &str, stored: &Evaluations) -> Option<ScoredEvaluation> {
        let copy = || stored.get(name).map(|stored| ScoredEvaluation { judge: None, ..stored.clone() });
        match &self.uses[place] {
            EvaluatorUse::Run => None,
            EvaluatorUse::Copy => copy(),
            EvaluatorUse::Unavailable(reason) => Some(copy().unwrap_or_else(|| ScoredEvaluation {
                error: Some(reason.clone()),
                ..ScoredEvaluation::default()
            })),
        }
    }
}

/// What happens to each evaluator. `stored` are those of the run, `chosen` those that the user names.
fn evaluator_uses(
    definition: &ResolvedDefinition,
    stored: &[String],
    chosen: &[String],
    run: &str,
    notes: &mut Vec<String>,
) -> Result<Vec<EvaluatorUse>, String> {
    let names = || definition.evaluators.iter().map(|evaluator| evaluator.name());
    if let Some(unknown) = chosen.iter().find(|chosen| names().all(|name| name != **chosen)) {
        return Err(format!("it has no evaluator `{unknown}`; {}", suggest_or_list(unknown, names())));
    }
    let is_chosen = |name: &str| chosen.iter().any(|chosen| chosen == name);
    let mut uses = Vec::with_capacity(definition.evaluators.len());
    for evaluator in &definition.evaluators {
        let name = evaluator.name();
        let is_stored = stored.iter().any(|stored| stored == name);
        uses.push(match evaluator.needs_live_agent() {
            Some(why) if is_chosen(name) => {
                return Err(format!("evaluator `{name}` {why}, so it needs a new run: `cargo cobalt run`"));
            }
            Some(why) => {
                let scores = if is_stored { "its stored scores are kept" } else { "it has no stored scores" };
                notes.push(format!("evaluator `{name}` was not run, because it {why}; {scores}"));
                EvaluatorUse::Unavailable(format!(
                    "not run on the stored output, because the evaluator {why}; run the agent with `cargo cobalt run`"
                ))
            }
            None if chosen.is_empty() || is_chosen(name) => EvaluatorUse::Run,
            None if is_stored => EvaluatorUse::Copy,
            None => {
                notes.push(format!("evaluator `{name}` was run, too: it has no scores in run {run}"));
                EvaluatorUse::Run
            }
        });
    }
    for name in stored.iter().filter(|stored| names().all(|name| name != **stored)) {
        notes.push(format!("the scores of `{name}` were dropped: the experiment has no such evaluator"));
    }
    Ok(uses)
}

/// What the stored outputs and traces lack.
fn content_notes(items: &[ItemResult], is_of_original_tool: bool) -> Vec<String> {
    let number =
        |lacks: fn(&Execution) -> bool| items.iter().filter(|item| item.runs.iter().any(lacks)).count();
    let mut notes = Vec::new();
    let redacted = number(is_redacted);
    if redacted > 0 {
        let items = count(redacted, "item");
        notes.push(format!(
            "the stored output, transcript or trace of {items} contains redacted text, which the evaluators saw instead"
        ));
    }
    let cut = number(|trial| trial.dropped_spans > 0 || trial.trace.is_cut());
    if cut > 0 {
        let items = count(cut, "item");
        notes.push(format!(
            "the stored trace of {items} is cut (`trace.max-text`, `trace.content`), which matters to evaluators that read it"
        ));
    }
    if is_of_original_tool {
        notes.push("the result file has no traces: evaluators that read them saw none".to_owned());
    }
    notes
}

fn is_redacted(trial: &Execution) -> bool {
    let output = trial.output.as_ref();
    output.is_some_and(|output| {
        contains_mark(output.value()) || output.all_metadata().values().any(contains_mark)
    }) || trial.trace.texts().any(has_mark)
        || trial.transcript.as_deref().is_some_and(|transcript| texts(transcript).any(has_mark))
}

fn texts(transcript: &Transcript) -> impl Iterator<Item = &str> {
    let turns = transcript.turns.iter().flat_map(|turn| {
        let said = [Some(&turn.message), turn.reply.as_ref(), turn.error.as_ref()].into_iter().flatten();
        said.chain(&turn.tool_calls).chain(turn.checks.iter().map(|check| &check.expected))
    });
    let unplayed = transcript.unplayed.iter().map(|check| &check.expected);
    let mistakes = transcript.mistakes.iter().map(|mistake| &mistake.reason);
    turns.chain(unplayed).chain(mistakes).chain(&transcript.unchecked).map(String::as_str)
}

fn contains_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => has_mark(text),
        Value::Array(values) => values.iter().any(contains_mark),
        Value::Object(fields) => fields.values().any(contains_mark),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A stored trial with only what says that its latency and agent cost are those of a recording: its requests are not sent again.
fn without_spending(mut trial: Execution) -> Execution {
    if let Some(transcript) = &mut trial.transcript {
        transcript.user = None;
    }
    let traffic = trial.traffic.filter(|traffic| traffic.has_replays() || traffic.was_refused());
    let traffic = traffic.map(|mut traffic| {
        (traffic.live, traffic.live_cost, traffic.retried, traffic.waited_ms) = (0, 0.0, 0, 0.0);
        traffic
    });
    Execution { traffic, ..trial }
}

/// The variant of a run that is scored again: those of one process belong together.
fn in_new_group(variant: RunVariant) -> RunVariant {
    static PROCESS: LazyLock<String> = LazyLock::new(new_run_id);
    let group = derive_id(&[variant.group.clone(), PROCESS.clone()]);
    RunVariant { group, ..variant }
}

/// The evaluators that a plan needs, each with its place.
pub fn needed_evaluators<'a>(
    definition: &'a ResolvedDefinition,
    rescoring: Option<&'a Rescoring>,
) -> impl Iterator<Item = &'a Arc<dyn Evaluator>> {
    let is_needed = move |place: &usize| rescoring.is_none_or(|rescoring| rescoring.runs(*place));
    definition.evaluators.iter().enumerate().filter(move |(place, _)| is_needed(place)).map(|(_, it)| it)
}

#[cfg(test)]
mod tests {
    use cobalt_core::report::{Turn, TurnCheck, UserMistake, UserMistakeKind};

    use super::*;

    #[test]
    fn redacted_text_is_found_in_all_parts_of_a_transcript() {
        let mark = || "key [redacted:github-token]".to_owned();
        let in_turn = |turn: Turn| Transcript { turns: vec![Turn::default(), turn], ..Transcript::default() };
        let check = TurnCheck { expected: mark(), passed: true };
        let mistake = UserMistake { turn: 1, kind: UserMistakeKind::ToldAnswer, reason: mark() };
        let transcripts = [
            in_turn(Turn { message: mark(), ..Turn::default() }),
            in_turn(Turn { reply: Some(mark()), ..Turn::default() }),
            in_turn(Turn { error: Some(mark()), ..Turn::default() }),
            in_turn(Turn { tool_calls: vec![mark()], ..Turn::default() }),
            in_turn(Turn { checks: vec![check], ..Turn::default() }),
            Transcript { mistakes: vec![mistake], ..Transcript::default() },
        ];
        let trial = |transcript| Execution { transcript: Some(Box::new(transcript)), ..Execution::default() };
        for transcript in transcripts {
            assert!(is_redacted(&trial(transcript.clone())), "{transcript:?}");
        }
        assert!(!is_redacted(&trial(in_turn(Turn { message: "Hello".to_owned(), ..Turn::default() }))));
    }
}
