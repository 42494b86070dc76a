//! The user whom a model plays: what it is asked for each message, and which of its mistakes are found.

use cobalt_core::report::{ConversationEnd, Transcript, UserMistake, UserMistakeKind};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::chat::Next;
use super::run::ConversationRun;
use super::script::Goal;
use crate::evaluators::{TAGS, tagged_prompt};
use crate::experiment::agent::AgentError;
use crate::llm::{LlmHandle, Question, Schema};

const ROLE: &str = "\
You play a user who talks to an AI agent, to test the agent. You are given who the user is and what the user wants. Write the user's \
next message.

- Stay this person in every message. Never speak as an assistant, and never mention that you play a part or that this is a test.
- Write only what the person would type: one short message, without quotes and without stage directions.
- Give a detail when the agent asks for it, or when a person would mention it by themselves. Do not say everything at once.
- Do not do the agent's work: do not tell it what it should find out or decide, and do not correct its mistakes unless a person would \
notice them.
- `persona` says who the user is, `goal` what the user wants. What `withhold` names is what the agent has to find out by itself: keep it to \
yourself until the agent says it.
- Do not invent facts that contradict what you are given. If the agent asks for something that you are not given, answer plausibly or \
say that you do not know.";

const STATUS: &str = "\
Then decide how things stand, as `status`:
- `goal_met`: the agent has done what the user wants, as far as the user can tell from its replies.
- `gave_up`: a person in this place would stop trying, for example because the agent refuses again, or repeats itself.
- `continue`: anything else, and always if the agent waits for an answer that the user can give.
Use `goal_met` and `gave_up` only when the conversation is over; `message` is then what the user would say in the end, and is not sent.";

const CHECK: &str = "\
A model played a user who talks to an AI agent. Find the mistakes of the user, not those of the agent. There are three kinds:
- `out_of_character`: the user speaks as an assistant or of being a model, describes what it does instead of writing it, or contradicts \
who the user is.
- `ended_too_early`: the user stopped although the goal was not reached and the agent could still have reached it. The turn is the last one.
- `told_answer`: the user tells the agent what the agent should have found out or decided by itself, before the agent said it.
`persona` says who the user is, `goal` what the user wants, `withhold` what the user must not say first, and `instructions`, if given, \
how the user was told to behave: following them is no mistake. Most conversations have no mistakes: list only what is plain from the text, and quote it.";

/// A simulated user in one conversation.
#[derive(Debug)]
pub struct Simulation<'a> {
    goal: Goal,
    run: &'a ConversationRun,
    /// The number of the trial: each has a user of its own.
    trial: usize,
}

#[derive(Debug, Deserialize)]
struct Answer {
    status: Status,
    message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Status {
    Continue,
    GoalMet,
    GaveUp,
}

#[derive(Debug, Deserialize)]
struct Mistakes {
    mistakes: Vec<Mistake>,
}

#[derive(Debug, Deserialize)]
struct Mistake {
    turn: usize,
    kind: Kind,
    quote: String,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    OutOfCharacter,
    EndedTooEarly,
    ToldAnswer,
}

impl From<Kind> for UserMistakeKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::OutOfCharacter => Self::OutOfCharacter,
            Kind::EndedTooEarly => Self::EndedTooEarly,
            Kind::ToldAnswer => Self::ToldAnswer,
        }
    }
}

impl<'a> Simulation<'a> {
    pub fn new(goal: Goal, run: &'a ConversationRun, trial: usize) -> Self {
        Self { goal, run, trial }
    }

    /// What the user does next.
    ///
    /// # Errors
    ///
    /// The model cannot be called, or its answer is unusable.
    pub async fn next(&self) -> Result<Next, AgentError> {
        let transcript = self.run.transcript();
        let turns = transcript.turns.len();
        if turns >= self.run.settings().turn_limit(self.goal.max_turns) {
            return Ok(Next::Ends(ConversationEnd::TurnLimit));
        }
        if turns == 0
            && let Some(first) = &self.goal.first_message
        {
            return Ok(Next::Says(first.clone(), Vec::new()));
        }
        let answer = self
            .ask(&transcript)
            .await
            .map_err(|error| AgentError::new(format!("the simulated user: {error}")))?;
        Ok(match answer.status {
            Status::Continue => Next::Says(answer.message, Vec::new()),
            Status::GoalMet => Next::Ends(ConversationEnd::GoalMet),
            Status::GaveUp => Next::Ends(ConversationEnd::GaveUp),
        })
    }

