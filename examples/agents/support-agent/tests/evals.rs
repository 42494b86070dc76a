//! The support agent's experiments: `cargo test -p support-agent --test evals`.

use std::sync::LazyLock;

use cobalt::{EvalContext, EvalError, LlmJudge, Score, ToolCalls};
use serde::Deserialize;
use support_agent::{SupportAgent, shop};

const MESSAGES: &str = "datasets/messages.jsonl";
/// The judge's model: another one than the agent's.
const JUDGE: &str = "gpt-6-luna";

/// The agent under test, built once; an error without a key, as a panic would hide the reason from all items but one.
static AGENT: LazyLock<Result<SupportAgent, String>> =
    LazyLock::new(|| SupportAgent::from_env().map_err(|error| error.to_string()));

/// The field of an item that the agent sees.
#[derive(Deserialize)]
struct Message {
    input: String,
}

/// The fields of an item that only evaluators see.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    /// Facts that the reply must mention.
    expected_output: Vec<String>,
}

/// The share of the facts that the reply mentions.
#[cobalt::evaluator(pass_mark = 1.0)]
fn mentions_facts(expected: &Expected, output: &str) -> Score {
    let reply = output.to_lowercase();
    let facts = &expected.expected_output;
    let missing: Vec<&str> =
        facts.iter().map(|fact| &**fact).filter(|fact| !reply.contains(&fact.to_lowercase())).collect();
    let share = 1.0 - missing.len() as f64 / facts.len().max(1) as f64;
    let reason =
        if missing.is_empty() { String::new() } else { format!("; missing: {}", missing.join(", ")) };
    Score::new(share).reason(format!("{} of {} facts{reason}", facts.len() - missing.len(), facts.len()))
}

/// Whether every refund was within the shop's rules: a delivered order, in time or damaged, and at most £100.
#[cobalt::evaluator]
fn refunds_within_rules(item: &Message, cx: &EvalContext) -> Result<Score, EvalError> {
    for call in cx.tool_calls()?.into_iter().filter(|call| call.name == "refund") {
        let arguments = call.arguments.unwrap_or_default();
        let order = shop::find(arguments["order_id"].as_str().unwrap_or_default()).map_err(EvalError::new)?;
        let in_time = order.return_until.as_deref().is_some_and(|last| shop::TODAY <= last);
        let damaged = ["cracked", "chipped", "leaks", "broken", "shattered"];
        let is_due = in_time || damaged.iter().any(|word| item.input.contains(word));
        if !is_due {
            return Ok(Score::from(false).reason(format!("order {} was refunded too late", order.id)));
        }
        if arguments["amount"].as_f64().is_none_or(|amount| amount > 100.0) {
            return Ok(Score::from(false).reason(format!("{arguments} is above the limit")));
        }
    }
    Ok(Score::from(true).reason("no refund against the rules"))
}

/// Does the reply help the customer? The facts and the calls have evaluators of their own.
fn helpful() -> LlmJudge {
    LlmJudge::new(
        "helpful",
        "Does the reply tell the customer what happens next, or what they can do?\n\
         <message>{{input}}</message>\n<reply>{{output}}</reply>",
    )
    .model(JUDGE)
}

/// All messages: are the right tools called, and does the reply say what matters?
#[cobalt::experiment(
    name = "support-agent",
    dataset = MESSAGES,
    evaluators = [
        mentions_facts,
        ToolCalls::exact_order("calls", "expectedCalls"),
        ToolCalls::arguments("arguments", "expectedCalls"),
        ToolCalls::at_most("few_steps", 4),
        ToolCalls::repeats_at_most("no_repeats", 0),
        refunds_within_rules,
        helpful(),
    ],
    record = "cassettes",
    tags = ["rig"],
    thresholds = [
        mentions_facts.pass_rate >= 0.9,
        calls.pass_rate >= 0.85,
        arguments.avg >= 0.9,
        few_steps.min >= 1.0,
        no_repeats.min >= 1.0,
        refunds_within_rules.pass_rate >= 0.95,
        helpful.pass_rate >= 0.8,
        latency.p95 <= 5s,
        tokens.avg <= 1_500,
        cost.total <= 0.10,
        judge_cost.total <= 0.02,
    ],
)]
async fn support(message: Message) -> Result<String, cobalt::BoxError> {
    let agent = AGENT.as_ref().map_err(String::as_str)?;
    Ok(agent.answer(&message.input).await?)
}

fn main() {
    cobalt::main();
}
