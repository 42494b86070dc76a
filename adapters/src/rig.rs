//! Clients and agents of rig.
//!
//! An agent of rig puts its requests and calls of tools into a queue. All clones of the agent share the queue, and **each of them works
//! on the requests of all others**. When several items share an agent, most requests are thus sent from the task of another item. Two
//! ways are exact:
//!
//! | | agent | client |
//! |---|---|---|
//! | Items share an agent. | [`agent_builder`] | [`Attributed::new`] |
//! | Each item builds its agents, with all that they use; the client may be shared. | `AgentBuilder::new` | [`Attributed::by_task`] |
//!
//! Building an agent is cheap: it sends nothing, and takes well below a millisecond. [`Attributed::by_task`] also fits requests without
//! an agent, such as those of `model.call`.
//!
//! # Limits of a shared agent
//!
//! With [`Attributed::new`], these requests of a shared agent stay without a header: those that its tools send, those of other models
//! (`model_route`, `using_model_value`), and those of indexes (`dynamic_context`). If you need them, build the agent in each item.
//!
//! Do not build an agent with [`agent_builder`] if it is a tool of a shared agent: its runs are a part of the queue, so they would be
//! attributed to wrong items.

mod tools;

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use cobalt::recording::current_header;
use futures_util::StreamExt;
use futures_util::stream::poll_fn;
use http::{Request, Response};
use rig::DynModel;
use rig::agent::{AgentBuilder, AgentHook, DispatchAction, DispatchEvent, HookContext, StepEventKind};
use rig::effect::{EffectId, EffectKind, HandlerDescriptor, family};
use rig::http_client::{HttpClientExt, LazyBody, MultipartForm, Result, StreamingResponse};
use rig::operation::Completion;
use rig::serve::adapters::ModelAdapter;
use rig::serve::{Dispatch, Reply, Serve};
use rig::wasm_compat::WasmCompatSend;

pub use self::tools::{dynamic_tool, tool};
use crate::{HeaderSource, add_header};

