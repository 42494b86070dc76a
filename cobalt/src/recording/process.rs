//! Leads the clients of this process to the gateway, by the variables from which they read base URLs.
//!
//! A running process cannot change its environment safely, so it starts itself again with the variables, and with what it needs to be
//! the gateway that they name.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::gateway::{GatewayStart, bind, current_upstreams, random_token};
use super::route::{VENDORS, VendorRoute};

/// The variable in which a process tells itself which gateway it is.
pub const GATEWAY: &str = "COBALT_GATEWAY";

/// The value of the variable.
#[derive(Debug, Serialize, Deserialize)]
struct Handover {
    /// The process, where it keeps its number.
    process: Option<u32>,
    port: u16,
    token: String,
    upstreams: BTreeMap<String, String>,
}

/// How to start the gateway in this process, until it is taken.
static START: Mutex<Option<GatewayStart>> = Mutex::new(None);

/// Takes how to start the gateway, if this process was started for it.
pub fn take_start() -> Option<GatewayStart> {
    START.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
}

/// The variables with which this process has to start itself again; none if it was started with them.
///
/// # Errors
///
/// No port is free.
pub fn missing_variables() -> Result<BTreeMap<String, String>, String> {
    let handover = std::env::var(GATEWAY).ok().and_then(|text| serde_json::from_str::<Handover>(&text).ok());
    let (upstreams, ours) = match handover {
        Some(handover) => (handover.upstreams.clone(), Some(handover).filter(is_of_this_process)),
        None => (current_upstreams(), None),
    };
    if let Some(Handover { port, token, .. }) = ours
        && let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
    {
        let start = GatewayStart { listener: Some(listener), token: Some(token), upstreams };
        *START.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(start);
        return Ok(BTreeMap::new());
    }
    // The port is free again when this process has been replaced. Should another process take it first, the next one is tried.
    let port = bind().and_then(|listener| listener.local_addr());
    let port = port.map_err(|error| format!("the gateway for model traffic finds no port: {error}"))?.port();
    let token = random_token();
    let mut variables = BTreeMap::new();
    for vendor in VENDORS {
        for name in led_variables(vendor, &upstreams) {
            let path = format!("{}{}", vendor.name, vendor.base_path);
            variables.insert(name.to_owned(), format!("http://{}:{port}/{token}/{path}", Ipv4Addr::LOCALHOST));
        }
    }
    let process = cfg!(unix).then(std::process::id);
    let handover = Handover { process, port, token, upstreams };
    let handover = serde_json::to_string(&handover).map_err(|error| error.to_string())?;
    variables.insert(GATEWAY.to_owned(), handover);
    Ok(variables)
}

/// Whether a handover is for this process, and not for one that has started this one.
fn is_of_this_process(handover: &Handover) -> bool {
    handover.process.is_none_or(|process| process == std::process::id())
}

/// The variables of a vendor that lead to the gateway.
fn led_variables<'a>(
    vendor: &'a VendorRoute,
    upstreams: &'a BTreeMap<String, String>,
) -> impl Iterator<Item = &'static str> + 'a {
    vendor.all_variables().filter(|(name, always)| *always || upstreams.contains_key(*name)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_are_set_lead_to_the_gateway_and_so_do_the_usual_ones() {
        let set = BTreeMap::from([("OLLAMA_HOST".to_owned(), "127.0.0.1:11434".to_owned())]);
        let led: Vec<_> = VENDORS.iter().flat_map(|vendor| led_variables(vendor, &set)).collect();
        for name in ["OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_HOST"] {
            assert!(led.contains(&name), "{led:?}");
        }
        assert!(!led.contains(&"OPENAI_API_BASE") && !led.contains(&"AZURE_OPENAI_ENDPOINT"), "{led:?}");
    }
}
