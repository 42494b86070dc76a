//! One recording in a readable form.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;
use std::{fs, io};

use cobalt::command::config::Flags;
use cobalt_core::prices::Tokens;
use cobalt_core::recordings::{
    Answer, Body, Cassette, Interaction, JudgeAnswer, RecordedToolCall, RecordingError, RecordingFolder,
    Trial, answer, answer_of_stream, last_message,
};
use cobalt_core::reporters::{Style, format_duration};
use cobalt_core::timestamp::Timestamp;
use cobalt_core::wording::{count, group_thousands, join_quoted};
use serde_json::Value;

use super::age::format_age;
use super::experiments::{ExperimentRecordings, name};
use crate::cli::{Color, Selection, ShowRecording};
use crate::error::Error;
use crate::list::{Experiments, no_experiments, query};
use crate::terminal::{one_line, paint, print, relative_path, wrap_for_stdout};
use crate::text_table::plain_text;

/// The maximum length of a message, a question or an answer, in characters.
const MAX_TEXT: usize = 400;

pub fn show(arguments: &ShowRecording, flags: &Flags, color: Color) -> Result<ExitCode, Error> {
    let (file, cassette) = find(arguments, flags, color)?;
    if arguments.json {
        let source = |source| RecordingError::Io { action: "read", path: file.clone(), source };
        let text = fs::read_to_string(&file).map_err(source)?;
        print(&text).map_err(Error::Print)?;
        return Ok(ExitCode::SUCCESS);
    }
    let trial = arguments.trial.map(|trial| trial.get() - 1);
    if trial.is_some_and(|trial| trial >= cassette.trials.len()) {
        return Err(Error::NothingMatched(format!(
            "`{}` has only {}",
            relative_path(&file),
            count(cassette.trials.len(), "trial")
        )));
    }
    let folder = RecordingFolder::new(file.parent().unwrap_or(Path::new(".")));
    let view = View { folder, now: SystemTime::now(), paint: paint(&io::stdout()) };
    print(&wrap_for_stdout(&view.text(&file, &cassette, trial))).map_err(Error::Print)?;
    Ok(ExitCode::SUCCESS)
}

/// The requested recording and its file.
fn find(arguments: &ShowRecording, flags: &Flags, color: Color) -> Result<(PathBuf, Cassette), Error> {
    let ShowRecording { recording, item, build, .. } = arguments;
    let path = Path::new(recording);
    let is_path = path.is_file() || path.extension().is_some_and(|extension| extension == "json");
    if is_path && item.is_none() {
        let read = RecordingFolder::read_file(path)?;
        let missing = || {
            Error::NothingMatched(format!(
                "no recording at `{recording}`; `cargo cobalt recordings` lists them"
            ))
        };
        return Ok((path.to_owned(), read.ok_or_else(missing)?));
    }
    let selection = Selection { experiment: vec![recording.clone()], ..Selection::default() };
    let Experiments { rows, errors, built } = match query(&selection, build, flags, color) {
        Err(none @ Error::NothingMatched(_)) if item.is_none() => {
            return find_item(arguments, flags, color, none);
        }
        found => found?,
    };
    if !errors.is_empty() {
        return Err(Error::Multiple(errors));
    }
    if rows.is_empty() {
        return Err(no_experiments(&selection, &built));
    }
    let mut files = Vec::new();
    for experiment in ExperimentRecordings::of(&rows) {
        files.extend(experiment.files()?);
    }
    choose(files, recording, item.as_deref())
}

/// The recording of an item of any experiment; `none` is the error if there is none.
fn find_item(
    arguments: &ShowRecording,
    flags: &Flags,
    color: Color,
    none: Error,
) -> Result<(PathBuf, Cassette), Error> {
    let ShowRecording { recording: item, build, .. } = arguments;
    let Experiments { rows, .. } = query(&Selection::default(), build, flags, color)?;
    let mut found = Vec::new();
    for experiment in ExperimentRecordings::of(&rows) {
        match choose(experiment.files()?, &experiment.experiment, Some(item)) {
            Ok(recording) => found.push((experiment.experiment, recording)),
            Err(Error::NothingMatched(_)) => {}
            Err(error) => return Err(error),
        }
    }
    match found.len() {
        0 => Err(none),
        1 => Ok(found.remove(0).1),
        _ => {
            let experiments = join_quoted(found.iter().map(|(experiment, _)| experiment.as_str()));
            Err(Error::Arguments(format!(
                "several experiments have a recording of item `{item}`; name one before it: {experiments}"
            )))
        }
    }
}

