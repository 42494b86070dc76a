//! The research agent's experiment: `cargo test -p research-agent --test evals`.

use std::sync::LazyLock;

use cobalt::{EvalContext, EvalError, LlmJudge, Score, Similarity, ToolCall, ToolCalls};
use research_agent::ResearchAgent;
use serde::Deserialize;

/// The judge's model: another one than the agent's.
const JUDGE: &str = "gpt-6-luna";

/// The agent under test, built once.
static AGENT: LazyLock<ResearchAgent> = LazyLock::new(ResearchAgent::from_env);

/// The field of an item that the agent sees.
#[derive(Deserialize)]
struct Question {
    input: String,
}

/// The fields of an item that only evaluators see.
#[derive(Deserialize)]
struct Expected {
    /// Facts that the answer must mention.
    facts: Vec<String>,
    /// The pages that the answer must cite.
    sources: Vec<String>,
}

/// The share of the facts that the answer mentions.
#[cobalt::evaluator(pass_mark = 1.0)]
fn mentions_facts(expected: &Expected, output: &str) -> Score {
    let facts = &expected.facts;
    let missing: Vec<&str> = facts.iter().map(|fact| &**fact).filter(|fact| !output.contains(fact)).collect();
    let share = 1.0 - missing.len() as f64 / facts.len().max(1) as f64;
    let reason =
        if missing.is_empty() { String::new() } else { format!("; missing: {}", missing.join(", ")) };
    Score::new(share).reason(format!("{} of {} facts{reason}", facts.len() - missing.len(), facts.len()))
}

/// Whether the answer cites the expected pages, and no page that the agent did not read.
#[cobalt::evaluator]
fn cites_sources(expected: &Expected, output: &str, cx: &EvalContext) -> Result<Score, EvalError> {
    let cited: Vec<&str> =
        output.split('[').skip(1).filter_map(|rest| rest.split_once(']')).map(|(id, _)| id).collect();
    let calls = cx.tool_calls()?;
    let was_read = |id: &str| calls.iter().any(|call| call.name == "read" && argument(call, "id") == id);
    if let Some(made_up) = cited.iter().find(|id| !was_read(id)) {
        return Ok(Score::from(false).reason(format!("cites {made_up} without having read it")));
    }
    let missing = expected.sources.iter().find(|source| !cited.contains(&&***source));
    Ok(match missing {
        Some(source) => Score::from(false).reason(format!("does not cite {source}")),
        None => Score::from(true).reason(format!("cites {}", cited.join(", "))),
    })
}

fn argument<'a>(call: &'a ToolCall, name: &str) -> &'a str {
    call.arguments.as_ref().and_then(|arguments| arguments[name].as_str()).unwrap_or_default()
}

/// Does the answer agree with the reference?
fn correct() -> LlmJudge {
    LlmJudge::new(
        "correct",
        "Does the answer say the same as the reference? More detail is fine, a contradiction is not.\n\
         <question>{{input}}</question>\n<reference>{{expectedOutput}}</reference>\n<answer>{{output}}</answer>",
    )
    .model(JUDGE)
}

/// All questions: is the answer right, with its sources, and with few calls?
#[cobalt::experiment(
    name = "research-agent",
    dataset = "datasets/questions.jsonl",
    evaluators = [
        mentions_facts,
        cites_sources,
        correct(),
        Similarity::new("close", "expectedOutput"),
        ToolCalls::any_order("calls", "expectedCalls"),
        ToolCalls::precision("only_needed", "expectedCalls"),
        ToolCalls::at_most("few_steps", 4),
    ],
    record = "cassettes",
    tags = ["async-openai"],
    timeout = 20s,
    thresholds = [
        mentions_facts.pass_rate >= 0.85,
        cites_sources.pass_rate >= 0.9,
        correct.pass_rate >= 0.85,
        close.avg >= 0.5,
        calls.pass_rate >= 0.9,
        only_needed.avg >= 0.9,
        few_steps.min >= 1.0,
        latency.p95 <= 5s,
        time_to_first_token.p95 <= 2s,
        tokens.avg <= 2_000,
        cost.total <= 0.05,
        judge_cost.total <= 0.02,
    ],
)]
async fn research(question: Question) -> anyhow::Result<String> {
    AGENT.answer(&question.input, |_| {}).await
}

fn main() {
    cobalt::main();
}
