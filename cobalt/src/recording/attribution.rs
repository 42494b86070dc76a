//! To which trial a request belongs: by its token, by the response that it continues, or by the texts of its item.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use cobalt_core::item::Item;
use serde_json::Value;

use super::execution::ExecutionTraffic;
use super::lock::lock;

/// The maximum number of response identifiers that are remembered.
const MAX_IDS: usize = 100_000;
/// The shortest part of a message that can attribute a request, in bytes.
const MIN_PART: usize = 8;
/// The fields that hold what is said to a model, as opposed to its tools and settings.
const CONVERSATION: [&str; 9] =
    ["messages", "input", "contents", "prompt", "query", "texts", "documents", "message", "content"];

/// To whom a request belongs.
#[derive(Debug)]
pub enum Owner {
    /// An execution that the request names, or the only one.
    Exact(Arc<ExecutionTraffic>),
    /// The only execution whose item the request contains.
    ByContent(Arc<ExecutionTraffic>),
    /// One of these, if any; empty if no item is in progress.
    Unknown(Vec<Arc<ExecutionTraffic>>),
}

impl Owner {
    /// The executions that may have sent the request.
    pub fn candidates(&self) -> &[Arc<ExecutionTraffic>] {
        match self {
            Self::Exact(execution) | Self::ByContent(execution) => std::slice::from_ref(execution),
            Self::Unknown(candidates) => candidates,
        }
    }
}

/// The executions of a gateway, until they end.
#[derive(Debug, Default)]
pub struct RunningExecutions {
    /// By their tokens.
    running: Mutex<HashMap<Arc<str>, Running>>,
    /// The executions that received a response, by its identifier: a later request may continue it.
    responses: Mutex<HashMap<String, Weak<ExecutionTraffic>>>,
}

#[derive(Clone, Debug)]
struct Running {
    execution: Arc<ExecutionTraffic>,
    /// The texts of its item.
    texts: Arc<[String]>,
}

impl RunningExecutions {
    /// Adds an execution of an item.
    pub fn add(&self, execution: &Arc<ExecutionTraffic>, item: &Item) {
        let mut found = Vec::new();
        item.values().for_each(|value| texts(value, &mut found));
        let texts = found.into_iter().filter(|text| !text.trim().is_empty()).map(str::to_owned).collect();
        let running = Running { execution: Arc::clone(execution), texts };
        lock(&self.running).insert(Arc::clone(execution.token()), running);
    }

    /// Removes an execution that has ended.
    pub fn remove(&self, execution: &ExecutionTraffic) {
        lock(&self.running).remove(execution.token());
    }

    /// All executions.
    pub fn all(&self) -> Vec<Arc<ExecutionTraffic>> {
        lock(&self.running).values().map(|running| Arc::clone(&running.execution)).collect()
    }

    /// The execution with a token, if its agent is still running.
    pub fn with_token(&self, token: &str) -> Option<Arc<ExecutionTraffic>> {
        let running = lock(&self.running);
        running.get(token).map(|running| &running.execution).filter(|it| it.is_open()).cloned()
    }

    /// Remembers that an execution received a response.
    pub fn add_response(&self, id: String, execution: &Arc<ExecutionTraffic>) {
        let mut responses = lock(&self.responses);
        if responses.len() >= MAX_IDS {
            responses.retain(|_, execution| execution.strong_count() > 0);
        }
        responses.insert(id, Arc::downgrade(execution));
    }

    /// The owner of a request without a token: the only execution, or that whose item its body contains.
    pub fn owner_of(&self, body: &[u8]) -> Owner {
        let mut running: Vec<_> =
            lock(&self.running).values().filter(|running| running.execution.is_open()).cloned().collect();
        if running.len() <= 1 {
            return running
                .pop()
                .map_or(Owner::Unknown(Vec::new()), |running| Owner::Exact(running.execution));
        }
        running.sort_unstable_by(|one, other| one.execution.token().cmp(other.execution.token()));
        let unknown =
            |running: Vec<Running>| Owner::Unknown(running.into_iter().map(|it| it.execution).collect());
        let Ok(value) = serde_json::from_slice::<Value>(body) else { return unknown(running) };
        if let Some(previous) = value["previous_response_id"].as_str()
            && let Some(execution) = lock(&self.responses).get(previous).and_then(Weak::upgrade)
            && execution.is_open()
        {
            return Owner::Exact(execution);
        }
        let sent = conversation(&value);
        let overlaps: Vec<_> = running.iter().map(|running| overlap(&running.texts, &sent)).collect();
        let most = overlaps.iter().copied().max().unwrap_or_default();
        if most == (0, 0) {
            return unknown(running);
        }
        let best: Vec<_> = running
            .into_iter()
            .zip(overlaps)
            .filter(|(_, overlap)| *overlap == most)
            .map(|(running, _)| running.execution)
            .collect();
        match <[_; 1]>::try_from(best) {
            Ok([one]) => Owner::ByContent(one),
            Err(best) => Owner::Unknown(best),
        }
    }
}

/// How well a conversation fits an item: the length of the longest text of the item that is in it. A whole message counts more than a
/// part of one, which may be there by chance.
fn overlap(texts: &[String], sent: &[&str]) -> (usize, usize) {
    let is_message = |text: &&String| sent.iter().any(|sent| sent.trim() == text.trim());
    let is_part =
        |text: &&String| text.len() >= MIN_PART && sent.iter().any(|sent| sent.contains(text.as_str()));
    let longest = |texts: &mut dyn Iterator<Item = &String>| texts.map(String::len).max().unwrap_or(0);
    (longest(&mut texts.iter().filter(is_message)), longest(&mut texts.iter().filter(is_part)))
}

/// The texts of a conversation; all texts of a request in another form.
fn conversation(request: &Value) -> Vec<&str> {
    let mut found = Vec::new();
    CONVERSATION.iter().filter_map(|field| request.get(field)).for_each(|value| texts(value, &mut found));
    if found.is_empty() {
        texts(request, &mut found);
    }
    found
}

/// All texts in a value.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(list) => list.iter().for_each(|value| texts(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fit(texts: &[&str], request: &Value) -> (usize, usize) {
        let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
        overlap(&texts, &conversation(request))
    }

    #[test]
    fn a_whole_message_and_a_long_part_of_one_fit_an_item() {
        let request =
            json!({ "messages": [{ "content": " Rome " }, { "content": "Is it warm in Reykjavik?" }] });
        assert_eq!(fit(&["Rome"], &request), (4, 0), "spaces at the ends do not count");
        assert_eq!(fit(&["Reykjavik"], &request), (0, 9));
        assert_eq!(fit(&["warm"], &request), (0, 0), "a short part may be there by chance");
        assert_eq!(fit(&["Oslo"], &request), (0, 0));
        assert!(fit(&["Rome"], &request) > fit(&["Reykjavik"], &request));
    }

    #[test]
    fn only_what_is_said_counts_unless_the_form_is_not_known() {
        let request = json!({ "messages": ["Hi"], "tools": [{ "name": "Rome" }] });
        assert_eq!(fit(&["Rome"], &request), (0, 0));
        assert_eq!(fit(&["Rome"], &json!({ "city": ["Rome"] })), (4, 0));
    }
}
