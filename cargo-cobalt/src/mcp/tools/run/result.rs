//! The result of `cobalt_run`: the runs as in their result files, and a summary.

use std::cmp::Reverse;
use std::fmt::Write as _;
use std::path::Path;

use cobalt::command::exit_code::FAILED;
use cobalt_core::report::{Report, RunVerdict};
use cobalt_core::store::ReportFile;
use cobalt_core::wording::{count, truncate};
use schemars::JsonSchema;
use serde::Serialize;

use super::conclusion::{
    LONGEST, NotRun, NotRunReason, errors, has_broken, has_interrupted, is_passed, not_run, still_failed,
    verdict, warnings,
};
use super::execution::Outcome;
use crate::error::Error;
use crate::markdown::code;
use crate::mcp::past_runs::PastRuns;
use crate::mcp::plain_errors::Diagnostic;
use crate::mcp::projects::Project;
use crate::mcp::stderr;
use crate::mcp::tools::{ToolResult, render_errors};
use crate::mcp::view::{self, ItemQuery, RunPage, first_lines, keep_fitting, size};

/// The minimum room for a run with items, and the room for one without.
const MIN_RUN: usize = 10_000;
const ROOM_OF_BRIEF: usize = 300;
/// The room for each list of problems.
const ROOM_OF_LIST: usize = 12_000;
/// The room for the text.
const ROOM_OF_TEXT: usize = 7_500;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunResult {
    project: Project,
    /// Whether all selected experiments ran and passed. False if the thresholds of an experiment were not evaluated (partial run).
    passed: bool,
    /// The overall outcome, in a sentence.
    verdict: String,
    /// Exit code of `cargo cobalt run`: 0 (or 1 under CI), even if an experiment failed; 2 invalid arguments; 3 failed to build,
    /// configure or run; 4 nothing matched; 130 stopped. Absent if it was killed by a signal.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Finished runs, failed ones first.
    runs: Vec<ExperimentRun>,
    /// Further finished runs that do not fit; read them with `cobalt_results` by ID.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    more_runs: Vec<BriefRun>,
    /// Experiments without a result, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_run: Vec<NotRun>,
    /// Why the project does not build.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    compile_errors: Vec<Diagnostic>,
    /// Number of further compiler errors.
    #[serde(skip)]
    more_compile_errors: usize,
    /// Other errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<String>,
    /// Likely mistakes; they do not change `passed`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    /// The last lines of stderr, if it failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    printed: Vec<String>,
    /// Truncated lists, with the number of missing elements.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    /// Suggested next steps.
    next_steps: Vec<String>,
}

/// A run, and the ID of the previous one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExperimentRun {
    #[serde(flatten)]
    run: RunPage,
    /// ID of the experiment's previous run, to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_run_id: Option<String>,
}

/// A run without its items.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BriefRun {
    /// The run ID.
    id: String,
    /// The experiment's name.
    name: String,
    /// Whether it passed.
    passed: bool,
    verdict: RunVerdict,
}

