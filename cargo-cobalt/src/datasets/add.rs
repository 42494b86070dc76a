//! `cargo cobalt dataset add`: appends items of a run, or of recorded traces, to a data file.

use std::collections::HashMap;
use std::process::ExitCode;
use std::slice;

use cobalt::command::config::Flags;
use cobalt_core::item::{Item, item_hash};
use cobalt_core::report::{ItemNames, ItemResult, Report};
use cobalt_core::reporters::expected_field;
use cobalt_core::wording;

use super::additions::{NewItem, check_single, item_key, set_fields, write_items};
use super::edit::{DataFile, WriteError};
use super::traces::add_traces;
use crate::cli::{AddItems, RunName};
use crate::config::settings;
use crate::error::Error;
use crate::lookup::RunLookup;
use crate::runs::report_of;
use crate::show::strip_experiment;
use crate::terminal::one_line;
use crate::text_table::plain_text;

pub fn add(arguments: &AddItems, flags: &Flags) -> Result<ExitCode, Error> {
    match (&arguments.from_otlp, &arguments.from_run) {
        (Some(traces), _) => add_traces(traces, arguments, flags),
        (None, Some(run)) => add_items(run, arguments, flags),
        (None, None) => Err(Error::Arguments("set `--from-run` or `--from-otlp`".to_owned())),
    }
}

fn add_items(run: &RunName, arguments: &AddItems, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let run = RunLookup::open(&settings)?.resolve(slice::from_ref(run))?.remove(0);
    run.note.iter().for_each(|note| eprintln!("note: {}", one_line(note)));
    let report = report_of(&run, settings.prices())?;
    let wanted = select_items(&report, &arguments.items, arguments.failed)?;
    if wanted.is_empty() {
        eprintln!("no item failed in run {} of `{}`; nothing to add", run.id, one_line(&run.experiment));
        return Ok(ExitCode::SUCCESS);
    }
    let items = apply_changes(&wanted, arguments)?;
    let file = DataFile::read(&arguments.file, &settings.layout().datasets())?;
    let items = file.fit_items(items);
    let names: Vec<_> = wanted.iter().map(|wanted| one_line(&wanted.name)).collect();
    let sorted = plan_additions(&file, names.into_iter().zip(items));
    sorted.existing.iter().for_each(|kept| eprintln!("{kept}"));
    write_items(file, sorted.new, arguments)?;
    if sorted.refused.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Multiple(sorted.refused)) }
}

/// An item of a run that is to be added.
#[derive(Debug)]
pub struct SelectedItem<'a> {
    /// The item's key in the run.
    pub name: String,
    pub item: &'a ItemResult,
}

/// The named items and, if requested, those that failed, in dataset order.
pub fn select_items<'a>(
    report: &'a Report,
    named: &[String],
    failed: bool,
) -> Result<Vec<SelectedItem<'a>>, Error> {
    let mut names = ItemNames::new(report.partial);
    report.items.iter().for_each(|item| names.add(item));
    let (keys, cases) = (names.keys(), names.case_names());
    let mut is_wanted = vec![false; report.items.len()];
    for name in named {
        let place =
            find_item(report, name, &keys, &cases).ok_or_else(|| unknown_item_error(report, name, &keys))?;
        is_wanted[place] = true;
    }
    let failing = if failed { failing_indexes(report) } else { Vec::new() };
    failing.into_iter().for_each(|place| is_wanted[place] = true);
    let all = report.items.iter().zip(keys).zip(is_wanted).filter(|(_, is_wanted)| *is_wanted);
    Ok(all.map(|((item, name), _)| SelectedItem { name, item }).collect())
}

/// The position of an item: by key, else by test-case name (with or without the experiment's name), else by index.
fn find_item(report: &Report, name: &str, keys: &[String], cases: &[String]) -> Option<usize> {
    let find = |known: &[String], name: &str| known.iter().position(|known| known == name);
    let index = || {
        name.parse().ok().and_then(|index: usize| report.items.iter().position(|item| item.index == index))
    };
    find(keys, name)
        .or_else(|| find(cases, name))
        .or_else(|| strip_experiment(report, name).and_then(|name| find(cases, name)))
        .or_else(index)
}

/// The positions of the items in error or below a pass mark.
fn failing_indexes(report: &Report) -> Vec<usize> {
    (0..report.items.len()).filter(|place| !report.config.passes(&report.items[*place])).collect()
}

