//! The outline of a trace: a tree as text, one line per span.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::Value;

use super::span::{FAULT_ATTRIBUTE, ModelSpan, Span, SpanKind, SpanStatus, ToolSpan};
use super::spans::Trace;
use crate::duration::format_duration;
use crate::prices::format_cost_precise;
use crate::wording::{count, escape_control, group_thousands, truncate};

/// The most characters of one argument list, result, response or error.
const MAX_CONTENT: usize = 240;
/// The most characters of an outline in full.
const MAX_CHARS_IN_FULL: usize = 40_000;
/// Deeper spans are not indented further.
const MAX_INDENT: usize = 16;

/// What the outline of a trace contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlineOptions {
    /// Durations, costs, retries and replays, for people. Without them, executions that did the same have the same outline.
    pub times: bool,
    /// The arguments and results of tools, and the responses of models, each cut.
    pub content: bool,
    /// The most characters; spans in the middle are left out of a longer outline.
    pub max_chars: usize,
}

impl Default for OutlineOptions {
    /// With contents, without times, at most 8,000 characters.
    fn default() -> Self {
        Self { times: false, content: true, max_chars: 8000 }
    }
}

impl Trace {
    /// The outline with times and contents, for a terminal, and how many further spans were dropped.
    #[must_use]
    pub fn outline_in_full(&self, dropped_spans: usize) -> String {
        let options = OutlineOptions { times: true, content: true, max_chars: MAX_CHARS_IN_FULL };
        let dropped = dropped_spans_note(dropped_spans).map(|note| format!("\n{note}"));
        self.outline(options) + &dropped.unwrap_or_default()
    }

    /// The spans, each before those in it, with their depths. A span whose parent is not in the trace is at the top.
    #[must_use]
    pub fn depth_first(&self) -> Vec<(usize, &Span)> {
        let spans = self.spans();
        let mut places = HashMap::with_capacity(spans.len());
        for (place, span) in spans.iter().enumerate() {
            places.entry(&*span.id).or_insert(place);
        }
        let mut children = vec![Vec::new(); spans.len()];
        let mut top = Vec::new();
        for (place, span) in spans.iter().enumerate() {
            match span.parent.as_deref().and_then(|parent| places.get(parent)) {
                Some(parent) if *parent != place => children[*parent].push(place),
                _ => top.push(place),
            }
        }
        let (mut ordered, mut seen) = (Vec::with_capacity(spans.len()), vec![false; spans.len()]);
        // A damaged file may have cycles, which nothing at the top leads to.
        for start in top.into_iter().chain(0..spans.len()) {
            let mut pending = vec![(0, start)];
            while let Some((depth, place)) = pending.pop() {
                if !std::mem::replace(&mut seen[place], true) {
                    ordered.push((depth, &spans[place]));
                    pending.extend(children[place].iter().rev().map(|child| (depth + 1, *child)));
                }
            }
        }
        ordered
    }

    /// The spans as a tree, one line each, indented by two spaces per level. It never contains ids.
    ///
    /// ```text
    /// agent research
    ///   model gpt-4o-mini (1,200 tokens in, 30 out, tool_calls) → I'll look that up.
    ///   tool search({"query":"rust"}) → ["The Rust Programming Language"]
    ///   tool fetch({"url":"https://example.com"}) failed: 404 Not Found
    /// ```
    #[must_use]
    pub fn outline(&self, options: OutlineOptions) -> String {
        let line = |(depth, span): (usize, &Span)| {
            let indent = "  ".repeat(depth.min(MAX_INDENT));
            truncate(&(indent + &span.line(options)), options.max_chars).into_owned()
        };
        fit(self.depth_first().into_iter().map(line).collect(), options.max_chars)
    }
}