/// Chooses the recording of an item: by its name, its key, or the beginning of its key.
fn choose(files: Vec<PathBuf>, experiment: &str, item: Option<&str>) -> Result<(PathBuf, Cassette), Error> {
    if files.is_empty() {
        let hint = "to record, run `cargo cobalt run --record record`";
        return Err(Error::NothingMatched(format!("experiment `{experiment}` has no recordings; {hint}")));
    }
    // Only a key that is no file name needs the content of all files.
    let by_name = item.and_then(|item| files.iter().position(|file| name(file) == item));
    let files = by_name.map_or_else(|| files.clone(), |index| vec![files[index].clone()]);
    let mut all = Vec::new();
    for file in files {
        all.extend(RecordingFolder::read_file(&file)?.map(|cassette| (file, cassette)));
    }
    if by_name.is_none()
        && let Some(item) = item
    {
        let is_exact = all.iter().any(|(_, cassette)| cassette.item == item);
        all.retain(
            |(_, cassette)| if is_exact { cassette.item == item } else { cassette.item.starts_with(item) },
        );
        if all.is_empty() {
            return Err(Error::NothingMatched(format!(
                "no recording of an item `{item}` of `{experiment}`; `cargo cobalt recordings --experiment {experiment}` lists them"
            )));
        }
    }
    if let [_, _, ..] = &all[..] {
        let keys = join_quoted(all.iter().map(|(_, cassette)| cassette.item.as_str()));
        return Err(Error::Arguments(format!(
            "`{experiment}` has several recordings; choose an item: {keys}"
        )));
    }
    let gone = || Error::NothingMatched(format!("the recording of `{experiment}` was deleted"));
    all.pop().ok_or_else(gone)
}

/// How a recording is shown.
struct View {
    folder: RecordingFolder,
    now: SystemTime,
    paint: Style,
}

impl View {
    fn text(&self, file: &Path, cassette: &Cassette, only: Option<usize>) -> String {
        let Cassette { experiment, item, trials, judges, .. } = cassette;
        let title = match item.is_empty() {
            true => "requests that could not be attributed to an item".to_owned(),
            false => format!("{experiment}::{item}"),
        };
        let mut text =
            self.paint.bold(one_line(&title)) + "\n" + &self.paint.faint(relative_path(file)) + "\n";
        for (index, trial) in
            trials.iter().enumerate().filter(|(index, _)| only.is_none_or(|only| only == *index))
        {
            self.trial(&mut text, trial, index, trials.len());
        }
        if !judges.is_empty() {
            text.push('\n');
            self.judges(&mut text, judges);
        }
        text
    }

    fn judges(&self, text: &mut String, answers: &[JudgeAnswer]) {
        let title = self.paint.bold("judges' answers");
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{title}");
        answers.iter().for_each(|answer| self.judge_answer(text, answer));
    }

    fn trial(&self, text: &mut String, trial: &Trial, index: usize, of: usize) {
        let mut title = vec![format!("trial {} of {of}", index + 1)];
        title.extend(trial.latency_ms.map(format_duration));
        title.extend(trial.recorded_at.map(|at| self.recorded(at)));
        let _ = writeln!(text, "\n{}", self.paint.bold(title.join(", ")));
        for (index, interaction) in trial.interactions.iter().enumerate() {
            self.interaction(text, interaction, index + 1);
        }
        trial.tools.iter().for_each(|call| self.tool_call(text, call));
        if !trial.judges.is_empty() {
            self.judges(text, &trial.judges);
        }
    }

    fn recorded(&self, at: Timestamp) -> String {
        format!("recorded {} UTC ({} ago)", at.to_minute(), format_age(at, self.now))
    }

    fn interaction(&self, text: &mut String, interaction: &Interaction, number: usize) {
        let Interaction { experiment, recorded_at, request, response, latency_ms, model, tokens } =
            interaction;
        let mut facts = vec![format!("{} {}", request.method, request.path)];
        facts.extend(experiment.as_ref().map(|experiment| format!("experiment `{experiment}`")));
        facts.extend(model.clone());
        facts.extend(tokens.map(format_tokens));
        facts.push(format_duration(*latency_ms));
        facts.extend((response.status != 200).then(|| format!("status {}", response.status)));
        facts.extend(response.truncated.then(|| "the connection broke".to_owned()));
        facts.extend(recorded_at.map(|at| self.recorded(at)));
        let _ = writeln!(text, "  {number}. {}", self.paint.faint(one_line(&facts.join(", "))));
        if let Some(body) = &request.body {
            let sent = self.json(body).as_ref().and_then(last_message).unwrap_or_else(|| self.plain(body));
            let _ = writeln!(text, "     {}", shorten(&sent));
            self.warn_of_missing_blobs(text, body);
        }
        if let Some(body) = &response.body {
            for line in self.answer(body) {
                let _ = writeln!(text, "     → {line}");
            }
            self.warn_of_missing_blobs(text, body);
        }
    }