fn unknown_item_error(report: &Report, name: &str, keys: &[String]) -> Error {
    let meant = wording::closest(name, keys.iter().map(String::as_str));
    let meant = meant.map(|key| format!(" (did you mean `{key}`?)")).unwrap_or_default();
    let failing = failing_indexes(report);
    let there = match failing.is_empty() {
        true => {
            format!("no item failed; its items are {}", wording::join_quoted(keys.iter().map(String::as_str)))
        }
        false => {
            format!("failed items: {}", wording::join_quoted(failing.iter().map(|place| &*keys[*place])))
        }
    };
    let id = &report.id;
    Error::NothingMatched(one_line(&format!(
        "run {id} of `{}` has no item `{name}`{meant}; {there}",
        report.name
    )))
}

/// The items to write, with the changes from the command line.
pub fn apply_changes(wanted: &[SelectedItem<'_>], arguments: &AddItems) -> Result<Vec<Item>, Error> {
    check_single(wanted.len(), arguments)?;
    wanted.iter().map(|wanted| edited_item(wanted, arguments)).collect()
}

fn edited_item(wanted: &SelectedItem<'_>, arguments: &AddItems) -> Result<Item, Error> {
    let mut item = Item::clone(&wanted.item.input);
    let usual = "expectedOutput";
    // If that is null, another field may have a different purpose.
    let field = if item.contains_key(usual) { usual } else { expected_field(&item).unwrap_or(usual) };
    if arguments.output_as_expected {
        let output = wanted.item.first_trial().output.as_ref().ok_or_else(|| {
            let name = one_line(&wanted.name);
            Error::Arguments(format!(
                "`{name}` has no output in this run: set the expected output with `--expected`"
            ))
        })?;
        item.insert(field.to_owned(), output.value().clone());
    }
    set_fields(&mut item, field, arguments);
    Ok(item)
}

/// The items by what happens to them.
#[derive(Debug, Default)]
pub struct AddPlan {
    pub new: Vec<NewItem>,
    /// A sentence for each item that already exists.
    pub existing: Vec<String>,
    /// The reason for each item that cannot be added.
    pub refused: Vec<String>,
}

/// Separates new items from existing ones, and from those that conflict with another item.
pub fn plan_additions(
    file: &DataFile,
    items: impl Iterator<Item = (String, Result<Item, WriteError>)>,
) -> AddPlan {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, item) in file.items().iter().enumerate() {
        places.entry(item_key(item)).or_default().push(index);
    }
    let mut added: HashMap<String, usize> = HashMap::new();
    let mut sorted = AddPlan::default();
    for (name, item) in items {
        let item = match item {
            Ok(item) => item,
            Err(error) => {
                sorted.refused.push(format!("`{name}` was not added: {error}"));
                continue;
            }
        };
        let key = item_key(&item);
        let there = places.get(&key).map(Vec::as_slice).unwrap_or_default();
        if let Some(place) = there.iter().find(|place| is_equal(&file.items()[**place], &item)) {
            sorted.existing.push(format!("`{name}` already exists on line {}", file.line(*place)));
        } else if let Some(place) = there.first() {
            sorted.refused.push(conflict_message(&name, &item, file, *place));
        } else if let Some(new) = added.get(&key).map(|place| &sorted.new[*place]) {
            match is_equal(&new.item, &item) {
                true => sorted.existing.push(format!("`{name}` is identical to `{}`; added once", new.name)),
                false => sorted.refused.push(format!(
                    "`{name}` was not added: `{}` has the same {}: add it separately, with another `--id`",
                    new.name,
                    identity_field(&item)
                )),
            }
        } else {
            added.insert(key, sorted.new.len());
            sorted.new.push(NewItem { name, item });
        }
    }
    sorted
}

/// Regardless of how numbers are written.
fn is_equal(one: &Item, other: &Item) -> bool {
    one == other || item_hash(one) == item_hash(other)
}

/// The field that identifies an item: `id`, unless it is unusable as a key.
fn identity_field(item: &Item) -> &'static str {
    if item.get("id").is_some_and(|id| plain_text(id) == item_key(item)) { "id" } else { "input" }
}

/// An existing item has the same id or input.
fn conflict_message(name: &str, item: &Item, file: &DataFile, place: usize) -> String {
    let there = &file.items()[place];
    let fields = there.keys().chain(item.keys().filter(|field| !there.contains_key(*field)));
    let differing: Vec<_> =
        fields.filter(|field| there.get(*field) != item.get(*field)).map(String::as_str).collect();
    format!(
        "`{name}` was not added: the item on line {} has the same {}, but differs in {}: change that item, or add this one \
         with another `--id`",
        file.line(place),
        identity_field(item),
        one_line(&wording::join_quoted(differing))
    )
}