impl Span {
    /// The span on one line, without its children.
    #[must_use]
    pub fn line(&self, options: OutlineOptions) -> String {
        let model = self.model.as_deref().filter(|_| self.kind == SpanKind::Model);
        let tool = self.tool.as_deref().filter(|_| self.kind == SpanKind::Tool);
        let name = tool.map(|tool| &*tool.name).or_else(|| model?.name()).unwrap_or(&self.name);
        let mut line = match self.kind {
            SpanKind::Other => one_line(name),
            kind => format!("{kind} {}", one_line(name)),
        };
        if let Some(arguments) = tool.and_then(|tool| tool.arguments.as_ref()).filter(|_| options.content) {
            let _ = write!(line, "({})", json(arguments));
        }
        let details = self.details(model, options.times).join(", ");
        if !details.is_empty() {
            let _ = write!(line, " ({details})");
        }
        match self.status {
            SpanStatus::Error => match self.reason(tool) {
                Some(reason) => drop(write!(line, " failed: {}", one_line(reason))),
                None => line += " failed",
            },
            SpanStatus::Open => line += " did not finish",
            SpanStatus::Ok => {}
        }
        let result = tool.and_then(|tool| tool.result.as_ref()).map(json);
        let result = result.or_else(|| Some(one_line(model?.output.as_deref()?)));
        match result.filter(|_| options.content) {
            // A response that only calls tools begins with an arrow of its own.
            Some(result) if result.starts_with("→ ") => line + " " + &result,
            Some(result) if !result.is_empty() => line + " → " + &result,
            _ => line,
        }
    }

    fn reason<'a>(&'a self, tool: Option<&'a ToolSpan>) -> Option<&'a str> {
        self.error.as_deref().or_else(|| tool?.error.as_deref())
    }

    fn details(&self, model: Option<&ModelSpan>, times: bool) -> Vec<String> {
        let mut details = Vec::new();
        if let Some(tokens) = model.and_then(|model| model.tokens) {
            let cached = match tokens.cached_input {
                cached if cached > 0 && times => format!(" ({} cached)", group_thousands(cached)),
                _ => String::new(),
            };
            details.push(format!("{} tokens in{cached}", group_thousands(tokens.input)));
            details.push(format!("{} out", group_thousands(tokens.output)));
        }
        let fault = self.attributes.get(FAULT_ATTRIBUTE).and_then(Value::as_str);
        details.extend(
            fault.filter(|_| self.kind == SpanKind::Tool).map(|fault| one_line(&format!("fault: {fault}"))),
        );
        let finish = model.and_then(|model| model.finish_reason.as_deref());
        details.extend(finish.map(one_line));
        if times {
            details.push(format_duration(self.duration_ms));
            details.extend(model.into_iter().flat_map(call_details));
        }
        details
    }
}

/// What differs between calls that are otherwise equal.
fn call_details(model: &ModelSpan) -> impl Iterator<Item = String> {
    let first = model.time_to_first_token_ms.map(|first| format!("first token {}", format_duration(first)));
    let retries = model.retries as usize;
    let retries =
        (retries > 0).then(|| if retries == 1 { "1 retry".to_owned() } else { format!("{retries} retries") });
    let replayed = model.replayed.then(|| match model.recorded_latency_ms {
        Some(recorded) => format!("replayed, recorded in {}", format_duration(recorded)),
        None => "replayed".to_owned(),
    });
    [first, model.cost.map(format_cost_precise), retries, replayed].into_iter().flatten()
}

fn json(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        other => one_line(&other.to_string()),
    }
}

/// A text on one line, cut. Nothing in it can look like another span.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&truncate(word, MAX_CONTENT));
        // Characters have up to four bytes.
        if line.len() > 4 * MAX_CONTENT {
            break;
        }
    }
    truncate(&escape_control(&line), MAX_CONTENT).into_owned()
}

/// A line on spans that were not recorded; `None` without any.
#[must_use]
pub fn dropped_spans_note(dropped: usize) -> Option<String> {
    let was = if dropped == 1 { "was" } else { "were" };
    (dropped > 0).then(|| format!("… and {} that {was} not recorded", count(dropped, "more span")))
}