/// The result of a finished command.
pub fn build(project: &Project, outcome: Outcome) -> Result<ToolResult<RunResult>, Error> {
    let Outcome { code, state, mut compile_errors, stderr } = outcome;
    compile_errors.cut(2 * ROOM_OF_LIST);
    // With `CI` set, `cargo cobalt` exits with 1 if an experiment failed.
    let is_error = !matches!(code, Some(0 | 1 | FAILED));
    let has_broken = has_broken(&state);
    let mut errors = errors(&state);
    if is_error && compile_errors.is_empty() && errors.is_empty() && !has_broken {
        errors = stderr::errors(&stderr);
    }
    let has_crashed = has_interrupted(&state) || errors.is_empty();
    let tells_more = is_error && compile_errors.is_empty() && !has_broken && has_crashed;
    let printed = if tells_more { stderr::last_lines(&stderr) } else { Vec::new() };
    errors.extend(still_failed(&state));
    let runs = state.finished.iter().map(|finished| {
        let path = finished.path.as_deref().map(Path::new);
        let read = path.and_then(|path| ReportFile::open(path).ok());
        read.unwrap_or_else(|| ReportFile::of_report(path.unwrap_or(Path::new("")), finished.report.clone()))
    });
    let mut ran = RunResult {
        project: project.clone(),
        passed: !is_error && is_passed(&state),
        verdict: verdict(&state, compile_errors.first.len() + compile_errors.more),
        exit_code: code,
        runs: Vec::new(),
        more_runs: Vec::new(),
        not_run: not_run(&state),
        more_compile_errors: compile_errors.more,
        compile_errors: compile_errors.first,
        errors,
        warnings: warnings(&state),
        printed,
        left_out: Vec::new(),
        next_steps: Vec::new(),
    };
    if ran.more_compile_errors > 0 {
        ran.left_out.push(format!("compileErrors: {} more", ran.more_compile_errors));
    }
    ran.add_runs(runs.collect(), PastRuns::open(project).ok().as_ref())?;
    Ok(ToolResult { text: ran.text(), structured: ran, is_error })
}

impl RunResult {
    /// Adds the runs that fit, failed ones first.
    fn add_runs(&mut self, mut files: Vec<ReportFile>, past: Option<&PastRuns>) -> Result<(), Error> {
        let Self { not_run, errors, warnings, printed, left_out, .. } = self;
        keep_fitting(not_run, ROOM_OF_LIST, "notRun", left_out);
        keep_fitting(errors, ROOM_OF_LIST, "errors", left_out);
        // Errors and warnings share the room of one list.
        keep_fitting(warnings, ROOM_OF_LIST.saturating_sub(size(&*errors)), "warnings", left_out);
        keep_fitting(printed, ROOM_OF_LIST, "printed", left_out);
        files.sort_by_key(|file| (Reverse(file.report().verdict), file.item_count()));
        // Reserves room for the longest list of steps; it gets shorter when runs fit.
        self.next_steps = self.steps(&files, past);
        let mut room = view::MAX_STRUCTURED.saturating_sub(size(self));
        for (place, file) in files.iter().enumerate() {
            let report = file.report();
            let after = files.len() - place - 1;
            let free = room.saturating_sub(after * ROOM_OF_BRIEF);
            let share = (free / (after + 1)).max(MIN_RUN);
            if share > free {
                self.more_runs.push(brief(report));
                room = room.saturating_sub(ROOM_OF_BRIEF);
                continue;
            }
            let run = view::run(file, &ItemQuery::default(), None, share)?;
            let run =
                ExperimentRun { run, previous_run_id: past.and_then(|past| previous_run_id(past, report)) };
            room = room.saturating_sub(size(&run));
            self.runs.push(run);
        }
        keep_fitting(&mut self.more_runs, ROOM_OF_LIST, "moreRuns", &mut self.left_out);
        self.next_steps = self.steps(&files, past);
        Ok(())
    }

    fn steps(&self, files: &[ReportFile], past: Option<&PastRuns>) -> Vec<String> {
        let mut steps = Vec::new();
        let mut reports = files.iter().map(ReportFile::report);
        let first = reports.clone().next();
        if let Some(report) = reports.find(|report| report.verdict == RunVerdict::Failed).or(first) {
            let name = code(&truncate(&report.name, LONGEST));
            let is_it = |shown: &&ExperimentRun| shown.run.head.id == report.id;
            if self.runs.iter().find(is_it).is_none_or(|shown| shown.run.rest.is_some()) {
                steps.push(format!(
                    "call `cobalt_results` with `runId` \"{}\" for the remaining items of {name}",
                    report.id
                ));
            }
            if report.verdict == RunVerdict::Failed {
                let place = report.declared_at.as_ref();
                let place = place.map(|place| format!(" (declared at {}:{})", place.file, place.line));
                steps.push(format!(
                    "fix the agent that experiment {name} tests{}, then call `cobalt_run` again",
                    place.unwrap_or_default()
                ));
            }
            if let Some(previous) = past.and_then(|past| previous_run_id(past, report)) {
                steps.push(format!(
                    "call `cobalt_compare` with `runA` \"{previous}\" and `runB` \"{}\" to see whether it is better or worse than before",
                    report.id
                ));
            }
        }
        let cut_off: Vec<_> = self.not_run.iter().filter_map(|not_run| not_run.run_id.as_deref()).collect();
        if !cut_off.is_empty() {
            steps.push(format!("call `cobalt_run` with `resume` \"{}\" to run the rest", cut_off.join(",")));
        }
        if !self.compile_errors.is_empty() {
            steps.push("fix the compiler errors, then call `cobalt_run` again".to_owned());
        }
        steps
    }

