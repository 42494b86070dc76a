//! Which experiments and items a shard runs and how, so that a process that takes it over does the same.

use std::num::NonZeroUsize;

use clap::{Parser as _, ValueEnum};
use cobalt::command::config::MaxCost;
use serde::{Deserialize, Serialize};

use crate::cli::{Cargo, Cobalt, Command, Run, RunOptions};
use crate::error::Error;

/// The options of `cargo cobalt run` that are repeated. They are stored as values, so nothing in the store can add others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ShardOptions {
    targets: Vec<String>,
    file: Vec<String>,
    filter: Vec<String>,
    variant: Vec<String>,
    set: Vec<String>,
    concurrency: Option<NonZeroUsize>,
    runs: Option<NonZeroUsize>,
    max_cost: Option<String>,
    record: Option<String>,
    record_stale: Option<String>,
    keep_workspaces: Option<String>,
    /// The arguments for the test binaries.
    harness: Vec<String>,
}

impl ShardOptions {
    /// Those of a run.
    pub fn of(options: &RunOptions) -> Self {
        let selection = &options.selection;
        let name = |value: &dyn Fn() -> Option<clap::builder::PossibleValue>| {
            value().map(|value| value.get_name().to_owned())
        };
        Self {
            targets: selection.targets.clone(),
            file: selection.file.iter().map(|path| path.display().to_string()).collect(),
            filter: selection.filter.iter().map(ToString::to_string).collect(),
            variant: selection.variant.clone(),
            set: selection.set.iter().map(ToString::to_string).collect(),
            concurrency: options.concurrency,
            runs: options.runs,
            max_cost: options.max_cost.map(|max| max.to_string()),
            record: name(&|| options.record.and_then(|mode| mode.to_possible_value())),
            record_stale: options
                .record_stale
                .map(|age| humantime::format_duration(age).to_string().replace(' ', "")),
            keep_workspaces: name(&|| options.keep_workspaces.and_then(|kept| kept.to_possible_value())),
            harness: options.harness.clone(),
        }
    }

    /// Why they cannot become arguments.
    pub fn problem(&self) -> Option<String> {
        let flag = self.targets.iter().find(|target| target.starts_with('-'));
        flag.map(|flag| format!("`{flag}` is not a test target"))
    }
}

/// The arguments for `cargo cobalt run` that a user gave to `merge --take-over`.
#[derive(Debug)]
pub struct GivenArguments<'a> {
    typed: &'a [String],
    run: Box<Run>,
}

impl<'a> GivenArguments<'a> {
    pub fn parse(typed: &'a [String]) -> Result<Self, Error> {
        let words = ["cargo", "cobalt", "run"].into_iter().chain(typed.iter().map(String::as_str));
        match Cargo::try_parse_from(words) {
            Ok(Cargo::Cobalt(Cobalt { command: Command::Run(run), .. })) => {
                Ok(Self { typed, run: Box::new(run) })
            }
            Ok(_) => Err(Error::Arguments("expected arguments for `cargo cobalt run` after `--`".to_owned())),
            Err(error) => {
                let text = error.render().to_string();
                let text = text.trim().strip_prefix("error: ").unwrap_or(&text).to_owned();
                Err(Error::Arguments(format!("the arguments for `cargo cobalt run`, after `--`: {text}")))
            }
        }
    }

    /// The given budget.
    pub fn max_cost(&self) -> Option<MaxCost> {
        self.run.options.max_cost
    }

    /// Whether an archive is given.
    pub fn has_archive(&self) -> bool {
        self.run.archive.archive.is_some()
    }

    /// The arguments that run these experiments of a shard with its options. What is given takes precedence.
    pub fn for_experiments(&self, experiments: &[&str], options: &ShardOptions) -> Vec<String> {
        let given = &self.run.options;
        let mut arguments = self.for_all(options);
        let experiments: Vec<_> = experiments.iter().map(|name| (*name).to_owned()).collect();
        if given.selection.filter.is_empty() {
            add(&mut arguments, "filter", &options.filter);
        }
        add(&mut arguments, "experiment", &experiments);
        if given.runs.is_none() {
            add(&mut arguments, "runs", options.runs.map(|runs| runs.to_string()).as_slice());
        }
        arguments.extend_from_slice(self.typed);
        if given.harness.is_empty() && !options.harness.is_empty() {
            arguments.extend(std::iter::once("--".to_owned()).chain(options.harness.iter().cloned()));
        }
        arguments
    }

