//! Attributes the requests of model clients to the item whose agent sends them, and wraps the tools of agents.
//!
//! # Clients
//!
//! While Cobalt records or replays the traffic of agents, it has to know which item a request belongs to. Each adapter adds one header
//! to each request, that of `cobalt::recording::current_header`, and changes nothing else. Outside of an agent, it adds nothing; if a
//! request already has this header, it is kept.
//!
//! | feature | for | adapter |
//! |---|---|---|
//! | `async-openai` | async-openai 0.43 | `tower::AttributionLayer`, installed by `with_http_service` |
//! | `reqwest-middleware` | reqwest-middleware 0.5 | `reqwest_middleware::Attribution` |
//! | `rig` | rig 0.44 | `rig::Attributed`, installed by `with_http`, and `rig::agent_builder` |
//! | `tower` | clients that send `http::Request` | `tower::AttributionLayer` |
//!
//! # Tools
//!
//! Tools of rig and of MCP servers become tools of the execution, as functions do with `Context::tool`: their calls are in the trace and
//! recorded, and fault plans can let them fail.
//!
//! | feature | for | adapter |
//! |---|---|---|
//! | `rig` | tools of rig 0.44 | `rig::tool`, `rig::dynamic_tool` |
//! | `mcp` | clients of MCP servers with rmcp 3.11 | `mcp::connect`, `mcp::ToolProxy` |
//!
//! # Limits
//!
//! The item is found by the tokio task that sends the request. A task that the agent spawns does not inherit it; wrap its future with
//! `cobalt::recording::in_current_execution`. An agent of rig that several items share needs a builder of its own: see `rig`.

/// Where an adapter takes the header from: its name and value, or `None` outside of an agent.
///
/// The default is `cobalt::recording::current_header`; another function is useful in tests.
///
/// ```
/// fn always() -> Option<(&'static str, String)> {
///     Some(("x-cobalt-execution", "item-1".to_owned()))
/// }
///
/// let source: cobalt_clients::HeaderSource = always;
/// ```
pub type HeaderSource = fn() -> Option<(&'static str, String)>;

#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "reqwest-middleware")]
pub mod reqwest_middleware;
#[cfg(feature = "rig")]
pub mod rig;
#[cfg(feature = "tower")]
pub mod tower;

/// Adds the header, unless there already is one by this name.
#[cfg(any(feature = "reqwest-middleware", feature = "rig", feature = "tower"))]
fn add_header(headers: &mut http::HeaderMap, header: Option<(&'static str, String)>) {
    if let Some((name, value)) = header
        && let Ok(value) = http::HeaderValue::try_from(value)
    {
        headers.entry(name).or_insert(value);
    }
}

#[cfg(all(test, any(feature = "reqwest-middleware", feature = "rig", feature = "tower")))]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn a_header_is_added_once() {
        let mut headers = HeaderMap::new();
        add_header(&mut headers, None);
        assert!(headers.is_empty());
        add_header(&mut headers, Some(("x-cobalt-execution", "one".to_owned())));
        add_header(&mut headers, Some(("x-cobalt-execution", "two".to_owned())));
        assert_eq!(headers["x-cobalt-execution"], "one");
        assert_eq!(headers.len(), 1);
    }

    #[test]
    fn a_value_that_no_header_can_have_is_left_out() {
        let mut headers = HeaderMap::new();
        add_header(&mut headers, Some(("x-cobalt-execution", "a\nb".to_owned())));
        assert!(headers.is_empty());
    }
}
