//! Asks the model for an experiment, checks it, and returns the errors to the model, up to a number of attempts.

use cobalt::llm::Judge;
use cobalt_core::redact::{has_mark, redacted};
use cobalt_core::wording::truncate;
use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::check::{CheckResult, GenerateRequest, check};
use super::items::{self, Draft, ItemKindCounts, SCHEMA_NAME, SYSTEM, prompt, retry_prompt, schema};
use super::source::Source;
use super::transaction::Transaction;
use crate::error::Error;
use crate::init::add_target;
use crate::mcp::command::Commands;
use crate::mcp::tools::run::Progress;
use crate::mcp::view::size;
use crate::project::{LOCK, MANIFEST};

/// The maximum number of attempts: one, and three retries.
const MOST_ATTEMPTS: usize = 4;
/// The longest error, in characters.
const LONGEST_ERROR: usize = 1_200;
/// The maximum number of errors per attempt: later ones often follow from the first.
const MOST_ERRORS: usize = 8;
/// The room for the errors of an attempt, in bytes, so that all attempts fit into a response.
const MAX_ERROR_BYTES: usize = 9_000;

/// An attempt of the model.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Attempt {
    /// The errors returned to the model: from the compiler, and from the checks of the source and the dataset. Empty if it
    /// succeeded.
    pub errors: Vec<String>,
}

/// The outcome of all attempts.
#[derive(Default)]
pub struct Outcome {
    pub attempts: Vec<Attempt>,
    /// What was written; absent on failure.
    pub written: Option<GeneratedFiles>,
    /// Why nothing was written, if it was not only the model's fault, and other notes for the user.
    pub notes: Vec<String>,
    /// What could not be restored.
    pub left: Vec<String>,
}

/// The experiment that was written.
pub struct GeneratedFiles {
    pub experiments: Vec<String>,
    pub kinds: ItemKindCounts,
    /// Whether a text that looked like a key was redacted.
    pub is_redacted: bool,
}

/// The inputs of the attempts.
pub struct Attempts<'a> {
    pub wanted: &'a GenerateRequest,
    pub judge: &'a Judge,
    pub commands: &'a Commands,
    pub cancelled: &'a CancellationToken,
    pub progress: Progress,
}

/// The outcome of one attempt.
enum AttemptOutcome {
    Written(GeneratedFiles),
    Rejected(Vec<String>),
    /// An error that the model cannot fix.
    Unfixable(String),
}