    async fn ask(&self, transcript: &Transcript) -> Result<Answer, String> {
        let is_first = transcript.turns.is_empty();
        let statuses =
            if is_first { json!(["continue"]) } else { json!(["continue", "goal_met", "gave_up"]) };
        let schema = json!({
            "type": "object",
            "properties": {
                "message": { "type": "string", "description": "the user's next message" },
                "status": { "type": "string", "enum": statuses },
            },
            "required": ["message", "status"],
            "additionalProperties": false,
        });
        let read = |object: &Map<String, Value>| {
            let answer: Answer = read(object)?;
            match answer.status {
                Status::Continue if answer.message.trim().is_empty() => {
                    Err("`message` is empty, but `status` is `continue`".to_owned())
                }
                Status::GoalMet | Status::GaveUp if is_first => {
                    Err("`status` must be `continue`: the conversation has not begun".to_owned())
                }
                _ => Ok(answer),
            }
        };
        let conversation = transcript.text_for_user();
        let prompt = match is_first {
            true => self.prompt("The conversation has not begun: write the first message.", &[]),
            false => self.prompt("Write the user's next message.", &[("conversation", &*conversation)]),
        };
        self.question(format!("{}\n\n{STATUS}", self.role()), prompt, Schema { name: "user", schema }, read)
            .await
    }

    fn role(&self) -> String {
        let instructions = self.instructions().map(|text| format!("\n\n{text}")).unwrap_or_default();
        format!("{ROLE}{instructions}\n\n{TAGS}")
    }

    /// The instructions for all users.
    fn instructions(&self) -> Option<&str> {
        self.run.settings().simulated_user().all_instructions()
    }

    /// A prompt with who the user is, and what the user wants.
    fn prompt(&self, task: &str, more: &[(&str, &str)]) -> String {
        let Goal { goal, persona, withhold, .. } = &self.goal;
        let withhold = withhold.join("; ");
        let mut texts: Vec<(&str, &str)> = Vec::new();
        texts.extend(persona.iter().map(|persona| ("persona", &**persona)));
        texts.push(("goal", goal));
        texts.extend((!withhold.is_empty()).then_some(("withhold", &*withhold)));
        texts.extend(more);
        tagged_prompt(task, &texts)
    }

    /// Lets the model find mistakes of the user at the end of the conversation.
    pub async fn check(&self) {
        let transcript = self.run.transcript();
        if self.run.settings().simulated_user().is_checked() && !transcript.turns.is_empty() {
            match self.ask_for_mistakes(&transcript).await {
                Ok(mistakes) => self.run.set_checked(mistakes),
                Err(error) => self.run.set_unchecked(error),
            }
        }
    }

    async fn ask_for_mistakes(&self, transcript: &Transcript) -> Result<Vec<UserMistake>, String> {
        let turns = transcript.turns.len();
        let schema = json!({
            "type": "object",
            "properties": {
                "mistakes": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "turn": { "type": "integer", "description": "the number of the turn" },
                            "kind": { "type": "string", "enum": ["out_of_character", "ended_too_early", "told_answer"] },
                            "quote": { "type": "string", "description": "what the user said" },
                        },
                        "required": ["turn", "kind", "quote"],
                        "additionalProperties": false,
                    },
                },
            },
            "required": ["mistakes"],
            "additionalProperties": false,
        });
        let read = |object: &Map<String, Value>| {
            let Mistakes { mistakes } = read(object)?;
            match mistakes.iter().find(|mistake| !(1..=turns).contains(&mistake.turn)) {
                Some(odd) => Err(format!("there is no turn {}; the turns are 1 to {turns}", odd.turn)),
                None => Ok(mistakes),
            }
        };
        let (conversation, end) = (transcript.text(), transcript.end.label());
        let mut texts = vec![("conversation", &*conversation), ("end", end)];
        texts.extend(self.instructions().map(|text| ("instructions", text)));
        let prompt = self.prompt("Find the mistakes of the user.", &texts);
        let mistakes = self
            .question(format!("{CHECK}\n\n{TAGS}"), prompt, Schema { name: "mistakes", schema }, read)
            .await?;
        let mistake =
            |Mistake { turn, kind, quote }| UserMistake { turn, kind: Kind::into(kind), reason: quote };
        Ok(mistakes.into_iter().map(mistake).collect())
    }

    async fn question<T>(
        &self,
        system: String,
        prompt: String,
        schema: Schema,
        read: impl Fn(&Map<String, Value>) -> Result<T, String>,
    ) -> Result<T, String> {
        let repetition = u32::try_from(self.trial).unwrap_or(u32::MAX);
        let question = Question { system, prompt, schema, repetition, is_shared: false };
        let LlmHandle { models, meter } = self.run.user();
        let choice = self.run.settings().simulated_user().choice();
        models.ask(choice, &question, meter, read).await.map_err(|error| error.to_string())
    }
}

fn read<T: serde::de::DeserializeOwned>(object: &Map<String, Value>) -> Result<T, String> {
    serde_path_to_error::deserialize(Value::Object(object.clone())).map_err(|error| error.to_string())
}
