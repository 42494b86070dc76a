//! Snapshots of the command's output in `snapshots/`, with values that differ in each run masked.

use crate::project::ProgramOutput;

/// Checks everything a command printed, on both streams.
macro_rules! assert_printed {
    ($said:expr) => {{
        let printed = $crate::snapshot::printed(&$said);
        $crate::snapshot::settings().bind(|| insta::assert_snapshot!(printed));
    }};
}
pub(crate) use assert_printed;

/// Checks the content of a file.
macro_rules! assert_text {
    ($text:expr) => {{
        let text = $crate::snapshot::without_ids(&$text);
        $crate::snapshot::settings().bind(|| insta::assert_snapshot!(text));
    }};
}
pub(crate) use assert_text;

/// How cargo's lines about a build start.
pub(crate) const CARGO_SAYS: &str = "Adding|Blocking|Checking|Compiling|Downloaded|Downloading|Finished|Fresh|Locking|Removing|Running|Updating";

/// The filters of these tests: folders, run IDs, times, durations and cargo's build output.
pub(crate) fn settings() -> insta::Settings {
    let mut settings = folders();
    settings.add_filter(&format!(r"(?m)^(\x1b\[[\d;]*m)* *({CARGO_SAYS})\b.*\n"), "");
    // Also commits that happen to have no letters or no digits.
    settings.add_filter(r"\bcommit (`?)[0-9a-f]{7,40}\b", "commit $1[id]");
    settings.add_filter(r"\b\d+ (second|minute|hour|day|month|year)s? ago\b", "[age] ago");
    settings.add_filter(r"\(os error \d+\)", "(os error [number])");
    settings.add_filter(r"\b\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d([:-]\d\d)?(\.\d+)?Z?", "[time]");
    settings.add_filter(r"\b\d{4}-\d\d-\d\d\b", "[date]");
    // Measured latencies and their comparison, whose column widths vary.
    settings.add_filter(r"(?m)^( +latency) .*\d.*$", "$1  [durations]");
    settings.add_filter(r"(?m)^(\| `latency` \|).*\d.*$", "$1 [durations]");
    settings.add_filter(r"(?m)^(- `latency`:) .*$", "$1 [durations]");
    settings.add_filter(r"(?m)^((?:Change )?vs\. baseline.*?: \*\*).*\*\*$", "$1[verdict]**");
    settings.add_filter(r"(→ \S+|\)) {2,}", "$1  ");
    // Measured values have a space before the unit, configured limits do not.
    settings.add_filter(r"\([\d.,]+ (ns|µs|ms|s|min|h)\b", "([duration]");
    settings.add_filter(r" +[\d.,]+ (ns|µs|ms|s|min|h)\b", " [duration]");
    settings
}

/// The filters for files that the command writes: only their folders.
pub(crate) fn folders() -> insta::Settings {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e/snapshots"));
    settings.set_omit_expression(true);
    let workspace = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    settings.add_filter(&format!("{}(?-u:\\b)", literally(workspace)), "[workspace]");
    let temporary = literally(&std::env::temp_dir());
    settings.add_filter(
        &format!(r"(/private)?({temporary}|/tmp|/var/folders)/[\w./+-]*?\.tmp\w{{6}}"),
        "[folder]",
    );
    settings.add_filter(r"\.tmp\w{6}\b", "[project]");
    settings
}

/// A path as a pattern that matches only itself.
fn literally(path: &std::path::Path) -> String {
    let path = path.display().to_string();
    let path = path.trim_end_matches('/').chars();
    path.map(|letter| if letter.is_ascii_punctuation() { format!("\\{letter}") } else { letter.into() })
        .collect()
}

/// The output, stream by stream.
pub(crate) fn printed(said: &ProgramOutput) -> String {
    let stream = |name: &str, text: &str| {
        if text.is_empty() { String::new() } else { format!("[{name}]\n{}\n", without_ids(text.trim_end())) }
    };
    stream("stdout", &said.stdout) + &stream("stderr", &sorted_items(&said.stderr))
}

/// Sorts consecutive item lines with their details, as concurrent items end in any order.
fn sorted_items(text: &str) -> String {
    let is_item = |line: &str| line.starts_with("  ") && line.trim_start().starts_with(['✓', '✗', '~']);
    let case = |item: &String| item.split_whitespace().find(|word| word.contains("::")).map(str::to_owned);
    let mut shown = String::new();
    let mut items: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        if is_item(line) {
            items.push(line.to_owned());
        } else if let Some(item) = items.last_mut().filter(|_| line.starts_with("      ")) {
            item.push_str(line);
        } else {
            items.sort_by_key(case);
            shown.extend(items.drain(..));
            shown.push_str(line);
        }
    }
    items.sort_by_key(case);
    shown.extend(items);
    shown
}

/// Masks hashes, commits and run IDs. IDs made up by tests, such as `aaaaaaaaaaaa`, are kept.
pub(crate) fn without_ids(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric();
    let is_id = |word: &str| {
        (8..=64).contains(&word.len())
            && word.bytes().all(|letter| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter))
            && word.bytes().any(|letter| letter.is_ascii_digit())
            // Other digit sequences are ordinary numbers.
            && (word.len() == 12 || !word.bytes().all(|letter| letter.is_ascii_digit()))
    };
    let mut shown = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter| is_part(letter) != is_part(first)).unwrap_or(rest.len());
        let (word, others) = rest.split_at(end);
        shown.push_str(if is_id(word) { "[id]" } else { word });
        rest = others;
    }
    shown
}
