//! `cargo cobalt dataset add`: appends items of a run to a data file.

mod changes;
mod there;
mod wanted;

use std::process::ExitCode;
use std::slice;

use cobalt::config::Flags;
use cobalt::redact::{REDACTED, has_mark, redacted};
use cobalt::wording::count;
use serde_json::Value;

use self::there::{New, sorted};
pub(crate) use self::wanted::{place, within};
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
    new.iter().for_each(|new| warn(new, &path));
    if new.is_empty() {
        eprintln!("nothing was added to `{path}`");
        return Ok(());
    }
    let names = cobalt::suggest::list(new.iter().map(|new| &*new.name));
    let place = if file.is_there() { "" } else { "the new file " };
    let what = format!("{} to {place}`{path}`: {names}", count(new.len(), "item"));
    let draft = file.with(new.into_iter().map(|new| new.item).collect())?;
    if arguments.dry_run {
        print(&format!("{}\n", draft.inserted())).map_err(Error::Print)?;
        eprintln!("would add {what}");
    } else {
        draft.save()?;
        eprintln!("added {what}");
    }
    Ok(())
}

/// Says which fields hold what a secret left in an output, or what looks like one.
fn warn(New { name, item }: &New, path: &str) {
    let those = |holds: fn(&str) -> bool| {
        let fields = item.iter().filter(|(_, value)| any_text(value, holds)).map(|(field, _)| field.as_str());
        let fields: Vec<_> = fields.collect();
        (!fields.is_empty()).then(|| one_line(&cobalt::suggest::list(fields)))
    };
    if let Some(fields) = those(has_mark) {
        eprintln!(
            "warning: `{name}` holds `{REDACTED}` in {fields}, which stands for a secret in what is kept of outputs: see to it \
             that `{path}` has what is to stand there"
        );
    }
    if let Some(fields) = those(|text| redacted(text) != text) {
        eprintln!(
            "warning: `{name}` holds what looks like a key or a password in {fields}: if it is one, it must not stay in `{path}`"
        );
    }
}

/// Whether this is true of a text in it.
fn any_text(value: &Value, holds: fn(&str) -> bool) -> bool {
    match value {
        Value::String(text) => holds(text),
        Value::Array(values) => values.iter().any(|value| any_text(value, holds)),
        Value::Object(fields) => fields.values().any(|value| any_text(value, holds)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
