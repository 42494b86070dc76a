//! Pre-flight checks of all test binaries before the first one runs, as a run costs money: experiment names and missing keys.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::process::ExitStatus;

use cobalt::command::RequestKind;
use cobalt::command::config::{SET, VARIANT};
use cobalt_core::report::SourceLocation;
use cobalt_core::reporters::{Event, Listed, ListedVariant, MissingKey};
use cobalt_core::{experiment_name, wording};

use super::process::{BinaryRequest, BinaryWithEnv, Message, run};
use crate::baseline::BaselineSource;
use crate::cli::{RunOptions, Selection};
use crate::error::Error;
use crate::interrupt;
use crate::project::Binary;

/// Checks that each given name is an experiment, and each given variant one of the selected experiments, in one of the binaries.
/// Returns a message for each name shared by experiments of different binaries. If names were given, a binary that does not list its
/// experiments may be of a version that ignores names and would run everything: then nothing is run.
pub fn check_names(binaries: &[BinaryWithEnv<'_>], selection: &Selection) -> Result<Vec<String>, Error> {
    let named = &selection.experiment;
    if named.is_empty() && selection.variant.is_empty() && binaries.len() < 2 {
        return Ok(Vec::new());
    }
    let (listed, is_complete) =
        query_experiments(&with_all_variants(binaries), &Selection::default(), !named.is_empty())?;
    let unknown = unknown_experiment(&listed, named).or_else(|| unknown_variant(&listed, selection));
    match unknown {
        Some(message) if is_complete => Err(Error::NothingMatched(message)),
        _ => Ok(name_clashes(&listed)),
    }
}

/// The binaries with variables that select all variants as declared.
fn with_all_variants<'a>(binaries: &[BinaryWithEnv<'a>]) -> Vec<BinaryWithEnv<'a>> {
    let as_declared = [VARIANT, SET].map(|name| (name.to_owned(), OsString::new()));
    let with_all =
        |(binary, variables): &BinaryWithEnv<'a>| (*binary, [variables, &as_declared[..]].concat());
    binaries.iter().map(with_all).collect()
}

/// The message for a name that is not an experiment.
fn unknown_experiment(listed: &[Listed], named: &[String]) -> Option<String> {
    let typed = named.iter().find(|typed| !listed.iter().any(|experiment| is_named(experiment, typed)))?;
    Some(format!(
        "no experiment named `{typed}`; {}",
        wording::suggest_or_list(typed, experiment_names(listed))
    ))
}

/// Whether this is the name of an experiment or, if it is a variant, of the experiment with all variants.
fn is_named(Listed { name, variant, .. }: &Listed, typed: &str) -> bool {
    let is_variant = |ListedVariant { experiment, name }: &ListedVariant| {
        experiment_name::matches_name(typed, experiment)
            || typed == format!("{experiment}::{name}")
            || typed
                == format!("{}::{}", experiment_name::case_name(experiment), experiment_name::case_name(name))
    };
    experiment_name::matches_name(typed, name) || variant.as_ref().is_some_and(is_variant)
}

/// The message for a variant that no selected experiment has.
fn unknown_variant(listed: &[Listed], Selection { experiment, variant, .. }: &Selection) -> Option<String> {
    let is_selected =
        |listed: &&Listed| experiment.is_empty() || experiment.iter().any(|typed| is_named(listed, typed));
    let variants =
        listed.iter().filter(is_selected).filter_map(|listed| Some(&*listed.variant.as_ref()?.name));
    let mut known: Vec<_> = variants.collect();
    let mut seen = HashSet::new();
    known.retain(|name| seen.insert(*name));
    let is_known = |typed: &str| known.iter().any(|name| experiment_name::matches_name(typed, name));
    let typed = variant.iter().find(|typed| !is_known(typed))?;
    let of = if experiment.is_empty() { "no experiment" } else { "no selected experiment" };
    let instead = match &known[..] {
        [] => "there are none, so leave out `--variant`".to_owned(),
        known => wording::suggest_or_list(typed, known.iter().copied()),
    };
    Some(format!("{of} has a variant `{typed}`; {instead}"))
}