    /// The arguments that resume these runs of a shard with its options. A resumed run has its own items and number of trials.
    pub fn for_resumed(&self, ids: &[&str], options: &ShardOptions) -> Vec<String> {
        let mut arguments = vec![format!("--resume={}", ids.join(","))];
        arguments.extend(self.for_all(options));
        arguments.extend_from_slice(self.typed);
        arguments
    }

    /// What new and resumed runs have in common.
    fn for_all(&self, options: &ShardOptions) -> Vec<String> {
        let given = &self.run.options;
        let mut arguments = Vec::new();
        if given.selection.targets.is_empty() && given.selection.file.is_empty() {
            arguments.extend_from_slice(&options.targets);
            add(&mut arguments, "file", &options.file);
        }
        if given.selection.variant.is_empty() {
            add(&mut arguments, "variant", &options.variant);
        }
        if given.selection.set.is_empty() {
            add(&mut arguments, "set", &options.set);
        }
        let concurrency = options.concurrency.map(|items| items.to_string());
        for (name, is_given, value) in [
            ("concurrency", given.concurrency.is_some(), &concurrency),
            ("max-cost", given.max_cost.is_some(), &options.max_cost),
            ("record", given.record.is_some(), &options.record),
            ("record-stale", given.record_stale.is_some(), &options.record_stale),
            ("keep-workspaces", given.keep_workspaces.is_some(), &options.keep_workspaces),
        ] {
            if !is_given {
                add(&mut arguments, name, value.as_slice());
            }
        }
        arguments
    }
}

/// Adds an option with each of the values. A value that begins with a dash stays a value.
fn add(arguments: &mut Vec<String>, name: &str, values: &[String]) {
    arguments.extend(values.iter().map(|value| format!("--{name}={value}")));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    /// The options of a run with these arguments.
    fn options(words: &[&str]) -> ShardOptions {
        let typed = typed(words);
        ShardOptions::of(&GivenArguments::parse(&typed).unwrap().run.options)
    }

    const ALL: [&str; 22] = [
        "evals",
        "--filter",
        "de*",
        "--variant",
        "mini",
        "--set",
        "model=a b",
        "--runs",
        "3",
        "--concurrency",
        "4",
        "--max-cost",
        "2.5",
        "--record",
        "auto",
        "--record-stale",
        "30d",
        "--keep-workspaces",
        "all",
        "--",
        "--skip",
        "-x",
    ];

    #[test]
    fn the_options_of_a_shard_are_repeated() {
        let options = options(&ALL);
        let given = GivenArguments::parse(&[]).unwrap();
        let arguments = given.for_experiments(&["desk", "--odd"], &options);
        let expected = [
            "evals",
            "--variant=mini",
            "--set=model=a b",
            "--concurrency=4",
            "--max-cost=2.5",
            "--record=auto",
            "--record-stale=30days",
            "--keep-workspaces=all",
            "--filter=de*",
            "--experiment=desk",
            "--experiment=--odd",
            "--runs=3",
            "--",
            "--skip",
            "-x",
        ];
        assert_eq!(arguments, expected);
        let again = GivenArguments::parse(&arguments).unwrap();
        assert_eq!(ShardOptions::of(&again.run.options), options, "they are the same options");
        let resumed = given.for_resumed(&["a", "b"], &options);
        assert_eq!(resumed[..3], ["--resume=a,b", "evals", "--variant=mini"]);
        assert!(!resumed.iter().any(|word| word.starts_with("--runs") || word == "--skip"), "{resumed:?}");
        GivenArguments::parse(&resumed).unwrap();
    }

    #[test]
    fn what_is_given_takes_precedence() {
        let words = typed(&["--release", "--max-cost", "9", "--concurrency=1", "--", "--exact"]);
        let given = GivenArguments::parse(&words).unwrap();
        let arguments = given.for_experiments(&["desk"], &options(&ALL));
        assert!(!arguments.iter().any(|word| word == "--concurrency=4" || word == "--max-cost=2.5"));
        let parsed = GivenArguments::parse(&arguments).unwrap();
        assert_eq!(parsed.max_cost().unwrap().to_string(), "9");
        assert_eq!(parsed.run.options.harness, ["--exact"]);
        let error = GivenArguments::parse(&typed(&["--relase"])).unwrap_err().to_string();
        assert!(error.contains("unexpected argument '--relase'"), "{error}");
    }

    #[test]
    fn a_target_that_is_a_flag_is_refused() {
        let odd = ShardOptions { targets: vec!["--config=x".to_owned()], ..ShardOptions::default() };
        assert!(odd.problem().is_some());
        assert_eq!(options(&ALL).problem(), None);
    }
}
