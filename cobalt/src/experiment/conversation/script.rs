//! What an item says of its user: a script of turns, or a goal that a simulated user pursues.

use std::fmt;

use cobalt_core::item::{Item, into_item, type_name};
use cobalt_core::report::{Turn, TurnCheck};
use cobalt_core::wording::{join_quoted, suggest_or_list};
use regex::Regex;
use serde_json::{Value, json};

/// The fields of an item that conversations read.
const TURNS: &str = "turns";
const GOAL: &str = "goal";
const PERSONA: &str = "persona";
const FIRST_MESSAGE: &str = "firstMessage";
const MAX_TURNS: &str = "maxTurns";
const WITHHOLD: &str = "withhold";
const FIELDS: [&str; 6] = [TURNS, GOAL, PERSONA, FIRST_MESSAGE, MAX_TURNS, WITHHOLD];

/// The user of one item.
#[derive(Clone, Debug)]
pub enum UserPlan {
    /// Says what the script says.
    Script(Vec<ScriptedTurn>),
    /// Is played by a model.
    Simulated(Goal),
}

/// A turn of a script.
#[derive(Clone, Debug)]
pub struct ScriptedTurn {
    pub say: String,
    /// What the previous reply must meet for the turn to be played.
    pub when: Vec<Expectation>,
    pub expect: Vec<Expectation>,
}

/// What a simulated user wants.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "judge"), expect(dead_code, reason = "no model plays users without the feature"))]
pub struct Goal {
    pub goal: String,
    pub persona: Option<String>,
    pub first_message: Option<String>,
    pub max_turns: Option<usize>,
    /// Texts that the user must not say before the agent does.
    pub withhold: Vec<String>,
}

/// Something that a reply must meet.
#[derive(Clone, Debug)]
pub enum Expectation {
    Contains(String),
    NotContains(String),
    Equals(String),
    Matches(Box<Regex>),
    /// A tool is called in the turn.
    Calls(String),
    /// A tool is not called in the turn.
    NotCalls(String),
}

impl UserPlan {
    /// The plan of an item.
    ///
    /// # Errors
    ///
    /// Says what is wrong, and what to change.
    pub fn of(item: &Item) -> Result<Self, String> {
        check_names(item)?;
        let given = |field: &str| item.get(field).filter(|value| !value.is_null());
        match (given(TURNS), given(GOAL)) {
            (Some(turns), None) => script(turns).map(Self::Script),
            (None, Some(_)) => goal(item).map(Self::Simulated),
            (Some(_), Some(_)) => Err(format!(
                "it has both `{TURNS}` and `{GOAL}`: remove one, as the user has either a script or a goal"
            )),
            (None, None) => Err(format!(
                "it has neither `{TURNS}`, a list of what the user says, nor `{GOAL}`, what a simulated user wants; the item has {}",
                join_quoted(item.keys().map(String::as_str))
            )),
        }
    }
}

fn script(turns: &Value) -> Result<Vec<ScriptedTurn>, String> {
    let Value::Array(turns) = turns else {
        return Err(format!(
            "`{TURNS}` is {}, expected a list of texts or of `{{ \"say\": … }}`",
            type_name(turns)
        ));
    };
    if turns.is_empty() {
        return Err(format!("`{TURNS}` is empty; add what the user says"));
    }
    let read = |(number, turn)| {
        scripted_turn(turn).map_err(|problem| format!("turn {number} of `{TURNS}`: {problem}"))
    };
    let turns = (1..).zip(turns).map(read).collect::<Result<Vec<_>, _>>()?;
    match turns[0].when.is_empty() {
        true => Ok(turns),
        false => Err(format!("turn 1 of `{TURNS}` has `when`, but there is no reply before it")),
    }
}

fn scripted_turn(turn: &Value) -> Result<ScriptedTurn, String> {
    let fields = match turn {
        Value::String(say) => {
            return Ok(ScriptedTurn { say: say.clone(), when: Vec::new(), expect: Vec::new() });
        }
        Value::Object(fields) => fields,
        other => return Err(format!("expected a text or `{{ \"say\": … }}`, found {}", type_name(other))),
    };
    let known = ["say", "expect", "when"];
    if let Some(unknown) = fields.keys().find(|field| !known.contains(&field.as_str())) {
        return Err(format!("unknown field `{unknown}`; {}", suggest_or_list(unknown, known)));
    }
    let say = match fields.get("say") {
        Some(Value::String(say)) => say.clone(),
        Some(other) => return Err(format!("`say` is {}, expected a text", type_name(other))),
        None => return Err("it has no `say`, the message of the user".to_owned()),
    };
    let expectations = |field: &str| match fields.get(field) {
        Some(value) => Expectation::read(value).map_err(|problem| format!("`{field}`: {problem}")),
        None => Ok(Vec::new()),
    };
    let when = expectations("when")?;
    if when.iter().any(|expected| matches!(expected, Expectation::Calls(_) | Expectation::NotCalls(_))) {
        return Err(
            "`when` cannot depend on tool calls, which are known only at the end; use the reply".to_owned()
        );
    }
    Ok(ScriptedTurn { say, when, expect: expectations("expect")? })
}