/// The error for filters that match nothing: the filters, a suggestion, and how to select.
pub fn nothing_matched(binaries: &[BinaryWithEnv<'_>], arguments: &RunOptions) -> Error {
    let listed = query_experiments(binaries, &Selection::default(), false)
        .map(|(listed, _)| listed)
        .unwrap_or_default();
    let targets: Vec<_> = binaries.iter().map(|(binary, _)| binary.name()).collect();
    let patterns = arguments.selection.filter.iter().map(ToString::to_string);
    let typed: Vec<_> = patterns.chain(arguments.harness.iter().cloned()).collect();
    Error::NothingMatched(no_match_message(&targets.join(", "), &typed, &experiment_names(&listed)))
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
        (listed, true) => given.check(&experiment_names(&listed)),
        // Broken binaries are reported when they run.
        (_, false) => Ok(()),
    }
}

/// The names of the selected experiments.
pub fn selected_names(binaries: &[BinaryWithEnv<'_>], selection: &Selection) -> Result<Vec<String>, Error> {
    let (listed, _) = query_experiments(binaries, selection, true)?;
    Ok(experiment_names(&listed).into_iter().map(str::to_owned).collect())
}

/// The sorted names of experiments: binaries list them in link order.
fn experiment_names(listed: &[Listed]) -> Vec<&str> {
    let mut names: Vec<_> = listed.iter().map(|experiment| &*experiment.name).collect();
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

    /// The variants of `desk` and an experiment without variants.
    fn listed() -> Vec<Listed> {
        let listed = |name: &str, variant: Option<&str>| {
            let variant = variant.map(|name| serde_json::json!({ "experiment": "desk", "name": name }));
            serde_json::from_value(serde_json::json!({
                "name": name, "variant": variant, "tags": [], "items": 1, "runs": 1, "evaluators": [], "thresholds": [], "file": "a.rs",
                "line": 1,
            }))
            .unwrap()
        };
        vec![listed("desk", Some("mini")), listed("desk::gpt-4/o", Some("gpt-4/o")), listed("sums", None)]
    }

    #[test]
    fn an_experiment_with_variants_is_named_by_itself_and_each_variant() {
        let unknown = |typed: &str| unknown_experiment(&listed(), &[typed.to_owned()]);
        for typed in ["desk", "desk::mini", "desk::gpt-4/o", "desk::gpt-4-o", "sums"] {
            assert_eq!(unknown(typed), None, "{typed}");
        }
        let without_default = &listed()[1..];
        assert_eq!(unknown_experiment(without_default, &["desk".to_owned()]), None);
        assert!(unknown("desk::min").unwrap().starts_with("no experiment named `desk::min`; "));
    }

    #[test]
    fn a_variant_that_no_selected_experiment_has_is_repeated_with_those_that_exist() {
        let unknown = |experiment: &[&str], variant: &str| {
            let experiment = experiment.iter().map(|name| (*name).to_owned()).collect();
            let selection =
                Selection { experiment, variant: vec![variant.to_owned()], ..Selection::default() };
            unknown_variant(&listed(), &selection)
        };
        for variant in ["mini", "gpt-4/o", "gpt-4-o"] {
            assert_eq!(unknown(&[], variant), None, "{variant}");
            assert_eq!(unknown(&["desk", "sums"], variant), None, "{variant}");
        }
        assert_eq!(
            unknown(&[], "minni").unwrap(),
            "no experiment has a variant `minni`; did you mean `mini`? available: `mini`, `gpt-4/o`"
        );
        assert_eq!(
            unknown(&["sums"], "mini").unwrap(),
            "no selected experiment has a variant `mini`; there are none, so leave out `--variant`"
        );
    }

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
