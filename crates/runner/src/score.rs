//! `cargo cobalt score`: runs evaluators on the stored outputs of runs, without calling the agent.

use std::process::ExitCode;

use cobalt::command::config::Flags;
use cobalt_core::store::ReportFile;

use crate::cli::{Color, Score};
use crate::error::Error;
use crate::lookup::RunLookup;
use crate::project::{BinarySource as _, CargoBuild};
use crate::run;
use crate::terminal::{eprint_wrapped, one_line};

pub fn score(arguments: &Score, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let source = CargoBuild::read(&arguments.build, color)?;
    let settings = source.settings(flags)?;
    let runs = RunLookup::open(&settings)?.resolve(&arguments.runs)?;
    for run in &runs {
        if let Some(note) = &run.note {
            eprint_wrapped(&format!("note: {}", one_line(note)));
        }
        // A baseline has no outputs; the reason is better said before anything is built.
        if ReportFile::open(&run.path)?.report().redacted {
            let reason =
                "it is redacted, so it has no outputs to score; score the run where it was made".to_owned();
            return Err(Error::RunFile { path: run.path.clone(), reason });
        }
    }
    let experiments = runs.iter().map(|run| run.experiment.clone()).collect();
    let score = runs.into_iter().map(|run| run.path).collect();
    let flags = Flags { score, score_evaluators: arguments.evaluator.clone(), ..flags.clone() };
    run::run(&arguments.run_options(experiments), &source, &flags)
}
