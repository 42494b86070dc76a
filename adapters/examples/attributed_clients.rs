//! Each way in which clients of real crates reach the gateway, as an experiment of its own. `tests/recording/attribution.rs` runs them.

use std::error::Error;
use std::sync::LazyLock;

use async_openai::config::OpenAIConfig;
use async_openai::middleware::ReqwestService;
use async_openai::middleware::retry::OpenAIRetryLayer;
use async_openai::traits::RequestOptionsBuilder;
use async_openai::types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequest};
use cobalt::{Context, Provider};
use cobalt_clients::rig::{Attributed, agent_builder};
use cobalt_clients::tower::AttributionLayer;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest};
use genai::resolver::{AuthData, Endpoint};
use genai::{ModelIden, ServiceTarget};
use rig::http_client::ReqwestClient;
use rig::providers::openai::OpenAI;
use rig::{Agent, AgentBuilder};
use tokio::sync::Barrier;
use tower::ServiceBuilder;

type Answer = Result<String, Box<dyn Error + Send + Sync>>;

/// Waits for another item, so that a request's item is never known just because no other one is running.
async fn beside_another_item() {
    static PAIR: LazyLock<Barrier> = LazyLock::new(|| Barrier::new(2));
    PAIR.wait().await;
}

fn question(context: &Context) -> String {
    context.item()["input"].as_str().unwrap_or_default().to_owned()
}

#[cobalt::evaluator]
fn answered(output: &str) -> bool {
    output.starts_with("done ")
}

/// An experiment: the agent, and how it answers.
macro_rules! experiment {
    ($name:ident, $answer:expr) => {
        #[cobalt::experiment(dataset = "items.jsonl", evaluators = [answered], record = "cassettes")]
        async fn $name(context: Context) -> Answer {
            $answer(context).await
        }
    };
}

// rig: one agent for all items.

async fn ask_rig(agent: &Agent, context: Context) -> Answer {
    Ok(agent.prompt(question(&context)).await?.output().to_owned())
}

static RIG: LazyLock<Agent> =
    LazyLock::new(|| AgentBuilder::new(OpenAI::from_env().expect("a key").chat("m")).build());

static RIG_WITH_ADAPTER: LazyLock<Agent> = LazyLock::new(|| {
    let openai = OpenAI::from_env().expect("a key").with_http(Attributed::new(ReqwestClient::default()));
    agent_builder(openai.chat("m")).build()
});

experiment!(rig_by_variable, async |context| {
    beside_another_item().await;
    ask_rig(&RIG, context).await
});
experiment!(rig_by_adapter, |context| ask_rig(&RIG_WITH_ADAPTER, context));

// async-openai: one client for all items.

type AsyncOpenAi = async_openai::Client<OpenAIConfig>;

fn request(context: &Context) -> CreateChatCompletionRequest {
    let message = ChatCompletionRequestUserMessage::from(question(context)).into();
    CreateChatCompletionRequest { model: "m".to_owned(), messages: vec![message], ..Default::default() }
}

async fn ask_async_openai(chat: async_openai::Chat<'_, OpenAIConfig>, context: Context) -> Answer {
    let mut answer = chat.create(request(&context)).await?;
    answer.choices.remove(0).message.content.ok_or_else(|| "no text".into())
}

static ASYNC_OPENAI: LazyLock<AsyncOpenAi> = LazyLock::new(AsyncOpenAi::new);

static ASYNC_OPENAI_WITH_ADAPTER: LazyLock<AsyncOpenAi> = LazyLock::new(|| {
    let service = ServiceBuilder::new()
        .layer(AttributionLayer::new())
        .layer(OpenAIRetryLayer::default())
        .service(ReqwestService::new(reqwest::Client::new()));
    AsyncOpenAi::new().with_http_service(service)
});

experiment!(async_openai_by_variable, async |context| {
    beside_another_item().await;
    ask_async_openai(ASYNC_OPENAI.chat(), context).await
});
experiment!(async_openai_by_adapter, |context| ask_async_openai(ASYNC_OPENAI_WITH_ADAPTER.chat(), context));
experiment!(async_openai_by_header, async |context: Context| {
    let chat = match context.request_header() {
        Some((name, value)) => ASYNC_OPENAI.chat().header(name, value)?,
        None => ASYNC_OPENAI.chat(),
    };
    ask_async_openai(chat, context).await
});

// genai reads no variable: a client for each item, or one for all whose resolver reads the variable.

async fn ask_genai(client: &genai::Client, options: ChatOptions, context: Context) -> Answer {
    let request = ChatRequest::new(vec![ChatMessage::user(question(&context))]);
    let model = ModelIden::new(AdapterKind::OpenAI, "m");
    let answer = client.exec_chat(model, request, Some(&options)).await?;
    answer.into_first_text().ok_or_else(|| "no text".into())
}

static GENAI: LazyLock<genai::Client> = LazyLock::new(|| {
    let resolve = |mut target: ServiceTarget| {
        if matches!(target.model.adapter_kind, AdapterKind::OpenAI | AdapterKind::OpenAIResp)
            && let Ok(base_url) = std::env::var("OPENAI_BASE_URL")
        {
            target.endpoint = Endpoint::from_owned(format!("{base_url}/"));
        }
        Ok(target)
    };
    genai::Client::builder().with_service_target_resolver_fn(resolve).build().expect("a client")
});

experiment!(genai_by_base_url, async |context: Context| {
    let address = Endpoint::from_owned(format!("{}/", context.base_url(Provider::OpenAi)));
    let config = (address, AuthData::from_env("OPENAI_API_KEY"));
    let client = genai::Client::builder().append_provider_config(AdapterKind::OpenAI, config).build()?;
    ask_genai(&client, ChatOptions::default(), context).await
});
experiment!(genai_by_variable, async |context| {
    beside_another_item().await;
    ask_genai(&GENAI, ChatOptions::default(), context).await
});
experiment!(genai_by_header, |context: Context| {
    let header: Vec<_> = context.request_header().into_iter().collect();
    ask_genai(&GENAI, ChatOptions::default().with_extra_headers(header), context)
});

fn main() {
    cobalt::main();
}