type Header = (&'static str, String);

tokio::task_local! {
    /// The header of the request that an agent sends.
    static HEADER: Option<Header>;
}

/// Attributes the requests of an HTTP client to the items whose agents send them.
///
/// ```
/// use cobalt_clients::rig::{Attributed, agent_builder};
/// use rig::http_client::ReqwestClient;
/// use rig::providers::openai::OpenAI;
///
/// let openai = OpenAI::new("key").with_http(Attributed::new(ReqwestClient::default()));
/// let agent = agent_builder(openai.completion("gpt-5-mini")).preamble("You help travellers.").build();
/// ```
#[derive(Clone, Debug)]
pub struct Attributed<C> {
    client: C,
    source: HeaderSource,
}

impl<C> Attributed<C> {
    /// Attributes the requests of agents built with [`agent_builder`], and no others.
    ///
    /// ```
    /// use rig::http_client::ReqwestClient;
    ///
    /// let client = cobalt_clients::rig::Attributed::new(ReqwestClient::default());
    /// ```
    #[must_use]
    pub const fn new(client: C) -> Self {
        Self::with_source(client, || None)
    }

    /// Also attributes all other requests, to the item in whose task they are sent.
    ///
    /// Do not use it with an agent that several items share: most of its requests are sent in tasks of other items.
    ///
    /// ```
    /// use rig::http_client::ReqwestClient;
    /// use rig::providers::openai::OpenAI;
    ///
    /// let client = cobalt_clients::rig::Attributed::by_task(ReqwestClient::default());
    /// let openai = OpenAI::new("key").with_http(client);
    /// // In each item:
    /// let agent = rig::AgentBuilder::new(openai.completion("gpt-5-mini")).build();
    /// ```
    #[must_use]
    pub const fn by_task(client: C) -> Self {
        Self::with_source(client, current_header)
    }

    /// Like [`by_task`](Self::by_task), with the header from `source`.
    ///
    /// ```
    /// use cobalt_clients::rig::Attributed;
    /// use rig::http_client::ReqwestClient;
    ///
    /// let source = || Some(("x-cobalt-execution", "item-1".to_owned()));
    /// let client = Attributed::with_source(ReqwestClient::default(), source);
    /// ```
    #[must_use]
    pub const fn with_source(client: C, source: HeaderSource) -> Self {
        Self { client, source }
    }

    fn attribute<T>(&self, mut request: Request<T>) -> Request<T> {
        let header = HEADER.try_with(Clone::clone).unwrap_or_else(|_| (self.source)());
        add_header(request.headers_mut(), header);
        request
    }
}

impl<C: HttpClientExt> HttpClientExt for Attributed<C> {
    fn send<T, U>(
        &self,
        request: Request<T>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>>> + WasmCompatSend + 'static
    where
        T: Into<Bytes> + WasmCompatSend,
        U: From<Bytes> + WasmCompatSend + 'static,
    {
        self.client.send(self.attribute(request))
    }

    fn send_multipart<U>(
        &self,
        request: Request<MultipartForm>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>>> + WasmCompatSend + 'static
    where
        U: From<Bytes> + WasmCompatSend + 'static,
    {
        self.client.send_multipart(self.attribute(request))
    }

    fn send_streaming<T>(
        &self,
        request: Request<T>,
    ) -> impl Future<Output = Result<StreamingResponse>> + WasmCompatSend
    where
        T: Into<Bytes> + WasmCompatSend,
    {
        self.client.send_streaming(self.attribute(request))
    }
}

/// `AgentBuilder::new` for an agent that several items share, on a client with [`Attributed::new`].
///
/// The item of each request is noted in the task of the agent's run, before the request is put into the queue.
///
/// ```
/// use cobalt_clients::rig::{Attributed, agent_builder};
/// use rig::Agent;
/// use rig::http_client::ReqwestClient;
/// use rig::providers::openai::OpenAI;
/// use std::sync::LazyLock;
///
/// static AGENT: LazyLock<Agent> = LazyLock::new(|| {
///     let openai = OpenAI::new("key").with_http(Attributed::new(ReqwestClient::default()));
///     agent_builder(openai.completion("gpt-5-mini")).build()
/// });
/// ```
pub fn agent_builder(model: impl Into<DynModel<Completion>>) -> AgentBuilder {
    agent_builder_with_source(model, current_header)
}

/// Like [`agent_builder`], with the header from `source`.
///
/// ```
/// use cobalt_clients::rig::agent_builder_with_source;
/// use rig::providers::openai::OpenAI;
///
/// let source = || Some(("x-cobalt-execution", "item-1".to_owned()));
/// let agent = agent_builder_with_source(OpenAI::new("key").completion("gpt-5-mini"), source).build();
/// ```
pub fn agent_builder_with_source(
    model: impl Into<DynModel<Completion>>,
    source: HeaderSource,
) -> AgentBuilder {
    let model = model.into();
    let pending = Arc::<Pending>::default();
    let adapter = ModelAdapter::new(DEFAULT_MODEL, model.clone());
    // A route with the label of the default model takes its place.
    AgentBuilder::new(model)
        .add_hook(NoteItem { source, pending: Arc::clone(&pending) })
        .model_route_handler(DEFAULT_MODEL, ScopedModel { adapter, pending })
}

/// The label that rig gives to the builder's own model.
const DEFAULT_MODEL: &str = "default";

/// The headers of the requests that wait in the agent's queue.
#[derive(Default)]
struct Pending(Mutex<HashMap<EffectId, Header>>);

impl Pending {
    fn insert(&self, id: EffectId, header: Header) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id, header);
    }

    fn take(&self, id: EffectId) -> Option<Header> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id)
    }
}

/// Runs in the task of the agent's run, before a request enters the queue.
struct NoteItem {
    source: HeaderSource,
    pending: Arc<Pending>,
}

impl AgentHook for NoteItem {
    async fn on_dispatch(&self, _: &HookContext, event: DispatchEvent<'_>) -> DispatchAction {
        if let Some(header) = (self.source)() {
            self.pending.insert(event.id, header);
        }
        DispatchAction::Proceed
    }

    fn observes(&self, kind: StepEventKind) -> bool {
        kind == StepEventKind::CompletionDispatch
    }
}

/// Sends a request, in any task, with the header that was noted for it.
struct ScopedModel {
    adapter: ModelAdapter<Completion>,
    pending: Arc<Pending>,
}

impl Serve for ScopedModel {
    type Family = family::Completion;

    fn descriptor(&self) -> HandlerDescriptor {
        self.adapter.descriptor()
    }

    async fn serve(&self, kind: EffectKind, dispatch: Dispatch) -> Reply {
        let header = self.pending.take(dispatch.id());
        match HEADER.scope(header.clone(), self.adapter.serve(kind, dispatch)).await {
            Reply::Stream(mut stream) => Reply::Stream(Box::pin(poll_fn(move |cx| {
                HEADER.sync_scope(header.clone(), || stream.poll_next_unpin(cx))
            }))),
            outcome => outcome,
        }
    }
}
