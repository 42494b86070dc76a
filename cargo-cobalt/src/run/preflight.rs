//! Pre-flight checks of all test binaries before the first one runs, as a run costs money: experiment names and missing keys.

use std::collections::HashMap;
use std::process::ExitStatus;

use cobalt::command::RequestKind;
use cobalt::command::config::VariantSelection;
use cobalt_core::report::SourceLocation;
use cobalt_core::reporters::{Event, Listed, ListedVariant, MissingKey};
use cobalt_core::{experiment_name, wording};

use super::process::{BinaryRequest, BinaryWithEnv, Message, run};
use crate::baseline::BaselineSource;
use crate::cli::{RunOptions, Selection};
use crate::error::Error;
use crate::interrupt;
use crate::project::Binary;

/// Checks that each given name is an experiment in one of the binaries. Returns a message for each name shared by experiments of
/// different binaries. If names were given, a binary that does not list its experiments may be of a version that ignores names
/// and would run everything: then nothing is run.
pub fn check_names(binaries: &[BinaryWithEnv<'_>], named: &[String]) -> Result<Vec<String>, Error> {
    if named.is_empty() && binaries.len() < 2 {
        return Ok(Vec::new());
    }
    let (listed, is_complete) = query_experiments(binaries, &Selection::default(), !named.is_empty())?;
    let names = experiment_names(&listed);
    let all = || names.iter().map(String::as_str);
    match named.iter().find(|typed| experiment_name::find_declared(typed, all()).is_none()) {
        Some(typed) if is_complete => Err(Error::NothingMatched(format!(
            "no experiment named `{typed}`; {}",
            wording::suggest_or_list(typed, all())
        ))),
        _ => Ok(name_clashes(&listed)),
    }
}

/// The error for filters that match nothing: the filters, a suggestion, and how to select.
pub fn nothing_matched(binaries: &[BinaryWithEnv<'_>], arguments: &RunOptions) -> Error {
    let listed = query_experiments(binaries, &Selection::default(), false)
        .map(|(listed, _)| listed)
        .unwrap_or_default();
    let VariantSelection { names, changes } = arguments.selection.variants();
    if listed.is_empty() && !(names.is_empty() && changes.is_empty()) {
        return Error::NothingMatched(no_variant_message(&names));
    }
    let targets: Vec<_> = binaries.iter().map(|(binary, _)| binary.name()).collect();
    let patterns = arguments.selection.filter.iter().map(ToString::to_string);
    let typed: Vec<_> = patterns.chain(arguments.harness.iter().cloned()).collect();
    let names = experiment_names(&listed);
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    Error::NothingMatched(no_match_message(&targets.join(", "), &typed, &names))
}

/// The error if no experiment has the variants that the flags select. Only the selected ones are listed.
fn no_variant_message(names: &[String]) -> String {
    match names {
        [] => "no experiment has variants, so `--set` changes nothing; declare `variants` first".to_owned(),
        names => format!(
            "no experiment has a variant {}; `cargo cobalt list` shows all",
            names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
        ),
    }
}

fn no_match_message(targets: &str, typed: &[String], names: &[&str]) -> String {
    let patterns = case_filters(typed);
    let filters = if patterns.is_empty() {
        String::new()
    } else {
        format!(" {}", wording::join_quoted(patterns.iter().copied()))
    };
    // In `desk::item`, the experiment comes first.
    let experiment = |pattern: &&str| pattern.split("::").next().unwrap_or(pattern).to_owned();
    let is_there = |typed: &String| names.iter().any(|name| experiment_name::matches_name(typed, name));
    let typed: Vec<_> = patterns.iter().map(experiment).collect();
    let there = typed.iter().find(|typed| is_there(typed)).cloned();
    let closest = |typed: &String| wording::closest(typed, names.iter().copied());
    let meant = if there.is_some() { None } else { typed.iter().find_map(closest) };
    let question = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    let what = there
        .as_ref()
        .map_or_else(|| format!("no experiment in {targets}"), |there| format!("no item of `{there}`"));
    let example = there.as_deref().or(meant).or(names.first().copied()).unwrap_or("NAME");
    let example = experiment_name::case_name(example);
    format!(
        "{what} matches{filters}{question}\nSelect an experiment with `--experiment {example}`, an item with \
         `-- {example}::ITEM`; `cargo cobalt list` shows all experiments"
    )
}

/// The arguments that filter test cases: neither flags nor values of flags.
fn case_filters(typed: &[String]) -> Vec<&str> {
    const WITH_VALUE: [&str; 6] = ["--skip", "--test-threads", "--format", "--color", "--logfile", "-Z"];
    let mut before = "";
    let mut filters = Vec::new();
    for word in typed.iter().map(String::as_str) {
        if !word.starts_with('-') && !WITH_VALUE.contains(&before) {
            filters.push(word);
        }
        before = word;
    }
    filters
}

/// Checks that the given baseline runs belong to a selected experiment.
pub fn check_baseline(
    binaries: &[BinaryWithEnv<'_>],
    selection: &Selection,
    given: &BaselineSource,
) -> Result<(), Error> {
    match query_experiments(binaries, selection, false)? {
        (listed, true) => {
            let names: Vec<_> = listed.iter().map(|listed| &*listed.name).collect();
            given.check(&names)
        }
        // Broken binaries are reported when they run.
        (_, false) => Ok(()),
    }
}

/// The sorted names by which experiments can be selected: binaries list them in link order. A variant has the name of its runs, that of
/// the experiment, and both.
fn experiment_names(listed: &[Listed]) -> Vec<String> {
    let names = listed.iter().flat_map(|Listed { name, variant, .. }| {
        let of_variant = variant.iter().flat_map(|ListedVariant { experiment, name }| {
            [experiment.clone(), format!("{experiment}::{name}")]
        });
        [name.clone()].into_iter().chain(of_variant)
    });
    let mut names: Vec<_> = names.collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Lists the selected experiments; the flag is true if every binary listed all of its own. With `must_answer`, a binary that
/// lists none is an error.
fn query_experiments(
    binaries: &[BinaryWithEnv<'_>],
    selection: &Selection,
    must_answer: bool,
) -> Result<(Vec<Listed>, bool), Error> {
    let (mut listed, mut is_complete) = (Vec::new(), true);
    for (binary, variables) in binaries {
        let asked =
            BinaryRequest { selection, wanted: RequestKind::Names, traces: false, arguments: &[], variables };
        let (mut greeted, mut said) = (false, Vec::new());
        let ended = run(binary, asked, |message| match message {
            Message::Event(event, _) => match *event {
                Event::Hello { .. } => greeted = true,
                Event::Listed(experiment) => listed.push(*experiment),
                _ => {}
            },
            Message::Stderr(line) => said.push(line),
            Message::Stdout(_) => {}
        })?;
        if interrupt::was_received() {
            return Err(Error::Interrupted);
        }
        if !greeted && must_answer {
            return Err(Error::Multiple(vec![listing_failed(binary, ended.status, &said)]));
        }
        is_complete &= greeted && ended.is_success();
    }
    Ok((listed, is_complete))
}

/// Messages for experiments whose files would collide. An experiment that two binaries share through a library is one experiment.
fn name_clashes(listed: &[Listed]) -> Vec<String> {
    let mut known = HashMap::new();
    let clash = |Listed { name, file, line, .. }: &Listed| {
        let this = (name.clone(), SourceLocation { file: file.clone(), line: *line });
        let earlier = known.entry(experiment_name::case_name(name)).or_insert_with(|| this.clone());
        (*earlier != this).then(|| experiment_name::conflict_message(earlier, &this))
    };
    listed.iter().filter_map(clash).collect()
}

/// The error for a binary that did not list its experiments; `said` is its stderr.
pub fn listing_failed(binary: &Binary, status: ExitStatus, said: &[String]) -> String {
    format!("{} exited ({status}) before listing its experiments\n{}", binary.name(), said.join("\n"))
}

/// The missing keys, each with all experiments that need it. A single binary is not asked: it reports missing keys itself before
/// it runs anything.
pub fn missing_keys(
    binaries: &[BinaryWithEnv<'_>],
    arguments: &RunOptions,
) -> Result<Vec<MissingKey>, Error> {
    let mut keys = Vec::new();
    if binaries.len() < 2 {
        return Ok(keys);
    }
    for (binary, variables) in binaries {
        let (selection, arguments) = (&arguments.selection, &*arguments.harness);
        let asked = BinaryRequest {
            selection,
            wanted: RequestKind::MissingKeys,
            traces: false,
            arguments,
            variables,
        };
        // Its output and other errors appear again when it runs.
        run(binary, asked, |message| {
            if let Message::Event(event, _) = message
                && let Event::KeyMissing(key) = *event
            {
                key.add_to(&mut keys);
            }
        })?;
        if interrupt::was_received() {
            return Err(Error::Interrupted);
        }
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_that_match_nothing_are_repeated_with_what_was_probably_meant() {
        let typed = ["dsek::refund", "--exact"].map(str::to_owned);
        assert_eq!(
            no_match_message("`app/evals`", &typed, &["desk", "sums"]),
            "no experiment in `app/evals` matches `dsek::refund`; did you mean `desk`?\nSelect an experiment with \
             `--experiment desk`, an item with `-- desk::ITEM`; `cargo cobalt list` shows all experiments"
        );
        let typed = ["desk::nosuch", "--skip", "desk"].map(str::to_owned);
        let item = no_match_message("`app/evals`", &typed, &["desk", "Help desk"]);
        assert!(
            item.starts_with(
                "no item of `desk` matches `desk::nosuch`\nSelect an experiment with `--experiment desk`"
            ),
            "{item}"
        );
        let far = no_match_message("`app/evals`", &["zebra".to_owned()], &["desk"]);
        assert!(
            far.starts_with(
                "no experiment in `app/evals` matches `zebra`\nSelect an experiment with `--experiment desk`"
            ),
            "{far}"
        );
    }
}