    /// The lines of an answer.
    fn answer(&self, body: &Body) -> Vec<String> {
        let parts = match body {
            Body::Events(events) => answer_of_stream(events),
            _ => self.json(body).as_ref().map(answer).unwrap_or_default(),
        };
        if parts.is_empty() {
            return vec![shorten(&self.plain(body))];
        }
        let line = |part: &Answer| match part {
            Answer::Text(text) => shorten(text),
            Answer::ToolCall(call) => format!("calls {}", shorten(&call.to_string())),
            Answer::Error(error) => self.paint.error(format!("error: {}", shorten(error))),
        };
        parts.iter().map(line).collect()
    }

    fn tool_call(&self, text: &mut String, recorded: &RecordedToolCall) {
        let RecordedToolCall { tool, call, arguments, result, error, latency_ms, .. } = recorded;
        let title = format!("tool {tool}#{call}, {}", format_duration(*latency_ms));
        let _ = writeln!(text, "  {}", self.paint.faint(one_line(&title)));
        let plain =
            |body: &Option<Body>| body.as_ref().map(|body| shorten(&self.plain(body))).unwrap_or_default();
        let _ = writeln!(text, "     {}", plain(arguments));
        match error {
            Some(error) => {
                let _ = writeln!(text, "     → {}", self.paint.error(format!("error: {}", shorten(error))));
            }
            None => {
                let _ = writeln!(text, "     → {}", plain(result));
            }
        }
    }

    fn judge_answer(&self, text: &mut String, recorded: &JudgeAnswer) {
        let JudgeAnswer { provider, model, question, answer, tokens, recorded_at, .. } = recorded;
        let mut facts = vec![format!("{provider} {model}"), format_tokens(*tokens)];
        facts.extend(recorded_at.map(|at| self.recorded(at)));
        let _ = writeln!(text, "  {}", self.paint.faint(one_line(&facts.join(", "))));
        if let Some(question) = question {
            let fields = self.json(question);
            let asked = fields
                .as_ref()
                .and_then(|fields| fields.get("prompt").or_else(|| fields.get("text"))?.as_str());
            let _ = writeln!(
                text,
                "     question: {}",
                asked.map_or_else(|| shorten(&self.plain(question)), shorten)
            );
        }
        let answer = plain_text(answer);
        // An embedding is no text.
        let is_text = answer.chars().count() <= MAX_TEXT || answer.contains(char::is_whitespace);
        let shown = if is_text {
            shorten(&answer)
        } else {
            format!("[{} characters]", group_thousands(answer.len() as u64))
        };
        let _ = writeln!(text, "     answer: {shown}");
    }

    /// The JSON value of a body, with its long texts if they can be read.
    fn json(&self, body: &Body) -> Option<Value> {
        let restored = body.bytes(&|hash| self.folder.read_blob(hash)).ok();
        restored.and_then(|bytes| serde_json::from_slice(&bytes).ok()).or_else(|| body.json().cloned())
    }

    fn warn_of_missing_blobs(&self, text: &mut String, body: &Body) {
        if let Err(error) = body.bytes(&|hash| self.folder.read_blob(hash)) {
            let _ = writeln!(text, "     {}", self.paint.warning(one_line(&format!("warning: {error}"))));
        }
    }

    /// A body as text.
    fn plain(&self, body: &Body) -> String {
        match body.bytes(&|hash| self.folder.read_blob(hash)) {
            Ok(bytes) => String::from_utf8(bytes)
                .unwrap_or_else(|binary| format!("[{} bytes]", binary.as_bytes().len())),
            Err(error) => format!("[{error}]"),
        }
    }
}

fn format_tokens(tokens: Tokens) -> String {
    let cached = match tokens.cached_input {
        0 => String::new(),
        cached => format!(" ({} cached)", group_thousands(cached)),
    };
    format!(
        "{} input{cached} and {} output tokens",
        group_thousands(tokens.input),
        group_thousands(tokens.output)
    )
}

/// A text on one line, without repeated white space, cut between words if it is long.
fn shorten(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    one_line(&truncate_at_word(&words.join(" "), MAX_TEXT))
}

/// Truncates a text to at most `most` characters, with `…`: between words, unless that would drop more than half of them.
fn truncate_at_word(text: &str, most: usize) -> Cow<'_, str> {
    let Some((end, next)) = text.char_indices().nth(most) else { return Cow::Borrowed(text) };
    let beginning = &text[..end];
    let words =
        if next == ' ' { beginning } else { beginning.rsplit_once(' ').map_or("", |(words, _)| words) };
    let kept = if words.len() * 2 < end { beginning } else { words };
    Cow::Owned(format!("{kept}…"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words_and_a_long_word_within() {
        let cut = |text| truncate_at_word(text, 12).into_owned();
        assert_eq!(cut("one two four"), "one two four");
        assert_eq!(cut("one two three"), "one two…");
        assert_eq!(cut("one two four five"), "one two four…");
        assert_eq!(cut("a: [1,2,3,4,5]"), "a: [1,2,3,4,…");
        assert_eq!(cut("質問質問質問質問質問質問質問"), "質問質問質問質問質問質問…");
    }
}
