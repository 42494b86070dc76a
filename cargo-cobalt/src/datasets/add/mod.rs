//! `cargo cobalt dataset add`: appends items of a run to a data file.

mod changes;
mod there;
mod wanted;

use std::process::ExitCode;
use std::slice;

use cobalt::config::Flags;
use cobalt::redact::REDACTED;
use cobalt::wording::count;
use serde_json::Value;

use self::there::{New, sorted};
use super::write::DataFile;
use crate::cli::AddItems;
use crate::config::settings;
use crate::error::Error;
use crate::runs::{KnownRuns, report_of};
use crate::terminal::{one_line, print};

pub(super) fn add(arguments: &AddItems, flags: &Flags) -> Result<ExitCode, Error> {
    let settings = settings(flags)?;
    let run = KnownRuns::open(settings.layout())?.resolve(slice::from_ref(&arguments.from_run))?.remove(0);
    run.note.iter().for_each(|note| eprintln!("note: {}", one_line(note)));
    let report = report_of(&run, settings.prices())?;
    let wanted = wanted::wanted(&report, &arguments.items, arguments.failed)?;
    if wanted.is_empty() {
        eprintln!(
            "no item failed in run {} of `{}`: there is nothing to add",
            run.id,
            one_line(&run.experiment)
        );
        return Ok(ExitCode::SUCCESS);
    }
    let items = changes::changed(&wanted, arguments)?;
    let file = DataFile::read(&arguments.file, &settings.layout().datasets())?;
    let items = file.fitted(items);
    let names: Vec<_> = wanted.iter().map(|wanted| one_line(&wanted.name)).collect();
    let sorted = sorted(&file, names.into_iter().zip(items));
    sorted.kept.iter().for_each(|kept| eprintln!("{kept}"));
    write(file, sorted.new, arguments)?;
    if sorted.refused.is_empty() { Ok(ExitCode::SUCCESS) } else { Err(Error::Broken(sorted.refused)) }
}

/// Writes the items, and says so.
fn write(file: DataFile, new: Vec<New>, arguments: &AddItems) -> Result<(), Error> {
    let path = one_line(&arguments.file.display().to_string());
    for New { name, item } in &new {
        let hidden = item.iter().filter(|(_, value)| holds_redacted(value)).map(|(field, _)| field.as_str());
        let hidden: Vec<_> = hidden.collect();
        if !hidden.is_empty() {
            let fields = one_line(&cobalt::suggest::list(hidden));
            eprintln!(
                "warning: `{name}` holds `{REDACTED}` in {fields}, where a secret was taken out: write in `{path}` what is \
                 to stand there"
            );
        }
    }
    if new.is_empty() {
        eprintln!("nothing was added to `{path}`");
        return Ok(());
    }
    let names = cobalt::suggest::list(new.iter().map(|new| &*new.name));
    let place = if file.is_there() { "" } else { "the new file " };
    let what = format!("{} to {place}`{path}`: {names}", count(new.len(), "item"));
    let draft = file.with(new.into_iter().map(|new| new.item).collect())?;
    if arguments.dry_run {
        print(&format!("{}\n", draft.inserted()))?;
        eprintln!("would add {what}");
    } else {
        draft.save()?;
        eprintln!("added {what}");
    }
    Ok(())
}

fn holds_redacted(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(REDACTED),
        Value::Array(values) => values.iter().any(holds_redacted),
        Value::Object(fields) => fields.values().any(holds_redacted),
        _ => false,
    }
}