impl Attempts<'_> {
    /// Tries until a target compiles. On any other outcome, or if this is dropped, nothing is left behind.
    pub async fn run(mut self) -> Result<Outcome, Error> {
        let first = prompt(self.wanted);
        let (mut asked, mut outcome) = (first.clone(), Outcome::default());
        let mut transaction = Transaction::default();
        for attempt in 1..=MOST_ATTEMPTS {
            let model = self.judge.model();
            self.progress.step(&format!("asking {model}, attempt {attempt} of {MOST_ATTEMPTS}")).await;
            let (draft, tried) = match self.attempt(&asked, &mut transaction).await {
                Ok(both) => both,
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                // The result still reports the cost so far.
                Err(error) => {
                    outcome.notes.push(error.to_string());
                    break;
                }
            };
            match tried {
                AttemptOutcome::Written(written) => {
                    outcome.attempts.push(Attempt { errors: Vec::new() });
                    outcome.written = Some(written);
                    transaction.commit();
                    return Ok(outcome);
                }
                AttemptOutcome::Rejected(problems) => {
                    let errors = cut_errors(&problems);
                    asked = retry_prompt(&first, &draft, &errors);
                    outcome.attempts.push(Attempt { errors });
                }
                AttemptOutcome::Unfixable(problem) => {
                    outcome.notes.push(problem);
                    break;
                }
            }
        }
        outcome.left = transaction.rollback();
        Ok(outcome)
    }

    async fn attempt(
        &mut self,
        asked: &str,
        transaction: &mut Transaction,
    ) -> Result<(Draft, AttemptOutcome), Error> {
        let draft = self.ask(asked).await?;
        self.progress.step(&format!("checking what {} wrote", self.judge.model())).await;
        let tried = self.check_draft(&draft, transaction).await?;
        Ok((draft, tried))
    }

    async fn ask(&self, prompt: &str) -> Result<Draft, Error> {
        let answer = self.judge.ask(SYSTEM, prompt, SCHEMA_NAME, schema());
        match self.cancelled.run_until_cancelled(answer).await {
            Some(answer) => answer.map_err(|error| Error::Arguments(error.to_string())),
            None => Err(Error::Interrupted),
        }
    }

    /// The names of the experiments, or the problems of the draft.
    fn review(&self, draft: &Draft) -> Result<Vec<String>, Vec<String>> {
        let GenerateRequest { agent, place, taken, size, .. } = self.wanted;
        let mut problems = items::problems(&draft.items, *size);
        match Source::parse(&draft.source) {
            Ok(source) => {
                problems.extend(source.problems(&place.data_in_package, &items::fields(&draft.items)));
                let experiments = source.experiments();
                problems.extend(taken.problems(&experiments, &taken.free_name(agent, place)));
                if problems.is_empty() { Ok(experiments) } else { Err(problems) }
            }
            Err(problem) => {
                problems.push(problem);
                Err(problems)
            }
        }
    }

    /// Reviews the draft, writes its files, and runs `cargo check`.
    async fn check_draft(
        &mut self,
        draft: &Draft,
        transaction: &mut Transaction,
    ) -> Result<AttemptOutcome, Error> {
        let GenerateRequest { project, agent, place, overwrite, .. } = self.wanted;
        let experiments = match self.review(draft) {
            Ok(experiments) => experiments,
            Err(problems) => return Ok(AttemptOutcome::Rejected(problems)),
        };
        place.check_still_inside(project)?;
        let data = items::to_jsonl(&draft.items).map_err(Error::Json)?;
        transaction.write(&place.data, &data, *overwrite)?;
        transaction.write(&place.test, &draft.source, *overwrite)?;
        let manifest = agent.folder.join(MANIFEST);
        transaction.edit(&manifest, |text| {
            let path = place.test_in_manifest.as_deref();
            let edited = add_target(&agent.folder, &agent.metadata, text, &place.target, path)?;
            Ok(edited.text)
        })?;
        let lock = agent.metadata.workspace_root.join(LOCK).into_std_path_buf();
        transaction.save(&lock)?;
        let checked = check(self.commands, self.wanted, self.cancelled, &mut self.progress).await?;
        transaction.record_written(&lock);
        Ok(match checked {
            CheckResult::Errors(errors) => AttemptOutcome::Rejected(errors),
            CheckResult::OtherErrors(said) => AttemptOutcome::Unfixable(format!(
                "the package does not compile, whatever the model writes: fix this first, then call again\n{}",
                truncate(&redacted(&said), LONGEST_ERROR)
            )),
            CheckResult::Compiles => AttemptOutcome::Written(GeneratedFiles {
                experiments,
                kinds: items::kinds(&draft.items),
                is_redacted: [&data, &draft.source].iter().any(|text| has_mark(text)),
            }),
        })
    }
}

/// The first errors, truncated and redacted.
fn cut_errors(problems: &[String]) -> Vec<String> {
    let told = |problem: &String| truncate(&redacted(problem), LONGEST_ERROR).into_owned();
    let mut errors: Vec<_> = problems.iter().take(MOST_ERRORS).map(told).collect();
    let mut room = MAX_ERROR_BYTES;
    errors.retain(|error| {
        let taken = size(error);
        let fits = taken <= room;
        room = room.saturating_sub(taken);
        fits
    });
    if let Some(more @ 1..) = problems.len().checked_sub(errors.len()) {
        errors.push(format!("and {more} more"));
    }
    errors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_errors_fit_into_a_response() {
        for letter in ["x", "\n", "\"", "語", "\u{1}"] {
            let errors = cut_errors(&vec![letter.repeat(5_000); 30]);
            assert!(
                !errors[0].starts_with("and") && size(&errors) <= MAX_ERROR_BYTES + 100,
                "{letter:?}: {}",
                size(&errors)
            );
            assert_eq!(errors.last().unwrap(), &format!("and {} more", 31 - errors.len()));
        }
    }
}