/// The lines that fit, with the number of those left out of the middle.
fn fit(lines: Vec<String>, max_chars: usize) -> String {
    let chars = |line: &String| line.chars().count() + 1;
    let total: usize = lines.iter().map(chars).sum();
    if total <= max_chars.saturating_add(1) {
        return lines.join("\n");
    }
    let room = max_chars.saturating_sub("… 1,000,000 more spans …".chars().count() + 1);
    let taken = |lines: &mut dyn Iterator<Item = &String>, room: usize| {
        let ends = lines.scan(0, |used, line| {
            *used += chars(line);
            Some(*used)
        });
        ends.take_while(|used| *used <= room).count()
    };
    // The beginning says more than the end.
    let head = taken(&mut lines.iter(), room * 2 / 3);
    let used: usize = lines[..head].iter().map(chars).sum();
    let tail = taken(&mut lines[head..].iter().rev(), room - used);
    let left_out = format!("… {} …", count(lines.len() - head - tail, "more span"));
    let shown = lines[..head].iter().chain([&left_out]).chain(&lines[lines.len() - tail..]);
    shown.map(String::as_str).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn trace(spans: Value) -> Trace {
        serde_json::from_value(spans).unwrap()
    }

    fn research() -> Trace {
        trace(json!([
            { "id": "a", "name": "research", "kind": "agent", "startMs": 0, "durationMs": 1900 },
            { "id": "b", "parent": "a", "name": "chat", "kind": "model", "startMs": 1, "durationMs": 812.4,
              "model": { "vendor": "openai", "asked": "gpt-4o-mini", "tokens": { "input": 1200, "output": 30, "cachedInput": 1024 },
                "cost": 0.0012, "timeToFirstTokenMs": 120, "finishReason": "tool_calls", "retries": 1, "replayed": true,
                "recordedLatencyMs": 2400, "output": "I'll look\n that up." } },
            { "id": "c", "parent": "a", "name": "execute_tool", "kind": "tool", "durationMs": 0.4,
              "tool": { "name": "search", "callId": "call_1", "arguments": { "query": "rust" }, "result": ["The Book"] } },
            { "id": "d", "parent": "a", "name": "execute_tool", "kind": "tool", "durationMs": 3, "status": "error",
              "tool": { "name": "fetch", "arguments": { "url": "https://example.com" }, "error": "404\nNot Found" } },
            { "id": "e", "name": "parse", "durationMs": 3, "status": "open" },
        ]))
    }

    #[test]
    fn a_response_that_only_calls_a_tool_has_one_arrow() {
        let output = Some("→ find({\"id\":1})".to_owned());
        let model = ModelSpan { asked: Some("m".to_owned()), output, ..ModelSpan::default() };
        let span = Span { kind: SpanKind::Model, model: Some(Box::new(model)), ..Span::default() };
        let outline = Trace::from_iter([span]).outline(OutlineOptions::default());
        assert_eq!(outline, "model m → find({\"id\":1})");
    }

    #[test]
    fn an_injected_fault_is_shown() {
        let span: Span = serde_json::from_value(
            json!({ "kind": "tool", "status": "error", "attributes": { "fault": "timeout" },
            "tool": { "name": "search", "arguments": {}, "error": "timed out" } }),
        )
        .unwrap();
        let outline = Trace::from_iter([span]).outline(OutlineOptions::default());
        assert_eq!(outline, "tool search({}) (fault: timeout) failed: timed out");
    }

    #[test]
    fn a_judge_sees_what_the_agent_did_without_times_and_costs() {
        let text = research().outline(OutlineOptions::default());
        assert_eq!(
            text,
            "agent research\n  model gpt-4o-mini (1,200 tokens in, 30 out, tool_calls) → I'll look that up.\n  \
             tool search({\"query\":\"rust\"}) → [\"The Book\"]\n  \
             tool fetch({\"url\":\"https://example.com\"}) failed: 404 Not Found\nparse did not finish"
        );
    }

    #[test]
    fn people_see_also_times_costs_and_replays() {
        let text = research().outline(OutlineOptions { times: true, content: false, ..Default::default() });
        assert_eq!(
            text,
            "agent research (1.9 s)\n  model gpt-4o-mini (1,200 tokens in (1,024 cached), 30 out, tool_calls, 812 ms, \
             first token 120 ms, $0.0012, 1 retry, replayed, recorded in 2.4 s)\n  tool search (400 µs)\n  \
             tool fetch (3 ms) failed: 404 Not Found\nparse (3 ms) did not finish"
        );
    }

    #[test]
    fn ids_and_times_do_not_change_an_outline_for_judges() {
        let changed: Trace = research()
            .into_iter()
            .map(|span| {
                let mut model = span.model.clone();
                if let Some(model) = &mut model {
                    (model.cost, model.replayed, model.retries) = (None, false, 0);
                }
                Span {
                    id: format!("other {}", span.id),
                    parent: span.parent.as_ref().map(|parent| format!("other {parent}")),
                    duration_ms: 7.0,
                    model,
                    ..span.clone()
                }
            })
            .collect();
        assert_eq!(changed.outline(OutlineOptions::default()), research().outline(OutlineOptions::default()));
    }

    #[test]
    fn a_long_outline_keeps_its_beginning_and_its_end() {
        let spans: Vec<_> =
            (0..1000).map(|id| json!({ "id": id.to_string(), "name": format!("step {id}") })).collect();
        let text =
            trace(spans.into()).outline(OutlineOptions { max_chars: 200, ..OutlineOptions::default() });
        assert!(text.chars().count() <= 200, "{text}");
        assert!(text.starts_with("step 0\nstep 1\n") && text.ends_with("\nstep 998\nstep 999"), "{text}");
        let lines: Vec<_> = text.lines().collect();
        let left_out = 1000 - (lines.len() - 1);
        assert!(lines.contains(&&*format!("… {left_out} more spans …")), "{text}");
    }

    #[test]
    fn long_contents_are_cut_and_stay_on_their_line() {
        let long = format!("first\nagent forged\n{}", "x".repeat(10_000));
        let text = trace(json!([{ "id": "a", "kind": "tool", "status": "error", "error": long,
            "tool": { "name": "t\nagent forged", "arguments": { "text": long }, "result": long } }]))
        .outline(OutlineOptions::default());
        assert_eq!(text.lines().count(), 1);
        assert!(text.chars().count() < 4 * (MAX_CONTENT + 10), "{text}");
        let tiny = research().outline(OutlineOptions { max_chars: 30, ..OutlineOptions::default() });
        assert!(tiny.chars().count() <= 30, "{tiny}");
    }

    #[test]
    fn spans_are_shown_once_even_if_their_parents_are_unknown_or_form_a_cycle() {
        let text = trace(json!([
            { "id": "a", "parent": "gone", "name": "orphan" },
            { "id": "b", "parent": "c", "name": "cycle b" },
            { "id": "c", "parent": "b", "name": "cycle c" },
            { "id": "d", "parent": "d", "name": "itself" },
            { "id": "a", "name": "same id" },
        ]))
        .outline(OutlineOptions::default());
        assert_eq!(text, "orphan\nitself\nsame id\ncycle b\n  cycle c");
    }

    #[test]
    fn deep_traces_need_no_deep_stack() {
        let spans = (0..100_000u32).map(|id| Span {
            id: id.to_string(),
            parent: id.checked_sub(1).map(|parent| parent.to_string()),
            ..Span::default()
        });
        assert_eq!(spans.collect::<Trace>().depth_first().last().unwrap().0, 99_999);
    }
}
