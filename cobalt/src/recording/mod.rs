#![doc = include_str!("../../docs/recording.md")]

#[cfg(feature = "record")]
mod asked;
#[cfg(feature = "record")]
mod attribution;
#[cfg(feature = "record")]
mod current;
#[cfg(not(feature = "record"))]
mod disabled;
#[cfg(feature = "record")]
mod execution;
#[cfg(feature = "record")]
mod experiment;
mod failure;
#[cfg(feature = "record")]
mod forward;
#[cfg(feature = "record")]
mod gateway;
#[cfg(feature = "record")]
mod lock;
#[cfg(feature = "otlp")]
mod otlp;
#[cfg(feature = "record")]
mod passed_call;
#[cfg(feature = "record")]
mod process;
#[cfg(feature = "record")]
mod reply;
#[cfg(feature = "record")]
mod request_shape;
#[cfg(feature = "record")]
mod route;
#[cfg(feature = "record")]
mod run_traffic;
mod settings;
#[cfg(feature = "record")]
mod shared_request;
#[cfg(feature = "record")]
mod sink;
#[cfg(feature = "record")]
mod start;
#[cfg(feature = "record")]
mod status;
#[cfg(all(test, feature = "record"))]
mod tests;
mod tool_decision;
#[cfg(feature = "record")]
mod trial_requests;
#[cfg(feature = "record")]
mod trial_tools;
#[cfg(feature = "record")]
mod unattributed;

#[cfg(feature = "record")]
pub(crate) use attribution::Wait;
#[cfg(feature = "record")]
pub use current::{EXECUTION_HEADER, current_header, in_current_execution};
#[cfg(feature = "record")]
pub(crate) use current::{within, within_sync};
#[cfg(not(feature = "record"))]
pub(crate) use disabled::{Admission, AgentTraffic, ExecutionTraffic, RunTraffic, Wait, within, within_sync};
#[cfg(feature = "record")]
pub(crate) use execution::{AgentTraffic, ExecutionTraffic};
#[cfg(feature = "record")]
pub(crate) use experiment::ExperimentTraffic;
pub use failure::RecordingFailure;
#[cfg(feature = "record")]
pub(crate) use gateway::{Admission, Gateway, GatewaySettings};
#[cfg(feature = "record")]
pub(crate) use process::{LedClients, NO_KEY, missing_variables};
#[cfg(feature = "record")]
use route::ProviderRoute;
#[cfg(feature = "record")]
pub(crate) use run_traffic::RunTraffic;
pub(crate) use settings::{RECORD_VARIABLE, RecordSettings, ResolvedRecording};
pub use settings::{RecordMode, Recordings};
pub(crate) use tool_decision::ToolDecision;

/// All tokens that a response reports; `None` if it reports none.
#[cfg(feature = "record")]
pub(crate) fn tokens_of(response: &[u8]) -> Option<u64> {
    cobalt_core::recordings::ModelResponse::of(response).tokens.map(cobalt_core::prices::Tokens::total)
}

/// An environment variable as it was before it led to the gateway.
#[cfg(feature = "judge")]
pub(crate) fn original_variable(name: &str) -> Option<String> {
    #[cfg(feature = "record")]
    if let Some(gateway) = Gateway::running()
        && let Some(value) = gateway.original_variable(name)
    {
        return value;
    }
    let value = std::env::var(name).ok();
    #[cfg(feature = "record")]
    let value = value.filter(|value| value != NO_KEY);
    value
}

/// The base URL of a provider's API through the gateway, for a trial.
#[cfg(feature = "record")]
pub(crate) fn base_url(provider: &str, execution: Option<&ExecutionTraffic>) -> String {
    let Some(provider) = ProviderRoute::named(provider) else { return String::new() };
    if let (Some(execution), Some(gateway)) = (execution, Gateway::running()) {
        return gateway.base_url(provider, Some(execution));
    }
    let set =
        provider.all_variables().find_map(|(name, _)| original_variable(name).filter(|url| !url.is_empty()));
    set.unwrap_or_else(|| provider.own.unwrap_or_default().to_owned())
}

/// The base URL of any server through the gateway, for a trial.
#[cfg(feature = "record")]
pub(crate) fn base_url_for(base_url: &str, execution: Option<&ExecutionTraffic>) -> String {
    let led = execution.and_then(|execution| Gateway::running()?.base_url_for(base_url, Some(execution)));
    led.unwrap_or_else(|| base_url.to_owned())
}
