//! What the gateway of a process starts with: its socket, its token, and where requests are passed on to.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

use cobalt_core::hash::sha256_hex;

use super::lock::lock;
use super::route::{PROVIDERS, ProviderRoute};

/// How to start the gateway.
#[derive(Debug)]
pub struct GatewayStart {
    /// The socket to listen on; a new one if there is none.
    pub listener: Option<TcpListener>,
    /// The token of the process; a new one if there is none.
    pub token: Option<String>,
    /// The base URLs that variables had before they led here.
    pub upstreams: BTreeMap<String, String>,
}

/// How to start the gateway in this process, until it is taken.
static START: Mutex<Option<GatewayStart>> = Mutex::new(None);

/// Takes how to start the gateway, if this process was started for it.
pub fn take_start() -> Option<GatewayStart> {
    lock(&START).take()
}

/// Sets how to start it.
pub fn set_start(start: GatewayStart) {
    *lock(&START) = Some(start);
}

/// A socket on loopback, on a free port.
pub fn bind() -> std::io::Result<TcpListener> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
}

/// A token that other processes cannot guess.
pub fn random_token() -> String {
    let seed: [u64; 4] =
        std::array::from_fn(|_| std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0));
    let time = format!("{seed:?} {:?} {}", std::time::SystemTime::now(), std::process::id());
    sha256_hex(&[time])[..24].to_owned()
}

/// The variables of base URLs that are set.
pub fn current_upstreams() -> BTreeMap<String, String> {
    let set = |(name, _): (&str, bool)| {
        Some((name.to_owned(), std::env::var(name).ok().filter(|url| !url.is_empty())?))
    };
    PROVIDERS.iter().flat_map(ProviderRoute::all_variables).filter_map(set).collect()
}