fn goal(item: &Item) -> Result<Goal, String> {
    let text = |field: &str| match item.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Err(format!("`{field}` is empty")),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(other) => Err(format!("`{field}` is {}, expected a text", type_name(other))),
    };
    let max_turns = match item.get(MAX_TURNS) {
        None | Some(Value::Null) => None,
        Some(value) => {
            match value.as_u64().and_then(|turns| usize::try_from(turns).ok()).filter(|turns| *turns > 0) {
                Some(turns) => Some(turns),
                None => {
                    return Err(format!("`{MAX_TURNS}` is {value}, expected a number of turns, at least 1"));
                }
            }
        }
    };
    let withhold = item
        .get(WITHHOLD)
        .filter(|value| !value.is_null())
        .map_or(Ok(Vec::new()), texts)
        .map_err(|problem| format!("`{WITHHOLD}`: {problem}"))?;
    let first_message = text(FIRST_MESSAGE)?;
    let is_told =
        |withheld: &&String| first_message.as_ref().is_some_and(|first| contains_words(first, withheld));
    if let Some(told) = withhold.iter().find(is_told) {
        return Err(format!(
            "`{FIRST_MESSAGE}` contains `{told}`, which `{WITHHOLD}` tells the user to keep back; change one of them"
        ));
    }
    Ok(Goal {
        goal: text(GOAL)?.unwrap_or_default(),
        persona: text(PERSONA)?,
        first_message,
        max_turns,
        withhold,
    })
}

/// Whether a text contains another at word boundaries, ignoring case. Scripts without spaces between words have no such boundaries.
pub fn contains_words(text: &str, part: &str) -> bool {
    let (text, part) = (text.to_lowercase(), part.to_lowercase());
    text.match_indices(&part).any(|(start, found)| {
        let before = text[..start].chars().next_back();
        let after = text[start + found.len()..].chars().next();
        let (first, last) = (found.chars().next(), found.chars().next_back());
        !joins(before, first) && !joins(last, after)
    })
}

/// Whether two neighbouring characters are in one word.
fn joins(one: Option<char>, next: Option<char>) -> bool {
    let is_in_word = |letter: char| letter.is_alphanumeric() && !is_written_without_spaces(letter);
    one.is_some_and(is_in_word) && next.is_some_and(is_in_word)
}

