//! The functions that can be wrapped as tools, and what they return.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;

use cobalt_core::error_chain::IntoReason;
use cobalt_core::item::Item;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::dataset::decode_value;

/// The result of a tool, or the text of its error.
pub type ToolOutcome = Result<Value, String>;
type ToolFuture<'a> = Pin<Box<dyn Future<Output = ToolOutcome> + Send + 'a>>;
pub type ToolFn<'a> = dyn Fn(Value) -> ToolFuture<'a> + Send + Sync + 'a;

/// A function that [`Context::tool`](crate::Context::tool) can wrap: async or plain, with one parameter, the arguments of the call.
///
/// The arguments are `serde_json::Value`, or any type that serde can deserialize. For the return type, see [`IntoToolResult`]. A plain
/// function should be quick, or wait on a thread of its own, because other items run on the thread that calls it.
///
/// `Marker` distinguishes the forms and is always inferred.
#[diagnostic::on_unimplemented(
    message = "this function cannot be wrapped as a tool",
    label = "not a tool",
    note = "a tool is an async or plain function of one parameter, `serde_json::Value` or a type that implements `Deserialize`",
    note = "it returns text, JSON, a list, `cobalt::Json(..)`, or a `Result` of any `Serialize` value, whose error is text or any error"
)]
pub trait ToolFunction<'a, Marker>: Send + Sync + 'a {
    #[doc(hidden)]
    fn into_shared(self) -> SharedTool<'a>;
}

/// A type-erased tool.
#[doc(hidden)]
pub struct SharedTool<'a>(pub(super) Box<ToolFn<'a>>);

impl std::fmt::Debug for SharedTool<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SharedTool")
    }
}

/// Markers for the two forms of a function, also of an agent.
#[doc(hidden)]
#[derive(Debug)]
pub enum Async {}
#[doc(hidden)]
#[derive(Debug)]
pub enum Plain {}

impl<'a, F, Fut, T> ToolFunction<'a, (Async, T)> for F
where
    F: Fn(T) -> Fut + Send + Sync + 'a,
    Fut: Future<Output: IntoToolResult> + Send + 'a,
    T: DeserializeOwned,
{
    fn into_shared(self) -> SharedTool<'a> {
        SharedTool(Box::new(move |arguments| match decode(&arguments) {
            Ok(arguments) => {
                let call = self(arguments);
                Box::pin(async move { call.await.into_tool_result() })
            }
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }))
    }
}

impl<'a, F, R, T> ToolFunction<'a, (Plain, T)> for F
where
    F: Fn(T) -> R + Send + Sync + 'a,
    R: IntoToolResult,
    T: DeserializeOwned,
{
    fn into_shared(self) -> SharedTool<'a> {
        SharedTool(Box::new(move |arguments| {
            let outcome = decode(&arguments).and_then(|arguments| self(arguments).into_tool_result());
            Box::pin(std::future::ready(outcome))
        }))
    }
}

fn decode<T: DeserializeOwned>(arguments: &Value) -> Result<T, String> {
    decode_value(arguments).map_err(|error| format!("the arguments do not match: {error}"))
}

/// A return type of tools: text, JSON, a list, [`Json`](crate::Json), or a `Result` of any value that serde can serialize.
///
/// The error of a `Result` is text or any error that is `Send` and `Sync`; its causes become part of the text.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not text, JSON, a list or a `Result`",
    note = "return text, `serde_json::Value`, a list, `cobalt::Json(value)` for any `Serialize` value, or a `Result` of any `Serialize` value"
)]
pub trait IntoToolResult {
    /// Converts the returned value to JSON, or to the text of the tool's error.
    ///
    /// # Errors
    ///
    /// The tool's own error, or the value cannot be serialized to JSON.
    fn into_tool_result(self) -> Result<Value, String>;
}

macro_rules! impl_into_tool_result {
    ($($type:ty),*) => {$(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> ToolOutcome {
                to_json(&self)
            }
        }
    )*};
}

impl_into_tool_result!((), String, &str, Cow<'_, str>, Value, Item, bool, i32, i64, u32, u64, usize, f64);

impl<T: Serialize> IntoToolResult for Vec<T> {
    fn into_tool_result(self) -> ToolOutcome {
        to_json(&self)
    }
}

impl<T: Serialize> IntoToolResult for Option<T> {
    fn into_tool_result(self) -> ToolOutcome {
        to_json(&self)
    }
}

impl<T: Serialize, E: IntoReason> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolOutcome {
        to_json(&self.map_err(IntoReason::into_reason)?)
    }
}

fn to_json(value: &impl Serialize) -> ToolOutcome {
    serde_json::to_value(value)
        .map_err(|error| format!("the result of the tool cannot be serialized to JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Query {
        q: String,
    }

    async fn call<'a, M>(tool: impl ToolFunction<'a, M>, arguments: Value) -> ToolOutcome {
        tool.into_shared().0(arguments).await
    }

    #[tokio::test]
    async fn tools_are_async_or_plain_functions_of_their_arguments() {
        async fn find(query: Query) -> Result<Query, std::io::Error> {
            Ok(query)
        }
        let prefix = String::from("no ");
        let borrowed = |query: Query| {
            let prefix = &prefix;
            async move { format!("{prefix}{}", query.q) }
        };
        let arguments = || json!({ "q": "tea" });
        assert_eq!(call(find, arguments()).await, Ok(arguments()));
        assert_eq!(call(borrowed, arguments()).await, Ok(json!("no tea")));
        assert_eq!(call(|query: Query| vec![query.q], arguments()).await, Ok(json!(["tea"])));
        assert_eq!(call(async |value: Value| value, arguments()).await, Ok(arguments()));
        assert_eq!(call(|_: Value| None::<u8>, arguments()).await, Ok(json!(null)));
    }

    #[tokio::test]
    async fn an_error_has_its_causes_and_arguments_that_do_not_match_are_one() {
        #[derive(Debug, thiserror::Error)]
        #[error("no index")]
        struct NoIndex(#[source] std::io::Error);
        let failing = |_: Query| Err::<(), _>(NoIndex(std::io::Error::other("refused")));
        assert_eq!(call(failing, json!({ "q": "tea" })).await, Err("no index: refused".to_owned()));
        assert_eq!(
            call(failing, json!({ "q": 3 })).await,
            Err("the arguments do not match: field `q`: expected a string, found integer `3`".to_owned())
        );
    }
}
