//! Servers on this machine, whose models cost nothing unless they have a price.

use std::net::IpAddr;

/// Whether the host of a URL is this machine: `localhost`, 127.0.0.0/8, `::1`, or the unspecified address that servers listen on. The
/// scheme may be missing.
#[must_use]
pub fn is_local_server(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = match host.strip_prefix('[').and_then(|host| host.split_once(']')) {
        Some((address, _)) => address,
        None => host.rsplit_once(':').map_or(host, |(host, _)| host),
    };
    let name = host.trim_end_matches('.').to_ascii_lowercase();
    let is_own = |address: IpAddr| address.to_canonical().is_loopback() || address.is_unspecified();
    name == "localhost" || name.ends_with(".localhost") || name.parse().is_ok_and(is_own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_hosts_are_local() {
        for url in [
            "http://127.0.0.1:11434/v1",
            "http://127.8.9.1",
            "http://[::1]:8080/v1",
            "https://localhost/v1",
            "http://LOCALHOST:1/",
            "http://user:key@localhost:1/v1",
            "127.0.0.1:11434",
            "http://[::ffff:127.0.0.1]:80",
            "http://0.0.0.0:11434",
        ] {
            assert!(is_local_server(url), "{url}");
        }
        for url in [
            "https://api.openai.com/v1",
            "http://127.0.0.1.example.com/v1",
            "http://localhost.example.com",
            "http://example.com/127.0.0.1",
            "http://127.0.0.1@example.com/",
            "http://192.168.0.1",
            "",
        ] {
            assert!(!is_local_server(url), "{url}");
        }
    }
}
