//! What all test binaries are asked before the first one runs, as a run costs money: the names of their experiments, and keys that
//! are missing.

use std::collections::HashMap;
use std::process::ExitStatus;

use cobalt::command::Wanted;
use cobalt_core::report::SourcePlace;
use cobalt_core::reporters::{Event, Listed, MissingKey};
use cobalt_core::{names, wording};

use super::process::{Asked, Message, WithVariables, run};
use crate::baseline::Given;
use crate::cli::{RunOptions, Selection};
use crate::error::Error;
use crate::interrupt;
use crate::project::Binary;

/// Sees that each name that was typed is that of an experiment in one of the binaries, and answers with the experiments of
/// different binaries that have the same name, in a sentence for each. Where names were typed, a binary that does not answer at
/// all may be of a version that knows no names, and would run all that it has: nothing is run.
pub fn check_names(binaries: &[WithVariables<'_>], named: &[String]) -> Result<Vec<String>, Error> {
    if named.is_empty() && binaries.len() < 2 {
        return Ok(Vec::new());
    }
    let (listed, is_complete) = ask(binaries, &Selection::default(), !named.is_empty())?;
    let names = names_of(&listed);
    match named.iter().find(|typed| names::find(typed, names.iter().copied()).is_none()) {
        Some(typed) if is_complete => Err(Error::NothingMatched(format!(
            "no experiment is named `{typed}`; {}",
            wording::instead(typed, names)
        ))),
        _ => Ok(clashes(&listed)),
    }
}

/// Says that the filters select nothing, with what was typed, the name that was probably meant, and how to select.
pub fn nothing_matched(binaries: &[WithVariables<'_>], arguments: &RunOptions) -> Error {
    let listed = ask(binaries, &Selection::default(), false).map(|(listed, _)| listed).unwrap_or_default();
    let targets: Vec<_> = binaries.iter().map(|(binary, _)| binary.name()).collect();
    let patterns = arguments.selection.filter.iter().map(ToString::to_string);
    let typed: Vec<_> = patterns.chain(arguments.harness.iter().cloned()).collect();
    Error::NothingMatched(no_match(&targets.join(", "), &typed, &names_of(&listed)))
}

fn no_match(targets: &str, typed: &[String], names: &[&str]) -> String {
    let patterns = filters(typed);
    let filters = if patterns.is_empty() {
        String::new()
    } else {
        format!(" {}", wording::list(patterns.iter().copied()))
    };
    // Of `desk::item`, the experiment comes first.
    let experiment = |pattern: &&str| pattern.split("::").next().unwrap_or(pattern).to_owned();
    let is_there = |typed: &String| names.iter().any(|name| names::is_name_of(typed, name));
    let typed: Vec<_> = patterns.iter().map(experiment).collect();
    let there = typed.iter().find(|typed| is_there(typed)).cloned();
    let closest = |typed: &String| wording::closest(typed, names.iter().copied());
    let meant = if there.is_some() { None } else { typed.iter().find_map(closest) };
    let question = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    let what = there
        .as_ref()
        .map_or_else(|| format!("no experiment of {targets}"), |there| format!("no item of `{there}`"));
    let example = there.as_deref().or(meant).or(names.first().copied()).unwrap_or("NAME");
    let example = names::case_name(example);
    format!(
        "{what} matches{filters}{question}\n`--experiment {example}` selects an experiment, `-- {example}::ITEM` one of its items; \
         `cargo cobalt list` names all"
    )
}

/// The words that choose cases: those that are neither flags nor values of flags.
fn filters(typed: &[String]) -> Vec<&str> {
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

/// Sees that runs that are to be compared with are of some experiment that is selected.
pub fn check_baseline(
    binaries: &[WithVariables<'_>],
    selection: &Selection,
    given: &Given,
) -> Result<(), Error> {
    match ask(binaries, selection, false)? {
        (listed, true) => given.check(&names_of(&listed)),
        // A broken binary is reported when it runs.
        (_, false) => Ok(()),
    }
}

/// The names of experiments, sorted: they come in the order in which they were linked.
fn names_of(listed: &[Listed]) -> Vec<&str> {
    let mut names: Vec<_> = listed.iter().map(|experiment| &*experiment.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The experiments that are selected, and whether every binary could list all of its own. If all `must_answer`, one that does
/// not is an error.
fn ask(
    binaries: &[WithVariables<'_>],
    selection: &Selection,
    must_answer: bool,
) -> Result<(Vec<Listed>, bool), Error> {
    let (mut listed, mut is_complete) = (Vec::new(), true);
    for (binary, variables) in binaries {
        let asked = Asked { selection, wanted: Wanted::Names, arguments: &[], variables };
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
        if interrupt::was_heard() {
            return Err(Error::Interrupted);
        }
        if !greeted && must_answer {
            return Err(Error::Broken(vec![unnamed(binary, ended.status, &said)]));
        }
        is_complete &= greeted && ended.is_success();
    }
    Ok((listed, is_complete))
}

/// Experiments that would have the same files. One that two binaries share, as it is declared in a library, is no other one.
fn clashes(listed: &[Listed]) -> Vec<String> {
    let mut known = HashMap::new();
    let clash = |Listed { name, file, line, .. }: &Listed| {
        let this = (name.clone(), SourcePlace { file: file.clone(), line: *line });
        let earlier = known.entry(names::case_name(name)).or_insert_with(|| this.clone());
        (*earlier != this).then(|| names::clash(earlier, &this))
    };
    listed.iter().filter_map(clash).collect()
}

/// What is told of a binary that did not name its experiments, with what it `said` on stderr.
pub fn unnamed(binary: &Binary, status: ExitStatus, said: &[String]) -> String {
    format!("{} ended ({status}) before it named its experiments\n{}", binary.name(), said.join("\n"))
}

/// The keys that are missing, each once with all experiments that need it. A single binary is not asked: it says so by
/// itself before it runs anything.
pub fn missing_keys(
    binaries: &[WithVariables<'_>],
    arguments: &RunOptions,
) -> Result<Vec<MissingKey>, Error> {
    let mut keys = Vec::new();
    if binaries.len() < 2 {
        return Ok(keys);
    }
    for (binary, variables) in binaries {
        let (selection, arguments) = (&arguments.selection, &*arguments.harness);
        let asked = Asked { selection, wanted: Wanted::MissingKeys, arguments, variables };
        // Whatever else is wrong with it, and what it prints, comes again when it runs.
        run(binary, asked, |message| {
            if let Message::Event(event, _) = message
                && let Event::KeyMissing(key) = *event
            {
                key.add_to(&mut keys);
            }
        })?;
        if interrupt::was_heard() {
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
            no_match("`app/evals`", &typed, &["desk", "sums"]),
            "no experiment of `app/evals` matches `dsek::refund`; did you mean `desk`?\n`--experiment desk` selects an \
             experiment, `-- desk::ITEM` one of its items; `cargo cobalt list` names all"
        );
        let typed = ["desk::nosuch", "--skip", "desk"].map(str::to_owned);
        let item = no_match("`app/evals`", &typed, &["desk", "Help desk"]);
        assert!(item.starts_with("no item of `desk` matches `desk::nosuch`\n`--experiment desk`"), "{item}");
        let far = no_match("`app/evals`", &["zebra".to_owned()], &["desk"]);
        assert!(
            far.starts_with("no experiment of `app/evals` matches `zebra`\n`--experiment desk`"),
            "{far}"
        );
    }
}
