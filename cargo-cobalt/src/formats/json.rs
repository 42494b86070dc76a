//! Runs as JSON: the result file of one as it is, a list of those of several.

/// The texts of result files in one text, with all that they have, be it known to this version or not.
pub(crate) fn json(files: &[String]) -> String {
    // A byte order mark within a text would be no JSON.
    let files: Vec<_> = files.iter().map(|file| file.trim_start_matches('\u{feff}').trim()).collect();
    match files[..] {
        [file] => format!("{file}\n"),
        _ => format!("[\n{}\n]\n", files.join(",\n")),
    }
}