    fn text(&self) -> String {
        let mut text = format!("{} in {}\n", self.verdict, code(&self.project.name));
        text +=
            &render_errors(&self.compile_errors, self.more_compile_errors, &self.errors, ROOM_OF_TEXT / 2);
        if !self.not_run.is_empty() {
            text.push('\n');
            text += &view::fit_lines(self.not_run.iter().map(not_run_line), ROOM_OF_TEXT / 4, "experiment");
        }
        if !self.warnings.is_empty() {
            let warnings = self.warnings.iter().map(|warning| format!("- warning: {}", code(warning)));
            text.push('\n');
            text += &view::fit_lines(warnings, ROOM_OF_TEXT / 8, "warning");
        }
        let mut end = String::new();
        if !self.more_runs.is_empty() {
            let failed = self.more_runs.iter().filter(|run| run.verdict == RunVerdict::Failed).count();
            let runs = count(self.more_runs.len(), "further run");
            let _ = writeln!(end, "\n{runs} in `moreRuns`; {failed} of them failed.");
        }
        if !self.left_out.is_empty() {
            let _ = writeln!(end, "\nTruncated in the structured content: {}.", self.left_out.join(", "));
        }
        if !self.next_steps.is_empty() {
            let steps: String = self.next_steps.iter().map(|step| format!("- {step}\n")).collect();
            let _ = write!(end, "\nNext:\n\n{steps}");
        }
        let mut room = ROOM_OF_TEXT.saturating_sub(text.len() + end.len());
        for (place, run) in self.runs.iter().enumerate() {
            let share = room / (self.runs.len() - place);
            let told = first_lines(&format!("\n{}", view::text(&run.run, share)), share);
            room = room.saturating_sub(told.len());
            text += &told;
        }
        text + &end
    }
}

/// An experiment without a result, in a line.
fn not_run_line(not_run: &NotRun) -> String {
    let NotRun { name, reason, state, declared_at, .. } = not_run;
    let state = match state {
        NotRunReason::Broken => "cannot be run",
        NotRunReason::Ignored => "is ignored",
        NotRunReason::NothingToRun => "has nothing to run",
        NotRunReason::Interrupted => "was interrupted",
    };
    let place = declared_at.as_ref().map(|place| code(&format!("{}:{}", place.file, place.line)));
    let place = place.map_or(String::new(), |place| format!(" (declared at {place})"));
    format!("- {} {state}{place}: {}", code(name), code(reason))
}

fn brief(report: &Report) -> BriefRun {
    let (passed, verdict) = (report.passed, report.verdict);
    BriefRun { id: report.id.clone(), name: truncate(&report.name, LONGEST).into_owned(), passed, verdict }
}

/// The ID of the previous whole run.
fn previous_run_id(past: &PastRuns, report: &Report) -> Option<String> {
    let mut others = past.whole_runs().iter().filter(|run| run.name == report.name && run.id != report.id);
    let began = report.timestamp.to_string();
    others.find(|run| run.timestamp < began).map(|run| run.id.clone())
}