/// Whether a character is of a script whose words follow each other without spaces: Thai, Lao, Burmese, Khmer, Chinese and Japanese.
fn is_written_without_spaces(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Refuses fields that are nearly those of conversations, which would be ignored.
fn check_names(item: &Item) -> Result<(), String> {
    let plain = |name: &str| name.replace(['_', '-'], "").to_lowercase();
    for field in item.keys() {
        if let Some(meant) = FIELDS.iter().find(|known| plain(known) == plain(field) && *known != field) {
            return Err(format!("its field `{field}` would be ignored; write `{meant}`"));
        }
    }
    Ok(())
}

/// The fields of an item that say who the user is, without what the replies must meet.
pub fn user_fields(item: &Item) -> Item {
    let mut user: Item = item
        .iter()
        .filter(|(field, value)| FIELDS.contains(&field.as_str()) && !value.is_null())
        .map(|(field, value)| (field.clone(), value.clone()))
        .collect();
    if let Some(Value::Array(turns)) = user.get_mut(TURNS) {
        for turn in turns {
            match turn {
                Value::String(say) => *turn = json!({ "say": say }),
                Value::Object(fields) => drop(fields.remove("expect")),
                _ => {}
            }
        }
    }
    user
}

/// One text, or a list of them.
fn texts(value: &Value) -> Result<Vec<String>, String> {
    let text = |value: &Value| match value {
        Value::String(text) if !text.is_empty() => Ok(text.clone()),
        Value::String(_) => Err("a text is empty; remove it".to_owned()),
        other => Err(format!("expected a text or a list of texts, found {}", type_name(other))),
    };
    match value {
        Value::Array(list) => list.iter().map(text).collect(),
        one => text(one).map(|text| vec![text]),
    }
}

impl Expectation {
    /// Reads a text that the reply must contain, or an object. Something is expected: an empty list or object would always be met.
    fn read(value: &Value) -> Result<Vec<Self>, String> {
        const EMPTY: &str = "it is empty, so it checks nothing; remove it, or write what the reply must meet";
        let some_texts = |value: &Value| match texts(value) {
            Ok(texts) if texts.is_empty() => Err(EMPTY.to_owned()),
            texts => texts,
        };
        if !value.is_object() {
            return Ok(some_texts(value)?.into_iter().map(Self::Contains).collect());
        }
        let mut expected = Vec::new();
        for (key, value) in into_item(value.clone())? {
            let expectation: fn(String) -> Result<Self, String> = match key.as_str() {
                "contains" => |text| Ok(Self::Contains(text)),
                "notContains" => |text| Ok(Self::NotContains(text)),
                "equals" => |text| Ok(Self::Equals(text)),
                "matches" => |text| match Regex::new(&text) {
                    Ok(regex) => Ok(Self::Matches(Box::new(regex))),
                    Err(error) => Err(error.to_string()),
                },
                "calls" => |text| Ok(Self::Calls(text)),
                "notCalls" => |text| Ok(Self::NotCalls(text)),
                unknown => {
                    let known = ["contains", "notContains", "equals", "matches", "calls", "notCalls"];
                    return Err(format!(
                        "unknown expectation `{unknown}`; {}",
                        suggest_or_list(unknown, known)
                    ));
                }
            };
            let read = some_texts(&value).and_then(|texts| texts.into_iter().map(expectation).collect());
            let read: Vec<_> = read.map_err(|problem| format!("`{key}`: {problem}"))?;
            expected.extend(read);
        }
        if expected.is_empty() { Err(EMPTY.to_owned()) } else { Ok(expected) }
    }

    /// Whether a reply meets it; upper and lower case are the same in `contains`.
    pub fn is_met(&self, reply: &str, tool_calls: &[String]) -> bool {
        let contains = |text: &str| reply.to_lowercase().contains(&text.to_lowercase());
        let calls = |tool: &str| tool_calls.iter().any(|called| called == tool);
        match self {
            Self::Contains(text) => contains(text),
            Self::NotContains(text) => !contains(text),
            Self::Equals(text) => reply.trim() == text.trim(),
            Self::Matches(regex) => regex.is_match(reply),
            Self::Calls(tool) => calls(tool),
            Self::NotCalls(tool) => !calls(tool),
        }
    }

    /// The check of a turn; one without a reply meets nothing.
    pub fn check(&self, turn: &Turn) -> TurnCheck {
        let passed = turn.reply.as_ref().is_some_and(|reply| self.is_met(reply, &turn.tool_calls));
        TurnCheck { expected: self.to_string(), passed }
    }
}

impl fmt::Display for Expectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Contains(text) => write!(f, "contains {text:?}"),
            Self::NotContains(text) => write!(f, "does not contain {text:?}"),
            Self::Equals(text) => write!(f, "equals {text:?}"),
            Self::Matches(regex) => write!(f, "matches /{regex}/"),
            Self::Calls(tool) => write!(f, "calls `{tool}`"),
            Self::NotCalls(tool) => write!(f, "does not call `{tool}`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn plan(item: Value) -> Result<UserPlan, String> {
        UserPlan::of(&into_item(item).unwrap())
    }

    fn problem(item: Value) -> String {
        plan(item).unwrap_err()
    }

    #[test]
    fn a_script_has_texts_and_turns_with_expectations() {
        let turns = json!([
            "Hello",
            { "say": "To York.", "expect": ["york", "when"] },
            { "say": "Friday.", "when": "which day", "expect": { "matches": "^Booked", "notContains": "Sunday", "calls": "book" } },
        ]);
        let Ok(UserPlan::Script(script)) = plan(json!({ "turns": turns })) else { panic!("a script") };
        assert_eq!((script[1].expect.len(), script[2].expect.len()), (2, 3));
        let expected = script[2].expect.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(expected, ["matches /^Booked/", "does not contain \"Sunday\"", "calls `book`"]);
        assert!(script[2].when[0].is_met("Which day suits you?", &[]));
        let turn = Turn { reply: Some("Booked.".to_owned()), ..Turn::default() };
        let passed: Vec<_> = script[2].expect.iter().map(|expected| expected.check(&turn).passed).collect();
        assert_eq!(passed, [true, true, false]);
    }

    #[test]
    fn texts_are_found_as_words_and_anywhere_in_scripts_without_spaces() {
        for (text, part) in [
            ("the code XK-1.", "xk-1"),
            ("xk-1", "XK-1"),
            ("東京に行きたい", "東京"),
            ("ไปกรุงเทพฯ", "กรุงเทพ"),
            ("number #12", "#12"),
        ] {
            assert!(contains_words(text, part), "{text}: {part}");
        }
        for (text, part) in
            [("in 2012", "12"), ("xk-12", "xk-1"), ("Größe", "grö"), ("Москва", "Моск"), ("", "a")]
        {
            assert!(!contains_words(text, part), "{text}: {part}");
        }
    }

    #[test]
    fn a_goal_may_have_a_persona_and_texts_to_withhold() {
        let item =
            json!({ "goal": "Book a seat.", "persona": "In a hurry.", "maxTurns": 4, "withhold": "XK-1" });
        let Ok(UserPlan::Simulated(goal)) = plan(item) else { panic!("a goal") };
        assert_eq!((goal.max_turns, &*goal.withhold), (Some(4), &["XK-1".to_owned()][..]));
        assert_eq!((goal.persona.as_deref(), goal.first_message), (Some("In a hurry."), None));
        let goal = json!({ "goal": "Book a seat.", "withhold": null, "persona": null, "maxTurns": null });
        assert!(UserPlan::of(&into_item(goal).unwrap()).is_ok(), "null is the same as no field");
    }

    #[test]
    fn an_item_that_is_no_conversation_says_why() {
        for (item, expected) in [
            (json!({ "input": "x" }), "it has neither `turns`"),
            (json!({ "turns": ["x"], "goal": "y" }), "it has both `turns` and `goal`"),
            (json!({ "turns": "x" }), "`turns` is a string, expected a list"),
            (json!({ "turns": [] }), "`turns` is empty"),
            (json!({ "turns": [5] }), "turn 1 of `turns`: expected a text"),
            (
                json!({ "turns": ["a", { "says": "b" }] }),
                "turn 2 of `turns`: unknown field `says`; did you mean `say`?",
            ),
            (json!({ "turns": [{ "expect": "b" }] }), "turn 1 of `turns`: it has no `say`"),
            (json!({ "turns": [{ "say": "a", "when": "b" }] }), "turn 1 of `turns` has `when`, but"),
            (
                json!({ "turns": ["a", { "say": "b", "when": { "calls": "c" } }] }),
                "turn 2 of `turns`: `when` cannot depend",
            ),
            (
                json!({ "turns": [{ "say": "a", "expect": { "contain": "b" } }] }),
                "turn 1 of `turns`: `expect`: unknown expectation `contain`",
            ),
            (
                json!({ "turns": [{ "say": "a", "expect": { "matches": "(" } }] }),
                "turn 1 of `turns`: `expect`: `matches`: regex",
            ),
            (
                json!({ "turns": ["a", { "say": "b", "expect": {} }] }),
                "turn 2 of `turns`: `expect`: it is empty, so it checks nothing; remove it, or write what",
            ),
            (json!({ "turns": [{ "say": "a", "expect": [] }] }), "turn 1 of `turns`: `expect`: it is empty"),
            (
                json!({ "turns": [{ "say": "a", "expect": "" }] }),
                "turn 1 of `turns`: `expect`: a text is empty",
            ),
            (
                json!({ "turns": [{ "say": "a", "expect": { "contains": [] } }] }),
                "turn 1 of `turns`: `expect`: `contains`: it is empty",
            ),
            (
                json!({ "turns": [{ "say": "a", "expect": { "contain": [] } }] }),
                "turn 1 of `turns`: `expect`: unknown expectation `contain`",
            ),
            (json!({ "turns": ["a", { "say": "b", "when": [] }] }), "turn 2 of `turns`: `when`: it is empty"),
            (json!({ "goal": " " }), "`goal` is empty"),
            (
                json!({ "goal": "a", "max_turns": 3 }),
                "its field `max_turns` would be ignored; write `maxTurns`",
            ),
            (
                json!({ "goal": "a", "firstMessage": "Is it XK-1?", "withhold": "xk-1" }),
                "`firstMessage` contains `xk-1`, which `withhold` tells the user to keep back",
            ),
            (json!({ "goal": "a", "persona": 5 }), "`persona` is a number, expected a text"),
            (
                json!({ "goal": "a", "maxTurns": 0 }),
                "`maxTurns` is 0, expected a number of turns, at least 1",
            ),
            (
                json!({ "goal": "a", "withhold": [1] }),
                "`withhold`: expected a text or a list of texts, found a number",
            ),
        ] {
            let problem = problem(item);
            assert!(problem.starts_with(expected), "{problem}");
        }
    }
}
